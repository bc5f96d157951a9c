"""Decoding: answers sampled from a model, and one answer aggregated from several responses (DRAG, self-consistency)."""
