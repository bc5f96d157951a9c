"""`granola curve`: what more demanded support brings, on questions whose ladders are known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from granola.commands.command import Command
from granola.commands.messages import count, print_json, report_rejects
from granola.commands.output import writing
from granola.errors import UsageError
from granola.settings import Setting
from granola.shared_settings import LINKED_TO, AsJson, Force, Samples
from granola.terminal_lines import TextTable, show_lines

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow
    from granola.decoding.support_curve import Outcomes
    from granola.scoring.aggregation import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Curves:
    """What answers are at each support, by rule; precision, coverage and bits there, and what was rejected."""

    outcomes: Mapping[str, Outcomes]
    points: Mapping[str, Mapping[float, Mapping[str, Estimate]]]
    rejected: Sequence[RejectedRow]


@dataclass(frozen=True, kw_only=True)
class Curve(Command[Curves]):
    """Show precision, coverage and bits of answers by the support that they must have, with 95 % intervals.

    For drag-graph and self-consistency, on samples to questions whose ladders are known.
    """

    samples: Samples
    tiered: Annotated[str, Setting("The tiered rows of these questions, by id.", metavar="FILE")]
    snapshot: Annotated[str, Setting(LINKED_TO)]
    precision: Annotated[
        float | None, Setting("Say which support reaches this share of right answers.", least=0, most=1)
    ] = None
    figure: Annotated[
        Path | None, Setting("Draw the curves here, as SVG, PNG or PDF by the name's end.", metavar="FILE")
    ] = None
    force: Force = False
    language: Annotated[str, Setting("Language of the responses and of the predictions.")] = "en"
    as_json: AsJson = False

    def run(self) -> Curves:
        """Aggregate and score. Raises UsageError, and PredictionError for a file without ladders."""
        from granola.decoding import Aggregator, read_samples
        from granola.decoding.support_curve import METRICS, curve_of, support_outcomes
        from granola.figures.charts import Panel, estimates_figure
        from granola.matching import matcher
        from granola.scoring.tiered_file import read_tiered_file
        from kg.store import open_store

        rejected: list[RejectedRow] = []
        rows = read_samples(self.samples, on_reject=rejected.append)
        ladders = {row.id: row for row in read_tiered_file(self.tiered).rows}
        rules = matcher("rules", language=self.language)
        with closing(open_store(self.snapshot)) as store:
            aggregator = Aggregator(store, language=self.language)
            outcomes = support_outcomes(rows, ladders, aggregator, rules, on_reject=rejected.append)
        if not all(outcomes.values()):
            raise UsageError(f"no row of {self.samples} has the id of a row of {self.tiered}; give its own tiered rows")
        points = {rule: curve_of(of_rule) for rule, of_rule in outcomes.items()}
        if self.figure is not None:
            panels = [
                Panel(name=name, across="support", score=name, is_share=name != "bits",
                      lines={rule: [(at, one[name]) for at, one in curve.items()] for rule, curve in points.items()})
                for name in METRICS
            ]  # fmt: skip
            with writing(self.figure, inputs=[self.samples, self.tiered], force=self.force, asked="--figure"):
                self.figure.write_bytes(estimates_figure(panels, self.figure.suffix[1:]))
        return Curves(outcomes=outcomes, points=points, rejected=rejected)

    def show(self, result: Curves) -> None:
        """A table a rule, and the support that is wanted; or the tables as JSON."""
        from granola.decoding.support_curve import METRICS, support_reaching

        if self.as_json:
            told = {
                rule: [{"support": support} | {name: one.to_json() for name, one in estimates.items()}
                       for support, estimates in points.items()]
                for rule, points in result.points.items()
            }  # fmt: skip
            print_json({"schema_version": 1, "curves": told}, indent=1)
        for rule, points in {} if self.as_json else result.points.items():
            rows = [(f"{support:g}", *map(_told, estimates.values())) for support, estimates in points.items()]
            table = TextTable(head=("support", *METRICS), rows=rows, words=(1, 2, 3))
            show_lines(f"{rule}, {count(len(result.outcomes[rule]), 'question')}", table)
            if self.precision is not None:
                least = support_reaching(self.precision, result.outcomes[rule])
                reached = "no support" if math.isnan(least.value) else f"support {_told(least)}"
                show_lines(f"precision {self.precision:g} is reached with {reached}")
        report_rejects(self.samples, result.rejected)


def _told(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return "-"
    return f"{estimate.value:.3f} [{estimate.interval.low:.3f}, {estimate.interval.high:.3f}]"
