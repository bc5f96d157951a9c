"""What runs share; see `granola.commands.output` and `granola.commands.messages`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from granola.commands.messages import (
    count,
    note,
    print_json,
    report_rejects,
    unanswered_line,
    warn_of_language,
    warn_of_relation,
    warn_of_time,
    watch_languages,
)
from granola.commands.output import (
    REJECTS_SUFFIX,
    STANDARD,
    _removed_on_error,
    check_outputs,
    check_standard_input,
    list_rejects,
    readable,
)
from granola.errors import UsageError
from granola.shared_settings import check_language

__all__ = [
    "REJECTS_SUFFIX", "STANDARD", "check_language", "check_out", "check_outputs", "check_standard_input", "count",
    "list_rejects", "note", "print_json", "readable", "removed_on_error", "report_rejects", "unanswered_line",
    "warn_of_language", "warn_of_relation", "warn_of_time", "watch_languages",
]  # fmt: skip


@contextmanager
def removed_on_error(out: Path | str | None) -> Iterator[None]:
    """As of `granola.commands.output`."""
    if out is None:
        yield
        return
    with _removed_on_error(out):
        yield


def check_out(out: Path, *, inputs: Iterable[Path | str | None]) -> None:
    """The same for a snapshot, where the library itself asks whether `out` exists."""
    if str(out) in (STANDARD, "."):
        raise UsageError("--out takes a file; a snapshot cannot be written to standard output")
    check_outputs(out, inputs=inputs, sides=(REJECTS_SUFFIX,), force=True)
