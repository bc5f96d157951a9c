"""What an audit finds, tier by tier, and the counts of it by relation and by answer class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from abstraction.relations import relation as relation_row
from abstraction.rows import TieredRow
from abstraction.verifying.entailment import EntailmentChecker
from abstraction.verifying.findings import TierCheck
from abstraction.verifying.judge import Judge
from abstraction.verifying.verdicts import AXES, RowVerdict, TierVerdict, Verdict
from kg.store.base import Store

AXIS_NAMES = ("correctness", "informativeness", "granularity")
# The answer's class in tables: the first of these that it has.
CLASS_ORDER = (
    "person", "fictional", "group", "country", "place", "building", "school", "label", "club", "company",
    "organisation", "work", "genre", "occupation", "language", "position",
)  # fmt: skip
NO_CLASS, NO_RELATION = "unknown", "-"
_CHUNK = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Offence:
    """A tier that an audit objects to: on which axis (or "evidence"), by which verdict or flaw, and why.

    `level` 2 is the first beyond the answer; tiers of a level count from 1.
    """

    row: str
    relation: str
    answer_class: str
    level: int
    position: int
    text: str
    axis: str
    verdict: str
    why: str

    def to_json(self) -> dict[str, Any]:
        """A line of the findings file."""
        return {
            "row": self.row, "relation": self.relation, "class": self.answer_class, "level": self.level,
            "tier": self.position, "text": self.text, "axis": self.axis, "verdict": self.verdict, "why": self.why,
        }  # fmt: skip


@dataclass(slots=True)
class Counts:
    """Tiers by outcome; rows counts those that were audited, with or without tiers."""

    rows: int = 0
    tiers: int = 0
    by: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Tally:
    """Counts by relation, by answer class, and in all; `namesakes` are rows whose chain belongs to a namesake."""

    total: Counts = field(default_factory=Counts)
    relations: dict[str, Counts] = field(default_factory=dict)
    classes: dict[str, Counts] = field(default_factory=dict)
    namesakes: list[dict[str, Any]] = field(default_factory=list)

    def groups(self, relation: str, answer_class: str) -> tuple[Counts, ...]:
        """Where something of this relation and class is counted."""
        return (
            self.total,
            self.relations.setdefault(relation, Counts()),
            self.classes.setdefault(answer_class, Counts()),
        )

    def count(self, relation: str, answer_class: str, outcomes: Iterable[str]) -> None:
        """One row with the outcomes of its tiers."""
        told = list(outcomes)
        for counts in self.groups(relation, answer_class):
            counts.rows += 1
            counts.tiers += len(told)
            counts.by.update(told)


def audit_axes(rows: Iterable[TieredRow], store: Store, tally: Tally, *, language: str = "en") -> Iterator[Offence]:
    """The tiers that break one of the paper's three axes, in the order of the rows; `tally` is filled meanwhile.

    A tier that the graph cannot judge from its words, but that follows from evidence of its own, is entailed.
    """
    judge, checker = Judge(store, language=language), EntailmentChecker(store, language=language)
    for row in rows:
        verdict = judge.judge(row)
        answer_class = class_of(row, verdict.classes)
        relation = row.relation or NO_RELATION
        proven = _proven(row, verdict, checker)
        told = [_lifted(one, proven) for one in verdict.tiers]
        tally.count(relation, answer_class, (str(one) for one in told))
        if verdict.namesake is not None:
            tally.namesakes.append(_namesake(row, verdict))
        for one, outcome in zip(verdict.tiers, told, strict=True):
            if outcome in AXES:
                yield Offence(
                    row=row.id, relation=relation, answer_class=answer_class, level=one.level, position=one.position,
                    text=one.text, axis=AXES[outcome], verdict=str(outcome), why=one.why,
                )  # fmt: skip


def audit_entailment(
    rows: Iterable[TieredRow], store: Store, tally: Tally, *, language: str = "en"
) -> Iterator[Offence]:
    """The tiers that do not follow from their evidence, one offence a flaw; outcomes in `tally` are the statuses."""
    checker = EntailmentChecker(store, language=language)
    judge = Judge(store, language=language)
    source = iter(rows)
    while chunk := list(islice(source, _CHUNK)):
        checker.prefetch(chunk)
        for row in chunk:
            checks = checker.check(row)
            own = next((tier.qid for tier in row.levels[0].tiers if tier.qid), None)
            answer_class = class_of(row, judge.maker.classes(own) if own else ())
            relation = row.relation or NO_RELATION
            tally.count(relation, answer_class, (check.status for check in checks))
            for check in checks:
                for finding in check.findings:
                    yield Offence(
                        row=row.id, relation=relation, answer_class=answer_class, level=check.level,
                        position=check.position, text=check.text, axis="evidence", verdict=str(finding.flaw),
                        why=finding.detail,
                    )  # fmt: skip


def class_of(row: TieredRow, classes: Iterable[str]) -> str:
    """The answer's class as tables name it: a value that is asked for, else the first of CLASS_ORDER, else any."""
    asked = relation_row(row.relation).asks if row.relation else ""
    if asked in ("date", "quantity"):
        return asked
    known = set(classes)
    return next((name for name in CLASS_ORDER if name in known), next(iter(sorted(known)), NO_CLASS))


def _proven(row: TieredRow, verdict: RowVerdict, checker: EntailmentChecker) -> set[tuple[int, int]]:
    """The tiers that follow from evidence of their own, looked at only where their words left a doubt."""
    doubted = {(t.level, t.position) for t in verdict.tiers if t.verdict in (Verdict.UNKNOWN, Verdict.SIBLING)}
    if not doubted or not any(tier.evidence for level in row.levels[1:] for tier in level.tiers):
        return set()
    checks: list[TierCheck] = checker.check(row)
    return {(c.level, c.position) for c in checks if c.status == "entailed"}


def _lifted(one: TierVerdict, proven: set[tuple[int, int]]) -> Verdict:
    unknown = one.verdict is Verdict.UNKNOWN
    return Verdict.ENTAILED if unknown and (one.level, one.position) in proven else one.verdict


def _namesake(row: TieredRow, verdict: RowVerdict) -> dict[str, Any]:
    return {
        "row": row.id, "question": row.question, "answer": row.answers[0], "taken_for": verdict.answer,
        "chain": [level.tiers[0].text for level in row.levels[1:]], "belongs_to": verdict.namesake or None,
        "certain": verdict.certain,
    }  # fmt: skip
