"""Specs of models: one word, as on a command line, that names a model and its settings.

    openai:URL[?SETTINGS]#NAME   a server; URL up to /v1, NAME as the server knows it
    local:PLACE[?SETTINGS]       weights on this machine: a folder as transformers saves it, or a name on the hub
    replay:FILE[?SETTINGS]       recorded answers of a chat model

Settings are name=value, joined by &, with & and # escaped as in URLs. Which settings exist depends on the use of the
model (`SETTINGS`). Those of a chat model include its sampling, whatever command asks it; the file that stores its
answers; and whether its requests go into a file for a provider's batch API.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote, unquote, urlsplit

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from abstraction.errors import ModelSpecError
from abstraction.models.text_scorers import (
    CoherenceModel,
    ContinuationModel,
    EmbeddingModel,
    EntailmentModel,
    RelevanceModel,
)

if TYPE_CHECKING:
    from abstraction.models.answer_store import CachedChatModel
    from abstraction.models.local_scorers import LocalClassifier

_KEY = "the NAME, in capitals, of the environment variable that holds the key is expected"
SEEDS = 2**31  # every server's seeds: some read them as 32 bits with a sign
MOST = 100_000  # greatest value of settings that are counts


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
    """Settings by name, from the texts in a spec or as values."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SamplingSettings(ModelSettings):
    """Sampling settings of a chat model, read by `sampling_of`; they override those of the command."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1, le=MOST)
    seed: int | None = Field(default=None, ge=0, lt=SEEDS)


class ChatSettings(SamplingSettings):
    """Settings of any chat model but a replay. `answers`: the file that stores its answers."""

    answers: Path | None = None


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
    """Settings of embeddings by a server."""


class LocalSettings(ModelSettings):
    """`device`: auto is a GPU where there is one. `dtype`: auto is that of the weights.

    `batch`: texts or answers that go through together; None begins with 16 and doubles until memory is full.
    """

    device: str = Field(default="auto", pattern="^(auto|cpu|cuda(:[0-9]{1,3})?)$")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    batch: Annotated[int | None, BeforeValidator(lambda given: None if given == "auto" else given)] = Field(
        default=None, ge=1, le=MOST
    )


class LocalChatSettings(ChatSettings, LocalSettings):
    """Settings of a chat model on this machine."""


class LocalScoreSettings(LocalSettings):
    """`longest`: most tokens of a text that are read; None for as many as the model takes."""

    longest: int | None = Field(default=None, ge=8, le=MOST)


class LocalEntailmentSettings(LocalScoreSettings):
    """`labels` names the classes of the outputs in order, for a checkpoint whose own labels say nothing."""

    labels: Annotated[
        Sequence[str] | None, BeforeValidator(lambda given: given.split(",") if isinstance(given, str) else given)
    ] = None


class LocalEmbeddingSettings(PromptSettings, LocalScoreSettings):
    """Settings of embeddings on this machine."""


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

GRAMMAR = "openai:URL#NAME (the URL such as http://127.0.0.1:8000/v1), local:FOLDER or replay:FILE"
BATCH_SETTINGS = ("batch_file", "batch_results")


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpec:
    """A parsed model spec: `where` is an address, folder or file; `name` a server's model; `settings` those given."""

    kind: str
    where: str
    name: str
    settings: Mapping[str, Any]

    @property
    def sampling(self) -> Mapping[str, Any]:
        """The sampling settings in the spec of a chat model, for `sampling_of`."""
        return {name: value for name, value in self.settings.items() if name in SamplingSettings.model_fields}


def parse_model_spec(spec: str, use: ModelUse = ModelUse.CHAT) -> ModelSpec:
    """Parse a model spec for a use. Raises ModelSpecError, which lists what is allowed and repeats no value that may
    be secret.
    """
    kind, colon, behind = spec.partition(":")
    if not colon or kind not in SETTINGS or (kind == "replay" and use is not ModelUse.CHAT):
        shown = kind if kind.isidentifier() and len(kind) < 40 else "what is given"
        raise ModelSpecError(f"{shown} names no kind of model; allowed: {GRAMMAR}")
    if use not in SETTINGS[kind]:
        raise ModelSpecError(f"no server is known for {use}; allowed: local:FOLDER_OR_NAME")
    behind, hash_sign, name = behind.partition("#") if kind == "openai" else (behind, "", "")
    # A folder or file may have a ? in its name, where no settings follow.
    match = re.fullmatch(r"(.*?)\?(\w+=.*)" if kind != "openai" else r"(.*?)\?(.*)", behind, re.DOTALL)
    where, settings = (match[1], match[2]) if match else (behind, "")
    if not where:
        raise ModelSpecError(f"{kind}: names no place; allowed: {GRAMMAR}")
    if kind == "openai":
        _check_server_url(where)
        if not name:
            missing = "has nothing" if hash_sign else "has no #"
            raise ModelSpecError(f"openai:{where} {missing} to name the model; allowed: {GRAMMAR}")
    values = _parse_settings(kind, settings, SETTINGS[kind][use])
    return ModelSpec(kind=kind, where=where, name=unquote(name), settings=values)


def _check_server_url(url: str) -> None:
    """Raise ModelSpecError for a text that is no address of a server. Its message repeats no password."""
    try:
        parts = urlsplit(url)
        well = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        named = parts.username is not None or parts.password is not None
    except ValueError:
        well = named = False
    told = "no address of a server: http:// or https://, a host, and the path up to /v1"
    if named:
        told = "an address with a name or password: put the key into the environment and give key=VARIABLE"
    if named or not well:
        raise ModelSpecError(f"openai: {told}; allowed: {GRAMMAR}")


def _parse_settings(kind: str, text: str, model: type[ModelSettings]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for part in text.split("&") if text else []:
        name, equals, value = part.partition("=")
        if name not in model.model_fields or not equals:
            shown = name if equals and re.fullmatch(r"[\w.-]{1,40}", name) else "what stands there"
            raise ModelSpecError(f"{kind}: {shown} is no setting; allowed: {', '.join(model.model_fields) or 'none'}")
        if name in values:
            raise ModelSpecError(f"{kind}: {name} is given twice")
        values[name] = unquote(value)
    try:
        return model.model_validate(values).model_dump(exclude_unset=True)
    except ValidationError as error:
        wrong = error.errors(include_input=False)[0]
        told = model.model_fields[str(wrong["loc"][0])].description or wrong["msg"]
        raise ModelSpecError(f"{kind}: {wrong['loc'][0]}: {told}") from None


def add_settings(spec: str, settings: Mapping[str, Any]) -> str:
    """The spec with further settings."""
    behind = "#" if spec.startswith("openai:") else "\0"
    place, sign, name = spec.partition(behind)
    for setting, value in settings.items():
        place += f"{'&' if '?' in place else '?'}{setting}={quote(str(value), safe='/')}"
    return place + sign + name


def open_model(spec: str, *, cache: Path | str | None = None, log: Path | str | None = None) -> CachedChatModel:
    """Open the chat model that a spec names.

    `cache` stores its answers where the spec names no file for them, `log` every call; both are appended to. Raises
    ModelSpecError for the spec or an unset key, ModelError for a model that cannot be opened.
    """
    parsed = parse_model_spec(spec)
    if asked := [name for name in BATCH_SETTINGS if name in parsed.settings]:
        raise ModelSpecError(f"openai: {asked[0]} is for a command that runs to its end; leave it out here")
    return open_parsed_model(parsed, cache=cache, log=log)


def open_parsed_model(
    spec: ModelSpec, *, cache: Path | str | None = None, log: Path | str | None = None
) -> CachedChatModel:
    """See `open_model`; the spec is parsed, and the caller opens files of a batch."""
    from abstraction.models.answer_store import CachedChatModel

    settings: Any = SETTINGS[spec.kind][ModelUse.CHAT](**spec.settings)
    if spec.kind == "replay":
        from abstraction.models.answer_store import Replay

        replay = Replay(spec.where)
        return CachedChatModel(replay, recorded=replay.recorded_completions, sampling=spec.sampling)
    kept: dict[str, Any] = {"cache": settings.answers or cache, "log": log, "sampling": spec.sampling}
    if spec.kind == "local":
        from abstraction.models.local_chat import LocalChat

        return CachedChatModel(LocalChat(spec.where, settings), **kept)
    from abstraction.models.model_servers import ServerChat, ServerClient

    return CachedChatModel(ServerChat(ServerClient(spec.where, spec.name, settings), settings), **kept)


def _open_scorer(use: ModelUse, spec: str) -> Any:
    """Open the scorer of texts that a spec names. Raises ModelSpecError and ModelError as `open_model` does."""
    parsed = parse_model_spec(spec, use)
    settings: Any = SETTINGS[parsed.kind][use](**parsed.settings)
    if parsed.kind == "local":
        from abstraction.models import local_scorers

        return getattr(local_scorers, f"Local{use.capitalize()}")(parsed.where, settings)
    from abstraction.models import model_servers

    client = model_servers.ServerClient(parsed.where, parsed.name, settings)
    return getattr(model_servers, f"Server{use.capitalize()}")(client, settings)


open_relevance: Callable[[str], RelevanceModel] = partial(_open_scorer, ModelUse.RELEVANCE)
open_continuations: Callable[[str], ContinuationModel] = partial(_open_scorer, ModelUse.CONTINUATIONS)
open_embeddings: Callable[[str], EmbeddingModel] = partial(_open_scorer, ModelUse.EMBEDDINGS)
# Only with weights on this machine.
open_entailment: Callable[[str], EntailmentModel] = partial(_open_scorer, ModelUse.ENTAILMENT)
open_coherence: Callable[[str], CoherenceModel] = partial(_open_scorer, ModelUse.COHERENCE)
open_classifier: Callable[[str], LocalClassifier] = partial(_open_scorer, ModelUse.CLASSIFIER)
