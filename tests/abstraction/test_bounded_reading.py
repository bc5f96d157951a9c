"""Files made to take memory or time: a little packed data that unpacks to a lot, depth, huge numbers, many columns."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from abstraction.errors import RowError
from abstraction.files import records as reading
from abstraction.files.fields import parsed
from abstraction.files.pieces import DEPTH, is_too_deep
from abstraction.files.records import Record, RejectedRow, read_records
from granola.errors import PredictionError
from granola.scoring.predictions import read_predictions

ONE = 1 << 24
MANY = 20  # of them unpack to 335 MB
MEGABYTES, OF_ARRAY = 200, 400  # what reading may hold, the interpreter included; an array is read up to 256 MB
READ = r"""
import json, re, sys
from abstraction.errors import RowError
from abstraction.files.records import Record, read_records
found = []
try:
    for one in read_records(sys.argv[1]):
        found.append(one.source.split(":")[-1] if isinstance(one, Record) else [one.source.split(":")[-1], one.reason])
except RowError as error:
    found.append(str(error))
peak = re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]  # ru_maxrss has that of the parent in it
print(json.dumps([found, int(peak) >> 10]))
"""
TOO_LONG = "longer than 16,777,216 {}, the most that one record may have; split it or leave it out"

ARRAY = "array of more than 268,435,456 bytes; write one object a line"


def bomb(path: Path, before: bytes, unit: bytes, behind: bytes) -> Path:
    """A packed file of a megabyte or so: MANY members of 16 MB each between two pieces of text."""
    member = gzip.compress(unit * (ONE // len(unit)))
    path.write_bytes(gzip.compress(before) + member * MANY + gzip.compress(behind))
    assert path.stat().st_size < 4 << 20
    return path


@pytest.mark.parametrize(
    ("name", "before", "unit", "behind", "expected"),
    [
        (  # one long string
            "lines.jsonl.gz", b'{"id": 1}\n{"id": "', b"a", b'"}\n{"id": 3}\n',
            ["1", ["2", TOO_LONG.format("bytes")], "3"],
        ),
        ("zeros.jsonl.gz", b'{"id": 1}\n' + b"{}\n" * 30_000, b"\0", b"\n", [TOO_LONG.format("bytes")]),
        ("array.json.gz", b'[{"id": "', b"a", b'"}]', [ARRAY]),
        ("array.json.gz", b"[", b"[", b"", [ARRAY]),
        ("cell.csv.gz", b'id,x\n1,2\n1,"', b"a", b'"\n3,4\n', ["2", ["3", TOO_LONG.format("characters")], "4"]),
        ("cells.csv.gz", b"id,x\n1,2\n", b",", b"\n3,4\n", ["2", ["3", TOO_LONG.format("characters")], "4"]),
        ("header.csv.gz", b"question,", b"x", b"\n", ["1: the header is " + TOO_LONG.format("characters")]),
        ("blanks.jsonl.gz", b" ", b" ", b'{"id": 1}', ["begins with blank lines; leave them out"]),
        ("empty.jsonl.gz", b" ", b" \n", b"", ["is empty"]),
    ],
    ids=["string", "zeros", "array of a string", "array of arrays", "cell", "cells", "header", "blanks", "empty"],
)  # fmt: skip
def test_a_small_packed_file_that_unpacks_to_much_takes_little_memory(
    tmp_path: Path, name: str, before: bytes, unit: bytes, behind: bytes, expected: list[object]
) -> None:
    path = bomb(tmp_path / name, before, unit, behind)
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    found, megabytes = json.loads(done.stdout)
    if isinstance(expected[0], str) and len(expected) == 1:  # the end of what is found, or of its message
        (last,) = found[-1:]
        assert expected[0] in (last if isinstance(last, str) else last[1])
    else:
        assert found == expected
    assert megabytes < (OF_ARRAY if name.startswith("array") else MEGABYTES)


def read(path: Path, text: str) -> list[Record | RejectedRow]:
    path.write_text(text, encoding="utf-8")
    return list(read_records(path))


def test_a_quoted_cell_over_many_lines_has_a_bound_and_reading_goes_on(tmp_path: Path) -> None:
    line = "a" * 999_999 + "\n"
    found = read(tmp_path / "x.csv", 'id,x\n1,"' + line * 40 + 'a"\n2,b\n')
    assert isinstance(found[0], RejectedRow)
    assert found[0].source.endswith("x.csv:2")
    assert found[0].reason == TOO_LONG.format("characters")
    assert isinstance(found[-1], Record)
    assert found[-1].data == {"id": "2", "x": "b"}


def test_an_item_of_an_array_has_a_bound_and_those_around_it_are_read(tmp_path: Path) -> None:
    found = read(tmp_path / "x.json", '[{"id": 1},\n{"id": "' + "a" * (ONE + 1) + '"},\n{"id": 3}]')
    first, second, third = found
    assert isinstance(first, Record)
    assert isinstance(second, RejectedRow)
    assert (second.source[-1], second.reason) == ("2", TOO_LONG.format("characters"))
    assert isinstance(third, Record)


def test_a_record_up_to_the_bound_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "RECORD", 1_000)
    room = 1_000 - len('{"id": ""}')
    for ending, around in ((".jsonl", "{}\n"), (".json", "[{}]")):
        (whole,) = read(tmp_path / f"x{ending}", around.format("{" + f'"id": "{"a" * (room - 16)}"' + "}"))
        assert isinstance(whole, Record), ending
        (cut,) = read(tmp_path / f"x{ending}", around.format("{" + f'"id": "{"a" * (room + 16)}"' + "}"))
        assert isinstance(cut, RejectedRow), ending


def nested(depth: int) -> str:
    return '{"id": 1, "prediction": "x", "a": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


HOSTILE = {
    "deep": (nested(900), "nested more than 254 deep"),
    "deeper": (nested(100_000), "(nested more than 254 deep|depth limit exceeded)"),
    "number": ('{"id": 1, "prediction": 1e999999}', "infinit"),
    "digits": ('{"id": 1, "prediction": ' + "9" * 10_000 + "}", "(infinit|10,000 digits)"),
    "id": ('{"id": ' + "9" * 10_000 + ', "prediction": "x"}', "(infinit|10,000 digits)"),
    "fields": (
        '{"id": 1, ' + ", ".join(f'"{n}": 1' for n in range(20_000)) + ', "prediction": "x"}',
        "20,002 fields; allowed are 10,000",
    ),
}


@pytest.mark.parametrize("form", ["lines", "array"])
@pytest.mark.parametrize("what", HOSTILE)
def test_depth_huge_numbers_and_many_fields_are_rejected_in_place(tmp_path: Path, what: str, form: str) -> None:
    record, reason = HOSTILE[what]
    good = '{"id": 2, "prediction": "y"}'
    path = tmp_path / ("x.jsonl" if form == "lines" else "x.json")
    path.write_text(f"{record}\n{good}\n" if form == "lines" else f"[{record},\n{good}]")
    began = time.process_time()
    found = read_predictions(path)
    assert time.process_time() - began < 2
    assert list(found.predictions) == ["2"]
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(found.rejected[0].reason)
    assert found.rejected[0].source.endswith(":1")


def test_what_nests_as_deep_as_allowed_is_read_and_one_deeper_is_not(tmp_path: Path) -> None:
    for ending, around in ((".jsonl", "{}\n"), (".json", "[{}]")):
        (one,) = read(tmp_path / f"x{ending}", around.format(nested(DEPTH)))
        assert isinstance(one, Record), ending
        (other,) = read(tmp_path / f"x{ending}", around.format(nested(DEPTH + 1)))
        assert isinstance(other, RejectedRow), ending


def test_depth_is_told_beside_numbers_of_more_than_64_bits() -> None:
    for depth in (DEPTH, DEPTH + 1):
        value: object = [1 << 70]
        for _ in range(depth - 1):
            value = [value]
        assert is_too_deep(value, depth) == (depth > DEPTH)


def test_a_cell_that_is_no_usable_json_is_a_text() -> None:
    for text in ("[" * 100_000, "[" * 300 + "]" * 300, "[1e999999]", "[" + "9" * 10_000 + "]"):
        assert parsed(text) == text


def test_a_table_of_too_many_columns_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("question," + ",".join(map(str, range(400_000))) + "\n")
    began = time.process_time()
    with pytest.raises(RowError, match=r"x.csv:1: the header has 400,001 columns; allowed are 10,000"):
        list(read_records(path))
    path.write_text("question," + "a,b," * 4_000 + "\n")
    with pytest.raises(RowError, match="column 'a' stands twice"):
        list(read_records(path))
    assert time.process_time() - began < 2


def test_many_damaged_items_of_an_array_take_time_by_their_number_only(tmp_path: Path) -> None:
    def seconds(number: int) -> float:
        path = tmp_path / "x.json"
        path.write_text("[" + '{"id": x},\n' * number + '{"id": 1}]')
        began = time.process_time()
        assert len(list(read_records(path))) == number + 1
        return time.process_time() - began

    seconds(100)
    # The best of three: other work on the machine slows a run, and quickens none.
    long, short = (min(seconds(number) for _ in range(3)) for number in (40_000, 10_000))
    assert long < 12 * max(short, 0.05)


def test_predictions_of_nothing_but_such_rows_are_told(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(HOSTILE["deep"][0] + "\n")
    with pytest.raises(PredictionError, match=r"no prediction in 1 line \(.*x.jsonl:1: lists and objects are nested"):
        read_predictions(path)
