"""The graph of a store: which statements count, and a view that caches entities and fetches them in batches.

Ladder and linking code reads through `Graph`. One question needs a few dozen entities, most of them (countries,
classes) shared with earlier questions. "Best rank" is not "current" in WikiData: outdated values often keep normal
rank with an end time, or with no end time at all but a dissolved target. Rank, time and disputes are decided here
alone, in `current`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from types import MappingProxyType

from kg.base.bounded_cache import SizedDict
from kg.base.model import (
    ENTITY_ID,
    Entity,
    Rank,
    SnakKind,
    Statement,
    TimeValue,
    best_text_and_language,
    fallback_chain,
    names_with_fallbacks,
    normalise,
)
from kg.store.protocol import NameMatch, Store

CONTINENT = "P30"  # Russia and Turkey have two
START, END, POINT = "P580", "P582", "P585"
APPLIES_TO_PART, DISPUTED_BY, SOURCING, NATURE = "P518", "P1310", "P1480", "P5102"
# Qualifiers that limit a statement to a time, a part or an opinion, with the reason. Continents are exempt from
# "applies to part" in `current`: callers choose between a country's continents.
LIMITS: Mapping[str, str] = MappingProxyType(
    {
        END: "it has ended, unless the end is yet to come",
        START: "it has not begun, where the start is yet to come",
        APPLIES_TO_PART: "it holds of the parts named alone",
        DISPUTED_BY: "somebody denies it",
        SOURCING: "it is an estimate or a presumption",
        NATURE: "it is hedged",
    }
)


def time_key(value: TimeValue, *, late: bool = False) -> tuple[int, int, int]:
    """A sortable key of the first (or, with `late`, the last) day that the value may mean."""
    span = {8: 10, 7: 100, 6: 1000}.get(value.precision, 1 if value.precision >= 9 else 10 ** (9 - value.precision))
    year = value.year
    if span > 1:  # coarser than a year
        # Decades begin with the year ending in 0, longer spans with the one ending in 1; BCE mirrors both.
        count = abs(year)
        first = count // span * span if value.precision == 8 else (count - 1) // span * span + 1
        year = first + span - 1 if late == (year > 0) else first
        year = max(year, 1) * (1 if value.year > 0 else -1)
    if late:
        return (year, value.month or 12, value.day or 31)
    return (year, value.month or 1, value.day or 1)


def _qualifier_times(statement: Statement, prop: str) -> list[TimeValue]:
    return [snak.value for snak in statement.qualifier(prop) if isinstance(snak.value, TimeValue)]


@cache
def today() -> TimeValue:
    """Today's date."""
    day = date.today()
    return TimeValue(year=day.year, month=day.month, day=day.day, precision=11)


def is_in_future(value: TimeValue) -> bool:
    """Whether a time lies wholly in the future."""
    return time_key(value) > time_key(today())


def has_ended(statement: Statement) -> bool:
    """Whether the statement carries an end time that is not yet to come (a somevalue end counts: it did end)."""
    ends = [snak for snak in statement.qualifier(END) if snak.kind is not SnakKind.NOVALUE]
    return any(not (isinstance(snak.value, TimeValue) and is_in_future(snak.value)) for snak in ends)


def has_begun(statement: Statement) -> bool:
    """Whether the statement has begun: it has no start, or its start is not in the future."""
    starts = _qualifier_times(statement, START)
    return not starts or not all(map(is_in_future, starts))


def valid_at(statement: Statement, at: TimeValue) -> bool | None:
    """Whether the statement was valid at `at`; None where it has no times."""
    starts, ends = _qualifier_times(statement, START), _qualifier_times(statement, END)
    if not starts and not ends:
        points = _qualifier_times(statement, POINT)
        if not points:
            return None
        return any(time_key(p) <= time_key(at, late=True) and time_key(at) <= time_key(p, late=True) for p in points)
    if starts and min(time_key(s) for s in starts) > time_key(at, late=True):
        return False
    return not (ends and max(time_key(e, late=True) for e in ends) < time_key(at))


def asserted_statements(statements: Iterable[Statement]) -> list[Statement]:
    """The statements with a value, not deprecated, and not hedged by a sourcing circumstance."""
    return [
        s
        for s in statements
        if s.kind is SnakKind.VALUE
        and s.rank is not Rank.DEPRECATED
        and not s.qualifier(SOURCING)
        and not s.qualifier(NATURE)
    ]


def current(statements: Sequence[Statement], *, historical: Callable[[str], bool] | None = None) -> list[Statement]:
    """The statements that are valid today, in source order.

    Deprecated, unknown and hedged values never count. If there are statements of preferred rank, only they count. Then
    are dropped: statements that have ended or are yet to begin; those that apply to a part only; disputed ones; and
    those whose target is `historical`, that is, no longer exists. Each of these steps is taken only as long as another
    value remains. Returns an empty list where every value has ended.
    """
    chosen = asserted_statements(statements)
    preferred = [s for s in chosen if s.rank is Rank.PREFERRED and has_begun(s)]
    chosen = preferred or chosen  # preferred rank is the choice of WikiData's editors
    chosen = [s for s in chosen if not has_ended(s) and has_begun(s)]
    doubts: tuple[Callable[[Statement], bool], ...] = (
        # A country on two continents has both: each is valid for a part.
        lambda s: s.property != CONTINENT and bool(s.qualifier(APPLIES_TO_PART)),
        lambda s: bool(s.qualifier(DISPUTED_BY)),
        lambda s: historical is not None and s.target is not None and historical(s.target),
    )
    for doubtful in doubts:
        rest = [s for s in chosen if not doubtful(s)]
        chosen = rest or chosen
    return chosen


def statements_valid_at(statements: Sequence[Statement], at: TimeValue) -> list[Statement]:
    """The statements whose own start and end (or point in time) cover `at`, in source order."""
    return [s for s in asserted_statements(statements) if valid_at(s, at)]


HISTORICAL_CLASSES = frozenset({"Q3024240", "Q19953632"})  # historical country, former administrative entity
SETTLEMENT = "Q486972"  # human settlement
DISSOLVED = "P576"  # dissolved, abolished or demolished date
CLASS_DEPTH = 12  # steps along P279 at most
FOUND, EACH = 25_000_000, 200  # characters of cached names; characters that each entity with a name adds
STATEMENTS, TEXT = 40, 4_000  # statements, and characters of names and descriptions, that count as one more entity
CONCLUDED = 500_000  # pairs of an entity and a property whose current statements are kept: 100 MB at most
_NOTHING: list[Statement] = []

# Place, part and occupation: the properties that ladders follow next from an entity.
AHEAD = frozenset({
    "P17", "P19", "P20", "P27", "P31", "P106", "P131", "P159", "P276", "P279", "P361", "P495", "P749",
})  # fmt: skip


class Graph:
    """The reader of a store in one language, with a cache, which is emptied when it would exceed `capacity` entities.

    Results depend on the store alone. An id that the store lacks gives an empty result, which does not mean that
    WikiData has no such entity. Malformed ids are not cached. Not thread-safe.
    """

    def __init__(
        self,
        store: Store,
        *,
        language: str = "en",
        shown_in: str | None = None,
        further_labels: Mapping[str, str] | None = None,
        properties: Collection[str] | None = None,
        capacity: int = 500_000,
    ) -> None:
        """Labels, names and descriptions are read in `language`; `shown_in` adds a second language for display.

        `further_labels` are labels in `shown_in`, by id, for entities that have none in the store.
        """
        self.store = store
        self.language = language
        self.shown_in = shown_in or language
        self._chain = fallback_chain(language)
        self._languages = tuple(dict.fromkeys((*fallback_chain(self.shown_in), *self._chain)))
        self._further_labels = further_labels or {}
        self._further_names = {normalise(text): i for i, text in self._further_labels.items()}
        self._properties = None if properties is None else frozenset(properties) | {"P31", "P279", DISSOLVED}
        self._capacity = capacity
        self._entities: dict[str, Entity | None] = {}
        self._cached_size = 0
        self._superclasses: dict[str, frozenset[str]] = {}
        # Keys are texts of users, and a name may have thousands of carriers: 100 MB at most.
        self._matches: SizedDict[str, tuple[NameMatch, ...]] = SizedDict(
            FOUND, lambda key, matches: len(key) + EACH * (1 + len(matches))
        )
        self._sizes: dict[str, int] = {}
        self._current: dict[tuple[str, str], list[Statement]] = {}
        self._targets: dict[tuple[str, str], tuple[str, ...]] = {}  # for the statements in `_current`
        self._historical: dict[str, bool] = {}
        self._names: dict[str, tuple[str, ...]] = {}

    def fetch(self, ids: Iterable[str]) -> None:
        """Read the entities that are not cached yet, in one batch; malformed ids are ignored."""
        lacking = [i for i in dict.fromkeys(ids) if i not in self._entities and ENTITY_ID.match(i)]
        if not lacking:
            return
        if self._cached_size + len(lacking) > self._capacity:
            self._cached_size = 0
            derived = (self._current, self._targets, self._historical, self._superclasses, self._sizes)
            for cache in (self._entities, self._names, *derived):
                cache.clear()
        got = self.store.entities(lacking, languages=self._languages, properties=self._properties)
        for i in lacking:
            entity = self._entities[i] = self._with_further_label_if_lacking(got.get(i))
            self._cached_size += _size_in_usual_entities(entity) if entity else 1  # a missing entity is cached as None

    def fetch_with_values(self, ids: Iterable[str], *, steps: int = 2) -> None:
        """Read the entities, then `steps` times the values of their properties in `AHEAD`, one batch per step."""
        self.fetch(ids := list(dict.fromkeys(ids)))
        for _ in range(steps):
            known = [entity for i in ids if (entity := self.entity(i))]
            targets = (s.target for entity in known for s in entity.statements if s.target and s.property in AHEAD)
            self.fetch(ids := list(dict.fromkeys(targets)))

    def _with_further_label_if_lacking(self, entity: Entity | None) -> Entity | None:
        """The entity, with its further label added where it has no label of its own in the language shown."""
        if entity is None or entity.id not in self._further_labels:
            return entity
        # the store has a label for it
        if any(code in entity.labels for code in self._languages if code not in self._chain):
            return entity
        return replace(entity, labels={**entity.labels, self.shown_in: self._further_labels[entity.id]})

    @property
    def cached_size(self) -> int:
        """The size of the cache in entities of usual size; ids that the snapshot lacks count as 1."""
        return self._cached_size

    def with_entity(self, entity: Entity) -> Graph:
        """A graph in which `entity` replaces the entity of the same id; this graph is unchanged."""
        return _GraphWithEntity(self, entity)

    def entity(self, entity_id: str) -> Entity | None:
        """The entity with the terms of the languages' fallback chains, or None where the snapshot lacks it."""
        try:
            return self._entities[entity_id]
        except KeyError:
            self.fetch([entity_id])
            return self._entities.get(entity_id)

    def find(self, text: str) -> tuple[NameMatch, ...]:
        """Entities that carry the name in the languages' fallback chains: labels first, then by id."""
        key = normalise(text)
        if key not in self._matches:
            self.prefetch_names([text])
        return self._matches[key]

    def prefetch_names(self, texts: Iterable[str]) -> None:
        """Look up many names in one batch, for later `find` calls."""
        wanted = {normalise(t): t for t in texts if normalise(t) not in self._matches}
        if not wanted:
            return
        got = self.store.find(list(wanted.values()), languages=self._languages)
        for key, text in wanted.items():
            self._matches[key] = self._with_match_by_further_label(key, tuple(got.get(text, ())))

    def _with_match_by_further_label(self, key: str, found: tuple[NameMatch, ...]) -> tuple[NameMatch, ...]:
        """The matches of a name, preceded by the entity whose further label it is, if any."""
        named = self._further_names.get(key)
        entity = self.entity(named) if named is not None else None
        if entity is None or any(match.id == entity.id for match in found):  # each entity is matched once
            return found
        label = entity.labels.get(self.shown_in)
        if label != self._further_labels[entity.id]:
            return found
        return (NameMatch(id=entity.id, kind="label", language=self.shown_in, text=label), *found)

    def label(self, entity_id: str) -> str | None:
        """The label by the fallback chain, or None; a blank one is none."""
        entity = self.entity(entity_id)
        best = best_text_and_language(entity.labels, self.language) if entity else None
        return best[0] if best and best[0].strip() else None

    def description(self, entity_id: str) -> str | None:
        """The description in the graph's language (descriptions have no `mul`), or English, or None."""
        entity = self.entity(entity_id)
        if entity is None:
            return None
        for code in self._chain:
            if code in entity.descriptions:
                return entity.descriptions[code]
        return None

    def names(self, entity_id: str) -> tuple[str, ...]:
        """Labels, then aliases, of the fallback chain."""
        known = self._names.get(entity_id)
        if known is None:
            entity = self.entity(entity_id)
            if entity is None:
                return ()
            known = self._names[entity_id] = names_with_fallbacks(entity.labels, entity.aliases, self.language)
        return known

    def shown_label(self, entity_id: str) -> tuple[str, str] | None:
        """The label by the fallback chain of `shown_in`, and the language that it is in; or None."""
        entity = self.entity(entity_id)
        return best_text_and_language(entity.labels, self.shown_in) if entity else None

    def shown_names(self, entity_id: str) -> tuple[str, ...]:
        """Labels, then aliases, of the fallback chain of `shown_in`."""
        if self.shown_in == self.language:
            return self.names(entity_id)
        entity = self.entity(entity_id)
        return names_with_fallbacks(entity.labels, entity.aliases, self.shown_in) if entity else ()

    def statements(self, entity_id: str, prop: str) -> tuple[Statement, ...]:
        """All statements of a property, every rank."""
        entity = self.entity(entity_id)
        return entity.values(prop) if entity else ()

    def current(self, entity_id: str, prop: str) -> list[Statement]:
        """The statements that are valid today; see `kg.graph.graph.current`. The list is shared: do not change it."""
        key = (entity_id, prop)
        known = self._current.get(key)
        if known is None:
            entity = self.entity(entity_id)
            if entity is None or not ENTITY_ID.match(prop):
                return []
            statements = entity.values(prop)
            if len(statements) > 1:  # a single one stays, whatever its target
                self.fetch(s.target for s in statements if s.target)
            if len(self._current) >= CONCLUDED:
                self._current.clear()
                self._targets.clear()
            known = self._current[key] = current(statements, historical=self.is_historical) if statements else _NOTHING
        return known

    def statements_valid_at(self, entity_id: str, prop: str, at: TimeValue) -> list[Statement]:
        """The statements whose qualifiers cover `at`."""
        return statements_valid_at(self.statements(entity_id, prop), at)

    def targets(self, entity_id: str, prop: str) -> tuple[str, ...]:
        """Ids that the current statements of a property point to, without repeats."""
        key = (entity_id, prop)
        known = self._targets.get(key)
        if known is None:
            held = self.current(entity_id, prop)
            known = tuple(dict.fromkeys(s.target for s in held if s.target))
            if key in self._current:  # an entity that is missing now may be fetched later
                self._targets[key] = known
        return known

    def classes(self, entity_id: str) -> tuple[str, ...]:
        """The current P31 values of the entity; see `current`."""
        return self.targets(entity_id, "P31")

    def class_and_superclasses(self, class_id: str) -> frozenset[str]:
        """The class and everything above it by current P279, cycles and depth bounded."""
        known = self._superclasses.get(class_id)
        if known is None:
            if self.entity(class_id) is None:
                return frozenset({class_id})
            seen = {class_id}
            layer = [class_id]
            for _ in range(CLASS_DEPTH):
                self.fetch(layer)  # one round trip a step
                layer = [t for c in layer for t in self.targets(c, "P279") if t not in seen]
                layer = list(dict.fromkeys(layer))
                seen.update(layer)
                if not layer:
                    break
            known = self._superclasses[class_id] = frozenset(seen)
        return known

    def capped_size_below(self, class_id: str, *, depth: int = 6) -> int:
        """The number of entities that are subclasses or instances of a class, at most `depth` steps down.

        At most 2,000 referrers are read per class and step: the number orders classes by size, it is no exact count.
        """
        known = self._sizes.get(class_id)
        if known is None:
            seen = {class_id}
            layer = [class_id]
            for _ in range(depth):
                pairs = [(prop, qid) for qid in layer for prop in ("P279", "P31")]
                referrers_of = self.store.referrers(pairs, limit=2_000)
                layer = list(dict.fromkeys(i for ids in referrers_of.values() for i in ids if i not in seen))
                seen.update(layer)
                if not layer:
                    break
            known = self._sizes[class_id] = len(seen) - 1  # not the class itself
        return known

    def is_instance(self, entity_id: str, of: Collection[str]) -> bool:
        """Whether a current class of the entity is in `of` or below it; use near classes, for P279 is unreliable."""
        wanted = frozenset(of)
        return any(not wanted.isdisjoint(self.class_and_superclasses(c)) for c in self.classes(entity_id))

    def is_historical(self, entity_id: str) -> bool:
        """Whether the entity is dissolved or directly of a historical class: not a value for today."""
        known = self._historical.get(entity_id)
        if known is None:
            entity = self.entity(entity_id)
            if entity is None:
                return False
            known = self._historical[entity_id] = self._is_historical(entity)
        return known

    def _is_historical(self, entity: Entity) -> bool:
        ends = [s.value for s in entity.values(DISSOLVED) if s.rank != "deprecated" and s.kind != "novalue"]
        if any(not (isinstance(end, TimeValue) and is_in_future(end)) for end in ends):
            return True
        kinds = [s.target for s in current(entity.values("P31")) if s.target]
        if not HISTORICAL_CLASSES.isdisjoint(kinds):
            # Florence was a state once and is a city still.
            return not any(SETTLEMENT in self.class_and_superclasses(kind) for kind in kinds)
        # One step up the classes are noisy (the United States is a "historical unrecognized state" too).
        parents = [self.entity(kind) for kind in kinds]
        return bool(parents) and all(
            parent is not None and any(s.target in HISTORICAL_CLASSES for s in current(parent.values("P279")))
            for parent in parents
        )


class _GraphWithEntity(Graph):
    """Another graph with one entity as given: reads through it, and concludes nothing into it."""

    def __init__(self, below: Graph, entity: Entity) -> None:
        self.__dict__.update(below.__dict__)  # what does not depend on the entity is shared
        self._below, self._own = below, entity
        self._superclasses, self._current, self._targets, self._historical, self._names = {}, {}, {}, {}, {}

    def fetch(self, ids: Iterable[str]) -> None:
        self._below.fetch(i for i in ids if i != self._own.id)

    @property
    def cached_size(self) -> int:
        return self._below.cached_size

    def entity(self, entity_id: str) -> Entity | None:
        return self._own if entity_id == self._own.id else self._below.entity(entity_id)


def _size_in_usual_entities(entity: Entity) -> int:
    """The size of an entity in the cache, in entities of usual size."""
    texts = (*entity.labels.values(), *entity.descriptions.values(), *(a for of in entity.aliases.values() for a in of))
    return 1 + len(entity.statements) // STATEMENTS + sum(map(len, texts)) // TEXT
