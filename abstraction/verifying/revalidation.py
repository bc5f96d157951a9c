"""A tiered row against a snapshot, which may be another than it was made from: does its evidence still stand?

Every id of the row (question entity, tiers, evidence) must be in the snapshot and every statement and description
of its evidence must say there what it says in the row. Whether the snapshot would give the same ladder is another
question: make the tiers again to see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Any

from abstraction.evidence import value_of
from abstraction.faults import Fault, OnReject, attempt
from abstraction.rows import TieredRow
from abstraction.tiers import Evidence
from kg.model import Entity, Rank
from kg.store.protocol import Store
from kg.terms import fallback_chain

_CHUNK = 500  # rows


class EvidenceFinding(StrEnum):
    """What can be wrong."""

    ENTITY_GONE = "entity-gone"
    ENTITY_MERGED = "entity-merged"
    STATEMENT_GONE = "statement-gone"
    STATEMENT_CHANGED = "statement-changed"
    STATEMENT_DEPRECATED = "statement-deprecated"
    DESCRIPTION_CHANGED = "description-changed"


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceProblem:
    """One thing that does not stand: of which row and level (0 for the question entity), what was found instead."""

    row: str
    level: int
    finding: EvidenceFinding
    id: str  # of the entity or the statement
    old: str | None = None
    new: str | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON object without the fields that are not set."""
        out: dict[str, Any] = {"row": self.row, "level": self.level, "finding": str(self.finding), "id": self.id}
        return out | {key: value for key, value in (("old", self.old), ("new", self.new)) if value is not None}


def recheck(
    rows: Iterable[TieredRow], store: Store, *, on_reject: OnReject | None = None
) -> Iterator[tuple[TieredRow, list[EvidenceProblem]]]:
    """(row, what does not stand of it) in the order of the rows; the store is read in batches.

    A row with which the program is at fault goes to `on_reject`; without it the error is raised.
    """
    source = iter(rows)
    while chunk := list(islice(source, _CHUNK)):
        if on_reject is None:
            yield from _checked(chunk, store)
            continue
        checked = attempt("checking rows", _checked, chunk, store)
        if not isinstance(checked, Fault):
            yield from checked
            continue
        for row in chunk:  # one by one, to see whose fault it is
            checked_row = attempt("checking a row", _checked, [row], store)
            if isinstance(checked_row, Fault):
                on_reject(checked_row.rejected(source=row.source, id=row.id, text=row.question))
            else:
                yield from checked_row


def _checked(rows: Sequence[TieredRow], store: Store) -> list[tuple[TieredRow, list[EvidenceProblem]]]:
    evidence = [step for row in rows for level in row.levels for tier in level.tiers for step in tier.evidence]
    languages = {code for step in evidence if step.language for code in fallback_chain(step.language)}
    entities = store.entities(
        list(dict.fromkeys(qid for row in rows for _, qid in _ids(row))),
        languages=sorted(languages),
        properties=sorted({step.property for step in evidence if step.property}),
    )
    out = []
    for row in rows:
        problems = {(problem.finding, problem.id): problem for problem in reversed(list(_problems(row, entities)))}
        out.append((row, list(reversed(problems.values()))))  # each once, at its finest level
    return out


def _ids(row: TieredRow) -> Iterator[tuple[int, str]]:
    """(level, id) of every entity that a row names."""
    if row.question_entity and (qid := row.question_entity.get("qid")):
        yield 0, qid
    for number, level in enumerate(row.levels, 1):
        for tier in level.tiers:
            if tier.qid:
                yield number, tier.qid
            for step in tier.evidence:
                if step.subject:
                    yield number, step.subject


def _problems(row: TieredRow, entities: dict[str, Entity]) -> Iterator[EvidenceProblem]:
    reported: set[str] = set()
    for level, qid in _ids(row):
        entity = entities.get(qid)
        if qid in reported or (entity is not None and entity.id == qid):
            continue
        reported.add(qid)
        if entity is None:
            yield EvidenceProblem(row=row.id, level=level, finding=EvidenceFinding.ENTITY_GONE, id=qid)
        else:
            yield EvidenceProblem(row=row.id, level=level, finding=EvidenceFinding.ENTITY_MERGED, id=qid, new=entity.id)
    for number, ladder_level in enumerate(row.levels, 1):
        for tier in ladder_level.tiers:
            for step in tier.evidence:
                subject = entities.get(step.subject or "")
                if subject is not None:
                    yield from _unsound(row.id, number, step, subject)


def _unsound(row: str, level: int, step: Evidence, subject: Entity) -> Iterator[EvidenceProblem]:
    problem = partial(EvidenceProblem, row=row, level=level)
    if step.kind == "description":
        chain = fallback_chain(step.language or "en")
        described = next((subject.descriptions[code] for code in chain if code in subject.descriptions), None)
        if described != step.text:
            yield problem(finding=EvidenceFinding.DESCRIPTION_CHANGED, id=subject.id, old=step.text, new=described)
    elif step.kind == "statement" and step.statement is not None:
        problem = partial(problem, id=step.statement, old=step.value)
        statement = next((held for held in subject.statements if held.id == step.statement), None)
        if statement is None:
            yield problem(finding=EvidenceFinding.STATEMENT_GONE)
        elif statement.property != step.property or value_of(statement) != step.value:
            yield problem(finding=EvidenceFinding.STATEMENT_CHANGED, new=value_of(statement))
        elif statement.rank is Rank.DEPRECATED:
            yield problem(finding=EvidenceFinding.STATEMENT_DEPRECATED)
