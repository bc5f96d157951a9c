"""The columns of a dataset's file: those of GRANOLA-EQ, ours, then fields of the questions. Some contain descriptions
and sitelink counts of entities.

JSONL and Parquet have the same columns, each of one kind in all rows, so that the `datasets` library and data frames
read them alike; `abstraction.files.rows.read_tiered` reads them back as tiered rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from abstraction.datasets.dataset_cleaning import SCORE
from abstraction.files.records import (
    GRANOLA_COLUMNS,
    GRANOLA_COUNT,
    KNOWN,
    QUESTION_SITELINKS,
    SCHEMA_VERSION,
    json_text,
)
from abstraction.files.row_models import finite_number
from abstraction.files.rows import TieredRow, granola_columns
from abstraction.files.writing import json_line
from abstraction.phrasing.phraser import ANSWER_SITELINKS
from kg.base.files import atomic_path

Kind = Literal["string", "int64", "float64", "bool", "strings", "levels"]
# The fields of tiers, all in every row; evidence is JSON text, since its fields depend on its kind.
TIER: Mapping[str, Kind] = {
    "text": "string", "language": "string", "qid": "string", "aliases": "strings", "bits": "float64",
    "bits_asked": "float64", "of": "strings", "evidence": "string",
}  # fmt: skip

# The numeric columns of GRANOLA-EQ; its others are texts.
_NUMBERS: Mapping[str, Kind] = {
    GRANOLA_COUNT: "int64",
    "question_entity_popularity": "float64",
    "answer_entity_popularity": "float64",
    SCORE: "float64",
}
# The columns of every dataset, in order.
OWN: Mapping[str, Kind] = {
    **{name: _NUMBERS.get(name, "string") for name in GRANOLA_COLUMNS},
    "answers": "strings",
    "levels": "levels",
    "abstained": "string",
    QUESTION_SITELINKS: "int64",
    ANSWER_SITELINKS: "int64",
}
BATCH = 1000  # rows in one row group of Parquet: bounds the memory of writing


class Columns:
    """The columns of a dataset: those of every dataset, then other fields of the registered rows in order of
    appearance.

    The kind of another field follows from its values: one kind of number or truth value, else text, with anything else
    as JSON text.
    """

    def __init__(self) -> None:
        self._others: dict[str, Kind | None] = {}

    def register_fields(self, row: TieredRow) -> None:
        """Add the fields of a row to the columns."""
        for key, value in row.extra.items():
            if key in OWN or key in KNOWN:
                continue
            kind = _kind_of_value(value)
            known = self._others.setdefault(key, kind)
            if known is None or kind is None or known == kind:
                self._others[key] = known or kind
            else:
                numbers: set[Kind] = {"int64", "float64"}
                self._others[key] = "float64" if {known, kind} == numbers else "string"

    @property
    def kinds(self) -> dict[str, Kind]:
        """Every column with its kind, in order."""
        return {**OWN, **{key: kind or "string" for key, kind in self._others.items()}}

    def to_record(self, row: TieredRow) -> dict[str, Any]:
        """The row as a value for each column."""
        values: dict[str, Any] = {
            **row.extra,
            **granola_columns(row),
            "answers": list(row.answers),
            "levels": [
                {"tiers": [_convert_to_kinds(tier.to_json(), TIER) for tier in level.tiers]} for level in row.levels
            ],
            "abstained": row.abstained,
        }
        return _convert_to_kinds(values, self.kinds)


def _convert_to_kinds(values: Mapping[str, Any], kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """The values under all names of `kinds`. A missing text is "", as in GRANOLA-EQ, a missing number or bool None."""
    return {name: _convert_to_kind(values.get(name), kind) for name, kind in kinds.items()}


def write_dataset_file(rows: Iterable[TieredRow], columns: Columns, path: Path) -> None:
    """Write rows under the columns, as Parquet or JSONL by the path's ending."""
    with atomic_path(path) as temporary:
        if path.suffix != ".parquet":
            with temporary.open("wb") as stream:
                stream.writelines(json_line(columns.to_record(row)) for row in rows)
            return
        import pyarrow  # type: ignore[import-untyped]  # ships no stubs
        import pyarrow.parquet  # type: ignore[import-untyped]  # ships no stubs

        types = {
            "string": pyarrow.string(), "int64": pyarrow.int64(), "float64": pyarrow.float64(),
            "bool": pyarrow.bool_(), "strings": pyarrow.list_(pyarrow.string()),
        }  # fmt: skip
        tier = pyarrow.struct([(name, types[kind]) for name, kind in TIER.items()])
        types["levels"] = pyarrow.list_(pyarrow.struct([("tiers", pyarrow.list_(tier))]))
        fields = [(name, types[kind]) for name, kind in columns.kinds.items()]
        schema = pyarrow.schema(fields, metadata={"schema_version": str(SCHEMA_VERSION)})
        source = map(columns.to_record, rows)
        with pyarrow.parquet.ParquetWriter(temporary, schema) as writer:
            while batch := list(islice(source, BATCH)):
                writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))


def _kind_of_value(value: object) -> Kind | None:
    if value is None:
        return None
    if isinstance(value, bool):  # before int, of which bool is a subclass
        return "bool"
    if isinstance(value, int):
        return "string" if _as_int64(value) is None else "int64"
    return "float64" if isinstance(value, float) else "string"


def _convert_to_kind(value: object, kind: Kind) -> Any:
    if kind in ("strings", "levels"):
        return value or []
    if kind == "string":
        return "" if value is None else value if isinstance(value, str) else json_text(value)
    if value is None or value == "":  # an empty cell of a CSV file
        return None
    if kind == "float64" and isinstance(value, int | float | str):
        return finite_number(value)
    if kind == "int64":
        return _as_int64(value)
    return None if isinstance(value, str) else value


def _as_int64(value: object) -> int | None:
    try:
        number = int(value) if isinstance(value, int | str) else None
    except ValueError:
        return None
    return number if number is not None and -(2**63) <= number < 2**63 else None  # the range of int64
