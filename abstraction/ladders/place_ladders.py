"""Ladders of places and of other things that a "where" question asks for: the containers up to the sovereign state.

The P131 chain of the graph and the chains of descriptions are merged into one graph of "lies in"; each fills gaps of
the other, and where they contradict each other the graph is right.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from abstraction.base.tiers import MAX_LEVELS, Condition, Evidence, from_description, from_statement, join_evidence
from abstraction.ladders.containers import (
    CONTINENT_CLASS,
    WORLDS,
    Containers,
    combined_place,
    continent_of_world_part_in_name,
    continent_statement_for_part,
    dependent_territory_tier_if_any,
    described_chain_and_world_parts,
    is_outer_no_larger,
    lies_on_other_continent,
    may_lie_on_continent,
    place_as_written,
    unambiguous_continent_statement,
)
from abstraction.ladders.proposals import (
    ANSWER,
    LadderCase,
    Proposal,
    ProposalGraph,
    as_graph,
    current_values,
    depths,
    reachable,
    remove,
)
from abstraction.linking.gazetteer import DEPTH, FIRST_DIVISION, PLACES, SETTLEMENTS, WORLD, Place
from abstraction.text.descriptions.place_grammar import has_word_before_name
from abstraction.text.language.languages import bundled_demonyms
from kg.base.model import Statement, normalise
from kg.graph.graph import CONTINENT

_PARTS = FIRST_DIVISION | SETTLEMENTS | {"Q56061"}  # classes of places within one state: divisions and settlements
_ONE_OF = frozenset({"P131", "P276", "P159", "P706"})  # a thing is in one of several values, and part of all by P361
_SITES = frozenset({"school", "building", "organisation"})  # may bear the name of their town
_HOLDING = PLACES | {"school", "building"}  # answer classes of entities that can contain places
_WATER = re.compile(r"\b(?:Ocean|Sea|Gulf)$")  # lies on no continent


def place_tiers(case: LadderCase) -> list[Proposal]:
    """Containers of the answer, finest first; for a country its region and continent."""
    return ContainerClimb(case).proposals()


class ContainerClimb:
    """Climbs from one answer to its containers: the places that it lies in, by statements and descriptions."""

    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.graph = case.graph
        self.containers = Containers(case)
        self.nodes: dict[str, Proposal] = {}
        self.up: dict[str, dict[str, tuple[Evidence, ...]]] = {}
        # Groups of alternative containers by the key of the place; one of each group contains it.
        self.alternatives: dict[str, list[set[str]]] = {}

    def proposals(self) -> list[Proposal]:
        """The containers as proposals; empty where neither statements nor descriptions give a place."""
        if self._is_state(self.case.answer):
            self._add_region_and_continent(ANSWER)
            return self._certain_proposals()
        if self._is_continent(self.case.answer):
            return []
        self._add_containers(ANSWER, DEPTH)
        self._add_country()
        if self.case.relation.asks == "country":  # of a territory asked for as a country, too: Hong Kong
            for state in [key for key in self.nodes if self._is_state(key)]:
                if self._is_same_place(ANSWER, state):
                    self._add_region_and_continent(ANSWER)
                    continue
                whole = unambiguous_continent_statement(self.graph, state)
                if whole is None or not lies_on_other_continent(
                    self.graph, self.case.answer, state, whole.target or ""
                ):
                    self._add_region_and_continent(state)
        elif self.case.relation.asks == "place":
            self._add_common_continent()
        return self._certain_proposals()

    def proposals_of_parents_and_containers(self, parents: Mapping[str, Proposal]) -> list[Proposal]:
        """The proposals `parents` (parent institutions, by id), then the containers of these and of the answer."""
        for qid, parent in parents.items():
            self._add_node(Place(text=parent.text, qid=qid), parent.parents[0], parent.evidence)
            self._add_containers(qid, DEPTH)
        proposals = self.proposals()
        # A university system has its seat in one town, its colleges in others: where the answer's own places are known,
        # those of the parent are kept only if they are among them.
        own_places = self._keys_above(ANSWER, without=parents)
        if not own_places:
            return proposals
        kept = own_places | parents.keys()
        return list(remove({p.key: p for p in proposals}, lambda p: p.key not in kept).values())

    def _add_containers(self, key: str, depth: int) -> None:
        """Add the containers of the place, node by node, up to a sovereign state or the depth limit."""
        entity_id = self.case.answer if key == ANSWER else key
        if depth == 0 or (key != ANSWER and self._is_state(entity_id)):
            return
        is_place = not PLACES.isdisjoint(self.case.gazetteer.classes(entity_id))
        stated = self.containers.location_statements(entity_id, all_properties=key == ANSWER or not is_place)
        fresh = dict.fromkeys(s.target for s in stated if s.target and s.target not in self.nodes)
        linked = {s.target for s in stated if self._add_statement_value(key, s)}
        for target in fresh:
            if target in linked:
                self._add_containers(target, depth - 1)
        described = self._add_described_containers(key, entity_id, depth) if key == ANSWER or not stated else []
        one_of = [
            s.target for s in stated if s.property in _ONE_OF and not self.containers.was_true_at_question_date(s)
        ]
        if all(map(self._has_known_division, one_of)):
            # A place in Merseyside by statement and in Lancashire by description lies in one of them.
            one_of += filter(self._has_known_division, described)
        self._record_alternatives(key, one_of)

    def _add_described_containers(self, key: str, entity_id: str, depth: int) -> list[str]:
        """Add the places that the description puts the entity in; returns the keys of the finest step."""
        below, finest = [key], list[str]()
        chain, beside = described_chain_and_world_parts(self.case.gazetteer, self.graph, entity_id)
        for step in [*chain, *beside]:
            keys = []
            for place in step:
                if place.qid:
                    # "seat of the United States Congress" names nothing that can contain places.
                    kinds = self.case.gazetteer.classes(place.qid)
                    if not self.containers.may_be_container(place.qid) or (kinds and kinds.isdisjoint(_HOLDING)):
                        continue
                place = self._entity_in_chain_or_place_itself(place)
                evidence = (from_description(self.graph, entity_id, place.written or place.text),)
                fresh = place.key not in self.nodes
                linked = [
                    b for b in ([key] if step in beside else below) if self._add_above_if_possible(place, b, evidence)
                ]
                if linked and fresh and place.qid:
                    self._add_containers(place.qid, depth - 1)
                if place.key in self.nodes:
                    keys.append(place.key)
            for lower in [key] if step in beside else below:
                self._record_alternatives(lower, keys)
            below = keys or below
            finest = finest or (keys if step not in beside else finest)
        return finest

    def _add_country(self) -> None:
        """Add the country above every topmost place of the chains that is no state: by its own P17 or P361, else by
        the P17 of the answer.
        """
        # `ends`: places above which no other place within one state is known; parts of the world are ignored.
        local = {key for key, node in self.nodes.items() if not self._spans_states(node.qid, node.text)}
        ends = [key for key in self.nodes if key in local and local.isdisjoint(self.up.get(key, ()))] or [ANSWER]
        ends = [key for key in ends if not ((qid := self._qid_of_key(key)) and self._is_state(qid))]
        open_ends = []
        for key in ends:
            qid = self._qid_of_key(key)
            linked = (
                [s for s in self.containers.country_statements(qid) if self._add_statement_value(key, s)] if qid else []
            )
            known = (s for s in linked if s.property == "P17" and not self.containers.was_true_at_question_date(s))
            self._record_alternatives(key, (s.target for s in known))
            if not linked:
                open_ends.append(key)
        states = [node for node in self.nodes.values() if node.qid and self._is_state(node.qid)]
        if not states:
            for statement in self.containers.country_statements(self.case.answer):
                for key in open_ends:
                    self._add_statement_value(key, statement)
        elif len(states) == 1:
            # The answer lies in both, so a division of an unknown state lies in the one known state.
            whole = Place(text=states[0].text, qid=states[0].qid)
            for key in open_ends:
                qid = self.nodes[key].qid if key != ANSWER else None
                if qid and self.graph.is_instance(qid, _PARTS) and not self.containers.no_longer_exists(qid):
                    self._add_above_if_possible(whole, key, states[0].evidence)

    def _add_region_and_continent(self, below: str) -> None:
        """Add the region that the description of the country names, then its continent."""
        country = self.case.answer if below == ANSWER else below
        stated = [s for s in self.graph.current(country, CONTINENT) if s.target]
        named = [[p for p in step if self._is_region(p)] for step in self.case.gazetteer.description_chain(country)]
        regions = self._subcontinental_regions_with_evidence(country, named, stated)
        if below != ANSWER and (continents := self.graph.targets(self.case.answer, CONTINENT)):
            # The Caribbean is no region of the Netherlands, though it is one of their kingdom.
            regions = {r: e for r, e in regions.items() if any(may_lie_on_continent(r.text, c) for c in continents)}
        flat = [place for step in named for place in step]
        chosen = self._choose_continents(country, stated, list(regions), flat)
        added = [region for region, evidence in regions.items() if self._add_above_if_possible(region, below, evidence)]
        if chosen:
            self._add_continent_above_regions(chosen, added, below)
        elif not stated:
            keys = [region.key for region in added] or [below]
            for place in flat:  # the continents among the parts of the world that the country's description names
                if place.qid and self._is_continent(place.qid):
                    evidence = (from_description(self.graph, country, place.written or place.text),)
                    for key in keys:
                        self._add_above_if_possible(place, key, evidence)

    def _subcontinental_regions_with_evidence(
        self, country: str, named: list[list[Place]], continents: list[Statement]
    ) -> dict[Place, tuple[Evidence, ...]]:
        """The regions around a country with their evidence: those that its description names (`named`, grouped), else
        those of its P361 statements.
        """
        # "Eastern Europe" where the snapshot only has Europe: the words are more specific than the entity.
        partial = [
            [
                place_as_written(p) if p.qid and self._is_continent(p.qid) else p
                for p in step
                if not self._is_whole_continent(p)
            ]
            for step in named
        ]
        flat = [place for step in partial for place in step]
        if len({continent for place in flat if (continent := continent_of_world_part_in_name(place.text))}) > 1:
            partial = [flat]  # "Southeast Europe, Southwest Asia and Africa"
        groups = [step for step in partial if step]
        if not groups:  # P361 values whose names end in that of a continent of the country: North Africa, not the EU
            names = [n for s in continents if s.target for n in self.graph.names(s.target)[:1]]
            groups = [
                [Place(text=value.label, qid=value.qid)]
                for value in current_values(self.graph, country, "P361")
                if any(value.label != name and value.label.endswith(name) for name in names)
            ]
        return {
            combined_place(group): join_evidence(self._region_evidence(country, p) for p in group) for group in groups
        }

    def _choose_continents(
        self, country: str, stated: list[Statement], regions: list[Place], named: list[Place]
    ) -> list[Statement]:
        """The continents of the country to use: of several those that contain the regions, else that of the capital,
        else those that the description names.
        """
        chosen = stated
        if len(stated) > 1:
            agreeing = [s for s in stated if any(self._is_region_of_continent(r, s.target) for r in regions)]
            spelled = [s for s in stated if s.target in {p.qid for p in named}]
            of_capital = {t for qid in self.graph.targets(country, "P36") for t in self.graph.targets(qid, CONTINENT)}
            chosen = agreeing or [s for s in stated if s.target in of_capital] or spelled
        if len(chosen) > 1:
            return chosen
        apart = [name for r in regions if len(parts := WORLD.findall(r.text)) > 1 for name in parts]
        return [s for s in chosen if all(may_lie_on_continent(text, s.target or "") for text in apart)]

    def _add_continent_above_regions(self, continents: list[Statement], regions: list[Place], below: str) -> None:
        """Add the continent above the regions that are parts of it, and above the country, which has the statement.

        Several continents are one tier above all of them.
        """
        whole = combined_place([Place(text=self.graph.label(s.target or "") or "", qid=s.target) for s in continents])
        keys = [region.key for region in regions]
        if whole.qid:
            inside = [r.key for r in regions if self._is_region_of_continent(r, whole.qid)]
            land = [r.key for r in regions if not _WATER.search(r.text) and may_lie_on_continent(r.text, whole.qid)]
            keys = inside or land
        for key in dict.fromkeys((*keys, below)):
            self._add_above_if_possible(whole, key, tuple(from_statement(self.graph, s) for s in continents))

    def _add_common_continent(self) -> None:
        """Add the continent above every place of the chain that lies on a single one, unless a finer place contradicts
        it.
        """
        chain = {ANSWER: self.case.answer, **{key: node.qid for key, node in self.nodes.items() if node.qid}}
        if any(self._is_continent(qid) for qid in chain.values()):
            return
        ups = {key: self._keys_above(key) for key in chain}
        stated = self._uncontradicted_continent_statements(chain, ups)
        if len({s.target for s in stated.values()}) != 1:
            return
        if len(chain) > 1 and (of_answer := stated.get(ANSWER)):
            # Coarser than the state, although parts of the state may lie elsewhere: Moscow, Russia, Europe.
            ends = [key for key in chain if key != ANSWER and not ups[key]]
            if all(of_answer.target in self.graph.targets(chain[key], CONTINENT) for key in ends):
                stated |= dict.fromkeys(ends, of_answer)
                del stated[ANSWER]
        for key, statement in stated.items():
            self._add_statement_value(key, statement)

    def _uncontradicted_continent_statements(
        self, chain: Mapping[str, str], ups: Mapping[str, set[str]]
    ) -> dict[str, Statement]:
        """The P30 statement of each place, by key, unless a place in it is known to lie on another continent."""
        stated: dict[str, Statement] = {}
        for key, qid in chain.items():
            for inner, place in chain.items():
                own = continent_statement_for_part(self.graph, place, qid) if key in ups[inner] else None
                if own is not None and not self.graph.targets(place, CONTINENT):
                    stated[inner] = own
            statement = unambiguous_continent_statement(self.graph, qid)
            if statement is not None:
                target = statement.target or ""
                finer = [chain[inner] for inner in chain if inner != key and key in ups[inner]]
                if not any(lies_on_other_continent(self.graph, inner, qid, target) for inner in finer):
                    stated[key] = statement
        return stated

    def _region_evidence(self, country: str, region: Place) -> tuple[Evidence, ...]:
        for statement in self.graph.current(country, "P361"):
            if region.qid and statement.target == region.qid and not region.written:
                return (from_statement(self.graph, statement),)
        return (from_description(self.graph, country, region.written or region.text),)

    def _is_whole_continent(self, place: Place) -> bool:
        """Whether the place is a continent under its own name."""
        if place.qid is None or not self._is_continent(place.qid):
            return False
        return normalise(place.written or place.text) in {normalise(n) for n in self.graph.names(place.qid)}

    def _is_region(self, place: Place) -> bool:
        """Whether the place is a part of the world: no state, no town, nothing inside another state (Vatican City lies
        within Rome).
        """
        if place.qid and (place.qid == self.case.answer or self.containers.no_longer_exists(place.qid)):
            return False
        return self._spans_states(place.qid, place.text)

    def _spans_states(self, qid: str | None, name: str = "") -> bool:
        """Whether the place is a part of the world that extends over several states."""
        if qid is None:
            return bool(WORLD.search(name))
        if self._is_state(qid):
            return False
        if self._is_continent(qid) or WORLD.search(self.graph.label(qid) or ""):
            return True
        if self.graph.is_instance(qid, _PARTS):
            return False
        return len(self.graph.targets(qid, "P17")) != 1

    def _is_region_of_continent(self, region: Place, continent: str | None) -> bool:
        name = self.graph.label(continent) if continent else None
        if name is None or normalise(name) in normalise(region.text):
            return name is not None
        qid = region.qid or ""
        return continent in (*self.graph.targets(qid, "P361"), *self.graph.targets(qid, CONTINENT))

    def _entity_in_chain_or_place_itself(self, place: Place) -> Place:
        """The entity in the chain with this unlinked name, else the place as it is."""
        if place.qid is not None:
            return place
        name = normalise(place.text)
        for node in self.nodes.values():
            if node.qid and name in {normalise(n) for n in (node.text, *node.aliases)}:
                return Place(text=node.text, qid=node.qid, written=place.written)
        return place

    def _add_statement_value(self, below: str, statement: Statement) -> bool:
        """Add the value of the statement above the key `below`, as `_add_above_if_possible` does."""
        place = Place(text=self.graph.label(statement.target or "") or "", qid=statement.target)
        return self._add_above_if_possible(place, below, (from_statement(self.graph, statement),))

    def _add_above_if_possible(self, place: Place, below: str, evidence: tuple[Evidence, ...]) -> bool:
        """Add "below lies in place"; False where that would close a cycle or the snapshot lacks the place."""
        label = self.graph.label(place.qid) if place.qid else place.text
        if label is None or label[:1].islower():
            return False  # unknown, or a class such as "valley" instead of a place
        if place.key == below or below in self._keys_above(place.key):
            return False
        if self._dependency_classes_of_key(below) and not WORLD.search(label):
            return False  # Gibraltar is no part of the United Kingdom
        self._add_node(place, below, evidence)
        return True

    def _add_node(self, place: Place, below: str, evidence: tuple[Evidence, ...]) -> None:
        names = self.graph.names(place.qid) if place.qid else ()
        # "southeastern United States" is a direction and "Indian" an adjective: neither is a name.
        words = set(normalise(place.written).split())
        named = place.qid is None or any(words.issuperset(normalise(name).split()) for name in names[:1])
        written = place.written if named and not has_word_before_name(place.written) else ""
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

    def _is_same_place(self, below: str, above: str) -> bool:
        """Whether the upper place is the lower one under another name."""
        inner, outer = self._qid_of_key(below), self.nodes[above].qid
        if inner is None or outer is None or not _SITES.isdisjoint(self.case.gazetteer.classes(inner)):
            return False
        return is_outer_no_larger(self.graph, inner, outer)

    def _merge_places_of_same_extent(self, nodes: ProposalGraph) -> ProposalGraph:
        """The graph with every place that is no larger than one below it turned into aliases of that one."""
        near = {key: [p for p in node.parents if self._is_same_place(p, key)] for key, node in nodes.items()}
        nodes = dict(nodes)
        for key, below in near.items():
            for finer in below:
                if finer != ANSWER:
                    names = (*nodes[finer].aliases, nodes[key].text, *nodes[key].aliases)
                    nodes[finer] = replace(nodes[finer], aliases=tuple(dict.fromkeys(names)))
        return remove(nodes, lambda p: bool(near[p.key]))

    def _record_alternatives(self, key: str, places: Iterable[str | None]) -> None:
        """Record that the place `key` lies in one of several containers, without knowing which."""
        group = {place for place in places if place in self.up.get(key, {}) and not self._is_same_place(key, place)}
        if len(group) > 1:
            self.alternatives.setdefault(key, []).append(group)

    def _has_known_division(self, key: str | None) -> bool:
        """Whether a division of its state that contains the place is known, or the place is such a division."""
        node = self.nodes.get(key or "")
        if node is None or node.qid is None:
            return False
        if self.graph.is_instance(node.qid, FIRST_DIVISION):
            return True
        return any(not self._is_state(above) for above in self._keys_above(node.key))

    def _keys_above(self, key: str, without: Collection[str] = ()) -> set[str]:
        return keys_above(self.up, key, without)

    def _certain_proposals(self) -> list[Proposal]:
        parents: dict[str, list[str]] = {}  # every node has one: nodes are only added above another
        for below, ups in self.up.items():
            for above in ups:
                parents.setdefault(above, []).append(below)
        nodes = as_graph(
            replace(
                node,
                parents=tuple(parents[key]),
                evidence=join_evidence(
                    # A tier has the evidence of all statements that lead to it, not only of the first.
                    (node.evidence, *([e for e in self.up[b][key] if e.kind == "statement"] for b in parents[key]))
                ),
            )
            for key, node in self.nodes.items()
        )
        known = bundled_demonyms().countries
        nodes = candidates = remove(
            nodes,
            lambda p: (
                p.qid in WORLDS or self.case.gazetteer.is_region_unused_as_tier(p.qid)
                if p.qid
                else normalise(p.text) in known
            ),
        )
        sure = certain_containers(self.up, self.alternatives, ANSWER) - self._keys_in_one_of_several_divisions()
        nodes = remove(nodes, lambda p: p.key not in sure)
        nodes = self._merge_places_of_same_extent(nodes)
        dependent = [key for key in (ANSWER, *nodes) if self._dependency_classes_of_key(key)]
        if dependent:
            nodes = remove(nodes, lambda p: p.qid is not None and self._is_state(p.qid))
        self.case.doubted.update(node.qid for key, node in candidates.items() if node.qid and key not in nodes)
        if dependent:
            nodes |= {p.key: p for key in dependent for p in dependent_territory_tier_if_any(self.case, key)}
        deep = {key for key, depth in depths(nodes).items() if depth > MAX_LEVELS}
        # A continent below the last level is left out, so that it takes no finer place's level.
        return list(remove(nodes, lambda p: p.key in deep and self._is_continent(p.key)).values())

    def _keys_in_one_of_several_divisions(self) -> set[str]:
        """Where the chains lead to several first-level divisions, the keys of these and of all places in one of them;
        else empty.
        """
        kinds = self.graph.classes
        divisions = {k for k, node in self.nodes.items() if node.qid and not FIRST_DIVISION.isdisjoint(kinds(node.qid))}
        finest = divisions.difference(*(self._keys_above(key) for key in divisions))
        if len(finest) < 2:
            return set()
        return finest | {key for key in self.nodes if not finest.isdisjoint(self._keys_above(key))}

    def _is_state(self, qid: str) -> bool:
        return self.case.gazetteer.is_state(qid)

    def _qid_of_key(self, key: str) -> str | None:
        return self.case.answer if key == ANSWER else self.nodes[key].qid

    def _dependency_classes_of_key(self, key: str) -> tuple[str, ...]:
        qid = self._qid_of_key(key)
        return self.case.gazetteer.classes_as_present_dependency(qid) if qid else ()

    def _is_continent(self, qid: str) -> bool:
        return CONTINENT_CLASS in self.graph.classes(qid)


# Certain containers. Some places lie in one of several containers, and it is unknown in which one.

Upward = Mapping[str, Collection[str]]


def keys_above(up: Upward, key: str, without: Collection[str] = ()) -> set[str]:
    """The keys above a key that are reached without passing through those of `without`."""
    return reachable([key], lambda inner: (above for above in up.get(inner, ()) if above not in without))


def certain_containers(up: Upward, alternatives: Mapping[str, Sequence[Collection[str]]], key: str) -> set[str]:
    """The keys of the places that certainly contain the place `key`.

    `alternatives` maps a key to groups of alternative containers, one of which contains it: Dallas extends into five
    counties. Within a group the places that contain no other member are equally likely, so only their common
    containers are certain.
    """
    known: dict[str, set[str]] = {}

    def containers_of(inner: str) -> set[str]:
        if inner not in known:
            known[inner] = set()  # a cycle adds no container
            # The places of each group that contain no other member, where there are several.
            finest = [set(g).difference(*(keys_above(up, place) for place in g)) for g in alternatives.get(inner, ())]
            groups = [places for places in finest if len(places) > 1]
            sure = set(up.get(inner, ())).difference(*groups)
            shared = (set.intersection(*({place} | containers_of(place) for place in group)) for group in groups)
            known[inner] = set().union(*({place} | containers_of(place) for place in sure), *shared)
        return known[inner]

    return containers_of(key)
