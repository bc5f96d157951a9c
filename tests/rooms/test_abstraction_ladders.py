"""A builder for each class of answer; a coarser tier never tells more."""

from __future__ import annotations

from abstraction.files.rows import TieredRow
from abstraction.ladders.builders import builder_for


def test_a_builder_by_what_is_asked_and_what_the_answer_is() -> None:
    place = builder_for("place", {"place"})
    assert place is not None
    assert place is not builder_for("person", {"person"})


def test_bits_fall_along_a_ladder(row: TieredRow) -> None:
    bits = [max(tier.bits for tier in level.tiers if tier.bits is not None) for level in row.levels]
    assert len(bits) >= 3
    assert bits == sorted(bits, reverse=True)
