"""How often the pages of entities are viewed: Wikimedia's page-view files, or any file of names and numbers.

Read as they come, packed as gzip, bzip2 or zstd or not:

- Wikimedia's hourly files: `en Barack_Obama 412 0`;
- its daily and monthly complete files: `en.wikipedia Barack_Obama 534366 desktop 9123 ...`, one line a device;
- two columns, a title or a QID and a number, parted by a tab, a comma or a semicolon; a head line is left out.

Views of one page add up, whatever device they are from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from abstraction.files.fields import QUESTION_SITELINKS
from abstraction.rows import TieredRow
from granola.errors import UsageError
from kg.reading.streams import HashedReader, plain_chunks

FIELD = "question_entity_page_views"
SITELINKS = QUESTION_SITELINKS
TITLES = {FIELD: "page views of the entity asked about", SITELINKS: "sitelinks of the entity asked about"}
LONGEST = 1 << 16  # bytes of a line; a longer one is no page's
# A title in quotes has its own doubled; without them it may have any sign but a tab, the last separator decides.
_TWO = re.compile(
    r"""(?P<tabbed>[^\t]{1,1000})\t"?(?P<first>\d{1,18})"?"""
    r"""|"(?P<quoted>(?:[^"]|""){1,1000})"[\t,;]"?(?P<second>\d{1,18})"?"""
    r"""|(?P<bare>[^"\t][^\t]{0,999})[,;]"?(?P<third>\d{1,18})"?"""
)
_QID = re.compile(r"Q[1-9][0-9]*")  # as a page's title: Q1 is an article on things of that name, no entity's page
_WIKIDATA = frozenset({"wikidata", "www.wd"})  # where it is that
_HEAD = re.compile(r"[\t,;]")  # in a first line without views: names of columns


@dataclass(frozen=True, kw_only=True, slots=True)
class PageViews:
    """Views by title as pages have it (`Barack Obama`) or by QID.

    Of the `lines` read `unread` have no views; a head line is not among them.
    """

    views: Mapping[str, int]
    lines: int
    unread: int


def read_page_views(path: Path | str, wanted: Iterable[str], *, project: str = "en.wikipedia") -> PageViews:
    """The views of the pages that are wanted, by title or QID; those of other pages are passed over.

    `project` is the wiki whose lines count in Wikimedia's files ("en.wikipedia", there also "en" and "en.m"). Raises
    UsageError where no line can be read, and OSError and SourceError for what is no readable file.
    """
    names = {_title(name) for name in wanted}
    short = project.removesuffix(".wikipedia")
    projects = {project, short, f"{short}.m", f"{short}.zero", f"{project}.org"}
    views: Counter[str] = Counter()
    lines = unread = 0
    any_read = False
    with Path(path).open("rb") as stream:
        for line in _lines(plain_chunks(HashedReader(stream), str(path))):
            lines += 1
            page = _page(line, projects)
            if page is None:
                unread += lines > 1 or not _HEAD.search(line)
                continue
            any_read = True
            if page[0] in names:
                views[page[0]] += page[1]
    if not any_read:
        raise UsageError(
            f"{path}: no line tells views; expected Wikimedia's (en Barack_Obama 412 0) or a title or QID and a "
            "number, parted by a tab or a comma"
        )
    return PageViews(views=views, lines=lines, unread=unread)


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Lines of text; what is no UTF-8 is replaced, and the rest of a line that is too long is left out."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line[:LONGEST].decode("utf-8", "replace") for line in whole)
        rest = rest[:LONGEST]
    if rest:
        yield rest.decode("utf-8", "replace")


def _page(line: str, projects: set[str]) -> tuple[str, int] | None:
    """(title or QID, views) of a line; ("", 0) of another wiki, or of a Wikipedia page called like a QID."""
    if "\t" in line:
        return _of_columns(line)
    parts = line.split(" ")
    hourly = len(parts) == 4 and parts[2].isdecimal() and len(parts[2]) < 19
    # daily or monthly, with a device
    if hourly or (len(parts) in (5, 6) and parts[-2].isdecimal() and len(parts[-2]) < 19):
        counts = parts[0] in projects and (not projects.isdisjoint(_WIKIDATA) or not _QID.fullmatch(parts[1]))
        return (_title(parts[1]), int(parts[-2])) if counts else ("", 0)
    return _of_columns(line)


def _of_columns(line: str) -> tuple[str, int] | None:
    """(title or QID, views) of a line of two columns."""
    two = _TWO.fullmatch(line.rstrip("\r"))
    if two is None:
        return None
    name = two["tabbed"] or two["bare"] or two["quoted"].replace('""', '"')
    return _title(name), int(two["first"] or two["second"] or two["third"])


def _title(text: str) -> str:
    """A title as pages have it: blanks for underscores, the first letter a capital."""
    text = text.strip().replace("_", " ")
    return text[:1].upper() + text[1:]


def with_page_views(
    rows: Sequence[TieredRow], path: Path | str, *, project: str = "en.wikipedia"
) -> tuple[list[TieredRow], int, int]:
    """(the rows with the views of the entity asked about as the field FIELD, how many got them, lines unread).

    An entity is found by its QID, then by its name as a page's title. Raises as `read_page_views`, and UsageError
    where no row gets any.
    """
    asked = [row.question_entity or {} for row in rows]
    keys = [[str(entity[key]) for key in ("qid", "text") if entity.get(key)] for entity in asked]
    read = read_page_views(path, (name for names in keys for name in names), project=project)
    views_of = read.views
    out, counted = [], 0
    for row, names in zip(rows, keys, strict=True):
        views = next((views_of[_title(name)] for name in names if _title(name) in views_of), None)
        counted += views is not None
        out.append(row if views is None else replace(row, extra={**row.extra, FIELD: views}))
    if not counted:
        raise UsageError(
            f"{path}: no row's question_entity has views there; they are found by its qid, or by its text as a title "
            f"of {project}"
        )
    return out, counted, read.unread
