"""`granola snapshot export`: a snapshot for other programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import typer

from granola.cli.output import STANDARD, same_file
from kg.errors import ExportError


class Format(StrEnum):
    """What `--format` takes."""

    NT = "nt"
    TTL = "ttl"


def export(
    snapshot: Path = typer.Argument(help="A snapshot file."),
    out: str = typer.Option(
        ..., "--out", "-o", help="The file to write, packed where it ends in .gz, or the folder; - is standard output."
    ),
    format: Format = typer.Option(
        help="nt, ttl: RDF as WikiData writes it.",
    ),
    force: bool = typer.Option(False, "--force", help="Replace an existing output."),
) -> None:
    """Write a snapshot for other programs.

    The same snapshot always gives the same bytes.
    """
    if out != STANDARD and same_file(Path(out), snapshot):
        raise ExportError(f"{out} is also the input and would be lost; give another --out")
    if out != STANDARD and Path(out).exists() and not force:
        raise ExportError(f"{out} exists; give --force to replace it, or another --out")
    with _counting() as progress:
        if format in (Format.NT, Format.TTL):
            _rdf(snapshot, out, format, progress)


def _rdf(snapshot: Path, out: str, format: Format, progress: Callable[[int], None] | None) -> None:
    from kg.export.rdf import export_rdf

    done = export_rdf(snapshot, out, format="nt" if format is Format.NT else "ttl", progress=progress)
    _tell(f"{out}: {done.triples:,} triples of {done.entities:,} entities and {done.statements:,} statements")
    for what, number in done.left_out.items():
        _tell(f"left out: {number:,} {what}")
    if done.left_out:
        raise typer.Exit(1)


def _tell(line: str) -> None:
    typer.echo(line, err=True)


@contextmanager
def _counting() -> Iterator[Callable[[int], None] | None]:
    """A count of entities on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} entities"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda entities: bar.update(task, completed=entities)
