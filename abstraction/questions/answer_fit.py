"""Whether what a question asks for and a gold answer hold together.

A number answers "how many", not "which episode"; a town answers "where", not "how deep". Where they do not hold
together, the question was misread or the answer is no thing that has a ladder, and the row abstains with a code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from abstraction.language.amount_reader import parse_quantity
from abstraction.language.date_reader import parse_date
from abstraction.language.languages import language
from abstraction.questions.question_kinds import AskedKind, QuestionKind, yes_no_words
from abstraction.tiers import Abstention
from kg.terms import normalise
from kg.walks.graph import Graph

FIRST_YEAR, LAST_YEAR = 1000, 2100  # of a bare number that is read as a year
_NUMBER = re.compile(r"[~+-]?\d[\d.,]*\Z")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\Z")
_ORDINALS = frozenset(("last", "final", *language("en").count_words))
_DENIAL = frozenset({QuestionKind.YES_NO, QuestionKind.CHOICE, QuestionKind.TEXT, QuestionKind.UNKNOWN})

# Of what classes an entity is that answers a question of a kind; other kinds take any.
_CLASSES: Mapping[QuestionKind, frozenset[str]] = {
    QuestionKind.PLACE: frozenset(
        {"place", "country", "building", "school", "astronomical", "club", "company", "organisation", "event", "label"}
    ),
    QuestionKind.PERSON: frozenset(
        {"person", "fictional", "group", "country", "company", "organisation", "school", "club", "label"}
        | {"occupation", "office", "position"}
    ),
    QuestionKind.GROUP_OR_PERSON: frozenset(
        {"person", "fictional", "group", "country", "company", "organisation", "school", "club", "label"}
        | {"occupation", "office", "position"}
    ),
    QuestionKind.CHARACTER: frozenset({"person", "fictional"}),
    QuestionKind.TEAM: frozenset({"club", "group", "organisation", "school", "country"}),
    QuestionKind.ORGANISATION: frozenset(
        {"company", "organisation", "label", "school", "club", "group", "building", "country"}
    ),
    QuestionKind.SONG: frozenset({"work"}),
    QuestionKind.FILM: frozenset({"work"}),
    QuestionKind.BOOK: frozenset({"work"}),
    QuestionKind.WORK: frozenset({"work"}),
    QuestionKind.EPISODE: frozenset({"work"}),
    QuestionKind.LANGUAGE: frozenset({"language"}),
    QuestionKind.ANIMAL: frozenset({"taxon"}),
}
# Questions of these kinds leave open whether a date or an amount with its unit answers them.
MAY_BE_VALUE = frozenset(
    {
        QuestionKind.UNKNOWN,
        QuestionKind.THING,
        QuestionKind.TEXT,
        QuestionKind.CHOICE,
        QuestionKind.DATE,
        QuestionKind.RANK,
    }
)
_MEASURED = frozenset({QuestionKind.COUNT, QuestionKind.MEASURE, QuestionKind.AGE})
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
    if kind is QuestionKind.YES_NO or (normalise(text) in yes_no_words(code) and kind in _DENIAL):
        return Abstention.YES_NO
    if kind is QuestionKind.CODE:
        return Abstention.CODE
    if is_bare_number(text, code=code):
        counted = kind in (QuestionKind.COUNT, QuestionKind.AGE) or (kind is QuestionKind.DATE and _is_year(text, code))
        return None if counted else Abstention.BARE_NUMBER
    if kind in (QuestionKind.RANK, QuestionKind.SEASON):
        return Abstention.KIND_CONFLICT
    if kind in _MEASURED:
        parsed = parse_quantity(text.partition("(acceptable range")[0], code=code)
        if parsed is None:
            return Abstention.KIND_CONFLICT
        dimensions = _DIMENSIONS.get(asked.detail)
        if dimensions is not None and parsed.unit is not None and parsed.unit.dimension not in dimensions:
            return Abstention.KIND_CONFLICT
    return None


# Sorts of places of which an entity is one or another: who asks for a river is not answered by a town.
_SORTS: Mapping[str, frozenset[str]] = {
    "country": frozenset({"Q6256", "Q3624078", "Q3024240", "Q161243"}),  # and territories, of today and of the past
    "city": frozenset({"Q486972", "Q515", "Q15284"}),  # and towns, villages, municipalities
    "river": frozenset({"Q4022"}),
    "lake": frozenset({"Q23397"}),
    "mountain": frozenset({"Q8502", "Q46831"}),  # and ranges
    "continent": frozenset({"Q5107"}),
    "planet": frozenset({"Q634"}),
}
_NOUNS = {"nation": "country", "town": "city", "village": "city"}
_COUNTRY = frozenset({"country"})


def entity_conflict(asked: AskedKind, qid: str, classes: Collection[str], graph: Graph) -> bool:
    """Whether an entity is clearly no answer of the kind asked for, by its classes in the graph."""
    if class_conflict(asked, classes):
        return True
    if asked.kind is QuestionKind.PERSON and asked.detail:  # states own and win; they write and paint nothing
        return not _COUNTRY.isdisjoint(classes)
    asked_sort = _NOUNS.get(asked.detail, asked.detail)
    if asked.kind is not QuestionKind.PLACE or asked_sort not in _SORTS or graph.is_instance(qid, _SORTS[asked_sort]):
        return False
    return any(graph.is_instance(qid, ids) for sort, ids in _SORTS.items() if sort != asked_sort)


def class_conflict(asked: AskedKind, classes: Collection[str]) -> bool:
    """Whether an entity of these classes is clearly no answer of the kind asked for; none is where a text is."""
    if asked.kind is QuestionKind.TEXT:
        return True
    expected = _CLASSES.get(asked.kind)
    return expected is not None and bool(classes) and expected.isdisjoint(classes)


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
