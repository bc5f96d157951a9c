"""The grammar of descriptions of persons."""

from __future__ import annotations

import pytest

from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.descriptions.person_grammar import PersonDescription, parse_person
from tests.tables import read_table

PLAIN = Vocabulary(phrases={"cave diver": 5, "key grip": 4})


def read(description: str) -> PersonDescription:
    return parse_person(description, PLAIN)


def told(description: str) -> list[str]:
    """Occupations with the nationality before them, former ones in brackets."""
    out = []
    for occupation in read(description).occupations:
        nation = f"{occupation.nationality.text} " if occupation.nationality else ""
        lead = "".join(f"{w.text} " for w in occupation.lead)
        text = f"{lead}{nation}{occupation.texts[0]}"
        out.append(f"({text})" if occupation.former else text)
    return out


@pytest.mark.parametrize(("description", "occupations"), read_table("occupations"))
def test_occupations_in_order(description: str, occupations: list[str]) -> None:
    assert told(description) == occupations


def test_shortenings_are_attested_and_mean_the_same() -> None:
    (director,) = read("American film director").occupations
    assert director.texts == ("film director", "director")
    (artist,) = read("Brazilian mixed martial artist").occupations
    assert artist.texts == ("mixed martial artist", "martial artist")
    (host,) = read("American game show host").occupations
    assert host.texts == ("game show host",)


def test_words_point_into_the_original_text() -> None:
    original = "English stage (and more) and film actor"
    description = read(original)
    stage = description.occupations[0]
    assert [original[w.start : w.end] for w in stage.used[0]] == ["stage", "actor"]
    assert description.nationality is not None
    assert [original[w.start : w.end] for w in description.nationality.words] == ["English"]


@pytest.mark.parametrize(("description", "offices"), read_table("offices"))
def test_offices_with_their_complement(description: str, offices: list[list[str | None]]) -> None:
    assert [[o.ordinal, o.title, o.complement] for o in read(description).offices] == offices


@pytest.mark.parametrize(
    ("description", "kin"),
    [
        ("Founding Father of the United States", []),
        ("biblical character, wife of Moses", [("wife", "Moses")]),
        ("daughter of former US President Barack Obama and Michelle Obama",
         [("daughter", "former US President Barack Obama and Michelle Obama")]),
        ("fourth wife of English actor Peter Lawford", [("fourth wife", "English actor Peter Lawford")]),
        ("politician, father of the Erasmus program", []),
        ("attorney; Arnold Schwarzenegger's nephew", [("nephew", "Arnold Schwarzenegger's")]),
    ],
)  # fmt: skip
def test_kinship(description: str, kin: list[tuple[str, str]]) -> None:
    assert [(k.word, k.of) for k in read(description).kin] == kin


def test_former_offices_are_told_so() -> None:
    (office,) = read("American lawyer, former mayor of New York City").offices
    assert office.former
    assert office.complement == "of New York City"
