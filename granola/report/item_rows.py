"""Per-item rows: what became of every question, one JSON object a line in the tiered file's order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from abstraction.files.writing import opened
from granola.scoring.items import ItemScore
from kg.files import atomic_path


def write_items(items: Iterable[ItemScore], out: Path | str) -> None:
    """Write items to `out`, whole or not at all, packed where it ends in .gz."""
    with writing_items(out) as write:
        for item in items:
            write(item)


@contextmanager
def writing_items(out: Path | str) -> Iterator[Callable[[ItemScore], None]]:
    """What writes one item after the other; `out` is there once the block has ended well."""
    with atomic_path(out) as temporary, opened(temporary, packed=str(out).endswith(".gz")) as stream:

        def write(item: ItemScore) -> None:
            stream.write(orjson.dumps(item.to_json(), option=orjson.OPT_APPEND_NEWLINE))

        yield write
