"""Dates as other languages write them, in rows of any language."""

from __future__ import annotations

import pytest

from granola.matching import matcher
from granola.matching.months import in_english

VERSAILLES = [["28 June 1919"], ["June 1919"], ["1919"]]


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("28. Juni 1919", 1),
        ("le 28 juin 1919", 1),
        ("28 de junio de 1919", 1),
        ("28 giugno 1919", 1),
        ("28 de junho de 1919", 1),
        ("28 juni 1919", 1),
        ("28 June 1919", 1),
        ("June 28, 1919", 1),
        ("Juni 1919", 2),
        ("junio de 1919", 2),
        ("1919", 3),
        ("29. Juni 1919", None),
        ("28 mai 1919", None),
        ("28 de julio de 1919", None),
        ("juillet 1919", None),
    ],
)
def test_month_names_of_other_languages(language: str, said: str, level: int | None) -> None:
    assert matcher("rules", language=language).match(said, VERSAILLES).level == level


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("1919年6月28日", 1),
        ("条约于1919年6月28日签订", 1),
        ("1919年6月29日", None),
        ("1919年6月", 2),
        ("1919年12月", None),
        ("1919年", 3),
    ],
)
def test_chinese_and_japanese_dates(said: str, level: int | None) -> None:
    assert matcher("rules").match(said, VERSAILLES).level == level


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("1945, with the formal surrender of Japan on September 2", 1),
        ("It ended in 1945, with the formal surrender of Japan on September 2.", 1),
        ("It ended in 1945, with the formal surrender of Japan on August 15.", None),
        ("It ended in 1945. September 2 is a holiday there.", 3),
        ("It ended in 1945.", 3),
    ],
)
def test_the_day_of_a_sentence_s_only_year(said: str, level: int | None) -> None:
    levels = [["2 September 1945"], ["September 1945"], ["1945"]]
    assert matcher("rules").match(said, levels).level == level


@pytest.mark.parametrize(
    "text", ["1er aout 1919", "28. juni 1919", "28 de junio de 1919", "于1919年6月28日签", "marzo 1919"]
)
def test_every_position_stays(text: str) -> None:
    assert len(in_english(text)) == len(text)
    assert in_english(text) != text


@pytest.mark.parametrize("text", ["mars 1976", "in may 1919", "a march of 100 miles", "28 junipers"])
def test_what_is_no_date_of_another_language_means_the_same(text: str) -> None:
    assert in_english(text).split() == text.split()
