"""What the endpoints do, by the library: pieces of work for a reader's thread, each from one snapshot."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from abstraction.errors import RowError
from abstraction.formats.fields import FieldError
from abstraction.formats.records import Record, RejectedRow, parse_records
from abstraction.formats.writing import json_line
from abstraction.rows import SCHEMA_VERSION, QARow, TieredRow, question_rows
from abstraction.tiers import Level, Tier
from granola.decoding import (
    Abstaining,
    Counting,
    DragGraph,
    SampleRow,
    SelfConsistency,
    prediction_row,
)
from granola.decoding.samples import sample_row
from granola.errors import PredictionError
from granola.matching import Matcher, matcher
from granola.predictions import Prediction, predictions_of
from granola.scoring import score, score_item
from granola.service.holding import Holding
from granola.service.problems import Problem
from granola.signature import SHORT, hash_of
from kg.terms import best_text

SLICE_SECONDS = 0.02  # how long a batch keeps its reader before others have their turn
SLICE_ROWS = 100
MOST_FOUND = 50


def read_question(data: Mapping[str, Any]) -> QARow:
    """The question of one row. Raises RowError."""
    row = next(question_rows([Record(source="the request", data=data)]))
    if isinstance(row, RejectedRow):
        raise RowError(row.reason)
    return row


def read_batch(body: bytes, *, relation: str | None, most: int) -> list[QARow | RejectedRow]:
    """The questions of a batch, a JSON array or JSONL, rejected ones in their places.

    Raises RowError where there is none, and Problem for more than `most`.
    """
    rows: list[QARow | RejectedRow] = []
    for row in question_rows(parse_records(body, "request"), relation=relation):
        rows.append(row)
        check_count(len(rows), most)
    if not rows:
        raise RowError("request holds no row; expected a JSON array, or one JSON object a line")
    return rows


AGGREGATE_SETTINGS = frozenset({"method", "support", "weigh", "counting", "abstaining", "language", "linker"})


def read_samples(data: Mapping[str, Any]) -> SampleRow:
    """A question with responses. Raises RowError."""
    try:
        return sample_row(Record(source="the request", data={**data, "id": data.get("id") or "1"}))
    except FieldError as error:
        raise RowError(str(error)) from error


def aggregate(holding: Holding, row: SampleRow, asked: Any) -> dict[str, Any]:
    """The answer that several responses have in common, by the settings of an `AggregateRequest`."""
    abstaining = Abstaining(asked.abstaining)
    method: DragGraph | SelfConsistency
    if asked.method == "drag-graph":
        method = DragGraph(support=asked.support, weigh=asked.weigh, abstaining=abstaining)
    else:
        method = SelfConsistency(counting=Counting(asked.counting), abstaining=abstaining)
    ((_, decision),) = holding.aggregator(asked.language, asked.linker).decide([row], method)
    return prediction_row(row, decision, method=asked.method)


def check_count(rows: int, most: int) -> None:
    """Raise Problem for more rows than one request may have."""
    if rows > most:
        raise Problem(
            413, "too-many-rows", f"more than {most:,} rows; send them in several requests", more={"most": most}
        )


def ladder(holding: Holding, row: QARow, *, language: str, linker: str) -> TieredRow:
    """The tiered row of a question."""
    return holding.maker(language, linker).make(row)


def line_of(record: Mapping[str, Any], *, first: bool = False) -> bytes:
    """A record as a line of JSONL, as files have it: the first tells the schema."""
    whole = {"schema_version": SCHEMA_VERSION, **record} if first else record
    return json_line(whole)


class Batch:
    """The lines of a batch's answer, made slice by slice: a ladder each, or why there is none."""

    def __init__(self, rows: Sequence[QARow | RejectedRow], *, language: str, linker: str) -> None:
        self._rows = rows
        self._language = language
        self._linker = linker
        self._made: Iterator[TieredRow] | None = None
        self._at = 0
        self.abstained: list[str | None] = []

    @property
    def is_done(self) -> bool:
        """Whether every row has its line."""
        return self._at >= len(self._rows)

    def slice(self, holding: Holding) -> bytes:
        """The next lines, for as long as a turn takes."""
        if self._made is None:
            questions = (row for row in self._rows if isinstance(row, QARow))
            self._made = holding.maker(self._language, self._linker).make_all(questions)
        until = time.monotonic() + SLICE_SECONDS
        lines: list[bytes] = []
        while not self.is_done and len(lines) < SLICE_ROWS:
            row = self._rows[self._at]
            if isinstance(row, RejectedRow):
                record: Mapping[str, Any] = {"rejected": row.to_json()}
            else:
                made = next(self._made)
                self.abstained.append(made.abstained)
                record = made.to_json()
            lines.append(line_of(record, first=self._at == 0))
            self._at += 1
            if time.monotonic() > until:
                break
        return b"".join(lines)


def links(holding: Holding, row: QARow, *, language: str, linker: str) -> dict[str, Any]:
    """How the row's answers find their entities, as in its ladder."""
    maker = holding.maker(language, linker)
    made = maker.make(row)
    notes = made.extra.get("links", [])
    ids = [i for note in notes for i in (note.get("qid"), *note.get("rivals", ())) if i]
    return {"links": notes, "abstained": made.abstained, "entities": named(holding, ids, language)}


def named(holding: Holding, ids: Iterable[str], language: str) -> dict[str, dict[str, Any]]:
    """Entities briefly: id, label and description in a language or its fallbacks."""
    wanted = list(dict.fromkeys(ids))
    found = holding.store.entities(wanted, properties=())
    out = {}
    for given, entity in found.items():
        label, description = (best_text(terms, language) for terms in (entity.labels, entity.descriptions))
        out[given] = {
            "id": entity.id,
            "label": label[0] if label else None,
            "description": description[0] if description else None,
        }
    return out


def search(holding: Holding, name: str, *, language: str, limit: int) -> dict[str, Any]:
    """Entities that carry a name as label or alias, upper and lower case and accents aside."""
    matches = holding.store.find([name]).get(name, [])
    shown = matches[:limit]
    known = named(holding, [match.id for match in shown], language)
    blank = {"label": None, "description": None}
    found = [
        {**blank, **known.get(m.id, {}), "id": m.id, "kind": m.kind, "language": m.language, "text": m.text}
        for m in shown
    ]
    return {"name": name, "found": found, "more": len(matches) - len(shown)}


def chosen_matcher(name: str, tau: float | None, language: str = "en") -> Matcher:
    """The matcher that a request asks for. Raises MatcherError."""
    return matcher(name, tau=tau, language=language)


def match(
    predictions: Sequence[str],
    row: TieredRow,
    chosen: Matcher,
    lambda_: float,
) -> dict[str, Any]:
    """The verdict on each prediction, by the same code that scores files."""
    items = [
        score_item(row, Prediction(id=str(number), text=text), chosen, lambda_).to_json() | {"id": str(number)}
        for number, text in enumerate(predictions, 1)
    ]
    return {"matcher": chosen.signature(), "items": items}


def row_of_names(levels: Sequence[Sequence[str]], question: str | None) -> TieredRow:
    """A tiered row of names alone."""
    made = tuple(Level(tiers=(Tier(text=names[0], aliases=tuple(names[1:])),)) for names in levels)
    return TieredRow(id="1", question=question or "", answers=(levels[0][0],), levels=made)


def scores(request: Any, *, most: int) -> dict[str, Any]:
    """The scores of predictions against tiered rows, given as a `ScoreRequest`.

    The signature's hash is that of a file as `granola tiers` writes it, with these rows as its lines.
    """
    check_count(max(len(request.rows), len(request.predictions)), most)
    rows: list[TieredRow] = []
    rejected: list[RejectedRow] = []
    lines: list[bytes] = []
    seen: dict[str, int] = {}
    for number, data in enumerate(request.rows, 1):
        try:
            if not isinstance(data, dict):
                raise RowError("no JSON object")
            row = TieredRow.from_json({"id": f"row-{number}", **data})
            if row.id in seen:
                raise RowError(f"id {row.id!r} stands already at rows[{seen[row.id]}]")
        except RowError as error:
            rejected.append(RejectedRow(source=f"rows[{number}]", reason=str(error), excerpt=repr(data)[:160]))
            continue
        seen[row.id] = number
        lines.append(line_of({k: v for k, v in data.items() if k != "schema_version"}, first=not lines))
        rows.append(row)
    if not rows:
        raise PredictionError(f"no tiered row; {rejected[0].source}: {rejected[0].reason}")
    given = predictions_of(
        [_prediction_record(number, data) for number, data in enumerate(request.predictions, 1)], "predictions"
    )
    report = score(
        rows,
        given,
        chosen_matcher(request.matcher, request.tau),
        lambda_=request.lambda_,
        times=request.resamples,
        seed=request.seed,
        system=request.system,
        allow_missing=request.allow_missing,
        ignore_unknown=request.ignore_unknown,
        rejected_rows=len(rejected),
        tiers_hash=hash_of(b"".join(lines)),
        snapshot=(request.snapshot or "unknown")[:SHORT],
    )
    return report.to_json() | {
        "items": [item.to_json() for item in report.items],
        "rejected": [row.to_json() for row in (*rejected, *given.rejected)],
    }


def _prediction_record(number: int, data: object) -> Record | RejectedRow:
    source = f"predictions[{number}]"
    if isinstance(data, dict):
        return Record(source=source, data=data)
    return RejectedRow(source=source, reason="no JSON object", excerpt=repr(data)[:160])
