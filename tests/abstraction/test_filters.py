"""Aliases, leaks and trivialities."""

from __future__ import annotations

import pytest

from abstraction.base.relations import relation
from abstraction.ladders.assembly.filters import (
    contains_name,
    is_variant_of_answer_name,
    keys_leaked_by_question,
    only_repeats_question,
    question_places_answer_in,
    remove_answer_names_and_trivial,
    remove_keys_and_merge_names,
)
from abstraction.ladders.proposals import ANSWER, Proposal, as_graph, levels


@pytest.mark.parametrize(
    ("text", "names", "person", "expected"),
    [
        ("Kia Corporation", ["Kia"], False, True),
        ("Kia Motors Company", ["Kia Motors"], False, True),
        ("the Beatles", ["The Beatles"], False, True),
        ("E. Wilson", ["Edward O. Wilson"], True, True),
        ("Edward Wilson", ["Edward O. Wilson"], True, True),
        ("New York", ["New York City"], False, False),
        ("a British band", ["The Beatles"], False, False),
        ("Lombardy", ["Milan"], False, False),
    ],
)
def test_other_ways_to_write_the_answer(text: str, names: list[str], person: bool, expected: bool) -> None:
    assert is_variant_of_answer_name(text, names, person=person) is expected


def test_leaks() -> None:
    assert contains_name("the wife of Nora Barnacle's brother", "Nora Barnacle")
    assert not contains_name("a nora", "Nora Barnacle")
    assert only_repeats_question("Pitkin County", "What is the capital of Pitkin County?")
    assert not only_repeats_question("Colorado", "What is the capital of Pitkin County?")
    assert not only_repeats_question("the", "What is the capital?")


@pytest.mark.parametrize(
    ("question", "subject", "place", "expected"),
    [
        ("What is the capital of Pitkin County?", "Pitkin County", "Pitkin County", True),
        ("What is the capital of Hawaii County?", "Hawaii County", "Hawaii", False),
        ("What is the capital of the Kingdom of Denmark?", "Kingdom of Denmark", "Denmark", False),
        ("Where is Rome, Georgia located?", "Rome, Georgia", "Georgia", True),
        ("Where is the Old Bridge (Prague) located?", "Old Bridge (Prague)", "Prague", True),
        ("Where is the Lake House near Vienna located?", "Lake House near Vienna", "Vienna", True),
        ("Which city in France does the Seine cross?", "Seine", "France", True),
        ("Where is the seat of Massachusetts Mutual?", "Massachusetts Mutual", "Massachusetts", False),
        ("Where did Afonso I of Portugal die?", "Afonso I of Portugal", "Portugal", False),
        ("Where was Bank of Scotland founded?", None, "Scotland", True),
    ],
)
def test_a_place_in_a_name_is_no_statement_of_where(
    question: str, subject: str | None, place: str, expected: bool
) -> None:
    assert question_places_answer_in(question, subject, (place,)) is expected


def chain(*texts: str) -> dict[str, Proposal]:
    keys = [ANSWER, *texts]
    return as_graph(Proposal(key=t, text=t, parents=(keys[i],)) for i, t in enumerate(texts))


def cleaned(nodes: dict[str, Proposal], answer: str, prop: str, question: str = "") -> list[str]:
    own, _ = remove_answer_names_and_trivial(
        nodes, relation=relation(prop), answer_names=(answer,), is_place=False, is_person=True
    )
    kept = remove_keys_and_merge_names(
        own, keys_leaked_by_question(own, question=question, subject=None, subject_text=None), ()
    )
    return [tier.text for level in levels(kept) for tier in level.tiers]


def test_triviality_is_the_relations_own() -> None:
    nodes = chain("an American writer", "a writer", "a person")
    assert cleaned(nodes, "Mark Twain", "P50") == ["an American writer"]
    assert cleaned(nodes, "Mark Twain", "P26") == ["an American writer", "a writer"]


def test_the_larger_place_of_the_same_name_keeps_the_name() -> None:
    nodes = as_graph(
        [
            Proposal(key="Q60", text="New York City", qid="Q60", aliases=("New York", "NYC")),
            Proposal(key="Q1384", text="New York", qid="Q1384", parents=("Q60",)),
        ]
    )
    own, _ = remove_answer_names_and_trivial(
        nodes, relation=relation("P19"), answer_names=("The Bronx",), is_place=True, is_person=False
    )
    made = levels(remove_keys_and_merge_names(own, (), ("The Bronx",)))
    assert [t.text for level in made for t in level.tiers] == ["New York City", "New York"]
    assert made[0].tiers[0].aliases == ("NYC",)
