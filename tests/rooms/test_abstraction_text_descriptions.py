"""The grammar of WikiData's descriptions."""

from __future__ import annotations

from abstraction.text.descriptions.place_grammar import parse_place


def test_a_place_in_its_places() -> None:
    found = parse_place("city in Durham County, North Carolina, United States")
    assert found is not None
    assert [unit.text for unit in found.units][-1] == "United States"
    assert parse_place("American painter") is None
