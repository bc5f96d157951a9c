"""The routes under /v1: ladders, links, aggregation, verdicts, scores, entities and figures."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse

from abstraction.base.faults import RejectedRow, repr_excerpt
from abstraction.files.records import Record
from abstraction.files.rows import TieredRow as Row
from abstraction.files.rows import linked_ids
from abstraction.files.writing import json_line
from granola.decoding.aggregation_rules import DragGraph, SelfConsistency
from granola.decoding.decision import Abstaining, Counting
from granola.decoding.response_aggregation import Aggregator, prediction_row
from granola.errors import PredictionError
from granola.scoring.predictions import Prediction, predictions_of
from granola.scoring.scores import ScoreSettings, score, score_item
from granola.scoring.shared_settings import LinkerName
from granola.scoring.tiered_file import TieredFile
from granola.service import limits, schemas, snapshot_work
from granola.service.bounded_routes import BODY, Bound, as_typed, bounded
from granola.service.limits import LONGEST_NAME, MOST_FOUND, SNAPSHOT_HEADER, ServiceSettings
from granola.service.problems import HTTPProblem, overloaded, problem_of, too_slow
from granola.service.schemas import Language, read_batch
from granola.service.snapshots import Context, Generation, SnapshotSession
from kg.web.addresses import without_secrets

if TYPE_CHECKING:
    from granola.service.application import Service

_BATCH: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "Rows as in a file of questions: one JSON object a line, or a JSON array.",
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    },
    "responses": {
        "200": {
            "description": 'A line a row, in order: a tiered row, or {"rejected": {source, reason, excerpt}}. An '
            "answer that is cut before its end leaves the remaining rows unanswered.",
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        }
    },
}


def add_ladders(app: FastAPI, service: Service) -> None:
    """Add the routes about questions."""

    @app.post("/v1/ladder", tags=["ladders"])
    @bounded(Bound(body="small", products=lambda asked, _: asked.row))
    async def ladder(asked: schemas.LadderRequest) -> Response:
        """The ladder of one answer: ever coarser correct answers with what entails each, or why there is none."""
        generation = service.snapshots.current
        made = await made_ladder(service, generation, asked)
        return service.answer(snapshot_work.line_of(made.to_json(), first=True), generation)

    @app.post("/v1/link", tags=["ladders"])
    @bounded(Bound(body="small", products=lambda asked, _: asked.row))
    async def link(asked: schemas.LadderRequest) -> Response:
        """Which entity each answer means, how sure that is, and who else it may be."""

        def do(session: SnapshotSession) -> dict[str, Any]:
            made = snapshot_work.ladder(session, asked.row, language=asked.language, linker=asked.linker)
            ids = [i for link in made.links for i in linked_ids(link)]
            entities = snapshot_work.named(session, ids, asked.language)
            return {"links": made.links, "abstained": made.abstained, "entities": entities}

        return await service.made(asked.language, do)

    @app.post("/v1/aggregate", tags=["ladders"])
    @bounded(Bound(body="small", products=lambda asked, _: asked.row))
    async def aggregate(asked: schemas.AggregateRequest) -> Response:
        """One answer of several responses: the finest that enough of them entail, or the one that most of them give."""

        def do(session: SnapshotSession) -> dict[str, Any]:
            row, abstaining = asked.row, Abstaining(asked.abstaining or "ignore")
            method: DragGraph | SelfConsistency = SelfConsistency(
                counting=Counting(asked.counting), abstaining=abstaining
            )
            if asked.method == "drag-graph":
                method = DragGraph(support=asked.support, abstaining=abstaining)
            session.count_characters((row.question, row.subject_text or "", *row.samples))
            maker = session.maker(asked.language, asked.linker)
            aggregator = Aggregator(session.store, language=asked.language, maker=maker)
            ((_, decision),) = aggregator.decide([row], method)
            return prediction_row(row, decision, method=asked.method)

        return await service.made(asked.language, do)

    @app.post("/v1/ladders", tags=["ladders"], openapi_extra=_BATCH, response_class=Response)
    @bounded(Bound(body="large", products=as_typed, seconds="batch_seconds"))
    async def ladders(
        request: Request,
        language: schemas.Language = "en",
        linker: LinkerName = "question",
        relation: Annotated[str | None, Query(pattern=r"^P[1-9][0-9]{0,8}$")] = None,
    ) -> Response:
        """Ladders of a batch, each as soon as it is made; bad rows are rejected in their places with the reason."""
        if strange := sorted(request.query_params.keys() - {"language", "linker", "relation"}):
            raise HTTPProblem(422, "request", f"{', '.join(strange)[:100]} is no setting of a batch")
        if service.batches >= (most := service.settings.batches):
            raise overloaded(f"{most} batches are being answered, which is as many as at a time", retry_after=5)
        body = request.scope[BODY]
        rows = await service.read(
            lambda: read_batch(body, relation=relation, most=service.settings.rows),
            seconds=service.settings.batch_seconds,
        )
        await service.snapshots.current.run(lambda session: snapshot_work.check_language(session, language))
        batch, generation = snapshot_work.Batch(rows, language=language, linker=linker), service.snapshots.current
        headers = {SNAPSHOT_HEADER: generation.snapshot_id}
        return StreamingResponse(_lines(batch, service, generation), headers=headers, media_type="application/x-ndjson")


async def made_ladder(service: Service, generation: Generation, asked: schemas.LadderRequest) -> Row:
    """The ladder, counted. Raises HTTPProblem for a language that the snapshot has nothing in."""

    def do(session: SnapshotSession) -> Row:
        snapshot_work.check_language(session, asked.language)
        return snapshot_work.ladder(session, asked.row, language=asked.language, linker=asked.linker)

    made = await generation.run(do)
    service.laddered(made)
    return made


async def _lines(batch: snapshot_work.Batch, service: Service, generation: Generation) -> AsyncGenerator[bytes]:
    """Lines as they are made, all from one snapshot.

    An error becomes the last line and is then raised, so that the connection is cut.
    """
    until = time.monotonic() + service.settings.batch_seconds
    is_first = True
    service.batches += 1
    try:
        with generation.held():
            while rows := await generation.run(batch.slice):
                if time.monotonic() > until:
                    raise too_slow(service.settings.batch_seconds)
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


def _check_score_limits(asked: schemas.ScoreRequest, settings: ServiceSettings) -> None:
    limits.check_rows(max(len(asked.rows), len(asked.predictions)), settings.rows)
    sent = {str(one.get("id")): len(str(one.get("prediction"))) for one in asked.predictions if isinstance(one, dict)}
    rows, _ = asked.tiered
    limits.check_compared(([sent[row.id]], limits.lengths_of(row)) for row in rows if row.id in sent)
    limits.check_resampled(asked.resamples, len({row.relation for row in rows}), len(rows))


def add_judging(app: FastAPI, service: Service) -> None:
    """Add the routes that judge predictions."""

    @app.post("/v1/match", tags=["judging"])
    @bounded(
        Bound(
            body="small",
            products=lambda asked, _: limits.check_compared(
                [(list(map(len, asked.predictions)), limits.lengths_of(asked.tiered))]
            ),
        )
    )
    async def match(asked: schemas.MatchRequest) -> Response:
        """At which level each prediction matches a ladder, and by which rule."""
        chosen = asked.chosen(asked.language)

        def do(_: Context) -> bytes:
            told = (Prediction(id=str(number), text=text) for number, text in enumerate(asked.predictions, 1))
            items = [{**score_item(asked.tiered, o, chosen, asked.lambda_).to_json(), "id": o.id} for o in told]
            return json_line({"matcher": chosen.signature(), "items": items})

        body = await service.bench.run(do, seconds=service.settings.seconds)
        return service.answer(body, service.snapshots.current)

    @app.post("/v1/score", tags=["judging"])
    @bounded(Bound(body="large", products=_check_score_limits, seconds="batch_seconds"))
    async def scored(asked: schemas.ScoreRequest) -> Response:
        """The scores of predictions against tiered rows, with intervals and a signature."""
        body = await service.scoring.run(lambda _: _scores(asked), seconds=service.settings.batch_seconds)
        return service.answer(body, service.snapshots.current)


def _scores(asked: schemas.ScoreRequest) -> bytes:
    """The result of `granola score`; the signature has the hash of the rows as a file of `granola tiers` has it."""
    rows, rejected = asked.tiered
    if not rows:
        raise PredictionError(f"no tiered row; {rejected[0].source}: {rejected[0].reason}")
    records = [_prediction_record(number, data) for number, data in enumerate(asked.predictions, 1)]
    file = replace(predictions_of(records, "predictions"), asked=asked.asked or "")
    tiered = TieredFile(
        rows=rows, rejected=tuple(rejected), snapshot=asked.snapshot or "unknown", prompts=asked.prompts or ""
    )
    settings = ScoreSettings(
        lambda_=asked.lambda_,
        standard=asked.standard,
        resamples=asked.resamples,
        seed=asked.seed,
        allow_missing=asked.allow_missing,
    )
    report = score(tiered, file, asked.chosen("en"), settings, system=asked.system)
    items = [item.to_json() for item in report.items]
    refused = [row.to_json() for row in (*rejected, *file.rejected)]
    return json_line({**report.to_json(), "items": items, "rejected": refused})


def _prediction_record(number: int, data: object) -> Record | RejectedRow:
    source, reason = f"predictions[{number}]", "no JSON object"
    if isinstance(data, dict):
        if len(str(data.get("prediction") or "")) <= limits.LONGEST:
            return Record(source=source, data=data)
        reason = f"more than {limits.LONGEST:,} characters"
    return RejectedRow(source=source, reason=reason, excerpt=repr_excerpt(data))


def add_health(app: FastAPI, service: Service) -> None:
    """Add the routes for monitoring."""

    @app.get("/v1/health/live", tags=["health"])
    @bounded(Bound(products=as_typed, token=False))
    async def live() -> Response:
        """Whether the process runs."""
        return Response(b'{"status":"ok"}', media_type="application/json", headers={"Cache-Control": "no-store"})

    @app.get("/v1/health/ready", tags=["health"])
    @bounded(Bound(products=as_typed, token=False))
    async def ready() -> Response:
        """Whether requests can be answered."""
        is_open = service.snapshots.is_open
        body = b'{"status":"ok"}' if is_open else b'{"status":"starting"}'
        headers = {"Cache-Control": "no-store"}
        return Response(body, 200 if is_open else 503, headers, media_type="application/json")

    @app.get("/v1/metrics", tags=["health"], response_class=PlainTextResponse)
    @bounded(Bound(products=as_typed))
    async def metrics() -> Response:
        """Figures in Prometheus' text format."""
        return Response(service.metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


def add_reading(app: FastAPI, service: Service) -> None:
    """Add the routes that read the snapshot."""

    @app.get("/v1/entity/{qid}", tags=["snapshot"])
    @bounded(Bound(products=as_typed))
    async def entity(
        qid: Annotated[str, Path(max_length=20, examples=["Q76"])],
        language: Language = "en",
    ) -> Response:
        """An item or property: names, and all statements with a mark on the current ones. Redirects are followed."""
        return await service.made(language, lambda session: snapshot_work.entity_json(session, qid, language=language))

    @app.get("/v1/search", tags=["snapshot"])
    @bounded(Bound(products=as_typed))
    async def search(
        name: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, examples=["Honolulu"])],
        language: Language = "en",
        limit: Annotated[int, Query(ge=1, le=MOST_FOUND)] = 20,
        begins: Annotated[bool, Query(description="Names that begin so, too: to complete what is typed.")] = False,
    ) -> Response:
        """Entities that carry a name as label or alias; with `begins` those that carry one which begins so."""
        find = partial(snapshot_work.search, name=name, language=language, limit=limit, begins=begins)
        return await service.made(language, find)

    @app.get("/v1/snapshot", tags=["snapshot"])
    @bounded(Bound(products=as_typed))
    async def snapshot() -> Response:
        """The sources and settings of the snapshot."""
        generation = service.snapshots.current
        return service.answer(orjson.dumps(public_manifest(generation.manifest)), generation)


def public_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without the command and the folders of whoever built the snapshot, and without addresses' secrets."""

    def redacted(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: redacted(part) for key, part in value.items()}
        if isinstance(value, list):
            return [redacted(part) for part in value]
        if not isinstance(value, str) or "/" not in value:
            return value
        return without_secrets(value) if "://" in value else PurePath(value).name

    return {key: redacted(value) for key, value in manifest.items() if key != "command"}
