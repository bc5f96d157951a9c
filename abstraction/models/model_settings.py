"""The settings in a model's word, by kind of model and use, with their ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_KEY = "the NAME, in capitals, of the environment variable that holds the key is expected"
SEEDS = 2**31  # every server's seeds: some read them as 32 bits with a sign
MOST = 100_000  # of settings that are counts


class ModelUse(StrEnum):
    """The use that a model is opened for."""

    CHAT = "chat"
    ENTAILMENT = "entailment"
    RELEVANCE = "relevance"
    CONTINUATIONS = "continuations"
    COHERENCE = "coherence"
    EMBEDDINGS = "embeddings"
    CLASSIFIER = "classifier"


class ModelSettings(BaseModel):
    """Settings by name, from the texts of a word or as values."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SamplingSettings(ModelSettings):
    """Sampling settings of a chat model, read by `sampling_of`; they override those of the command."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1, le=MOST)
    seed: int | None = Field(default=None, ge=0, lt=SEEDS)


class ChatSettings(SamplingSettings):
    """Settings of any chat model but a replay. `answers`: the file that keeps them."""

    answers: Path | None = None


# Servers.


class ServerSettings(ModelSettings):
    """Settings of a server.

    `key`: the environment variable, in capitals, with its key. `concurrency`: most calls under way. `timeout`: seconds
    for one whole answer. `tries` of a request that fails.
    """

    # In capitals: another text may be the key itself, given by mistake.
    key: str | None = Field(default=None, pattern="^[A-Z_][A-Z0-9_]*$", description=_KEY)
    concurrency: int = Field(default=64, ge=1, le=MOST)
    timeout: float = Field(default=300.0, gt=0)
    tries: int = Field(default=6, ge=1, le=MOST)


class ServerChatSettings(ChatSettings, ServerSettings):
    """`limit`: the server's name of the token limit.

    `body`: a JSON object of more fields, such as top_k. `batch_file` is written instead of asking; `batch_results` is
    the provider's file of results.
    """

    batch_file: Path | None = None
    batch_results: Path | None = None
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    body: Annotated[
        Mapping[str, Any], BeforeValidator(lambda given: orjson.loads(given) if isinstance(given, str) else given)
    ] = Field(default={})


class ServerScoreSettings(ServerSettings):
    """`batch`: texts in one call; text-embeddings-inference takes 32 at most by default."""

    batch: int = Field(default=32, ge=1, le=MOST)


class PromptSettings(ModelSettings):
    """Prompts before texts that become vectors, instead of those of a folder."""

    query_prompt: str | None = None
    passage_prompt: str | None = None


class ServerEmbeddingSettings(PromptSettings, ServerScoreSettings):
    """Of embeddings."""


# Weights on this machine.


class LocalSettings(ModelSettings):
    """`device`: auto is a GPU where there is one. `dtype`: auto is as the weights are.

    `batch`: texts or answers that go through together; None begins with 16 and doubles until memory says stop.
    """

    device: str = Field(default="auto", pattern="^(auto|cpu|cuda(:[0-9]{1,3})?)$")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    batch: Annotated[int | None, BeforeValidator(lambda given: None if given == "auto" else given)] = Field(
        default=None, ge=1, le=MOST
    )


class LocalChatSettings(ChatSettings, LocalSettings):
    """Of a chat model."""


class LocalScoreSettings(LocalSettings):
    """`longest`: tokens of a text, no more than the model holds; None for as many."""

    longest: int | None = Field(default=None, ge=8, le=MOST)


class LocalEntailmentSettings(LocalScoreSettings):
    """`labels` names the classes of the outputs in order, for a checkpoint whose own labels say nothing."""

    labels: Annotated[
        Sequence[str] | None, BeforeValidator(lambda given: given.split(",") if isinstance(given, str) else given)
    ] = None


class LocalEmbeddingSettings(PromptSettings, LocalScoreSettings):
    """Of embeddings."""


# By kind and use; a combination that is not listed is refused.
SETTINGS: Mapping[str, Mapping[ModelUse, type[ModelSettings]]] = {
    "openai": {
        ModelUse.CHAT: ServerChatSettings,
        ModelUse.RELEVANCE: ServerScoreSettings,
        ModelUse.CONTINUATIONS: ServerScoreSettings,
        ModelUse.EMBEDDINGS: ServerEmbeddingSettings,
    },
    "local": {
        **dict.fromkeys(ModelUse, LocalScoreSettings),
        ModelUse.CHAT: LocalChatSettings,
        ModelUse.ENTAILMENT: LocalEntailmentSettings,
        ModelUse.EMBEDDINGS: LocalEmbeddingSettings,
    },
    "replay": {ModelUse.CHAT: SamplingSettings},
}
