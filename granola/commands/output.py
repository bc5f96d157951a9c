"""Outputs of commands: existing files are protected, one process writes each, rejected rows are listed next to them.

Models are opened here, since their answers are kept beside an output.
"""

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
from typing import TYPE_CHECKING, Any

from abstraction.base.faults import RejectedRow
from abstraction.files.writing import check_format, write_records
from granola import matching
from granola.base.run_record import SUFFIX as RECORD_SUFFIX
from granola.base.run_record import write_run_record
from granola.base.terminal_lines import Part, show_lines
from granola.commands.command import Command
from granola.commands.messages import count, note, report_rejects, with_progress
from granola.errors import BatchWritten, GranolaError, UsageError
from granola.scoring.shared_settings import ANSWERS_SUFFIX, CALLS_SUFFIX
from kg.base.files import resolve_output_path
from kg.errors import ForeseenError

if TYPE_CHECKING:
    from abstraction.models.answer_store import CachedChatModel
    from abstraction.models.chat_model import ChatModel
    from abstraction.models.spec import ModelSpec
    from granola.matching import Matcher
    from granola.matching.matchers import MatcherSpec

STANDARD = "-"  # standard input or output in the place of a file
REJECTS_SUFFIX = ".rejects.jsonl"  # the side file with rejected rows
CSV_RAW = "GRANOLA_CSV_RAW"  # environment variable; 1: no ' before texts that a spreadsheet takes for formulas


def is_csv_raw() -> bool:
    """Whether the environment asks for CSV without the ' that protects from spreadsheet formulas."""
    return os.environ.get(CSV_RAW, "") not in ("", "0")


def check_outputs(
    out: Path | str,
    *,
    inputs: Iterable[Path | str | None],
    sides: Sequence[str] = (),
    force: bool = False,
    option: str = "--out",
) -> None:
    """Raise UsageError where writing `out`, or a side file `out` + suffix, would overwrite an input or an existing
    file.

    Inputs are recognised through links, and protected even with `force`. Raises OutputError where the path is a
    folder, a device or a pipe.
    """
    if not str(out):
        raise UsageError(f"{option} is empty; name a file to write")
    given = [Path(path) for path in inputs if path is not None and str(path) != STANDARD]
    for path in (Path(out), *(Path(f"{out}{suffix}") for suffix in sides)):
        # Through links, to the file that would be replaced.
        place = resolve_output_path(path)
        if any(_is_same_file(place, one) for one in given):
            beside = "" if path == Path(out) else f", which {option} {out} would write,"
            raise UsageError(f"{path}{beside} is also an input and would be lost; give another {option}")
        # A failed run leaves its list of rejected rows, which must not block the next run.
        is_left = path != Path(out) and not Path(out).exists() and _is_list_of_rejects(place)
        if place.exists() and not force and not is_left:
            # A wrong input is the likelier mistake than an output that exists.
            if missing := [one for one in given if "://" not in str(one) and not one.exists()]:
                raise UsageError(f"no such file: {missing[0]}")
            raise UsageError(f"{path} exists; give --force to replace it, or another {option}")


def _is_list_of_rejects(place: Path) -> bool:
    """Whether a file is a list of rejected rows."""
    if not place.name.endswith(REJECTS_SUFFIX) or not place.is_file():
        return False
    with place.open("rb") as stream:
        # The first line of every file that write_rejects writes.
        return stream.readline().startswith(b'{"schema_version":1,"source":')


def _is_same_file(place: Path, given: Path) -> bool:
    """Whether two paths lead to the same file, through any links."""
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
    option: str = "--out",
) -> Iterator[None]:
    """A context for writing a file: checked by `check_outputs`, locked against other processes, removed on an error.

    Does nothing for None and for standard output.
    """
    if out is None or str(out) == STANDARD:
        yield
        return
    given = list(inputs)
    check_outputs(out, inputs=given, sides=sides, force=force, option=option)
    with lock_output(out, option=option):
        check_outputs(out, inputs=given, sides=sides, force=force, option=option)  # another process may have written it
        before = _file_identity(out)
        try:
            yield
        except (OSError, BatchWritten):
            # What the block wrote is not whole; a file that it has not written is the user's and stays.
            if _file_identity(out) != before:
                resolve_output_path(out).unlink(missing_ok=True)
            raise


@contextmanager
def lock_output(out: Path | str, *, option: str = "--out") -> Iterator[None]:
    """Lock a file or folder against other processes by a lock file next to it, removed when the block ends.

    Raises UsageError where another process has the lock. Where no lock file can be created, nothing is locked: writing
    `out` will then report the reason.
    """
    final = Path(os.path.realpath(out))
    # A hash keeps the name of the lock short and distinct for long file names.
    name = sha256(final.name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    lock = final.parent / f".{final.name[:40]}.{name}.lock"
    is_new = not final.parent.exists()
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        handle = _open_locked(lock)
    except BlockingIOError:
        raise UsageError(f"another process is writing {out}; wait for it, or give another {option}") from None
    except OSError:
        yield
        return
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(handle)
        # A folder that was created for the output alone is removed when the output is not written.
        if is_new and not any(final.parent.iterdir()):
            final.parent.rmdir()


def _open_locked(lock: Path) -> int:
    """Lock a file and return its handle. Raises BlockingIOError where another process has the lock."""
    while True:
        # The lock file may be removed between opening and locking, so its identity is compared.
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.stat(lock), os.fstat(handle)):
                return handle
        except FileNotFoundError:  # the process that had the lock has just removed the file
            pass
        except OSError:
            os.close(handle)
            raise
        os.close(handle)


def _file_identity(out: Path | str) -> tuple[int, int] | None:
    """Inode and time of change of a file, which differ once it is replaced or changed; None without a file."""
    found = Path(out).stat() if Path(out).exists() else None
    return found and (found.st_ino, found.st_mtime_ns)


def check_standard_input(inputs: Iterable[Path | str]) -> None:
    """Raise UsageError where standard input is given twice: it can be read only once."""
    if sum(str(path) == STANDARD for path in inputs) > 1:
        raise UsageError("standard input (-) is given twice, but can be read once only; name a file")


def write_rejects(out: Path | str, rejected: Sequence[RejectedRow]) -> Path | None:
    """Write OUT.rejects.jsonl and return its path; without rejected rows remove that of an earlier run.

    Returns None for standard output.
    """
    if str(out) == STANDARD:
        return None
    path = Path(f"{out}{REJECTS_SUFFIX}")
    if rejected:
        write_records((row.to_json() for row in rejected), path, format="jsonl")
    else:
        path.unlink(missing_ok=True)
    return path


@dataclass(kw_only=True, slots=True)
class WrittenRows:
    """The output file of a command that writes rows, and afterwards its result: counts by outcome and rejected rows.

    `lines` describe the result; `more` are additional fields of the run record; `is_lacking`: a model gave no answer
    for some rows.
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
        """The path of the output, the stem of its side files; None for standard output."""
        return None if self.out == STANDARD else self.out

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write all rows, with a counter on a terminal."""
        self.write_with(lambda: write_records(with_progress(rows), self.out, csv_raw=is_csv_raw()))

    def write_with(self, write: Callable[[], int]) -> None:
        """Call `write`, which writes the rows and returns their number; then write the rejected rows."""
        try:
            self.written = write()
        except ForeseenError:  # where no row is usable, the list of rejected rows shows why
            write_rejects(self.out, self.rejected)
            raise
        self.listed = write_rejects(self.out, self.rejected)

    def finish(self, *lines: Part, source: str, **resolved: Any) -> WrittenRows:
        """Write the run record, where `resolved` replaces settings; store `lines` for `show`; return this output."""
        if self.out != STANDARD:
            arguments = {**self.command.arguments(), **resolved}
            write_run_record(
                self.out, command=self.command.verb, arguments=arguments, inputs=self.inputs, more=self.more
            )  # fmt: skip
        self.source, self.lines = source, lines
        return self

    def to_json(self) -> dict[str, Any]:
        """The counts by outcome, the number of rejected rows, and the further fields of the run record."""
        return {"out": self.out, "counts": dict(self.counts), "rejected": len(self.rejected), **self.more}


class RowsCommand(Command[WrittenRows]):
    """A command that writes rows."""

    faults = ("rejected", "is_lacking")

    def show(self, result: WrittenRows) -> None:
        """Print the lines, on standard error where rows went to standard output."""
        show_lines(*result.lines, file=sys.stderr if result.out == STANDARD else sys.stdout)

    def report_problems(self, result: WrittenRows) -> None:
        """Report the rejected rows."""
        report_rejects(result.source, result.rejected, listed_in=result.listed)


@contextmanager
def writing_rows(
    command: Command[Any],
    out: str,
    *,
    inputs: Sequence[Path | str | None],
    force: bool,
    sides: Sequence[str] = (),
    format: str | None = None,
) -> Iterator[WrittenRows]:
    """A context with the output of a command, checked before any input is read and removed on an error.

    Raises UsageError where a file would be overwritten, OutputError for a name that implies another format.
    """
    known = [one for one in inputs if one is not None]
    with writing(out, inputs=known, sides=(REJECTS_SUFFIX, RECORD_SUFFIX, *sides), force=force):
        check_format(out, format)
        yield WrittenRows(command=command, out=out, inputs=known)


@contextmanager
def open_model(spec_text: str, out: Path | str | None, inputs: Iterable[Path | str]) -> Iterator[ChatModel]:
    """A context with the model of a specification; its answers are stored in the file that it names, else next to
    `out` (None: standard output).

    Raises BatchWritten at its end where requests were written to a batch file instead of being asked.
    """
    from abstraction.models.spec import BATCH_SETTINGS, open_parsed_model, parse_model_spec

    spec = parse_model_spec(spec_text)
    taken = [*inputs, *([] if out is None else [out])]
    cache = log = None  # files of stored answers and of calls; a replay has none
    if spec.kind != "replay":
        cache = spec.settings.get("answers") or (None if out is None else Path(f"{out}{ANSWERS_SUFFIX}"))
        log = None if cache is None else Path(f"{str(cache).removesuffix(ANSWERS_SUFFIX)}{CALLS_SUFFIX}")
        # The answers of a batch come later and need a place until then.
        if cache is None and (batch := [name for name in BATCH_SETTINGS if name in spec.settings]):
            raise UsageError(
                f"{batch[0]}: answers of a batch are kept beside an output: give --out FILE, or answers=FILE in the"
                " model's name, here and with batch_results"
            )
        if cache is None:
            note("the model's answers are not kept; answers=FILE in its name keeps them, so that a run can go on")
        for place in (cache, log):
            if place is not None:
                check_outputs(place, inputs=taken, force=True, option="answers")
    model = open_parsed_model(spec, cache=cache, log=log)
    try:
        with _use_batch(model, spec, taken):
            yield model
    finally:
        model.close()
        # Costs are reported after an error as well.
        had = model.totals
        if had.calls or had.cached:
            failed = f" ({had.failed_calls:,} brought nothing)" if had.failed_calls else ""
            tokens = f"; {had.prompt_tokens:,} tokens sent, {had.completion_tokens:,} received" if had.calls else ""
            note(f"model: {count(had.calls, 'call')}{failed}, {count(had.cached, 'answer')} had before{tokens}")


@contextmanager
def _use_batch(model: CachedChatModel, spec: ModelSpec, inputs: list[Path | str]) -> Iterator[None]:
    """A context that reads the answers of a batch, or writes requests instead of asking and raises BatchWritten."""
    file, results = spec.settings.get("batch_file"), spec.settings.get("batch_results")
    if file is None and results is None:
        yield
        return
    from abstraction.models.answer_store import store_batch_results, writing_batch_requests

    if results is not None:
        taken = store_batch_results(model, results)
        by = f" of {', '.join(taken.models)}" if taken.models else ""
        note(f"{results}: {count(taken.answers, 'answer')}{by} taken")
        # At most five reasons, the most frequent first.
        for reason, times in taken.failed.most_common(5):
            note(f"  {count(times, 'request')} without one: {reason}")
    if file is None:
        yield
        return
    check_outputs(file, inputs=inputs, force=True, option="batch_file")
    with writing_batch_requests(model, file) as written:
        try:
            yield
        except GranolaError:  # usually raised because nothing has an answer yet
            if not written:
                raise
    if written:
        raise BatchWritten(
            f"{count(len(written), 'request')} written to {file}, and nothing was asked; have the provider answer "
            "them, then give the same command with batch_results=RESULTS in the place of batch_file"
        )


@contextmanager
def open_matcher(
    spec: str, *, out: Path | str | None, inputs: list[str], language: str | None = None, raw: bool = False
) -> Iterator[Matcher]:
    """A context with the matcher of a specification, which is checked before a model is opened."""
    parsed = check_matcher(spec)
    if parsed.model is None:
        yield matching.matcher(parsed.name, tau=parsed.tau, language=language, raw=raw)
        return
    with open_model(parsed.model, out, inputs) as model:
        yield matching.matcher(parsed.name, model=model, raw=raw)


def check_matcher(spec: str) -> MatcherSpec:
    """Parse and check the specification of a matcher. Raises MatcherError or ModelSpecError for a wrong one."""
    from abstraction.models.spec import parse_model_spec
    from granola.matching.matchers import parse_matcher

    parsed = parse_matcher(spec)
    if parsed.model is None:
        matching.matcher(parsed.name, tau=parsed.tau)
    else:
        parse_model_spec(parsed.model)
    return parsed
