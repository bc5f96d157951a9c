"""Building a snapshot: sources and settings in, one SQLite file, a manifest and the rejects out."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict, Unpack

from kg.base.files import atomic_path, move_into_place, work_folder_path, write_failure_reason
from kg.base.model import with_fallback_languages
from kg.base.scope import Scope
from kg.building.closure import EdgeTable, numbers_of_valid_ids, properties_to_survey
from kg.building.extraction import BlockRows, ExtractionPlan
from kg.building.ingestion import BuildFolder, Ingester, Rejects
from kg.building.source_pass import Progress, SourcePass
from kg.errors import SelectionError, SnapshotError, SourceError
from kg.reading.dump import STDIN, open_source
from kg.reading.entity_json import Reject
from kg.store import filling, schema

__all__ = [
    "REJECTS_SUFFIX",
    "BuildSettings",
    "Origin",
    "Progress",
    "Report",
    "build",
    "check_output_and_settings",
    "check_request",
]

FREQUENT = 150  # values of a property that are listed: those by which tiers are weighed (docs/explanation/bits.md)
REJECTS_SUFFIX = ".rejects.jsonl"
TRUNCATED = "damaged-source"


class BuildSettings(TypedDict, total=False):
    """The settings of a build, whatever its source; any may be left out.

    `scope`: the entities to take (None: everything). `languages`: the languages whose terms to keep, each with its
    fallback chain (None: all). `limit`: read only so many entities. `keep_partial`: keep the entities before the damage
    in a truncated or corrupt file, and list the damage. `force`: replace a snapshot that exists. `restart`: begin anew
    instead of continuing a build. `workers`: number of reading processes, by default one for each core; the result does
    not depend on it. `frequent_of`: properties whose FREQUENT most frequent values `Report.frequent` lists.
    `progress`: called as the build goes on. For the manifest alone: `command`, which rebuilds the snapshot, and
    `software`, the program that made it.
    """

    scope: Scope | None
    languages: Collection[str] | None
    limit: int | None
    keep_partial: bool
    force: bool
    restart: bool
    workers: int | None
    frequent_of: Collection[str]
    progress: Callable[[Progress], None] | None
    command: str | None
    software: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """The origin of entities that are built from a copy of a service's answers or of another format.

    `sources`: the sources that the manifest names in place of the files read. `scope`: the scope requested of the
    source; all that it returned is built. `rejects`: objects that were not even copied, as (source, reject). `facts`:
    further entries of the manifest. `redirects`: merged id -> its target, in addition to those in the entities.
    `warnings`: further warnings of the manifest.
    """

    sources: Sequence[Mapping[str, Any]]
    scope: Scope
    rejects: Iterable[tuple[str, Reject]] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    redirects: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The result of a build: the manifest, rejects by reason, and the file that lists them (None: no rejects).

    `frequent` contains the ids of the most frequent values of the requested properties, over the whole source.
    """

    path: Path
    manifest: Mapping[str, Any]
    rejects: Mapping[str, int] = field(default_factory=dict)
    rejects_path: Path | None = None
    frequent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def build(
    sources: Sequence[Path | str], out: Path | str, *, origin: Origin | None = None, **settings: Unpack[BuildSettings]
) -> Report:
    """Read `sources` in order (dumps; `-` is standard input) and write the snapshot `out`; see `BuildSettings`.

    An entity that occurs again replaces the earlier one. Values are counted over all entities read, selected or not; of
    an entity that is not selected the first occurrence counts. A build that was killed, or ended by a full disk or a
    damaged source, continues when it is called again with the same request (`Report.frequent` is then empty if it was
    nearly complete). `origin` is given where `sources` are copies of something else; such builds cannot be continued.

    Rejects are listed in `out` + ".rejects.jsonl", a file that exists only if there are any. Raises SourceError
    where a source is damaged, empty or no dump, SelectionError where nothing is selected, SnapshotError where `out`
    exists and `force` is not set, where the disk is full, and where another build is running or left its work,
    FileNotFoundError; `out` then stays as it was. TypeError for a setting that there is not.
    """
    out = Path(out)
    scope = settings.get("scope") or Scope()
    limit = settings.get("limit")
    check_request(sources, out, settings)
    languages = with_fallback_languages(settings.get("languages"))
    frequent_of = sorted(settings.get("frequent_of", ()))
    request = {
        "scope": scope.to_json(),
        "languages": None if languages is None else sorted(languages),
        "limit": limit,
        "sources": [_source_identity(source) for source in sources],
        "layout": filling.layout_fingerprint(),  # a build that an older version began is not continued
        **({"frequent_of": frequent_of} if frequent_of else {}),
    }
    # a pipe cannot be read a second time
    goes_on = origin is None and all(Path(source).is_file() for source in sources)
    frequent: Mapping[str, tuple[str, ...]] = {}
    with raising_snapshot_error(out), ExitStack() as stack:
        out.parent.mkdir(parents=True, exist_ok=True)
        work = BuildFolder(out, request, restart=settings.get("restart", False) or not goes_on)
        stack.push(lambda kind, error, _: _keep_or_remove_work(work, error, keep=goes_on))
        # Rejects name the original sources, as users never see the copy.
        rejects = Rejects(work.connection, ", ".join(str(one["name"]) for one in origin.sources) if origin else None)
        if not work.state.get("sealed"):  # if sealed, the file only has to be moved into place
            readable = _copy_pipes_to_read_twice(sources, scope, work)
            frequent = _BuildJob(work, readable, scope, languages, rejects, settings).fill_and_find_frequent_values(
                origin
            )
        sealed = filling.read_manifest(work.connection)
        rejects_path = out.with_name(out.name + REJECTS_SUFFIX)
        if sealed["rejects"]:
            # written before the snapshot appears
            with atomic_path(rejects_path) as temporary, temporary.open("wb") as stream:
                stream.writelines(rejects.records())
        else:
            rejects_path.unlink(missing_ok=True)  # rejects of an earlier build with the same output
        work.connection.close()  # SQLite completes the file when it closes it
        move_into_place(work.snapshot_path, out)
    return Report(
        path=out,
        manifest=sealed,
        rejects=sealed["rejects"],
        rejects_path=rejects_path if sealed["rejects"] else None,
        frequent=frequent,
    )


def check_request(sources: Sequence[Path | str], out: Path, settings: BuildSettings) -> None:
    """Check what can be checked before hours are spent on reading; raises as `build` does."""
    if not sources:
        raise SourceError("no source given; name at least one dump file, or - for standard input")
    if sum(str(source) == STDIN for source in sources) > 1:
        raise SourceError("standard input (-) can be given once only")
    for source in sources:
        if str(source) != STDIN and not Path(source).exists():
            raise FileNotFoundError(2, "no such file", str(source))
        if str(source) != STDIN and out.is_file() and out.samefile(source):
            raise SnapshotError(f"{out} is both source and output; name another file to write")
    check_output_and_settings(out, settings)


def check_output_and_settings(out: Path, settings: BuildSettings) -> None:
    """Raises SnapshotError where a snapshot cannot be put at `out`, SelectionError for a bad limit, TypeError for a
    setting that there is not; before hours are spent on reading.
    """
    if unknown := settings.keys() - BuildSettings.__annotations__.keys():
        allowed = ", ".join(BuildSettings.__annotations__)
        raise TypeError(f"a build has no setting {', '.join(sorted(unknown))}; it has {allowed}")
    limit = settings.get("limit")
    if limit is not None and limit < 1:
        raise SelectionError(f"limit must be 1 or more, not {limit}")
    if out.is_dir():
        raise SnapshotError(f"{out} is a folder; name the file to write")
    if out.exists() and not settings.get("force", False):
        raise SnapshotError(f"{out} exists already; give --force to replace it")


def _source_identity(source: Path | str) -> dict[str, Any]:
    """The identity of a source for a continued build; when it is read, its beginning is compared too."""
    path = Path(source)
    if str(source) == STDIN or not path.is_file():
        return {"name": "stdin" if str(source) == STDIN else path.name}
    status = path.stat()
    return {"name": path.name, "size": status.st_size, "modified": status.st_mtime_ns}


@dataclass
class _BuildJob:
    """The phases of a build, each continuing from the state recorded in the work."""

    work: BuildFolder
    sources: Sequence[tuple[Path | str, str]]
    scope: Scope
    languages: frozenset[str] | None
    rejects: Rejects
    settings: BuildSettings

    def fill_and_find_frequent_values(self, origin: Origin | None) -> Mapping[str, tuple[str, ...]]:
        """Write the whole snapshot, and return the most frequent values of the properties in `frequent_of`."""
        scope, settings = self.scope, self.settings
        if scope.needs_survey:
            self.survey()
        ingester, reading = self.read_sources(origin.rejects if origin else ())
        if origin:
            filling.record_redirects(self.work.connection, origin.redirects)
        seen, counts = len(ingester.seen), self.rejects.counts_by_reason()
        if not seen:
            more = f"; {sum(counts.values())} rejected, the first: {self.rejects.describe_first()}" if counts else ""
            names = ", ".join(name for _, name in self.sources)
            raise SourceError(f"{names}: no item or property in it{more}")
        if self.work.connection.execute("SELECT 1 FROM entity LIMIT 1").fetchone() is None:
            raise SelectionError(f"none of the {seen} entities read is selected; widen the selection or the source")
        asked_for = origin.scope if origin else scope
        idle = self.work.state.get("idle", ())
        label = f"SELECT 1 FROM term WHERE language = ? AND kind = {schema.LABEL} LIMIT 1"
        asked = sorted(set(settings.get("languages") or ()))
        unheard = [code for code in asked if self.work.connection.execute(label, (code,)).fetchone() is None]
        warnings = [
            *(
                f"{name}: the array that it opens is never closed, though its lines are whole: a piece of a dump,"
                " or cut short"
                for name in reading.unclosed
            ),
            *(f"no selected entity has a label in language {code!r}; is the code right?" for code in unheard),
            *ingester.warnings_of_missing_ids(asked_for.ids),
            *(f"nothing read is an instance of {class_id} or of a class below; is the id right?" for class_id in idle),
            *(origin.warnings if origin else ()),
        ]
        frequent = {
            prop: ingester.most_frequent_values(prop, FREQUENT) for prop in sorted(settings.get("frequent_of", ()))
        }
        self.work.stage_state({"sealed": True})  # with the commit that finishes the snapshot
        filling.finish_snapshot(
            self.work.connection,
            {
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "command": settings.get("command"),
                "software": settings.get("software"),
                "languages": None if self.languages is None else sorted(self.languages),
                "limit": settings.get("limit"),
                "sources": list(origin.sources) if origin else reading.describe_sources(),
                "selection": asked_for.to_json(),
                "source_entities": seen,
                "duplicates": ingester.duplicates,
                **({"incomplete": reading.unclosed} if reading.unclosed else {}),
                "warnings": warnings,
                "rejects": counts,
                **(origin.facts if origin else {}),
            },
            ingester.tally.entity_counts_by_value(),
            ingester.tally.entity_counts_by_property(),
            digest=ingester.digest,
        )
        return frequent

    def survey(self) -> None:
        """Read the sources a first time, to find the entities that are selected by class and by steps."""
        work, scope = self.work, self.scope
        if work.state.get("phase", "surveying") != "surveying":
            return
        plan = ExtractionPlan(
            languages=self.languages, keys=scope.normalised_names(), along=properties_to_survey(scope)
        )
        named = work.stored_id_set("named")
        edges = EdgeTable(work.connection, "notes.edge")
        reading = self._make_source_pass(plan)

        def add_block(_source: str, found: BlockRows) -> None:
            edges.add(found.edges)
            for number in found.named:
                named.add(number)

        def make_checkpoint() -> None:
            work.checkpoint({"phase": "surveying", "reading": reading.resume_state()}, {"named": named})

        reading.run("surveying", add_block, make_checkpoint)
        chosen, excluded = edges.selected_and_excluded(scope, named)
        idle = edges.classes_without_members(scope.classes | scope.excluded)
        work.connection.execute("DROP TABLE notes.edge")  # gigabytes for all of WikiData, read once
        work.checkpoint({"phase": "reading", "reading": None, "idle": idle}, {"chosen": chosen, "excluded": excluded})

    def read_sources(self, rejected: Iterable[tuple[str, Reject]]) -> tuple[Ingester, SourcePass]:
        """Read the sources and write the selected entities into the snapshot."""
        work, scope = self.work, self.scope
        graph = scope.needs_survey
        plan = ExtractionPlan(
            languages=self.languages,
            everything=scope.everything,
            chosen=work.stored_id_set("chosen")
            if graph
            else numbers_of_valid_ids(scope.ids | scope.also),  # the survey found these
            excluded=work.stored_id_set("excluded"),
            keys=frozenset() if graph else scope.normalised_names(),
            properties=scope.properties and not scope.everything,
            counted=frozenset(int(prop[1:]) for prop in self.settings.get("frequent_of", ())),
        )
        ingester = Ingester(work, self.rejects)
        if "collected" not in work.state:
            for source, reject in rejected:
                self.rejects.add(source, reject, copied=False)
        reading = self._make_source_pass(plan)
        reading.run("reading", ingester.add_block, lambda: ingester.checkpoint(reading.resume_state()))
        for name, damage in reading.damage:
            self.rejects.add(name, Reject(reason=TRUNCATED, detail=damage))
        if plan.properties:
            ingester.drop_unused_properties(plan.chosen, plan.keys)
        return ingester, reading

    def _make_source_pass(self, plan: ExtractionPlan) -> SourcePass:
        settings = self.settings
        return SourcePass(
            self.sources,
            plan,
            self.work,
            workers=settings.get("workers"),
            limit=settings.get("limit"),
            keep_partial=settings.get("keep_partial", False),
            progress=settings.get("progress"),
        )


def _keep_or_remove_work(work: BuildFolder, error: BaseException | None, *, keep: bool) -> None:
    """Keep the work folder after an error if a later call can continue from it, else remove it."""
    if keep and error is not None and not isinstance(error, SelectionError) and work.can_continue:
        work.close()
    else:
        work.remove()


@contextmanager
def raising_snapshot_error(out: Path) -> Iterator[None]:
    """Convert the errors of a full disk or a folder without write permission into a SnapshotError."""
    try:
        yield
    except ConnectionError:  # raised by services: ServiceError is a ConnectionError
        raise
    except (OSError, sqlite3.Error) as error:
        kept = work_folder_path(out).is_dir()
        left = "; what was read is kept, the same command goes on" if kept else "; nothing was left behind"
        raise SnapshotError(
            f"cannot write snapshot: cannot build {out}: {write_failure_reason(out, error)}{left}"
        ) from error


def _copy_pipes_to_read_twice(
    sources: Sequence[Path | str], scope: Scope, work: BuildFolder
) -> list[tuple[Path | str, str]]:
    """(path to read, name) of each source; a pipe that must be read twice is copied into the work folder."""
    readable: list[tuple[Path | str, str]] = []
    for number, source in enumerate(sources):
        piped = str(source) == STDIN
        name = "stdin" if piped else Path(source).name
        if scope.needs_survey and (piped or not (Path(source).is_file() or Path(source).is_dir())):
            copy = work.path / f"source-{number}"
            with open_source(source) as given, copy.open("wb") as stream:
                shutil.copyfileobj(given, stream)
            readable.append((copy, name))
        else:
            readable.append((source, name))
    return readable
