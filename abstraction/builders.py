"""Which builder makes the ladder: by what the relation asks for first, by the answer's class second."""

from __future__ import annotations

from collections.abc import Collection

from abstraction.ladders.base import Builder
from abstraction.ladders.landholders import landholders
from abstraction.ladders.people import people
from abstraction.ladders.places import places
from abstraction.ladders.schools import schools
from abstraction.ladders.terms import terms

_WHERE = frozenset({"place", "country"})
_ACTING = frozenset({"agent", "owner", "company", "performer"})
_CLASS_VALUED = frozenset({"genre", "occupation", "language", "position"})
# For a question without a relation, or one that asks for any agent: the answer's own class, first match.
_BY_CLASS: tuple[tuple[str, Builder], ...] = (
    ("person", people),
    ("fictional", people),
    ("country", places),
    ("place", places),
    ("genre", terms),
    ("occupation", terms),
    ("language", terms),
    ("position", terms),
    ("building", places),
)


_BY_ASKS: dict[str, Builder] = {"person": people, "performer": people, "agent": people}


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
    # Nothing tells the class: what the relation asks for is the best guess, and its builder says if it cannot.
    return None if kinds else _BY_ASKS.get(asks)
