"""Replies as texts of tiers: in the form that is asked for, or nothing."""

from __future__ import annotations

import re
import unicodedata

from abstraction.errors import ReplyError
from abstraction.models.replies import counted, listed, yes_or_no

TAG = "answers"
MOST = 14  # as many as GRANOLA-EQ has columns
LONGEST = 200  # characters of one answer
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_QUOTED = re.compile(r"\A(?:\"(.+)\"|“(.+)”|\*\*(.+)\*\*|'(.+)')\Z")


def answer_of(reply: str) -> str:
    """A reply without the thoughts that some models put before it."""
    return _THOUGHT.sub("", reply, count=1)


def read_ladder(reply: str) -> list[str]:
    """The coarser answers of a reply, finest first; [] where it says that there is none. Raises ReplyError.

    Either form that the prompts ask for is read: a list in the tag `answers`, or lines of `1:: answer`, whose first is
    the answer that was given.
    """
    text = answer_of(reply)
    if "::" in text and f"<{TAG}>" not in text:
        items = [_plain(item) for item in counted(text)][1:]
    else:
        items = [_plain(item) for item in listed(text, TAG)]
    if [item.casefold().rstrip(".") for item in items] == ["none"]:
        return []
    if len(items) > MOST:
        raise ReplyError(f"{len(items)} answers are too many: {MOST} at most")
    return items


def read_wording(reply: str, count: int) -> list[str]:
    """As many wordings as were asked for, in order. Raises ReplyError."""
    items = [_plain(item) for item in listed(answer_of(reply), TAG)]
    if len(items) != count:
        raise ReplyError(f"the list has {count} lines, the reply {len(items)}")
    return items


def read_vote(reply: str) -> bool:
    """Whether a reply says yes. Raises ReplyError."""
    return yes_or_no(answer_of(reply))


def _plain(item: str) -> str:
    """One answer without quotation marks around it. Raises ReplyError for what is no short text on one line."""
    found = _QUOTED.match(item.strip())
    text = (next(part for part in found.groups() if part) if found else item).strip()
    if len(text) > LONGEST:
        raise ReplyError(f"an answer of {len(text)} characters is too long: {LONGEST} at most")
    if re.search(r"[<>{}`]|\\n", text) or any(
        unicodedata.category(letter) in ("Cc", "Cs", "Cf", "Co") for letter in text
    ):
        raise ReplyError("an answer must be a plain text, without tags, braces or invisible characters")
    if not any(letter.isalnum() for letter in text):
        raise ReplyError("an answer without a word")
    return text
