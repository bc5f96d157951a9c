"""What runs share: outputs that destroy nothing, and what is said on standard error."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstraction.language.languages import notice
from abstraction.relations import table as relation_table
from abstraction.row_languages import unknown_language
from abstraction.rows import QARow, RejectedRow
from granola.errors import UsageError
from kg.files import writable
from kg.partial_files import part_beside
from kg.terms import fallback_chain

if TYPE_CHECKING:
    from kg.store.protocol import Store

STANDARD = "-"
REJECTS_SUFFIX = ".rejects.jsonl"

TOLD = 3
_PLACE = re.compile(r"(?::\d{1,12}|\[\d{1,12}\])\Z")  # of a row in its file


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
        if any(same_file(place, one) for one in given):
            beside = "" if path == Path(out) else f", which {asked} {out} would write,"
            raise UsageError(f"{path}{beside} is also an input and would be lost; give another {asked}")
        if place.exists() and not force:
            raise UsageError(f"{path} exists; give --force to replace it, or another {asked}")


def check_out(out: Path, *, inputs: Iterable[Path | str | None]) -> None:
    """The same for a snapshot, where the library itself asks whether `out` exists."""
    if str(out) in (STANDARD, "."):
        raise UsageError("--out takes a file; a snapshot cannot be written to standard output")
    check_outputs(out, inputs=inputs, sides=(REJECTS_SUFFIX,), force=True)


def check_standard_input(inputs: Iterable[Path | str]) -> None:
    """Raise UsageError where standard input is given more than once: it can be read once only."""
    if sum(str(path) == STANDARD for path in inputs) > 1:
        raise UsageError("standard input (-) is given twice, but can be read once only; name a file")


def same_file(place: Path, given: Path) -> bool:
    """Whether two paths name one file, by whatever links."""
    try:
        return place.samefile(given)
    except OSError:
        return place.resolve() == given.resolve()


@contextmanager
def readable(path: str) -> Iterator[str]:
    """A path that can be read more than once: of standard input, a copy that goes when the block ends."""
    if path != STANDARD:
        yield path
        return
    copy, handle = part_beside(Path(tempfile.gettempdir()) / "granola-stdin")
    try:
        with copy.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield str(copy)
    finally:
        copy.unlink(missing_ok=True)
        os.close(handle)


@contextmanager
def removed_on_error(out: Path | str | None) -> Iterator[None]:
    """Where the block fails to write something, remove `out` if the block, or what led to it, has put it there."""
    before = _stamp(out)
    try:
        yield
    except OSError:
        if out is not None and _stamp(out) != before:
            writable(out).unlink(missing_ok=True)
        raise


def _stamp(out: Path | str | None) -> tuple[int, int] | None:
    if out is None or not Path(out).exists():
        return None
    found = Path(out).stat()
    return found.st_ino, found.st_mtime_ns


def print_json(data: Any, *, indent: int) -> None:
    """One JSON object on standard output, in ASCII where that cannot take more."""
    import json

    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    print(json.dumps(data, ensure_ascii=encoding != "utf8", indent=indent, allow_nan=False))


def check_language(language: str) -> None:
    """Raise UsageError for an empty language code."""
    if not language.strip():
        raise UsageError("--language is empty; give a code such as en or de")


def warn_of_language(language: str, store: Store) -> None:
    """Say on stderr what a language other than English does without."""
    from kg.store.sqlite import SQLiteStore

    if language.split("-")[0] == "en":
        return
    note("phrase tiers exist for English only; the other tiers are named in the language asked for, where they can be")
    if said := notice(language):
        note(said)
    if isinstance(store, SQLiteStore) and not store.has_labels(language):
        chain = ", ".join(fallback_chain(language)[1:])
        note(f"the snapshot has no label in {language!r}; names fall back to {chain}")


def watch_languages(rows: Iterable[QARow], language: str) -> Iterator[QARow]:
    """The rows; at their end, say on stderr which of them name a language that is not known."""
    others = Counter[str]()
    for row in rows:
        if (code := unknown_language(row)) is not None:
            others[code[:20]] += 1
        yield row
    for code, number in sorted(others.items())[:5]:
        rows_told = count(number, "row")
        note(f"{rows_told} with the language {code!r}, which is no known code: ladders are told in {language!r}")


def warn_of_time(store: Store) -> None:
    """Say on stderr that a snapshot of truthy data does not know what held when."""
    if store.manifest().get("time_aware") is False:
        note("the snapshot holds truthy statements without qualifiers: ladders cannot tell what held when")


def warn_of_relation(relation: str) -> None:
    """Say on stderr that a relation has no row in the relation table."""
    if relation not in relation_table():
        note(f"relation {relation} has no row in the relation table: the ladder follows the answer's class alone")


def note(message: str) -> None:
    """One line on stderr."""
    print(f"granola: {message}", file=sys.stderr)


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 row`, `2 rows`, `1,000 entities`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def unanswered_line(number: int) -> str:
    """How many rows were left out because their dataset has no answer to them."""
    return f"{count(number, 'row')} left out: the dataset has no answer to {'it' if number == 1 else 'them'}"


def report_rejects(name: str, rejected: Sequence[RejectedRow], *, listed: Path | None = None) -> None:
    """The first rejected rows with their places and reasons, and how many there are by reason."""
    for row in rejected[:TOLD]:
        print(f"granola: rejected {row.source}: {row.reason}: {row.excerpt}", file=sys.stderr)
    if rejected:
        where = f"; listed in {listed}" if listed else ""
        print(f"granola: {_files_of(rejected, name)}: {count(len(rejected), 'row')} rejected{where}", file=sys.stderr)


def _files_of(rejected: Sequence[RejectedRow], name: str) -> str:
    """The files that rejected rows stand in, `name` where it is one of them or none is known."""
    files = dict.fromkeys(_PLACE.sub("", row.source) for row in rejected)
    others = [file for file in files if Path(file).name != Path(name).name]
    named = others if others and len(others) == len(files) else [name, *others]
    more = [f"{len(named) - TOLD:,} more files"] if len(named) > TOLD else []
    return ", ".join([*named[:TOLD], *more])


def list_rejects(out: Path | str, rejected: Sequence[RejectedRow]) -> Path | None:
    """Write OUT.rejects.jsonl, or remove an earlier run's where nothing was rejected; none for standard output."""
    from abstraction.files.writing import write_records

    if str(out) == STANDARD:
        return None
    path = Path(f"{out}{REJECTS_SUFFIX}")
    if rejected:
        write_records((row.to_json() for row in rejected), path, format="jsonl")
    else:
        path.unlink(missing_ok=True)
    return path
