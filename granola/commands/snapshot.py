"""`granola snapshot`: content, checks and differences of snapshots, and their copies for other programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from abstraction.files.writing import check_kind, json_line_writer
from granola import __version__
from granola.base.settings import Setting, command_line
from granola.base.terminal_lines import Part, TextTable, Verbatim, show_lines
from granola.commands.command import Command
from granola.commands.messages import phase_progress, progress_counter
from granola.commands.output import STANDARD, check_outputs, lock_output, writing
from granola.commands.snapshot_build import SnapshotBuild, left_out_lines, parse_languages
from granola.errors import UsageError
from granola.scoring.shared_settings import Force
from kg.errors import ExportError
from kg.store import is_address, open_store

if TYPE_CHECKING:
    from kg.export.comparison import SnapshotDifference, Verification
    from kg.export.parquet import TablesReport
    from kg.export.rdf_writer import RDFReport
    from kg.store.neo4j_push import Pushed

__all__ = [
    "SnapshotBuild", "SnapshotDiff", "SnapshotExport", "SnapshotInfo", "SnapshotPush", "SnapshotSpark",
    "SnapshotVerify",
]  # fmt: skip
SHOWN = 20  # properties that the printed table lists
PACKED = (".bz2", ".zst", ".xz", ".zip")  # compressions that dumps have and exports do not write
AnySnapshot = Annotated[str, Setting("A snapshot file, or bolt://HOST:PORT of a mirror.", positional=True)]


@dataclass(frozen=True, kw_only=True)
class SnapshotInfo(Command[Mapping[str, Any]]):
    """Say what a snapshot holds, and what it was made from and how."""

    snapshot: AnySnapshot

    def run(self) -> Mapping[str, Any]:
        """Return the manifest, with the size of the file, None for a mirror. Raises the errors of opening it."""
        with open_store(self.snapshot) as store:
            manifest = dict(store.manifest())
        counts = manifest["counts"]
        size = None if is_address(self.snapshot) else Path(self.snapshot).stat().st_size
        return {"entities": counts["entities"], "statements": counts["statements"], "bytes": size, **manifest}

    def show(self, result: Mapping[str, Any]) -> None:
        """Print the manifest in words."""
        show_lines(*_manifest_lines(dict(result)))


def _manifest_lines(manifest: dict[str, Any]) -> Iterator[str]:
    """Yield lines on the content of a snapshot and its sources and settings."""
    counts = manifest["counts"]
    yield f"snapshot     {manifest['snapshot_id']}"

    def counts_with_names(*names: str) -> str:
        return ", ".join(f"{counts[name]:,} {name}" for name in names)

    yield f"entities     {counts['entities']:,} ({counts_with_names('items', 'properties')})"
    ranks = counts_with_names("preferred", "normal", "deprecated")
    yield f"statements   {counts['statements']:,} ({ranks}), {counts_with_names('qualifiers')}"
    yield f"terms        {counts_with_names('labels', 'aliases', 'descriptions')}"
    yield f"languages    {', '.join(manifest.get('languages') or ['all'])}"
    yield f"selection    {_selection_in_words(manifest.get('selection', {}))}"
    for source in manifest.get("sources", ()):
        size = "" if source["size"] is None else f", {source['size']:,} bytes"
        how = f"sha256 {source['sha256'] or 'not read to its end'}"
        if fetched := manifest.get("fetched"):
            how = f"fetched {' to '.join(map(str, fetched))}"
        yield f"source       {source['name']}{size}, {how}"
    if manifest.get("time_aware") is False:
        yield "time         not time-aware: truthy statements, without ranks, qualifiers and exact dates"
    yield f"read         {manifest.get('source_entities', 0):,} entities, {manifest.get('duplicates', 0):,} repeats"
    rejects = manifest.get("rejects") or {}
    yield f"rejected     {', '.join(f'{count:,} {reason}' for reason, count in rejects.items()) or 'nothing'}"
    software = f" by {manifest['software']}" if manifest.get("software") else ""
    yield f"made         {manifest.get('created')}{software}, schema {manifest['schema_version']}"
    if manifest["bytes"] is not None:
        yield f"size         {manifest['bytes']:,} bytes"
    yield Verbatim(f"rebuild      {manifest.get('command') or 'made without the command line'}")


def _selection_in_words(selection: dict[str, Any]) -> str:
    """The settings of the selection in words; of lists of ids and names only the number."""
    if selection.get("everything", True):
        return "everything"
    parts = []
    for name, value in selection.items():
        shown = f"{value['count']:,}" if isinstance(value, dict) else value
        parts.append(f"{name} {', '.join(shown) if isinstance(shown, list) else shown}")
    return "; ".join(parts)


@dataclass(frozen=True, kw_only=True)
class SnapshotVerify(Command["Verification"]):
    """Check a snapshot: the file's pages, its counts, and its content against its id.

    A mirror is compared with the snapshot file that it was made from: all counts, and a sample of entities.

    Exit status 1 if something is wrong, 2 if the file is no snapshot.
    """

    faults = ("problems",)

    snapshot: AnySnapshot
    against: Annotated[Path | None, Setting("The snapshot file that a mirror is compared with.")] = None
    sample: Annotated[int, Setting("Entities of a mirror to compare whole; 0: all.", least=0)] = 1000

    def run(self) -> Verification:
        """Check the snapshot. Raises UsageError, and the errors of opening a file that is no snapshot."""
        from kg.export.comparison import verify, verify_mirror

        # A file is checked by itself, a mirror against its file.
        if not is_address(self.snapshot):
            if self.against is not None:
                raise UsageError("--against is for mirrors; 'granola snapshot diff' compares files")
            return verify(self.snapshot, progress=_show_check)
        if self.against is None:
            raise UsageError("a mirror is compared with the snapshot file that it was made from; name it as --against")
        return verify_mirror(self.snapshot, self.against, sample=self.sample or None, progress=_show_check)

    def show(self, result: Verification) -> None:
        """Print the problems, or that there are none."""
        checked = ", ".join(result.checked)
        well = f"well ({checked} checked)" if self.against is None else f"as {self.against} ({checked} compared)"
        show_lines(*(f"{self.snapshot}: {line}" for line in result.problems or [well]))


def _show_check(check: str) -> None:
    if sys.stderr.isatty():
        print(f"checking {check}", file=sys.stderr)


@dataclass(frozen=True, kw_only=True)
class SnapshotPush(Command["Pushed"]):
    """Mirror a snapshot in a Neo4j database, or go on with that after it was stopped.

    On a complete mirror of the same snapshot it changes nothing. Nodes that are not the mirror's are left alone.
    """

    resumes = True

    snapshot: Annotated[Path, Setting("A snapshot file.", positional=True)]
    address: Annotated[
        str,
        Setting(
            "The Neo4j server, 5.26 or newer, and its database (default: NEO4J_DATABASE, else neo4j); credentials are "
            "NEO4J_USER and NEO4J_PASSWORD.",
            metavar="bolt://HOST:PORT[/DATABASE]",
            positional=True,
        ),
    ]
    replace: Annotated[bool, Setting("Delete another snapshot, or a broken copy, that is there.")] = False

    def run(self) -> Pushed:
        """Push the snapshot."""
        from kg.store.neo4j_push import push

        with phase_progress("connecting") as show:

            def show_progress(phase: str, done: int, total: int) -> None:
                show(phase, done, total, f"{done:,}")

            return push(self.snapshot, self.address, replace=self.replace, progress=show_progress)

    def show(self, result: Pushed) -> None:
        """Print the written amounts, on standard error."""
        what = f"holds {result.snapshot_id} already"
        if result.written:
            written = ", ".join(f"{number:,} {name}" for name, number in result.written.items())
            what = f"{'went on; ' if result.resumed else ''}{written}"
        print(f"{result.address}: {what}", file=sys.stderr)


@dataclass(frozen=True, kw_only=True)
class SnapshotExport(Command["RDFReport | TablesReport"]):
    """Write a snapshot for other programs. The same snapshot always gives the same content."""

    faults = ("left_out",)

    snapshot: Annotated[Path, Setting("A snapshot file.", positional=True)]
    out: Annotated[
        str,
        Setting("The file to write (packed where it ends in .gz; - is standard output), or the folder.", short="-o"),
    ]
    format: Annotated[
        Literal["nt", "ttl", "parquet"],
        Setting("nt, ttl: RDF as WikiData writes it, one file. parquet: a folder of tables."),
    ]
    force: Force = False

    def run(self) -> RDFReport | TablesReport:
        """Write the export. Raises ExportError, UsageError."""
        from kg.export.parquet import export_parquet
        from kg.export.rdf_writer import export_rdf

        # The name tells readers the format, so that a wrong one is an error.
        ending = Path(self.out.lower().removesuffix(".gz")).suffix
        if ending in {".nt", ".ttl", ".parquet", *PACKED} - {f".{self.format}"}:
            allowed = self.format if self.format == "parquet" else f"{self.format} or .{self.format}.gz"
            raise ExportError(f"{self.out}: --format {self.format} and {ending} differ; name the file .{allowed}")
        if self.format == "parquet":
            if self.out == STANDARD:
                raise ExportError(
                    f"{self.format} is a folder of files, which standard output cannot take; give a folder as --out"
                )
            with lock_output(self.out), progress_counter("entities") as progress:
                return export_parquet(self.snapshot, self.out, force=self.force, progress=progress)
        with writing(self.out, inputs=[self.snapshot], force=self.force), progress_counter("entities") as progress:
            return export_rdf(self.snapshot, self.out, format=self.format, progress=progress)

    def show(self, result: RDFReport | TablesReport) -> None:
        """Print the written amounts, on standard error."""
        from kg.export.rdf_writer import RDFReport

        if isinstance(result, RDFReport):
            lines = [f"{result.triples:,} triples of {result.entities:,} entities and {result.statements:,} statements"]
            lines += [f"left out: {number:,} {what}" for what, number in result.left_out.items()]
        else:
            lines = [", ".join(f"{number:,} {table}" for table, number in result.rows.items())]
        print(f"{self.out}: {lines[0]}", *lines[1:], sep="\n", file=sys.stderr)


@dataclass(frozen=True, kw_only=True)
class SnapshotDiff(Command["SnapshotDifference"]):
    """Say what changed between two snapshots: entities, statements by property, terms, redirects.

    A statement is identified by its id; it has changed if its rank, value or qualifiers have.
    """

    old: Annotated[Path, Setting("The earlier snapshot file.", positional=True)]
    new: Annotated[Path, Setting("The later snapshot file.", positional=True)]
    changes: Annotated[Path | None, Setting("Write every change to this file, one JSON object a line.")] = None
    force: Force = False

    def run(self) -> SnapshotDifference:
        """Compare the two snapshots."""
        from kg.export.comparison import diff

        with writing(self.changes, inputs=[self.old, self.new], force=self.force, option="--changes"):
            if self.changes is not None:
                check_kind(self.changes, "jsonl", option="--changes")
            with nullcontext() if self.changes is None else json_line_writer(self.changes) as write:
                return diff(self.old, self.new, on_change=write)

    def show(self, result: SnapshotDifference) -> None:
        """Print the counts as a table."""
        if result.same:
            print("no difference in entities, statements, terms and redirects")
        else:
            show_lines(*_difference_parts(result))


def _difference_parts(difference: SnapshotDifference) -> Iterator[Part]:
    kinds = ("added", "removed", "changed")
    summary = difference.to_json()
    compared = {"entities": summary["entities"], "statements": summary["statements"]}
    compared |= {"aliases" if what == "alias" else f"{what}s": counts for what, counts in summary["terms"].items()}
    compared["redirects"] = summary["redirects"]

    def counts_table(counted: Mapping[str, Mapping[str, int]], indent: int = 0) -> TextTable:
        rows = [(name, *(f"{counts[kind]:,}" for kind in kinds)) for name, counts in counted.items()]
        return TextTable(head=("", *kinds), rows=rows, indent=indent)

    yield counts_table(compared)
    if merged := difference.entities["merged"]:
        yield f"{merged:,} of the removed entities were merged into others"
    if difference.aspects:
        parts = ", ".join(f"{what} of {count:,}" for what, count in difference.aspects.items())
        yield f"changed statements: {parts}"
    yield "statements by property"
    yield counts_table(dict(islice(summary["properties"].items(), SHOWN)), indent=2)
    if len(summary["properties"]) > SHOWN:
        yield f"  and {len(summary['properties']) - SHOWN:,} more properties; --json has them all"


@dataclass(frozen=True, kw_only=True)
class SnapshotSpark(Command["TablesReport"]):
    """Decode dumps on a Spark cluster into Parquet tables, which 'granola snapshot build --from parquet' reads.

    The snapshot has the id that 'granola snapshot build' of the same dumps gives. Exit status 1 if anything was
    rejected, which is listed in OUT.rejects.jsonl, or a dump's array is never closed.
    """

    faults = ("rejects",)

    sources: Annotated[
        tuple[Path, ...],
        Setting(
            "JSON dumps, one entity a line, plain or .bz2 (.gz is read by one core alone).",
            metavar="SOURCE...",
            positional=True,
        ),
    ]
    out: Annotated[Path, Setting("The folder of Parquet tables to write, seen by all executors.", short="-o")]
    master: Annotated[
        str | None,
        Setting("Spark's master, as spark://HOST:7077 or local[8]; by default as spark-submit says, or local[*]."),
    ] = None
    languages: Annotated[
        tuple[str, ...], Setting("Keep terms in these languages and those they fall back to.", metavar="CODE,...")
    ] = ("all",)
    force: Force = False

    def run(self) -> TablesReport:
        """Decode the dumps."""
        from kg.export.parquet import REJECTS_SUFFIX, convert_dump_to_parquet

        codes = parse_languages(self.languages)
        # The folder itself is checked by the library.
        check_outputs(Path(f"{self.out}{REJECTS_SUFFIX}"), inputs=self.sources, force=True)
        with lock_output(self.out):
            return convert_dump_to_parquet(
                self.sources,
                self.out,
                master=self.master,
                languages=codes,
                force=self.force,
                command=command_line(self.verb, self, with_folders=True),  # for the manifest of the snapshot
                software=f"granola {__version__}",
            )

    def show(self, result: TablesReport) -> None:
        """Print the rows by table and the omitted ones, on standard error."""
        tables = ", ".join(f"{number:,} {table}" for table, number in result.rows.items())
        print(f"{self.out}: {tables}", *left_out_lines(result.duplicates, result), sep="\n", file=sys.stderr)
