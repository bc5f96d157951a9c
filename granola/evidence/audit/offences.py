"""Audits of tiers: the tiers that fail, and counts by relation and answer class, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from abstraction.base.faults import Fault, RejectedRow, attempt
from abstraction.base.properties import titled
from abstraction.base.relations import relation as relation_row
from abstraction.files.rows import TieredRow
from abstraction.verifying.entailment import EntailmentChecker
from abstraction.verifying.tier_verdicts import Judge
from abstraction.verifying.verdicts import AXES, RowVerdict, TierCheck, TierVerdict, VerdictKind
from granola.base.terminal_lines import Part, TextTable
from kg.store.protocol import Store

# Answer classes in tables; an answer with several classes counts in the first of these, else in the first by name.
CLASS_ORDER = (
    "person", "fictional", "group", "country", "place", "building", "school", "label", "club", "company",
    "organisation", "work", "genre", "occupation", "language", "position",
)  # fmt: skip
NO_CLASS, NO_RELATION = "unknown", "-"  # headings for answers without a class, and rows without a relation


_BY_AXIS = {axis: [verdict for verdict, own in AXES.items() if own == axis] for axis in dict.fromkeys(AXES.values())}
# The columns of tables and the outcomes that each counts, in audits by axes and in those by evidence.
OF_AXES: Mapping[str, Sequence[str]] = {
    "entailed": [VerdictKind.ENTAILED], **_BY_AXIS, "unknown": [VerdictKind.UNKNOWN]
}  # fmt: skip
OF_EVIDENCE: Mapping[str, Sequence[str]] = {name: [name] for name in ("entailed", "flawed", "unchecked")}


@dataclass(kw_only=True, slots=True)
class TierAudit:
    """An audit: findings, and counts by relation and by answer class, of rows, of tiers, and of tiers by outcome.

    A finding is a tier that fails, as a line of the findings file: `axis` (or "evidence"), `verdict` or flaw, and
    reason; `level` 2 is the first beyond the answer, tiers of a level are numbered from 1. `namesakes` are rows whose
    chain belongs to a namesake of the answer.
    """

    snapshot: str = ""
    findings: list[dict[str, Any]] = field(default_factory=list)
    namesakes: list[dict[str, Any]] = field(default_factory=list)
    relations: dict[str, Counter[str]] = field(default_factory=dict)
    classes: dict[str, Counter[str]] = field(default_factory=dict)
    rejected: list[RejectedRow] = field(default_factory=list)

    @property
    def total(self) -> Counter[str]:
        """The counts over all rows."""
        return sum(self.relations.values(), Counter[str]())

    @property
    def by_verdict(self) -> dict[str, int]:
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
            "classes": {name: ordered(counts) for name, counts in sorted(self.classes.items())},
            "findings": self.by_verdict,
            "namesakes": self.namesakes,
        }

    def tables(self, *, by_evidence: bool = False) -> Iterator[Part]:
        """A table per relation, then one per answer class: rows, tiers, and the number and share of tiers in each
        column.
        """
        columns = OF_EVIDENCE if by_evidence else OF_AXES

        def as_cells(counts: Counter[str]) -> Iterator[str]:
            yield from (str(counts["rows"]), str(counts["tiers"]))
            for outcomes in columns.values():
                number = sum(counts[outcome] for outcome in outcomes)
                share = f"{100 * number / counts['tiers']:.1f} %" if counts["tiers"] else "-"
                yield f"{number} {share:>7}"

        total = self.total
        for heading, groups in (("relation", self.relations), ("answer class", self.classes)):
            ordered = sorted(groups, key=lambda one: (one[:1] != "P", int(one[1:]) if one[1:].isdigit() else 0, one))
            rows = [(titled(name), *as_cells(groups[name])) for name in ordered]
            yield TextTable(head=(heading, "rows", "tiers", *columns), rows=[*rows, ("total", *as_cells(total))])
            yield ""


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
    found = TierAudit(
        snapshot=str(store.manifest()["snapshot_id"]), rejected=[] if rejected is None else rejected
    )  # fmt: skip

    def audit_row(row: TieredRow) -> tuple[_Outcomes, Iterable[str], dict[str, Any] | None]:
        if not by_evidence:
            return _outcomes_of_row(row, judge.judge(row), checker)
        # The classes are those of the entity that the row gives for its answer.
        own = next((tier.qid for tier in row.levels[0].tiers if tier.qid), None)
        outcomes: _Outcomes = [
            (check, str(check.status), [("evidence", str(one.flaw), one.detail) for one in check.findings])
            for check in checker.check(row)
        ]
        return outcomes, judge.maker.classes(own) if own else (), None

    for row in rows:
        audited = attempt("an audit", audit_row, row)
        if isinstance(audited, Fault):
            found.rejected.append(audited.rejected(source=row.source, id=row.id, text=row.question))
            judge = Judge(store, language=language)  # the error may have left conclusions half-made
            continue
        outcomes, classes, namesake = audited
        relation, known = row.relation or NO_RELATION, set(classes)
        answer_class = relation_row(row.relation).asks if row.relation else ""
        # A date or a quantity is no entity, and has no classes of its own.
        if answer_class not in ("date", "quantity"):
            answer_class = next((name for name in CLASS_ORDER if name in known), min(known, default=NO_CLASS))
        for counts in (
            found.relations.setdefault(relation, Counter()), found.classes.setdefault(answer_class, Counter())
        ):  # fmt: skip
            counts.update({"rows": 1, "tiers": len(outcomes)})
            counts.update(outcome for _, outcome, _ in outcomes)
        found.namesakes += [namesake] if namesake is not None else []
        found.findings += [
            {
                "row": tier.row, "relation": relation, "class": answer_class, "level": tier.level,
                "tier": tier.position, "text": tier.text, "axis": axis, "verdict": verdict, "why": why,
            }
            for tier, _, faults in outcomes
            for axis, verdict, why in faults
        ]  # fmt: skip
    return found


# Each tier with its outcome, and axis, verdict and reason of each of its faults.
_Outcomes = list[tuple[TierVerdict | TierCheck, str, list[tuple[str, str, str]]]]


def _outcomes_of_row(
    row: TieredRow, verdict: RowVerdict, checker: EntailmentChecker
) -> tuple[_Outcomes, Iterable[str], dict[str, Any] | None]:
    """The outcomes of a row's tiers, the classes of its answer, and the namesake to which its chain belongs."""
    outcomes: _Outcomes = []
    proven: set[tuple[int, int]] = set()  # the (level, position) of tiers that follow from their own evidence
    is_doubted = any(tier.verdict is VerdictKind.UNKNOWN for tier in verdict.tiers)
    # Replayed only where a verdict is unknown.
    if is_doubted and any(tier.evidence for level in row.levels[1:] for tier in level.tiers):
        proven = {(check.level, check.position) for check in checker.check(row) if check.status == "entailed"}
    for tier in verdict.tiers:
        is_proven = tier.verdict is VerdictKind.UNKNOWN and (tier.level, tier.position) in proven
        outcome = VerdictKind.ENTAILED if is_proven else tier.verdict
        faults = [(AXES[outcome], str(outcome), tier.why)] if outcome in AXES else []
        outcomes.append((tier, str(outcome), faults))
    if verdict.namesake is None:
        return outcomes, verdict.classes, None
    namesake = {
        "row": row.id, "question": row.question, "answer": row.answers[0], "taken_for": verdict.answer,
        "chain": [level.tiers[0].text for level in row.levels[1:]], "belongs_to": verdict.namesake or None,
        "certain": verdict.certain,
    }  # fmt: skip
    return outcomes, verdict.classes, namesake
