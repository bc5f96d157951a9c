"""`granola snapshot export` and `import`: a snapshot for other programs, and back from Parquet."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import typer

from granola.runs.outputs import STANDARD, check_out, check_outputs
from granola.runs.progress import counting
from kg.errors import ExportError

PACKED = (".bz2", ".zst", ".xz", ".zip")


class ExportFormat(StrEnum):
    """What `--format` takes."""

    NT = "nt"
    TTL = "ttl"
    PARQUET = "parquet"
    NEO4J_CSV = "neo4j-csv"
    NEO4J_PARQUET = "neo4j-parquet"


def export(
    snapshot: Path = typer.Argument(help="A snapshot file."),
    out: str = typer.Option(
        ..., "--out", "-o", help="The file to write (packed where it ends in .gz; - is standard output), or the folder."
    ),
    format: ExportFormat = typer.Option(
        help="nt, ttl: RDF as WikiData writes it, one file. parquet: a folder of tables. neo4j-csv, neo4j-parquet:"
        " a folder of files for 'neo4j-admin database import'."
    ),
    force: bool = typer.Option(False, "--force", help="Replace an existing output."),
) -> None:
    """Write a snapshot for other programs. The same snapshot always gives the same content.

    For Neo4j the command that imports the files is printed on standard output.
    """
    to_file = format in (ExportFormat.NT, ExportFormat.TTL)
    _check_name(out, format)
    if out == STANDARD and not to_file:
        raise ExportError(f"{format} is a folder of files, which standard output cannot take; give a folder as --out")
    if to_file and out != STANDARD:
        check_outputs(out, inputs=[snapshot], force=force)
    with counting("entities" if to_file or format is ExportFormat.PARQUET else "rows") as progress:
        if to_file:
            _rdf(snapshot, out, format, progress)
        elif format is ExportFormat.PARQUET:
            from kg.export.parquet import export_parquet

            rows = export_parquet(snapshot, out, force=force, progress=progress).rows
            _tell(f"{out}: " + ", ".join(f"{count:,} {table}" for table, count in rows.items()))
        else:
            _neo4j(snapshot, out, format, force, progress)


def import_(
    folder: Path = typer.Argument(help="A folder of Parquet tables, as 'granola snapshot export' writes it."),
    out: Path = typer.Option(..., "--out", "-o", help="The snapshot file to write."),
    force: bool = typer.Option(False, "--force", help="Replace the output if it exists."),
) -> None:
    """Build a snapshot from an exported folder of Parquet tables; it has the id of the one that was exported."""
    from kg.export.parquet import import_parquet

    check_out(out, inputs=folder.glob("*") if folder.is_dir() else ())
    with counting("entities") as progress:
        counts = import_parquet(folder, out, force=force, progress=progress)["counts"]
    _tell(f"{out}: {counts['entities']:,} entities, {counts['statements']:,} statements")


def _check_name(out: str, format: ExportFormat) -> None:
    """Raise ExportError where the name of the output says another format than what would be written."""
    ending = Path(out.lower().removesuffix(".gz")).suffix
    if ending in PACKED:
        raise ExportError(f"{out}: {ending} is no way of packing that exports know; allowed are .gz and none")
    written = {".nt": [ExportFormat.NT], ".ttl": [ExportFormat.TTL], ".csv": [ExportFormat.NEO4J_CSV],
               ".parquet": [ExportFormat.PARQUET, ExportFormat.NEO4J_PARQUET]}.get(ending, [format])  # fmt: skip
    if format not in written:
        raise ExportError(
            f"{out} is named {ending}, but --format {format} was asked for; "
            f"give --format {' or '.join(written)}, or another name"
        )


def _rdf(snapshot: Path, out: str, format: ExportFormat, progress: Callable[[int], None] | None) -> None:
    from kg.export.rdf_writer import export_rdf

    done = export_rdf(snapshot, out, format="nt" if format is ExportFormat.NT else "ttl", progress=progress)
    _tell(f"{out}: {done.triples:,} triples of {done.entities:,} entities and {done.statements:,} statements")
    for what, number in done.left_out.items():
        _tell(f"left out: {number:,} {what}")
    if done.left_out:
        raise typer.Exit(1)


def _neo4j(snapshot: Path, out: str, format: ExportFormat, force: bool, progress: Callable[[int], None] | None) -> None:
    from kg.export.neo4j_import import export_neo4j

    done = export_neo4j(
        snapshot,
        out,
        format="parquet" if format is ExportFormat.NEO4J_PARQUET else "csv",
        force=force,
        progress=progress,
    )
    _tell(f"{out}: " + ", ".join(f"{count:,} {file}" for file, count in done.rows.items()))
    _tell(
        "with the database stopped, run the command below (over a database that exists with"
        " --overwrite-destination, which drops what is in it); then, with it started,"
    )
    _tell(f"    granola snapshot push {snapshot} bolt://HOST:7687")
    _tell("which makes the indexes and marks the mirror complete")
    typer.echo(done.command)


def _tell(line: str) -> None:
    typer.echo(line, err=True)
