"""Naming a model in one word, as on a command line.

    openai:URL[?SETTINGS]#NAME   a server that speaks chat completions; URL up to /v1, NAME as the server knows it
    local:FOLDER[?SETTINGS]      a folder with a transformers model
    replay:FILE                  recorded answers

Settings are name=value, joined by &, escaped as in URLs where they hold & or #.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import orjson

from abstraction.errors import ModelError, ModelSpecError
from abstraction.models.chat_model import ChatModel

KINDS = ("openai", "local", "replay")
GRAMMAR = "openai:URL#NAME, local:FOLDER or replay:FILE, as in openai:http://127.0.0.1:8000/v1#my-model"


@dataclass(frozen=True, slots=True)
class _Setting:
    read: Callable[[str], Any]
    allowed: str


def _whole(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 10_000:
        raise ValueError
    return number


def _above_zero(text: str) -> float:
    number = float(text)
    if not (number > 0 and math.isfinite(number)):
        raise ValueError
    return number


def _price(text: str) -> float:
    number = float(text)
    if not (number >= 0 and math.isfinite(number)):
        raise ValueError
    return number


def _one_of(*words: str) -> _Setting:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    return _Setting(read, " or ".join(words))


def _object(text: str) -> dict[str, Any]:
    parsed = orjson.loads(text)
    if not isinstance(parsed, dict):
        raise ValueError
    return parsed


def _variable(text: str) -> str:
    # In capitals, as such names are: what else looks like a name may be the key itself.
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", text):
        raise ValueError
    return text


def _device_name(text: str) -> str:
    kind, colon, number = text.partition(":")
    if kind not in ("auto", "cpu", "cuda") or (colon and (kind != "cuda" or not number.isdecimal())):
        raise ValueError
    return text


_WHOLE = _Setting(_whole, "a whole number from 1 to 10000")
_SECONDS = _Setting(_above_zero, "seconds above 0")
SETTINGS: Mapping[str, Mapping[str, _Setting]] = {
    "openai": {
        "key": _Setting(_variable, "the NAME, in capitals, of the environment variable that holds the key"),
        "concurrency": _WHOLE,
        "rate": _Setting(_above_zero, "calls a second, above 0"),
        "timeout": _SECONDS,
        "tries": _WHOLE,
        "limit": _one_of("max_tokens", "max_completion_tokens"),
        "stop": _one_of("there", "here"),
        "body": _Setting(_object, 'a JSON object, as in {"top_k":20}'),
        "prompt_price": _Setting(_price, "the price of a million tokens, 0 or more"),
        "completion_price": _Setting(_price, "the price of a million tokens, 0 or more"),
    },
    "local": {
        "device": _Setting(_device_name, "auto, cpu, cuda or cuda:NUMBER"),
        "dtype": _one_of("auto", "float32", "bfloat16", "float16"),
        "batch": _WHOLE,
    },
    "replay": {},
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpec:
    """What a word names: `where` an address, a folder or a file; `name` a server's model; `settings` as read."""

    kind: str
    where: str
    name: str
    settings: Mapping[str, Any]


def parse_model_spec(given: str) -> ModelSpec:
    """Raises ModelSpecError, which names what is allowed and repeats no value that may be secret."""
    kind, colon, behind = given.partition(":")
    if not colon or kind not in KINDS:
        shown = kind if kind.isidentifier() and len(kind) < 40 else "what is given"
        raise ModelSpecError(f"{shown} names no kind of model; allowed: {GRAMMAR}")
    behind, hash_sign, name = behind.partition("#") if kind == "openai" else (behind, "", "")
    # A folder or file may have a ? in its name, where no settings follow.
    match = re.fullmatch(r"(.*?)\?(\w+=.*)" if kind != "openai" else r"(.*?)\?(.*)", behind, re.DOTALL)
    where, settings = (match[1], match[2]) if match else (behind, "")
    if not where:
        raise ModelSpecError(f"{kind}: names no place; allowed: {GRAMMAR}")
    if kind == "openai":
        from abstraction.models.openai_server import check_address

        try:
            check_address(where)
        except ModelError as error:
            raise ModelSpecError(f"openai: {error}; allowed: {GRAMMAR}") from None
        if not name:
            missing = "has nothing" if hash_sign else "has no #"
            raise ModelSpecError(f"openai:{where} {missing} to name the model; allowed: {GRAMMAR}")
    return ModelSpec(kind=kind, where=where, name=unquote(name), settings=_settings(kind, settings))


def _settings(kind: str, text: str) -> dict[str, Any]:
    known = SETTINGS[kind]
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


def open_model(given: str, *, cache: Path | str | None = None, log: Path | str | None = None) -> ChatModel:
    """The model that a word names. `cache` keeps its answers, `log` every call; both are appended to.

    Raises ModelSpecError for the word or an unset key, ModelError for what cannot be opened. No server is asked yet.
    """
    return open_spec(parse_model_spec(given), cache=cache, log=log)


def open_spec(spec: ModelSpec, *, cache: Path | str | None = None, log: Path | str | None = None) -> ChatModel:
    """As `open_model`, of a word that was read."""
    if spec.kind == "openai":
        return _server(spec, cache, log)
    if spec.kind == "local":
        from abstraction.models.local import LocalModel, LocalSettings

        return LocalModel(spec.where, settings=LocalSettings(**spec.settings), cache=cache, log=log)
    from abstraction.models.replay import ReplayModel

    return ReplayModel(spec.where)


def _server(spec: ModelSpec, cache: Path | str | None, log: Path | str | None) -> ChatModel:
    from abstraction.models.http_call import ApiKey
    from abstraction.models.ledger import Prices
    from abstraction.models.openai_server import OpenAIModel, ServerSettings

    values = spec.settings
    defaults = ServerSettings()
    changed = {name: values[name] for name in ("timeout", "tries") if name in values}
    settings = replace(
        defaults,
        concurrency=values.get("concurrency", defaults.concurrency),
        rate=values.get("rate"),
        limit_name=values.get("limit", defaults.limit_name),
        sends_stop=values.get("stop") != "here",
        extra=values.get("body", {}),
        patience=replace(defaults.patience, **changed),
    )
    prices = None
    if "prompt_price" in values or "completion_price" in values:
        prices = Prices(prompt=values.get("prompt_price", 0.0), completion=values.get("completion_price", 0.0))
    return OpenAIModel(
        spec.where,
        spec.name,
        key=ApiKey(values["key"]) if "key" in values else None,
        settings=settings,
        prices=prices,
        cache=cache,
        log=log,
    )
