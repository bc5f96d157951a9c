"""The entity linker: which entity an answer's text refers to, given the question and its subject.

Candidates have the name as label or alias and fit what the relation asks for (`linking.candidates`). Their signs are
summed with weights: the form of the name, the number of uses as such a value in the source
(`linking.candidates.Priors`), the class, and relations to the subject (`linking.link_features`). The sums are log odds
and give each candidate's share of belief. A link contains the rule that decided it; where the best share is small, it
has low confidence and lists the rivals.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, get_args

from abstraction.base.properties import package_data
from abstraction.base.relations import Relation, class_filter
from abstraction.base.tiers import Abstention
from abstraction.errors import UnknownLinkerError
from abstraction.linking.candidates import PROVEN, Candidates, Priors, fits_class, split_type, variants
from abstraction.linking.gazetteer import CAPITAL, SETTLEMENTS, Gazetteer, is_unlikely_seat, lies_in_another_unit
from abstraction.linking.link_features import OF_ANOTHER, AskedNouns, Signs, Surroundings
from kg.base.model import entity_number, normalise
from kg.graph.graph import Graph


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkSettings:
    """The weights of signs (log odds per unit), the rules with their signs, and the thresholds of confidence.

    `shares` are thresholds in (0, 1) on a candidate's share of belief: "high" and "medium" for that confidence of a
    link, "state" and "great" instead of "medium" for a state and a great city, and "rival" for being listed as a
    rival. `well_known` is the number of uses from which the name alone gives "high" to a lone candidate. The weights
    in `doubts` are summed; from `most_doubt` on the link is abandoned. `fingerprint` identifies the settings in the
    record of a run.
    """

    weights: Mapping[str, float]
    rules: Mapping[str, Sequence[str]]
    shares: Mapping[str, float]
    doubts: Mapping[str, float]
    most_doubt: float
    well_known: int
    fingerprint: str


@lru_cache(maxsize=1)
def link_settings() -> LinkSettings:
    """The settings of the package."""
    data = package_data("linking.json")
    fingerprint = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]
    return LinkSettings(**{name: value for name, value in data.items() if name != "comment"}, fingerprint=fingerprint)


Confidence = Literal["given", "high", "medium", "low"]
Method = Literal["question", "smallest"]
METHODS: tuple[Method, ...] = get_args(Method)

# Answer classes of the subject by the relation's kind of subject.
SUBJECT_CLASSES = {
    "person": frozenset({"person", "fictional", "group"}),
    "work": frozenset({"work"}),
    "place": frozenset({"place", "country", "building", "school", "organisation", "company", "club"}),
    "organisation": frozenset({"company", "organisation", "school", "label", "club", "group"}),
}
MOST_SUBJECTS = 12  # namesakes of the subject that are tried
ALIKE = 0.85  # least ratio of equal letters of two spellings of one name
GREAT, GREATER = 100_000, 4  # least inhabitants of a great city, and least ratio to those of its namesakes


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """The result of linking: a QID with its confidence, the rule that decided and the rivals, or an abstention.

    `rule` is "given", "only", "smallest-id", or a rule of data/linking.json: the one that most separated the best
    candidate from the next. `share` is the candidate's share of belief, in (0, 1]. `rivals` are ordered by share,
    largest first.
    """

    qid: str | None
    confidence: Confidence | None = None
    rule: str | None = None
    rivals: tuple[str, ...] = ()
    abstained: Abstention | None = None
    share: float | None = None


class Linker:
    """Links names in one graph. Deterministic.

    With `method` "question" all signs are weighed; "smallest" is the paper's heuristic for both answer and subject:
    the smallest id among all entities with the name, whatever is asked. `priors` are counts of the graph's store to
    share. Raises UnknownLinkerError for another method.
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

    def link_given(self, qid: str, relation: Relation) -> Link:
        """The link for a QID of the input row: abstains where it is unknown or its class conflicts with the relation.
        """
        if self._graph.entity(qid) is None:
            return Link(qid=None, abstained=Abstention.NO_LINK)
        filter_ = class_filter(relation.asks)
        kinds = self._classes(qid)
        if "never" in kinds or (filter_ and kinds and not fits_class(kinds, filter_)):
            return Link(qid=qid, confidence="given", rule="given", abstained=Abstention.TYPE_CONFLICT)
        return Link(qid=qid, confidence="given", rule="given")

    def subjects(self, text: str | None, qid: str | None, relation: Relation) -> tuple[str, ...]:
        """QIDs that the subject's name may refer to, best first; one if `qid` is given or the method is "smallest"."""
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
        """Further forms of a text without a match, so that many can be looked up in one batch."""
        return [*variants(text), *(split.name for split in split_type(text))]

    def prepare(self, texts: Iterable[str], relation: Relation) -> None:
        """Fetch in one batch the counts that `link` needs for these answers; links do not depend on it."""
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
    ) -> Link:
        """The link of `text` as an answer to the question."""
        candidates = self._candidates.of(text, relation)
        if candidates is None:
            return Link(qid=None, abstained=Abstention.NO_LINK)
        if self.method == "smallest":
            first = min((m.id for m in self._candidates.items_named(text, relation)), key=entity_number)
            return Link(qid=first, confidence="medium", rule="smallest-id")
        candidates = [c for c in candidates if not lies_in_another_unit(c.qid, relation, question, self._gazetteer)]
        if len(subjects) == 1 and (relation.id == CAPITAL or len(candidates) > 1):
            candidates = [c for c in candidates if c.qid != subjects[0]]
        if not candidates:
            return Link(qid=None, abstained=Abstention.TYPE_CONFLICT)
        own_signs = self._candidates.signs(candidates, text, relation)
        stated = {t for s in subjects for t in self._graph.targets(s, relation.id)}
        for qid, signs in self._nouns.signs([i for i in own_signs if i not in stated], question, relation).items():
            own_signs[qid].update(signs)
        question_signs = self._signs_of_question(list(own_signs), relation, subjects, question)
        whole = {qid: {**own_signs[qid], **question_signs[qid]} for qid in own_signs}
        foreign = relation.asks == "work" and all(map(_is_foreign, whole.values()))
        # Clearly not what the noun of the question names, and the source does not prove otherwise.
        if foreign or all(signs.get("otherwise") and not _is_proven(signs) for signs in whole.values()):
            return Link(qid=None, abstained=Abstention.TYPE_CONFLICT)
        if len(whole) == 1:
            return self._link_lone_candidate(whole, relation, text, question)
        return self._link_likeliest(whole, relation, text, question)

    def _signs_of_question(
        self, ids: Sequence[str], relation: Relation, subjects: Sequence[str], question: str
    ) -> dict[str, Signs]:
        """The signs of each candidate by question and subject; of several possible subjects, those with the largest
        weight.
        """
        best: dict[str, Signs] = {}
        for subject in subjects or (None,):
            for qid, signs in self._surroundings.signs(ids, relation, subject, question).items():
                if qid not in best or _weight(signs) > _weight(best[qid]):
                    best[qid] = signs
        return best

    def _link_lone_candidate(self, whole: Mapping[str, Signs], relation: Relation, text: str, question: str) -> Link:
        """The link to a lone candidate, or an abstention where the doubts outweigh the evidence.

        A snapshot may lack the intended entity and contain only a namesake.
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

    def _link_likeliest(self, signs: Mapping[str, Signs], relation: Relation, text: str, question: str) -> Link:
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
        # A city is preferred to its borough, which it contains, and a great city to towns of its name.
        settled = signs[best].get("outer") and self._graph.is_instance(best, SETTLEMENTS)
        bound = "state" if settled or self._gazetteer.is_state(best) else "medium"
        enough = settings.shares["great" if bound == "medium" and self._is_great(best, rivals) else bound]
        if share >= enough and doubt < settings.most_doubt:
            confidence = "high" if share >= settings.shares["high"] else "medium"
        else:
            rivals = rivals if share < enough and rivals else tuple(order[1:])
        return Link(qid=best, confidence=confidence, rule=rule, rivals=rivals, share=share)

    def _may_be_elsewhere(self, qid: str, text: str, signs: Signs) -> bool:
        """Whether a lone place may be the wrong one: its label is spelt differently (Brookeville for Brookville) and
        it has no uses, or it is small and a county elsewhere has its name.
        """
        if not signs.get("label") and not signs.get("uses") and not signs.get("kindred"):
            return SequenceMatcher(None, normalise(self._graph.label(qid) or ""), normalise(text)).ratio() >= ALIKE
        if self._is_great(qid, ()) and self._graph.is_instance(qid, SETTLEMENTS):
            return False
        return self._gazetteer.is_county_elsewhere(qid, text)

    def _is_great(self, qid: str, rivals: Sequence[str]) -> bool:
        """Whether a place has at least GREAT inhabitants and GREATER times those of its namesakes."""
        people = self._gazetteer.inhabitants(qid)
        return people >= GREAT and people >= GREATER * max(map(self._gazetteer.inhabitants, rivals), default=0.0)

    def _doubt(self, qid: str, text: str, signs: Signs, relation: Relation, question: str) -> float:
        """The doubt that the snapshot lacks the intended entity; 0 where question or subject lead to the candidate.

        Without a relation the name is the only evidence: the doubt grows for a name of one word, for lower case, and
        where the question leaves the kind of answer open or its noun asks for another kind, except for a state's label.
        """
        if _is_sure(signs):
            return 0.0
        seen: dict[str, float] = {
            **signs,
            "alias": 1.0 - signs.get("label", 0.0),
            "unused": bool(relation.id) and not signs.get("uses") and not signs.get("kindred"),
            "unsuited": self._candidates.is_unsuited(qid, relation),
            "proven": _is_proven(signs),
        }
        if not relation.id and not (self._gazetteer.is_state(qid) and signs.get("label")):
            noun = self._nouns.of(question, relation)
            seen |= {
                "any_kind": relation.asks == "any" and not signs.get("asked"),
                "one_word": len(text.split()) == 1,
                "lower_case": text.islower() and not any(n.islower() for n in self._graph.names(qid)),
                "asked_for": signs.get("asked") == 1,
                "unasked": noun is not None and bool(noun.kinds) and not signs.get("asked"),
            }
        return sum(weight * seen.get(name, 0.0) for name, weight in link_settings().doubts.items())


def _is_sure(signs: Signs) -> bool:
    """Whether the question or its subject leads to the entity."""
    return any(signs.get(name) for name in ("stated", "linked", "described", "own"))


def _is_foreign(signs: Signs) -> bool:
    """Whether a work is by someone else, with no statement that it is also the subject's.

    A statement that only links a film counts for nothing, as the author of its book has one.
    """
    is_film = signs.get("foreign") == OF_ANOTHER
    return bool(signs.get("foreign")) and not signs.get("stated") and (is_film or not signs.get("linked"))


def _is_proven(signs: Signs) -> bool:
    """Whether the source has at least PROVEN uses of the entity as such a value."""
    return signs.get("uses", 0.0) >= math.log1p(PROVEN)


def _weight(signs: Signs) -> float:
    weights = link_settings().weights
    return sum(weights[name] * value for name, value in signs.items() if name in weights)
