"""Tallies as plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

from abstraction.verifying.verdicts import AXES, VerdictKind
from granola.attribution.categories import Category
from granola.audit.offences import AXIS_NAMES, UNCHECKED, FindingCounts, FindingTally
from granola.report.score_tables import relation_title

WIDTH = 140  # signs of a line where nothing is known of the terminal
_LABEL = 34


def axes_lines(tally: FindingTally, width: int = WIDTH) -> list[str]:
    """Per relation, then per class: tiers, entailed ones, those against each axis, and those nobody can tell.

    Lines have at most `width` signs, here and below; where a table has no room, every group has lines of its own.
    """
    by_axis = {axis: [str(v) for v, a in AXES.items() if a == axis] for axis in AXIS_NAMES}
    columns = {"entailed": [str(VerdictKind.ENTAILED)], **by_axis, "unknown": [str(VerdictKind.UNKNOWN)]}
    lines = _lines(tally, columns, width)
    number_of = tally.total.by
    bad = [f"{verdict} {number_of[verdict]}" for verdict in map(str, AXES) if number_of[verdict]]
    return [*lines, *(["", *wrap("verdicts: " + ", ".join(bad), width, subsequent_indent="  ")] if bad else [])]


def entailment_lines(tally: FindingTally, width: int = WIDTH) -> list[str]:
    """Per relation, then per class: tiers, those that follow, those that do not, and those nobody can tell."""
    return _lines(tally, {name: [name] for name in ("entailed", "flawed", "unchecked")}, width)


def attribution_lines(tally: FindingTally, width: int = WIDTH) -> list[str]:
    """Per relation, then per class: tiers by what their evidence is to them."""
    short = {"partially supportive": "partial"}
    return _lines(tally, {short.get(name, str(name)): [str(name)] for name in (*Category, UNCHECKED)}, width)


def _lines(tally: FindingTally, columns: Mapping[str, Sequence[str]], width: int) -> list[str]:
    out = []
    is_wide = _LABEL + 16 + 18 * len(columns) <= width
    for heading, groups, title in (
        ("relation", tally.relations, relation_title),
        ("answer class", tally.classes, str),
    ):
        if is_wide:
            out.append(f"{heading:<{_LABEL}}{'rows':>8}{'tiers':>8}" + "".join(f"{name:>18}" for name in columns))
        else:
            out.append(f"by {heading}:")
        for name in sorted(groups, key=lambda one: (one[:1] != "P", int(one[1:]) if one[1:].isdigit() else 0, one)):
            out += _group(title(name), groups[name], columns, width, is_wide=is_wide)
        out.append("")
    return [*out, *_group("total", tally.total, columns, width, is_wide=is_wide)]


def _group(
    name: str, counts: FindingCounts, columns: Mapping[str, Sequence[str]], width: int, *, is_wide: bool
) -> list[str]:
    number_of = {column: sum(counts.by[outcome] for outcome in outcomes) for column, outcomes in columns.items()}
    share_of = {
        column: f"{100 * number / counts.tiers:.1f} %" if counts.tiers else "-" for column, number in number_of.items()
    }
    if is_wide:
        *above, last = wrap(name, _LABEL - 2) or [""]
        cells = "".join(f"{number_of[column]:>9}{share_of[column]:>9}" for column in columns)
        return [*above, f"{last:<{_LABEL}}{counts.rows:>8}{counts.tiers:>8}{cells}"]
    figures = [f"rows {counts.rows}", f"tiers {counts.tiers}"]
    figures += [f"{column} {number_of[column]} ({share_of[column]})" for column in columns]
    kept = ", ".join(figure.replace(" ", "\N{NO-BREAK SPACE}") for figure in figures)  # no figure apart from its name
    lines = wrap(kept, width, initial_indent="    ", subsequent_indent="    ")
    return [*wrap(name, width), *(line.replace("\N{NO-BREAK SPACE}", " ") for line in lines)]
