"""The parts of the page about scores: every metric, where the answers stand, relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from granola.report.page_tables import PageTable, TableCell, TableRow, few, texts
from granola.report.score_tables import (
    RELATION_METRICS,
    SHORT_TITLES,
    distribution_columns,
    interval,
    number,
    relation_title,
    share,
)
from granola.scoring.aggregation import Estimate
from granola.scoring.scores import ScoreReport

_PAPER = "Yona et al. 2024"


@dataclass(frozen=True, kw_only=True, slots=True)
class DistributionPart:
    """How many answers stand at one level, are wrong or decline; `shade` is its class in the style."""

    shade: str
    words: str
    count: int
    share: str


def every_metric(reports: Sequence[ScoreReport]) -> PageTable:
    """A row a metric: what it is in words, and every system's score with its interval and its count of questions."""
    return PageTable(
        head=["metric", *(report.system for report in reports)],
        rows=[
            TableRow(
                cells=[
                    TableCell(text=metric.title, small=metric.source.replace(_PAPER, "the paper")),
                    *(
                        TableCell(text=number(score.value), small=interval(score), n=score.n)
                        for score in (report.overall.estimates[metric.name] for report in reports)
                    ),
                ]
            )
            for metric in reports[0].metrics
        ],
    )


def distributions(reports: Sequence[ScoreReport]) -> list[tuple[str, list[DistributionPart]]]:
    """By system, how many answers stand at each level, are wrong or decline; none of nought."""
    columns = distribution_columns(reports) if reports else []
    return [
        (
            report.system,
            [
                DistributionPart(
                    shade=f"s{min(int(column), 6)}" if column.isdigit() else column,
                    words=f"level {column}" if column.isdigit() else column,
                    count=count,
                    share=share(count, report.questions),
                )
                for column in columns
                if (count := report.overall.distribution.get(column, 0))
            ],
        )
        for report in reports
    ]


def relations(report: ScoreReport) -> PageTable:
    """A row a relation, and the means over relations and over questions; those of few questions are grey."""

    def cells(name: str, n: int, estimates: Mapping[str, Estimate]) -> list[TableCell]:
        scores = (estimates[metric] for metric in RELATION_METRICS)
        return [*texts(name, str(n)), *(TableCell(text=number(e.value), small=interval(e)) for e in scores)]

    rows = [
        TableRow(kind="few" if few(group.n) else "", cells=cells(relation_title(name), group.n, group.estimates))
        for name, group in report.relations.items()
    ]
    macro = cells("mean of the relations (macro; n counts relations)", len(report.relations), report.macro)
    micro = cells("mean of the questions (micro)", report.overall.n, report.overall.estimates)
    totals = [TableRow(kind="total", cells=mean) for mean in (macro, micro)]
    return PageTable(head=["relation", "n", *(SHORT_TITLES[name] for name in RELATION_METRICS)], rows=[*rows, *totals])
