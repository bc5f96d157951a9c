"""Rows that are left out, each with its place and the reason: bad ones, and those that the program is at fault with.

An unforeseen error in one row rejects that row and lets the run go on.
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

FAULT = "fault of the program"
_PACKAGES = ("kg", "abstraction", "granola")
EXCERPT = 160  # characters
_ENDING = (ForeseenError, MemoryError, OSError, sqlite3.Error)


@dataclass(frozen=True, kw_only=True, slots=True)
class RejectedRow:
    """A record that was left out: "file:line", the reason, the beginning of what stood there, and its id if known."""

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
    """A record to whose question its dataset has no answer: nothing is wrong with it, and it is left out."""


OnReject = Callable[[RejectedRow], None]


def excerpt(text: str | bytes) -> str:
    """The first characters of what was rejected, on one line."""
    if isinstance(text, bytes):
        text = text[: 4 * EXCERPT].decode("utf-8", "backslashreplace")
    text = " ".join(text[: 2 * EXCERPT].encode("utf-8", "backslashreplace").decode().split())
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def shown(value: object) -> str:
    """The beginning of a value as Python writes it, on one line."""
    try:
        return excerpt(repr(value))
    except RecursionError:
        return "a value nested too deeply to be shown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """An unforeseen error: `stage` is what was being done with the row, `place` the line of the program, if known.

    `cause` is the error itself, None in another process than that where it was raised.
    """

    stage: str
    place: str
    error: str
    cause: Exception | None = field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[Callable[[], Fault], tuple[()]]:
        return partial(Fault, stage=self.stage, place=self.place, error=self.error), ()

    @property
    def reason(self) -> str:
        """What a list of rejected rows says of it."""
        return f"{FAULT} in {self.stage}{f', {self.place}' if self.place else ''}: {self.error}; please report it"

    def rejected(self, *, source: str, id: str, text: str) -> RejectedRow:
        """The row that it rejects: where it stands, its id and the beginning of its text."""
        return RejectedRow(source=source or id, reason=self.reason, excerpt=excerpt(text), id=excerpt(id))


def is_unforeseen(error: BaseException) -> bool:
    """Whether an error can be one row's: not what is raised on purpose, nor memory, a disk, a network or a store."""
    if isinstance(error, sqlite3.DataError):  # a text or number that SQLite cannot take
        return True
    return isinstance(error, Exception) and not isinstance(error, _ENDING)


def fault_of(error: Exception, stage: str) -> Fault:
    """The fault that an unforeseen error is. Raises the error itself where it is none."""
    if not is_unforeseen(error):
        raise error
    place = ""
    for frame, line in walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if module.split(".")[0] in _PACKAGES and module != __name__:
            place = f"{module.replace('.', '/')}.py line {line}"
    return Fault(stage=stage, place=place, error=excerpt(f"{type(error).__name__}: {error}"), cause=error)


def attempt(stage: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | Fault:
    """What `work` returns, or the fault of an unforeseen error in it; other errors are raised."""
    try:
        return work(*args, **kwargs)
    except Exception as error:
        return fault_of(error, stage)
