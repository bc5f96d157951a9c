"""How often the pages of entities are viewed: a file of two columns, a title or a QID and a number of views.

The columns are parted by a tab, a comma or a semicolon, and the last of these decides; a title in quotes has its own
doubled, as CSV has it. A head line is left out. Numbers of one page add up.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from abstraction.files.row_names import QUESTION_SITELINKS
from abstraction.rows import TieredRow
from granola.errors import UsageError

FIELD = "question_entity_page_views"
SITELINKS = QUESTION_SITELINKS
TITLES = {FIELD: "page views of the entity asked about", SITELINKS: "sitelinks of the entity asked about"}
_LINE = re.compile(r"""(?P<title>.+)[\t,;]"?(?P<views>\d{1,18})"?""")
_HEAD = re.compile(r"[\t,;]")  # in a first line without views: names of columns


@dataclass(frozen=True, kw_only=True, slots=True)
class PageViews:
    """Views by title as pages have it (`Barack Obama`) or by QID.

    Of the `lines` read `unread` have no views; a head line is not among them.
    """

    views: Mapping[str, int]
    lines: int
    unread: int


def read_page_views(path: Path | str, wanted: Iterable[str]) -> PageViews:
    """The views of the pages that are wanted, by title or QID; those of other pages are passed over.

    A file that ends in .gz is unpacked. Raises UsageError where no line can be read, and OSError for what is no
    readable file.
    """
    names = {_title(name) for name in wanted}
    views: Counter[str] = Counter()
    lines = unread = 0
    any_read = False
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as stream:
        for lines, line in enumerate(stream, start=1):
            found = _LINE.fullmatch(line.rstrip("\r\n"))
            if found is None:
                unread += lines > 1 or not _HEAD.search(line)
                continue
            any_read = True
            if (title := _title(_unquoted(found["title"]))) in names:
                views[title] += int(found["views"])
    if not any_read:
        raise UsageError(
            f"{path}: no line tells views; expected a title or QID and a number, parted by a tab or a comma"
        )
    return PageViews(views=views, lines=lines, unread=unread)


def _unquoted(title: str) -> str:
    return title[1:-1].replace('""', '"') if len(title) > 1 and title[0] == title[-1] == '"' else title


def _title(text: str) -> str:
    """A title as pages have it: blanks for underscores, the first letter a capital."""
    text = text.strip().replace("_", " ")
    return text[:1].upper() + text[1:]


def with_page_views(rows: Sequence[TieredRow], path: Path | str) -> tuple[list[TieredRow], int, int]:
    """(the rows with the views of the entity asked about as the field FIELD, how many got them, lines unread).

    An entity is found by its QID, then by its name as a page's title. Raises as `read_page_views`, and UsageError
    where no row gets any.
    """
    asked = [row.question_entity or {} for row in rows]
    keys = [[str(entity[key]) for key in ("qid", "text") if entity.get(key)] for entity in asked]
    read = read_page_views(path, (name for names in keys for name in names))
    views_of = read.views
    out, counted = [], 0
    for row, names in zip(rows, keys, strict=True):
        views = next((views_of[_title(name)] for name in names if _title(name) in views_of), None)
        counted += views is not None
        out.append(row if views is None else replace(row, extra={**row.extra, FIELD: views}))
    if not counted:
        raise UsageError(
            f"{path}: no row's question_entity has views there; they are found by its qid, or by its text as a title"
        )
    return out, counted, read.unread
