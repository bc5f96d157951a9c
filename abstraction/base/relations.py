"""The table of relations: the answer class each asks for, and the tiers that are trivial for it.

The table is `abstraction/data/relations.json`; a relation without a row gets the defaults of its answer's class.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial

from abstraction.base.properties import package_data
from abstraction.errors import UnknownRelationError


@dataclass(frozen=True, kw_only=True, slots=True)
class OccupationFacets:
    """A set of occupations: `kinds` are items, with all their subclasses; `heads` are last words of phrases that have
    no item.
    """

    kinds: frozenset[str]
    heads: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation:
    """One row of the table.

    `asks` is the answer class that is asked for ("place", "country", "school", "person", "performer", "owner",
    "company", "label", "genre", "occupation", "language", "position", "work", "date", "quantity", "any"). `trivial`
    are normalised phrases without article that are never a tier of this relation. `dated_by` are properties of the
    subject that give the date of the question; the first that it has counts. `subject` is the class of the entity
    asked about. `inverse` are properties that state the relation from the answer to the subject. `suits` are, by
    property, usual values of answers ("P106": occupations): one feature among others in linking.

    `facets` are the occupations that tiers name of a person with several, where the person has one of them: for an
    author, those of writers. `passes`: the relation to a place also is one to its containers, as for places of birth;
    the capital of a province is not that of its country. `within`: the answer lies in the subject, so that the
    question implies the containers of the subject. `of_subject`: properties of the subject that are known to anyone
    who asks about it, so that a tier of these alone is trivial.
    """

    id: str
    label: str
    asks: str
    trivial: frozenset[str] = frozenset()
    dated_by: tuple[str, ...] = ()
    subject: str = "any"
    inverse: tuple[str, ...] = ()
    suits: Mapping[str, frozenset[str]] = field(default_factory=dict)
    facets: OccupationFacets | None = None
    passes: bool = False
    within: bool = False
    of_subject: frozenset[str] = frozenset()

    @property
    def asks_citizenship(self) -> bool:
        """Whether a person's country is asked for, so that a demonym answers: "Italian"."""
        return self.asks == "country" and self.subject == "person"


# Phrases that are true of nearly every answer, whatever the relation.
_SAYS_NOTHING = frozenset({"thing", "entity", "person", "human", "place", "organization", "organisation"})
ANY = Relation(id="", label="", asks="any", trivial=_SAYS_NOTHING)


_data = partial(package_data, "relations.json")


def trivial_phrases(groups: Iterable[str]) -> frozenset[str]:
    """The trivial phrases of groups of the table, as rows name them under "trivial_groups"."""
    return frozenset(phrase for group in groups for phrase in _data()["trivial"][group])


@lru_cache(maxsize=1)
def table() -> Mapping[str, Relation]:
    """All rows by property id, in the table's order."""
    out: dict[str, Relation] = {}
    for row in _data()["relations"]:
        words, facets = trivial_phrases(row.get("trivial_groups", ())).union(row.get("trivial", ())), row.get("facets")
        out[row["id"]] = Relation(
            id=row["id"],
            label=row["label"],
            asks=row["asks"],
            trivial=words,
            dated_by=tuple(row.get("dated_by", ())),
            subject=row.get("subject", "any"),
            inverse=tuple(row.get("inverse", ())),
            suits={prop: frozenset(ids) for prop, ids in row.get("suits", {}).items()},
            facets=facets and OccupationFacets(kinds=frozenset(facets["kinds"]), heads=frozenset(facets["heads"])),
            passes=row.get("passes", False),
            within=row.get("within", False),
            of_subject=frozenset(row.get("of_subject", ())),
        )
    return out


def relation(property_id: str) -> Relation:
    """The row of a property; a well-formed property without a row asks for anything.

    Raises UnknownRelationError for a text that is no property id; the message names the nearest relation.
    """
    rows = table()
    if property_id in rows:
        return rows[property_id]
    if re.fullmatch(r"P[1-9][0-9]{0,8}", property_id):  # nine digits are far above the largest property id
        return Relation(id=property_id, label=property_id, asks="any", trivial=ANY.trivial)
    names = {row.label: row.id for row in rows.values()}
    labels = difflib.get_close_matches(property_id.lower(), names, n=1)
    near = [names[label] for label in labels] or difflib.get_close_matches(property_id.upper(), rows, n=1)
    hint = f"; nearest: {near[0]} ({rows[near[0]].label})" if near else ""
    raise UnknownRelationError(f"unknown relation {property_id!r}: expected a WikiData property id such as P19{hint}")
