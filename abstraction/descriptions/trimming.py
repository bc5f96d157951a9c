"""Descriptions as text: what is cut away before any grammar looks at them."""

from __future__ import annotations

import re

from kg.bounded_cache import bounded_cache

LONGEST = 500  # characters of a description that are read: WikiData's own have 250 at most
_GROUPS = re.compile(r"(?:(?<!\s)\s++)?(?:\([^()]*+\)|\[[^\]]{0,500}\])")
_SPACES = re.compile(r"\s+")
# The one well-known place name with a comma in it.
_WASHINGTON = re.compile(r"\bWashington,? D\.? ?C\b\.?")
_COUNTRY_FORMS = (
    (re.compile(r"\b(?:the )?U\.? ?S\.? ?A\b\.?"), "United States"),
    (re.compile(r"\b(?:the )?U\.S\.?(?=$|[\s,;])(?! [a-z])"), "United States"),
    (re.compile(r"\b(?:the )?US(?=$|[,;])"), "United States"),
    (re.compile(r"\b(?:the )?U\.K\.(?=$|[\s,;])|\b(?:the )?UK\b"), "United Kingdom"),
    (re.compile(r"\b(?:the )?U\.?A\.?E\b\.?"), "United Arab Emirates"),
)


@bounded_cache(entries=1 << 13, longest=250)  # 20 MB at most
def first_segment(description: str) -> str:
    """The description up to its first ";" or sentence end, without bracketed groups, single-spaced.

    Of a description its first LONGEST characters are read.
    """
    text = _GROUPS.sub("", description[:LONGEST]).split(";", 1)[0]
    text = re.split(r"(?<=[a-z]{3})\.\s", text, maxsplit=1)[0]
    return _SPACES.sub(" ", text).strip(" .,")


_CONTINENTS = {
    "African": "Africa", "Asian": "Asia", "European": "Europe", "North American": "North America",
    "South American": "South America", "Antarctic": "Antarctica", "Australian": "Australia",
}  # fmt: skip
_CONTINENT = re.compile(rf"\b(?:the )?({'|'.join(_CONTINENTS)}) continent\b")


def spell_countries(text: str) -> str:
    """Abbreviated country names written out, where they stand for the country and not for an adjective."""
    text = _WASHINGTON.sub("Washington D.C.", text)
    for pattern, name in _COUNTRY_FORMS:
        text = pattern.sub(name, text)
    return _CONTINENT.sub(lambda match: _CONTINENTS[match[1]], text)


def span_of(description: str, words: str) -> tuple[int, int] | None:
    """[start, end) of `words` in the original description, or None where cleaning changed them."""
    start = description.find(words)
    if start < 0:
        start = description.casefold().find(words.casefold())
    return (start, start + len(words)) if start >= 0 else None
