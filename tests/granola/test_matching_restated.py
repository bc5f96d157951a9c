"""Answers that repeat their question, in other spacing, or in a frame: none of it states or changes anything."""

from __future__ import annotations

import pytest

from granola.matching import matcher

RULES = matcher("rules")
CANBERRA = [["Canberra"], ["Australian Capital Territory"], ["Australia"]], "What is the capital of Australia?"
BRISTOL = [["Bristol"], ["England"], ["United Kingdom"]], "Where is the University of Bristol located?"
LISBON = [["Lisbon"], ["Portugal"]], "Where is the seat of Lisbon Geographic Society?"
OLYMPICS = [["1 August 1936"], ["August 1936"], ["1936"]], "When did the 1936 Summer Olympics begin?"
Case = tuple[list[list[str]], str | None]
AMERICA: Case = [["United States of America", "America"], ["North America"]], None
ISFAHAN: Case = [["Isfahan"], ["Isfahan Province"], ["Iran"]], None
CITY: Case = [["Isfahan"], ["Iran"]], None
WASHINGTON: Case = [["Washington, D.C.", "Washington"], ["United States"]], None
KUNMING: Case = [["Kunming"], ["Yunnan"], ["China"]], None
NEW_YORK: Case = [["New York City", "New York"], ["New York State"], ["United States"]], None


@pytest.mark.parametrize(
    ("said", "case", "level"),
    [
        ("The capital of Australia is Sydney.", CANBERRA, None),
        ("Australia's capital is Sydney, in New South Wales.", CANBERRA, None),
        ("The capital of Australia is Canberra.", CANBERRA, 1),
        ("The University of Bristol is in England.", BRISTOL, 2),
        ("The University of Bristol is in Bristol, England.", BRISTOL, 1),
        ("The University of Bristol was founded in 1876.", BRISTOL, None),
        ("Bristol", BRISTOL, 1),
        ("In the city of Bristol.", BRISTOL, 1),
        ("The 1936 Summer Olympics were held in Berlin.", OLYMPICS, None),
        ("in 1936", OLYMPICS, 3),
        ("The 1936 Summer Olympics began in August 1936.", OLYMPICS, 2),
        ("The sport is hockey", ([["curling"], ["winter sport"], ["sport"]], "What sport does she play?"), None),
        ("It is a winter sport", ([["curling"], ["winter sport"], ["sport"]], "What sport does she play?"), 2),
        ("Napa County: Napa.", ([["Napa"], ["California"]], "Where is Napa County?"), 1),
        ("Napa County is there.", ([["Napa"], ["California"]], "Where is Napa County?"), None),
        ("For Lisbon Geographic Society, it is Portugal.", LISBON, 2),
        ("Charles Darwin", ([["Robert Darwin"]], "Who is the father of Charles Darwin?"), None),
        ("Darwin", ([["Charles Darwin"]], "Who wrote On the Origin of Species?"), 1),
    ],
)
def test_repeating_the_question_states_nothing(said: str, case: Case, level: int | None) -> None:
    assert RULES.match(said, *case).level == level


@pytest.mark.parametrize("frame", ["{}", "The answer is {}.", "So the correct answer is: {}", "It is {}."])
@pytest.mark.parametrize(
    ("said", "case", "level"),
    [
        ("North America", AMERICA, 2),
        ("South America", AMERICA, None),
        ("America", AMERICA, 1),
        ("Isfahan Province", ISFAHAN, 2),
        ("Isfahan", ISFAHAN, 1),
        ("Isfahan Province", CITY, None),
        ("Isfahan province", CITY, None),
        ("Washington State", WASHINGTON, None),
        ("the state of Washington", WASHINGTON, None),
        ("Washington", WASHINGTON, 1),
        ("Kunming City", KUNMING, 1),
        ("Yunnan Province", KUNMING, 2),
        ("New York State", NEW_YORK, 2),
        ("New York City", NEW_YORK, 1),
    ],
)
def test_a_sentence_around_a_name_changes_nothing_and_the_longest_name_counts(
    frame: str, said: str, case: Case, level: int | None
) -> None:
    assert RULES.match(frame.format(said), *case).level == level


@pytest.mark.parametrize(
    "frame", ["It is {}.", "He was born in {}.", "{}, I think", "Probably {}.", "It was founded in {}."]
)
@pytest.mark.parametrize(
    "levels",
    [
        [["New York City", "NYC"], ["New York"], ["United States"], ["North America"]],
        [["Toronto, Ontario", "Toronto"], ["Ontario"], ["Canada"]],
        [["Los Angeles", "L.A."], ["Los Angeles County"], ["California"], ["the US"]],
        [["Celtic FC", "Celtic Football Club"], ["football club"], ["club"]],
        [["Barcelona"], ["Barcelona Province"], ["Catalonia"]],
        [["United States of America", "America"], ["North America"], ["Earth"]],
    ],
)
def test_the_name_of_a_level_in_a_sentence_is_that_level_s(frame: str, levels: list[list[str]]) -> None:
    for number, names in enumerate(levels, start=1):
        assert RULES.match(names[0], levels).level == number
        assert RULES.match(frame.format(names[0]), levels).level == number, names


@pytest.mark.parametrize(
    "said", ["It was founded in the US.", "It was founded in the U.S.", "It was founded in the USA."]
)
def test_the_short_name_of_a_country_in_a_sentence(said: str) -> None:
    assert RULES.match(said, [["New York City"], ["New York"], ["United States"]]).level == 3
    assert RULES.match("It was founded by us.", [["New York City"], ["New York"], ["United States"]]).level is None


@pytest.mark.parametrize("name", ["rules", "em", "f1"])
@pytest.mark.parametrize(
    "said",
    [
        "No   idea, sorry!",
        "No\tidea",
        "\ufeffIDK",
        "\u200bUnknown",
        "**I'm sorry, but I don't have any information about that.**",
        "“I don't know”",
    ],
)
def test_spacing_bold_type_and_quotation_marks_hide_no_refusal(name: str, said: str) -> None:
    assert matcher(name).match(said, [["Paris"], ["France"]]).abstained
