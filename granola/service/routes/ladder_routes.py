"""The routes that make something of questions: ladders, links, one answer of several."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

import orjson
from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import StreamingResponse

from abstraction.files.writing import json_line
from abstraction.rows import QARow, RejectedRow
from abstraction.rows import TieredRow as TieredLadder
from granola.decoding import SampleRow
from granola.service.incoming import documents
from granola.service.incoming.body_parsing import check_values
from granola.service.incoming.middleware import SNAPSHOT_HEADER, Receive, Scope, Send
from granola.service.incoming.problems import HTTPProblem, problem_of, too_slow
from granola.service.incoming.schemas import (
    AggregateAnswer,
    AggregateRequest,
    LadderRequest,
    Language,
    LinkAnswer,
    Linker,
    LinkRequest,
    PhraseMode,
    TieredRow,
    Unproven,
)
from granola.service.routes.app_state import MODEL_HEADER, NDJSON, Service, answer
from granola.service.work import model_work, snapshot_work
from granola.service.work.model_threads import NeedsReplies, Relay, attempt
from granola.service.work.model_work import Phrasing
from granola.service.work.snapshot_pool import Lease
from granola.service.work.snapshot_session import SnapshotSession

UNHEEDED_HEADER = "granola-unheeded"


def add_ladders(app: FastAPI, service: Service) -> None:
    """Add them."""
    desk = service.desk

    @app.post("/v1/ladder", response_model=TieredRow, tags=["ladders"], responses=documents.posted())
    async def ladder(asked: LadderRequest) -> Response:
        """The ladder of one answer: ever coarser correct answers with what entails each, or why there is none."""
        row = snapshot_work.read_question(asked.model_dump(exclude_unset=True, exclude=snapshot_work.LADDER_SETTINGS))
        if asked.phrase is not None:
            return await _phrased(service, asked, row)

        def do(holding: SnapshotSession) -> tuple[bytes, str | None]:
            made = snapshot_work.ladder(holding, row, language=asked.language, linker=asked.linker)
            return snapshot_work.line_of(made.to_json(), first=True), made.abstained

        done = await desk.run(do)
        body, abstained = done.value
        service.metrics.laddered(abstained)
        return answer(body, done.snapshot_id)

    @app.post("/v1/link", response_model=LinkAnswer, tags=["ladders"], responses=documents.posted())
    async def link(asked: LinkRequest) -> Response:
        """Which entity each answer means, how sure that is, and who else it may be."""
        row = snapshot_work.read_question(asked.model_dump(exclude_unset=True, exclude=snapshot_work.LADDER_SETTINGS))
        done = await desk.run(
            lambda holding: json_line(snapshot_work.links(holding, row, language=asked.language, linker=asked.linker))
        )
        return answer(done.value, done.snapshot_id)

    @app.post("/v1/aggregate", response_model=AggregateAnswer, tags=["ladders"], responses=documents.posted())
    async def aggregate(asked: AggregateRequest) -> Response:
        """One answer of several responses: the finest that enough of them entail, or what most of them say."""
        row = snapshot_work.read_samples(
            asked.model_dump(exclude_unset=True, exclude=set(snapshot_work.AGGREGATE_SETTINGS))
        )
        if asked.method == "drag":
            return await _dragged(service, asked, row)
        done = await desk.run(lambda holding: snapshot_work.line_of(snapshot_work.aggregate(holding, row, asked)))
        return answer(done.value, done.snapshot_id)

    @app.post(
        "/v1/ladders", tags=["ladders"], responses=documents.LINES, openapi_extra=documents.BATCH,
        response_class=StreamingResponse,
    )  # fmt: skip
    async def ladders(
        request: Request,
        language: Language = "en",
        linker: Linker = "question",
        relation: Annotated[str | None, Query(pattern=r"^P[1-9][0-9]{0,8}$")] = None,
        phrase: PhraseMode | None = None,
        unproven: Unproven = "keep",
    ) -> Response:
        """Ladders of a batch, each as soon as it is made; bad rows are rejected in their places with the reason."""
        if strange := sorted(set(request.query_params) - {"language", "linker", "relation", "phrase", "unproven"}):
            raise HTTPProblem(422, "request", f"{', '.join(strange)[:100]} is no setting of a batch")
        models = service.asked_models() if phrase is not None else None
        body = await request.body()
        check_values(body)
        settings = {"language": language, "linker": linker, "phrase": phrase, "unproven": unproven}

        def read() -> tuple[list[QARow | RejectedRow], list[str]]:
            batch_rows = snapshot_work.read_batch(body, relation=relation, most=service.settings.rows)
            return batch_rows, snapshot_work.unheeded(batch_rows, settings)

        rows, unheeded = await service.bench.run(read, seconds=service.settings.seconds)
        headers = {UNHEEDED_HEADER: ", ".join(unheeded)} if unheeded else {}
        if models is not None and phrase is not None:
            if len(rows) > service.settings.model_rows:
                raise model_work.too_many(service.settings.model_rows)
            phrasing = Phrasing(
                models, mode=phrase, unproven=unproven, language=language, seconds=service.settings.seconds
            )
            batch = snapshot_work.Batch(rows, language=language, linker=linker, together=snapshot_work.PHRASED_TOGETHER)
            return _Lines(batch, service, headers, phrasing)
        return _Lines(snapshot_work.Batch(rows, language=language, linker=linker), service, headers)


async def _phrased(service: Service, asked: LadderRequest, row: QARow) -> Response:
    phrasing = phrasing_of(service, asked)
    async with service.desk.lease(counted=False) as lease:
        phrased = await phrased_ladder(service, asked, row, phrasing, lease)
    body = snapshot_work.line_of(phrased.to_json(), first=True)
    return answer(body, lease.snapshot_id, headers={MODEL_HEADER: model_work.header(phrasing.name)})


def phrasing_of(service: Service, asked: LadderRequest) -> Phrasing:
    """How a request is phrased. Raises HTTPProblem where there is no model."""
    return Phrasing(
        service.asked_models(),
        mode=asked.phrase or "free",
        unproven=asked.unproven,
        language=asked.language,
        seconds=service.settings.seconds,
    )


async def phrased_ladder(
    service: Service, asked: LadderRequest, row: QARow, phrasing: Phrasing, lease: Lease
) -> TieredLadder:
    """The ladder in the model's words, or the graph's where it has none."""
    made = await lease.run(
        lambda holding: snapshot_work.ladder(holding, row, language=asked.language, linker=asked.linker),
        seconds=service.settings.seconds,
    )
    await phrasing.begin(lease)
    (phrased,) = await phrasing.rows([made], lease)
    service.metrics.laddered(made.abstained)
    service.metrics.phrased(model_work.outcome_of(phrased))
    return phrased


async def _dragged(service: Service, asked: AggregateRequest, row: SampleRow) -> Response:
    models = service.asked_models()

    async def drag_with(relay: Relay) -> dict[str, Any] | NeedsReplies:
        return await service.bench.run(
            lambda: attempt(lambda: model_work.drag(row, relay, abstaining=asked.abstaining, language=asked.language)),
            seconds=service.settings.seconds,
        )

    answered = await models.through(drag_with, models.until())
    name = model_work.header(model_work.drag_name(models.identity))
    return answer(snapshot_work.line_of(answered), service.desk.snapshot_id, headers={MODEL_HEADER: name})


class _Lines(StreamingResponse):
    """The lines of a batch as they are made, all from one snapshot, which is let go when the last is sent or nobody
    reads on. Where it cannot go on, a last line tells the problem, and the connection is cut."""

    media_type = NDJSON

    def __init__(
        self, batch: snapshot_work.Batch, service: Service, headers: Mapping[str, str], phrasing: Phrasing | None = None
    ) -> None:
        super().__init__(iter(()), headers=headers)
        self._batch = batch
        self._service = service
        self._phrasing = phrasing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._service.desk.lease() as lease:
            self.headers[SNAPSHOT_HEADER] = lease.snapshot_id
            await lease.run(self._batch.check, seconds=self._service.settings.seconds)
            if self._phrasing is not None:
                await self._phrasing.begin(lease)
                self.headers[MODEL_HEADER] = model_work.header(self._phrasing.name)
            self.body_iterator = self._lines(lease)
            await super().__call__(scope, receive, send)

    async def _lines(self, lease: Lease) -> AsyncIterator[bytes]:
        until = time.monotonic() + self._service.settings.batch_seconds
        while not self._batch.is_done:
            try:
                if time.monotonic() > until:
                    raise too_slow(self._service.settings.batch_seconds)
                made = await lease.run(self._batch.slice, seconds=self._service.settings.seconds)
                lines = await self._phrased_lines(made, lease)
            except Exception as error:
                yield orjson.dumps({"problem": problem_of(error).to_json()}, option=orjson.OPT_APPEND_NEWLINE)
                raise
            for row in made.made:
                self._service.metrics.laddered(row.abstained)
            yield lines

    async def _phrased_lines(self, made: snapshot_work.Slice, lease: Lease) -> bytes:
        """The lines of a slice, in the model's words where it is asked."""
        if self._phrasing is None:
            return made.lines
        phrased = await self._phrasing.rows(made.made, lease)
        for row in phrased:
            self._service.metrics.phrased(model_work.outcome_of(row))
        return made.with_rows(phrased)
