"""Reading replies strictly: a model says what is asked for in the form that is asked for, or it has said nothing."""

from __future__ import annotations

import re

from abstraction.errors import ReplyError


def tagged(reply: str, name: str) -> str:
    """The text between <name> and </name>, of which there must be one pair. Raises ReplyError.

    Text from data holds no angle brackets once it is in a prompt (`abstraction.models.prompts.harmless`), so the pair
    is the model's own even where it repeats data.
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


def listed(reply: str, name: str) -> list[str]:
    """The items between <name> and </name>, a line each, all with a dash before them or all numbered from 1.

    Raises ReplyError for another line, and where there is no item.
    """
    lines = [line.strip() for line in tagged(reply, name).splitlines() if line.strip()]
    dashed = [re.fullmatch(r"[-*•]\s+(\S.*)", line) for line in lines]
    numbered = [re.fullmatch(rf"{at}[.)]\s+(\S.*)", line) for at, line in enumerate(lines, start=1)]
    for matches in (dashed, numbered):
        items = [match[1] for match in matches if match]
        if items and len(items) == len(lines):
            return items
    raise ReplyError(f"<{name}> must hold lines of '- item', or '1. item', '2. item' and so on")


def counted(reply: str) -> list[str]:
    """The items of lines such as `1:: item`, numbered from 1 without a gap.

    Lines without `::` may stand before and behind, none between. Raises ReplyError.
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


def yes_or_no(reply: str) -> bool:
    """Whether the reply's first word is yes. Raises ReplyError where it is neither yes nor no."""
    match = re.match(r"\W*(yes|no)\b", reply, re.IGNORECASE)
    if not match:
        raise ReplyError("the reply must begin with yes or no")
    return match[1].lower() == "yes"
