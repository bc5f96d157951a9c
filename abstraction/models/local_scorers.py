"""Scorers of texts with weights on this machine; libraries do most of the work.

`sentence-transformers` makes embeddings (a folder's own pooling, length and prompts) and runs cross-encoders; log-
probabilities are a plain batched forward pass of `transformers`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from abstraction.errors import ModelError
from abstraction.models.local_weights import LocalWeights, load_causal_model
from abstraction.models.spec import LocalEmbeddingSettings, LocalEntailmentSettings, LocalScoreSettings
from abstraction.models.text_scorers import (
    CLASSES,
    LEAST,
    Continuation,
    EmbeddedText,
    Entailment,
    QueryPassage,
    TextPair,
    TokenScores,
    classes_of_labels,
)


class _LocalScorer(LocalWeights):
    """A scorer with weights on this machine; `more` are settings that its scores depend on besides the weights."""

    more: Mapping[str, Any] = {}

    @property
    def identity(self) -> Mapping[str, Any]:
        """The identity of the weights, the limit of tokens per text, and the other settings that scores depend on."""
        return {**super().identity, "longest": getattr(self.settings, "longest", None), **self.more}


def _load_sentence_transformer(library_class: str, weights: LocalWeights) -> Any:
    """Load a class of sentence-transformers with these weights; texts are cut at their token limit."""
    import sentence_transformers

    encoder = getattr(sentence_transformers, library_class)(
        weights.place, device=weights.device, model_kwargs={"dtype": weights.loading_options["dtype"]},
        local_files_only=weights.offline,
    )  # fmt: skip
    encoder.max_seq_length = weights.text_token_limit(encoder.max_seq_length)
    return encoder


# Pairs of texts under a head of sequence classification.


class LocalClassifier(_LocalScorer):
    """A cross-encoder: the outputs of its head for pairs of texts, or for texts alone."""

    def __init__(self, place: Path | str, settings: LocalScoreSettings | None = None) -> None:
        """Raises ModelError for a place without a model, or without such a head."""
        super().__init__(place, _load_cross_encoder, settings)
        architectures = getattr(self.config, "architectures", None) or []
        modules = Path(place) / "modules.json"
        if not modules.is_file() and not any(name.endswith("ForSequenceClassification") for name in architectures):
            raise ModelError(
                f"local:{place} has no weights for a classifier: it was trained as {', '.join(architectures) or '?'}, "
                "not for sequence classification; name a checkpoint that was"
            )
        label_of = self.config.id2label
        self.labels = [str(label_of[at]) for at in sorted(label_of)]

    def logits(self, inputs: Sequence[tuple[str, str] | str]) -> list[list[float]]:
        """The outputs for each pair or text, as 32-bit floats, [inputs][outputs].

        Where a pair is too long the longer of its texts, as a rule the evidence, loses its end until both fit; so the
        claim is cut only where it alone takes more than half of the room.
        """
        import torch

        def predict_part(part: Sequence[tuple[str, str] | str], batch: int) -> list[list[float]]:
            scores = self.model.predict(
                list(part), batch_size=batch, activation_fn=torch.nn.Identity(), convert_to_tensor=True,
                show_progress_bar=False,
            )  # fmt: skip
            rows: list[list[float]] = scores.float().reshape(len(part), -1).cpu().tolist()
            return rows

        return self.run_on_each(inputs, predict_part)


def _load_cross_encoder(weights: LocalWeights) -> Any:
    encoder = _load_sentence_transformer("CrossEncoder", weights)
    encoder.is_singular_input = lambda inputs: False  # a list of texts is no pair
    if encoder.tokenizer.pad_token_id is None:  # as in decoders with a classification head
        encoder.tokenizer.pad_token = encoder.tokenizer.eos_token or encoder.tokenizer.unk_token
    text = encoder.transformers_model.config.get_text_config()
    if text.pad_token_id is None:
        text.pad_token_id = encoder.tokenizer.pad_token_id
    return encoder


class LocalEntailment(LocalClassifier):
    """Premise and hypothesis as one pair, in this order.

    Which of the outputs is which class is read from the labels in the model's config, or from the settings. A head of
    two classes, as FactCC's or one of "entailment" and "not_entailment", gives the third class 0.
    """

    def __init__(self, place: Path | str, settings: LocalEntailmentSettings | None = None) -> None:
        """Raises ModelError for a place without a model, and for labels that cannot be read."""
        super().__init__(place, settings)
        named = settings.labels if settings is not None else None
        self.classes = classes_of_labels(named or self.labels, where=f"local:{place}")
        if len(self.classes) != len(self.labels):
            raise ModelError(
                f"local:{place}: {len(self.classes)} labels are given, the model has {len(self.labels)}: {self.labels}"
            )
        self.more = {"classes": list(self.classes)}

    def scores(self, items: Sequence[TextPair], /) -> list[Entailment]:
        """See `TextScorer.scores`; the softmax of the logits."""
        logits = self.logits([(pair.premise, pair.hypothesis) for pair in items])
        by_class = (dict(zip(self.classes, row, strict=True)) for row in _softmax(logits))
        return [Entailment(*(row.get(name, 0.0) for name in CLASSES)) for row in by_class]


class _ProbabilityScorer(LocalClassifier):
    """A classifier that gives one probability: the sigmoid of its only output, or the probability of the second of
    two, as rerankers of MS MARCO have them.
    """

    def __init__(self, place: Path | str, settings: LocalScoreSettings | None = None) -> None:
        """Raises ModelError for a place without a model, and for one with more than two outputs."""
        super().__init__(place, settings)
        self.more = {"score": type(self).__name__.removeprefix("Local").lower()}
        if len(self.labels) > 2:
            raise ModelError(f"local:{place} has {len(self.labels)} outputs; {self.more['score']} is read from 1 or 2")

    def _probabilities(self, inputs: Sequence[tuple[str, str] | str]) -> list[float]:
        # The sigmoid is the softmax over 0 and the output.
        return [row[-1] for row in _softmax([[0.0, *row] if len(row) == 1 else row for row in self.logits(inputs)])]


class LocalRelevance(_ProbabilityScorer):
    """Query and passage as one pair, in this order."""

    def scores(self, items: Sequence[QueryPassage], /) -> list[float]:
        """As `TextScorer.scores`."""
        return self._probabilities([(pair.query, pair.passage) for pair in items])


class LocalCoherence(_ProbabilityScorer):
    """A paragraph as one text, its sentences joined by a space; one that is too long loses its end."""

    def scores(self, items: Sequence[Sequence[str]], /) -> list[float]:
        """As `TextScorer.scores`."""
        return self._probabilities([" ".join(sentences) for sentences in items])


def _softmax(logits: Sequence[Sequence[float]]) -> list[list[float]]:
    import torch

    rows: list[list[float]] = torch.tensor(logits, dtype=torch.float64).softmax(-1).tolist() if logits else []
    return rows


# Texts as vectors.


class LocalEmbeddings(_LocalScorer):
    """Vectors by the folder's own pooling, length and prompts for queries and passages.

    A folder without pooling is a plain encoder: the mean over a text's tokens. Prompts of the settings replace those
    of the folder.
    """

    def __init__(self, place: Path | str, settings: LocalEmbeddingSettings | None = None) -> None:
        """Raises ModelError for a place without a model."""
        settings = settings or LocalEmbeddingSettings()
        self._prompts = {"passage": settings.passage_prompt, "query": settings.query_prompt}
        super().__init__(place, lambda weights: _load_sentence_transformer("SentenceTransformer", weights), settings)
        self.more = {"prompts": self._prompts}

    def scores(self, items: Sequence[EmbeddedText], /) -> list[list[float]]:
        """As `TextScorer.scores`."""
        vectors: dict[int, list[float]] = {}
        for query in (False, True):
            of_kind = [at for at, one in enumerate(items) if one.query is query]
            vectors.update(zip(of_kind, self._embed([items[at].text for at in of_kind], query), strict=True))
        return [vectors[at] for at in range(len(items))]

    def _embed(self, texts: Sequence[str], as_queries: bool) -> list[list[float]]:
        prompt = self._prompts["query" if as_queries else "passage"]

        def encode_part(part: Sequence[str], batch: int) -> list[list[float]]:
            encode = self.model.encode_query if as_queries else self.model.encode_document
            vectors = encode(
                list(part), prompt=prompt, batch_size=batch, normalize_embeddings=True, convert_to_tensor=True,
                show_progress_bar=False,
            )  # fmt: skip
            rows: list[list[float]] = vectors.float().cpu().tolist()
            return rows

        return self.run_on_each(texts, encode_part)


# Log-probabilities under any causal language model.


class LocalContinuations(_LocalScorer):
    """Prompt and text are tokenized together, and separated where the prompt's characters end.

    A start token is put before every prompt: the tokenizer's own, else its end token, as GPT-2 was trained; where it
    has neither, the very first token of a text alone is not scored. Where both are longer than the model's limit, the
    prompt loses its beginning, and then the text its end.
    """

    def __init__(self, place: Path | str, settings: LocalScoreSettings | None = None) -> None:
        """Raises ModelError for a place without a model, and for an encoder-decoder."""
        super().__init__(place, load_causal_model, settings)
        if self.config.is_encoder_decoder:
            raise ModelError(f"local:{place} is an encoder-decoder; log-probabilities are of causal models: name one")
        self.more = {"score": "logprobs"}

    def scores(self, items: Sequence[Continuation], /) -> list[TokenScores]:
        """As `TextScorer.scores`."""
        there = [at for at, one in enumerate(items) if one.text]
        rows = dict(zip(there, self._token_ids_and_starts([items[at] for at in there]) if there else (), strict=True))
        order = sorted(there, key=lambda at: -len(rows[at][0]))
        found = dict(zip(order, self.run_on_each([rows[at] for at in order], self._token_logprobs), strict=True))
        return [TokenScores(tuple(found.get(at, ()))) for at in range(len(items))]

    def _token_ids_and_starts(self, items: Sequence[Continuation]) -> list[tuple[list[int], int]]:
        """For each item the token ids of prompt and text, and the index of the first token that is scored."""
        tokenizer = self.tokenizer
        room = self.text_token_limit(tokenizer.model_max_length)
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        head = [] if start is None else [start]
        encoded = tokenizer(
            [one.prompt + one.text for one in items], add_special_tokens=False, return_offsets_mapping=True
        )
        rows = []
        for one, ids, offsets in zip(items, encoded["input_ids"], encoded["offset_mapping"], strict=True):
            begin = next((at for at, (_, end) in enumerate(offsets) if end > len(one.prompt)), len(ids))
            text = ids[begin:][: room - 1]
            before = [*head, *ids[:begin]][-(room - len(text)) :]
            rows.append(([*before, *text], max(1, len(before))))
        return rows

    def _token_logprobs(self, rows: Sequence[tuple[list[int], int]], batch: int) -> list[list[float]]:
        import torch
        from torch.nn.functional import cross_entropy
        from torch.nn.utils.rnn import pad_sequence

        model, device = self.model, self.device
        knows_to_keep = "logits_to_keep" in inspect.signature(type(model).forward).parameters
        scored: list[torch.Tensor] = []
        for at in range(0, len(rows), batch):
            part = rows[at : at + batch]
            ids = pad_sequence([torch.tensor(row) for row, _ in part], batch_first=True).to(device)
            firsts = torch.tensor([[first] for _, first in part], device=device)
            ends = torch.tensor([[len(row)] for row, _ in part], device=device)
            places = torch.arange(ids.shape[1], device=device)
            least = min(first for _, first in part) - 1
            # Logits of the scored tokens alone: logits take most of the memory.
            more = {"logits_to_keep": ids.shape[1] - least} if knows_to_keep else {}
            logits = model(input_ids=ids, attention_mask=(places < ends).long(), use_cache=False, **more).logits
            logits = logits[:, (0 if more else least) : -1].float()
            costs = cross_entropy(logits.flatten(0, 1), ids[:, least + 1 :].flatten(), reduction="none")
            wanted = ((places >= firsts) & (places < ends))[:, least + 1 :]
            scored.append(-costs.view_as(wanted)[wanted])
        numbers = iter(torch.cat(scored).clamp(LEAST, 0.0).tolist())
        return [list(islice(numbers, len(row) - first)) for row, first in rows]
