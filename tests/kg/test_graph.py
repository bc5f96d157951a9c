"""The cached view: the same answers whatever is kept, in the language asked for."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from store_contract import statement

from kg.base.model import Entity, Rank, Snak, TimeValue
from kg.graph.graph import Graph
from kg.store.sqlite import SQLiteStore


def entity(entity_id: str, *edges: tuple[str, str], **labels: str) -> Entity:
    found = tuple(statement(entity_id, prop, target, n) for n, (prop, target) in enumerate(edges))
    return Entity(id=entity_id, labels=labels, statements=found)


DISSOLVED = statement("Q7", "P576", TimeValue(year=1990, precision=9))  # type: ignore[arg-type]
ENDED = statement("Q1", "P17", "Q6", 7, qualifiers=(Snak(property="P582", value=TimeValue(year=1945, precision=9)),))
WORLD = (
    Entity(
        id="Q1",
        labels={"en": "Berlin", "de": "Berlin an der Spree", "mul": "Berlin"},
        descriptions={"en": "capital of Germany"},
        aliases={"de": ("Spreeathen",)},
        statements=(
            statement("Q1", "P31", "Q10"),
            statement("Q1", "P17", "Q5"),
            ENDED,
            statement("Q1", "P17", "Q7", 8),
            statement("Q1", "P17", "Q8", 9, rank=Rank.DEPRECATED),
        ),
    ),
    entity("Q2", ("P31", "Q11"), mul="Spreeathen"),
    entity("Q5", ("P31", "Q20"), en="Germany"),
    entity("Q6", ("P31", "Q3024240"), en="German Reich"),
    Entity(id="Q7", labels={"en": "East Germany"}, statements=(statement("Q7", "P31", "Q20"), DISSOLVED)),
    entity("Q8", ("P31", "Q20"), en="Prussia"),
    entity("Q10", ("P279", "Q11"), en="metropolis"),
    entity("Q11", ("P279", "Q12"), en="city"),
    entity("Q12", ("P279", "Q11"), ("P279", "Q404"), en="settlement"),  # a cycle and a dangling class
    entity("Q20", en="country"),
)


class CountingStore(SQLiteStore):
    """Counts the round trips."""

    reads = 0

    def entities(
        self,
        ids: Collection[str],
        *,
        languages: Collection[str] | None = None,
        properties: Collection[str] | None = None,
    ) -> dict[str, Entity]:
        self.reads += 1
        return super().entities(ids, languages=languages, properties=properties)


@pytest.fixture
def store() -> CountingStore:
    store = CountingStore.create(":memory:", WORLD)
    assert isinstance(store, CountingStore)
    return store


def test_what_is_fetched_is_not_read_again(store: CountingStore) -> None:
    graph = Graph(store)
    graph.fetch(["Q1", "Q2", "Q999", "Q1"])
    assert store.reads == 1
    assert graph.label("Q1") == "Berlin"
    assert graph.entity("Q999") is None
    graph.fetch(["Q1", "Q2"])
    assert store.reads == 1


@pytest.mark.parametrize("capacity", [1, 3, 500_000])
@pytest.mark.parametrize("properties", [None, ["P17"]])
def test_answers_do_not_depend_on_what_is_kept(
    store: CountingStore, capacity: int, properties: list[str] | None
) -> None:
    graph = Graph(store, capacity=capacity, properties=properties)
    for _ in range(2):
        assert graph.targets("Q1", "P17") == ("Q5",)  # not ended, not dissolved, not deprecated
        assert graph.class_and_superclasses("Q10") == {"Q10", "Q11", "Q12", "Q404"}
        assert graph.classes("Q1") == ("Q10",)
        assert graph.is_instance("Q1", {"Q12", "Q77"})
        assert not graph.is_instance("Q1", {"Q20"})
        assert not graph.is_instance("Q999", {"Q20"})
        assert [graph.is_historical(q) for q in ("Q5", "Q6", "Q7", "Q999")] == [False, True, True, False]
        assert [match.id for match in graph.find("BERLIN")] == ["Q1"]
        assert graph.find("nowhere") == graph.find("") == ()


def test_names_follow_the_language(store: CountingStore) -> None:
    german = Graph(store, language="de")
    assert (german.label("Q1"), german.label("Q2")) == ("Berlin an der Spree", "Spreeathen")
    assert german.names("Q1") == ("Berlin an der Spree", "Berlin", "Spreeathen")
    assert german.description("Q1") == "capital of Germany"
    assert [(match.id, match.kind) for match in german.find("spreeathen")] == [("Q2", "label"), ("Q1", "alias")]
    english = Graph(store)
    assert english.names("Q1") == ("Berlin",)
    assert [match.id for match in english.find("Spreeathen")] == ["Q2"]
    assert english.description("Q2") is None


def test_names_are_found_in_one_batch(store: CountingStore) -> None:
    graph = Graph(store)
    graph.prefetch_names(["Berlin", "berlin ", "Germany", "x"])
    store.close()
    assert [len(graph.find(name)) for name in ("Berlin", "Germany", "x")] == [1, 1, 0]


def test_statements_of_every_rank(store: CountingStore) -> None:
    graph = Graph(store)
    assert [s.target for s in graph.statements("Q1", "P17")] == ["Q5", "Q6", "Q7", "Q8"]
    at = TimeValue(year=1940, precision=9)
    assert [s.target for s in graph.statements_valid_at("Q1", "P17", at)] == ["Q6"]


def test_an_entity_in_the_place_of_the_snapshots_leaves_the_graph_as_it_is(store: CountingStore) -> None:
    below = Graph(store)
    before = (below.label("Q1"), below.targets("Q1", "P31"), below.targets("Q1", "P17"))
    above = below.with_entity(entity("Q1", ("P31", "Q5"), en="Other"))
    assert (above.label("Q1"), above.targets("Q1", "P31"), above.targets("Q1", "P17")) == ("Other", ("Q5",), ())
    assert above.label("Q5") == below.label("Q5") is not None
    assert (below.label("Q1"), below.targets("Q1", "P31"), below.targets("Q1", "P17")) == before
    unknown = below.with_entity(entity("Q999", en="Nowhere"))
    assert (unknown.label("Q999"), below.entity("Q999")) == ("Nowhere", None)


def test_what_is_no_id_is_not_remembered(store: CountingStore) -> None:
    graph = Graph(store)
    texts = ["x" * 1_000, "Q", "Q0", "Q1 ", "q1", "L1", ""]
    for text in texts:
        assert graph.entity(text) is None
        assert graph.names(text) == graph.targets(text, "P31") == ()
        assert graph.current(text, "P31") == graph.current("Q1", text) == []
        assert graph.class_and_superclasses(text) == {text}
        assert not graph.is_historical(text)
    assert graph.label("Q1") == "Berlin"
    assert graph.cached_size == 1
    caches = (graph._names, graph._current, graph._targets, graph._superclasses, graph._historical, graph._entities)
    assert not any(key in cache for cache in caches for key in texts)
