"""Models that score by tables: what a test writes down is what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from abstraction.models.text_scorers import Continuation, Entailment, QueryPassage, TextPair, TokenScores


class TableEntailment:
    """By (premise, hypothesis); what is not in the table is neutral."""

    identity: Mapping[str, Any] = {"kind": "table"}

    def __init__(self, table: Mapping[tuple[str, str], tuple[float, float, float]]) -> None:
        self.table = table
        self.asked: list[TextPair] = []

    def scores(self, pairs: Sequence[TextPair], /) -> list[Entailment]:
        self.asked += pairs
        return [Entailment(*self.table.get((one.premise, one.hypothesis), (0.0, 1.0, 0.0))) for one in pairs]


class TableContinuations:
    """By (prompt's last line, text): the logarithms of the tokens' probabilities."""

    identity: Mapping[str, Any] = {"kind": "table"}

    def __init__(self, table: Mapping[tuple[str, str], Sequence[float]]) -> None:
        self.table = table
        self.asked: list[Continuation] = []

    def scores(self, given: Sequence[Continuation], /) -> list[TokenScores]:
        self.asked += given
        return [TokenScores(tuple(self.table.get((one.prompt, one.text), ()))) for one in given]


class TableRelevance:
    """By (query, passage)."""

    identity: Mapping[str, Any] = {"kind": "table"}

    def __init__(self, table: Mapping[tuple[str, str], float]) -> None:
        self.table = table

    def scores(self, pairs: Sequence[QueryPassage], /) -> list[float]:
        return [self.table[one.query, one.passage] for one in pairs]


class TableCoherence:
    """By the sentences."""

    identity: Mapping[str, Any] = {"kind": "table"}

    def __init__(self, table: Mapping[tuple[str, ...], float]) -> None:
        self.table = table

    def scores(self, paragraphs: Sequence[Sequence[str]], /) -> list[float]:
        return [self.table[tuple(one)] for one in paragraphs]
