"""Bits: the information content of tiers, from counts over the whole source."""
