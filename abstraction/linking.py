"""Which entity an answer's text means, using what the question asks and about whom.

Exact label or alias, filtered by the class that the relation asks for, decided by the subject's own
statements and places, then label before alias, population and fame, then the smallest number. Each link says
what decided it; where only the number was left to decide, the link is of low confidence and keeps its rivals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from abstraction.classes import Wanted, wanted
from abstraction.filters import words
from abstraction.gazetteer import PLACES, SETTLEMENTS, Gazetteer
from abstraction.relations import Relation
from abstraction.tiers import Abstention
from kg.graph import Graph
from kg.model import QuantityValue, entity_number
from kg.store.base import NameMatch
from kg.terms import normalise

Confidence = Literal["given", "high", "medium", "low"]
Rule = Literal[
    "given",
    "only",
    "statement",
    "described",
    "place",
    "creator",
    "preferred-class",
    "label",
    "prominence",
    "smallest-id",
]

CREATORS = ("P50", "P57", "P170", "P175", "P86", "P178", "P110", "P58")
# What the subject must be for a relation of this subject kind.
SUBJECT_CLASSES = {
    "person": frozenset({"person", "fictional", "group"}),
    "work": frozenset({"work"}),
    "place": frozenset({"place", "country", "building"}),
    "organisation": frozenset({"company", "organisation", "school", "label", "club", "group"}),
}
MOST_SUBJECTS = 12
DWARFED, DWARFED_ACROSS = 10, 100
UNCOUNTED = 1000.0
BIG_CITIES = frozenset({"Q1549591", "Q1637706", "Q5119"})  # big city, city of millions, capital
CODE_LENGTH = 3  # "no" is the code of a language
UNRELATED_TO_SIZE = frozenset({"P36"})
_BY = re.compile(r"\bby ((?:[A-ZÀ-Þ][\w.'’-]*)(?:[ ,]+(?:and |de |van |von |of |the )*[A-ZÀ-Þ][\w.'’-]*)*)")
_UNIT = re.compile(
    r"[A-ZÀ-Þ][\w.'’-]*(?: (?:of|and|the|de|la|[A-ZÀ-Þ][\w.'’-]*))* "
    r"(?P<kind>County|District|Parish|Province|Region|Department)$"
)
_SUBJECT_PLACES = ("P17", "P131", "P27", "P495", "P19", "P159", "P276")


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """The outcome: an id with its confidence, the rule that decided and the rivals left, or an abstention."""

    qid: str | None
    confidence: Confidence | None = None
    rule: Rule | None = None
    rivals: tuple[str, ...] = ()
    abstained: Abstention | None = None


class Linker:
    """Links names in one graph. Deterministic."""

    def __init__(self, graph: Graph, gazetteer: Gazetteer) -> None:
        self._graph = graph
        self._gazetteer = gazetteer
        self._classes = gazetteer.classes

    def given(self, qid: str, relation: Relation) -> Link:
        """The link for an id that came with the row: known, and of a class that the relation can have."""
        if self._graph.entity(qid) is None:
            return Link(qid=None, abstained=Abstention.NO_LINK)
        filter_ = wanted(relation.asks)
        kinds = self._classes(qid)
        if "never" in kinds or (filter_ and kinds and not self._fits(kinds, filter_)):
            return Link(qid=qid, confidence="given", rule="given", abstained=Abstention.TYPE_CONFLICT)
        return Link(qid=qid, confidence="given", rule="given")

    def subjects(self, text: str | None, qid: str | None, relation: Relation) -> tuple[str, ...]:
        """Ids that the subject's name may mean, best first; one where an id is given."""
        if qid is not None:
            return (qid,) if self._graph.entity(qid) else ()
        if not text:
            return ()
        found = list(dict.fromkeys(m.id for m in self._graph.find(text)))
        self._graph.fetch(found)
        fits = SUBJECT_CLASSES.get(relation.subject)
        if fits is not None:
            found = [i for i in found if not (k := self._classes(i)) or not fits.isdisjoint(k)]
        found = [i for i in found if i.startswith("Q") and "never" not in self._classes(i)]
        return tuple(found[:MOST_SUBJECTS])

    def link(self, text: str, relation: Relation, *, subjects: Sequence[str] = (), question: str = "") -> Link:
        """The entity that `text` means as an answer to the question."""
        matches = self._matches(text, relation)
        if not matches:
            return Link(qid=None, abstained=Abstention.NO_LINK)
        filter_ = wanted(relation.asks)
        typed = self._typed([m.id for m in matches], filter_)
        typed = [i for i in typed if not self._lies_elsewhere(i, relation, question)]
        if len(subjects) == 1 and (relation.id == "P36" or len(typed) > 1):
            typed = [i for i in typed if i != subjects[0]]
        if not typed:
            return Link(qid=None, abstained=Abstention.TYPE_CONFLICT)
        present = [qid for qid in typed if not self._graph.is_historical(qid)]
        named = [qid for qid in present if not self._gazetteer.is_no_tier(qid)]
        left = self._outermost(named or present or typed, text)
        for rule, narrow in (
            ("statement", self._stated(left, relation, subjects)),
            ("creator", self._same_creator(left, relation, subjects, question)),
        ):
            if narrow is None:
                continue
            if not narrow:
                return Link(qid=None, abstained=Abstention.TYPE_CONFLICT)
            if len(narrow) == 1 and (rule == "statement" or len(left) > 1):
                return Link(qid=narrow[0], confidence="high", rule=rule)  # type: ignore[arg-type]
            left = narrow
        if len(left) == 1:
            if self._is_unlikely_seat(left, relation, subjects, question):
                return Link(qid=None, abstained=Abstention.AMBIGUOUS_LINK)
            return Link(qid=left[0], confidence="high", rule="only")
        key = normalise(text)
        labelled = [i for i in left if normalise(self._graph.label(i) or "") == key]
        if filter_ is not None:
            preferred = [i for i in left if not filter_.prefers.isdisjoint(self._classes(i))]
            # Queen Victoria, whom "Victoria" is but an alias of, does not beat the cities of that name.
            if labelled and not set(labelled).intersection(preferred):
                preferred = []
            if len(preferred) == 1:
                return Link(qid=preferred[0], confidence="medium", rule="preferred-class")
            left = preferred or left
        for rule, narrow in (
            ("described", self._described(left, subjects, question)),
            ("place", self._same_place(left, subjects)),
        ):
            if narrow:
                if len(narrow) == 1:
                    return Link(qid=narrow[0], confidence="high", rule=rule)  # type: ignore[arg-type]
                left = narrow
        labelled = [i for i in labelled if i in left]
        if len(labelled) == 1:
            return Link(qid=labelled[0], confidence="medium", rule="label", rivals=self._others(left, labelled[0]))
        # A capital is small as often as it is large: size says nothing there.
        prominent = self._prominent(labelled) if labelled and relation.id not in UNRELATED_TO_SIZE else left
        if len(prominent) == 1 and labelled:
            return Link(
                qid=prominent[0],
                confidence="medium",
                rule="prominence",
                rivals=self._others(left, prominent[0]),
            )
        left = prominent if labelled else left
        first = min(left, key=entity_number)
        return Link(qid=first, confidence="low", rule="smallest-id", rivals=self._others(left, first))

    @staticmethod
    def _others(candidates: Iterable[str], chosen: str) -> tuple[str, ...]:
        return tuple(i for i in candidates if i != chosen)

    def _matches(self, text: str, relation: Relation) -> tuple[NameMatch, ...]:
        """By the text as it stands, then without article, brackets or a trailing place ("Kunming, Yunnan")."""
        # Where nothing says what is asked for, "yes" is no band and "no" no country.
        bare_word = relation.asks == "any" and text.islower()
        for variant in _variants(text):
            found = tuple(m for m in self._graph.find(variant) if m.id.startswith("Q"))
            if bare_word:
                found = tuple(m for m in found if m.text.islower() and len(m.text) > CODE_LENGTH)
            if found:
                self._graph.fetch(m.id for m in found)
                return found
        return ()

    def _typed(self, ids: Iterable[str], filter_: Wanted | None) -> list[str]:
        out = []
        for qid in dict.fromkeys(ids):
            kinds = self._classes(qid)
            if "never" in kinds:
                continue
            if filter_ is None or (kinds and self._fits(kinds, filter_)):
                out.append(qid)
        return out

    @staticmethod
    def _fits(kinds: frozenset[str], filter_: Wanted) -> bool:
        if filter_.fits.isdisjoint(kinds):
            return False
        return filter_.excludes.isdisjoint(kinds) or not filter_.prefers.isdisjoint(kinds)

    def _outermost(self, ids: list[str], text: str) -> list[str]:
        """One of each family of places that lie in one another under one name: a city, its borough, its county.

        The one that lies in none of the others stands for the family; what else contains them both tells that
        they are one.
        """
        key = normalise(text)
        left = [i for i in ids if not PLACES.isdisjoint(self._classes(i))]
        rest = [i for i in ids if i not in left]
        for inner in list(left):
            around = self._gazetteer.above(inner)
            if key not in around or inner not in left:
                continue
            family = [i for i in left if i == inner or (self._gazetteer.above(i) & around) - {key}]
            if len(family) > 1:
                named = [i for i in family if normalise(self._graph.label(i) or "") == key] or family
                outer = [i for i in named if key not in self._gazetteer.above(i)] or named
                first = min(outer, key=entity_number)
                left = [i for i in left if i == first or i not in family]
        return [*left, *rest]

    def _stated(self, ids: Sequence[str], relation: Relation, subjects: Sequence[str]) -> list[str] | None:
        """Those that the graph itself gives as the answer; None where it gives none of them."""
        if not relation.id:
            return None
        self._graph.fetch(subjects)
        for subject in subjects:
            values = {s.target for s in self._graph.statements(subject, relation.id) if s.rank != "deprecated"}
            found = [i for i in ids if i in values]
            if found:
                return found
        return None

    def _same_creator(
        self, ids: Sequence[str], relation: Relation, subjects: Sequence[str], question: str
    ) -> list[str] | None:
        """For works of a person: those by that person; a work that is said to be someone else's is not meant."""
        if relation.asks != "work" or not (subjects or question):
            return None
        asked = normalise(question)
        own, silent = [], []
        for qid in ids:
            makers = [t for prop in CREATORS for t in self._graph.targets(qid, prop)]
            names = [normalise(n) for maker in makers for n in self._graph.names(maker)[:3]]
            if said := _BY.search(self._graph.description(qid) or ""):
                names += [normalise(name) for name in re.split(r",\s*(?:and\s+)?|\s+and\s+", said[1])]
            if set(makers).intersection(subjects) or any(_phrase_in(name, asked) for name in names):
                own.append(qid)
            elif not names:
                silent.append(qid)
        return own or silent

    def _lies_elsewhere(self, qid: str, relation: Relation, question: str) -> bool:
        """Whether a capital is said to lie in another unit of the kind asked for: another county, say."""
        if relation.id != "P36":
            return False
        asked = _UNIT.search(question.rstrip("?. "))
        if asked is None:
            return False
        kind, name = normalise(asked["kind"]), normalise(asked[0])
        same_kind = [above for above in self._gazetteer.above(qid) if above.endswith(f" {kind}")]
        return bool(same_kind) and name not in same_kind and not any(a.startswith(name) for a in same_kind)

    def _is_unlikely_seat(self, ids: Sequence[str], relation: Relation, subjects: Sequence[str], question: str) -> bool:
        """Whether a county's seat is known by its name alone: of its many namesakes the snapshot may hold another."""
        asked = _UNIT.search(question.rstrip("?. ")) if relation.id == "P36" else None
        if asked is None or asked["kind"] != "County":
            return False
        return not (self._described(ids, subjects, question) or self._same_place(ids, subjects))

    def _described(self, ids: Sequence[str], subjects: Sequence[str], question: str) -> list[str]:
        """Those whose description or containers name the subject (county seat of *Boone County*)."""
        asked = normalise(question)
        out = []
        for qid in ids:
            if self._classes(qid).isdisjoint({"place", "country"}):
                continue
            description = normalise(self._graph.description(qid) or "")
            own = {normalise(n) for n in self._graph.names(qid)}
            for subject in subjects:
                names = [normalise(n) for n in self._graph.names(subject)]
                if any(n in self._gazetteer.above(qid) or _phrase_in(n, description) for n in names):
                    out.append(qid)
                    break
            else:
                above = self._gazetteer.above(qid)
                if any(len(n) > 3 and n not in own and _phrase_in(n, asked) for n in above):
                    out.append(qid)
        return out

    def _same_place(self, ids: Sequence[str], subjects: Sequence[str]) -> list[str]:
        """Those that lie where the subject lies: their containers meet the subject's, the finest meeting wins."""
        if not subjects:
            return []
        around: set[str] = set()
        for subject in subjects[:1] if len(subjects) == 1 else subjects:
            for prop in _SUBJECT_PLACES:
                for target in self._graph.targets(subject, prop):
                    around.update(normalise(n) for n in self._graph.names(target))
                    around.update(self._gazetteer.above(target))
            around.update(self._gazetteer.above(subject))
        if not around:
            return []
        scores = {}
        for qid in ids:
            if self._classes(qid).isdisjoint({"place", "country", "school", "building"}):
                continue
            scores[qid] = len(around & self._gazetteer.above(qid))
        best = max(scores.values(), default=0)
        return [i for i, score in scores.items() if score == best] if best else []

    def _prominent(self, ids: Sequence[str]) -> list[str]:
        """Those that nothing else of the name dwarfs, by population or by sitelinks, both facts of the source.

        A place that is ten times larger than its namesake is meant by a text that adds nothing to the name.
        """
        sizes = {qid: self._size(qid) for qid in ids}
        settled = {qid: self._graph.is_instance(qid, SETTLEMENTS) or not self._graph.classes(qid) for qid in ids}

        def is_dwarfed(qid: str) -> bool:
            # A city and a region of one name: their populations hardly compare. What is unknown does not at all.
            return any(
                (size := sizes[other]) is not None
                and (mine := sizes[qid]) is not None
                and size > mine * (DWARFED if settled[other] == settled[qid] else DWARFED_ACROSS)
                for other in ids
            )

        return [qid for qid in ids if not is_dwarfed(qid)]

    def _size(self, qid: str) -> float | None:
        """Inhabitants times sitelinks; a place that nobody counted is small unless its class says otherwise."""
        entity = self._graph.entity(qid)
        assert entity is not None
        people = [
            float(s.value.amount)
            for s in self._graph.statements(qid, "P1082")
            if isinstance(s.value, QuantityValue) and s.rank != "deprecated"
        ]
        if not people:
            if not BIG_CITIES.isdisjoint(self._graph.classes(qid)):
                return None
            people = [UNCOUNTED]
        return max(people) * max(1, entity.sitelinks)


def _phrase_in(phrase: str, text: str) -> bool:
    """Whether the phrase stands in the text as whole words."""
    start = text.find(phrase) if phrase else -1
    while start >= 0:
        end = start + len(phrase)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (before.isalnum() or after.isalnum()):
            return True
        start = text.find(phrase, start + 1)
    return False


def _variants(text: str) -> list[str]:
    out = [text.strip()]
    bare = re.sub(r"\s*\([^()]*\)\s*$", "", out[0])
    out += [bare, re.sub(r"^(?:the|a|an)\s+", "", bare, flags=re.I)]
    if bare and not bare.lower().startswith("the "):
        out.append(f"the {bare}")
    if len(words(bare)) > 1 and bare.endswith("."):
        out.append(bare.rstrip("."))
    return list(dict.fromkeys(v for v in out if v))
