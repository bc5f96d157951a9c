"""What an audit finds, tier by tier, and the counts of it by relation and by answer class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
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

# The answer's class in tables: the first of these that it has.
CLASS_ORDER = (
    "person", "fictional", "group", "country", "place", "building", "school", "label", "club", "company",
    "organisation", "work", "genre", "occupation", "language", "position",
)  # fmt: skip
NO_CLASS, NO_RELATION = "unknown", "-"
UNCHECKED = "unchecked"


class AuditKind(StrEnum):
    """What tiers are audited by: the paper's three axes, their evidence replayed, or their evidence as citations."""

    AXES = "axes"
    EVIDENCE = "evidence"
    ATTRIBUTION = "attribution"


@dataclass(frozen=True, kw_only=True, slots=True)
class Offence:
    """A tier that an audit objects to: on which axis (or "evidence"), by which verdict or flaw, and why.

    `level` 2 is the first beyond the answer; tiers of a level count from 1.
    """

    row: str
    relation: str
    answer_class: str
    level: int
    tier: int
    text: str
    axis: str
    verdict: str
    why: str

    def to_json(self) -> dict[str, Any]:
        """A line of the findings file."""
        return {"class" if name == "answer_class" else name: value for name, value in asdict(self).items()}


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

    def count(self, relation: str, answer_class: str, outcomes: Sequence[str]) -> None:
        """One row with the outcomes of its tiers."""
        for counts in (
            self.total,
            self.relations.setdefault(relation, FindingCounts()),
            self.classes.setdefault(answer_class, FindingCounts()),
        ):
            counts.rows += 1
            counts.tiers += len(outcomes)
            counts.by.update(outcomes)


@dataclass(kw_only=True, slots=True)
class _AuditedRow:
    """What an audit says of one row: the outcome of each tier, and the offences."""

    relation: str
    answer_class: str
    outcomes: list[str] = field(default_factory=list)
    offences: list[Offence] = field(default_factory=list)
    namesake: dict[str, Any] | None = None

    def object_to(self, tier: TierVerdict | TierCheck | TierAttribution, axis: str, verdict: str, why: str) -> None:
        """Add an offence of a tier."""
        self.offences.append(
            Offence(
                row=tier.row, relation=self.relation, answer_class=self.answer_class, level=tier.level,
                tier=tier.position, text=tier.text, axis=axis, verdict=verdict, why=why,
            )
        )  # fmt: skip


def audit(
    rows: Iterable[TieredRow],
    store: Store,
    tally: FindingTally,
    kind: AuditKind = AuditKind.AXES,
    *,
    language: str = "en",
    on_reject: OnReject | None = None,
) -> Iterator[Offence]:
    """The tiers that an audit objects to, in the order of the rows; `tally` is filled meanwhile.

    By axes: those that break one of the paper's three; a tier that the graph cannot judge from its words, but that
    follows from evidence of its own, is entailed. By evidence: those that do not follow from it, one offence a flaw.
    By attribution: those whose evidence, as citations, is not supportive. A row with which the program is at fault goes
    to `on_reject` and is not counted; without it the error is raised.
    """
    judge = Judge(store, language=language)
    audit_row = _auditor(kind, judge, store, language)
    for row in rows:
        audited = audit_row(row) if on_reject is None else attempt("an audit", audit_row, row)
        if isinstance(audited, Fault):
            assert on_reject is not None  # else it was raised
            on_reject(audited.rejected(source=row.source, id=row.id, text=row.question))
            judge.start_afresh()
            continue
        tally.count(audited.relation, audited.answer_class, audited.outcomes)
        if audited.namesake is not None:
            tally.namesakes.append(audited.namesake)
        yield from audited.offences


def _auditor(kind: AuditKind, judge: Judge, store: Store, language: str) -> Callable[[TieredRow], _AuditedRow]:
    """What audits a row, in one of the three ways."""
    checker, attributor = EntailmentChecker(store, language=language), TierAttributor(store, language=language)

    def begun(row: TieredRow, classes: Iterable[str] | None = None) -> _AuditedRow:
        if classes is None:  # those of the entity that the row gives for its answer
            own = next((tier.qid for tier in row.levels[0].tiers if tier.qid), None)
            classes = judge.maker.classes(own) if own else ()
        return _AuditedRow(relation=row.relation or NO_RELATION, answer_class=class_of(row, classes))

    def by_axes(row: TieredRow) -> _AuditedRow:
        verdict = judge.judge(row)
        audited = begun(row, verdict.classes)
        proven = _proven(row, verdict, checker)
        for tier in verdict.tiers:
            is_proven = tier.verdict is VerdictKind.UNKNOWN and (tier.level, tier.position) in proven
            outcome = VerdictKind.ENTAILED if is_proven else tier.verdict
            audited.outcomes.append(str(outcome))
            if outcome in AXES:
                audited.object_to(tier, AXES[outcome], str(outcome), tier.why)
        if verdict.namesake is not None:
            audited.namesake = {
                "row": row.id, "question": row.question, "answer": row.answers[0], "taken_for": verdict.answer,
                "chain": [level.tiers[0].text for level in row.levels[1:]], "belongs_to": verdict.namesake or None,
                "certain": verdict.certain,
            }  # fmt: skip
        return audited

    def by_evidence(row: TieredRow) -> _AuditedRow:
        audited = begun(row)
        for check in checker.check(row):
            audited.outcomes.append(str(check.status))
            for finding in check.findings:
                audited.object_to(check, "evidence", str(finding.flaw), finding.detail)
        return audited

    def by_attribution(row: TieredRow) -> _AuditedRow:
        audited = begun(row)
        for check in attributor.checked(row):
            audited.outcomes.append(UNCHECKED if check.category is None else str(check.category))
            if check.category not in (None, Category.SUPPORTIVE):
                audited.object_to(check, "attribution", str(check.category), "; ".join(check.flaws))
        return audited

    return {AuditKind.AXES: by_axes, AuditKind.EVIDENCE: by_evidence, AuditKind.ATTRIBUTION: by_attribution}[kind]


def class_of(row: TieredRow, classes: Iterable[str]) -> str:
    """The answer's class as tables name it: a value that is asked for, else the first of CLASS_ORDER, else any."""
    asked = relation_row(row.relation).asks if row.relation else ""
    if asked in ("date", "quantity"):
        return asked
    known = set(classes)
    return next((name for name in CLASS_ORDER if name in known), next(iter(sorted(known)), NO_CLASS))


def _proven(row: TieredRow, verdict: RowVerdict, checker: EntailmentChecker) -> set[tuple[int, int]]:
    """The tiers that follow from evidence of their own, looked at only where their words left a doubt."""
    is_doubted = any(tier.verdict is VerdictKind.UNKNOWN for tier in verdict.tiers)
    if not is_doubted or not any(tier.evidence for level in row.levels[1:] for tier in level.tiers):
        return set()
    return {(check.level, check.position) for check in checker.check(row) if check.status == "entailed"}
