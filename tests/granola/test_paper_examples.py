"""The examples of Yona, Aharoni and Geva 2024 (ACL), scored as the paper says they are.

The introduction's running example is "When was Barack Obama born?"; the rows below it are those that the paper prints
of GRANOLA-EQ (its Table 1): question, gold answer, and the coarser answers in order. Its aggregation of responses
(DRAG, section 4) is held to its definition: the most specific answer that all of them are consistent with.
"""

from __future__ import annotations

import math

import pytest

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow
from granola.decoding.aggregation_rules import DragGraph
from granola.decoding.response_aggregation import Aggregator
from granola.decoding.samples import SampleRow
from granola.matching import matcher
from granola.scoring.metrics import informativeness_weight
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.scores import ScoreSettings, score
from tests.worlds import store_of

OBAMA = [["August 4, 1961"], ["August 1961"], ["1961"]]
TABLE = {
    "Where was Fiona Lewis born?": [["Westcliff-on-Sea"], ["Essex"], ["England"]],
    "What music label is Courage represented by?": [["Rock Records"], ["a Taiwanese record label"]],
    "Who is August von Hayek's child?": [["Friedrich Hayek"], ["an economist"]],
    "Who is the author of The Adding Machine?": [["Elmer Rice"], ["an American playwright"], ["a playwright"]],
    "Where was Toby Shapshak educated?": [["Rhodes University"], ["Makhanda, South Africa"], ["South Africa"]],
    "Where did Marcel Gaumont die?": [["Paris"], ["Île-de-France"], ["France"]],  # in the text
}
# The level of each answer by token-F1 above 0.3, the default: the first that exceeds it, not the best. "a playwright"
# has 2 * 1 / (1 + 2) with level 2, "South Africa" 2 * 2 / (2 + 3); a hyphen is taken out: iledefrance is one word.
BY_F1 = {
    "Where was Fiona Lewis born?": [1, 2, 3],
    "What music label is Courage represented by?": [1, 2],
    "Who is August von Hayek's child?": [1, 2],
    "Who is the author of The Adding Machine?": [1, 2, 2],
    "Where was Toby Shapshak educated?": [1, 2, 2],
    "Where did Marcel Gaumont die?": [1, 2, 3],
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
    tau = {"tau": 0.99} if name == "f1" else {}
    for number, names in enumerate(TABLE[question], start=1):
        assert matcher(name, **tau).match(names[0], TABLE[question], question).level == number


@pytest.mark.parametrize("question", TABLE)
def test_the_first_level_that_token_f1_exceeds_counts(question: str) -> None:
    levels = TABLE[question]
    assert [matcher("f1").match(names[0], levels, question).level for names in levels] == BY_F1[question]


@pytest.mark.parametrize(
    ("question", "said", "level"),
    [
        ("Where was Fiona Lewis born?", "She was born in Westcliff-on-Sea, Essex, England.", 1),
        ("Where was Fiona Lewis born?", "in Essex", 2),
        ("Where was Fiona Lewis born?", "London, England", None),
        ("What music label is Courage represented by?", "a Taiwanese record label", 2),
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


def tiered(question: str, levels: list[list[str]]) -> TieredRow:
    made = tuple(Level(tiers=(Tier(text=names[0], aliases=tuple(names[1:])),)) for names in levels)
    return TieredRow(id=question, question=question, answers=tuple(levels[0]), levels=made)


# By hand, with Definition 1: one prediction of each row of Table 1, at levels 1, 2, 1, 3 and none.
def test_scores_of_the_table_by_hand() -> None:
    rows = [tiered(question, levels) for question, levels in list(TABLE.items())[:5]]
    said = ["Westcliff-on-Sea", "a Taiwanese record label", "Friedrich Hayek", "a playwright", "I don't know"]
    predictions = {row.id: Prediction(id=row.id, text=text) for row, text in zip(rows, said, strict=True)}
    report = score(
        rows, PredictionFile(name="x", predictions=predictions), matcher("rules"), ScoreSettings(resamples=10)
    )
    found = {name: estimate.value for name, estimate in report.overall.estimates.items()}
    assert report.overall.distribution == {"1": 2, "2": 1, "3": 1, "wrong": 0, "idk": 1, "unscored": 0}
    assert found["granola_accuracy"] == pytest.approx(4 / 5)
    assert found["standard_accuracy"] == pytest.approx(2 / 5)
    assert found["knowledge_evaluation_gap"] == pytest.approx((4 - 2) / 4)  # over the four that are answered
    assert found["informativeness"] == pytest.approx((2 + math.exp(-0.5) + math.exp(-1)) / 5)
    assert found["informativeness_matched"] == pytest.approx((2 + math.exp(-0.5) + math.exp(-1)) / 4)
    assert found["selective_accuracy"] == 1.0


@pytest.mark.parametrize(
    ("responses", "answer", "level"),
    [
        (("August 4, 1961", "August 4, 1961"), "August 4, 1961", 1),
        (("August 4, 1961", "August 14, 1961", "August 1961"), "August 1961", 2),
        (("August 4, 1961", "May 19, 1961", "1961"), "1961", 3),
        (("March 22, 1961", "May 19, 1961", "August 15, 1961"), "1961", 3),  # all wrong, and right together
    ],
)
def test_what_responses_agree_on_is_right_at_the_level_that_it_states(
    responses: tuple[str, ...], answer: str, level: int
) -> None:
    question = "When was Barack Obama born?"
    row = SampleRow(id="1", question=question, samples=responses, relation="P569", subject_text="Barack Obama")
    ((_, decision),) = Aggregator(store_of()).decide([row], DragGraph())
    assert decision.text == answer
    assert matcher("rules").match(decision.text, OBAMA, question).level == level
