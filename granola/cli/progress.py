"""How far a command is: a count of questions on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

_Row = TypeVar("_Row")


def with_progress(rows: Iterable[_Row], *, total: int | None = None) -> Iterator[_Row]:
    """Hand the rows on, counting them on stderr where that is a terminal; `total` is how many there will be."""
    if not sys.stderr.isatty():
        yield from rows
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    of = "" if total is None else f" of {total:,}"
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f}" + of + " questions"), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task("", total=total)
        for row in rows:
            yield row
            progress.advance(task)
