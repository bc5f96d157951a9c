"""Which builder makes the ladder: by what the relation asks for first, by the answer's class second."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from abstraction.ladders.awards import awards
from abstraction.ladders.class_terms import terms
from abstraction.ladders.concepts import concepts
from abstraction.ladders.event_ladders import events
from abstraction.ladders.genres import genres
from abstraction.ladders.groups import groups
from abstraction.ladders.landholders import landholders
from abstraction.ladders.language_ladders import languages
from abstraction.ladders.organisation_ladders import organisations
from abstraction.ladders.person_ladders import people
from abstraction.ladders.place_ladders import places
from abstraction.ladders.positions import positions
from abstraction.ladders.posts import posts
from abstraction.ladders.schools import schools
from abstraction.ladders.taxa import taxa
from abstraction.ladders.work_ladders import works
from abstraction.proposals import Builder, LadderCase, Proposal

# What the relation asks for decides, whatever class the answer has.
_BY_ASKS: Mapping[str, Builder] = {
    "place": places,
    "country": places,
    "school": schools,
    "genre": genres,
    "occupation": terms,
    "language": languages,
    "position": positions,
    "award": awards,
    "taxon": taxa,
    "office": posts,
    "religion": concepts,
    "sport": concepts,
    "instrument": concepts,
    "color": concepts,
    "people": concepts,
    "movement": concepts,
}
_ACTING = frozenset({"agent", "owner", "company", "performer"})
# For a question without a relation, or one that asks for any agent: the answer's own class, first match.
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
    ("occupation", terms),
    ("language", languages),
    ("position", positions),
    ("taxon", taxa),
    ("organisation", organisations),
    ("building", places),
    ("event", events),
)
# Where nothing tells the class: what the relation asks for is the best guess, and its builder says if it cannot.
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
                return landholders
            return _first_of((builder, concepts)) if asks == "any" else builder
    return _first_of(_GUESSES.get(asks, ())) if not kinds else None


# These read nothing of a question but its date; `people` leaves out offices that name the subject.
_BLIND: frozenset[Builder] = frozenset({places, schools, genres, terms, languages, people, groups})


def looks_at_subject(asks: str, kinds: Collection[str]) -> bool:
    """Whether the ladder of an answer of these classes may depend on whom the question is about.

    That of a person may where `abstraction.ladders.office_phrases.may_name_subject`.
    """
    return "fictional" in kinds or builder_for(asks, kinds) not in _BLIND


def _first_of(builders: tuple[Builder, ...]) -> Builder | None:
    """The first of several builders that has anything to propose."""
    if not builders:
        return None

    def build(case: LadderCase) -> list[Proposal]:
        return next((proposals for builder in builders if (proposals := builder(case))), [])

    return build
