"""Text preparation for the rules: repair, folding into words, word lists, caches."""
