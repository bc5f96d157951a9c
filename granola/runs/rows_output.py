"""Rows of a run on their way to a file: what is rejected is listed beside it, and how it was made."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from abstraction.faults import Fault, Taken
from abstraction.files.writing import check_format, write_records
from abstraction.rows import RejectedRow
from granola.run_record import SUFFIX as RECORD_SUFFIX
from granola.run_record import write_run_record
from granola.runs.outputs import (
    REJECTS_SUFFIX,
    STANDARD,
    check_outputs,
    list_rejects,
    removed_on_error,
    report_rejects,
)
from granola.runs.progress import with_progress
from granola.runs.settings import Run
from granola.terminal_lines import Part, show_lines


@dataclass(frozen=True, kw_only=True, slots=True)
class RowsWritten:
    """The outcome of a run that writes rows: counts of what became of them, and what was rejected."""

    out: str
    lines: Sequence[Part]
    source: str
    counts: Mapping[str, int]
    rejected: Sequence[RejectedRow]
    listed: Path | None = None

    def show(self) -> None:
        """The lines, on standard error where rows went to standard output; then the rejected rows."""
        show_lines(*self.lines, file=sys.stderr if self.out == STANDARD else sys.stdout)
        report_rejects(self.source, self.rejected, listed=self.listed)

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.rejected)


@dataclass(kw_only=True, slots=True)
class RowsOutput:
    """Takes the rows of a run, and ends in `RowsWritten`."""

    run: Run
    out: str
    inputs: Sequence[Path | str]
    csv_raw: bool
    rejected: list[RejectedRow] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    more: dict[str, Any] = field(default_factory=dict)
    taken: Taken = field(init=False)
    written: int = 0
    listed: Path | None = None

    def __post_init__(self) -> None:
        """Rows that cannot be written are rejected."""
        self.taken = Taken(self.rejected.append)

    @property
    def beside(self) -> str | None:
        """The file that others stand beside, None for standard output."""
        return None if self.out == STANDARD else self.out

    def write(self, rows: Iterable[Mapping[str, Any]], *, on_fault: Callable[[Fault], object] | None = None) -> None:
        """Write all rows, counting them on a terminal; what cannot be written goes to `on_fault`, or is rejected."""
        told = on_fault or self.taken.unwritten
        self.by(lambda: write_records(with_progress(rows), self.out, csv_raw=self.csv_raw, on_fault=told))

    def by(self, write: Callable[[], int]) -> None:
        """Let `write` write the rows; it says how many."""
        self.written = write()
        self.listed = list_rejects(self.out, self.rejected)

    def ended(self, *lines: Part, source: str, **resolved: Any) -> RowsWritten:
        """Write the record, with settings as resolved in the place of those given, and say what came of it."""
        if self.out != STANDARD:
            arguments = {**self.run.arguments(), **resolved}
            write_run_record(
                self.out, command=self.run.verb, arguments=arguments, inputs=self.inputs, more=self.more
            )  # fmt: skip
        return RowsWritten(
            out=self.out, lines=lines, source=source, counts=self.counts, rejected=self.rejected, listed=self.listed
        )


@contextmanager
def rows_output(
    run: Run, out: str, *, inputs: Sequence[Path | str | None], force: bool, csv_raw: bool = False
) -> Iterator[RowsOutput]:
    """The output of a run, checked before anything is read; removed where the block fails to write.

    Raises UsageError where it would destroy something, OutputError for a name that promises another format.
    """
    known = [one for one in inputs if one is not None]
    if out != STANDARD:
        check_outputs(out, inputs=known, sides=(REJECTS_SUFFIX, RECORD_SUFFIX), force=force)
    check_format(out)
    with removed_on_error(None if out == STANDARD else out):
        yield RowsOutput(run=run, out=out, inputs=known, csv_raw=csv_raw)
