"""`granola snapshot diff` and `check`: what changed between snapshots, and whether a dataset still stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import typer

from abstraction.formats.writing import check_kind
from granola.errors import UsageError
from granola.runs.outputs import check_outputs, report_rejects
from kg.files import atomic_path

_TOLD = 20  # properties in the printed table


def diff(
    old: Path = typer.Argument(help="The earlier snapshot file."),
    new: Path = typer.Argument(help="The later snapshot file."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object, with every property."),
    changes: Path | None = typer.Option(None, help="Write every change to this file, one JSON object a line."),
    force: bool = typer.Option(False, "--force", help="Replace the file of --changes if it exists."),
) -> None:
    """Say what changed between two snapshots: entities, statements by property, terms, redirects.

    A statement is the same by its id; it has changed where its rank, value or qualifiers have.
    """
    from kg.checks.snapshot_diff import diff as compare

    if changes is not None:
        check_outputs(changes, inputs=[old, new], force=force, asked="--changes")
        check_kind(changes, "jsonl", asked="--changes")
    with _lines(changes) as write:
        found = compare(old, new, on_change=None if write is None else lambda change: write(change.to_json()))
    if as_json:
        typer.echo(orjson.dumps(found.to_json(), option=orjson.OPT_INDENT_2).decode())
        return
    said = found.to_json()
    if found.same:
        typer.echo("no difference in entities, statements, terms and redirects")
        return
    typer.echo(f"{'':<16}{'added':>12}{'removed':>12}{'changed':>12}")

    def row(name: str, counts: dict[str, int]) -> None:
        typer.echo(f"{name:<16}" + "".join(f"{counts[kind]:>12,}" for kind in ("added", "removed", "changed")))

    row("entities", said["entities"])
    row("statements", said["statements"])
    for what, counts in said["terms"].items():
        row({"alias": "aliases"}.get(what, f"{what}s"), counts)
    row("redirects", said["redirects"])
    if found.merged:
        typer.echo(f"{found.merged:,} of the removed entities were merged into others")
    if found.aspects:
        parts = ", ".join(f"{what} of {count:,}" for what, count in found.aspects.items())
        typer.echo(f"changed statements: {parts}")
    typer.echo("statements by property")
    for prop, counts in list(said["properties"].items())[:_TOLD]:
        row(f"  {prop}", counts)
    if len(said["properties"]) > _TOLD:
        typer.echo(f"  and {len(said['properties']) - _TOLD:,} more properties; --json has them all")


def check(
    tiered: Path = typer.Argument(help="Tiered rows, as 'granola tiers' writes them."),
    snapshot: str = typer.Argument(help="The snapshot to check them against, a file or bolt://HOST:PORT."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
    problems: Path | None = typer.Option(None, help="Write every problem to this file, one JSON object a line."),
    force: bool = typer.Option(False, "--force", help="Replace the file of --problems if it exists."),
) -> None:
    """Say whether a dataset's evidence still stands in a snapshot, such as a later one.

    Every entity of a row must be there, and every statement and description of its evidence say the same there.
    Exit status 1 if anything does not stand.
    """
    from abstraction.rows import RejectedRow, read_tiered
    from abstraction.verifying.revalidation import recheck
    from kg.store import open_store

    if problems is not None:
        check_outputs(problems, inputs=[tiered, snapshot], force=force, asked="--problems")
        check_kind(problems, "jsonl", asked="--problems")
    findings: Counter[str] = Counter()
    rows = sound = 0
    rejected: list[RejectedRow] = []
    store = open_store(snapshot)
    try:
        with _lines(problems) as write:
            for _, found in recheck(read_tiered(tiered, on_reject=rejected.append), store, on_reject=rejected.append):
                rows += 1
                sound += not found
                findings.update(str(one.finding) for one in found)
                if write is not None:
                    for one in found:
                        write(one.to_json())
        snapshot_id = store.manifest()["snapshot_id"]
    finally:
        store.close()
    if as_json:
        said = {
            "snapshot": snapshot_id, "rows": rows, "sound": sound, "rejected": len(rejected),
            "findings": dict(sorted(findings.items())),
        }  # fmt: skip
        typer.echo(orjson.dumps(said, option=orjson.OPT_INDENT_2).decode())
    else:
        typer.echo(f"{sound:,} of {rows:,} rows stand in snapshot {snapshot_id}")
        for finding, count in findings.most_common():
            typer.echo(f"{count:>8,}  {finding}")
    report_rejects(str(tiered), rejected)
    if not rows:
        raise UsageError(f"{tiered}: no tiered row in it; name a file that granola tiers wrote")
    if sound < rows or rejected:
        raise typer.Exit(1)


@contextmanager
def _lines(path: Path | None) -> Iterator[Callable[[dict[str, Any]], object] | None]:
    """A function that writes JSON lines to a file, None where there is no file to write."""
    if path is None:
        yield None
        return
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        yield lambda data: stream.write(orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE))
