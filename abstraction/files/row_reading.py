"""Rows of records: read one by one, those that are none or stand there twice left out with the reason; and sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from abstraction.errors import RowError
from abstraction.faults import OnReject, RejectedRow, UnansweredRow, fault_of
from abstraction.files.records import Record, opened_to_read, read_csv
from kg.errors import ForeseenError

T = TypeVar("T")


def read_each(records: Iterable[Record | RejectedRow], read: Callable[[Record], T]) -> Iterator[T | RejectedRow]:
    """What `read` makes of each record, in order; in the place of those that are no row the reason.

    `read` raises an error of ours with the reason. An unforeseen one is a fault of the program, which rejects the row.
    """
    for record in records:
        yield record if isinstance(record, RejectedRow) else _read_one(record, read)


def each_once(
    records: Iterable[Record | RejectedRow],
    read: Callable[[Record], T],
    *,
    name: Callable[[Any], str] = attrgetter("id"),
    seen: dict[str, str] | None = None,
) -> Iterator[T | RejectedRow]:
    """The same, but a row whose name stood before is rejected, too; `seen` has the places of names in earlier files."""
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
            source=record.source, id=str(id_) if isinstance(id_, str | int) else "", text=record.shown
        )


def accepted(
    rows: Iterable[T | RejectedRow],
    on_reject: OnReject | None,
    on_unanswered: Callable[[UnansweredRow], object] = lambda row: None,
) -> Iterator[T]:
    """The rows alone. Those without an answer go to `on_unanswered`, bad ones to `on_reject`.

    Without that RowError is raised.
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
    """The lines of a CSV sheet that somebody has filled in, but those without any text.

    Raises `error` with the place for a line that is none, and for a sheet without one of the columns.
    """
    with opened_to_read(path) as stream:
        for record in read_csv(stream, str(path)):
            if isinstance(record, RejectedRow):
                raise error(f"{record.source}: {record.reason}")
            if missing := [name for name in columns if name not in record.columns]:
                raise error(f"{path}: no column {', '.join(missing)}; expected {expected}")
            yield record


class RowNumbers:
    """Ids for rows that have none, by the places of their records: "<name>-<n>", n counting from 1 over all files."""

    def __init__(self) -> None:
        self._counted: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._place = 0

    def count(self, records: Iterable[T]) -> Iterator[T]:
        """The records of one file, as they are taken."""
        self._before = dict(self._counted)
        for self._place, record in enumerate(records, 1):
            yield record

    def id_of(self, name: str) -> str:
        """The id of a row of the record that was taken last."""
        self._counted[name] = self._before.get(name, 0) + self._place
        return f"{name}-{self._counted[name]}"
