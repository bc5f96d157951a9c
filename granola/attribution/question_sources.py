"""Questions with logical queries, from the files in which others publish them.

SimpleQuestions on WikiData (tab-separated: subject, property, object, question; R instead of P is the property against
its direction), QALD, LC-QuAD 2.0, RuBQ, WikiWebQuestions (with SPARQL), and rows of one's own: JSON or JSONL with
"question" and either "sparql" or "query". The form is recognised by the content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from abstraction.faults import RejectedRow, excerpt
from abstraction.files.records import opened_to_read, read_records
from granola.attribution.benchmark_building import SourcedQuery
from granola.errors import SampleError
from kg.errors import QueryShapeError
from kg.model import ENTITY_ID
from kg.queries import Branch, Hop, LogicalQuery, query_of_sparql

_SIMPLE = re.compile(r"(Q[1-9][0-9]*)\t([PR])([1-9][0-9]*)\t(Q[1-9][0-9]*)\t([^\t]*\S)\s*\Z")
_ENTITY = re.compile(r"http://www\.wikidata\.org/entity/(Q[1-9][0-9]*)\Z")


class QuestionSources:
    """The queries of files, in order. `reasons` counts, when they were read, why others were left out."""

    def __init__(
        self,
        paths: list[Path],
        *,
        on_reject: Callable[[RejectedRow], None],
        language: str = "en",
        most_hops: int = 2,
        most_subjects: int = 2,
    ) -> None:
        self._paths, self._language = paths, language
        self._bounds = {"most_hops": most_hops, "most_subjects": most_subjects}
        self._on_reject = on_reject
        self.reasons: Counter[str] = Counter()
        self.read: Counter[str] = Counter()

    def __iter__(self) -> Iterator[SourcedQuery]:
        seen: set[str] = set()
        for path in self._paths:
            name = path.name.split(".")[0]
            for place, row in self._rows(path):
                try:
                    query = row if isinstance(row, SourcedQuery) else self._query(name, place, row)
                except QueryShapeError as error:
                    self._left_out(path, place, error.reason, str(error), row)
                    continue
                except SampleError as error:
                    self._left_out(path, place, "damaged row", str(error), row)
                    continue
                if query.id in seen:
                    self._left_out(path, place, "id twice", f"id {query.id!r} stands before", row)
                    continue
                seen.add(query.id)
                self.read[name] += 1
                yield query

    def _left_out(self, path: Path, place: str, reason: str, why: str, row: object) -> None:
        self.reasons[reason] += 1
        self._on_reject(RejectedRow(source=f"{path}:{place}", reason=f"{reason}: {why}", excerpt=excerpt(repr(row))))

    def _rows(self, path: Path) -> Iterator[tuple[str, Any]]:
        """The rows of a file with their places."""
        with opened_to_read(path) as stream:
            head = stream.peek(4096)[:4096]  # type: ignore[attr-defined]
        if b"\t" in head.split(b"\n", 1)[0] and not head.lstrip().startswith((b"{", b"[")):
            yield from self._simple(path)
        elif b'"questions"' in head[:2_000]:
            yield from _of_one_object(path, "questions")
        else:
            for at, record in enumerate(read_records(path), 1):
                if isinstance(record, RejectedRow):
                    self.reasons["damaged row"] += 1
                    self._on_reject(record)
                else:
                    yield record.source.removeprefix(f"{path}:") or str(at), record.data

    def _simple(self, path: Path) -> Iterator[tuple[str, Any]]:
        name = path.name.split(".")[0]
        with opened_to_read(path) as stream:
            for at, line in enumerate(stream, 1):
                match = _SIMPLE.match(line.decode("utf-8", "replace").rstrip("\n"))
                if match is None:
                    self._left_out(path, str(at), "damaged row", "expected subject, property, object, question", line)
                    continue
                hop = Hop(property=f"P{match[3]}", forward=match[2] == "P")
                yield (
                    str(at),
                    SourcedQuery(
                        id=f"{name}-{at}",
                        query=LogicalQuery(branches=(Branch(start=match[1], hops=(hop,)),)),
                        source=name,
                        question=match[5].strip(),
                        gold=(match[4],),
                    ),
                )

    def _query(self, name: str, place: str, row: Mapping[str, Any]) -> SourcedQuery:
        """The query of a row of QALD, LC-QuAD or one's own. Raises QueryShapeError and SampleError."""
        number = row.get("id", row.get("uid", place))
        return SourcedQuery(
            id="-".join(str(one) for one in (name, row.get("split"), number) if one is not None),
            query=self._logical(row),
            source=name,
            question=self._question(row),
            gold=_gold(row),
        )

    def _logical(self, row: Mapping[str, Any]) -> LogicalQuery:
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
        return query_of_sparql(sparql, **self._bounds)

    def _question(self, row: Mapping[str, Any]) -> str | None:
        names = ("natural_question", "question", "question_eng", "paraphrased_question", "NNQT_question")
        question = next((row[name] for name in names if row.get(name)), None)
        if isinstance(question, list):
            texts = [
                wording.get("string")
                for wording in question
                if isinstance(wording, Mapping) and wording.get("language") == self._language
            ]
            question = texts[0] if texts else None
        return question.strip() or None if isinstance(question, str) else None


def _gold(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of a row's answers, where they are entities: a list of them, or results as SPARQL's JSON has them."""
    found: list[str] = []
    for name in ("answer_qids", "ans_id"):
        if isinstance(row.get(name), list):
            found += [one for one in row[name] if isinstance(one, str) and ENTITY_ID.match(one)]
    answers = row.get("answers")
    for answer in answers if isinstance(answers, list) else ():
        found += _entities_of(answer)
    return tuple(dict.fromkeys(found))


def _entities_of(answer: object) -> Iterator[str]:
    """The entities of one answer: a value, or bindings of variables to values."""
    if not isinstance(answer, Mapping):
        return
    results = answer.get("results")
    bindings = results.get("bindings") if isinstance(results, Mapping) else None
    given = [value for one in bindings or () if isinstance(one, Mapping) for value in one.values()]
    for value in (answer, *given):
        if isinstance(value, Mapping) and (match := _ENTITY.match(str(value.get("value")))):
            yield match[1]


def _of_one_object(path: Path, field: str) -> Iterator[tuple[str, Any]]:
    with opened_to_read(path) as stream:
        data = stream.read()
    try:
        rows = orjson.loads(data)[field]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise SampleError(f"{path} is no JSON object with {field!r}: {error}") from error
    for at, row in enumerate(rows if isinstance(rows, list) else (), 1):
        yield str(at), row if isinstance(row, Mapping) else {}
