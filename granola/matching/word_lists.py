"""The closed word lists of the rules, from vocabulary.json, which describes the use of each."""

from __future__ import annotations

from importlib.resources import files

import orjson

_LISTS = orjson.loads(files("granola.matching").joinpath("data/vocabulary.json").read_bytes())


def _words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name]["words"])


def _phrases(name: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in _LISTS[name]["words"])


FUNCTION = _words("function")
ORDINARY = FUNCTION | _words("ordinary")
BRIDGE = _words("bridge")
NEGATIONS = _words("negations")
NEGATION_PHRASES = _phrases("negation_phrases")
HEARSAY = _phrases("hearsay")
ANNOUNCING = _phrases("announcing")
UNCERTAIN = _phrases("uncertain")
AFFIRMATIONS = _phrases("affirmations")
CLAUSE_WORDS = _words("clause_words")
NEARBY = _phrases("nearby")
_QUALIFIERS = _words("qualifiers")
DIRECTIONS = _words("directions")
POINTS = _words("points")
PARTED_BY_POINTS = {"asia": POINTS, "europe": POINTS, "africa": POINTS - {"south"}}
QUALIFIERS = _QUALIFIERS | DIRECTIONS | POINTS
PLACE_TYPES = _words("place_types")
TITLES = _words("titles")
SUFFIXES = _words("suffixes")
ROYAL = _words("royal")
ARTICLES_OF_NAMES = _words("articles_of_names")
LEGAL_FORMS = _words("legal_forms")
SPECIFICALLY = _words("specifically")
KINDS = PLACE_TYPES | LEGAL_FORMS
CLASSES = KINDS | _words("classes")
FAMILY_NAMES = _words("family_names")
PLACE_CLASSES = KINDS | _words("place_classes")
PARTICLES = _words("particles")
NO_CLAIM = FUNCTION | TITLES | KINDS | _words("no_claim")
DEMONYM_ENDINGS = ("ian", "ican", "man", "ean", "ish", "ese", "ench", "utch", "reek", "swiss", "elsh")
PARTS = _words("parts")
MAYBE = _words("maybe")
CONTINENTS = _words("continents")
MONTHS = _words("months")
ROMAN = _words("roman")
NAMED = _words("named")
OCCUPATIONS = _words("occupations")
LEADING = _words("leading")
