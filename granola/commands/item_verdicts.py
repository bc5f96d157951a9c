"""`granola draw`, `table` and `pool`: verdicts on items, whichever command made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from granola import __version__
from granola.commands.command import Command
from granola.commands.messages import print_json, report_rejects
from granola.commands.output import RowsCommand, RowsWritten, writing, writing_rows
from granola.errors import UsageError
from granola.run_record import SUFFIX as RECORD_SUFFIX
from granola.run_record import write_run_record
from granola.settings import Setting
from granola.shared_settings import AsJson, Force, Out, Resamples, Seed
from granola.terminal_lines import Part, TextTable, Verbatim, show_lines

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow
    from granola.evidence.evidence_task import ItemFigure
    from granola.evidence.judge_pools import JudgePool
    from granola.evidence.paper_tables import FilledTable
    from granola.figures.charts import Panel
    from granola.scoring.system_comparison import Difference


@dataclass(frozen=True, kw_only=True, slots=True)
class FigureDrawn:
    """Files that were written; `signature` tells how their scores were formed."""

    files: Sequence[Path]
    signature: str
    rejected: Sequence[RejectedRow]


@dataclass(frozen=True, kw_only=True)
class Draw(Command[FigureDrawn]):
    """Draw scores of items by slice, and write what is drawn beside the figure as CSV.

    --figure draws as a paper does: garage-3, garage-4 (questions with passages), garage-5, garage-6 (judged answers),
    conner-2, conner-3, conner-4 (knowledge texts; conner-3 with --size), caqa-f1 (evaluators of attribution). --x, --y
    and --by draw any fields, or change those of a paper's figure.
    """

    judged: Annotated[
        tuple[Path, ...], Setting("Rows with verdicts, of any command.", metavar="JUDGED...", positional=True)
    ]
    out: Annotated[Path, Setting("The figure to write: a name that ends in .svg, .png or .pdf.")]
    figure: Annotated[
        str | None, Setting("A figure of a paper: garage-3 to garage-6, conner-2 to conner-4, or caqa-f1.")
    ] = None
    x: Annotated[
        tuple[str, ...], Setting("A field to slice by; may be given again. relevant_share is cut in thirds.")
    ] = ()
    y: Annotated[
        tuple[str, ...],
        Setting("A score: a field with a number, or E, uF, F, uRAF strict ... of answers; may be given again."),
    ] = ()
    by: Annotated[str | None, Setting("A line for each value of this field (default: system).")] = None
    size: Annotated[
        tuple[float, ...],
        Setting("Billions of parameters of the model of each file, in their order.", least=0, advanced=True),
    ] = ()
    resamples: Resamples = 1000
    seed: Seed = 0
    force: Force = False
    as_json: AsJson = False

    def run(self) -> FigureDrawn:
        """Read and draw. Raises UsageError where there is nothing to draw."""
        from granola.figures.charts import estimates_figure, estimates_table
        from granola.figures.style import format_of
        from kg.files import atomic_path

        format = format_of(self.out)
        rejected: list[RejectedRow] = []
        with writing(self.out, inputs=self.judged, sides=(".csv", RECORD_SUFFIX), force=self.force):
            panels, signature = self._panels(rejected)
            files = {self.out: estimates_figure(panels, format), Path(f"{self.out}.csv"): estimates_table(panels)}
            for path, data in files.items():
                with atomic_path(path) as temporary:
                    temporary.write_bytes(data)
            write_run_record(
                self.out, command=self.verb, arguments=self.arguments(), inputs=self.judged,
                more={"signature": signature},
            )  # fmt: skip
        return FigureDrawn(files=list(files), signature=signature, rejected=rejected)

    def _panels(self, rejected: list[RejectedRow]) -> tuple[list[Panel], str]:
        """What is drawn, of verdicts or of questions, and the signature of it."""
        from granola.evidence.item_figures import figure_signature, item_panels, read_verdicts
        from granola.grounding.grounded_rows import read_grounded
        from granola.grounding.sample_statistics import QUESTION_FIGURES, question_panels

        if self.figure in QUESTION_FIGURES:
            if self.x or self.y or self.by:
                raise UsageError(f"--figure {self.figure} is of questions and takes neither --x, --y nor --by")
            samples = [one for path in self.judged for one in read_grounded(path, on_reject=rejected.append)]
            if not samples:
                raise UsageError(f"{self.judged[0]} has no question with passages, of which --figure {self.figure} is")
            return question_panels(samples, self.figure), f"questions:{len(samples)}|version:{__version__}"
        plan = self._plan()
        rows = read_verdicts(self.judged, sizes=self.size, on_reject=rejected.append)
        panels = item_panels(rows, plan, resamples=self.resamples, seed=self.seed)
        return panels, figure_signature(rows, panels, resamples=self.resamples, seed=self.seed)

    def _plan(self) -> ItemFigure:
        from granola.evidence.evidence_task import ItemFigure, published
        from granola.grounding.sample_statistics import QUESTION_FIGURES

        figures = published().figures
        if self.figure is not None and self.figure not in figures:
            allowed = ", ".join(sorted([*figures, *QUESTION_FIGURES]))
            raise UsageError(f"--figure is {self.figure!r}; allowed: {allowed}")
        if self.figure == "conner-3" and not self.size and not self.x:
            raise UsageError("--figure conner-3 is drawn by the size of models; give --size once for each file")
        if self.figure is None and not (self.x and self.y):
            raise UsageError(f"name --x and --y, or --figure of {', '.join(figures)}")
        plan = figures[self.figure] if self.figure is not None else ItemFigure(x=self.x, y=self.y)
        longer_than = 0 if self.x else plan.longer_than
        return ItemFigure(x=self.x or plan.x, y=self.y or plan.y, by=self.by or plan.by, longer_than=longer_than)

    def show(self, result: FigureDrawn) -> None:
        """The names of the files, and the signature."""
        if self.as_json:
            files = [str(path) for path in result.files]
            print_json({"schema_version": 1, "files": files, "signature": result.signature}, indent=1)
        else:
            print(*result.files, result.signature, sep="\n")
        report_rejects(str(self.judged[0]), result.rejected)


@dataclass(frozen=True, kw_only=True)
class Pool(RowsCommand):
    """Pool judges of the same items into --out: labels by majority, numbers by mean. Show how far they agree.

    Files of one judge (by the signature in their rows, which a replay of its calls shares) belong together.
    """

    judged: Annotated[
        tuple[Path, ...],
        Setting("What attribution evaluate, grounding judge or knowledge judge wrote, of two judges or more.",
                metavar="JUDGED...", positional=True),
    ]  # fmt: skip
    out: Out
    force: Force = False
    as_json: AsJson = False

    def run(self) -> RowsWritten:
        """Pool and write. Raises UsageError for one judge alone, or judges of different items."""
        from granola.evidence.judge_pools import pool_judges

        with writing_rows(self, self.out, inputs=self.judged, force=self.force) as output:
            pool = pool_judges(self.judged, on_reject=output.rejected.append)
            output.more |= {"judges": list(pool.judges), "agreement": pool.agreement, "asked": pool.costs}
            output.write(pool.rows)
            return output.ended(*_lines(pool), source=str(self.judged[0]))


def told_test(test: Difference) -> str:
    """A paired test in a line."""
    if not test.n:
        return f"{test.first} - {test.second}, {test.metric}: no item has this score of both"
    return (
        f"{test.first} - {test.second}, {test.metric}: {test.difference:+.3f} [{test.interval.low:+.3f}, "
        f"{test.interval.high:+.3f}], p {test.p:.4f}, after Holm {test.adjusted:.4f}, n {test.n:,}"
    )


def _lines(pool: JudgePool) -> list[Part]:
    lines: list[Part] = [f"{len(pool.rows):,} items, {len(pool.judges)} judges"]
    for judge, asked in pool.costs.items():
        costs = [f"{cost:,.10g} {name.replace('_', ' ')}" for name, cost in asked.items()]
        lines.append(Verbatim("; ".join([judge, *costs])))
    rows = [
        (name, f"{one['n']:,}", f"{one['agree']:.4f}", "-" if one["kappa"] is None else f"{one['kappa']:.3f}")
        for name, one in pool.agreement.items()
    ]
    return [*lines, TextTable(head=("agreement", "n", "all agree", "kappa"), rows=rows)]


class TableFormat(StrEnum):
    """What `--format` of `granola table` takes."""

    TEXT = "text"
    LATEX = "latex"
    CSV = "csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class TableMade:
    """A paper's table with one's own rows."""

    filled: FilledTable
    tests: Sequence[Difference]
    signature: str
    rejected: Sequence[RejectedRow]


@dataclass(frozen=True, kw_only=True)
class Table(Command[TableMade]):
    """Put scores of one's own systems in the columns of a paper's table, the paper's rows beside them if asked for.

    garage, garage-2, garage-3, garage-4 are of judged answers, conner-2 and conner-3 of knowledge texts, caqa-5, caqa-7
    and caqa-15 of evaluators.
    """

    judged: Annotated[
        tuple[Path, ...], Setting("Rows with verdicts, of any command.", metavar="JUDGED...", positional=True)
    ]
    table: Annotated[str, Setting("garage, garage-2 to garage-4, conner-2, conner-3, caqa-5, caqa-7 or caqa-15.")]
    printed: Annotated[bool, Setting("The paper's own rows, too.")] = False
    by: Annotated[str | None, Setting("A row for each system and each value of this field or tag.")] = None
    intervals: Annotated[bool, Setting("Each figure with its 95 % interval.")] = False
    tests: Annotated[
        bool, Setting("Also paired tests of every two systems, in the scores that are means over items.")
    ] = False
    format: Annotated[TableFormat, Setting("Text, a LaTeX tabular, or CSV.")] = TableFormat.TEXT
    resamples: Resamples = 1_000
    seed: Seed = 0
    as_json: AsJson = False

    def run(self) -> TableMade:
        """Read and score. Raises UsageError for an unknown table, and where no row is of its task."""
        from granola.evidence.evidence_task import published
        from granola.evidence.item_figures import figure_signature, read_verdicts
        from granola.evidence.paper_tables import filled_table, paired_tests
        from granola.evidence.task_list import BY_NAME

        table = published().tables.get(self.table)
        if table is None:
            raise UsageError(f"--table is {self.table!r}; allowed: {', '.join(published().tables)}")
        task = BY_NAME[table.task]
        rejected: list[RejectedRow] = []
        rows = [row for row in read_verdicts(self.judged, on_reject=rejected.append) if task.told_by in row]
        if not rows:
            raise UsageError(f"{self.judged[0]} has no row of {task.made_by}, of which --table {self.table} is")
        filled = filled_table(
            task, table, rows, by=self.by, resamples=self.resamples, seed=self.seed, printed=self.printed,
            intervals=self.intervals,
        )  # fmt: skip
        tests = paired_tests(task, table, rows, resamples=self.resamples, seed=self.seed) if self.tests else []
        how = figure_signature(rows, [], resamples=self.resamples, seed=self.seed)
        signed = f"table:{self.table}|n:{len(rows)}|{how}"
        return TableMade(filled=filled, tests=tests, signature=signed, rejected=rejected)

    def show(self, result: TableMade) -> None:
        """The table in its format, the signature below it where it is text."""
        if self.as_json:
            tests = [test.to_json() for test in result.tests]
            print_json({**result.filled.to_json(), "tests": tests, "signature": result.signature}, indent=1)
        elif self.format is TableFormat.TEXT:
            note = [result.filled.table.note] if result.filled.printed and result.filled.table.note else []
            show_lines(result.filled.text(), *note, *map(told_test, result.tests), Verbatim(result.signature))
        else:
            print(result.filled.latex() if self.format is TableFormat.LATEX else result.filled.csv(), end="")
            print(end="\n" if self.format is TableFormat.LATEX else "")
        report_rejects(str(self.judged[0]), result.rejected)
