"""Names said with what they are: "Yunnan province", "the city of Lyon", "Lyon (city)", "the French composer Debussy".

The word is believed where an entity of the bare name is such a thing: where one of its classes or occupations, or one
right above it, is called that, or ends in it before "of" or "in" ("province of China", "big city"); of a person also
where the description says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from abstraction.classes import Classifier
from abstraction.language.demonyms import bundled_demonyms
from abstraction.linking.gazetteer import SETTLEMENTS
from kg.bounded_cache import SizedDict
from kg.store.protocol import NameMatch
from kg.terms import normalise
from kg.walks.graph import Graph

LONGEST_TYPE = 3  # words
KEPT = 10_000_000  # characters of texts whose entities are kept: 40 MB at most
_OF = re.compile(r"\A(?P<type>[^\W\d_][\w '-]*?) of (?:the )?(?P<name>\S(?s:.*))\Z", re.I)
_BRACKETED = re.compile(r"\A(?P<name>[^()]*\S)\s*\((?:the |an? )?(?P<type>[^()]+)\)\Z", re.I)
_ARTICLE = re.compile(r"\A(?:the|an?)\s+", re.I)
_WORD = re.compile(r"[^\W_]+")
_HEAD = re.compile(r"(?<!\s)\s++(?:of|in|within|for)\s+|(?:(?<!\s)\s++)?[,(]")


@dataclass(frozen=True, slots=True)
class _Split:
    name: str
    type: str
    proper: bool = False


class TypedNames:
    """Reads such names in one graph."""

    def __init__(self, graph: Graph, classes: Classifier) -> None:
        self._graph = graph
        self._classes = classes
        self._types: dict[str, frozenset[str]] = {}
        self._matches: SizedDict[tuple[str, bool], tuple[NameMatch, ...]] = SizedDict(
            KEPT, lambda key, matches: len(key[0]) + 200 * (1 + len(matches))
        )

    def find(self, text: str, *, placed: bool = False) -> tuple[NameMatch, ...]:
        """The items that the text names by name and type, none where it is no such text; of several splits the first.

        `placed` says that what contains the thing is known too, so that "Kunming City" may be a city called Kunming.
        """
        key = (text, placed)
        known = self._matches.get(key)
        if known is None:
            known = self._matches[key] = self._looked_up(text, placed=placed)
        return known

    def names_in(self, text: str) -> list[str]:
        """The names that `find` looks for."""
        return [split.name for split in _splits(text)]

    def _looked_up(self, text: str, *, placed: bool) -> tuple[NameMatch, ...]:
        splits = list(_splits(text))
        self._graph.find_all(split.name for split in splits)
        for split in splits:
            matches = [m for m in self._graph.find(split.name) if m.id[0] == "Q"]
            self._graph.fetch(m.id for m in matches)
            fitting = tuple(
                m
                for m in matches
                if (split.type in self._of(m.id) and (placed or not split.proper or self._is_division(m.id)))
                or self._is_described(m.id, split.type)
            )
            if fitting:
                return fitting
        return ()

    def _is_described(self, entity_id: str, type_: str) -> bool:
        """Whether a person's description says as much: "American swimmer", "British stateswoman and prime minister"."""
        description = self._graph.description(entity_id) if "person" in self._classes(entity_id) else None
        return description is not None and f" {type_} " in f" {' '.join(_WORD.findall(normalise(description)))} "

    def _is_division(self, entity_id: str) -> bool:
        return "place" in self._classes(entity_id) and not self._graph.is_instance(entity_id, SETTLEMENTS)

    def _of(self, entity_id: str) -> frozenset[str]:
        """What the entity is called by its classes."""
        kinds = (*self._graph.classes(entity_id), *self._graph.targets(entity_id, "P106"))
        return frozenset().union(*map(self._called, kinds))

    def _called(self, class_id: str) -> frozenset[str]:
        known = self._types.get(class_id)
        if known is None:
            near = [class_id, *self._graph.targets(class_id, "P279")]
            self._graph.fetch(near)
            out = set()
            for name in (name for kind in near for name in self._graph.names(kind)):
                key = normalise(name)
                head = _HEAD.split(key)[0]
                out |= {key, head, head.rpartition(" ")[2]}
            known = self._types[class_id] = frozenset(out - {""})
        return known


def _splits(text: str) -> Iterator[_Split]:
    """The texts that it may be made of; types normalised."""
    whole = " ".join(text.split())
    if not any(c.isupper() for c in whole):
        return
    if match := _BRACKETED.match(whole):
        yield _Split(match["name"], normalise(match["type"]))
        return
    bare = _ARTICLE.sub("", whole)
    if match := _OF.match(bare):
        yield _Split(match["name"], normalise(match["type"]))
    words = bare.split(" ")
    for size in range(1, min(LONGEST_TYPE, len(words) - 1) + 1):
        ending = words[-size:]
        yield _Split(" ".join(words[:-size]), normalise(" ".join(ending)), proper=ending[0][:1].isupper())
    nation = len(words) > 2 and normalise(words[0]) in bundled_demonyms().countries
    for size in range(1 + nation, min(LONGEST_TYPE + nation, len(words) - 1) + 1):
        yield _Split(" ".join(words[size:]), normalise(" ".join(words[nation:size])))
