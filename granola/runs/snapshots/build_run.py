"""`granola snapshot build`: a snapshot of WikiData from a dump or another source."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, TextIO

from granola.errors import UsageError
from granola.runs.outputs import check_out, check_standard_input, count, note
from granola.runs.question_settings import QuestionSettings
from granola.runs.settings import Run, RunOutcome, Setting, settings_of
from granola.runs.snapshots.estimates import LARGE, lines
from granola.runs.snapshots.scope_settings import ScopeSettings, languages_of
from granola.runs.snapshots.source_settings import SourceKind, build_from
from granola.terminal_lines import show_lines
from kg.web.addresses import without_secrets

if TYPE_CHECKING:
    from kg.building.estimate import BuildEstimate
    from kg.scope import Scope
    from kg.snapshot import Progress, Report


@dataclass(frozen=True, kw_only=True)
class BuildRun(Run, QuestionSettings, ScopeSettings):
    """Build a snapshot from WikiData's JSON dumps, or another source: everything, or the union of what is selected.

    Exit status 1 if anything was rejected, which is listed in OUT.rejects.jsonl, or a dump's array is never closed.
    """

    verb: ClassVar[str] = "snapshot build"

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
        SourceKind,
        Setting(
            "What the sources are. The online ones need GRANOLA_CONTACT=<your address>;"
            " GRANOLA_SOURCE_USER and GRANOLA_SOURCE_PASSWORD are sent to a URL that is given, and ?key=$MY_KEY in it"
            " is taken from the variable MY_KEY.",
            flag="--from",
        ),
    ] = SourceKind.DUMP
    cache: Annotated[
        Path | None,
        Setting(
            "With --from api: the file that keeps answers; a build that was cut short goes on from it."
            " OUT.cache if not given."
        ),
    ] = None
    languages: Annotated[
        tuple[str, ...],
        Setting(
            "Keep terms in these languages and those they fall back to, 'mul' and 'en' among them.", metavar="CODE,..."
        ),
    ] = ("all",)
    limit: Annotated[int | None, Setting("Read only the first N entities of the sources.", least=1)] = None
    keep_partial: Annotated[bool, Setting("Keep what precedes the damage in a truncated or corrupt source.")] = False
    force: Annotated[bool, Setting("Replace the output if it exists.", recorded=False)] = False
    workers: Annotated[
        int | None,
        Setting(
            "Processes that read a dump; the result does not depend on it. Default: one for each core.",
            least=1,
            recorded=False,
        ),
    ] = None
    restart: Annotated[
        bool,
        Setting("Start again instead of continuing an interrupted build of a dump.", recorded=False),
    ] = False
    dry_run: Annotated[
        bool,
        Setting("Say how long building from a dump will take and how much disk, and stop.", recorded=False),
    ] = False

    def run(self) -> RunOutcome:
        """Build, or estimate the build. Raises UsageError for settings that the kind of source has no use for."""
        began = time.monotonic()
        self._check()
        scope, bad_rows = self.scope(self.shape())
        languages = languages_of(self.languages)
        is_dump = self.source_kind is SourceKind.DUMP
        if is_dump and (self.dry_run or self._is_large()):
            estimated = Estimated(estimate=self._estimate(scope, languages))
            if self.dry_run:
                return estimated
            estimated.show(stream=sys.stderr)
        with _told_when_interrupted(self.out, self.cache), _progress_bar() as progress:
            report = (
                self._completed(scope, languages, progress)
                if self._asks_twice
                else self._built(scope, languages, progress)
            )
        return SnapshotBuilt(report=report, bad_rows=bad_rows, seconds=time.monotonic() - began)

    @property
    def _asks_twice(self) -> bool:
        return bool(self.complete and self.qa and self.hops)

    def _built(
        self,
        scope: Scope,
        languages: list[str] | None,
        progress: Callable[[Progress], None] | None,
        *,
        out: Path | None = None,
        frequent_of: Iterable[str] = (),
    ) -> Report:
        from granola import __version__

        is_dump = self.source_kind is SourceKind.DUMP
        cache = self.cache
        if self.source_kind is SourceKind.API and cache is None:
            from kg.building.other_sources import CACHE_SUFFIX

            cache = self.out.with_name(self.out.name + CACHE_SUFFIX)
        return build_from(
            self.source_kind,
            self.sources,
            out or self.out,
            scope=scope,
            cache=cache,
            languages=languages,
            limit=self.limit,
            keep_partial=self.keep_partial,
            force=self.force or out is not None,
            **({"workers": self.workers, "restart": self.restart} if is_dump else {}),
            command=shlex.join(self.command()),
            software=f"granola {__version__}",
            progress=progress,
            frequent_of=tuple(frequent_of),
        )

    def _completed(
        self, scope: Scope, languages: list[str] | None, progress: Callable[[Progress], None] | None
    ) -> Report:
        """A first snapshot, and a second that also has what making the ladders asked the first for."""
        from dataclasses import replace

        from abstraction.datasets.asked_entities import asked_entities, relations_of
        from abstraction.rows import read_questions
        from kg.snapshot import REJECTS_SUFFIX
        from kg.store import open_store

        rows = list(read_questions(self.qa, shape=self.shape(), on_reject=lambda _: None))
        first = self.out.with_name(f"{self.out.name}.first")
        try:
            report = self._built(scope, languages, progress, out=first, frequent_of=relations_of(rows))
            with closing(open_store(first)) as store:
                language = "en" if languages is None or "en" in languages else languages[0]
                asked = asked_entities(rows, store, language=language)
        finally:
            for made in (first, Path(f"{first}{REJECTS_SUFFIX}")):
                made.unlink(missing_ok=True)
        likely = asked.lacking.union(*report.frequent.values())
        wider = replace(scope, names=scope.names | asked.names, also=frozenset(likely))
        return self._built(wider, languages, progress)

    def _check(self) -> None:
        check_standard_input(self.sources)
        given = [*self.ids_from, *self.qa, self.cache, *(source for source in self.sources if source != str(self.out))]
        if self.source_kind is SourceKind.PARQUET:
            given += [path for source in self.sources for path in Path(source).glob("*")]
        check_out(self.out, inputs=given)
        for option, is_given in (("--along", bool(self.along)), ("--hub-limit", self.hub_limit is not None)):
            if is_given and not self.hops:
                raise UsageError(f"{option} says how steps are taken and needs --hops N, how many")
        if self.source_kind is not SourceKind.DUMP and (self.workers or self.restart or self.dry_run):
            raise UsageError(f"--workers, --restart and --dry-run are for dumps, not for --from {self.source_kind}")

    def command(self) -> list[str]:
        """The command line that builds this, secrets of addresses left out."""
        online = self.source_kind in (SourceKind.API, SourceKind.SPARQL)
        named = [without_secrets(source) for source in self.sources] if online else self.sources
        words = ["granola", "snapshot", "build", *named, "--out", str(self.out)]
        for declared in settings_of(BuildRun):
            value = getattr(self, declared.field)
            if (
                declared.setting.positional
                or not declared.setting.recorded
                or declared.field == "out"
                or value == declared.default
            ):
                continue
            name = declared.setting.name(declared.field)
            if declared.type is bool:
                words.append(name if value else name.replace("--", "--no-", 1))
            else:
                words += [word for item in (value if declared.many else (value,)) for word in (name, str(item))]
        return words

    def _is_large(self) -> bool:
        files = [Path(source) for source in self.sources]
        return all(path.is_file() for path in files) and sum(path.stat().st_size for path in files) >= LARGE

    def _estimate(self, scope: Scope, languages: list[str] | None) -> BuildEstimate:
        from kg.building.build_request import check_request
        from kg.building.estimate import estimate

        if not self.sources:
            raise UsageError("--from dump needs a file, or - for standard input")
        check_request(self.sources, self.out, limit=self.limit, force=self.force or self.dry_run)
        return estimate(
            self.sources, self.out, scope=scope, languages=languages, limit=self.limit, workers=self.workers
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimated:
    """What a build would cost."""

    estimate: BuildEstimate

    @property
    def failed(self) -> bool:
        """Whether the disk has too little room."""
        return not self.estimate.fits

    def show(self, *, stream: TextIO | None = None) -> None:
        """The estimate in words."""
        show_lines(*lines(self.estimate), file=stream)


@dataclass(frozen=True, kw_only=True, slots=True)
class SnapshotBuilt:
    """A snapshot, and how many rows of QA files were rejected."""

    report: Report
    bad_rows: int
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether anything was rejected, or a source was cut short."""
        return bool(self.report.rejects or self.bad_rows or self.report.manifest.get("incomplete"))

    def show(self) -> None:
        """What is in it, and what was left out."""
        manifest = self.report.manifest
        counts = manifest["counts"]
        tell(
            f"{self.report.path}: {count(counts['entities'], 'entity', 'entities')},"
            f" {count(counts['statements'], 'statement')}"
            f" of {count(manifest.get('source_entities', counts['entities']), 'entity', 'entities')} read,"
            f" in {self.seconds:.1f} s",
        )
        for warning in manifest.get("warnings", ()):
            tell(f"warning: {warning}")
        if manifest.get("time_aware") is False:
            tell("warning: truthy statements alone: no ranks and qualifiers, so what held when is not known")
        if duplicates := manifest.get("duplicates"):
            again = count(duplicates, "entity", "entities")
            tell(f"{again} occurred again; the last of each was kept")
        if self.report.rejects:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.report.rejects.items())
            tell(f"rejected: {reasons}; listed in {self.report.rejects_path}")


def tell(line: str) -> None:
    """A line on standard error."""
    print(line, file=sys.stderr)


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
