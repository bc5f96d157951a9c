"""The parts of the page about scores: every metric, where the answers stand, relations, signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from granola.report.page_tables import FEW_NOTE, few, stacked_table
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


def every_metric(reports: Sequence[ScoreReport]) -> str:
    """A row a metric: what it is in words, and every system's score with its interval and its count of questions."""

    def cell(estimate: Estimate) -> str:
        return f"{number(estimate.value)}<small>{interval(estimate)} <span>n {estimate.n}</span></small>"

    rows = [
        (
            "",
            [
                f"{escape(metric.title)}<small>{escape(metric.source.replace(_PAPER, 'the paper'))}</small>",
                *(cell(report.overall.estimates[metric.name]) for report in reports),
            ],
        )
        for metric in (reports[0].metrics if reports else ())
    ]
    return (
        f'<div class="metrics">{stacked_table(["metric", *(report.system for report in reports)], rows)}</div>'
        '<p class="soft">Small figures: the 95 % bootstrap interval over questions, and n, the questions counted.</p>'
    )


def distribution(reports: Sequence[ScoreReport]) -> str:
    """A bar a system: how many answers stand at each level, are wrong or decline."""
    columns = distribution_columns(reports) if reports else []
    out = []
    for report in reports:
        counts = [(column, report.overall.distribution.get(column, 0)) for column in columns]
        bar = "".join(
            f'<span class="{_shade(column)}" style="flex-grow:{count}"></span>' for column, count in counts if count
        )
        legend = " ".join(
            f'<span><span class="chip {_shade(column)}">{"level " if column.isdigit() else ""}{column}</span> '
            f"{share(count, report.questions)}</span>"
            for column, count in counts
            if count
        )
        out.append(
            f'<figure><figcaption>{escape(report.system)}</figcaption><div class="bar" aria-hidden="true">{bar}</div>'
            f'<div class="legend">{legend}</div></figure>'
        )
    return "".join(out)


def _shade(column: str) -> str:
    return f"s{min(int(column), 6)}" if column.isdigit() else column


def relations(report: ScoreReport) -> str:
    """A row a relation, and the means over relations and over questions; those of few questions are grey."""

    def cells(name: str, n: int, estimates: Mapping[str, Estimate]) -> list[str]:
        scores = (estimates[metric] for metric in RELATION_METRICS)
        return [escape(name), str(n), *(f"{number(e.value)}<small>{interval(e)}</small>" for e in scores)]

    rows = [
        ("few" if few(group.n) else "", cells(relation_title(name), group.n, group.estimates))
        for name, group in report.relations.items()
    ]
    note = FEW_NOTE if any(kind for kind, _ in rows) else ""
    rows += [
        ("total", cells("mean of the relations (macro; n counts relations)", len(report.relations), report.macro)),
        ("total", cells("mean of the questions (micro)", report.overall.n, report.overall.estimates)),
    ]
    head = ["relation", "n", *(SHORT_TITLES[name] for name in RELATION_METRICS)]
    return f"<h3>{escape(report.system)}</h3>{stacked_table(head, rows)}{note}"


def signatures(reports: Sequence[ScoreReport]) -> str:
    """The line of every system that lets someone repeat its scores."""
    entries = "".join(
        f"<dt>{escape(report.system)}</dt><dd><code>{escape(str(report.signature))}</code></dd>" for report in reports
    )
    return (
        '<p class="soft">The settings that lead to these scores again: matcher, ladders, snapshot, number of '
        "questions (n), how many of them have no ladder (one-level).</p>"
        f'<dl class="signatures">{entries}</dl>'
    )
