"""Rows from records: read one by one, with malformed and repeated rows rejected; and filled-in sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from abstraction.base.faults import OnReject, RejectedRow, UnansweredRow, fault_of
from abstraction.errors import RowError
from abstraction.files.records import Record, open_for_reading, read_csv
from kg.errors import ForeseenError

T = TypeVar("T")


def read_each(records: Iterable[Record | RejectedRow], read: Callable[[Record], T]) -> Iterator[T | RejectedRow]:
    """The result of `read` for each record, in order; for a malformed one the rejected row.

    `read` raises one of our errors with the reason. An unforeseen error is a fault of the program, which rejects the
    row.
    """
    for record in records:
        yield record if isinstance(record, RejectedRow) else _read_one(record, read)


def read_each_once(
    records: Iterable[Record | RejectedRow],
    read: Callable[[Record], T],
    *,
    name: Callable[[Any], str] = attrgetter("id"),
    seen: dict[str, str] | None = None,
) -> Iterator[T | RejectedRow]:
    """See `read_each`; a row with an earlier name is rejected too. `seen` maps names of earlier files to places."""
    seen = {} if seen is None else seen
    for record in records:
        row = record if isinstance(record, RejectedRow) else _read_one(record, read)
        if isinstance(record, RejectedRow) or isinstance(row, RejectedRow):
            yield row
        elif (called := name(row)) in seen:
            yield record.rejected(f"id {called!r} stands already at {seen[called]}")
        else:
            seen[called] = record.source
            yield row


def _read_one(record: Record, read: Callable[[Record], T]) -> T | RejectedRow:
    try:
        return read(record)
    except ForeseenError as error:
        return record.rejected(str(error))
    except Exception as error:
        id_ = record.data.get("id", "")
        fault = fault_of(error, "reading")
        return fault.rejected(
            source=record.source, id=str(id_) if isinstance(id_, str | int) else "", text=record.text_excerpt
        )


def without_rejected(
    rows: Iterable[T | RejectedRow],
    on_reject: OnReject | None,
    on_unanswered: Callable[[UnansweredRow], object] = lambda row: None,
) -> Iterator[T]:
    """The rows without rejected ones: unanswered ones go to `on_unanswered`, others to `on_reject`.

    Without `on_reject` a rejected row raises RowError.
    """
    for row in rows:
        if not isinstance(row, RejectedRow):
            yield row
        elif isinstance(row, UnansweredRow):
            on_unanswered(row)
        elif on_reject is not None:
            on_reject(row)
        else:
            raise RowError(f"{row.source}: {row.reason}: {row.excerpt}")


def read_sheet_lines(
    path: Path | str, columns: Iterable[str], *, expected: str, error: type[Exception]
) -> Iterator[Record]:
    """The lines of a CSV sheet that people filled in, except empty ones.

    Raises `error` with the place for a malformed line, and for a sheet without one of the columns.
    """
    with open_for_reading(path) as stream:
        for record in read_csv(stream, str(path)):
            if isinstance(record, RejectedRow):
                raise error(f"{record.source}: {record.reason}")
            if missing := [name for name in columns if name not in record.columns]:
                raise error(f"{path}: no column {', '.join(missing)}; expected {expected}")
            yield record


class RowNumbers:
    """Ids for rows without one, by the places of their records: "<name>-<n>", n counting from 1 over all files."""

    def __init__(self) -> None:
        self._counted: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._place = 0

    def count(self, records: Iterable[T]) -> Iterator[T]:
        """The records of one file, counted as they are taken."""
        self._before = dict(self._counted)
        for self._place, record in enumerate(records, 1):
            yield record

    def id_of(self, name: str) -> str:
        """The id for the row of the last record taken."""
        self._counted[name] = self._before.get(name, 0) + self._place
        return f"{name}-{self._counted[name]}"
