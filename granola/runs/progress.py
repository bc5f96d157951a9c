"""How far a command is: a count on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

_Row = TypeVar("_Row")


@contextmanager
def counting(what: str, *, total: int | None = None) -> Iterator[Callable[[int], None] | None]:
    """A function that shows how many of `total` are done, on stderr; None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    of = "" if total is None else f" of {total:,}"
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f}" + f"{of} {what}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=total)
        yield lambda done: shown.update(task, completed=done)


def with_progress(rows: Iterable[_Row], *, total: int | None = None) -> Iterator[_Row]:
    """Hand the rows on, counting them as questions; `total` is how many there will be."""
    with counting("questions", total=total) as show:
        for done, row in enumerate(rows, 1):
            yield row
            if show is not None:
                show(done)
