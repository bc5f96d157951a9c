"""The routes under /v1: ladders, links, aggregation, verdicts, scores, entities and figures."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from fastapi import Path, Query, Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse

from abstraction.base.faults import RejectedRow, repr_excerpt
from abstraction.files.records import SCHEMA_VERSION, Record
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
from granola.service.gate import BODY, READING, Bound, as_typed, route
from granola.service.limits import LONGEST_NAME, MOST_FOUND, SNAPSHOT_HEADER, ServiceSettings
from granola.service.problems import HTTPProblem, overloaded, problem_of, too_slow
from granola.service.schemas import Language, read_batch
from granola.service.snapshots import Context, Generation, SnapshotSession
from kg.web.addresses import without_secrets

if TYPE_CHECKING:
    from granola.service.application import Service

QUESTION = Bound(body="small", products=lambda asked, _: asked.row)
BATCH = Bound(body="large", products=as_typed, seconds="batch_seconds")
_BATCH_SCHEMA: dict[str, Any] = {
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


def _check_match_limits(asked: schemas.MatchRequest, settings: ServiceSettings) -> None:
    limits.check_compared([(list(map(len, asked.predictions)), limits.lengths_of(asked.tiered))])


def _check_score_limits(asked: schemas.ScoreRequest, settings: ServiceSettings) -> None:
    limits.check_rows(max(len(asked.rows), len(asked.predictions)), settings.rows)
    sent = {str(one.get("id")): len(str(one.get("prediction"))) for one in asked.predictions if isinstance(one, dict)}
    rows, _ = asked.tiered
    limits.check_compared(([sent[row.id]], limits.lengths_of(row)) for row in rows if row.id in sent)
    limits.check_resampled(asked.resamples, len({row.relation for row in rows}), len(rows))


class Routes:
    """The routes under /v1."""

    def __init__(self, service: Service) -> None:
        self.service = service

    @route("/v1/health/live", Bound(products=as_typed, token=False), tags=["health"])
    async def live(self) -> Response:
        """Whether the process runs."""
        return Response(b'{"status":"ok"}', media_type="application/json", headers={"Cache-Control": "no-store"})

    @route("/v1/health/ready", Bound(products=as_typed, token=False), tags=["health"])
    async def ready(self) -> Response:
        """Whether requests can be answered."""
        is_open = self.service.snapshots.is_open
        body = b'{"status":"ok"}' if is_open else b'{"status":"starting"}'
        headers = {"Cache-Control": "no-store"}
        return Response(body, 200 if is_open else 503, headers, media_type="application/json")

    @route("/v1/metrics", READING, tags=["health"], response_class=PlainTextResponse)
    async def metrics(self) -> Response:
        """Figures in Prometheus' text format."""
        return Response(self.service.metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @route("/v1/entity/{qid}", READING, tags=["snapshot"])
    async def entity(
        self,
        qid: Annotated[str, Path(max_length=20, examples=["Q76"])],
        language: Language = "en",
    ) -> Response:
        """An item or property: names, and all statements with a mark on the current ones. Redirects are followed."""
        return await self.service.made(language, partial(snapshot_work.entity_json, entity_id=qid, language=language))

    @route("/v1/search", READING, tags=["snapshot"])
    async def search(
        self,
        name: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, examples=["Honolulu"])],
        language: Language = "en",
        limit: Annotated[int, Query(ge=1, le=MOST_FOUND)] = 20,
        begins: Annotated[bool, Query(description="Names that begin so, too: to complete what is typed.")] = False,
    ) -> Response:
        """Entities that carry a name as label or alias; with `begins` those that carry one which begins so."""
        find = partial(snapshot_work.search, name=name, language=language, limit=limit, begins=begins)
        return await self.service.made(language, find)

    @route("/v1/snapshot", READING, tags=["snapshot"])
    async def snapshot(self) -> Response:
        """The sources and settings of the snapshot."""
        generation = self.service.snapshots.current
        return self.service.answer(orjson.dumps(public_manifest(generation.manifest)), generation)

    @route("/v1/ladder", QUESTION, tags=["ladders"])
    async def ladder(self, asked: schemas.LadderRequest) -> Response:
        """The ladder of one answer: ever coarser correct answers with what entails each, or why there is none."""
        generation = self.service.snapshots.current
        made = await self.service.ladder(generation, asked)
        return self.service.answer(json_line({"schema_version": SCHEMA_VERSION, **made.to_json()}), generation)

    @route("/v1/link", QUESTION, tags=["ladders"])
    async def link(self, asked: schemas.LadderRequest) -> Response:
        """Which entity each answer means, how sure that is, and who else it may be."""

        def do(session: SnapshotSession) -> dict[str, Any]:
            made = session.ladder(asked.row, asked.language, asked.linker)
            ids = [i for link in made.links for i in linked_ids(link)]
            entities = snapshot_work.named(session, ids, asked.language)
            return {"links": made.links, "abstained": made.abstained, "entities": entities}

        return await self.service.made(asked.language, do)

    @route("/v1/aggregate", QUESTION, tags=["ladders"])
    async def aggregate(self, asked: schemas.AggregateRequest) -> Response:
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

        return await self.service.made(asked.language, do)

    @route("/v1/ladders", BATCH, tags=["ladders"], openapi_extra=_BATCH_SCHEMA, response_class=Response)
    async def ladders(
        self,
        request: Request,
        language: schemas.Language = "en",
        linker: LinkerName = "question",
        relation: Annotated[str | None, Query(pattern=r"^P[1-9][0-9]{0,8}$")] = None,
    ) -> Response:
        """Ladders of a batch, each as soon as it is made; bad rows are rejected in their places with the reason."""
        if strange := sorted(request.query_params.keys() - {"language", "linker", "relation"}):
            raise HTTPProblem(422, "request", f"{', '.join(strange)[:100]} is no setting of a batch")
        if self.service.batches >= (most := self.service.settings.batches):
            raise overloaded(f"{most} batches are being answered, which is as many as at a time", retry_after=5)
        body = request.scope[BODY]
        rows = await self.service.read(
            lambda: read_batch(body, relation=relation, most=self.service.settings.rows),
            seconds=self.service.settings.batch_seconds,
        )
        await self.service.snapshots.current.run(lambda session: session.check_language(language))
        batch, generation = snapshot_work.Batch(rows, language=language, linker=linker), self.service.snapshots.current
        headers = {SNAPSHOT_HEADER: generation.snapshot_id}
        return StreamingResponse(self._lines(batch, generation), headers=headers, media_type="application/x-ndjson")

    async def _lines(self, batch: snapshot_work.Batch, generation: Generation) -> AsyncGenerator[bytes]:
        """Lines as they are made, all from one snapshot.

        An error becomes the last line and is then raised, so that the connection is cut.
        """
        until = time.monotonic() + self.service.settings.batch_seconds
        first = {"schema_version": SCHEMA_VERSION}  # in the first line, as in files
        self.service.batches += 1
        try:
            with generation.held():
                while rows := await generation.run(batch.slice):
                    if time.monotonic() > until:
                        raise too_slow(self.service.settings.batch_seconds)
                    lines = []
                    for row in rows:
                        if isinstance(row, Row):
                            self.service.laddered(row)
                        record = row.to_json() if isinstance(row, Row) else {"rejected": row.to_json()}
                        lines.append(json_line(first | record))
                        first = {}
                    yield b"".join(lines)
        except Exception as error:
            yield orjson.dumps({"problem": problem_of(error).to_json()}, option=orjson.OPT_APPEND_NEWLINE)
            raise
        finally:
            self.service.batches -= 1

    @route("/v1/match", Bound(body="small", products=_check_match_limits), tags=["judging"])
    async def match(self, asked: schemas.MatchRequest) -> Response:
        """At which level each prediction matches a ladder, and by which rule."""
        chosen = asked.chosen(asked.language)

        def do(_: Context) -> bytes:
            told = (Prediction(id=str(number), text=text) for number, text in enumerate(asked.predictions, 1))
            items = [{**score_item(asked.tiered, o, chosen, asked.lambda_).to_json(), "id": o.id} for o in told]
            return json_line({"matcher": chosen.signature(), "items": items})

        body = await self.service.bench.run(do, seconds=self.service.settings.seconds)
        return self.service.answer(body, self.service.snapshots.current)

    @route("/v1/score", Bound(body="large", products=_check_score_limits, seconds="batch_seconds"), tags=["judging"])
    async def scored(self, asked: schemas.ScoreRequest) -> Response:
        """The scores of predictions against tiered rows, with intervals and a signature."""
        body = await self.service.scoring.run(lambda _: _scores(asked), seconds=self.service.settings.batch_seconds)
        return self.service.answer(body, self.service.snapshots.current)


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
