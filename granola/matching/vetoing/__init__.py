"""Vetoes on a mention: it is denied, part of another name, or contradicts the ladder."""
