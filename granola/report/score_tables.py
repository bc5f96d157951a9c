"""Scores, differences of systems and scores of groups as tables: for the terminal, for pages and for files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from abstraction.base.properties import id_with_label
from granola.base.terminal_lines import Part, TextTable
from granola.report.charts import csv_text
from granola.scoring.metrics import GroupScore, Metric
from granola.scoring.scores import ScoreReport
from granola.scoring.statistics import Estimate
from granola.scoring.system_comparison import Difference

SHORT_TITLES = {
    "selective_accuracy": "sel. GRANOLA",  # over the items that did not abstain, as in the paper's figures and gap
    "selective_standard_accuracy": "sel. standard",
    "knowledge_evaluation_gap": "gap",
    "informativeness": "informativeness",
    "abstention_rate": "IDK",
}
_GROUP_METRICS = ("selective_accuracy", "selective_standard_accuracy")
_OVER = {"answered": "of the answered (selective)", "matched": "of the matched"}
LEAST = 5  # questions from which on a relation has a line of its own
DASH = "–"  # in place of a missing number, and between the ends of an interval


Value = str | int | float


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table for a page and a file: `name` for its file, `head`, and rows of its length; NaN is a missing number."""

    name: str
    title: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def to_csv(self, *, raw: bool = False) -> str:
        """CSV with a header; numbers unrounded, NaN empty. Unless `raw`, formulas are made harmless: see
        `abstraction.files.records`.
        """
        return csv_text((self.head, *self.rows), raw=raw)


def value_text(value: Value) -> str:
    """A value as text for readers: three decimals, a dash for NaN."""
    return format_number(value) if isinstance(value, float) else str(value)


def format_number(value: float) -> str:
    """Three decimals; a dash where there is no score."""
    return DASH if math.isnan(value) else f"{value:.3f}"


def format_interval(estimate: Estimate) -> str:
    """`0.512–0.634`; a dash where there is no score."""
    if math.isnan(estimate.interval.low):
        return DASH
    return f"{estimate.interval.low:.3f}{DASH}{estimate.interval.high:.3f}"


def _estimate_cell(estimate: Estimate) -> str:
    return f"{format_number(estimate.value)} [{format_interval(estimate)}]"


def _format_p_value(value: float) -> str:
    return DASH if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"


def score_tables(reports: Sequence[ScoreReport]) -> Iterator[Part]:
    """A table of metrics with score, interval and n of every system; then a table of the numbers of answers by level.
    """
    first = reports[0]
    count = f"{first.questions:,} question{'' if first.questions == 1 else 's'} ({first.laddered:,} with a ladder)"
    yield f"Scores of {count}, with 95 % bootstrap intervals"
    yield TextTable(
        head=("metric", *(name for report in reports for name in (report.system, "n"))),
        rows=_with_section_rows(
            (metric, _estimate_cells(report.overall.estimates[metric.name] for report in reports))
            for metric in first.metrics
        ),
    )
    yield "\nWhere the predictions stand (level 1 is the finest)"
    yield distribution_table(reports)


def distribution_table(reports: Sequence[ScoreReport]) -> TextTable:
    """The numbers and shares of answers by the finest level that they state, wrong, or abstained."""
    columns = distribution_columns(reports)

    def count_and_share(count: int, n: int) -> str:
        return f"{count} ({100 * count / n:.0f} %)" if n else str(count)

    return TextTable(
        head=("system", *(f"level {column}" if column.isdigit() else column for column in columns)),
        rows=[
            (one.system, *(count_and_share(one.overall.distribution.get(c, 0), one.questions) for c in columns))
            for one in reports
        ],
    )


def _estimate_cells(estimates: Iterable[Estimate]) -> list[str]:
    return [cell for estimate in estimates for cell in (_estimate_cell(estimate), f"{estimate.n:,}")]


def _with_section_rows(rows: Iterable[tuple[Metric, Sequence[str]]]) -> list[tuple[str, ...]]:
    """Insert a heading row before the metrics that are not over all items, naming the items they are over."""
    lines: list[tuple[str, ...]] = []
    over = "all"
    for metric, cells in rows:
        if metric.definition.over != over:
            over = metric.definition.over
            lines.append((f"{_OVER[over]}:", *[""] * len(cells)))
        lines.append((metric.title, *cells))
    return lines


def macro_table(reports: Sequence[ScoreReport]) -> Iterator[Part]:
    """A row for each system: the means over relations, each relation counting the same."""
    yield "\nMacro: the mean over relations, each counting the same; accuracies are selective"
    yield TextTable(
        head=("system", "relations", *SHORT_TITLES.values()),
        rows=[
            (
                r.system,
                f"{len(r.relations):,}",
                *(_estimate_cell(r.macro[name]) if r.macro else "" for name in SHORT_TITLES),
            )
            for r in reports
        ],
    )


def relations_table(report: ScoreReport) -> Iterator[Part]:
    """A row for each relation of LEAST questions or more, one that counts the others, then the means.

    The means are over relations (macro; n counts all of them) and over questions (micro).
    """
    # Intervals of fewer questions cover most of [0, 1].
    shown = {name: group for name, group in report.relations.items() if group.n >= LEAST}
    others = [group.n for name, group in report.relations.items() if name not in shown]
    lines: list[tuple[str, int, Mapping[str, Estimate]]] = [
        *((id_with_label(name), group.n, group.estimates) for name, group in shown.items()),
        (f"{len(others)} other{'s' * (len(others) != 1)} of fewer than {LEAST} questions", sum(others), {}),
        ("macro", len(report.relations), report.macro),
        ("micro", report.overall.n, report.overall.estimates),
    ]
    yield f"\nPer relation: {report.system}; accuracies are selective"
    yield TextTable(
        head=("relation", "n", *SHORT_TITLES.values()),
        rows=[
            (name, f"{n:,}", *(_estimate_cell(estimates[key]) if estimates else "" for key in SHORT_TITLES))
            for name, n, estimates in lines if n or estimates
        ],
    )  # fmt: skip


def distribution_columns(reports: Sequence[ScoreReport]) -> list[str]:
    """The columns of a table of answers by level: the levels that occur in any report, wrong, idk, and unscored if
    there are any.
    """
    deepest = max(int(name) for report in reports for name in report.overall.distribution if name.isdigit())
    columns = [*map(str, range(1, deepest + 1)), "wrong", "idk"]
    return [*columns, "unscored"] if any(report.overall.unscored for report in reports) else columns


def differences_tables(differences: Sequence[Difference], metrics: Mapping[str, Metric]) -> Iterator[Part]:
    """A table for each pair of systems with a row for each metric; `metrics` by name supply titles and the averaged
    items.
    """

    def cells(one: Difference) -> tuple[str, ...]:
        ends = DASH if math.isnan(one.interval.low) else f"{one.interval.low:+.3f} to {one.interval.high:+.3f}"
        signed = DASH if math.isnan(one.difference) else f"{one.difference:+.3f}"
        p, adjusted = _format_p_value(one.p), _format_p_value(one.adjusted)
        return signed, ends, p, adjusted, f"{one.n:,}", format_number(one.detectable)

    for pair in dict.fromkeys((difference.first, difference.second) for difference in differences):
        yield (
            f"\n{pair[0]} - {pair[1]}: differences, paired over questions: 95 % bootstrap, permutation test, Holm's "
            "correction over pairs"
        )
        yield TextTable(
            head=("metric", "difference", "95 %", "p", "p, Holm", "n", "detectable"),
            rows=_with_section_rows(
                (metrics[one.metric], cells(one))
                for one in differences if (one.first, one.second) == pair
            ),
        )  # fmt: skip


def group_table(
    title: str, reports: Sequence[ScoreReport], scores: Sequence[Mapping[str, GroupScore]]
) -> Iterator[Part]:
    """A row for each group: n, and both selective accuracies of every system with their intervals."""
    yield f"\nBy {title}: selective accuracies"
    heads = (f"{report.system}: {short}" for report in reports for short in ("GRANOLA", "standard"))
    rows = []
    for name in dict.fromkeys(name for by_name in scores for name in by_name):
        groups = [by_name.get(name) for by_name in scores]
        n = next(group.n for group in groups if group is not None)
        cells = (_estimate_cell(group.estimates[key]) if group else DASH for group in groups for key in _GROUP_METRICS)
        rows.append((id_with_label(name), f"{n:,}", *cells))
    yield TextTable(head=("group", "n", *heads), rows=rows)
