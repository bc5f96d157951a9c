"""The counts of an audit, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from abstraction.base.properties import titled
from abstraction.verifying.verdicts import AXES, VerdictKind
from granola.base.terminal_lines import Part, TextTable
from granola.evidence.audit.offences import AuditKind, FindingCounts, FindingTally

_BY_AXIS = {axis: [verdict for verdict, own in AXES.items() if own == axis] for axis in dict.fromkeys(AXES.values())}
# For each kind of audit, the columns of its tables and the outcomes that each column counts.
COLUMNS: Mapping[AuditKind, Mapping[str, Sequence[str]]] = {
    AuditKind.AXES: {"entailed": [VerdictKind.ENTAILED], **_BY_AXIS, "unknown": [VerdictKind.UNKNOWN]},
    AuditKind.EVIDENCE: {name: [name] for name in ("entailed", "flawed", "unchecked")},
}


def finding_tables(tally: FindingTally, kind: AuditKind) -> Iterator[Part]:
    """A table per relation, then one per answer class: rows, tiers, and the number and share of tiers in each column.
    """
    for heading, groups in (("relation", tally.relations), ("answer class", tally.classes)):
        ordered = sorted(groups, key=lambda one: (one[:1] != "P", int(one[1:]) if one[1:].isdigit() else 0, one))
        rows = [(titled(name), *_cells(groups[name], COLUMNS[kind])) for name in ordered]
        total = ("total", *_cells(tally.total, COLUMNS[kind]))
        yield TextTable(head=(heading, "rows", "tiers", *COLUMNS[kind]), rows=[*rows, total])
        yield ""


def _cells(counts: FindingCounts, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield from (str(counts.rows), str(counts.tiers))
    for outcomes in columns.values():
        number = sum(counts.by[outcome] for outcome in outcomes)
        yield f"{number} {f'{100 * number / counts.tiers:.1f} %' if counts.tiers else '-':>7}"
