"""Figures of all rooms: one look, a few ways to draw, as SVG, PNG or PDF, and what is drawn as CSV."""
