"""Genres: broader genres by P279 and P31, and the one that a description names, without leaving their medium."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary

from abstraction.assembly.levels import as_graph
from abstraction.classes import anchors
from abstraction.ladders.class_hierarchy import Climbing, climb, stop_classes, used_as_value
from abstraction.ladders.class_terms import described_classes
from abstraction.proposals import ANSWER, LadderCase, Proposal
from kg.terms import normalise
from kg.walks.graph import Graph

_GENRE_OF = re.compile(
    r"^(?:[a-z-]+\s+)*?(?:sub-?genres?|genres?|forms?|styles?|types?|branch|fusion genre"
    r"|derivative)\s++of\s++(?P<x>[\w' &-]{1,250}?)"
    r"(?=$|[,;.]|(?<!\s)\s++(?:that|which|who|originating|characteri[sz]ed|with|and|in|from|featuring|combining"
    r"|developed|based)\b)"
)
_GENRE_HEAD = re.compile(r"^(?P<x>[\w' &-]+?)(?<!\s)\s++(?:sub-?genre|subgenre|style)$")
MOST_GENRES = 5_000  # looked through for spellings


def genres(case: LadderCase) -> list[Proposal]:
    """ "alternative rock › rock music › popular music": only classes that are genres themselves."""
    graph = case.graph
    used = used_as_value(graph, "P136", minimum=1)
    metaclasses = frozenset(q for q, kinds in anchors().items() if "genre" in kinds)
    own = metaclasses.intersection(graph.classes(case.answer)) - {"Q483394"}
    same_medium = _medium(case)

    def keep(qid: str) -> bool:
        kinds = metaclasses.intersection(graph.classes(qid))
        if (
            qid in stop_classes()
            or ((label := graph.label(qid) or "").endswith(" genre") and normalise(label) not in case.relation.trivial)
            or not same_medium(qid)
            or (kinds and "Q483394" not in kinds and own.isdisjoint(kinds) and own)
        ):
            return False
        return used(qid) or bool(kinds)

    kept = climb(graph, case.answer, Climbing(properties=("P279", "P31"), depth=3, keep=keep), condition="P136")
    kept = {q: p for q, p in kept.items() if q not in metaclasses}
    for pattern in (_GENRE_OF, _GENRE_HEAD):
        for proposal in described_classes(
            case, pattern, "P136", lambda q: q not in metaclasses and keep(q), names=_spellings(graph)
        ):
            if proposal.key in kept:
                continue
            above = climb(
                graph,
                proposal.key,
                Climbing(properties=("P279", "P31"), depth=2, keep=keep),
                condition="P136",
            )
            for key, node in above.items():
                parents = tuple(proposal.key if p == ANSWER else p for p in node.parents)
                if key in kept:
                    kept[key] = replace(kept[key], parents=tuple(dict.fromkeys((*kept[key].parents, *parents))))
                elif key not in metaclasses:
                    kept[key] = replace(node, parents=parents)
            kept[proposal.key] = proposal
    return list(as_graph(kept.values()).values())


def _medium(case: LadderCase) -> Callable[[str], bool]:
    """A music genre's broader genres are music: a class that is only a kind of work or activity is no genre."""
    classes = case.gazetteer.classes

    def test(qid: str) -> bool:
        kinds = classes(qid)
        return (
            not kinds
            or "genre" in kinds
            or kinds.isdisjoint({"person", "place", "event", "occupation", "organisation"})
        )

    return test


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
    found: dict[tuple[str, ...], str | None] = {}
    for qid in used:
        label = graph.label(qid)
        for stems in dict.fromkeys(_stems(name) for name in graph.names(qid)):
            known = found.get(stems, label)
            found[stems] = label if known == label else None
    return found
