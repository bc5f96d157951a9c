"""`granola compare`: several systems against one tiered file, and which differences are real."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from granola.cli.scoring_options import (
    BINS,
    BY,
    PAGE_VIEWS,
    PAGE_VIEWS_OF,
    POPULARITY,
    PREDICTIONS,
    TIERED,
    ScoringSettings,
    with_scoring,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from granola.cli.scored_systems import Systems
    from granola.scoring.aggregation import GroupScore
    from granola.scoring.sweeps import RiskCoverage
    from granola.scoring.system_comparison import Difference


@with_scoring
def compare(
    tiered: str = TIERED,
    predictions: list[str] = PREDICTIONS,
    metric: list[str] | None = typer.Option(
        None,
        "--metric",
        help="Test this metric; may be repeated. Default: both accuracies, selective and not, and informativeness.",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print everything as one JSON object."),
    by: list[str] | None = BY,
    popularity: list[str] | None = POPULARITY,
    page_views: str | None = PAGE_VIEWS,
    page_views_of: str = PAGE_VIEWS_OF,
    bins: int | None = BINS,
    *,
    settings: ScoringSettings,
) -> None:
    """Compare systems: scores side by side, paired tests with Holm's correction, and what n could show."""
    from granola.cli.output import exit_status, note, print_json
    from granola.cli.scored_systems import groupings, groups_of, score_systems, with_popularity
    from granola.scoring.grouping import grouped
    from granola.scoring.sweeps import item_f1, lambda_sweep, risk_coverage, tau_sweep
    from granola.scoring.system_comparison import COMPARED, check_metrics, permutations_needed
    from granola.scoring.system_comparison import compare as tested

    tested_metrics = tuple(dict.fromkeys(metric or COMPARED))
    check_metrics(tested_metrics)
    groupings(by, [*(popularity or ()), *([page_views] if page_views else ())], bins)
    found = score_systems(tiered, predictions, settings)
    rows = found.rows
    if page_views is not None:
        rows, popularity = with_popularity(rows, popularity, page_views, page_views_of)
    asked = groupings(by, popularity, bins)
    groups = {
        one.title: [grouped(report, of, times=settings.resamples, seed=settings.seed) for report in found.reports]
        for one, of in groups_of(rows, asked).items()
    }
    differences = tested(found.reports, metrics=tested_metrics, times=settings.resamples, seed=settings.seed)
    if (needed := permutations_needed(len(found.reports))) > settings.resamples:
        note(
            f"{settings.resamples} permutations cannot take a p below 0.05 after the correction for so many pairs of "
            f"systems; give --resamples {needed} or more"
        )
    curves = [
        risk_coverage(report, given.predictions) for report, given in zip(found.reports, found.files, strict=True)
    ]
    sure = {report.system: curve for report, curve in zip(found.reports, curves, strict=True) if curve is not None}
    if as_json:
        print_json(
            {
                "schema_version": 1,
                "systems": [report.to_json() for report in found.reports],
                "differences": [difference.to_json() for difference in differences],
                "groups": {
                    title: {
                        report.system: {name: group.to_json() for name, group in by_name.items()}
                        for report, by_name in zip(found.reports, scores, strict=True)
                    }
                    for title, scores in groups.items()
                },
                "risk_coverage_area": {system: curve.area for system, curve in sure.items()},
                "risk_coverage": {system: curve.to_json() for system, curve in sure.items()},
                "lambda_sweep": {
                    report.system: [point.to_json() for point in lambda_sweep(report)] for report in found.reports
                },
                "tau_sweep": {
                    report.system: [
                        point.to_json()
                        for point in tau_sweep(
                            item_f1(found.rows, given.predictions, report.signature.standard), lambda_=settings.lambda_
                        )
                    ]
                    for report, given in zip(found.reports, found.files, strict=True)
                },
            },
            indent=1,
        )
    else:
        _print(found, differences, groups, sure)
    exit_status(found.rejected)


def _print(
    found: Systems,
    differences: tuple[Difference, ...],
    groups: Mapping[str, list[dict[str, GroupScore]]],
    sure: Mapping[str, RiskCoverage],
) -> None:
    from rich.console import Console

    from granola.report.comparison_tables import differences_table, group_tables
    from granola.report.score_tables import distribution_table, macro_table, score_tables

    console = Console(width=None if sys.stdout.isatty() else 160)
    for table in score_tables(found.reports, console.width):
        console.print(table)
    if any(report.macro for report in found.reports):
        console.print(macro_table(found.reports))
    console.print(distribution_table(found.reports))
    if differences:
        titles = {metric.name: metric.title for metric in found.reports[0].metrics}
        console.print(differences_table(differences, titles))
    for title, scores in groups.items():
        for table in group_tables(title, found.reports, scores, console.width):
            console.print(table)
    for system, curve in sure.items():
        print(
            f"mean risk under the risk-coverage curve, {system}: {curve.area:.3f} (lower is better) over the "
            f"{curve.covered} of {curve.n} questions answered with a confidence"
        )
    for report in found.reports:
        print(f"signature of {report.system}: {report.signature}")
