"""Relations, the classes of answers that they ask for, and the answer classes of entities.

The table of relations is `abstraction/data/relations.json`; a relation without a row gets the defaults of its answer's
class. The class of an entity is that of its nearest anchor class, else of the head noun of its description: P279 is not
a reliable taxonomy (a city reaches "organization" through it), so climbing ends at the first anchor on each branch and
goes at most CLIMB steps.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial

from abstraction.base.properties import package_data
from abstraction.errors import UnknownRelationError
from kg.base.bounded_cache import bounded_cache
from kg.base.model import normalise
from kg.graph.graph import Graph

CLIMB = 4  # most P279 steps from a class of the entity; above that P279 mixes kinds of things
LONGEST_DESCRIPTION = 500  # characters read of a description: WikiData's own have 250 at most


@dataclass(frozen=True, kw_only=True, slots=True)
class OccupationFacets:
    """A set of occupations: `kinds` are items with all subclasses, `heads` last words of phrases without an item."""

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


def trivial_phrases_of_groups(groups: Iterable[str]) -> frozenset[str]:
    """The trivial phrases of groups of the table, as rows name them under "trivial_groups"."""
    return frozenset(phrase for group in groups for phrase in _data()["trivial"][group])


@lru_cache(maxsize=1)
def relations_by_id() -> Mapping[str, Relation]:
    """All rows by property id, in the table's order."""
    out: dict[str, Relation] = {}
    for row in _data()["relations"]:
        words, facets = (
            trivial_phrases_of_groups(row.get("trivial_groups", ())).union(row.get("trivial", ())),
            row.get("facets"),
        )
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
    rows = relations_by_id()
    if property_id in rows:
        return rows[property_id]
    if re.fullmatch(r"P[1-9][0-9]{0,8}", property_id):  # nine digits are far above the largest property id
        return Relation(id=property_id, label=property_id, asks="any", trivial=ANY.trivial)
    names = {row.label: row.id for row in rows.values()}
    labels = difflib.get_close_matches(property_id.lower(), names, n=1)
    near = [names[label] for label in labels] or difflib.get_close_matches(property_id.upper(), rows, n=1)
    hint = f"; nearest: {near[0]} ({rows[near[0]].label})" if near else ""
    raise UnknownRelationError(f"unknown relation {property_id!r}: expected a WikiData property id such as P19{hint}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClassFilter:
    """The answer classes that a relation accepts, prefers and excludes; linking filters candidates by them."""

    fits: frozenset[str]
    prefers: frozenset[str]
    excludes: frozenset[str]


_class_data = partial(package_data, "classes.json")


@lru_cache(maxsize=1)
def answer_classes_by_anchor() -> Mapping[str, frozenset[str]]:
    """By the QID of each anchor class, the answer classes that it implies."""
    out: dict[str, set[str]] = {}
    for kind, qids in _class_data()["anchors"].items():
        for qid in qids:
            out.setdefault(qid, set()).add(kind)
    return {qid: frozenset(kinds) for qid, kinds in out.items()}


@lru_cache(maxsize=64)
def class_filter(asks: str) -> ClassFilter | None:
    """The class filter for an answer class that relations ask for; None where any class fits."""
    row = _class_data()["asks"].get(asks)
    if row is None:
        return None
    return ClassFilter(fits=frozenset(row["fits"]), prefers=frozenset(row["prefers"]), excludes=frozenset(row["not"]))


@lru_cache(maxsize=1)
def _head_noun_pattern_and_classes() -> tuple[re.Pattern[str], Mapping[str, str]]:
    kinds: dict[str, str] = {}
    for kind, words in _class_data()["heads"].items():
        for word in words:
            kinds.setdefault(word, kind)
    alternatives = "|".join(re.escape(w) for w in sorted(kinds, key=len, reverse=True))
    return re.compile(rf"(?:^|[\s-])({alternatives})s?$"), kinds


# The head noun of a description ends before these: prepositions, relative clauses, participles, punctuation.
_HEAD_END = re.compile(
    r"(?<!\s)\s++(?:in|of|on|at|from|near|between|by|within|who|that|which|located|situated|for|with|to|and county seat"
    r"|given|made|spoken|based|built|held|owned|led|born|found|set|\w{4,}(?:ing|ed)(?=\s+(?:of|in|on|a|an|the|for|to|with|from|by|at)\b))\b|[,;(]"
)

# Descriptions of occupations in the form "person who ...", whose head noun alone would make them persons.
_DOER = re.compile(
    r"(?:an?\s+)?(?:[a-z]+\s+){0,2}(?:person|individual|someone|professional|practitioner|people|player|worker|artist|specialist)"
    r"\s+(?:who|that|whose|responsible|trained|employed|in charge)\b",
    re.IGNORECASE,
)


@bounded_cache(entries=1 << 13, longest=250)  # 10 MB at most
def head_noun_and_class_of_description(description: str) -> tuple[str, str] | None:
    """The head noun of a description opening and its class, or None. "city in France" -> ("city", "place")."""
    opening = _HEAD_END.split(normalise(description[:LONGEST_DESCRIPTION]), maxsplit=1)[0].strip()
    pattern, kinds = _head_noun_pattern_and_classes()
    found = pattern.search(opening)
    return (found.group(1), kinds[found.group(1)]) if found else None


def answer_class_of_description(description: str) -> str | None:
    """The answer class of a description's head noun, or None."""
    if _DOER.match(description):
        return "occupation"
    head = head_noun_and_class_of_description(description)
    return head[1] if head else None


def answer_classes_of(graph: Graph, entity_id: str) -> frozenset[str]:
    """The answer classes of an entity; empty where neither P31 nor the description gives one.

    Classes within one step of the nearest anchor all count: a city that is also a country is both. Without an anchor
    an entity with an occupation, or with a nationality but no class, is a person.
    """
    depth_of: dict[str, int] = {}
    known = answer_classes_by_anchor()
    layer = graph.classes(entity_id)
    seen = set(layer)
    for depth in range(CLIMB + 1):
        upward: list[str] = []
        for kind in layer:
            if kind in known:
                for name in known[kind]:
                    depth_of.setdefault(name, depth)
            else:
                upward.append(kind)
        # One step beyond the nearest anchor may give a second class.
        if not upward or (depth_of and depth > min(depth_of.values())):
            break
        graph.fetch(upward)  # one query per layer
        nxt = [t for c in upward for t in graph.targets(c, "P279")]
        layer = tuple(t for t in dict.fromkeys(nxt) if t not in seen)
        seen.update(layer)
    if depth_of:
        nearest = min(depth_of.values())
        return frozenset(name for name, depth in depth_of.items() if depth <= nearest + 1)
    description = graph.description(entity_id)
    described = answer_class_of_description(description) if description else None
    # Entities with a nationality and nothing else are persons, hardly anything else.
    is_anybody = not graph.classes(entity_id) and graph.targets(entity_id, "P27")
    if described is None and (graph.targets(entity_id, "P106") or is_anybody):  # P106: occupation
        described = "person"
    return frozenset({described}) if described else frozenset()


class Classifier:
    """`answer_classes_of` for one graph, with a cache."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: dict[str, frozenset[str]] = {}

    def __call__(self, entity_id: str) -> frozenset[str]:
        """The answer classes of an entity; see `answer_classes_of`."""
        known = self._known.get(entity_id)
        if known is None:
            known = self._known[entity_id] = answer_classes_of(self._graph, entity_id)
        return known


@lru_cache(maxsize=1)
def stop_classes() -> frozenset[str]:
    """Classes that are never a tier, and whose superclasses are not read."""
    return frozenset(package_data("stop_classes.json")["stop"])
