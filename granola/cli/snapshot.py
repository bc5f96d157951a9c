"""`granola snapshot`: build a snapshot of WikiData, say what one is, check one."""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from granola.cli.mirror import push
from granola.cli.mirror import verify as verify_mirror
from granola.cli.sources import SourceKind, build_from

if TYPE_CHECKING:
    from kg.scope import Scope
    from kg.snapshot import Progress, Report

app = typer.Typer(help="Build, describe and verify snapshots of WikiData.", no_args_is_help=True)

# What ladders climb or state, by the kind of answer.
LADDER = (
    *("P31", "P279", "P361"),  # classes and wholes, of anything
    *("P17", "P30", "P36", "P131", "P159", "P205", "P206", "P276", "P706"),  # places
    *("P27", "P39", "P97", "P106", "P413", "P641"),  # persons
    *("P127", "P740", "P749"),  # organisations
    *("P50", "P57", "P58", "P86", "P110", "P136", "P170", "P175", "P178", "P364", "P407", "P495"),  # works
    *("P171",),  # taxa
)
_ID = re.compile(r"(?:https?://www\.wikidata\.org/(?:entity|wiki)/(?:Property:)?)?([QP][1-9][0-9]{0,17})\Z")


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
        SourceKind.DUMP, "--from", help="What the sources are. The online ones need GRANOLA_CONTACT=<your address>."
    ),
    cache: Path | None = typer.Option(
        None,
        "--cache",
        help="With --from api: the file that keeps answers; a build that was cut short goes on from it."
        " OUT.cache if not given.",
        show_default=False,
    ),
    ids: list[str] = typer.Option(
        [], "--ids", metavar="ID,...", help="Select these entities.", show_default=False
    ),
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
        ["ladder"],
        "--along",
        metavar="PROPERTY,...",
        help="The properties that steps follow; 'ladder' stands for those that ladders climb.",
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
) -> None:
    """Build a snapshot from WikiData's JSON dumps, or another source: everything, or the union of what is selected.

    Exit status 1 if anything was rejected; it is listed in OUT.rejects.jsonl.
    """
    from granola import __version__

    began = time.monotonic()
    scope, bad_rows = _scope(ids, ids_from, qa, instances_of, hops, along)
    codes = _words(languages)
    options: list[tuple[str, list[Any]]] = [
        ("--from", [source_kind.value] if source_kind is not SourceKind.DUMP else []),
        ("--cache", [cache] if cache else []),
        ("--ids", ids),
        ("--ids-from", ids_from),
        ("--qa", qa),
        ("--instances-of", instances_of),
        ("--hops", [hops] if hops else []),
        ("--along", along if hops else []),
        ("--languages", languages),
        ("--limit", [limit] if limit else []),
    ]
    command = ["granola", "snapshot", "build", *(sources or ()), "--out", str(out)]
    for name, values in options:
        for value in values:
            command += [name, str(value)]
    if keep_partial:
        command.append("--keep-partial")
    with _progress_bar() as progress:
        report = build_from(
            source_kind,
            sources or [],
            out,
            scope=scope,
            cache=cache,
            languages=None if "all" in codes else codes,
            limit=limit,
            keep_partial=keep_partial,
            force=force,
            command=shlex.join(command),
            software=f"granola {__version__}",
            progress=progress,
        )
    _tell(report, time.monotonic() - began)
    if report.rejects or bad_rows:
        raise typer.Exit(1)


@app.command()
def info(
    snapshot: str = typer.Argument(..., help="A snapshot file, or bolt://HOST:PORT of a mirror.", show_default=False),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Say what a snapshot holds, and what it was made from and how."""
    import orjson

    from kg.store import is_address, open_store

    with open_store(snapshot) as store:
        manifest = dict(store.manifest())
    counts = manifest["counts"]
    found = {
        "entities": counts["entities"],
        "statements": counts["statements"],
        "bytes": None if is_address(snapshot) else Path(snapshot).stat().st_size,
        **manifest,
    }
    if as_json:
        typer.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        return
    for line in _described(found):
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
    from kg.store import is_address
    from kg.verification import verify as verify_snapshot

    if is_address(snapshot):
        if against is None:
            raise typer.BadParameter("a mirror is compared with the snapshot file that it was made from; name it")
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


def _scope(
    ids: list[str],
    ids_from: list[Path],
    qa: list[Path],
    instances_of: list[str],
    hops: int,
    along: list[str],
) -> tuple[Scope, int]:
    """The scope, and how many rows of QA files were rejected."""
    from kg.scope import Scope

    chosen = set(_words(ids))
    for path in ids_from:
        chosen.update(_ids_in(path))
    names: set[str] = set()
    bad_rows = 0
    if qa:
        from abstraction.rows import RejectedRow, read_questions

        rejected: list[RejectedRow] = []
        for row in read_questions(qa, on_reject=rejected.append):
            names.update(row.answers)
            if row.subject_text:
                names.add(row.subject_text)
            chosen.update(qid for qid in (*row.answer_qids, row.subject_qid) if qid)
        for one in rejected[:10]:
            typer.echo(f"granola: {one.source}: {one.reason}", err=True)
        bad_rows = len(rejected)
        if bad_rows:
            typer.echo(f"granola: {bad_rows} rows of the QA files rejected", err=True)
    followed = {prop for word in _words(along) for prop in (LADDER if word == "ladder" else (word,))}
    scope = Scope(
        ids=frozenset(chosen),
        names=frozenset(names),
        classes=frozenset(_words(instances_of)),
        hops=hops,
        along=frozenset(followed) if hops else frozenset(),
    )
    return scope, bad_rows


def _words(given: list[str]) -> list[str]:
    return [word for text in given for word in re.split(r"[,\s]+", text) if word]


def _ids_in(path: Path) -> Iterator[str]:
    from kg.errors import SelectionError

    empty = True
    for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), 1):
        words = re.split(r"[,;\s]+", line.strip(), maxsplit=1)
        if not words[0] or words[0].startswith("#"):
            continue
        found = _ID.match(words[0].strip("\"'<>"))
        if found is None:
            raise SelectionError(f"{path}, line {number}: {words[0][:40]!r} is no id; expected one as in Q42")
        empty = False
        yield found[1]
    if empty:
        raise SelectionError(f"{path}: no id in it")


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
        f"{report.path}: {counts['entities']:,} entities, {counts['statements']:,} statements"
        f" of {report.manifest['source_entities']:,} entities read, in {seconds:.1f} s",
        err=True,
    )
    for warning in report.manifest["warnings"]:
        typer.echo(f"warning: {warning}", err=True)
    if duplicates := report.manifest["duplicates"]:
        typer.echo(f"{duplicates:,} entities occurred again; the last of each was kept", err=True)
    if report.rejects:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in report.rejects.items())
        typer.echo(f"rejected: {reasons}; listed in {report.rejects_path}", err=True)


def _described(found: dict[str, Any]) -> Iterator[str]:
    counts = found["counts"]
    yield f"snapshot     {found['snapshot_id']}"

    def listed(*names: str) -> str:
        return ", ".join(f"{counts[name]:,} {name}" for name in names)

    yield f"entities     {counts['entities']:,} ({listed('items', 'properties')})"
    ranks = listed("preferred", "normal", "deprecated")
    yield f"statements   {counts['statements']:,} ({ranks}), {listed('qualifiers')}"
    yield f"terms        {listed('labels', 'aliases', 'descriptions')}"
    languages = found.get("languages")
    yield f"languages    {'all' if languages is None else ', '.join(languages)}"
    yield f"selection    {_selection(found.get('selection', {}))}"
    for source in found.get("sources", ()):
        size = "" if source["size"] is None else f", {source['size']:,} bytes"
        yield f"source       {source['name']}{size}, sha256 {source['sha256'] or 'not read to its end'}"
    if found.get("time_aware") is False:
        yield "time         not time-aware: truthy statements, without ranks, qualifiers and exact dates"
    yield f"read         {found.get('source_entities', 0):,} entities, {found.get('duplicates', 0):,} repeats"
    rejects = found.get("rejects") or {}
    yield f"rejected     {', '.join(f'{count:,} {reason}' for reason, count in rejects.items()) or 'nothing'}"
    yield f"made         {found.get('created')} by {found.get('software')}, schema {found['schema_version']}"
    if found["bytes"] is not None:
        yield f"size         {found['bytes']:,} bytes"
    yield f"rebuild      {found.get('command') or 'made without the command line'}"


def _selection(selection: dict[str, Any]) -> str:
    if selection.get("everything", True):
        return "everything"
    parts = [f"{selection[key]['count']:,} {key}" for key in ("ids", "names") if key in selection]
    if "classes" in selection:
        parts.append("instances of " + ", ".join(selection["classes"]))
    if "hops" in selection:
        parts.append(f"{selection['hops']} hops along " + ", ".join(selection["along"]))
    return "; ".join(parts)
