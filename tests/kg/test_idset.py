"""Sets of ids against Python's own sets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kg.building.closure import IdSet


@given(numbers=st.lists(st.integers(-(10**18), 10**18) | st.integers(-70, 70_000)))
def test_id_sets_are_sets(numbers: list[int]) -> None:
    ids, expected = IdSet(), set()
    for number in numbers:
        assert ids.add(number) == (number not in expected)
        expected.add(number)
    assert list(ids) == sorted(expected)
    assert len(ids) == len(expected)
    assert all(number in ids for number in expected)
    assert not any(number + 1 in ids for number in expected if number + 1 not in expected)
