"""Coverage decides where nothing else does, of gold answers of one level alone; cases stand in files/coverage.jsonl."""

from __future__ import annotations

import pytest

from granola.matching import matcher
from granola.matching.naming import partial_answers

RULES = matcher("rules")
KIPLING = "The stories are those of Kipling, who was an English author."
GOLD = ["author Joseph Rudyard Kipling of Bombay"]


def test_half_of_what_a_gold_answer_says_states_it_where_it_has_one_level() -> None:
    assert RULES.match("He left for creative differences.", [["creative reasons"]]).rule == "coverage"
    assert RULES.match("He left for creative differences.", [["creative reasons"], ["reasons"]]).level is None


@pytest.mark.parametrize("share", [0.4, 0.45, 0.5])
def test_the_share_may_be_anything_from_two_fifths_to_a_half(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_answers, "SHARE", share)
    assert RULES.match("He left for creative differences.", [["creative reasons"]]).level == 1
    assert RULES.match(KIPLING, [["a poem of Bombay, Lahore and Simla"]]).level is None


def test_words_of_the_question_say_nothing() -> None:
    asked = "Who presides over the district court?"
    assert (
        RULES.match("A district court is told of in the constitution.", [["the district attorney"]], asked).level
        is None
    )
    assert RULES.match("An attorney of the place presides there.", [["the district attorney"]], asked).level == 1
