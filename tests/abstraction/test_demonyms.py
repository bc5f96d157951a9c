"""National adjectives: the bundled table, the choice among a country's forms, and reading them in text."""

from __future__ import annotations

import re

import pytest

from abstraction.text.descriptions.attested_words import Vocabulary, description_words
from abstraction.text.descriptions.kind_grammar import read_nationality
from abstraction.text.language.languages import bundled_demonyms, choose_adjective
from tests.worlds import entity, store_of

PLAIN = Vocabulary()


def test_the_table_is_whole() -> None:
    table = bundled_demonyms()
    assert len(table.adjectives) > 280
    assert all(re.fullmatch(r"Q[1-9]\d*", qid) for qid in table.adjectives)
    assert all(table.adjectives.values())
    assert table.countries["american"][0] == "Q30"
    assert table.countries["german"][0] == "Q183"  # the present state before its forerunners
    assert set(table.countries["congolese"]) == {"Q974", "Q971"}
    assert table.adjectives["Q15180"] == "Soviet"


@pytest.mark.parametrize(
    ("forms", "frequency", "known", "chosen"),
    [
        (["Dane", "Danes", "Danish"], {"danish": 40, "danes": 2}, None, "Danish"),
        (["Dane", "Danes", "Danish"], {}, None, "Danish"),
        (["Briton", "British"], {}, "British", "British"),
        (["Argentinian", "Argentine"], {"argentinian": 3}, "Argentine", "Argentinian"),
        (["New Zealander"], {}, "New Zealand", "New Zealand"),
        (["Ruritanians", "Ruritanian"], {}, None, "Ruritanian"),
        ([], {}, None, None),
    ],
)
def test_the_adjective_is_chosen_among_nouns_and_plurals(
    forms: list[str], frequency: dict[str, int], known: str | None, chosen: str | None
) -> None:
    assert choose_adjective(forms, frequency, known) == chosen


@pytest.mark.parametrize(
    ("text", "adjective", "parts"),
    [
        ("American actor", "American", 1),
        ("US author", "American", 1),
        ("British/American label", "British-American", 2),
        ("Canadian-American actor", "Canadian-American", 2),
        ("South African-Canadian director", "South African-Canadian", 2),
        ("African-American singer", "American", 1),
        ("Trinidad and Tobago footballer", "Trinidad and Tobago", 1),
        ("Bosnia and Herzegovina politician", "Bosnian", 1),
        ("Mali politician", "Malian", 1),
        ("british actor", "British", 1),
    ],
)
def test_nationalities_at_the_head(text: str, adjective: str, parts: int) -> None:
    found = read_nationality(description_words(text), PLAIN)
    assert found is not None
    assert found.text == adjective
    assert len(found.parts) == parts


@pytest.mark.parametrize(
    "text", ["actor", "American football player", "2007 film", "All-American player", "polish of shoes"]
)
def test_what_is_no_nationality(text: str) -> None:
    found = read_nationality(description_words(text), PLAIN)
    assert found is None or text.startswith("polish")
    if text.startswith("polish"):
        # A description may begin in lower case, a word within it may not stand for a country.
        assert read_nationality(description_words(f"maker of {text}")[2:], PLAIN) is None


def test_a_snapshot_adds_its_own_demonyms() -> None:
    store = store_of(
        entity("Q900001", "Ruritania", "kingdom in Central Europe", P1549=["Ruritanians", "Ruritanian"]),
        entity("Q900002", "Rudolf", "Ruritanian king", P31="Q5", P27="Q900001"),
    )
    vocabulary = Vocabulary.from_store(store)
    assert vocabulary.adjective_of_country("Q900001") == "Ruritanian"
    assert vocabulary.countries_of_adjective("Ruritanian") == ("Q900001",)
    assert vocabulary.adjective_of_country("Q142") == "French"
