"""Records of a file, one mapping each: JSON arrays, JSONL, CSV and Parquet, plain or gzipped JSON and CSV.

A damaged record becomes a `RejectedRow` with its line and the reason, and reading goes on behind it. What
makes the whole file unusable (empty, of no known kind, a newer schema) is a `RowError`.

However much a packed file unpacks to, little of it is held at a time: a record is read up to `RECORD` bytes, and an
array, which is read at once, up to `ARRAY`.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from abstraction.errors import RowError
from abstraction.files.cells import unmarked
from abstraction.files.fields import is_unicode
from abstraction.files.pieces import TOO_DEEP, TooLongError, is_too_deep, read_item
from kg.extras import install_hint

SCHEMA_VERSION = 1
RECORD = 1 << 24  # bytes or characters, unpacked
ARRAY = 1 << 28  # bytes, unpacked
FIELDS = 10_000  # of a record
EXCERPT = 160
PARQUET_MAGIC = b"PAR1"
PARQUET_HELP = f"Parquet needs pyarrow: {install_hint('parquet')}"

_UNDECODED = re.compile("[\udc80-\udcff]")
_ITEM_START = re.compile(r"^[ \t]*\{", re.MULTILINE)
NOT_UTF8 = "not UTF-8; save or re-encode the file as UTF-8"
_KINDS = {type(None): "null", bool: "true or false", int: "number", float: "number", str: "text", list: "array"}
_JSON_SPACE = " \t\r\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One record: where it stands ("file:line") and its fields.

    `flat` where all values are texts, in CSV; its empty cells are no fields, and `columns` are those of its header.
    """

    source: str
    data: Mapping[str, Any]
    flat: bool = False
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RejectedRow:
    """A record that was left out: "file:line", the reason, the beginning of what stood there, and its id if known."""

    source: str
    reason: str
    excerpt: str
    id: str = ""

    def to_json(self) -> dict[str, str]:
        """A JSON object, for a file of rejects."""
        out = {"source": self.source, "reason": self.reason, "excerpt": self.excerpt}
        return {**out, "id": self.id} if self.id else out


@dataclass(frozen=True, kw_only=True, slots=True)
class UnansweredRow(RejectedRow):
    """A record to whose question its dataset has no answer: nothing is wrong with it, and it is left out."""


def names_in(record: Record) -> str:
    """The first names of a record's fields, for a message."""
    return ", ".join([*map(str, record.columns or record.data)][:12]) or "nothing"


def excerpt(text: str | bytes) -> str:
    """The first characters of what was rejected, printable and on one line."""
    if isinstance(text, bytes):
        text = text[: 4 * EXCERPT].decode("utf-8", "backslashreplace")
    text = " ".join(text[: 2 * EXCERPT].encode("utf-8", "backslashreplace").decode().split())
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def read_records(path: Path | str) -> Iterator[Record | RejectedRow]:
    """The records of a file in order; "-" is standard input. The kind is told by content, then by suffix.

    Raises RowError for an empty file, a folder, a file of no known kind or of a newer schema.
    """
    name = "standard input" if str(path) == "-" else str(path)
    try:
        for record in _read(path, name):
            if isinstance(record, Record) and "schema_version" in record.data:
                _check_schema(record)
            yield record
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RowError(f"{name}: the gzip data is cut off or damaged ({error}); fetch or compress it again") from error


def parse_records(data: bytes, name: str, *, most: int) -> Iterator[Record | RejectedRow]:
    """The records of a JSON array, or of JSON objects one a line, as `read_records` of a file `name` that holds them.

    Of an array they are called by their places, "name[1]" the first. A line of more than `most` bytes is rejected.
    Raises RowError where there is nothing, for a newer schema, and for an item of more than `most` characters.
    """
    first = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if not first:
        raise RowError(f"{name} is empty; expected a JSON array, or one JSON object a line")
    stream = io.BytesIO(data)
    read = (
        _read_array(stream, name, len(data), most)
        if first == b"["
        else _read_lines(stream, name, lone=False, most=most)
    )
    for record in read:
        if isinstance(record, Record) and "schema_version" in record.data:
            _check_schema(record)
        yield record


def _read(path: Path | str, name: str) -> Iterator[Record | RejectedRow]:
    if Path(path).is_dir():
        raise RowError(f"{name} is a folder; name the files in it, as in {name}/*.json")
    with _open(path) as stream:
        head = stream.peek(1 << 16)  # type: ignore[attr-defined]
        if head[:4] == PARQUET_MAGIC:
            yield from _read_parquet(path, name)
            return
        first = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        suffixes = {s.lower() for s in Path(path).suffixes[-2:]}
        if not first:
            if any(chunk.strip() for chunk in iter(lambda: stream.read(1 << 16).removeprefix(b"\xef\xbb\xbf"), b"")):
                raise RowError(f"{name} begins with blank lines; leave them out")
            raise RowError(f"{name} is empty; expected rows as JSON, JSONL, CSV or Parquet")
        if _is_binary(first, head):
            raise RowError(
                f"{name} is no text file; expected JSON, JSONL, CSV or Parquet as UTF-8"
                + (" (this looks like UTF-16)" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "")
            )
        if first[:1] == b"[":
            yield from _read_array(stream, name, ARRAY)
        elif first[:1] == b"{" and ".json" in suffixes and (wrapped := _wrapped(stream)) is not None:
            for place, data in enumerate(wrapped, 1):
                yield _record(f"{name}[{place}]", data, RECORD)
        elif first[:1] == b"{" or suffixes & {".jsonl", ".ndjson"}:
            yield from _read_lines(stream, name, lone=".json" in suffixes)
        elif suffixes & {".csv", ".tsv"} or b"question" in first.split(b"\n", 1)[0].lower():
            yield from _read_csv(stream, name)
        else:
            raise RowError(
                f"{name} is of no known kind; expected a JSON array, one JSON object a line, CSV with a "
                f"header, or Parquet, but it begins {excerpt(first)[:40]!r}"
            )


def _wrapped(stream: BinaryIO) -> list[Any] | None:
    """The rows of a file that is one object with a list of objects in it, as TriviaQA's {"Data": [...], "Version": 1}.

    The list has at least one. None, and the stream at its beginning again, for every other file: one row, rows one a
    line, more than ARRAY bytes.
    """
    whole = stream.read(ARRAY + 1)
    stream.seek(0)
    try:
        data = orjson.loads(whole.removeprefix(b"\xef\xbb\xbf")) if len(whole) <= ARRAY else None
    except orjson.JSONDecodeError:
        return None
    if not isinstance(data, dict) or not _ROW_FIELDS.isdisjoint(data):
        return None
    lists = [value for value in data.values() if isinstance(value, list | dict)]
    if len(lists) != 1 or not isinstance(lists[0], list):
        return None
    return lists[0] if lists[0] and all(isinstance(one, dict) for one in lists[0]) else None


_ROW_FIELDS = frozenset({"id", "question", "prediction", "text", "answer", "answers", "levels"})  # of one row


def _is_binary(first: bytes, head: bytes) -> bool:
    """Whether a file is no text, by its beginning: NUL bytes in a row of JSON, or behind a header, reject that row."""
    if first[:1] in (b"[", b"{"):
        return first[1:2] == b"\x00"  # UTF-16
    return b"\x00" in head.split(b"\n", 1)[0]


def _open(path: Path | str) -> BinaryIO:
    if str(path) == "-":
        return sys.stdin.buffer
    if str(path).endswith(".gz"):
        return gzip.open(path, "rb")  # type: ignore[return-value]
    return Path(path).open("rb", buffering=1 << 18)


def _check_schema(record: Record) -> None:
    version = record.data["schema_version"]
    try:
        number = int(version)
    except (TypeError, ValueError):
        number = 0
    if isinstance(version, bool) or number < 1:
        raise RowError(f"{record.source}: schema_version {version!r} is no version; expected {SCHEMA_VERSION}")
    if number > SCHEMA_VERSION:
        raise RowError(
            f"{record.source}: schema_version {number} is newer than {SCHEMA_VERSION}, the newest that this "
            "version reads; update granola-ladders"
        )


def _read_lines(stream: BinaryIO, name: str, *, lone: bool, most: int | None = None) -> Iterator[Record | RejectedRow]:
    most = RECORD if most is None else most
    number = 0
    while raw := stream.readline(most + 1):
        number += 1
        line = raw.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else raw.strip()
        source = f"{name}:{number}"
        if len(raw) > most and not raw.endswith(b"\n"):
            while (rest := stream.readline(_SKIPPED)) and not rest.endswith(b"\n"):
                pass
            yield RejectedRow(source=source, reason=too_long(most), excerpt=excerpt(line))
            continue
        if not line:
            continue
        try:
            data = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            if number == 1 and lone and len(line) < 3:
                raise RowError(f"{name} is one JSON object; expected an array, or one object a line") from error
            reason = f"not JSON: {error}" if _is_utf8(line) else NOT_UTF8
            yield RejectedRow(source=source, reason=reason, excerpt=excerpt(line))
            continue
        yield _record(source, data, line.count(b"[") + line.count(b"{"))


_SKIPPED = 1 << 16  # bytes at a time of a line that is too long


def too_long(most: int, unit: str = "bytes") -> str:
    """Why a record of more than `most` bytes or characters is rejected, and what to do."""
    return f"longer than {most:,} {unit}, the most that one record may have; split it or leave it out"


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _record(source: str, data: object, brackets: int) -> Record | RejectedRow:
    if isinstance(data, dict):
        if is_too_deep(data, brackets):
            return RejectedRow(source=source, reason=TOO_DEEP, excerpt="")
        if len(data) > FIELDS:
            shown = excerpt(", ".join(islice(data, 50)))
            return RejectedRow(source=source, reason=f"{len(data):,} fields; allowed are {FIELDS:,}", excerpt=shown)
        return Record(source=source, data=data)
    return RejectedRow(
        source=source, reason=f"JSON {_KINDS.get(type(data), 'value')}, not an object", excerpt=excerpt(repr(data))
    )


def _read_array(stream: BinaryIO, name: str, whole: int, most: int | None = None) -> Iterator[Record | RejectedRow]:
    """Items one by one, so that each knows its line; behind damage, on from the next line with an object.

    Raises RowError for more than `whole` bytes. With `most`, for an item of more characters, too, which are then called
    by their places; without it an item of more than `RECORD` is rejected.
    """
    data_read = stream.read(whole + 1)
    if len(data_read) > whole:
        raise RowError(
            f"{name} is a JSON array of more than {whole:,} bytes; write one object a line instead; "
            "of those any number is read"
        )
    text = data_read.decode("utf-8-sig", "surrogateescape")
    del data_read
    at, line, counted, place = text.index("[") + 1, 1, 0, 0
    while True:
        while at < len(text) and text[at] in _JSON_SPACE:
            at += 1
        if text[at : at + 1] == ",":
            at += 1
            continue
        if text[at : at + 1] == "]":
            rest = text[at + 1 :].strip()
            if rest:
                line += text.count("\n", counted, at)
                yield RejectedRow(
                    source=f"{name}:{line}", reason="text behind the end of the array", excerpt=excerpt(rest)
                )
            return
        line += text.count("\n", counted, at)
        counted = at
        place += 1
        source = f"{name}:{line}" if most is None else f"{name}[{place}]"
        try:
            data, end = read_item(text, at, RECORD if most is None else most)
        except (TooLongError, json.JSONDecodeError, RecursionError) as error:
            if isinstance(error, TooLongError) and most is not None:
                raise RowError(f"{source} is {error}") from error
            reason = (
                "the array ends without its ]" if at >= len(text)
                else too_long(RECORD, "characters") if isinstance(error, TooLongError)
                else TOO_DEEP if isinstance(error, RecursionError)
                else f"not JSON: {error}"
            )  # fmt: skip
            yield RejectedRow(source=source, reason=reason, excerpt=excerpt(text[at : at + 2 * EXCERPT]))
            again = _ITEM_START.search(text, at + 1)
            if again is None:
                return
            at = again.end() - 1
            continue
        item = text[at:end]
        if _UNDECODED.search(item):
            yield RejectedRow(source=source, reason=NOT_UTF8, excerpt=excerpt(item))
        elif "\\ud" in item.lower() and not is_unicode(data):
            yield RejectedRow(source=source, reason="half of a surrogate pair", excerpt=excerpt(item))
        else:
            yield _record(source, data, item.count("[") + item.count("{"))
        at = end


def _read_csv(stream: BinaryIO, name: str) -> Iterator[Record | RejectedRow]:
    csv.field_size_limit(RECORD)  # a ladder with its evidence is one cell
    lines = _CsvLines(io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline=""))
    try:
        header_line = next(lines)
    except csv.Error as error:
        raise RowError(f"{name}:1: the header is {error}") from error
    delimiter = max(",\t;", key=header_line.count)
    header = tuple(unmarked(cell.strip()) for cell in next(csv.reader([header_line], delimiter=delimiter)))
    if len(header) > FIELDS:
        raise RowError(f"{name}:1: the header has {len(header):,} columns; allowed are {FIELDS:,}")
    if len(set(header)) < len(header):
        twice = Counter(header).most_common(1)[0][0]
        raise RowError(f"{name}:1: column {twice!r} stands twice in the header")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        source = f"{name}:{lines.number + 1}"
        lines.left = RECORD
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            too_big = lines.left < 0 or "field larger than" in str(error)
            yield RejectedRow(
                source=source, reason=too_long(RECORD, "characters") if too_big else f"not CSV: {error}", excerpt=""
            )
            continue
        shown = delimiter.join(cells)
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(header):
            reason = f"{len(cells)} fields where the header has {len(header)}"
            yield RejectedRow(source=source, reason=reason, excerpt=excerpt(shown))
        elif _UNDECODED.search(shown):
            yield RejectedRow(source=source, reason=NOT_UTF8, excerpt=excerpt(shown))
        elif "\x00" in shown:
            yield RejectedRow(source=source, reason="a NUL character in it", excerpt=excerpt(repr(shown)))
        else:
            data = {key: unmarked(cell) for key, cell in zip(header, cells, strict=False) if cell.strip()}
            yield Record(source=source, data=data, flat=True, columns=header)


class _CsvLines:
    """The lines of a text; `number` were read. Raises csv.Error where more than `left` characters would be held."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self.number = 0
        self.left = RECORD

    def __iter__(self) -> _CsvLines:
        return self

    def __next__(self) -> str:
        line = self._text.readline(self.left + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self.left -= len(line)
        if self.left < 0:
            while line and not line.endswith(("\n", "\r")):
                line = self._text.readline(_SKIPPED)
            raise csv.Error(too_long(RECORD, "characters"))
        return line


def _read_parquet(path: Path | str, name: str) -> Iterator[Record | RejectedRow]:
    try:
        import pyarrow  # type: ignore[import-untyped]  # ships no stubs
        import pyarrow.parquet  # type: ignore[import-untyped]  # ships no stubs
    except ImportError as error:
        raise RowError(f"{name}: {PARQUET_HELP}") from error
    if name == "standard input":
        raise RowError("Parquet cannot be read from standard input; give the file's name")
    try:
        table = pyarrow.parquet.ParquetFile(path)
        if len(names := table.schema_arrow.names) > FIELDS:
            raise RowError(f"{name} has {len(names):,} columns; allowed are {FIELDS:,}")
        number = 0
        for batch in table.iter_batches(batch_size=4096):
            for data in _decoded(batch):
                number += 1
                if data is None:
                    yield RejectedRow(source=f"{name}:{number}", reason=NOT_UTF8, excerpt="")
                    continue
                yield Record(
                    source=f"{name}:{number}",
                    data={key: value for key, value in data.items() if value is not None},
                )
    except pyarrow.ArrowException as error:
        raise RowError(f"{name} is no readable Parquet file: {error}") from error


def _decoded(batch: Any) -> Iterator[dict[str, Any] | None]:
    """The rows of a batch of Parquet; None for one with a text that is no UTF-8, as other programs may write it."""
    try:
        yield from batch.to_pylist()
    except UnicodeDecodeError:
        for at in range(batch.num_rows):
            try:
                (row,) = batch.slice(at, 1).to_pylist()
            except UnicodeDecodeError:
                row = None
            yield row
