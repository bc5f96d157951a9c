"""Every name of a level counts alike, in whatever order the names stand."""

from __future__ import annotations

from itertools import permutations

import pytest

from granola.matching import matcher

RULES = matcher("rules")
TOWER = ["330 metres", "330 m", "1,083 ft"]
BUSH = ["George W. Bush", "George Walker Bush", "George Bush"]
ELDER = ["George H. W. Bush", "George Herbert Walker Bush"]
KENNEDY = ["John F. Kennedy", "John Fitzgerald Kennedy", "John Kennedy"]


@pytest.mark.parametrize(
    ("said", "names", "coarser", "level"),
    [
        ("330 meters", TOWER, [["about 300 metres"]], 1),
        ("0.33 km", TOWER, [["about 300 metres"]], 1),
        ("1,083 feet", TOWER, [["about 300 metres"]], 1),
        ("300 m", TOWER, [["about 300 metres"]], 2),
        ("approximately 300 m", TOWER, [["about 300 metres"]], 2),
        ("450 m", TOWER, [["about 300 metres"]], None),
        ("70 kilograms", ["70 kg", "154 lb"], [], 1),
        ("70,000 g", ["70 kg", "154 lb"], [], 1),
        ("154 lbs", ["70 kg", "154 lb"], [], 1),
        ("90 kg", ["70 kg", "154 lb"], [], None),
        ("George W. Bush", BUSH, [], 1),
        ("George Walker Bush", BUSH, [], 1),
        ("George Bush", BUSH, [], 1),
        ("George H. W. Bush", BUSH, [], None),
        ("It was George H.W. Bush.", BUSH, [["American politician"]], None),
        ("George Herbert Walker Bush", BUSH, [], None),
        ("George HW Bush", BUSH, [], None),
        ("George H. W. Bush", ELDER, [], 1),
        ("George Bush", ELDER, [], 1),
        ("George W. Bush", ELDER, [], None),
        ("It was George Walker Bush.", ELDER, [], None),
        ("John F. Kennedy", KENNEDY, [], 1),
        ("J. F. Kennedy", KENNEDY, [], 1),
        ("John F. Kennedy Jr.", KENNEDY, [], None),
        ("John Kennedy Jr.", KENNEDY[:2], [], None),
        ("John F. Kennedy", ["John F. Kennedy Jr."], [], None),
        ("John F. Kennedy", ["John Kennedy Jr."], [], None),
        ("Martin Luther King", ["Martin Luther King Jr."], [], 1),
        ("B. R. Ambedkar", ["Bhimrao Ramji Ambedkar"], [], 1),
    ],
)
def test_the_order_of_names_changes_no_verdict(
    said: str, names: list[str], coarser: list[list[str]], level: int | None
) -> None:
    for order in permutations(names):
        assert RULES.match(said, [list(order), *coarser]).level == level, order
