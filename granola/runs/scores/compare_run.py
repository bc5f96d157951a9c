"""`granola compare`: several systems against one tiered file, and which differences are real."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.runs.scores.group_scores import check_groups, grouped_scores
from granola.runs.scores.scored_systems import Systems, score_systems
from granola.runs.scores.scoring_settings import GroupSettings, ScoringSettings, SystemFiles
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson, Tiered

if TYPE_CHECKING:
    from granola.scoring.aggregation import GroupScore
    from granola.scoring.sweeps import RiskCoverage
    from granola.scoring.system_comparison import Difference


@dataclass(frozen=True, kw_only=True)
class CompareRun(Run, GroupSettings, ScoringSettings):
    """Compare systems: scores side by side, paired tests with Holm's correction, and what n could show."""

    verb: ClassVar[str] = "compare"

    tiered: Tiered
    predictions: SystemFiles
    metric: Annotated[
        tuple[str, ...],
        Setting("Test this metric; may be repeated. Default: both accuracies, selective and not, and informativeness."),
    ] = ()
    as_json: AsJson = False

    def run(self) -> Compared:
        """Score every system and test each pair. Raises MatcherError, UsageError."""
        from granola.runs.outputs import note
        from granola.scoring.sweeps import risk_coverage
        from granola.scoring.system_comparison import COMPARED, check_metrics, compare, permutations_needed

        metrics = tuple(dict.fromkeys(self.metric or COMPARED))
        check_metrics(metrics)
        check_groups(self)
        systems = score_systems(self.tiered, self.predictions, self)
        groups = grouped_scores(systems, self, self, popular=self.page_views is not None)
        differences = compare(systems.reports, metrics=metrics, resamples=self.resamples, seed=self.seed)
        if (needed := permutations_needed(len(systems.reports))) > self.resamples:
            note(
                f"{self.resamples} permutations cannot take a p below 0.05 after the correction for so many pairs of "
                f"systems; give --resamples {needed} or more"
            )
        curves = [
            risk_coverage(report, file.predictions) for report, file in zip(systems.reports, systems.files, strict=True)
        ]
        sure = {
            report.system: curve for report, curve in zip(systems.reports, curves, strict=True) if curve is not None
        }
        return Compared(
            settings=self,
            systems=systems,
            differences=differences,
            groups={grouping.title: scores for grouping, scores in groups.scores.items()},
            curves=sure,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """Systems beside each other: scores, differences by metric and pair, scores by group, risk by coverage."""

    settings: CompareRun
    systems: Systems
    differences: Sequence[Difference]
    groups: Mapping[str, list[dict[str, GroupScore]]]
    curves: Mapping[str, RiskCoverage]

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.systems.rejected)

    def show(self) -> None:
        """Tables, or everything as JSON."""
        from granola.runs.outputs import print_json

        if self.settings.as_json:
            print_json(self.to_json(), indent=1)
        else:
            self._print_tables()

    def to_json(self) -> dict[str, Any]:
        """Everything, with the sweeps of lambda and of the threshold of token-F1."""
        from granola.scoring.sweeps import item_f1, lambda_sweep, tau_sweep

        systems, weight = self.systems, self.settings.lambda_
        thresholds = {
            report.system: tau_sweep(
                item_f1(systems.rows, file.predictions, report.signature.standard), lambda_=weight
            )
            for report, file in zip(systems.reports, systems.files, strict=True)
        }  # fmt: skip
        return {
            "schema_version": 1,
            "systems": [report.to_json() for report in systems.reports],
            "differences": [difference.to_json() for difference in self.differences],
            "groups": {
                title: {
                    report.system: {name: group.to_json() for name, group in by_name.items()}
                    for report, by_name in zip(systems.reports, scores, strict=True)
                }
                for title, scores in self.groups.items()
            },
            "risk_coverage_area": {system: curve.area for system, curve in self.curves.items()},
            "risk_coverage": {system: curve.to_json() for system, curve in self.curves.items()},
            "lambda_sweep": {
                report.system: [point.to_json() for point in lambda_sweep(report)] for report in systems.reports
            },
            "tau_sweep": {system: [point.to_json() for point in points] for system, points in thresholds.items()},
        }

    def _print_tables(self) -> None:
        from rich.console import Console

        from granola.report.comparison_tables import differences_tables, group_tables
        from granola.report.score_tables import distribution_tables, macro_tables, score_tables
        from granola.terminal_lines import show_lines

        reports = self.systems.reports
        console = Console(width=None if sys.stdout.isatty() else 160)
        titles = {metric.name: metric.title for metric in reports[0].metrics}
        for table in (
            *score_tables(reports, console.width),
            *(macro_tables(reports, console.width) if any(report.macro for report in reports) else ()),
            *distribution_tables(reports, console.width),
            *differences_tables(self.differences, titles, console.width),
        ):
            console.print(table)
        for title, scores in self.groups.items():
            for table in group_tables(title, reports, scores, console.width):
                console.print(table)
        for system, curve in self.curves.items():
            show_lines(
                f"mean risk under the risk-coverage curve, {system}: {curve.area:.3f} (lower is better) over the "
                f"{curve.covered} of {curve.n} questions answered with a confidence"
            )
        for report in reports:
            print(f"signature of {report.system}: {report.signature}")
