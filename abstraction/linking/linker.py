"""The entity linker: which entity an answer's text refers to, given the question and its subject.

Candidates have the name as label or alias and fit what the relation asks for. Their signs are summed with weights: the
form of the name, the number of uses as such a value in the source, the class, and the noun that the question asks for
(all in `linking.candidates`); and relations of place, time and neighbours to the subject. The sums are log odds and
give each candidate's share of belief. A link contains the rule that decided it; where the best share is small, it has
low confidence and lists the rivals.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from typing import Literal, get_args

from abstraction.base.properties import package_data
from abstraction.base.relations import Relation, class_filter
from abstraction.base.tiers import Abstention
from abstraction.errors import UnknownLinkerError
from abstraction.linking.candidates import (
    PROVEN,
    AskedNouns,
    Candidates,
    ValueCounts,
    name_variants,
    passes_class_filter,
    split_type,
)
from abstraction.linking.gazetteer import (
    CAPITAL,
    SETTLEMENTS,
    Gazetteer,
    is_capital_of_another_unit_than_asked,
    is_weak_candidate_for_capital,
    phrase_in,
)
from abstraction.text.language.languages import bundled_demonyms
from abstraction.text.language.phrases import content_words, singular_words
from kg.base.model import Statement, TimeValue, normalise, number_within_kind
from kg.graph.graph import Graph

# Properties for creators of works, for places, and for the beginning and end of an existence.
CREATORS = ("P50", "P57", "P170", "P175", "P86", "P178", "P110", "P58")
_PLACES = ("P17", "P131", "P27", "P495", "P19", "P20", "P159", "P276", "P740", "P205")
_SAME_PLACE = frozenset({"P36", "P131"})  # relations whose answer lies where the subject does
_BEGINS, _ENDS = ("P569", "P571", "P577", "P580", "P585"), ("P570", "P576", "P582", "P585")
_NO_NEIGHBOURS = frozenset({"P31", "P279"})  # classes are shared by too many entities
_PLAYS_A_PART = "actor actress comedian screenwriter cinematographer editor producer singer musician composer animator"
_PARTICIPANTS = frozenset(_PLAYS_A_PART.split())
_LONGEST_LIFE, _YOUNGEST_MAKER = 110, 5  # years
_POSTHUMOUS = 60  # years after a maker's death in which works may still appear
# The makers in a description: "by Joel and Ethan Coen".
_BY = re.compile(r"\bby ((?:[A-ZÀ-Þ][\w.'’-]*)(?:[ ,]+(?:and |de |van |von |of |the )*[A-ZÀ-Þ][\w.'’-]*)*)")
OF_ANOTHER = 2.0  # sign "foreign" of a film by another maker, even if based on the subject's book
_BASED_ON = re.compile(r"\b(?:based on|adapted from|adaptation of) .*")
_FILM = re.compile(r"\A(?:the )?\d{4} (?:[\w-]+ ){0,4}film\b")  # "1979 period comedy film"
# Life dates in a description: "(1879-1955)", "(born 1961)".
_LIFE = re.compile(r"\((?:born )?(?P<begin>1[0-9]{3}|20[0-9]{2})\s*(?:[-–—]\s*(?P<end>1[0-9]{3}|20[0-9]{2})?)?\)")
_YEAR = re.compile(r"\A(?:the )?(?P<begin>1[0-9]{3}|20[0-9]{2})\b")  # a year that opens a description

Signs = Mapping[str, float]
"""Evidence about a candidate by name of the sign: 0 or absent for no evidence, 1 for a sign that is present."""


class Surroundings:
    """Computes signs of candidates from their surroundings in one graph.

    "stated": the subject's own statement. "linked": another statement between both, or the candidate contains the
    subject. "neighbours": number of common targets of statements, at most 3. "words": number of common content words
    of the descriptions, at most 3. "described": the candidate's description or containers name the subject. "near": in
    [0, 1], 1 for the candidate with the most common places with the subject, 0 for the fewest. "apart": in another
    state, as far as known; "elsewhere": the same where the relation requires a common place. "anachronism": the
    lifetimes cannot overlap. "own" and "foreign": a work by the subject, or by someone else (2 for a film).
    """

    def __init__(self, graph: Graph, gazetteer: Gazetteer) -> None:
        self._graph = graph
        self._gazetteer = gazetteer
        self._classes = gazetteer.classes
        # Not bounded: they have at most as many keys as the graph's cache, which the maker of ladders empties.
        self._names_of_containers: dict[str, tuple[str, ...]] = {}
        self._where: dict[str, dict[frozenset[str], str | None]] = {}

    def signs(self, ids: Iterable[str], relation: Relation, subject: str | None, question: str) -> dict[str, Signs]:
        """The signs of each candidate as an answer about the subject; without a subject (None), by the question's
        words only.
        """
        listed = list(ids)
        if subject is None:
            return {qid: self._signs_from_question(qid, relation, None, question) for qid in listed}
        self._graph.fetch([subject])
        self._graph.fetch(s.target for s in self._own_statements_about_entities(subject) if s.target)
        around = self._place_ids_by_names(subject)
        inside = frozenset(around.values())
        placing = self._signs_of_location(listed, subject, relation, around)
        return {
            qid: {
                **self._signs_from_subject(qid, relation, subject, inside=qid in inside),
                **placing[qid],
                **self._signs_from_question(qid, relation, subject, question),
            }
            for qid in listed
        }

    def _signs_of_location(
        self, ids: Sequence[str], subject: str, relation: Relation, subject_places: Mapping[frozenset[str], str | None]
    ) -> dict[str, Signs]:
        """The signs of location of each candidate; `subject_places`: QIDs of places by normalised names."""
        description = normalise(self._graph.description(subject) or "")
        names = frozenset().union(*subject_places)
        placed = self._includes_state(subject_places)
        meeting: dict[str, int] = {}
        apart: dict[str, float] = {}
        for qid in ids:
            called = self._gazetteer.names_of(qid)
            places = {n: i for n, i in self._place_ids_by_names(qid).items() if called.isdisjoint(n)}
            meeting[qid] = sum(
                not names.isdisjoint(place) or any(len(n) > 3 and phrase_in(n, description) for n in place)
                for place in places
            )
            apart[qid] = float(not meeting[qid] and placed and self._includes_state(places))
        least = min(meeting.values(), default=0)
        width = max(meeting.values(), default=0) - least or 1
        return {
            qid: {
                "near": (meeting[qid] - least) / width,
                "apart": apart[qid],
                "elsewhere": apart[qid] * (relation.id in _SAME_PLACE),
            }
            for qid in ids
        }

    def _signs_from_question(self, qid: str, relation: Relation, subject: str | None, question: str) -> Signs:
        own, foreign = self._own_and_foreign_signs(qid, relation, subject, question)
        return {"described": self._is_described_by_context(qid, subject, question), "own": own, "foreign": foreign}

    def _signs_from_subject(self, qid: str, relation: Relation, subject: str, *, inside: bool) -> Signs:
        mine, theirs = self._own_statements_about_entities(qid), self._own_statements_about_entities(subject)
        stated = any(s.property == relation.id and s.target == qid for s in theirs) or any(
            s.property in relation.inverse and s.target == subject for s in mine
        )
        linked = (
            inside
            or any(s.target == qid and s.property != relation.id for s in theirs)
            or any(s.target == subject and s.property not in relation.inverse for s in mine)
        )
        near, around = ({s.target for s in held if s.property not in _NO_NEIGHBOURS} for held in (mine, theirs))
        own_words, words_of_subject = (content_words(self._graph.description(i) or "") for i in (qid, subject))
        return {
            "stated": stated,
            "linked": linked,
            "neighbours": min(len(near & around), 3),
            "words": min(len(own_words & words_of_subject), 3),
            "anachronism": self._is_anachronistic(qid, subject, relation),
        }

    def _own_statements_about_entities(self, entity_id: str) -> list[Statement]:
        """The entity's statements about other entities, without deprecated ones."""
        entity = self._graph.entity(entity_id)
        return [s for s in entity.statements if s.rank != "deprecated" and s.target] if entity is not None else []

    def _place_ids_by_names(self, entity_id: str) -> dict[frozenset[str], str | None]:
        """The places of the entity by statements and description, with their containers: QIDs by normalised names."""
        if entity_id in self._where:
            return self._where[entity_id]
        out = {names: qid for qid, names in self._gazetteer.containers_up_to_state_with_names(entity_id)}
        for statement in self._own_statements_about_entities(entity_id):
            if statement.property in _PLACES and statement.target:
                out.setdefault(self._gazetteer.names_of(statement.target), statement.target)
                for qid, names in self._gazetteer.containers_up_to_state_with_names(statement.target):
                    out.setdefault(names, qid)
        opening = (self._graph.description(entity_id) or "").split(",")[0].split()
        for size in (3, 2, 1):
            countries = bundled_demonyms().countries.get(normalise(" ".join(opening[:size])), ())
            if countries:
                out.setdefault(self._gazetteer.names_of(countries[0]), countries[0])
                break
        out.pop(frozenset(), None)
        self._where[entity_id] = out
        return out

    def _includes_state(self, places: Mapping[frozenset[str], str | None]) -> bool:
        """Whether one of the places is a state."""
        states = bundled_demonyms().names
        return any(
            (qid is not None and self._gazetteer.is_state(qid)) or any(n in states for n in names)
            for names, qid in places.items()
        )

    def _is_described_by_context(self, qid: str, subject: str | None, question: str) -> bool:
        """Whether the candidate's description or containers name the subject, or the question its containers."""
        if subject is not None:
            description = normalise(self._graph.description(qid) or "")
            own_names = self._gazetteer.names_of(qid)
            above = self._gazetteer.container_names(qid)
            names = [n for n in map(normalise, self._graph.names(subject)) if len(n) > 3 and n not in own_names]
            if any(n in above or phrase_in(n, description) for n in names):
                return True
        asked = normalise(question)
        if qid not in self._names_of_containers:
            above = self._gazetteer.container_names(qid) - self._gazetteer.names_of(qid)
            self._names_of_containers[qid] = tuple(name for name in above if len(name) > 3)
        return any(n in asked and phrase_in(n, asked) for n in self._names_of_containers[qid])

    def _own_and_foreign_signs(
        self, qid: str, relation: Relation, subject: str | None, question: str
    ) -> tuple[float, float]:
        """("own", "foreign") for a candidate work: made by the subject, or by someone else."""
        if relation.asks != "work" or not (subject or question):
            return 0, 0
        asked = normalise(question)
        # The maker of a film is the director, not the author of the book or screenplay.
        labels = (self._graph.label(kind) or "" for kind in self._graph.classes(qid))
        is_film = any(n.endswith("film") for n in labels) or bool(_FILM.match(self._graph.description(qid) or ""))
        makers = [t for prop in (("P57",) if is_film else CREATORS) for t in self._graph.targets(qid, prop)]
        names = [normalise(n) for maker in makers for n in self._graph.names(maker)[:3]]
        description = self._graph.description(qid) or ""
        if match := _BY.search(_BASED_ON.sub("", description)):
            names += [normalise(name) for name in re.split(r",\s*+(?:and\s++)?|(?<!\s)\s++and\s++", match[1])]
        called = self._gazetteer.names_of(subject) if subject else frozenset[str]()
        if subject in makers or any(name in called or phrase_in(name, asked) for name in names):
            return 1, 0
        book = _BASED_ON.search(description) if is_film else None
        author = _BY.search(book[0]) if book is not None else None
        if author is not None and (normalise(author[1]) in called or phrase_in(normalise(author[1]), asked)):
            return 0, OF_ANOTHER  # a film based on the subject's book
        # A participant's works are usually credited to a director, so another maker is no evidence.
        described = singular_words(self._graph.description(subject) or "") if subject is not None else ()
        takes_part = not _PARTICIPANTS.isdisjoint(described)
        return 0, (OF_ANOTHER if is_film else 1.0) * (bool(names) and not takes_part)

    def _is_anachronistic(self, qid: str, subject: str, relation: Relation) -> bool:
        """Whether one ended before the other began, or a maker was too young or long dead when the work was made."""
        begin, end = self._first_and_last_year(qid)
        first, last = self._first_and_last_year(subject)
        is_person = not self._classes(qid).isdisjoint({"person", "fictional"})
        if begin is not None and is_person and end is None:
            end = begin + _LONGEST_LIFE
        if relation.subject == "work" or (relation.asks == "work" and first is not None):
            made, (born, dead) = (first, (begin, end)) if relation.subject == "work" else (begin, (first, last))
            if made is None:
                return False
            return (born is not None and made < born + _YOUNGEST_MAKER) or (
                dead is not None and made > dead + _POSTHUMOUS
            )
        if begin is not None and last is not None and begin > last:
            return True
        return end is not None and first is not None and end < first

    def _first_and_last_year(self, entity_id: str) -> tuple[int | None, int | None]:
        begin, end = (self._earliest_year_of_first_stated(entity_id, props) for props in (_BEGINS, _ENDS))
        if begin is None and end is None:
            description = self._graph.description(entity_id) or ""
            if match := _LIFE.search(description) or _YEAR.search(description):
                parts = match.groupdict()
                return int(parts["begin"]), int(parts["end"]) if parts.get("end") else None
        return begin, end

    def _earliest_year_of_first_stated(self, entity_id: str, props: Iterable[str]) -> int | None:
        for prop in props:
            years = [
                s.value.year
                for s in self._graph.statements(entity_id, prop)
                if s.rank != "deprecated" and isinstance(s.value, TimeValue) and s.value.precision >= 9
            ]
            if years:
                return min(years)
        return None


# The settings of the package: `weights` of signs (log odds per unit) and `rules` with their signs. `shares` are
# thresholds in (0, 1) on a candidate's share of belief: "high" and "medium" for that confidence of a link, "state" and
# "great" instead of "medium" for a state and a great city, "rival" for being listed as a rival. `well_known` is the
# number of uses from which the name alone gives "high" to a lone candidate. `doubts` are summed; from `most_doubt` on
# the link is abandoned.
link_settings = partial(package_data, "linking.json")


def link_settings_fingerprint() -> str:
    """The fingerprint of the settings for the record of a run."""
    return hashlib.sha256(json.dumps(link_settings(), sort_keys=True).encode()).hexdigest()[:12]


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
        self, graph: Graph, gazetteer: Gazetteer, *, method: str = "question", priors: ValueCounts | None = None
    ) -> None:
        if method not in METHODS:
            raise UnknownLinkerError(f"unknown linker {method!r}; expected one of {', '.join(METHODS)}")
        self.method = method
        self._graph = graph
        self._gazetteer = gazetteer
        self._classes = gazetteer.classes
        self._priors = priors or ValueCounts(graph.store)
        self._candidates = Candidates(graph, gazetteer, self._priors)
        self._surroundings = Surroundings(graph, gazetteer)
        self.find_typed = self._candidates.find_typed
        self._nouns = AskedNouns(graph, self._classes)

    def link_given_qid(self, qid: str, relation: Relation) -> Link:
        """The link for a QID of the input row: abstains where it is unknown or its class is not asked for."""
        if self._graph.entity(qid) is None:
            return Link(qid=None, abstained=Abstention.NO_LINK)
        filter_ = class_filter(relation.asks)
        kinds = self._classes(qid)
        if "never" in kinds or (filter_ and kinds and not passes_class_filter(kinds, filter_)):
            return Link(qid=qid, confidence="given", rule="given", abstained=Abstention.TYPE_CONFLICT)
        return Link(qid=qid, confidence="given", rule="given")

    def subject_ids(self, text: str | None, qid: str | None, relation: Relation) -> tuple[str, ...]:
        """QIDs that the subject's name may refer to, best first; one if `qid` is given or the method is "smallest"."""
        if qid is not None:
            return (qid,) if self._graph.entity(qid) else ()
        if not text:
            return ()
        ids = list(dict.fromkeys(m.id for m in self._graph.find(text)))
        if self.method == "smallest":  # for both entities, whatever is asked
            items = [i for i in ids if i.startswith("Q")]
            return (min(items, key=number_within_kind),) if items else ()
        self._graph.fetch(ids)
        fits = SUBJECT_CLASSES.get(relation.subject)
        if fits is not None:
            ids = [i for i in ids if not (k := self._classes(i)) or not fits.isdisjoint(k)]
        ids = [i for i in ids if i.startswith("Q") and "never" not in self._classes(i)]
        return tuple(ids[:MOST_SUBJECTS])

    def further_name_forms(self, text: str) -> list[str]:
        """Further forms of a text that matches no name, so that many can be looked up in one batch."""
        return [*name_variants(text), *(split.name for split in split_type(text))]

    def prefetch_counts(self, texts: Iterable[str], relation: Relation) -> None:
        """Read in one batch the counts that `link` needs for these answers; this only saves time."""
        if self.method == "question" and relation.id:
            ids = {m.id for text in texts for m in self._graph.find(text) if m.id.startswith("Q")}
            self._priors.load_counts_for_relation(relation, sorted(ids))

    def link(self, text: str, relation: Relation, *, subjects: Sequence[str] = (), question: str = "") -> Link:
        """The link of `text` as an answer to the question."""
        candidates = self._candidates.fitting_candidates_or_none(text, relation)
        if candidates is None:
            return Link(qid=None, abstained=Abstention.NO_LINK)
        if self.method == "smallest":
            first = min(
                (m.id for m in self._candidates.items_by_first_matching_form(text, relation)), key=number_within_kind
            )
            return Link(qid=first, confidence="medium", rule="smallest-id")
        candidates = [
            c
            for c in candidates
            if not is_capital_of_another_unit_than_asked(c.qid, relation, question, self._gazetteer)
        ]
        if len(subjects) == 1 and (relation.id == CAPITAL or len(candidates) > 1):
            candidates = [c for c in candidates if c.qid != subjects[0]]
        if not candidates:
            return Link(qid=None, abstained=Abstention.TYPE_CONFLICT)
        own_signs = self._candidates.signs(candidates, text, relation)
        stated = {t for s in subjects for t in self._graph.targets(s, relation.id)}
        for qid, signs in self._nouns.signs([i for i in own_signs if i not in stated], question, relation).items():
            own_signs[qid].update(signs)
        question_signs = self._signs_of_context(list(own_signs), relation, subjects, question)
        whole = {qid: {**own_signs[qid], **question_signs[qid]} for qid in own_signs}
        foreign = relation.asks == "work" and all(map(_is_by_another_maker_than_subject, whole.values()))
        # Every candidate is clearly of another kind than the noun, and the source does not prove that it is an answer.
        if foreign or all(signs.get("otherwise") and not _has_proven_uses(signs) for signs in whole.values()):
            return Link(qid=None, abstained=Abstention.TYPE_CONFLICT)
        if len(whole) == 1:
            return self._link_lone_candidate(whole, relation, text, question)
        return self._link_likeliest(whole, relation, text, question)

    def _signs_of_context(
        self, ids: Sequence[str], relation: Relation, subjects: Sequence[str], question: str
    ) -> dict[str, Signs]:
        """The signs of each candidate by question and subject; of several possible subjects, those with the largest
        weight.
        """
        best: dict[str, Signs] = {}
        for subject in subjects or (None,):
            for qid, signs in self._surroundings.signs(ids, relation, subject, question).items():
                if qid not in best or _weighted_sum(signs) > _weighted_sum(best[qid]):
                    best[qid] = signs
        return best

    def _link_lone_candidate(self, whole: Mapping[str, Signs], relation: Relation, text: str, question: str) -> Link:
        """The link to a lone candidate, or an abstention where the doubts outweigh the evidence.

        A snapshot may lack the intended entity and contain only a namesake.
        """
        ((qid, signs),) = whole.items()
        doubt = self._namesake_doubt(qid, text, signs, relation, question)
        unlikely = not _question_supports(signs) and is_weak_candidate_for_capital(
            qid, relation, question, self._gazetteer
        )
        if unlikely or doubt >= link_settings()["most_doubt"]:
            return Link(qid=None, rivals=(qid,), abstained=Abstention.AMBIGUOUS_LINK)
        uses = math.expm1(signs.get("uses", 0.0)) + math.expm1(signs.get("kindred", 0.0))
        certain = _question_supports(signs) or signs.get("asked") == 1 or uses >= link_settings()["well_known"]
        if not certain and relation.asks == "place" and self._may_be_wrong_place(qid, text, signs):
            return Link(qid=None, rivals=(qid,), abstained=Abstention.AMBIGUOUS_LINK)
        return Link(qid=qid, confidence="high" if certain and doubt < 1 else "medium", rule="only", share=1.0)

    def _link_likeliest(self, signs: Mapping[str, Signs], relation: Relation, text: str, question: str) -> Link:
        settings = link_settings()
        weights = {qid: _weighted_sum(s) for qid, s in signs.items()}
        order = sorted(weights, key=lambda i: (-weights[i], number_within_kind(i)))
        best, second = order[:2]
        parts = {qid: math.exp(weights[qid] - weights[best]) for qid in order}
        whole = sum(parts.values())
        share = parts[best] / whole
        rivals = tuple(i for i in order[1:] if parts[i] / whole >= settings["shares"]["rival"])
        leads = {
            rule: sum(settings["weights"][n] * (signs[best].get(n, 0.0) - signs[second].get(n, 0.0)) for n in names)
            for rule, names in settings["rules"].items()
        }
        rule = max(leads, key=lambda name: leads[name])
        if weights[best] == weights[second]:
            rule = "smallest-id"
        confidence: Confidence = "low"
        doubt = self._namesake_doubt(best, text, signs[best], relation, question)
        unlikely = not _question_supports(signs[best]) and is_weak_candidate_for_capital(
            best, relation, question, self._gazetteer
        )
        if unlikely or (not relation.id and doubt >= settings["most_doubt"]):
            return Link(qid=None, rivals=tuple(order), abstained=Abstention.AMBIGUOUS_LINK)
        # A city is preferred to a borough of its name that it contains, and a great city to towns of its name.
        settled = signs[best].get("outer") and self._graph.is_instance(best, SETTLEMENTS)
        bound = "state" if settled or self._gazetteer.is_state(best) else "medium"
        enough = settings["shares"]["great" if bound == "medium" and self._is_great_city(best, rivals) else bound]
        if share >= enough and doubt < settings["most_doubt"]:
            confidence = "high" if share >= settings["shares"]["high"] else "medium"
        else:
            rivals = rivals if share < enough and rivals else tuple(order[1:])
        return Link(qid=best, confidence=confidence, rule=rule, rivals=rivals, share=share)

    def _may_be_wrong_place(self, qid: str, text: str, signs: Signs) -> bool:
        """Whether a lone place may be the wrong one: its label is spelt differently (Brookeville for Brookville) and
        it has no uses, or it is small and a county elsewhere has its name.
        """
        if not signs.get("label") and not signs.get("uses") and not signs.get("kindred"):
            return SequenceMatcher(None, normalise(self._graph.label(qid) or ""), normalise(text)).ratio() >= ALIKE
        if self._is_great_city(qid, ()) and self._graph.is_instance(qid, SETTLEMENTS):
            return False
        return self._gazetteer.has_county_of_name_elsewhere(qid, text)

    def _is_great_city(self, qid: str, rivals: Sequence[str]) -> bool:
        """Whether a place has at least GREAT inhabitants and GREATER times those of its namesakes."""
        people = self._gazetteer.inhabitants(qid)
        return people >= GREAT and people >= GREATER * max(map(self._gazetteer.inhabitants, rivals), default=0.0)

    def _namesake_doubt(self, qid: str, text: str, signs: Signs, relation: Relation, question: str) -> float:
        """The doubt that the snapshot lacks the intended entity; 0 where question or subject lead to the candidate.

        Without a relation the name is the only evidence: the doubt grows for a name of one word, for lower case, and
        where the question leaves the kind of answer open or its noun asks for another kind, except for a state's label.
        """
        if _question_supports(signs):
            return 0.0
        seen: dict[str, float] = {
            **signs,
            "alias": 1.0 - signs.get("label", 0.0),
            "unused": bool(relation.id) and not signs.get("uses") and not signs.get("kindred"),
            "unsuited": self._candidates.has_unsuited_occupation(qid, relation),
            "proven": _has_proven_uses(signs),
        }
        if not relation.id and not (self._gazetteer.is_state(qid) and signs.get("label")):
            noun = self._nouns.noun_of_question_or_its_kind(question, relation)
            seen |= {
                "any_kind": relation.asks == "any" and not signs.get("asked"),
                "one_word": len(text.split()) == 1,
                "lower_case": text.islower() and not any(n.islower() for n in self._graph.names(qid)),
                "asked_for": signs.get("asked") == 1,
                "unasked": noun is not None and bool(noun.kinds) and not signs.get("asked"),
            }
        doubts: Mapping[str, float] = link_settings()["doubts"]
        return sum(weight * seen.get(name, 0.0) for name, weight in doubts.items())


def _question_supports(signs: Signs) -> bool:
    """Whether the question or its subject leads to the entity."""
    return any(signs.get(name) for name in ("stated", "linked", "described", "own"))


def _is_by_another_maker_than_subject(signs: Signs) -> bool:
    """Whether a work is by another maker, and no statement makes it also the subject's.

    Of a film, another maker counts even where a statement links it to the subject: the author of its book has one.
    """
    is_film = signs.get("foreign") == OF_ANOTHER
    return bool(signs.get("foreign")) and not signs.get("stated") and (is_film or not signs.get("linked"))


def _has_proven_uses(signs: Signs) -> bool:
    """Whether the source uses the entity at least PROVEN times as a value of the relation."""
    return signs.get("uses", 0.0) >= math.log1p(PROVEN)


def _weighted_sum(signs: Signs) -> float:
    weights: Mapping[str, float] = link_settings()["weights"]
    return sum(weights[name] * value for name, value in signs.items() if name in weights)
