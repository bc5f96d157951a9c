"""Scores kept on disk as they come: a run that is killed goes on, and nothing is computed twice."""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson

from abstraction.errors import ModelError
from abstraction.models.text_scorers import (
    CoherenceModel,
    Continuation,
    ContinuationModel,
    EmbeddingModel,
    Entailment,
    EntailmentModel,
    QueryPassage,
    RelevanceModel,
    TextPair,
    TokenScores,
)
from kg.errors import SourceError
from kg.web.answer_cache import Cache

BLOCK = 256  # scores that are lost at most where a run is killed
T = TypeVar("T")
R = TypeVar("R")
M = TypeVar("M", EntailmentModel, RelevanceModel, ContinuationModel, CoherenceModel, EmbeddingModel)


class ScoreStore:
    """One file of kept scores, of any number of models; in memory where no file is named."""

    def __init__(self, path: Path | str | None = None) -> None:
        """Raises ModelError for a file that cannot be used."""
        self.computed = self.reused = 0
        self._memory: dict[str, bytes] = {}
        try:
            self._cache = None if path is None else Cache(path)
        except SourceError as error:
            raise ModelError(str(error)) from error

    def scores(
        self,
        identity: Mapping[str, Any],
        items: Sequence[T],
        keyed: Callable[[T], Any],
        ask: Callable[[Sequence[T]], list[R]],
        packed: Callable[[R], Any],
        unpacked: Callable[[Any], R],
    ) -> list[R]:
        """The score of each item, in their order; `ask` is asked for those that are lacking, equal ones once.

        `keyed` is what an item's score depends on, `packed` a score as JSON has it, both besides the model's identity.
        """
        model_bytes = orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)
        keys = [hashlib.sha256(model_bytes + b"\0" + orjson.dumps(keyed(item))).hexdigest() for item in items]
        score_by_key: dict[str, R] = {}
        for key, body in self._get(list(dict.fromkeys(keys))).items():
            score_by_key[key] = unpacked(orjson.loads(body))
        self.reused += len(score_by_key)
        lacking = {key: item for key, item in zip(keys, items, strict=True) if key not in score_by_key}
        waiting = list(lacking)
        for at in range(0, len(waiting), BLOCK):
            block = waiting[at : at + BLOCK]
            computed = ask([lacking[key] for key in block])
            self._put({key: orjson.dumps(packed(score)) for key, score in zip(block, computed, strict=True)})
            score_by_key.update(zip(block, computed, strict=True))
            self.computed += len(block)
        return [score_by_key[key] for key in keys]

    def _get(self, keys: Sequence[str]) -> dict[str, bytes]:
        if self._cache is None:
            return {key: self._memory[key] for key in keys if key in self._memory}
        try:
            return self._cache.get(keys)
        except sqlite3.Error as error:
            raise ModelError(f"{self._cache.path} cannot be read: {error}; remove it or name another") from error

    def _put(self, bodies: Mapping[str, bytes]) -> None:
        if self._cache is None:
            self._memory.update(bodies)
            return
        try:
            self._cache.put(bodies)
        except (SourceError, sqlite3.Error) as error:
            raise ModelError(f"{error}; nothing more is scored") from error

    def close(self) -> None:
        """Release the file."""
        if self._cache is not None:
            self._cache.close()


def _number(number: float | None) -> float:
    """JSON has no NaN: null stands for it."""
    return math.nan if number is None else number


class _KeptScores(Generic[M]):
    """What asks a model only for scores that are not kept."""

    def __init__(self, model: M, store: ScoreStore) -> None:
        self._model: M = model
        self._store = store

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model's."""
        return self._model.identity


class KeptEntailment(_KeptScores[EntailmentModel]):
    """An entailment model whose judgements are kept."""

    def entailments(self, pairs: Sequence[TextPair]) -> list[Entailment]:
        """As the model's."""
        return self._store.scores(
            {"entailment": self.identity}, pairs, lambda pair: [pair.premise, pair.hypothesis], self._model.entailments,
            lambda entailment: [entailment.entailed, entailment.neutral, entailment.refuted],
            lambda numbers: Entailment(*map(_number, numbers)),
        )  # fmt: skip


class KeptRelevance(_KeptScores[RelevanceModel]):
    """A relevance model whose scores are kept."""

    def relevances(self, pairs: Sequence[QueryPassage]) -> list[float]:
        """As the model's."""
        return self._store.scores(
            {"relevance": self.identity}, pairs, lambda pair: [pair.query, pair.passage], self._model.relevances,
            float, _number,
        )  # fmt: skip


class KeptContinuations(_KeptScores[ContinuationModel]):
    """A causal language model whose log-probabilities are kept."""

    def token_scores(self, given: Sequence[Continuation]) -> list[TokenScores]:
        """As the model's."""
        return self._store.scores(
            {"logprobs": self.identity}, given,
            lambda continuation: [continuation.prompt, continuation.text], self._model.token_scores,
            lambda scores: list(scores.logprobs), lambda numbers: TokenScores(tuple(map(_number, numbers))),
        )  # fmt: skip


class KeptCoherence(_KeptScores[CoherenceModel]):
    """A coherence model whose scores are kept."""

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]:
        """As the model's."""
        return self._store.scores(
            {"coherence": self.identity}, paragraphs, list, self._model.coherences, float, _number
        )


class KeptEmbeddings(_KeptScores[EmbeddingModel]):
    """An embedding model whose vectors are kept."""

    def embeddings(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """As the model's."""
        return self._store.scores(
            {"embedding": self.identity, "query": query}, texts, lambda one: one,
            lambda some: self._model.embeddings(some, query=query), list, list,
        )  # fmt: skip


def kept(model: M, store: ScoreStore) -> M:
    """The model, asked only for scores that `store` has not; by the one method of its protocol."""
    wrappers: dict[str, Callable[[Any, ScoreStore], Any]] = {
        "entailments": KeptEntailment, "relevances": KeptRelevance, "token_scores": KeptContinuations,
        "coherences": KeptCoherence, "embeddings": KeptEmbeddings,
    }  # fmt: skip
    wrapper = next(wrapper for method, wrapper in wrappers.items() if hasattr(model, method))
    wrapped: M = wrapper(model, store)
    return wrapped
