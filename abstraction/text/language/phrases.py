"""English words and noun phrases: sentences, words for comparison, articles, and phrases that entail each other.

A phrase is made of features (a nationality, an occupation, a place ...). Removing a feature gives a coarser phrase: a
phrase entails every other whose features are a proper subset of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import Literal

from abstraction.base.properties import package_data
from abstraction.errors import LanguageError
from kg.base.bounded_cache import bounded_cache
from kg.base.model import normalise
from kg.base.packages import install_hint

# Words that begin with a vowel letter but a consonant sound (a university, a one-off), and the reverse (an hour).
_SPOKEN_CONSONANT = re.compile(
    r"(?:eu|ew|one(?:\b|-)|once\b|ouija|u(?:[rts]a|ganda|krain|ruguay|ni(?!n|m[^e])|nique|tili|topi|kulele|rani|rina|rolog|"
    r"biqu|fo\b|ke\b|nesco\b|nicef\b)|us(?:[aeiu]|ur)|uy?gh)",
    re.I,
)
_SPOKEN_VOWEL = re.compile(r"(?:heir|hono(?:u?r)|honest|hour)", re.I)
# First words that are spelt out letter by letter: U.S., MP, X-ray.
_LETTERS = re.compile(r"[A-Z](?:[A-Z0-9&.-]*[A-Z0-9])?\.?(?=$|[\s'’-])|[A-Z]\.|[B-DF-HJ-NP-TV-Z][A-Z]|[A-Z](?=-)")
_VOWEL_LETTERS = frozenset("AEFHILMNORSX")  # letters whose names begin with a vowel: an MP, an X-ray
# Numbers that begin with the sound of eight, eleven or eighteen.
_VOWEL_NUMBER = re.compile(r"(?:8|11(?:\D|$|\d\d(?:\D|$))|18(?:\D|$|\d\d(?:\D|$)))")
# Acronyms that are pronounced as words, not letter by letter.
_WORDS = re.compile(
    r"(?:NA(?:SA|SCAR|TO|SDAQ|FTA)|UN(?:ESCO|ICEF)|FIFA|UEFA|RADA|SWAT|SEAL|LATAM|RAF(?=[a-z])|HAMAS|LEGO|SAAB|SEAT|FIAT|REIT)\b"
)


def article(phrase: str) -> str:
    """ "a" or "an" by the sound of the first word. `"U.S. company"` -> `"a"`, `"MP"` -> `"an"`."""
    first = phrase.split(" ", 1)[0]
    if first[:1].isdigit():
        return "an" if _VOWEL_NUMBER.match(first) else "a"
    if _LETTERS.match(first) and not _WORDS.match(first):
        return "an" if first[0] in _VOWEL_LETTERS else "a"
    if _SPOKEN_VOWEL.match(first):
        return "an"
    if first[:1].casefold() in "aeiouàáâäåæèéêëìíîïòóôöøœùúûü" and first[:1]:
        return "a" if _SPOKEN_CONSONANT.match(first) else "an"
    return "a"


# Names that take "the" inside a phrase: "a city in the United States", "a character in the Hebrew Bible".
_WITH_THE = {
    "place": re.compile(
        r"^(?:United |Netherlands|Philippines|Czech Republic|Dominican Republic|Bahamas|Maldives|Soviet Union|"
        r"Republic |Kingdom |Federal |State of|Isle of|Province of|Canary|Vatican$|City of|"
        r"Caribbean|Balkans|Guianas|(?:Middle|Near|Far) East|Levant|Horn of|Maghreb|Sahel|"
        r"(?:South |North )?Caucasus|Southern Cone|(?:Greater |Lesser )?Antilles|"
        r"(?:Royal|London|Metropolitan) Borough|Metropolitan City|City Municipality|Americas$|Free State$|Bronx|"
        r"(?:North|South|East|West|Central)(?:ern)?(?:[ -][A-Z]\w+)? (?:Province|Area|Cape|Riding)\b)|"
        r"United States$| (?:Lakes|Mountains|Highlands|Midlands|Alps|Ocean|Sea|Gulf)$|"
        r" (?:Islands|Republic|Federation|Emirates|Territory|Union|Peninsula|Region|Valley|Bay Area|Empire|Kingdom)$"
    ),
    "work": re.compile(
        r"^(?:series|universe|franchise|films?|novels?|television|tv|books?|comics?|bible|hebrew)\b|"
        r"\b(?:series|universe|franchise|films|novels|books|comics|bible|trilogy|saga|stories|mythology)$",
        re.I,
    ),
}

# Official labels that are not used within a phrase.
_SHORT = {"United States of America": "United States", "People's Republic of China": "China"}


def short_place_name(name: str) -> str:
    """The usual name of a place inside a phrase: "United States" in "a city in the United States"."""
    return _SHORT.get(name, name)


def definite(name: str, *, of: Literal["place", "work"] = "place") -> str:
    """The name with "the" where it takes the article inside a phrase."""
    return f"the {name}" if _WITH_THE[of].search(name) and not name.lower().startswith("the ") else name


def indefinite(phrase: str) -> str:
    """The phrase with its indefinite article."""
    return f"{article(phrase)} {phrase}"


@cache
def word_list(name: str) -> frozenset[str]:
    """A word list of `data/phrases.json` by its key: "weak_heads", "prepositions" ..."""
    return frozenset(package_data("phrases.json")[name])


def is_informative(phrase: str) -> bool:
    """Whether a shortened phrase is informative enough: "host" or "laureate" alone are not."""
    return normalise(phrase) not in word_list("weak_heads")


# Signs of a truncated or raw label: invisible characters, a name in capitals among others, two nouns without "and", an
# adjective or preposition at the end ("a founder of Western"), two directions in one ("Central-western Europe").
_ILL_FORMED = re.compile(
    r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]|\s{2}|[,;:(/–-]\Z|\b(?:of|in|by|for|and|the|from|with|to|at)\Z"
    r"|\b(?:of|in) (?:North|South|East|West)(?:ern)?\Z|[a-z] (?:[A-Z]{5,}|[A-Z]{4,} [A-Z][a-z]{1,3})\b"
    r"|\b(?:Central|North|South)-(?:west|east)ern [A-Z]|\b(?:from|in|of) \d{4} (?:film|novel|series)\b"
    r"|\btelevision radio\b|\bPresident of the Jury\b"
)


def is_well_formed(text: str) -> bool:
    """Whether a wording is well-formed: not truncated, no raw label, paired brackets."""
    return not _ILL_FORMED.search(text) and text.count("(") == text.count(")")


def modifier_negates(longer: str, shorter: str) -> bool:
    """Whether `longer` is `shorter` after a modifier that negates it: "vice president" for "president"."""
    whole, end = normalise(longer), normalise(shorter)
    before = whole.removesuffix(end)
    if not end or not before or before == whole or before[-1] not in " -":
        return False
    return not word_list("privative_modifiers").isdisjoint(before.replace("-", " ").split())


@bounded_cache(entries=1 << 13, longest=100)  # 8 MB at most
def shortening_changes_meaning(longer: str, shorter: str) -> bool:
    """Whether shortening changes the meaning: a martial artist is not an artist, a vice president not a president.

    `shorter` is a suffix of `longer`; both in plain words.
    """
    cut = normalise(longer[: len(longer) - len(shorter)]).rstrip(" -").split()
    if not cut or not word_list("privative_modifiers").isdisjoint(cut):
        return bool(cut)
    if normalise(shorter) == "director":
        return cut[-1] not in word_list("directing")
    return f"{cut[-1]} {normalise(shorter)}" in word_list("opaque_compounds")


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


MOST_ENDS = 4  # ends of one run of capitalised words that are returned
_WORD = re.compile(r"[^\W_]+(?:[.&'][^\W_]+)*")
# A run of capitalised words, joined by small ones.
_PROPER = re.compile(r"[A-ZÀ-Þ][\w.'’-]*(?: (?:of |and |the |de )*[A-ZÀ-Þ][\w.'’-]*)*")
_JOINT = re.compile(r" (?:of|and|the|de)(?: the)? ")
ARTICLE = re.compile(r"^(?:an?|the)\s+")
FUNCTION = word_list("function_words")  # words without content of their own
TAKES_BACK = word_list("taking_back")  # words that negate the noun after them: a vice president is no president
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
def singular(word: str) -> str:
    """The singular of a lower-case English word or noun phrase: "company" for "companies" and for "company"."""
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
def singular_words(text: str) -> tuple[str, ...]:
    """The normalised words of a text, in order, without possessive and plural endings."""
    return tuple(singular(w.removesuffix("'s")) for w in _WORD.findall(normalise(text)))


@bounded_cache(entries=1 << 13, longest=200)  # 50 MB at most, for texts of one-letter words
def content_words(text: str) -> frozenset[str]:
    """The content words of a text."""
    return frozenset(w for w in singular_words(text) if w not in FUNCTION)


@bounded_cache(entries=1 << 13, longest=200)  # 15 MB at most
def without_article(text: str) -> str:
    """The normalised text without its article."""
    return ARTICLE.sub("", normalise(text))


@bounded_cache(entries=1 << 13, longest=200)  # 50 MB at most, for texts of one-letter words
def proper_names_and_their_parts(text: str) -> tuple[str, ...]:
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
    """Whether the words before `start` deny that the subject lies in the place named there: "near", "north of"."""
    before = re.split(r"[;,(]", description[:start])[-1]
    directed = _DIRECTION.search(before)
    return bool(_OUTSIDE.search(before)) or (directed is not None and not directed["inside"])


def negating_word_before(description: str, start: int) -> str | None:
    """The word right before `start` that negates the words after it ("vice" of "vice president"), or None."""
    before = re.split(r"[;,()]", description[:start])[-1]
    end = _JOINED.search(before)
    match = _LAST.search(before[: end.start()]) if end else None
    return match[0].casefold() if match and match[0].casefold() in TAKES_BACK | PAST else None


def singular_lower_case_words(text: str) -> frozenset[str]:
    """The words of a text that begin with a small letter, normalised and in the singular."""
    return frozenset(w for raw in text.split() if raw[:1].islower() for w in singular_words(raw))
