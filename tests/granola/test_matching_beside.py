"""What stands beside the answer is none: companions, denials, open dates, other currencies, longer titles."""

from __future__ import annotations

import pytest

from granola.matching import matcher

RULES = matcher("rules")
SPIELBERG = [["Steven Spielberg"], ["American film director"]]
DIRECTED = "Who directed the film?"
MICROSOFT = [["Microsoft"], ["software company"]]
ROME = [["Rome"], ["Lazio"], ["Italy"]]
MINISTER = [["Prime Minister"], ["politician"]]
CATHOLIC = [["Catholic", "Catholicism"], ["Christian"]]
FAITH = "What is his religion?"
WARSAW = [["Warsaw"], ["Masovia"], ["Poland"]]
VERSAILLES = [["28 June 1919"], ["June 1919"], ["1919"]]


@pytest.mark.parametrize(
    ("said", "levels", "question", "level"),
    [
        ("George Lucas, a friend of Steven Spielberg", SPIELBERG, DIRECTED, None),
        ("George Lucas, who worked with Steven Spielberg", SPIELBERG, DIRECTED, None),
        ("Joe Johnston replaced Steven Spielberg", SPIELBERG, DIRECTED, None),
        ("Joe Johnston (produced by Steven Spielberg)", SPIELBERG, DIRECTED, None),
        ("It was directed by Steven Spielberg, a friend of George Lucas", SPIELBERG, DIRECTED, 1),
        ("Directed by Steven Spielberg, who worked with George Lucas", SPIELBERG, DIRECTED, 1),
        ("Joe Johnston replaced Steven Spielberg", SPIELBERG, "Who was replaced by Joe Johnston?", 1),
        ("It was written (directed by Steven Spielberg)", SPIELBERG, DIRECTED, 1),
        ("a competitor of Microsoft", MICROSOFT, None, None),
        ("Apple, a rival of Microsoft", MICROSOFT, None, None),
        ("Apple, which competes with Microsoft", MICROSOFT, None, None),
        ("Vatican City, surrounded by Rome", ROME, None, None),
        ("far from Rome", ROME, None, None),
        ("It is false that he was born in Rome", ROME, None, None),
        ("anything but a politician", MINISTER, None, None),
        ("hardly a politician", MINISTER, None, None),
        ("He wanted to be a politician", MINISTER, None, None),
        ("He refused to become a politician", MINISTER, None, None),
        ("Raised Catholic, he is an atheist now, later a Buddhist", CATHOLIC, FAITH, None),
        ("raised Catholic, later an atheist", CATHOLIC, FAITH, None),
        ("He was raised Catholic.", CATHOLIC, FAITH, 1),
        ("raised Catholic, later an atheist", CATHOLIC, "In which faith was he raised?", 1),
        ("He was originally a Protestant, later Catholic", CATHOLIC, FAITH, 1),
        ("a former politician", MINISTER, None, 2),
        ("a Former politician", MINISTER, None, 2),
        ("Oregon City", [["Portland"], ["Oregon"], ["United States"]], None, None),
        ("Portland City, Oregon", [["Portland"], ["Oregon"], ["United States"]], None, 1),
        ("The Godfather: Part II", [["The Godfather"], ["film"]], None, None),
        ("the godfather part ii", [["The Godfather"], ["film"]], None, None),
        ("The Godfather, a film", [["The Godfather"], ["film"]], None, 1),
        ("Somewhere in Europe", [["Paris"], ["France"], ["Europe"]], None, 3),
        ("Lyon in Europe", [["Paris"], ["France"], ["Europe"]], None, None),
        ("i think it might be warsaw, though i'm not entirely certain.", WARSAW, None, 1),
        ("it is in tanzania, close to kenya.", [["Tanzania"], ["Africa"]], None, 1),
    ],
)
def test_what_is_told_beside_the_answer(
    said: str, levels: list[list[str]], question: str | None, level: int | None
) -> None:
    assert RULES.match(said, levels, question).level == level


@pytest.mark.parametrize(
    ("said", "gold", "level"),
    [
        ("$2.8B", "$2.8 billion", 1),
        ("US$2.8 billion", "$2.8 billion", 1),
        ("2.8 billion dollars", "$2.8 billion", 1),
        ("2.8 billion", "$2.8 billion", 1),
        ("2.8 billion euros", "$2.8 billion", None),
        ("€2.8 billion", "$2.8 billion", None),
        ("€5", "$5", None),
        ("1.2k", "1,200", 1),
        ("1.3k", "1,200", None),
        ("373.15 K", "100 °C", 1),
        ("300 K", "300 K", 1),
    ],
)
def test_currencies_and_short_powers_of_ten(said: str, gold: str, level: int | None) -> None:
    assert RULES.match(said, [[gold]]).level == level


@pytest.mark.parametrize(
    ("said", "question", "level"),
    [
        ("before 1919", None, None),
        ("after 28 June 1919", None, None),
        ("not until 1919", None, 3),
        ("It came after the war, in 1919.", None, 3),
        ("after 1919", "After which year were cars built there?", 3),
        ("28-Jun-1919", None, 1),
        ("29-Jun-1919", None, None),
    ],
)
def test_open_dates_state_none(said: str, question: str | None, level: int | None) -> None:
    assert RULES.match(said, VERSAILLES, question).level == level


@pytest.mark.parametrize(
    "said",
    [
        "I'm unable to answer that.",
        "I'm not able to help with that.",
        "It's impossible to say.",
        "Not mentioned",
        "It doesn't say.",
        "N.A.",
        "<unknown>",
        "That is a question I can't answer.",
    ],
)
def test_more_ways_to_decline(said: str) -> None:
    assert RULES.match(said, ROME).abstained
