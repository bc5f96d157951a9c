"""Which classes say nothing new about a relation's answers, measured: for relations that the table has no row for.

A tier that only names a class is trivial where at least half of the relation's answers belong to that class: who
asks for an employer expects an organisation. The answers are those of the whole source, weighted by how many
entities carry each, as far as the snapshot describes them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from abstraction.filters import without_article
from abstraction.ladders.base import Proposal
from abstraction.tiers import Condition
from kg.bounded_cache import SizedDict
from kg.graph import Graph
from kg.terms import normalise

TRIVIAL_SHARE = 0.5  # of the relation's answers; `writer` has 0.49 of the creators and still says something
ANSWERS = 300  # the most frequent answers of a relation that are looked at
KEPT = 100_000  # classes and names of the answers of all relations: 20 MB at most
FEWEST = 5  # answers below which nothing is measured
_CLASS_PROPERTIES = ("P31", "P279", "P106")


@dataclass(frozen=True, kw_only=True, slots=True)
class Covered:
    """What the answers of one relation are: weights by class id and by class name, and the weight of all."""

    total: int
    classes: Counter[str]
    names: Counter[str]


class Triviality:
    """Measured shares of one graph; each relation is read once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: SizedDict[str, Covered] = SizedDict(
            KEPT, lambda _, covered: 5 + len(covered.classes) + len(covered.names)
        )

    def is_trivial(self, relation: str, proposal: Proposal) -> bool:
        """Whether the tier names a class alone and at least `TRIVIAL_SHARE` of the answers belong to it.

        Named places and tiers with a nationality, a place or a modifier never are.
        """
        classes = [_class_of(c) for c in proposal.conditions]
        if not classes or None in classes:
            return False
        share = self.share(relation, [c for c in classes if c], without_article(proposal.text))
        return share is not None and share >= TRIVIAL_SHARE

    def share(self, relation: str, classes: list[str], name: str) -> float | None:
        """The share of answers, in [0, 1], in the best covered of `classes` or in a class called `name`.

        `classes` are ids or, for classes known by words alone, normalised names. None where fewer than `FEWEST`
        answers are described.
        """
        covered = self._covered(relation)
        if covered.total < FEWEST:
            return None
        best = max(covered.names[name], *(covered.classes[c] or covered.names[c] for c in classes))
        return best / covered.total

    def _covered(self, relation: str) -> Covered:
        known = self._known.get(relation)
        if known is None:
            graph = self._graph
            answers = graph.store.values_of(relation, limit=ANSWERS)
            graph.fetch(qid for qid, _ in answers)
            total, classes, names = 0, Counter[str](), Counter[str]()
            for qid, weight in answers:
                above = {
                    c for prop in _CLASS_PROPERTIES for t in graph.targets(qid, prop) for c in graph.superclasses(t)
                }
                if not above:
                    continue
                total += weight
                classes.update(dict.fromkeys(above, weight))
                names.update(dict.fromkeys({normalise(n) for c in above for n in graph.names(c)}, weight))
            known = self._known[relation] = Covered(total=total, classes=classes, names=names)
        return known


def _class_of(condition: Condition) -> str | None:
    """The class that a condition states: an id, or its words; None for what is no class."""
    if condition.property in _CLASS_PROPERTIES:
        return condition.value
    if condition.property == "text":
        kind, _, words = condition.value.rpartition(":")
        return normalise(words) if kind in ("", "kind", "occupation") else None
    return None
