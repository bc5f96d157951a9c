"""Which entity an answer's text means, using what the question asks and about whom.

Candidates carry the name as label or alias and can be what the relation asks for (`linking.candidates`). What speaks
for each is added up: the form of the name, how often the source uses the entity as such a value (`linking.priors`), its
class, and what the subject tells (`linking.surroundings`). The sums are log odds and give each candidate's share of the
belief. A link says what decided it; where the best candidate's share is small, it is of low confidence and keeps its
rivals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, get_args

from abstraction.classes import wanted
from abstraction.errors import UnknownLinkerError
from abstraction.linking.candidates import PROVEN, Candidate, Candidates, fits_class, variants
from abstraction.linking.gazetteer import CAPITAL, SETTLEMENTS, Gazetteer, capital_lies_elsewhere, is_unlikely_seat
from abstraction.linking.link_features import OF_ANOTHER, Measured, Signs, Surroundings
from abstraction.linking.link_settings import link_settings
from abstraction.linking.priors import Priors
from abstraction.questions.asked_nouns import AskedNouns
from abstraction.relations import Relation
from abstraction.tiers import Abstention
from kg.model import entity_number
from kg.terms import normalise
from kg.walks.graph import Graph

Confidence = Literal["given", "high", "medium", "low"]
Method = Literal["question", "smallest"]
METHODS: tuple[Method, ...] = get_args(Method)

# What the subject must be for a relation of this subject kind.
SUBJECT_CLASSES = {
    "person": frozenset({"person", "fictional", "group"}),
    "work": frozenset({"work"}),
    "place": frozenset({"place", "country", "building", "school", "organisation", "company", "club"}),
    "organisation": frozenset({"company", "organisation", "school", "label", "club", "group"}),
}
MOST_SUBJECTS = 12
ALIKE = 0.85  # of two names that are one in two spellings: from this ratio of equal letters on
GREAT, GREATER = 100_000, 4  # inhabitants of a city that is meant before its namesakes, and times theirs


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """The outcome: an id with its confidence, the rule that decided and the rivals left, or an abstention.

    `rule` is "given", "only", "smallest-id", or one of the rules of data/linking.json: what told the best candidate
    from the next. `share` is the candidate's part of the belief, in (0, 1]. `rivals` are likeliest first.
    """

    qid: str | None
    confidence: Confidence | None = None
    rule: str | None = None
    rivals: tuple[str, ...] = ()
    abstained: Abstention | None = None
    share: float | None = None


class Linker:
    """Links names in one graph. Deterministic.

    `method` "question" weighs what the module says; "smallest" is the paper's heuristic, the smallest id among all
    that carry the name, whatever is asked, for the answer as for the entity asked about. `priors` are counts of the
    graph's store that are to be shared. Raises UnknownLinkerError for another method.
    """

    def __init__(
        self, graph: Graph, gazetteer: Gazetteer, *, method: str = "question", priors: Priors | None = None
    ) -> None:
        if method not in METHODS:
            raise UnknownLinkerError(f"unknown linker {method!r}; expected one of {', '.join(METHODS)}")
        self.method = method
        self._graph = graph
        self._gazetteer = gazetteer
        self._classes = gazetteer.classes
        self._priors = priors or Priors(graph.store)
        self._candidates = Candidates(graph, gazetteer, self._priors)
        self._surroundings = Surroundings(graph, gazetteer)
        self.typed = self._candidates.typed
        self._nouns = AskedNouns(graph, self._classes)

    def given(self, qid: str, relation: Relation) -> Link:
        """The link for an id that came with the row: known, and of a class that the relation can have."""
        if self._graph.entity(qid) is None:
            return Link(qid=None, abstained=Abstention.NO_LINK)
        filter_ = wanted(relation.asks)
        kinds = self._classes(qid)
        if "never" in kinds or (filter_ and kinds and not fits_class(kinds, filter_)):
            return Link(qid=qid, confidence="given", rule="given", abstained=Abstention.TYPE_CONFLICT)
        return Link(qid=qid, confidence="given", rule="given")

    def subjects(self, text: str | None, qid: str | None, relation: Relation) -> tuple[str, ...]:
        """Ids that the subject's name may mean, best first; one where an id is given, and by the method "smallest"."""
        if qid is not None:
            return (qid,) if self._graph.entity(qid) else ()
        if not text:
            return ()
        ids = list(dict.fromkeys(m.id for m in self._graph.find(text)))
        if self.method == "smallest":  # for both entities, whatever is asked
            items = [i for i in ids if i.startswith("Q")]
            return (min(items, key=entity_number),) if items else ()
        self._graph.fetch(ids)
        fits = SUBJECT_CLASSES.get(relation.subject)
        if fits is not None:
            ids = [i for i in ids if not (k := self._classes(i)) or not fits.isdisjoint(k)]
        ids = [i for i in ids if i.startswith("Q") and "never" not in self._classes(i)]
        return tuple(ids[:MOST_SUBJECTS])

    def other_names(self, text: str) -> list[str]:
        """What else may be looked up for a text that nothing is called, so that many are read in one batch."""
        return [*variants(text), *self.typed.names_in(text)]

    def prepare(self, texts: Iterable[str], relation: Relation) -> None:
        """Read in one batch what `link` will ask of the store for these answers; links do not depend on it."""
        if self.method == "question" and relation.id:
            ids = {m.id for text in texts for m in self._graph.find(text) if m.id.startswith("Q")}
            self._priors.fetch(relation, sorted(ids))

    def link(
        self,
        text: str,
        relation: Relation,
        *,
        subjects: Sequence[str] = (),
        question: str = "",
        measured: Measured | None = None,
    ) -> Link:
        """The entity that `text` means as an answer to the question.

        `measured` is a statement that the link will be judged by: nothing is concluded from it.
        """
        answer = measured.target if measured else None
        candidates = self._candidates.of(text, relation, measured=answer)
        if candidates is None:
            return Link(qid=None, abstained=Abstention.NO_LINK)
        if self.method == "smallest":
            first = min((m.id for m in self._candidates.named(text, relation)), key=entity_number)
            return Link(qid=first, confidence="medium", rule="smallest-id")
        candidates = self._possible(candidates, relation, subjects, question)
        if not candidates:
            return Link(qid=None, abstained=Abstention.TYPE_CONFLICT)
        own_signs = self._candidates.signs(candidates, text, relation, measured=answer)
        stated = set() if measured else {t for s in subjects for t in self._graph.targets(s, relation.id)}
        for qid, signs in self._nouns.signs([i for i in own_signs if i not in stated], question, relation).items():
            own_signs[qid].update(signs)
        question_signs = self._signs_of_question(list(own_signs), relation, subjects, question, measured)
        whole = {qid: {**own_signs[qid], **question_signs[qid]} for qid in own_signs}
        foreign = relation.asks == "work" and all(map(_is_foreign, whole.values()))
        if foreign or all(map(_is_otherwise, whole.values())):
            return Link(qid=None, abstained=Abstention.TYPE_CONFLICT)
        if len(whole) == 1:
            return self._only(whole, relation, text, question)
        return self._likeliest(whole, relation, text, question)

    def _possible(
        self, candidates: Sequence[Candidate], relation: Relation, subjects: Sequence[str], question: str
    ) -> list[Candidate]:
        """The candidates without those that lie elsewhere, and without what the question is about."""
        possible = [c for c in candidates if not capital_lies_elsewhere(c.qid, relation, question, self._gazetteer)]
        if len(subjects) == 1 and (relation.id == CAPITAL or len(possible) > 1):
            return [c for c in possible if c.qid != subjects[0]]
        return possible

    def _signs_of_question(
        self, ids: Sequence[str], relation: Relation, subjects: Sequence[str], question: str, measured: Measured | None
    ) -> dict[str, Signs]:
        """The signs of each by question and subject; of several possible subjects, by whoever speaks best for it."""
        best: dict[str, Signs] = {}
        for subject in subjects or (None,):
            for qid, signs in self._surroundings.signs(ids, relation, subject, question, measured).items():
                if qid not in best or _weight(signs) > _weight(best[qid]):
                    best[qid] = signs
        return best

    def _only(self, whole: Mapping[str, Signs], relation: Relation, text: str, question: str) -> Link:
        """The link to a candidate without a rival, unless more speaks against than for it.

        Of many namesakes a part of WikiData may hold another one than is meant.
        """
        ((qid, signs),) = whole.items()
        doubt = self._doubt(qid, text, signs, relation, question)
        unlikely = not _is_sure(signs) and is_unlikely_seat(qid, relation, question, self._gazetteer)
        if unlikely or doubt >= link_settings().most_doubt:
            return Link(qid=None, rivals=(qid,), abstained=Abstention.AMBIGUOUS_LINK)
        known = math.expm1(signs.get("uses", 0.0)) + math.expm1(signs.get("kindred", 0.0)) >= link_settings().well_known
        certain = _is_sure(signs) or signs.get("asked") == 1 or known
        if not certain and relation.asks == "place" and self._may_be_elsewhere(qid, text, signs):
            return Link(qid=None, rivals=(qid,), abstained=Abstention.AMBIGUOUS_LINK)
        return Link(qid=qid, confidence="high" if certain and doubt < 1 else "medium", rule="only", share=1.0)

    def _open_doubt(self, qid: str, text: str, signs: Signs, relation: Relation, question: str) -> float:
        """What speaks against a lone candidate of a question that has no relation: nothing but its name is for it.

        A name of one word that many things may bear, in a question that leaves open what is asked for, or asks for
        something else by its noun; a name told in small letters. The name of a state is no such name.
        """
        if relation.id or (self._gazetteer.is_state(qid) and signs.get("label")):
            return 0.0
        noun = self._nouns.of(question, relation)
        seen = {
            "any_kind": float(relation.asks == "any" and not signs.get("asked")),
            "one_word": float(len(text.split()) == 1),
            "lower_case": float(text.islower() and not any(n.islower() for n in self._graph.names(qid))),
            "asked_for": float(signs.get("asked") == 1),
            "unasked": float(noun is not None and bool(noun.kinds) and not signs.get("asked")),
        }
        return sum(value * link_settings().doubts[name] for name, value in seen.items())

    def _likeliest(self, signs: Mapping[str, Signs], relation: Relation, text: str, question: str) -> Link:
        settings = link_settings()
        weights = {qid: _weight(s) for qid, s in signs.items()}
        order = sorted(weights, key=lambda i: (-weights[i], entity_number(i)))
        best, second = order[:2]
        parts = {qid: math.exp(weights[qid] - weights[best]) for qid in order}
        whole = sum(parts.values())
        share = parts[best] / whole
        rivals = tuple(i for i in order[1:] if parts[i] / whole >= settings.shares["rival"])
        leads = {
            rule: sum(settings.weights[n] * (signs[best].get(n, 0.0) - signs[second].get(n, 0.0)) for n in names)
            for rule, names in settings.rules.items()
        }
        rule = max(leads, key=lambda name: leads[name])
        if weights[best] == weights[second]:
            rule = "smallest-id"
        confidence: Confidence = "low"
        doubt = self._doubt(best, text, signs[best], relation, question)
        unlikely = not _is_sure(signs[best]) and is_unlikely_seat(best, relation, question, self._gazetteer)
        if unlikely or (not relation.id and doubt >= settings.most_doubt):
            return Link(qid=None, rivals=tuple(order), abstained=Abstention.AMBIGUOUS_LINK)
        # A city is meant before its borough, and holds it; and a great city before towns of its name.
        settled = signs[best].get("outer") and self._graph.is_instance(best, SETTLEMENTS)
        bound = "state" if settled or self._gazetteer.is_state(best) else "medium"
        enough = settings.shares["great" if bound == "medium" and self._is_great(best, rivals) else bound]
        inner = _innermost(order, parts, signs, settings.shares["medium"]) if relation.passes else None
        is_city = inner is not None and inner != best and self._graph.is_instance(inner, SETTLEMENTS)
        if share < enough and inner is not None and is_city and not self._graph.is_instance(best, SETTLEMENTS):
            return Link(qid=inner, confidence="medium", rule="class", rivals=rivals, share=parts[inner] / whole)
        if share >= enough and doubt < settings.most_doubt:
            confidence = "high" if share >= settings.shares["high"] else "medium"
        else:
            rivals = rivals if share < enough and rivals else tuple(order[1:])
        return Link(qid=best, confidence=confidence, rule=rule, rivals=rivals, share=share)

    def _may_be_elsewhere(self, qid: str, text: str, signs: Signs) -> bool:
        """Whether a lone place may as well be another: its own name is spelt otherwise (Brookeville for Brookville) and
        nobody uses it, or it is small and a county elsewhere has its name.
        """
        if not signs.get("label") and not signs.get("uses") and not signs.get("kindred"):
            return SequenceMatcher(None, normalise(self._graph.label(qid) or ""), normalise(text)).ratio() >= ALIKE
        if self._is_great(qid, ()) and self._graph.is_instance(qid, SETTLEMENTS):
            return False
        return self._gazetteer.is_borne_elsewhere(qid, text)

    def _is_great(self, qid: str, rivals: Sequence[str]) -> bool:
        """Whether a place has many more inhabitants than its namesakes."""
        people = self._gazetteer.inhabitants(qid)
        return people >= GREAT and people >= GREATER * max(map(self._gazetteer.inhabitants, rivals), default=0.0)

    def _doubt(self, qid: str, text: str, signs: Signs, relation: Relation, question: str) -> float:
        """How much speaks for a namesake of what the snapshot lacks; nothing where the question leads to the entity."""
        if _is_sure(signs):
            return 0.0
        seen = {
            **signs,
            "alias": 1.0 - signs.get("label", 0.0),
            "unused": float(bool(relation.id) and not signs.get("uses") and not signs.get("kindred")),
            "unsuited": float(self._candidates.is_unsuited(qid, relation)),
            "proven": float(_is_proven(signs)),
        }
        namesake = sum(value * seen.get(name, 0.0) for name, value in link_settings().doubts.items())
        return namesake + self._open_doubt(qid, text, signs, relation, question)


def _innermost(
    order: Sequence[str], parts: Mapping[str, float], signs: Mapping[str, Signs], least: float
) -> str | None:
    """Of a city and the region of its name around it the city, where it is one or the other: who was born in the city
    was born in the region, and what holds the region holds the city."""
    inner = next((qid for qid in order if signs[qid].get("inner")), None)
    outer = next((qid for qid in order if signs[qid].get("outer")), None)
    if inner is None or outer is None or (parts[inner] + parts[outer]) < least * sum(parts.values()):
        return None
    return inner


def _is_sure(signs: Signs) -> bool:
    """Whether the question or its subject leads to the entity."""
    return any(signs.get(name) for name in ("stated", "linked", "described", "own"))


def _is_foreign(signs: Signs) -> bool:
    """Whether a work is somebody else's, and nothing says that it is the subject's too; who wrote a film's book is
    linked with the film.
    """
    is_film = signs.get("foreign") == OF_ANOTHER
    return bool(signs.get("foreign")) and not signs.get("stated") and (is_film or not signs.get("linked"))


def _is_otherwise(signs: Signs) -> bool:
    """Whether it is clearly no such thing as the question names, and the source never uses it as such a value."""
    return bool(signs.get("otherwise")) and not _is_proven(signs)


def _is_proven(signs: Signs) -> bool:
    """Whether the source uses it often enough as such a value."""
    return signs.get("uses", 0.0) >= math.log1p(PROVEN)


def _weight(signs: Signs) -> float:
    weights = link_settings().weights
    return sum(weights[name] * value for name, value in signs.items() if name in weights)
