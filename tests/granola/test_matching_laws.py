"""Laws of the matchers: spelling that means nothing, order of aliases, coarser levels, endless other texts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from granola.matching import matcher
from tests.thorough import examples

LADDERS = [
    ("Where was he born?", [["Kunming"], ["Yunnan", "Yunnan Province"], ["China", "People's Republic of China"]]),
    ("Where was she born?", [["São Paulo"], ["São Paulo State"], ["Brazil", "Brasil"]]),
    ("Who composed it?", [["Antonín Dvořák", "Dvořák"], ["a Czech composer"], ["a composer"]]),
    ("When was it?", [["4 August 1961"], ["August 1961"], ["1961"], ["the 1960s"]]),
    ("How high is it?", [["8,849 metres"], ["about 8,800 metres"]]),
    ("Where did he study?", [["University of Łódź"], ["Łódź"], ["Poland"]]),
]
ELSE = ["Berlin", "Springfield, Ohio", "Béla Bartók", "5 May 1970", "a Norwegian painter", "IDK"]
SHAPES = ["{}", "It was {}.", "I think that it was {}", "{}, I believe", "The answer is {}."]
CASES = [
    (question, levels, shape, said)
    for question, levels in LADDERS
    for said in (*(name for names in levels for name in names), *ELSE)
    for shape in SHAPES
]


def without_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).replace("ł", "l")


CHANGES = {
    "lower": str.lower,
    "upper": str.upper,
    "spaces": lambda text: f"  {text} ".replace(" ", "  "),
    "blanks": lambda text: text.replace(" ", "\u00a0"),
    "accents": lambda text: without_accents(text).replace("Ł", "L"),
    "composed": lambda text: unicodedata.normalize("NFD", text),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["rules"])
def test_case_spacing_and_accents_change_no_verdict(name: str, change: str) -> None:
    chosen = matcher(name)
    for question, levels, shape, said in CASES:
        text = shape.format(said)
        first, second = chosen.match(text, levels, question), chosen.match(CHANGES[change](text), levels, question)
        assert (first.level, first.abstained) == (second.level, second.abstained), (text, CHANGES[change](text))


@pytest.mark.parametrize("name", ["rules", "f1", "em"])
def test_every_alias_of_a_level_is_as_good_as_the_others(name: str) -> None:
    chosen = matcher(name)
    for question, levels in LADDERS:
        for number, names in enumerate(levels, start=1):
            found = {chosen.match(alias, levels, question).level for alias in names}
            assert all(level is not None and level <= number for level in found)


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(CASES), st.sampled_from(["Asia", "the 20th century", "a person", "about 9,000 metres"]))
def test_a_coarser_level_takes_no_match_away(case: tuple[str, list[list[str]], str, str], coarser: str) -> None:
    question, levels, shape, said = case
    text = shape.format(said)
    before = matcher("rules").match(text, levels, question)
    after = matcher("rules").match(text, [*levels, [coarser]], question)
    assert before.level is None or before.level == after.level
