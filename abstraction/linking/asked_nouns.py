"""The noun of "Which novel ...?": its evidence about candidate entities, and the wording of containers by it.

Nouns are recognised by the bundled names of kinds (`data/asked_nouns.json`, `classes.json`, the lists of types) or by
the labels of classes in the graph. An unknown noun, or a phrase with an uncertain end, gives no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial

from abstraction.base.classes import Classifier, anchors, class_of_description
from abstraction.base.properties import package_data
from abstraction.base.relations import Relation
from abstraction.base.trimming import LONGEST as LONGEST_DESCRIPTION
from abstraction.text.descriptions.attested_words import FAMILIES, common_occupations, common_types
from abstraction.text.questions.question_kinds import asked_kind, singular
from kg.base.bounded_cache import SizedDict, bounded_cache
from kg.base.terms import normalise
from kg.graph.graph import Graph

# Wording of containers by the kind that is asked for: "a country in Asia", "a city in Gabon".
#
# The bare name of a container answers "where". It does not answer "which capital", since "Gabon" is not a capital:
# there the bare name is not among the names of the tier.

_data = partial(package_data, "asked_nouns.json")


# Evidence of the noun about candidate entities.


KEPT = 5_000_000  # characters of cached nouns, and of cached phrases: 20 MB each at most
LONGEST = 6  # words of a noun phrase that are read
_ASKED = re.compile(
    r"(?:(?:\A|, )(?:(?:in|on|at|to|from|of|for|by|with|during|under|into|near|as|about) )?(?P<open>which|what)"
    r"|\b(?P<last>which|what)|\bname of (?P<named>the|a|an)) (?=(?P<rest>[^?.!,;:]{1,400})(?P<end>[?.!]*\Z)?)",
    re.I,
)
_VERB = re.compile(r"\w+(?:ed|s|ly)\Z|\A[A-ZÀ-Þ\"“'].*")


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedNoun:
    """A noun with the answer classes and sorts, arts of works and classes (QIDs) that it names."""

    text: str
    kinds: frozenset[str]
    arts: frozenset[str]
    classes: frozenset[str]


class AskedNouns:
    """Finds the noun of a question in one graph, and evidence for candidates; create one instance per graph."""

    def __init__(self, graph: Graph, classes: Classifier) -> None:
        self._graph = graph
        self._classes = classes
        self._nouns: SizedDict[str, AskedNoun | None] = SizedDict(KEPT, lambda text, _: len(text) + 200)
        self._asked: SizedDict[tuple[tuple[str, ...], bool], AskedNoun | None] = SizedDict(
            KEPT, lambda asked, _: sum(map(len, asked[0])) + 600
        )

    def signs(self, ids: Iterable[str], question: str, relation: Relation) -> dict[str, dict[str, float]]:
        """The evidence of the question's noun for each id; empty where the question has no known noun.

        "asked": 1 for an entity named so by class, occupation or description, 0.5 for one of its sort. "otherwise": 1
        for an entity that is clearly of another sort. A noun that only repeats the relation ("Which position ...?")
        gives no evidence.
        """
        noun = self.of(question, relation)
        if noun is None or (relation.id and noun.text in relation.trivial):
            return {}
        return {qid: self._signs_of(qid, noun) for qid in ids}

    def of(self, question: str, relation: Relation) -> AskedNoun | None:
        """The noun found by `read`, or for a question without relation the noun that determines its kind of answer."""
        noun = self.read(question)
        if noun is None and not relation.id and (named := asked_kind(question, self._graph.shown_in).detail):
            self._graph.find_all([named])
            noun = self._cached_noun(named)
        return noun

    def read(self, question: str) -> AskedNoun | None:
        """The noun after "which" or "what", or None."""
        asked = _phrase(question)
        phrase, whole = asked
        if not phrase:
            return None
        if asked not in self._asked:
            self._asked[asked] = self._last_noun(phrase, whole=whole)
        return self._asked[asked]

    def _last_noun(self, phrase: tuple[str, ...], *, whole: bool) -> AskedNoun | None:
        """The first noun, extended by the nouns right after it: "film director" of "French film director won"."""
        spans = {
            end: [singular(normalise(" ".join(phrase[start:end]))) for start in range(max(0, end - 3), end)]
            for end in range(1, len(phrase) + 1)
        }
        self._graph.find_all(t for texts in spans.values() for t in texts if t not in self._nouns)
        best: AskedNoun | None = None
        for end, texts in spans.items():
            word = phrase[end - 1]
            if best is not None and (word.casefold() in _verbs() or word.casefold().endswith(("s", "ed", "ly"))):
                return None if whole else best
            known_noun = next((noun for text in texts if (noun := self._cached_noun(text))), None)
            if best is not None and known_noun is None:
                return best if _VERB.match(word) and not whole else None
            best = known_noun or best
        return best

    def _cached_noun(self, text: str) -> AskedNoun | None:
        if text not in self._nouns:
            self._nouns[text] = self._look_up_noun(text)
        return self._nouns[text]

    def _look_up_noun(self, text: str) -> AskedNoun | None:
        if text in _data()["silent"]:
            return AskedNoun(text=text, kinds=frozenset(), arts=frozenset(), classes=frozenset())
        entity_ids = [m.id for m in self._graph.find(text) if m.id.startswith("Q") and m.kind == "label"]
        self._graph.fetch(entity_ids)
        classes = frozenset(i for i in entity_ids if self._graph.targets(i, "P279"))
        kinds = _listed_kinds(text) or self._kinds_of(classes)
        if not kinds and not classes:
            return None
        return AskedNoun(text=text, kinds=kinds, arts=_arts(text), classes=classes)

    def _kinds_of(self, classes: Iterable[str]) -> frozenset[str]:
        """The answer classes of instances of the classes; empty where one class has none."""
        out: set[str] = set()
        for qid in classes:
            above = self._graph.superclasses(qid)
            sorts = {sort for sort, row in _data()["sorts"].items() if not above.isdisjoint(row["classes"])}
            if not sorts and {"occupation", "office"} & self._classes(qid):
                sorts = {"person"}
            if not sorts:
                # Only the classes right above: farther up P279 leads to nearly every class.
                near = {qid, *self._graph.targets(qid, "P279")}
                sorts = {kind for i in near for kind in anchors().get(i, ())}
            if not sorts:
                return frozenset()
            out |= sorts
        return frozenset(out)

    def _signs_of(self, qid: str, noun: AskedNoun) -> dict[str, float]:
        if self._is_such(qid, noun):
            return {"asked": 1.0}
        kinds = self._classes(qid)
        sorts = frozenset().union(*(_data()["sorts"][k]["classes"] for k in noun.kinds if k in _data()["sorts"]))
        if sorts and self._graph.is_instance(qid, sorts):
            return {"asked": 0.5}
        if not kinds or not noun.kinds:
            return {}
        reach = frozenset().union(*(row for row in _data()["families"] if not noun.kinds.isdisjoint(row)))
        if reach.isdisjoint(kinds):
            return {"otherwise": 1.0}
        if kinds.isdisjoint(noun.kinds):
            return {}
        if noun.arts and "work" in kinds:
            arts = self._arts_of(qid)
            return {"asked": 0.5} if not arts.isdisjoint(noun.arts) else {"otherwise": 1.0} if arts else {}
        return {"asked": 0.5}

    def _is_such(self, qid: str, noun: AskedNoun) -> bool:
        graph = self._graph
        if noun.classes:
            if graph.is_instance(qid, noun.classes):
                return True
            held = [*graph.targets(qid, "P106"), *graph.targets(qid, "P39")]
            graph.fetch(held)
            if any(not noun.classes.isdisjoint((i, *graph.targets(i, "P279"))) for i in held):
                return True
        return bool(re.search(rf"\b{re.escape(noun.text)}\Z", _head_of_description(graph.description(qid))))

    def _arts_of(self, qid: str) -> frozenset[str]:
        arts = _arts(_head_of_description(self._graph.description(qid)))
        kinds = self._graph.classes(qid)
        self._graph.fetch(kinds)
        return arts.union(*(_arts(self._graph.label(i) or "") for i in kinds))


def _phrase(question: str) -> tuple[tuple[str, ...], bool]:
    """The words from the noun phrase on, at most LONGEST, and whether all of them belong to it."""
    for match in _ASKED.finditer(question):
        words = match["rest"].split()
        count = next((i for i, w in enumerate(words) if w.casefold() in _verbs()), len(words))
        if not count or (match["last"] and (count < len(words) or match["end"] is None)):
            continue  # "the city which ..." is a relative clause, unless the question ends there
        read = words[:LONGEST] if count >= LONGEST else words[: count + 1]
        if any(re.search(r"['’]s?\Z", word) for word in read[:count]):
            continue  # "which country's capital"
        return tuple(read), bool(match["last"])
    return (), False


def _head_of_description(description: str | None) -> str:
    return re.split(
        r"[,;(]|\s(?:in|of|on|at|from|by|for|with|directed|written|based|that|who|which)\b",
        normalise((description or "")[:LONGEST_DESCRIPTION]),
    )[0].strip()


def _listed_kinds(text: str) -> frozenset[str]:
    """The answer classes of a noun in the bundled lists."""
    data = _data()
    sorts = frozenset(sort for sort, row in data["sorts"].items() if text in row["nouns"])
    if sorts:
        return sorts
    kinds = {family for family in FAMILIES if text in common_types(family)}
    if text in data["persons"] or text in common_occupations():
        kinds.add("person")
    kinds |= {class_of_description(text) or "never"} - {"never"}
    return frozenset(kinds)


@bounded_cache(entries=1 << 12, longest=100)  # 3 MB at most
def _arts(text: str) -> frozenset[str]:
    key = normalise(text)
    return frozenset(
        art for art, nouns in _data()["works"].items() if any(key == n or key.endswith(f" {n}") for n in nouns)
    )


@lru_cache(maxsize=1)
def _verbs() -> frozenset[str]:
    return frozenset(_data()["verbs"])
