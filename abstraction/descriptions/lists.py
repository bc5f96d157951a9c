"""Lists of places of one kind: "A, B and C counties", "A County, B County and C County"."""

from __future__ import annotations

import re
from collections.abc import Sequence

# What the plural says of each place of a list; "" where it is no part of a name.
PLURAL = {
    "counties": "County",
    "districts": "District",
    "provinces": "Province",
    "parishes": "Parish",
    "departments": "",
    "states": "",
    "prefectures": "Prefecture",
    "boroughs": "",
    "cantons": "",
}
_KIND = "|".join(filter(None, PLURAL.values()))
_PLURALS = "|".join(plural for plural, singular in PLURAL.items() if singular)
_NAME = r"[A-ZÀ-Þ][\w.'’-]*+(?: [A-ZÀ-Þ][\w.'’-]*+)*+"
_JOINT = re.compile(r"(,? and |, )")
# Every name of a run is read once: a pattern of the whole list would begin anew at each.
_RUN = re.compile(rf"{_NAME}(?:(?:,? and |, ){_NAME})*+(?: (?P<plural>{_PLURALS})\b)?+")
_ENDS_IN_KIND = re.compile(rf".* ({_KIND})\Z")
_HAS_KIND = re.compile(rf" ({_KIND})\b")


def joined_lists(text: str) -> str:
    """The text with each list of places of one kind as one piece, its names joined by "and"."""
    return _RUN.sub(_joined, text)


def _joined(match: re.Match[str]) -> str:
    plural = match["plural"]
    run = match[0][: match.start("plural") - match.start() - 1] if plural else match[0]
    pieces = _JOINT.split(run)
    names, joints = pieces[::2], pieces[1::2]
    if not joints:
        return match[0]
    _join_typed(names, joints)
    if plural:
        first = len(names) - 1
        if joints[-1].endswith("and "):
            first -= 1
            while first and joints[first - 1] == ", ":
                first -= 1
        if first < len(names) - 2:
            kind = PLURAL[plural]
            head = "".join(name + joint for name, joint in zip(names[:first], joints[:first], strict=True))
            return head + " and ".join(f"{name} {kind}" for name in names[first:])
    return "".join(name + joint for name, joint in zip(names, [*joints, ""], strict=True)) + (
        f" {plural}" if plural else ""
    )


def _join_typed(names: Sequence[str], joints: list[str]) -> None:
    """Put "and" for the commas of each list whose names all end in one kind, as a comma-separated chain has none."""
    kinds = [match[1] if (match := _ENDS_IN_KIND.match(name)) else None for name in names]
    first = 0
    while first < len(names) - 2:
        kind, last = kinds[first], first
        while kind and last < len(names) - 1 and kinds[last] == kind and joints[last] == ", ":
            last += 1
        # `last` follows a comma: it must end in the kind as well, and be joined to a last name that has it.
        closing = kind and last > first and kinds[last] == kind and last < len(joints) and joints[last] != ", "
        if closing and any(m[1] == kind for m in _HAS_KIND.finditer(names[last + 1])):
            joints[first : last + 1] = [" and "] * (last + 1 - first)
            first = last + 2
        else:
            first = max(last, first + 1)
