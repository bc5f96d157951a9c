"""Naming a model that scores texts in one word, as on a command line.

    local:PLACE[?SETTINGS]       a checkpoint of transformers: a folder, or a name on the hub
    openai:URL[?SETTINGS]#NAME   a server; URL up to the path of the scores, as http://127.0.0.1:8000/v1

Settings are name=value, joined by &. local: device, dtype, batch, longest; for entailment labels, for coherence
head (text or next-sentence), low and high, for embeddings pooling. openai: key, concurrency, timeout.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from abstraction.errors import ModelError, ModelSpecError
from abstraction.models.text_scorers import (
    CoherenceModel,
    ContinuationModel,
    EmbeddingModel,
    EntailmentModel,
    RelevanceModel,
)

GRAMMAR = "local:FOLDER_OR_NAME or openai:URL#NAME, as in local:models/nli?device=cpu&batch=32"
_WEIGHTS = ("device", "dtype", "batch", "longest")
_SERVER = ("key", "concurrency", "timeout")


@dataclass(frozen=True, kw_only=True, slots=True)
class TextModelWord:
    """What a word names: a kind, a place, the model's name at a server, settings as text."""

    kind: str
    place: str
    name: str
    settings: Mapping[str, str]


def parse_word(word: str, *extra_settings: str) -> TextModelWord:
    """The word read; `extra_settings` are those of a kind of scores beside those of all. Raises ModelSpecError."""
    kind, colon, address = word.partition(":")
    if not colon or kind not in ("local", "openai"):
        shown = repr(kind) if kind.isidentifier() and len(kind) < 40 else "what is given"
        raise ModelSpecError(f"{shown} names no kind of model that scores texts; allowed: {GRAMMAR}")
    address, _, name = address.partition("#") if kind == "openai" else (address, "", "")
    place, _, text = address.partition("?")
    if not place or (kind == "openai" and not name):
        raise ModelSpecError(f"{kind}: names no {'model behind #' if place else 'place'}; allowed: {GRAMMAR}")
    known = (*_WEIGHTS, *extra_settings) if kind == "local" else _SERVER
    settings: dict[str, str] = {}
    for part in text.split("&") if text else []:
        setting, equals, value = part.partition("=")
        if setting not in known or not equals or setting in settings:
            shown = setting if re.fullmatch(r"[\w.-]{1,40}", setting) else "what stands there"
            raise ModelSpecError(f"{kind}: {shown} is no setting, or given twice; allowed: {', '.join(known)}")
        settings[setting] = unquote(value)
    return TextModelWord(kind=kind, place=place, name=unquote(name), settings=settings)


def open_entailment(given: str) -> EntailmentModel:
    """The entailment model that a word names. Raises ModelSpecError, ModelError."""
    word = parse_word(given, "labels")
    if word.kind == "openai":
        from abstraction.models.server_scores import ServerEntailment

        return ServerEntailment(_server(word))
    from abstraction.models.local_scorers import LocalEntailment

    labels = word.settings.get("labels")
    return LocalEntailment(word.place, settings=_weights(word), labels=None if labels is None else labels.split(","))


def open_relevance(given: str) -> RelevanceModel:
    """The relevance model that a word names. Raises ModelSpecError, ModelError."""
    word = parse_word(given)
    if word.kind == "openai":
        from abstraction.models.server_scores import ServerRelevance

        return ServerRelevance(_server(word))
    from abstraction.models.local_scorers import LocalRelevance

    return LocalRelevance(word.place, settings=_weights(word))


def open_continuations(given: str) -> ContinuationModel:
    """The causal language model that a word names. Raises ModelSpecError, ModelError."""
    word = parse_word(given)
    if word.kind == "openai":
        from abstraction.models.server_scores import ServerContinuations

        return ServerContinuations(_server(word))
    from abstraction.models.local_scorers import LocalContinuations

    return LocalContinuations(word.place, settings=_weights(word))


def open_coherence(given: str) -> CoherenceModel:
    """The coherence model that a word names: local weights alone. Raises ModelSpecError, ModelError."""
    word = parse_word(given, "head", "low", "high")
    if word.kind == "openai":
        raise ModelSpecError("no server gives the coherence of paragraphs; allowed: local:FOLDER_OR_NAME")
    from abstraction.models.local_scorers import LocalCoherence, LocalNextSentences

    head = word.settings.get("head", "text")
    if head == "next-sentence":
        return LocalNextSentences(word.place, settings=_weights(word))
    if head != "text":
        raise ModelSpecError(f"local: head is {head!r}; allowed: text, next-sentence")
    low, high = (_number(word, name) for name in ("low", "high"))
    return LocalCoherence(word.place, settings=_weights(word), low=low, high=high)


def open_embeddings(given: str) -> EmbeddingModel:
    """The embedding model that a word names. Raises ModelSpecError, ModelError."""
    word = parse_word(given, "pooling")
    if word.kind == "openai":
        from abstraction.models.server_scores import ServerEmbeddings

        return ServerEmbeddings(_server(word))
    from abstraction.models.local_scorers import LocalEmbeddings

    pooling = word.settings.get("pooling", "mean")
    if pooling not in ("mean", "first"):
        raise ModelSpecError(f"local: pooling is {pooling!r}; allowed: mean, first")
    return LocalEmbeddings(word.place, settings=_weights(word), pooling="first" if pooling == "first" else "mean")


def _weights(word: TextModelWord) -> Any:
    from abstraction.models.local_weights import WeightSettings

    device, dtype = word.settings.get("device", "auto"), word.settings.get("dtype", "auto")
    if not re.fullmatch(r"auto|cpu|cuda(:[0-9]{1,3})?", device):
        raise ModelSpecError(f"local: device is {device!r}; allowed: auto, cpu, cuda, cuda:NUMBER")
    if dtype not in ("auto", "float32", "bfloat16", "float16"):
        raise ModelSpecError(f"local: dtype is {dtype!r}; allowed: auto, float32, bfloat16, float16")
    batch, longest = _whole(word, "batch", 1), _whole(word, "longest", 8)
    return WeightSettings(device=device, dtype=dtype, batch=WeightSettings().batch if batch is None else batch,
                          longest=longest)  # fmt: skip


def _server(word: TextModelWord) -> Any:
    from dataclasses import replace

    from abstraction.models.http_call import ApiKey
    from abstraction.models.scoring_server import ScoringServer, ScoringServerSettings

    key = word.settings.get("key")
    if key is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,99}", key):
        raise ModelSpecError("openai: key must be the NAME, in capitals, of the environment variable that holds it")
    settings = ScoringServerSettings()
    if (concurrency := _whole(word, "concurrency", 1)) is not None:
        settings = replace(settings, concurrency=concurrency)
    if (timeout := _number(word, "timeout")) is not None:
        if timeout <= 0:
            raise ModelSpecError(f"openai: timeout is {timeout:g}; allowed: seconds above 0")
        settings = replace(settings, patience=replace(settings.patience, timeout=timeout))
    try:
        return ScoringServer(word.place, word.name, key=None if key is None else ApiKey(key), settings=settings)
    except ModelSpecError:
        raise
    except ModelError as error:
        raise ModelSpecError(f"openai: {error}") from None


def _whole(word: TextModelWord, name: str, least: int) -> int | None:
    text = word.settings.get(name)
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,6}", text) or not least <= int(text) <= 100_000:
        raise ModelSpecError(f"{word.kind}: {name} is {text[:40]!r}; allowed: a whole number from {least} to 100000")
    return int(text)


def _number(word: TextModelWord, name: str) -> float | None:
    text = word.settings.get(name)
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ModelSpecError(f"{word.kind}: {name} is {text[:40]!r}; allowed: a number")
    return number
