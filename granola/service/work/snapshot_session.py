"""One thread's view of the snapshot, with what is worth keeping between requests."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any

from abstraction.files.rows import QARow
from abstraction.ladders.assembly.filters import MeasuredRelations
from abstraction.maker.pipeline import LadderMaker
from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.language.languages import is_known, reading_language
from granola.service.service_settings import ServiceSettings
from granola.service.work.workroom import Context, OverTimeError
from kg.base.terms import fallback_chain
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
MIRROR_PATIENCE = 2.0  # seconds that a request waits for a Neo4j server that is away


class TimedStore:
    """A store that gives up a piece of work at the next read after `until`, a time of `time.monotonic`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.until = float("inf")

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
        self.store = opened_store(settings)
        self._is_mirror = is_address(settings.snapshot)
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
            until, self.store.until = self.store.until, float("inf")  # the request gets its 503 when its time is up
            read = _reading(key[0])
            measured = self._measured.setdefault((read, linker), MeasuredRelations())
            words = self._vocabularies.get(read)
            maker = LadderMaker(self.store, language=key[0], linker=linker, vocabulary=words, measured=measured)
            self._vocabularies[read] = maker.vocabulary
            self._makers[key] = maker
            self.store.until = until
        return self._makers[key]

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
        return is_known(language) or any(self.store.may_have_names(code) for code in (language, *others))

    def count_characters(self, texts: Iterable[str]) -> None:
        """Count the characters of a question and its answers before they are worked on.

        Makers keep results under the texts that they belong to, bounded by number, not by length: after many
        characters these results are dropped, and the tables of the snapshot stay.
        """
        self._sent += max(SENT_AT_LEAST, sum(map(len, texts)))
        if self._sent > SENT_KEPT:
            self._sent = 0
            self.interrupted()

    def begin(self, until: float) -> None:
        """A piece of work begins that may read until then."""
        self.store.until = until

    def interrupted(self) -> None:
        """Drop the unfinished results of makers after work was interrupted; the tables of the snapshot stay."""
        for maker in self._makers.values():
            maker.start_afresh()

    def close(self) -> None:
        """Close the snapshot."""
        self._makers.clear()
        self.store.close()


_words: dict[str, dict[str, Vocabulary]] = {}  # of one snapshot, by its id
_FIRST = QARow(
    id="1", question="Where was Barack Obama born?", answers=("Honolulu",), answer_qids=(None,)
)  # so that the tables of rules are loaded before anybody waits for them


def _reading(language: str) -> str:
    """The English that the rules read where names are wanted in a language; other kinds have no names of their own."""
    read = reading_language(language)
    return read if read in _ENGLISH else "en"


def opened_store(settings: ServiceSettings) -> TimedStore:
    """The snapshot of a service, for a thread of its own."""
    where = settings.snapshot
    if not is_address(where):
        return TimedStore(open_store(where))
    from kg.store.neo4j import Neo4jStore

    query_seconds = max(settings.seconds, 30.0)
    return TimedStore(Neo4jStore.open(where, query_seconds=query_seconds, patience=MIRROR_PATIENCE))
