"""The typed reader of a block reads what the tolerant one reads, whatever stands there."""

from __future__ import annotations

import gzip
from copy import deepcopy
from typing import Any

import msgspec
import orjson
import pytest
from dump_json import entity_json
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import entities as any_entities

from kg.building.extraction import BlockRows, ExtractionPlan, Extractor
from kg.ids import IdSet
from kg.reading.dump import Block
from kg.reading.typed_decoder import Unusual
from tests.conftest import WHOLE_ENTITIES, needs_whole_entities
from tests.thorough import examples

# Typed and tolerant


def harvested(
    recipe: ExtractionPlan, data: bytes, *, typed: bool, monkeypatch: pytest.MonkeyPatch | None = None
) -> BlockRows:
    harvester = Extractor(recipe)
    if not typed:

        def refuse(*_: object) -> int:
            raise Unusual

        harvester._typed = refuse  # type: ignore[method-assign]
    batch = harvester.read(Block(line=1, data=data))
    found = msgspec.msgpack.decode(msgspec.msgpack.encode(batch), type=BlockRows)
    found.names = [sorted(map(tuple, names)) for names in found.names]
    found.tallies = [sorted(keys, key=str) for keys in found.tallies]
    return found


RECIPES = {
    "everything": ExtractionPlan(everything=True),
    "some languages": ExtractionPlan(everything=True, languages=frozenset({"en", "zh-hant"})),
    "by number": ExtractionPlan(chosen=IdSet([1, 2, -31]), properties=True),
    "by name": ExtractionPlan(keys=frozenset({"a", "0"}), languages=frozenset({"en", "de"})),
    "excluded": ExtractionPlan(everything=True, excluded=IdSet([1, 3])),
}


JUNK: list[Any] = [None, [], {}, "", "x", 0, 7, -1.5, True, [[]], {"a": 1}, {"value": "v"}, "Q1", "p31", ["P31"]]


@st.composite
def bent(draw: st.DrawFn) -> bytes:
    """An entity's line with something in it exchanged or taken out, perhaps."""
    data = entity_json(draw(any_entities()))
    for _ in range(draw(st.integers(0, 2))):
        at: Any = data
        for _ in range(draw(st.integers(0, 7))):
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            inner = at[key]
            if isinstance(inner, dict | list) and inner and draw(st.integers(0, 3)):
                at = inner
                continue
            if isinstance(at, dict) and draw(st.booleans()):
                del at[key]
            else:
                at[key] = deepcopy(draw(st.sampled_from(JUNK)))
            break
    return orjson.dumps(data)


@settings(deadline=None, max_examples=examples(400))
@given(given_lines=st.lists(bent(), min_size=1, max_size=3), recipe=st.sampled_from(sorted(RECIPES)))
def test_the_typed_reader_reads_as_the_tolerant_one(given_lines: list[bytes], recipe: str) -> None:
    data = b"[\n" + b",\n".join(given_lines) + b"\n]\n"
    assert harvested(RECIPES[recipe], data, typed=True) == harvested(RECIPES[recipe], data, typed=False)


@needs_whole_entities
@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_real_entities_are_read_typed_and_alike(recipe: str) -> None:
    data = gzip.decompress(WHOLE_ENTITIES.read_bytes())
    one = harvested(RECIPES[recipe], data, typed=True)
    assert one == harvested(RECIPES[recipe], data, typed=False)
    assert one.entities == len(one.numbers) == 49


@needs_whole_entities
def test_real_entities_need_no_second_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """What WikiData writes today is all accepted by the typed reader, or its speed would be lost unnoticed."""
    monkeypatch.setattr(Extractor, "_tolerant", lambda *_: pytest.fail("the tolerant reader was needed"))
    for recipe in RECIPES.values():
        Extractor(recipe).read(Block(line=1, data=gzip.decompress(WHOLE_ENTITIES.read_bytes())))
