"""Scores from servers, for each kind in the form of the servers that have it, many texts in one call.

    log-probabilities   POST URL/completions, `echo`: OpenAI's older form, as vLLM, llama.cpp's Python server and others
    relevance           POST URL/rerank: vLLM, Jina, Cohere; text-embeddings-inference takes the same path
    entailment          POST URL/predict: text-embeddings-inference, with a classifier of pairs
    embeddings          POST URL/embeddings: OpenAI's form

A list that a server refuses, or fails over, is sent again text by text, and so is what follows. No server is known for
the coherence of paragraphs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, ClassVar, TypeVar

from abstraction.errors import ModelError
from abstraction.models.chat_model import FailureReason
from abstraction.models.http_client import CallFailed, ServerClient
from abstraction.models.text_scorers import (
    LEAST,
    Continuation,
    Entailment,
    QueryPassage,
    TextPair,
    TokenScores,
    classes_of,
    entailment_of,
)

_NO_LIST = {FailureReason.REFUSED, FailureReason.SERVER_ERROR, FailureReason.BAD_ANSWER}
TOGETHER = 32  # texts in one call, which is what text-embeddings-inference takes at most by default
T = TypeVar("T")
R = TypeVar("R")


class _ServerScorer:
    """What asks a server for one kind of scores."""

    _score: ClassVar[str]
    _path: ClassVar[str]

    def __init__(self, client: ServerClient, *, batch: int = TOGETHER) -> None:
        """`batch`: texts in one call."""
        self._client, self._batch = client, batch
        self._one_by_one = False  # lists are refused, or fail

    @property
    def identity(self) -> Mapping[str, Any]:
        """The server's address, the model's name, and what is asked of it."""
        return {"kind": "openai", "url": self._client.url, "model": self._client.model, "score": self._score}

    @property
    def block(self) -> int:
        """How many texts are worth giving at a time."""
        return self._batch * self._client.settings.concurrency

    def close(self) -> None:
        """Release connections."""
        self._client.close()

    def _each(
        self,
        parts: Iterable[Sequence[T]],
        body: Callable[[Sequence[T]], Mapping[str, Any]],
        read: Callable[[Any, Sequence[T]], Sequence[R]],
    ) -> list[R]:
        """What `read` finds in the answer of each part, one for each of its texts."""

        async def ask(part: Sequence[T]) -> list[R]:
            try:
                if len(part) == 1 or not self._one_by_one:
                    sent = {"model": self._client.model, **body(part)}
                    return await self._client.post(self._path, sent, lambda answer: self._read(answer, part, read))
            except CallFailed as failure:
                if len(part) == 1 or failure.reason not in _NO_LIST:
                    raise ModelError(str(failure)) from failure
                self._one_by_one = True
            return [found for one in part for found in await ask([one])]

        return [found for part in self._client.in_order(parts, ask) for found in part]

    def _read(self, answer: Any, part: Sequence[T], read: Callable[[Any, Sequence[T]], Sequence[R]]) -> list[R]:
        try:
            found = list(read(answer, part))
            if len(found) != len(part):
                raise ValueError(f"{len(found)} scores of {len(part)} texts")
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, ModelError) as error:
            # Asked again it would answer the same: what is refused, as it were.
            raise CallFailed(
                FailureReason.REFUSED,
                f"{self._client.shown}: {self._path} answered in another form than is known ({error}): "
                f"{str(answer)[:300]}",
            ) from error
        return found


def _lists(texts: Iterable[T], size: int) -> Iterator[Sequence[T]]:
    source = iter(texts)
    while part := list(islice(source, size)):
        yield part


def _in_order(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Entries by their index, which servers may give in any order."""
    return sorted(entries, key=lambda entry: int(entry.get("index", 0)))


class ServerContinuations(_ServerScorer):
    """The prompt and the text are sent as one, and come back token by token with log-probabilities.

    Tokens are the server's: one that ends behind the prompt is the text's. A server gives no number for the very first
    token unless it puts a start token before it; then a text without a prompt has one token less.
    """

    _score, _path = "logprobs", "/completions"

    def token_scores(self, given: Sequence[Continuation]) -> list[TokenScores]:
        """As `ContinuationModel.token_scores`."""
        texts = [one for one in given if one.text]
        scores = iter(self._each(_lists(texts, self._batch), self._body, self._scores))
        return [next(scores) if one.text else TokenScores(()) for one in given]

    def _body(self, part: Sequence[Continuation]) -> Mapping[str, Any]:
        whole = [one.prompt + one.text for one in part]
        # Some servers refuse to make no token at all: one is made and left out. One text goes as all servers take it.
        prompt = whole if len(whole) > 1 else whole[0]
        return {"prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": 1, "echo": True}

    def _scores(self, answer: Any, part: Sequence[Continuation]) -> list[TokenScores]:
        choices = _in_order(answer["choices"])
        return [_echoed(one, choice["logprobs"]) for one, choice in zip(part, choices, strict=True)]


def _echoed(one: Continuation, echoed: Mapping[str, Any]) -> TokenScores:
    whole = one.prompt + one.text
    tokens = [str(token) for token in echoed["tokens"]]
    begins = _begins(tokens, whole, echoed.get("text_offset"))
    taken = [
        number
        for token, begin, number in zip(tokens, begins, echoed["token_logprobs"], strict=True)
        if len(one.prompt) < begin + len(token) and 0 <= begin < len(whole) and number is not None
    ]
    if not taken and one.prompt:
        raise ValueError("no log-probability of the text that was sent: does it know `echo`?")
    return TokenScores(tuple(max(LEAST, min(0.0, float(number))) for number in taken))


def _begins(tokens: Sequence[str], whole: str, offsets: object) -> list[int]:
    """Where each token begins in the text that was sent; below 0 for start tokens before it."""
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


class ServerRelevance(_ServerScorer):
    """A reranker's scores, the passages of one query in one call.

    Servers give a probability, or a logit where they are told not to normalise: a number outside [0, 1] is refused.
    """

    _score, _path = "relevance", "/rerank"

    def relevances(self, pairs: Sequence[QueryPassage]) -> list[float]:
        """As `RelevanceModel.relevances`."""
        by_query = (group for _, group in groupby(pairs, key=lambda pair: pair.query))
        return self._each((part for group in by_query for part in _lists(group, self._batch)), _passages, _ranked)


def _passages(part: Sequence[QueryPassage]) -> Mapping[str, Any]:
    passages = [pair.passage for pair in part]
    # `documents` is read by most, `texts` by text-embeddings-inference.
    return {"query": part[0].query, "documents": passages, "texts": passages}


def _ranked(answer: Any, part: Sequence[QueryPassage]) -> list[float]:
    ranked = _in_order(answer["results"] if isinstance(answer, dict) else answer)
    scores = [float(one["relevance_score"] if "relevance_score" in one else one["score"]) for one in ranked]
    if not all(0 <= score <= 1 for score in scores):
        raise ValueError(f"scores of {min(scores)} to {max(scores)}, which are not from 0 to 1")
    return scores


class ServerEntailment(_ServerScorer):
    """A classifier of pairs: premise and hypothesis in, every label with its probability out."""

    _score, _path = "entailment", "/predict"

    def entailments(self, pairs: Sequence[TextPair]) -> list[Entailment]:
        """As `EntailmentModel.entailments`."""
        return self._each(_lists(pairs, self._batch), _premises, self._judged)

    def _judged(self, answer: Any, part: Sequence[TextPair]) -> list[Entailment]:
        """Also one list of labels alone, as an answer to one pair."""
        rows = [answer] if answer and isinstance(answer[0], dict) else answer
        return [self._entailment(row) for row in rows]

    def _entailment(self, row: Sequence[Mapping[str, Any]]) -> Entailment:
        shares = [float(entry["score"]) for entry in row]
        whole = math.fsum(shares)
        if not 0.99 <= whole <= 1.01 or min(shares) < 0:
            raise ValueError(f"probabilities that do not add up to 1: {shares}")
        classes = classes_of([str(entry["label"]) for entry in row], where=self._client.shown)
        return entailment_of([share / whole for share in shares], classes)


def _premises(part: Sequence[TextPair]) -> Mapping[str, Any]:
    return {"inputs": [[pair.premise, pair.hypothesis] for pair in part], "raw_scores": False, "truncate": True}


class ServerEmbeddings(_ServerScorer):
    """Vectors of texts, scaled to length 1; `query` makes no difference but for the prompts."""

    _score, _path = "embeddings", "/embeddings"

    def __init__(
        self, client: ServerClient, *, batch: int = TOGETHER, query_prompt: str = "", passage_prompt: str = ""
    ) -> None:
        super().__init__(client, batch=batch)
        self._prompts = passage_prompt, query_prompt

    @property
    def identity(self) -> Mapping[str, Any]:
        """The server and the prompts."""
        return {**super().identity, "prompts": list(self._prompts)}

    def embeddings(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """As `EmbeddingModel.embeddings`."""
        given = [self._prompts[query] + text for text in texts]
        return self._each(_lists(given, self._batch), lambda part: {"input": list(part)}, _vectors)


def _vectors(answer: Any, part: Sequence[str]) -> list[list[float]]:
    vectors = [[float(number) for number in entry["embedding"]] for entry in _in_order(answer["data"])]
    lengths = [math.hypot(*vector) for vector in vectors]
    return [[number / (length or 1.0) for number in vector] for vector, length in zip(vectors, lengths, strict=True)]
