"""Naming a model in one word, as on a command line.

    openai:URL[?SETTINGS]#NAME   a server; URL up to /v1, NAME as the server knows it
    local:PLACE[?SETTINGS]       weights on this machine: a folder as transformers saves it, or a name on the hub
    replay:FILE[?SETTINGS]       recorded answers of a chat model

Settings are name=value, joined by &, escaped as in URLs where they hold & or #. Which there are depends on what the
model is for: chat, or one kind of scores. A chat model's say how it samples, too, instead of who asks it, where its
answers are kept, and whether its requests go into a file for a provider's batch API.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import orjson

from abstraction.errors import ModelError, ModelSpecError
from abstraction.models.chat_model import SEEDS, ChatModel
from abstraction.models.text_scorers import (
    CoherenceModel,
    ContinuationModel,
    EmbeddingModel,
    EntailmentModel,
    RelevanceModel,
)

if TYPE_CHECKING:
    from abstraction.models.http_client import ServerClient
    from abstraction.models.local_chat import LocalModel
    from abstraction.models.local_scorers import LocalClassifier
    from abstraction.models.local_weights import LocalSettings
    from abstraction.models.replay import ReplayModel
    from abstraction.models.server_chat import OpenAIModel

GRAMMAR = "openai:URL#NAME, local:FOLDER or replay:FILE, as in openai:http://127.0.0.1:8000/v1#my-model"


class ModelUse(StrEnum):
    """What a model is opened for."""

    CHAT = "chat"
    ENTAILMENT = "entailment"
    RELEVANCE = "relevance"
    CONTINUATIONS = "continuations"
    COHERENCE = "coherence"
    EMBEDDINGS = "embeddings"
    CLASSIFIER = "classifier"


CHAT = frozenset({ModelUse.CHAT})
SCORES = frozenset(ModelUse) - CHAT


@dataclass(frozen=True, slots=True)
class _Setting:
    read: Callable[[str], Any]
    allowed: str
    uses: frozenset[ModelUse] = frozenset(ModelUse)


def _number(whole: bool, least: float, *, above: bool = False, most: float | None = None) -> Callable[[str], Any]:
    most = most or (100_000 if whole else math.inf)

    def read(text: str) -> Any:
        number = int(text) if whole else float(text)
        if not math.isfinite(number) or not least <= number <= most or (above and number == least):
            raise ValueError
        return number

    return read


def _one_of(*words: str, uses: frozenset[ModelUse] = frozenset(ModelUse)) -> _Setting:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    return _Setting(read, " or ".join(words), uses)


def _object(text: str) -> dict[str, Any]:
    parsed = orjson.loads(text)
    if not isinstance(parsed, dict):
        raise ValueError
    return parsed


def _matching(pattern: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError
        return text

    return read


def _only(*uses: ModelUse) -> frozenset[ModelUse]:
    return frozenset(uses)


_WHOLE, _ABOVE = "a whole number from 1 to 100000", _number(False, 0, above=True)
_BATCH = "auto, which grows until memory says stop, or a whole number from 1 to 100000"
_PROMPT = _Setting(str, "what stands before such texts", _only(ModelUse.EMBEDDINGS))
_SAMPLING = {
    "temperature": _Setting(_number(False, 0, most=2), "from 0 to 2", CHAT),
    "top_p": _Setting(_number(False, 0, above=True, most=1), "above 0 and up to 1", CHAT),
    "max_tokens": _Setting(_number(True, 1), f"the longest answer, {_WHOLE}", CHAT),
    "seed": _Setting(_number(True, 0, most=SEEDS - 1), f"the first answer's, from 0 to {SEEDS - 1}", CHAT),
}
_ANSWERS = _Setting(Path, "the file that keeps the answers", CHAT)
BATCH_SETTINGS = ("batch_file", "batch_results")
SETTINGS: Mapping[str, Mapping[str, _Setting]] = {
    "openai": {
        # In capitals, as such names are: what else looks like a name may be the key itself.
        "key": _Setting(_matching("[A-Z_][A-Z0-9_]*"),
                        "the NAME, in capitals, of the environment variable that holds the key"),
        "concurrency": _Setting(_number(True, 1), _WHOLE),
        "rate": _Setting(_ABOVE, "calls a second, above 0"),
        "timeout": _Setting(_ABOVE, "seconds above 0"),
        "tries": _Setting(_number(True, 1), _WHOLE),
        "batch": _Setting(_number(True, 1), f"texts in one call, {_WHOLE}", SCORES),
        "query_prompt": _PROMPT,
        "passage_prompt": _PROMPT,
        **_SAMPLING,
        "answers": _ANSWERS,
        "batch_file": _Setting(Path, "a file to be written", CHAT),
        "batch_results": _Setting(Path, "a file of a provider's answers", CHAT),
        "limit": _one_of("max_tokens", "max_completion_tokens", uses=CHAT),
        "body": _Setting(_object, 'a JSON object, as in {"top_k":20}', CHAT),
    },
    "local": {
        "device": _Setting(_matching(r"auto|cpu|cuda(:[0-9]{1,3})?"), "auto, cpu, cuda or cuda:NUMBER"),
        "dtype": _one_of("auto", "float32", "bfloat16", "float16"),
        "batch": _Setting(lambda text: None if text == "auto" else _number(True, 1)(text), _BATCH),
        **_SAMPLING,
        "answers": _ANSWERS,
        "longest": _Setting(_number(True, 8), "a whole number from 8 to 100000", SCORES),
        "labels": _Setting(lambda text: text.split(","), "classes in order, as in refuted,neutral,entailed",
                           _only(ModelUse.ENTAILMENT)),
        "low": _Setting(_number(False, -math.inf), "a number", _only(ModelUse.COHERENCE)),
        "high": _Setting(_number(False, -math.inf), "a number", _only(ModelUse.COHERENCE)),
        "pooling": _one_of("mean", "cls", "max", uses=_only(ModelUse.EMBEDDINGS)),
        "query_prompt": _PROMPT,
        "passage_prompt": _PROMPT,
    },
    "replay": _SAMPLING,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpec:
    """What a word names: `where` an address, a folder or a file; `name` a server's model; `settings` as read."""

    kind: str
    where: str
    name: str
    settings: Mapping[str, Any]

    @property
    def sampling(self) -> Mapping[str, Any]:
        """How a chat model samples, as far as the word says it: what `sampling_of` reads."""
        return {name: self.settings[name] for name in _SAMPLING if name in self.settings}

    def without(self, *names: str) -> ModelSpec:
        """The same without some settings."""
        return replace(self, settings={name: value for name, value in self.settings.items() if name not in names})


def parse_model_spec(given: str, use: ModelUse = ModelUse.CHAT) -> ModelSpec:
    """Raises ModelSpecError, which names what is allowed and repeats no value that may be secret."""
    kind, colon, behind = given.partition(":")
    if not colon or kind not in SETTINGS or (kind == "replay" and use is not ModelUse.CHAT):
        shown = kind if kind.isidentifier() and len(kind) < 40 else "what is given"
        raise ModelSpecError(f"{shown} names no kind of model; allowed: {GRAMMAR}")
    behind, hash_sign, name = behind.partition("#") if kind == "openai" else (behind, "", "")
    # A folder or file may have a ? in its name, where no settings follow.
    match = re.fullmatch(r"(.*?)\?(\w+=.*)" if kind != "openai" else r"(.*?)\?(.*)", behind, re.DOTALL)
    where, settings = (match[1], match[2]) if match else (behind, "")
    if not where:
        raise ModelSpecError(f"{kind}: names no place; allowed: {GRAMMAR}")
    if kind == "openai":
        from abstraction.models.http_client import check_address

        try:
            check_address(where)
        except ModelError as error:
            raise ModelSpecError(f"openai: {error}; allowed: {GRAMMAR}") from None
        if not name:
            missing = "has nothing" if hash_sign else "has no #"
            raise ModelSpecError(f"openai:{where} {missing} to name the model; allowed: {GRAMMAR}")
    return ModelSpec(kind=kind, where=where, name=unquote(name), settings=_settings(kind, settings, use))


def with_settings(word: str, settings: Mapping[str, Any]) -> str:
    """A word with more settings."""
    behind = "#" if word.startswith("openai:") else "\0"
    place, sign, name = word.partition(behind)
    for setting, value in settings.items():
        place += f"{'&' if '?' in place else '?'}{setting}={quote(str(value), safe='/')}"
    return place + sign + name


def _settings(kind: str, text: str, use: ModelUse) -> dict[str, Any]:
    known = {name: setting for name, setting in SETTINGS[kind].items() if use in setting.uses}
    values: dict[str, Any] = {}
    for part in text.split("&") if text else []:
        name, equals, value = part.partition("=")
        setting = known.get(name)
        if setting is None or not equals:
            shown = name if equals and re.fullmatch(r"[\w.-]{1,40}", name) else "what stands there"
            raise ModelSpecError(f"{kind}: {shown} is no setting; allowed: {', '.join(known) or 'none'}")
        if name in values:
            raise ModelSpecError(f"{kind}: {name} is given twice")
        try:
            values[name] = setting.read(unquote(value))
        except ValueError:  # orjson's too
            raise ModelSpecError(f"{kind}: {name} must be {setting.allowed}") from None
    return values


# Opening what a word names. No server is asked, and no weights are read, before the first answer is wanted.


def open_model(given: str, *, cache: Path | str | None = None, log: Path | str | None = None) -> ChatModel:
    """The chat model that a word names. `cache` keeps its answers where the word names no file for
    them, `log` every call; both are appended to.

    Raises ModelSpecError for the word or an unset key, ModelError for what cannot be opened.
    """
    return open_spec(parse_model_spec(given), cache=cache, log=log)


def open_spec(spec: ModelSpec, *, cache: Path | str | None = None, log: Path | str | None = None) -> ChatModel:
    """As `open_model`, of a word that was read."""
    if asked := [name for name in BATCH_SETTINGS if name in spec.settings]:
        raise ModelSpecError(f"openai: {asked[0]} is for a command that runs to its end; leave it out here")
    model = _chat_model(spec, spec.settings.get("answers", cache), log)
    model.sampling = spec.sampling
    return model


def _chat_model(
    spec: ModelSpec, cache: Path | str | None, log: Path | str | None
) -> OpenAIModel | LocalModel | ReplayModel:
    if spec.kind == "local":
        from abstraction.models.local_chat import LocalModel

        return LocalModel(spec.where, settings=_local_settings(spec)[0], cache=cache, log=log)
    if spec.kind == "replay":
        from abstraction.models.replay import ReplayModel

        return ReplayModel(spec.where)
    from abstraction.models.server_chat import OpenAIModel

    client = _client(spec)
    return OpenAIModel(
        client.url, client.model, key=client.key, settings=client.settings, cache=cache, log=log
    )


def open_entailment(given: str) -> EntailmentModel:
    """The entailment model that a word names. Raises ModelSpecError, ModelError, as the others do."""
    return _scorer(given, ModelUse.ENTAILMENT)  # type: ignore[no-any-return]


def open_relevance(given: str) -> RelevanceModel:
    """The relevance model that a word names."""
    return _scorer(given, ModelUse.RELEVANCE)  # type: ignore[no-any-return]


def open_continuations(given: str) -> ContinuationModel:
    """The causal language model that a word names."""
    return _scorer(given, ModelUse.CONTINUATIONS)  # type: ignore[no-any-return]


def open_embeddings(given: str) -> EmbeddingModel:
    """The embedding model that a word names."""
    return _scorer(given, ModelUse.EMBEDDINGS)  # type: ignore[no-any-return]


def open_coherence(given: str) -> CoherenceModel:
    """The coherence model that a word names: local weights alone."""
    return _scorer(given, ModelUse.COHERENCE)  # type: ignore[no-any-return]


def open_classifier(given: str) -> LocalClassifier:
    """The classifier of pairs that a word names: local weights alone."""
    return _scorer(given, ModelUse.CLASSIFIER)  # type: ignore[no-any-return]


def _scorer(given: str, use: ModelUse) -> Any:
    spec, name = parse_model_spec(given, use), use.capitalize()
    if spec.kind == "local":
        from abstraction.models import local_scorers

        settings, rest = _local_settings(spec)
        return getattr(local_scorers, f"Local{name}")(spec.where, settings=settings, **rest)
    if use in (ModelUse.COHERENCE, ModelUse.CLASSIFIER):
        raise ModelSpecError(f"no server is known for {use}; allowed: local:FOLDER_OR_NAME")
    from abstraction.models import server_scores

    rest = {name: spec.settings[name] for name in ("batch", "query_prompt", "passage_prompt") if name in spec.settings}
    return getattr(server_scores, f"Server{name}")(_client(spec), **rest)


def _local_settings(spec: ModelSpec) -> tuple[LocalSettings, dict[str, Any]]:
    """The settings of the weights, and those of the use."""
    from abstraction.models.local_weights import LocalSettings

    own = {name: value for name, value in spec.settings.items() if name in LocalSettings.__dataclass_fields__}
    return LocalSettings(**own), {name: value for name, value in spec.settings.items() if name not in own}


def _client(spec: ModelSpec) -> ServerClient:
    from abstraction.models.http_client import ApiKey, ServerClient, ServerSettings

    values, usual = spec.settings, ServerSettings()
    own = {name: value for name, value in values.items() if name in ServerSettings.__dataclass_fields__}
    patience = replace(usual.patience, **{name: values[name] for name in ("timeout", "tries") if name in values})
    key = ApiKey(values["key"]) if "key" in values else None
    return ServerClient(spec.where, spec.name, key=key, settings=replace(usual, patience=patience, **own))
