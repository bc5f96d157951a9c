"""Differences between systems, and scores of groups, as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from granola.report.score_tables import DASH, interval, number, relation_title, side_by_side
from granola.scoring.aggregation import GroupScore
from granola.scoring.scores import ScoreReport
from granola.scoring.system_comparison import Difference

if TYPE_CHECKING:
    from rich.table import Table

GROUP_METRICS = ("selective_accuracy", "selective_standard_accuracy")


def signed(value: float) -> str:
    """`+0.123`; a dash where there is no number."""
    return DASH if math.isnan(value) else f"{value:+.3f}"


def p_value(value: float) -> str:
    """`0.012`, or `<0.001`; a dash where there is none."""
    return DASH if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"


def differences_table(differences: Sequence[Difference], titles: Mapping[str, str]) -> Table:
    """One row a metric and pair of systems."""
    from rich.table import Table

    table = Table(
        title="Differences, paired over questions: 95 % bootstrap, permutation test, Holm's correction over pairs",
        title_justify="left",
    )
    for column in ("metric", "systems"):
        table.add_column(column)
    for column in ("difference", "95 %", "p", "p, Holm", "n", "detectable"):
        table.add_column(column, justify="right", no_wrap=True)
    for difference in differences:
        ends = difference.interval
        shown = DASH if math.isnan(ends.low) else f"{ends.low:+.3f} to {ends.high:+.3f}"
        table.add_row(
            titles.get(difference.metric, difference.metric),
            f"{difference.first} - {difference.second}",
            signed(difference.difference),
            shown,
            p_value(difference.p),
            p_value(difference.adjusted),
            str(difference.n),
            number(difference.detectable),
        )
    return table


def group_tables(
    title: str, reports: Sequence[ScoreReport], scores: Sequence[Mapping[str, GroupScore]], width: int
) -> list[Table]:
    """`groups_table` of as many systems as stand side by side."""
    names = [len(relation_title(name)) for by_name in scores for name in by_name]
    places = side_by_side(reports, width - max(names, default=0) - 12, lambda report: 50)
    return [groups_table(title, reports[place], scores[place]) for place in places]


def groups_table(title: str, reports: Sequence[ScoreReport], scores: Sequence[Mapping[str, GroupScore]]) -> Table:
    """One row a group: n, and for every system both accuracies with their intervals."""
    from rich.table import Table

    table = Table(title=f"By {title}: selective accuracies", title_justify="left")
    table.add_column("group", no_wrap=True)
    table.add_column("n", justify="right")
    for report in reports:
        for short in ("GRANOLA", "standard"):
            table.add_column(f"{report.system}: {short}", justify="right")
    for name in dict.fromkeys(name for by_name in scores for name in by_name):
        cells = []
        for by_name in scores:
            group = by_name.get(name)
            cells += [
                f"{number(e.value)} [{interval(e)}]"
                for e in ((group.estimates[metric] for metric in GROUP_METRICS) if group else ())
            ] or [DASH, DASH]
        n = next((by_name[name].n for by_name in scores if name in by_name), 0)
        table.add_row(relation_title(name), str(n), *cells)
    return table
