"""The lines of a dump -> JSON objects with their line numbers. Pure: blocks may be parsed anywhere, in any order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from kg.reading.entity_json import Reject

EXCERPT = 200  # characters of a damaged line that are kept
NOT_JSON = "not-json"
BLANK = b" \t\r\n,"


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Bytes that can be parsed alone: whole lines from line `line` on, or (`single`) one object.

    `end`: how many plain bytes of the source end with it; `next_line`: the line of what follows.
    """

    line: int
    data: bytes
    single: bool = False
    end: int = 0
    next_line: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class DamagedLine:
    """A line that holds no JSON object, with the beginning of what it does hold."""

    reject: Reject
    excerpt: str


def parse(block: Block) -> Iterator[tuple[int, Mapping[str, Any] | DamagedLine]]:
    """(line number, JSON object or damaged line) for each object of a block, in order."""
    lines = (block.data,) if block.single else block.data.split(b"\n")
    for number, line in enumerate(lines, block.line):
        text = line.strip(BLANK)
        if not text or text in (b"[", b"]"):
            continue
        try:
            values = _unwrapped(_loads(text))
        except orjson.JSONDecodeError as error:
            yield number, _damaged(NOT_JSON, str(error), text)
            continue
        for value in values:
            if isinstance(value, dict):
                yield number, value
            else:
                yield (
                    number,
                    _damaged("not-an-object", f"expected an object, found {type(value).__name__}", text),
                )


def is_cut(line: bytes) -> bool:
    """Whether a line is no JSON, as one that was cut is, whatever it ends with."""
    parsed = (entry for _, entry in parse(Block(line=0, data=line, single=True)))
    return any(isinstance(entry, DamagedLine) and entry.reject.reason == NOT_JSON for entry in parsed)


def brackets(line: bytes) -> int:
    """1 for a line that opens an array of several lines, -1 for one that closes it, else 0; a cut line does neither."""
    text = line.strip(BLANK)
    return 0 if is_cut(text) else (text[:1] == b"[") - (text[-1:] == b"]")


def unclosed(name: str) -> str:
    """The warning about a source whose array is never closed."""
    return (
        f"{name}: the array that it opens is never closed, though its lines are whole: a piece of a dump, or cut short"
    )


def _loads(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "infinity" in str(error):
            return _with_infinities(text)
        # The array may open or close on an entity's own line, or several entities may share one.
        inner = text.removeprefix(b"[") if not text.endswith(b"]") else text
        inner = inner.removesuffix(b"]") if not text.startswith(b"[") else inner
        try:
            return orjson.loads(b"[" + inner + b"]")
        except orjson.JSONDecodeError:
            pass
        raise


def _with_infinities(text: bytes) -> Any:
    """JSON with numbers that no float holds (1e999): they become infinities, which the reader rejects one by one."""
    try:
        parsed = json.loads(text, parse_int=_integer)
        orjson.dumps(parsed)  # no surrogates, which Python's reader lets pass
    except (ValueError, TypeError, RecursionError) as error:
        raise orjson.JSONDecodeError(str(error), "", 0) from None
    return parsed


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= 18 else float(digits)


def _unwrapped(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict) and "id" not in value and "entities" in value:  # an API answer
        entities = value["entities"]
        return list(entities.values()) if isinstance(entities, dict) else list(entities or ())
    return [value]


def _damaged(reason: str, detail: str, text: bytes) -> DamagedLine:
    return DamagedLine(reject=Reject(reason=reason, detail=detail), excerpt=text[:EXCERPT].decode("utf-8", "replace"))
