"""Figures of all packages: one style, a few kinds of chart, as SVG, PNG or PDF, and their numbers as CSV."""
