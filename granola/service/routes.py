"""The routes under /v1: ladders, links, aggregation, verdicts, scores, entities and figures.

Work with the snapshot runs in the thread that has it open.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from fastapi import Path, Query, Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse

from abstraction.base.faults import RejectedRow, repr_excerpt
from abstraction.base.tiers import literal_text
from abstraction.files.records import SCHEMA_VERSION, Record
from abstraction.files.rows import QARow, TieredRow, candidate_ids_of_link
from abstraction.files.writing import json_line
from granola.decoding.aggregation_rules import DragGraph, SelfConsistency
from granola.decoding.decision import Abstaining, Counting
from granola.decoding.response_aggregation import Aggregator, prediction_row
from granola.errors import PredictionError
from granola.scoring.predictions import Prediction, predictions_of
from granola.scoring.scores import ScoreSettings, score, score_item
from granola.scoring.shared_settings import LinkerName
from granola.scoring.tiered_file import TieredFile
from granola.service import limits, schemas
from granola.service.gate import BODY, READING, Bound, no_product_limit, route
from granola.service.limits import LONGEST_NAME, MOST_FOUND, SNAPSHOT_HEADER, ServiceSettings
from granola.service.problems import HTTPProblem, overload_problem, problem_of, time_limit_problem
from granola.service.schemas import Language, read_batch
from granola.service.snapshots import ServedSnapshot, SnapshotSession, WorkContext
from kg.base.model import (
    ENTITY_ID,
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Snak,
    Statement,
    TextValue,
    TimeValue,
    best_text_and_language,
    fallback_chain,
)
from kg.graph.graph import END, POINT, START, current
from kg.store.protocol import NameMatch
from kg.web.addresses import without_secrets

if TYPE_CHECKING:
    from granola.service.application import Service

SLICE_SECONDS = 0.02  # seconds that a batch uses the thread of the snapshot before other requests have their turn
SLICE_ROWS = 100  # rows, if they take less than SLICE_SECONDS
MOST_STATEMENTS = 2_000  # of an entity
NAMES_AN_ENTITY = 5  # matching names read per entity, since several names of an entity may begin alike


class Batch:
    """The rows of a batch, answered slice by slice: each a ladder, or the reason why it has none."""

    def __init__(self, rows: Sequence[QARow | RejectedRow], *, language: str, linker: str) -> None:
        self._rows = rows
        self._language = language
        self._linker = linker
        self._rows_made: Iterator[TieredRow | RejectedRow] | None = None

    def next_slice(self, session: SnapshotSession) -> list[TieredRow | RejectedRow]:
        """The next rows, made within one turn of the thread; empty after the last one."""
        self._rows_made = self._rows_made or self._make_rows(session)
        until = time.monotonic() + SLICE_SECONDS
        rows = []
        for row in self._rows_made:
            rows.append(row)
            if len(rows) >= SLICE_ROWS or time.monotonic() > until:
                break
        return rows

    def _make_rows(self, session: SnapshotSession) -> Iterator[TieredRow | RejectedRow]:
        questions = (row for row in self._rows if isinstance(row, QARow))
        made = session.maker(self._language, self._linker).make_each(questions)
        for row in self._rows:
            if isinstance(row, QARow):
                session.limit_kept_results_of_question(row)
            yield next(made) if isinstance(row, QARow) else row


def entity_briefs(session: SnapshotSession, ids: Iterable[str], language: str) -> dict[str, dict[str, Any]]:
    """Id, label and description of entities, in a language or its fallbacks, by id; unknown entities are left out."""
    out = {}
    for entity_id, entity in session.store.entities(list(dict.fromkeys(ids)), properties=()).items():
        label, description = (best_text_and_language(terms, language) for terms in (entity.labels, entity.descriptions))
        out[entity_id] = {
            "id": entity.id,
            "label": label[0] if label else None,
            "description": description[0] if description else None,
        }
    return out


def search_json(session: SnapshotSession, *, name: str, language: str, limit: int, begins: bool) -> dict[str, Any]:
    """The entities with a label or alias equal to `name`, or where `begins` starting with it; case is ignored."""
    if begins:
        names = session.store.matches_of_names_beginning(
            name, languages=fallback_chain(language), limit=NAMES_AN_ENTITY * limit
        )
        first: dict[str, NameMatch] = {}  # by entity, its shortest matching name
        for match in names:
            if match.id.startswith("Q"):
                first.setdefault(match.id, match)
        matches = list(first.values())
    else:
        matches = session.store.find([name]).get(name, [])
    shown = matches[:limit]
    known = entity_briefs(session, [match.id for match in shown], language)
    blank = {"label": None, "description": None}
    found = [
        {**blank, **known.get(m.id, {}), "id": m.id, "kind": m.kind, "language": m.language, "text": m.text}
        for m in shown
    ]
    return {"name": name, "found": found, "more": len(matches) - len(shown)}


def entity_json(session: SnapshotSession, entity_id: str, *, language: str) -> dict[str, Any]:
    """The entity with names in a language and its fallbacks, and its statements of every rank.

    Raises HTTPProblem for an invalid id, and for one that is not in the snapshot.
    """
    if not ENTITY_ID.match(entity_id):
        raise HTTPProblem(422, "entity-id", "no id of an item or a property; expected Q or P and a number, as in Q42")
    entity: Entity | None = session.store.entities([entity_id]).get(entity_id)
    if entity is None:
        raise HTTPProblem(404, "unknown-entity", f"the snapshot has no {entity_id}")
    chain = fallback_chain(language)
    shown = entity.statements[:MOST_STATEMENTS]
    historical = session.maker(language).graph.is_historical
    by_property: dict[str, list[Statement]] = {}
    for statement in entity.statements:
        by_property.setdefault(statement.property, []).append(statement)
    # The current statements, as ladders use them.
    current_ids = {one.id for group in by_property.values() for one in current(group, historical=historical)}
    names = entity_briefs(session, _mentioned_ids(entity, shown), language)
    return {
        "id": entity.id,
        "sitelinks": entity.sitelinks,
        "labels": {code: entity.labels[code] for code in chain if code in entity.labels},
        "descriptions": {code: entity.descriptions[code] for code in chain if code in entity.descriptions},
        "aliases": {code: list(entity.aliases[code]) for code in chain if code in entity.aliases},
        "statements": [_statement_json(statement, statement.id in current_ids) for statement in shown],
        "more": len(entity.statements) - len(shown),
        "names": {i: name["label"] for i, name in names.items() if name["label"]},
    }


def _statement_json(statement: Statement, is_current: bool) -> dict[str, Any]:
    out: dict[str, Any] = {
        "id": statement.id,
        "property": statement.property,
        "rank": str(statement.rank),
        "current": is_current,
        **_snak_json(Snak(property=statement.property, kind=statement.kind, value=statement.value)),
    }
    for name, prop in (("start", START), ("end", END), ("at", POINT)):
        times = (snak for snak in statement.qualifier(prop) if isinstance(snak.value, TimeValue))
        if text := next(map(_time_text, times), None):
            out[name] = text
    qualifiers = [{"property": snak.property, **_snak_json(snak)} for snak in statement.qualifiers]
    return {**out, "qualifiers": qualifiers}


def _snak_json(snak: Snak) -> dict[str, Any]:
    value, kind = snak.value, {"kind": str(snak.kind)}
    if isinstance(value, EntityValue):
        return {**kind, "entity": value.id}
    if isinstance(value, TimeValue):
        return {**kind, "text": _time_text(snak), "precision": value.precision, "calendar": value.calendar}
    if isinstance(value, QuantityValue):
        return {**kind, "text": str(value.amount), **({"unit": value.unit} if value.unit else {})}
    if isinstance(value, TextValue):
        return {**kind, "text": value.text, **({"language": value.language} if value.language else {})}
    if isinstance(value, OtherValue):
        return {**kind, "text": value.json, "type": value.type}
    return {**kind}


def _time_text(snak: Snak) -> str | None:
    return literal_text(Statement(id="", subject="", property=snak.property, value=snak.value))


def _mentioned_ids(entity: Entity, statements: Iterable[Statement]) -> list[str]:
    mentioned = [entity.id]
    for one in statements:
        snaks = (Snak(property=one.property, kind=one.kind, value=one.value), *one.qualifiers)
        for snak in snaks:
            mentioned += [snak.property, *([snak.value.id] if isinstance(snak.value, EntityValue) else [])]
        if isinstance(one.value, QuantityValue) and one.value.unit:
            mentioned.append(one.value.unit)
    return [i for i in mentioned if ENTITY_ID.match(i)]


QUESTION = Bound(body="small", products=lambda asked, _: asked.row)
BATCH = Bound(body="large", products=no_product_limit, seconds="batch_seconds")
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
    limits.check_comparisons([(list(map(len, asked.predictions)), limits.checked_name_lengths(asked.tiered_row))])


def _check_score_limits(asked: schemas.ScoreRequest, settings: ServiceSettings) -> None:
    limits.check_rows(max(len(asked.rows), len(asked.predictions)), settings.rows)
    sent = {str(one.get("id")): len(str(one.get("prediction"))) for one in asked.predictions if isinstance(one, dict)}
    rows, _ = asked.rows_and_rejects
    limits.check_comparisons(([sent[row.id]], limits.checked_name_lengths(row)) for row in rows if row.id in sent)
    limits.check_resamples(asked.resamples, len({row.relation for row in rows}), len(rows))


class Routes:
    """The routes under /v1."""

    def __init__(self, service: Service) -> None:
        self.service = service

    @route("/v1/health/live", Bound(products=no_product_limit, token=False), tags=["health"])
    async def live(self) -> Response:
        """Whether the process runs."""
        return Response(b'{"status":"ok"}', media_type="application/json", headers={"Cache-Control": "no-store"})

    @route("/v1/health/ready", Bound(products=no_product_limit, token=False), tags=["health"])
    async def ready(self) -> Response:
        """Whether requests can be answered."""
        is_open = self.service.snapshots.is_open
        body = b'{"status":"ok"}' if is_open else b'{"status":"starting"}'
        headers = {"Cache-Control": "no-store"}
        return Response(body, 200 if is_open else 503, headers, media_type="application/json")

    @route("/v1/metrics", READING, tags=["health"], response_class=PlainTextResponse)
    async def metrics(self) -> Response:
        """Figures in Prometheus' text format."""
        return Response(self.service.metrics.prometheus_text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @route("/v1/entity/{qid}", READING, tags=["snapshot"])
    async def entity(
        self, qid: Annotated[str, Path(max_length=20, examples=["Q76"])], language: Language = "en"
    ) -> Response:
        """An item or property: names, and all statements with a mark on the current ones. Redirects are followed."""
        return await self.service.answer_from_snapshot(language, partial(entity_json, entity_id=qid, language=language))

    @route("/v1/search", READING, tags=["snapshot"])
    async def search(
        self,
        name: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, examples=["Honolulu"])],
        language: Language = "en",
        limit: Annotated[int, Query(ge=1, le=MOST_FOUND)] = 20,
        begins: Annotated[bool, Query(description="Names that begin so, too: to complete what is typed.")] = False,
    ) -> Response:
        """Entities that carry a name as label or alias; with `begins` those that carry one which begins so."""
        find = partial(search_json, name=name, language=language, limit=limit, begins=begins)
        return await self.service.answer_from_snapshot(language, find)

    @route("/v1/snapshot", READING, tags=["snapshot"])
    async def snapshot(self) -> Response:
        """The sources and settings of the snapshot."""
        served = self.service.snapshots.current
        return self.service.json_response(orjson.dumps(public_manifest(served.manifest)), served)

    @route("/v1/ladder", QUESTION, tags=["ladders"])
    async def ladder(self, asked: schemas.LadderRequest) -> Response:
        """The ladder of one answer: ever coarser correct answers with what entails each, or why there is none."""
        served = self.service.snapshots.current
        made = await self.service.ladder(served, asked)
        return self.service.json_response(json_line({"schema_version": SCHEMA_VERSION, **made.to_json()}), served)

    @route("/v1/link", QUESTION, tags=["ladders"])
    async def link(self, asked: schemas.LadderRequest) -> Response:
        """Which entity each answer means, how sure that is, and who else it may be."""

        def links_json(session: SnapshotSession) -> dict[str, Any]:
            made = session.ladder(asked.row, asked.language, asked.linker)
            ids = [i for link in made.links for i in candidate_ids_of_link(link)]
            entities = entity_briefs(session, ids, asked.language)
            return {"links": made.links, "abstained": made.abstained, "entities": entities}

        return await self.service.answer_from_snapshot(asked.language, links_json)

    @route("/v1/aggregate", QUESTION, tags=["ladders"])
    async def aggregate(self, asked: schemas.AggregateRequest) -> Response:
        """One answer of several responses: the finest that enough of them entail, or the one that most of them give."""

        def aggregated_row(session: SnapshotSession) -> dict[str, Any]:
            row, abstaining = asked.row, Abstaining(asked.abstaining or "ignore")
            method: DragGraph | SelfConsistency = SelfConsistency(
                counting=Counting(asked.counting), abstaining=abstaining
            )
            if asked.method == "drag-graph":
                method = DragGraph(support=asked.support, abstaining=abstaining)
            session.limit_kept_results((row.question, row.subject_text or "", *row.samples))
            maker = session.maker(asked.language, asked.linker)
            aggregator = Aggregator(session.store, language=asked.language, maker=maker)
            ((_, decision),) = aggregator.decide([row], method)
            return prediction_row(row, decision, method=asked.method)

        return await self.service.answer_from_snapshot(asked.language, aggregated_row)

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
            raise overload_problem(f"{most} batches are being answered, which is as many as at a time", retry_after=5)
        body = request.scope[BODY]
        rows = await self.service.run_large_read(
            lambda: read_batch(body, relation=relation, most=self.service.settings.rows),
            seconds=self.service.settings.batch_seconds,
        )
        await self.service.snapshots.current.run(lambda session: session.check_language(language))
        batch, served = Batch(rows, language=language, linker=linker), self.service.snapshots.current
        headers = {SNAPSHOT_HEADER: served.snapshot_id}
        return StreamingResponse(self._json_lines(batch, served), headers=headers, media_type="application/x-ndjson")

    async def _json_lines(self, batch: Batch, served: ServedSnapshot) -> AsyncGenerator[bytes]:
        """Yield the JSON lines of a batch as they are made, all from one snapshot.

        An error becomes the last line and is then raised, so that the connection is cut.
        """
        until = time.monotonic() + self.service.settings.batch_seconds
        first = {"schema_version": SCHEMA_VERSION}  # in the first line, as in files
        self.service.batches += 1
        try:
            with served.kept_open():
                while rows := await served.run(batch.next_slice):
                    if time.monotonic() > until:
                        raise time_limit_problem(self.service.settings.batch_seconds)
                    lines = []
                    for row in rows:
                        if isinstance(row, TieredRow):
                            self.service.count_ladder(row)
                        record = row.to_json() if isinstance(row, TieredRow) else {"rejected": row.to_json()}
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
        chosen = asked.make_matcher(asked.language)

        def verdicts_json(_: WorkContext) -> bytes:
            told = (Prediction(id=str(number), text=text) for number, text in enumerate(asked.predictions, 1))
            items = [{**score_item(asked.tiered_row, o, chosen, asked.lambda_).to_json(), "id": o.id} for o in told]
            return json_line({"matcher": chosen.signature(), "items": items})

        body = await self.service.matching.run(verdicts_json, seconds=self.service.settings.seconds)
        return self.service.json_response(body, self.service.snapshots.current)

    @route("/v1/score", Bound(body="large", products=_check_score_limits, seconds="batch_seconds"), tags=["judging"])
    async def scored(self, asked: schemas.ScoreRequest) -> Response:
        """The scores of predictions against tiered rows, with intervals and a signature."""
        body = await self.service.scoring.run(lambda _: _score_json(asked), seconds=self.service.settings.batch_seconds)
        return self.service.json_response(body, self.service.snapshots.current)


def _score_json(asked: schemas.ScoreRequest) -> bytes:
    """The JSON of `granola score`; the signature has the hash that a file of these rows would have."""
    rows, rejected = asked.rows_and_rejects
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
    report = score(tiered, file, asked.make_matcher("en"), settings, system=asked.system)
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
    """A manifest without the build command, the folders of files, and the secrets in addresses."""

    def without_private_parts(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: without_private_parts(part) for key, part in value.items()}
        if isinstance(value, list):
            return [without_private_parts(part) for part in value]
        if not isinstance(value, str) or "/" not in value:
            return value
        return without_secrets(value) if "://" in value else PurePath(value).name

    return {key: without_private_parts(value) for key, value in manifest.items() if key != "command"}
