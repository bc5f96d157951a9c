"""A small world of towns with a loop, a cycle and an id that nobody bears."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from store_contract import statement

from kg.base.model import Entity, Rank, Statement
from kg.store import open_store


def edge(subject: str, prop: str, target: str, n: int = 0, **more: Any) -> Statement:
    return statement(subject, prop, target, n, **more)


def entity(entity_id: str, name: str, *edges: tuple[str, str], **more: Any) -> Entity:
    found = tuple(edge(entity_id, prop, target, n) for n, (prop, target) in enumerate(edges))
    return Entity(id=entity_id, labels={"en": name}, statements=found, **more)


WORLD = (
    entity("Q1", "Springfield", ("P31", "Q20"), ("P131", "Q2")),
    entity("Q2", "Illinois", ("P31", "Q21"), ("P17", "Q3")),
    entity("Q3", "United States", ("P31", "Q22"), ("P36", "Q4")),
    entity("Q4", "Washington", ("P31", "Q23"), ("P17", "Q3")),
    entity("Q5", "Springfield", ("P31", "Q23"), ("P131", "Q6")),
    entity("Q6", "Ohio", ("P17", "Q3"), ("P131", "Q6"), ("P131", "Q404")),  # a loop and a dangling id
    entity("Q20", "town", ("P279", "Q23")),
    entity("Q21", "state"),
    entity("Q22", "country"),
    entity("Q23", "city", ("P279", "Q24")),
    entity("Q24", "settlement", ("P279", "Q23")),  # a cycle
    Entity(id="Q7", labels={"en": "Shelbyville"}, statements=(edge("Q7", "P31", "Q20", rank=Rank.DEPRECATED),)),
    Entity(id="P131", labels={"en": "located in"}, datatype="wikibase-item"),
)


def ids_of(path: Path) -> list[str]:
    with open_store(path) as store:
        return list(store.ids())
