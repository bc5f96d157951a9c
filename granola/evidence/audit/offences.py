"""Audits of tiers: the tiers that fail, and counts by relation, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from abstraction.base.faults import Fault, RejectedRow, attempt
from abstraction.base.properties import id_with_label
from abstraction.files.rows import TieredRow
from abstraction.verifying.entailment import EntailmentChecker
from abstraction.verifying.tier_verdicts import Judge
from abstraction.verifying.verdicts import AXES, RowVerdict, TierCheck, TierVerdict, VerdictKind
from granola.base.terminal_lines import TextTable
from kg.store.protocol import Store

NO_RELATION = "-"  # heading for rows without a relation
_BY_AXIS = {axis: [verdict for verdict, own in AXES.items() if own == axis] for axis in dict.fromkeys(AXES.values())}
# The columns of tables and the outcomes that each counts, in audits by axes and in those by evidence.
OF_AXES: Mapping[str, Sequence[str]] = {
    "entailed": [VerdictKind.ENTAILED], **_BY_AXIS, "unknown": [VerdictKind.UNKNOWN]
}  # fmt: skip
OF_EVIDENCE: Mapping[str, Sequence[str]] = {name: [name] for name in ("entailed", "flawed", "unchecked")}


@dataclass(kw_only=True, slots=True)
class TierAudit:
    """An audit: findings, and counts by relation, of rows, of tiers, and of tiers by outcome.

    A finding is a tier that fails, as a line of the findings file: `axis` (or "evidence"), `verdict` or flaw, and
    reason; `level` 2 is the first beyond the answer, tiers of a level are numbered from 1. `namesakes` are rows whose
    chain belongs to a namesake of the answer.
    """

    snapshot: str = ""
    findings: list[dict[str, Any]] = field(default_factory=list)
    namesakes: list[dict[str, Any]] = field(default_factory=list)
    relations: dict[str, Counter[str]] = field(default_factory=dict)
    rejected: list[RejectedRow] = field(default_factory=list)

    @property
    def total(self) -> Counter[str]:
        """The counts over all rows."""
        return sum(self.relations.values(), Counter[str]())

    @property
    def findings_by_verdict(self) -> dict[str, int]:
        """The number of findings by verdict or flaw."""
        return dict(sorted(Counter(one["verdict"] for one in self.findings).items()))

    def to_json(self) -> dict[str, Any]:
        """The counts as a JSON object."""

        def ordered(counts: Counter[str]) -> dict[str, int]:
            return {name: counts[name] for name in ("rows", "tiers", *sorted(counts.keys() - {"rows", "tiers"}))}

        return {
            "snapshot": self.snapshot,
            "total": ordered(self.total),
            "relations": {name: ordered(counts) for name, counts in sorted(self.relations.items())},
            "findings": self.findings_by_verdict,
            "namesakes": self.namesakes,
        }

    def table(self, *, by_evidence: bool = False) -> TextTable:
        """By relation: rows, tiers, and the number and share of tiers in each column."""
        columns = OF_EVIDENCE if by_evidence else OF_AXES

        def as_cells(name: str, counts: Counter[str]) -> list[str]:
            numbers = [sum(counts[outcome] for outcome in outcomes) for outcomes in columns.values()]
            shares = [f"{100 * number / counts['tiers']:.1f} %" if counts["tiers"] else "-" for number in numbers]
            cells = [f"{number} {share:>7}" for number, share in zip(numbers, shares, strict=True)]
            return [name, str(counts["rows"]), str(counts["tiers"]), *cells]

        ordered = sorted(self.relations, key=lambda one: (one == NO_RELATION, int(one[1:] or 0)))
        rows = [as_cells(id_with_label(name), self.relations[name]) for name in ordered]
        return TextTable(head=("relation", "rows", "tiers", *columns), rows=[*rows, as_cells("total", self.total)])


# Each tier with its outcome, and axis, verdict and reason of each of its faults.
_Outcomes = list[tuple[TierVerdict | TierCheck, str, list[tuple[str, str, str]]]]


def audit(
    rows: Iterable[TieredRow],
    store: Store,
    *,
    by_evidence: bool = False,
    language: str = "en",
    rejected: list[RejectedRow] | None = None,
) -> TierAudit:
    """Audit the tiers of rows.

    By axes: tiers that break one of the three axes of Yona et al. 2024 fail; a tier on which the graph gives no
    verdict, but which follows from its own evidence, is entailed. By evidence: tiers that do not follow from it, one
    finding per flaw. A row on which the program fails is added to `rejected` and not counted.
    """
    judge, checker = Judge(store, language=language), EntailmentChecker(store, language=language)
    snapshot = str(store.manifest()["snapshot_id"])
    found = TierAudit(snapshot=snapshot, rejected=[] if rejected is None else rejected)

    def outcomes_and_namesake_of_row(row: TieredRow) -> tuple[_Outcomes, dict[str, Any] | None]:
        if not by_evidence:
            verdict = judge.judge(row)
            return _tier_outcomes(row, verdict, checker), _namesake_record(row, verdict)
        return [
            (check, str(check.status), [("evidence", str(one.flaw), one.detail) for one in check.findings])
            for check in checker.check(row)
        ], None

    for row in rows:
        audited = attempt("an audit", outcomes_and_namesake_of_row, row)
        if isinstance(audited, Fault):
            found.rejected.append(audited.rejected(source=row.source, id=row.id, text=row.question))
            judge = Judge(store, language=language)  # the error may have left conclusions half-made
            continue
        outcomes, namesake = audited
        relation = row.relation or NO_RELATION
        counts = found.relations.setdefault(relation, Counter())
        counts.update({"rows": 1, "tiers": len(outcomes)})
        counts.update(outcome for _, outcome, _ in outcomes)
        found.namesakes += [namesake] if namesake is not None else []
        found.findings += [
            {
                "row": tier.row, "relation": relation, "level": tier.level, "tier": tier.position, "text": tier.text,
                "axis": axis, "verdict": verdict, "why": why,
            }
            for tier, _, faults in outcomes
            for axis, verdict, why in faults
        ]  # fmt: skip
    return found


def _tier_outcomes(row: TieredRow, verdict: RowVerdict, checker: EntailmentChecker) -> _Outcomes:
    outcomes: _Outcomes = []
    proven: set[tuple[int, int]] = set()  # the (level, position) of tiers that follow from their own evidence
    is_doubted = any(tier.verdict is VerdictKind.UNKNOWN for tier in verdict.tiers)
    # The evidence is replayed only for rows in which a verdict is unknown.
    if is_doubted and any(tier.evidence for level in row.levels[1:] for tier in level.tiers):
        proven = {(check.level, check.position) for check in checker.check(row) if check.status == "entailed"}
    for tier in verdict.tiers:
        is_proven = tier.verdict is VerdictKind.UNKNOWN and (tier.level, tier.position) in proven
        outcome = VerdictKind.ENTAILED if is_proven else tier.verdict
        faults = [(AXES[outcome], str(outcome), tier.why)] if outcome in AXES else []
        outcomes.append((tier, str(outcome), faults))
    return outcomes


def _namesake_record(row: TieredRow, verdict: RowVerdict) -> dict[str, Any] | None:
    """A record of a row whose chain of tiers belongs to a namesake of its answer; None for other rows."""
    if verdict.namesake is None:
        return None
    return {
        "row": row.id, "question": row.question, "answer": row.answers[0], "taken_for": verdict.answer,
        "chain": [level.tiers[0].text for level in row.levels[1:]], "belongs_to": verdict.namesake or None,
        "certain": verdict.certain,
    }  # fmt: skip
