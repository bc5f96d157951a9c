"""Relevance of a passage to a query, whichever model judges it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class QueryPassage:
    """What is asked, and what may tell something of it."""

    query: str
    passage: str


class RelevanceModel(Protocol):
    """Judges passages; `identity` as in `granola.text_models.text_entailment.EntailmentModel`."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from every other."""

    def relevances(self, pairs: Sequence[QueryPassage]) -> list[float]:
        """One score for each pair, in [0, 1], greater is better, in their order. Raises ModelError."""
