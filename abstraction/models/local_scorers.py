"""Scores of texts by weights on this machine, with what well-kept libraries do left to them.

`sentence-transformers` makes embeddings (a folder's own pooling, length and prompts) and runs cross-encoders;
log-probabilities are a plain batched forward pass of `transformers`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from abstraction.errors import ModelError
from abstraction.models.local_weights import MODELS_HELP, LocalSettings, LocalWeights, causal_model
from abstraction.models.text_scorers import (
    LEAST,
    Continuation,
    EmbeddedText,
    Entailment,
    QueryPassage,
    TextPair,
    TokenScores,
    classes_of,
    entailment_of,
)


class _LocalScorer:
    """What scores by weights of its own; `more` are its own settings that scores depend on."""

    _weights: LocalWeights
    more: Mapping[str, Any]

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights, how many tokens of a text they are given, and what else scores depend on."""
        return {**self._weights.identity, "longest": self._weights.settings.longest, **self.more}

    @property
    def block(self) -> int:
        """How many texts are worth giving at a time."""
        return self._weights.block

    def close(self) -> None:
        """Release the weights."""
        self._weights.close()


def _sentence_transformers() -> Any:
    try:
        import sentence_transformers
    except ImportError as error:
        raise ModelError(f"{MODELS_HELP} (no {error.name})") from error
    return sentence_transformers


# Pairs of texts under a head of sequence classification.


class LocalClassifier(_LocalScorer):
    """A cross-encoder: the outputs of its head for pairs of texts, or for texts alone."""

    def __init__(self, place: Path | str, *, settings: LocalSettings | None = None, outputs: int | None = None) -> None:
        """`outputs`: how many there may be. Raises ModelError for a place without a model, or without such a head."""
        self.more = {}
        self._weights = LocalWeights(place, _cross_encoder, settings=settings)
        architectures = getattr(self._weights.config, "architectures", None) or []
        modules = Path(place) / "modules.json"
        if not modules.is_file() and not any(name.endswith("ForSequenceClassification") for name in architectures):
            raise ModelError(
                f"local:{place} has no weights for a classifier: it was trained as {', '.join(architectures) or '?'}, "
                "not for sequence classification; name a checkpoint that was"
            )
        label_of = self._weights.config.id2label
        self.labels = [str(label_of[at]) for at in sorted(label_of)]
        if outputs is not None and len(self.labels) > outputs:
            raise ModelError(
                f"local:{place} has {len(self.labels)} outputs; {type(self).__name__.removeprefix('Local').lower()} is "
                f"read from {' or '.join('12'[:outputs])}"
            )

    def logits(self, pairs: Sequence[tuple[str, str]], *, cut: Literal["first", "second"]) -> list[list[float]]:
        """The outputs for each pair, as 32-bit floats, [pairs][outputs].

        A pair that is too long loses the end of the text that `cut` names; where the other alone takes more than half
        of the room, the longer of the two loses its end until both fit.
        """
        encoder = self._weights.model
        kept = [pair[1 if cut == "first" else 0] for pair in pairs]
        half = encoder.max_seq_length // 2
        # Tokens are no more than bytes, so that most texts need not be tokenized to know.
        doubtful = [at for at, text in enumerate(kept) if len(text.encode()) > half]
        counted = encoder.tokenizer([kept[at] for at in doubtful], add_special_tokens=False) if doubtful else {}
        long = {at for at, ids in zip(doubtful, counted.get("input_ids", ()), strict=True) if len(ids) > half}
        usual = [at for at in range(len(pairs)) if at not in long]
        outputs = self._of([pairs[at] for at in usual], f"only_{cut}")
        outputs += self._of([pairs[at] for at in sorted(long)], "longest_first")
        by_place = dict(zip([*usual, *sorted(long)], outputs, strict=True))
        return [by_place[at] for at in range(len(pairs))]

    def text_logits(self, texts: Sequence[str]) -> list[list[float]]:
        """The outputs for each text alone; one that is too long loses its end."""
        import torch

        def run(part: Sequence[str], batch: int) -> list[list[float]]:
            encoder, order = self._weights.model, sorted(range(len(part)), key=lambda at: -len(part[at]))
            scores: list[torch.Tensor] = []
            for start in range(0, len(part), batch):  # `predict` takes two texts alone for a pair
                features = encoder.preprocess([part[at] for at in order[start : start + batch]])
                there = {name: one.to(self._weights.device) for name, one in features.items() if name != "modality"}
                scores.append(encoder({**features, **there})["scores"].float())
            rows: list[list[float]] = torch.cat(scores)[torch.tensor(order).argsort()].cpu().tolist()
            return rows

        return self._weights.of_each(texts, run)

    def _of(self, inputs: Sequence[Any], truncation: str) -> list[list[float]]:
        import torch

        def run(part: Sequence[Any], batch: int) -> list[list[float]]:
            scores = self._weights.model.predict(
                list(part), batch_size=batch, activation_fn=torch.nn.Identity(), convert_to_tensor=True,
                show_progress_bar=False, processing_kwargs={"text": {"truncation": truncation}},
            )  # fmt: skip
            rows: list[list[float]] = scores.float().reshape(len(part), -1).cpu().tolist()
            return rows

        return self._weights.of_each(inputs, run)


def _cross_encoder(weights: LocalWeights) -> Any:
    options = {"model_kwargs": {"dtype": weights.options["dtype"]}, "local_files_only": weights.is_folder}
    encoder = _sentence_transformers().CrossEncoder(weights.place, device=weights.device, **options)
    encoder.max_seq_length = weights.longest(encoder.max_seq_length)
    if encoder.tokenizer.pad_token_id is None:  # as decoders with a head have it
        encoder.tokenizer.pad_token = encoder.tokenizer.eos_token or encoder.tokenizer.unk_token
    text = encoder.transformers_model.config.get_text_config()
    if text.pad_token_id is None:
        text.pad_token_id = encoder.tokenizer.pad_token_id
    return encoder


class LocalEntailment(LocalClassifier):
    """Premise and hypothesis as one pair, in this order; a pair that is too long loses the premise's end.

    Which of the outputs is which class is read from the labels in the model's config. A head of two classes, as
    FactCC's or one of "entailment" and "not_entailment", gives the third class 0.
    """

    def __init__(
        self, place: Path | str, *, settings: LocalSettings | None = None, labels: Sequence[str] | None = None
    ) -> None:
        """`labels` names the classes of the outputs in order, for a checkpoint whose own labels say nothing.

        Raises ModelError for a place without a model, and for labels that cannot be read.
        """
        super().__init__(place, settings=settings)
        self.classes = classes_of(labels or self.labels, where=f"local:{place}")
        if len(self.classes) != len(self.labels):
            raise ModelError(
                f"local:{place}: {len(self.classes)} labels are given, the model has {len(self.labels)}: {self.labels}"
            )
        self.more = {"classes": list(self.classes)}

    def scores(self, items: Sequence[TextPair], /) -> list[Entailment]:
        """As `TextScorer.scores`, by the softmax of the logits."""
        logits = self.logits([(pair.premise, pair.hypothesis) for pair in items], cut="first")
        return [entailment_of(row, self.classes) for row in _softmax(logits)]


class LocalRelevance(LocalClassifier):
    """Query and passage as one pair, in this order; a pair that is too long loses the passage's end.

    One output: its sigmoid. Two outputs, as rerankers of MS MARCO have: the probability of the second.
    """

    def __init__(self, place: Path | str, *, settings: LocalSettings | None = None) -> None:
        """Raises ModelError for a place without a model, and for one with more than two outputs."""
        super().__init__(place, settings=settings, outputs=2)
        self.more = {"score": "relevance"}

    def scores(self, items: Sequence[QueryPassage], /) -> list[float]:
        """As `TextScorer.scores`."""
        return _shares(self.logits([(pair.query, pair.passage) for pair in items], cut="second"))


class LocalCoherence(LocalClassifier):
    """A paragraph as one text, its sentences joined by a space; one that is too long loses its end.

    How a score comes into [0, 1] is part of its identity: one output by its sigmoid, two by the probability of the
    second; or, with `low` and `high`, one output by (x - low) / (high - low), cut off at 0 and 1.
    """

    def __init__(
        self,
        place: Path | str,
        *,
        settings: LocalSettings | None = None,
        low: float | None = None,
        high: float | None = None,
    ) -> None:
        """Raises ModelError for a place without a model, one with more than two outputs, and bounds out of order."""
        if (low is None) != (high is None) or (low is not None and high is not None and not low < high):
            raise ModelError(f"local:{place}: low={low} and high={high}; give both, the lower one first, or none")
        self._bounds = None if low is None or high is None else (low, high)
        super().__init__(place, settings=settings, outputs=1 if self._bounds else 2)
        how = f"bounds {self._bounds[0]:g} {self._bounds[1]:g}" if self._bounds else "sigmoid or second of two"
        self.more = {"score": "coherence", "normalised": how}

    def scores(self, items: Sequence[Sequence[str]], /) -> list[float]:
        """As `TextScorer.scores`."""
        logits = self.text_logits([" ".join(sentences) for sentences in items])
        if self._bounds is None:
            return _shares(logits)
        low, high = self._bounds
        return [min(1.0, max(0.0, (row[0] - low) / (high - low))) for row in logits]


def _softmax(logits: Sequence[Sequence[float]]) -> list[list[float]]:
    import torch

    rows: list[list[float]] = torch.tensor(logits, dtype=torch.float64).softmax(-1).tolist() if logits else []
    return rows


def _shares(logits: Sequence[Sequence[float]]) -> list[float]:
    """The sigmoid of single logits, else the probability of the last: the softmax over it and 0."""
    return [row[-1] for row in _softmax([[0.0, *row] if len(row) == 1 else row for row in logits])]


# Texts as vectors.


class LocalEmbeddings(_LocalScorer):
    """Vectors as the folder says: its pooling, its length, its prompts for queries and passages.

    A folder that says nothing of pooling is a plain encoder: `pooling` is then the mean over a text's tokens, or the
    first ("cls"). `query_prompt` and `passage_prompt` stand before texts instead of the folder's own.
    """

    def __init__(
        self,
        place: Path | str,
        *,
        settings: LocalSettings | None = None,
        pooling: Literal["mean", "cls", "max"] | None = None,
        query_prompt: str | None = None,
        passage_prompt: str | None = None,
    ) -> None:
        """Raises ModelError for a place without a model, and for a pooling beside the folder's own."""
        self._pooling = pooling
        self._prompts = {"passage": passage_prompt, "query": query_prompt}
        self._weights = LocalWeights(place, self._encoder, settings=settings)
        self.more = {"pooling": pooling, "prompts": self._prompts}
        if pooling is not None and (Path(place) / "modules.json").is_file():
            raise ModelError(f"local:{place} says itself how it pools, in modules.json; leave out pooling={pooling}")

    def _encoder(self, weights: LocalWeights) -> Any:
        library = _sentence_transformers()
        options = {"model_kwargs": {"dtype": weights.options["dtype"]}, "local_files_only": weights.is_folder}
        encoder = library.SentenceTransformer(weights.place, device=weights.device, **options)
        if self._pooling is not None:
            from sentence_transformers.sentence_transformer.modules import Pooling

            encoder[1] = Pooling(encoder.get_embedding_dimension(), pooling_mode=self._pooling)
        encoder.max_seq_length = weights.longest(encoder.max_seq_length)
        return encoder

    def scores(self, items: Sequence[EmbeddedText], /) -> list[list[float]]:
        """As `TextScorer.scores`."""
        vectors: dict[int, list[float]] = {}
        for query in (False, True):
            of_kind = [at for at, one in enumerate(items) if one.query is query]
            vectors.update(zip(of_kind, self._vectors([items[at].text for at in of_kind], query), strict=True))
        return [vectors[at] for at in range(len(items))]

    def _vectors(self, texts: Sequence[str], query: bool) -> list[list[float]]:
        prompt = self._prompts["query" if query else "passage"]

        def run(part: Sequence[str], batch: int) -> list[list[float]]:
            encoder = self._weights.model
            encode = encoder.encode_query if query else encoder.encode_document
            vectors = encode(
                list(part), prompt=prompt, batch_size=batch, normalize_embeddings=True, convert_to_tensor=True,
                show_progress_bar=False,
            )  # fmt: skip
            rows: list[list[float]] = vectors.float().cpu().tolist()
            return rows

        return self._weights.of_each(texts, run)


# Log-probabilities under any causal language model.


@dataclass(frozen=True, kw_only=True, slots=True)
class _Window:
    """Token ids that go through the model at once; those from `first` on are scored. `of` is the text's number."""

    of: int
    ids: Sequence[int]
    first: int


class LocalContinuations(_LocalScorer):
    """Prompt and text are tokenized together, and parted where the prompt's characters end.

    A start token stands before every prompt: the tokenizer's own, else its end token, as GPT-2 was trained; where it
    has neither, the very first token of a text alone is not scored. What is longer than the model holds goes through
    it in windows: each token is scored once, behind as many as fit or at least behind half a window.
    """

    def __init__(self, place: Path | str, *, settings: LocalSettings | None = None) -> None:
        """Raises ModelError for a place without a model."""
        self._weights = LocalWeights(place, causal_model, settings=settings)
        self.more = {"score": "logprobs"}

    def scores(self, items: Sequence[Continuation], /) -> list[TokenScores]:
        """As `TextScorer.scores`."""
        windows = [window for at, ids in enumerate(self._ids(items)) for window in self._windows(at, *ids)]
        order = sorted(range(len(windows)), key=lambda at: -len(windows[at].ids))
        found = self._weights.of_each([windows[at] for at in order], self._run)
        scores = dict(zip(order, found, strict=True))
        logprobs: list[list[float]] = [[] for _ in items]
        for at, window in enumerate(windows):
            logprobs[window.of] += scores[at]
        return [TokenScores(tuple(numbers)) for numbers in logprobs]

    def _ids(self, given: Sequence[Continuation]) -> list[tuple[list[int], int]]:
        """Token ids of each prompt and text, and which is the first that is scored."""
        tokenizer = self._weights.model.tokenizer
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        head = [] if start is None else [start]
        if not tokenizer.is_fast:  # without offsets the two are tokenized apart
            parts = [tokenizer([one.prompt, one.text], add_special_tokens=False)["input_ids"] for one in given]
            return [([*head, *before, *text], max(1, len(head) + len(before))) for before, text in parts]
        joined = [one.prompt + one.text for one in given]
        encoded = tokenizer(joined, add_special_tokens=False, return_offsets_mapping=True) if joined else {}
        found = []
        for one, ids, offsets in zip(given, encoded["input_ids"], encoded["offset_mapping"], strict=True):
            begin = next((at for at, (_, end) in enumerate(offsets) if end > len(one.prompt)), len(ids))
            found.append(([*head, *ids], max(1, len(head) + begin)) if one.text else ([], 0))
        return found

    def _windows(self, of: int, ids: Sequence[int], begin: int) -> list[_Window]:
        room = self._weights.longest(self._weights.model.tokenizer.model_max_length)
        windows: list[_Window] = []
        end = begin
        while end < len(ids):
            # The first window holds all that fits; the others half a window of what has not been scored.
            half = end + max(1, room // 2)
            new = min(len(ids), max(half, room)) if end == begin else min(len(ids), half)
            start = max(0, new - room)
            windows.append(_Window(of=of, ids=ids[start:new], first=end - start))
            end = new
        return windows

    def _run(self, windows: Sequence[_Window], batch: int) -> list[list[float]]:
        import torch
        from torch.nn.functional import cross_entropy
        from torch.nn.utils.rnn import pad_sequence

        model, device = self._weights.model.model, self._weights.device
        knows_to_keep = "logits_to_keep" in inspect.signature(type(model).forward).parameters
        scored: list[torch.Tensor] = []
        for at in range(0, len(windows), batch):
            rows = windows[at : at + batch]
            ids = pad_sequence([torch.tensor(row.ids) for row in rows], batch_first=True).to(device)
            firsts = torch.tensor([[row.first] for row in rows], device=device)
            ends = torch.tensor([[len(row.ids)] for row in rows], device=device)
            places = torch.arange(ids.shape[1], device=device)
            least = min(row.first for row in rows) - 1
            # No logits for what is not scored: they are most of the memory.
            more = {"logits_to_keep": ids.shape[1] - least} if knows_to_keep else {}
            logits = model(input_ids=ids, attention_mask=(places < ends).long(), use_cache=False, **more).logits
            logits = logits[:, (0 if more else least) : -1].float()
            costs = cross_entropy(logits.flatten(0, 1), ids[:, least + 1 :].flatten(), reduction="none")
            wanted = ((places >= firsts) & (places < ends))[:, least + 1 :]
            scored.append(-costs.view_as(wanted)[wanted])
        numbers = iter(torch.cat(scored).clamp(LEAST, 0.0).tolist())
        return [list(islice(numbers, len(row.ids) - row.first)) for row in windows]
