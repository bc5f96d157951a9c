"""What an audit finds, tier by tier, and the counts of it by relation and by answer class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from abstraction.faults import Fault, OnReject, attempt
from abstraction.relations import relation as relation_row
from abstraction.rows import TieredRow
from abstraction.verifying.entailment import EntailmentChecker
from abstraction.verifying.findings import TierCheck
from abstraction.verifying.tier_verdicts import Judge
from abstraction.verifying.verdicts import AXES, RowVerdict, TierVerdict, VerdictKind
from granola.attribution.categories import Category
from granola.attribution.tier_checks import TierAttribution, TierAttributor
from kg.store.protocol import Store

AXIS_NAMES = ("correctness", "informativeness", "granularity")
# The answer's class in tables: the first of these that it has.
CLASS_ORDER = (
    "person", "fictional", "group", "country", "place", "building", "school", "label", "club", "company",
    "organisation", "work", "genre", "occupation", "language", "position",
)  # fmt: skip
NO_CLASS, NO_RELATION = "unknown", "-"
UNCHECKED = "unchecked"
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
class FindingCounts:
    """Tiers by outcome; rows counts those that were audited, with or without tiers."""

    rows: int = 0
    tiers: int = 0
    by: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class FindingTally:
    """Counts by relation, by answer class, and in all; `namesakes` are rows whose chain belongs to a namesake."""

    total: FindingCounts = field(default_factory=FindingCounts)
    relations: dict[str, FindingCounts] = field(default_factory=dict)
    classes: dict[str, FindingCounts] = field(default_factory=dict)
    namesakes: list[dict[str, Any]] = field(default_factory=list)

    def groups(self, relation: str, answer_class: str) -> tuple[FindingCounts, ...]:
        """Where something of this relation and class is counted."""
        return (
            self.total,
            self.relations.setdefault(relation, FindingCounts()),
            self.classes.setdefault(answer_class, FindingCounts()),
        )

    def count(self, relation: str, answer_class: str, outcomes: Iterable[str]) -> None:
        """One row with the outcomes of its tiers."""
        tier_outcomes = list(outcomes)
        for counts in self.groups(relation, answer_class):
            counts.rows += 1
            counts.tiers += len(tier_outcomes)
            counts.by.update(tier_outcomes)


@dataclass(kw_only=True, slots=True)
class _Audited:
    """What an audit says of one row: the outcome of each tier, and the offences."""

    relation: str
    answer_class: str
    outcomes: list[str] = field(default_factory=list)
    offences: list[Offence] = field(default_factory=list)
    namesake: dict[str, Any] | None = None

    def object_to(self, tier: TierVerdict | TierCheck | TierAttribution, *, axis: str, verdict: str, why: str) -> None:
        """Add an offence of a tier."""
        self.offences.append(
            Offence(
                row=tier.row, relation=self.relation, answer_class=self.answer_class, level=tier.level,
                position=tier.position, text=tier.text, axis=axis, verdict=verdict, why=why,
            )
        )  # fmt: skip


def audit_axes(
    rows: Iterable[TieredRow],
    store: Store,
    tally: FindingTally,
    *,
    language: str = "en",
    on_reject: OnReject | None = None,
) -> Iterator[Offence]:
    """The tiers that break one of the paper's three axes, in the order of the rows; `tally` is filled meanwhile.

    A tier that the graph cannot judge from its words, but that follows from evidence of its own, is entailed. A row
    with which the program is at fault goes to `on_reject` and is not counted; without it the error is raised.
    """
    judge, checker = Judge(store, language=language), EntailmentChecker(store, language=language)
    yield from _audited(rows, partial(_by_axes, judge=judge, checker=checker), judge, tally, on_reject)


def _by_axes(row: TieredRow, *, judge: Judge, checker: EntailmentChecker) -> _Audited:
    verdict = judge.judge(row)
    audited = _Audited(relation=row.relation or NO_RELATION, answer_class=class_of(row, verdict.classes))
    proven = _proven(row, verdict, checker)
    for tier in verdict.tiers:
        outcome = tier.verdict
        if outcome is VerdictKind.UNKNOWN and (tier.level, tier.position) in proven:
            outcome = VerdictKind.ENTAILED
        audited.outcomes.append(str(outcome))
        if outcome in AXES:
            audited.object_to(tier, axis=AXES[outcome], verdict=str(outcome), why=tier.why)
    if verdict.namesake is not None:
        audited.namesake = {
            "row": row.id, "question": row.question, "answer": row.answers[0], "taken_for": verdict.answer,
            "chain": [level.tiers[0].text for level in row.levels[1:]], "belongs_to": verdict.namesake or None,
            "certain": verdict.certain,
        }  # fmt: skip
    return audited


def audit_entailment(
    rows: Iterable[TieredRow],
    store: Store,
    tally: FindingTally,
    *,
    language: str = "en",
    on_reject: OnReject | None = None,
) -> Iterator[Offence]:
    """The tiers that do not follow from their evidence, one offence a flaw; outcomes in `tally` are the statuses.

    `on_reject` as in `audit_axes`.
    """
    judge, checker = Judge(store, language=language), EntailmentChecker(store, language=language)

    def fetched() -> Iterator[TieredRow]:
        source = iter(rows)
        while chunk := list(islice(source, _CHUNK)):
            attempt("reading the store", checker.prefetch, chunk)  # whose row it is shows when that is audited
            yield from chunk

    yield from _audited(fetched(), partial(_by_evidence, judge=judge, checker=checker), judge, tally, on_reject)


def _by_evidence(row: TieredRow, *, judge: Judge, checker: EntailmentChecker) -> _Audited:
    audited = _of_linked(row, judge)
    for check in checker.check(row):
        audited.outcomes.append(str(check.status))
        for finding in check.findings:
            audited.object_to(check, axis="evidence", verdict=str(finding.flaw), why=finding.detail)
    return audited


def audit_attribution(
    rows: Iterable[TieredRow],
    store: Store,
    tally: FindingTally,
    *,
    language: str = "en",
    on_reject: OnReject | None = None,
) -> Iterator[Offence]:
    """The tiers whose evidence, as citations, is not supportive; outcomes in `tally` are categories.

    `on_reject` as in `audit_axes`.
    """
    judge, attributor = Judge(store, language=language), TierAttributor(store, language=language)
    yield from _audited(rows, partial(_by_attribution, judge=judge, attributor=attributor), judge, tally, on_reject)


def _by_attribution(row: TieredRow, *, judge: Judge, attributor: TierAttributor) -> _Audited:
    audited = _of_linked(row, judge)
    for check in attributor.checked(row):
        audited.outcomes.append(UNCHECKED if check.category is None else str(check.category))
        if check.category not in (None, Category.SUPPORTIVE):
            audited.object_to(check, axis="attribution", verdict=str(check.category), why="; ".join(check.flaws))
    return audited


def _of_linked(row: TieredRow, judge: Judge) -> _Audited:
    """A row under the class of the entity that it gives for its answer, before its tiers are looked at."""
    own = next((tier.qid for tier in row.levels[0].tiers if tier.qid), None)
    answer_class = class_of(row, judge.maker.classes(own) if own else ())
    return _Audited(relation=row.relation or NO_RELATION, answer_class=answer_class)


def _audited(
    rows: Iterable[TieredRow],
    audit: Callable[[TieredRow], _Audited],
    judge: Judge,
    tally: FindingTally,
    on_reject: OnReject | None,
) -> Iterator[Offence]:
    for row in rows:
        audited = audit(row) if on_reject is None else attempt("an audit", audit, row)
        if isinstance(audited, Fault):
            assert on_reject is not None  # else it was raised
            on_reject(audited.rejected(source=row.source, id=row.id, text=row.question))
            judge.start_afresh()
            continue
        tally.count(audited.relation, audited.answer_class, audited.outcomes)
        if audited.namesake is not None:
            tally.namesakes.append(audited.namesake)
        yield from audited.offences


def class_of(row: TieredRow, classes: Iterable[str]) -> str:
    """The answer's class as tables name it: a value that is asked for, else the first of CLASS_ORDER, else any."""
    asked = relation_row(row.relation).asks if row.relation else ""
    if asked in ("date", "quantity"):
        return asked
    known = set(classes)
    return next((name for name in CLASS_ORDER if name in known), next(iter(sorted(known)), NO_CLASS))


def _proven(row: TieredRow, verdict: RowVerdict, checker: EntailmentChecker) -> set[tuple[int, int]]:
    """The tiers that follow from evidence of their own, looked at only where their words left a doubt."""
    doubted = {(t.level, t.position) for t in verdict.tiers if t.verdict in (VerdictKind.UNKNOWN, VerdictKind.SIBLING)}
    if not doubted or not any(tier.evidence for level in row.levels[1:] for tier in level.tiers):
        return set()
    checks: list[TierCheck] = checker.check(row)
    return {(c.level, c.position) for c in checks if c.status == "entailed"}
