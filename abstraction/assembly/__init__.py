"""From what builders propose to the levels of a ladder: what is struck, merged, ordered, joined, translated."""
