"""Scores of texts by any checkpoint that `transformers` loads: log-probabilities, entailment, relevance, coherence,
embeddings."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from abstraction.errors import ModelError
from abstraction.models.local_weights import LocalWeights, WeightSettings
from abstraction.models.text_scorers import (
    LEAST,
    Continuation,
    Entailment,
    Pooling,
    QueryPassage,
    TextPair,
    TokenScores,
    of_length_one,
)

# Coherence of paragraphs by a checkpoint that `transformers` loads: trained for it, or for the next sentence.


class _LocalScorer:
    """What scores by weights of its own."""

    _weights: LocalWeights

    def close(self) -> None:
        """Release the weights."""
        self._weights.close()


class LocalCoherence(_LocalScorer):
    """A paragraph as one text, its sentences joined by a space, under a head of sequence classification.

    How a score comes into [0, 1] is part of its identity: one output by its sigmoid, two by the probability of the
    second; or, with `low` and `high`, one output by (x - low) / (high - low), cut off at 0 and 1. A paragraph that is
    too long loses its end.
    """

    def __init__(
        self,
        place: Path | str,
        *,
        settings: WeightSettings | None = None,
        low: float | None = None,
        high: float | None = None,
    ) -> None:
        """Raises ModelError for a place without a model, one with more than two outputs, and bounds out of order."""
        self._weights = LocalWeights(place, head="AutoModelForSequenceClassification", settings=settings)
        self._bounds = None if low is None or high is None else (low, high)
        if (low is None) != (high is None) or (low is not None and high is not None and not low < high):
            raise ModelError(f"local:{place}: low={low} and high={high}; give both, the lower one first, or none")
        check_outputs_of(self._weights, most=1 if self._bounds else 2, what="a model of coherence")

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights and the normalisation."""
        how = f"bounds {self._bounds[0]:g} {self._bounds[1]:g}" if self._bounds else "sigmoid or second of two"
        return {**self._weights.identity, "score": "coherence", "normalised": how}

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]:
        """As `CoherenceModel.coherences`."""
        logits = self._weights.text_logits([" ".join(sentences) for sentences in paragraphs])
        return [self._normalised(own) for own in logits]

    def _normalised(self, logits: Sequence[float]) -> float:
        if self._bounds is None:
            return share_of(logits)
        low, high = self._bounds
        return min(1.0, max(0.0, (logits[0] - low) / (high - low)))


class LocalNextSentences(_LocalScorer):
    """The mean, over neighbouring sentences, of the probability that the second follows the first.

    For checkpoints with a head for that, as BERT has. A paragraph of one sentence, or none, has no neighbours: 1.
    """

    def __init__(self, place: Path | str, *, settings: WeightSettings | None = None) -> None:
        """Raises ModelError for a place without a model."""
        self._weights = LocalWeights(place, head="AutoModelForNextSentencePrediction", settings=settings)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights."""
        return {**self._weights.identity, "score": "coherence", "normalised": "mean probability of the next sentence"}

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]:
        """As `CoherenceModel.coherences`."""
        pairs = [pair for sentences in paragraphs for pair in pairwise(sentences)]
        shares = iter([softmax(row)[0] for row in self._weights.pair_logits(pairs)])  # the first output means "follows"
        coherences = []
        for sentences in paragraphs:
            pair_shares = [next(shares) for _ in sentences[1:]]
            coherences.append(math.fsum(pair_shares) / len(pair_shares) if pair_shares else 1.0)
        return coherences


# Natural language inference by any three-class checkpoint that `transformers` loads.

Class = Literal["entailed", "neutral", "refuted"]
CLASSES: tuple[Class, ...] = ("entailed", "neutral", "refuted")
# What checkpoints call the classes: those of MNLI, FEVER and FactCC, in capitals or not.
WORDS: Mapping[str, Class] = {
    "entailment": "entailed", "entailed": "entailed", "entail": "entailed", "supports": "entailed",
    "supported": "entailed", "correct": "entailed", "true": "entailed",
    "neutral": "neutral", "not enough info": "neutral", "nei": "neutral", "unverifiable": "neutral",
    "not entailment": "neutral",
    "contradiction": "refuted", "contradicted": "refuted", "contradict": "refuted", "refutes": "refuted",
    "refuted": "refuted", "incorrect": "refuted", "false": "refuted",
}  # fmt: skip


class LocalEntailment(_LocalScorer):
    """Premise and hypothesis as one pair, in this order, under a head of sequence classification.

    Which of the outputs is which class is read from the labels in the model's config. A pair that is too long loses
    the premise's end; where the hypothesis alone takes more than half of the room, the longer of the two loses its end
    until both fit. A head of two classes, as FactCC's or one of "entailment" and "not_entailment", gives the third
    class 0.
    """

    def __init__(
        self, place: Path | str, *, settings: WeightSettings | None = None, labels: Sequence[str] | None = None
    ) -> None:
        """`labels` names the classes of the outputs in order, for a checkpoint whose own labels say nothing.

        Raises ModelError for a place without a model, and for labels that cannot be read.
        """
        self._weights = LocalWeights(place, head="AutoModelForSequenceClassification", settings=settings)
        label_of = self._weights.config.id2label
        model_labels = [str(label_of[at]) for at in sorted(label_of)]
        self.classes = classes_of(labels or model_labels, where=f"local:{place}")
        if len(self.classes) != len(model_labels):
            raise ModelError(
                f"local:{place}: {len(self.classes)} labels are given, "
                f"the model has {len(model_labels)}: {model_labels}"
            )

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights and the classes of their outputs."""
        return {**self._weights.identity, "classes": list(self.classes)}

    def entailments(self, pairs: Sequence[TextPair]) -> list[Entailment]:
        """As `EntailmentModel.entailments`, by the softmax of the logits."""
        logits = self._weights.pair_logits([(pair.premise, pair.hypothesis) for pair in pairs])
        return [entailment_of(softmax(row), self.classes) for row in logits]


def classes_of(labels: Sequence[str], *, where: str) -> tuple[Class, ...]:
    """The class of each label. Raises ModelError where one is not known, or two mean the same."""
    words = [label.strip().lower().replace("_", " ").replace("-", " ") for label in labels]
    if any(word not in WORDS for word in words) or len(set(map(WORDS.get, words))) != len(words):
        raise ModelError(
            f"{where}: its labels are {', '.join(labels)}, which do not say what is entailed, neutral or refuted; "
            "give their classes in order, as in labels=refuted,neutral,entailed"
        )
    classes = tuple(WORDS[word] for word in words)
    if "entailed" not in classes or len(classes) < 2:
        raise ModelError(f"{where}: none of its labels ({', '.join(labels)}) means entailed, or there is no other")
    return classes


def softmax(logits: Sequence[float]) -> list[float]:
    """Probabilities of logits."""
    most = max(logits)
    powers = [math.exp(logit - most) for logit in logits]
    whole = math.fsum(powers)
    return [power / whole for power in powers]


def entailment_of(shares: Sequence[float], classes: Sequence[Class]) -> Entailment:
    """The judgement of probabilities in the order of `classes`; a class that is not there has 0."""
    by_class = dict(zip(classes, shares, strict=True))
    return Entailment(*(by_class.get(name, 0.0) for name in CLASSES))


# Relevance by any cross-encoder that `transformers` loads.


class LocalRelevance(_LocalScorer):
    """Query and passage as one pair, in this order, under a head of sequence classification.

    One output: its sigmoid. Two outputs, as rerankers of MS MARCO have: the probability of the second. A pair that is
    too long loses the passage's end; where the query alone takes more than half of the room, the longer of the two
    loses its end until both fit.
    """

    def __init__(self, place: Path | str, *, settings: WeightSettings | None = None) -> None:
        """Raises ModelError for a place without a model, and for one with more than two outputs."""
        self._weights = LocalWeights(place, head="AutoModelForSequenceClassification", settings=settings)
        check_outputs_of(self._weights, most=2, what="a reranker")

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights."""
        return {**self._weights.identity, "score": "relevance"}

    def relevances(self, pairs: Sequence[QueryPassage]) -> list[float]:
        """As `RelevanceModel.relevances`."""
        logits = self._weights.pair_logits([(pair.query, pair.passage) for pair in pairs], cut="second")
        return [share_of(row) for row in logits]


def check_outputs_of(weights: LocalWeights, *, most: int, what: str) -> None:
    """Raise ModelError for a head with more outputs."""
    outputs = weights.config.num_labels
    if outputs > most:
        raise ModelError(f"local:{weights.place} has {outputs} outputs; {what} has {' or '.join('12'[:most])}")


def sigmoid(logit: float) -> float:
    """1 / (1 + exp(-logit)), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    power = math.exp(logit)
    return power / (1.0 + power)


def share_of(logits: Sequence[float]) -> float:
    """The sigmoid of a single logit, else the probability of the last."""
    return sigmoid(logits[0]) if len(logits) == 1 else softmax(logits)[-1]


# Log-probabilities under any causal language model.


@dataclass(frozen=True, kw_only=True, slots=True)
class _Window:
    """Token ids that go through the model at once; those from `first` on are scored. `of` is the text's number."""

    of: int
    ids: tuple[int, ...]
    first: int


class LocalContinuations(_LocalScorer):
    """Prompt and text are tokenized together, and parted where the prompt's characters end.

    A start token stands before every prompt: the tokenizer's own, else its end token, as GPT-2 was trained; where it
    has neither, the very first token of a text alone is not scored. What is longer than the model holds goes through
    it in windows: each token is scored once, behind as many as fit or at least behind half a window.
    """

    def __init__(self, place: Path | str, *, settings: WeightSettings | None = None) -> None:
        """Raises ModelError for a place without a model."""
        self._weights = LocalWeights(place, head="AutoModelForCausalLM", settings=settings)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights."""
        return {**self._weights.identity, "score": "logprobs"}

    def token_scores(self, given: Sequence[Continuation]) -> list[TokenScores]:
        """As `ContinuationModel.token_scores`."""
        windows = [window for at, one in enumerate(given) for window in self._windows(at, one)]
        scores = self._weights.of_each(windows, lambda window: len(window.ids), self._run)
        parts: dict[int, list[float]] = {}
        for window, logprobs in zip(windows, scores, strict=True):
            parts.setdefault(window.of, []).extend(logprobs)
        return [TokenScores(tuple(parts.get(at, ()))) for at in range(len(given))]

    def _windows(self, of: int, continuation: Continuation) -> list[_Window]:
        ids, begin = self._ids(continuation)
        room = self._weights.room
        half = max(1, room // 2)
        windows: list[_Window] = []
        end = begin
        while end < len(ids):
            # The first window holds all that fits; the others half a window of what has not been scored.
            new = min(len(ids), max(begin + half, room)) if end == begin else min(len(ids), end + half)
            start = max(0, new - room)
            windows.append(_Window(of=of, ids=tuple(ids[start:new]), first=end - start))
            end = new
        return windows

    def _ids(self, continuation: Continuation) -> tuple[list[int], int]:
        """Token ids of prompt and text, and which is the first that is scored."""
        tokenizer = self._weights.tokenizer
        if not continuation.text:
            return [], 0
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if not tokenizer.is_fast:  # without offsets the two are tokenized apart
            before = (
                list(tokenizer(continuation.prompt, add_special_tokens=False)["input_ids"])
                if continuation.prompt
                else []
            )
            ids = before + list(tokenizer(continuation.text, add_special_tokens=False)["input_ids"])
            begin = len(before)
        else:
            encoding = tokenizer(
                continuation.prompt + continuation.text, add_special_tokens=False, return_offsets_mapping=True
            )
            ids = list(encoding["input_ids"])
            ends = [end for _, end in encoding["offset_mapping"]]
            begin = next((at for at, end in enumerate(ends) if end > len(continuation.prompt)), len(ids))
        if start is not None:
            return [start, *ids], begin + 1
        return ids, max(1, begin)

    def _run(self, windows: Sequence[_Window]) -> list[list[float]]:
        import torch

        weights = self._weights
        model, pad = weights.model, weights.tokenizer.pad_token_id or 0
        longest = max(len(window.ids) for window in windows)
        ids = torch.full((len(windows), longest), pad, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window.ids)] = torch.tensor(window.ids, dtype=torch.long)
            mask[row, : len(window.ids)] = 1
        least = min(window.first for window in windows) - 1
        more: dict[str, Any] = {}
        if "logits_to_keep" in inspect.signature(type(model).forward).parameters:
            # No logits for what is not scored: they are most of the memory.
            more["logits_to_keep"] = torch.arange(least, longest, device=weights.device)
        logits = model(
            input_ids=ids.to(weights.device), attention_mask=mask.to(weights.device), use_cache=False, **more
        ).logits
        shift = least if more else 0
        scores: list[list[float]] = []
        for row, window in enumerate(windows):
            row_logits = logits[row, window.first - 1 - shift : len(window.ids) - 1 - shift].float()
            targets = torch.tensor(window.ids[window.first :], device=row_logits.device)
            logprobs = row_logits.gather(1, targets[:, None])[:, 0] - row_logits.logsumexp(dim=1)
            scores.append([max(LEAST, logprob) if logprob < 0 else logprob for logprob in logprobs.cpu().tolist()])
        return scores


# Texts as vectors, by any encoder.


class LocalEmbeddings(_LocalScorer):
    """The last layer's vectors, their `mean` over a text's tokens or the `first`; a text too long loses its end.

    `query_prefix` and `passage_prefix` are what some checkpoints were trained to see before texts.
    """

    def __init__(
        self,
        place: Path | str,
        *,
        settings: WeightSettings | None = None,
        pooling: Pooling = "mean",
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        """Raises ModelError for a place without a model."""
        self._weights = LocalWeights(place, head="AutoModel", settings=settings)
        self._pooling = pooling
        self._prefixes = passage_prefix, query_prefix

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights, the pooling and the prefixes."""
        return {**self._weights.identity, "pooling": self._pooling, "prefixes": list(self._prefixes)}

    def embeddings(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """As `EmbeddingModel.embeddings`."""
        tokenizer, model = self._weights.tokenizer, self._weights.model
        encoded = [
            tokenizer(self._prefixes[query] + text, truncation=True, max_length=self._weights.room) for text in texts
        ]

        def run(some: Sequence[Any]) -> list[list[float]]:
            padded = tokenizer.pad([dict(encoding) for encoding in some], padding=True, return_tensors="pt")
            padded = padded.to(self._weights.device)
            states = model(**padded).last_hidden_state.float()
            mask = padded["attention_mask"][:, :, None].to(states.dtype)
            pooled = states[:, 0] if self._pooling == "first" else (states * mask).sum(1) / mask.sum(1).clamp(min=1)
            vectors: list[list[float]] = pooled.cpu().tolist()
            return [of_length_one(vector) for vector in vectors]

        return self._weights.of_each(encoded, lambda encoding: len(encoding["input_ids"]), run)
