"""Readers of published data sets of questions with logical queries.

Formats: SimpleQuestions on WikiData (tab-separated: subject, property, object, question; R instead of P for the
inverse property), QALD, LC-QuAD 2.0, RuBQ, WikiWebQuestions (SPARQL), and own rows (JSON, JSONL) with "question" and
"sparql" or "query". The format is detected from the content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from abstraction.base.faults import RejectedRow, excerpt
from abstraction.files.records import open_for_reading, read_records
from granola.errors import SampleError
from granola.evidence.attribution.benchmark_building import SourcedQuery
from kg.base.model import ENTITY_ID
from kg.errors import QueryShapeError
from kg.graph.logical_query import LogicalQuery
from kg.graph.sparql_shapes import query_of_sparql

_SIMPLE = re.compile(r"(Q[1-9][0-9]*)\t([PR])([1-9][0-9]*)\t(Q[1-9][0-9]*)\t([^\t]*\S)\s*\Z")
_ENTITY = re.compile(r"http://www\.wikidata\.org/entity/(Q[1-9][0-9]*)\Z")
_QUESTION = ("natural_question", "question", "question_eng", "paraphrased_question", "NNQT_question")
DAMAGED = "damaged row"  # the reason that makes the command fail


def read_queries(
    paths: Iterable[Path], reasons: Counter[str], on_reject: Callable[[RejectedRow], None]
) -> Iterator[SourcedQuery]:
    """The queries of files, in order; skipped rows are counted by reason in `reasons`."""
    seen: set[str] = set()
    for path in paths:
        for place, row in _rows(path):
            try:
                query = _sourced_query(path.name.split(".")[0], place, row)
                # Ids of samples derive from it, so it must be unique.
                if query.id in seen:
                    raise QueryShapeError(f"id {query.id!r} stands before", reason="id twice")
            except (QueryShapeError, SampleError) as error:
                reason = error.reason if isinstance(error, QueryShapeError) else DAMAGED
                reasons[reason] += 1
                on_reject(
                    RejectedRow(source=f"{path}:{place}", reason=f"{reason}: {error}", excerpt=excerpt(repr(row)))
                )
                continue
            seen.add(query.id)
            yield query


def _rows(path: Path) -> Iterator[tuple[str, object]]:
    """The rows of a file with their positions; a damaged row is no mapping."""
    with open_for_reading(path) as stream:
        # Peeking leaves the stream at its beginning for the reader of the format.
        head = stream.peek(4096)[:4096]  # type: ignore[attr-defined]
        if b"\t" in head.split(b"\n", 1)[0] and not head.lstrip().startswith((b"{", b"[")):
            yield from ((str(at), _simple_row(line)) for at, line in enumerate(stream, 1))
            return
        if b'"questions"' in head[:2_000]:
            try:
                rows = orjson.loads(stream.read())["questions"]
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                raise SampleError(f'{path} is no JSON object with "questions": {error}') from error
            yield from ((str(at), row) for at, row in enumerate(rows if isinstance(rows, list) else (), 1))
            return
    for at, record in enumerate(read_records(path), 1):
        row = record.reason if isinstance(record, RejectedRow) else record.data
        yield record.source.removeprefix(f"{path}:") or str(at), row


def _simple_row(line: bytes) -> object:
    """A line of SimpleQuestions as a row; a malformed line unchanged."""
    text = line.decode("utf-8", "replace").rstrip("\n")
    if (match := _SIMPLE.match(text)) is None:
        return text
    start, direction, number, answer, question = match.groups()
    hop = {"property": f"P{number}", "forward": direction == "P"}
    return {"query": {"branches": [{"start": start, "hops": [hop]}]}, "question": question, "answer_qids": [answer]}


def _sourced_query(name: str, place: str, row: object) -> SourcedQuery:
    """The query of a row, with its source. Raises QueryShapeError, SampleError."""
    if not isinstance(row, Mapping):
        raise SampleError("expected an object, or subject, property, object and question between tabs")
    number = row.get("id", row.get("uid", place))
    lists = [row[field] for field in ("answer_qids", "ans_id", "answers") if isinstance(row.get(field), list)]
    return SourcedQuery(
        id="-".join(str(one) for one in (name, row.get("split"), number) if one is not None),
        query=_logical_query(row),
        source=name,
        question=_question_text(row),
        gold=tuple(dict.fromkeys(found for one in lists for answer in one for found in _entities_of(answer))),
    )


def _logical_query(row: Mapping[str, Any]) -> LogicalQuery:
    given = row.get("query")
    if isinstance(given, Mapping) and "branches" in given:
        return LogicalQuery.from_json(given)
    sparql = given.get("sparql") if isinstance(given, Mapping) else given
    if not isinstance(sparql, str):
        sparql = row.get("sparql_wikidata", row.get("sparql"))
    if sparql is None and ("query" in row or "sparql" in row):
        raise QueryShapeError("the row has no query", reason="no query")
    if not isinstance(sparql, str):
        raise SampleError('no query; expected "sparql", or "query" as docs/reference/attribution.md shows')
    # Two hops and two subjects cover the four complexities of the paper.
    return query_of_sparql(sparql, most_hops=2, most_subjects=2)


def _question_text(row: Mapping[str, Any]) -> str | None:
    """The question in its original words: a text, or the English entry of the list in QALD."""
    question = next((row[name] for name in _QUESTION if row.get(name)), None)
    if isinstance(question, list):
        english = (one for one in question if isinstance(one, Mapping) and one.get("language") == "en")
        question = next(english, {}).get("string")
    return question.strip() or None if isinstance(question, str) else None


def _entities_of(answer: object) -> Iterator[str]:
    """Ids of the entities in an answer: an id, a value, or bindings in the JSON of SPARQL."""
    if isinstance(answer, str):
        yield from (answer,) if ENTITY_ID.match(answer) else ()
    elif isinstance(answer, Mapping):
        if match := _ENTITY.match(str(answer.get("value"))):
            yield match[1]
        results = answer.get("results")
        bindings = results.get("bindings") if isinstance(results, Mapping) else None
        for one in (one for one in bindings or () if isinstance(one, Mapping)):
            yield from (found for value in one.values() for found in _entities_of(value))
