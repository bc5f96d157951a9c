"""The choice of the builder of a ladder: by the type of answer that the relation asks for, then by the class of the
answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from abstraction.ladders.assembly.tier_wording import phrases_of_acting_place
from abstraction.ladders.class_terms import concepts, genres, languages, occupations, taxa
from abstraction.ladders.offices import positions, posts
from abstraction.ladders.organisation_ladders import groups, organisations, schools
from abstraction.ladders.person_ladders import people
from abstraction.ladders.place_ladders import places
from abstraction.ladders.proposals import Builder, LadderCase, Proposal
from abstraction.ladders.things import awards, events, works

# Builders by the type that the relation asks for, which takes precedence over the class of the answer.
_BY_ASKS: Mapping[str, Builder] = {
    **dict.fromkeys(("place", "country"), places),
    **dict.fromkeys(("religion", "sport", "instrument", "color", "people", "movement"), concepts),
    "school": schools,
    "genre": genres,
    "occupation": occupations,
    "language": languages,
    "position": positions,
    "award": awards,
    "taxon": taxa,
    "office": posts,
}
# Types of answer for which a place acts as an owner or maker: "a city in Egypt" rather than "Egypt".
_ACTING = frozenset({"agent", "owner", "company", "performer"})
# Builders by the class of the answer, for questions without a relation or about any agent; the first match is used.
_BY_CLASS: tuple[tuple[str, Builder], ...] = (
    ("person", people),
    ("fictional", people),
    ("office", posts),
    ("award", awards),
    ("group", groups),
    ("label", organisations),
    ("club", organisations),
    ("school", organisations),
    ("country", places),
    ("company", organisations),
    ("place", places),
    ("work", works),
    ("genre", genres),
    ("occupation", occupations),
    ("language", languages),
    ("position", positions),
    ("taxon", taxa),
    ("organisation", organisations),
    ("building", places),
    ("event", events),
)
# For answers of unknown class: the type that the relation asks for is the best guess; an unfit builder returns nothing.
_GUESSES: Mapping[str, tuple[Builder, ...]] = {
    "person": (people,),
    "performer": (people, groups),
    "agent": (people, organisations),
    "owner": (organisations,),
    "company": (organisations,),
    "label": (organisations,),
    "work": (works,),
    "any": (concepts,),
}


def builder_for(asks: str, kinds: Collection[str]) -> Builder | None:
    """The builder for an answer of these classes to a question that asks for `asks`; None where there is none."""
    if asks in _BY_ASKS:
        return _BY_ASKS[asks]
    for kind, builder in _BY_CLASS:
        if kind in kinds:
            if builder is places and asks in _ACTING:
                return phrases_of_acting_place
            return _first_of((builder, concepts)) if asks == "any" else builder
    return _first_of(_GUESSES.get(asks, ())) if not kinds else None


# Builders that use only the date of the question; `people` also leaves out offices that name the subject.
_BLIND: frozenset[Builder] = frozenset({places, schools, genres, occupations, languages, people, groups, positions})


def may_depend_on_subject(asks: str, kinds: Collection[str]) -> bool:
    """Whether the ladder of an answer of these classes may depend on the subject of the question.

    That of a person may where `abstraction.ladders.offices.has_office_or_kin`.
    """
    return "fictional" in kinds or builder_for(asks, kinds) not in _BLIND


def _first_of(builders: tuple[Builder, ...]) -> Builder | None:
    """The first of several builders that has anything to propose."""
    if not builders:
        return None

    def build(case: LadderCase) -> list[Proposal]:
        return next((proposals for builder in builders if (proposals := builder(case))), [])

    return build
