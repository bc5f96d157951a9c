"""Bits: how much a tier tells of what is asked, from counts over the whole source."""
