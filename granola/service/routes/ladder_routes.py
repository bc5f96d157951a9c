"""The routes that make something of questions: ladders, links, one answer of several."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

import orjson
from fastapi import FastAPI, Query, Request, Response

from abstraction.files.writing import json_line
from abstraction.rows import QARow, RejectedRow
from abstraction.rows import TieredRow as Row
from granola.service.incoming import openapi
from granola.service.incoming.asked_rows import read_batch, unheeded
from granola.service.incoming.bodies import check_values
from granola.service.incoming.bounded_routes import BODY, Bound, as_typed, bounded
from granola.service.incoming.problems import HTTPProblem, overloaded, problem_of, too_slow
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
from granola.service.served import MODEL_HEADER, SNAPSHOT_HEADER, Service
from granola.service.service_settings import ServiceSettings
from granola.service.work import model_session, snapshot_work
from granola.service.work.model_session import Phrasing
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.snapshots import Generation

UNHEEDED_HEADER = "granola-unheeded"


def bound_row(asked: LinkRequest | AggregateRequest, settings: ServiceSettings) -> None:
    """Raise HTTPProblem or RowError where what is read of the row is more than may be."""
    assert asked.row


def add_ladders(app: FastAPI, service: Service) -> None:
    """Add them."""

    @app.post("/v1/ladder", response_model=TieredRow, tags=["ladders"])
    @bounded(Bound(body="small", products=bound_row, seconds="model_seconds"))
    async def ladder(asked: LadderRequest) -> Response:
        """The ladder of one answer: ever coarser correct answers with what entails each, or why there is none."""
        if asked.phrase is not None:
            return await phrased(asked)

        def do(session: SnapshotSession) -> tuple[bytes, str | None]:
            made = snapshot_work.ladder(session, asked.row, language=asked.language, linker=asked.linker)
            return snapshot_work.line_of(made.to_json(), first=True), made.abstained

        generation = service.snapshots.current
        body, abstained = await generation.run(do)
        service.laddered(abstained)
        return service.answer(body, generation)

    async def phrased(asked: LadderRequest) -> Response:
        how = phrasing_of(service, asked)
        with service.snapshots.current.held() as generation:
            made = await phrased_ladder(service, generation, asked, how)
            name = await generation.ask(lambda session: session.phrased_by(how))
        return service.answer(snapshot_work.line_of(made.to_json(), first=True), generation, {MODEL_HEADER: name})

    @app.post("/v1/link", response_model=LinkAnswer, tags=["ladders"])
    @bounded(Bound(body="small", products=bound_row))
    async def link(asked: LinkRequest) -> Response:
        """Which entity each answer means, how sure that is, and who else it may be."""
        return await service.made(
            lambda session: json_line(
                snapshot_work.links(session, asked.row, language=asked.language, linker=asked.linker)
            )
        )

    @app.post("/v1/aggregate", response_model=AggregateAnswer, tags=["ladders"])
    @bounded(Bound(body="small", products=bound_row, seconds="model_seconds"))
    async def aggregate(asked: AggregateRequest) -> Response:
        """One answer of several responses: the finest that enough of them entail, or what most of them say."""
        if asked.method != "drag":
            return await service.made(lambda session: snapshot_work.line_of(snapshot_work.aggregate(session, asked)))
        generation = service.with_model()
        answered, name = await generation.ask(
            lambda session: session.drag(asked.row, abstaining=asked.abstaining, language=asked.language)
        )
        return service.answer(snapshot_work.line_of(answered), generation, {MODEL_HEADER: name})

    @app.post("/v1/ladders", tags=["ladders"], openapi_extra=openapi.BATCH, response_class=Response)
    @bounded(Bound(body="large", products=as_typed, seconds="batch_seconds"))
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
        how = None
        if phrase is not None:
            service.with_model()
            how = Phrasing(mode=phrase, unproven=unproven, language=language)
        body = request.scope[BODY]
        settings = {"language": language, "linker": linker, "phrase": phrase, "unproven": unproven}

        def read() -> tuple[list[QARow | RejectedRow], list[str]]:
            check_values(body)
            rows = read_batch(body, relation=relation, most=service.settings.rows)
            return rows, unheeded(rows, settings)

        rows, others = await service.apart(read)
        if how is not None and len(rows) > service.settings.model_rows:
            raise model_session.too_many(service.settings.model_rows)
        together = model_session.TOGETHER if how is not None else snapshot_work.SLICE_ROWS
        batch = snapshot_work.Batch(rows, language=language, linker=linker, together=together)
        lines = _Lines(batch, service, service.snapshots.current, how)
        if others:
            lines.headers[UNHEEDED_HEADER] = ", ".join(others)
        await lines.begin()
        return lines


def phrasing_of(service: Service, asked: LadderRequest) -> Phrasing:
    """How a request is phrased. Raises HTTPProblem where there is no model."""
    service.with_model()
    return Phrasing(mode=asked.phrase or "free", unproven=asked.unproven, language=asked.language)


async def phrased_ladder(service: Service, generation: Generation, asked: LadderRequest, how: Phrasing) -> Row:
    """The ladder in the model's words, or the graph's where it has none."""
    made = await generation.run(
        lambda session: snapshot_work.ladder(session, asked.row, language=asked.language, linker=asked.linker)
    )
    (row,) = await generation.ask(lambda session: session.phrased([made], how))
    service.laddered(made.abstained)
    service.metrics.count("granola_phrased_total", "outcome", model_session.outcome_of(row.extra))
    return row


class _Lines(Response):
    """The lines of a batch as they are made, all from one snapshot, which is let go when the last is sent or nobody
    reads on. Where it cannot go on, a last line tells the problem, and the connection is cut."""

    media_type = "application/x-ndjson"

    def __init__(
        self, batch: snapshot_work.Batch, service: Service, generation: Generation, how: Phrasing | None
    ) -> None:
        super().__init__(headers={SNAPSHOT_HEADER: generation.snapshot_id})
        del self.headers["content-length"]
        self._batch = batch
        self._service = service
        self._generation = generation
        self._reader = generation.reader()
        self._how = how

    async def begin(self) -> None:
        """Find out what can be said before the first line. Raises HTTPProblem."""
        how, seconds = self._how, self._service.settings.seconds
        with self._generation.held():
            await self._reader.run(self._batch.check, seconds=seconds)
            if how is not None:
                self.headers[MODEL_HEADER] = await self._generation.ask(lambda session: session.phrased_by(how))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        most = self._service.settings.batches
        if self._service.batches >= most:
            refused = overloaded(f"{most} batches are being answered, which is as many as at a time", retry_after=5)
            await self._service.problem_answer(refused, scope)(scope, receive, send)
            return
        self._service.batches += 1
        try:
            with self._generation.held():
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                async with aclosing(self._lines()) as made:
                    async for lines in made:
                        await send({"type": "http.response.body", "body": lines, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._service.batches -= 1

    async def _lines(self) -> AsyncGenerator[bytes]:
        settings = self._service.settings
        until = time.monotonic() + settings.batch_seconds
        is_first = True
        while not self._batch.is_done:
            try:
                if time.monotonic() > until:
                    raise too_slow(settings.batch_seconds)
                rows = await self._reader.run(self._batch.slice, seconds=settings.seconds)
                made = [row for row in rows if isinstance(row, Row)]
                if self._how is not None and made:
                    rows = await self._phrased(rows, made, self._how)
                lines = snapshot_work.lines_of(rows, is_first=is_first)
            except Exception as error:
                yield orjson.dumps({"problem": problem_of(error).to_json()}, option=orjson.OPT_APPEND_NEWLINE)
                raise
            for row in made:
                self._service.laddered(row.abstained)
            is_first = False
            yield lines

    async def _phrased(self, rows: list[Row | RejectedRow], made: list[Row], how: Phrasing) -> list[Row | RejectedRow]:
        """The rows of a slice, their ladders in the model's words."""
        phrased = await self._generation.ask(lambda session: session.phrased(made, how))
        for row in phrased:
            self._service.metrics.count("granola_phrased_total", "outcome", model_session.outcome_of(row.extra))
        others = iter(phrased)
        return [next(others) if isinstance(row, Row) else row for row in rows]
