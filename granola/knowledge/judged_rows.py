"""Judged texts read back, with ratings of people joined to them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstraction.faults import OnReject
from abstraction.files.records import Record, read_records
from abstraction.files.row_models import is_number
from abstraction.files.row_reading import accepted, read_each, read_sheet_lines
from abstraction.files.writing import write_cells
from granola.errors import SheetError, UsageError

AXES = ("factuality", "relevance", "coherence", "informativeness", "helpfulness", "validity")
# What 2, 1 and 0 mean on each axis (Chen et al. 2023, appendix), in our words.
SCALE: Mapping[str, str] = {
    "factuality": "2 every sentence can be verified, 1 some cannot, 0 some is wrong",
    "relevance": "2 to topic and query, 1 to the topic alone, 0 to neither",
    "coherence": "2 fluent, 1 minor slips, 0 hard to understand; a cut at the end does not count",
    "informativeness": "2 new to you, 1 trivial or little, 0 nothing",
    "helpfulness": "2 holds the answer, 1 helps indirectly, 0 no use",
    "validity": "2 the answer is right, 1 it cannot be told, 0 it is wrong",
}
COLUMNS_SHOWN = ("item", "topic", "query", "knowledge", "answer", "gold")


def read_judged(path: Path | str, *, on_reject: OnReject) -> list[dict[str, Any]]:
    """Rows with an id and scores, each a number or null. Raises UsageError where there is none."""
    rows = list(accepted(read_each(read_records(path), _judged), on_reject))
    if not rows:
        raise UsageError(f"{path} has no judged text; make some with granola knowledge judge")
    return rows


def _judged(record: Record) -> dict[str, Any]:
    scores = record.data.get("scores")
    is_judged = isinstance(scores, dict) and all(
        score is None or (is_number(score) and math.isfinite(score)) for score in scores.values()
    )
    if not isinstance(record.data.get("id"), str) or not is_judged:
        raise SheetError('no "id" with "scores", each a number or null, as granola knowledge judge writes them')
    return dict(record.data)


def write_rating_sheet(
    rows: Sequence[Mapping[str, Any]],
    path: Path | str,
    *,
    csv_raw: bool = False,
    only: Collection[int] | None = None,
) -> None:
    """A sheet of texts to rate, in their order, without their systems and scores; its head tells what marks mean.

    `only`: the numbers of the texts that stand on it, from 1; None for all.
    """
    lines: list[Sequence[Any]] = [
        [*COLUMNS_SHOWN, *AXES],
        ["", "", "", "what 2, 1 and 0 mean:", "", "", *(SCALE[axis] for axis in AXES)],
    ]
    for number, row in enumerate(rows, 1):
        if only is None or number in only:
            shown = [row.get(name) or "" for name in ("topic", "query", "knowledge", "answer")]
            lines.append([number, *shown, " / ".join(row.get("gold") or []), *("" for _ in AXES)])
    write_cells(lines, path, raw=csv_raw)


@dataclass(frozen=True, kw_only=True, slots=True)
class RatingSheet:
    """A filled sheet: by item number, the marks 0, 1, 2 by axis, None where it was left open."""

    path: str
    marks: Mapping[int, Mapping[str, int | None]]
    texts: Mapping[int, str]


def read_rating_sheet(path: Path | str) -> RatingSheet:
    """Raises SheetError, with file and line, for a missing column, a repeated item or another mark."""
    marks: dict[int, dict[str, int | None]] = {}
    texts: dict[int, str] = {}
    needed, expected = ("item", "knowledge", *AXES), "a sheet of granola knowledge rate"
    for line in read_sheet_lines(path, needed, expected=expected, error=SheetError):
        number = line.data.get("item", "").strip()
        if not number:
            continue  # the line that tells what marks mean
        if not number.isascii() or not number.isdecimal() or len(number) > 9 or int(number) in marks:
            raise SheetError(f"{line.source}: item is {number[:40]!r}; each number is there once")
        marks[int(number)] = {axis: _mark(line.data.get(axis, ""), axis, line.source) for axis in AXES}
        texts[int(number)] = line.data.get("knowledge", "")
    if not marks:
        raise SheetError(f"{path}: no items")
    return RatingSheet(path=str(path), marks=marks, texts=texts)


def _mark(cell: str, axis: str, where: str) -> int | None:
    mark = cell.strip()
    if mark in ("", "?"):
        return None
    if mark not in ("0", "1", "2"):
        raise SheetError(f"{where}: {axis} is {mark[:40]!r}; allowed: 2, 1, 0, or nothing")
    return int(mark)


def shared_out(n: int, raters: int, shared: float) -> list[set[int]]:
    """The numbers, from 1, of the texts of each rater: the first `shared` of all texts for all, the rest in turn.

    Chen et al. 2023, section 5: three raters, a fifth of the texts for all of them, by which they agree or not.
    """
    common = round(n * shared)
    numbers_of_raters = [set(range(1, common + 1)) for _ in range(raters)]
    for place, number in enumerate(range(common + 1, n + 1)):
        numbers_of_raters[place % raters].add(number)
    return numbers_of_raters


def mean_ratings(sheets: Sequence[RatingSheet]) -> dict[int, dict[str, float]]:
    """By item and axis the mean of the marks of those who gave one."""
    means: dict[int, dict[str, float]] = {}
    for item in sorted({item for sheet in sheets for item in sheet.marks}):
        for axis in AXES:
            marks = [mark for sheet in sheets if (mark := sheet.marks.get(item, {}).get(axis)) is not None]
            if marks:
                means.setdefault(item, {})[axis] = math.fsum(marks) / len(marks)
    return means


def rating_agreement(sheets: Sequence[RatingSheet], axis: str) -> tuple[float, int]:
    """Kappa over the items that every sheet marks on an axis, and how many: Cohen's of two, Fleiss' of more."""
    from granola.scoring.statistics import kappa

    shared = []
    for item in sheets[0].marks:
        marks = [sheet.marks.get(item, {}).get(axis) for sheet in sheets]
        if all(mark is not None for mark in marks):
            shared.append(tuple(str(mark) for mark in marks))
    return kappa(shared), len(shared)
