"""Page views of entities: a file of two columns, a title or a QID and a number of views.

Columns are separated by a tab, a comma or a semicolon; the last separator of a line counts. Inside a quoted title
quotes are doubled, as in CSV. Several numbers of one page are added up.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from abstraction.files.records import QUESTION_SITELINKS
from abstraction.files.rows import TieredRow
from granola.errors import UsageError

FIELD = "question_entity_page_views"  # the field that rows get
SITELINKS = QUESTION_SITELINKS
TITLES = {FIELD: "page views of the entity asked about", SITELINKS: "sitelinks of the entity asked about"}
_LINE = re.compile(r"""(?P<title>.+)[\t,;]"?(?P<views>\d{1,18})"?""")


def with_page_views(rows: Sequence[TieredRow], path: Path | str) -> tuple[list[TieredRow], int, int]:
    """Return (rows with page views of the question entity in FIELD, how many rows have them, number of unreadable
    lines).

    An entity is found by its QID, then by its name as the title of a page. A file with the ending .gz is unpacked.
    Raises UsageError where no row gets any, OSError for an unreadable file.
    """
    asked = [row.question_entity or {} for row in rows]
    keys = [[_page_title(str(entity[key])) for key in ("qid", "text") if entity.get(key)] for entity in asked]
    # Files of page views have millions of lines; only the pages of the rows are kept.
    wanted = {key for names in keys for key in names}
    views: Counter[str] = Counter()
    unread = 0
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as stream:
        for number, line in enumerate(stream):
            found = _LINE.fullmatch(line.rstrip("\r\n"))
            if found is None:
                unread += number > 0  # the first line may be a header
            elif (title := _page_title(_without_quotes(found["title"]))) in wanted:
                views[title] += int(found["views"])
    counts = [next((views[name] for name in names if name in views), None) for names in keys]
    if all(count is None for count in counts):
        raise UsageError(
            f"{path}: no row's question_entity has views there; expected lines of a qid, or its text as a page's "
            "title, and a number, parted by a tab or a comma"
        )
    with_views = [
        row if count is None else replace(row, extra={**row.extra, FIELD: count})
        for row, count in zip(rows, counts, strict=True)
    ]
    return with_views, sum(count is not None for count in counts), unread


def _without_quotes(title: str) -> str:
    return title[1:-1].replace('""', '"') if len(title) > 1 and title[0] == title[-1] == '"' else title


def _page_title(text: str) -> str:
    """A title in the form of page names: spaces for underscores, the first letter a capital."""
    text = text.strip().replace("_", " ")
    return text[:1].upper() + text[1:]
