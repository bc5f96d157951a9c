"""From proposals to levels, and the laws of ladders over random graphs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.base.tiers import MAX_LEVELS, MAX_TIERS, Evidence
from abstraction.ladders.proposals import ANSWER, Proposal, ancestors, as_graph, depths, levels, merge, remove
from tests.thorough import examples


def node(key: str, *parents: str, **more: object) -> Proposal:
    return Proposal(key=key, text=key, parents=parents or (ANSWER,), **more)  # type: ignore[arg-type]


def shape(nodes: dict[str, Proposal]) -> list[list[str]]:
    return [[t.text for t in level.tiers] for level in levels(nodes)]


def test_a_tier_stands_below_the_coarsest_that_entails_it() -> None:
    nodes = as_graph([node("county"), node("state", "county", ANSWER), node("land", ANSWER, "state")])
    assert shape(nodes) == [["county"], ["state"], ["land"]]


def test_siblings_share_a_level() -> None:
    nodes = as_graph([node("b"), node("a"), node("top", "a", "b")])
    assert shape(nodes) == [["a", "b"], ["top"]]


def test_removal_bridges_and_hands_over_the_evidence() -> None:
    first, second = Evidence(kind="rule", text="one"), Evidence(kind="rule", text="two")
    nodes = as_graph([node("district", evidence=(first,)), node("state", "district", evidence=(second,))])
    left = remove(nodes, lambda p: p.key == "district")
    assert left["state"].parents == (ANSWER,)
    assert left["state"].evidence == (first, second)


def test_circles_and_self_loops_are_cut() -> None:
    nodes = as_graph([node("a", "c"), node("b", "a"), node("c", "b", "c"), node("d", "nowhere")])
    assert sorted(t for level in shape(nodes) for t in level) == ["a", "b", "c", "d"]


def test_merging_keeps_children_and_names() -> None:
    nodes = merge(as_graph([node("a"), node("b", "a"), node("c", "b")]), "b", "a")
    assert shape(nodes) == [["a"], ["c"]]
    assert nodes["a"].aliases == ("b",)


def test_caps_keep_both_ends() -> None:
    keys = [f"k{i}" for i in range(9)]
    nodes = as_graph(node(k, keys[i - 1] if i else ANSWER) for i, k in enumerate(keys))
    assert shape(nodes) == [["k0"], ["k1"], ["k2"], ["k7"], ["k8"]]
    wide = as_graph(node(f"w{i}") for i in range(20))
    assert len(shape(wide)[0]) == MAX_TIERS


graphs = st.lists(
    st.tuples(st.integers(0, 12), st.lists(st.integers(-1, 12), max_size=4)), min_size=1, max_size=20
).map(lambda rows: [node(f"n{k}", *(f"n{p}" if p >= 0 else ANSWER for p in ps)) for k, ps in rows])


@given(graphs, st.sets(st.integers(0, 12), max_size=6))
@settings(max_examples=examples(300), deadline=None)
def test_laws_of_levels(proposals: list[Proposal], gone: set[int]) -> None:
    nodes = remove(as_graph(proposals), lambda p: p.key in {f"n{i}" for i in gone})
    at = depths(nodes)
    for key, own in nodes.items():
        assert at[key] == 1 + max((at[p] for p in own.parents if p != ANSWER), default=0)
    made = levels(nodes)
    assert len(made) <= MAX_LEVELS
    seen: set[str] = set()
    for i, level in enumerate(made):
        assert 1 <= len(level.tiers) <= MAX_TIERS
        for tier in level.tiers:
            assert tier.text not in seen
            seen.add(tier.text)
            if i:
                before = {t.text for t in made[i - 1].tiers}
                assert before & ancestors(nodes, tier.text)
    assert levels(nodes) == made
