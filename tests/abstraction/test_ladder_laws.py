"""What always holds of ladders, over random hostile graphs.

Cycles and self-loops in every hierarchy, places in two states, names that are empty, shared, very long, right to left
or full of punctuation, descriptions that the grammars half understand.
"""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from abstraction.base.tiers import MAX_LEVELS, MAX_TIERS
from abstraction.files.rows import QARow, TieredRow
from abstraction.ladders.builders import builder_for
from abstraction.ladders.class_terms import entailed_classes
from abstraction.ladders.proposals import ANSWER, ancestors, as_graph, depths, levels, order_by_conditions
from abstraction.ladders.weighing import positions_of_tiers_with_rising_bits
from abstraction.maker.pipeline import LadderMaker
from kg.base.model import Entity, EntityValue, Rank, Snak, Statement, TimeValue, normalise
from kg.store.sqlite import SQLiteStore
from tests.cases import case_in
from tests.thorough import examples

NAMES = (
    "Ruritania", "Ruritania", "Strelsau", "the", "", " ", "a", "X", "New X", "X City", "Graustark County", "x" * 3_000,
    "ירושלים", "\u202eabc\u202c", "!!!", "()[];,", "A & B, Inc.", "of of of", "12", "1984", "Award for X", "2004 Games",
    "King of X", "actor", "rock band", "écran—Ω", "e\u0301", "combining\u0300\u0301", "tab\tname", "O'X", "\U0001f980",
)  # fmt: skip
DESCRIPTIONS = (
    "", "city in Ruritania", "town in X, X, X and X", "capital of", "in", "American actor, singer and", ",,;;", "( ( (",
    "British rock band from from", "15th King of X", "wife of X", "public university in X, Y", "species of of bird",
    "award for for", "subgenre of rock music", "X language of the X family",
    "1958 film by X", "defensive position in X",
    "former former former writer", "x " * 400, "ab" * 2_000, "שחקן ישראלי", "record label, subsidiary of X",
    "1943 battle of X", "German-born American", "Austrian-Austrian-Austrian painter", "and and and", "the the the",
    "character in X", "biblical figure", "Count of X and Y and Z", "politician (1900–", "actor; singer; of; in X",
)  # fmt: skip
CLASSES = (
    "Q5", "Q515", "Q486972", "Q3624078", "Q6256", "Q5107", "Q28640", "Q4164871", "Q188451", "Q34770", "Q25295", "Q3918",
    "Q476028", "Q11424", "Q618779", "Q16521", "Q95074", "Q215380", "Q4830453", "Q43229", "Q1656682", "Q1781513",
    "Q3024240",
)  # fmt: skip
LINKS = (
    "P31", "P279", "P131", "P17", "P30", "P361", "P106", "P27", "P136", "P171", "P749", "P127", "P641", "P495", "P50",
    "P39", "P97", "P1441", "P1027", "P276", "P159", "P36", "P407", "P105", "P179", "P1001", "P452", "P1056", "P740",
)  # fmt: skip
RELATIONS = (
    "P17", "P19", "P26", "P36", "P39", "P50", "P69", "P106", "P112", "P127", "P131", "P136", "P140", "P166", "P171",
    "P175", "P176", "P264", "P276", "P407", "P413", "P495", "P607", "P641", "P740", "P800",
)  # fmt: skip
SIZE = 9
OWN = tuple(f"Q{n}" for n in range(1, SIZE + 1))

targets = st.sampled_from((*OWN, *OWN, *CLASSES))
facts = st.tuples(
    st.sampled_from(LINKS), targets, st.sampled_from([Rank.NORMAL, Rank.NORMAL, Rank.PREFERRED, Rank.DEPRECATED]),
    st.sampled_from([None, None, None, 1800, -400, 2500]),
)  # fmt: skip
members = st.tuples(
    st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=2), st.sampled_from(DESCRIPTIONS),
    st.lists(facts, max_size=7),
)  # fmt: skip
worlds = st.lists(members, min_size=SIZE, max_size=SIZE)


def world_of(drawn: list[tuple[str, list[str], str, list[tuple[str, str, Rank, int | None]]]]) -> SQLiteStore:
    classes = [Entity(id=qid, labels={"en": f"class {qid}"}) for qid in CLASSES]
    own = [
        Entity(
            id=qid,
            labels={"en": name},
            aliases={"en": tuple(aliases)},
            descriptions={"en": description} if description else {},
            statements=tuple(
                Statement(
                    id=f"{qid}$s{at}", subject=qid, property=prop, rank=rank, value=EntityValue(id=target),
                    qualifiers=() if end is None else (Snak(property="P582", value=TimeValue(year=end, precision=9)),),
                )
                for at, (prop, target, rank, end) in enumerate(said)
            ),
        )
        for qid, (name, aliases, description, said) in zip(OWN, drawn, strict=True)
    ]  # fmt: skip
    return SQLiteStore.create(":memory:", [*classes, *own])


def questions(drawn: list[tuple[str, list[str], str, list[tuple[str, str, Rank, int | None]]]]) -> list[QARow]:
    return [
        QARow(
            id=f"{prop}-{qid}", question=f"What of {drawn[0][0]}?", answers=(drawn[at][0] or "?",),
            answer_qids=(qid if at % 2 else None,), relation=prop, subject_qid="Q1" if at % 3 else None,
        )
        for prop in (*RELATIONS, None)
        for at, qid in list(enumerate(OWN))[:: 4 if prop else 1]
    ]  # fmt: skip


def check_row(row: TieredRow) -> None:
    assert row.levels
    assert not positions_of_tiers_with_rising_bits(row.levels), row.id
    assert all(tier.bits is None or tier.bits >= 0 for level in row.levels for tier in level.tiers)
    assert row.levels[0].tiers
    assert (row.abstained is not None) == (len(row.levels) == 1)
    assert len(row.levels) <= MAX_LEVELS + 1
    seen: set[str] = set()
    for level in row.levels[1:]:
        assert 0 < len(level.tiers) <= MAX_TIERS
        for tier in level.tiers:
            assert tier.text.strip(), row.id
            assert tier.evidence, (row.id, tier.text)
            assert normalise(tier.text) not in seen, (row.id, tier.text)
            for evidence in tier.evidence:
                if evidence.span is not None and evidence.text is not None:
                    start, end = evidence.span
                    assert 0 <= start < end <= len(evidence.text)
        seen |= {normalise(tier.text) for tier in level.tiers}
    # Who names a coarser tier has not named the answer or a finer one.
    for at, level in enumerate(row.levels):
        coarser = {normalise(tier.text) for later in row.levels[max(at, 0) + 1 :] for tier in later.tiers}
        for tier in level.tiers:
            assert coarser.isdisjoint(normalise(name) for name in tier.names()[1:]), (row.id, tier.text)


SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=SLOW)
@given(worlds)
@example([("Ruritania", [], "city in Ruritania", [("P131", f"Q{i + 1}", Rank.NORMAL, None)] * 2) for i in range(SIZE)])
def test_ladders_hold_their_laws_and_repeat(drawn: list[tuple[str, list[str], str, list]]) -> None:  # type: ignore[type-arg]
    asked = questions(drawn)
    with world_of(drawn) as store:
        first = [row.to_json() for row in map(_checked, LadderMaker(store).make_all(asked))]
        again = LadderMaker(store)
        # Another order of the questions, one by one: nothing is carried from row to row.
        second = {row.id: row.to_json() for row in (again.make(question) for question in reversed(asked))}
    for row in first:
        assert json.dumps(row, sort_keys=True) == json.dumps(second[str(row["id"])], sort_keys=True)


def _checked(row: TieredRow) -> TieredRow:
    check_row(row)
    return row


@settings(max_examples=examples(60), deadline=None, suppress_health_check=SLOW)
@given(worlds)
def test_every_tier_follows_from_one_a_level_finer(drawn: list[tuple[str, list[str], str, list]]) -> None:  # type: ignore[type-arg]
    with world_of(drawn) as store:
        world = LadderMaker(store)
        for qid in OWN:
            for prop in ("P19", "P26", "P112", "P127", "P136", "P140", "P166", "P171", "P407", "P413", "P607", "P800"):
                case = case_in(world, qid, prop)
                build = builder_for(case.relation.asks, world.classes(qid))
                if build is None:
                    continue
                nodes = order_by_conditions(as_graph(build(case)), partial(entailed_classes, world.graph))
                depth = depths(nodes)
                for key, node in nodes.items():
                    assert node.parents
                    if depth[key] > 1:
                        assert any(depth[p] == depth[key] - 1 for p in node.parents if p != ANSWER)
                texts = {id(node): node for node in nodes.values()}
                assert len(texts) == len(nodes)
                made = levels(nodes)
                for finer, coarser in pairwise(made):
                    up = {tier.text for tier in finer.tiers}
                    for tier in coarser.tiers:
                        keys = [k for k, n in nodes.items() if n.text == tier.text]
                        assert any(up & {nodes[a].text for a in ancestors(nodes, key)} for key in keys)
                for level in made:
                    stated = [tier.conditions for tier in level.tiers if tier.conditions]
                    assert len(stated) == len(set(stated))
                    assert not any(a < b for a in stated for b in stated)
