"""Replies as texts of tiers: in the form that is asked for, or nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from abstraction.assembly.filters import names_the_answer
from abstraction.errors import ReplyError
from abstraction.models.replies import counted, listed, tagged, yes_or_no

TAG = "answers"
MOST = 14  # as many as GRANOLA-EQ has columns
LONGEST = 200  # characters of one answer
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_QUOTED = re.compile(r"\A(?:\"(.+)\"|“(.+)”|\*\*(.+)\*\*|'(.+)')\Z")


def answer_of(reply: str) -> str:
    """A reply without the thoughts that some models put before it."""
    return _THOUGHT.sub("", reply, count=1)


def read_ladder(reply: str, names: Collection[str] = ()) -> list[str]:
    """The coarser answers of a reply, finest first; [] where it says that there is none. Raises ReplyError.

    Either form that the prompts ask for is read, with the tag `answers` around it or, for lines of `1:: answer`,
    without. The first of such lines is left out where it is the answer that was given, by one of its `names`: some
    models begin with a coarser one.
    """
    text = answer_of(reply)
    inner = tagged(text, TAG) if f"<{TAG}>" in text else text
    if re.search(r"^\s{0,8}`?\d{1,3}\s{0,3}::", inner, re.MULTILINE) or (inner is text and "::" in text):
        items = [_plain(item) for item in counted(inner)]
        if _is_given(items[0], names):
            items = items[1:]
    else:
        items = [_plain(item) for item in listed(text, TAG)]
    if [item.casefold().rstrip(".") for item in items] == ["none"]:
        return []
    if len(items) > MOST:
        raise ReplyError(f"{len(items)} answers are too many: {MOST} at most")
    return items


def _is_given(item: str, names: Collection[str]) -> bool:
    """Whether an answer is the given one, alone or with more behind it: `Hamburg`, `Hamburg, Germany`."""
    head = re.split(r"[,;(]", item)[0]
    return names_the_answer(item, names, person=False) or names_the_answer(head, names, person=False)


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
    match = _QUOTED.match(item.strip())
    text = (next(part for part in match.groups() if part) if match else item).strip()
    if len(text) > LONGEST:
        raise ReplyError(f"an answer of {len(text)} characters is too long: {LONGEST} at most")
    if re.search(r"[<>{}`]|\\n", text) or any(
        unicodedata.category(letter) in ("Cc", "Cs", "Cf", "Co") for letter in text
    ):
        raise ReplyError("an answer must be a plain text, without tags, braces or invisible characters")
    if not any(letter.isalnum() for letter in text):
        raise ReplyError("an answer without a word")
    return text
