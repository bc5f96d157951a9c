"""The noun of "Which novel ...?", and what it says about the entities that may answer.

A noun is known by the bundled names of kinds (`data/asked_nouns.json`, `classes.json`, the lists of types) or as
the label of a class in the graph. One that nobody knows says nothing, nor does a phrase whose end is not certain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from abstraction.classes import Classifier, anchors, class_of_description
from abstraction.descriptions.attested_words import FAMILIES, common_occupations, common_types
from abstraction.descriptions.trimming import LONGEST as LONGEST_DESCRIPTION
from abstraction.questions.question_kinds import asked_kind
from abstraction.relations import Relation
from kg.bounded_cache import SizedDict, bounded_cache
from kg.terms import normalise
from kg.walks.graph import Graph

KEPT = 5_000_000  # characters of nouns, and of phrases, that are kept: 20 MB each at most
LONGEST = 6  # words of a noun phrase that are read
_ASKED = re.compile(
    r"(?:(?:\A|, )(?:(?:in|on|at|to|from|of|for|by|with|during|under|into|near|as|about) )?(?P<open>which|what)"
    r"|\b(?P<last>which|what)|\bname of (?P<named>the|a|an)) (?=(?P<rest>[^?.!,;:]{1,400})(?P<end>[?.!]*\Z)?)",
    re.I,
)
_VERB = re.compile(r"\w+(?:ed|s|ly)\Z|\A[A-ZÀ-Þ\"“'].*")


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedNoun:
    """A noun with what it names: answer classes and sorts, arts of works, and ids of classes in the graph."""

    text: str
    kinds: frozenset[str]
    arts: frozenset[str]
    classes: frozenset[str]


class AskedNouns:
    """Reads questions against one graph; one of them a graph."""

    def __init__(self, graph: Graph, classes: Classifier) -> None:
        self._graph = graph
        self._classes = classes
        self._nouns: SizedDict[str, AskedNoun | None] = SizedDict(KEPT, lambda text, _: len(text) + 200)
        self._asked: SizedDict[tuple[tuple[str, ...], bool], AskedNoun | None] = SizedDict(
            KEPT, lambda asked, _: sum(map(len, asked[0])) + 600
        )

    def signs(self, ids: Iterable[str], question: str, relation: Relation) -> dict[str, dict[str, float]]:
        """What the question's noun says of each; nothing where it has none that is known.

        "asked": 1 for such a thing by class, occupation or description, one half for its sort. "otherwise": 1 for
        what is clearly of another sort. A noun that only repeats the relation ("Which position ...?") adds nothing
        to what the relation's values tell.
        """
        noun = self.of(question, relation)
        if noun is None or (relation.id and noun.text in relation.trivial):
            return {}
        return {qid: self._signs_of(qid, noun) for qid in ids}

    def of(self, question: str, relation: Relation) -> AskedNoun | None:
        """What `read` finds, and for a question without relation any noun by which its kind of answer is known."""
        noun = self.read(question)
        if noun is None and not relation.id and (named := asked_kind(question, self._graph.shown_in).detail):
            self._graph.find_all([named])
            noun = self._noun(named)
        return noun

    def read(self, question: str) -> AskedNoun | None:
        """The noun that a question asks "which" or "what" of, or None."""
        asked = _phrase(question)
        phrase, whole = asked
        if not phrase:
            return None
        if asked not in self._asked:
            self._asked[asked] = self._last_noun(phrase, whole=whole)
        return self._asked[asked]

    def _last_noun(self, phrase: tuple[str, ...], *, whole: bool) -> AskedNoun | None:
        """The first noun with the nouns right behind it: "film director" of "French film director won"."""
        spans = {
            end: [_singular(" ".join(phrase[start:end])) for start in range(max(0, end - 3), end)]
            for end in range(1, len(phrase) + 1)
        }
        self._graph.find_all(t for texts in spans.values() for t in texts if t not in self._nouns)
        best: AskedNoun | None = None
        for end, texts in spans.items():
            word = phrase[end - 1]
            if best is not None and (word.casefold() in _verbs() or word.casefold().endswith(("s", "ed", "ly"))):
                return None if whole else best
            known_noun = next((noun for text in texts if (noun := self._noun(text))), None)
            if best is not None and known_noun is None:
                return best if _VERB.match(word) and not whole else None
            best = known_noun or best
        return best

    def _noun(self, text: str) -> AskedNoun | None:
        if text not in self._nouns:
            self._nouns[text] = self._looked_up(text)
        return self._nouns[text]

    def _looked_up(self, text: str) -> AskedNoun | None:
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
        """Of what kind the instances of classes are."""
        out: set[str] = set()
        for qid in classes:
            above = self._graph.superclasses(qid)
            sorts = {sort for sort, row in _data()["sorts"].items() if not above.isdisjoint(row["classes"])}
            if not sorts and {"occupation", "office"} & self._classes(qid):
                sorts = {"person"}
            if not sorts:
                # What lies nearest: upwards P279 soon says everything.
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
        reach = frozenset().union(*(f for f in _families() if not f.isdisjoint(noun.kinds)))
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
        return bool(re.search(rf"\b{re.escape(noun.text)}\Z", _opening(graph.description(qid))))

    def _arts_of(self, qid: str) -> frozenset[str]:
        arts = _arts(_opening(self._graph.description(qid)))
        kinds = self._graph.classes(qid)
        self._graph.fetch(kinds)
        return arts.union(*(_arts(self._graph.label(i) or "") for i in kinds))


def _phrase(question: str) -> tuple[tuple[str, ...], bool]:
    """The words from the noun phrase on, at most LONGEST, and whether all of them must belong to it."""
    for match in _ASKED.finditer(question):
        words = match["rest"].split()
        count = next((i for i, w in enumerate(words) if w.casefold() in _verbs()), len(words))
        if not count or (match["last"] and (count < len(words) or match["end"] is None)):
            continue  # "the city which ...", unless the question ends there
        read = words[:LONGEST] if count >= LONGEST else words[: count + 1]
        if any(re.search(r"['’]s?\Z", word) for word in read[:count]):
            continue  # "which country's capital"
        return tuple(read), bool(match["last"])
    return (), False


def _opening(description: str | None) -> str:
    return re.split(
        r"[,;(]|\s(?:in|of|on|at|from|by|for|with|directed|written|based|that|who|which)\b",
        normalise((description or "")[:LONGEST_DESCRIPTION]),
    )[0].strip()


def _singular(text: str) -> str:
    key = normalise(text)
    if key.endswith("ies") and len(key) > 4 and not key.endswith(("series", "movies", "species")):
        return f"{key[:-3]}y"
    if key.endswith("s") and not key.endswith(("ss", "us", "is", "series", "species")):
        return key[:-1]
    return key


def _listed_kinds(text: str) -> frozenset[str]:
    """The kinds that the bundled lists have a noun for."""
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
def _families() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(row) for row in _data()["families"])


@lru_cache(maxsize=1)
def _verbs() -> frozenset[str]:
    return frozenset(_data()["verbs"])


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Any]:
    text = files("abstraction").joinpath("data/asked_nouns.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data
