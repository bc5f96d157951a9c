"""Ladders in a model's words: what is asked, how replies are read, what checking does with each tier."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.base.tiers import MAX_LEVELS, MAX_TIERS
from abstraction.files.rows import QARow
from abstraction.maker.pipeline import LadderMaker
from abstraction.phrasing.checking import NOTE, DecisionCounts, log_lines, without_decisions
from abstraction.phrasing.phraser import ModelPhraser
from abstraction.verifying.entailment import EntailmentChecker
from kg.base.model import normalise
from tests.abstraction.scripted_model import PERSON, PLACE, WORLD, Scripted, block, decided, phrased
from tests.abstraction.test_ladder_laws import check_row
from tests.thorough import examples
from tests.worlds import row, store_of, texts


@settings(max_examples=examples(60), deadline=None)
@given(st.text(max_size=80), st.lists(st.text(max_size=30), max_size=6))
def test_whatever_data_and_reply_say_the_ladder_keeps_its_laws(said: str, lines: list[str]) -> None:
    store = store_of(*WORLD)
    asked = replace(PERSON, extra={"answer_entity_description": said})
    ladder = LadderMaker(store).make(asked)
    answers = [block(*lines), block("a British sculptor", said, "an artist", "British person", *lines)]
    for reply in answers:
        (done,) = ModelPhraser(Scripted(lambda _, reply=reply: reply), store)([ladder])  # type: ignore[misc]
        check_row(without_decisions(done))
        assert done.answers == ladder.answers
        names = [normalise(tier.text) for level in done.levels for tier in level.tiers]
        assert len(set(names)) == len(names)


def test_places_take_over_what_the_graph_knows_of_them() -> None:
    done = phrased(PLACE, "Hampden County", "the state of Massachusetts", "USA", "Illinois", "Springfield, Mass.")
    assert texts(done) == [["Hampden County"], ["the state of Massachusetts"], ["USA"]]
    assert decided(done) == [
        ("entailed", "kept", 2), ("entailed", "kept", 3), ("entailed", "kept", 4), ("contradicted", "dropped", None),
        ("alias", "joined", 1),
    ]  # fmt: skip
    states = done.levels[3].tiers[0]
    assert states.qid == "Q30"
    assert "United States" in states.aliases
    assert [e.kind for e in states.evidence][-1] == "model"
    assert states.evidence[-1].call == done.extra[NOTE]["calls"][0]
    assert states.evidence[-1].check is not None
    assert states.evidence[-1].check.startswith("entailed: ")
    assert done.abstained is None
    # What it took from the graph leads from the answer, though the graph's own tier between is gone.
    store = store_of(*WORLD)
    short = phrased(PLACE, "Massachusetts", store=store)
    assert [check.status for check in EntailmentChecker(store).check(short)] == ["entailed"]


@pytest.mark.parametrize("first", ["", "1:: Springfield\n", "1:: Springfield, Mass.\n"])
def test_a_model_may_begin_with_the_answer_or_with_the_first_coarser_one(first: str) -> None:
    store = store_of(*WORLD)
    lines = ["Hampden County", "the state of Massachusetts"]
    at = 2 if first else 1
    reply = first + "\n".join(f"{number}:: {line}" for number, line in enumerate(lines, at))
    (done,) = ModelPhraser(Scripted(lambda _: reply), store)([LadderMaker(store).make(PLACE)])
    assert texts(done) == [["Hampden County"], ["the state of Massachusetts"]]
    assert decided(done) == [("entailed", "kept", 2), ("entailed", "kept", 3)]  # the answer itself was no proposal


@pytest.mark.parametrize(
    ("lines", "expected", "findings"),
    [
        (["a British sculptor", "a British composer"], [["a British sculptor", "a British composer"]],
         ["entailed kept", "sibling merged"]),
        (["a sculptor", "a British sculptor"], [["a British sculptor"], ["a sculptor"]],
         ["entailed kept", "entailed kept"]),
        (["a British sculptor", "British sculptor", "a person", "Piers Dixon's wife"], [["a British sculptor"]],
         ["entailed kept", "duplicate dropped", "trivial dropped", "leaking dropped"]),
        (["an American sculptor", "a sculptor"], [["a sculptor"]], ["contradicted dropped", "entailed kept"]),
        (["Edwina Lee and Tom Lee", "an artist"], [["an artist"]],
         ["not-coarser-than-answer dropped", "entailed kept"]),
        (["a chess player", "a sculptor"], [["a chess player"], ["a sculptor"]], ["unproven kept", "entailed kept"]),
    ],
)  # fmt: skip
def test_each_finding_has_its_consequence(lines: list[str], expected: list[list[str]], findings: list[str]) -> None:
    done = phrased(PERSON, *lines)
    assert texts(done) == expected
    assert [f"{finding} {action}" for finding, action, _ in decided(done)] == findings
    check_row(without_decisions(done))


@pytest.mark.parametrize("asked", [PLACE, PERSON], ids=["place", "person"])
def test_the_graphs_own_ladder_given_back_stays_with_its_evidence(asked: QARow) -> None:
    ladder = LadderMaker(store_of(*WORLD)).make(asked)
    done = phrased(asked, *(text for level in texts(ladder) for text in level))
    assert texts(done) == texts(ladder)
    for level, own in zip(done.levels[1:], ladder.levels[1:], strict=True):
        for tier, theirs in zip(level.tiers, own.tiers, strict=True):
            assert (tier.qid, tier.aliases, tier.bits) == (theirs.qid, theirs.aliases, theirs.bits)
            assert tier.evidence[:-1] == theirs.evidence


def test_a_mended_order_is_told() -> None:
    done = phrased(PERSON, "a sculptor", "a British sculptor")
    assert [t.get("moved", False) for t in done.extra[NOTE]["tiers"]] == [False, True]
    assert [t["line"] for t in done.extra[NOTE]["tiers"]] == [1, 2]


def test_what_the_graph_does_not_know_can_be_dropped() -> None:
    done = phrased(PERSON, "a chess player", "a sculptor", unproven="drop")
    assert texts(done) == [["a sculptor"]]
    assert decided(done)[0] == ("unproven", "dropped", None)


def test_levels_and_tiers_have_their_caps() -> None:
    done = phrased(PERSON, *(f"a kind of fish called fish{n}" for n in range(9)))
    assert len(done.levels) == MAX_LEVELS + 1
    assert texts(done)[0] == ["a kind of fish called fish0"]
    assert texts(done)[-1] == ["a kind of fish called fish8"]
    assert [t["action"] for t in done.extra[NOTE]["tiers"]].count("dropped") == 4
    assert all(len(level.tiers) <= MAX_TIERS for level in done.levels)


def test_nothing_left_keeps_the_graphs_ladder_and_says_so() -> None:
    own = LadderMaker(store_of(*WORLD)).make(PLACE)
    for lines, reason in ((["Illinois", "Springfield"], "nothing-left"), (["none"], "none-given")):
        done = phrased(PLACE, *lines)
        assert done.levels == own.levels
        assert done.extra[NOTE]["fallback"] == reason
    (last,) = [line for line in log_lines(phrased(PLACE, "Illinois")) if "fallback" in line]
    assert last["row"] == "t-1"
    assert last["why"] == "none of 1 answers passed the checks"


def test_a_row_that_nobody_could_link_is_phrased_unproven() -> None:
    asked = row("Nowhere", "P19", question="Where was Ada born?")
    own = LadderMaker(store_of(*WORLD)).make(asked)
    assert own.abstained == "no-link"
    done = phrased(asked, "Utopia")
    assert texts(done) == [["Utopia"]]
    assert done.abstained is None
    assert phrased(asked, "Utopia", unproven="drop").abstained == "no-link"




def test_counts_and_short_notes() -> None:
    counts = DecisionCounts()
    for done in (phrased(PERSON, "a sculptor", "a chess player"), phrased(PERSON, "none")):
        counts.add(done)
        assert "tiers" not in without_decisions(done).extra[NOTE]
        assert without_decisions(done).extra[NOTE]["calls"]
    assert counts.to_json() == {
        "rows": 2, "asked": 2, "asked_again": 0, "fallbacks": {"none-given": 1},
        "findings": {"entailed": {"kept": 1}, "unproven": {"kept": 1}}, "moved": 0,
    }  # fmt: skip
    assert any("entailed: 1 kept" in line for line in counts.lines())
