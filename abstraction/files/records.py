"""Records of a file, one mapping each: JSON arrays, JSONL, CSV and Parquet, plain or gzipped JSON and CSV; and the
files of a folder.

A damaged line of JSONL or CSV becomes a `RejectedRow` with its place and the reason, and reading continues after it. A
file that is unusable as a whole (empty, of unknown kind, of a newer schema, an array cut off) raises `RowError`.

In CSV a text that begins with = + - @, a tab or a carriage return gets a leading `'`, by which spreadsheets mark texts;
numbers do not. A text with such a mark of its own gets another, so that reading returns the written text.
"""

from __future__ import annotations

import ast
import csv
import gzip
import io
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import orjson

from abstraction.base.faults import RejectedRow, excerpt, repr_excerpt
from abstraction.errors import RowError
from kg.base.packages import install_hint

GRANOLA_ANSWERS = tuple(f"granola_answer_{k}" for k in range(1, 15))  # the dataset has 14 such columns
GRANOLA_COUNT = "num_granola_answers"
QUESTION_SITELINKS = "question_entity_sitelinks"  # ours: number of Wikimedia pages about the subject, by the snapshot
GRANOLA_COLUMNS = (
    "relation", "question",
    "question_entity", "question_entity_qid", "question_entity_description", "question_entity_popularity",
    "answer", "answer_entity_qid", "answer_entity_description", "answer_entity_popularity",
    "score_for_potential_error", *GRANOLA_ANSWERS, GRANOLA_COUNT, "id",
)  # fmt: skip
REFERENCE = "reference_levels"  # the field that keeps existing levels of an input row

NEAR = 0.85  # least difflib ratio, in [0, 1], at which a name counts as a misspelling of another
QUESTION = ("question",)
ANSWERS = ("answer", "answers")
ANSWER_QIDS = ("answer_qid", "answer_qids", "answer_entity_qid", "answer_entity")  # the first one with a value counts
# A misspelt optional field would be ignored silently: see `optional_field_misspelt_as`.
OPTIONAL = ("relation", "question_entity", "question_entity_qid", "language", *ANSWER_QIDS)
# Fields with a meaning here; all others are passed on.
KNOWN = frozenset(
    {
        "id", "relation", "question_entity", "question_entity_qid", "levels", "abstained", "schema_version",
        GRANOLA_COUNT, *QUESTION, *ANSWERS, *ANSWER_QIDS, *GRANOLA_ANSWERS,
    }
)  # fmt: skip
# Fields that spreadsheets often capitalise.
HEADINGS = frozenset({"id", "relation", "language", "prediction", *QUESTION, *ANSWERS})


def field_of_heading(name: str) -> str:
    """The field name for a spreadsheet's heading: `question` for `Question`; other names as they are."""
    return name.lower() if name.lower() in HEADINGS else name


@lru_cache(maxsize=1000)
def optional_field_misspelt_as(name: str) -> str | None:
    """The optional field of which a name is probably a misspelling: `relation` for `realtion`. None where no optional
    field is similar.
    """
    near = get_close_matches(name, OPTIONAL, n=1, cutoff=NEAR)
    return near[0] if near and near[0] != name else None


T = TypeVar("T")

MARK = "'"  # spreadsheets show such a cell as text, without the mark
_FIRST = frozenset("'=+-@\t\r")  # a quick check before the patterns
_FORMULA = re.compile(r"\A'*+[=+\-@\t\r]")  # the marks of earlier escapes, then a character that begins a formula
_STRING = r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""  # a string as Python writes it
_ARRAY = re.compile(rf"\A\[\s*+{_STRING}(?:\s++{_STRING})*+\s*+\]\Z")  # as NumPy writes an array of texts
_NUMPY = re.compile(r"\Aarray\((\[.*\])(?:, dtype=\w+)?\)\Z", re.DOTALL)  # the `repr` of an array
_NAN = re.compile(r"(?<=[\[,(\s])nan(?=[\],)])")  # as pandas writes a missing value
_NUMBER = re.compile(r"\A[+-]?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?\Z")


def escape_formula(value: T) -> T | str:
    """The value, with a leading `'` where a spreadsheet would read its text as a formula; other values are returned
    unchanged.
    """
    if not isinstance(value, str) or value[:1] not in _FIRST:
        return value
    if _FORMULA.match(value) and not _NUMBER.match(value):  # numbers may begin with + or -
        return MARK + value
    return value


def unescape_formula(cell: str) -> str:
    """The inverse of `escape_formula`."""
    return cell[1:] if cell[:1] == MARK and _FORMULA.match(cell) else cell


def json_text(value: object) -> str:
    """A value as compact JSON for a text column, without escapes of letters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parse_json_or_text(text: str) -> Any:
    """The JSON value of a text, or the text itself where it is not JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def parse_literal_or_text(text: str) -> Any:
    """The value of a text: JSON, or Python as pandas and NumPy write it into a cell; else the text itself."""
    value = parse_json_or_text(text)
    if not isinstance(value, str):
        return value
    if (array := _NUMPY.match(text.strip())) is not None:
        text = array[1]
    if _ARRAY.match(text.strip()):  # before Python reads it, which would concatenate adjacent texts
        return [ast.literal_eval(item) for item in re.findall(_STRING, text)]
    try:
        value = ast.literal_eval(_NAN.sub("None", text.strip()))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if isinstance(value, set) and all(isinstance(item, str) for item in value):
        return sorted(value)  # sets have no order
    is_texts = isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    return list(value) if is_texts else value


def split_cell(cell: str) -> list[Any]:
    """The values of a cell: a list as JSON, Python or NumPy writes it, or texts separated by `|`."""
    if cell.lstrip()[:1] in ("[", "(", "{") or cell.lstrip().startswith("array("):
        value = parse_literal_or_text(cell)
        if isinstance(value, list):
            return value
    return [part.strip() for part in cell.split("|")]


def join_cell(texts: Sequence[str]) -> str:
    """The inverse of `split_cell`: texts joined by `|`, or a JSON list where that would read back differently."""
    joined = "|".join(texts)
    return joined if split_cell(joined) == list(texts) else json.dumps(list(texts), ensure_ascii=False)


SCHEMA_VERSION = 1  # the version of the rows that we write; a file with a newer one is refused
_VERSION_CELLS = ("1", "1.0")  # pandas writes whole numbers as floats, and null into the rows that have none
PARQUET_MAGIC = b"PAR1"  # the first bytes of every Parquet file
PARQUET_HELP = f"Parquet needs pyarrow: {install_hint('parquet')}"
NOT_UTF8 = "not UTF-8; save or re-encode the file as UTF-8"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UNDECODED = re.compile("[\udc80-\udcff]")  # surrogates by which Python keeps bytes that are not UTF-8
_SEPARATOR = re.compile(r'\A"?sep=([^"\r\n])"?\s*\Z', re.IGNORECASE)  # a line with which Excel names the separator
# An object with one of these fields is a row; one without may be a wrapper of rows.
_ROW_FIELDS = frozenset({"id", "question", "prediction", "text", "answer", "answers", "levels"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One record: its place ("file:line") and its fields.

    `flat`: all values are texts, as in CSV; empty cells are left out, and `columns` are those of the header.
    """

    source: str
    data: Mapping[str, Any]
    flat: bool = False
    columns: tuple[str, ...] = ()

    @property
    def first_field_names(self) -> str:
        """The names of the first 12 fields, separated by commas, for a message."""
        return ", ".join([*map(str, self.columns or self.data)][:12]) or "nothing"

    @property
    def text_excerpt(self) -> str:
        """The beginning of the fields as text, for a message."""
        return repr_excerpt(dict(self.data))

    def rejected_row(self, reason: str) -> RejectedRow:
        """The rejected row of this record, with the reason."""
        return RejectedRow(source=self.source, reason=reason, excerpt=self.text_excerpt)


def read_records(path: Path | str) -> Iterator[Record | RejectedRow]:
    """The records of a file in order; "-" is standard input. The kind is recognised by content, then by suffix.

    Raises RowError for an empty file, a folder, a file of unknown kind or of a newer schema.
    """
    name = "standard input" if str(path) == "-" else str(path)
    try:
        for record in _read_by_file_kind(path, name):
            version = record.data.get("schema_version") if isinstance(record, Record) else None
            if version not in (None, SCHEMA_VERSION, *_VERSION_CELLS):
                raise RowError(
                    f"{record.source}: schema_version {version!r} is not {SCHEMA_VERSION}, the one that is read here; "
                    "update granola-ladders"
                )
            yield record
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RowError(f"{name}: the gzip data is cut off or damaged ({error}); fetch or compress it again") from error


def _read_by_file_kind(path: Path | str, name: str) -> Iterator[Record | RejectedRow]:
    if Path(path).is_dir():
        raise RowError(f"{name} is a folder; name the files in it, as in {name}/*.json")
    with open_for_reading(path) as stream:
        # Bytes: enough for a header; does not advance the stream.
        head = stream.peek(1 << 16)  # type: ignore[attr-defined]
        if head[:4] == PARQUET_MAGIC:
            yield from _read_parquet(path, name)
            return
        first = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
        suffixes = {s.lower() for s in Path(path).suffixes[-2:]}
        if not first:
            raise RowError(f"{name} is empty, or begins with nothing but blanks; expected JSON, JSONL, CSV or Parquet")
        if b"\x00" in head[:8]:
            raise RowError(
                f"{name} is no text file as UTF-8, but UTF-16 or binary; save a spreadsheet as CSV UTF-8, unpack a zip "
                "file"
            )
        if first[:1] == b"[":
            yield from _records_of(_read_whole(stream, name), name)
        elif first[:1] == b"{" and ".json" in suffixes and (rows := _rows_of_whole_object(stream, name)) is not None:
            yield from _records_of(rows, name)
        elif first[:1] == b"{" or suffixes & {".jsonl", ".ndjson"}:
            for number, line in enumerate(stream, 1):
                if text := line.removeprefix(_BYTE_ORDER_MARK).strip():
                    yield record_of_line(text, f"{name}:{number}")
        elif suffixes & {".csv", ".tsv"} or b"question" in first.split(b"\n", 1)[0].lower():
            yield from read_csv(stream, name)
        else:
            raise RowError(
                f"{name} is of no known kind; expected a JSON array, one JSON object per line, CSV with a "
                f"header, or Parquet, but it begins {excerpt(first)[:40]!r}"
            )


def open_for_reading(path: Path | str) -> BinaryIO:
    """A file opened for reading bytes, unpacked where its name ends in .gz; "-" is standard input."""
    if str(path) == "-":
        return sys.stdin.buffer
    if str(path).endswith(".gz"):
        return gzip.open(path, "rb")  # type: ignore[return-value]
    return Path(path).open("rb", buffering=1 << 18)  # bytes: lines with evidence are long


def _read_whole(stream: BinaryIO, name: str) -> Any:
    """The JSON value of a whole file. Raises RowError, which names the line, where the file is not JSON."""
    try:
        return orjson.loads(stream.read().removeprefix(_BYTE_ORDER_MARK))
    except orjson.JSONDecodeError as error:
        if "valid UTF-8" in str(error):
            raise RowError(f"{name}: {NOT_UTF8}") from error
        raise RowError(
            f"{name}:{error.lineno}: not JSON: {error}; correct it, or write one object per line, so that only "
            "damaged lines are rejected"
        ) from error


def _records_of(values: Iterable[object], name: str) -> Iterator[Record | RejectedRow]:
    return (_record_of(value, f"{name}[{place}]") for place, value in enumerate(values, 1))


def _rows_of_whole_object(stream: BinaryIO, name: str) -> list[object] | None:
    """The rows of a file that contains one JSON object: the object itself, or the list inside it, as in TriviaQA's
    {"Data": [...], "N": 1}.

    None, with the stream rewound, for a file with one row per line.
    """
    try:
        data = _read_whole(stream, name)
    except RowError:
        stream.seek(0)
        return None
    lists = [value for value in data.values() if isinstance(value, list | dict)]
    is_wrapper = len(lists) == 1 and isinstance(lists[0], list) and _ROW_FIELDS.isdisjoint(data)
    return list(lists[0]) if is_wrapper and lists[0] and all(isinstance(one, dict) for one in lists[0]) else [data]


def record_of_line(line: bytes, source: str) -> Record | RejectedRow:
    """The record of a line of JSON."""
    try:
        return _record_of(orjson.loads(line), source)
    except orjson.JSONDecodeError as error:
        reason = NOT_UTF8 if "valid UTF-8" in str(error) else f"not JSON: {error}"
        return RejectedRow(source=source, reason=reason, excerpt=excerpt(line))


def _record_of(data: object, source: str) -> Record | RejectedRow:
    if isinstance(data, dict):
        return Record(source=source, data=data)
    return RejectedRow(source=source, reason="JSON, but not an object", excerpt=repr_excerpt(data))


def read_csv(stream: BinaryIO, name: str) -> Iterator[Record | RejectedRow]:
    """The records of CSV with a header, separated by commas, semicolons or tabs.

    Raises RowError for a repeated column.
    """
    csv.field_size_limit(sys.maxsize)  # a ladder with its evidence is one cell
    lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    header_line, above = next(lines, ""), 1
    if told := _SEPARATOR.match(header_line):  # Excel writes a line with the separator above the header
        header_line, above = next(lines, ""), 2
    delimiter = told[1] if told else max(",\t;", key=header_line.count)  # the most frequent separator in the header
    header = tuple(unescape_formula(cell.strip()) for cell in next(csv.reader([header_line], delimiter=delimiter)))
    if len(set(map(field_of_heading, header))) == len(header):
        header = tuple(map(field_of_heading, header))
    if len(set(header)) < len(header):
        twice = Counter(header).most_common(1)[0][0]
        raise RowError(f"{name}:{above}: column {twice!r} appears twice in the header")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        source = f"{name}:{reader.line_num + above + 1}"  # plus the header, which another reader took
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield RejectedRow(source=source, reason=f"not CSV: {error}", excerpt="")
            continue
        line = delimiter.join(cells)
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(header):
            reason = f"{len(cells)} fields where the header has {len(header)}"
            yield RejectedRow(source=source, reason=reason, excerpt=excerpt(line))
        elif _UNDECODED.search(line):
            yield RejectedRow(source=source, reason=NOT_UTF8, excerpt=excerpt(line))
        else:
            data = {key: unescape_formula(cell) for key, cell in zip(header, cells, strict=False) if cell.strip()}
            yield Record(source=source, data=data, flat=True, columns=header)


def _read_parquet(path: Path | str, name: str) -> Iterator[Record | RejectedRow]:
    try:
        import pyarrow  # type: ignore[import-untyped]  # ships no stubs
        import pyarrow.parquet  # type: ignore[import-untyped]  # ships no stubs
    except ImportError as error:
        raise RowError(f"{name}: {PARQUET_HELP}") from error
    if name == "standard input":
        raise RowError("Parquet cannot be read from standard input; give the file's name")
    try:
        batches = pyarrow.parquet.ParquetFile(path).iter_batches(batch_size=4096)  # rows in memory at once
        rows = (row for batch in batches for row in batch.to_pylist())
        for number, data in enumerate(rows, 1):
            # Null is a missing field.
            yield Record(
                source=f"{name}:{number}", data={key: value for key, value in data.items() if value is not None}
            )
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise RowError(f"{name} is no readable Parquet file: {error}") from error


# The files of a folder.

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
_SPLITS = ("train", "validation", "test")  # names of splits at the Hugging Face Hub
# Other names of splits on the Hugging Face Hub and in datasets.
_SPLIT_ALIASES = {**dict.fromkeys(("dev", "valid", "val", "development"), "validation"), "eval": "test"}
# Files that commands write next to their output, and files of a dataset folder that contain no rows.
_SIDE_SUFFIXES = (".run.json", ".rejects.jsonl", ".phrasing.jsonl", ".calls.jsonl", ".manifest.json")
_SIDE_FILES = frozenset({
    "dataset_info.json", "dataset_infos.json", "rejected.jsonl", "dropped.jsonl", "state.json", "statistics.json",
})  # fmt: skip


def data_files(path: Path | str, split: str | None = None) -> Sequence[Path | str]:
    """The files of rows at `path`: the file itself, or those of `split` in a folder, in the order of their names.

    The folder of a dataset has them in `data` or next to its card, named by split (test.jsonl,
    train-00000-of-00002.parquet). Raises RowError for a folder without any, for a missing split, and for several
    splits where none is named.
    """
    place = Path(path)
    if str(path) == "-" or not place.is_dir():
        return [path]
    folder = place / "data" if (place / "data").is_dir() else place
    files = sorted(file for file in folder.rglob("*") if _is_file_of_rows(file, folder))
    if not files:
        raise RowError(f"{path} is a folder without a file of rows ({', '.join(SUFFIXES)}, plain or as .gz)")
    by_split: dict[str, list[Path]] = {}
    for file in files:
        by_split.setdefault(split_or_stem_of_file_name(file), []).append(file)
    names = ", ".join(sorted(by_split)[:12])  # enough for a message
    if split is not None:
        canonical = canonical_split(split)
        if canonical not in by_split:
            raise RowError(f"{path} has no split {split!r}; there are {names}")
        return by_split[canonical]
    if len(by_split) > 1 and not by_split.keys() & set(_SPLITS):
        raise RowError(f"{path} is a folder with {len(files)} files of rows, {names}; name one of them")
    if len(by_split) > 1:
        raise RowError(f"{path} is a folder of {names}; name one with --split, or a file in it")
    return files


def split_or_stem_of_file_name(file: Path) -> str:
    """The split that a file name gives: train, validation or test, else the name without its part number
    ("-00000-of-00002").
    """
    name = file.name.lower().removesuffix(".gz")
    stem = next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)
    words = [word for word in re.split(r"[^a-z0-9]+", stem) if word]
    split = next((known for word in words if (known := canonical_split(word)) in _SPLITS), None)
    return split or re.sub(r"-\d{5}-of-\d{5}$", "", stem)


def canonical_split(name: str) -> str:
    """ "validation" for dev, valid and val; other names in lower case."""
    word = name.strip().lower()
    return _SPLIT_ALIASES.get(word, word)


def _is_file_of_rows(file: Path, folder: Path) -> bool:
    name, place = file.name, file.relative_to(folder)
    hidden = any(part.startswith((".", "_")) for part in place.parts)  # hidden files, and folders of caches
    is_side_file = name in _SIDE_FILES or name.endswith(_SIDE_SUFFIXES)
    return name.removesuffix(".gz").endswith(SUFFIXES) and not hidden and not is_side_file and file.is_file()
