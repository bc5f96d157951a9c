"""The paper's choice among namesakes, the smallest QID, as its Tables 5 and 6 show it (Yona et al. 2024)."""

from __future__ import annotations

import pytest

from abstraction.base.relations import relation
from abstraction.linking.linker import Linker
from abstraction.maker.pipeline import LadderMaker
from kg.store.sqlite import SQLiteStore
from tests.worlds import entity, store_of

# Table 5: four places called Berlin.
BERLINS = (
    entity("Q183", "Germany", "country", P31="Q3624078"),
    entity("Q524646", "Berlin", "town in Massachusetts", P31="Q486972"),
    entity("Q614184", "Berlin", "town in Maryland", P31="Q486972"),
    entity("Q142659", "Berlin", "village in Holmes County, Ohio", P31="Q486972"),
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P17="Q183"),
)
# Table 6: entities asked about whose smallest id is not what the question means. The novels beside them, of greater
# ids, are made up.
WRONG = {
    "Enduring Love": ("Q129813", "2004 film", "Q11424", "P50"),
    "Orbit": ("Q2367904", "maker of motorcycles", "Q4830453", "P175"),
    "Hollywood": ("Q34006", "neighbourhood of Los Angeles", "Q486972", "P50"),
}
NAMESAKES = tuple(
    made
    for place, (name, (qid, description, kind, _)) in enumerate(WRONG.items())
    for made in (
        entity(f"Q9900000{place}", name, "novel", P31="Q8261", sitelinks=50),
        entity(qid, name, description, P31=kind),
    )
)


def linker(store: SQLiteStore, method: str) -> Linker:
    return LadderMaker(store, linker=method).linker


@pytest.fixture(scope="module")
def store() -> SQLiteStore:
    kinds = (
        entity("Q8261", "novel", P279="Q7725634"),
        entity("Q7725634", "literary work", P279="Q386724"),
        entity("Q386724", "work"),
        entity("Q4830453", "business"),
    )
    return store_of(*kinds, *BERLINS, *NAMESAKES)


@pytest.mark.parametrize("name", ["P19", "P20", "P159", "P50"])
def test_the_smallest_id_of_table_5_is_taken_whatever_is_asked(store: SQLiteStore, name: str) -> None:
    link = linker(store, "smallest").link("Berlin", relation(name))
    assert (link.qid, link.rule) == ("Q64", "smallest-id")


def test_ids_are_compared_as_numbers() -> None:
    towns = (entity("Q1000", "Berlin", P31="Q515"), entity("Q999", "Berlin", P31="Q515"))
    assert linker(store_of(*towns), "smallest").link("Berlin", relation("P19")).qid == "Q999"
    assert linker(store_of(*towns), "smallest").subject_ids("Berlin", None, relation("P17")) == ("Q999",)


@pytest.mark.parametrize("name", WRONG)
def test_the_smallest_id_of_table_6_is_taken_for_the_entity_asked_about(store: SQLiteStore, name: str) -> None:
    qid, _, _, asked = WRONG[name]
    assert linker(store, "smallest").subject_ids(name, None, relation(asked)) == (qid,)
    # Ours also sees the namesake that the question can mean.
    assert linker(store, "question").subject_ids(name, None, relation(asked)) != (qid,)


def test_an_id_that_is_given_stands_before_the_smallest(store: SQLiteStore) -> None:
    smallest = linker(store, "smallest")
    assert smallest.subject_ids("Enduring Love", "Q99000000", relation("P50")) == ("Q99000000",)
    assert smallest.subject_ids("Nobody's Novel", None, relation("P50")) == ()
    assert smallest.subject_ids(None, None, relation("P50")) == ()
