"""Scores as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from abstraction.properties import label_of
from abstraction.relations import table as relation_table
from granola.scoring.aggregation import Estimate
from granola.scoring.scores import ScoreReport

if TYPE_CHECKING:
    from rich.table import Table

RELATION_METRICS = (
    "selective_accuracy", "selective_standard_accuracy", "knowledge_evaluation_gap", "informativeness",
    "abstention_rate",
)  # fmt: skip
SHORT_TITLES = {
    "selective_accuracy": "GRANOLA",  # over the items that did not abstain, as the paper's figures and gap
    "selective_standard_accuracy": "standard",
    "knowledge_evaluation_gap": "gap",
    "informativeness": "informativeness",
    "abstention_rate": "IDK",
}
NARROW_TITLES = {"informativeness": "inform."}
WIDE = 19  # signs of a score with its interval
METRIC = len("informativeness,")  # the longest word in a metric's title
DASH = "–"


def count_of_questions(report: ScoreReport) -> str:
    """`117 questions (110 with a ladder)`."""
    return f"{report.questions:,} question{'' if report.questions == 1 else 's'} ({report.laddered:,} with a ladder)"


def relation_title(name: str) -> str:
    """`P19 place of birth`, where a table of ours has the label."""
    row = relation_table().get(name)
    label = row.label if row else label_of(name)
    return f"{name} {label}" if label else name


def number(value: float) -> str:
    """Three decimals; a dash where there is no score."""
    return DASH if math.isnan(value) else f"{value:.3f}"


def interval(estimate: Estimate) -> str:
    """`0.512-0.634`; a dash where there is no score."""
    if math.isnan(estimate.interval.low):
        return DASH
    return f"{estimate.interval.low:.3f}{DASH}{estimate.interval.high:.3f}"


def share(count: int, n: int, *, stacked: bool = False) -> str:
    """`12 (13 %)`; `stacked` on two lines."""
    between = "\n" if stacked else " "
    return f"{count}{between}({100 * count / n:.0f} %)" if n else str(count)


def scored(estimate: Estimate, *, stacked: bool = False) -> str:
    """`0.571 [0.512-0.634]`; `stacked` with two decimals on two lines, which take a third of the width."""
    if not stacked:
        return f"{number(estimate.value)} [{interval(estimate)}]"
    if math.isnan(estimate.interval.low):
        return number(estimate.value)
    low, high = (f"{end:.2f}".removeprefix("0") for end in (estimate.interval.low, estimate.interval.high))
    return f"{number(estimate.value)}\n{low}{DASH}{high}"


def _is_narrow(width: int | None, first: Sequence[str], columns: int, each: int) -> bool:
    """Whether a table of a first column and so many others of `each` signs has no room."""
    return width is not None and max(map(len, first), default=0) + 4 + columns * (each + 3) > width


def side_by_side(reports: Sequence[ScoreReport], width: int, room: Callable[[ScoreReport], int]) -> list[slice]:
    """The reports in tables of at most `width` signs, where each takes up `room`; at least one in each."""
    slices, start, taken = [], 0, 0
    for index, report in enumerate(reports):
        if taken and taken + room(report) > width:
            slices.append(slice(start, index))
            start, taken = index, 0
        taken += room(report)
    return [*slices, slice(start, len(reports))]


def score_tables(reports: Sequence[ScoreReport], width: int) -> list[Table]:
    """`scores_table` of as many systems as stand side by side, so that every figure is whole."""
    places = side_by_side(reports, width - 23, lambda report: max(6, len(report.system)) + 29)
    return [scores_table(reports[place]) for place in places]


def macro_table(reports: Sequence[ScoreReport], width: int | None = None) -> Table:
    """One row a system: the means over relations, each relation counting the same; in `width` signs."""
    from rich.table import Table

    table = Table(
        title="Macro: the mean over relations, each counting the same; accuracies are selective", title_justify="left"
    )
    stacked = _is_narrow(width, [report.system for report in reports], 6, WIDE)
    table.add_column("system", overflow="fold")
    table.add_column("n" if stacked else "relations", justify="right")
    _add_metrics(table, stacked)
    for report in reports:
        cells = [report.macro[name] for name in RELATION_METRICS if report.macro]
        table.add_row(
            report.system, str(len(report.relations)), *(scored(estimate, stacked=stacked) for estimate in cells)
        )
    return table


def scores_table(reports: Sequence[ScoreReport]) -> Table:
    """One row a metric: for every system its score, interval and n."""
    from rich.table import Table

    table = Table(
        title=f"Scores of {count_of_questions(reports[0])}, with 95 % bootstrap intervals", title_justify="left"
    )
    table.add_column("metric", min_width=METRIC, overflow="fold")
    for report in reports:
        table.add_column(report.system, justify="right", no_wrap=True)
        table.add_column("95 %", justify="right", no_wrap=True)
        table.add_column("n", justify="right", no_wrap=True)
    for metric in reports[0].metrics:
        cells = []
        for report in reports:
            estimate = report.overall.estimates[metric.name]
            cells += [number(estimate.value), interval(estimate), str(estimate.n)]
        table.add_row(metric.title, *cells)
    return table


def distribution_table(reports: Sequence[ScoreReport], width: int | None = None) -> Table:
    """One row a system: the items at each level, wrong, abstained or unscored; in `width` signs."""
    from rich.table import Table

    table = Table(title="Where the predictions stand (level 1 is the finest)", title_justify="left")
    table.add_column("system", overflow="fold")
    columns = distribution_columns(reports)
    stacked = _is_narrow(width, [report.system for report in reports], len(columns), 10)
    for column in columns:
        table.add_column(f"level {column}" if column.isdigit() else column, justify="right", no_wrap=True)
    for report in reports:
        counts = report.overall.distribution
        table.add_row(report.system, *(share(counts.get(c, 0), report.questions, stacked=stacked) for c in columns))
    return table


def distribution_columns(reports: Sequence[ScoreReport]) -> list[str]:
    """The levels that occur in any report, then wrong and idk, and unscored where there are some."""
    deepest = max(int(name) for report in reports for name in report.overall.distribution if name.isdigit())
    columns = [*map(str, range(1, deepest + 1)), "wrong", "idk"]
    return [*columns, "unscored"] if any(report.overall.unscored for report in reports) else columns


def _add_metrics(table: Table, stacked: bool) -> None:
    for name in RELATION_METRICS:
        title = SHORT_TITLES[name]
        table.add_column(NARROW_TITLES.get(title, title) if stacked else title, justify="right", no_wrap=True)


def relations_table(report: ScoreReport, width: int | None = None) -> Table:
    """One row a relation, then the mean over relations (macro) and over questions (micro); in `width` signs."""
    from rich.table import Table

    table = Table(title=f"Per relation: {report.system}; accuracies are selective", title_justify="left")
    stacked = _is_narrow(width, list(map(relation_title, report.relations)), 6, WIDE)
    table.add_column("relation", overflow="fold")
    table.add_column("n", justify="right", no_wrap=True)
    _add_metrics(table, stacked)
    rows = [(relation_title(relation), group.n, group.estimates) for relation, group in report.relations.items()]
    rows += [
        ("macro", len(report.relations), report.macro),
        ("micro", report.overall.n, report.overall.estimates),
    ]
    for index, (name, n, estimates) in enumerate(rows):
        if index == len(report.relations):
            table.add_section()
        cells = (estimates[metric] for metric in RELATION_METRICS)
        table.add_row(name, str(n), *(scored(cell, stacked=stacked) for cell in cells))
    return table
