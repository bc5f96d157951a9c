"""Differences between systems, and scores of groups, as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from granola.report.score_tables import DASH, METRIC, OVER, WIDE, number, relation_title, scored, side_by_side
from granola.scoring.aggregation import GroupScore
from granola.scoring.metrics import Metric
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


WIDE_DIFFERENCES = 74  # signs of a table of differences beside its metric


def differences_tables(differences: Sequence[Difference], metrics: Mapping[str, Metric], width: int) -> list[Table]:
    """A table for each pair of systems, one row a metric, those of the answered apart; in `width` signs, 58 at least.

    `metrics` by name say what they are called, and of which questions they are.
    """
    pairs = dict.fromkeys((difference.first, difference.second) for difference in differences)
    titles = [metrics[difference.metric].title for difference in differences]
    stacked = max(map(len, titles), default=0) + WIDE_DIFFERENCES > width
    return [
        _differences_table(
            f"{first} - {second}",
            [difference for difference in differences if (difference.first, difference.second) == (first, second)],
            metrics,
            stacked=stacked,
        )
        for first, second in pairs
    ]


def _differences_table(
    pair: str, differences: Sequence[Difference], metrics: Mapping[str, Metric], *, stacked: bool
) -> Table:
    """`stacked` puts two figures below each other in every column."""
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(
            f"{pair}: differences, paired over questions: 95 % bootstrap, permutation test, Holm's correction over "
            "pairs"
        ),
        title_justify="left",
    )
    table.add_column("metric", min_width=METRIC, overflow="fold")
    heads = ("difference\n95 %", "p\np, Holm", "n\ndetectable") if stacked else (
        "difference", "95 %", "p", "p, Holm", "n", "detectable"
    )  # fmt: skip
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    over = "all"
    for difference in differences:
        if (here := metrics[difference.metric].over) != over:
            over = here
            table.add_section()
            table.add_row(OVER[over])
        ends = difference.interval
        cells = [
            signed(difference.difference),
            DASH if math.isnan(ends.low) else f"{ends.low:+.3f} to {ends.high:+.3f}",
            p_value(difference.p),
            p_value(difference.adjusted),
            str(difference.n),
            number(difference.detectable),
        ]
        if stacked:
            cells[1] = cells[1].replace("0.", ".")
            cells = [f"{upper}\n{lower}" for upper, lower in zip(cells[::2], cells[1::2], strict=True)]
        table.add_row(metrics[difference.metric].title, *cells)
    return table


def group_tables(
    title: str, reports: Sequence[ScoreReport], scores: Sequence[Mapping[str, GroupScore]], width: int
) -> list[Table]:
    """`groups_table` of as many systems as stand side by side in `width` signs."""
    names = [len(relation_title(name)) for by_name in scores for name in by_name]
    stacked = max(names, default=0) + 62 > width
    places = side_by_side(reports, width - (28 if stacked else max(names) + 12), lambda report: 25 if stacked else 50)
    return [groups_table(title, reports[place], scores[place], stacked=stacked) for place in places]


def groups_table(
    title: str,
    reports: Sequence[ScoreReport],
    scores: Sequence[Mapping[str, GroupScore]],
    *,
    stacked: bool = False,
) -> Table:
    """One row a group: n, and for every system both accuracies with their intervals, below them where `stacked`."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(f"By {title}: selective accuracies"), title_justify="left")
    table.add_column("group", overflow="fold", min_width=12)
    table.add_column("n", justify="right", no_wrap=True)
    for report in reports:
        for short in ("GRANOLA", "standard"):
            table.add_column(
                Text(f"{report.system}: {short}"), justify="right", overflow="fold", min_width=9 if stacked else WIDE
            )
    for name in dict.fromkeys(name for by_name in scores for name in by_name):
        cells = []
        for by_name in scores:
            group = by_name.get(name)
            cells += [
                scored(e, stacked=stacked) for e in ((group.estimates[m] for m in GROUP_METRICS) if group else ())
            ] or [DASH, DASH]
        n = next((by_name[name].n for by_name in scores if name in by_name), 0)
        table.add_row(Text(relation_title(name)), str(n), *cells)
    return table
