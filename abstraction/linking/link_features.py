"""Evidence about a candidate from the question: its noun ("Which novel ...?"), and its subject, by relations of place,
time and neighbours between both.

Nouns are recognised by the bundled names of kinds (`data/asked_nouns.json`, `classes.json`, the lists of types) or by
the labels of classes in the graph. An unknown noun, or a phrase with an uncertain end, gives no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from abstraction.base.properties import package_data
from abstraction.base.relations import LONGEST_DESCRIPTION, Classifier, Relation, anchors, class_of_description
from abstraction.linking.gazetteer import Gazetteer
from abstraction.text.descriptions.attested_words import FAMILIES, common_occupations, common_types
from abstraction.text.language.demonyms import bundled_demonyms
from abstraction.text.language.phrases import all_words, content, stem
from abstraction.text.questions.question_wording import asked_kind
from kg.base.bounded_cache import SizedDict, bounded_cache
from kg.base.model import Statement, TimeValue, normalise
from kg.graph.graph import Graph

_data = partial(package_data, "asked_nouns.json")

NOUNS_KEPT = 5_000_000  # characters of cached nouns, and of cached phrases: 20 MB each at most
LONGEST_NOUN = 6  # words of a noun phrase that are read
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
        self._nouns: SizedDict[str, AskedNoun | None] = SizedDict(NOUNS_KEPT, lambda text, _: len(text) + 200)
        self._asked: SizedDict[tuple[tuple[str, ...], bool], AskedNoun | None] = SizedDict(
            NOUNS_KEPT, lambda asked, _: sum(map(len, asked[0])) + 600
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
        if asked not in self._asked:
            self._asked[asked] = self._last_noun(asked[0], whole=asked[1])
        return self._asked[asked]

    def _last_noun(self, phrase: tuple[str, ...], *, whole: bool) -> AskedNoun | None:
        """The first noun, extended by the nouns right after it: "film director" of "French film director won"."""
        spans = {
            end: [stem(normalise(" ".join(phrase[start:end]))) for start in range(max(0, end - 3), end)]
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
        return AskedNoun(text=text, kinds=kinds, arts=_arts_of_work_noun(text), classes=classes)

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
            classes = self._graph.classes(qid)
            self._graph.fetch(classes)
            texts = (_head_of_description(self._graph.description(qid)), *(self._graph.label(i) or "" for i in classes))
            arts = frozenset().union(*map(_arts_of_work_noun, texts))
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


def _phrase(question: str) -> tuple[tuple[str, ...], bool]:
    """The words from the noun phrase on, at most LONGEST_NOUN, and whether all of them belong to it."""
    for match in _ASKED.finditer(question):
        words = match["rest"].split()
        count = next((i for i, w in enumerate(words) if w.casefold() in _verbs()), len(words))
        if not count or (match["last"] and (count < len(words) or match["end"] is None)):
            continue  # "the city which ..." is a relative clause, unless the question ends there
        read = words[:LONGEST_NOUN] if count >= LONGEST_NOUN else words[: count + 1]
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
def _arts_of_work_noun(text: str) -> frozenset[str]:
    key = normalise(text)
    return frozenset(
        art for art, nouns in _data()["works"].items() if any(key == n or key.endswith(f" {n}") for n in nouns)
    )


@lru_cache(maxsize=1)
def _verbs() -> frozenset[str]:
    return frozenset(_data()["verbs"])


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
OF_ANOTHER = 2.0  # "foreign" of a film by another maker, which may be based on the subject's book
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

    def signs(
        self,
        ids: Iterable[str],
        relation: Relation,
        subject: str | None,
        question: str,
    ) -> dict[str, Signs]:
        """The signs of each candidate as an answer about the subject; for the subject None by the question's words
        only.
        """
        listed = list(ids)
        if subject is None:
            return {qid: self._signs_of_question(qid, relation, None, question) for qid in listed}
        self._graph.fetch([subject])
        self._graph.fetch(s.target for s in self._statements(subject) if s.target)
        around = self._whereabouts(subject)
        inside = frozenset(around.values())
        placing = self._signs_of_location(listed, subject, relation, around)
        return {
            qid: {
                **self._signs_of_subject(qid, relation, subject, inside=qid in inside),
                **placing[qid],
                **self._signs_of_question(qid, relation, subject, question),
            }
            for qid in listed
        }

    def _signs_of_location(
        self,
        ids: Sequence[str],
        subject: str,
        relation: Relation,
        around: Mapping[frozenset[str], str | None],
    ) -> dict[str, Signs]:
        """The signs of location of each candidate; `around` are the subject's places."""
        description = normalise(self._graph.description(subject) or "")
        names = frozenset().union(*around)
        placed = self._in_a_state(around)
        meeting: dict[str, int] = {}
        apart: dict[str, float] = {}
        for qid in ids:
            called = self._gazetteer.names_of(qid)
            places = {n: i for n, i in self._whereabouts(qid).items() if called.isdisjoint(n)}
            meeting[qid] = sum(
                not names.isdisjoint(place) or any(len(n) > 3 and phrase_in(n, description) for n in place)
                for place in places
            )
            apart[qid] = float(not meeting[qid] and placed and self._in_a_state(places))
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

    def _signs_of_question(self, qid: str, relation: Relation, subject: str | None, question: str) -> Signs:
        own, foreign = self._authorship(qid, relation, subject, question)
        return {"described": self._agrees_with_surroundings(qid, subject, question), "own": own, "foreign": foreign}

    def _signs_of_subject(self, qid: str, relation: Relation, subject: str, *, inside: bool) -> Signs:
        mine, theirs = self._statements(qid), self._statements(subject)
        stated = any(s.property == relation.id and s.target == qid for s in theirs) or any(
            s.property in relation.inverse and s.target == subject for s in mine
        )
        linked = (
            inside
            or any(s.target == qid and s.property != relation.id for s in theirs)
            or any(s.target == subject and s.property not in relation.inverse for s in mine)
        )
        near, around = ({s.target for s in held if s.property not in _NO_NEIGHBOURS} for held in (mine, theirs))
        own_words, words_of_subject = (content(self._graph.description(i) or "") for i in (qid, subject))
        return {
            "stated": stated,
            "linked": linked,
            "neighbours": min(len(near & around), 3),
            "words": min(len(own_words & words_of_subject), 3),
            "anachronism": self._cannot_meet(qid, subject, relation),
        }

    def _statements(self, entity_id: str) -> list[Statement]:
        """The entity's statements about other entities, without deprecated ones."""
        entity = self._graph.entity(entity_id)
        return [s for s in entity.statements if s.rank != "deprecated" and s.target] if entity is not None else []

    def _whereabouts(self, entity_id: str) -> dict[frozenset[str], str | None]:
        """The places of the entity by statements and description, with their containers: QIDs by normalised names."""
        if entity_id in self._where:
            return self._where[entity_id]
        out = {names: qid for qid, names in self._gazetteer.containers(entity_id)}
        for statement in self._statements(entity_id):
            if statement.property in _PLACES and statement.target:
                out.setdefault(self._gazetteer.names_of(statement.target), statement.target)
                for qid, names in self._gazetteer.containers(statement.target):
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

    def _in_a_state(self, places: Mapping[frozenset[str], str | None]) -> bool:
        """Whether one of the places is a state."""
        states = bundled_demonyms().names
        return any(
            (qid is not None and self._gazetteer.is_state(qid)) or any(n in states for n in names)
            for names, qid in places.items()
        )

    def _agrees_with_surroundings(self, qid: str, subject: str | None, question: str) -> bool:
        """Whether the candidate's description or containers name the subject, or the question its containers."""
        if subject is not None:
            description = normalise(self._graph.description(qid) or "")
            own_names = self._gazetteer.names_of(qid)
            above = self._gazetteer.above(qid)
            names = [n for n in map(normalise, self._graph.names(subject)) if len(n) > 3 and n not in own_names]
            if any(n in above or phrase_in(n, description) for n in names):
                return True
        asked = normalise(question)
        if qid not in self._names_of_containers:
            above = self._gazetteer.above(qid) - self._gazetteer.names_of(qid)
            self._names_of_containers[qid] = tuple(name for name in above if len(name) > 3)
        return any(n in asked and phrase_in(n, asked) for n in self._names_of_containers[qid])

    def _authorship(self, qid: str, relation: Relation, subject: str | None, question: str) -> tuple[float, float]:
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
        described = all_words(self._graph.description(subject) or "") if subject is not None else ()
        takes_part = not _PARTICIPANTS.isdisjoint(described)
        return 0, (OF_ANOTHER if is_film else 1.0) * (bool(names) and not takes_part)

    def _cannot_meet(self, qid: str, subject: str, relation: Relation) -> bool:
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
        begin, end = (self._year(entity_id, props) for props in (_BEGINS, _ENDS))
        if begin is None and end is None:
            description = self._graph.description(entity_id) or ""
            if match := _LIFE.search(description) or _YEAR.search(description):
                parts = match.groupdict()
                return int(parts["begin"]), int(parts["end"]) if parts.get("end") else None
        return begin, end

    def _year(self, entity_id: str, props: Iterable[str]) -> int | None:
        for prop in props:
            years = [
                s.value.year
                for s in self._graph.statements(entity_id, prop)
                if s.rank != "deprecated" and isinstance(s.value, TimeValue) and s.value.precision >= 9
            ]
            if years:
                return min(years)
        return None


def phrase_in(phrase: str, text: str) -> bool:
    """Whether the phrase occurs in the text as whole words."""
    start = text.find(phrase) if phrase else -1
    while start >= 0:
        end = start + len(phrase)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (before.isalnum() or after.isalnum()):
            return True
        start = text.find(phrase, start + 1)
    return False
