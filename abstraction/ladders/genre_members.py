"""A test of genre hierarchies against the works in the source that have several genres.

P279 makes mystery fiction a subclass of action fiction. Of 27 mystery works with a further genre, 3 have a kind of
action fiction, where 6 are expected by chance: the works are not classified that way. Where the class is truly
broader, the count is at least as high as by chance: romantic comedies have other romance genres as often as other
works.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from abstraction.ladders.kept_results import kept_with_source
from kg.graph.graph import Graph

GENRES = 500  # the most frequent genres, for which works are read
WORKS = 1_000  # read per genre
# A class is rejected below half of the count expected by chance, where at least two works are expected.
LEAST_SHARED, LEAST_EXPECTED = 0.5, 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Works:
    """Works that have several genres: their genres, each genre with its superclasses, and the works of each class."""

    genres: tuple[frozenset[str], ...]
    above: Mapping[str, frozenset[str]]
    of_class: Mapping[str, frozenset[int]]


@kept_with_source
def shares_members(graph: Graph, genre: str, above: str) -> bool:
    """Whether the works of the source are consistent with the genre being a subclass of `above`."""
    works = _works_with_several_genres(graph)
    mine, theirs = works.of_class.get(genre, frozenset()), works.of_class.get(above, frozenset())
    beside = {
        at: others
        for at in mine
        if (others := [other for other in works.genres[at] if genre not in works.above[other]])
    }
    rest = len(works.genres) - len(mine)
    expected = len(beside) * len(theirs - mine) / rest if rest else 0.0
    if expected < LEAST_EXPECTED:
        return True
    shared = sum(any(above in works.above[other] for other in others) for others in beside.values())
    return shared >= LEAST_SHARED * expected


@kept_with_source
def _works_with_several_genres(graph: Graph) -> _Works:
    """The works of the most frequent genres of the source that have several."""
    used = [qid for qid, _ in graph.store.values_of("P136", limit=GENRES)]
    graph.fetch(used)
    genres: defaultdict[str, set[str]] = defaultdict(set)
    for (_, genre), subjects in graph.store.referrers([("P136", qid) for qid in used], limit=WORKS).items():
        for subject in subjects:
            genres[subject].add(genre)
    several = tuple(frozenset(genres[work]) for work in sorted(genres) if len(genres[work]) > 1)
    above = {qid: frozenset((qid, *graph.superclasses(qid))) for qid in used}
    of_class: defaultdict[str, set[int]] = defaultdict(set)
    for at, kinds in enumerate(several):
        for kind in frozenset[str]().union(*(above[genre] for genre in kinds)):
            of_class[kind].add(at)
    return _Works(genres=several, above=above, of_class={kind: frozenset(ats) for kind, ats in of_class.items()})
