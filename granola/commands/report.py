"""`granola report` and `granola curve`: systems as a page with figures, and scores by the support demanded."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.base.faults import OnReject, RejectedRow
from granola.base.run_record import record_of, write_run_record
from granola.base.settings import Setting
from granola.base.terminal_lines import TextTable, show_lines
from granola.commands.command import Command
from granola.commands.messages import count, note, report_rejects, warn_of_snapshot_gaps
from granola.commands.output import is_csv_raw, lock_output, writing
from granola.commands.score import GroupSettings, ScoringSettings, SystemFiles, grouped_scores, score_systems
from granola.decoding.decision import ResponseLanguage
from granola.errors import UsageError
from granola.scoring.shared_settings import LINKED_TO, Force, Samples, Tiered, check_language
from granola.scoring.statistics import Estimate
from kg.base.files import atomic_path
from kg.store import open_store

if TYPE_CHECKING:
    from granola.decoding.support_curve import Outcomes
    from granola.report.study import Study
    from granola.scoring.grouping import GroupedScores
    from granola.scoring.system_comparison import ScoredSystems


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
class Curve(Command["Curves"]):
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
        """Aggregate, score and draw the curves. Raises UsageError, and PredictionError for a file without ladders."""
        from granola.decoding.support_curve import least_support_reaching, support_curves
        from granola.report.charts import Panel, estimates_figure, figure_format

        check_language(self.language)
        # Checked before the long aggregation.
        format = None if self.figure is None else figure_format(self.figure, "--figure")
        rejected: list[RejectedRow] = []
        with writing(self.figure, inputs=[self.samples, self.tiered], force=self.force, option="--figure"):
            outcomes = self._outcomes_by_aggregation_rule(rejected.append)
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
            reaching = {rule: least_support_reaching(self.precision, of_rule) for rule, of_rule in outcomes.items()}
        return Curves(outcomes=outcomes, curves=curves, rejected=rejected, reaching=reaching)

    def _outcomes_by_aggregation_rule(self, on_reject: OnReject) -> dict[str, Outcomes]:
        from granola.decoding.response_aggregation import Aggregator
        from granola.decoding.samples import read_samples
        from granola.decoding.support_curve import outcomes_by_support
        from granola.matching import matcher
        from granola.scoring.tiered_file import read_tiered_file

        rows = read_samples(self.samples, on_reject=on_reject)
        ladders = {row.id: row for row in read_tiered_file(self.tiered).rows}
        # The rules need no model, so that the curve is reproducible.
        rules = matcher("rules", language=self.language)
        with closing(open_store(self.snapshot)) as store:
            warn_of_snapshot_gaps(store, self.language)
            aggregator = Aggregator(store, language=self.language)
            outcomes = outcomes_by_support(rows, ladders, aggregator, rules, on_reject=on_reject)
        # No shared ids: the curve would be empty.
        if not all(outcomes.values()):
            raise UsageError(f"no row of {self.samples} has the id of a row of {self.tiered}; give its own tiered rows")
        return outcomes

    def show(self, result: Curves) -> None:
        """Print a table for each rule, and the support that reaches the requested precision."""
        from granola.decoding.support_curve import SUPPORTS

        for rule, outcomes in result.outcomes.items():
            columns = [[_estimate_cell(estimate) for _, estimate in lines[rule]] for lines in result.curves.values()]
            rows = list(zip((f"{support:g}" for support in SUPPORTS), *columns, strict=True))
            table = TextTable(head=("support", *result.curves), rows=rows, words=(1, 2, 3))
            show_lines(f"{rule}, {count(len(outcomes), 'question')}", table)
            if (least := result.reaching.get(rule)) is not None:
                reached = "no support" if math.isnan(least.value) else f"support {_estimate_cell(least)}"
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


def _estimate_cell(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return "-"
    return f"{estimate.value:.3f} [{estimate.interval.low:.3f}, {estimate.interval.high:.3f}]"


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnReport:
    """The files of a report: its page and all others, with names relative to the folder."""

    page: Path
    files: Sequence[str]
    rejected: Sequence[RejectedRow]


@dataclass(frozen=True, kw_only=True)
class Report(Command["DrawnReport"], GroupSettings, ScoringSettings):
    """Draw the paper's figures for one's own systems: one HTML page, and every figure and table as files.

    Without predictions the page shows the ladders, to be filtered, sorted and searched.
    """

    tiered: Tiered
    predictions: SystemFiles = ()
    out: Annotated[
        Path,
        Setting("A folder for report.html, figures (SVG, PNG) and tables (CSV).", metavar="FOLDER", recorded=False),
    ]
    force: Force = False
    colour: Annotated[
        str | None,
        Setting(
            "Colour the points of token-F1, and order examples, by this number of the predictions.",
            metavar="SCORE",
            advanced=True,
        ),
    ] = None

    def run(self) -> DrawnReport:
        """Score, draw and write. Raises UsageError for a folder with other content."""
        from granola.report.charts import check_matplotlib
        from granola.report.study import PAGE, report_files, write_report

        if self.predictions:
            check_matplotlib()  # before scoring, which may take minutes
        arguments, inputs, more = dict(self.arguments()), [self.tiered], dict[str, Any]()
        with lock_output(self.out):
            earlier = _earlier_report_files(self.out, force=self.force)
            if self.predictions:
                systems = score_systems(self.tiered, self.predictions, self, out=self.out / PAGE)
                groups = grouped_scores(systems, self, self, by_popularity=True)
                study = self._make_study(systems, groups)
                rejected, files = systems.rejected, report_files(study, csv_raw=is_csv_raw())
                arguments |= {**self.resolved_settings(), "bins": groups.bins}
                inputs += [*self.predictions, *map(str, self.page_view_files)]
                more["signatures"] = {report.system: str(report.signature) for report in systems.reports}
            else:
                page, rejected = ladders_page(self.tiered)
                files = {PAGE: page.encode()}
            # Figures of an earlier report that the new one lacks are removed.
            write_report(files, self.out, earlier=earlier)
            # The next report removes exactly these files.
            more["files"] = list(files)
            write_run_record(self.out / PAGE, command=self.verb, arguments=arguments, inputs=inputs, more=more)
        return DrawnReport(page=self.out / PAGE, files=list(files), rejected=rejected)

    def _make_study(self, systems: ScoredSystems, groups: GroupedScores) -> Study:
        """The study that the report shows. Raises UsageError for a --colour that no prediction has."""
        from granola.report.score_page import shown_rows_with_evidence
        from granola.report.study import Study
        from granola.scoring.system_comparison import compare

        if self.colour is not None:
            # Most unknown names are typing errors.
            every = (given for file in systems.files for given in file.predictions.values())
            known = sorted({name for given in every for name in given.scores})
            if self.colour not in known:
                near = difflib.get_close_matches(self.colour, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; they have {', '.join(known) or 'none'}"
                raise UsageError(f"no prediction has a number under {self.colour!r}{hint}")
        return Study(
            rows=groups.rows,
            files=systems.files,
            reports=systems.reports,
            lambda_=self.lambda_,
            differences=compare(systems.reports, resamples=self.resamples),
            groups=groups.scores,
            coloured=self.colour,
            evidence=shown_rows_with_evidence(self.tiered, groups.rows),
        )

    def show(self, result: DrawnReport) -> None:
        """Print the path of the page."""
        note(f"{result.page}: {count(len(result.files), 'file')}")


def ladders_page(tiered: str) -> tuple[str, list[RejectedRow]]:
    """Return (HTML page of the ladders of a file, with filter, sorting and search; rejected rows).

    Raises UsageError without any usable row.
    """
    from abstraction.files.rows import read_tiered
    from granola.report.score_page import render
    from granola.scoring.tiered_file import snapshot_of

    rejected: list[RejectedRow] = []
    rows = list(read_tiered(tiered, on_reject=rejected.append))
    report_rejects(tiered, rejected)
    if not rows:
        raise UsageError(f"{tiered} has no tiered row; make one with granola tiers")
    return render(rows, (), snapshot_of(tiered), title="GRANOLA ladders"), rejected


def _earlier_report_files(out: Path, *, force: bool) -> list[str]:
    """The files of an earlier report in the folder, which the new one replaces.

    Raises UsageError for a file, and for a folder with other content.
    """
    from granola.report.study import FIGURES, PAGE, TABLES

    if not out.is_dir():
        if out.exists() or out.is_symlink():
            raise UsageError(f"{out} is no folder; --out takes one, which is made")
        return []
    record = record_of(out / PAGE)
    earlier = record.get("command") == "report"
    if earlier and not force:
        raise UsageError(f"{out} holds a report; give --force to replace it, or another --out")
    # Without its page, which is written last: an interrupted report.
    if not earlier and {entry.name for entry in out.iterdir()} - {FIGURES, TABLES}:
        raise UsageError(f"{out} is not empty and holds no earlier report; give --out a folder of its own")
    files = record.get("files")
    return [name for name in files if isinstance(name, str)] if isinstance(files, list) else []
