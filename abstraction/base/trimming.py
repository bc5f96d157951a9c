"""Descriptions as text, before parsing: removal of brackets and later sentences, and expansion of lists of places."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kg.base.bounded_cache import bounded_cache

# Lists of places of one kind: "A, B and C counties", "A County, B County and C County".

# The type that the plural adds to each name of a list; "" where it is not part of a name.
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
# Each name of a run is matched once; a pattern of the whole list would restart at every name.
_RUN = re.compile(rf"{_NAME}(?:(?:,? and |, ){_NAME})*+(?: (?P<plural>{_PLURALS})\b)?+")
_ENDS_IN_KIND = re.compile(rf".* ({_KIND})\Z")
_HAS_KIND = re.compile(rf" ({_KIND})\b")


def join_lists(text: str) -> str:
    """The text with each list of places of one kind joined by "and" into one piece."""
    return _RUN.sub(_join_list, text)


def _join_list(match: re.Match[str]) -> str:
    plural = match["plural"]
    run = match[0][: match.start("plural") - match.start() - 1] if plural else match[0]
    pieces = _JOINT.split(run)
    names, joints = pieces[::2], pieces[1::2]
    if not joints:
        return match[0]
    _join_names_of_kind(names, joints)
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


def _join_names_of_kind(names: Sequence[str], joints: list[str]) -> None:
    """Replace by "and" the commas of each list whose names all end in one kind; in a chain of containers they do not.
    """
    kinds = [match[1] if (match := _ENDS_IN_KIND.match(name)) else None for name in names]
    first = 0
    while first < len(names) - 2:
        kind, last = kinds[first], first
        while kind and last < len(names) - 1 and kinds[last] == kind and joints[last] == ", ":
            last += 1
        # `last` follows a comma: it must end in the kind too, and so must the final name after "and".
        closing = kind and last > first and kinds[last] == kind and last < len(joints) and joints[last] != ", "
        if closing and any(m[1] == kind for m in _HAS_KIND.finditer(names[last + 1])):
            joints[first : last + 1] = [" and "] * (last + 1 - first)
            first = last + 2
        else:
            first = max(last, first + 1)


# Removal of brackets and later sentences; country names.


LONGEST = 500  # characters read of a description: WikiData's own have 250 at most
_GROUPS = re.compile(r"(?:(?<!\s)\s++)?(?:\([^()]*+\)|\[[^\]]{0,500}\])")
_SPACES = re.compile(r"\s+")
# The one common place name with a comma in it.
_WASHINGTON = re.compile(r"\bWashington,? D\.? ?C\b\.?")
# Abbreviations, unless they are used as adjectives ("US senator").
_COUNTRY_FORMS = (
    (re.compile(r"\b(?:the )?U\.? ?S\.? ?A\b\.?"), "United States"),
    (re.compile(r"\b(?:the )?U\.S\.?(?=$|[\s,;])(?! [a-z])"), "United States"),
    (re.compile(r"\b(?:the )?US(?=$|[,;])"), "United States"),
    (re.compile(r"\b(?:the )?U\.K\.(?=$|[\s,;])|\b(?:the )?UK\b"), "United Kingdom"),
    (re.compile(r"\b(?:the )?U\.?A\.?E\b\.?"), "United Arab Emirates"),
)


@bounded_cache(entries=1 << 13, longest=250)  # 20 MB at most
def first_segment(description: str) -> str:
    """The first LONGEST characters of a description up to its first ";" or sentence end, without brackets, single-
    spaced.
    """
    text = _GROUPS.sub("", description[:LONGEST]).split(";", 1)[0]
    text = re.split(r"(?<=[a-z]{3})\.\s", text, maxsplit=1)[0]
    return _SPACES.sub(" ", text).strip(" .,")


# "the African continent" for Africa.
_CONTINENTS = {
    "African": "Africa", "Asian": "Asia", "European": "Europe", "North American": "North America",
    "South American": "South America", "Antarctic": "Antarctica", "Australian": "Australia",
}  # fmt: skip
_CONTINENT = re.compile(rf"\b(?:the )?({'|'.join(_CONTINENTS)}) continent\b")


def spell_countries(text: str) -> str:
    """The text with abbreviated country names written out, unless they are used as adjectives."""
    text = _WASHINGTON.sub("Washington D.C.", text)
    for pattern, name in _COUNTRY_FORMS:
        text = pattern.sub(name, text)
    return _CONTINENT.sub(lambda match: _CONTINENTS[match[1]], text)


def span_of(description: str, words: str) -> tuple[int, int] | None:
    """[start, end) of `words` in the original description, or None where trimming changed them."""
    start = description.find(words)
    if start < 0:
        start = description.casefold().find(words.casefold())
    return (start, start + len(words)) if start >= 0 else None
