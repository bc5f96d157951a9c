"""Tallies as plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from abstraction.verifying.verdicts import AXES, VerdictKind
from granola.attribution.categories import Category
from granola.audit.offences import AXIS_NAMES, UNCHECKED, FindingCounts, FindingTally
from granola.report.score_tables import relation_title

_WIDTH = 34


def axes_lines(tally: FindingTally) -> list[str]:
    """Per relation, then per class: tiers, entailed ones, those against each axis, and those nobody can tell."""
    by_axis = {axis: [str(v) for v, a in AXES.items() if a == axis] for axis in AXIS_NAMES}
    columns = {"entailed": [str(VerdictKind.ENTAILED)], **by_axis, "unknown": [str(VerdictKind.UNKNOWN)]}
    lines = _lines(tally, columns)
    number_of = tally.total.by
    bad = [f"{verdict} {number_of[verdict]}" for verdict in map(str, AXES) if number_of[verdict]]
    return [*lines, *(["", "verdicts: " + ", ".join(bad)] if bad else [])]


def entailment_lines(tally: FindingTally) -> list[str]:
    """Per relation, then per class: tiers, those that follow, those that do not, and those nobody can tell."""
    return _lines(tally, {name: [name] for name in ("entailed", "flawed", "unchecked")})


def attribution_lines(tally: FindingTally) -> list[str]:
    """Per relation, then per class: tiers by what their evidence is to them."""
    short = {"partially supportive": "partial"}
    return _lines(tally, {short.get(name, str(name)): [str(name)] for name in (*Category, UNCHECKED)})


def _lines(tally: FindingTally, columns: Mapping[str, Sequence[str]]) -> list[str]:
    out = []
    for heading, groups, title in (
        ("relation", tally.relations, relation_title),
        ("answer class", tally.classes, str),
    ):
        out.append(f"{heading:<{_WIDTH}}{'rows':>8}{'tiers':>8}" + "".join(f"{name:>18}" for name in columns))
        for name in sorted(groups, key=lambda one: (one[:1] != "P", int(one[1:]) if one[1:].isdigit() else 0, one)):
            out.append(_line(title(name), groups[name], columns))
        out.append("")
    return [*out, _line("total", tally.total, columns)]


def _line(name: str, counts: FindingCounts, columns: Mapping[str, Sequence[str]]) -> str:
    cells = []
    for outcomes in columns.values():
        number = sum(counts.by[outcome] for outcome in outcomes)
        share = f"{100 * number / counts.tiers:.1f} %" if counts.tiers else "-"
        cells.append(f"{number:>9}{share:>9}")
    short = name if len(name) < _WIDTH else name[: _WIDTH - 2] + "…"
    return f"{short:<{_WIDTH}}{counts.rows:>8}{counts.tiers:>8}" + "".join(cells)
