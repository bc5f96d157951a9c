"""Whether what a question asks for and a gold answer hold together.

A number answers "how many", not "which episode"; a town answers "where", not "how deep". Where they do not hold
together, the question was misread or the answer is no thing that has a ladder, and the row abstains with a code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from abstraction.language.amount_reader import parse_quantity
from abstraction.language.date_reader import parse_date
from abstraction.questions.question_kinds import AskedKind, Kind, yes_no_words
from abstraction.tiers import Abstention
from kg.terms import normalise

FIRST_YEAR, LAST_YEAR = 1000, 2100  # of a bare number that is read as a year
_NUMBER = re.compile(r"[~+-]?\d[\d.,]*\Z")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\Z")
_ORDINALS = frozenset(
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "last", "final"]
)
_DENIAL = frozenset({Kind.YES_NO, Kind.CHOICE, Kind.TEXT, Kind.UNKNOWN})

# Of what classes an entity is that answers a question of a kind; other kinds take any.
_CLASSES: Mapping[Kind, frozenset[str]] = {
    Kind.PLACE: frozenset(
        {"place", "country", "building", "school", "astronomical", "club", "company", "organisation", "event", "label"}
    ),
    Kind.PERSON: frozenset(
        {"person", "fictional", "group", "country", "company", "organisation", "school", "club", "label"}
        | {"occupation", "office", "position"}
    ),
    Kind.GROUP_OR_PERSON: frozenset(
        {"person", "fictional", "group", "country", "company", "organisation", "school", "club", "label"}
        | {"occupation", "office", "position"}
    ),
    Kind.CHARACTER: frozenset({"person", "fictional"}),
    Kind.TEAM: frozenset({"club", "group", "organisation", "school", "country"}),
    Kind.ORGANISATION: frozenset(
        {"company", "organisation", "label", "school", "club", "group", "building", "country"}
    ),
    Kind.SONG: frozenset({"work"}),
    Kind.FILM: frozenset({"work"}),
    Kind.BOOK: frozenset({"work"}),
    Kind.WORK: frozenset({"work"}),
    Kind.EPISODE: frozenset({"work"}),
    Kind.LANGUAGE: frozenset({"language"}),
    Kind.ANIMAL: frozenset({"taxon"}),
}
# Questions of these kinds leave open whether a date or an amount with its unit answers them.
MAY_BE_VALUE = frozenset({Kind.UNKNOWN, Kind.THING, Kind.TEXT, Kind.CHOICE, Kind.DATE, Kind.RANK})
_MEASURED = frozenset({Kind.COUNT, Kind.MEASURE, Kind.AGE})
# What is measured, where a unit of another dimension cannot be meant.
_DIMENSIONS: Mapping[str, frozenset[str]] = {
    "length": frozenset({"length"}),
    "distance": frozenset({"length", "time"}),
    "mass": frozenset({"mass"}),
    "temperature": frozenset({"temperature"}),
}


def text_conflict(asked: AskedKind, text: str, *, code: str = "en") -> Abstention | None:
    """Why the text of an answer does not go with the kind asked for; None where it does, or nothing tells."""
    kind = asked.kind
    if kind is Kind.YES_NO or (normalise(text) in yes_no_words(code) and kind in _DENIAL):
        return Abstention.YES_NO
    if kind is Kind.CODE:
        return Abstention.CODE
    if is_bare_number(text, code=code):
        counted = kind in (Kind.COUNT, Kind.AGE) or (kind is Kind.DATE and _is_year(text, code))
        return None if counted else Abstention.BARE_NUMBER
    if kind in (Kind.RANK, Kind.SEASON):
        return Abstention.KIND_CONFLICT
    if kind in _MEASURED:
        parsed = parse_quantity(text.partition("(acceptable range")[0], code=code)
        if parsed is None:
            return Abstention.KIND_CONFLICT
        wanted = _DIMENSIONS.get(asked.detail)
        if wanted is not None and parsed.unit is not None and parsed.unit.dimension not in wanted:
            return Abstention.KIND_CONFLICT
    return None


def class_conflict(asked: AskedKind, classes: Collection[str]) -> bool:
    """Whether an entity of these classes is clearly no answer of the kind asked for; none is where a text is."""
    if asked.kind is Kind.TEXT:
        return True
    wanted = _CLASSES.get(asked.kind)
    return wanted is not None and bool(classes) and wanted.isdisjoint(classes)


def is_bare_number(text: str, *, code: str = "en") -> bool:
    """Whether a text is a number or an ordinal and nothing else: "563", "twelve", "the sixth"."""
    bare = normalise(text).removeprefix("the ").rstrip(". ")
    if _NUMBER.match(bare) or _ORDINAL.match(bare) or bare in _ORDINALS:
        return True
    parsed = parse_quantity(bare, code=code)
    return parsed is not None and parsed.unit is None and not parsed.noun and not parsed.sign


def _is_year(text: str, code: str) -> bool:
    """Whether a number may be a year, or is one about which the text says more than its digits."""
    parsed = parse_date(text, code=code)
    return parsed is not None and (parsed.circa or FIRST_YEAR <= parsed.first.year <= LAST_YEAR)
