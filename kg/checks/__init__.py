"""A snapshot file held against itself, or against another."""
