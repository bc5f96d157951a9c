"""`granola snapshot`: build a snapshot of WikiData, say what one is, check one."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from granola.cli.manifest_text import COUNTED, described
from granola.cli.mirror import push
from granola.cli.mirror import verify as verify_mirror
from granola.cli.source_options import SourceKind, build_from
from granola.errors import UsageError
from granola.runs.outputs import check_out, check_standard_input, count, note
from granola.runs.scope_settings import languages_of, scope_of
from kg.web.addresses import scrubbed, without_secrets

if TYPE_CHECKING:
    from kg.scope import Scope
    from kg.snapshot import Progress, Report

app = typer.Typer(help="Build, check, compare, export and mirror snapshots of WikiData.", no_args_is_help=True)


@app.command()
def build(
    sources: list[str] = typer.Argument(
        None,
        metavar="SOURCE",
        help="JSON dumps: an array or one entity a line, plain, .gz, .bz2 or .zst; - for standard input."
        " With --from rdf RDF files; with --from sparql one endpoint, a URL or wdqs-main, wdqs-scholarly, qlever;"
        " with --from api nothing, or another API's URL.",
        show_default=False,
    ),
    out: Path = typer.Option(..., "--out", "-o", help="The snapshot file to write.", show_default=False),
    source_kind: SourceKind = typer.Option(
        SourceKind.DUMP,
        "--from",
        help="What the sources are. The online ones need GRANOLA_CONTACT=<your address>;"
        " GRANOLA_SOURCE_USER and GRANOLA_SOURCE_PASSWORD are sent to a URL that is given, and ?key=$MY_KEY in it is"
        " taken from the variable MY_KEY.",
    ),
    cache: Path | None = typer.Option(
        None,
        "--cache",
        help="With --from api: the file that keeps answers; a build that was cut short goes on from it."
        " OUT.cache if not given.",
        show_default=False,
    ),
    ids: list[str] = typer.Option([], "--ids", metavar="ID,...", help="Select these entities.", show_default=False),
    ids_from: list[Path] = typer.Option(
        [],
        "--ids-from",
        metavar="FILE",
        help="Select the ids in a text file, the first word of each line.",
        show_default=False,
    ),
    qa: list[Path] = typer.Option(
        [],
        "--qa",
        metavar="FILE",
        help="Select what the answers and subjects of a QA file may be, by name or id.",
        show_default=False,
    ),
    instances_of: list[str] = typer.Option(
        [],
        "--instances-of",
        metavar="QID,...",
        help="Select the instances of these classes and of all classes below them.",
        show_default=False,
    ),
    hops: int = typer.Option(0, "--hops", min=0, help="Take in what so many steps from the selected reach."),
    along: list[str] = typer.Option(
        [],
        "--along",
        metavar="PROPERTY,...",
        help="The properties that steps follow; 'ladder' stands for those that ladders climb.",
        show_default="ladder",
    ),
    hub_limit: int | None = typer.Option(
        None,
        "--hub-limit",
        min=1,
        help="Take no step on from an entity with more than N values of those properties.",
        show_default=False,
    ),
    exclude_instances_of: list[str] = typer.Option(
        [],
        "--exclude-instances-of",
        metavar="QID,...",
        help="Leave out, and do not step to, instances of these classes and of all below them, such as Q13442814"
        " (scholarly articles). What is named by id or name stays.",
        show_default=False,
    ),
    properties: bool = typer.Option(
        True, "--properties/--no-properties", help="Also take the properties that the selected use, for their labels."
    ),
    languages: list[str] = typer.Option(
        ["all"],
        "--languages",
        metavar="CODE,...",
        help="Keep terms in these languages and those they fall back to, 'mul' and 'en' among them.",
    ),
    limit: int | None = typer.Option(
        None, "--limit", min=1, help="Read only the first N entities of the sources.", show_default=False
    ),
    keep_partial: bool = typer.Option(
        False, "--keep-partial", help="Keep what precedes the damage in a truncated or corrupt source."
    ),
    force: bool = typer.Option(False, "--force", help="Replace the output if it exists."),
    workers: int | None = typer.Option(
        None,
        "--workers",
        min=1,
        help="Processes that read a dump; one for each core if not given. The result is the same.",
        show_default=False,
    ),
    restart: bool = typer.Option(
        False, "--restart", help="Begin anew instead of going on where an earlier build of a dump was cut off."
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Say how long building from a dump will take and how much disk, and stop."
    ),
) -> None:
    """Build a snapshot from WikiData's JSON dumps, or another source: everything, or the union of what is selected.

    Exit status 1 if anything was rejected, which is listed in OUT.rejects.jsonl, or a dump's array is never closed.
    """
    from granola import __version__

    began = time.monotonic()
    check_standard_input(sources or [])
    check_out(out, inputs=[*ids_from, *qa, cache, *(one for one in sources or () if one != str(out))])
    for option, given in (("--along", bool(along)), ("--hub-limit", hub_limit is not None)):
        if given and not hops:
            raise UsageError(f"{option} says how steps are taken and needs --hops N, how many")
    along = along or ["ladder"]
    scope, bad_rows = scope_of(
        ids,
        ids_from,
        qa,
        instances_of,
        hops,
        along,
        excluded=exclude_instances_of,
        hub_limit=hub_limit,
        properties=properties,
    )
    languages_kept = languages_of(languages)
    options: list[tuple[str, list[Any]]] = [
        ("--from", [source_kind.value] if source_kind is not SourceKind.DUMP else []),
        ("--cache", [cache] if cache else []),
        ("--ids", ids),
        ("--ids-from", ids_from),
        ("--qa", qa),
        ("--instances-of", instances_of),
        ("--hops", [hops] if hops else []),
        ("--along", along if hops else []),
        ("--hub-limit", [hub_limit] if hub_limit else []),
        ("--exclude-instances-of", exclude_instances_of),
        ("--languages", languages),
        ("--limit", [limit] if limit else []),
    ]
    online = source_kind in (SourceKind.API, SourceKind.SPARQL)
    named = [without_secrets(one) for one in sources or ()] if online else sources or ()
    command = ["granola", "snapshot", "build", *named, "--out", str(out)]
    for name, values in options:
        for value in values:
            command += [name, str(value)]
    for flag, given in (("--no-properties", not properties), ("--keep-partial", keep_partial)):
        command += [flag] * given
    if source_kind is not SourceKind.DUMP and (workers or restart or dry_run):
        raise typer.BadParameter(f"--workers, --restart and --dry-run are for dumps, not for --from {source_kind}")
    if source_kind is SourceKind.DUMP and (dry_run or _is_large(sources or [])):
        _estimate(sources or [], out, scope, languages_kept, limit, workers, force=force, asked=dry_run)
        if dry_run:
            return
    with _told_when_interrupted(out, cache), _progress_bar() as progress:
        report = build_from(
            source_kind,
            sources or [],
            out,
            scope=scope,
            cache=cache,
            languages=languages_kept,
            limit=limit,
            keep_partial=keep_partial,
            force=force,
            **({"workers": workers, "restart": restart} if source_kind is SourceKind.DUMP else {}),
            command=shlex.join(command),
            software=f"granola {__version__}",
            progress=progress,
        )
    _tell(report, time.monotonic() - began)
    if report.rejects or bad_rows or report.manifest.get("incomplete"):
        raise typer.Exit(1)


@app.command()
def info(
    snapshot: str = typer.Argument(..., help="A snapshot file, or bolt://HOST:PORT of a mirror.", show_default=False),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Say what a snapshot holds, and what it was made from and how."""
    import orjson

    from kg.errors import DamagedSnapshotError
    from kg.store import is_address, open_store

    with open_store(snapshot) as store:
        manifest = dict(store.manifest())
    # Written before secrets in addresses were kept out of manifests, it may hold some.
    if manifest.get("sources"):
        manifest["sources"] = [{**one, "name": without_secrets(str(one["name"]))} for one in manifest["sources"]]
    if manifest.get("command"):
        manifest["command"] = scrubbed(str(manifest["command"]))
    counts = manifest["counts"]
    if lacking := [name for name in COUNTED if not isinstance(counts.get(name), int)]:
        raise DamagedSnapshotError(f"{snapshot} is damaged: its manifest does not count {', '.join(lacking)}")
    found = {
        "entities": counts["entities"],
        "statements": counts["statements"],
        "bytes": None if is_address(snapshot) else Path(snapshot).stat().st_size,
        **manifest,
    }
    if as_json:
        typer.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        return
    for line in described(found):
        typer.echo(line)


@app.command()
def verify(
    snapshot: str = typer.Argument(..., help="A snapshot file, or bolt://HOST:PORT of a mirror.", show_default=False),
    against: Path | None = typer.Option(
        None, "--against", help="The snapshot file that a mirror is compared with.", show_default=False
    ),
    database: str | None = typer.Option(
        None, "--database", help="A mirror's database; by default NEO4J_DATABASE, else neo4j.", show_default=False
    ),
    sample: int = typer.Option(1000, "--sample", min=0, help="Entities of a mirror to compare whole; 0: all."),
) -> None:
    """Check a snapshot: the file's pages, its counts and content against its manifest, and its references.

    A mirror is compared with the snapshot file that it was made from: all counts, and a sample of entities.

    Exit status 1 if something is wrong, 2 if the file is no snapshot.
    """
    from kg.checks.verification import verify as verify_snapshot
    from kg.store import is_address

    if is_address(snapshot):
        if against is None:
            raise typer.BadParameter(
                "a mirror is compared with the snapshot file that it was made from; name it as --against"
            )
        verify_mirror(snapshot, against, database=database, sample=sample or None)
        return
    if against is not None or database is not None:
        raise typer.BadParameter("--against and --database are for mirrors; 'granola snapshot diff' compares files")

    tell: Callable[[str], None] | None = None
    if sys.stderr.isatty():
        tell = lambda check: typer.echo(f"checking {check}", err=True)  # noqa: E731
    result = verify_snapshot(snapshot, progress=tell)
    for problem in result.problems:
        typer.echo(f"{snapshot}: {problem}")
    if result.problems:
        raise typer.Exit(1)
    typer.echo(f"{snapshot}: well ({', '.join(result.checked)} checked)")


app.command()(push)


def _is_large(sources: list[str]) -> bool:
    from granola.cli.estimates import LARGE

    files = [Path(source) for source in sources if source != "-"]
    return sum(path.stat().st_size for path in files if path.is_file()) >= LARGE


def _estimate(
    sources: list[str],
    out: Path,
    scope: Scope,
    languages: list[str] | None,
    limit: int | None,
    workers: int | None,
    *,
    force: bool,
    asked: bool,
) -> None:
    from granola.cli.estimates import tell
    from kg.building.build_request import check_request
    from kg.building.estimate import estimate

    if not sources:
        raise typer.BadParameter("--from dump needs a file, or - for standard input")
    check_request(sources, out, limit=limit, force=force or asked)
    found = estimate(sources, out, scope=scope, languages=languages, limit=limit, workers=workers)
    tell(found, asked=asked)
    if asked and not found.fits:
        raise typer.Exit(1)


@contextmanager
def _told_when_interrupted(out: Path, cache: Path | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        from kg.building.other_sources import CACHE_SUFFIX
        from kg.work_folder import folder_of

        kept = folder_of(out).is_dir() or (cache or out.with_name(out.name + CACHE_SUFFIX)).exists()
        note(f"interrupted; {'what was read is kept, the same command goes on' if kept else 'nothing was written'}")
        raise


@contextmanager
def _progress_bar() -> Iterator[Callable[[Progress], None] | None]:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[entities]:,} entities"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("opening", total=None, entities=0)

        def show(state: Progress) -> None:
            bar.update(
                task,
                description=state.phase,
                total=state.bytes_total,
                completed=state.bytes_read,
                entities=state.entities,
            )

        yield show


def _tell(report: Report, seconds: float) -> None:
    counts = report.manifest["counts"]
    typer.echo(
        f"{report.path}: {count(counts['entities'], 'entity', 'entities')},"
        f" {count(counts['statements'], 'statement')}"
        f" of {count(report.manifest['source_entities'], 'entity', 'entities')} read, in {seconds:.1f} s",
        err=True,
    )
    for warning in report.manifest["warnings"]:
        typer.echo(f"warning: {warning}", err=True)
    if report.manifest.get("time_aware") is False:
        typer.echo(
            "warning: truthy statements alone: no ranks and qualifiers, so what held when is not known", err=True
        )
    if duplicates := report.manifest["duplicates"]:
        again = count(duplicates, "entity", "entities")
        typer.echo(f"{again} occurred again; the last of each was kept", err=True)
    if report.rejects:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in report.rejects.items())
        typer.echo(f"rejected: {reasons}; listed in {report.rejects_path}", err=True)
