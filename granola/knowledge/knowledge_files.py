"""Files of knowledge texts: JSONL of one's own, and CONNER's four columns with texts of systems in files beside them.

Four columns: topic, query, knowledge, response, parted by tabs, one item a line; turns of a dialogue are parted by
[SEP]. A file of texts has one line for each item, an empty line for an empty text; a file of documents has on each
line what was retrieved for an item, as a JSON array of texts (or of objects with "text"), or parted by tabs.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import AliasChoices, BeforeValidator, Field

from abstraction.errors import RowError
from abstraction.faults import OnReject, RejectedRow
from abstraction.files.records import Record, opened_to_read, read_records
from abstraction.files.row_models import NeededId, RowModel
from abstraction.files.row_reading import accepted, each_once
from granola.knowledge.knowledge_items import KnowledgeItem

COLUMNS_ENDINGS = (".txt", ".tsv")
TURN = "[SEP]"


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
    records: Iterable[Record | RejectedRow]
    read: Callable[[Record], KnowledgeItem]
    if has_columns(path):
        records, read = _of_columns(path, texts, documents), _item
    elif texts is not None or documents is not None:
        raise RowError(f"{path}: texts and documents line by line go with four columns ({', '.join(COLUMNS_ENDINGS)})")
    else:
        records, read = read_records(path), item_of
    once = each_once(
        records, read, name=lambda item: f"{item.id} of system {item.system or '(none)'}, candidate {item.candidate}"
    )
    yield from islice(accepted(once, on_reject), limit)


def _texts(value: object) -> object:
    """One text or several, without empty ones."""
    several = [value] if isinstance(value, str) else value or []
    if not isinstance(several, list | tuple) or not all(isinstance(text, str) for text in several):
        return value
    return tuple(text for text in several if text.strip())


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]


class _ItemRow(RowModel):
    """A row of one's own."""

    id: NeededId = Field(description="a text")
    query: NeededId = Field(validation_alias=AliasChoices("query", "question"), description="a text")
    topic: Text = ""
    knowledge: Text = ""
    answer: Text = ""
    reference: Text = ""
    system: Text = ""
    gold: Texts = ()
    evidence: Texts = ()
    context: Texts = ()
    candidate: Annotated[int, Field(ge=0, strict=True)] = 0
    views: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None


def item_of(record: Record) -> KnowledgeItem:
    """An item of a JSON object; "question" is read as "query". Raises RowError with what is wrong."""
    row = _ItemRow.of(record)
    known = {*_ItemRow.model_fields, "question", "schema_version"}
    extra = {name: value for name, value in record.data.items() if name not in known}
    return KnowledgeItem(**row.model_dump(), source=record.source, extra=extra)


def _of_columns(path: Path | str, texts: Path | str | None, documents: Path | str | None) -> Iterator[Record]:
    """Lines of four columns, with those of the files beside it. Raises RowError where they are not as many."""
    given = {name: one for name, one in (("line", path), ("text", texts), ("documents", documents)) if one is not None}
    number = 0
    for number, lines in enumerate(zip_longest(*map(_lines, given.values())), 1):
        if None in lines:
            ended = list(given.values())[lines.index(None)]
            raise RowError(f"{ended} ends before line {number}, others do not: one line for each item is needed")
        yield Record(source=f"{path}:{number}", data=dict(zip(given, lines, strict=True)))
    if not number:
        raise RowError(f"{path} is empty")


def _item(record: Record) -> KnowledgeItem:
    line, text, documents = record.data["line"], record.data.get("text"), record.data.get("documents")
    cells = _text(line, "the line").split("\t")
    if len(cells) != 4:
        raise RowError(f"{len(cells)} columns; four are needed: topic, query, knowledge, response, parted by tabs")
    topic, asked, knowledge, response = (cell.strip() for cell in cells)
    turns = [turn.strip() for turn in asked.split(TURN) if turn.strip()]
    if not turns:
        raise RowError("no query in the second column")
    return KnowledgeItem(
        id=record.source.rpartition(":")[2],
        topic=topic,
        query=turns[-1],
        context=tuple(turns[:-1]),
        knowledge=knowledge if text is None else _text(text, "the text beside it").strip(),
        reference=knowledge,
        gold=(response,) if response else (),
        evidence=() if documents is None else _documents(documents),
        source=record.source,
    )


def _documents(line: bytes) -> tuple[str, ...]:
    text = _text(line, "its documents").strip()
    if not text.startswith("["):
        return tuple(part.strip() for part in text.split("\t") if part.strip())
    try:
        listed = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise RowError("its documents begin with [ but are no JSON array; write texts in double quotes") from error
    documents = [document.get("text") if isinstance(document, dict) else document for document in listed]
    texts = [document for document in documents if isinstance(document, str)]
    if len(texts) < len(documents):
        raise RowError('its documents are no texts, nor objects with "text"')
    return tuple(document.strip() for document in texts if document.strip())


def _text(line: bytes, what: str) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RowError(f"{what} is not UTF-8: byte {error.start}") from error


def _lines(path: Path | str) -> Iterator[bytes]:
    """Lines without their ends."""
    try:
        with opened_to_read(path) as stream:
            for line in stream:
                yield line.rstrip(b"\r\n")
    except (gzip.BadGzipFile, EOFError) as error:
        raise RowError(f"{path} is no whole gzip file: {error}") from error
