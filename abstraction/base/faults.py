"""Rejected rows, each with its place and reason: malformed ones, and those at which the program failed.

An unforeseen error in one row rejects that row, and the run continues.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from traceback import walk_tb
from typing import ParamSpec, TypeVar

from kg.errors import ForeseenError

P = ParamSpec("P")
T = TypeVar("T")

FAULT = "fault of the program"  # beginning of the reason of a row rejected for a fault
_PACKAGES = ("kg", "abstraction", "granola")  # a fault is located by the innermost line of these
EXCERPT = 160  # characters of a rejected record that are shown
# Errors that end a run: expected ones, and those of memory, disk or store, which would also occur at all other rows.
_NOT_OF_ONE_ROW = (ForeseenError, MemoryError, OSError, sqlite3.Error)


@dataclass(frozen=True, kw_only=True, slots=True)
class RejectedRow:
    """A rejected record: its place as "file:line", the reason, the beginning of its text, and its id if known."""

    source: str
    reason: str
    excerpt: str
    id: str = ""

    def to_json(self) -> dict[str, str]:
        """A JSON object, for a file of rejects."""
        out = {"source": self.source, "reason": self.reason, "excerpt": self.excerpt}
        return {**out, "id": self.id} if self.id else out


@dataclass(frozen=True, kw_only=True, slots=True)
class UnansweredRow(RejectedRow):
    """A record whose question has no answer in its dataset: it is left out, but is not malformed."""


OnReject = Callable[[RejectedRow], None]


def excerpt(text: str | bytes) -> str:
    """The first EXCERPT characters of a rejected text, on one line."""
    if isinstance(text, bytes):
        text = text[: 4 * EXCERPT].decode("utf-8", "backslashreplace")  # a character has at most 4 bytes
    # Long texts are cut before any work on them.
    text = " ".join(text[: 2 * EXCERPT].encode("utf-8", "backslashreplace").decode().split())
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def repr_excerpt(value: object) -> str:
    """The beginning of the `repr` of a value, on one line."""
    try:
        return excerpt(repr(value))
    except RecursionError:
        return "a value nested too deeply to be shown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """An unforeseen error: `stage` names the work on the row, `place` the line of the program, if known.

    `cause` is the error itself; None after a fault was sent to another process.
    """

    stage: str
    place: str
    error: str
    cause: Exception | None = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[Callable[[], Fault], tuple[()]]:
        return partial(Fault, stage=self.stage, place=self.place, error=self.error), ()

    @property
    def reject_reason(self) -> str:
        """The reason as lists of rejected rows show it."""
        return f"{FAULT} in {self.stage}{f', {self.place}' if self.place else ''}: {self.error}; please report it"

    def rejected(self, *, source: str, id: str, text: str) -> RejectedRow:
        """The rejected row of the fault, with its place, its id and the beginning of its text."""
        return RejectedRow(source=source or id, reason=self.reject_reason, excerpt=excerpt(text), id=excerpt(id))


def fault_or_raise(error: Exception, stage: str) -> Fault:
    """The fault for an unforeseen error. An error that would also occur at all other rows is raised again."""
    # A text or number that SQLite cannot take comes from one row.
    if isinstance(error, _NOT_OF_ONE_ROW) and not isinstance(error, sqlite3.DataError):
        raise error
    place = ""
    for frame, line in walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        # The innermost line of our packages, except in this module.
        if module.split(".")[0] in _PACKAGES and module != __name__:
            place = f"{module.replace('.', '/')}.py line {line}"
    return Fault(stage=stage, place=place, error=excerpt(f"{type(error).__name__}: {error}"), cause=error)


def attempt(stage: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | Fault:
    """The result of `work`, or the fault of an unforeseen error in it; other errors are raised."""
    try:
        return work(*args, **kwargs)
    except Exception as error:
        return fault_or_raise(error, stage)
