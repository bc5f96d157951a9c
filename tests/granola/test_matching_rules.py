"""The default matcher: a table of cases, and laws that hold for every text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from granola.matching import matcher
from granola.matching import rules as rules_module
from granola.matching.tokens import key
from granola.matching.vetoes import VETOES
from granola.replies.refusals import abstention, refusal
from tests.tables import read_table
from tests.thorough import examples

RULES = matcher("rules")
FILES = Path(__file__).parent / "files"
TABLES = ("rules", "looser", "names", "dates", "amounts", "vetoes", "coverage")


def table(name: str) -> list[dict[str, Any]]:
    """The cases of a file: an answer, its levels, a question, and the level that it states."""
    return [json.loads(line) for line in (FILES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


CASES = table("rules")


@pytest.mark.parametrize("name", TABLES)
def test_the_cases_of_a_table(name: str) -> None:
    wrong = []
    for case in table(name):
        rules = matcher("rules", language=case.get("language", "en"))
        verdict = rules.match(case["prediction"], case["levels"], case["question"])
        if verdict.level != case["level"] or verdict.abstained != verdict.rule.startswith("abstain:"):
            wrong.append((case, verdict))
        if case.get("rule", verdict.rule) != verdict.rule:
            wrong.append((case, verdict))
    assert not wrong, wrong[:5]


def test_every_rule_and_every_veto_decides_some_case() -> None:
    cases = [case for name in TABLES for case in table(name)]
    deciding = {
        matcher("rules", language=case.get("language", "en"))
        .match(case["prediction"], case["levels"], case["question"])
        .rule
        for case in cases
    }
    assert {rule.name for rule in rules_module.RULES} - deciding == set()
    assert {name for name, _ in VETOES} - deciding == set()


@pytest.mark.parametrize("case", [case for case in CASES if case["level"]], ids=lambda c: c["prediction"])
def test_a_match_quotes_the_answer_and_a_name_of_its_level(case: dict[str, Any]) -> None:
    compared = RULES.match(case["prediction"], case["levels"], case["question"]).compared
    assert compared is not None
    assert compared.prediction in case["prediction"]
    assert compared.tier in case["levels"][case["level"] - 1]


CHANGES: dict[str, Callable[[str], str]] = {
    "blanks": lambda text: "  " + text.replace(" ", " \t ") + " \n",
    "no-break blanks": lambda text: text.replace(" ", "\u00a0"),
    "zero width": lambda text: "\u200b" + text,
    "byte order mark": lambda text: "\ufeff" + text,
    "bold": lambda text: f"**{text}**",
    "bold underscores": lambda text: f"__{text}__",
    "italic": lambda text: f"*{text}*",
    "underscores": lambda text: f"_{text}_",
    "code": lambda text: f"`{text}`",
    "quoted": lambda text: f'"{text}"',
    "curly quotes": lambda text: f"“{text}”",
    "single quotes": lambda text: f"'{text}'",
    "heading": lambda text: "# " + text,
    "quotation": lambda text: "> " + text,
    "all of them": lambda text: f"\ufeff> **“{text}”** ",
}


@pytest.mark.parametrize("change", CHANGES)
def test_how_an_answer_is_set_changes_no_verdict(change: str) -> None:
    changed = []
    for case in (case for name in TABLES for case in table(name)):
        rules = matcher("rules", language=case.get("language", "en"))
        one = rules.match(case["prediction"], case["levels"], case["question"])
        other = rules.match(CHANGES[change](case["prediction"]), case["levels"], case["question"])
        if (one.level, one.abstained) != (other.level, other.abstained):
            changed.append((case, one, other))
    assert not changed, changed[:5]


DECLINING = read_table("declining_answers")
ANSWERING = read_table("answers_that_look_declining")


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


@settings(max_examples=examples(300), deadline=None)
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


@settings(max_examples=examples(300), deadline=None)
@given(TEXT, st.lists(st.lists(TIER, min_size=1, max_size=3), min_size=1, max_size=3))
def test_the_order_of_names_inside_a_level_does_not_matter(text: str, levels: list[list[str]]) -> None:
    backwards = [names[::-1] for names in levels]
    assert RULES.match(text, levels).level == RULES.match(text, backwards).level


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.lists(TIER, min_size=1, max_size=3), min_size=1, max_size=4), st.data())
def test_every_name_states_its_level_or_a_finer_one(levels: list[list[str]], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(levels) - 1))
    name = data.draw(st.sampled_from(levels[number]))
    verdict = RULES.match(name, levels)
    assert key(name) == () or (verdict.level is not None and verdict.level <= number + 1)
