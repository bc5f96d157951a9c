"""Bits: a coarser tier never tells more."""

from __future__ import annotations

from abstraction.files.rows import TieredRow


def test_bits_fall_along_a_ladder(row: TieredRow) -> None:
    bits = [max(tier.bits for tier in level.tiers if tier.bits is not None) for level in row.levels]
    assert len(bits) >= 3
    assert bits == sorted(bits, reverse=True)
