"""`granola sheets`: sheets on which people judge tiers or items of evidence tasks, and reading of filled sheets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.base.faults import RejectedRow
from abstraction.files.records import Record, read_records
from abstraction.files.writing import check_kind, write_records
from granola.base.run_record import write_run_record
from granola.base.settings import Setting
from granola.base.terminal_lines import Part, TextTable, show_lines
from granola.commands.command import Command
from granola.commands.messages import count
from granola.commands.output import RowsCommand, WrittenRows, is_csv_raw, writing, writing_rows
from granola.errors import UsageError
from granola.scoring.shared_settings import Force, Out

if TYPE_CHECKING:
    from granola.evidence.evidence_task import Row


@dataclass(frozen=True, kw_only=True)
class SheetsDraw(RowsCommand):
    """Draw items and write a sheet for each annotator, OUT.1.csv and so on, without systems, labels and scores.

    ITEMS are tiered rows, samples of attribution, judged answers or judged knowledge texts. OUT keeps the drawn items
    in the sheets' order; `granola sheets read OUT SHEET...` reads the filled sheets. Every cell may be left open, or
    say "unclear".
    """

    items: Annotated[Path, Setting("The items.", metavar="ITEMS", positional=True)]
    out: Out
    questions: Annotated[
        Path | None, Setting("Of judged answers: the questions with passages, which the sheet shows.")
    ] = None
    texts: Annotated[
        bool, Setting("Of samples: people judge whether texts cover their facts, not the four categories.")
    ] = False
    with_first: Annotated[
        bool, Setting("Of tiered rows: draw from the answers themselves, too, as in the paper's audit.", advanced=True)
    ] = False
    number: Annotated[
        int,
        Setting("Items to draw: of each system (answers, knowledge), of each kind (--texts), else of all.",
                flag="--n", least=1),
    ] = 80  # fmt: skip
    annotators: Annotated[int, Setting("Sheets to write, one an annotator.", least=1)] = 1
    shared: Annotated[
        float,
        Setting("Share of the items that all annotators have; the rest goes to one each (CONNER: 0.2).", least=0,
                most=1),
    ] = 1.0  # fmt: skip
    seed: Annotated[int, Setting("Seed of what is drawn.", least=0)] = 0
    force: Force = False

    def run(self) -> WrittenRows:
        """Draw items and write the sheets. Raises UsageError where there is no item, or a file would be overwritten."""
        from granola.evidence import annotation_sheets
        from granola.evidence.verdict_rows import sheet_form

        check_kind(Path(self.out), "jsonl")
        # One file per annotator, so that none sees the labels of another.
        sheets = [Path(self.out).with_suffix(f".{number}.csv") for number in range(1, self.annotators + 1)]
        inputs = [self.items, self.questions]
        with ExitStack() as stack, writing_rows(self, self.out, inputs=inputs, force=self.force) as output:
            for sheet in sheets:
                # Every sheet is checked and locked before any is written.
                stack.enter_context(writing(sheet, inputs=[self.items, self.out], force=self.force))
            items = self._read_items_to_judge(output.rejected)
            if not items:
                raise UsageError(f"{self.items} has no item for people to judge")
            form = sheet_form(items[0])
            drawn = annotation_sheets.draw_items(items, form, self.number, seed=self.seed)
            numbers = annotation_sheets.item_numbers_of_each_annotator(len(drawn), self.annotators, self.shared)
            for sheet, own in zip(sheets, numbers, strict=True):
                annotation_sheets.write_sheet(drawn, form, sheet, only_numbers=own, raw=is_csv_raw())
            output.write(drawn)
            names = ", ".join(map(str, sheets))
            return output.finish(f"{count(len(drawn), 'item')} to judge in {names}", source=str(self.items))

    def _read_items_to_judge(self, rejected: list[RejectedRow]) -> Sequence[Row]:
        """Read the items; judged answers get their question, reference and passages."""
        from abstraction.files.rows import read_tiered
        from granola.evidence.annotation_sheets import tier_sheet_items
        from granola.evidence.attribution.attribution_task import read_samples
        from granola.evidence.attribution.sample_texts import coverage_sheet_items
        from granola.evidence.grounding.grounded_rows import read_grounded
        from granola.evidence.verdict_rows import read_verdicts, task_of

        first = next((one for one in read_records(self.items) if isinstance(one, Record)), None)
        # Both layouts of tiered rows: nested levels, and the columns of the dataset.
        if first is not None and {"levels", "granola_answer_1"} & first.data.keys():
            return list(
                tier_sheet_items(read_tiered(self.items, on_reject=rejected.append), with_first=self.with_first)
            )
        task = task_of(first.data) if first is not None else None
        if task is None:
            samples = list(read_samples(self.items, on_reject=rejected.append))
            return list(coverage_sheet_items(samples)) if self.texts else [sample.to_json() for sample in samples]
        rows = read_verdicts([self.items], on_reject=rejected.append)
        # Added by the reader of verdicts; they are not part of an item.
        items = [{name: value for name, value in row.items() if name not in ("file", "settings")} for row in rows]
        if task.name != "grounding":
            return items
        # Judged answers refer to passages by id; their text is in the file of questions.
        if self.questions is None:
            raise UsageError("a sheet of answers shows passages: give --questions FILE, the file that was answered")
        questions = {
            one.id: {
                "question": one.question, "reference": one.reference,
                "passages": [{"id": passage.id, "text": passage.text} for passage in one.passages],
            }
            for one in read_grounded(self.questions, on_reject=rejected.append)
        }  # fmt: skip
        return [{**item, "asked": questions[item["id"]]} for item in items if item["id"] in questions]


@dataclass(frozen=True, kw_only=True)
class SheetsRead(Command[Mapping[str, Any]]):
    """Read filled sheets: how often each label was given, kappa, and what annotators agree on.

    --out has a row of verdicts for each item of each annotator, judged by person:SHEET, as every other judge's:
    `granola verdicts` and `attribution evaluate --people` take them.
    """

    drawn: Annotated[Path, Setting("What `granola sheets draw` wrote.", metavar="DRAWN", positional=True)]
    sheets: Annotated[
        tuple[Path, ...], Setting("The filled sheets, one an annotator.", metavar="SHEET...", positional=True)
    ]
    out: Annotated[Path | None, Setting("Write the verdicts to this file, as JSONL.")] = None
    force: Force = False

    def run(self) -> Mapping[str, Any]:
        """Read the sheets and compare annotators. Raises UsageError and SheetError for files that do not fit."""
        from granola.evidence import annotation_sheets
        from granola.evidence.annotation_sheets import COMPARABLE, TIERS, tier_error_rates
        from granola.evidence.attribution.sample_texts import PAPER, TEXTS
        from granola.evidence.verdict_rows import sheet_form

        inputs = [self.drawn, *self.sheets]
        with writing(self.out, inputs=inputs, force=self.force):
            if self.out is not None:
                check_kind(self.out, "jsonl")
            items = [record.data for record in read_records(self.drawn) if isinstance(record, Record)]
            if not items:
                raise UsageError(f"{self.drawn} has no item; give the output of granola sheets draw")
            form = sheet_form(items[0])
            sheets = [annotation_sheets.read_sheet(path, form) for path in self.sheets]
            annotation_sheets.check_sheets_match_items(sheets, items, form, self.drawn)
            verdicts = list(annotation_sheets.sheet_verdicts(sheets, items, form))
            if not verdicts:
                raise UsageError("no cell of the sheets is filled in; write the labels and read them again")
            if self.out is not None:
                write_records(verdicts, self.out)
                write_run_record(self.out, command=self.verb, arguments=self.arguments(), inputs=inputs)
        # Items may have labels of their own: agreement with them is reported too.
        automatic = [{name: str(label) for name, label in item.items() if label} for item in items]
        rates: dict[str, Any] = {}
        if form is TIERS:
            rates["tiers coarser than the answer"] = tier_error_rates(sheets, items, with_first=False)
        # An item without tiers before it is an answer itself (--with-first).
        if form is TIERS and not all(item["before"] for item in items):
            rates["all answers, the first ones among them"] = tier_error_rates(sheets, items)
        paper = PAPER if form is TEXTS else COMPARABLE if form is TIERS else ""
        more = {"rates": rates, "paper": paper}
        agreement = annotation_sheets.sheet_agreement(sheets, form, automatic)
        return {"agreement": agreement, "verdicts": len(verdicts)} | {name: one for name, one in more.items() if one}

    def show(self, result: Mapping[str, Any]) -> None:
        """Print a table for each question, after those of error rates; last the figures of the paper."""
        from granola.evidence.annotation_sheets import tier_error_table

        parts: list[Part] = []
        for tiers, rates in result.get("rates", {}).items():
            parts += [f"{tiers}:", tier_error_table(rates), ""]
        for asked, own in result["agreement"].items():
            counted = f"{own['labelled_by_all']:,} by all, {own['unclear']:,} unclear, {own['unanimous']:,} unanimous"
            beside = f"; of the unanimous with the items' own labels {own['kappa_with_automatic']:.3f}"
            more = "" if math.isnan(own["kappa_with_automatic"]) else beside
            rows = [
                (name, label, f"{one.value:.1%}", f"[{one.interval.low:.1%}, {one.interval.high:.1%}]", f"n {one.n:,}")
                for name, shares in own["annotators"].items()
                for label, one in shares.items()
                if one.n
            ]
            table = TextTable(rows=rows, words=(1,), keys=2, indent=2)
            parts += [f"{asked}: {counted}; kappa {own['kappa']:.3f}{more}", table]
        show_lines(*parts, *filter(None, [result.get("paper")]))
