"""Places, and whatever is asked for by where it is: the containers up to the sovereign state.

The graph's P131 chain and the chains of descriptions are put into one graph of "lies in"; each fills the
other's gaps, and where they contradict each other the graph's order stands.
"""

from __future__ import annotations

import re
from dataclasses import replace

from abstraction.evidence import from_description, from_statement
from abstraction.gazetteer import DEPTH, PLACES, STATE, Place
from abstraction.ladders.base import ANSWER, Case, Proposal
from abstraction.levels import as_graph, remove
from abstraction.tiers import Condition, Evidence
from kg.model import Statement
from kg.terms import normalise

# Where the thing is, most direct first; the first property with a value is used.
OWN_PLACE = ("P131", "P276", "P159", "P706")
# Never a tier, though the chain climbs through them (design note on ladders, 3.4 A 3).
_PASSED_THROUGH = re.compile(
    r"\b(?:electoral|constituency|statistical|planning region|judicial|police|health (?:district|region|board)|diocese|"
    r"census division|nuts\b|arrondissement court|parliamentary|metropolitan statistical|time zone|development region|"
    r"former|association of)",
    re.I,
)
_WHOLE = frozenset({"Q2", "Q525", "Q544", "Q39731", "Q48227", "Q5107"})  # Earth, Sun, Solar System, hemispheres...


def places(case: Case) -> list[Proposal]:
    """Containers of the answer, finest first; for a country its region and continent."""
    return Climb(case).proposals()


class Climb:
    """The walk upward from one answer."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.graph = case.graph
        self.nodes: dict[str, Proposal] = {}
        self.up: dict[str, dict[str, tuple[Evidence, ...]]] = {}

    def proposals(self) -> list[Proposal]:
        """The proposals; empty where neither statement nor description tells a place."""
        answer = self.case.answer
        if "country" in self.case.gazetteer.classes(answer) and self._is_state(answer):
            return self._region_and_continent(answer)
        self._climb(ANSWER, answer, DEPTH)
        self._country(answer)
        return self._result()

    def beyond(self, parents: dict[str, tuple[str, Evidence]]) -> list[Proposal]:
        """As `proposals`, with other entities (a parent institution) standing before the place chain.

        `parents` maps their ids to the key that entails them and the evidence for it.
        """
        for qid, (below, evidence) in parents.items():
            self._add(Place(text=self.graph.label(qid) or qid, qid=qid), below, (evidence,))
            self._climb(qid, qid, DEPTH)
        return self.proposals()

    def _climb(self, key: str, entity_id: str, depth: int) -> None:
        """Adds what contains `entity_id`, node by node, until a sovereign state or the depth limit."""
        if depth == 0 or (key != ANSWER and self._is_state(entity_id)):
            return
        stated = self._containers(entity_id, own=key == ANSWER or not self._is_place(entity_id))
        targets = []
        for statement in stated:
            assert statement.target is not None
            fresh = statement.target not in self.nodes
            if self._link(key, statement.target, (from_statement(self.graph, statement),)) and fresh:
                targets.append(statement.target)
        for target in targets:
            self._climb(target, target, depth - 1)
        if key == ANSWER or not stated:
            self._described(key, entity_id, depth)

    def _containers(self, entity_id: str, *, own: bool) -> list[Statement]:
        for prop in OWN_PLACE if own else ("P131",):
            found = [s for s in self.graph.current(entity_id, prop) if s.target]
            if self.case.at is not None and entity_id == self.case.answer:
                then = [s for s in self.graph.held_at(entity_id, prop, self.case.at) if s.target]
                found += [s for s in then if s not in found]
            self.graph.fetch(s.target for s in found if s.target)
            found = [s for s in found if s.target and self._usable(s.target)]
            if found:
                return found
        return []

    def _described(self, key: str, entity_id: str, depth: int) -> None:
        below = [key]
        for step in self.case.gazetteer.chain(entity_id):
            keys = []
            for place in step:
                if place.qid == self.case.answer or (place.qid and not self._usable(place.qid)):
                    continue
                place = self._known_already(place)
                evidence = (from_description(self.graph, entity_id, place.written or place.text),)
                fresh = place.key not in self.nodes
                linked = [b for b in below if self._connect(place, b, evidence)]
                if linked and fresh and place.qid:
                    self._climb(place.qid, place.qid, depth - 1)
                if place.key in self.nodes:
                    keys.append(place.key)
            below = keys or below

    def _country(self, answer: str) -> None:
        """P17 where nothing reached a sovereign state: above every end of the chains."""
        if any(node.qid and self._is_state(node.qid) for node in self.nodes.values()):
            return
        ends = [key for key in self.nodes if not self.up.get(key)] or [ANSWER]
        sources = [answer, *(self.nodes[k].qid for k in ends if k != ANSWER and self.nodes[k].qid)]
        for source in sources:
            if not source:
                continue
            found = [s for s in self.graph.current(source, "P17") if s.target and s.target != answer]
            if self.case.at is not None:
                then = self.graph.held_at(source, "P17", self.case.at)
                found += [s for s in then if s.target and s.target != answer and s not in found]
            for statement in found:
                assert statement.target is not None
                for end in ends if source == answer else [source]:
                    if end != statement.target:
                        self._link(end, statement.target, (from_statement(self.graph, statement),))
            if found:
                return

    def _region_and_continent(self, country: str) -> list[Proposal]:
        """Region named in the country's description, then its continent (design note, 3.4 A 7)."""
        regions = [p for step in self.case.gazetteer.chain(country) for p in step if self._is_region(p)]
        stated = [s for s in self.graph.current(country, "P30") if s.target]
        self.graph.fetch(s.target for s in stated if s.target)
        chosen = stated
        if len(stated) > 1:
            named = [s for s in stated if any(self._part_of(r, s.target) for r in regions)]
            chosen = named or self._of_capital(country, stated) or []
        below = ANSWER
        keys = []
        for region in regions:
            evidence = (from_description(self.graph, country, region.written or region.text),)
            if self._connect(region, below, evidence):
                keys.append(region.key)
        for statement in chosen:
            assert statement.target is not None
            for key in keys or [ANSWER]:
                if key != statement.target:
                    self._link(key, statement.target, (from_statement(self.graph, statement),))
        if not chosen:
            for region in list(regions):
                if region.qid:
                    for up in self.graph.current(region.qid, "P361") or self.graph.current(region.qid, "P30"):
                        if up.target and self._is_continent(up.target):
                            self._link(region.key, up.target, (from_statement(self.graph, up),))
        return self._result()

    def _is_region(self, place: Place) -> bool:
        """A part of the world and no other state: what a country's description may place it in."""
        if place.qid is None:
            return bool(re.search(r"\b(?:Africa|America|Asia|Europe|Oceania|Balkans|Caribbean|Pacific|East|Middle)\b", place.text))
        return not self._is_state(place.qid) and place.qid != self.case.answer

    def _part_of(self, region: Place, continent: str | None) -> bool:
        name = self.graph.label(continent) if continent else None
        if name is None:
            return False
        if normalise(name) in normalise(region.text).split() or normalise(name) in normalise(region.text):
            return True
        return bool(region.qid) and continent in (
            *self.graph.targets(region.qid or "", "P361"),
            *self.graph.targets(region.qid or "", "P30"),
        )

    def _of_capital(self, country: str, stated: list[Statement]) -> list[Statement]:
        wanted = {t for capital in self.graph.targets(country, "P36") for t in self.graph.targets(capital, "P30")}
        return [s for s in stated if s.target in wanted]

    def _known_already(self, place: Place) -> Place:
        """A bare name that an entity in the chain carries is that entity."""
        if place.qid is not None:
            return place
        name = normalise(place.text)
        for node in self.nodes.values():
            if node.qid and name in {normalise(n) for n in (node.text, *node.aliases)}:
                return Place(text=node.text, qid=node.qid, written=place.written)
        return place

    def _link(self, below: str, qid: str, evidence: tuple[Evidence, ...]) -> bool:
        return self._connect(Place(text=self.graph.label(qid) or qid, qid=qid), below, evidence)

    def _connect(self, place: Place, below: str, evidence: tuple[Evidence, ...]) -> bool:
        """Adds "below lies in place"; False where it would close a circle or nothing is known of the place."""
        if place.qid and self.graph.label(place.qid) is None:
            return False
        if place.key == below or below in self._ups(place.key):
            return False
        self._add(place, below, evidence)
        return True

    def _add(self, place: Place, below: str, evidence: tuple[Evidence, ...]) -> None:
        names = self.graph.names(place.qid) if place.qid else ()
        if place.key not in self.nodes:
            self.nodes[place.key] = Proposal(
                key=place.key,
                text=place.text,
                qid=place.qid,
                aliases=tuple(dict.fromkeys(n for n in (*names, place.written) if n and n != place.text)),
                parents=(),
                evidence=evidence,
                conditions=frozenset({Condition(property="self", value=place.key)}),
            )
        self.up.setdefault(below, {}).setdefault(place.key, evidence)

    def _ups(self, key: str) -> set[str]:
        seen: set[str] = set()
        stack = [key]
        while stack:
            for above in self.up.get(stack.pop(), {}):
                if above not in seen:
                    seen.add(above)
                    stack.append(above)
        return seen

    def _result(self) -> list[Proposal]:
        parents: dict[str, list[str]] = {}
        for below, ups in self.up.items():
            for above in ups:
                parents.setdefault(above, []).append(below)
        nodes = as_graph(
            replace(node, parents=tuple(parents.get(key, [ANSWER]))) for key, node in self.nodes.items()
        )
        return list(remove(nodes, self._passed_through).values())

    def _passed_through(self, proposal: Proposal) -> bool:
        if proposal.qid is None:
            return False
        kinds = [self.graph.label(c) or "" for c in self.graph.classes(proposal.qid)]
        if any(_PASSED_THROUGH.search(k) for k in kinds) and not any(
            not _PASSED_THROUGH.search(k) for k in kinds
        ):
            return True
        return bool(_PASSED_THROUGH.search(proposal.text)) or proposal.qid in _WHOLE

    def _usable(self, qid: str) -> bool:
        return qid not in _WHOLE and qid != self.case.answer

    def _is_state(self, qid: str) -> bool:
        return any(c in STATE for c in self.graph.classes(qid)) or (
            "country" in self.case.gazetteer.classes(qid) and self.graph.is_instance(qid, STATE)
        )

    def _is_continent(self, qid: str) -> bool:
        return "Q5107" in self.graph.classes(qid)

    def _is_place(self, qid: str) -> bool:
        return not PLACES.isdisjoint(self.case.gazetteer.classes(qid))
