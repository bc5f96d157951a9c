"""Whole datasets of answers at several granularities: questions and a snapshot in, a folder to publish out."""
