"""A small world for attribution: people, places, films, and a hand-counted question of every shape.

Rick Scott (Q10) born in Bloomington (Q1), spouse Anna Scott (Q12); the other Rick Scott (Q11) born in Stone
Mountain (Q2). Bloomington is the capital of McLean County (Q5). Rick Scott and Sharice Davids (Q13) were educated
at one university (Q20).
"""

from __future__ import annotations

from kg.base.model import Entity, Rank, Statement
from kg.base.model import EntityValue as Value
from kg.graph.logical_query import Branch, Hop, LogicalQuery
from kg.store.sqlite import SQLiteStore
from tests.worlds import entity, store_of

CITY, COUNTY, HUMAN, SCHOOL, FILM = "Q515", "Q47168", "Q5", "Q3918", "Q11424"
LABELS = {
    "P19": "place of birth", "P26": "spouse", "P1376": "capital of", "P69": "educated at", "P57": "director",
    "P840": "narrative location", "P31": "instance of", "P106": "occupation", "P1000": "record held",
    "P140": "religion",
}  # fmt: skip


def world() -> SQLiteStore:
    """The store."""
    return store_of(*people(), *places(), *rest(), *(property_of(one, label) for one, label in LABELS.items()))


def property_of(prop: str, label: str) -> Entity:
    """A property with its label."""
    return Entity(id=prop, labels={"en": label})


def people() -> list[Entity]:
    """Of whom is asked."""
    return [
        entity("Q10", "Rick Scott", "American politician", P31=HUMAN, P19="Q1", P69="Q20", P106="Q30", P26="Q12"),
        entity("Q11", "Rick Scott", "American football player", P31=HUMAN, P19="Q2", P106="Q31"),
        entity("Q12", "Anna Scott", P31=HUMAN, P26="Q10", P140="Q33"),
        entity("Q13", "Sharice Davids", P31=HUMAN, P69="Q20", P106="Q32", P140="Q34"),
        entity("Q14", "Tom Waits", P31=HUMAN, P69=["Q21", ("Q20", {"rank": "deprecated"})], P106="Q31"),
    ]


def places() -> list[Entity]:
    """Where they were born, and what is there."""
    return [
        entity("Q1", "Bloomington", P31=CITY, P1376="Q5"),
        entity("Q2", "Stone Mountain", P31=CITY),
        entity("Q3", "Normal", P31=CITY),
        entity("Q4", "Peoria", P31=CITY, P1376="Q6"),
        entity("Q5", "McLean County", P31=COUNTY),
        entity("Q6", "Peoria County", P31=COUNTY),
        entity("Q7", "Cook County", P31=COUNTY),
    ]


def rest() -> list[Entity]:
    """Schools and occupations."""
    return [
        entity("Q20", "University of Missouri-Kansas City", P31=SCHOOL),
        entity("Q21", "Reed College", P31=SCHOOL),
        entity("Q22", "Rice University", P31=SCHOOL),
        entity("Q30", "politician"), entity("Q31", "athlete"), entity("Q32", "lawyer"),
        entity("Q33", "Methodism"), entity("Q34", "Ho-Chunk religion"),
    ]  # fmt: skip


def single(start: str, prop: str, *, forward: bool = True) -> LogicalQuery:
    """One triple."""
    return LogicalQuery(branches=(branch(start, prop, forward=forward),))


def branch(start: str, *props: str, forward: bool = True) -> Branch:
    """A way along properties."""
    return Branch(start=start, hops=tuple(Hop(property=prop, forward=forward) for prop in props))


PATH = LogicalQuery(branches=(branch("Q10", "P19", "P1376"),))
TREE = LogicalQuery(branches=(branch("Q10", "P69"), branch("Q13", "P69")))
UNION = LogicalQuery(branches=(branch("Q10", "P19"), branch("Q11", "P19")), union=True)
SHAPES = {"single": single("Q10", "P19"), "path": PATH, "tree": TREE, "union": UNION}


def with_qualifier() -> Entity:
    """Someone whose statement has a qualifier that is an entity."""
    from kg.base.model import Snak

    statement = Statement(
        id="Q15$1", subject="Q15", property="P1000", rank=Rank.NORMAL, value=Value(id="Q31"),
        qualifiers=(Snak(property="P140", value=Value(id="Q33")),),
    )  # fmt: skip
    return Entity(id="Q15", labels={"en": "Jim Thorpe"}, statements=(statement,))
