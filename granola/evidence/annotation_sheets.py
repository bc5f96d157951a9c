"""Sheets on which people judge the items of a task, read back as verdicts; and agreement of annotators.

Items appear by number, in random order, without systems, labels and scores; a separate file keeps the drawn items in
that order. Tiers, which no other judge of a task labels, have their form and error rates here.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstraction.files.row_models import read_sheet_lines
from abstraction.files.rows import TieredRow
from abstraction.files.writing import write_csv_lines
from granola.base.terminal_lines import TextTable
from granola.errors import SheetError, UsageError
from granola.evidence.evidence_task import UNCLEAR, JudgedQuestion, Row, SheetForm
from granola.report.ladder_view import evidence_line
from granola.scoring.statistics import kappa, share_estimate, wilson

EXPECTED = "a sheet of granola sheets draw"
NUMBER, PART, NOTE = "item", "part", "note"
CLOSED = "-"  # marks a cell that does not apply to the line


def draw_items(rows: Sequence[Row], form: SheetForm, number: int, *, seed: int) -> list[Row]:
    """Draw `number` items, or that many for each value of the field `form.draw_by`, in random order; all items where
    there are fewer.

    The draw depends on the seed and the items, not on their order.
    """
    source = random.Random(f"sheets {seed}")
    groups: dict[str, list[Row]] = {}
    # Sorted, so that the draw is the same for any order of the file.
    for row in sorted(rows, key=lambda row: (str(row.get("id")), str(row.get("system")), str(row.get("candidate")))):
        groups.setdefault(str(row.get(form.draw_by) or ""), []).append(row)
    drawn = [row for _, own in sorted(groups.items()) for row in source.sample(own, min(number, len(own)))]
    # Annotators must not see which items belong together.
    source.shuffle(drawn)
    return drawn


def item_numbers_of_each_annotator(n: int, annotators: int, shared: float) -> list[set[int]]:
    """Return the item numbers (from 1) of each annotator: all annotators get the first items, up to the share
    `shared`; the later items are dealt out in turn, each to one annotator.
    """
    common = round(n * shared)
    numbers = [set(range(1, common + 1)) for _ in range(annotators)]
    for place, number in enumerate(range(common + 1, n + 1)):
        numbers[place % annotators].add(number)
    return numbers


def write_sheet(
    items: Sequence[Row], form: SheetForm, path: Path, *, only_numbers: Collection[int] | None = None, raw: bool = False
) -> None:
    """Write a CSV sheet, whose second line explains the labels, with the items of `only_numbers`, or with all items."""
    fields = [question.field for question in form.questions]
    means = [
        "; ".join(f"{label}: {meaning}" if meaning else label for label, meaning in {**one.labels, UNCLEAR: ""}.items())
        for one in form.questions
    ]
    lines: list[Sequence[Any]] = [
        [NUMBER, PART, *form.shown, *fields, NOTE],
        ["", "", *(["what labels mean:"] + [""] * len(form.shown))[: len(form.shown)], *means, ""],
    ]
    for number, item in enumerate(items, 1):
        if only_numbers is not None and number not in only_numbers:
            continue
        for part, cells in enumerate(form.lines(item)):
            asked = ["" if one.of_sentences == bool(part) else CLOSED for one in form.questions]
            shown = [cells.get(name, "") for name in form.shown]
            lines.append([number, part or "", *shown, *asked, ""])
    write_csv_lines(lines, path, raw=raw)


SheetPlace = tuple[int, int]  # the number of an item and of its line: 0 for the item itself


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledSheet:
    """The labels of one annotator by place and question field; empty cells are absent. The annotator has the name of
    the file.

    `texts`: the displayed cells of each line, by which a sheet of another draw is recognised.
    """

    path: Path
    labels: Mapping[SheetPlace, Mapping[str, str]]
    texts: Mapping[SheetPlace, tuple[str, ...]]


def read_sheet(path: Path, form: SheetForm) -> FilledSheet:
    """Read a filled sheet. Raises SheetError, with file and line, for a missing column, a repeated line or an unknown
    label.
    """
    labels: dict[SheetPlace, dict[str, str]] = {}
    texts: dict[SheetPlace, tuple[str, ...]] = {}
    needed = (NUMBER, *form.shown, *(question.field for question in form.questions))
    for line in read_sheet_lines(path, needed, expected=EXPECTED, error=SheetError):
        number, part = (_parse_number_or_zero(line.data.get(name) or "", name, line.source) for name in (NUMBER, PART))
        if not number:
            continue  # the line that explains the labels
        if (number, part) in texts:
            raise SheetError(f"{line.source}: item {number}{f', part {part}' if part else ''} is on the sheet twice")
        texts[number, part] = tuple(str(line.data.get(name) or "") for name in form.shown)
        read = {one.field: parse_label_cell(line.data.get(one.field) or "", one, line.source) for one in form.questions}
        labels[number, part] = {name: label for name, label in read.items() if label}
    if not labels:
        raise SheetError(f"{path}: no items")
    return FilledSheet(path=path, labels=labels, texts=texts)


def _parse_number_or_zero(cell: str, name: str, where: str) -> int:
    text = cell.strip()
    if not text:
        return 0
    # Spreadsheets may turn "1" into "1.0"; guessing would assign labels to the wrong item.
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise SheetError(f"{where}: {name} is {text[:40]!r}; expected a number as on the drawn sheet")
    return int(text)


def parse_label_cell(cell: str, question: JudgedQuestion, where: str) -> str:
    """Parse a label or an unambiguous beginning of one; "?" means "unclear", an empty cell gives ""."""
    text = " ".join(cell.split()).casefold()
    if text in ("", CLOSED):
        return ""
    every = [*question.labels, UNCLEAR]
    meant = [UNCLEAR] if text == "?" else [label for label in every if label.casefold().startswith(text)]
    # "partial" may be a label and the beginning of another one.
    exact = [label for label in meant if label.casefold() == text]
    if len(found := exact or meant) != 1:
        raise SheetError(f"{where}: {question.field} is {cell.strip()[:40]!r}; allowed: {', '.join(every)}, or nothing")
    return found[0]


def check_sheets_match_items(
    sheets: Sequence[FilledSheet], items: Sequence[Row], form: SheetForm, source: Path | str
) -> None:
    """Raise SheetError where a line does not match the item of its number: the sheet is from another draw."""
    shown = {
        (number, part): tuple(cells.get(name, "") for name in form.shown)
        for number, item in enumerate(items, 1)
        for part, cells in enumerate(form.lines(item))
    }
    for sheet in sheets:
        for place, texts in sheet.texts.items():
            wanted = shown.get(place)
            # Compare words only: spreadsheets change blanks and line breaks.
            if wanted is None or any(a.split() != b.split() for a, b in zip(texts, wanted, strict=True)):
                raise SheetError(
                    f"{sheet.path}: item {place[0]} is not row {place[0]} of {source}; give the file that granola "
                    "sheets draw wrote with this sheet"
                )


def sheet_verdicts(sheets: Sequence[FilledSheet], items: Sequence[Row], form: SheetForm) -> Iterator[dict[str, Any]]:
    """One row of verdicts for each item that an annotator labelled, with the judge `person:SHEET`; `unclear` lists the
    fields labelled "unclear".
    """
    for sheet in sheets:
        for number, item in enumerate(items, 1):
            labels = [sheet.labels.get((number, part), {}) for part in range(len(form.lines(item)))]
            if any(labels):
                clear = [{name: label for name, label in own.items() if label != UNCLEAR} for own in labels]
                unclear = sorted({name for own in labels for name, label in own.items() if label == UNCLEAR})
                row = form.verdict(item, clear, f"person:{sheet.path.stem}")
                yield row | ({"unclear": unclear} if unclear else {})


def sheet_agreement(
    sheets: Sequence[FilledSheet], form: SheetForm, automatic: Sequence[Mapping[str, str]] = ()
) -> dict[str, dict[str, Any]]:
    """For each question, the labels of annotators and their agreement.

    `labelled_by_all` counts the items that every annotator labelled: `unclear` if one of them could not decide, else
    `valid`. Over the valid ones: `unanimous`, `counts` of the unanimous by label, and `kappa` (Cohen's for two
    annotators, Fleiss' for more). `annotators`: the share of each label with its interval. `automatic`: labels of the
    items themselves; `kappa_with_automatic` compares them with the unanimous labels. Raises UsageError for two sheets
    with one name.
    """
    if len({sheet.path.stem for sheet in sheets}) < len(sheets):
        raise UsageError("two sheets have the same file name, which is the name of the annotator; rename one of them")
    agreement = {}
    for question in form.questions:
        given = {
            sheet.path.stem: {
                place: labels[question.field] for place, labels in sheet.labels.items() if question.field in labels
            }
            for sheet in sheets
        }
        shared = set.intersection(*map(set, given.values()))
        rows = {place: [labels[place] for labels in given.values()] for place in sorted(shared)}
        valid = {place: labels for place, labels in rows.items() if UNCLEAR not in labels}
        unanimous = {place: labels[0] for place, labels in valid.items() if len(set(labels)) == 1}
        pairs = [
            (own, label)
            for (number, _), label in unanimous.items()
            if number <= len(automatic) and (own := automatic[number - 1].get(question.field))
        ]
        agreement[question.field] = {
            "labelled_by_all": len(rows),
            "unclear": len(rows) - len(valid),
            "valid": len(valid),
            "unanimous": len(unanimous),
            "kappa": kappa(list(valid.values())),
            "counts": dict(Counter(unanimous.values()).most_common()),
            "kappa_with_automatic": kappa(pairs),
            "annotators": {
                name: {
                    label: share_estimate([float(one == label) for one in labels.values()])
                    for label in (*question.labels, UNCLEAR)
                }
                for name, labels in given.items()
            },
        }
    return agreement


# The sheet of tiers shows neither the relation nor the level nor the program that made the ladder.

TIER_COLUMNS = ("question", "template", "answer", "before", "tier", "evidence")  # columns that annotators see
YES, NO = "1", "0"
TIER_AXES = {
    "correct": "it is a correct answer",
    "informative": "it says something that the question does not",
    "informative_template": "it says something that could not be said from the template",
    "granularity": "it is coarser than everything before; with nothing there, it is the answer itself",
}
# Yona et al. 2024, Table 2: 358 answers to 124 questions, including the 124 first answers. It does not state whether
# shares are of answers or of questions; its informativeness is judged from the question's template.
PAPER_ERRORS: Mapping[str, str] = {"correct": "< 1 %", "informative_template": "6 %", "granularity": "9 %"}
COMPARABLE = (
    "paper: Yona et al. 2024, Table 2, of 358 answers with the 124 first ones among them; of coarser tiers alone its "
    "shares are about 9 % (informative_template) and 14 % (granularity), if they are of answers. informative is our "
    "stricter reading, from the question as asked."
)


def tier_sheet_items(rows: Iterable[TieredRow], *, with_first: bool = False) -> Iterator[dict[str, Any]]:
    """The tiers coarser than the answers, as items of a sheet; `with_first`: also the first answer of each row, as in
    the paper.

    `before` contains the tiers of all finer levels, finest first; it is empty for the answer itself.
    """
    for row in rows:
        for number, level in enumerate(row.levels, 1):
            before = " > ".join(" | ".join(tier.text for tier in finer.tiers) for finer in row.levels[: number - 1])
            shown = level.tiers if number > 1 else level.tiers[: int(with_first)]
            for position, tier in enumerate(shown, 1):
                yield {
                    "id": f"{row.id}-{number}.{position}", "row": row.id, "relation": row.relation, "level": number,
                    "question": row.question, "template": _masked_question(row), "answer": " / ".join(row.answers),
                    "before": before, "tier": tier.text, "evidence": "; ".join(map(evidence_line, tier.evidence)),
                }  # fmt: skip


def _masked_question(row: TieredRow) -> str:
    """The question with [X] for the entity asked about; empty where its name is unknown or not in the question."""
    name = str((row.question_entity or {}).get("text") or "")
    at = row.question.casefold().find(name.casefold()) if name.strip() else -1
    # Case folding may change lengths ("ß"): then offsets do not fit the question.
    if at < 0 or len(row.question.casefold()) != len(row.question):
        return ""
    return f"{row.question[:at]}[X]{row.question[at + len(name) :]}"


TIERS = SheetForm(
    shown=TIER_COLUMNS,
    questions=tuple(
        JudgedQuestion(field=field, labels={YES: meaning, NO: "not so"}, against=(NO,))
        for field, meaning in TIER_AXES.items()
    ),
    lines=lambda item: [{name: str(item.get(name) or "") for name in TIER_COLUMNS}],
    verdict=lambda item, labels, annotator: {"id": item["id"], "judge": annotator, **labels[0]},
)


def tier_error_rates(
    sheets: Sequence[FilledSheet], items: Sequence[Row], *, with_first: bool = True
) -> list[dict[str, Any]]:
    """The error rate on each axis that has labels, over the items of the sheets; `with_first` False leaves out the
    answers themselves.

    An item is an error where more annotators say no than yes; `open` counts the items without labels or with a tie.
    `rate` is the share of `errors` among the `n` others, in [0, 1], lower is better; `low` and `high` are the ends of
    its 95 % Wilson interval; `paper` is the paper's share as text, None where it has none.
    """
    numbers = {number for sheet in sheets for number, _ in sheet.labels if with_first or items[number - 1]["before"]}
    rates = []
    for axis in TIER_AXES:
        errors = decided = 0
        for number in numbers:
            marks = [sheet.labels.get((number, 0), {}).get(axis) for sheet in sheets]
            no, yes = marks.count(NO), marks.count(YES)
            # A tie is undecided rather than an error.
            decided += no != yes
            errors += no > yes
        if decided:
            interval = wilson(errors, decided)
            rates.append(
                {
                    "axis": axis, "errors": errors, "n": decided, "open": len(numbers) - decided,
                    "rate": errors / decided, "low": interval.low, "high": interval.high,
                    "paper": PAPER_ERRORS.get(axis),
                }
            )  # fmt: skip
    return rates


def tier_error_table(rates: Sequence[Mapping[str, Any]]) -> TextTable:
    """A table of errors, n, rate and interval, next to the paper's share."""

    def in_percent(*shares: float) -> str:
        return f"{'–'.join(f'{100 * share:.1f}' for share in shares)} %"

    return TextTable(
        head=("errors of", "errors", "n", "open", "rate", "95 % (Wilson)", "paper"),
        rows=[
            (*(str(rate[name]) for name in ("axis", "errors", "n", "open")), in_percent(rate["rate"]),
             in_percent(rate["low"], rate["high"]), rate["paper"] or "-")
            for rate in rates
        ],
    )  # fmt: skip
