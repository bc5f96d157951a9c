"""Reads a model's replies as texts of tiers, strictly: a reply in another form than requested is unreadable."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from abstraction.errors import ReplyError
from abstraction.ladders.assembly.filters import names_the_answer
from abstraction.text.language.template_marks import own_turn, without_thoughts

# The forms of replies; anything else raises ReplyError, so that no guess about a reply enters a ladder.


def read_tagged(reply: str, name: str) -> str:
    """The text between <name> and </name>, of which there must be one pair. Raises ReplyError.

    Text from data has no angle brackets once it is in a prompt (`prompt_files.harmless`), so the pair is by the model
    even where it repeats data.
    """
    opened, closed = f"<{name}>", f"</{name}>"
    if reply.count(opened) != 1 or reply.count(closed) != 1:
        raise ReplyError(
            f"the reply must have {opened}...{closed} once: it has {reply.count(opened)} and {reply.count(closed)}"
        )
    before, _, behind = reply.partition(opened)
    if closed in before:
        raise ReplyError(f"{closed} stands before {opened} in the reply")
    return behind.partition(closed)[0].strip()


def read_list(reply: str, name: str) -> list[str]:
    """The items between <name> and </name>, one per line, all with a dash or all numbered from 1.

    Raises ReplyError for another line, and where there is no item.
    """
    lines = [line.strip() for line in read_tagged(reply, name).splitlines() if line.strip()]
    dashed = [re.fullmatch(r"[-*•]\s+(\S.*)", line) for line in lines]
    numbered = [re.fullmatch(rf"{at}[.)]\s+(\S.*)", line) for at, line in enumerate(lines, start=1)]
    for matches in (dashed, numbered):
        items = [match[1] for match in matches if match]
        if items and len(items) == len(lines):
            return items
    raise ReplyError(f"<{name}> must hold lines of '- item', or '1. item', '2. item' and so on")


def read_numbered_lines(reply: str) -> list[str]:
    """The items of lines such as `1:: item`, numbered from 1 without a gap.

    Lines without `::` may precede and follow them, but not interrupt them. Raises ReplyError.
    """
    lines = [line.strip().strip("`") for line in reply.splitlines() if line.strip()]
    matches = [re.fullmatch(r"(\d{1,3})\s{0,3}::\s{0,3}(\S.*)", line) for line in lines]
    places = [at for at, match in enumerate(matches) if match]
    items = [
        match[2]
        for at, match in enumerate((matches[place] for place in places), start=1)
        if match and int(match[1]) == at
    ]
    if not items or len(items) != len(places) or places[-1] - places[0] + 1 != len(places):
        raise ReplyError("the answers must stand on lines of '1:: answer', '2:: answer' and so on, without a gap")
    return items


def read_vote(reply: str) -> bool:
    """Whether the first word of a reply, after its thoughts, is yes rather than no. Raises ReplyError for another
    word.
    """
    match = re.match(r"\W*(yes|no)\b", final_text(reply), re.IGNORECASE)
    if not match:
        raise ReplyError("the reply must begin with yes or no")
    return match[1].lower() == "yes"


# Replies as texts of tiers.


TAG = "answers"  # the tag around the answers in our own prompts
MOST_ANSWERS = 14  # most answers of a reply: the number of answer columns in GRANOLA-EQ
LONGEST_ANSWER = 200  # characters of one answer
_QUOTED = re.compile(r"\A(?:\"(.+)\"|“(.+)”|\*\*(.+)\*\*|'(.+)')\Z")


def final_text(reply: str) -> str:
    """A reply without thoughts and without tokens that mark turns. Raises ReplyError for an unfinished thought."""
    text, unfinished = without_thoughts(reply)
    if unfinished and not text.strip():
        raise ReplyError("the reply ends in the midst of a thought")
    return own_turn(text)


def read_ladder(reply: str, names: Collection[str] = (), *, answer_first: bool = False) -> list[str]:
    """The coarser answers of a reply, finest first; [] where the reply is "none". Raises ReplyError.

    Both forms that the prompts ask for are read: with the tag `answers` around it or, for lines of `1:: answer`,
    without. The first of such lines is left out where it is one of the `names` of the given answer; some models begin
    with a coarser one. With `answer_first` it is always left out.
    """
    text = final_text(reply)
    inner = read_tagged(text, TAG) if f"<{TAG}>" in text else text
    if re.search(r"^\s{0,8}`?\d{1,3}\s{0,3}::", inner, re.MULTILINE) or (inner is text and "::" in text):
        items = [_clean_answer(item) for item in read_numbered_lines(inner)]
        # The given answer, alone or followed by more: `Hamburg`, `Hamburg, Germany`.
        first = (items[0], re.split(r"[,;(]", items[0])[0])
        if answer_first or any(names_the_answer(text, names, person=False) for text in first):
            items = items[1:]
    else:
        items = [_clean_answer(item) for item in read_list(text, TAG)]
    if [item.casefold().rstrip(".") for item in items] == ["none"]:
        return []
    if len(items) > MOST_ANSWERS:
        raise ReplyError(f"{len(items)} answers are too many: {MOST_ANSWERS} at most")
    return items


def _clean_answer(item: str) -> str:
    """One answer without quotation marks around it. Raises ReplyError for anything but a short text on one line."""
    match = _QUOTED.match(item.strip())
    # Models like to quote answers or set them in bold.
    text = (next(part for part in match.groups() if part) if match else item).strip()
    if len(text) > LONGEST_ANSWER:
        raise ReplyError(f"an answer of {len(text)} characters is too long: {LONGEST_ANSWER} at most")
    if re.search(r"[<>{}`]|\\n", text) or any(
        unicodedata.category(letter) in ("Cc", "Cs", "Cf", "Co") for letter in text
    ):
        raise ReplyError("an answer must be a plain text, without tags, braces or invisible characters")
    if not any(letter.isalnum() for letter in text):
        raise ReplyError("an answer without a word")
    return text
