"""The tiers that a question gives away: tiers of which every part follows from the names in the question or from its
kind.

Names in the question are looked up in the graph, so that the containers of a place or event are given away too (South
Asia with India). A name inside another name may mislead: Massachusetts Mutual may have its seat anywhere. Removed
tiers are true of both the answer and the named entity: of several entities with the name only one on the answer's own
ladder counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from abstraction.base.properties import package_data
from abstraction.ladders.assembly.filters import contains_name
from abstraction.ladders.assembly.tier_wording import WHERE
from abstraction.ladders.proposals import LadderCase, Proposal, ancestors, cached_per_source
from abstraction.linking.gazetteer import FIRST_DIVISION, PAST_STATE, PLACES, STATE
from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.language.languages import bundled_demonyms, countries_named_by_adjectives_in
from abstraction.text.language.phrases import ARTICLE
from abstraction.text.questions.question_facts import (
    ACRONYM,
    INSIDE,
    LEAST,
    QuestionFacts,
    folded_name,
    national_adjective_and_rest,
    question_facts,
)
from kg.base.model import normalise
from kg.graph.graph import Graph

_COUNTRIES = STATE | {PAST_STATE, "Q6256", "Q3336843"}  # states, and countries within a state
_CITIES = frozenset({"Q5119", "Q1549591", "Q1637706", "Q200250", "Q51929311"})  # capital, big, of a million, metropolis
_COUNTY = re.compile(r" county$")
# Properties of conditions, by topic; a question gives away no other topic.
_NATIONS = frozenset({"P27", "P17", "P495"})
_PLACED = frozenset({"self", "P131", "P276", "P159", "P740", "P361", "P30"})
_KINDS = frozenset({"P31", "P106", "P279", "P641", "P136", "P413", "P407"})
_HOLDERS = ("P17", "P131", "P276", "P361", "P30")  # from an entity that is not a place to its places
# Answer classes whose location a name gives away.
_SCENES = frozenset({"event", "school", "organisation", "company", "club", "building"})
_DOERS = frozenset({"person", "group"})  # whose names give away neither occupation nor nation
_TEAMS = ("team", "club", "franchise")
_AMERICA = frozenset({"Q30"})  # the country of teams in American leagues
_IN_ENDS = re.compile(r" (?:in|of|from) (?:the )?(?P<place>[A-ZÀ-Þ].*)\Z")
_BY_ENDS = re.compile(r" by (?P<makers>[A-ZÀ-Þ].*)\Z")
_DATED = re.compile(r"\A(?P<year>\d{4})s? ")
_parts = partial(package_data, "name_parts.json")


@dataclass(frozen=True, kw_only=True, slots=True)
class _NamedInQuestion:
    """The names in a question and the QIDs of what they name: countries (`lands`), places with their containers,
    containers of named events and organisations (`scenes`); and the question's facts.
    """

    names: frozenset[str]
    lands: frozenset[str]
    places: frozenset[str]
    scenes: frozenset[str]
    facts: QuestionFacts


class QuestionGiveaways:
    """Finds the tiers that a question gives away; create one instance per graph."""

    def __init__(self, graph: Graph, vocabulary: Vocabulary) -> None:
        self._graph = graph
        self._vocabulary = vocabulary
        self._demonyms = frozenset((*bundled_demonyms().countries, *vocabulary.countries))

    def keys_given_away(self, nodes: dict[str, Proposal], case: LadderCase) -> frozenset[str]:
        """Keys of the tiers that the question gives away, and of all tiers that follow from them.

        All keys are returned where the question names the answer itself, or, for a thing's country, a place in it. A
        person's name gives away a place only after "of"; the subject's name gives away its place only where the
        relation's answer lies in its subject (`Relation.within`).
        """
        if not nodes:
            return frozenset()
        facts = question_facts(case.question, self._graph.shown_in)
        names = self._names_that_may_give_away_tiers(case, facts)
        whole = folded_name(case.subject_text) if case.subject_text else ""
        if not case.relation.within:
            names -= {whole}
        rest = case.question.replace(case.subject_text, " ") if case.subject_text else case.question
        lands = set(countries_named_by_adjectives_in(rest, self._graph.shown_in))
        lands.update(land for name in names & self._demonyms for land in self._vocabulary.countries_of_adjective(name))
        for known in (bundled_demonyms().names, _parts()["lands"]):
            lands.update(land for name in names & known.keys() for land in known[name])
        places, scenes = self._named_places_and_places_of_named_events(nodes, names, case, facts)
        is_doer = not _DOERS.isdisjoint(case.gazetteer.classes(case.answer))
        around = places | scenes if case.relation.asks == "country" and case.relation.subject != "person" else ()
        if case.answer in lands or case.answer in around:
            return frozenset(nodes)
        if not is_doer and not names.isdisjoint(_searchable_names(case.graph, case.answer)):
            return frozenset(nodes)
        named = _NamedInQuestion(names=names, lands=frozenset(lands), places=places, scenes=scenes, facts=facts)
        keys = {key for key, node in nodes.items() if self._follows_from_question(node, named, case)}
        if case.relation.within:
            keys |= self._keys_given_away_where_capital_is_asked(nodes, case)
        longer = facts.words if case.relation.subject != "person" else ()
        keys |= {key for key, node in nodes.items() if node.qid and _begins_or_ends_longer_word(node.text, longer)}
        return frozenset(keys).union(key for key in nodes if keys and not ancestors(nodes, key).isdisjoint(keys))

    def _names_that_may_give_away_tiers(self, case: LadderCase, facts: QuestionFacts) -> frozenset[str]:
        """The names in the question that may give away tiers: all, or for a question about a person those outside the
        person's name and those after "of" in it.
        """
        if case.relation.subject != "person":
            return facts.names
        # "of France" does not give away where a king was born; "of" a region usually does for a duke.
        lands = bundled_demonyms().names
        behind = frozenset(
            name for name in facts.behind_of if not any(map(case.gazetteer.is_state, lands.get(name, ())))
        )
        if not case.subject_text:
            return behind | (facts.names & self._demonyms)
        if case.subject_text not in case.question:
            return behind
        return behind | question_facts(case.question.replace(case.subject_text, " ")).names

    def _named_places_and_places_of_named_events(
        self, nodes: Mapping[str, Proposal], names: frozenset[str], case: LadderCase, facts: QuestionFacts
    ) -> tuple[frozenset[str], frozenset[str]]:
        """QIDs of the named places outside the subject, with their containers, and of the containers of named events
        and organisations.

        Longer names are read first, and names within them skipped. Both sets are empty for a "where" question: there a
        place in the subject's name is not the answer.
        """
        nothing = frozenset[str](), frozenset[str]()
        if not any(c.property in _PLACED | _NATIONS for node in nodes.values() for c in node.conditions):
            return nothing
        asks_where = case.relation.asks in ("place", "school") and (case.relation.id or WHERE.match(case.question))
        if asks_where and not case.relation.within:
            return nothing
        subject = case.subject_text or ""
        within = case.relation.asks == "country" and case.relation.subject != "person"
        spelled = [
            name
            for name in facts.spelled
            if folded_name(name) in names and (name not in subject or (within and _is_location_in_name(name, subject)))
        ]
        if not spelled:
            return nothing
        self._graph.prefetch_names(spelled)
        places, scenes = set[str](), set[str]()
        taken: list[str] = []
        for name in spelled:
            if any(f" {name} " in f" {longer} " for longer in taken):
                continue
            carriers = (m for m in self._graph.find(name) if m.text[:1].isupper() or name.islower())
            # A code that the question spells otherwise is no name: "Me" is not ME, Maine.
            carriers = (m for m in carriers if m.text == name or not m.text.isupper())
            ids = [m.id for m in carriers if m.id != case.answer and m.id[0] == "Q"]
            if ids:
                taken.append(name)
                self._graph.fetch(ids)
            for qid in ids:
                kinds = case.gazetteer.classes(qid)
                if name in subject and not self._graph.is_instance(qid, FIRST_DIVISION | _CITIES):
                    continue  # small places have too many namesakes
                if not PLACES.isdisjoint(kinds):
                    places.update(self._with_containers([qid], case))
                elif not kinds.isdisjoint(_SCENES):
                    scenes.update(
                        self._with_containers((p for prop in _HOLDERS for p in self._graph.targets(qid, prop)), case)
                    )
        return frozenset(places), frozenset(scenes)

    def _with_containers(self, places: Iterable[str], case: LadderCase) -> Iterable[str]:
        """The places and their containers."""
        for place in places:
            yield place
            yield from (holder for holder, _ in case.gazetteer.containers_up_to_state_with_names(place) if holder)
            yield from self._graph.targets(place, "P30")

    def _follows_from_question(self, node: Proposal, named: _NamedInQuestion, case: LadderCase) -> bool:
        """Whether every part of a tier follows from the question: kind, nation, place and year."""
        is_name = node.qid is None and node.text[:1].isupper() and folded_name(node.text) in named.names
        if is_name or (node.qid and self._is_place_named(node.qid, named)):
            return True
        if node.conditions and {c.property for c in node.conditions} <= case.relation.of_subject:
            return True
        kinds = case.relation.trivial
        if node.qid and not any(c.property in _PLACED for c in node.conditions):
            return any(named.facts.implies(normalise(name)) for name in (node.text, *self._graph.names(node.qid)[:1]))
        if node.qid:
            return False
        in_english = node.text if self._graph.shown_in == self._graph.language else node.key.removeprefix("text:")
        phrase = ARTICLE.sub("", in_english)  # the key of a phrase is its English text
        if (dated := _DATED.match(phrase)) and dated["year"] not in named.facts.years:
            return False
        phrase = phrase[dated.end() :] if dated else phrase
        if (made := _BY_ENDS.search(phrase)) and folded_name(made["makers"]) in named.names:
            phrase = phrase[: made.start()]
        kind = normalise(_IN_ENDS.sub("", phrase))
        is_team = named.facts.has_league and kind.endswith(_TEAMS)
        if kind != normalise(phrase):
            if self._question_names_office_and_owner(phrase, kind, named, case):
                return True
            # All places of the phrase are named, or they are the country of a league's teams.
            places = {c.value for c in node.conditions if c.property in _PLACED | _NATIONS}
            if not places or not all(self._is_place_named(p, named) for p in places - (_AMERICA if is_team else set())):
                return False
        adjective, kind = national_adjective_and_rest(kind, self._vocabulary.countries or {})
        if not adjective:
            adjective, kind = national_adjective_and_rest(kind, bundled_demonyms().countries)
        is_asked = not kind or kind in ("person", "place") or kind in kinds or named.facts.implies(kind)
        if not is_asked or not adjective:
            return is_asked and (kind not in ("person", "place") or kind != normalise(phrase))
        if adjective in named.names or (is_team and adjective == "american"):
            return True
        lands = {*self._vocabulary.countries_of_adjective(adjective), *bundled_demonyms().countries.get(adjective, ())}
        return not lands.isdisjoint(named.places | named.lands)

    def _is_place_named(self, qid: str, named: _NamedInQuestion) -> bool:
        known = qid in named.places or qid in named.scenes or qid in named.lands
        return known or not named.names.isdisjoint(_searchable_names(self._graph, qid))

    def _question_names_office_and_owner(
        self, phrase: str, kind: str, named: _NamedInQuestion, case: LadderCase
    ) -> bool:
        """Whether a question names both an office or kind and its owner: "a president of the United States"."""
        whose, kind = _IN_ENDS.search(phrase), kind.removeprefix("former ")
        if whose is None or not (named.facts.implies(kind) or f" {kind} " in f" {folded_name(case.question)} "):
            return False
        name = whose["place"]
        return folded_name(name) in named.names or any(
            self._is_place_named(m.id, named) for m in self._graph.find(name)
        )

    def _keys_given_away_where_capital_is_asked(self, nodes: Mapping[str, Proposal], case: LadderCase) -> set[str]:
        """Keys of continents and of containers of the subject, for a question after a capital. The country of a
        county's seat is not given away.
        """
        subject, label = case.subject, self._graph.label(case.answer) or ""
        is_county = _COUNTY.search(folded_name(case.subject_text or "")) is not None
        named = {node.qid: key for key, node in nodes.items() if node.qid}
        out = {key for qid, key in named.items() if "Q5107" in self._graph.classes(qid)}  # a continent
        out |= {key for key, node in nodes.items() if node.qid == subject or contains_name(node.text, label)}
        if subject is None and not is_county:
            # Other units whose capital it is, as a former empire.
            seat = normalise(self._graph.description(case.answer) or "")
            out |= {key for qid, key in named.items() if self._has_answer_as_capital(qid, seat, case)}
        if subject is not None and not is_county:
            out |= {named[qid] for qid, _ in case.gazetteer.containers_up_to_state_with_names(subject) if qid in named}
        if subject is not None and not _COUNTRIES.isdisjoint(self._graph.classes(subject)):
            out |= {key for qid, key in named.items() if not _COUNTRIES.isdisjoint(self._graph.classes(qid))}
        return out

    def _has_answer_as_capital(self, qid: str, answer_description: str, case: LadderCase) -> bool:
        """Whether the answer is the capital of the place by P36, or of a state by the answer's description."""
        if case.answer in self._graph.targets(qid, "P36"):
            return True
        name = re.escape(normalise(self._graph.label(qid) or ""))
        said = re.match(rf"(?:the )?capital\b[\w ]* of (?:the )?{name}(?!\w)", answer_description)
        return said is not None and case.gazetteer.is_state(qid)


def _is_location_in_name(place_name: str, subject_name: str) -> bool:
    """Whether a place in the subject's name is its location (Copenhagen Harbour Buses), not its namesake (Victoria
    County).
    """
    words = {*folded_name(subject_name).split()} - {*folded_name(place_name).split()}
    return not words <= set(_parts()["around_places"]["words"])


@cached_per_source
def _searchable_names(graph: Graph, qid: str) -> frozenset[str]:
    """The folded names of an entity that are searched in questions."""
    texts = (*graph.names(qid), *graph.shown_names(qid))
    return frozenset(
        name for text in texts if len(name := text if ACRONYM.fullmatch(text) else folded_name(text)) >= LEAST
    )


def _begins_or_ends_longer_word(label: str, words: tuple[str, ...]) -> bool:
    """Whether a one-word name is the beginning or end of a longer word among `words`."""
    if not words or " " in label or len(label) < INSIDE:
        return False
    name = folded_name(label)
    return any(word != name and (word.startswith(name) or word.endswith(name)) for word in words)
