"""`granola verdicts`: scores, slices and tests of verdicts of any task, and tables and figures of the papers."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.base.faults import RejectedRow
from abstraction.files.writing import write_records
from granola.base.run_record import SUFFIX as RECORD_SUFFIX
from granola.base.run_record import write_run_record
from granola.base.settings import Setting
from granola.base.terminal_lines import Part, TextTable, Verbatim, show_lines
from granola.commands.command import Command
from granola.commands.messages import count, paired_test_line, print_json, report_rejects
from granola.commands.output import writing
from granola.errors import UsageError
from granola.scoring.shared_settings import Force, Resamples
from granola.scoring.statistics import Estimate
from kg.base.files import atomic_path

if TYPE_CHECKING:
    from granola.evidence.evidence_task import Report
    from granola.evidence.knowledge import knowledge_task
    from granola.evidence.verdict_rows import FilledTable, ItemFigure, JudgePool, VerdictRows
    from granola.report.charts import Panel
    from granola.scoring.system_comparison import Difference

# file endings by kind of output
FIGURES, TABLES, ROWS = (".svg", ".png", ".pdf"), (".tex", ".csv"), (".jsonl",)


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictsReport:
    """The report on files of verdicts: scores by system, slices, tests, and further requested parts."""

    signature: str
    report: Report = field(default_factory=dict)
    unjudged: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    judges: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lacking: str = ""
    panels: Sequence[Panel] = ()
    tests: Sequence[Difference] = ()
    table: FilledTable | None = None
    pool: JudgePool | None = None
    chosen: knowledge_task.ChosenTexts | None = None
    associations: Sequence[knowledge_task.Association] = ()
    notes: Sequence[str] = ()
    counts: Mapping[str, Any] = field(default_factory=dict)
    files: Sequence[Path] = ()
    rejected: Sequence[RejectedRow] = ()

    def parts(self) -> Iterator[Part]:
        """Yield tables with headings, then the signature."""
        if self.pool is not None:
            yield f"{count(len(self.pool.rows), 'item')}, {len(self.pool.judges)} judges"
            yield from map(Verbatim, self.pool.judges)
            agreement = [
                (name, f"{one['n']:,}", f"{one['agree']:.4f}", "-" if one["kappa"] is None else f"{one['kappa']:.3f}")
                for name, one in self.pool.agreement.items()
            ]
            yield TextTable(head=("agreement", "n", "all agree", "kappa"), rows=agreement)
        if self.chosen is not None:
            gamma = ", ".join(f"{value:.3f}" for value in self.chosen.gamma)
            yield f"{count(len(self.chosen.rows), 'text')} chosen; coefficients {gamma}; gain over a random choice"
            yield _estimates_table(self.chosen.gains)
        if self.table is not None:
            yield self.table.text()
            if self.table.printed and self.table.table.note:
                yield self.table.table.note
        else:
            yield from self._score_parts()
        for panel in self.panels:
            yield f"{panel.score} by {panel.across}"
            yield TextTable(
                rows=[
                    (line, str(place), *_estimate_cells(one)) for line, own in panel.lines.items() for place, one in own
                ],
                words=(1, 3, 4), keys=2, indent=2,
            )  # fmt: skip
        for test in self.tests:
            yield paired_test_line(test)
            judges, others = (self.judges.get(name) for name in (test.first, test.second))
            # Different judges may differ more than the systems do.
            if judges != others and judges != [test.first]:
                yield "  not judged alike, so the difference may be the judges': the signature names them"
        if self.associations:
            rows = [
                (one.system, one.independent, one.dependent,
                 *("-" if math.isnan(x) else f"{x:.3f}" for x in (one.d, one.p)), f"{one.n:,}")
                for one in self.associations
            ]  # fmt: skip
            head = ("system", "independent", "dependent", "D", "p", "n")
            yield TextTable(head=head, rows=rows, words=(1, 2), keys=3)
        yield from self.notes
        yield Verbatim(self.signature)

    def _score_parts(self) -> Iterator[Part]:
        for name, scores in self.report.items():
            lacking = ", ".join(f"{number:,} {what}" for what, number in self.unjudged.get(name, {}).items())
            yield f"{name}{f'; without a verdict that was asked for: {lacking}' if lacking else ''}"
            yield _estimates_table({score: one for score, one in scores.items() if one.n})
            # Scores without values are listed by name, so that they do not pass for zero.
            if empty := [score for score, one in scores.items() if not one.n]:
                yield f"  n 0: {', '.join(empty)}{f'; {self.lacking}' if self.lacking else ''}"

    def to_json(self) -> dict[str, Any]:
        """The whole report as JSON."""
        slices = {
            panel.name: {line: {str(place): one for place, one in own} for line, own in panel.lines.items()}
            for panel in self.panels
        }
        there = {
            "systems": self.report, "unjudged": self.unjudged, "judges": self.judges, "slices": slices,
            "tests": self.tests, "table": self.table, "agreement": self.pool and self.pool.agreement,
            "coefficients": self.chosen and self.chosen.gamma, "gains": self.chosen and self.chosen.gains,
            "somers_d": self.associations, "notes": self.notes,
        }  # fmt: skip
        given = {name: value for name, value in there.items() if value}
        return {"signature": self.signature, **self.counts, **given, "files": list(map(str, self.files))}


@dataclass(frozen=True, kw_only=True)
class Verdicts(Command["VerdictsReport"]):
    """Show the scores of judged items, with intervals and paired tests of systems, overall or by slice.

    JUDGED are of one task: what attribution evaluate, grounding judge, knowledge judge or sheets read wrote. Of
    questions with passages it shows counts.
    """

    judged: Annotated[
        tuple[Path, ...], Setting("Rows with verdicts, of one task.", metavar="JUDGED...", positional=True)
    ]
    by: Annotated[
        tuple[str, ...],
        Setting("Also by a field or tag, as source, popularity, complexity; relevant_share is cut in thirds."),
    ] = ()
    score: Annotated[
        tuple[str, ...],
        Setting("The score that is sliced, tested and drawn (default: the task's main one); a field with a number."),
    ] = ()
    table: Annotated[
        str | None,
        Setting("Show the scores in a paper's columns: garage, garage-2 to -4, conner-2, -3, caqa-5, -6, -7, -15."),
    ] = None
    printed: Annotated[bool, Setting("The paper's own rows, too.")] = False
    figure: Annotated[
        str | None, Setting("Slice as a paper's figure: garage-3, -4 (of questions), garage-5, -6, conner-2 to -4.")
    ] = None
    out: Annotated[
        Path | None,
        Setting(
            "Write the figure (.svg, .png, .pdf; what is drawn beside it as CSV), the table (.tex, .csv), or the rows "
            "that were pooled or chosen (.jsonl)."
        ),
    ] = None
    pool: Annotated[
        bool, Setting("Pool judges of the same items: labels by majority, numbers by mean; show how far they agree.")
    ] = False
    best: Annotated[
        str | None,
        Setting("Choose texts by Q: each (the best candidate of each id), 8, or 8/30 (8 of 30 that are drawn)."),
    ] = None
    quality: Annotated[
        str | None,
        Setting("The four coefficients of Q, parted by commas. Default: 0.25 each.", advanced=True),
    ] = None  # fmt: skip
    correlate: Annotated[
        bool,
        Setting("Somers' D of knowledge scores with people's ratings, if JUDGED has some; else with the extrinsic."),
    ] = False
    rule: Annotated[
        tuple[str, ...],
        Setting(
            "What GaRAGe's paper leaves open: over=all, deflecting=fails or left-out, bands=0.3,0.7. May be "
            "given again.",
            metavar="NAME=VALUE",
        ),
    ] = ()
    resamples: Resamples = 1_000
    force: Force = False

    def run(self) -> VerdictsReport:
        """Read the verdicts, score them and write the output. Raises UsageError for contradictory settings, and for
        nothing to show.
        """
        from granola.evidence.evidence_task import EstimateSettings
        from granola.evidence.grounding import grounded_rows
        from granola.evidence.verdict_rows import VerdictRows, read_verdicts

        self._check_options()
        rejected: list[RejectedRow] = []
        # A figure is written with its numbers beside it.
        sides = [".csv"] if self.out is not None and self.out.suffix in FIGURES else []
        files = [] if self.out is None else [self.out, *(Path(f"{self.out}{side}") for side in sides)]
        with writing(self.out, inputs=self.judged, sides=[RECORD_SUFFIX, *sides], force=self.force):
            # Questions have no verdicts yet: only their counts can be reported.
            if self.figure in grounded_rows.QUESTION_FIGURES or grounded_rows.starts_with_grounded_question(
                self.judged[0]
            ):
                report = self._question_counts_report(rejected)
            else:
                settings = EstimateSettings(resamples=self.resamples, rules=self.rule)
                given = VerdictRows.of(read_verdicts(self.judged, on_reject=rejected.append), settings)
                report = self._verdicts_report(given)
            report = replace(report, files=files, rejected=rejected)
            if self.out is not None:
                self._write_output(report, self.out)
        return report

    def _check_options(self) -> None:
        """Raise UsageError for an unknown table or figure, and for an output without content."""
        from granola.evidence.grounding import grounded_rows
        from granola.evidence.verdict_rows import published_figures

        for name, value, known in (
            ("--figure", self.figure, sorted({*published_figures().figures, *grounded_rows.QUESTION_FIGURES})),
            ("--table", self.table, [*published_figures().tables]),
        ):
            if value is not None and value not in known:
                raise UsageError(f"{name} is {value!r}; allowed: {', '.join(known)}")
        # Q is computed only to choose texts.
        if self.quality is not None and self.best is None:
            raise UsageError("--quality goes with --best, which is not given")
        if self.out is None:
            return
        wanted = {FIGURES: self.figure or self.by, TABLES: self.table, ROWS: self.pool or self.best}
        # The ending selects the output, so it must fit the other options.
        if not any(self.out.suffix in endings and given for endings, given in wanted.items()):
            raise UsageError(
                f"--out is {self.out}; a figure (--figure or --by) ends in {', '.join(FIGURES)}, a table (--table) in "
                f"{' or '.join(TABLES)}, rows (--pool or --best) in {ROWS[0]}"
            )

    def _verdicts_report(self, given: VerdictRows) -> VerdictsReport:
        from granola.evidence.knowledge import knowledge_task
        from granola.evidence.verdict_rows import BY_NAME, FilledTable, pool_judges, published_figures

        pool = pool_judges(given) if self.pool else None
        # Pooled rows replace those of the judges in everything that follows.
        if pool is not None:
            given = replace(given, rows=pool.rows)
        table = published_figures().tables[self.table] if self.table is not None else None
        if table is not None and table.task != given.task.name:
            made_by = BY_NAME[table.task].made_by
            raise UsageError(f"{self.judged[0]} has no row of {made_by}, of which --table {self.table} is")
        plan = self._figure_settings(given)
        for option, asked in (("--best", self.best), ("--correlate", self.correlate)):
            if asked and given.task.name != "knowledge":
                raise UsageError(f"{option} is for knowledge texts: give the output of granola knowledge judge")
        chosen = None
        if self.best is not None:
            gamma = knowledge_task.parse_coefficients(self.quality)
            chosen = knowledge_task.choose_texts(given.rows, self.best, gamma, given.settings)
        panels = given.panels(plan) if plan.x else []
        report = given.scores_by_system()
        # A score may also be any numeric field of the rows.
        known = {name for scores in report.values() for name in scores}
        for score in self.score:
            if score not in known and all(given.value(row, score) is None for row in given.rows):
                near = difflib.get_close_matches(score, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; scores: {', '.join(sorted(known))}"
                raise UsageError(f"--score is {score!r}, no score of these rows and no field with a number{hint}")
        # The reason for missing values, if a system lacks the main score of the task.
        has_main = all(scores[given.task.main].n for scores in report.values() if given.task.main in scores)
        head = [f"table:{self.table}"] if table is not None else []
        return VerdictsReport(
            signature="|".join([*head, f"n:{len(given.rows)}", given.signature(panel.name for panel in panels)]),
            report=report, unjudged=given.missing_verdict_counts(), judges=given.judges_by_system(),
            lacking="" if has_main else given.task.lacking, panels=panels,
            tests=[test for score in plan.y for test in given.paired_tests(score)],
            table=None if table is None else FilledTable(table=table, report=report, printed=self.printed),
            pool=pool, chosen=chosen,
            associations=knowledge_task.somers_d_of_score_pairs(given.rows) if self.correlate else (),
        )  # fmt: skip

    def _figure_settings(self, given: VerdictRows) -> ItemFigure:
        """The figure to draw: the requested one, with fields and scores replaced by those of options."""
        from granola.evidence.verdict_rows import ItemFigure, published_figures

        # Without a figure the options name the axes; default is the main score of the task.
        if self.figure is None:
            return ItemFigure(x=self.by, y=self.score or (given.task.main,))
        plan = published_figures().figures[self.figure]
        # Fields and scores of a figure exist in one task only.
        if plan.task != given.task.name:
            raise UsageError(f"--figure {self.figure} is of {plan.task}; {self.judged[0]} has other rows")
        changed = {"x": self.by or plan.x, "y": self.score or plan.y, "longer_than": 0 if self.by else plan.longer_than}
        return plan.model_copy(update=changed)

    def _question_counts_report(self, rejected: list[RejectedRow]) -> VerdictsReport:
        """Report counts of questions with passages, or a figure of them."""
        from granola.evidence.grounding import grounded_rows

        samples = [one for path in self.judged for one in grounded_rows.read_grounded(path, on_reject=rejected.append)]
        if not samples:
            why = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
            raise UsageError(f"{self.judged[0]} has no question with passages{why}")
        if self.figure not in (None, *grounded_rows.QUESTION_FIGURES):
            raise UsageError(f"--figure {self.figure} is of judged answers; {self.judged[0]} has questions")
        return VerdictsReport(
            signature=f"questions:{len(samples)}", counts=grounded_rows.statistics_of(samples),
            panels=grounded_rows.question_panels(samples, self.figure) if self.figure is not None else (),
        )  # fmt: skip

    def _write_output(self, report: VerdictsReport, out: Path) -> None:
        """Write the output in the format of its file ending, with its run record."""
        from granola.report.charts import estimates_csv, estimates_figure

        if out.suffix in ROWS:
            # Chosen texts were chosen from the pooled rows, if both are requested.
            source = report.chosen or report.pool
            write_records(source.rows if source is not None else (), out)
        else:
            if report.table is not None and out.suffix in TABLES:
                contents = [(report.table.latex() if out.suffix == ".tex" else report.table.csv()).encode()]
            else:
                contents = [estimates_figure(report.panels, out.suffix[1:]), estimates_csv(report.panels)]
            for path, content in zip(report.files, contents, strict=True):
                with atomic_path(path) as temporary:
                    temporary.write_bytes(content)
        more = {"signature": report.signature, **({"agreement": report.pool.agreement} if report.pool else {})}
        write_run_record(out, command=self.verb, arguments=self.arguments(), inputs=self.judged, more=more)

    def show(self, result: VerdictsReport) -> None:
        """Print tables; counts of questions as JSON."""
        if result.counts and not result.panels:
            print_json(result)
        else:
            show_lines(*map(str, result.files), *result.parts())

    def report_problems(self, result: VerdictsReport) -> None:
        """The rejected rows."""
        report_rejects(str(self.judged[0]), result.rejected)


def _estimate_cells(estimate: Estimate) -> tuple[str, str, str]:
    if math.isnan(estimate.value):
        return "-", "", f"n {estimate.n:,}"
    interval = f"[{estimate.interval.low:.4f}, {estimate.interval.high:.4f}]"
    return f"{estimate.value:.4f}", interval, f"n {estimate.n:,}"


def _estimates_table(scores: Mapping[str, Estimate]) -> TextTable:
    return TextTable(rows=[(name, *_estimate_cells(one)) for name, one in scores.items()], words=(2, 3), indent=2)
