"""Kinds with a word before them, former faiths, other events, misspelt families, what alternatives share."""

from __future__ import annotations

import pytest

from granola.matching import matcher

RULES = matcher("rules")
FOOTBALL = [["association football", "football", "soccer"], ["team sport", "sport"]]
THRASH = [["thrash metal"], ["heavy metal"], ["rock music", "rock"]]
BEBOP = [["bebop"], ["jazz"]]
COMPOSER = [["opera composer"], ["composer"]]
FRENCH = [["French composer"], ["composer"]]
PARIS = [["Paris"], ["Île-de-France"], ["France"]]
VIEW = [["Mountain View"], ["Santa Clara County"], ["California"], ["United States of America"]]
LONDON = [["London"], ["England"], ["United Kingdom"]]
KUNMING = [["Kunming"], ["Yunnan"], ["People's Republic of China", "China"]]
DUBAI = [["Dubai"], ["United Arab Emirates"]]


@pytest.mark.parametrize(
    ("said", "levels", "level"),
    [
        ("American football", FOOTBALL, None),
        ("Australian rules football", FOOTBALL, None),
        ("He plays American football.", FOOTBALL, None),
        ("It is gridiron football.", FOOTBALL, None),
        ("football", FOOTBALL, 1),
        ("He plays football", FOOTBALL, 1),
        ("They played football", FOOTBALL, 1),
        ("women's football", FOOTBALL, 1),
        ("professional football", FOOTBALL, 1),
        ("German composer", COMPOSER, 2),
        ("a famous composer", COMPOSER, 2),
        ("American composer", FRENCH, None),
        ("rock and roll", THRASH, None),
        ("rock", THRASH, 3),
        ("British rock", THRASH, 3),
        ("They play hard rock.", THRASH, None),
        ("It is a kind of rock.", THRASH, 3),
        ("cool jazz", BEBOP, None),
        ("It is jazz.", BEBOP, 2),
    ],
)
def test_a_word_before_a_kind_may_make_another_of_it(said: str, levels: list[list[str]], level: int | None) -> None:
    assert RULES.match(said, levels).level == level


@pytest.mark.parametrize(
    ("said", "levels", "level"),
    [
        ("California, USA", VIEW, 3),
        ("California, US", VIEW, 3),
        ("California, U.S.A.", VIEW, 3),
        ("Mountain View, California, USA", VIEW, 1),
        ("Sacramento, California, USA", VIEW, None),
        ("It is in the USA.", VIEW, 4),
        ("London, UK", LONDON, 1),
        ("England, U.K.", LONDON, 2),
        ("London, Canada", LONDON, None),
        ("Yunnan, PRC", KUNMING, 2),
        ("Yunnan, PR China", KUNMING, 2),
        ("P.R. China", KUNMING, 3),
        ("PRC", KUNMING, 3),
        ("Dubai, UAE", DUBAI, 1),
        ("UAE", DUBAI, 2),
        ("Dubai, USA", DUBAI, None),
    ],
)
def test_short_names_of_a_country_name_it_as_a_container_too(
    said: str, levels: list[list[str]], level: int | None
) -> None:
    assert RULES.match(said, levels).level == level


@pytest.mark.parametrize(
    ("said", "levels", "question", "level"),
    [
        ("He was born in Paris and died in Warsaw.", PARIS, "Where did Chopin die?", None),
        ("He was born in Paris and died in Warsaw.", [["Warsaw"], ["Poland"]], "Where did Chopin die?", 1),
        ("He was born in Paris and died in Warsaw.", PARIS, "Where was Chopin born?", 1),
        ("He died in Warsaw and lived in Paris.", PARIS, "Where did he live?", 1),
        ("He died in Paris and lived in Warsaw.", PARIS, "Where did he live?", None),
        ("Paris or Lyon, France", PARIS, None, 3),
        ("Lyon or Paris, France", PARIS, None, 3),
        ("Either Paris or Lyon, France", PARIS, None, 3),
        ("Marseille or Lyon, France", PARIS, None, None),
        ("Paris or Lyon", PARIS, None, None),
        ("Shakespear", [["William Shakespeare"]], "Who wrote Hamlet?", 1),
        ("William Shakespear", [["William Shakespeare"]], "Who wrote Hamlet?", 1),
        ("It was Fredrich Nietzsche.", [["Friedrich Nietzsche"]], None, 1),
        ("Nietzche", [["Friedrich Nietzsche"]], "Who wrote it?", 1),
        ("Peterson", [["Jordan Petersen"], ["Peterson"]], "Who wrote it?", 2),
        ("Shakespear", [["William Shakespeare"]], None, None),  # nobody asks for a person
    ],
)
def test_where_who_and_which_of_several(
    said: str, levels: list[list[str]], question: str | None, level: int | None
) -> None:
    assert RULES.match(said, levels, question).level == level


CATHOLIC = [["Roman Catholicism", "Catholic Church", "Catholic"], ["Christianity", "Christian"]]
DUTCH = [["Dutch painter"], ["painter"]]


@pytest.mark.parametrize(
    ("said", "levels", "level"),
    [
        ("Roman Catholic", CATHOLIC, 1),
        ("Greek Catholic", CATHOLIC, None),
        ("a Dutch post-impressionist painter", DUTCH, 1),
        ("a Dutch American painter", DUTCH, None),
        ("Paris? No, it was Marseille.", PARIS, None),
        ("Was he born in Paris? No: in Marseille, France.", PARIS, None),
        ("Paris? Yes.", PARIS, 1),
    ],
)
def test_words_of_other_names_of_a_level_and_questions_denied(
    said: str, levels: list[list[str]], level: int | None
) -> None:
    assert RULES.match(said, levels).level == level
