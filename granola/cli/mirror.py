"""`granola snapshot push`, and `verify` of what it has put into a Neo4j database."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from kg.store.neo4j_push import PushProgress


def push(
    snapshot: Path = typer.Argument(..., help="A snapshot file.", show_default=False),
    address: str = typer.Argument(
        ...,
        metavar="bolt://HOST:PORT",
        help="The Neo4j server, 5.26 or newer; credentials are NEO4J_USER and NEO4J_PASSWORD.",
        show_default=False,
    ),
    database: str | None = typer.Option(
        None, "--database", help="The server's database; by default NEO4J_DATABASE, else neo4j.", show_default=False
    ),
    batch: int = typer.Option(10_000, "--batch", min=1, help="Nodes or relationships in one transaction."),
    replace: bool = typer.Option(False, "--replace", help="Delete another snapshot, or a broken copy, that is there."),
) -> None:
    """Mirror a snapshot in a Neo4j database, or go on with that after it was stopped.

    Again over a whole mirror changes nothing. Nodes that are not the mirror's are left alone.
    """
    from kg.store.neo4j_push import push as push_snapshot

    began = time.monotonic()
    with _progress_bar() as progress:
        done = push_snapshot(
            snapshot, address, database=database, batch=batch, replace=replace, progress=progress
        )  # fmt: skip
    seconds = time.monotonic() - began
    if not done.written:
        typer.echo(f"{done.address}: holds {done.snapshot_id} already, in {seconds:.1f} s", err=True)
        return
    listed = ", ".join(f"{count:,} {name}" for name, count in done.written.items())
    went_on = "went on; " if done.resumed else ""
    typer.echo(f"{done.address}: {went_on}{listed}, in {seconds:.1f} s", err=True)


def verify(address: str, against: Path, *, database: str | None, sample: int | None) -> None:
    """Compare a mirror with a snapshot file; exit status 1 if they differ."""
    from kg.store.neo4j_verify import verify_mirror

    tell: Callable[[str], None] | None = None
    if sys.stderr.isatty():
        tell = lambda check: typer.echo(f"comparing {check}", err=True)  # noqa: E731
    result = verify_mirror(address, against, database=database, sample=sample, progress=tell)
    for problem in result.problems:
        typer.echo(f"{address}: {problem}")
    if result.problems:
        raise typer.Exit(1)
    typer.echo(f"{address}: as {against} ({', '.join(result.checked)} compared)")


@contextmanager
def _progress_bar() -> Iterator[Callable[[PushProgress], None] | None]:
    """A bar a phase on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("connecting", total=None)

        def show(state: PushProgress) -> None:
            bar.update(task, description=state.phase, total=state.total, completed=state.done)

        yield show
