"""Countries, their divisions and places in them. Divisions exclude each other: Springfield, Ohio is not in Illinois."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import orjson

from abstraction.text.language.languages import bundled_demonyms
from granola.matching import word_lists
from granola.matching.tokens import MATCHING, key, words

_TABLES = orjson.loads(files("granola.matching").joinpath("data/divisions.json").read_bytes())
_US: dict[str, str] = _TABLES["United States"]
_CANADA: dict[str, str] = _TABLES["Canada"]
_OTHERS: dict[str, list[str]] = _TABLES["others"]

# The countries whose divisions are listed, in the order of the tables.
_COUNTRIES = ("United States", "Canada", *_OTHERS)

# Further names of countries, absent from the table of adjectives.
_ALSO: dict[str, str] = _TABLES["also"]

# Newspaper abbreviations of states; without Miss and La, which are words as well.
_PRESS: dict[str, str] = _TABLES["press"]

ABBREVIATIONS = {short: key(name) for short, name in (_US | _CANADA | _PRESS).items()}
"""The folded name of a state or province by its postal code and its newspaper abbreviation."""


@cache
def _country_index_by_division() -> dict[tuple[str, ...], int]:
    """Folded name -> the number of its country; the divisions of one country exclude each other."""
    countries = [tuple(_US.values()), tuple(_CANADA.values()), *map(tuple, _OTHERS.values())]
    return {key(name): number for number, names in enumerate(countries) for name in names}


def are_exclusive_places(place: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a place in `place` cannot be in `other`: two divisions, two countries, a division and a country."""
    if place == other:
        return False
    first, second = _country_index_by_division().get(place), _country_index_by_division().get(other)
    if first is not None and second is not None:
        return True
    countries, others = _own_or_containing_country_ids(place, first), _own_or_containing_country_ids(other, second)
    return bool(countries and others) and countries.isdisjoint(others)


def _own_or_containing_country_ids(folded: tuple[str, ...], country_index: int | None) -> frozenset[str]:
    """The QIDs of the country that a name denotes or that contains it."""
    country = folded if country_index is None else key(_COUNTRIES[country_index])
    return _country_ids_by_name().get(country, frozenset())


@MATCHING.memoize(1 << 12)
def other_country_names(folded: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The other folded names of the country that a folded name denotes; () where it is no country."""
    country_qids = _country_ids_by_name().get(folded)
    if not country_qids:
        return ()
    return tuple(name for name, qids in _country_ids_by_name().items() if name != folded and country_qids & qids)


def country_ids(folded: tuple[str, ...]) -> frozenset[str]:
    """The QIDs of the country that a folded name denotes; empty where it is no country."""
    return _country_ids_by_name().get(folded, frozenset())


@MATCHING.memoize(1 << 12)
def country_adjectives(folded: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """The folded adjectives of a country by its folded name."""
    country_qids, table = _country_ids_by_name().get(folded, frozenset()), bundled_demonyms()
    return frozenset(
        key(word) for qid in country_qids for word in (table.adjectives[qid], *table.variants.get(qid, ()))
    )


@cache
def first_words_of_country_names_and_adjectives() -> frozenset[str]:
    """The first folded words of all names of countries and of their adjectives."""
    names, adjectives = _country_ids_by_name(), bundled_demonyms().countries
    return frozenset(name[0] for name in names) | frozenset(adjective.split()[0] for adjective in adjectives)


def is_national_adjective(folded: tuple[str, ...]) -> bool:
    """Whether a folded text is a national adjective."""
    return " ".join(folded) in bundled_demonyms().countries


@MATCHING.memoize(1 << 14)
def leading_country_id_and_size(folded: tuple[str, ...]) -> tuple[str, int] | None:
    """The QID of the country whose name or adjective begins the folded words, and the number of its words; or None."""
    for size in range(len(folded), 0, -1):  # longest first: Papua New Guinea before Papua
        opening = folded[:size]
        if qids := _country_ids_by_name().get(opening):
            return min(qids), size  # the smallest QID, so that the choice is the same in every run
        if adjectives := bundled_demonyms().countries.get(" ".join(opening)):
            return adjectives[0], size
    return None


# Official styles before the name of a state; not added for names that several states share (_DIVIDED).
_STYLES = (
    "Republic of", "Kingdom of", "Commonwealth of", "Islamic Republic of", "Federal Republic of", "Arab Republic of",
    "Federative Republic of", "Bolivarian Republic of", "Socialist Republic of", "Grand Duchy of", "Principality of",
)  # fmt: skip
_DIVIDED = frozenset({"china", "korea", "congo", "sudan", "vietnam", "georgia", "ireland", "cyprus", "macedonia"})


@cache
def _country_ids_by_name() -> dict[tuple[str, ...], frozenset[str]]:
    """The QIDs of countries by each folded name: most names have one, a few are shared."""
    qids_of: dict[tuple[str, ...], frozenset[str]] = {}
    for name, qids in bundled_demonyms().names.items():
        qids_of[key(name)] = qids_of.get(key(name), frozenset()) | frozenset(qids)
    for style in _STYLES:
        for folded, known_ids in list(qids_of.items()):
            if len(folded) == 1 and folded[0] not in _DIVIDED:  # "Republic of Congo" would be either of two states
                qids_of.setdefault((*key(style), *folded), known_ids)
    for also, known in _ALSO.items():
        qids_of[key(also)] = qids_of.get(key(also), frozenset()) | qids_of.get(key(known), frozenset())
    return qids_of


def is_country(folded: tuple[str, ...]) -> bool:
    """Whether a folded name is that of a country."""
    return folded in _country_ids_by_name()


def is_country_or_division(folded: tuple[str, ...]) -> bool:
    """Whether a folded name is that of a division or a country known here."""
    return folded in _country_index_by_division() or folded in _country_ids_by_name()


def leading_division(folded: tuple[str, ...]) -> tuple[str, ...] | None:
    """The longest name of a division that begins the folded words, or None."""
    known = _country_index_by_division()
    return next((folded[:size] for size in (3, 2, 1) if len(folded) >= size and folded[:size] in known), None)


_PLACE_PARTS = 3  # parts of a place at most, as in "Springfield, Sangamon County, Illinois"
_PART_WORDS = 4  # words of a part at most, as in "Papua New Guinea"


@MATCHING.memoize(1 << 14)
def place_and_containers(name: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The folded place and its containers, (Springfield, (Illinois,)) for `Springfield, Illinois`; ((), ()) where a
    name is no such chain.
    """
    parts = [part.strip() for part in name.split(",")]
    if not 2 <= len(parts) <= _PLACE_PARTS:
        return (), ()
    folded = []
    for part in parts:
        part_words = words(part)
        are_names = (
            (word.capital or word.text in word_lists.PARTICLES) and word.text[0].isalpha() for word in part_words
        )
        if not 1 <= len(part_words) <= _PART_WORDS or not all(are_names):
            return (), ()
        folded.append(tuple(word.text for word in part_words))
    # "March 5, 1990" and "Davis, Jr." are no places
    if word_lists.MONTHS & set(folded[0]) or word_lists.SUFFIXES & {part[0] for part in folded[1:]}:
        return (), ()
    return folded[0], tuple(folded[1:])
