"""Text as the rules read it: repaired, folded into words, with what is kept of it."""

__all__ = [
    "match_cache",
    "numerals",
    "repair",
    "restated",
    "tokens",
    "word_lists",
]
