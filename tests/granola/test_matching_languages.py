"""Answers in other languages: English verdicts in all of them, word forms, and function words that are no names."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from abstraction.text.language.languages import language, languages
from granola.matching import RulesMatcher, Verdict
from granola.matching.mentions import function_words_unless_english

DATA = Path(__file__).parents[1] / "data"
TABLE: dict[str, Any] = json.loads((DATA / "predictions_in_languages.json").read_text(encoding="utf-8"))
OTHERS = tuple(code for code in languages() if code != "en")


def verdict(kind: str, prediction: dict[str, str], code: str) -> Verdict:
    levels = TABLE["ladders"][kind][code]
    return RulesMatcher(language=code).match(prediction[code], levels, TABLE["questions"][kind][code])


def test_the_table_has_sixty_predictions_in_every_language_with_a_file() -> None:
    assert len(TABLE["predictions"]) == 60
    assert all(set(prediction) == set(languages()) for _, prediction in TABLE["predictions"])


@pytest.mark.parametrize("code", OTHERS)
def test_a_prediction_is_judged_as_in_english(code: str) -> None:
    wrong = []
    for kind, prediction in TABLE["predictions"]:
        english, other = (verdict(kind, prediction, one) for one in ("en", code))
        if (english.level, english.abstained) != (other.level, other.abstained):
            wrong.append((prediction[code], other, english))
    assert not wrong


@pytest.mark.parametrize("code", OTHERS)
def test_no_function_word_is_a_name_in_running_text(code: str) -> None:
    rules = RulesMatcher(language=code)
    wrong = []
    for word in sorted(function_words_unless_english(code)):
        for alias in (word, word.upper(), word.capitalize()):
            found = rules.match(f"Xyra {word} Vrelk", [["Obreland", alias], ["Quint"]])
            if found.level is not None and not found.rule.startswith(("amount:", "date:")):  # numbers are amounts
                wrong.append((word, alias, found))
    assert not wrong


@pytest.mark.parametrize("code", OTHERS)
def test_every_country_has_its_adjectives(code: str) -> None:
    assert len(language(code).demonyms) > 190


def test_a_language_is_at_most_180_lines_of_data() -> None:
    folder = files("abstraction") / "data" / "languages"
    lines = {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in folder.iterdir()}
    assert {name: number for name, number in lines.items() if number > 180} == {}


def expected_answers() -> list[str]:
    """Rows of a language, an answer, the names of levels and the level that is stated."""
    return (DATA / "answers_in_languages.txt").read_text(encoding="utf-8").splitlines()[1:]


def as_expected(row: str) -> bool:
    code, answer, names, level, *question = row.split("|")
    found = RulesMatcher(language=code).match(answer, [[name] for name in names.split(";")], *question)
    return str(found.level or "-") == level


def test_what_stands_around_a_name_or_an_amount() -> None:
    assert [row for row in expected_answers() if not as_expected(row)] == []
