"""The choice of the builder of a ladder: by the type of answer that the relation asks for, then by the class of the
answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from abstraction.ladders.assembly.tier_wording import acting_place_tiers
from abstraction.ladders.class_terms import concept_tiers, genre_tiers, language_tiers, occupation_tiers, taxon_tiers
from abstraction.ladders.offices import office_tiers, position_tiers
from abstraction.ladders.organisation_ladders import group_tiers, organisation_tiers, school_tiers
from abstraction.ladders.person_ladders import person_tiers
from abstraction.ladders.place_ladders import place_tiers
from abstraction.ladders.proposals import Builder, LadderCase, Proposal
from abstraction.ladders.things import award_tiers, event_tiers, work_tiers

# Builders by the type that the relation asks for, which takes precedence over the class of the answer.
_BY_ASKS: Mapping[str, Builder] = {
    **dict.fromkeys(("place", "country"), place_tiers),
    **dict.fromkeys(("religion", "sport", "instrument", "color", "people", "movement"), concept_tiers),
    "school": school_tiers,
    "genre": genre_tiers,
    "occupation": occupation_tiers,
    "language": language_tiers,
    "position": position_tiers,
    "award": award_tiers,
    "taxon": taxon_tiers,
    "office": office_tiers,
}
# Types of answer asked for where a place as answer is an owner or maker: "a city in Egypt" rather than "Egypt".
_ACTING = frozenset({"agent", "owner", "company", "performer"})
# Builders by the class of the answer, for types that `_BY_ASKS` lacks; the first class that the answer has is used.
_BY_CLASS: tuple[tuple[str, Builder], ...] = (
    ("person", person_tiers),
    ("fictional", person_tiers),
    ("office", office_tiers),
    ("award", award_tiers),
    ("group", group_tiers),
    ("label", organisation_tiers),
    ("club", organisation_tiers),
    ("school", organisation_tiers),
    ("country", place_tiers),
    ("company", organisation_tiers),
    ("place", place_tiers),
    ("work", work_tiers),
    ("genre", genre_tiers),
    ("occupation", occupation_tiers),
    ("language", language_tiers),
    ("position", position_tiers),
    ("taxon", taxon_tiers),
    ("organisation", organisation_tiers),
    ("building", place_tiers),
    ("event", event_tiers),
)
# An answer of unknown class gets the builders of the type that the relation asks for; an unfit builder returns nothing.
_GUESSES: Mapping[str, tuple[Builder, ...]] = {
    "person": (person_tiers,),
    "performer": (person_tiers, group_tiers),
    "agent": (person_tiers, organisation_tiers),
    "owner": (organisation_tiers,),
    "company": (organisation_tiers,),
    "label": (organisation_tiers,),
    "work": (work_tiers,),
    "any": (concept_tiers,),
}


def builder_for(asks: str, kinds: Collection[str]) -> Builder | None:
    """The builder for an answer of these classes to a question that asks for `asks`; None where there is none."""
    if asks in _BY_ASKS:
        return _BY_ASKS[asks]
    for kind, builder in _BY_CLASS:
        if kind in kinds:
            if builder is place_tiers and asks in _ACTING:
                return acting_place_tiers
            return _first_with_proposals((builder, concept_tiers)) if asks == "any" else builder
    return _first_with_proposals(_GUESSES.get(asks, ())) if not kinds else None


# Builders that read no subject of the question. Offices that name it are an exception: see `has_office_or_kin`.
_WITHOUT_SUBJECT: frozenset[Builder] = frozenset(
    {
        place_tiers,
        school_tiers,
        genre_tiers,
        occupation_tiers,
        language_tiers,
        person_tiers,
        group_tiers,
        position_tiers,
    }
)


def may_depend_on_subject(asks: str, kinds: Collection[str]) -> bool:
    """Whether the ladder of an answer of these classes may depend on the subject of the question.

    A person's ladder may too, if `abstraction.ladders.offices.has_office_or_kin` is true of the person.
    """
    return "fictional" in kinds or builder_for(asks, kinds) not in _WITHOUT_SUBJECT


def _first_with_proposals(builders: tuple[Builder, ...]) -> Builder | None:
    """A builder that returns the proposals of the first of `builders` that has any; None without builders."""
    if not builders:
        return None

    def build(case: LadderCase) -> list[Proposal]:
        return next((proposals for builder in builders if (proposals := builder(case))), [])

    return build
