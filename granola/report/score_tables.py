"""Scores as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from abstraction.properties import titled
from granola.scoring.aggregation import Estimate, GroupScore
from granola.scoring.scores import ScoreReport

if TYPE_CHECKING:
    from rich.table import Table

RELATION_METRICS = (
    "selective_accuracy", "selective_standard_accuracy", "knowledge_evaluation_gap", "informativeness",
    "abstention_rate",
)  # fmt: skip
SHORT_TITLES = {
    "selective_accuracy": "sel. GRANOLA",  # over the items that did not abstain, as the paper's figures and gap
    "selective_standard_accuracy": "sel. standard",
    "knowledge_evaluation_gap": "gap",
    "informativeness": "informativeness",
    "abstention_rate": "IDK",
}
NARROW_TITLES = {"informativeness": "inform.", "sel. GRANOLA": "sel. GR.", "sel. standard": "sel. st."}
OVER = {"all": "", "answered": "of the answered (selective)", "matched": "of the matched"}
LEAST = 5  # questions of a relation that has a line of its own
WIDE = 19  # signs of a score with its interval
LABEL = 12  # signs that the first column has at least
STACKED = 8  # signs of a score above its interval
METRIC = len("informativeness,")  # the longest word in a metric's title
DASH = "–"


def count_of_questions(report: ScoreReport) -> str:
    """`117 questions (110 with a ladder)`."""
    return f"{report.questions:,} question{'' if report.questions == 1 else 's'} ({report.laddered:,} with a ladder)"


def relation_title(name: str) -> str:
    """`P19 place of birth`, for every relation that a question may be read as asking for; others as they are."""
    return titled(name)


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreLine:
    """The scores of a group, under its name; `kind` is "macro" for the mean of the groups, "micro" for that of all.

    Of "others" it is told alone how many questions they have.
    """

    kind: Literal["group", "others", "macro", "micro"] = "group"
    name: str
    n: int
    estimates: Mapping[str, Estimate]


def lines_of(groups: Mapping[str, GroupScore]) -> list[ScoreLine]:
    """A line a group, under the name that is shown of it."""
    return [
        ScoreLine(name=relation_title(name), n=group.n, estimates=group.estimates) for name, group in groups.items()
    ]


def relation_lines(report: ScoreReport) -> list[ScoreLine]:
    """A line a relation of LEAST questions or more, one that counts those of the others, then the means.

    Those over relations, whose `n` counts all of them, and over questions.
    """
    shown = {name: group for name, group in report.relations.items() if group.n >= LEAST}
    others = [group.n for name, group in report.relations.items() if name not in shown]
    named = f"{len(others)} other{'s' * (len(others) != 1)} of fewer than {LEAST} questions"
    return [
        *lines_of(shown),
        *([ScoreLine(kind="others", name=named, n=sum(others), estimates={})] if others else ()),
        ScoreLine(kind="macro", name="macro", n=len(report.relations), estimates=report.macro),
        ScoreLine(kind="micro", name="micro", n=report.overall.n, estimates=report.overall.estimates),
    ]


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


def _metric_parts(first: Sequence[str], width: int | None) -> tuple[list[tuple[str, ...]], bool]:
    """The metrics in as many tables as have room beside a first column and n, and whether cells are stacked."""
    stacked = _is_narrow(width, first, 6, WIDE)
    if width is None or not stacked:
        return [RELATION_METRICS], stacked
    most = max(1, (width - LABEL - 11) // (STACKED + 3))
    return [RELATION_METRICS[start : start + most] for start in range(0, len(RELATION_METRICS), most)], stacked


def macro_tables(reports: Sequence[ScoreReport], width: int | None = None) -> list[Table]:
    """One row a system: the means over relations, each relation counting the same; in `width` signs."""
    from rich.table import Table
    from rich.text import Text

    parts, stacked = _metric_parts([report.system for report in reports], width)
    tables = []
    for metrics in parts:
        table = Table(
            title="Macro: the mean over relations, each counting the same; accuracies are selective",
            title_justify="left",
        )
        table.add_column("system", overflow="fold")
        table.add_column("n" if stacked else "relations", justify="right", no_wrap=True)
        _add_metrics(table, metrics, stacked)
        for report in reports:
            cells = [scored(report.macro[name], stacked=stacked) for name in metrics if report.macro]
            table.add_row(Text(report.system), str(len(report.relations)), *cells)
        tables.append(table)
    return tables


def scores_table(reports: Sequence[ScoreReport]) -> Table:
    """One row a metric: for every system its score, interval and n."""
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=f"Scores of {count_of_questions(reports[0])}, with 95 % bootstrap intervals", title_justify="left"
    )
    table.add_column("metric", min_width=METRIC, overflow="fold")
    for report in reports:
        table.add_column(Text(report.system), justify="right", overflow="fold", min_width=6)
        table.add_column("95 %", justify="right", no_wrap=True)
        table.add_column("n", justify="right", no_wrap=True)
    over = "all"
    for metric in reports[0].metrics:
        if metric.over != over:
            over = metric.over
            table.add_section()
            table.add_row(OVER[over])
        cells = []
        for report in reports:
            estimate = report.overall.estimates[metric.name]
            cells += [number(estimate.value), interval(estimate), str(estimate.n)]
        table.add_row(metric.title, *cells)
    return table


def distribution_tables(reports: Sequence[ScoreReport], width: int | None = None) -> list[Table]:
    """One row a system: the items at each level, wrong, abstained or unscored; in `width` signs.

    Where so many columns have no room they become rows, and the systems columns.
    """
    columns = distribution_columns(reports)
    titles = [f"level {column}" if column.isdigit() else column for column in columns]
    names = [report.system for report in reports]
    stacked = _is_narrow(width, names, len(columns), 10)
    cells = [
        [share(report.overall.distribution.get(c, 0), report.questions, stacked=stacked) for c in columns]
        for report in reports
    ]
    if width is None or 4 + METRIC + len(columns) * (STACKED + 3) <= width or not stacked:
        return [_distribution_table("system", titles, list(zip(names, cells, strict=True)))]
    tables = []
    for place in side_by_side(reports, width - 4 - len("unscored"), lambda report: METRIC + 3):
        rows = [(title, [of[index] for of in cells[place]]) for index, title in enumerate(titles)]
        tables.append(_distribution_table("", names[place], rows))
    return tables


def _distribution_table(first: str, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Where the predictions stand (level 1 is the finest)", title_justify="left")
    table.add_column(first, overflow="fold")
    for head in heads:
        table.add_column(Text(head), justify="right", overflow="fold", min_width=STACKED)
    for name, cells in rows:
        table.add_row(Text(name), *cells)
    return table


def distribution_columns(reports: Sequence[ScoreReport]) -> list[str]:
    """The levels that occur in any report, then wrong and idk, and unscored where there are some."""
    deepest = max(int(name) for report in reports for name in report.overall.distribution if name.isdigit())
    columns = [*map(str, range(1, deepest + 1)), "wrong", "idk"]
    return [*columns, "unscored"] if any(report.overall.unscored for report in reports) else columns


def _add_metrics(table: Table, metrics: Sequence[str], stacked: bool) -> None:
    for name in metrics:
        title = SHORT_TITLES[name]
        table.add_column(NARROW_TITLES.get(title, title) if stacked else title, justify="right", no_wrap=True)


def relations_tables(report: ScoreReport, width: int | None = None) -> list[Table]:
    """One row a relation, then the mean over relations (macro) and over questions (micro); in `width` signs."""
    from rich.table import Table
    from rich.text import Text

    lines = relation_lines(report)
    parts, stacked = _metric_parts([line.name for line in lines], width)
    tables = []
    for metrics in parts:
        table = Table(title=Text(f"Per relation: {report.system}; accuracies are selective"), title_justify="left")
        table.add_column("relation", overflow="fold")
        table.add_column("n", justify="right", no_wrap=True)
        _add_metrics(table, metrics, stacked)
        for line in lines:
            if line.kind == "macro":
                table.add_section()
            cells = (scored(line.estimates[metric], stacked=stacked) for metric in metrics if line.estimates)
            table.add_row(Text(line.name), str(line.n), *cells)
        tables.append(table)
    return tables
