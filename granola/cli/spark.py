"""`granola snapshot spark`: a dump decoded on a cluster."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import typer

from granola.runs.outputs import check_outputs
from granola.runs.scope_settings import languages_of


def spark(
    sources: list[Path] = typer.Argument(
        metavar="SOURCE...", help="JSON dumps, one entity a line, plain or .bz2 (.gz is read by one core alone)."
    ),
    out: Path = typer.Option(..., "--out", "-o", help="The folder of Parquet tables to write, seen by all executors."),
    master: str | None = typer.Option(
        None, help="Spark's master, as spark://HOST:7077 or local[8]; by default as spark-submit says, or local[*]."
    ),
    languages: list[str] = typer.Option(
        ["all"], metavar="CODE,...", help="Keep terms in these languages and those they fall back to."
    ),
    partitions: int | None = typer.Option(
        None, min=1, help="How many files a table has; by default one for 100 000 entities, at least one a core."
    ),
    force: bool = typer.Option(False, "--force", help="Replace a folder of an earlier export."),
) -> None:
    """Decode dumps on a Spark cluster into Parquet tables; 'granola snapshot import' makes a snapshot of them.

    It has the id of the one that 'granola snapshot build' makes of the same dumps. Exit status 1 if anything was
    rejected, which is listed in OUT.rejects.jsonl, or a dump's array is never closed.
    """
    from granola import __version__
    from kg.export.spark_tables import REJECTS_SUFFIX, decode_dump
    from kg.reading.lines import unclosed

    began = time.monotonic()
    codes = languages_of(languages)
    check_outputs(Path(f"{out}{REJECTS_SUFFIX}"), inputs=sources, force=True)
    command = ["granola", "snapshot", "spark", *map(str, sources), "--out", str(out)]
    for code in codes or ():
        command += ["--languages", code]
    done = decode_dump(
        sources,
        out,
        master=master,
        languages=codes,
        partitions=partitions,
        force=force,
        command=shlex.join(command),
        software=f"granola {__version__}",
    )
    tables = ", ".join(f"{count:,} {table}" for table, count in done.rows.items())
    typer.echo(f"{out}: {tables}, in {time.monotonic() - began:.1f} s", err=True)
    if done.duplicates:
        typer.echo(f"{done.duplicates:,} entities occurred again; the last of each was kept", err=True)
    for name in done.incomplete:
        typer.echo(f"warning: {unclosed(name)}", err=True)
    if done.rejects:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in done.rejects.items())
        typer.echo(f"rejected: {reasons}; listed in {done.rejects_path}", err=True)
    if done.rejects or done.incomplete:
        raise typer.Exit(1)
