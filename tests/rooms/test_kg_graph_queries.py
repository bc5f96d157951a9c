"""`kg.graph` by example: a question in SPARQL, its logical query, its answers with the facts that lead to them."""

from __future__ import annotations

from kg.graph.logical_query import FactList, Shape, StoreFacts, ground
from kg.graph.sparql_shapes import query_of_sparql
from tests.attribution_world import world

CAPITAL_OF_THE_BIRTHPLACE = "SELECT ?x WHERE { wd:Q10 wdt:P19/wdt:P1376 ?x }"


def test_a_question_becomes_a_query_and_its_answers() -> None:
    query = query_of_sparql(CAPITAL_OF_THE_BIRTHPLACE)
    assert query.shape is Shape.PATH
    found = ground(query, StoreFacts(world()))
    assert found.answers == ("Q5",)  # McLean County
    assert [(fact.subject, fact.property, fact.object) for fact in found.facts()] == [
        ("Q10", "P19", "Q1"), ("Q1", "P1376", "Q5"),
    ]  # fmt: skip


def test_on_part_of_its_facts_a_query_gives_nothing() -> None:
    query = query_of_sparql(CAPITAL_OF_THE_BIRTHPLACE)
    facts = ground(query, StoreFacts(world())).facts()
    assert ground(query, FactList(facts)).answers == ("Q5",)
    assert ground(query, FactList(facts[1:])).answers == ()
