"""The days and amounts that wordings of tiers mean, and which contain which."""

from __future__ import annotations

import pytest

from abstraction.verifying.entailment import amount_of, contains_amount, days_of


@pytest.mark.parametrize(
    ("text", "inner", "right"),
    [
        ("the 1990s", "Fall 1998", True),
        ("August 1945", "14 and 15 August 1945", True),
        ("the 20th century", "2000", True),  # as most people count
        ("the 21st century", "2000", True),
        ("the 20th century", "c. 1899", False),
        ("in his forties", "41", None),
        ("40s", "41", True),
        ("the 2010s", "7 a.m.", None),
    ],
)
def test_which_days_hold_which(text: str, inner: str, right: bool | None) -> None:
    outer, days = days_of(text), days_of(inner)
    assert (outer[0] <= days[0] and days[1] <= outer[1] if outer and days else None) is right


@pytest.mark.parametrize(
    ("text", "amount", "right"),
    [
        ("about 400 sq mi", "367.81 sq mi", True),
        ("about $1.1 trillion", "US$1.06 trillion", True),
        ("about 60 km", "100 kg", False),
        ("between 40 and 49", "41", True),
    ],
)
def test_which_amounts_hold_which(text: str, amount: str, right: bool) -> None:
    outer, inner = amount_of(text), amount_of(amount)
    assert outer is not None
    assert inner is not None
    assert contains_amount(outer, inner) is right
