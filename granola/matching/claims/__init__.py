"""Dates and amounts in text, as intervals."""

__all__ = [
    "amount_claims",
    "date_claims",
    "intervals",
    "multilingual",
    "value_claims",
]
