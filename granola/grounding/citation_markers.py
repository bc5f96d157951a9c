"""Citations in long answers: [3], [1, 2], [1][2], (source 4), [doc-7], ranges [2-5], superscripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST = 200_000  # characters of an answer that are looked at
WIDEST = 50  # passages of a range
_WORDS = r"(?:sources?|passages?|documents?|docs?|refs?|references?|citations?|snippets?|evidence|no\.?|nr\.?|#)"
_BRACKETS = re.compile(
    r"\[(?P<square>[^\[\]\n]{1,200})\]|\((?P<round>[^()\[\]\n]{1,200})\)|【(?P<wide>[^【】\n]{1,200})】"
)
_LEAD = re.compile(rf"(?:see |cf\.? |from )?{_WORDS}(?!\w)\.? {{0,4}}:? {{0,4}}", re.IGNORECASE)
_PART = re.compile(r",|;|&|/|\band\b|(?<=\d) {1,4}(?=\d)", re.IGNORECASE)
_EMPTY = re.compile(r" ?\([ ,;]{0,20}\)")  # what is left of "([3], [4])"
_RANGE = re.compile(r"(\d{1,6}) {0,4}(?:-|–|—|to|\.\.) {0,4}(\d{1,6})\Z")
# Behind a digit, or a word of one or two letters, it is an exponent: 10⁶, m², mc².
_SUPERSCRIPT = re.compile(r"(?<![0-9⁰¹²³⁴⁵⁶⁷⁸⁹])(?<!\b\w)(?<!\b\w\w)[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


@dataclass(frozen=True, slots=True)
class Marker:
    """Where a marker stands, [start, end), and the ids that it names, known or not."""

    start: int
    end: int
    names: tuple[str, ...]


def markers(text: str, ids: Iterable[str]) -> list[Marker]:
    """The citation markers of a text. `ids` are the passages': in round brackets only they, or what a word leads in.

    A bracket whose parts are neither known ids nor numbers is no marker: "[sic]", "(1999)".
    """
    known = {one.casefold(): one for one in ids}
    found = []
    for match in _BRACKETS.finditer(text[:LONGEST]):
        inner = match["square"] or match["round"] or match["wide"] or ""
        names = _named(inner, known, strict=match["round"] is not None)
        if names:
            found.append(Marker(match.start(), match.end(), names))
    for match in _SUPERSCRIPT.finditer(text[:LONGEST]):
        name = match[0].translate(_DIGITS).lstrip("0")
        if name in known:
            found.append(Marker(match.start(), match.end(), (known[name],)))
    return sorted(found, key=lambda marker: marker.start)


def cited_passages(text: str, ids: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(ids cited, in order and once each; names cited that are no passage's)."""
    known = set(ids)
    names = list(dict.fromkeys(name for marker in markers(text, ids) for name in marker.names))
    return tuple(one for one in names if one in known), tuple(one for one in names if one not in known)


def without_markers(text: str, ids: Sequence[str]) -> str:
    """The text without its citations, for judging what it says."""
    out: list[str] = []
    at = 0
    for marker in markers(text, ids):
        if marker.start >= at:
            out.append(text[at : marker.start].rstrip(" "))
            at = marker.end
    if not out:
        return text
    return _EMPTY.sub("", "".join([*out, text[at:]])).lstrip(" ")


def _named(inner: str, known: dict[str, str], *, strict: bool) -> tuple[str, ...]:
    whole = inner.strip().casefold()
    if whole in known:
        return (known[whole],) if not (strict and whole.isdigit()) else ()
    led = False
    names: list[str] = []
    for part in _PART.split(inner.strip()):
        part = part.strip().strip("\"'")
        lead = _LEAD.match(part)
        if lead is not None and part.casefold() not in known and lead.end() < len(part):
            led, part = True, part[lead.end() :]
        part = part.strip().strip("#^")
        if not part:
            continue
        if part.casefold() in known:
            names.append(known[part.casefold()])
            continue
        span = _RANGE.match(part)
        if span is not None:
            low, high = int(span[1]), int(span[2])
            if low <= high < low + WIDEST and (not strict or led):
                names += [str(number) for number in range(low, high + 1)]
                continue
            return ()
        if part.isascii() and part.isdigit() and len(part) <= 4 and (not strict or led):
            names.append(str(int(part)))
            continue
        return ()
    if strict and not led and any(name.isdigit() for name in names):
        return ()  # "(2)" in a text is an item of a list, "(1999)" a year
    return tuple(dict.fromkeys(names))
