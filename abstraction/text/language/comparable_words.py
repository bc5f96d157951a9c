"""The sentences of texts, and their words for comparison in normal form, with singular endings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from abstraction.errors import LanguageError
from abstraction.text.language.phrases import listed
from kg.base.bounded_cache import bounded_cache
from kg.base.packages import install_hint
from kg.base.terms import normalise

NEEDED = f"parting sentences needs sentencex: {install_hint('evidence')}"


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences in order, without surrounding blanks; empty for an empty text.

    Raises LanguageError where the library is missing.
    """
    try:
        import sentencex
    except ImportError as error:
        raise LanguageError(NEEDED) from error
    # JSON may contain half a surrogate pair, which the library rejects.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [one for part in sentencex.segment(language, whole) if (one := part.strip())]


MOST_ENDS = 4  # ends of one run of capitalised words that are listed
_WORD = re.compile(r"[^\W_]+(?:[.&'][^\W_]+)*")
# A run of capitalised words, joined by small ones.
_PROPER = re.compile(r"[A-ZÀ-Þ][\w.'’-]*(?: (?:of |and |the |de )*[A-ZÀ-Þ][\w.'’-]*)*")
_JOINT = re.compile(r" (?:of|and|the|de)(?: the)? ")
ARTICLE = re.compile(r"^(?:an?|the)\s+")
FUNCTION = listed("function_words")  # words without content of their own
TAKES_BACK = listed("taking_back")  # words that negate the noun after them: a vice president is no president
# Words that negate an occupation, but not the kind of an organisation.
PAST = frozenset({"former", "ex", "past", "retired"})
# Words before a place name that put the subject outside the place.
_OUTSIDE = re.compile(
    r"\b(?:near|nearby|between|off|outside|opposite|bordering|beside|towards?|against|versus|overlooking|facing"
    r"|adjacent to"
    r"|(?:\d[\d.,]{0,20} ?(?:km|kilomet(?:er|re)s?|mi|miles?|m)\s+(?:\w+ )?(?:of|from)))"
    r"\s+(?:the\s+|an?\s+)?(?:[\w-]+\s+of\s+)?$",
    re.I,
)
# "in the north of France" is inside, "north of Paris" is not.
_DIRECTION = re.compile(
    r"(?P<inside>\b(?:in|within|part)\s++(?:the\s++)?(?:\w++\s++)?)?"
    r"\b(?:north|south|east|west)(?:\s*+-?\s*+(?:east|west))?\s++of\s++(?:the\s++)?$",
    re.I,
)

_JOINED = re.compile(r"(?<![\s-])[\s-]++\Z")
_LAST = re.compile(r"(?<![\w-])[\w-]++\Z")


@bounded_cache(entries=1 << 14, longest=40)  # 5 MB at most
def stem(word: str) -> str:
    """The singular of a lower-case word or noun phrase: "companies" and "company" give the same stem."""
    if word.endswith(("series", "species")):
        return word
    if len(word) > 3 and word.endswith("ies") and not word.endswith("movies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    if word.endswith("women"):
        return word[:-2] + "an"
    return word[:-2] + "an" if len(word) > 4 and word.endswith("men") else word


@bounded_cache(entries=1 << 13, longest=200)  # 50 MB at most, for texts of one-letter words
def all_words(text: str) -> tuple[str, ...]:
    """The normalised words of a text, in order, without possessive and plural endings."""
    return tuple(stem(w.removesuffix("'s")) for w in _WORD.findall(normalise(text)))


@bounded_cache(entries=1 << 13, longest=200)  # 50 MB at most, for texts of one-letter words
def content(text: str) -> frozenset[str]:
    """The content words of a text."""
    return frozenset(w for w in all_words(text) if w not in FUNCTION)


@bounded_cache(entries=1 << 13, longest=200)  # 15 MB at most
def bare(text: str) -> str:
    """The normalised text without its article."""
    return ARTICLE.sub("", normalise(text))


@bounded_cache(entries=1 << 13, longest=200)  # 50 MB at most, for texts of one-letter words
def proper_names(text: str) -> tuple[str, ...]:
    """The runs of capitalised words in a text, their parts and ends: "King of Sweden", "King" and "Sweden"."""
    out: dict[str, None] = {}
    for run in _PROPER.findall(text):
        ends = [run[joint.end() :] for joint in islice(_JOINT.finditer(run), MOST_ENDS)]
        out.update(dict.fromkeys([run, *_JOINT.split(run), *ends]))
    return tuple(out)


def occurs_in(words: Sequence[str], text: Sequence[str]) -> bool:
    """Whether `words` occur consecutively in `text`."""
    return bool(words) and f" {' '.join(words)} " in f" {' '.join(text)} "


def denies_location_before(description: str, start: int) -> bool:
    """Whether the words right before `start` deny that the subject lies in the place named there: "near", "north of".
    """
    before = re.split(r"[;,(]", description[:start])[-1]
    directed = _DIRECTION.search(before)
    return bool(_OUTSIDE.search(before)) or (directed is not None and not directed["inside"])


def taken_back_by(description: str, start: int) -> str | None:
    """The word right before `start` that negates the words after it ("vice" of "vice president"), or None."""
    before = re.split(r"[;,()]", description[:start])[-1]
    end = _JOINED.search(before)
    match = _LAST.search(before[: end.start()]) if end else None
    return match[0].casefold() if match and match[0].casefold() in TAKES_BACK | PAST else None


def written_in_lower_case(text: str) -> frozenset[str]:
    """The words of a text with a small first letter, in the form of `all_words`."""
    return frozenset(w for raw in text.split() if raw[:1].islower() for w in all_words(raw))
