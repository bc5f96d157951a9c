"""The findings of an audit, tier by tier, and their counts by relation and answer class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from abstraction.base.faults import Fault, OnReject, attempt
from abstraction.base.relations import relation as relation_row
from abstraction.files.rows import TieredRow
from abstraction.verifying.entailment import EntailmentChecker
from abstraction.verifying.tier_verdicts import Judge
from abstraction.verifying.verdicts import AXES, RowVerdict, TierCheck, TierVerdict, VerdictKind
from kg.store.protocol import Store

# Answer classes in tables; an answer with several classes counts in the first of these.
CLASS_ORDER = (
    "person", "fictional", "group", "country", "place", "building", "school", "label", "club", "company",
    "organisation", "work", "genre", "occupation", "language", "position",
)  # fmt: skip
NO_CLASS, NO_RELATION = "unknown", "-"  # headings for answers without a class, and rows without a relation


class AuditKind(StrEnum):
    """The kind of audit: by the three axes of the paper, or by replaying evidence."""

    AXES = "axes"
    EVIDENCE = "evidence"


@dataclass(frozen=True, kw_only=True, slots=True)
class Offence:
    """A tier that fails an audit: the axis (or "evidence"), the verdict or flaw, and the reason.

    `level` 2 is the first beyond the answer; tiers of a level are numbered from 1.
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
    """Numbers of tiers by outcome; `rows` is the number of audited rows, with or without tiers."""

    rows: int = 0
    tiers: int = 0
    by: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class FindingTally:
    """Counts by relation, by answer class, and in total; `namesakes` are rows whose chain belongs to a namesake of the
    answer.
    """

    total: FindingCounts = field(default_factory=FindingCounts)
    relations: dict[str, FindingCounts] = field(default_factory=dict)
    classes: dict[str, FindingCounts] = field(default_factory=dict)
    namesakes: list[dict[str, Any]] = field(default_factory=list)

    def count(self, relation: str, answer_class: str, outcomes: Sequence[str]) -> None:
        """Count one row with the outcomes of its tiers."""
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
    """The audit of one row: the outcome of each tier, and the offences."""

    relation: str
    answer_class: str
    outcomes: list[str] = field(default_factory=list)
    offences: list[Offence] = field(default_factory=list)
    namesake: dict[str, Any] | None = None

    def add_offence(self, tier: TierVerdict | TierCheck, axis: str, verdict: str, why: str) -> None:
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
    """The tiers that fail an audit, in the order of the rows; `tally` is filled meanwhile.

    By axes: tiers that break one of the three axes of Yona et al. 2024; a tier on which the graph gives no verdict,
    but which follows from its own evidence, is entailed. By evidence: tiers that do not follow from it, one offence
    per flaw. A row on which the program fails goes to `on_reject` and is not counted; without `on_reject` the error is
    raised.
    """
    judge = Judge(store, language=language)
    audit_row = _row_auditor(kind, judge, store, language)
    for row in rows:
        audited = audit_row(row) if on_reject is None else attempt("an audit", audit_row, row)
        if isinstance(audited, Fault):
            assert on_reject is not None  # else it was raised
            on_reject(audited.rejected(source=row.source, id=row.id, text=row.question))
            # The error may have left conclusions half-made.
            judge.start_afresh()
            continue
        tally.count(audited.relation, audited.answer_class, audited.outcomes)
        if audited.namesake is not None:
            tally.namesakes.append(audited.namesake)
        yield from audited.offences


def _row_auditor(kind: AuditKind, judge: Judge, store: Store, language: str) -> Callable[[TieredRow], _AuditedRow]:
    """The function that audits a row, for a kind of audit."""
    checker = EntailmentChecker(store, language=language)

    def new_audited_row(row: TieredRow, classes: Iterable[str] | None = None) -> _AuditedRow:
        if classes is None:  # take the classes of the entity that the row gives for its answer
            own = next((tier.qid for tier in row.levels[0].tiers if tier.qid), None)
            classes = judge.maker.classes(own) if own else ()
        return _AuditedRow(relation=row.relation or NO_RELATION, answer_class=class_of(row, classes))

    def by_axes(row: TieredRow) -> _AuditedRow:
        verdict = judge.judge(row)
        audited = new_audited_row(row, verdict.classes)
        proven = _tiers_proven_by_evidence(row, verdict, checker)
        for tier in verdict.tiers:
            is_proven = tier.verdict is VerdictKind.UNKNOWN and (tier.level, tier.position) in proven
            outcome = VerdictKind.ENTAILED if is_proven else tier.verdict
            audited.outcomes.append(str(outcome))
            if outcome in AXES:
                audited.add_offence(tier, AXES[outcome], str(outcome), tier.why)
        if verdict.namesake is not None:
            audited.namesake = {
                "row": row.id, "question": row.question, "answer": row.answers[0], "taken_for": verdict.answer,
                "chain": [level.tiers[0].text for level in row.levels[1:]], "belongs_to": verdict.namesake or None,
                "certain": verdict.certain,
            }  # fmt: skip
        return audited

    def by_evidence(row: TieredRow) -> _AuditedRow:
        audited = new_audited_row(row)
        for check in checker.check(row):
            audited.outcomes.append(str(check.status))
            for finding in check.findings:
                audited.add_offence(check, "evidence", str(finding.flaw), finding.detail)
        return audited

    return by_axes if kind is AuditKind.AXES else by_evidence


def class_of(row: TieredRow, classes: Iterable[str]) -> str:
    """The answer's class in tables: date or quantity where the relation asks for one, else the first of CLASS_ORDER
    among its `classes`, else the first of them by name.
    """
    asked = relation_row(row.relation).asks if row.relation else ""
    if asked in ("date", "quantity"):
        return asked
    known = set(classes)
    return next((name for name in CLASS_ORDER if name in known), next(iter(sorted(known)), NO_CLASS))


def _tiers_proven_by_evidence(row: TieredRow, verdict: RowVerdict, checker: EntailmentChecker) -> set[tuple[int, int]]:
    """The (level, position) of tiers that follow from their own evidence; replayed only where a verdict is unknown."""
    is_doubted = any(tier.verdict is VerdictKind.UNKNOWN for tier in verdict.tiers)
    if not is_doubted or not any(tier.evidence for level in row.levels[1:] for tier in level.tiers):
        return set()
    return {(check.level, check.position) for check in checker.check(row) if check.status == "entailed"}
