"""`granola curve`: precision, coverage and bits by required support, on questions with known ladders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from granola.base.settings import Setting
from granola.base.terminal_lines import TextTable, show_lines
from granola.commands.command import Command
from granola.commands.messages import count, report_rejects, warn_of_language
from granola.commands.output import writing
from granola.decoding.methods import ResponseLanguage
from granola.errors import UsageError
from granola.scoring.shared_settings import LINKED_TO, Force, Samples, check_language

if TYPE_CHECKING:
    from abstraction.base.faults import OnReject, RejectedRow
    from granola.decoding.support_curve import Outcomes
    from granola.scoring.aggregation import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Curves:
    """The outcomes by rule; the curves by metric and rule; the rejected rows.

    `reaching`: by rule, the support that reaches the requested precision, NaN where none does.
    """

    outcomes: Mapping[str, Outcomes]
    curves: Mapping[str, Mapping[str, Sequence[tuple[float, Estimate]]]]
    rejected: Sequence[RejectedRow]
    reaching: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Curve(Command[Curves]):
    """Show precision, coverage and bits of answers by the support that they must have, with 95 % intervals.

    For drag-graph, and self-consistency of what follows (ladder) and of words, where the ladders are known.
    """

    samples: Samples
    tiered: Annotated[str, Setting("The tiered rows of these questions, by id.", metavar="FILE")]
    snapshot: Annotated[str, Setting(LINKED_TO)]
    precision: Annotated[
        float | None, Setting("Report the support that reaches this share of right answers.", least=0, most=1)
    ] = None
    figure: Annotated[
        Path | None, Setting("Draw the curves here, as SVG, PNG or PDF by the name's end.", metavar="FILE")
    ] = None
    force: Force = False
    language: ResponseLanguage = "en"

    def run(self) -> Curves:
        """Aggregate, score and draw. Raises UsageError, and PredictionError for a file without ladders."""
        from granola.decoding.support_curve import support_curves, support_reaching
        from granola.report.drawing.charts import Panel, estimates_figure
        from granola.report.drawing.style import format_of
        from kg.base.files import atomic_path

        check_language(self.language)
        # Checked before the long aggregation.
        format = None if self.figure is None else format_of(self.figure, "--figure")
        rejected: list[RejectedRow] = []
        with writing(self.figure, inputs=[self.samples, self.tiered], force=self.force, asked="--figure"):
            outcomes = self._outcomes(rejected.append)
            curves = support_curves(outcomes)
            if self.figure is not None and format is not None:
                panels = [
                    Panel(name=name, across="support", score=name, lines=lines, is_share=name != "bits")
                    for name, lines in curves.items()
                ]
                with atomic_path(self.figure) as temporary:
                    temporary.write_bytes(estimates_figure(panels, format))
        reaching: dict[str, Estimate] = {}
        if self.precision is not None:
            reaching = {rule: support_reaching(self.precision, of_rule) for rule, of_rule in outcomes.items()}
        return Curves(outcomes=outcomes, curves=curves, rejected=rejected, reaching=reaching)

    def _outcomes(self, on_reject: OnReject) -> dict[str, Outcomes]:
        from granola.decoding import Aggregator, read_samples
        from granola.decoding.support_curve import support_outcomes
        from granola.matching import matcher
        from granola.scoring.tiered_file import read_tiered_file
        from kg.store import open_store

        rows = read_samples(self.samples, on_reject=on_reject)
        ladders = {row.id: row for row in read_tiered_file(self.tiered).rows}
        # The rules need no model, so that the curve is reproducible.
        rules = matcher("rules", language=self.language)
        with closing(open_store(self.snapshot)) as store:
            warn_of_language(self.language, store)
            aggregator = Aggregator(store, language=self.language)
            outcomes = support_outcomes(rows, ladders, aggregator, rules, on_reject=on_reject)
        # No shared ids: the curve would be empty.
        if not all(outcomes.values()):
            raise UsageError(f"no row of {self.samples} has the id of a row of {self.tiered}; give its own tiered rows")
        return outcomes

    def show(self, result: Curves) -> None:
        """Print a table for each rule, and the support that reaches the requested precision."""
        from granola.decoding.support_curve import SUPPORTS

        for rule, outcomes in result.outcomes.items():
            columns = [[_cell(estimate) for _, estimate in lines[rule]] for lines in result.curves.values()]
            rows = list(zip((f"{support:g}" for support in SUPPORTS), *columns, strict=True))
            table = TextTable(head=("support", *result.curves), rows=rows, words=(1, 2, 3))
            show_lines(f"{rule}, {count(len(outcomes), 'question')}", table)
            if (least := result.reaching.get(rule)) is not None:
                reached = "no support" if math.isnan(least.value) else f"support {_cell(least)}"
                show_lines(f"precision {self.precision:g} is reached with {reached}")

    def json_result(self, result: Curves) -> Any:
        """The tables as JSON."""
        tables = {
            name: {rule: [{"support": at, **one.to_json()} for at, one in line] for rule, line in lines.items()}
            for name, lines in result.curves.items()
        }
        return tables | ({"support_reaching_precision": result.reaching} if result.reaching else {})

    def report_problems(self, result: Curves) -> None:
        """The rejected rows."""
        report_rejects(self.samples, result.rejected)


def _cell(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return "-"
    return f"{estimate.value:.3f} [{estimate.interval.low:.3f}, {estimate.interval.high:.3f}]"
