"""Other languages: dates and quantities by a table checked by hand for grammar, places and classes in a small world."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.base.properties import package_data, property_ids
from abstraction.base.tiers import Level
from abstraction.ladders.assembly.tier_wording import is_woman, localise
from abstraction.ladders.literal_answers import age_ladder
from abstraction.ladders.literal_ladders import date_ladder, quantity_ladder
from abstraction.ladders.proposals import Proposal
from abstraction.maker.pipeline import LadderMaker
from abstraction.text.language.amounts import parse_quantity
from abstraction.text.language.calendar_dates import CalendarUnit, Era, names_of_unit, parse_date
from abstraction.text.language.languages import is_supported_language, language, language_gaps_notice, languages
from granola.matching import RulesMatcher
from kg.base.model import Entity, EntityValue, Statement, TextValue, TimeValue
from kg.graph.graph import Graph
from tests.date_values import time_value_ladder
from tests.tables import read_table
from tests.worlds import row, store_of

CASES = [json.loads(line) for line in (Path(__file__).parents[1] / "data" / "languages.jsonl").read_text().splitlines()]
CODES = ("de", "en", "es", "fr", "it")


def of(kind: str) -> list[Any]:
    return [pytest.param(case, id=f"{case['language']}:{case['text']}") for case in CASES if case["kind"] == kind]


def shown(levels: list[Level]) -> list[list[str]]:
    return [[tier.text for tier in level.tiers] for level in levels[1:]]


def test_every_language_has_cases() -> None:
    assert languages() == CODES
    for code in languages():
        for kind in ("date", "quantity"):
            assert sum(case["language"] == code and case["kind"] == kind for case in CASES) >= 7


@pytest.mark.parametrize("case", of("date"))
def test_dates(case: dict[str, Any]) -> None:
    parsed = parse_date(case["text"], code=case["language"])
    assert (None if parsed is None else shown(date_ladder(parsed))) == case["levels"]


@pytest.mark.parametrize("case", of("quantity"))
def test_quantities(case: dict[str, Any]) -> None:
    parsed = parse_quantity(case["text"], code=case["language"])
    assert (None if parsed is None else shown(quantity_ladder(parsed))) == case["levels"]


@pytest.mark.parametrize("case", of("match"))
def test_answers_are_judged_in_their_language(case: dict[str, Any]) -> None:
    code = case["language"]
    if case["of"] == "date":
        levels = date_ladder(parse_date("1961-08-04", code=code))  # type: ignore[arg-type]
    else:
        levels = quantity_ladder(parse_quantity("3769495", code=code))  # type: ignore[arg-type]
    verdict = RulesMatcher(language=code).match(case["text"], [level.names() for level in levels])
    wanted = case["verdict"]
    assert (verdict.rule if isinstance(wanted, str) else verdict.level) == wanted
    assert verdict.abstained == isinstance(wanted, str)


years = st.integers(-2000, 2100).filter(bool)


@given(st.sampled_from(CODES), years, st.integers(1, 12), st.integers(1, 28), st.sampled_from(["BC", "BCE"]))
def test_what_is_written_is_read_back(code: str, year: int, month: int, day: int, kind: Any) -> None:
    for unit in (
        CalendarUnit("day", year, month, day),
        CalendarUnit("month", year, month),
        CalendarUnit("century", year // 100 or 1),
    ):
        text = names_of_unit(unit, era=Era(kind, code))[0]
        parsed = parse_date(text, code=code)
        assert parsed is not None, text
        again = parsed.first
        if unit.kind == "century":
            assert (again.precision, again.year) == (7, unit.number * 100)
        else:
            assert (again.year, again.month, again.day or 0) == (year, month, unit.day)


def test_values_of_the_graph_in_a_language() -> None:
    ladder = time_value_ladder(TimeValue(year=1630, month=9, day=7, precision=11), era=Era("BC", "fr"))
    assert [level.tiers[0].text for level in ladder][:2] == ["7 septembre 1630", "septembre 1630"]
    assert names_of_unit(CalendarUnit("deep", -13_800_000_000), era=Era("BC", "de"))[0] == "vor 13,8 Milliarden Jahren"
    assert (
        names_of_unit(CalendarUnit("deep", -13_800_000_000), era=Era("BC", "es"))[0] == "hace 13.800 millones de años"
    )
    assert names_of_unit(CalendarUnit("deep", -66_000_000), era=Era("BC", "fr"))[0] == "il y a 66 millions d'années"


@pytest.mark.parametrize(
    ("code", "used", "known"),
    [("de", "de", True), ("de-at", "de", True), ("es-419", "es", True), ("en-gb", "en", True), ("tlh", "en", False)],
)
def test_fallbacks(code: str, used: str, known: bool) -> None:
    assert language(code).code == used
    assert is_supported_language(code) is known
    assert (language_gaps_notice(code) is None) is known
    if not known:
        assert "'tlh'" in str(language_gaps_notice(code))
        assert "de, en, es, fr" in str(language_gaps_notice(code))


def called(qid: str, label: str, de: str, fr: str, es: str, description: str = "", **said: str | list[str]) -> Entity:
    statements = tuple(
        Statement(id=f"{qid}${prop}{n}", subject=qid, property=prop, value=EntityValue(id=target))
        for prop, targets in said.items()
        for n, target in enumerate([targets] if isinstance(targets, str) else targets)
    )
    labels = {code: text for code, text in (("en", label), ("de", de), ("fr", fr), ("es", es)) if text}
    descriptions = {"en": description} if description else {}
    descriptions["de"] = "city in Absurdistan"  # no rule may read what is not English, whatever it looks like
    return Entity(id=qid, labels=labels, descriptions=descriptions, statements=statements)


WORLD = (
    called("Q1726", "Munich", "München", "Munich", "Múnich", "city in Bavaria, Germany", P31="Q515"),
    called("Q980", "Bavaria", "Bayern", "Bavière", "Baviera", "state of Germany", P31="Q10864048", P17="Q183"),
    called(
        "Q183",
        "Germany",
        "Deutschland",
        "Allemagne",
        "Alemania",
        "country in Central Europe",
        P31="Q3624078",
        P30="Q46",
    ),
    called("Q46", "Europe", "Europa", "Europe", "Europa", "", P31="Q5107"),
    called("Q38", "Italy", "Italien", "Italie", "Italia", "country in Southern Europe", P31="Q3624078", P30="Q46"),
    called("Q220", "Rome", "Rom", "Rome", "Roma", "capital city of Italy", P31="Q515", P17="Q38"),
    called("Q1428", "Kent", "", "comté de Kent", "", "", P31="Q10864048", P17="Q145"),
    called("Q145", "United Kingdom", "Vereinigtes Königreich", "Royaume-Uni", "Reino Unido", "", P31="Q3624078"),
    called("Q7", "Dover", "Dover", "Douvres", "Dover", "town in Kent", P31="Q515", P131="Q1428"),
    called("Q188", "German", "Deutsch", "allemand", "alemán", "West Germanic language", P31="Q34770", P279="Q26721"),
    called(
        "Q26721",
        "West Germanic languages",
        "westgermanische Sprachen",
        "langues germaniques occidentales",
        "lenguas germánicas occidentales",
        "",
        P31="Q25295",
        P279="Q21200",
    ),
    called(
        "Q21200",
        "Germanic languages",
        "germanische Sprachen",
        "langues germaniques",
        "lenguas germánicas",
        "",
        P31="Q25295",
    ),
    called(
        "Q336286",
        "midfielder",
        "Mittelfeldspieler",
        "milieu de terrain",
        "centrocampista",
        "",
        P31="Q1781513",
        P641="Q2736",
    ),
    called("Q2736", "association football", "Fußball", "football", "fútbol"),
    called("Q255", "Ludwig van Beethoven", "", "", "", "German composer", P31="Q5"),
)


def ladder(code: str, answer: str, relation: str, question: str = "?") -> tuple[str, dict[str, Any]]:
    made = LadderMaker(store_of(*WORLD), language=code).make(row(answer, relation, question=question))
    return " › ".join(" | ".join(t.text for t in level.tiers) for level in made.levels), made.to_json()


@pytest.mark.parametrize(("code", "answer", "relation", "expected"), read_table("ladders_in_languages"))
def test_ladders(code: str, answer: str, relation: str, expected: str) -> None:
    text, data = ladder(code, answer, relation)
    assert text == expected
    assert data.get("language", "en") == code
    assert "Absurdistan" not in json.dumps(data)


@pytest.mark.parametrize(
    ("code", "age", "expected"),
    [
        ("de", "fünfunddreißig Jahre", "zwischen 30 und 39 Jahren"),
        ("es", "treinta y cinco", "entre 30 y 39 años"),
        ("fr", "35 ans", "entre 30 et 39 ans"),
        ("it", "trentacinque anni", "tra i 30 e i 39 anni"),
        ("pl", "35", "30–39"),
        ("en", "thirty-five", "in their thirties"),
    ],
)
def test_the_decade_of_an_age_is_told_in_the_language(code: str, age: str, expected: str) -> None:
    parsed = parse_quantity(age, code=code)
    assert parsed is not None
    assert age_ladder(parsed)[1].tiers[0].text == expected


def test_what_a_language_goes_without_stands_in_the_row() -> None:
    made = ladder("de", "Dover", "P19")[1]
    assert made["language_notes"] == ["no label in 'de', told in 'en': Q1428"]
    assert [tier.get("language") for level in made["levels"] for tier in level["tiers"]] == [None, "en", None]
    text, data = ladder("tlh", "Munich", "P19")
    assert text == "Munich › Bavaria › Germany › Europe"
    assert data["language_notes"][0] == language_gaps_notice("tlh")
    assert ladder("tlh", "1961", "P569")[0] == "1961 › the 1960s › the 20th century"
    text, data = ladder("de", "Ludwig van Beethoven", "P50")
    assert data["abstained"] == "unsupported-answer-class"
    assert "phrases are made in English only" in " ".join(data["language_notes"])
    assert "language_notes" not in ladder("fr", "Munich", "P19")[1]


def test_countries_without_a_label_are_told_by_cldr_and_places_in_english_words_left_out() -> None:
    world = (
        called("Q270", "Warsaw", "Warschau", "", "", "city in Poland", P31="Q515", P131="Q54169", P17="Q36"),
        called("Q54169", "Masovian Voivodeship", "", "", "", "", P31="Q10864048", P17="Q36"),
        called("Q36", "Poland", "", "", "", "country in Europe", P31="Q3624078", P30="Q46"),
        called("Q46", "Europe", "", "", "", "", P31="Q5107"),
    )
    maker = LadderMaker(store_of(*world), language="de")
    made = maker.make(row("Warschau", "P19", question="?"))
    assert [level.tiers[0].text for level in made.levels] == ["Warschau", "Polen", "Europa"]
    assert made.to_json()["language_notes"] == ["1 left out: places known by their English name only"]
    told = maker.make(row("Warschau", "P19", question="In welcher polnischen Stadt wurde er geboren?"))
    assert len(told.levels) == 1
    assert maker.make(row("Polen", "P27", question="?")).levels[0].tiers[0].qid == "Q36"


def occupation(qid: str, en: str, fr: str, de: str, de_woman: str, *above: str) -> Entity:
    made = called(qid, en, de, fr, "", "", P31="Q28640", P279=list(above))
    said = Statement(id=f"{qid}$f", subject=qid, property="P2521", value=TextValue(text=de_woman, language="de"))
    return replace(made, statements=(*made.statements, said))


WORKERS = (
    occupation("Q36180", "writer", "écrivain ou écrivaine", "Schriftsteller", "Schriftstellerin", "Q483501"),
    called("Q1", "Paul", "", "", "", P31="Q5", P21="Q6581097"),
    called("Q2", "Paula", "", "", "", P31="Q5", P21="Q6581072"),
)


@pytest.mark.parametrize(
    ("code", "subject", "text", "other"),
    [
        ("fr", "Q1", "écrivain", "écrivaine"),
        ("fr", "Q2", "écrivaine", "écrivain"),
        ("de", "Q1", "Schriftsteller", "Schriftstellerin"),
        ("de", "Q2", "Schriftstellerin", "Schriftsteller"),
    ],
)
def test_women_are_told_by_the_feminine_where_the_graph_has_it(code: str, subject: str, text: str, other: str) -> None:
    graph = Graph(store_of(*WORKERS), shown_in=code, properties=property_ids())
    feminine = is_woman(graph, "Q36180", subject)
    told = localise([Proposal(key="Q36180", text="writer", qid="Q36180")], graph, feminine=feminine)
    assert told.nodes["Q36180"].text == text
    assert other in told.nodes["Q36180"].aliases


def test_both_genders_of_an_answer_are_names_of_it() -> None:
    made = LadderMaker(store_of(*WORKERS), language="fr").make(row("écrivain ou écrivaine", "P106", question="?"))
    assert {"écrivain", "écrivaine"} <= set(made.levels[0].names())


@pytest.mark.parametrize(
    ("code", "question"),
    [
        ("de", "Was ist die Hauptstadt Italiens?"),
        ("fr", "Quelle est la capitale de l'Italie ?"),
        ("es", "¿Cuál es la capital de Italia?"),
    ],
)
def test_a_name_in_the_question_is_no_tier(code: str, question: str) -> None:
    answer = {"de": "Rom", "fr": "Rome", "es": "Roma"}[code]
    text, made = ladder(code, answer, "P36", question)
    assert (text, made["abstained"]) == (answer, "told-by-question")


@pytest.mark.parametrize(
    ("code", "answer", "levels"),
    [("tlh", "3.718 metros", 1), ("tlh", "3,718", 1), ("tlh", "3718", 4), ("en-gb", "3,718", 4), ("de-at", "3.718", 4)],
)
def test_a_thousand_is_not_guessed_at_without_rules(code: str, answer: str, levels: int) -> None:
    made = LadderMaker(store_of(*WORLD), language=code).make(row(answer, "P1082", question="?"))
    assert len(made.levels) == levels


def test_no_pattern_around_names_begins_with_a_run_of_any_length() -> None:
    """From every place of a text the run would go to its end: the square of the text in a language without spaces."""
    for code in {*languages(), *package_data("other_languages.json")} - {"comment"}:
        for pattern, _ in language(code).around_names:
            first, told = re._parser.parse(pattern.pattern)[0]  # type: ignore[attr-defined]
            while str(first) == "SUBPATTERN":
                first, told = told[-1][0]
            assert "REPEAT" not in str(first) or int(told[1]) < 100, (code, pattern.pattern)
