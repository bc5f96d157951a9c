"""Building a snapshot: sources and a scope in, one SQLite file, a manifest and the rejects out."""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from kg.errors import SelectionError, SnapshotError, SourceError
from kg.files import atomic_path
from kg.idset import IdSet
from kg.model import Entity
from kg.picking import Picker
from kg.reading.dump import STDIN, DamagedLine, DumpReader, parse
from kg.reading.entity_json import Reject, decode, edges, entity_id
from kg.reading.snaks import Unreadable
from kg.scope import Scope
from kg.store.rows import number_of
from kg.store.sqlite import SQLiteStore
from kg.tally import Tally
from kg.terms import fallback_chain

REJECTS_SUFFIX = ".rejects.jsonl"
TRUNCATED = "damaged-source"


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a build is. `bytes_total` of the packed sources is None with standard input among them."""

    phase: str
    bytes_read: int
    bytes_total: int | None
    entities: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Where entities come from that are built from a copy of what a service or another format said of them.

    `sources`: what the manifest names in place of the files read. `scope`: what was asked of the source; all
    that came is built. `rejects`: what was not even copied, as (source, line, reject, excerpt). `facts`:
    further entries of the manifest. `redirects`: merged id -> its target, beside what the entities say.
    """

    sources: Sequence[Mapping[str, Any]]
    scope: Scope
    rejects: Iterable[tuple[str, int | None, Reject, str | None]] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    redirects: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What a build did: the manifest, rejects by reason, and the file that lists them (None: no rejects)."""

    path: Path
    manifest: Mapping[str, Any]
    rejects: Mapping[str, int] = field(default_factory=dict)
    rejects_path: Path | None = None


def build(
    sources: Sequence[Path | str],
    out: Path | str,
    *,
    scope: Scope | None = None,
    languages: Collection[str] | None = None,
    limit: int | None = None,
    keep_partial: bool = False,
    force: bool = False,
    command: str | None = None,
    software: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    origin: Origin | None = None,
) -> Report:
    """Read `sources` in order (dumps; `-` is standard input) and write the snapshot `out`.

    `languages`: whose terms to keep, each with its fallback chain (None: all). `limit`: read only so many
    entities. An entity that occurs again replaces the earlier one. Counts of values are over all entities
    read, selected or not; of an entity that is not selected the first occurrence counts.

    `command` rebuilds the snapshot and `software` says what makes it: both for the manifest alone. `origin` is
    given where `sources` are copies of something else.

    What cannot be read is listed in `out` + ".rejects.jsonl", a file that exists only if there is something.
    With `keep_partial`, what precedes the damage in a truncated or corrupt source is kept, the damage listed.

    Raises SourceError where a source is damaged, empty or no dump, SelectionError where nothing is selected,
    SnapshotError where `out` exists and `force` is not set, FileNotFoundError; `out` stays as it was.
    """
    out = Path(out)
    scope = scope or Scope()
    _check_request(sources, out, limit=limit, force=force)
    kept_languages = None if languages is None else frozenset().union(*map(fallback_chain, languages))
    rejects_path = out.with_name(out.name + REJECTS_SUFFIX)
    with _writing(out), ExitStack() as stack:
        temporary = stack.enter_context(atomic_path(out))
        work = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix=f".{out.name}.", suffix=".work", dir=out.parent))
        )
        rejected = _Rejects(work / "rejects.jsonl")
        stack.callback(rejected.close)
        for unread in origin.rejects if origin else ():
            rejected.add(*unread)
        reading = _Reading(_spooled(sources, scope, work), limit=limit, keep_partial=keep_partial, progress=progress)
        picker = Picker(scope, kept_languages)
        described = None
        if scope.needs_graph:
            picker.survey((found for _, _, found in reading.run("surveying") if isinstance(found, dict)), work)
            described = reading.describe()
        tally = stack.enter_context(closing(Tally(work / "tally.sqlite")))
        store = stack.enter_context(closing(SQLiteStore.create(temporary)))
        selection = _Selecting(picker, kept_languages, rejected, tally)
        given = store.write(selection.entities(reading.run("reading")))
        if described is not None and described != reading.describe():
            raise SourceError("a source changed while it was read twice; build again when it is complete")
        for name, damage in reading.damage:
            rejected.add(name, None, Reject(reason=TRUNCATED, detail=damage), None)
        _check_result(selection, given, rejected, sources)
        store.redirect({**(origin.redirects if origin else {}), **selection.redirects})
        sealed = store.finish(
            manifest={
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "software": software,
                "command": command,
                "sources": list(origin.sources) if origin else reading.describe(),
                "selection": (origin.scope if origin else scope).to_json(),
                "languages": None if kept_languages is None else sorted(kept_languages),
                "limit": limit,
                "source_entities": len(selection.seen),
                "duplicates": selection.duplicates,
                "warnings": [*reading.warnings, *selection.unheard(languages or ())],
                "rejects": dict(sorted(rejected.counts.items())),
                **(origin.facts if origin else {}),
            },
            other_values=tally.values(),
            other_properties=tally.properties(),
        )
        store.close()
        rejected.put(rejects_path)
    return Report(
        path=out,
        manifest=sealed,
        rejects=dict(sorted(rejected.counts.items())),
        rejects_path=rejects_path if rejected.counts else None,
    )


class _Reading:
    """Runs over the sources, as often as asked, and tells what they were."""

    def __init__(
        self,
        sources: Sequence[tuple[Path | str, str]],
        *,
        limit: int | None,
        keep_partial: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._sources = sources
        self._limit = limit
        self._keep_partial = keep_partial
        self._progress = progress
        self._readers: list[DumpReader] = []
        self.damage: list[tuple[str, str]] = []
        self.warnings: list[str] = []

    def run(self, phase: str) -> Iterator[tuple[str, int, Mapping[str, Any] | DamagedLine]]:
        """(source name, line, what is there) for everything in the sources, or up to the limit."""
        self._readers = [DumpReader(path, name=name, keep_partial=self._keep_partial) for path, name in self._sources]
        self.damage = []
        self.warnings = []
        sizes = [reader.size for reader in self._readers]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        entities = 0
        for reader in self._readers:
            with closing(reader.blocks()) as blocks:
                for block in blocks:
                    for line, found in parse(block):
                        yield reader.name, line, found
                        if not isinstance(found, DamagedLine):
                            entities += 1
                            if entities == self._limit:
                                return
                    if self._progress is not None:
                        done = sum(one.bytes_read for one in self._readers)
                        self._progress(Progress(phase=phase, bytes_read=done, bytes_total=total, entities=entities))
            if reader.damage is not None:
                self.damage.append((reader.name, reader.damage))
            if reader.warning is not None:
                self.warnings.append(reader.warning)

    def describe(self) -> list[dict[str, Any]]:
        """Name, size, time and hash of each source; no hash for one that was not read to its end."""
        return [
            {"name": one.name, "size": one.size, "modified": one.modified, "sha256": one.sha256}
            for one in self._readers
        ]


class _Selecting:
    """The second half of the work: from JSON objects to the entities that are kept, counting the rest."""

    def __init__(self, picker: Picker, languages: frozenset[str] | None, rejected: _Rejects, tally: Tally) -> None:
        self._picker = picker
        self._languages = languages
        self._rejected = rejected
        self._tally = tally
        self._kept = IdSet()
        self.seen = IdSet()
        self.duplicates = 0
        self._heard: set[str] = set()
        self.redirects: dict[str, str] = {}

    def entities(self, found: Iterable[tuple[str, int, Mapping[str, Any] | DamagedLine]]) -> Iterator[Entity]:
        """The selected entities in source order."""
        for name, line, data in found:
            if isinstance(data, DamagedLine):
                self._rejected.add(name, line, data.reject, data.excerpt)
                continue
            try:
                number = number_of(entity_id(data))
            except Unreadable:
                number = None
            if number is None:
                for reject in decode(data).rejects:
                    self._rejected.add(name, line, reject, None)
                continue
            new = self.seen.add(number)
            self.duplicates += not new
            if number in self._kept or self._picker.picks(number, data):
                decoded = decode(data, languages=self._languages)
                for reject in decoded.rejects:
                    self._rejected.add(name, line, reject, None)
                if decoded.entity is not None:
                    self._kept.add(number)
                    self._heard.update(decoded.entity.labels)
                    self.redirects.update((merged, decoded.entity.id) for merged in decoded.redirects)
                    yield decoded.entity
            elif new:
                self._tally.add(edges(data))

    def unheard(self, languages: Iterable[str]) -> list[str]:
        """A warning for each language that no label is in: a misspelt code, most likely."""
        missing = sorted(set(languages) - self._heard)
        return [f"no selected entity has a label in language {code!r}; is the code right?" for code in missing]


class _Rejects:
    """Counts what was not read and lists it in a file that is put in place at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stream: BinaryIO | None = None
        self.counts: Counter[str] = Counter()
        self.first: str | None = None

    def add(self, source: str, line: int | None, reject: Reject, excerpt: str | None) -> None:
        if self._stream is None:
            self._stream = self._path.open("wb")
            self.first = f"{source}, line {line}: {reject.reason}: {reject.detail}"
        self.counts[reject.reason] += 1
        record = {
            "source": source,
            "line": line,
            "reason": reject.reason,
            "detail": reject.detail,
            "entity": reject.entity,
            "statement": reject.statement,
            "excerpt": excerpt,
        }
        kept = {key: value for key, value in record.items() if value is not None}
        self._stream.write(orjson.dumps(kept, option=orjson.OPT_APPEND_NEWLINE))

    def put(self, final: Path) -> None:
        self.close()
        if self.counts:
            with atomic_path(final) as temporary:
                shutil.copyfile(self._path, temporary)
        else:
            final.unlink(missing_ok=True)  # of an earlier build of the same name

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


def _check_request(sources: Sequence[Path | str], out: Path, *, limit: int | None, force: bool) -> None:
    """What can be told before hours are spent on reading."""
    if not sources:
        raise SourceError("no source given; name at least one dump file, or - for standard input")
    if sum(str(source) == STDIN for source in sources) > 1:
        raise SourceError("standard input (-) can be given once only")
    for source in sources:
        if str(source) != STDIN and not Path(source).exists():
            raise FileNotFoundError(2, "no such file", str(source))
    if limit is not None and limit < 1:
        raise SelectionError(f"limit must be 1 or more, not {limit}")
    if out.exists() and any(str(source) != STDIN and out.samefile(source) for source in sources):
        raise SnapshotError(f"{out} is both source and output; name another file to write")
    check_output(out, force=force)


def check_output(out: Path, *, force: bool) -> None:
    """Raises SnapshotError where a snapshot cannot be put at `out`, before hours are spent on reading."""
    if out.is_dir():
        raise SnapshotError(f"{out} is a folder; name the file to write")
    if out.exists() and not force:
        raise SnapshotError(f"{out} exists already; give --force to replace it")


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, sqlite3.Error) as error:  # a full disk, a folder that is not ours
        raise SnapshotError(f"cannot build {out}: {error}; nothing was left behind") from error


def _check_result(selection: _Selecting, given: int, rejected: _Rejects, sources: Sequence[Path | str]) -> None:
    if not selection.seen:
        names = ", ".join(str(source) for source in sources)
        more = f"; {sum(rejected.counts.values())} rejected, the first: {rejected.first}" if rejected.first else ""
        raise SourceError(f"{names}: no item or property in it{more}")
    if not given:
        raise SelectionError(
            f"none of the {len(selection.seen)} entities read is selected; widen the selection or the source"
        )


def _spooled(sources: Sequence[Path | str], scope: Scope, work: Path) -> list[tuple[Path | str, str]]:
    """(path, name) of each source; of pipes a copy on disk where they must be read twice."""
    readable: list[tuple[Path | str, str]] = []
    for number, source in enumerate(sources):
        piped = str(source) == STDIN
        name = "stdin" if piped else Path(source).name
        if scope.needs_graph and (piped or not (Path(source).is_file() or Path(source).is_dir())):
            copy = work / f"source-{number}"
            with ExitStack() as stack:
                given = sys.stdin.buffer if piped else stack.enter_context(Path(source).open("rb"))
                shutil.copyfileobj(given, stack.enter_context(copy.open("wb")), 1 << 20)
            readable.append((copy, name))
        else:
            readable.append((source, name))
    return readable
