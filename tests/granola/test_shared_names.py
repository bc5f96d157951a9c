"""The name that responses share, in languages that no grammar here reads."""

from __future__ import annotations

from collections import Counter

import pytest

from granola.decoding.shared_names import is_in_question, offers_choice, shared_names


def found(question: str, *texts: str, language: str = "da") -> set[str]:
    return set(shared_names(Counter(texts), question, language).values())


@pytest.mark.parametrize(
    ("question", "language", "texts", "name"),
    [
        ("Hvem opfandt bilen?", "da", ["Karl Benz", "Karl Benz opfandt bilen i 1885", "Karl Benz (1885)"], "Karl Benz"),
        ("Wer erfand das Auto?", "de", ["Das war Karl Benz", "Karl Benz erfand 1885 das Auto"], "Karl Benz"),
        ("Hvad er den største flod?", "da", ["Nilen er længst", "Den længste flod er Nilen"], "Nilen"),
        ("Kuka sävelsi Finlandian?", "fi", ["Jean Sibelius sävelsi sen", "Se on Jean Sibelius"], "Jean Sibelius"),
        ("Hvem er ældst, Lil Nas X eller Nas?", "da", ["Lil Nas X er yngst", "Lil Nas X er yngre"], "Lil Nas X"),
        ("Hvornår døde Aristoteles?", "da", ["322 f.Kr. i Khalkis", "322 f.Kr.", "Han døde 322 f.Kr."], "322 f.Kr"),
        ("Who was president after Roosevelt?", "en", ["Harry S. Truman was it", "Harry S. Truman"], "Harry S. Truman"),
        ("誰がトスカを作曲しましたか", "ja", ["プッチーニ", "プッチーニが作曲した"], "プッチーニ"),
    ],
)
def test_one_claim_in_many_wordings(question: str, language: str, texts: list[str], name: str) -> None:
    assert found(question, *texts, language=language) == {name}


def test_what_the_question_says_is_no_answer() -> None:
    assert found("Hvem var USA's 5. præsident?", "James Monroe var USA's 5", "James Monroe") == {"James Monroe"}
    assert found("Hvad er hovedstaden i Norge?", "Norge har en hovedstad", language="da") == set()
    assert is_in_question("Norge", "Hvad er hovedstaden i Norge?")
    assert not is_in_question("Oslo, Norge", "Hvad er hovedstaden i Norge?")


def test_a_choice() -> None:
    assert offers_choice("Castlevania or Resident Evil?", "en")
    assert not offers_choice("Hvem vandt eller tabte?", "da")


def test_a_national_adjective_is_shared_where_a_nation_is_asked_for_or_is_said_alone() -> None:
    texts = {"Henri Matisse was a French artist": 1, "He was a French painter": 1}
    question = "What style of art did Henri Matisse do?"
    assert "French" not in shared_names(texts, question).values()
    assert set(shared_names(texts, question, asks_nation=True).values()) == {"French"}
    assert set(shared_names({**texts, "French": 1}, question).values()) == {"French"}
