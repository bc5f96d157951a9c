"""What an audit counted, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from abstraction.properties import titled
from abstraction.verifying.verdicts import AXES, VerdictKind
from granola.attribution.categories import Category
from granola.audit.offences import AXIS_NAMES, UNCHECKED, FindingCounts, FindingTally
from granola.terminal_lines import Part, TextTable

_BY_AXIS = {axis: [str(verdict) for verdict, own in AXES.items() if own == axis] for axis in AXIS_NAMES}
AXES_COLUMNS = {"entailed": [str(VerdictKind.ENTAILED)], **_BY_AXIS, "unknown": [str(VerdictKind.UNKNOWN)]}
ENTAILMENT_COLUMNS = {name: [name] for name in ("entailed", "flawed", "unchecked")}
ATTRIBUTION_COLUMNS = {
    {"partially supportive": "partial"}.get(name, str(name)): [str(name)] for name in (*Category, UNCHECKED)
}


def finding_tables(tally: FindingTally, columns: Mapping[str, Sequence[str]]) -> Iterator[Part]:
    """Per relation, then per class of answers: rows, tiers, and how many tiers each column counts, with their share."""
    for heading, groups in (("relation", tally.relations), ("answer class", tally.classes)):
        ordered = sorted(groups, key=lambda one: (one[:1] != "P", int(one[1:]) if one[1:].isdigit() else 0, one))
        rows = [(titled(name), *_cells(groups[name], columns)) for name in ordered]
        total = ("total", *_cells(tally.total, columns))
        yield TextTable(head=(heading, "rows", "tiers", *columns), rows=[*rows, total])
        yield ""
    if bad := [f"{verdict} {tally.total.by[verdict]}" for verdict in map(str, AXES) if tally.total.by[verdict]]:
        yield f"verdicts: {', '.join(bad)}"


def _cells(counts: FindingCounts, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield from (str(counts.rows), str(counts.tiers))
    for outcomes in columns.values():
        number = sum(counts.by[outcome] for outcome in outcomes)
        yield f"{number} {f'{100 * number / counts.tiers:.1f} %' if counts.tiers else '-':>7}"
