"""Samples for training and for testing that share no subject and no answer; the paper states no rule."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from granola.attribution.attribution_samples import AttributionSample

_LARGEST = 0.02  # of all samples: larger communities are for training, so that none makes up the test


@dataclass(frozen=True, kw_only=True, slots=True)
class SubjectSplit:
    """`torn`: samples left out since some of their entities are for training and others for testing.

    `over`: those left out since there were more of their kind than wanted.
    """

    train: tuple[AttributionSample, ...]
    test: tuple[AttributionSample, ...]
    torn: int
    over: int = 0

    def of(self, kept: Sequence[AttributionSample]) -> SubjectSplit:
        """The sides with these samples alone, in their place by id."""
        by_id = {sample.id: sample for sample in kept}
        train, test = (tuple(by_id[one.id] for one in side if one.id in by_id) for side in (self.train, self.test))
        over = self.over + len(self.train) + len(self.test) - len(train) - len(test)
        return SubjectSplit(train=train, test=test, torn=self.torn, over=over)


def split(samples: Sequence[AttributionSample], *, test: float, seed: int = 0) -> SubjectSplit:
    """Every subject and answer is for one side; samples with entities of both are left out.

    As nearly all entities hang together, communities of them (Blondel et al. 2008, Louvain; edges between entities of
    a sample) are drawn for testing until they have the share `test` of the samples.
    """
    import networkx

    graph: Any = networkx.Graph()
    numbers: dict[str, int] = {}  # whole numbers, whose order in sets is the same in every process
    for sample in samples:
        nodes = [numbers.setdefault(entity_id, len(numbers)) for entity_id in _entities(sample)]
        graph.add_nodes_from(nodes)
        for first, second in combinations(sorted(set(nodes)), 2):
            known = graph.get_edge_data(first, second, default={})
            graph.add_edge(first, second, weight=known.get("weight", 0) + 1)
    communities = networkx.community.louvain_communities(graph, seed=seed)
    community_of = {node: at for at, community in enumerate(communities) for node in community}
    sizes = Counter(community_of[numbers[entity_id]] for sample in samples for entity_id in _entities(sample)[:1])
    tests = _drawn(sizes, test * len(samples), _LARGEST * len(samples), random.Random(f"split {seed}"))
    halves: tuple[list[AttributionSample], list[AttributionSample]] = ([], [])
    torn = 0
    for sample in samples:
        sides = {community_of[numbers[entity_id]] in tests for entity_id in _entities(sample)}
        if len(sides) == 1:
            halves[sides.pop()].append(sample)
        else:
            torn += 1
    return SubjectSplit(train=tuple(halves[False]), test=tuple(halves[True]), torn=torn)


def _drawn(sizes: Counter[int], lacking: float, largest: float, drawing: random.Random) -> set[int]:
    """Communities whose samples add up to those that are wanted, without the largest ones."""
    small = [at for at in sorted(sizes) if sizes[at] <= largest]
    if not small and len(sizes) > 1:
        small = [min(sorted(sizes), key=lambda at: sizes[at])]  # of a few samples each community is a large one
    drawing.shuffle(small)
    drawn: set[int] = set()
    for at in small:
        if lacking <= 0:
            break
        drawn.add(at)
        lacking -= sizes[at]
    return drawn


def _entities(sample: AttributionSample) -> list[str]:
    return list(dict.fromkeys([*subjects_of(sample), *sample.answer_qids]))


def subjects_of(sample: AttributionSample) -> Iterator[str]:
    """The entities that a sample's query names, in its order."""
    for branch in (sample.query or {}).get("branches", ()):
        yield branch["start"]
        yield from (via for via in branch["via"] if via is not None)
