"""DataFrames as input and output, of any library: pandas, polars, pyarrow, by narwhals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from granola.errors import UsageError

SNAPSHOT = "snapshot"  # key of the snapshot's id: in the `attrs` of pandas, else a column of this name


def frame_of(given: Any) -> Any:
    """The value as a DataFrame of narwhals where it is one of any library, else None."""
    if given is None or isinstance(given, str | Path | Mapping | Sequence):
        return None  # plain types need no import of narwhals
    import narwhals

    frame = narwhals.from_native(given, pass_through=True)
    if isinstance(frame, narwhals.LazyFrame):
        raise UsageError(f"a {type(given).__name__} has no rows yet; expected a DataFrame, in polars frame.collect()")
    return frame if isinstance(frame, narwhals.DataFrame) else None


def frame_records(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame."""
    native = frame.to_native()
    rows = native.to_dict("records") if _is_pandas(frame) else frame.rows(named=True)
    return [{str(name): value for name, value in row.items()} for row in rows]


def snapshot_of_frame(frame: Any) -> str | None:
    """The id of the snapshot that the ladders of a frame come from."""
    if _is_pandas(frame):
        return frame.to_native().attrs.get(SNAPSHOT)  # type: ignore[no-any-return]  # attrs may contain any value
    return str(frame[SNAPSHOT][0]) if SNAPSHOT in frame.columns and len(frame) else None


def frame_with(frame: Any, places: Sequence[int], columns: Mapping[str, Sequence[Any]], snapshot: str) -> Any:
    """The rows at `places` with `columns` added to their own, as a frame of the same library.

    pandas keeps its index, and objects as they are; elsewhere a list of objects becomes JSON text, as in CSV.
    """
    if _is_pandas(frame):
        table = frame.to_native().iloc[list(places)].copy()
        # Only pandas keeps attributes of a frame; others get a column.
        table.attrs[SNAPSHOT] = snapshot
        for name, values in columns.items():
            table[name] = list(values)
        return table
    import narwhals

    chosen = frame[list(places)]
    columns = {**columns, SNAPSHOT: [snapshot] * len(places)}
    series = [
        narwhals.new_series(name, list(_as_cells(values)), backend=frame.implementation)
        for name, values in columns.items()
    ]
    return chosen.with_columns(*series).to_native()


def _is_pandas(frame: Any) -> bool:
    return bool(frame.implementation.is_pandas())


def _as_cells(values: Iterable[Any]) -> Iterable[Any]:
    from abstraction.files.records import json_text

    for value in values:
        is_plain = not isinstance(value, list) or all(isinstance(item, str) for item in value)
        yield value if is_plain else json_text(value)
