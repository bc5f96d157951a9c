"""The routes that make something of questions: ladders, links, one answer of several."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from typing import Annotated, Any

import orjson
from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import StreamingResponse

from abstraction.files.writing import json_line
from abstraction.rows import QARow, linked_ids
from abstraction.rows import TieredRow as Row
from granola.decoding import Abstaining, Aggregator, Counting, DragGraph, SelfConsistency, prediction_row
from granola.service.incoming.bodies import read_batch
from granola.service.incoming.bounded_routes import BODY, Bound, as_typed, bounded
from granola.service.incoming.problems import HTTPProblem, overloaded, problem_of, too_slow
from granola.service.incoming.schemas import (
    AggregateRequest,
    LadderRequest,
    Language,
    Linker,
)
from granola.service.served import SNAPSHOT_HEADER, Service
from granola.service.service_settings import ServiceSettings
from granola.service.work import snapshot_work
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


def bound_row(asked: LadderRequest | AggregateRequest, settings: ServiceSettings) -> None:
    """Raise HTTPProblem or RowError where what is read of the row is more than may be."""
    assert asked.row


def add_ladders(app: FastAPI, service: Service) -> None:
    """Add them."""

    @app.post("/v1/ladder", tags=["ladders"])
    @bounded(Bound(body="small", products=bound_row))
    async def ladder(asked: LadderRequest) -> Response:
        """The ladder of one answer: ever coarser correct answers with what entails each, or why there is none."""
        generation = service.snapshots.current
        made = await made_ladder(service, generation, asked)
        return service.answer(snapshot_work.line_of(made.to_json(), first=True), generation)

    @app.post("/v1/link", tags=["ladders"])
    @bounded(Bound(body="small", products=bound_row))
    async def link(asked: LadderRequest) -> Response:
        """Which entity each answer means, how sure that is, and who else it may be."""

        def do(session: SnapshotSession) -> bytes:
            made = snapshot_work.ladder(session, asked.row, language=asked.language, linker=asked.linker)
            ids = [i for link in made.links for i in linked_ids(link)]
            entities = snapshot_work.named(session, ids, asked.language)
            return json_line({"links": made.links, "abstained": made.abstained, "entities": entities})

        return await service.made(asked.language, do)

    @app.post("/v1/aggregate", tags=["ladders"])
    @bounded(Bound(body="small", products=bound_row))
    async def aggregate(asked: AggregateRequest) -> Response:
        """One answer of several responses: the finest that enough of them entail, or what most of them say."""

        def do(session: SnapshotSession) -> bytes:
            row, abstaining = asked.row, Abstaining(asked.abstaining or "ignore")
            method: DragGraph | SelfConsistency = SelfConsistency(
                counting=Counting(asked.counting), abstaining=abstaining
            )
            if asked.method == "drag-graph":
                method = DragGraph(support=asked.support, abstaining=abstaining)
            session.count_sent((row.question, row.subject_text or "", *row.samples))
            maker = session.maker(asked.language, asked.linker)
            aggregator = Aggregator(session.store, language=asked.language, maker=maker)
            ((_, decision),) = aggregator.decide([row], method)
            return json_line(prediction_row(row, decision, method=asked.method))

        return await service.made(asked.language, do)

    @app.post("/v1/ladders", tags=["ladders"], openapi_extra=_BATCH, response_class=Response)
    @bounded(Bound(body="large", products=as_typed, seconds="batch_seconds"))
    async def ladders(
        request: Request,
        language: Language = "en",
        linker: Linker = "question",
        relation: Annotated[str | None, Query(pattern=r"^P[1-9][0-9]{0,8}$")] = None,
    ) -> Response:
        """Ladders of a batch, each as soon as it is made; bad rows are rejected in their places with the reason."""
        settings = {"language": language, "linker": linker}
        if strange := sorted(request.query_params.keys() - {*settings, "relation"}):
            raise HTTPProblem(422, "request", f"{', '.join(strange)[:100]} is no setting of a batch")
        if service.batches >= (most := service.settings.batches):
            raise overloaded(f"{most} batches are being answered, which is as many as at a time", retry_after=5)
        generation, body = service.snapshots.current, request.scope[BODY]
        rows = await service.apart(lambda: read_batch(body, relation=relation, most=service.settings.rows))
        await generation.run(lambda session: snapshot_work.check_language(session, language))
        headers = {SNAPSHOT_HEADER: generation.snapshot_id}
        # Settings that some rows have fields of, which say something else and are handed on.
        extra = [row.extra for row in rows if isinstance(row, QARow)]
        if others := sorted(n for n, value in settings.items() if any(one.get(n, value) != value for one in extra)):
            headers[UNHEEDED_HEADER] = ", ".join(others)
        batch = snapshot_work.Batch(rows, language=language, linker=linker)
        return _Lines(_lines(batch, service, generation), headers=headers, media_type="application/x-ndjson")


async def made_ladder(service: Service, generation: Generation, asked: LadderRequest) -> Row:
    """The ladder, counted. Raises HTTPProblem for a language that the snapshot has nothing in."""

    def do(session: SnapshotSession) -> Row:
        snapshot_work.check_language(session, asked.language)
        return snapshot_work.ladder(session, asked.row, language=asked.language, linker=asked.linker)

    made = await generation.run(do)
    service.laddered(made)
    return made


class _Lines(StreamingResponse):
    """Lines as they are made, until nobody reads on: that is the gate's to notice."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.stream_response(send)


async def _lines(batch: snapshot_work.Batch, service: Service, generation: Generation) -> AsyncGenerator[bytes]:
    """The lines of a batch, all from one snapshot, which is let go when the last is sent or nobody reads on.

    Where it cannot go on, a last line tells the problem, which is then raised, so that the connection is cut.
    """
    until = time.monotonic() + service.settings.batch_seconds
    is_first = True
    service.batches += 1
    try:
        with generation.held():
            while not batch.is_done:
                if time.monotonic() > until:
                    raise too_slow(service.settings.batch_seconds)
                rows = await generation.run(batch.slice)
                lines = []
                for row in rows:
                    if isinstance(row, Row):
                        service.laddered(row)
                    record = row.to_json() if isinstance(row, Row) else {"rejected": row.to_json()}
                    lines.append(snapshot_work.line_of(record, first=is_first))
                    is_first = False
                yield b"".join(lines)
    except Exception as error:
        yield orjson.dumps({"problem": problem_of(error).to_json()}, option=orjson.OPT_APPEND_NEWLINE)
        raise
    finally:
        service.batches -= 1
