"""The threads that do the work of requests, and the served snapshot, which one of them reads.

A thread does one piece of work after another, with a bounded queue. Queued work is dropped where its client has left
or its time is over. Running work ends at its next read of the snapshot, or its result is discarded: Python cannot stop
a thread from outside. Where the file of the snapshot is replaced, the new one is opened and served.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from math import inf
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from abstraction.files.rows import QARow, TieredRow
from abstraction.ladders.assembly.filters import MeasuredRelations
from abstraction.maker.pipeline import LadderMaker
from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.language.languages import description_language, is_supported_language, supported_languages_text
from granola.service.limits import ServiceSettings
from granola.service.problems import HTTPProblem, overload_problem, time_limit_problem
from kg.base.model import fallback_chain
from kg.errors import ForeseenError, KGError
from kg.store import is_address, open_store
from kg.store.protocol import NameMatch, Store
from kg.store.sqlite import SQLiteStore

LANGUAGES_KEPT = 4  # ladder makers kept beside that of the service's own language: each takes much memory
ENTITIES_KEPT = 200_000  # entities in the memory of all makers together
SENT_KEPT = 10_000_000  # characters of questions after which makers drop their results: a bound on memory
SENT_AT_LEAST = 100  # least characters counted per question, since short ones have results too
TERMS_LOOKED_AT = 1_000_000  # terms: in larger snapshots the search for a language would take too long
ANSWERS_KEPT = 1_000  # languages whose support is remembered
_ENGLISH = ("en", "en-gb", "en-ca", "en-us")
LOOKS_A_MIRROR = 15.0  # seconds between two checks of the snapshot id of a mirror
MIRROR_PATIENCE = 2.0  # seconds that a request waits for a Neo4j server that is away
log = logging.getLogger("granola.service")
T = TypeVar("T")


class OverTimeError(ForeseenError):
    """A piece of work took longer than its time."""


class WorkContext:
    """The object that a thread passes to its work; this base class is for work that needs none."""

    def set_deadline(self, until: float) -> None:
        """Set the time, by `time.monotonic`, at which the work that now begins must end."""

    def drop_derived_results(self) -> None:
        """Drop results that work left unfinished when it ended with an error."""

    def close(self) -> None:
        """Close the object after the last piece of work."""


C = TypeVar("C", bound=WorkContext)
WORK_THREADS: WeakSet[WorkThread[Any]] = WeakSet()  # of this process


class WorkThread(Generic[C]):
    """A thread with a queue of at most `most` pieces of work, for one event loop."""

    def __init__(self, name: str, make: Callable[[], C], *, most: int) -> None:
        self._most = most
        self._thread = ThreadPoolExecutor(1, name)
        self._context = self._thread.submit(make)
        self._until = inf  # the time at which the running work must end
        self.waiting = 0  # pieces of work that are queued or running
        WORK_THREADS.add(self)

    async def opened_context(self) -> C:
        """Wait for the object that the thread passes to its work. Raises the error of making it."""
        return await asyncio.wrap_future(self._context)

    async def run(self, work: Callable[[C], T], *, seconds: float) -> T:
        """Run `work` in the thread and return its result. Raises its errors, and HTTPProblem where the queue is full
        or the time is over.
        """
        if self.waiting >= self._most:
            raise overload_problem("too many requests are waiting")
        until = time.monotonic() + seconds
        asked = [work]  # emptied when the request ends, so that its body is freed
        self.waiting += 1
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(self._thread.submit(self._run_next_work, asked, until))
        except (TimeoutError, OverTimeError):
            raise time_limit_problem(seconds) from None
        finally:
            asked.clear()
            self.waiting -= 1

    def _run_next_work(self, asked: list[Callable[[C], T]], until: float) -> T:
        work = next(iter(asked), None)
        if work is None or time.monotonic() > until:
            raise OverTimeError
        self._until = until
        context = self._context.result()
        context.set_deadline(until)
        try:
            return work(context)
        except HTTPProblem:  # raised before any result was begun, so there is nothing to drop
            raise
        except BaseException:
            context.set_deadline(inf)
            context.drop_derived_results()
            raise
        finally:
            self._until = inf

    def seconds_overdue(self, now: float) -> float:
        """The seconds for which the running work has exceeded its time; 0 within its time."""
        return max(0.0, now - self._until)

    def close(self) -> None:
        """End the thread after the work in its queue."""
        self._thread.submit(lambda: self._context.result().close())
        self._thread.shutdown(wait=False)


class TimedStore:
    """A store whose reads raise OverTimeError after `until`, a time of `time.monotonic`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.until = inf

    def __getattr__(self, name: str) -> Any:
        if time.monotonic() > self.until:
            raise OverTimeError
        return getattr(self._store, name)

    def may_have_names(self, language: str) -> bool:
        """Whether an entity has a label in the language; True for snapshots with too many terms to search."""
        manifest = self._store.manifest()
        if (listed := manifest.get("languages")) is not None and language not in listed:
            return False
        counts = manifest["counts"]
        few = sum(counts.get(kind, 0) for kind in ("labels", "aliases", "descriptions")) <= TERMS_LOOKED_AT
        if not few or not isinstance(self._store, SQLiteStore):
            return True
        return self._store.has_labels(language, among=TERMS_LOOKED_AT)

    def matches_of_names_beginning(self, text: str, *, languages: Collection[str], limit: int) -> list[NameMatch]:
        """Names that begin with the text; of a mirror, which cannot list them, the names equal to it."""
        if isinstance(self._store, SQLiteStore):
            return self._store.matches_of_names_beginning(text, languages=languages, limit=limit)
        return self._store.find([text], languages=languages).get(text, [])[:limit]


class SnapshotSession(WorkContext):
    """An open snapshot and its ladder makers, used by one thread alone."""

    def __init__(self, settings: ServiceSettings) -> None:
        where = settings.snapshot
        self._is_mirror = is_address(where)
        if self._is_mirror:
            from kg.store.neo4j import Neo4jStore

            query_seconds = max(settings.seconds, 30.0)
            store: Store = Neo4jStore.open(where, query_seconds=query_seconds, patience=MIRROR_PATIENCE)
        else:
            store = open_store(where)
        self.store = TimedStore(store)
        self.manifest = self.store.manifest()
        self.snapshot_id = str(self.manifest["snapshot_id"])
        self.language = settings.language
        self._makers: dict[tuple[str, str], LadderMaker] = {}
        self._vocabularies: dict[str, Vocabulary] = {}
        self._measured: dict[tuple[str, str], MeasuredRelations] = {}
        # True also where too many terms would have to be searched.
        self.supports_language = lru_cache(ANSWERS_KEPT)(self._has_rules_or_names_in)
        self._sent = 0

    def maker(self, language: str | None = None, linker: str = "question") -> LadderMaker:
        """The ladder maker of a language and a linker, made at the first request for it.

        The maker of the service's own language and some others are kept, and all are dropped once they contain too
        many entities. Making one has no time limit, since its tables serve all later requests.
        """
        key = (language or self.language, linker)
        if sum(maker.graph.cached_size for maker in self._makers.values()) > ENTITIES_KEPT:
            self._makers.clear()
        if key not in self._makers:
            others = [other for other in self._makers if other[0] != self.language]
            for other in others if len(others) >= LANGUAGES_KEPT else ():
                del self._makers[other]
            until, self.store.until = self.store.until, inf  # the request gets its 503 when its time is up
            # The English that the rules read where names are wanted in a language; other kinds have no names.
            read = description_language(key[0])
            read = read if read in _ENGLISH else "en"
            measured = self._measured.setdefault((read, linker), MeasuredRelations())
            words = self._vocabularies.get(read)
            maker = LadderMaker(self.store, language=key[0], linker=linker, vocabulary=words, measured=measured)
            self._vocabularies[read] = maker.vocabulary
            self._makers[key] = maker
            self.store.until = until
        return self._makers[key]

    def check_language(self, language: str) -> None:
        """Raise HTTPProblem for a language without names in the snapshot and without rules."""
        if not self.supports_language(language):
            raise HTTPProblem(
                422, "language", f"language is {language!r}: the snapshot has no names in it, and dates are written in "
                f"{supported_languages_text()} alone; ask in one of these, or in one that the snapshot has names in",
            )  # fmt: skip

    def ladder(self, row: QARow, language: str, linker: str = "question") -> TieredRow:
        """Make the tiered row of a question; tiers without a name in the language are named in another one."""
        self.limit_kept_results_of_question(row)
        return self.maker(language, linker).make(row)

    def prepare_tables(self) -> SnapshotSession:
        """Read the vocabularies that requests need, as far as that is quick, and return this session.

        Vocabularies are stored for all later sessions of this snapshot in this process and its forks.
        """
        if self.snapshot_id not in _words:
            _words.clear()
        self._vocabularies = _words.setdefault(self.snapshot_id, {})
        self.maker().make(_FIRST)
        for language in () if self._is_mirror else _ENGLISH:
            if language not in self._vocabularies:
                self._vocabularies[language] = Vocabulary.from_store(self.store, language)
        return self

    def _has_rules_or_names_in(self, language: str) -> bool:
        others = [code for code in fallback_chain(language)[1:] if code not in ("mul", "en")]
        return is_supported_language(language) or any(self.store.may_have_names(code) for code in (language, *others))

    def limit_kept_results(self, texts: Iterable[str]) -> None:
        """Add the characters of texts to those processed, and drop the results that makers keep after too many of
        them.

        Makers keep results by text, limited in number but not in length. The tables of the snapshot are not dropped.
        """
        self._sent += max(SENT_AT_LEAST, sum(map(len, texts)))
        if self._sent > SENT_KEPT:
            self._sent = 0
            self.drop_derived_results()

    def limit_kept_results_of_question(self, row: QARow) -> None:
        """`limit_kept_results` with the texts of a question that makers process."""
        self.limit_kept_results((row.question, row.subject_text or "", row.answer_description or "", *row.answers))

    def set_deadline(self, until: float) -> None:
        """Set the time after which reads of the snapshot raise OverTimeError."""
        self.store.until = until

    def drop_derived_results(self) -> None:
        """Drop results that interrupted work may have left unfinished; the tables of the snapshot stay."""
        for maker in self._makers.values():
            maker.drop_derived_caches()

    def close(self) -> None:
        """Close the snapshot."""
        self._makers.clear()
        self.store.close()


_words: dict[str, dict[str, Vocabulary]] = {}  # by snapshot id, then language
_FIRST = QARow(
    id="1", question="Where was Barack Obama born?", answers=("Honolulu",), answer_qids=(None,)
)  # makes the rules load their tables before the first request


class ServedSnapshot:
    """A snapshot with the thread that reads it, closed when its last user is done."""

    snapshot_id = ""
    manifest: Any = None

    def __init__(self, settings: ServiceSettings) -> None:
        self.reader = WorkThread("reader", lambda: SnapshotSession(settings).prepare_tables(), most=settings.waiting)
        self._settings = settings
        self._users = 0
        self._is_retired = False

    async def run(self, work: Callable[[SnapshotSession], T]) -> T:
        """Run `work` in the thread of the snapshot and return its result. Raises as `WorkThread.run`."""
        with self.kept_open():
            return await self.reader.run(work, seconds=self._settings.seconds)

    @contextmanager
    def kept_open(self) -> Iterator[ServedSnapshot]:
        """A context in which this snapshot stays open for several pieces of work."""
        self._users += 1
        try:
            yield self
        finally:
            self._users -= 1
            if self._is_retired:
                self.close_when_unused()

    def close_when_unused(self) -> None:
        """Close the snapshot now, or when its last user is done."""
        self._is_retired = True
        if not self._users:
            self.reader.close()


class Snapshots:
    """The snapshot that is served, and its replacement when the file changes."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._current: ServedSnapshot | None = None
        self._seen_identity: object = None  # identity of the file at the last check
        self._last_checked = 0.0

    @property
    def is_open(self) -> bool:
        """Whether requests can be answered."""
        return self._current is not None

    @property
    def current(self) -> ServedSnapshot:
        """The snapshot that is served. Raises HTTPProblem before the first one is open."""
        if self._current is None:
            raise overload_problem("the snapshot is being opened", retry_after=2)
        return self._current

    async def open(self) -> None:
        """Open the file or mirror and serve it in place of the earlier one. Raises the errors of opening it."""
        self._seen_identity = await asyncio.to_thread(self._source_identity)
        fresh = ServedSnapshot(self._settings)
        session = await fresh.reader.opened_context()
        fresh.snapshot_id, fresh.manifest = session.snapshot_id, session.manifest
        if self._current is not None:
            self._current.close_when_unused()
        self._current = fresh

    async def open_or_replace(self) -> bool:
        """Open the snapshot, or open it again where its file was replaced; return whether that was done.

        Until the new one is ready, requests are answered from the old one, which stays where the new one cannot be
        opened; the log then has one line. Raises the errors of opening the first one.
        """
        if self._current is None:
            await self.open()
            return True
        now = asyncio.get_running_loop().time()
        if is_address(self._settings.snapshot) and now - self._last_checked < LOOKS_A_MIRROR:
            return False
        self._last_checked = now
        there = await asyncio.to_thread(self._source_identity)
        if there is None or there == self._seen_identity:
            return False
        try:
            await self.open()
        except Exception as error:
            log.error("the snapshot is not replaced, and the old one is served: %s", error)
            self._seen_identity = there
            return False
        log.warning("now serving snapshot %s", self.current.snapshot_id)
        return True

    def _source_identity(self) -> object:
        """The identity of the file or mirror, which changes with its content; None where there is none."""
        where = self._settings.snapshot
        with suppress(OSError, KGError):
            if not is_address(where):
                found = os.stat(where)  # opening a pipe would wait for ever
                there = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
                return there if stat.S_ISREG(found.st_mode) else None
            with closing(open_store(where)) as store:
                return str(store.manifest()["snapshot_id"])
        return None
