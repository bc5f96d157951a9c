"""`granola compare`: several systems against one tiered file, and which differences are real."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from granola.cli.judging import ANSWERS, JUDGE, MATCHER, TAU
from granola.cli.systems import (
    ALLOW_MISSING,
    BINS,
    BY,
    IGNORE_UNKNOWN,
    LAMBDA,
    POPULARITY,
    PREDICTIONS,
    RESAMPLES,
    SEED,
    TIERED,
    Systems,
    groups_of,
    score_systems,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from granola.aggregating import GroupScore
    from granola.comparing import Difference


def compare(
    tiered: str = TIERED,
    predictions: list[str] = PREDICTIONS,
    metric: list[str] | None = typer.Option(
        None,
        "--metric",
        help="Test this metric; may be repeated. Default: both accuracies, informativeness, selective.",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print everything as one JSON object."),
    by: str | None = BY,
    popularity: str | None = POPULARITY,
    bins: int = BINS,
    matcher: str = MATCHER,
    tau: float | None = TAU,
    judge: str | None = JUDGE,
    answers: Path | None = ANSWERS,
    lambda_: float = LAMBDA,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    allow_missing: bool = ALLOW_MISSING,
    ignore_unknown: bool = IGNORE_UNKNOWN,
) -> None:
    """Compare systems: scores side by side, paired tests with Holm's correction, and what n could show."""
    from granola.cli.output import exit_status, print_json
    from granola.comparing import COMPARED
    from granola.comparing import compare as tested
    from granola.grouping import grouped
    from granola.sweeps import risk_coverage

    found = score_systems(
        tiered,
        predictions,
        matcher=matcher,
        tau=tau,
        judge=judge,
        answers=answers,
        out=None,
        lambda_=lambda_,
        seed=seed,
        resamples=resamples,
        allow_missing=allow_missing,
        ignore_unknown=ignore_unknown,
    )
    groups = {
        title: [grouped(report, of, times=resamples, seed=seed) for report in found.reports]
        for title, of in groups_of(found.rows, by=by, popularity=popularity, bins=bins).items()
    }
    differences = tested(found.reports, metrics=metric or COMPARED, times=resamples, seed=seed)
    curves = [
        risk_coverage(report, given.predictions) for report, given in zip(found.reports, found.files, strict=True)
    ]
    areas = {
        report.system: curve.area for report, curve in zip(found.reports, curves, strict=True) if curve is not None
    }
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
                "risk_coverage_area": areas,
            },
            indent=1,
        )
    else:
        _print(found, differences, groups, areas)
    exit_status(found.rejected)


def _print(
    found: Systems,
    differences: tuple[Difference, ...],
    groups: Mapping[str, list[dict[str, GroupScore]]],
    areas: Mapping[str, float],
) -> None:
    from rich.console import Console

    from granola.report.compared import differences_table, groups_table
    from granola.report.tables import distribution_table, scores_table

    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(scores_table(found.reports))
    console.print(distribution_table(found.reports))
    if differences:
        titles = {metric.name: metric.title for metric in found.reports[0].metrics}
        console.print(differences_table(differences, titles))
    for title, scores in groups.items():
        console.print(groups_table(title, found.reports, scores))
    for system, area in areas.items():
        print(f"mean risk under the risk-coverage curve, {system}: {area:.3f} (lower is better)")
    for report in found.reports:
        print(f"signature of {report.system}: {report.signature}")
