"""Amounts in texts and the ladders over them. Expected roundings and conversions are worked by hand."""

from __future__ import annotations

import itertools
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.base.tiers import Evidence
from abstraction.ladders.literal_ladders import quantity_ladder, read_amount, round_to_digits
from abstraction.text.language.amounts import parse_quantity
from abstraction.text.language.units import unit_of_spelling, units_by_qid
from kg.base.model import normalise
from tests.cases import shown
from tests.tables import read_table


@pytest.mark.parametrize(("text", "amount", "digits", "unit", "noun"), read_table("quantities"))
def test_read(text: str, amount: str, digits: int, unit: str | None, noun: str) -> None:
    parsed = parse_quantity(text)
    assert parsed is not None
    assert parsed.amount == Decimal(amount)
    assert parsed.digits == digits
    assert (parsed.unit.qid if parsed.unit else None) == unit
    assert parsed.noun == noun


def test_kelvins_are_thousands_where_no_temperature_is_asked_for() -> None:
    parsed = parse_quantity("5K", is_temperature=False)
    assert parsed is not None
    assert (parsed.amount, parsed.unit) == (5000, None)


@pytest.mark.parametrize(
    "text",
    [
        "", "abc", "over 3 million", "more than 12", "10-20 km", "5 to 6 million", "2½ miles", "8,8 km",
        "4 August", "$3 km", "1,23,456", "44 BC", "5 ft 13 in", "3 and 4", "m", "1" * 200,
        "three hundred and twenty",
    ],
)  # fmt: skip
def test_refused(text: str) -> None:
    assert parse_quantity(text) is None


@pytest.mark.parametrize(("text", "above"), read_table("quantity_ladders"))
def test_ladders(text: str, above: list[str]) -> None:
    parsed = read_amount(text)
    assert parsed is not None
    assert shown(quantity_ladder(parsed)) == [text, *above]


@pytest.mark.parametrize(
    ("text", "level", "alias"),
    [
        ("8,848.86 m", 0, "29,032 ft"),  # 8848.86 / 0.3048 = 29031.69
        ("8,848.86 m", 0, "8,848.86 metres"),
        ("8,848.86 m", 2, "8,800 metres"),
        ("26.2 miles", 0, "42.2 km"),  # 26.2 x 1.609344 = 42.165
        ("5 ft 11 in", 0, "1.8 m"),  # 71 x 2.54 cm = 180.34 cm
        ("2 hours 10 minutes", 0, "130 minutes"),
        ("100 °C", 0, "212 °F"),
        ("3 million people", 0, "3,000,000"),
    ],
)
def test_other_names(text: str, level: int, alias: str) -> None:
    parsed = parse_quantity(text)
    assert parsed is not None
    assert alias in quantity_ladder(parsed)[level].names()


def test_evidence_names_the_rule_and_the_statement() -> None:
    given_ = Evidence(kind="statement", subject="Q513", property="P2044", value="8848.86")
    parsed = parse_quantity("8,848.86 m")
    assert parsed is not None
    for level in quantity_ladder(parsed, subject_evidence=given_)[1:]:
        statement, rule = level.tiers[0].evidence
        assert statement is given_
        assert rule.kind == "rule"
        assert "8,848.86 m" in (rule.text or "")


AMOUNTS = st.decimals(min_value="0.001", max_value="1e12", allow_nan=False, places=3)


@given(AMOUNTS, st.sampled_from(["", " m", " km²", " people"]))
def test_laws_of_a_ladder(amount: Decimal, tail: str) -> None:
    parsed = parse_quantity(f"{amount}{tail}")
    assert parsed is not None
    assert parsed.amount == amount
    levels = quantity_ladder(parsed)
    assert len(levels) <= 6
    for finer, coarser in itertools.pairwise(levels[1:]):
        for tier in coarser.tiers:
            assert any(below.conditions >= tier.conditions for below in finer.tiers)
    names = [normalise(name) for level in levels for tier in level.tiers for name in tier.names()]
    texts = {normalise(tier.text) for level in levels for tier in level.tiers}
    assert len(names) == len(set(names))
    assert len(texts) == sum(len(level.tiers) for level in levels)


@given(AMOUNTS)
def test_about_entails_the_next_about(amount: Decimal) -> None:
    """Off by at most one unit of the last digit kept: the finer span lies inside the coarser one."""
    unit = Decimal(1).scaleb(amount.adjusted())
    for digits in (3, 2):
        fine, coarse = round_to_digits(amount, digits), round_to_digits(amount, digits - 1)
        fine_unit, coarse_unit = unit.scaleb(1 - digits), unit.scaleb(2 - digits)
        assert coarse - coarse_unit <= fine - fine_unit
        assert fine + fine_unit <= coarse + coarse_unit


@given(AMOUNTS, st.sampled_from(sorted(units_by_qid())))
def test_conversion_there_and_back(amount: Decimal, qid: str) -> None:
    unit = units_by_qid()[qid]
    for other in (units_by_qid()[also] for also in unit.also):
        back = other.convert(unit.convert(amount, other), unit)
        assert abs(back - amount) <= abs(amount) * Decimal("1e-12") + Decimal("1e-9")


def test_every_spelling_names_its_unit_or_an_earlier_one() -> None:
    for unit in units_by_qid().values():
        for spelling in unit.spellings:
            assert unit_of_spelling(spelling) is not None
        assert set(unit.also) <= set(units_by_qid())
        assert all(units_by_qid()[also].dimension == unit.dimension for also in unit.also)


WORDS = (
    "8,848.86", "1.4", "12", "0", "-5", "about", "~", "twelve", "twenty-one", "hundred", "million", "bn", "m", "km²",
    "ft", "in", "5'", '11"', "±", "%", "$", "€", "USD", "people", "½", "/", ",", ".", "٣", "1e5", "to", "and",
)  # fmt: skip


@given(st.one_of(st.text(max_size=90), st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)))
def test_no_text_breaks_reading(text: str) -> None:
    if (parsed := parse_quantity(text)) is not None:
        assert quantity_ladder(parsed)[0].tiers[0].text == text.strip()


def test_multipliers_are_no_counted_things() -> None:
    assert parse_quantity("12 dozen") is None
    assert parse_quantity("a pair of shoes") is None
