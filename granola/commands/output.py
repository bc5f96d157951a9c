"""Outputs of commands: they destroy nothing, one process writes each, what is rejected is listed beside it."""

from __future__ import annotations

import fcntl
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from abstraction.faults import RejectedRow
from abstraction.files.writing import check_format, write_records
from granola.commands.command import Command
from granola.commands.messages import note, report_rejects, with_progress
from granola.errors import BatchWritten, UsageError
from granola.run_record import SUFFIX as RECORD_SUFFIX
from granola.run_record import write_run_record
from granola.terminal_lines import Part, show_lines
from kg.errors import ForeseenError
from kg.files import writable

STANDARD = "-"
REJECTS_SUFFIX = ".rejects.jsonl"
CSV_RAW = "GRANOLA_CSV_RAW"  # this environment variable set to 1: no ' before what a spreadsheet takes for a formula


def csv_raw() -> bool:
    """Whether CSV is written without the ' that protects texts from being read as formulas by a spreadsheet."""
    return os.environ.get(CSV_RAW, "") not in ("", "0")


def check_outputs(
    out: Path | str,
    *,
    inputs: Iterable[Path | str | None],
    sides: Sequence[str] = (),
    force: bool = False,
    asked: str = "--out",
) -> None:
    """Raise UsageError where writing `out`, or a side file `out` + suffix, would destroy something.

    That is an input, whatever its name, also with `force`; and without `force` any file that exists. Raises
    OutputError where a folder, a device or a pipe is there.
    """
    if not str(out):
        raise UsageError(f"{asked} is empty; name a file to write")
    given = [Path(path) for path in inputs if path is not None and str(path) != STANDARD]
    for path in (Path(out), *(Path(f"{out}{suffix}") for suffix in sides)):
        place = writable(path)
        if any(_is_same_file(place, one) for one in given):
            beside = "" if path == Path(out) else f", which {asked} {out} would write,"
            raise UsageError(f"{path}{beside} is also an input and would be lost; give another {asked}")
        is_left = path != Path(out) and not Path(out).exists() and _is_list_of_rejects(place)  # by a run that failed
        if place.exists() and not force and not is_left:
            if missing := [one for one in given if "://" not in str(one) and not one.exists()]:
                raise UsageError(f"no such file: {missing[0]}")
            raise UsageError(f"{path} exists; give --force to replace it, or another {asked}")


def _is_list_of_rejects(place: Path) -> bool:
    """Whether a file is one that `RejectsFile` has written."""
    if not place.name.endswith(REJECTS_SUFFIX) or not place.is_file():
        return False
    with place.open("rb") as stream:
        try:
            first = orjson.loads(stream.readline())
        except orjson.JSONDecodeError:
            return False
    return isinstance(first, dict) and {"schema_version", "source", "reason"} <= first.keys()


def _is_same_file(place: Path, given: Path) -> bool:
    """Whether two paths name one file, by whatever links."""
    try:
        return place.samefile(given)
    except OSError:
        return place.resolve() == given.resolve()


@contextmanager
def writing(
    out: Path | str | None,
    *,
    inputs: Iterable[Path | str | None],
    sides: Sequence[str] = (),
    force: bool = False,
    asked: str = "--out",
) -> Iterator[None]:
    """Where a file is written: checked as by `check_outputs`, no other process writes it, removed on an error.

    Nothing is done for None and for standard output.
    """
    if out is None or str(out) == STANDARD:
        yield
        return
    given = list(inputs)
    check_outputs(out, inputs=given, sides=sides, force=force, asked=asked)
    with lock_output(out, asked=asked), _remove_on_error(out):
        check_outputs(out, inputs=given, sides=sides, force=force, asked=asked)  # another may have written it meanwhile
        yield


@contextmanager
def lock_output(out: Path | str, *, asked: str = "--out") -> Iterator[None]:
    """A file or folder to this process alone, by a locked file beside it that is gone when the block ends.

    Raises UsageError where another process writes it. Where no file can be made, whoever writes `out` will say so.
    """
    final = Path(os.path.realpath(out))
    name = sha256(final.name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    lock = final.parent / f".{final.name[:40]}.{name}.lock"
    is_new = not final.parent.exists()
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        handle = _open_locked(lock)
    except BlockingIOError:
        raise UsageError(f"another process is writing {out}; wait for it, or give another {asked}") from None
    except OSError:
        yield
        return
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(handle)
        if is_new and any(final.parent.iterdir()):
            note(f"the folder {final.parent} was not there and is made")
        elif is_new:
            final.parent.rmdir()


def _open_locked(lock: Path) -> int:
    """The handle of a locked file. Raises BlockingIOError where another process has it."""
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.stat(lock), os.fstat(handle)):
                return handle
        except FileNotFoundError:  # whoever had it has just removed it
            pass
        except OSError:
            os.close(handle)
            raise
        os.close(handle)


@contextmanager
def _remove_on_error(out: Path | str) -> Iterator[None]:
    """Remove `out` where the block has put it there and then fails to write something, or ends in requests alone."""
    before = _stamp(out)
    try:
        yield
    except (OSError, BatchWritten):
        if _stamp(out) != before:
            writable(out).unlink(missing_ok=True)
        raise


def _stamp(out: Path | str) -> tuple[int, int] | None:
    if not Path(out).exists():
        return None
    found = Path(out).stat()
    return found.st_ino, found.st_mtime_ns


def check_standard_input(inputs: Iterable[Path | str]) -> None:
    """Raise UsageError where standard input is given more than once: it can be read once only."""
    if sum(str(path) == STANDARD for path in inputs) > 1:
        raise UsageError("standard input (-) is given twice, but can be read once only; name a file")


def list_rejects(out: Path | str, rejected: Sequence[RejectedRow]) -> Path | None:
    """Write OUT.rejects.jsonl, or remove an earlier run's where nothing was rejected; none for standard output."""
    if str(out) == STANDARD:
        return None
    path = Path(f"{out}{REJECTS_SUFFIX}")
    if rejected:
        write_records((row.to_json() for row in rejected), path, format="jsonl")
    else:
        path.unlink(missing_ok=True)
    return path


@dataclass(kw_only=True, slots=True)
class RowsOutput:
    """The rows of a command on their way to a file, and then what came of them: counts by outcome, what was rejected.

    `lines` say so; `more` is what the run record has besides; `is_lacking` where a model gave no answer for some.
    """

    command: Command[Any]
    out: str
    inputs: Sequence[Path | str]
    rejected: list[RejectedRow] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    more: dict[str, Any] = field(default_factory=dict)
    written: int = 0
    listed: Path | None = None
    is_lacking: bool = False
    source: str = ""
    lines: Sequence[Part] = ()

    @property
    def named_path(self) -> str | None:
        """The file that others stand beside, None for standard output."""
        return None if self.out == STANDARD else self.out

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write all rows, counting them on a terminal."""
        self.write_with(lambda: write_records(with_progress(rows), self.out, csv_raw=csv_raw()))

    def write_with(self, write: Callable[[], int]) -> None:
        """Let `write` write the rows; it says how many."""
        try:
            self.written = write()
        except ForeseenError:  # where no row at all can be used, the list says why
            list_rejects(self.out, self.rejected)
            raise
        self.listed = list_rejects(self.out, self.rejected)

    def finish(self, *lines: Part, source: str, **resolved: Any) -> RowsOutput:
        """Write the record, with settings as resolved in the place of those given, and keep what is to be told."""
        if self.out != STANDARD:
            arguments = {**self.command.arguments(), **resolved}
            write_run_record(
                self.out, command=self.command.verb, arguments=arguments, inputs=self.inputs, more=self.more
            )  # fmt: skip
        self.source, self.lines = source, lines
        return self

    def to_json(self) -> dict[str, Any]:
        """What came of the rows."""
        return {"out": self.out, "counts": dict(self.counts), "rejected": len(self.rejected), **self.more}


class RowsCommand(Command[RowsOutput]):
    """A command that writes rows."""

    def show(self, result: RowsOutput) -> None:
        """The lines, on standard error where rows went to standard output."""
        show_lines(*result.lines, file=sys.stderr if result.out == STANDARD else sys.stdout)

    def report_problems(self, result: RowsOutput) -> None:
        """The rejected rows."""
        report_rejects(result.source, result.rejected, listed=result.listed)

    def failed(self, result: RowsOutput) -> bool:
        """Whether rows were rejected, or a model gave no answer."""
        return bool(result.rejected) or result.is_lacking


@contextmanager
def writing_rows(
    command: Command[Any],
    out: str,
    *,
    inputs: Sequence[Path | str | None],
    force: bool,
    sides: Sequence[str] = (),
    format: str | None = None,
) -> Iterator[RowsOutput]:
    """The output of a command, checked before anything is read; removed where the block fails to write.

    Raises UsageError where it would destroy something, OutputError for a name that promises another format.
    """
    known = [one for one in inputs if one is not None]
    with writing(out, inputs=known, sides=(REJECTS_SUFFIX, RECORD_SUFFIX, *sides), force=force):
        check_format(out, format)
        yield RowsOutput(command=command, out=out, inputs=known)
