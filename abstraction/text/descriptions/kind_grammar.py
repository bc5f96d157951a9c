"""Descriptions of things by their kind (organisations, works, awards, events), and the nationality at the start.

kind := [ERA] [NATIONALITY] { MODIFIER [","|"and"] } HEAD                  "American independent record label"
work := [YEAR] kind [("by" | "directed by" | "written by" ...) NAME { "and" NAME }]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from abstraction.text.descriptions.attested_words import (
    DescriptionWord,
    Vocabulary,
    common_type_names,
    first_clause,
    joined_text,
    lowercase_common_nouns,
    may_shorten,
    separates_conjuncts,
)
from abstraction.text.language.languages import bundled_demonyms
from abstraction.text.language.phrases import is_informative, word_list
from kg.base.bounded_cache import bounded_cache
from kg.base.model import normalise

LONGEST_NATION = 5  # words of the longest name: "Saint Vincent and the Grenadines"
_HYPHEN = re.compile(r"[-–‐/]")
# Words that change the meaning of an adjective: "South American" is not the nationality of one country.
REGIONAL = frozenset({"south", "north", "latin", "central", "pan", "all", "meso", "west", "east", "middle", "roman"})
# Words of descent and faith, which are left out before a nationality: an African American is an American.
DESCENT = frozenset({"african", "asian", "afro", "jewish", "black", "latino", "hispanic", "arab", "white", "native"})
# BC, 19th-century, 1920s, 1914-1918.
_ERA = re.compile(r"^(?:BCE?|CE|AD|\d+(?:st|nd|rd|th)[-–]century|\d{1,4}(?:[-–—]\d{1,4})?s?|\d+(?:st|nd|rd|th))$")
ERA_WORDS = frozenset({"ancient", "medieval", "classical"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Nationality:
    """A nationality in a description.

    `text` is its adjective for phrases, `countries` the possible QIDs of each part (one part for "American", two for
    "Canadian-American", none for the language someone writes in: "Russian-language"), `parts` the adjectives of the
    parts.
    """

    text: str
    parts: tuple[str, ...]
    countries: tuple[tuple[str, ...], ...]
    words: tuple[DescriptionWord, ...]


def read_nationality(words: Sequence[DescriptionWord], vocabulary: Vocabulary) -> Nationality | None:
    """The longest nationality at the start of the words, or None."""
    for size in range(min(LONGEST_NATION, len(words)), 0, -1):
        piece = words[:size]
        if any(w.separator for w in piece) and size > 1 and piece[1].text not in "/&":
            continue
        nationality = _nationality_of_whole_phrase(piece, vocabulary)
        if nationality is not None:
            # "American football" is a game, not football in America.
            behind = words[size].key if size < len(words) else ""
            return None if f"{piece[-1].key} {behind}" in word_list("national_compounds") else nationality
    return None


def read_language_as_nationality(words: Sequence[DescriptionWord]) -> Nationality | None:
    """ "Russian language" or "Russian-language" before a noun, as a Nationality without countries; or None."""
    if words and words[0].is_capitalised and words[0].key.endswith(("-language", "–language")):
        used, name = words[:1], words[0].text[: -len("-language")]
    elif len(words) > 1 and words[0].is_capitalised and words[1].text == "language":
        used, name = words[:2], words[0].text
    else:
        return None
    return Nationality(text=f"{name}-language", parts=(), countries=(), words=tuple(used))


def begins_with_nation(words: Sequence[DescriptionWord], vocabulary: Vocabulary) -> bool:
    """Whether a phrase begins with a nationality of its own ("French Revolution", "American football")."""
    if len(words) > 1 and f"{words[0].key} {words[1].key}" in word_list("national_compounds"):
        return True
    nationality = read_nationality(words, vocabulary)
    return nationality is not None and nationality.words[-1].key != "roman"


def _nationality_of_whole_phrase(piece: Sequence[DescriptionWord], vocabulary: Vocabulary) -> Nationality | None:
    joined = " ".join(w.text for w in piece)
    if not joined[:1].isalpha() or (joined[:1].islower() and (piece[0].start or len(joined) < 6)):
        return None  # "polish" is an adjective unless it opens the description
    if single := _countries_of_adjective(joined, vocabulary):
        text = _spell_adjective(joined, single, vocabulary)
        return Nationality(text=text, parts=(text,), countries=(single,), words=tuple(piece))
    pieces = [p.strip() for p in _HYPHEN.split(joined.replace(" / ", "/"))]
    if len(pieces) < 2 or not all(pieces) or pieces[-1].casefold() == "born" or pieces[0].casefold() in REGIONAL:
        return None
    last = _countries_of_adjective(pieces[-1][:1].upper() + pieces[-1][1:], vocabulary)
    countries = (*(_countries_of_adjective(p, vocabulary) for p in pieces[:-1]), last)
    if not last or (not all(countries) and len(piece) > 1):
        return None
    if not all(countries):
        # "African-American", "Jewish-American": descent or faith, which never becomes a tier.
        pieces, countries = pieces[-1:], (last,)
    parts = tuple(_spell_adjective(p, c, vocabulary) for p, c in zip(pieces, countries, strict=True))
    return Nationality(text="-".join(parts), parts=parts, countries=countries, words=tuple(piece))


def _countries_of_adjective(text: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    countries = vocabulary.countries_of_adjective(text)
    return countries or bundled_demonyms().names.get(normalise(text), ())


def _spell_adjective(text: str, countries: tuple[str, ...], vocabulary: Vocabulary) -> str:
    """The adjective with its usual capitals; for a country's name or abbreviation the adjective of the country."""
    key = normalise(text)
    bundled = bundled_demonyms()
    adjective = vocabulary.adjective_of_country(countries[0])
    if adjective is not None and key in bundled.names:
        return adjective
    if key in _ABBREVIATED:
        return adjective or text
    for form in (adjective, *bundled.variants.get(countries[0], ())):
        if form is not None and normalise(form) == key:
            return form
    return text[:1].upper() + text[1:] if text.islower() else text


# Abbreviations that are replaced by the adjective.
_ABBREVIATED = frozenset({"us", "u.s.", "usa", "uk", "u.k.", "us american", "us-american", "u.s. american"})


def is_era(word: DescriptionWord) -> bool:
    """Whether the word is a period: "19th-century", "1920s"."""
    return bool(_ERA.match(word.text))


def is_birthplace_word(word: DescriptionWord) -> bool:
    """Whether the word names a birthplace: "German-born"."""
    return word.key.endswith(("-born", "–born")) and len(word.text) > 5


LONGEST = 9  # words of a noun phrase; a longer one is not read
_YEAR = re.compile(r"\d{3,4}(?:[-–—]\d{2,4})?$")  # a year or a range of years


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedKind:
    """The kind of a thing, as described.

    `texts` are the wordings from the whole phrase to its shortest informative suffix, each entailing the next; `used`
    the words of each. `end` is the index of the first word after the phrase. `year` is the word of a year before it;
    `tied` is the number of first wordings that take no nationality before them.
    """

    texts: tuple[str, ...]
    used: tuple[tuple[DescriptionWord, ...], ...]
    nationality: Nationality | None
    end: int
    year: DescriptionWord | None = None
    tied: int = 0


@lru_cache(maxsize=8)
def head_nouns_of_family(family: str) -> frozenset[str]:
    """The nouns that can end the name of a kind of the family: the last words of `common_type_names`, without "of" and
    what follows.
    """
    return frozenset(name.split(" of ", 1)[0].rsplit(" ", 1)[-1] for name in common_type_names(family))


def read_kind(sequence: Sequence[DescriptionWord], vocabulary: Vocabulary, kind: str) -> DescribedKind | None:
    """The kind named at the start of a sequence of words, or None where its head is not of the family `kind`."""
    nouns = head_nouns_of_family(kind)
    nationality, year, opening = _read_nationality_and_year(sequence, vocabulary, nouns)
    start = _index_after_adjectives_with_commas(sequence, opening, nouns)
    end = _index_of_phrase_end(sequence, start, nouns)
    # "home video division" of "Walt Disney Company's home video division"
    owners = [i for i in range(start, end - 1) if sequence[i].key.endswith(("'s", "’s")) and sequence[i].is_capitalised]
    phrase = sequence[owners[-1] + 1 if owners else start : end]
    if not phrase or len(phrase) > LONGEST or phrase[-1].key not in nouns or is_plural(phrase[-1].key):
        return None
    free = word_list("free_modifiers")
    texts, used = phrase_and_shortenings(phrase, vocabulary, is_name=vocabulary.attests, free=free)
    if len(phrase) == 1 and nationality is None and not is_informative(texts[0]) and not vocabulary.attests(texts[0]):
        return None
    tied = int(begins_with_nation(phrase, vocabulary))
    return DescribedKind(texts=texts, used=used, nationality=nationality, end=end, year=year, tied=tied)


def _read_nationality_and_year(
    sequence: Sequence[DescriptionWord], vocabulary: Vocabulary, nouns: frozenset[str]
) -> tuple[Nationality | None, DescriptionWord | None, int]:
    """The nationality and the word of the year before a phrase, and the index where the phrase begins."""
    nationality: Nationality | None = None
    year: DescriptionWord | None = None
    at, left_out = 0, word_list("skipped") | word_list("former") | word_list("dropped_kinds")
    while at < len(sequence):
        national = None if nationality else _nationality_at_or_soon_after(sequence, at, vocabulary, nouns)
        if national is not None:
            nationality, at = national
            continue
        word = sequence[at]
        if _YEAR.match(word.text):
            year = word if len(word.text) == 4 and year is None else year
        elif not (is_era(word) or (word.text == "," and at)) and not (
            word.key in left_out and (word.text.islower() or word.start == 0)
        ):
            break
        at += 1
    return nationality, year, at


def _nationality_at_or_soon_after(
    sequence: Sequence[DescriptionWord], at: int, vocabulary: Vocabulary, nouns: frozenset[str]
) -> tuple[Nationality, int] | None:
    """The nationality at an index, after at most two plain adjectives, and the index after it."""
    for skip in range(3):
        if at + skip >= len(sequence):
            return None
        nationality = read_nationality(sequence[at + skip :], vocabulary)
        if nationality is not None:
            return nationality, at + skip + len(nationality.words)
        word = sequence[at + skip]
        plain = word.text.islower() and not word.separator and word.key not in nouns
        if not plain or word.text in word_list("prepositions") or separates_conjuncts(sequence, at + skip):
            return None
    return None


def _index_after_adjectives_with_commas(sequence: Sequence[DescriptionWord], start: int, nouns: frozenset[str]) -> int:
    """The index after adjectives with commas and after an apposition.

    "regional, comprehensive public university" is read as "public university", "brothers, musical duo" as "musical
    duo".
    """
    at = start
    for comma in [i for i in range(start, len(sequence)) if sequence[i].text == ","]:
        before = sequence[at:comma]
        if not before or any(w.key in nouns or w.text in word_list("prepositions") for w in before):
            break
        at = comma + 1
        adjective = len(before) == 1 and (
            before[0].key in word_list("free_modifiers") or _ADJECTIVE.search(before[0].key)
        )
        if not adjective:
            return at
    if at > start:
        while at + 2 < len(sequence) and sequence[at].key in word_list("free_modifiers") - {"public", "private"}:
            at += 1
    return at


# Usual endings of English adjectives.
_ADJECTIVE = re.compile(r"(?:al|ic|ive|ary|ian|an|ous|ed|ible|able|ar|ful|ish|ese|ent|ant|ing|less|ory|y)$")


def _index_of_phrase_end(sequence: Sequence[DescriptionWord], start: int, nouns: frozenset[str]) -> int:
    """The index at which the phrase ends: before a preposition or verb, or at a conjunction after a head."""
    at = start
    while at < len(sequence):
        word = sequence[at]
        if at > start:
            if word.text in word_list("prepositions") or word.text in word_list("breaks"):
                break
            behind = sequence[at + 1].text if at + 1 < len(sequence) else ""
            verb = sequence[at - 1].key in nouns or behind in word_list("prepositions")
            if word.text in word_list("kind_ends") and verb:
                break  # "company founded by ..." but not "broadcast company"
        if separates_conjuncts(sequence, at):
            # "and" ends the phrase after a head ("baseball team and franchise") only
            if at == start or sequence[at - 1].key in nouns or (word.separator and word.text not in ",/&"):
                break
            if at + 1 < len(sequence) and sequence[at + 1].text in word_list("prepositions"):
                break
        at += 1
    while at > start and sequence[at - 1].separator:
        at -= 1
    return at


def phrase_and_shortenings(
    phrase: Sequence[DescriptionWord], vocabulary: Vocabulary, *, is_name: Callable[[str], bool], free: frozenset[str]
) -> tuple[tuple[str, ...], tuple[tuple[DescriptionWord, ...], ...]]:
    """The phrase and its attested suffixes, longest first, with the words of each.

    `is_name` is true for names of a kind, whose words are all common nouns; `free` are modifiers that any phrase may
    lose.
    """
    texts, used = [lowercase_phrase_with_commas(phrase, vocabulary, is_name)], [tuple(phrase)]
    for start in range(1, len(phrase)):
        if phrase[start].separator or phrase[start].text == "and":
            continue
        suffix = phrase[start:]
        shorter = lowercase_phrase_with_commas(suffix, vocabulary, is_name)
        may_go = all(w.separator or w.key in free or w.text == "and" for w in phrase[:start])
        if may_shorten(texts[0], shorter, vocabulary) or (
            may_go and len(suffix) > 1 and not any(w.separator for w in suffix)
        ):
            texts.append(shorter)
            used.append(tuple(suffix))
    return tuple(texts), tuple(used)


def lowercase_phrase_with_commas(
    phrase: Sequence[DescriptionWord], vocabulary: Vocabulary, is_name: Callable[[str], bool]
) -> str:
    """The words as text, with common nouns in lower case and with the original commas."""
    pieces: list[list[DescriptionWord]] = [[]]
    marks: list[str] = []
    for word in phrase:
        if word.separator:
            marks.append(word.text)
            pieces.append([])
        else:
            pieces[-1].append(word)
    texts = [lowercase_common_nouns(piece, vocabulary, is_name) for piece in pieces]
    out = texts[0]
    for mark, text in zip(marks, texts[1:], strict=True):
        out += f"{mark} {text}" if mark == "," else f"{mark}{text}" if mark == "/" else f" {mark} {text}"
    return out


def is_plural(noun: str) -> bool:
    """Whether a noun is plural and takes no indefinite article: "armed forces"."""
    return noun.endswith("s") and not noun.endswith(("ss", "us", "series", "corps", "species", "is"))


# Participles before "by".
_MAKING = frozenset(
    {"by", "directed", "written", "created", "composed", "painted", "recorded", "performed", "authored", "sculpted"}
)
LONGEST_CREATORS = 8  # words of the creators' names; a longer list is not read


@dataclass(frozen=True, kw_only=True, slots=True)
class Creators:
    """The creators of a work, as written, and their words with the preposition ("by Joel and Ethan Coen")."""

    names: str
    words: tuple[DescriptionWord, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkDescription:
    """The parsed description of a work."""

    kind: DescribedKind
    creators: Creators | None


@bounded_cache(entries=1 << 12, longest=250)  # 60 MB at most, measured with texts of one-letter words
def parse_work(description: str, vocabulary: Vocabulary) -> WorkDescription | None:
    """Parse the description of a work, or None where its head noun is not a kind of work."""
    first = first_clause(description, ";|:")
    kind = read_kind(first, vocabulary, "work")
    if kind is None:
        return None
    return WorkDescription(kind=kind, creators=_read_creators(first[kind.end :]))


def _read_creators(tail: Sequence[DescriptionWord]) -> Creators | None:
    at = 0
    while at < len(tail) and tail[at].text in _MAKING | {"and"} and tail[at].text != "by":
        at += 1
    if at >= len(tail) or tail[at].text != "by":
        return None
    named: list[DescriptionWord] = []
    for word in tail[at + 1 :]:
        particle = word.key in word_list("name_particles") and word.text != "of"
        if not (word.is_capitalised or particle or word.text in {"&", ","} or word.text[:2] == "d'"):
            break
        named.append(word)
    while named and not named[-1].is_capitalised:
        named.pop()
    if not named or not named[0].is_capitalised or len(named) > LONGEST_CREATORS:
        return None
    return Creators(names=joined_text(named), words=(tail[at], *named))


# "subsidiary of X", "owned by X"; a past owner does not count.
_OWNER = re.compile(
    r"\b(?:(?P<former>former(?:ly)?|defunct|historic(?:al)?|then|once|previously|originally)\s+)?"
    r"(?P<tie>(?:subsidiary|division|imprint|sub-?label|unit|brand|part|label|arm|business unit|faculty|school|college|"
    r"campus|department)\s+of|owned\s+by)\s+(?:the\s+)?"
    r"(?P<owner>[A-Z0-9][\w'’&.+-]*(?:\s+(?:(?:of|and|for|the|de|du|des|in|&)\s+)*[A-Z0-9&][\w'’&.+-]*)*(?:,\s+Inc\.?)?)"
)
# Words that introduce the location of an organisation.
_WHERE = frozenset({"in", "based", "located", "headquartered", "situated", "from"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """An organisation that owns or contains the described one, with the [start, end) of the words in the description.

    `owns`: whether it is an owner and not a whole of which the other is a part.
    """

    name: str
    span: tuple[int, int]
    owns: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OrganisationDescription:
    """The parsed description of an organisation.

    `placed`: whether a place follows the kind; `land` is a country after the kind instead of an adjective before it
    ("record label in the United States"), with its words.
    """

    kind: DescribedKind | None
    owners: tuple[Owner, ...]
    placed: bool
    land: Nationality | None


@bounded_cache(entries=1 << 12, longest=250)  # 60 MB at most
def parse_organisation(description: str, vocabulary: Vocabulary, kind: str = "organisation") -> OrganisationDescription:
    """Parse the description of an organisation, or of another `kind` of thing with the same grammar."""
    first = first_clause(description, ";|")
    described_kind = read_kind(first, vocabulary, kind)
    placed, land = False, None
    if described_kind is not None and described_kind.end < len(first):
        tail = first[described_kind.end :]
        at = next((i for i, w in enumerate(tail) if w.text in word_list("prepositions")), len(tail))
        # "university and liberal arts college in Hanover": both are in Hanover
        joined = at == 0 or (tail[0].text == "and" and not any(w.separator for w in tail[:at]))
        placed = (
            joined
            and at < len(tail)
            and tail[at].text in _WHERE
            and any(w.is_capitalised for w in tail[at + 1 : at + 4])
        )
        land = _country_if_alone_after_kind(tail, vocabulary) if described_kind.nationality is None else None
    owners = tuple(
        Owner(
            name=match["owner"].rstrip("."),
            span=(match.start("tie"), match.end("owner")),
            owns=match["tie"].startswith("owned"),
        )
        for match in _OWNER.finditer(description)
        if not match["former"]
    )
    return OrganisationDescription(kind=described_kind, owners=owners, placed=placed, land=land)


def _country_if_alone_after_kind(tail: list[DescriptionWord], vocabulary: Vocabulary) -> Nationality | None:
    """The country after "in", "of" or "from", where nothing else follows."""
    at = 0
    while at < len(tail) and tail[at].text in {"in", "of", "from", "based", "located", "the", "headquartered"}:
        at += 1
    nationality = read_nationality(tail[at:], vocabulary) if at else None
    if nationality is None or len(nationality.parts) > 1 or at + len(nationality.words) < len(tail):
        return None
    return replace(nationality, words=tuple(tail))
