"""Groups of questions: by any field of their rows, or by a number in bins of equal size, such as page views.

Page views of entities are in a file of two columns, a title or a QID and a number of views, separated by a tab, a
comma or a semicolon; the last separator of a line counts. Inside a quoted title quotes are doubled, as in CSV. Several
numbers of one page are added up.
"""

from __future__ import annotations

import difflib
import gzip
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from abstraction.files.records import QUESTION_SITELINKS
from abstraction.files.row_models import finite_number
from abstraction.files.rows import TieredRow
from granola.errors import MatcherError, UsageError
from granola.scoring.metrics import GroupScore, aggregate
from granola.scoring.scores import ScoreReport

PAGE_VIEWS = "question_entity_page_views"  # the field that rows get
SITELINKS = QUESTION_SITELINKS
TITLES = {PAGE_VIEWS: "page views of the entity asked about", SITELINKS: "sitelinks of the entity asked about"}
_LINE = re.compile(r"""(?P<title>.+)[\t,;]"?(?P<views>\d{1,18})"?""")


def with_page_views(rows: Sequence[TieredRow], path: Path | str) -> tuple[list[TieredRow], int, int]:
    """Return (rows with the page views of the question entity in PAGE_VIEWS, number of rows that have them, number of
    unreadable lines).

    An entity is found by its QID, then by its name as the title of a page. A file with the ending .gz is unpacked.
    Raises UsageError where no row gets any, OSError for an unreadable file.
    """
    asked = [row.question_entity or {} for row in rows]
    keys = [[_page_title(str(entity[key])) for key in ("qid", "text") if entity.get(key)] for entity in asked]
    # Files of page views have millions of lines; only the pages of the rows are kept.
    wanted = {key for names in keys for key in names}
    views: Counter[str] = Counter()
    unreadable = 0
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as stream:
        for number, line in enumerate(stream):
            found = _LINE.fullmatch(line.rstrip("\r\n"))
            if found is None:
                unreadable += number > 0  # the first line may be a header
                continue
            title = found["title"]
            if len(title) > 1 and title[0] == title[-1] == '"':
                title = title[1:-1].replace('""', '"')
            if (title := _page_title(title)) in wanted:
                views[title] += int(found["views"])
    counts = [next((views[name] for name in names if name in views), None) for names in keys]
    if all(count is None for count in counts):
        raise UsageError(
            f"{path}: no row's question_entity has views there; expected lines with a QID or a page title, and "
            "a number, separated by a tab or a comma"
        )
    with_views = [
        row if count is None else replace(row, extra={**row.extra, PAGE_VIEWS: count})
        for row, count in zip(rows, counts, strict=True)
    ]
    return with_views, sum(count is not None for count in counts), unreadable


def _page_title(text: str) -> str:
    """A title in the form of page names: spaces for underscores, the first letter a capital."""
    text = text.strip().replace("_", " ")
    return text[:1].upper() + text[1:]


NONE = "none"  # the group of rows without the field
BINS = 5  # quintiles
GROUPS = 500  # groups allowed for one field: a table of more cannot be read


def values_of_field(rows: Sequence[TieredRow], name: str) -> list[Any]:
    """The value of a field in every row, None where a row lacks it. Extra fields of the tiered file count, too.

    A dot leads into an object: "question_entity.qid". "levels" is the number of levels, "answer" the first gold
    answer. Raises MatcherError for a field that no row has.
    """
    column = [_field_value(row, name) for row in rows]
    if all(value is None for value in column):
        known = sorted({key for row in rows for key in row.extra} | _FIELDS_OF_ROWS)
        # Most unknown fields are typing errors.
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; they have {', '.join(known)}"
        raise MatcherError(f"no row has a field {name!r}{hint}")
    return column


def _field_value(row: TieredRow, name: str) -> Any:
    first, *inside = name.split(".")
    value: Any = row.extra.get(first)
    match first:
        case "id" | "question" | "relation" | "question_entity" | "abstained":
            value = getattr(row, first)
        case "answer":
            value = row.answers[0]
        case "levels":
            value = len(row.levels)
    for part in inside:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


_FIELDS_OF_ROWS = {"relation", "question_entity.qid", "abstained", "answer", "levels"}


def groups_by_value(rows: Sequence[TieredRow], name: str) -> dict[str, str]:
    """A dictionary from the id of each row to its group: the value of the field as text, "none" for a missing value.

    Raises MatcherError for a field that no row has, and for one with more than GROUPS values.
    """
    values = [NONE if value is None else str(value) for value in values_of_field(rows, name)]
    if (different := len(set(values))) > GROUPS:
        raise MatcherError(
            f"field {name!r} has {different:,} values in {len(rows):,} rows; allowed: up to {GROUPS}; name a field "
            "that more rows share, or one with numbers for --popularity"
        )
    return {row.id: value for row, value in zip(rows, values, strict=True)}


def groups_by_bins(rows: Sequence[TieredRow], name: str, bins: int = BINS) -> dict[str, str]:
    """A dictionary from the id of each row to its bin; bins have equal size (up to one row), the smallest numbers
    first.

    A label is "1: 0–1,200": the number of the bin, its least and its greatest value. Rows of equal value may be split
    between two bins, by a hash of their ids: split by the order of rows, which often follows relations, a bin would
    get whole relations. Rows without the number are in "none". Raises MatcherError for a field without numbers, or
    with fewer numbers than bins.
    """
    if bins < 1:
        raise MatcherError(f"bins is {bins}; allowed: 1 or more, as in --popularity sitelinks:5")
    numbers = [finite_number(value) for value in values_of_field(rows, name)]
    # Rows of equal value are ordered by a hash of the id, not as in the file.
    numbered = sorted(
        (number, hashlib.sha256(row.id.encode("utf-8", "replace")).digest(), index)
        for index, (row, number) in enumerate(zip(rows, numbers, strict=True))
        if number is not None
    )
    if len(numbered) < bins:
        few = f"field {name!r} has {len(numbered)} numbers, too few for {bins} bins"
        raise MatcherError(f"{few}; give fewer, as in --popularity {name}:2")
    label_of = {row.id: NONE for row in rows}
    for bin_ in range(bins):
        part = numbered[bin_ * len(numbered) // bins : (bin_ + 1) * len(numbered) // bins]
        # at most four significant digits of a fraction: 0.1235
        ends = dict.fromkeys(
            f"{end:,.0f}" if float(end).is_integer() and abs(end) < 1e15 else f"{end:,.4g}"
            for end in (part[0][0], part[-1][0])
        )
        label = f"{bin_ + 1}: {'–'.join(ends)}"
        for _, _, index in part:
            label_of[rows[index].id] = label
    return label_of


def group_scores(
    report: ScoreReport, groups: Mapping[str, str], *, resamples: int, seed: int = 0
) -> dict[str, GroupScore]:
    """The scores of each group, sorted by name; numbers in names are compared as numbers: P19 before P112."""
    of_items = (groups.get(id_, NONE) for id_ in report.items.ids)
    _, scores, _ = aggregate(
        zip(of_items, report.items.outcomes, strict=True), report.metrics, resamples=resamples, seed=seed
    )
    if not scores:  # all in the one group "none", which `aggregate` does not list
        scores = {NONE: report.overall}
    return {name: scores[name] for name in sorted(scores, key=natural_sort_key)}


def natural_sort_key(name: str) -> list[tuple[bool, float, str]]:
    """Sort key of a name in which numbers are compared as numbers."""
    parts = re.findall(r"(\d+(?:\.\d+)?)|(\D+)", name)
    return [(not number, float(number or 0), text) for number, text in parts]


@dataclass(frozen=True, kw_only=True, slots=True)
class Grouping:
    """A way to group questions: by the values of `field`, or by its number in `bins`."""

    field: str
    bins: int | None = None

    @classmethod
    def parse_with_bins(cls, text: str) -> Grouping:
        """The grouping for `FIELD` or `FIELD:BINS`, by default with BINS bins."""
        # A field name may itself contain a colon.
        field, colon, number = text.rpartition(":")
        by_number = bool(colon) and number.isdecimal()
        return cls(field=field, bins=int(number)) if by_number else cls(field=text, bins=BINS)

    @property
    def title(self) -> str:
        """The title of its table."""
        return self.field if self.bins is None else f"{self.field}, bins of equal size"

    def groups_of(self, rows: Sequence[TieredRow]) -> Mapping[str, str]:
        """A dictionary from the id of every row to its group. Raises MatcherError for a field that no row has."""
        return groups_by_value(rows, self.field) if self.bins is None else groups_by_bins(rows, self.field, self.bins)


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupedScores:
    """The scores of every system by each grouping, and the rows with the fields used for grouping."""

    rows: Sequence[TieredRow]
    scores: Mapping[Grouping, list[dict[str, GroupScore]]]

    @property
    def bins(self) -> int | None:
        """The number of bins; None where no grouping has any."""
        return next((grouping.bins for grouping in self.scores if grouping.bins is not None), None)
