"""Queries taken from a snapshot itself: proposals, drawn with a seed by the frequency of relations."""

from __future__ import annotations

import bisect
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice

from kg.base.model import Entity, best_text_and_language
from kg.graph.logical_query import Branch, Hop, LogicalQuery, Shape, StoreFacts

_READ = 2_000  # entities read together
_DRAWN = 512  # queries drawn together, so that their entities are read in one round trip
_BARREN, _FEW = 8, 6  # a shape is given up after so many draws in a row with fewer new queries than these
_OTHERS = 6  # relations tried for a second subject
_FLATTENING = 0.5  # a relation is drawn by its subjects to this power; with 1 a handful make up most of the queries
_MOST_VALUES = 3  # relations of which a subject has more values are not used
_SAMPLE = 5_000  # subjects sampled per relation
_NAMESAKES = 6  # entities of the same name that are examined


@dataclass(frozen=True, kw_only=True, slots=True)
class MiningSettings:
    """The number of queries of each shape, and the facts to exclude.

    `hub`: a pair of relation and value that more entities of the source have is too frequent for a query ("male"); such
    values are no answers. `only`: the properties used; None: all. `follows`: for the first property of a path, the
    properties allowed as its second; `meets`: for a property of a tree, the properties allowed on the other branch;
    None: all.
    """

    counts: dict[Shape, int] = field(default_factory=lambda: dict.fromkeys(Shape, 1_000))
    seed: int = 0
    hub: int = 500
    only: Collection[str] | None = None
    follows: Mapping[str, Sequence[str]] | None = None
    meets: Mapping[str, Sequence[str]] | None = None


class MinedQueries:
    """Iterating gives the queries, each once: single triples, then paths, trees, unions, in a fixed order."""

    def __init__(self, facts: StoreFacts, settings: MiningSettings) -> None:
        self._facts = facts
        self._settings = settings
        self._random = random.Random(f"mining {settings.seed}")  # of its own: other draws do not shift these
        self._subjects: dict[str, list[str]] = {}  # relation -> a sample of its subjects
        self._relations: Sequence[str] = ()
        self._weights: Sequence[float] = ()

    def __iter__(self) -> Iterator[LogicalQuery]:
        self._sample_subjects()
        if not self._relations:
            return
        seen: set[LogicalQuery] = set()
        drawing = {
            Shape.SINGLE: lambda n: [
                LogicalQuery(branches=(_one_hop_branch(*start[:2]),)) for start in self._draw_subjects_with_values(n)
            ],
            Shape.PATH: self._two_hop_queries,
            Shape.TREE: self._queries_of_meeting_branches,
            Shape.UNION: self._namesake_unions,
        }
        for shape, draw in drawing.items():
            lacking = self._settings.counts.get(shape, 0)
            barren = 0
            while lacking > 0 and barren < _BARREN:
                new = [query for query in dict.fromkeys(draw(min(_DRAWN, max(64, lacking * 2)))) if query not in seen]
                barren = (
                    barren + 1 if len(new) < _FEW else 0
                )  # several rounds with few new queries: no more of this shape
                seen.update(new[:lacking])
                yield from new[:lacking]
                lacking -= len(new)

    def _sample_subjects(self) -> None:
        """Count the subjects of every relation, and keep a sample of them (Vitter 1985, algorithm R)."""
        settings = self._settings
        counts: dict[str, int] = {}
        drawn = random.Random(f"subjects {settings.seed}")
        ids = (entity_id for entity_id in self._facts.store.ids() if entity_id.startswith("Q"))
        while batch := list(islice(ids, _READ)):
            self._facts.fetch(batch)
            for entity in map(self._facts.entity, batch):
                if entity is None or english_label(entity) is None:  # a question could not name it
                    continue
                for relation in self._relations_with_few_values(entity):
                    number = counts[relation] = counts.get(relation, 0) + 1
                    sample = self._subjects.setdefault(relation, [])
                    if number <= _SAMPLE:
                        sample.append(entity.id)
                    elif (at := drawn.randrange(number)) < _SAMPLE:
                        sample[at] = entity.id
        self._relations = sorted(counts)  # a fixed order, so that a seed gives the same queries
        self._weights = list(accumulate(counts[relation] ** _FLATTENING for relation in self._relations))

    def _relations_with_few_values(self, entity: Entity) -> list[str]:
        """Relations with one to _MOST_VALUES entities as values."""
        values: dict[str, set[str]] = {}
        only = self._settings.only
        for statement in entity.statements:
            if statement.target is not None and (only is None or statement.property in only):
                values.setdefault(statement.property, set()).add(statement.target)
        return [prop for prop, found in values.items() if len(found) <= _MOST_VALUES]

    def _draw_relation(self) -> str:
        at = bisect.bisect(self._weights, self._random.random() * self._weights[-1])
        return self._relations[min(at, len(self._relations) - 1)]

    def _draw_subjects_with_values(self, number: int) -> list[tuple[str, str, tuple[str, ...]]]:
        """(subject, relation, values) drawn at random; left out where a value is a hub or has no English label."""
        drawn = [
            (prop, self._random.choice(self._subjects[prop])) for prop in (self._draw_relation() for _ in range(number))
        ]
        self._facts.fetch(subject for _, subject in drawn)  # all in one round trip
        found = [(subject, prop, self._facts.targets(subject, Hop(property=prop))) for prop, subject in drawn]
        sound = [start for start in self._without_hub_values(found) if start[2]]
        self._facts.fetch(value for _, _, values in sound for value in values)
        return [start for start in sound if all(english_label(self._facts.entity(value)) for value in start[2])]

    def _without_hub_values(
        self, starts: list[tuple[str, str, tuple[str, ...]]]
    ) -> list[tuple[str, str, tuple[str, ...]]]:
        counts = self._facts.store.value_counts({(prop, value) for _, prop, values in starts for value in values})
        hub = self._settings.hub
        return [start for start in starts if all(counts.get((start[1], value), 0) <= hub for value in start[2])]

    def _two_hop_queries(self, number: int) -> list[LogicalQuery]:
        starts = [start for start in self._draw_subjects_with_values(number) if len(start[2]) == 1]
        self._facts.fetch(values[0] for _, _, values in starts)  # in one round trip, too
        ways = []
        for subject, prop, (middle,) in starts:
            entity = self._facts.entity(middle)
            allowed = None if self._settings.follows is None else self._settings.follows.get(prop, ())
            relations = self._relations_with_few_values(entity) if entity is not None else []
            further = [one for one in relations if one != prop and (allowed is None or one in allowed)]
            if further:
                second = self._random.choice(sorted(further))
                ways.append((subject, prop, middle, second))
        ends = [(middle, second, self._facts.targets(middle, Hop(property=second))) for _, _, middle, second in ways]
        sound = {(middle, second) for middle, second, _ in self._without_hub_values(ends)}
        return [
            LogicalQuery(branches=(Branch(start=subject, hops=(Hop(property=prop), Hop(property=second))),))
            for subject, prop, middle, second in ways
            if (middle, second) in sound
        ]

    def _queries_of_meeting_branches(self, number: int) -> list[LogicalQuery]:
        starts = self._draw_subjects_with_values(number)
        tried: list[tuple[str, str, str, list[str]]] = []
        for subject, prop, values in starts:
            answer = self._random.choice(values)
            if self._settings.meets is None:
                others = [self._draw_relation() for _ in range(_OTHERS)]
            else:
                known = self._settings.meets.get(prop, ())
                others = self._random.sample(known, min(_OTHERS, len(known)))
                if not others:
                    continue
            tried.append((subject, prop, answer, [prop, *others]))
        pairs = {(other, answer) for _, _, answer, others in tried for other in others}
        referrers_of = self._facts.store.referrers(pairs, limit=self._settings.hub)
        queries = []
        for subject, prop, answer, others in tried:
            for other in dict.fromkeys(others if self._random.random() < 0.5 else others[1:] + others[:1]):
                candidates = [
                    entity_id
                    for entity_id in referrers_of.get((other, answer), ())
                    if entity_id != subject and entity_id.startswith("Q")
                ]
                if candidates:
                    second = self._random.choice(candidates)
                    branches = (_one_hop_branch(subject, prop), _one_hop_branch(second, other))
                    queries.append(LogicalQuery(branches=branches))
                    break
        return queries

    def _namesake_unions(self, number: int) -> list[LogicalQuery]:
        """Entities of one name that have the same relation."""
        starts = self._draw_subjects_with_values(number * 4)  # most have no namesake
        groups = namesakes(self._facts, [subject for subject, _, _ in starts])
        self._facts.fetch(entity_id for group in groups.values() for entity_id in group)
        queries = []
        for subject, prop, _ in starts:
            others = [
                entity_id
                for entity_id in groups.get(subject, ())
                if len(self._facts.targets(entity_id, Hop(property=prop))) > 0
            ]
            if others:
                branches = (
                    _one_hop_branch(subject, prop),
                    *(_one_hop_branch(entity_id, prop) for entity_id in others[:1]),
                )
                queries.append(LogicalQuery(branches=branches, union=True))
        return queries


def english_label(entity: Entity | None) -> str | None:
    """The English label, or None."""
    best = best_text_and_language(entity.labels, "en") if entity is not None else None
    return " ".join(best[0].split()) or None if best is not None else None


def namesakes(facts: StoreFacts, ids: Collection[str]) -> dict[str, list[str]]:
    """For each entity with an English label, up to _NAMESAKES other items with the same label."""
    facts.fetch(ids)
    names = {entity_id: name for entity_id in ids if (name := english_label(facts.entity(entity_id))) is not None}
    matches_of = facts.store.find(set(names.values()), languages=("en", "mul"))
    out: dict[str, list[str]] = {}
    for entity_id, name in names.items():
        same = [match.id for match in matches_of.get(name, ()) if match.kind == "label" and match.text == name]
        out[entity_id] = [other for other in same if other != entity_id and other.startswith("Q")][:_NAMESAKES]
    return out


def _one_hop_branch(subject: str, prop: str) -> Branch:
    return Branch(start=subject, hops=(Hop(property=prop),))
