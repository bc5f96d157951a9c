"""What is remembered of texts has a bound in characters, whatever the texts are."""

from __future__ import annotations

import gc
import importlib
import inspect
import pkgutil
import re
import tracemalloc
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from types import ModuleType
from typing import Any

import pytest

import granola.decoding
import granola.matching
from granola.decoding.response_cache import DECODING
from granola.matching import matcher
from granola.matching.squad import SQUAD
from granola.matching.text.match_cache import MATCHING, Memory

pytestmark = pytest.mark.thorough("granola/decoding", "granola/matching")

MEMORIES = (MATCHING, SQUAD, DECODING)
BYTES = 120  # that a character of a text costs at most


def _modules() -> Iterator[ModuleType]:
    for package in (granola.matching, granola.decoding):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def _caches() -> dict[str, _lru_cache_wrapper[Any]]:
    return {
        f"{module.__name__}.{name}": value
        for module in _modules()
        for name, value in vars(module).items()
        if isinstance(value, _lru_cache_wrapper) and value.__wrapped__.__module__ == module.__name__
    }


CACHES = _caches()
# Their arguments are languages, or they have none.
CLOSED = {"_any_in", "_may_decline", "_date_patterns", "_amount"}


def _of_texts(cache: _lru_cache_wrapper[Any]) -> bool:
    parameters = inspect.signature(cache.__wrapped__).parameters
    return bool(parameters) and cache.__wrapped__.__name__ not in CLOSED


def _arguments(cache: _lru_cache_wrapper[Any], text: str) -> list[object]:
    """Arguments of a cached function that are made of a text."""
    values: dict[str, object] = {
        "code": "en", "kind": "date", "asks": "date", "levels": ((text,), (text + "y",)), "names": (text, text + "y"),
        "folded": tuple(text.split()), "texts": tuple(text.split()), "loose": tuple(text.split()),
        "pattern": re.compile("x"), "studied": False,
    }  # fmt: skip
    return [
        values.get(name, text)
        for name, parameter in inspect.signature(cache.__wrapped__).parameters.items()
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY
    ]


def test_every_cache_of_texts_has_a_bound() -> None:
    bounded = [cache for memory in MEMORIES for cache in memory.caches]
    unbounded = [name for name, cache in CACHES.items() if _of_texts(cache) and cache not in bounded]
    assert not unbounded
    assert len(bounded) > 30


@pytest.mark.parametrize("name", sorted(name for name, cache in CACHES.items() if _of_texts(cache)))
def test_long_texts_are_forgotten(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CACHES[name]
    memory = next(memory for memory in MEMORIES if cache in memory.caches)
    memory.forget()
    monkeypatch.setattr(memory, "characters", 20_000)
    for number in range(50):
        cache(*_arguments(cache, f"ab{number} " * 250))
    assert cache.cache_info().currsize <= 20
    memory.forget()


def test_characters_cost_a_stated_number_of_bytes() -> None:
    for memory in MEMORIES:
        memory.forget()
    rules, f1 = matcher("rules"), matcher("f1")
    rules.match("Paris", [["Paris"]], "Where?")
    f1.match("x Paris", [["Lyon"]], "Where?")
    texts = [" ".join(f"{chr(97 + (7 * n + i) % 26)}{i % 10} {n}" for i in range(80)) for n in range(40)]
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number, text in enumerate(texts):
        for chosen in (rules, f1):
            chosen.match(text[:450], [[text[5:450]], [texts[number - 1][:430]]], "Where was " + text[:200])
    spent = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert spent < BYTES * sum(memory._counted for memory in MEMORIES)


def test_a_memory_forgets_in_time() -> None:
    memory = Memory(characters=100)

    @memory.remembered(1000)
    def double(text: str) -> str:
        memory.count(len(text))
        return text + text

    for number in range(50):
        double(f"{number:010}")
    assert double.cache_info().currsize <= 10
    double(f"{49:010}")
    assert double.cache_info().hits == 1
