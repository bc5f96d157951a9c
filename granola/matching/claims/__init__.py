"""Dates and amounts in text, as intervals."""
