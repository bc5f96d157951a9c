"""Threads that do the work of requests, and the snapshot that is served, which one of them reads.

A thread does one piece of work after another, with a bounded queue. Queued work is dropped where its request has left
or its time is up. Work that has begun ends at its next access to the snapshot, or runs to its end unused: no thread can
be stopped from outside. A snapshot is taken up anew where its file is replaced.
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
from abstraction.text.language.languages import description_language, is_supported_language, supported_languages
from granola.service.limits import ServiceSettings
from granola.service.problems import HTTPProblem, overloaded, too_slow
from kg.base.model import fallback_chain
from kg.errors import ForeseenError, KGError
from kg.store import is_address, open_store
from kg.store.protocol import NameMatch, Store
from kg.store.sqlite import SQLiteStore

LANGUAGES_KEPT = 4
ENTITIES_KEPT = 200_000  # of all languages
SENT_KEPT = 10_000_000  # characters of questions after which what was concluded of them is dropped
SENT_AT_LEAST = 100  # characters that a question counts for
TERMS_LOOKED_AT = 1_000_000  # in a snapshot with more terms the languages are not counted
ANSWERS_KEPT = 1_000
_ENGLISH = ("en", "en-gb", "en-ca", "en-us")
LOOKS_A_MIRROR = 15.0  # seconds between two looks at which snapshot a server has
MIRROR_PATIENCE = 2.0  # seconds that a request waits for a Neo4j server that is away
log = logging.getLogger("granola.service")
T = TypeVar("T")


class OverTimeError(ForeseenError):
    """The time of a piece of work is used up."""


class Context:
    """The object that a thread works with; this one is for work that needs none."""

    def begin(self, until: float) -> None:
        """A piece of work begins that has its time until then, by `time.monotonic`."""

    def interrupted(self) -> None:
        """A piece of work has ended in the middle."""

    def close(self) -> None:
        """There is no more work."""


C = TypeVar("C", bound=Context)
ROOMS: WeakSet[Workroom[Any]] = WeakSet()  # of this process


class Workroom(Generic[C]):
    """The thread and its queue of at most `most` pieces of work, for one event loop."""

    def __init__(self, name: str, make: Callable[[], C], *, most: int) -> None:
        self._most = most
        self._thread = ThreadPoolExecutor(1, name)
        self._context = self._thread.submit(make)
        self._until = inf  # of the work in progress
        self.waiting = 0  # pieces of work that wait or are waited for
        ROOMS.add(self)

    async def opened(self) -> C:
        """The object that the thread works with. Raises the error of making it."""
        return await asyncio.wrap_future(self._context)

    async def run(self, work: Callable[[C], T], *, seconds: float) -> T:
        """The result of the work. Raises what it raises, and HTTPProblem where it is refused or over time."""
        if self.waiting >= self._most:
            raise overloaded("too many requests are waiting")
        until = time.monotonic() + seconds
        asked = [work]  # emptied when its request has left, so that its body is freed
        self.waiting += 1
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(self._thread.submit(self._run_next_work, asked, until))
        except (TimeoutError, OverTimeError):
            raise too_slow(seconds) from None
        finally:
            asked.clear()
            self.waiting -= 1

    def _run_next_work(self, asked: list[Callable[[C], T]], until: float) -> T:
        work = next(iter(asked), None)
        if work is None or time.monotonic() > until:
            raise OverTimeError
        self._until = until
        context = self._context.result()
        context.begin(until)
        try:
            return work(context)
        except HTTPProblem:  # which is an answer, and no accident
            raise
        except BaseException:
            context.begin(inf)
            context.interrupted()
            raise
        finally:
            self._until = inf

    def overdue(self, now: float) -> float:
        """Seconds that the work in progress is beyond its time."""
        return max(0.0, now - self._until)

    def close(self) -> None:
        """End the thread when all that was begun is done."""
        self._thread.submit(lambda: self._context.result().close())
        self._thread.shutdown(wait=False)


class TimedStore:
    """A store that gives up a piece of work at the next read after `until`, a time of `time.monotonic`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.until = inf

    def __getattr__(self, name: str) -> Any:
        if time.monotonic() > self.until:
            raise OverTimeError
        return getattr(self._store, name)

    def may_have_names(self, language: str) -> bool:
        """Whether an entity has a label in the language; True for snapshots with too many terms to look through."""
        manifest = self._store.manifest()
        if (listed := manifest.get("languages")) is not None and language not in listed:
            return False
        counts = manifest["counts"]
        few = sum(counts.get(kind, 0) for kind in ("labels", "aliases", "descriptions")) <= TERMS_LOOKED_AT
        if not few or not isinstance(self._store, SQLiteStore):
            return True
        return self._store.has_labels(language, among=TERMS_LOOKED_AT)

    def names_beginning(self, text: str, *, languages: Collection[str], limit: int) -> list[NameMatch]:
        """Names that begin so, of a file; of a mirror, which has no order of names, this name alone."""
        if isinstance(self._store, SQLiteStore):
            return self._store.names_beginning(text, languages=languages, limit=limit)
        return self._store.find([text], languages=languages).get(text, [])[:limit]


class SnapshotSession(Context):
    """An open snapshot and the makers of ladders that read it. Of one thread alone."""

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
        # Whether dates are written in a language, or the snapshot has names in it, or it cannot be told.
        self.speaks = lru_cache(ANSWERS_KEPT)(self._reads_or_names_in)
        self._sent = 0

    def maker(self, language: str | None = None, linker: str = "question") -> LadderMaker:
        """The ladder maker of a language and a linker.

        The first language's maker is kept, and some of others; none once all together have read too much. Tables that
        it prepares serve all later requests, however long that takes.
        """
        key = (language or self.language, linker)
        if sum(maker.graph.held for maker in self._makers.values()) > ENTITIES_KEPT:
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
        """Raise HTTPProblem for a language in which the snapshot has no names and no rules exist."""
        if not self.speaks(language):
            raise HTTPProblem(
                422, "language", f"language is {language!r}: the snapshot has no names in it, and dates are written in "
                f"{supported_languages()} alone; ask in one of these, or in one that the snapshot has names in",
            )  # fmt: skip

    def ladder(self, row: QARow, language: str, linker: str = "question") -> TieredRow:
        """The tiered row of a question; tiers without a name in the language are in another one."""
        self.count_question(row)
        return self.maker(language, linker).make(row)

    def prepared(self) -> SnapshotSession:
        """This, with what requests in any language need of the snapshot, as far as that does not take too long.

        The words of a snapshot are kept for the sessions that this process, and its forks, open of it afterwards.
        """
        if self.snapshot_id not in _words:
            _words.clear()
        self._vocabularies = _words.setdefault(self.snapshot_id, {})
        self.maker().make(_FIRST)
        for language in () if self._is_mirror else _ENGLISH:
            if language not in self._vocabularies:
                self._vocabularies[language] = Vocabulary.from_store(self.store, language)
        return self

    def _reads_or_names_in(self, language: str) -> bool:
        others = [code for code in fallback_chain(language)[1:] if code not in ("mul", "en")]
        return is_supported_language(language) or any(self.store.may_have_names(code) for code in (language, *others))

    def count_characters(self, texts: Iterable[str]) -> None:
        """Count the characters of a question and its answers before they are worked on.

        Makers keep results under the texts that they belong to, bounded by number, not by length: after many
        characters these results are dropped, and the tables of the snapshot stay.
        """
        self._sent += max(SENT_AT_LEAST, sum(map(len, texts)))
        if self._sent > SENT_KEPT:
            self._sent = 0
            self.interrupted()

    def count_question(self, row: QARow) -> None:
        """Count the characters of a question that are looked into."""
        self.count_characters((row.question, row.subject_text or "", row.answer_description or "", *row.answers))

    def begin(self, until: float) -> None:
        """A piece of work begins that may read until then."""
        self.store.until = until

    def interrupted(self) -> None:
        """Drop the unfinished results of makers after work was interrupted; the tables of the snapshot stay."""
        for maker in self._makers.values():
            maker.drop_conclusions()

    def close(self) -> None:
        """Close the snapshot."""
        self._makers.clear()
        self.store.close()


_words: dict[str, dict[str, Vocabulary]] = {}  # of one snapshot, by its id
_FIRST = QARow(
    id="1", question="Where was Barack Obama born?", answers=("Honolulu",), answer_qids=(None,)
)  # so that the tables of rules are loaded before anybody waits for them


class Generation:
    """A snapshot with the thread that reads it. It is closed when nobody uses it any more."""

    snapshot_id = ""
    manifest: Any = None

    def __init__(self, settings: ServiceSettings) -> None:
        self.reader = Workroom("reader", lambda: SnapshotSession(settings).prepared(), most=settings.waiting)
        self._settings = settings
        self._users = 0
        self._is_retired = False

    async def run(self, work: Callable[[SnapshotSession], T]) -> T:
        """The result of a piece of work. Raises as `Workroom.run`."""
        with self.held():
            return await self.reader.run(work, seconds=self._settings.seconds)

    @contextmanager
    def held(self) -> Iterator[Generation]:
        """This generation for several pieces of work: it is not closed meanwhile."""
        self._users += 1
        try:
            yield self
        finally:
            self._users -= 1
            if self._is_retired:
                self.retire()

    def retire(self) -> None:
        """Close it as soon as nobody uses it."""
        self._is_retired = True
        if not self._users:
            self.reader.close()


class Snapshots:
    """The snapshot that is served with its serial number, and the check for a replaced file."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._current: Generation | None = None
        self._seen: object = None  # identity of the file at the last check
        self._looked = 0.0

    @property
    def is_open(self) -> bool:
        """Whether requests can be answered."""
        return self._current is not None

    @property
    def current(self) -> Generation:
        """The snapshot that is served. Raises HTTPProblem where none is open yet."""
        if self._current is None:
            raise overloaded("the snapshot is being opened", retry_after=2)
        return self._current

    async def open(self) -> None:
        """Open what is there now, and let it be served. Raises what opening it raises."""
        self._seen = await asyncio.to_thread(self._identity)
        fresh = Generation(self._settings)
        session = await fresh.reader.opened()
        fresh.snapshot_id, fresh.manifest = session.snapshot_id, session.manifest
        if self._current is not None:
            self._current.retire()
        self._current = fresh

    async def look(self) -> bool:
        """Open the snapshot, or take up another that has been put into the place of this one; whether that was done.

        Until it is ready, requests are answered from the old one, which stays, with one line in the log, where the new
        one cannot be opened. Raises what opening the first one raises.
        """
        if self._current is None:
            await self.open()
            return True
        now = asyncio.get_running_loop().time()
        if is_address(self._settings.snapshot) and now - self._looked < LOOKS_A_MIRROR:
            return False
        self._looked = now
        there = await asyncio.to_thread(self._identity)
        if there is None or there == self._seen:
            return False
        try:
            await self.open()
        except Exception as error:
            log.error("the snapshot is not replaced, and the old one is served: %s", error)
            self._seen = there
            return False
        log.warning("now serving snapshot %s", self.current.snapshot_id)
        return True

    def _identity(self) -> object:
        """The identity of the file or mirror at the place, None where there is none."""
        where = self._settings.snapshot
        with suppress(OSError, KGError):
            if not is_address(where):
                found = os.stat(where)  # opening a pipe would wait for ever
                there = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
                return there if stat.S_ISREG(found.st_mode) else None
            with closing(open_store(where)) as store:
                return str(store.manifest()["snapshot_id"])
        return None
