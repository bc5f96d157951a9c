"""Which builder makes the ladder: by what the relation asks for first, by the answer's class second."""

from __future__ import annotations

from collections.abc import Collection

from abstraction.ladders.base import Builder, Case, Proposal
from abstraction.ladders.groups import groups
from abstraction.ladders.landholders import landholders
from abstraction.ladders.organisations import organisations
from abstraction.ladders.people import people
from abstraction.ladders.places import places
from abstraction.ladders.schools import schools
from abstraction.ladders.terms import terms
from abstraction.ladders.works import works

_WHERE = frozenset({"place", "country"})
_ACTING = frozenset({"agent", "owner", "company", "performer"})
_CLASS_VALUED = frozenset({"genre", "occupation", "language", "position"})
# For a question without a relation, or one that asks for any agent: the answer's own class, first match.
_BY_CLASS: tuple[tuple[str, Builder], ...] = (
    ("person", people),
    ("fictional", people),
    ("group", groups),
    ("label", organisations),
    ("club", organisations),
    ("school", organisations),
    ("country", places),
    ("company", organisations),
    ("place", places),
    ("work", works),
    ("genre", terms),
    ("occupation", terms),
    ("language", terms),
    ("position", terms),
    ("organisation", organisations),
    ("building", places),
)
# Where nothing tells the class: what the relation asks for is the best guess, and its builder says if it cannot.
_BY_ASKS: dict[str, tuple[Builder, ...]] = {
    "person": (people,),
    "performer": (people, groups),
    "agent": (people, organisations),
    "owner": (organisations,),
    "company": (organisations,),
    "label": (organisations,),
    "work": (works,),
}


def builder_for(asks: str, kinds: Collection[str]) -> Builder | None:
    """The builder for an answer of these classes to a question that asks for `asks`; None where there is none."""
    if asks in _WHERE:
        return places
    if asks == "school":
        return schools
    if asks in _CLASS_VALUED:
        return terms
    for kind, builder in _BY_CLASS:
        if kind in kinds:
            return landholders if builder is places and asks in _ACTING else builder
    return None if kinds else _first_of(_BY_ASKS.get(asks, ()))


def _first_of(builders: tuple[Builder, ...]) -> Builder | None:
    """The first of several builders that has anything to propose."""
    if not builders:
        return None

    def build(case: Case) -> list[Proposal]:
        return next((found for builder in builders if (found := builder(case))), [])

    return build
