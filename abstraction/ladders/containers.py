"""Which statements tell where a thing lies today, or lay at the question's own date."""

from __future__ import annotations

import re

from abstraction.language.demonyms import bundled_demonyms
from abstraction.linking.gazetteer import FIRST_DIVISION
from abstraction.linking.link_features import phrase_in
from abstraction.proposals import LadderCase
from kg.model import Statement, TimeValue
from kg.terms import normalise
from kg.walks.ranks import time_key, valid_at

# Where the thing is, most direct first; the first property with a value is used.
PLACE_PROPERTIES = ("P131", "P276", "P159", "P706", "P361")
# Descriptions of what is gone: "Former ...", "... between 1919 and 1933", "(1721-1917)", occupation zones.
_PAST = re.compile(
    r"^(?:a\s+|the\s+)?(?:former|historical|historic|defunct|ancient|dissolved|medieval)\b"
    r"|\b\d{3,4}\s*[–—-]\s*\d{2,4}\b"
    r"|\b(?:between|from)\s+\d{3,4}\b|\buntil\s+\d{3,4}\b|\b1\d{3} (?:and|to) 1\d{3}\b|\boccupied\b"
    r"|^(?:[\w-]+ ){0,2}(?:empire|caliphate|khanate)\b|\bpredecessor\b|\bSoviet (?:republic|socialist)\b",
    re.I,
)
_SPREADING = re.compile(
    r"\b(?:rivers?|streams?|lakes?|reservoir|seas?|oceans?|straits?|gulf|mountain range|desert)\b", re.I
)
WORLDS = frozenset({"Q2", "Q525", "Q544", "Q39731", "Q48227", "Q5107"})  # Earth, Sun, Solar System, hemispheres...


class Containers:
    """The statements that put things of one case into larger ones: of best rank, not ended, their targets not gone."""

    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.graph = case.graph

    def of(self, entity_id: str, *, all_properties: bool) -> list[Statement]:
        """What contains the entity: by the first of PLACE_PROPERTIES with a usable value, P131 and P361 alone without
        `all_properties`."""
        chain = self.case.gazetteer.chain(entity_id)
        for prop in PLACE_PROPERTIES if all_properties else ("P131", "P361"):
            if prop == "P706" and chain:
                continue  # a landform is where a hill lies, not a town
            usable = [s for s in self.values(entity_id, prop) if self.usable(s.target or "")]
            if statements := self._of_the_whole(entity_id, prop, usable):
                # Only what is gone, and was before the question's date, and a description that tells of today: the
                # description it is.
                all_gone = all(self._is_past(s) and not self.held_then(s) for s in statements)
                return [] if all_gone and chain else statements
        return []

    def _of_the_whole(self, entity_id: str, prop: str, statements: list[Statement]) -> list[Statement]:
        """Those that tell today's place of all of the entity; by P361 the states or provinces of what is none."""
        if prop == "P131":
            statements = self._agreeing(entity_id, statements)
            if entity_id == self.case.answer:
                statements = [s for s in statements if self._may_hold_all(entity_id, s.target or "")]
        elif prop == "P361":
            statements = [
                s for s in statements if self._is_division(s.target or "") and not self._is_division(entity_id)
            ]
        return statements

    def _may_hold_all(self, entity_id: str, container: str) -> bool:
        """Whether a thing that may lie in many places lies in this one as a whole, as far as its description tells.

        Of a river or lake statements name one place and another, and a snapshot need not have them all.
        """
        kinds = (self.graph.label(kind) or "" for kind in self.graph.classes(entity_id))
        description = self.graph.description(entity_id)
        if description is None or not any(map(_SPREADING.search, kinds)):
            return True
        text = normalise(description)
        return any(
            phrase_in(normalise(name), text) for name in (*self.graph.names(container), *self._adjectives(container))
        )

    def _adjectives(self, country: str) -> tuple[str, ...]:
        table = bundled_demonyms()
        return tuple(filter(None, (table.adjectives.get(country), *table.variants.get(country, ()))))

    def _agreeing(self, entity_id: str, statements: list[Statement]) -> list[Statement]:
        """Without a state that is not its state today, and, for what lies directly in its state, nothing between."""
        statements = self._in_todays_division(entity_id, statements)
        states = [s for s in statements if self.case.gazetteer.is_state(s.target or "")]
        today = {s.target for s in self.values(entity_id, "P17")} if states else set()
        if today:
            statements = [s for s in statements if s not in states or s.target in today]
            states = [s for s in states if s.target in today]
        return states if states and self._is_division(entity_id) else statements

    def _in_todays_division(self, entity_id: str, statements: list[Statement]) -> list[Statement]:
        """Of Alberta, and what it was part of before, the one that the description tells."""
        divisions = [s for s in statements if self._is_division(s.target or "")]
        if not divisions:
            return statements
        described = [p.qid for step in self.case.gazetteer.chain(entity_id) for p in step if p.qid]
        past = [s for s in divisions if s.target not in described]
        if len(past) == len(divisions):
            today = next((q for q in described if self._is_division(q) and not self.graph.is_historical(q)), None)
            past = [s for s in divisions if today is not None and self._exclude(s.target or "", today)]
        return [s for s in statements if s not in past]

    def _exclude(self, place: str, other: str) -> bool:
        """Whether a place in one of the two cannot lie in the other: of the same kind, and neither within the other."""
        above, names = self.case.gazetteer.above, self.graph.names
        nested = any(normalise(n) in above(place) for n in names(other)) or any(
            normalise(n) in above(other) for n in names(place)
        )
        return not nested and not set(self.graph.classes(place)).isdisjoint(self.graph.classes(other))

    def values(self, entity_id: str, prop: str) -> list[Statement]:
        """Today's values, what is gone only where nothing else is left; beside them those of the question's date."""
        today = [s for s in self.graph.current(entity_id, prop) if s.target]
        self.graph.fetch(s.target for s in today if s.target)
        statements = [s for s in today if not self._is_past(s)] or today
        if self.case.at is not None:
            then = self.graph.held_at(entity_id, prop, self.case.at)
            statements = [*statements, *(s for s in then if s.target and s not in statements)]
        return statements

    def countries(self, qid: str) -> list[Statement]:
        """The entity's states by P17, else P361, never the answer itself."""
        for prop in ("P17", "P361"):
            states = [s for s in self.values(qid, prop) if s.target not in (qid, self.case.answer)]
            if qid == self.case.answer:
                states = [s for s in states if self._may_hold_all(qid, s.target or "")]
            if prop == "P361":
                states = [s for s in states if "country" in self.case.gazetteer.classes(s.target or "")]
            if states:
                return states
        return []

    def _is_past(self, statement: Statement) -> bool:
        """Whether the target is gone: dissolved, described so, or described as lying in what is gone."""
        target = statement.target or ""
        if self.is_gone(target):
            return True
        around = [p.qid for step in self.case.gazetteer.chain(target) for p in step if p.qid]
        return not self.case.gazetteer.is_state(target) and bool(around) and self.is_gone(around[-1])

    def held_then(self, statement: Statement) -> bool:
        """Whether a statement on what is gone held at the question's date: by its own times, else its target's."""
        at = self.case.at
        if at is None or (held := valid_at(statement, at)) is not None:
            return at is not None and bool(held)
        ends = self._times(statement.target or "", "P576")
        begins = self._times(statement.target or "", "P571")
        return bool(ends) and max(ends) >= time_key(at) and (not begins or min(begins) <= time_key(at, late=True))

    def _times(self, entity_id: str, prop: str) -> list[tuple[int, int, int]]:
        values = (s.value for s in self.graph.statements(entity_id, prop) if s.rank != "deprecated")
        return [time_key(value, late=prop == "P576") for value in values if isinstance(value, TimeValue)]

    def is_gone(self, qid: str) -> bool:
        """Whether it exists no more, by statement or description."""
        return self.graph.is_historical(qid) or bool(_PAST.search(self.graph.description(qid) or ""))

    def _is_division(self, qid: str) -> bool:
        return self.graph.is_instance(qid, FIRST_DIVISION)

    def usable(self, qid: str) -> bool:
        """Whether the walk may go there: not what the snapshot lacks, whose statements nobody can follow."""
        return qid not in WORLDS and qid != self.case.answer and self.graph.label(qid) is not None
