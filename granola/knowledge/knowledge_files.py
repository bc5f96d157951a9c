"""Files of knowledge texts: JSONL of one's own, and CONNER's four columns with texts of systems in files beside them.

Four columns: topic, query, knowledge, response, parted by tabs, one item a line; turns of a dialogue are parted by
[SEP]. A file of texts has one line for each item, an empty line for an empty text; a file of documents has on each
line what was retrieved for an item, as a JSON array of texts (or of objects with "text"), or parted by tabs.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from abstraction.errors import RowError
from abstraction.faults import OnReject
from abstraction.files.records import Record, RejectedRow, excerpt, read_records
from granola.knowledge.knowledge_items import LISTS, TEXTS, KnowledgeItem

COLUMNS_ENDINGS = (".txt", ".tsv")
TURN = "[SEP]"
LONGEST_LINE = 1 << 20  # bytes
_OWN = {"id", "candidate", "views", "schema_version", *TEXTS, *LISTS}


def has_columns(path: Path | str) -> bool:
    """Whether a file's ending, before a .gz, is that of four columns."""
    return str(path).removesuffix(".gz").endswith(COLUMNS_ENDINGS)


def read_items(
    path: Path | str,
    *,
    texts: Path | str | None = None,
    documents: Path | str | None = None,
    on_reject: OnReject,
    limit: int | None = None,
) -> Iterator[KnowledgeItem]:
    """The items of a file in order, each id with its system and candidate once; damaged rows go to `on_reject`.

    `texts` and `documents` go with four columns alone: line by line, the knowledge to judge and what was retrieved.
    Without `texts` the knowledge of the file is judged itself; with them it is the reference.
    Raises RowError for a file that cannot be read as a whole, and for files of different numbers of lines.
    """
    if has_columns(path):
        items = _of_columns(Path(path), texts, documents)
    elif texts is not None or documents is not None:
        raise RowError(f"{path}: texts and documents line by line go with four columns ({', '.join(COLUMNS_ENDINGS)})")
    else:
        items = (_of_record(record) for record in read_records(path))
    seen: set[tuple[str, str, int]] = set()
    taken = 0
    for item in items:
        if isinstance(item, RejectedRow):
            on_reject(item)
        elif item.key in seen:
            told = f"id {item.id!r} of system {item.system!r}, candidate {item.candidate}, is there already"
            on_reject(RejectedRow(source=item.source, reason=told, excerpt=excerpt(item.knowledge), id=item.id))
        else:
            seen.add(item.key)
            yield item
            taken += 1
            if limit is not None and taken >= limit:
                return


def _of_record(record: Record | RejectedRow) -> KnowledgeItem | RejectedRow:
    if isinstance(record, RejectedRow):
        return record
    data = record.data
    try:
        return item_of(data, source=record.source)
    except ValueError as error:
        return RejectedRow(source=record.source, reason=str(error), excerpt=excerpt(str(dict(data))))


def item_of(data: Any, *, source: str) -> KnowledgeItem:
    """An item of a JSON object; "question" is read as "query". Raises ValueError with what is wrong."""
    given = dict(data)
    if "query" not in given and "question" in given:
        given["query"] = given.pop("question")
    for name in ("id", "query"):
        if not isinstance(given.get(name), str | int) or not str(given[name]).strip():
            raise ValueError(f'no "{name}": a text is needed')
    texts = {name: _text_field(given.get(name), name) for name in TEXTS}
    lists = {name: _list_field(given.get(name), name) for name in LISTS}
    candidate, views = given.get("candidate", 0), given.get("views")
    if not isinstance(candidate, int) or isinstance(candidate, bool) or candidate < 0:
        raise ValueError(f'"candidate" is {excerpt(str(candidate))}; a whole number from 0 is allowed')
    if views is not None and (not _is_number(views) or views < 0):
        raise ValueError(f'"views" is {excerpt(str(views))}; a number from 0 is allowed')
    extra = {name: value for name, value in given.items() if name not in _OWN}
    fields: dict[str, Any] = {"id": str(given["id"]), "source": source, **texts, **lists}
    return KnowledgeItem(**fields, candidate=candidate, views=views, extra=extra)


def _text_field(value: Any, name: str) -> str:
    if value is not None and not isinstance(value, str):
        raise ValueError(f'"{name}" is {excerpt(str(value))}; a text is allowed')
    return value or ""


def _list_field(value: Any, name: str) -> tuple[str, ...]:
    several = [value] if isinstance(value, str) else value or []
    if not isinstance(several, list) or not all(isinstance(text, str) for text in several):
        raise ValueError(f'"{name}" is {excerpt(str(value))}; a text or an array of texts is allowed')
    return tuple(text for text in several if text.strip())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _of_columns(
    path: Path, texts: Path | str | None, documents: Path | str | None
) -> Iterator[KnowledgeItem | RejectedRow]:
    beside = [None if other is None else iter(_lines(Path(other))) for other in (texts, documents)]
    number = 0
    for number, line in enumerate(_lines(path), 1):
        source = f"{path}:{number}"
        text, listed = (None if lines is None else next(lines, None) for lines in beside)
        for lines, other, name in zip(beside, (text, listed), (texts, documents), strict=True):
            if lines is not None and other is None:
                raise RowError(f"{name} ends before line {number}, {path} does not: one line for each item is needed")
        try:
            yield _item(line, text, listed, source, number)
        except ValueError as error:
            yield RejectedRow(source=source, reason=str(error), excerpt=excerpt(line))
    for lines, name in zip(beside, (texts, documents), strict=True):
        if lines is not None and next(lines, None) is not None:
            raise RowError(f"{name} goes on after line {number}, {path} does not: one line for each item is needed")
    if not number:
        raise RowError(f"{path} is empty")


def _item(line: bytes, text: bytes | None, documents: bytes | None, source: str, number: int) -> KnowledgeItem:
    cells = _text(line, "the line").split("\t")
    if len(cells) != 4:
        raise ValueError(f"{len(cells)} columns; four are needed: topic, query, knowledge, response, parted by tabs")
    topic, asked, knowledge, response = (cell.strip() for cell in cells)
    turns = [turn.strip() for turn in asked.split(TURN) if turn.strip()]
    if not turns:
        raise ValueError("no query in the second column")
    return KnowledgeItem(
        id=str(number),
        topic=topic,
        query=turns[-1],
        context=tuple(turns[:-1]),
        knowledge=knowledge if text is None else _text(text, "the text beside it").strip(),
        reference=knowledge,
        gold=(response,) if response else (),
        evidence=() if documents is None else _documents(documents),
        source=source,
    )


def _documents(line: bytes) -> tuple[str, ...]:
    text = _text(line, "its documents").strip()
    if not text.startswith("["):
        return tuple(part.strip() for part in text.split("\t") if part.strip())
    try:
        listed = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ValueError("its documents begin with [ but are no JSON array; write texts in double quotes") from error
    documents = [document.get("text") if isinstance(document, dict) else document for document in listed]
    texts = [document for document in documents if isinstance(document, str)]
    if len(texts) < len(documents):
        raise ValueError('its documents are no texts, nor objects with "text"')
    return tuple(document.strip() for document in texts if document.strip())


def _text(line: bytes, what: str) -> str:
    if len(line) > LONGEST_LINE:
        raise ValueError(f"{what} has more than {LONGEST_LINE} bytes")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{what} is not UTF-8: byte {error.start}") from error


def _lines(path: Path) -> Iterator[bytes]:
    """Lines without their ends; of a longer one its beginning, so that its reader can refuse it."""
    with _opened(path) as stream:
        while line := stream.readline(LONGEST_LINE + 2):
            yield line.rstrip(b"\r\n")
            while not line.endswith(b"\n") and (line := stream.readline(LONGEST_LINE)):
                pass


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as unpacked:
                yield unpacked  # type: ignore[misc]  # a GzipFile reads as a binary stream does
        else:
            with path.open("rb") as plain:
                yield plain
    except (gzip.BadGzipFile, EOFError) as error:
        raise RowError(f"{path} is no whole gzip file: {error}") from error
