"""Coherence of a paragraph: do its sentences, in their order, belong together? Whichever model judges it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class CoherenceModel(Protocol):
    """Judges paragraphs; `identity` as in `granola.text_models.text_entailment.EntailmentModel`."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from every other, and how its scores are normalised."""

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]:
        """One score in [0, 1] for each paragraph, given as its sentences; greater is better. Raises ModelError."""
