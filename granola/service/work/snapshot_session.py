"""One thread's view of the snapshot, with what is worth keeping between requests."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from abstraction.descriptions.attested_words import Vocabulary
from abstraction.language.languages import is_known, reading_language
from abstraction.models.chat_model import ChatModel
from abstraction.phrasing.checking import Unproven
from abstraction.phrasing.phraser import Mode, ModelPhraser
from abstraction.pipeline import LadderMaker
from granola.attribution.tier_checks import TierAttributor
from granola.decoding import Aggregator
from kg.errors import ForeseenError
from kg.model import Entity
from kg.store import is_address, open_store
from kg.store.protocol import NameMatch, Store
from kg.store.sqlite import SQLiteStore
from kg.terms import fallback_chain

LANGUAGES_KEPT = 4
ENTITIES_KEPT = 200_000  # of all languages
ATTRIBUTED_KEPT = 50_000  # entities of what looks at evidence, which are few and common
SENT_KEPT = 10_000_000  # characters of questions after which what was concluded of them is dropped
SENT_AT_LEAST = 100  # characters that a question counts for
PHRASERS_KEPT = 2
TERMS_LOOKED_AT = 1_000_000  # of a snapshot with more it is not known in which languages none is
ANSWERS_KEPT = 1_000
_ENGLISH = ("en", "en-gb", "en-ca", "en-us")
MIRROR_PATIENCE = 2.0  # seconds that a request waits for a Neo4j server that is away


class OverTimeError(ForeseenError):
    """The time of a request is used up."""


class TimedStore:
    """A store that gives up a piece of work at the next read after `until`, a time of `time.monotonic`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.until = float("inf")
        self.is_reading = False

    @contextmanager
    def _reading(self) -> Iterator[Store]:
        if time.monotonic() > self.until:
            raise OverTimeError
        self.is_reading = True
        try:
            yield self._store
        finally:
            self.is_reading = False

    def entities(
        self,
        ids: Collection[str],
        *,
        languages: Collection[str] | None = None,
        properties: Collection[str] | None = None,
    ) -> dict[str, Entity]:
        """See `Store.entities`."""
        with self._reading() as store:
            return store.entities(ids, languages=languages, properties=properties)

    def find(self, names: Collection[str], *, languages: Collection[str] | None = None) -> dict[str, list[NameMatch]]:
        """See `Store.find`."""
        with self._reading() as store:
            return store.find(names, languages=languages)

    def referrers(
        self, pairs: Collection[tuple[str, str]], *, limit: int | None = None
    ) -> dict[tuple[str, str], list[str]]:
        """See `Store.referrers`."""
        with self._reading() as store:
            return store.referrers(pairs, limit=limit)

    def value_counts(self, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """See `Store.value_counts`."""
        with self._reading() as store:
            return store.value_counts(pairs)

    def property_counts(self, properties: Collection[str]) -> dict[str, int]:
        """See `Store.property_counts`."""
        with self._reading() as store:
            return store.property_counts(properties)

    def values_of(self, prop: str, *, limit: int | None = None) -> list[tuple[str, int]]:
        """See `Store.values_of`."""
        with self._reading() as store:
            return store.values_of(prop, limit=limit)

    def ids(self, *, after: str | None = None) -> Iterator[str]:
        """See `Store.ids`."""
        with self._reading() as store:
            return store.ids(after=after)

    def manifest(self) -> Mapping[str, Any]:
        """See `Store.manifest`."""
        return self._store.manifest()

    def may_have_names(self, language: str) -> bool:
        """Whether an entity has a label in the language; true where only a look through very many terms would tell."""
        manifest = self.manifest()
        if (listed := manifest.get("languages")) is not None and language not in listed:
            return False
        counts = manifest["counts"]
        few = sum(counts.get(kind, 0) for kind in ("labels", "aliases", "descriptions")) <= TERMS_LOOKED_AT
        if not few or not isinstance(self._store, SQLiteStore):
            return True
        with self._reading():
            return self._store.has_labels(language, among=TERMS_LOOKED_AT)

    def names_beginning(self, text: str, *, languages: Collection[str], limit: int) -> list[NameMatch]:
        """Names that begin so, of a file; of a mirror, which has no order of names, this name alone."""
        with self._reading() as store:
            if isinstance(store, SQLiteStore):
                return store.names_beginning(text, languages=languages, limit=limit)
            return store.find([text], languages=languages).get(text, [])[:limit]

    def close(self) -> None:
        """See `Store.close`."""
        self._store.close()


class SnapshotSession:
    """An open snapshot and the makers of ladders that read it. Of one thread alone."""

    def __init__(self, where: str, *, language: str, seconds: float) -> None:
        self.store = TimedStore(_opened(where, seconds))
        self._is_mirror = is_address(where)
        self.manifest = self.store.manifest()
        self.snapshot_id = str(self.manifest["snapshot_id"])
        self.language = language
        self._makers: OrderedDict[tuple[str, str], LadderMaker] = OrderedDict()
        self.is_preparing = False  # what serves later requests, too
        self._vocabularies: dict[str, Vocabulary] = {}
        self._spoken: dict[str, bool] = {}
        self._aggregator: tuple[tuple[str, str], LadderMaker, Aggregator] | None = None
        self._attributor: tuple[str, TierAttributor] | None = None
        self._sent = 0
        self._phrasers: OrderedDict[tuple[str, str, str], ModelPhraser] = OrderedDict()

    def maker(self, language: str | None = None, linker: str = "question") -> LadderMaker:
        """The maker for a language and a linker.

        The first language's is kept, and of others those asked for last; none where all have read too much together.
        """
        key = (language or self.language, linker)
        if sum(maker.graph.held for maker in self._makers.values()) > ENTITIES_KEPT:
            self._makers.clear()
        maker = self._makers.pop(key, None)
        if maker is None:
            with self._unhurried():
                maker = LadderMaker(self.store, language=key[0], linker=linker, vocabulary=self._vocabulary(key[0]))
            self._vocabularies[_reading(key[0])] = maker.vocabulary
        self._makers[key] = maker
        others = [other for other in self._makers if other[0] != self.language]
        for other in others[:-LANGUAGES_KEPT]:
            del self._makers[other]
        return maker

    def prepare(self) -> None:
        """Make ready what requests in any language need of the snapshot, as far as that does not take too long."""
        self.maker()
        for language in () if self._is_mirror else _ENGLISH:
            if language not in self._vocabularies:
                self._vocabularies[language] = Vocabulary.from_store(self.store, language)

    def speaks(self, language: str) -> bool:
        """Whether dates are written in the language, or the snapshot has names in it, or it cannot be told."""
        if is_known(language):
            return True
        if language not in self._spoken:
            if len(self._spoken) >= ANSWERS_KEPT:
                self._spoken.clear()
            others = [code for code in fallback_chain(language)[1:] if code not in ("mul", "en")]
            self._spoken[language] = any(self.store.may_have_names(code) for code in (language, *others))
        return self._spoken[language]

    @contextmanager
    def _unhurried(self) -> Iterator[None]:
        """Make ready what serves all later requests, however long it takes: who asked is told when time is up."""
        until, self.store.until, self.is_preparing = self.store.until, float("inf"), True
        try:
            yield
        finally:
            self.store.until, self.is_preparing = until, False

    def _vocabulary(self, language: str) -> Vocabulary | None:
        """The words of the snapshot, which take seconds to read, where they were read."""
        return self._vocabularies.get(_reading(language))

    def phraser(self, model: ChatModel, *, mode: str, unproven: str, language: str) -> ModelPhraser:
        """What phrases ladders with a model; those asked for last are kept."""
        key = (mode, unproven, language)
        phraser = self._phrasers.pop(key, None) or ModelPhraser(
            model, self.store, mode=_mode(mode), unproven=_unproven(unproven), language=language
        )
        phraser.model = model
        self._phrasers[key] = phraser
        while len(self._phrasers) > PHRASERS_KEPT:
            self._phrasers.popitem(last=False)
        return phraser

    def aggregator(self, language: str, linker: str) -> Aggregator:
        """What makes one answer of several; the last one is kept."""
        kept, key, maker = self._aggregator, (language, linker), self.maker(language, linker)
        if kept is None or kept[:2] != (key, maker):
            kept = (key, maker, Aggregator(self.store, language=language, maker=maker))
        self._aggregator = kept
        return kept[2]

    def attributor(self, language: str) -> TierAttributor:
        """What says whether evidence supports tiers; the last one is kept until it has read too much."""
        kept = self._attributor
        if kept is None or kept[0] != language or kept[1].held > ATTRIBUTED_KEPT:
            kept = (language, TierAttributor(self.store, language=language))
        self._attributor = kept
        return kept[1]

    def count_sent(self, texts: Iterable[str]) -> None:
        """Count the characters of a question and its answers, which are about to be worked on.

        Makers keep what they conclude, under the texts that it is of. They are bounded in how many, not in how long:
        where much was sent, that is dropped, and what was read of the snapshot stays.
        """
        self._sent += max(SENT_AT_LEAST, sum(map(len, texts)))
        if self._sent > SENT_KEPT:
            self._sent = 0
            self.interrupted()

    def begin(self, until: float) -> None:
        """A piece of work begins that may read until then."""
        self.store.until = until

    @property
    def may_stop(self) -> bool:
        """Whether work may be stopped where it is: not while it reads, for the next read stops it."""
        return not (self.store.is_reading or self.is_preparing)

    def interrupted(self) -> None:
        """Work has ended in the middle: what makers were about to conclude is dropped, what was read stays."""
        for maker in self._makers.values():
            maker.start_afresh()
        self._aggregator = None
        self._attributor = None
        self._phrasers.clear()

    def close(self) -> None:
        """Close the snapshot."""
        self._makers.clear()
        self.store.close()


def _reading(language: str) -> str:
    """The English that the rules read where names are wanted in a language; other kinds have no names of their own."""
    read = reading_language(language)
    return read if read in _ENGLISH else "en"


def _mode(word: str) -> Mode:
    return "word" if word == "word" else "free"


def _unproven(word: str) -> Unproven:
    return "drop" if word == "drop" else "keep"


def _opened(where: str, seconds: float) -> Store:
    if not is_address(where):
        return open_store(where)
    from kg.store.neo4j import Neo4jStore

    return Neo4jStore.open(where, query_seconds=max(seconds, 30.0), patience=MIRROR_PATIENCE)
