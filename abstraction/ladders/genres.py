"""Genres: broader genres by P279 and P31, and the one that a description names, without leaving their medium."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary

from abstraction.assembly.levels import as_graph
from abstraction.classes import anchors
from abstraction.ladders.class_hierarchy import (
    Climbing,
    add_with_classes_above,
    climb,
    stop_classes,
    used_as_value,
)
from abstraction.ladders.class_terms import described_classes
from abstraction.proposals import LadderCase, Proposal
from kg.terms import normalise
from kg.walks.graph import Graph

_GENRE_OF = re.compile(
    r"^(?:[a-z-]+\s+)*?(?:sub-?genres?|genres?|forms?|styles?|types?|branch|fusion genre"
    r"|derivative)\s++of\s++(?P<x>[\w' &-]{1,250}?)"
    r"(?=$|[,;.]|(?<!\s)\s++(?:that|which|who|originating|characteri[sz]ed|with|and|in|from|featuring|combining"
    r"|developed|based)\b)"
)
_GENRE_HEAD = re.compile(r"^(?P<x>[\w' &-]+?)(?<!\s)\s++(?:sub-?genre|subgenre|style)$")
_ANY_GENRE = "Q483394"
_NO_GENRE = frozenset({"person", "place", "event", "occupation", "organisation"})
MOST_GENRES = 5_000  # looked through for spellings


def genres(case: LadderCase) -> list[Proposal]:
    """ "alternative rock › rock music › popular music": only classes that are genres themselves."""
    graph = case.graph
    used = used_as_value(graph, "P136", minimum=1)
    metaclasses = frozenset(q for q, kinds in anchors().items() if "genre" in kinds)
    media = metaclasses.intersection(graph.classes(case.answer)) - {_ANY_GENRE}

    def keep(qid: str) -> bool:
        kinds = metaclasses.intersection(graph.classes(qid))
        label = graph.label(qid) or ""
        if qid in stop_classes() or qid in metaclasses or not _may_be_genre(case.gazetteer.classes(qid)):
            return False
        if label.endswith(" genre") and normalise(label) not in case.relation.trivial:
            return False
        if kinds and media and _ANY_GENRE not in kinds and media.isdisjoint(kinds):
            return False  # of another medium
        return bool(kinds) or used(qid)

    how = Climbing(properties=("P279", "P31"), depth=3, keep=keep)
    proposals = climb(graph, case.answer, how, condition="P136")
    for pattern in (_GENRE_OF, _GENRE_HEAD):
        for proposal in described_classes(case, pattern, "P136", keep, names=_spellings(graph)):
            if proposal.key not in proposals:
                add_with_classes_above(proposals, proposal, graph, replace(how, depth=2), condition="P136")
    return list(as_graph(proposals.values()).values())


def _may_be_genre(kinds: Collection[str]) -> bool:
    """Whether answer classes let something be a genre: a class that is only a kind of work or activity is none."""
    return "genre" in kinds or _NO_GENRE.isdisjoint(kinds)


# Endings in which two spellings of one genre may differ: "alternate rock" and "alternative rock".
_ENDING = re.compile(r"(?<=\w{5})(?:ative|ively|ive|ate|al|ic|ed|ing|e|s)$")
_STEMS: WeakKeyDictionary[Graph, Mapping[tuple[str, ...], str | None]] = WeakKeyDictionary()


def _stems(name: str) -> tuple[str, ...]:
    return tuple(_ENDING.sub("", word) for word in normalise(name).removesuffix(" music").split())


def _spellings(graph: Graph) -> Callable[[str], list[str]]:
    """The names that a description may mean by its words: as written, then the one genre that differs in endings."""

    def names(written: str) -> list[str]:
        index = _STEMS.get(graph)
        if index is None:
            index = _STEMS[graph] = _by_stems(graph)
        other = index.get(_stems(written))
        return [written, *([other] if other else [])]

    return names


def _by_stems(graph: Graph) -> dict[tuple[str, ...], str | None]:
    """Labels of the genres in use by the stems of their names; None where several genres share the stems."""
    used = list(dict.fromkeys(qid for qid, _ in graph.store.values_of("P136", limit=MOST_GENRES)))
    graph.fetch(used)
    label_of: dict[tuple[str, ...], str | None] = {}
    for qid in used:
        label = graph.label(qid)
        for stems in dict.fromkeys(_stems(name) for name in graph.names(qid)):
            known = label_of.get(stems, label)
            label_of[stems] = label if known == label else None
    return label_of
