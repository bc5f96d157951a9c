"""Writing records: JSONL, CSV and Parquet; files appear whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from abstraction.errors import RowError
from abstraction.files.records import PARQUET_HELP, SCHEMA_VERSION, escape_formula, join_cell, json_text
from kg.base.files import atomic_path

FORMATS = ("jsonl", "csv", "parquet")
# Formats by suffix; .json gets one object per line too.
_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".parquet": "parquet"}
_PACKED = ".gz"


def format_of(path: Path | str) -> str | None:
    """The format by a path's suffix, before a .gz; None for an unknown suffix."""
    return _ENDINGS.get(_path_without_gz(path).suffix.lower())


def check_format(path: Path | str, requested: str | None = None) -> str:
    """The format to write: the given one, else by the path's suffix; "jsonl" for a path without one.

    Raises RowError for an unknown one, for Parquet without pyarrow or as .gz, and for anything but JSONL on standard
    output.
    """
    if requested is not None and requested not in FORMATS:
        raise RowError(f"format {requested!r} is not known; expected one of {', '.join(FORMATS)}")
    suffix = _path_without_gz(path).suffix.lower()
    kind = requested or format_of(path)
    if kind is None:
        if suffix:
            known = ", ".join(_ENDINGS)
            raise RowError(f"{path}: ending {suffix} is not known; expected {known}, each but .parquet also with .gz")
        kind = "jsonl"
    if kind == "parquet" and _is_gzipped(path):
        raise RowError(f"{path}: Parquet is packed already; leave the .gz out")
    if str(path) == "-" and kind != "jsonl":
        raise RowError(f"{kind} cannot be written to standard output; give a file or use jsonl")
    if kind == "parquet" and find_spec("pyarrow") is None:
        raise RowError(f"{path}: {PARQUET_HELP}")
    return kind


def check_kind(path: Path | str, kind: str, *, option: str = "--out", may_be_packed: bool = False) -> None:
    """Raise RowError for a path whose suffix names another format than `kind`, the only one for this output."""
    ending = Path(path).suffix.lower()
    if _is_gzipped(path) and may_be_packed:
        ending = _path_without_gz(path).suffix.lower()
    if ending and _ENDINGS.get(ending) != kind:
        raise RowError(f"{path}: {option} is written as {kind}, which {ending} is not; give it the ending .{kind}")


def write_records(
    records: Iterable[Mapping[str, Any]], path: Path | str, *, format: str | None = None, csv_raw: bool = False
) -> int:
    """Write records and return their number; "-" is standard output, JSONL only.

    `schema_version` is in the first record of JSONL, in a column of CSV, in the metadata of Parquet. In CSV and
    Parquet a value other than a text, a number or a list of texts is written as JSON text. In CSV a text that a
    spreadsheet would read as a formula is escaped, see `abstraction.files.records`, unless `csv_raw`. The file appears
    under `path` when all is written.
    """
    kind = check_format(path, format)
    if str(path) == "-":
        return _write_lines(records, sys.stdout.buffer)
    with atomic_path(path) as temporary:
        if kind == "jsonl":
            with open_for_writing(temporary, packed=_is_gzipped(path)) as stream:
                return _write_lines(records, stream)
        # The columns are known when all rows were seen.
        flattened = [
            {key: value if _fits_flat_column(value) else json_text(value) for key, value in record.items()}
            for record in records
        ]
        if kind == "csv":
            with open_for_writing(temporary, packed=_is_gzipped(path)) as stream:
                _write_csv(flattened, stream, raw=csv_raw)
        else:
            _write_parquet(flattened, temporary)
        return len(flattened)


@contextmanager
def json_line_writer(path: Path | str) -> Iterator[Callable[[Mapping[str, Any]], object]]:
    """A function that writes records one by one as JSONL, without a schema; packed where the path ends in .gz.

    The file appears, whole, when the block ends without an error.
    """
    with atomic_path(path) as temporary, open_for_writing(temporary, packed=_is_gzipped(path)) as stream:
        yield lambda record: stream.write(json_line(record))


def write_csv_lines(lines: Iterable[Sequence[Any]], path: Path | str, *, raw: bool = False) -> None:
    """Write a CSV sheet for people, whole or not at all; formulas are escaped unless `raw`."""
    with atomic_path(path) as place, place.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        for cells in lines:
            writer.writerow(cells if raw else map(escape_formula, cells))


def _is_gzipped(path: Path | str) -> bool:
    return Path(path).suffix.lower() == _PACKED


def _path_without_gz(path: Path | str) -> Path:
    return Path(path).with_suffix("") if _is_gzipped(path) else Path(path)


@contextmanager
def open_for_writing(path: Path, *, packed: bool) -> Iterator[BinaryIO]:
    """A file opened for writing, gzipped if `packed`, without name and time in its header: equal rows give equal
    bytes.
    """
    with path.open("wb") as stream:
        if not packed:
            yield stream
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as zipped:
            yield zipped  # type: ignore[misc]  # only `write` is used


def _write_lines(records: Iterable[Mapping[str, Any]], stream: BinaryIO) -> int:
    count = 0
    for count, record in enumerate(records, start=1):
        stream.write(json_line(record if count > 1 else {"schema_version": SCHEMA_VERSION, **record}))
    return count


def json_line(record: Mapping[str, Any]) -> bytes:
    """A record as a line of JSONL."""
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a whole number of more than 64 bits
        return json_text(record).encode() + b"\n"


def _columns_without_schema_version(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns of all records without `schema_version`, which the writer adds and which rows from our own files
    have.
    """
    return [name for name in dict.fromkeys(itertools.chain.from_iterable(records)) if name != "schema_version"]


def _fits_flat_column(value: object) -> bool:
    """Whether a value is written as it is: None, a text, a number or a list of texts. Others are written as JSON text.
    """
    is_texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return is_texts or value is None or isinstance(value, str | int | float)


def _write_csv(records: list[dict[str, Any]], binary: BinaryIO, *, raw: bool) -> None:
    columns = _columns_without_schema_version(records)
    with io.TextIOWrapper(binary, encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")  # the same bytes on every system
        writer.writerow(["schema_version", *(columns if raw else map(escape_formula, columns))])
        for record in records:
            values = map(record.get, columns)
            cells = (join_cell(v) if isinstance(v, list) else "" if v is None else v for v in values)
            writer.writerow([SCHEMA_VERSION, *(cells if raw else map(escape_formula, cells))])


def _write_parquet(records: list[dict[str, Any]], path: Path) -> None:
    import pyarrow  # type: ignore[import-untyped]  # ships no stubs
    import pyarrow.parquet  # type: ignore[import-untyped]  # ships no stubs

    arrays = {}
    for column in _columns_without_schema_version(records):
        values = [record.get(column) for record in records]
        try:
            arrays[column] = pyarrow.array(values)
        except (pyarrow.ArrowException, OverflowError):  # mixed kinds in one column
            arrays[column] = pyarrow.array([v if v is None or isinstance(v, str) else json_text(v) for v in values])
    table = pyarrow.table(arrays).replace_schema_metadata({"schema_version": str(SCHEMA_VERSION)})
    pyarrow.parquet.write_table(table, path)
