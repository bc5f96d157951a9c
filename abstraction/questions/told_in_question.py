"""Which tiers a question tells: those of which every part follows from what it names or asks for.

What it names is looked up in the graph, so that what contains a place or an event is told with it (South Asia with
India). A name inside another name may mislead: Massachusetts Mutual may have its seat anywhere. What is struck is true
of the answer and of what is named alike, for of several namesakes the one on the answer's own way up is meant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from abstraction.assembly.filters import leaks_name
from abstraction.assembly.levels import ancestors
from abstraction.descriptions.attested_words import Vocabulary
from abstraction.language.demonyms import bundled_demonyms, lands_of_adjectives
from abstraction.linking.gazetteer import FIRST_DIVISION, PAST_STATE, PLACES, STATE
from abstraction.package_data import package_data
from abstraction.proposals import LadderCase, Proposal
from abstraction.questions.question_facts import (
    ACRONYM,
    INSIDE,
    LEAST,
    QuestionFacts,
    folded,
    question_facts,
    split_nation,
)
from kg.bounded_cache import SizedDict
from kg.terms import normalise
from kg.walks.graph import Graph

_KEPT = 4_000_000  # characters of names that are kept: 30 MB at most
_COUNTRIES = STATE | {PAST_STATE, "Q6256", "Q3336843"}  # states, and the countries that make up one
_CITIES = frozenset({"Q5119", "Q1549591", "Q1637706", "Q200250", "Q51929311"})  # capital, big, of a million, metropolis
_ARTICLE = re.compile(r"^(?:an?|the)\s+")
_COUNTY = re.compile(r" county$")
_WHERE = re.compile(r"\W*(?:from )?where\b", re.I)
_CONTINENT = "Q5107"
# What a condition is about; of any other kind is what a question's words cannot tell.
_NATIONS = frozenset({"P27", "P17", "P495"})
_PLACED = frozenset({"self", "P131", "P276", "P159", "P740", "P361", "P30"})
_KINDS = frozenset({"P31", "P106", "P279", "P641", "P136", "P413", "P407"})
_HOLDERS = ("P17", "P131", "P276", "P361", "P30")  # of what is no place itself
_SCENES = frozenset({"event", "school", "organisation", "company", "club", "building"})
_DOERS = frozenset({"person", "group"})  # of whom a name tells neither trade nor nation
_TEAMS = ("team", "club", "franchise")
_AMERICA = frozenset({"Q30"})
_IN_ENDS = re.compile(r" (?:in|of|from) (?:the )?(?P<place>[A-ZÀ-Þ].*)\Z")
_BY_ENDS = re.compile(r" by (?P<makers>[A-ZÀ-Þ].*)\Z")
_DATED = re.compile(r"\A(?P<year>\d{4})s? ")
_parts = partial(package_data, "name_parts.json")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Told:
    """What a question names, in the graph: names, lands, places with what contains them, what contains the events and
    bodies that it names, and its facts.
    """

    names: frozenset[str]
    lands: frozenset[str]
    places: frozenset[str]
    scenes: frozenset[str]
    facts: QuestionFacts


class ToldInQuestion:
    """Finds the tiers that a question tells; one of them a graph."""

    def __init__(self, graph: Graph, vocabulary: Vocabulary) -> None:
        self._graph = graph
        self._vocabulary = vocabulary
        self._demonyms = frozenset((*bundled_demonyms().countries, *vocabulary.countries))
        self._names: SizedDict[str, frozenset[str]] = SizedDict(_KEPT, lambda _, names: 200 + sum(map(len, names)))

    def keys(self, nodes: dict[str, Proposal], case: LadderCase) -> frozenset[str]:
        """Keys of the tiers that the question tells, with all that follows from one of them; all of them where the
        answer itself is named, or lies in what is named where a thing's country is asked.

        The name of a person tells of a place only behind "of"; that of the subject tells where it is only where the
        relation's answer lies in its subject (`Relation.within`).
        """
        if not nodes:
            return frozenset()
        facts = question_facts(case.question, self._graph.shown_in)
        names = self._names_told(case, facts)
        whole = folded(case.subject_text) if case.subject_text else ""
        if not case.relation.within:
            names -= {whole}
        rest = case.question.replace(case.subject_text, " ") if case.subject_text else case.question
        lands = self._lands(names) | lands_of_adjectives(rest, self._graph.shown_in)
        places, scenes = self._around(nodes, names, case, facts)
        if self._is_answer_told(names, lands, places | scenes, case):
            return frozenset(nodes)
        told = _Told(names=names, lands=lands, places=places, scenes=scenes, facts=facts)
        keys = {key for key, node in nodes.items() if self._follows(node, told, case)}
        if case.relation.within:
            keys |= self._around_capital(nodes, case)
        longer = facts.words if case.relation.subject != "person" else ()
        keys |= {key for key, node in nodes.items() if node.qid and _is_inside(node.text, longer)}
        return _with_entailed(nodes, keys)

    def _names_told(self, case: LadderCase, facts: QuestionFacts) -> frozenset[str]:
        """All names in the question; of a question about a person those beside the name, and behind its "of"."""
        if case.relation.subject != "person":
            return facts.names
        # Kings of France were born where they were; the dukes of a region as a rule in it.
        lands = bundled_demonyms().names
        behind = frozenset(
            name for name in facts.behind_of if not any(map(case.gazetteer.is_state, lands.get(name, ())))
        )
        if not case.subject_text:
            return behind | (facts.names & self._demonyms)
        if case.subject_text not in case.question:
            return behind
        return behind | question_facts(case.question.replace(case.subject_text, " ")).names

    def _lands(self, names: frozenset[str]) -> frozenset[str]:
        """Ids of what the demonyms, the countries and the parts of names among them stand for."""
        lands = [land for name in names & self._demonyms for land in self._vocabulary.nations(name)]
        lands += [land for name in names & bundled_demonyms().names.keys() for land in bundled_demonyms().names[name]]
        lands += [land for name in names & _parts()["lands"].keys() for land in _parts()["lands"][name]]
        return frozenset(lands)

    def _around(
        self, nodes: Mapping[str, Proposal], names: frozenset[str], case: LadderCase, facts: QuestionFacts
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Ids of the places that the question names beside its subject, with what contains them, and of what contains
        the events and bodies that it names; longer names first.

        Who asks where something is does not know it by the places in its name.
        """
        nothing = frozenset[str](), frozenset[str]()
        if not any(c.property in _PLACED | _NATIONS for node in nodes.values() for c in node.conditions):
            return nothing
        asks_where = case.relation.asks in ("place", "school") and (case.relation.id or _WHERE.match(case.question))
        if asks_where and not case.relation.within:
            return nothing
        subject = case.subject_text or ""
        within = case.relation.asks == "country" and case.relation.subject != "person"
        spelled = [
            name
            for name in facts.spelled
            if folded(name) in names and (name not in subject or (within and _is_of_a_thing(name, subject)))
        ]
        if not spelled:
            return nothing
        self._graph.find_all(spelled)
        places, scenes = set[str](), set[str]()
        taken: list[str] = []
        for name in spelled:
            if any(f" {name} " in f" {longer} " for longer in taken):
                continue
            carriers = (m for m in self._graph.find(name) if m.text[:1].isupper() or name.islower())
            ids = [m.id for m in carriers if m.id != case.answer and m.id[0] == "Q" and not _is_code(m.text, name)]
            if ids:
                taken.append(name)
                self._graph.fetch(ids)
            for qid in ids:
                kinds = case.gazetteer.classes(qid)
                if name in subject and not self._graph.is_instance(qid, FIRST_DIVISION | _CITIES):
                    continue  # of small places there are many of a name
                if not PLACES.isdisjoint(kinds):
                    places.update(self._holders([qid], case))
                elif not kinds.isdisjoint(_SCENES):
                    scenes.update(self._holders((p for prop in _HOLDERS for p in self._graph.targets(qid, prop)), case))
        return frozenset(places), frozenset(scenes)

    def _holders(self, places: Iterable[str], case: LadderCase) -> Iterable[str]:
        """The places with what contains them."""
        for place in places:
            yield place
            yield from (holder for holder, _ in case.gazetteer.containers(place) if holder)
            yield from self._graph.targets(place, "P30")

    def _is_answer_told(
        self, names: frozenset[str], lands: frozenset[str], around: frozenset[str], case: LadderCase
    ) -> bool:
        """Whether what is named is the answer, no doer, or where a thing's country is asked lies in it."""
        is_doer = not _DOERS.isdisjoint(case.gazetteer.classes(case.answer))
        if case.answer in lands or not (is_doer or names.isdisjoint(self._of_answer(case))):
            return True
        return case.relation.asks == "country" and case.relation.subject != "person" and case.answer in around

    def _of_answer(self, case: LadderCase) -> frozenset[str]:
        of = self._of_entity if case.graph is self._graph else lambda qid: _compared(case.graph, qid)
        return of(case.answer)

    def _follows(self, node: Proposal, told: _Told, case: LadderCase) -> bool:
        """Whether every part of the tier follows: kind, nation, place and year."""
        if self._is_named(node, told):
            return True
        if node.conditions and {c.property for c in node.conditions} <= case.relation.of_subject:
            return True
        kinds = case.relation.trivial
        if node.qid and not any(c.property in _PLACED for c in node.conditions):
            return any(told.facts.tells_kind(normalise(name)) for name in (node.text, *self._graph.names(node.qid)[:1]))
        if node.qid:
            return False
        in_english = node.text if self._graph.shown_in == self._graph.language else node.key.removeprefix("text:")
        phrase = _ARTICLE.sub("", in_english)  # the key of a phrase is its English text
        if (dated := _DATED.match(phrase)) and dated["year"] not in told.facts.years:
            return False
        phrase = phrase[dated.end() :] if dated else phrase
        if (made := _BY_ENDS.search(phrase)) and folded(made["makers"]) in told.names:
            phrase = phrase[: made.start()]
        kind = normalise(_IN_ENDS.sub("", phrase))
        if kind != normalise(phrase):
            if self._is_holder_told(phrase, kind, told, case):
                return True
            if not self._is_place_told(node, kind, told):
                return False
        adjective, kind = split_nation(kind, self._vocabulary.countries or {})
        if not adjective:
            adjective, kind = split_nation(kind, bundled_demonyms().countries)
        is_asked = not kind or kind in ("person", "place") or kind in kinds or told.facts.tells_kind(kind)
        if not is_asked or not adjective:
            return is_asked and (kind not in ("person", "place") or kind != normalise(phrase))
        is_team = told.facts.has_league and kind.endswith(_TEAMS)
        return (is_team and adjective == "american") or self._is_nation_told(adjective, told)

    def _is_named(self, node: Proposal, told: _Told) -> bool:
        if node.qid is None:
            return node.text[:1].isupper() and folded(node.text) in told.names
        return self._is_place_named(node.qid, told)

    def _is_place_named(self, qid: str, told: _Told) -> bool:
        known = qid in told.places or qid in told.scenes or qid in told.lands
        return known or not told.names.isdisjoint(self._of_entity(qid))

    def _is_place_told(self, node: Proposal, kind: str, told: _Told) -> bool:
        """Whether all places that a phrase states are named, or are the land of a league's teams."""
        places = [c.value for c in node.conditions if c.property in _PLACED | _NATIONS]
        land = _AMERICA if told.facts.has_league and kind.endswith(_TEAMS) else frozenset[str]()
        return bool(places) and all(place in land or self._is_place_named(place, told) for place in places)

    def _is_holder_told(self, phrase: str, kind: str, told: _Told, case: LadderCase) -> bool:
        """Whether a question says both an office or kind and whose it is: "a president of the United States"."""
        whose, kind = _IN_ENDS.search(phrase), kind.removeprefix("former ")
        if whose is None or not (told.facts.tells_kind(kind) or f" {kind} " in f" {folded(case.question)} "):
            return False
        name = whose["place"]
        return folded(name) in told.names or any(self._is_place_named(m.id, told) for m in self._graph.find(name))

    def _is_nation_told(self, adjective: str, told: _Told) -> bool:
        if adjective in told.names:
            return True
        lands = {*self._vocabulary.nations(adjective), *bundled_demonyms().countries.get(adjective, ())}
        return not lands.isdisjoint(told.places | told.lands)

    def _around_capital(self, nodes: Mapping[str, Proposal], case: LadderCase) -> set[str]:
        """Keys of continents, and of what contains the subject; the country of a county's seat is news."""
        subject, label = case.subject, self._graph.label(case.answer) or ""
        named = {node.qid: key for key, node in nodes.items() if node.qid}
        out = {key for qid, key in named.items() if _CONTINENT in self._graph.classes(qid)}
        out |= {key for key, node in nodes.items() if node.qid == subject or leaks_name(node.text, label)}
        if subject is None and not _COUNTY.search(folded(case.subject_text or "")):
            # Of whatever else it is called the capital: the republic of Kosova, an empire of its past.
            seat = normalise(self._graph.description(case.answer) or "")
            out |= {key for qid, key in named.items() if self._is_seat_of(qid, seat, case)}
        if subject is not None and not _COUNTY.search(folded(case.subject_text or "")):
            out |= {named[qid] for qid, _ in case.gazetteer.containers(subject) if qid in named}
        if subject is not None and not _COUNTRIES.isdisjoint(self._graph.classes(subject)):
            out |= {key for qid, key in named.items() if not _COUNTRIES.isdisjoint(self._graph.classes(qid))}
        return out

    def _is_seat_of(self, qid: str, description: str, case: LadderCase) -> bool:
        """Whether a place has the answer as its capital by statement, or a state by the answer's description."""
        if case.answer in self._graph.targets(qid, "P36"):
            return True
        name = re.escape(normalise(self._graph.label(qid) or ""))
        said = re.match(rf"(?:the )?capital\b[\w ]* of (?:the )?{name}(?!\w)", description)
        return said is not None and case.gazetteer.is_state(qid)

    def _of_entity(self, qid: str) -> frozenset[str]:
        """The names of an entity that are looked for, as they are compared."""
        names = self._names.get(qid)
        if names is None:
            names = self._names[qid] = _compared(self._graph, qid)
        return names


def _with_entailed(nodes: dict[str, Proposal], keys: Collection[str]) -> frozenset[str]:
    """The keys and those of every tier that follows from one of theirs."""
    return frozenset(keys).union(key for key in nodes if keys and not ancestors(nodes, key).isdisjoint(keys))


def _is_code(carried: str, name: str) -> bool:
    """Whether a name is carried as a code that the question does not write so: "Me" is not ME, Maine."""
    return carried.isupper() and carried != name


def _is_of_a_thing(name: str, subject: str) -> bool:
    """Whether the place of the name is where the subject is from (Copenhagen Harbour Buses), and not what is called
    after it (Victoria County) or is asked about."""
    words = {*folded(subject).split()} - {*folded(name).split()}
    return not words <= set(_parts()["around_places"]["words"])


def _compared(graph: Graph, qid: str) -> frozenset[str]:
    texts = (*graph.names(qid), *graph.shown_names(qid))
    return frozenset(name for text in texts if len(name := text if ACRONYM.fullmatch(text) else folded(text)) >= LEAST)


def _is_inside(label: str, words: tuple[str, ...]) -> bool:
    """Whether a name of one word begins or ends a longer word."""
    if not words or " " in label or len(label) < INSIDE:
        return False
    name = folded(label)
    return any(word != name and (word.startswith(name) or word.endswith(name)) for word in words)
