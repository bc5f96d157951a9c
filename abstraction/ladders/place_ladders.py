"""Places, and whatever is asked for by where it is: the containers up to the sovereign state.

The graph's P131 chain and the chains of descriptions are put into one graph of "lies in"; each fills the
other's gaps, and where they contradict each other the graph's order stands.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from abstraction.assembly.levels import Graph, as_graph, depths, remove
from abstraction.descriptions.place_grammar import is_directed
from abstraction.evidence import from_description, from_statement, join_evidence
from abstraction.ladders.containers import (
    WORLDS,
    Containers,
    all_above,
    as_written,
    continent_of,
    continent_of_part,
    dependency,
    entailed,
    lies_elsewhere,
    names_part_of,
    same_extent,
    stated_continent,
    together,
)
from abstraction.ladders.described_places import described_chain
from abstraction.ladders.entity_values import current_values
from abstraction.language.demonyms import bundled_demonyms
from abstraction.linking.gazetteer import DEPTH, FIRST_DIVISION, PLACES, SETTLEMENTS, WORLD, Place
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import MAX_LEVELS, Condition, Evidence
from kg.model import Statement
from kg.terms import normalise
from kg.walks.ranks import CONTINENT

_PARTS = FIRST_DIVISION | SETTLEMENTS | {"Q56061"}  # what one state holds: its divisions and settlements
_ONE_OF = frozenset({"P131", "P276", "P159", "P706"})  # a thing is in one of several values, and part of all by P361
_SITES = frozenset({"school", "building", "organisation"})  # may bear the name of their town
_WATER = re.compile(r"\b(?:Ocean|Sea|Gulf)$")  # lies on no continent


def places(case: LadderCase) -> list[Proposal]:
    """Containers of the answer, finest first; for a country its region and continent."""
    return Climb(case).proposals()


class Climb:
    """The walk upward from one answer."""

    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.graph = case.graph
        self.containers = Containers(case)
        self.nodes: dict[str, Proposal] = {}
        self.up: dict[str, dict[str, tuple[Evidence, ...]]] = {}
        # By key, sets of places of which one or another holds what the key names.
        self.either: dict[str, list[set[str]]] = {}

    def proposals(self) -> list[Proposal]:
        """The proposals; empty where neither statement nor description tells a place."""
        if self._is_state(self.case.answer):
            self._region_and_continent(ANSWER)
            return self._assembled()
        if self._is_continent(self.case.answer):
            return []
        self._climb(ANSWER, DEPTH)
        self._country()
        if self.case.relation.asks == "country":  # a part of a country asked as one: Hong Kong
            for state in [key for key in self.nodes if self._is_state(key)]:
                if self._same(ANSWER, state):
                    self._region_and_continent(ANSWER)
                    continue
                whole = stated_continent(self.graph, state)
                if whole is None or not lies_elsewhere(self.graph, self.case.answer, state, whole.target or ""):
                    self._region_and_continent(state)
        elif self.case.relation.asks == "place":
            self._continent()
        return self._assembled()

    def beyond(self, parents: dict[str, tuple[str, Evidence]]) -> list[Proposal]:
        """As `proposals`, with other entities (a parent institution) standing before the place chain.

        `parents` maps their ids to the key that entails them and the evidence for it.
        """
        for qid, (below, evidence) in parents.items():
            self._add(Place(text=self.graph.label(qid) or qid, qid=qid), below, (evidence,))
            self._climb(qid, DEPTH)
        proposals = self.proposals()
        # A university system is at home in one town, its colleges are not: where the answer's own places are known,
        # the parent's stand only if they are among them.
        own_places = self._ups(ANSWER, without=parents)
        if not own_places:
            return proposals
        return list(
            remove({p.key: p for p in proposals}, lambda p: p.key not in own_places and p.key not in parents).values()
        )

    def _climb(self, key: str, depth: int) -> None:
        """Adds what contains the place, node by node, until a sovereign state or the depth limit."""
        entity_id = self.case.answer if key == ANSWER else key
        if depth == 0 or (key != ANSWER and self._is_state(entity_id)):
            return
        is_place = not PLACES.isdisjoint(self.case.gazetteer.classes(entity_id))
        stated = self.containers.of(entity_id, all_properties=key == ANSWER or not is_place)
        fresh = dict.fromkeys(s.target for s in stated if s.target and s.target not in self.nodes)
        linked = {s.target for s in stated if self._link(key, s)}
        for target in fresh:
            if target in linked:
                self._climb(target, depth - 1)
        described = self._described(key, entity_id, depth) if key == ANSWER or not stated else []
        one_of = [s.target for s in stated if s.property in _ONE_OF and not self.containers.held_then(s)]
        if all(map(self._is_placed, one_of)):
            # What a statement puts in Merseyside and the description in Lancashire is in one of them.
            one_of += filter(self._is_placed, described)
        self._one_of(key, one_of)

    def _described(self, key: str, entity_id: str, depth: int) -> list[str]:
        """Adds the places that the description puts the entity in; returns the keys of the finest step."""
        below, finest = [key], list[str]()
        chain, beside = described_chain(self.case.gazetteer, self.graph, entity_id)
        for step in [*chain, *beside]:
            keys = []
            for place in step:
                if place.qid and not (self.containers.usable(place.qid) and self._holds(place.qid)):
                    continue
                place = self._known_already(place)
                evidence = (from_description(self.graph, entity_id, place.written or place.text),)
                fresh = place.key not in self.nodes
                linked = [b for b in ([key] if step in beside else below) if self._connect(place, b, evidence)]
                if linked and fresh and place.qid:
                    self._climb(place.qid, depth - 1)
                if place.key in self.nodes:
                    keys.append(place.key)
            for lower in [key] if step in beside else below:
                self._one_of(lower, keys)
            below = keys or below
            finest = finest or (keys if step not in beside else finest)
        return finest

    def _country(self) -> None:
        """Above every end of the chains that is no state: its own P17 or P361, else the answer's P17."""
        open_ends = [key for key in self._ends() if not self._in_own_countries(key)]
        states = [node for node in self.nodes.values() if node.qid and self._is_state(node.qid)]
        if not states:
            for statement in self.containers.countries(self.case.answer):
                for key in open_ends:
                    self._link(key, statement)
        elif len(states) == 1:
            # The answer lies in both: a part of a state that is known to lie in no other lies in this one.
            whole = Place(text=states[0].text, qid=states[0].qid)
            for key in open_ends:
                qid = self.nodes[key].qid if key != ANSWER else None
                if qid and self.graph.is_instance(qid, _PARTS) and not self.containers.is_gone(qid):
                    self._connect(whole, key, states[0].evidence)

    def _ends(self) -> list[str]:
        """The keys of what no place within one state holds: parts of the world say nothing of the state."""
        local = {key for key, node in self.nodes.items() if not self._spans_states(node.qid, node.text)}
        ends = [key for key in self.nodes if key in local and local.isdisjoint(self.up.get(key, ()))] or [ANSWER]
        return [key for key in ends if not ((qid := self._qid(key)) and self._is_state(qid))]

    def _in_own_countries(self, key: str) -> bool:
        """Adds the countries that an end has itself; whether there were any."""
        qid = self._qid(key)
        linked = [s for s in self.containers.countries(qid) if self._link(key, s)] if qid else []
        self._one_of(key, (s.target for s in linked if s.property == "P17" and not self.containers.held_then(s)))
        return bool(linked)

    def _region_and_continent(self, below: str) -> None:
        """Adds the region that the country's description names, then its continent."""
        country = self.case.answer if below == ANSWER else below
        stated = [s for s in self.graph.current(country, CONTINENT) if s.target]
        named = [[p for p in step if self._is_region(p)] for step in self.case.gazetteer.chain(country)]
        regions = self._regions(country, named, stated)
        if below != ANSWER and (continents := self.graph.targets(self.case.answer, CONTINENT)):
            # The Caribbean is no region of the Netherlands, though it is one of their kingdom.
            regions = {r: e for r, e in regions.items() if any(names_part_of(r.text, c) for c in continents)}
        flat = [place for step in named for place in step]
        chosen = self._continents(country, stated, list(regions), flat)
        added = [region for region, evidence in regions.items() if self._connect(region, below, evidence)]
        if chosen:
            self._above_regions(chosen, added, below)
        elif not stated:
            keys = [region.key for region in added] or [below]
            for place in flat:  # the continents among the parts of the world that the country's description names
                if place.qid and self._is_continent(place.qid):
                    evidence = (from_description(self.graph, country, place.written or place.text),)
                    for key in keys:
                        self._connect(place, key, evidence)

    def _regions(
        self, country: str, named: list[list[Place]], continents: list[Statement]
    ) -> dict[Place, tuple[Evidence, ...]]:
        """The regions to add, each with its evidence: by the description's steps, else by statement."""
        # "Eastern Europe" where the snapshot only knows Europe: the words say more than the entity.
        partial = [
            [as_written(p) if p.qid and self._is_continent(p.qid) else p for p in step if not self._is_whole(p)]
            for step in named
        ]
        flat = [place for step in partial for place in step]
        if len({continent for place in flat if (continent := continent_of(place.text))}) > 1:
            partial = [flat]  # "Southeast Europe, Southwest Asia and Africa"
        groups = [step for step in partial if step] or [[r] for r in self._stated_regions(country, continents)]
        return {together(group): join_evidence(self._region_evidence(country, p) for p in group) for group in groups}

    def _continents(
        self, country: str, stated: list[Statement], regions: list[Place], named: list[Place]
    ) -> list[Statement]:
        """Of several continents those that the regions are parts of, else that of the capital, else those named."""
        chosen = stated
        if len(stated) > 1:
            agreeing = [s for s in stated if any(self._part_of(r, s.target) for r in regions)]
            spelled = [s for s in stated if s.target in {p.qid for p in named}]
            chosen = agreeing or self._of_capital(country, stated) or spelled
        if len(chosen) > 1:
            return chosen
        apart = [name for r in regions if len(parts := WORLD.findall(r.text)) > 1 for name in parts]
        return [s for s in chosen if all(names_part_of(text, s.target or "") for text in apart)]

    def _above_regions(self, continents: list[Statement], regions: list[Place], below: str) -> None:
        """Adds the continent above the regions that are parts of it, and above the country, whose statement it is.

        Several are one tier above all of them.
        """
        whole = together([Place(text=self.graph.label(s.target or "") or "", qid=s.target) for s in continents])
        keys = [region.key for region in regions]
        if whole.qid:
            inside = [r.key for r in regions if self._part_of(r, whole.qid)]
            land = [r.key for r in regions if not _WATER.search(r.text) and names_part_of(r.text, whole.qid)]
            keys = inside or land
        for key in dict.fromkeys((*keys, below)):
            self._connect(whole, key, tuple(from_statement(self.graph, s) for s in continents))

    def _continent(self) -> None:
        """Adds the continent above every place of the chain that lies on one whole, where nothing finer denies it."""
        chain = {ANSWER: self.case.answer, **{key: node.qid for key, node in self.nodes.items() if node.qid}}
        if any(self._is_continent(qid) for qid in chain.values()):
            return
        ups = {key: self._ups(key) for key in chain}
        stated = self._undenied_continents(chain, ups)
        if len({s.target for s in stated.values()}) != 1:
            return
        if len(chain) > 1 and (of_answer := stated.get(ANSWER)):
            # Coarser than the state, though all of the state need not lie there: Moscow, Russia, Europe.
            ends = [key for key in chain if key != ANSWER and not ups[key]]
            if all(of_answer.target in self.graph.targets(chain[key], CONTINENT) for key in ends):
                stated |= dict.fromkeys(ends, of_answer)
                del stated[ANSWER]
        for key, statement in stated.items():
            self._link(key, statement)

    def _undenied_continents(self, chain: Mapping[str, str], ups: Mapping[str, set[str]]) -> dict[str, Statement]:
        """By key, the one continent of each place, unless a place in it is known to lie elsewhere."""
        stated: dict[str, Statement] = {}
        for key, qid in chain.items():
            for inner, place in chain.items():
                own = continent_of_part(self.graph, place, qid) if key in ups[inner] else None
                if own is not None and not self.graph.targets(place, CONTINENT):
                    stated[inner] = own
            statement = stated_continent(self.graph, qid)
            if statement is not None:
                target = statement.target or ""
                finer = [chain[inner] for inner in chain if inner != key and key in ups[inner]]
                if not any(lies_elsewhere(self.graph, inner, qid, target) for inner in finer):
                    stated[key] = statement
        return stated

    def _stated_regions(self, country: str, continents: list[Statement]) -> list[Place]:
        """P361 values that are a part of one of the country's continents by name: North Africa, not the EU."""
        names = [n for s in continents if s.target for n in self.graph.names(s.target)[:1]]
        return [
            Place(text=value.label, qid=value.qid)
            for value in current_values(self.graph, country, "P361")
            if any(value.label != name and value.label.endswith(name) for name in names)
        ]

    def _region_evidence(self, country: str, region: Place) -> tuple[Evidence, ...]:
        for statement in self.graph.current(country, "P361"):
            if region.qid and statement.target == region.qid and not region.written:
                return (from_statement(self.graph, statement),)
        return (from_description(self.graph, country, region.written or region.text),)

    def _is_whole(self, place: Place) -> bool:
        """A continent under its own name."""
        if place.qid is None or not self._is_continent(place.qid):
            return False
        return normalise(place.written or place.text) in {normalise(n) for n in self.graph.names(place.qid)}

    def _is_region(self, place: Place) -> bool:
        """A part of the world: no state, no town, nothing inside another state (Vatican City lies within Rome)."""
        if place.qid is None:
            return bool(WORLD.search(place.text))
        if place.qid == self.case.answer or self._is_state(place.qid) or self.containers.is_gone(place.qid):
            return False
        return self._spans_states(place.qid)

    def _spans_states(self, qid: str | None, name: str = "") -> bool:
        """Whether the place is a part of the world that no single state holds."""
        if qid is None:
            return bool(WORLD.search(name))
        if self._is_state(qid):
            return False
        if self._is_continent(qid) or WORLD.search(self.graph.label(qid) or ""):
            return True
        if self.graph.is_instance(qid, _PARTS):
            return False
        return len(self.graph.targets(qid, "P17")) != 1

    def _part_of(self, region: Place, continent: str | None) -> bool:
        name = self.graph.label(continent) if continent else None
        if name is None or normalise(name) in normalise(region.text):
            return name is not None
        qid = region.qid or ""
        return continent in (*self.graph.targets(qid, "P361"), *self.graph.targets(qid, CONTINENT))

    def _of_capital(self, country: str, stated: list[Statement]) -> list[Statement]:
        continents = {t for capital in self.graph.targets(country, "P36") for t in self.graph.targets(capital, "P30")}
        return [s for s in stated if s.target in continents]

    def _known_already(self, place: Place) -> Place:
        """A bare name that an entity in the chain carries is that entity."""
        if place.qid is not None:
            return place
        name = normalise(place.text)
        for node in self.nodes.values():
            if node.qid and name in {normalise(n) for n in (node.text, *node.aliases)}:
                return Place(text=node.text, qid=node.qid, written=place.written)
        return place

    def _link(self, below: str, statement: Statement) -> bool:
        """Adds what the statement says of what the key names, as `_connect` does."""
        place = Place(text=self.graph.label(statement.target or "") or "", qid=statement.target)
        return self._connect(place, below, (from_statement(self.graph, statement),))

    def _connect(self, place: Place, below: str, evidence: tuple[Evidence, ...]) -> bool:
        """Adds "below lies in place"; False where it would close a circle or nothing is known of the place."""
        label = self.graph.label(place.qid) if place.qid else place.text
        if label is None or label[:1].islower():
            return False  # unknown, or a class such as "valley" where a place is due
        if place.key == below or below in self._ups(place.key):
            return False
        if self._dependency(below) and not WORLD.search(label):
            return False  # Gibraltar is no part of the United Kingdom
        self._add(place, below, evidence)
        return True

    def _add(self, place: Place, below: str, evidence: tuple[Evidence, ...]) -> None:
        names = self.graph.names(place.qid) if place.qid else ()
        # "southeastern United States" tells where and "Indian" whose: neither is a name.
        words = set(normalise(place.written).split())
        named = place.qid is None or any(words.issuperset(normalise(name).split()) for name in names[:1])
        written = place.written if named and not is_directed(place.written) else ""
        if place.key not in self.nodes:
            self.nodes[place.key] = Proposal(
                key=place.key,
                text=place.text,
                qid=place.qid,
                aliases=tuple(dict.fromkeys(n for n in (*names, written) if n and n != place.text)),
                parents=(),
                evidence=evidence,
                conditions=frozenset({Condition(property="self", value=place.key)}),
            )
        self.up.setdefault(below, {}).setdefault(place.key, evidence)

    def _same(self, below: str, above: str) -> bool:
        """Whether the upper place is the lower one under another name."""
        inner, outer = self._qid(below), self.nodes[above].qid
        if inner is None or outer is None or not _SITES.isdisjoint(self.case.gazetteer.classes(inner)):
            return False
        return same_extent(self.graph, inner, outer)

    def _without_near_aliases(self, nodes: Graph) -> Graph:
        """Each place that is no larger than one below it becomes another name of that one."""
        near = {key: [p for p in node.parents if self._same(p, key)] for key, node in nodes.items()}
        nodes = dict(nodes)
        for key, below in near.items():
            for finer in below:
                if finer != ANSWER:
                    names = (*nodes[finer].aliases, nodes[key].text, *nodes[key].aliases)
                    nodes[finer] = replace(nodes[finer], aliases=tuple(dict.fromkeys(names)))
        return remove(nodes, lambda p: bool(near[p.key]))

    def _one_of(self, key: str, places: Iterable[str | None]) -> None:
        """Notes that what the key names lies in one or another of several places, nobody knows in which."""
        group = {place for place in places if place in self.up.get(key, {}) and not self._same(key, place)}
        if len(group) > 1:
            self.either.setdefault(key, []).append(group)

    def _is_placed(self, key: str | None) -> bool:
        """Whether it is known in which part of its state the place lies, or that it is one itself."""
        node = self.nodes.get(key or "")
        if node is None or node.qid is None:
            return False
        if self.graph.is_instance(node.qid, FIRST_DIVISION):
            return True
        return any(not self._is_state(above) for above in self._ups(node.key))

    def _ups(self, key: str, without: Collection[str] = ()) -> set[str]:
        return all_above(self.up, key, without)

    def _assembled(self) -> list[Proposal]:
        parents: dict[str, list[str]] = {}
        for below, ups in self.up.items():
            for above in ups:
                parents.setdefault(above, []).append(below)
        nodes = as_graph(
            replace(
                node,
                parents=tuple(parents.get(key, [ANSWER])),
                evidence=join_evidence((node.evidence, *(self._stated(below, key) for below in parents.get(key, ())))),
            )
            for key, node in self.nodes.items()
        )
        nodes = candidates = remove(nodes, self._passed_through)
        sure = entailed(self.up, self.either, ANSWER) - self._in_one_of_several_divisions()
        nodes = remove(nodes, lambda p: p.key not in sure)
        nodes = self._without_near_aliases(nodes)
        dependent = [key for key in (ANSWER, *nodes) if self._dependency(key)]
        if dependent:
            nodes = remove(nodes, lambda p: p.qid is not None and self._is_state(p.qid))
        self.case.doubted.update(node.qid for key, node in candidates.items() if node.qid and key not in nodes)
        if dependent:
            nodes |= {p.key: p for key in dependent for p in dependency(self.case, key)}
        deep = {key for key, depth in depths(nodes).items() if depth > MAX_LEVELS}
        # A continent takes no finer place's level.
        return list(remove(nodes, lambda p: p.key in deep and self._is_continent(p.key)).values())

    def _in_one_of_several_divisions(self) -> set[str]:
        """The states or provinces that the chains lead to where they are several, with all that lies in one."""
        kinds = self.graph.classes
        divisions = {k for k, node in self.nodes.items() if node.qid and not FIRST_DIVISION.isdisjoint(kinds(node.qid))}
        finest = divisions.difference(*(self._ups(key) for key in divisions))
        if len(finest) < 2:
            return set()
        return finest | {key for key in self.nodes if not finest.isdisjoint(self._ups(key))}

    def _stated(self, below: str, above: str) -> tuple[Evidence, ...]:
        """The statements that lead from one node to the other: each way to a tier is quoted, not the first alone."""
        return tuple(step for step in self.up[below][above] if step.kind == "statement")

    def _passed_through(self, proposal: Proposal) -> bool:
        if proposal.qid is None:
            return normalise(proposal.text) in bundled_demonyms().countries
        return proposal.qid in WORLDS or self.case.gazetteer.is_no_tier(proposal.qid)

    def _holds(self, qid: str) -> bool:
        """Whether anything can lie in it: "seat of the United States Congress" tells of no place."""
        kinds = self.case.gazetteer.classes(qid)
        return not kinds or not kinds.isdisjoint(PLACES | {"school", "building"})

    def _is_state(self, qid: str) -> bool:
        return self.case.gazetteer.is_state(qid)

    def _qid(self, key: str) -> str | None:
        return self.case.answer if key == ANSWER else self.nodes[key].qid

    def _dependency(self, key: str) -> tuple[str, ...]:
        qid = self._qid(key)
        return self.case.gazetteer.dependency(qid) if qid else ()

    def _is_continent(self, qid: str) -> bool:
        return "Q5107" in self.graph.classes(qid)
