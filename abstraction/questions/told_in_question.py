"""What a question's own words tell of its answer: the tiers that follow from them say nothing new.

A name inside another name may mislead: Massachusetts Mutual may have its seat anywhere. What is struck is true of the
answer and of what is named alike, for of several namesakes the one on the answer's own way up is meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from abstraction.assembly.levels import ancestors
from abstraction.descriptions.attested_words import Vocabulary
from abstraction.language.demonyms import bundled_demonyms
from abstraction.linking.gazetteer import FIRST_DIVISION, PAST_STATE, STATE, Gazetteer
from abstraction.package_data import package_data
from abstraction.proposals import LadderCase, Proposal
from kg.bounded_cache import SizedDict, bounded_cache
from kg.terms import normalise
from kg.walks.graph import Graph

MOST_WORDS = 60  # words of a question that are read
LONGEST = 5  # words of a name that is looked for
WELL_KNOWN = 1_000  # places that are known without being asked about: those that the source uses most
_LEAST = 3  # letters of a name that is looked for; shorter ones are codes
_PLAIN = 5  # letters of a name that is looked for where capitals do not tell names
_INSIDE = 6  # letters of a name that is seen within a word: Petrovietnam
_KEPT = 4_000_000  # characters of names that are kept: 30 MB at most
_LOCATING = ("P17", "P19", "P20", "P131", "P159", "P276", "P495")
_COUNTRIES = STATE | {PAST_STATE, "Q6256", "Q3336843"}  # states, and the countries that make up one
_CITIES = frozenset({"Q5119", "Q1549591", "Q1637706", "Q200250", "Q51929311"})  # capital, big, of a million, metropolis
_ACRONYM = re.compile(r"[A-Z]{3,6}")  # told from words by its capitals
_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
_OF = frozenset({"of", "from", "de", "da", "di", "del", "della", "von", "van", "zu"})
_ENDINGS = (("n", 1), ("an", 2), ("s", 1))  # Asian, European, Wikipedians
_ARTICLE = re.compile(r"^(?:an?|the)\s+")
_AMERICA = re.compile(r"\A(?:american|u\.s\.) | in the united states(?: of america)?\Z")
_parts = partial(package_data, "name_parts.json")
_ELIDED = re.compile(r"\b[dlDL]['’](?=[A-ZÀ-Þ])")  # "l'Italie"


@dataclass(frozen=True, slots=True)
class _QuestionNames:
    """Names that may stand in a question, as they are compared: all, those behind "of", and its longer words."""

    names: frozenset[str]
    behind_of: frozenset[str]
    words: tuple[str, ...]


class ToldInQuestion:
    """Finds the tiers that a question tells; one of them a graph."""

    def __init__(self, graph: Graph, vocabulary: Vocabulary) -> None:
        self._graph = graph
        self._vocabulary = vocabulary
        self._demonyms = frozenset((*bundled_demonyms().countries, *vocabulary.countries))
        self._names: SizedDict[str, frozenset[str]] = SizedDict(_KEPT, lambda _, names: 200 + sum(map(len, names)))
        self._known: Mapping[str, tuple[str, ...]] | None = None

    def keys(self, nodes: dict[str, Proposal], case: LadderCase) -> frozenset[str]:
        """Keys of the tiers that follow from what the question names, all where that is the answer or lies in it.

        The name of a person tells of a place only behind "of"; that of the subject tells where it is only where its
        capital is asked, and then only of a state.
        """
        american = self._american(nodes, case)
        names = self._names_told(case)
        if not nodes or not names:
            return american
        whole = _folded(case.subject_text) if case.subject_text else ""
        if case.relation.id != "P36":
            names -= {whole}
        lands = self._lands(names)
        if self._is_answer_told(names, lands, whole, case):
            return frozenset(nodes)
        named = {key for key, node in nodes.items() if node.qid in lands or not names.isdisjoint(self._of(node))}
        if case.relation.subject != "person":
            longer_words = _question_names(case.question).words
            named |= {key for key, node in nodes.items() if node.qid and _is_inside(node.text, longer_words)}
        if case.relation.id == "P36":
            # Those that tell where a capital is, and what lies around its state.
            around = self._around_state(case)
            named = {key for key in named if self._tells_of_capital(nodes[key], whole, case.subject)}
            named |= {key for key, node in nodes.items() if node.qid in around}
        following = american | _with_entailed(nodes, named)
        if lands:
            nations = {adjective.casefold() for land in lands if (adjective := self._vocabulary.adjective(land))}
            asked = case.relation.trivial.union(*(_parts()["kinds"].get(name, ()) for name in names))
            following |= {key for key, node in nodes.items() if _is_only(node, nations, asked)}
        return following

    def _names_told(self, case: LadderCase) -> frozenset[str]:
        """All names in the question; of a question about a person those beside the name, and behind its "of"."""
        question_names = _question_names(case.question)
        if case.relation.subject != "person":
            return question_names.names
        if not case.subject_text:
            return question_names.behind_of | (question_names.names & self._demonyms)
        if case.subject_text not in case.question:
            return question_names.behind_of
        return question_names.behind_of | _question_names(case.question.replace(case.subject_text, " ")).names

    def _is_answer_told(self, names: frozenset[str], lands: frozenset[str], whole: str, case: LadderCase) -> bool:
        """Whether what is named is the answer, or where a thing's country is asked lies in it."""
        if case.answer in lands or not names.isdisjoint(self._of_answer(case)):
            return True
        asks_country = case.relation.asks == "country" and case.relation.subject != "person"
        return asks_country and self._is_around_named(names, whole, case.answer, case.gazetteer)

    def _lands(self, names: frozenset[str]) -> frozenset[str]:
        """Ids of what the demonyms and the parts of names among them stand for."""
        lands = [land for name in names & self._demonyms for land in self._vocabulary.nations(name)]
        lands += [land for name in names & _parts()["lands"].keys() for land in _parts()["lands"][name]]
        return frozenset(lands)

    def _american(self, nodes: dict[str, Proposal], case: LadderCase) -> frozenset[str]:
        """Keys of what a league or a kind of state tells: who won the World Series is a baseball team in America."""
        question = f" {_folded(case.question)} "
        named = (kinds for name, kinds in _parts()["american"].items() if f" {name} " in question)
        kinds = {kind for kinds_of_name in named for kind in kinds_of_name}
        if not kinds:
            return frozenset()
        american = {key for key, node in nodes.items() if node.qid in kinds or _without_america(node.text) in kinds}
        return _with_entailed(nodes, american)

    def _of_answer(self, case: LadderCase) -> frozenset[str]:
        of = self._of_entity if case.graph is self._graph else lambda qid: _compared(case.graph, qid)
        names = of(case.answer)
        if "person" in case.gazetteer.classes(case.answer):
            return frozenset(name for name in names if " " in name)  # a family name is many a person's
        return names

    def _of(self, node: Proposal) -> frozenset[str]:
        if node.qid:
            return self._of_entity(node.qid)
        return frozenset((_folded(node.text),)) if node.text[:1].isupper() else frozenset()

    def _of_entity(self, qid: str) -> frozenset[str]:
        """The names of an entity that are looked for, as they are compared."""
        names = self._names.get(qid)
        if names is None:
            names = self._names[qid] = _compared(self._graph, qid)
        return names

    def _is_around_named(self, names: frozenset[str], whole: str, country: str, gazetteer: Gazetteer) -> bool:
        """Whether a well-known place of the country is named: Copenhagen Harbour Buses."""
        known, kinds_of_places = self._well_known(), set(_parts()["around_places"]["words"])
        country_names = {normalise(name) for name in self._graph.names(country)}
        for name in names & known.keys():
            if set(whole.split()) - set(name.split()) <= kinds_of_places:
                continue  # what is asked about, or is called after it
            around = (held for place in known[name] for held in gazetteer.containers(place))
            if any(qid == country or not country_names.isdisjoint(called) for qid, called in around):
                return True
        return False

    def _well_known(self) -> Mapping[str, tuple[str, ...]]:
        """Large cities and first-level divisions by name, of the places that the source uses most."""
        if self._known is None:
            uses: Counter[str] = Counter()
            for prop in _LOCATING:
                uses.update(dict(self._graph.store.values_of(prop, limit=WELL_KNOWN)))
            places = [place for place, _ in sorted(uses.items(), key=lambda use: (-use[1], use[0]))[:WELL_KNOWN]]
            self._graph.fetch(places)
            by_name: defaultdict[str, list[str]] = defaultdict(list)
            for place in places:
                if self._graph.is_instance(place, FIRST_DIVISION | _CITIES):
                    for name in self._of_entity(place):
                        by_name[name].append(place)
            self._known = {name: tuple(places) for name, places in by_name.items()}
        return self._known

    def _around_state(self, case: LadderCase) -> frozenset[str]:
        """Ids of what lies around the subject, if that is a state, of today or of the past."""
        subject = case.subject
        if subject is None or not self._is_country(subject):
            return frozenset()
        around = {qid for qid, _ in case.gazetteer.containers(subject) if qid}
        continents = {continent for place in (subject, case.answer) for continent in self._graph.targets(place, "P30")}
        return frozenset(around | continents)

    def _is_country(self, qid: str) -> bool:
        return not _COUNTRIES.isdisjoint(self._graph.classes(qid))

    def _tells_of_capital(self, node: Proposal, whole: str, subject: str | None) -> bool:
        """Whether a named place is not the subject, or a country: what lies around a county few know."""
        if node.qid != subject and whole not in self._of(node):
            return True
        return node.qid is not None and self._is_country(node.qid)


def _with_entailed(nodes: dict[str, Proposal], keys: Collection[str]) -> frozenset[str]:
    """The keys and those of every tier that follows from one of theirs."""
    return frozenset(keys).union(key for key in nodes if keys and not ancestors(nodes, key).isdisjoint(keys))


def _compared(graph: Graph, qid: str) -> frozenset[str]:
    texts = (*graph.names(qid), *graph.shown_names(qid))
    return frozenset(
        name for text in texts if len(name := text if _ACRONYM.fullmatch(text) else _folded(text)) >= _LEAST
    )


def _is_inside(label: str, words: tuple[str, ...]) -> bool:
    """Whether a name of one word begins or ends a longer word."""
    if " " in label or len(label) < _INSIDE:
        return False
    name = _folded(label)
    return any(word != name and (word.startswith(name) or word.endswith(name)) for word in words)


def _without_america(phrase: str) -> str:
    return _AMERICA.sub("", normalise(_ARTICLE.sub("", phrase)))


def _is_only(node: Proposal, nations: Collection[str], asked: Collection[str]) -> bool:
    """Whether a phrase says no more than the land that is told and what is asked for: an American company."""
    phrase = normalise(_ARTICLE.sub("", node.text))
    if node.qid is not None or not node.text[:1].islower():
        return False
    remainder = next((phrase.removeprefix(n).strip() for n in nations if phrase.startswith(f"{n} ")), phrase)
    return remainder in asked if remainder != phrase else phrase in asked


@bounded_cache(entries=1 << 14, longest=200)  # 20 MB at most
def _folded(name: str) -> str:
    """A name as it is compared: its words without case, accents and the ending of a possessive."""
    return " ".join(map(_fold, _WORD.findall(name)))


def _fold(word: str) -> str:
    text = normalise(word)
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text.replace("’", "'")) if not unicodedata.combining(c))
    return text.removesuffix("'s")


@bounded_cache(entries=1 << 12, longest=400)  # 20 MB at most
def _question_names(question: str) -> _QuestionNames:
    """What may be a name: words from a capital to a capital; of a question without capitals any words."""
    words = _WORD.findall(_ELIDED.sub(" ", question))[:MOST_WORDS]
    cased = any(word[0].isupper() for word in words[1:])
    folded = [_fold(word) for word in words]
    starts = [at for at, word in enumerate(words) if at and not (cased and word.islower())]
    ends = set(starts)
    names: set[str] = set()
    behind: set[str] = set()
    for start in starts:
        if cased and _ACRONYM.fullmatch(words[start]):
            names.add(words[start])
        for end in range(start, min(len(words), start + LONGEST)):
            if end not in ends:
                continue
            name = " ".join(folded[start : end + 1])
            if not cased and len(name) < _PLAIN:
                continue
            forms = [name, *(name[:-size] for ending, size in _ENDINGS if name.endswith(ending))]
            names.update(forms)
            if folded[start - 1] in _OF:
                behind.update(forms)
    longer = tuple(folded[at] for at in starts if cased and len(folded[at]) > _INSIDE)
    return _QuestionNames(frozenset(names), frozenset(behind), longer)
