"""Chat models as judges: what a signature calls them, and what their answers took, in this run or before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from abstraction.models import Prices, read_calls
from abstraction.models.chat_model import ChatModel, Request, Result, Totals
from granola.attribution.chat_evaluator import identity_name


def judge_name(model: ChatModel) -> str:
    """The model's name and a hash of its identity; of a replay, those of the models whose calls it repeats."""
    recorded = getattr(model, "recorded", None) or [model.identity]
    return "+".join(sorted(map(identity_name, recorded)))


class CountedModel:
    """A chat model that notes which requests were made of it, so that a log of calls tells what they took."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._keys: set[bytes] = set()
        self.recorded = getattr(model, "recorded", None)

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
            self._keys.add(_digest(request.key()))
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
            for _, line in read_calls(log):
                key = None if line is None else line.get("key")
                if isinstance(key, str) and _digest(key) in self._keys:
                    calls += 1
                    sent += _tokens(line, "prompt_tokens")
                    received += _tokens(line, "completion_tokens")
        told = {"calls": calls, "calls_now": now.calls, "prompt_tokens": sent, "completion_tokens": received}
        return {**told, **({} if prices is None else {"cost": prices.of(sent, received)})}


def _tokens(line: Mapping[str, Any] | None, name: str) -> int:
    reply = (line or {}).get("received")
    usage = reply.get("usage") if isinstance(reply, dict) else None
    number = usage.get(name) if isinstance(usage, dict) else None
    return number if type(number) is int and number >= 0 else 0


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()[:16]
