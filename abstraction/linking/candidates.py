"""The candidate entities of an answer's text: those with the name that fit what the relation asks for, each with its
signs. Signs are how often the source uses it as a value of the relation, the form of the name, and whether the noun of
the question ("Which novel ...?") names it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from abstraction.base.properties import package_data
from abstraction.base.relations import (
    LONGEST_DESCRIPTION,
    ClassFilter,
    Classifier,
    Relation,
    answer_class_of_description,
    answer_classes_by_anchor,
    class_filter,
    relations_by_id,
)
from abstraction.linking.gazetteer import COUNTRY, PLACES, SETTLEMENTS, STATE, Gazetteer
from abstraction.text.descriptions.attested_words import FAMILIES, common_occupations, common_type_names
from abstraction.text.language.languages import bundled_demonyms
from abstraction.text.language.phrases import singular, singular_words
from abstraction.text.questions.question_wording import asked_kind
from kg.base.bounded_cache import SizedDict, bounded_cache
from kg.base.model import normalise
from kg.graph.graph import Graph
from kg.store.protocol import NameMatch, Store

MOST_PAIRS = 1_000_000  # pairs whose counts are kept: 200 MB at most

Pair = tuple[str, str]


class ValueCounts:
    """The number of entities in the source with a (property, value) pair or a property, each read once.

    In linking, the count of an entity as a value of the relation serves as its prior.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._pairs: dict[Pair, int] = {}
        self._totals: dict[str, int] = {}

    def load_pair_counts(self, pairs: Iterable[Pair]) -> None:
        """Read the counts of many pairs from the store at once, before `count_entities_with_value` is called."""
        asked = dict.fromkeys(pairs)
        missing = [pair for pair in asked if pair not in self._pairs]
        if len(self._pairs) + len(missing) > MOST_PAIRS:
            self._pairs.clear()  # all at once: pairs of one question are read together
            missing = list(asked)
        if missing:
            counts = self.store.value_counts(missing)
            self._pairs.update((pair, counts.get(pair, 0)) for pair in missing)

    def count_entities_with_value(self, prop: str, value: str) -> int:
        """The number of entities with (property, value); 0 where there are none."""
        if (prop, value) not in self._pairs:
            self.load_pair_counts([(prop, value)])
        return self._pairs[prop, value]

    def count_entities_with_property(self, prop: str) -> int:
        """The number of entities with the property."""
        if prop not in self._totals:
            self._totals[prop] = self.store.property_counts([prop]).get(prop, 0)
        return self._totals[prop]

    def load_counts_for_relation(self, relation: Relation, ids: Iterable[str]) -> None:
        """Read in one batch the counts of entities as values of the relation and of its kindred relations."""
        self.load_pair_counts(
            (prop, qid) for qid in ids for prop in (relation.id, *relation_ids_with_same_answer_class(relation)) if prop
        )

    def uses(self, relation: Relation, qid: str) -> int:
        """The number of entities with `qid` as the relation's value."""
        return self.count_entities_with_value(relation.id, qid) if relation.id else 0


def relation_ids_with_same_answer_class(relation: Relation) -> tuple[str, ...]:
    """The other relations of the table that ask for the same kind of answer; empty where any kind is asked for."""
    if relation.asks == "any":
        return ()
    return tuple(row.id for row in relations_by_id().values() if row.asks == relation.asks and row.id != relation.id)


# Names with a type: "Yunnan province", "the city of Lyon", "Lyon (city)", "the French composer Debussy".
#
# The type is accepted where an entity of the bare name has it: where one of its classes or occupations, or a class
# right above one, is named by the type or by a phrase that ends in it before "of" or "in" ("province of China").
# The description of a person may contain it too.

LONGEST_TYPE = 3  # words of the longest type
_OF = re.compile(r"\A(?P<type>[^\W\d_][\w '-]*?) of (?:the )?(?P<name>\S(?s:.*))\Z", re.I)  # "the city of Lyon"
_BRACKETED = re.compile(r"\A(?P<name>[^()]*\S)\s*\((?:the |an? )?(?P<type>[^()]+)\)\Z", re.I)  # "Lyon (city)"
_ARTICLE = re.compile(r"\A(?:the|an?)\s+", re.I)
_WORD = re.compile(r"[^\W_]+")
# The end of the head noun of a class label.
_HEAD = re.compile(r"(?<!\s)\s++(?:of|in|within|for)\s+|(?:(?<!\s)\s++)?[,(]")


@dataclass(frozen=True, slots=True)
class _Split:
    name: str
    type: str
    proper: bool = False


def split_type(text: str) -> Iterator[_Split]:
    """The possible splits of a text into name and type; types are normalised."""
    whole = " ".join(text.split())
    if not any(c.isupper() for c in whole):
        return
    if match := _BRACKETED.match(whole):
        yield _Split(match["name"], normalise(match["type"]))
        return
    bare = _ARTICLE.sub("", whole)
    if match := _OF.match(bare):
        yield _Split(match["name"], normalise(match["type"]))
    words = bare.split(" ")
    for size in range(1, min(LONGEST_TYPE, len(words) - 1) + 1):
        ending = words[-size:]
        yield _Split(" ".join(words[:-size]), normalise(" ".join(ending)), proper=ending[0][:1].isupper())
    nation = len(words) > 2 and normalise(words[0]) in bundled_demonyms().countries
    for size in range(1 + nation, min(LONGEST_TYPE + nation, len(words) - 1) + 1):
        yield _Split(" ".join(words[size:]), normalise(" ".join(words[nation:size])))


# Entities with the name that fit what the relation asks for.

CODE_LENGTH = 3  # letters; a lower-case text of at most this length may be a code: "no" is that of Norwegian
PROVEN = 3  # least number of uses as a value by which the source proves that an entity fits the relation
ENDINGS = {"label": ("Records", "Recordings")}  # endings of official names, by the class that is asked for
UNCOUNTED = 1000.0  # inhabitants assumed where none are stated
UNRELATED_TO_SIZE = frozenset({"P36"})  # a capital may be small
CANDIDATES_KEPT = 20_000_000  # characters of texts whose candidates, or their signs, are cached: 80 MB each at most
MOST = 60  # candidates that are weighed; of a longer list those with the most uses


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """An entity that the text may refer to, with the matched name.

    `exact`: whether the name equals the text; `fits`: whether its class is one that is asked for.
    """

    qid: str
    name: NameMatch
    exact: bool
    fits: bool


class Candidates:
    """Finds and describes candidates in one graph."""

    def __init__(self, graph: Graph, gazetteer: Gazetteer, priors: ValueCounts) -> None:
        self._graph = graph
        self._gazetteer = gazetteer
        self._classes = gazetteer.classes
        self._priors = priors
        self._types: dict[str, frozenset[str]] = {}
        self._candidates: SizedDict[tuple[str, str, str], tuple[Candidate, ...] | None] = SizedDict(
            CANDIDATES_KEPT, lambda key, candidates: len(key[0]) + 200 * (1 + len(candidates or ()))
        )
        self._signs: SizedDict[tuple[str, str, str, tuple[str, ...]], dict[str, dict[str, float]]] = SizedDict(
            CANDIDATES_KEPT, lambda key, signs: len(key[0]) + 600 * (1 + len(signs))
        )

    def fitting_candidates_or_none(self, text: str, relation: Relation) -> Sequence[Candidate] | None:
        """The candidates of a text as an answer to the relation: items with the name that fit; None where no item has
        the name.
        """
        key = (text, relation.id, relation.asks)
        if key not in self._candidates:
            matches = self.items_by_first_matching_form(text, relation)
            self._candidates[key] = tuple(self.filter_fitting(matches, text, relation)) if matches else None
        return self._candidates[key]

    def items_by_first_matching_form(self, text: str, relation: Relation) -> tuple[NameMatch, ...]:
        """Items with the name, from the first form of the text that has any.

        The forms are: as written; without brackets; without or with an article; with a usual ending ("Stax" for "Stax
        Records"); then without its type ("Yunnan province") or container.
        """
        # If any answer is possible, "yes" is not the band and "no" not the country.
        bare_word = relation.asks == "any" and text.islower()
        if text.endswith(")") and (matches := self.find_typed(text)):
            return matches  # "Boston (town)" is not every Boston
        for variant in (*name_variants(text), *(f"{text} {end}" for end in ENDINGS.get(relation.asks, ()))):
            matches = self._fetch_items_named(variant)
            if bare_word:
                matches = tuple(m for m in matches if m.text.islower() and len(m.text) > CODE_LENGTH)
            if matches:
                return matches
        return (
            ()
            if bare_word
            else self.find_typed(text)
            or self._find_place_by_containers(text)
            or self._find_place_or_person_in_phrase(text)
        )

    def find_typed(self, text: str) -> tuple[NameMatch, ...]:
        """The items that a text with name and type refers to, by the first split that fits; empty for other texts."""
        splits = list(split_type(text))
        self._graph.prefetch_names(split.name for split in splits)
        for split in splits:
            if fitting := tuple(m for m in self._fetch_items_named(split.name) if self._is_of_type(m.id, split)):
                return fitting
        return ()

    def _is_of_type(self, entity_id: str, split: _Split) -> bool:
        """Whether the type is a name of a class or occupation, or in a person's description: "American swimmer".

        A type in capitals belongs to the names of divisions alone: "Kunming City" need not be the city Kunming.
        """
        graph, answer_classes = self._graph, self._classes(entity_id)
        kinds = (*graph.classes(entity_id), *graph.targets(entity_id, "P106"))
        if any(split.type in self._names_and_heads_of_class_and_superclasses(kind) for kind in kinds) and (
            not split.proper or ("place" in answer_classes and not graph.is_instance(entity_id, SETTLEMENTS))
        ):
            return True
        description = graph.description(entity_id) if "person" in answer_classes else None
        return description is not None and f" {split.type} " in f" {' '.join(_WORD.findall(normalise(description)))} "

    def _names_and_heads_of_class_and_superclasses(self, class_id: str) -> frozenset[str]:
        known = self._types.get(class_id)
        if known is None:
            near = [class_id, *self._graph.targets(class_id, "P279")]
            self._graph.fetch(near)
            out = set()
            for name in (name for kind in near for name in self._graph.names(kind)):
                key = normalise(name)
                head = _HEAD.split(key)[0]
                out |= {key, head, head.rpartition(" ")[2]}
            known = self._types[class_id] = frozenset(out - {""})
        return known

    def _find_place_by_containers(self, text: str) -> tuple[NameMatch, ...]:
        """Places by a chain: those with the first name that lie in all the others, "Warren, Ohio"."""
        first, *around = (part.strip() for part in text.rstrip(". ").split(",", LONGEST_CHAIN))
        names = {normalise(part) for part in around}
        if not around or not first or "" in names:
            return ()
        for variant in name_variants(first):
            places = [m for m in self._fetch_items_named(variant) if not PLACES.isdisjoint(self._classes(m.id))]
            if inside := tuple(m for m in places if names <= self._gazetteer.container_names(m.id)):
                return inside
        return ()

    def _fetch_items_named(self, name: str) -> tuple[NameMatch, ...]:
        """The items with a name, fetched into the graph."""
        matches = tuple(m for m in self._graph.find(name) if m.id.startswith("Q"))
        self._graph.fetch(m.id for m in matches)
        return matches

    def _find_place_or_person_in_phrase(self, text: str) -> tuple[NameMatch, ...]:
        """Places after a preposition ("in Munich"), persons before their role ("Bob Geldof as Pink")."""
        for pattern, kinds in ((_IN, PLACES), (_AS, _PERSONS)):
            if match := pattern.fullmatch(text.strip()):
                named = self._fetch_items_named(match["name"])
                if fitting := tuple(m for m in named if not kinds.isdisjoint(self._classes(m.id))):
                    return fitting
        return ()

    def filter_fitting(self, matches: Iterable[NameMatch], text: str, relation: Relation) -> list[Candidate]:
        """The matches that fit what the relation asks for, in order.

        An entity fits by its class; or, with an unknown or other class, if the source uses it at least PROVEN times as
        the relation's value. Entities without a known class fit too if nothing else does and the text is their label.
        """
        filter_ = class_filter(relation.asks)
        is_kin = relation.asks == relation.subject == "person"  # a band may make songs, but is nobody's child
        out: dict[str, Candidate] = {}
        spare: dict[str, Candidate] = {}
        for match in matches:
            kinds = self._classes(match.id)
            if "never" in kinds or match.id in out or (is_kin and "group" in kinds):
                continue
            fits = filter_ is None or (bool(kinds) and passes_class_filter(kinds, filter_))
            candidate = Candidate(qid=match.id, name=match, exact=match.text == text.strip(), fits=fits)
            (out if fits else spare)[match.id] = candidate
        if spare and relation.id:
            self._priors.load_counts_for_relation(relation, spare)
            for qid, candidate in spare.items():
                if self._priors.uses(relation, qid) >= PROVEN:
                    out[qid] = candidate
        if not out:
            out = {i: c for i, c in spare.items() if not self._classes(i) and c.name.kind == "label"}
        if len(out) > MOST:
            self._priors.load_counts_for_relation(relation, out)
            most_used = sorted(out, key=lambda i: -self._priors.uses(relation, i))[:MOST]
            out = {i: out[i] for i in most_used}
        return list(out.values())

    def signs(self, candidates: Sequence[Candidate], text: str, relation: Relation) -> dict[str, dict[str, float]]:
        """The signs of each candidate that do not depend on the question, by name.

        "label" and "exact": the text is its label or equivalent; equals its name. "fits": its class is asked for.
        "uses" and "kindred": log(1 + number of uses as the value of the relation; of relations that ask for the same).
        "sitelinks" and "inhabitants": logarithms; the latter only where no candidate has uses. "prefers" and "suits":
        has the class or occupation that answers usually have. "past": no longer exists. "no_tier": a region that is
        never used as an answer. "outer" and "inner": contains, or lies in, a namesake.
        """
        key = (text, relation.id, relation.asks, tuple(c.qid for c in candidates))
        if key not in self._signs:
            self._signs[key] = self._signs_of(candidates, text, relation)
        return {qid: dict(signs) for qid, signs in self._signs[key].items()}

    def _signs_of(self, candidates: Sequence[Candidate], text: str, relation: Relation) -> dict[str, dict[str, float]]:
        ids = [c.qid for c in candidates]
        self._priors.load_counts_for_relation(relation, ids)
        family = self._nesting_among_namesakes(ids, text)
        filter_ = class_filter(relation.asks)
        states = self._present_states_with_alias(candidates)
        out: dict[str, dict[str, float]] = {}
        for candidate in candidates:
            qid = candidate.qid
            entity = self._graph.entity(qid)
            out[qid] = {
                "label": candidate.name.kind == "label" or qid in states,
                "exact": candidate.exact,
                "fits": candidate.fits,
                "uses": math.log1p(self._priors.uses(relation, qid)),
                "kindred": math.log1p(
                    sum(
                        self._priors.count_entities_with_value(prop, qid)
                        for prop in relation_ids_with_same_answer_class(relation)
                    )
                ),
                "sitelinks": math.log1p(entity.sitelinks if entity else 0),
                "prefers": filter_ is not None and not filter_.prefers.isdisjoint(self._classes(qid)),
                "suits": self._has_usual_class_or_occupation(qid, relation),
                "past": self._graph.is_historical(qid),
                "no_tier": self._gazetteer.is_region_unused_as_tier(qid),
                "outer": family[qid] > 0,
                "inner": family[qid] < 0,
            }
        # Size is no evidence for a capital.
        if relation.id not in UNRELATED_TO_SIZE and not any(s["uses"] or s["kindred"] for s in out.values()):
            # The logarithm of the inhabitants in thousands; a region has a tenth of them, so that a city outranks it.
            for qid, signs in out.items():
                settled = self._graph.is_instance(qid, SETTLEMENTS) or not self._graph.classes(qid)
                people = max(UNCOUNTED, self._gazetteer.inhabitants(qid))
                signs["inhabitants"] = math.log(people / UNCOUNTED / (1 if settled else 10))
        return out

    def _present_states_with_alias(self, candidates: Sequence[Candidate]) -> frozenset[str]:
        """Present states of which the text is an alias, where no country has it as a label.

        "China" means the People's Republic rather than a cultural region, "Netherlands" the country rather than its
        kingdom.
        """
        labelled = [c.qid for c in candidates if c.name.kind == "label"]
        if any(self._gazetteer.is_state(qid) or COUNTRY in self._graph.classes(qid) for qid in labelled):
            return frozenset()
        return frozenset(
            c.qid
            for c in candidates
            if c.fits and len(c.name.text) > CODE_LENGTH and not STATE.isdisjoint(self._graph.classes(c.qid))
            if not self._graph.is_historical(c.qid)
        )

    def has_unsuited_occupation(self, qid: str, relation: Relation) -> bool:
        """Whether the entity has occupations, but none that makers of such works usually have."""
        if relation.subject != "work" or "P106" not in relation.suits or not self._graph.targets(qid, "P106"):
            return False
        return not self._has_usual_class_or_occupation(qid, relation)

    def _has_usual_class_or_occupation(self, qid: str, relation: Relation) -> bool:
        for prop, kinds in relation.suits.items():
            if prop == "P31":
                if self._graph.is_instance(qid, kinds):
                    return True
                continue
            held = self._graph.targets(qid, prop)
            self._graph.fetch(held)
            if any(t in kinds or not kinds.isdisjoint(self._graph.targets(t, "P279")) for t in held):
                return True
        return False

    def _nesting_among_namesakes(self, ids: Collection[str], text: str) -> dict[str, int]:
        """1 for a place that contains a namesake (a city with a borough of its name), -1 for a place in one, else 0."""
        key = normalise(text)
        places = [i for i in ids if not PLACES.isdisjoint(self._classes(i))]
        out = dict.fromkeys(ids, 0)
        for inner in places:
            around = self._gazetteer.container_names(inner)
            if key not in around or self._gazetteer.is_state(inner):
                continue  # the name of a state does not mean the region around it
            for outer in places:
                # A further common container shows that both are the same city.
                theirs = self._gazetteer.container_names(outer)
                if outer != inner and key not in theirs and (theirs & around) - {key}:
                    out[outer], out[inner] = 1, -1
        return out


def passes_class_filter(answer_classes: frozenset[str], filter_: ClassFilter) -> bool:
    """Whether a relation with this class filter accepts an entity with these answer classes."""
    if filter_.fits.isdisjoint(answer_classes):
        return False
    return filter_.excludes.isdisjoint(answer_classes) or not filter_.prefers.isdisjoint(answer_classes)


LONGEST_CHAIN = 4  # commas of a chain that are read
_PERSONS = frozenset({"person"})
_IN = re.compile(r"(?:in|at|from) (?P<name>[^\W\d_a-zß-ÿ][^,.;]{1,60})")  # "in Munich"
_AS = re.compile(r"(?P<name>[^,.;()]{3,60}?) as (?:the |an? )?[^\W\d_][^,.;]{0,60}")  # "Bob Geldof as Pink"
_SENTENCE = re.compile(r"[^\W\d_]{3,40}\.")  # "Munich.", but not an abbreviation of one or two letters


def name_variants(text: str) -> Sequence[str]:
    """Forms of a text: as written, without brackets, without and with an article, without a final full stop."""
    out = [text.strip()]
    bare = re.sub(r"(?:(?<!\s)\s++)?\([^()]*+\)\s*+$", "", out[0])
    out += [bare, re.sub(r"^(?:the|a|an)\s+", "", bare, flags=re.I)]
    if bare and not bare.lower().startswith("the "):
        out.append(f"the {bare}")
    if bare.endswith(".") and (len(singular_words(bare)) > 1 or _SENTENCE.fullmatch(bare)):
        out.append(bare.rstrip("."))
    return list(dict.fromkeys(v for v in out if v))


# The noun of a question, and whether it names a candidate.
#
# Nouns are recognised by the bundled names of kinds (`data/asked_nouns.json`, `classes.json`, the lists of types) or by
# the labels of classes in the graph. An unknown noun, or a phrase with an uncertain end, gives no evidence.

_data = partial(package_data, "asked_nouns.json")
NOUNS_KEPT = 5_000_000  # characters of cached nouns: 20 MB at most
LONGEST_NOUN = 6  # words of a noun phrase that are read
_ASKED = re.compile(
    r"(?:(?:\A|, )(?:(?:in|on|at|to|from|of|for|by|with|during|under|into|near|as|about) )?(?P<open>which|what)"
    r"|\b(?P<last>which|what)|\bname of (?P<named>the|a|an)) (?=(?P<rest>[^?.!,;:]{1,400})(?P<end>[?.!]*\Z)?)",
    re.I,
)
_VERB = re.compile(r"\w+(?:ed|s|ly)\Z|\A[A-ZÀ-Þ\"“'].*")


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedNoun:
    """The noun `text` of a question: `kinds` are the answer classes, or sorts such as "vehicle", that it names; `arts`
    the arts of works, such as "music"; `classes` QIDs.
    """

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

    def signs(self, ids: Iterable[str], question: str, relation: Relation) -> dict[str, dict[str, float]]:
        """The evidence of the question's noun for each id; empty where the question has no known noun.

        "asked": 1 for an entity whose class, occupation or description is the noun, 0.5 for one of the same sort.
        "otherwise": 1 for an entity that is clearly of another sort. A noun that only repeats the relation ("Which
        position ...?") gives no evidence.
        """
        noun = self.noun_of_question_or_its_kind(question, relation)
        if noun is None or (relation.id and noun.text in relation.trivial):
            return {}
        return {qid: self._signs_of(qid, noun) for qid in ids}

    def noun_of_question_or_its_kind(self, question: str, relation: Relation) -> AskedNoun | None:
        """The noun after "which" or "what"; without it and a relation, the noun that determines the kind of answer."""
        noun = self.noun_after_which_or_what(question)
        if noun is None and not relation.id and (named := asked_kind(question, self._graph.shown_in).detail):
            self._graph.prefetch_names([named])
            noun = self._cached_noun(named)
        return noun

    def noun_after_which_or_what(self, question: str) -> AskedNoun | None:
        """The noun after "which" or "what", or None: the first noun, extended by the nouns right after it.

        "film director" for "Which French film director won ...?".
        """
        phrase, whole = _asked_phrase_and_if_whole(question)
        spans = {
            end: [singular(normalise(" ".join(phrase[start:end]))) for start in range(max(0, end - 3), end)]
            for end in range(1, len(phrase) + 1)
        }
        self._graph.prefetch_names(t for texts in spans.values() for t in texts if t not in self._nouns)
        best: AskedNoun | None = None
        for end, texts in spans.items():
            word = phrase[end - 1]
            if best is not None and (word.casefold() in _listed_verbs() or word.casefold().endswith(("s", "ed", "ly"))):
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
        kinds = _listed_answer_classes_of_noun(text) or self._sorts_of_answer_of_instances(classes)
        if not kinds and not classes:
            return None
        return AskedNoun(text=text, kinds=kinds, arts=_arts_of_work_noun(text), classes=classes)

    def _sorts_of_answer_of_instances(self, classes: Iterable[str]) -> frozenset[str]:
        """The answer classes of instances of the classes; empty where one class has none."""
        out: set[str] = set()
        for qid in classes:
            above = self._graph.class_and_superclasses(qid)
            sorts = {sort for sort, row in _data()["sorts"].items() if not above.isdisjoint(row["classes"])}
            if not sorts and {"occupation", "office"} & self._classes(qid):
                sorts = {"person"}
            if not sorts:
                # Only the classes right above: farther up P279 leads to nearly every class.
                near = {qid, *self._graph.targets(qid, "P279")}
                sorts = {kind for i in near for kind in answer_classes_by_anchor().get(i, ())}
            if not sorts:
                return frozenset()
            out |= sorts
        return frozenset(out)

    def _signs_of(self, qid: str, noun: AskedNoun) -> dict[str, float]:
        if self._has_noun_as_class_or_description(qid, noun):
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
            texts = (_opening_phrase(self._graph.description(qid)), *(self._graph.label(i) or "" for i in classes))
            arts = frozenset().union(*map(_arts_of_work_noun, texts))
            return {"asked": 0.5} if not arts.isdisjoint(noun.arts) else {"otherwise": 1.0} if arts else {}
        return {"asked": 0.5}

    def _has_noun_as_class_or_description(self, qid: str, noun: AskedNoun) -> bool:
        graph = self._graph
        if noun.classes:
            if graph.is_instance(qid, noun.classes):
                return True
            held = [*graph.targets(qid, "P106"), *graph.targets(qid, "P39")]
            graph.fetch(held)
            if any(not noun.classes.isdisjoint((i, *graph.targets(i, "P279"))) for i in held):
                return True
        return bool(re.search(rf"\b{re.escape(noun.text)}\Z", _opening_phrase(graph.description(qid))))


def _asked_phrase_and_if_whole(question: str) -> tuple[tuple[str, ...], bool]:
    """The words from the noun phrase on, at most LONGEST_NOUN, and whether all of them belong to it."""
    for match in _ASKED.finditer(question):
        words = match["rest"].split()
        count = next((i for i, w in enumerate(words) if w.casefold() in _listed_verbs()), len(words))
        if not count or (match["last"] and (count < len(words) or match["end"] is None)):
            continue  # "the city which ..." is a relative clause, unless the question ends there
        read = words[:LONGEST_NOUN] if count >= LONGEST_NOUN else words[: count + 1]
        if any(re.search(r"['’]s?\Z", word) for word in read[:count]):
            continue  # "which country's capital"
        return tuple(read), bool(match["last"])
    return (), False


def _opening_phrase(description: str | None) -> str:
    return re.split(
        r"[,;(]|\s(?:in|of|on|at|from|by|for|with|directed|written|based|that|who|which)\b",
        normalise((description or "")[:LONGEST_DESCRIPTION]),
    )[0].strip()


def _listed_answer_classes_of_noun(text: str) -> frozenset[str]:
    """The answer classes of a noun in the bundled lists."""
    data = _data()
    sorts = frozenset(sort for sort, row in data["sorts"].items() if text in row["nouns"])
    if sorts:
        return sorts
    kinds = {family for family in FAMILIES if text in common_type_names(family)}
    if text in data["persons"] or text in common_occupations():
        kinds.add("person")
    kinds |= {answer_class_of_description(text) or "never"} - {"never"}
    return frozenset(kinds)


@bounded_cache(entries=1 << 12, longest=100)  # 3 MB at most
def _arts_of_work_noun(text: str) -> frozenset[str]:
    key = normalise(text)
    return frozenset(
        art for art, nouns in _data()["works"].items() if any(key == n or key.endswith(f" {n}") for n in nouns)
    )


@lru_cache(maxsize=1)
def _listed_verbs() -> frozenset[str]:
    return frozenset(_data()["verbs"])
