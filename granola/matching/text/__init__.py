"""Text as the rules read it: repaired, folded into words, with what is kept of it."""
