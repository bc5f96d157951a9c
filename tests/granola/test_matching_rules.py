"""The default matcher: a table of cases, and laws that hold for every text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from granola.matching import matcher
from granola.matching.abstention import abstention, refusal
from granola.matching.text import key

RULES = matcher("rules")
CASES = [json.loads(line) for line in (Path(__file__).parent / "files/rules.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["prediction"] or "(empty)")
def test_cases(case: dict[str, Any]) -> None:
    verdict = RULES.match(case["prediction"], case["levels"], case["question"])
    assert (verdict.level, verdict.rule) == (case["level"], case["rule"])
    assert verdict.abstained == case["rule"].startswith("abstain:")


@pytest.mark.parametrize("case", [case for case in CASES if case["level"]], ids=lambda c: c["prediction"])
def test_a_match_quotes_the_answer_and_a_name_of_its_level(case: dict[str, Any]) -> None:
    compared = RULES.match(case["prediction"], case["levels"], case["question"]).compared
    assert compared is not None
    assert compared.prediction in case["prediction"]
    assert compared.tier in case["levels"][case["level"] - 1]


SPELLINGS = [
    ("J. R. R. Tolkien", "J.R.R. Tolkien", "JRR Tolkien", "j. r. r. tolkien"),
    ("Łódź", "Lodz", "LODZ"),
    ("Saint-Germain", "St. Germain", "saint germain"),
    ("the U.S.A.", "USA", "U.S.A"),
    ("Twenty-One Pilots", "21 Pilots"),
    ("the Twentieth Century", "20th century"),
    ("1,234,567", "1234567"),
    ("O’Brien", "O'Brien", "OBrien"),
    ("Simon & Garfunkel", "Simon and Garfunkel"),
    ("Straße", "Strasse"),
]


@pytest.mark.parametrize("names", SPELLINGS, ids=lambda names: names[0])
def test_spellings_of_one_name_fold_to_the_same_words(names: tuple[str, ...]) -> None:
    assert len({key(name) for name in names}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Vitamin A", "Vitamin C"),
        ("George W. Bush", "George H. W. Bush"),
        ("North Korea", "South Korea"),
        ("New York", "York"),
        ("North Carolina", "South Carolina"),
        ("San Francisco", "San Diego"),
        ("Apollo 11", "Apollo 13"),
        ("Henry VII", "Henry VIII"),
        ("Lake Michigan", "Lake Superior"),
        ("Martin Luther", "Martin Luther King"),
        ("University of Copenhagen", "Copenhagen"),
    ],
)
def test_different_things_with_words_in_common_do_not_match(one: str, other: str) -> None:
    assert RULES.match(one, [[other]]).level is None
    assert RULES.match(other, [[one]]).level is None


DECLINING = [
    "IDK",
    "I don’t know who that is.",
    "I'm not sure.",
    "Sorry, I cannot answer that question.",
    "I'm sorry, but I don't have any information about where she was born.",
    "As an AI language model, I don't have access to that.",
    "There is not enough information to answer.",
    "It cannot be determined.",
    "I don't know, but I can help you look it up.",
    "Thank you for your question. I could not find any information.",
    "unknown",
    "N/A",
    "...",
    "The context does not mention it.",
]
ANSWERING = [
    "Paris",
    "No Country for Old Men",
    "None but the Brave",
    "Unknown Pleasures",
    "The Unknown Soldier",
    "Not Fade Away",
    "Skip James",
    "Passau",
    "He did not know that it was Paris.",
    "I know it: Paris",
    "I'm not sure, but I think it was Paris.",
    "I don't know, maybe Paris?",
    "It is not clear where she was born, but probably in France.",
]


@pytest.mark.parametrize("text", DECLINING)
def test_declined_answers_are_abstentions(text: str) -> None:
    assert abstention(text) is not None
    assert RULES.match(text, [["Berlin"], ["Germany"]]).abstained


@pytest.mark.parametrize("text", ANSWERING)
def test_answers_are_no_abstentions(text: str) -> None:
    assert abstention(text) is None
    assert not RULES.match(text, [["Berlin"], ["Germany"]]).abstained


def test_what_a_refusal_offers_all_the_same_is_judged() -> None:
    found = refusal("I'm not sure, but I think it was Paris.")
    assert found is not None
    assert (found.guess, found.offer) == (True, "I think it was Paris.")
    levels = [["Paris"], ["France"]]
    aside = RULES.match("I have no information on her birthplace. She lives in Paris, France.", levels)
    assert aside.level == 1
    elsewhere = RULES.match("I have no information on her birthplace. She is a singer.", levels)
    assert elsewhere.abstained


NAMES = st.text(alphabet=st.characters(codec="utf-8"), max_size=30)
LADDERS = st.lists(st.lists(NAMES, min_size=1, max_size=3), min_size=1, max_size=4)


@settings(max_examples=300, deadline=None)
@given(NAMES, LADDERS, st.none() | NAMES)
@example("\u0300", [["\u0300"]], None)  # a lone accent folds to nothing
@example("१९६१ or ٣", [["१९६१"], ["٣"]], "٣")  # digits of other scripts
def test_no_text_is_an_error(prediction: str, levels: list[list[str]], question: str | None) -> None:
    for name in ("rules", "f1", "em"):
        verdict = matcher(name).match(prediction, levels, question)
        assert verdict.level is None or 1 <= verdict.level <= len(levels)
        assert not (verdict.abstained and verdict.level)


WORDS = (
    "Paris France Lyon Île-de-France Kunming Yunnan China Obama a the French composer 1961 August 4, not in "
    "near or city of New York I don't know three 3 South. born is was"
)
WORD = st.sampled_from(WORDS.split())
TEXT = st.lists(WORD, max_size=8).map(" ".join)
TIER = st.lists(WORD, min_size=1, max_size=3).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(TEXT, st.lists(st.lists(TIER, min_size=1, max_size=3), min_size=1, max_size=3))
def test_the_order_of_names_inside_a_level_does_not_matter(text: str, levels: list[list[str]]) -> None:
    backwards = [names[::-1] for names in levels]
    assert RULES.match(text, levels).level == RULES.match(text, backwards).level


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(TIER, min_size=1, max_size=3), min_size=1, max_size=4), st.data())
def test_every_name_states_its_level_or_a_finer_one(levels: list[list[str]], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(levels) - 1))
    name = data.draw(st.sampled_from(levels[number]))
    verdict = RULES.match(name, levels)
    assert key(name) == () or (verdict.level is not None and verdict.level <= number + 1)


def test_a_date_is_never_nearly_a_finer_date() -> None:
    verdict = matcher("rules").match("1961", [["a composer"], ["August 1961"]])
    assert verdict.level is None
