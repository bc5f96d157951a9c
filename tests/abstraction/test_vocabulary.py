"""What a snapshot attests: occupation names, openings of descriptions, common nouns."""

from __future__ import annotations

from abstraction.text.descriptions.attested_words import (
    MIN_ATTESTED,
    Vocabulary,
    normalised_opening_without_date_and_nation,
)
from tests.worlds import entity, store_of


def test_occupations_by_label_before_alias_and_by_use() -> None:
    store = store_of(
        entity("Q900010", "singer", "person who sings", aliases=["vocalist", "singers", "CV"], P31="Q28640"),
        entity("Q900011", "vocalist", "musician who sings", P31="Q28640"),
        entity("Q900012", "acting", "activity"),
        *(entity(f"Q90010{n}", f"S{n}", "American singer", P31="Q5", P106=["Q900010", "Q900012"]) for n in range(3)),
    )
    vocabulary = Vocabulary.from_store(store)
    assert vocabulary.occupations["vocalist"] == ("Q900011", "Q900010")
    assert vocabulary.labelled["vocalist"] == ("Q900011",)
    assert "singers" not in vocabulary.occupations
    assert "cv" not in vocabulary.occupations
    assert not vocabulary.is_occupation("acting")
    assert vocabulary.is_occupation("Singer")


def test_openings_count_without_year_and_nationality() -> None:
    assert normalised_opening_without_date_and_nation("1979 American space opera film") == "space opera film"
    assert normalised_opening_without_date_and_nation("South Korean moon rock dealer") == "moon rock dealer"
    entities = [entity(f"Q90020{n}", f"M{n}", "Danish moon rock dealer in Aarhus") for n in range(MIN_ATTESTED)]
    vocabulary = Vocabulary.from_store(store_of(*entities))
    assert vocabulary.attests("moon rock dealer")
    assert not vocabulary.attests("rock dealer")
    assert vocabulary.attests("record label")  # everyday nouns need no attestation


def test_words_seen_in_lower_case_are_common() -> None:
    vocabulary = Vocabulary.from_store(
        store_of(entity("Q900301", "A", "Danish wombat keeper"), entity("Q900302", "B", "keeper at Wombat House"))
    )
    assert vocabulary.is_common_word("Wombat")
    assert not vocabulary.is_common_word("House of Wombats")
    assert not Vocabulary().is_common_word("Catholic")
    assert Vocabulary().is_common_word("Actress")
