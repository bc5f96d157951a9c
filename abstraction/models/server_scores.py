"""Scores from servers, for each kind in the form of the servers that have it, many texts in one call.

    log-probabilities   POST URL/completions, `echo`: OpenAI's older form, as vLLM, llama.cpp's Python server and others
    relevance           POST URL/rerank: vLLM, Jina, Cohere; text-embeddings-inference takes the same path
    embeddings          POST URL/embeddings: OpenAI's form

Entailment, and the coherence of paragraphs, are judged by weights on this machine.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar, Generic, TypeVar

from abstraction.errors import ModelError
from abstraction.models.chat_model import FailureReason, NoAnswer
from abstraction.models.http_client import ServerClient
from abstraction.models.spec import ServerEmbeddingSettings, ServerScoreSettings
from abstraction.models.text_scorers import LEAST, Continuation, EmbeddedText, QueryPassage, TokenScores

T = TypeVar("T")
R = TypeVar("R")


class _ServerScorer(ABC, Generic[T, R]):
    """A client of one kind of scores of a server."""

    _kind: ClassVar[str]
    _path: ClassVar[str]

    def __init__(self, client: ServerClient, settings: ServerScoreSettings | None = None) -> None:
        self._client, self._settings = client, settings or ServerScoreSettings()
        self.identity: Mapping[str, Any] = {
            "kind": "openai", "url": client.url, "model": client.model, "score": self._kind
        }  # fmt: skip

    @property
    def block(self) -> int:
        """How many texts are worth giving at a time."""
        return self._settings.batch * self._client.concurrency

    def close(self) -> None:
        """Release connections."""
        self._client.close()

    def scores(self, items: Sequence[T], /) -> list[R]:
        """As `TextScorer.scores`."""

        async def ask(part: Sequence[T]) -> list[R]:
            sent = {"model": self._client.model, **self._request_body(part)}
            try:
                return await self._client.post(self._path, sent, lambda answer: self._read(answer, part))
            except NoAnswer as failure:
                lists = "" if len(part) == 1 else "; does the server take lists of texts? batch=1 sends them one by one"
                raise ModelError(f"{failure}{lists}") from failure

        return [found for part in self._client.in_order(self._batches(items), ask) for found in part]

    def _batches(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        """The parts of the items, one per call."""
        return (items[at : at + self._settings.batch] for at in range(0, len(items), self._settings.batch))

    @abstractmethod
    def _request_body(self, part: Sequence[T]) -> Mapping[str, Any]:
        """The body for some items."""

    @abstractmethod
    def _scores_in_answer(self, answer: Any, part: Sequence[T]) -> Sequence[R]:
        """The scores in an answer; any error of reading means another form."""

    def _read(self, answer: Any, part: Sequence[T]) -> list[R]:
        try:
            found = list(self._scores_in_answer(answer, part))
            if len(found) != len(part):
                raise ValueError(f"{len(found)} scores of {len(part)} texts")
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, ModelError) as error:
            # Not tried again: the server would answer the same.
            raise NoAnswer(
                FailureReason.REFUSED,
                f"{self._client.shown}: {self._path} answered in another form than is known ({error}): "
                f"{str(answer)[:300]}",
            ) from error
        return found


def _sorted_by_index(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Entries by their index, which servers may give in any order. Raises ValueError for wrong ones."""
    if all(entry.get("index") is None for entry in entries):
        return list(entries)  # as they are
    ordered = sorted(entries, key=lambda entry: int(entry["index"]))
    if (indices := [entry["index"] for entry in ordered]) != list(range(len(ordered))):
        raise ValueError(f"indices {indices} of {len(ordered)} entries")
    return ordered


class ServerContinuations(_ServerScorer[Continuation, TokenScores]):
    """The prompt and the text are sent as one, and come back token by token with log-probabilities.

    Tokens are the server's: one that ends behind the prompt is the text's. A server gives no number for the very first
    token unless it puts a start token before it; then a text without a prompt has one token less.
    """

    _kind, _path = "logprobs", "/completions"

    def scores(self, items: Sequence[Continuation], /) -> list[TokenScores]:
        """As `TextScorer.scores`; of empty texts nothing is asked."""
        asked = iter(super().scores([one for one in items if one.text]))
        return [next(asked) if one.text else TokenScores(()) for one in items]

    def _request_body(self, part: Sequence[Continuation]) -> Mapping[str, Any]:
        whole = [one.prompt + one.text for one in part]
        # Some servers refuse to make no token at all: one is made and left out. One text goes as all servers take it.
        prompt = whole if len(whole) > 1 else whole[0]
        return {"prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": 1, "echo": True}

    def _scores_in_answer(self, answer: Any, part: Sequence[Continuation]) -> list[TokenScores]:
        choices = _sorted_by_index(answer["choices"])
        return [_scores_of_echoed_tokens(one, choice["logprobs"]) for one, choice in zip(part, choices, strict=True)]


def _scores_of_echoed_tokens(one: Continuation, echoed: Mapping[str, Any]) -> TokenScores:
    whole = one.prompt + one.text
    tokens = [str(token) for token in echoed["tokens"]]
    begins = _token_starts(tokens, whole, echoed.get("text_offset"))
    taken = [
        number
        for token, begin, number in zip(tokens, begins, echoed["token_logprobs"], strict=True)
        if len(one.prompt) < begin + len(token) and 0 <= begin < len(whole) and number is not None
    ]
    if not taken and one.prompt:
        raise ValueError("no log-probability of the text that was sent: does it know `echo`?")
    return TokenScores(tuple(max(LEAST, min(0.0, float(number))) for number in taken))


def _token_starts(tokens: Sequence[str], whole: str, offsets: object) -> list[int]:
    """The place where each token begins in the sent text; below 0 for start tokens before it."""
    at = "".join(tokens).find(whole)
    if at >= 0:
        begins, here = [], -at
        for token in tokens:
            begins.append(here)
            here += len(token)
        return begins
    if isinstance(offsets, list) and len(offsets) == len(tokens):
        return [int(offset) for offset in offsets]
    raise ValueError("tokens that do not make up the text, without offsets")


class ServerRelevance(_ServerScorer[QueryPassage, float]):
    """A reranker's scores, the passages of one query in one call.

    Servers give a probability, or a logit where they are told not to normalise: a number outside [0, 1] is refused.
    """

    _kind, _path = "relevance", "/rerank"

    def _batches(self, items: Sequence[QueryPassage]) -> Iterator[Sequence[QueryPassage]]:
        by_query = groupby(items, key=lambda pair: pair.query)
        return (part for _, group in by_query for part in super(ServerRelevance, self)._batches(list(group)))

    def _request_body(self, part: Sequence[QueryPassage]) -> Mapping[str, Any]:
        passages = [pair.passage for pair in part]
        # `documents` is read by most, `texts` by text-embeddings-inference.
        return {"query": part[0].query, "documents": passages, "texts": passages}

    def _scores_in_answer(self, answer: Any, part: Sequence[QueryPassage]) -> list[float]:
        ranked = _sorted_by_index(answer["results"] if isinstance(answer, dict) else answer)
        if len(ranked) > 1 and ranked[0].get("index") is None:  # they come by rank
            raise ValueError("passages without an index")
        scores = [float(one["relevance_score"] if "relevance_score" in one else one["score"]) for one in ranked]
        if not all(0 <= score <= 1 for score in scores):
            raise ValueError(f"scores of {min(scores)} to {max(scores)}, which are not from 0 to 1")
        return scores


class ServerEmbeddings(_ServerScorer[EmbeddedText, list[float]]):
    """Vectors of texts, scaled to length 1; a query differs from other texts in its prompt alone."""

    _kind, _path = "embeddings", "/embeddings"

    def __init__(self, client: ServerClient, settings: ServerEmbeddingSettings | None = None) -> None:
        settings = settings or ServerEmbeddingSettings()
        super().__init__(client, settings)
        self._prompts = settings.passage_prompt or "", settings.query_prompt or ""
        self.identity = {**self.identity, "prompts": list(self._prompts)}

    def _request_body(self, part: Sequence[EmbeddedText]) -> Mapping[str, Any]:
        return {"input": [self._prompts[one.query] + one.text for one in part]}

    def _scores_in_answer(self, answer: Any, part: Sequence[EmbeddedText]) -> list[list[float]]:
        vectors = [[float(number) for number in entry["embedding"]] for entry in _sorted_by_index(answer["data"])]
        if not all(vectors):
            raise ValueError("an empty vector")
        lengths = [math.hypot(*vector) for vector in vectors]
        return [
            [number / (length or 1.0) for number in vector] for vector, length in zip(vectors, lengths, strict=True)
        ]
