"""`granola snapshot build`: a snapshot of WikiData from a dump or another source."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from abstraction.base.properties import with_role
from granola import __version__
from granola.base.settings import Setting, command_line
from granola.base.terminal_lines import escape_controls
from granola.commands.command import Command
from granola.commands.messages import count, note, phase_progress, report_rejects, unanswered_rows_line
from granola.commands.output import REJECTS_SUFFIX, STANDARD, check_outputs, check_standard_input, lock_output
from granola.errors import UsageError
from granola.scoring.shared_settings import Force, QuestionSettings, check_language
from kg.base.model import normalise
from kg.base.scope import Scope, read_ids
from kg.errors import SelectionError
from kg.store import open_store

if TYPE_CHECKING:
    from abstraction.base.faults import RejectedRow
    from abstraction.files.row_shapes import RowShape
    from kg.building.snapshot import BuildSettings, Progress, Report
    from kg.export.parquet import TablesReport


@dataclass(frozen=True, kw_only=True)
class ScopeSettings:
    """Settings: the content of a snapshot, which is everything or the union of what is selected."""

    ids: Annotated[tuple[str, ...], Setting("Select these entities.", metavar="ID,...")] = ()
    ids_from: Annotated[
        tuple[Path, ...], Setting("Select the ids in a text file, the first word of each line.", metavar="FILE")
    ] = ()
    qa: Annotated[
        tuple[Path, ...],
        Setting("Select what the answers and subjects of a QA file may be, by name or id.", metavar="FILE"),
    ] = ()
    instances_of: Annotated[
        tuple[str, ...],
        Setting("Select the instances of these classes and of all classes below them.", metavar="QID,..."),
    ] = ()
    hops: Annotated[int, Setting("Add what so many steps from the selected entities reach.", least=0)] = 0
    along: Annotated[
        tuple[str, ...],
        Setting(
            "The properties that steps follow; 'ladder', the default, stands for those that ladders climb.",
            metavar="PROPERTY,...",
            advanced=True,
        ),
    ] = ()
    hub_limit: Annotated[
        int | None,
        Setting("Do not step on from an entity with more than N values of those properties.", least=1, advanced=True),
    ] = None
    exclude_instances_of: Annotated[
        tuple[str, ...],
        Setting(
            "Leave out, and do not step to, instances of these classes and of all below them, such as Q13442814"
            " (scholarly articles). What is named by id or name stays. Services cannot be asked so.",
            metavar="QID,...",
            advanced=True,
        ),
    ] = ()
    complete: Annotated[
        bool,
        Setting(
            "With --qa and --hops: build twice, and select the second time what making the ladders asked the first"
            " selection for: names in descriptions, namesakes, frequent answers.",
            flag="--complete/--no-complete",
            advanced=True,
        ),
    ] = True
    properties: Annotated[
        bool,
        Setting(
            "Also take the properties that the selected use, for their labels.", flag="--properties/--no-properties"
        ),
    ] = True

    def scope_and_reject_count(self, shape: RowShape | None = None) -> tuple[Scope, int]:
        """Return (content of the snapshot, number of rejected rows of QA files, which have the `shape`).

        Raises SelectionError where nothing is selected.
        """
        chosen = {*split_values(self.ids), *(entity_id for path in self.ids_from for entity_id in read_ids(path))}
        names, named, rejected = self._read_names_and_ids_of_questions(shape)
        chosen |= named
        followed = {
            prop
            for word in split_values(self.along or ("ladder",))
            for prop in (with_role("along") if word == "ladder" else (word,))
        }
        classes = frozenset(split_values(self.instances_of))
        asked = self.ids or self.ids_from or self.qa or self.instances_of
        # A selection without entities is an error: an empty scope means everything.
        if asked and not (chosen or classes or any(map(normalise, names))):
            why = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
            raise SelectionError(
                f"nothing selected: the selection names no entity{why}; leave it out to take everything"
            )
        scope = Scope(
            ids=frozenset(chosen),
            names=frozenset(names),
            classes=classes,
            hops=self.hops,
            along=frozenset(followed) if self.hops else frozenset(),
            excluded=frozenset(split_values(self.exclude_instances_of)),
            hub_limit=self.hub_limit,
            properties=self.properties,
        )
        return scope, len(rejected)

    def _read_names_and_ids_of_questions(self, shape: RowShape | None) -> tuple[set[str], set[str], list[RejectedRow]]:
        """Return (names, ids, rejected rows) of the QA files."""
        names: set[str] = set()
        ids: set[str] = set()
        rejected: list[RejectedRow] = []
        if self.qa:
            from abstraction.files.rows import read_questions

            unanswered: list[RejectedRow] = []
            for row in read_questions(self.qa, on_reject=rejected.append, on_unanswered=unanswered.append, shape=shape):
                # Answers and subjects are found by name where the file has no ids.
                names.update(row.answers)
                if row.subject_text:
                    names.add(row.subject_text)
                ids.update(qid for qid in (*row.answer_qids, row.subject_qid) if qid)
            report_rejects("QA files", rejected)
            if unanswered:
                note(f"QA files: {unanswered_rows_line(len(unanswered))}")
        return names, ids, rejected


SINGLE = {  # kinds that take one source, in words
    "api": "one URL or none",
    "sparql": "one endpoint, a URL or a known name",
    "parquet": "one folder of tables",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SnapshotBuilt:
    """The result of a build, and the number of rejected rows of QA files."""

    report: Report
    bad_rows: int


@dataclass(frozen=True, kw_only=True)
class SnapshotBuild(Command[SnapshotBuilt], QuestionSettings, ScopeSettings):
    """Build a snapshot from WikiData's JSON dumps, or another source: everything, or the union of what is selected.

    Exit status 1 if anything was rejected, which is listed in OUT.rejects.jsonl, or a dump's array is never closed.
    """

    resumes = True

    sources: Annotated[
        tuple[str, ...],
        Setting(
            "JSON dumps: an array or one entity a line, plain, .gz, .bz2 or .zst; - for standard input."
            " With --from rdf RDF files; with --from parquet a folder of tables, as 'granola snapshot export' writes;"
            " with --from sparql one endpoint, a URL or wdqs-main, wdqs-scholarly, qlever; with --from api nothing, or"
            " another API's URL.",
            metavar="SOURCE",
            positional=True,
        ),
    ] = ()
    out: Annotated[Path, Setting("The snapshot file to write.", short="-o")]
    source_kind: Annotated[
        Literal["dump", "api", "sparql", "rdf", "parquet"],
        Setting(
            "What the sources are. The online ones need GRANOLA_CONTACT=<your address>;"
            " GRANOLA_SOURCE_USER and GRANOLA_SOURCE_PASSWORD are sent to a URL that is given.",
            flag="--from",
        ),
    ] = "dump"
    languages: Annotated[
        tuple[str, ...],
        Setting(
            "Keep terms in these languages and those they fall back to, 'mul' and 'en' among them.", metavar="CODE,..."
        ),
    ] = ("all",)
    limit: Annotated[int | None, Setting("Read only the first N entities of the sources.", least=1)] = None
    keep_partial: Annotated[
        bool, Setting("Keep what precedes the damage in a truncated or corrupt source.", advanced=True)
    ] = False
    force: Force = False
    workers: Annotated[
        int | None,
        Setting(
            "Processes that read a dump; the result does not depend on it. Default: one for each core.",
            least=1,
            recorded=False,
            advanced=True,
        ),
    ] = None
    restart: Annotated[
        bool,
        Setting("Start again instead of continuing an interrupted build of a dump.", recorded=False, advanced=True),
    ] = False

    def run(self) -> SnapshotBuilt:
        """Build the snapshot. Raises UsageError for settings that the kind of source does not support."""
        self._check_settings()
        scope, bad_rows = self.scope_and_reject_count(self.shape())
        # The tables of an export are taken as a whole.
        chosen = not scope.everything or self.limit or self.keep_partial or "all" not in self.languages
        if self.source_kind == "parquet" and chosen:
            raise UsageError("--from parquet takes all that was exported; leave selections and limits out")
        languages = parse_languages(self.languages)
        with lock_output(self.out), phase_progress("opening") as show:

            def show_progress(state: Progress) -> None:
                show(state.phase, state.bytes_read, state.bytes_total, f"{state.entities:,} entities")

            # Only a selection by questions and steps has ladders to complete.
            build = self._build_with_entities_of_ladders if self.complete and self.qa and self.hops else self._build
            report = build(scope, languages, show_progress)
        return SnapshotBuilt(report=report, bad_rows=bad_rows)

    def failed(self, result: SnapshotBuilt) -> bool:
        """Whether anything was rejected, or a source was cut short."""
        return bool(result.report.rejects or result.bad_rows or result.report.manifest.get("incomplete"))

    def show(self, result: SnapshotBuilt) -> None:
        """Print the content of the snapshot, and the omitted parts."""
        report = result.report
        manifest = report.manifest
        counts = manifest["counts"]
        read = count(manifest.get("source_entities", counts["entities"]), "entity", "entities")
        held = f"{count(counts['entities'], 'entity', 'entities')}, {count(counts['statements'], 'statement')}"
        lines = [f"{report.path}: {held} of {read} read"]
        lines += [f"warning: {warning}" for warning in manifest.get("warnings", ())]
        if manifest.get("time_aware") is False:
            lines.append("warning: truthy statements alone: no ranks and qualifiers, so what held when is not known")
        lines += left_out_lines(manifest.get("duplicates", 0), report)
        print(*map(escape_controls, lines), sep="\n", file=sys.stderr)

    def _build(
        self,
        scope: Scope,
        languages: list[str] | None,
        progress: Callable[[Progress], None],
        *,
        out: Path | None = None,
        frequent_of: Iterable[str] = (),
    ) -> Report:
        from kg.building import other_sources
        from kg.building.snapshot import build

        settings: BuildSettings = {
            "scope": scope,
            "languages": languages,
            "limit": self.limit,
            "keep_partial": self.keep_partial,
            # The first of two builds is an intermediate file, which may be overwritten.
            "force": self.force or out is not None,
            "restart": self.restart,
            "workers": self.workers,
            "frequent_of": tuple(frequent_of),
            "progress": progress,
            "command": command_line(self.verb, self, with_folders=True),
            "software": f"granola {__version__}",
        }
        target, kind = out or self.out, self.source_kind
        if kind == "api":
            # Both builds of --complete share one cache.
            cache = self.out.with_name(self.out.name + other_sources.CACHE_SUFFIX)
            url = self.sources[0] if self.sources else None
            return other_sources.build_from_api(target, url=url, cache=cache, **settings)
        if kind == "sparql":
            return other_sources.build_from_sparql(self.sources[0], target, **settings)
        if kind == "parquet":
            force = settings["force"]
            return other_sources.build_from_parquet(self.sources[0], target, force=force, progress=progress)
        return (other_sources.build_from_rdf if kind == "rdf" else build)(self.sources, target, **settings)

    def _build_with_entities_of_ladders(
        self, scope: Scope, languages: list[str] | None, progress: Callable[[Progress], None]
    ) -> Report:
        """Build a snapshot, make ladders from it, and build again with the entities that these ladders asked for."""
        from abstraction.datasets.ladder_lookups import record_ladder_lookups, relations_asked_for
        from abstraction.files.rows import read_questions
        from abstraction.text.language.languages import GRAMMAR
        from kg.building.snapshot import REJECTS_SUFFIX

        rows = list(read_questions(self.qa, shape=self.shape(), on_reject=lambda _: None))
        first = self.out.with_name(f"{self.out.name}.first")
        try:
            report = self._build(scope, languages, progress, out=first, frequent_of=relations_asked_for(rows))
            with closing(open_store(first)) as store:
                # The language that descriptions are parsed in, if the snapshot has it.
                language = GRAMMAR if languages is None or GRAMMAR in languages else languages[0]
                asked = record_ladder_lookups(rows, store, language=language)
        finally:
            # The first snapshot is an intermediate result, removed even on an error.
            for made in (first, Path(f"{first}{REJECTS_SUFFIX}")):
                made.unlink(missing_ok=True)
        likely = asked.missing_ids.union(*report.frequent.values())
        wider = replace(scope, names=scope.names | asked.names, also=frozenset(likely))
        return self._build(wider, languages, progress)

    def _check_settings(self) -> None:
        check_standard_input(self.sources)
        if str(self.out) in (STANDARD, "."):
            raise UsageError("--out takes a file; a snapshot cannot be written to standard output")
        given: list[Path | str] = [*self.ids_from, *self.qa]
        given += [source for source in self.sources if source != str(self.out)]
        if self.source_kind == "parquet":
            given += [path for source in self.sources for path in Path(source).glob("*")]
        check_outputs(self.out, inputs=given, sides=(REJECTS_SUFFIX,), force=True)  # the library checks for the output
        # These settings have no effect without steps.
        for option, is_given in (("--along", bool(self.along)), ("--hub-limit", self.hub_limit is not None)):
            if is_given and not self.hops:
                raise UsageError(f"{option} says how steps are taken and needs --hops N, how many")
        kind = self.source_kind
        if kind != "dump" and (self.workers or self.restart):
            raise UsageError(f"--workers and --restart are for dumps, not for --from {kind}")
        if self.keep_partial and kind in ("api", "sparql"):
            raise UsageError(f"--keep-partial is for files; --from {kind} has none")
        if kind not in SINGLE and not self.sources:
            raise UsageError(f"--from {kind} needs a file, or - for standard input")
        if kind in SINGLE and len(self.sources) != 1 and (self.sources or kind != "api"):
            raise UsageError(f"--from {kind} takes {SINGLE[kind]}, not {len(self.sources)}")
        # Ids are easily given as sources.
        if kind == "api" and self.sources and "://" not in self.sources[0]:
            raise UsageError(f"--from api takes another API's URL, not {self.sources[0]}; entities are named by --ids")


def left_out_lines(duplicates: int, report: Report | TablesReport) -> Iterator[str]:
    """Yield lines on the parts of the sources that are not in the result: repeated entities, and rejects by reason."""
    if duplicates:
        yield f"{count(duplicates, 'entity', 'entities')} occurred again; the last of each was kept"
    if report.rejects:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in report.rejects.items())
        yield f"rejected: {reasons}; listed in {report.rejects_path}"


def split_values(given: Iterable[str]) -> list[str]:
    """Split the values of repeatable options at commas and spaces."""
    return [word for text in given for word in re.split(r"[,\s]+", text) if word]


def parse_languages(given: Iterable[str]) -> list[str] | None:
    """The codes of `--languages`, None for all. Raises UsageError for an invalid code, and for an empty list: entities
    would have no names.
    """
    codes = split_values(given)
    if not codes:
        raise UsageError("--languages names no language; give codes as in en,de, or all")
    if "all" in codes:
        return None
    for code in codes:
        check_language(code, "--languages")
    return codes
