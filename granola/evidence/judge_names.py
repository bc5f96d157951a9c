"""Models as judges: what a signature calls them, and what their answers took, in this run or before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from abstraction.models import ChatModel, Prices, Request, Result, Totals, read_calls


def identity_name(identity: Mapping[str, object]) -> str:
    """The name of a model, and a hash of all that tells it from others."""
    digest = hashlib.sha256(orjson.dumps(dict(identity), option=orjson.OPT_SORT_KEYS, default=str)).hexdigest()[:8]
    called = str(identity.get("model") or identity.get("kind") or "model")
    return "".join(c if c.isalnum() or c in "._/-" else "_" for c in called) + f"-{digest}"


def model_name(model: ChatModel) -> str:
    """As `identity_name`; of a replay, the names of the models whose calls it repeats."""
    recorded = getattr(model, "recorded", None) or [model.identity]
    return "+".join(sorted(map(identity_name, recorded)))


class CountedModel:
    """A chat model that notes which requests were made of it, so that a log of calls tells what they took."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._keys: set[str] = set()
        self.recorded = getattr(model, "recorded", None)
        self.sampling: Mapping[str, Any] = getattr(model, "sampling", {})

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model's."""
        return self._model.identity

    @property
    def totals(self) -> Totals:
        """The model's."""
        return self._model.totals

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """As the model does."""
        return self._model.generate(self._noted(requests))

    def _noted(self, requests: Iterable[Request]) -> Iterator[Request]:
        for request in requests:
            self._keys.add(request.key())
            yield request

    def close(self) -> None:
        """Close the model."""
        self._model.close()

    def asked(self, log: Path | None, prices: Prices | None) -> dict[str, float]:
        """What the answers took, whenever they were asked: `calls`, `prompt_tokens`, `completion_tokens`, `cost`.

        By the log's lines of the requests that were made; `calls_now` are this run's. Without a log, of this run alone.
        """
        now = self.totals
        calls, sent, received = now.calls, now.prompt_tokens, now.completion_tokens
        if log is not None and log.is_file():
            calls = sent = received = 0
            for line in read_calls(log):
                if line is not None and line.get("key") in self._keys:
                    calls += 1
                    sent += _tokens(line, "prompt_tokens")
                    received += _tokens(line, "completion_tokens")
        told = {"calls": calls, "calls_now": now.calls, "prompt_tokens": sent, "completion_tokens": received}
        return {**told, **({} if prices is None else {"cost": prices.of(sent, received)})}


def _tokens(line: Mapping[str, Any], name: str) -> int:
    reply = line.get("received")
    usage = reply.get("usage") if isinstance(reply, dict) else None
    number = usage.get(name) if isinstance(usage, dict) else None
    return number if type(number) is int and number >= 0 else 0
