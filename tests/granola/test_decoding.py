"""Drag-graph and self-consistency over a small world, case by case."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from granola.decoding.aggregation_rules import DragGraph, SelfConsistency
from granola.decoding.decision import Abstaining, Counting, Decision
from granola.errors import UsageError
from tests.decoding_world import ALL, decide
from tests.tables import read_table


def when(responses: Sequence[str], method: DragGraph | SelfConsistency = ALL) -> Decision:
    return decide(responses, method, question="When was Hans Meyer born?", relation="P569")


def who(responses: Sequence[str]) -> Decision:
    return decide(responses, question="Who composed Foo?", relation="P86", subject_text="Foo")


@pytest.mark.parametrize(("responses", "answer"), read_table("responses_about_places"))
def test_places(responses: list[str], answer: str) -> None:
    assert decide(responses).text == answer


@pytest.mark.parametrize(
    ("responses", "answer"),
    [
        (["March 22, 1958", "May 19, 1958", "August 15, 1958"], "1958"),
        (["February 1, 1937", "November 20, 1937", "January 1937"], "1937"),
        (["He was born on May 19, 1958.", "19 May 1958"], "19 May 1958"),
        (["1958", "1952"], "the 1950s"),
        (["1958", "1937"], "the 20th century"),
        (["1958", "1737"], "IDK"),
        (["13/08/1961", "August 13, 1961"], "13/08/1961"),
    ],
)
def test_dates(responses: list[str], answer: str) -> None:
    assert when(responses).text == answer


def test_composers_of_one_nation_and_of_two() -> None:
    assert who(["Claude Debussy", "Hector Berlioz"]).text == "a French composer"
    assert who(["Claude Debussy", "Clara Schumann"]).text == "IDK"  # only "a composer", which the question says


def test_who_is_of_two_nations_is_of_each() -> None:
    """Ladders have room for "a French-German composer" and "a German composer" alone."""
    assert who(["Claude Debussy", "Jacques Offenbach"]).text == "a French composer"


@pytest.mark.parametrize(
    ("responses", "answer"),
    [
        (["French", "France"], "France"),
        (["She is French.", "a French citizen", "France"], "France"),
        (["French", "German"], "a country in Europe"),
        (["Georgian", "Germany"], "IDK"),
        (["Congolese", "Congolese"], "Congolese"),  # of which of the two
        (["France, Germany", "Germany"], "Germany"),  # a list, and no place in a place
        (["[France, Germany]", "France", "France"], "France"),
    ],
)
def test_a_nationality_is_a_country(responses: list[str], answer: str) -> None:
    asked = {"question": "What is the nationality of Hans Meyer?", "relation": "P27"}
    assert decide(responses, **asked).text == answer


def test_a_description_is_entailed_by_who_is_described_so() -> None:
    assert who(["a French composer", "Claude Debussy"]).text == "a French composer"
    assert who(["a German composer", "Claude Debussy"]).abstains
    assert who(["a composer", "Claude Debussy"]).abstains  # which the question says


def test_a_name_that_is_not_known_is_one_place_wherever_it_is_put_alike() -> None:
    assert decide(["Nowhere, Bavaria, Germany", "Nowhere", "Nowhere, Germany"]).text == "Nowhere"
    assert decide(["Nowhere, Bavaria, Germany", "Nowhere", "Munich"]).text == "Bavaria"


def test_amounts() -> None:
    found = decide(["126,329", "126,000", "about 130,000"], question="What is the population of Foo?", relation="P1082")
    assert found.text == "about 130,000"


@pytest.mark.parametrize(
    ("responses", "answer"),
    [
        (["7,000 miles", "7,000 km"], "IDK"),  # 7,000 km are 4,300 miles
        (["7,200 km", "7,400 kilometres"], "about 7,000 km"),
        (["1.8 m", "180 cm", "5 ft 11 in"], "1.8 m"),
        (["5 ft 11 in", "1.83 m", "180 cm"], "IDK"),  # 180 cm has no rounding within a tenth
        (["100 km", "62 miles"], "about 60 miles"),
        (["100 km", "62 miles", "2,000 miles"], "IDK"),
        (["3 km", "3 kg"], "IDK"),
    ],
)
def test_amounts_of_several_units(responses: list[str], answer: str) -> None:
    asked = {"question": "How long is the Foo?", "relation": "P2043"}
    assert decide(responses, **asked).text == answer
    assert decide(responses[::-1], **asked) == decide(responses, **asked)


def test_letters_for_powers_of_ten() -> None:
    asked = {"question": "What is the population of Foo?", "relation": "P1082"}
    assert decide(["12,000", "12k", "12K", "12 thousand"], **asked).support == 1.0
    assert decide(["about 12k", "1.2M"], **asked).abstains


def test_the_wording_tells_what_a_relation_does_not() -> None:
    """Nothing is known of P1104 but that the question asks how many."""
    found = decide(["320", "320 pages", "325 pages"], question="How many pages does Foo have?", relation="P1104")
    assert found.text == "about 300 pages"


def test_the_explanation_tells_who_says_what() -> None:
    found = decide(["Hamburg", "Berlin", "Hamburg", "Munich", "I don't know"])
    assert found.explanation == (
        "Germany: 4 of 4 responses; Hamburg: 2 of 4; Munich: 1 of 4; Berlin: 1 of 4; Bavaria: 1 of 4; 1 of 5 abstain"
    )
    assert (found.qid, found.support) == ("Q183", 1.0)
    tie = decide(["Hamburg", "Berlin"], DragGraph(support=0.5))
    assert tie.explanation == "Germany: 2 of 2 responses; Berlin: 1 of 2; Hamburg: 1 of 2; a tie of Berlin and Hamburg"


def test_support() -> None:
    responses = ["Hamburg"] * 6 + ["Munich"] * 3 + ["Paris"]
    assert decide(responses, DragGraph(support=0.6)).text == "Hamburg"
    assert decide(responses, DragGraph(support=0.9)).text == "Germany"
    assert decide(responses).text == "Europe"
    assert decide(responses, DragGraph(support=0.2)).text == "Hamburg"  # Munich contradicts what more say


def test_what_abstaining_counts() -> None:
    responses = ["Hamburg", "Hamburg", "IDK", "IDK", "IDK"]
    assert decide(responses).text == "Hamburg"
    assert decide(responses, DragGraph(abstaining=Abstaining.VOTE)).text == "IDK"
    assert decide([*responses, "Hamburg"], DragGraph(abstaining=Abstaining.VOTE)).text == "Hamburg"
    assert decide(responses, DragGraph(abstaining=Abstaining.AGAINST)).text == "IDK"
    assert decide(responses, DragGraph(abstaining=Abstaining.AGAINST, support=0.4)).text == "Hamburg"
    assert decide(["IDK"], DragGraph(abstaining=Abstaining.IGNORE)).text == "IDK"


def test_self_consistency() -> None:
    responses = ["Hamburg", "hamburg.", "Berlin", "Berlin", "Hanse city", "Germany"]
    assert decide(responses, SelfConsistency()).support == pytest.approx(2 / 6)
    alias = decide(responses, SelfConsistency(counting=Counting.ALIAS))
    assert (alias.text, alias.support) == ("Hamburg", 0.5)
    ladder = decide(responses, SelfConsistency(counting=Counting.LADDER))
    assert (ladder.text, ladder.support) == ("Germany", 1.0)
    assert decide(["IDK", "IDK", "Hamburg"], SelfConsistency()).text == "Hamburg"
    assert decide(["IDK", "IDK", "Hamburg"], SelfConsistency(abstaining=Abstaining.VOTE)).text == "IDK"


def test_settings_outside_their_range() -> None:
    for wrong in (0.0, -0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="above 0 and up to 1"):
            DragGraph(support=wrong)
