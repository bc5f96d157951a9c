"""Scores from servers, for each kind in the form of the servers that have it.

    log-probabilities   POST URL/completions, `echo`: OpenAI's older form, as vLLM, llama.cpp's Python server and others
    relevance           POST URL/rerank: vLLM, Jina, Cohere; text-embeddings-inference takes the same path
    entailment          POST URL/predict: text-embeddings-inference, with a classifier of pairs
    embeddings          POST URL/embeddings: OpenAI's form

No server is known for the coherence of paragraphs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from abstraction.models.local_scorers import classes_of, entailment_of
from abstraction.models.scoring_server import ScoringServer
from abstraction.models.text_scorers import (
    LEAST,
    Continuation,
    Entailment,
    QueryPassage,
    TextPair,
    TokenScores,
    of_length_one,
)

_TOGETHER = 32  # texts of one call for embeddings


class _ServerScorer:
    """What asks a server for one kind of scores."""

    _score: ClassVar[str]

    def __init__(self, server: ScoringServer) -> None:
        self._server = server

    @property
    def identity(self) -> Mapping[str, Any]:
        """The server."""
        return {**self._server.identity, "score": self._score}

    def close(self) -> None:
        """Release connections."""
        self._server.close()


class ServerContinuations(_ServerScorer):
    """The prompt and the text are sent as one, and come back token by token with log-probabilities.

    Tokens are the server's: one that ends behind the prompt is the text's. A server gives no number for the very first
    token unless it puts a start token before it; then a text without a prompt has one token less.
    """

    _score = "logprobs"

    def token_scores(self, given: Sequence[Continuation]) -> list[TokenScores]:
        """As `ContinuationModel.token_scores`."""
        return self._server.each(given, self._of)

    def _of(self, continuation: Continuation) -> TokenScores:
        if not continuation.text:
            return TokenScores(())
        path = "/completions"
        whole = continuation.prompt + continuation.text
        # Some servers refuse to make no token at all: one is made and left out.
        body = {
            "model": self._server.model, "prompt": whole, "max_tokens": 1, "temperature": 0,
            "logprobs": 1, "echo": True,
        }  # fmt: skip
        answer = self._server.post(path, body)
        try:
            echoed = answer["choices"][0]["logprobs"]
            tokens = [str(token) for token in echoed["tokens"]]
            logprobs = echoed["token_logprobs"]
            begins = _begins(tokens, whole, echoed.get("text_offset"))
            taken = [
                number
                for token, begin, number in zip(tokens, begins, logprobs, strict=True)
                if len(continuation.prompt) < begin + len(token)
                and begin < len(whole)
                and begin >= 0
                and number is not None
            ]
            scores = TokenScores(tuple(max(LEAST, min(0.0, float(number))) for number in taken))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise self._server.misread(path, answer) from error
        if not scores.logprobs and continuation.prompt:
            raise self._server.misread(path, "no log-probability of the text that was sent: does it know `echo`?")
        return scores


def _begins(tokens: Sequence[str], whole: str, offsets: object) -> list[int]:
    """Where each token begins in the text that was sent; below 0 for start tokens before it."""
    joined = "".join(tokens)
    at = joined.find(whole)
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
    """A reranker's scores of a query's passages, each call of one passage.

    Servers give a probability, or a logit where they are told not to normalise: a number outside [0, 1] is refused.
    """

    _score = "relevance"

    def relevances(self, pairs: Sequence[QueryPassage]) -> list[float]:
        """As `RelevanceModel.relevances`."""
        return self._server.each(pairs, self._of)

    def _of(self, pair: QueryPassage) -> float:
        path = "/rerank"
        # `documents` is read by most, `texts` by text-embeddings-inference.
        body = {
            "model": self._server.model, "query": pair.query, "documents": [pair.passage], "texts": [pair.passage],
        }  # fmt: skip
        answer = self._server.post(path, body)
        try:
            (ranked,) = answer["results"] if isinstance(answer, dict) else answer
            score = float(ranked["relevance_score"] if "relevance_score" in ranked else ranked["score"])
        except (KeyError, TypeError, ValueError) as error:
            raise self._server.misread(path, answer) from error
        if not 0 <= score <= 1:
            raise self._server.misread(path, f"a score of {score}, which is not from 0 to 1")
        return score


class ServerEntailment(_ServerScorer):
    """A classifier of pairs: premise and hypothesis in, every label with its probability out."""

    _score = "entailment"

    def entailments(self, pairs: Sequence[TextPair]) -> list[Entailment]:
        """As `EntailmentModel.entailments`."""
        return self._server.each(pairs, self._of)

    def _of(self, pair: TextPair) -> Entailment:
        path = "/predict"
        body = {"inputs": [[pair.premise, pair.hypothesis]], "raw_scores": False, "truncate": True}
        answer = self._server.post(path, body)
        try:
            predictions = answer[0] if isinstance(answer[0], list) else answer
            labels = [str(prediction["label"]) for prediction in predictions]
            shares = [float(prediction["score"]) for prediction in predictions]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise self._server.misread(path, answer) from error
        whole = math.fsum(shares)
        if not all(0 <= share <= 1 for share in shares) or abs(whole - 1) > 0.02:  # rounded as they are sent
            raise self._server.misread(path, f"probabilities that do not add up to 1: {shares}")
        return entailment_of([share / whole for share in shares], classes_of(labels, where=self._server.shown))


class ServerEmbeddings(_ServerScorer):
    """Vectors of texts, scaled to length 1; `query` makes no difference but for the prefixes."""

    _score = "embeddings"

    def __init__(self, server: ScoringServer, *, query_prefix: str = "", passage_prefix: str = "") -> None:
        super().__init__(server)
        self._prefixes = passage_prefix, query_prefix

    @property
    def identity(self) -> Mapping[str, Any]:
        """The server and the prefixes."""
        return {**super().identity, "prefixes": list(self._prefixes)}

    def embeddings(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """As `EmbeddingModel.embeddings`."""
        given = [self._prefixes[query] + text for text in texts]
        parts = [given[at : at + _TOGETHER] for at in range(0, len(given), _TOGETHER)]
        return [vector for part in self._server.each(parts, self._of) for vector in part]

    def _of(self, texts: Sequence[str]) -> list[list[float]]:
        path = "/embeddings"
        answer = self._server.post(path, {"model": self._server.model, "input": list(texts)})
        try:
            vector_of = {
                int(entry["index"]): [float(number) for number in entry["embedding"]] for entry in answer["data"]
            }
            return [of_length_one(vector_of[at]) for at in range(len(texts))]
        except (KeyError, TypeError, ValueError) as error:
            raise self._server.misread(path, answer) from error
