"""The examples of Yona, Aharoni and Geva 2024 (ACL), scored as the paper says they are.

The introduction's running example is "When was Barack Obama born?"; the rows below it are those that the paper prints
of GRANOLA-EQ (its Table 1): question, gold answer, and the coarser answers in order.
"""

from __future__ import annotations

import math

import pytest

from granola.matching import matcher
from granola.metrics import informativeness_weight

OBAMA = [["August 4, 1961"], ["August 1961"], ["1961"]]
TABLE = {
    "Where was Fiona Lewis born?": [["Westcliff-on-Sea"], ["Essex"], ["England"]],
    "What music label is Courage represented by?": [["Rock Records"], ["Taiwanese record label"]],
    "Who is August von Hayek's child?": [["Friedrich Hayek"], ["economist"]],
    "Who is the author of The Adding Machine?": [["Elmer Rice"], ["American playwright"], ["playwright"]],
    "Where was Toby Shapshak educated?": [["Rhodes University"], ["Makhanda, South Africa"], ["South Africa"]],
}


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("August 4, 1961", 1),
        ("He was born on 4 August 1961.", 1),
        ("August 1961", 2),
        ("1961", 3),
        ("He was born in 1961.", 3),
        ("August 5, 1961", None),
        ("1962", None),
    ],
)
def test_a_date_is_right_at_the_level_that_it_states(said: str, level: int | None) -> None:
    assert matcher("rules").match(said, OBAMA, "When was Barack Obama born?").level == level


@pytest.mark.parametrize("name", ["rules", "f1", "em"])
@pytest.mark.parametrize("question", TABLE)
def test_every_answer_of_the_table_states_its_own_level(name: str, question: str) -> None:
    tau = {"tau": 1.0} if name == "f1" else {}
    for number, names in enumerate(TABLE[question], start=1):
        assert matcher(name, **tau).match(names[0], TABLE[question], question).level == number


@pytest.mark.parametrize(
    ("question", "said", "level"),
    [
        ("Where was Fiona Lewis born?", "She was born in Westcliff-on-Sea, Essex, England.", 1),
        ("Where was Fiona Lewis born?", "in Essex", 2),
        ("Where was Fiona Lewis born?", "London, England", None),
        ("What music label is Courage represented by?", "a record label from Taiwan", 2),
        ("Who is August von Hayek's child?", "an economist", 2),
        ("Who is the author of The Adding Machine?", "It was written by Elmer L. Rice.", 1),
        ("Who is the author of The Adding Machine?", "an American playwright", 2),
        ("Who is the author of The Adding Machine?", "a British playwright", None),
        ("Where was Toby Shapshak educated?", "Rhodes University in South Africa", 1),
        ("Where was Toby Shapshak educated?", "in Makhanda", 2),
        ("Where was Toby Shapshak educated?", "I don't know", None),
    ],
)
def test_answers_to_the_table(question: str, said: str, level: int | None) -> None:
    assert matcher("rules").match(said, TABLE[question], question).level == level


# Definition 1 and its lambda of 0.5: exp(-0.5 (i* - 1)).
def test_informativeness_is_exponential_in_the_level() -> None:
    assert [informativeness_weight(level) for level in (1, 2, 3)] == pytest.approx([1.0, math.exp(-0.5), math.exp(-1)])
