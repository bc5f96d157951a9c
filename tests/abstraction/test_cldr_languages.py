"""Languages of Unicode CLDR alone: dates as their own pages write them, and laws over all of them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from babel import localedata

from abstraction.ladders.literal_ladders import date_ladder, quantity_ladder
from abstraction.maker.pipeline import LadderMaker
from abstraction.text.language.amounts import parse_quantity
from abstraction.text.language.calendar_dates import CalendarUnit, Era, names_of_unit, parse_date
from abstraction.text.language.cldr import cldr_data, cldr_name
from abstraction.text.language.languages import is_supported_language, language, language_gaps_notice, languages
from granola.matching import RulesMatcher
from kg.base.model import TimeValue
from tests.date_values import time_value_ladder
from tests.worlds import row, store_of

FILE = Path(__file__).resolve().parents[1] / "data" / "dates_of_cldr.txt"
LINES = FILE.read_text(encoding="utf-8").splitlines()
WRITTEN = dict(line.split(" | ") for line in LINES if " | " in line)
READ = [tuple(line.split(" < ")) for line in LINES if " < " in line]
# Before 1 CE: the era stands in the middle where no reader looks for it, or CLDR marks it by one letter.
NOT_READ_BEFORE_CE = {"eo", "lv", "prg", "sah"}
NOT_READ = {"bo"}  # Tibetan's word before every year is its word for the era
EVERY = sorted({name.lower().replace("_", "-") for name in localedata.locale_identifiers()})
CODES = [code for code in EVERY if cldr_name(code) and code.split("-")[0] not in languages()]


def shown(text: str, code: str) -> str | None:
    parsed = parse_date(text, code=code)
    return None if parsed is None else " › ".join(level.tiers[0].text for level in date_ladder(parsed))


@pytest.mark.parametrize("code", WRITTEN)
def test_a_day_and_what_it_lies_in(code: str) -> None:
    day = WRITTEN[code].split(" › ")[0]
    assert shown(day, code) == WRITTEN[code]
    levels = time_value_ladder(TimeValue(year=1961, month=8, day=4, precision=11), era=Era("BC", code))
    assert " › ".join(level.tiers[0].text for level in levels) == WRITTEN[code]


@pytest.mark.parametrize(("code", "text"), READ)
def test_other_ways_to_write_a_day(code: str, text: str) -> None:
    parsed = parse_date(text, code=code)
    assert parsed is not None
    assert (parsed.first.year, parsed.first.month, parsed.first.day, parsed.first.precision) == (1961, 8, 4, 11)


@pytest.mark.parametrize(
    ("code", "text"),
    [("pt", "32 de agosto de 1961"), ("pt", "década de 1960"), ("ru", "481961"), ("fil", "Marso 44"), ("ja", "196184")],
)
def test_what_is_no_day_month_or_year_is_not_read(code: str, text: str) -> None:
    assert parse_date(text, code=code) is None


def units(year: int) -> list[CalendarUnit]:
    of_month = [
        unit for m in range(1, 13) for unit in (CalendarUnit("day", year, m, 21), CalendarUnit("month", year, m))
    ]
    return [*of_month, CalendarUnit("year", year)]


def unread(code: str, year: int) -> list[str]:
    """The texts of a year's units that are not read back."""
    wrong = []
    for unit in units(year):
        text = names_of_unit(unit, era=Era("BC", code))[0]
        parsed = parse_date(text, code=code)
        found = parsed and not parsed.last and (parsed.first.year, parsed.first.month or 0, parsed.first.day or 0)
        if found != (unit.number, unit.month, unit.day):
            wrong.append(text)
    return wrong


def test_every_language_reads_the_dates_that_it_writes() -> None:
    assert len(CODES) > 300
    assert {code for code in CODES if unread(code, 1961) or unread(code, 987)} == NOT_READ
    assert {code for code in CODES if unread(code, -44)} == NOT_READ_BEFORE_CE


def test_every_language_reads_the_numbers_that_it_writes() -> None:
    for code in CODES:
        for text in ("3769495", "-12345.5", "999", "1000000000"):
            parsed = parse_quantity(language(code).formatted_number(text), code=code)
            assert parsed is not None, (code, text)
            assert parsed.amount == Decimal(text), (code, text)


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("pt", "3.769.495", "3.769.495 › cerca de 3.770.000 › cerca de 3.800.000 › cerca de 4.000.000"),
        ("pt", "3,8 milhões", "3,8 milhões › cerca de 4.000.000"),
        ("pl", "12 345", "12 345 › około 12 300 › około 12 000"),
        ("hi", "37,69,495", "37,69,495 › ~ 37,70,000 › ~ 38,00,000 › ~ 40,00,000"),
        ("fa", "۱۲٬۳۴۵", "۱۲٬۳۴۵ › ~ ۱۲٬۳۰۰ › ~ ۱۲٬۰۰۰"),
        ("ja", "3,769,495", "3,769,495 › 約3,770,000 › 約3,800,000 › 約4,000,000"),
        ("ja", "1億2,600万人", "1億2,600万人 › 約130,000,000人"),
        ("pt", "3,769,495", None),
        ("pt", "13k", "13k"),
        ("sw", "12k", None),
    ],
)
def test_numbers(code: str, text: str, expected: str | None) -> None:
    parsed = parse_quantity(text, code=code)
    found = parsed and " › ".join(level.tiers[0].text for level in quantity_ladder(parsed))
    assert found == expected


def test_a_value_that_has_no_word_is_told_by_its_years() -> None:
    for precision, text in ((8, "1960–1969"), (7, "1901–2000"), (6, "1001–2000")):
        levels = time_value_ladder(TimeValue(year=1960, precision=precision), era=Era("BC", "pt"))
        assert [tier.text for level in levels for tier in level.tiers] == [text]
    assert names_of_unit(CalendarUnit("decade", -40), era=Era("BC", "pt")) == ("49–40 a.C.",)
    circa = time_value_ladder(TimeValue(year=1500, precision=9), circa=True, era=Era("BC", "pt"))
    assert [level.tiers[0].text for level in circa] == ["~ 1500"]


def test_data_of_one_language_do_not_change_those_of_another() -> None:
    """Babel's `Locale` puts Japanese months into the table that Hebrew falls back on."""
    before = cldr_data("he")
    for code in ("ja", "th", "lt"):
        cldr_data(code)
    assert cldr_data("he") == before
    assert language("he").months[7].alone == "אוגוסט"


@pytest.mark.parametrize(
    ("code", "used", "known"),
    [("pt-br", "pt", True), ("zh-tw", "zh", True), ("zh-hant", "zh-hant", True), ("de-latn", "de", True),
     ("sr-latn", "sr-latn", True), ("../en", "en", False), ("aa_bb", "en", False), ("wa", "en", False)],
)  # fmt: skip
def test_codes(code: str, used: str, known: bool) -> None:
    assert language(code).code == used
    assert is_supported_language(code) is known


def test_what_such_a_language_goes_without_stands_in_the_row() -> None:
    made = LadderMaker(store_of(), language="pl").make(row("4 sierpnia 1961", "P569"))
    assert [level.tiers[0].text for level in made.levels] == ["4 sierpnia 1961", "sierpień 1961", "1961"]
    data: dict[str, Any] = json.loads(json.dumps(made.to_json()))
    assert data["language_notes"] == [language_gaps_notice("pl")]
    assert "no centuries" in data["language_notes"][0]
    assert "no phrases" in data["language_notes"][0]


@pytest.mark.parametrize(
    ("code", "answer", "level"),
    [
        ("pt", "Nasceu em 4 de agosto de 1961.", 1),
        ("pt", "agosto de 1961", 2),
        ("pl", "w 1961", 3),
        ("ru", "Он родился 4 августа 1961 года", 1),
        ("ja", "1961年8月4日", 1),
        ("ja", "1961年", 3),
        ("ja", "彼は1961年8月4日に生まれた。", 1),
        ("zh", "他生于1961年8月4日星期五。", 1),
        ("zh", "他生于1961年8月5日。", None),
        ("fa", "4 اوت 1961", 1),
        ("pt", "5 de agosto de 1961", None),
        ("pt", "Não sei.", None),
    ],
)
def test_answers_are_judged_in_it(code: str, answer: str, level: int | None) -> None:
    levels = time_value_ladder(TimeValue(year=1961, month=8, day=4, precision=11), era=Era("BC", code))
    assert RulesMatcher(language=code).match(answer, [each.names() for each in levels]).level == level
