"""Logical queries: their shapes, their grounding on every source, reading them from SPARQL, mining them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import GroundingError, QueryShapeError
from kg.graph.logical_query import Branch, Fact, FactList, Hop, LogicalQuery, Shape, StoreFacts, ground, ground_all
from kg.graph.query_mining import MinedQueries, MiningSettings
from kg.graph.sparql_shapes import query_of_sparql
from kg.store.sqlite import SQLiteStore
from tests.attribution_world import LABELS, PATH, SHAPES, TREE, UNION, branch, single, with_qualifier, world
from tests.worlds import entity, store_of

ASKED = frozenset(LABELS) - {"P31"}


@pytest.fixture(scope="module")
def store() -> Iterator[SQLiteStore]:
    made = world()
    yield made
    made.close()


@pytest.mark.parametrize(("name", "answers"), [
    ("single", ("Q1",)), ("path", ("Q5",)), ("tree", ("Q20",)), ("union", ("Q1", "Q2")),
])  # fmt: skip
def test_answers_of_each_shape(store: SQLiteStore, name: str, answers: tuple[str, ...]) -> None:
    found = ground(SHAPES[name], StoreFacts(store))
    assert (str(found.query.shape), found.answers) == (name, answers)


def test_many_queries_together_are_as_each_alone(store: SQLiteStore) -> None:
    queries = [*SHAPES.values(), single("Q20", "P69", forward=False)] * 100
    together = [found for _, found in ground_all(queries, StoreFacts(store))]
    assert together == [ground(query, StoreFacts(store)) for query in queries]
    assert together[4].answers == ("Q10", "Q13")  # type: ignore[union-attr]  # against the direction; not the deprecated one


def test_a_batch_costs_a_round_trip_a_hop(store: SQLiteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Counter[str]()
    real = store.entities

    def counted(*args: object, **settings: object) -> object:
        asked["entities"] += 1
        return real(*args, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "entities", counted)
    list(ground_all([PATH, TREE, UNION] * 80, StoreFacts(store)))
    assert asked["entities"] == 2  # the starts, and what they lead to


def test_each_branch_of_a_union_has_its_own_way(store: SQLiteStore) -> None:
    ways = ground(UNION, StoreFacts(store)).ways
    assert ways["Q1"] == ((Fact("Q10", "P19", "Q1"),), ())
    assert ways["Q2"] == ((), (Fact("Q11", "P19", "Q2"),))


def test_a_named_node_in_between_must_be_passed(store: SQLiteStore) -> None:
    way = (Hop(property="P26"), Hop(property="P19"))
    through = LogicalQuery(branches=(Branch(start="Q12", hops=way, via=("Q10",)),))
    elsewhere = LogicalQuery(branches=(Branch(start="Q12", hops=way, via=("Q11",)),))
    assert ground(through, StoreFacts(store)).answers == ("Q1",)
    assert ground(elsewhere, StoreFacts(store)).answers == ()


def test_what_the_query_names_is_no_answer(store: SQLiteStore) -> None:
    back_and_forth = LogicalQuery(branches=(branch("Q10", "P26", "P26"),))
    assert ground(back_and_forth, StoreFacts(store)).answers == ()


def test_a_qualifiers_value_is_one_hop_away() -> None:
    query = LogicalQuery(branches=(Branch(start="Q15", hops=(Hop(property="P1000", qualifier="P140"),)),))
    found = ground(query, StoreFacts(store_of(with_qualifier(), entity("Q33", "Methodism"))))
    assert found.facts() == (Fact("Q15", "P1000", "Q33", "P140"),)


def test_too_many_answers_are_told() -> None:
    crowd = store_of(entity("Q1", "x"), *(entity(f"Q{n}", "p", P19="Q1") for n in range(10, 1_020)))
    ((_, found),) = ground_all([single("Q1", "P19", forward=False)], StoreFacts(crowd))
    assert isinstance(found, GroundingError)
    assert "P19 leads to 1,001 entities; allowed are 1,000" in str(found)


@given(st.sampled_from(sorted(SHAPES)), st.data())
def test_fewer_facts_give_no_answer_more(name: str, data: st.DataObject) -> None:
    """A law of the four shapes: they have no negation."""
    whole = ground(SHAPES[name], StoreFacts(world()))
    kept = data.draw(st.sets(st.sampled_from(whole.facts())))
    assert set(ground(SHAPES[name], FactList(sorted(kept, key=str))).answers) <= set(whole.answers)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_queries_come_back_from_json(name: str) -> None:
    assert LogicalQuery.from_json(SHAPES[name].to_json()) == SHAPES[name]


@pytest.mark.parametrize(
    "damaged", [{}, {"branches": 3}, {"branches": [{}]}, {"branches": [{"start": "x", "hops": []}]}]
)
def test_damaged_queries_are_told(damaged: dict[str, object]) -> None:
    with pytest.raises(QueryShapeError):
        LogicalQuery.from_json(damaged)


SPARQL = {
    "SELECT DISTINCT ?x WHERE { wd:Q10 wdt:P19 ?x. }": SHAPES["single"],
    "SELECT ?x { wd:Q10 p:P19 ?s . ?s ps:P19 ?x }": SHAPES["single"],
    "SELECT ?x { wd:Q10 p:P19/ps:P19 ?x }": SHAPES["single"],
    "SELECT ?x { wd:Q10 wdt:P19 ?y . ?y wdt:P1376 ?x }": PATH,
    "SELECT ?x { ?x wdt:P69 wd:Q20 }": single("Q20", "P69", forward=False),
    "SELECT ?x { wd:Q10 wdt:P69 ?x. wd:Q13 wdt:P69 ?x }": TREE,
    "SELECT ?x { { wd:Q10 wdt:P19 ?x } UNION { wd:Q11 wdt:P19 ?x } }": UNION,
    "SELECT ?x { wd:Q15 p:P1000 [ pq:P140 ?x ] }": LogicalQuery(
        branches=(Branch(start="Q15", hops=(Hop(property="P1000", qualifier="P140"),)),)
    ),
}


@pytest.mark.parametrize("text", SPARQL)
def test_sparql_is_read(text: str) -> None:
    assert query_of_sparql(text) == SPARQL[text]


REFUSED = {
    "ASK { wd:Q10 wdt:P19 wd:Q1 }": "yes or no",
    "SELECT (COUNT(?x) AS ?n) { wd:Q10 wdt:P19 ?x }": "an aggregate",
    "SELECT ?x { wd:Q10 wdt:P19 ?x FILTER(?x != wd:Q2) }": "a filter",
    "SELECT ?x { wd:Q10 wdt:P19 ?x } ORDER BY ?x LIMIT 1": "an order or limit",
    "SELECT ?x { wd:Q10 wdt:P19/wdt:P131* ?x }": "property path",
    "SELECT ?x ?y { wd:Q10 wdt:P19 ?x ; wdt:P20 ?y }": "several variables",
    "SELECT ?x { wd:Q10 wdt:P19 ?x OPTIONAL { ?x wdt:P17 ?y } }": "an optional part",
    "SELECT ?x { wd:Q10 wdt:P1/wdt:P2/wdt:P3 ?x }": "path too long",
    "SELECT ?x { wd:Q1 wdt:P1 ?x. wd:Q2 wdt:P1 ?x. wd:Q3 wdt:P1 ?x }": "tree too wide",
    f"SELECT ?x {{ ?x wdt:P1 {', '.join(f'wd:Q{n}' for n in range(1, 3_001))} }}": "tree too wide",
    "SELECT ?x { wd:Q10 wdt:P19 ?y . ?y wdt:P31 wd:Q5 . ?y wdt:P17 ?x }": "condition on a node in between",
    "SELECT ?x { ?y wdt:P19 ?x }": "an entity is lacking",
    "SELECT ?x { wd:Q10 wdt:P19 ?x . wd:Q11 wdt:P19 wd:Q2 }": "apart from the answer",
    "SELECT ?x { ?x wdt:P569 '1961' }": "a value that is no entity",
    "SELECT ?x { ?x schema:about wd:Q5 }": "another vocabulary",
    "SELECT ?x { ?x rdfs:label wd:Q5 }": "answer not bound",  # labels ask for nothing
    "SELECT ?x { wd:Q10 p:P39 ?s . ?s ps:P39 wd:Q1; pq:P580 ?x }": "condition on a statement",
    "SELECT ?x { wd:Q1 wdt:P1 ?y . ?y wdt:P2 ?x . ?x wdt:P3 ?y }": "condition on a node in between",
    "SELECT ?x { ?x wdt:P1 ?x }": "cycle",
    "SELECT ?z { wd:Q1 wdt:P1 ?x }": "answer not bound",
    "CONSTRUCT { ?x wdt:P1 wd:Q1 } WHERE { ?x wdt:P1 wd:Q1 }": "not a SELECT",
    "SELECT": "not SPARQL",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_what_fits_no_shape_is_refused_with_its_reason(text: str) -> None:
    with pytest.raises(QueryShapeError) as caught:
        query_of_sparql(text)
    assert caught.value.reason == REFUSED[text]


def test_mined_queries_are_the_same_on_every_run(store: SQLiteStore) -> None:
    settings = MiningSettings(counts=dict.fromkeys(Shape, 20), only=ASKED, seed=3)
    first, second = (list(MinedQueries(StoreFacts(store), settings)) for _ in range(2))
    assert first == second
    assert len(set(first)) == len(first)
    assert {query.shape for query in first} == set(Shape)
    assert all(query.properties <= ASKED for query in first)


def test_hubs_are_not_asked_for() -> None:
    crowd = [entity(f"Q{n}", f"person {n}", P21="Q1", P19=f"Q{n + 1000}") for n in range(100, 130)]
    homes = [entity(f"Q{n + 1000}", f"town {n}") for n in range(100, 130)]
    facts = StoreFacts(store_of(entity("Q1", "male"), *crowd, *homes))
    mined = MinedQueries(facts, MiningSettings(counts={Shape.SINGLE: 100}, hub=10, only={"P19", "P21"}))
    assert {prop for query in mined for prop in query.properties} == {"P19"}
