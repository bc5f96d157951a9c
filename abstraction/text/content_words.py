"""Normalised words of texts, with and without function words and articles."""

from __future__ import annotations

import re

from kg.base.bounded_cache import bounded_cache
from kg.base.terms import normalise

_WORDS = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")  # letters and digits, with apostrophes and dots inside

_ARTICLE = re.compile(r"^(?:an?|the)\s+")

# Function words of English: an overlap in these with the question reveals nothing.
_WITHOUT_CONTENT = """
    a an the of in on at for from by to and or with is was are were be been did do does which who whom whose what when
    where how its it his her their that this as into
"""

_FUNCTION_WORDS = frozenset(_WITHOUT_CONTENT.split())


@bounded_cache(entries=1 << 13, longest=200)  # 50 MB at most, if texts are words of one letter
def words(text: str) -> tuple[str, ...]:
    """The normalised words of a text, possessives without their ending."""
    return tuple(re.sub(r"['’]s$", "", w) for w in _WORDS.findall(normalise(text)))


@bounded_cache(entries=1 << 13, longest=200)  # 50 MB at most, if texts are words of one letter
def content_words(text: str) -> frozenset[str]:
    """The words of a text without articles, prepositions and question words."""
    return frozenset(w for w in words(text) if w not in _FUNCTION_WORDS)


def without_article(text: str) -> str:
    """The normalised text without its leading article."""
    return _ARTICLE.sub("", normalise(text))
