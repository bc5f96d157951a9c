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
from granola.service.incoming.bodies import read_batch
from granola.service.incoming.bounded_routes import BODY, Bound, as_typed, bounded
from granola.service.incoming.problems import HTTPProblem, overloaded, problem_of, too_slow
from granola.service.incoming.schemas import (
    AggregateRequest,
    LadderRequest,
    Language,
    Linker,
    LinkRequest,
    PhraseMode,
    TieredRow,
    Unproven,
)
from granola.service.served import MODEL_HEADER, SNAPSHOT_HEADER, Service
from granola.service.service_settings import ServiceSettings
from granola.service.work import snapshot_work
from granola.service.work.model_session import TOGETHER, Phrasing, check_model_rows
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.snapshots import Generation

UNHEEDED_HEADER = "granola-unheeded"
_LINES = {"schema": {"type": "string"}}
_BATCH: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "Rows as in a file of questions: one JSON object a line, or a JSON array.",
        "content": {"application/x-ndjson": _LINES},
    },
    "responses": {
        "200": {
            "description": 'A line a row, in order: a tiered row, or {"rejected": {source, reason, excerpt}}. An '
            "answer that is cut before its end leaves the remaining rows unanswered.",
            "content": {"application/x-ndjson": _LINES},
        }
    },
}


def bound_row(asked: LinkRequest | AggregateRequest, settings: ServiceSettings) -> None:
    """Raise HTTPProblem or RowError where what is read of the row is more than may be."""
    assert asked.row


def add_ladders(app: FastAPI, service: Service) -> None:
    """Add them."""

    @app.post("/v1/ladder", response_model=TieredRow, tags=["ladders"])
    @bounded(Bound(body="small", products=bound_row, seconds="model_seconds"))
    async def ladder(asked: LadderRequest) -> Response:
        """The ladder of one answer: ever coarser correct answers with what entails each, or why there is none."""
        with service.snapshots.current.held() as generation:
            made, headers = await made_ladder(service, generation, asked)
        return service.answer(snapshot_work.line_of(made.to_json(), first=True), generation, headers)

    @app.post("/v1/link", tags=["ladders"])
    @bounded(Bound(body="small", products=bound_row))
    async def link(asked: LinkRequest) -> Response:
        """Which entity each answer means, how sure that is, and who else it may be."""

        def do(session: SnapshotSession) -> bytes:
            return json_line(snapshot_work.links(session, asked.row, language=asked.language, linker=asked.linker))

        return await service.made(asked.language, do)

    @app.post("/v1/aggregate", tags=["ladders"])
    @bounded(Bound(body="small", products=bound_row, seconds="model_seconds"))
    async def aggregate(asked: AggregateRequest) -> Response:
        """One answer of several responses: the finest that enough of them entail, or what most of them say."""

        def do(session: SnapshotSession) -> bytes:
            return json_line(snapshot_work.aggregate(session, asked))

        if asked.method != "drag":
            return await service.made(asked.language, do)
        generation = service.with_model()
        answered, name = await generation.ask(
            lambda session: session.drag(asked.row, abstaining=asked.abstaining, language=asked.language)
        )
        return service.answer(json_line(answered), generation, {MODEL_HEADER: name})

    @app.post("/v1/ladders", tags=["ladders"], openapi_extra=_BATCH, response_class=Response)
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
        settings = {"language": language, "linker": linker, "phrase": phrase, "unproven": unproven}
        if strange := sorted(request.query_params.keys() - {*settings, "relation"}):
            raise HTTPProblem(422, "request", f"{', '.join(strange)[:100]} is no setting of a batch")
        how = None if phrase is None else Phrasing(mode=phrase, unproven=unproven, language=language)
        generation = service.snapshots.current if how is None else service.with_model()
        body, most = request.scope[BODY], service.settings.rows
        rows = await service.apart(lambda: read_batch(body, relation=relation, most=most))
        if how is not None:
            check_model_rows(len(rows), service.settings.model_rows)
        await generation.run(lambda session: snapshot_work.check_language(session, language))
        together = snapshot_work.SLICE_ROWS if how is None else TOGETHER
        batch = snapshot_work.Batch(rows, language=language, linker=linker, together=together)
        headers = {SNAPSHOT_HEADER: generation.snapshot_id}
        if how is not None:
            headers[MODEL_HEADER] = await generation.ask(lambda session: session.phrased_by(how))
        # Settings that some rows have fields of, which say something else and are handed on.
        extra = [row.extra for row in rows if isinstance(row, QARow)]
        if others := sorted(n for n, value in settings.items() if any(one.get(n, value) != value for one in extra)):
            headers[UNHEEDED_HEADER] = ", ".join(others)
        return _Lines(batch, service, generation, how, headers)


async def made_ladder(service: Service, generation: Generation, asked: LadderRequest) -> tuple[Row, dict[str, str]]:
    """The graph's ladder, or the model's where it is asked for and has one, with the header that names the model.

    Raises HTTPProblem for a model that is not there, and for a language that the snapshot has nothing in.
    """

    def do(session: SnapshotSession) -> Row:
        snapshot_work.check_language(session, asked.language)
        return snapshot_work.ladder(session, asked.row, language=asked.language, linker=asked.linker)

    if asked.phrase is not None:
        service.with_model()
    made = await generation.run(do)
    service.laddered(made)
    if asked.phrase is None:
        return made, {}
    how = Phrasing(mode=asked.phrase, unproven=asked.unproven, language=asked.language)
    (row,) = await generation.ask(lambda session: session.phrased([made], how))
    service.phrased(row)
    return row, {MODEL_HEADER: await generation.ask(lambda session: session.phrased_by(how))}


class _Lines(Response):
    """The lines of a batch as they are made, all from one snapshot, which is let go when the last is sent or nobody
    reads on. Where it cannot go on, a last line tells the problem, and the connection is cut."""

    media_type = "application/x-ndjson"

    def __init__(
        self,
        batch: snapshot_work.Batch,
        service: Service,
        generation: Generation,
        how: Phrasing | None,
        headers: dict[str, str],
    ) -> None:
        super().__init__(headers=headers)
        del self.headers["content-length"]
        self._batch = batch
        self._service = service
        self._generation = generation
        self._how = how

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        most = self._service.settings.batches
        if self._service.batches >= most:
            refused = overloaded(f"{most} batches are being answered, which is as many as at a time", retry_after=5)
            await self._service.problem(refused).answer()(scope, receive, send)
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
        reader = self._generation.reader()  # one for all slices
        until = time.monotonic() + settings.batch_seconds
        is_first = True
        while not self._batch.is_done:
            try:
                if time.monotonic() > until:
                    raise too_slow(settings.batch_seconds)
                rows = await reader.run(self._batch.slice, seconds=settings.seconds)
                for row in rows:
                    if isinstance(row, Row):
                        self._service.laddered(row)
                if self._how is not None:
                    rows = await self._phrased(rows, self._how)
                records = ({"rejected": r.to_json()} if isinstance(r, RejectedRow) else r.to_json() for r in rows)
                lines = b"".join(
                    snapshot_work.line_of(record, first=is_first and not n) for n, record in enumerate(records)
                )
            except Exception as error:
                yield orjson.dumps({"problem": problem_of(error).to_json()}, option=orjson.OPT_APPEND_NEWLINE)
                raise
            is_first = False
            yield lines

    async def _phrased(self, rows: list[Row | RejectedRow], how: Phrasing) -> list[Row | RejectedRow]:
        """The rows of a slice, their ladders in the model's words."""
        made = [row for row in rows if isinstance(row, Row)]
        phrased = await self._generation.ask(lambda session: session.phrased(made, how)) if made else []
        for row in phrased:
            self._service.phrased(row)
        others = iter(phrased)
        return [next(others) if isinstance(row, Row) else row for row in rows]
