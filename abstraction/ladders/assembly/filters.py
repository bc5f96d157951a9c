"""Filters of tiers: other names of the answer, content of the question, and classes that most answers of the relation
share, as measured.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from abstraction.base.properties import with_role
from abstraction.base.relations import Relation, relations_by_id
from abstraction.base.tiers import Condition, Level, Tier
from abstraction.ladders.proposals import Builder, LadderCase, Proposal, ancestors, merge, remove
from abstraction.text.descriptions.place_grammar import barer_names
from abstraction.text.language.phrases import (
    ARTICLE,
    FUNCTION,
    content_words,
    is_well_formed,
    occurs_in,
    singular_words,
    without_article,
)
from kg.base.bounded_cache import SizedDict
from kg.base.model import normalise
from kg.graph.graph import Graph

_NAME = re.compile(r"[^\W\d_]+(?:[ .'’-]+[^\W\d_]+)*")  # letters in words: no brackets, no list
# Separates the name of a subject from the place after it: "Springfield, Illinois"; "Academy (Lyon)".
_PLACE_AFTER_SUBJECT = re.compile(r"(?:(?<!\s)\s++)?[,()]\s*+|(?<!\s)\s++(?:in|near)\s++(?=[A-ZÀ-Þ]|the\b)")
_IN_TOWN = re.compile(r" in ([A-ZÀ-Þ][^,]*), [A-ZÀ-Þ]")  # a town, followed by its state or country
_BELONGING = with_role("whole")  # properties by which the answer is a part of the tier
# Words in names of places larger than a town of the same name. A municipality is the town under another name.
_LARGE = """
    state province region county department district republic kingdom duchy principality prefecture canton governorate
    oblast krai territory territories commonwealth island islands voivodeship emirate estado provincia
"""
DIVISIONS = frozenset(_LARGE.split())
# Words that can be added to the whole name of an answer without changing its meaning: legal forms, ordinals.
_BESIDE = """
    ltd limited inc incorporated corp corporation company co plc llc gmbh ag sa nv bv kk group holdings jr sr i ii iii
    iv v the of and city town language languages f.c fc a.f.c s.p.a spa
"""
_NAME_DECORATION = frozenset(_BESIDE.split())


def is_variant_of_answer_name(text: str, answer_names: Collection[str], *, person: bool) -> bool:
    """Whether a tier text is only another form of the answer's name.

    That is, equal after normalisation, the whole name with a legal form or an ordinal added, or, for persons, a part
    of the name ("E. Wilson" of "Edward O. Wilson").
    """
    words = singular_words(text)
    return any(_is_variant_of_name(words, name, person=person) for name in map(singular_words, answer_names) if name)


def _is_variant_of_name(words: Sequence[str], name: Sequence[str], *, person: bool) -> bool:
    """Whether words are a form of a name; both are normalised words in order."""
    content = [w for w in words if w not in FUNCTION]
    if words == name or (content and content == [w for w in name if w not in FUNCTION]):
        return True
    known = frozenset(name)
    if known.issubset(words) and (added := Counter(words) - Counter(name)) and _NAME_DECORATION.issuperset(added):
        return True
    initials = {w[0] for w in known}
    return (
        person and len(words) > 1 and all(w in known or (len(w.rstrip(".")) == 1 and w[0] in initials) for w in words)
    )


def contains_name(text: str, name: str) -> bool:
    """Whether a text contains the whole name, as words in order."""
    return occurs_in(singular_words(name), singular_words(text))


def is_descriptive_phrase(text: str) -> bool:
    """Whether a tier is a description ("a city in Ohio"), not a name."""
    return ARTICLE.match(text) is not None and text[:1].islower()


def only_repeats_question(text: str, question: str) -> bool:
    """Whether every content word of the tier is in the question already."""
    mine = content_words(text)
    return bool(mine) and mine <= content_words(question)


def question_places_answer_in(question: str, subject_text: str | None, place_names: Sequence[str]) -> bool:
    """Whether the question itself places the answer in the place with these names, the usual name first.

    True where the place is the subject ("the capital of Pitkin County"), where it follows the name of the subject as
    its location ("Springfield, Illinois"; "Academy (Lyon)"), and where the words of the question name it. A word
    inside a name does not count: Massachusetts Mutual may have its seat anywhere.
    """
    if not subject_text:
        return only_repeats_question(place_names[0], question)
    subject, *places = [part for part in _PLACE_AFTER_SUBJECT.split(subject_text) if part.strip()] or [""]
    given = {without_article(name) for name in (*barer_names(subject), *places)}
    return any(without_article(name) in given for name in place_names) or only_repeats_question(
        place_names[0], question.replace(subject_text, " ")
    )


def only_repeats_kind_asked_for(proposal: Proposal, relation: Relation) -> bool:
    """Whether the tier, or a usual name of its entity, only repeats the kind of answer that the relation asks for."""
    if without_article(proposal.text) in relation.trivial:
        return True
    is_class = proposal.qid is not None and proposal.text[:1].islower()
    # Later aliases are often wrong or rare; the first ones are the usual names.
    return is_class and any(normalise(alias) in relation.trivial for alias in proposal.aliases[:3])


def remove_answer_names_and_trivial(
    nodes: dict[str, Proposal], *, relation: Relation, answer_names: Sequence[str], is_place: bool, is_person: bool
) -> tuple[dict[str, Proposal], tuple[str, ...]]:
    """The proposals that may be tiers for any wording of the question, and the texts that were removed since they name
    the answer.

    `answer_names` starts with the label and the gold text. Order of the filters: aliases of the answer, texts that
    contain its name, malformed texts, tiers that the relation's row lists as trivial.
    """
    label = answer_names[0] if answer_names else ""
    texts_of_answer: list[str] = []

    def is_name_of_answer(p: Proposal) -> bool:
        # A larger place of the same name (New York in New York) is not the answer; without an id only names can decide.
        same = is_variant_of_answer_name(p.text, answer_names[:2] if p.qid else answer_names, person=is_person)
        same = same or (relation.asks == "genre" and p.text[:1].isupper() and f"{p.text} film" == label)
        if same:
            texts_of_answer.append(p.text)
        return same

    nodes = _disambiguate_names(nodes, answer_names[:2] if is_place else ())
    nodes = remove(nodes, is_name_of_answer)
    inside = tuple(f" in {the}{normalise(label)}" for the in ("", "the "))  # "a city in Padua", for Padua

    def contains_answer_name(p: Proposal) -> bool:
        if is_place:
            return p.qid is None and is_descriptive_phrase(p.text) and normalise(p.text).endswith(inside)
        town = _IN_TOWN.search(p.text)  # after which the answer is named: "in Kent, Ohio" for Kent State University
        return (p.qid is None and contains_name(p.text, label)) or (town is not None and contains_name(label, town[1]))

    nodes = remove(
        nodes,
        lambda p: contains_answer_name(p) or not is_well_formed(p.text) or only_repeats_kind_asked_for(p, relation),
    )
    return nodes, tuple(texts_of_answer)


def keys_leaked_by_question(
    nodes: Mapping[str, Proposal], *, question: str, subject: str | None, subject_text: str | None
) -> frozenset[str]:
    """The keys of proposals that name the subject, or whose content is in the words of the question."""

    def is_leaked(p: Proposal) -> bool:
        if p.qid is not None and p.qid == subject:
            return True
        if names_place_or_institution(p):
            return question_places_answer_in(question, subject_text, (p.text, *p.aliases))
        return only_repeats_question(p.text, question)

    return frozenset(key for key, node in nodes.items() if is_leaked(node))


def remove_keys_and_merge_names(
    nodes: dict[str, Proposal], unwanted_keys: Collection[str], answer_names: Sequence[str]
) -> dict[str, Proposal]:
    """The proposals without the `unwanted_keys`, with tiers of the same name merged, and without aliases that are the
    text of another tier.

    `answer_names` are names that no tier may have as an alias.
    """
    return _drop_ambiguous_aliases(_merge_same_names(remove(nodes, lambda p: p.key in unwanted_keys)), answer_names)


def _disambiguate_names(nodes: dict[str, Proposal], answer_names: Sequence[str]) -> dict[str, Proposal]:
    """Gives named entities that share their label with the answer or a finer tier a more specific name.

    "Groningen Province" around Groningen. Without such a name the label is kept, and later filters decide.
    """
    taken = {normalise(n) for n in answer_names}
    out = dict(nodes)
    for key in sorted(nodes, key=lambda k: (len(ancestors(nodes, k)), k)):
        node = nodes[key]
        if node.qid is None or not (
            names_place_or_institution(node) or any(c.property in _BELONGING for c in node.conditions)
        ):
            continue
        if normalise(node.text) in taken and (text := shortest_distinguishing_alias(node, taken)):
            aliases = (node.text, *(a for a in node.aliases if a != text))
            node = out[key] = replace(node, text=text, aliases=aliases)
        taken.add(normalise(node.text))
    return out


def shortest_distinguishing_alias(node: Proposal, taken: Collection[str]) -> str | None:
    """The shortest alias that contains the label and, for a place, a word for its kind; None where there is no such
    alias.
    """
    longer = [
        alias
        for alias in node.aliases
        if _NAME.fullmatch(alias)
        and normalise(alias) not in taken
        and contains_name(alias, node.text)
        and (not names_place_or_institution(node) or not DIVISIONS.isdisjoint(singular_words(alias)))
    ]
    return min(longer, key=lambda alias: (len(alias), alias), default=None)


def names_place_or_institution(proposal: Proposal) -> bool:
    """Whether the tier is a place or an institution by its name, not a class or a description."""
    return any(c.property == "self" for c in proposal.conditions)


def _merge_same_names(nodes: dict[str, Proposal]) -> dict[str, Proposal]:
    """Merges tiers of the same name: the finer one takes the names and children of the coarser one."""
    by_name: dict[str, str] = {}
    for key in sorted(nodes, key=lambda k: (len(ancestors(nodes, k)), k)):
        finer = by_name.setdefault(without_article(nodes[key].text), key)
        if finer != key:
            nodes = merge(nodes, key, finer)
    return nodes


def _drop_ambiguous_aliases(nodes: dict[str, Proposal], answer_names: Sequence[str]) -> dict[str, Proposal]:
    """Removes aliases that are another tier's own text, or the answer's name."""
    texts = {normalise(name): "" for name in answer_names}
    texts.update((normalise(node.text), key) for key, node in nodes.items())
    out = {}
    for key, node in nodes.items():
        aliases = tuple(a for a in node.aliases if texts.get(normalise(a), key) == key)
        out[key] = replace(node, aliases=aliases) if aliases != node.aliases else node
    return out


# Classes that are trivial for a relation: those that most of its answers belong to, as measured.
#
# Most answers to "in which language" are Indo-European languages, so that tier is uninformative. A tier is true of an
# answer if the answer's own ladder contains it. The answers are those of the whole source, weighted by their numbers of
# entities: the answers of entities like the question's subject, for genres those of the same art, and all where these
# are too few.

TRIVIAL_SHARE = 2 / 3  # of the relation's answers, weighted; docs/reference/rules.md lists examples on either side
HALF = 1 / 2  # of the different answers: a class of one frequent answer alone would identify it
ANSWERS = 150  # most frequent answers of a relation that are measured
SUBJECTS = 20  # entities per answer whose classes are counted
FEWEST_ANSWERS, FEWEST_ENTITIES = 20, 250  # least different answers, and entities with one: else the list alone counts
UNLISTED = 5  # both minima for a relation without a list
KEPT = 500_000  # tiers of the answers of all relations: 100 MB at most
# Conditions that state a class: instance, subclass, occupation, genre, language.
_OF_CLASS = frozenset({"P31", "P279", "P106", "P136", "P407"})


@dataclass(frozen=True, kw_only=True, slots=True)
class FrequentAnswer:
    """A frequent answer of a relation: the number of entities that have it, the arts if it is a genre, and its tiers
    as `_tier_key`.

    `subjects` counts the classes of the first SUBJECTS of these entities; under "" it counts the entities themselves.
    """

    count: int
    arts: frozenset[str]
    tiers: frozenset[str]
    subjects: Counter[str]


class MeasuredRelations:
    """The frequent answers of each relation with their tiers, and the shares of answers for which a tier is true.

    Kept by relation and shared by all graphs of one store that read the same language, since measuring a relation
    takes up to half a second.
    """

    def __init__(self) -> None:
        self.answers: SizedDict[str, Mapping[str, FrequentAnswer]] = SizedDict(
            KEPT, lambda _, answers: 5 + sum(5 + len(one.tiers) + len(one.subjects) for one in answers.values())
        )
        self.shares: SizedDict[tuple[str, str, str], tuple[float, float] | None] = SizedDict(
            KEPT,
            lambda key, _: 1 + len(key[2]) // 200,  # the text of a tier may come from outside, of any length
        )


class RelationAnswerShares:
    """Shares of a relation's answers for which a tier is true, measured on one graph; each relation is measured once.

    `build` proposes the tiers of an answer.
    """

    def __init__(self, graph: Graph, build: Builder, measured: MeasuredRelations) -> None:
        self._graph = graph
        self._build = build
        self._measured = measured

    def is_true_of_most_answers(self, case: LadderCase, proposal: Proposal) -> bool:
        """Whether the tier states a class alone, and most of the answers belong to it.

        Named places and tiers with a nationality, a place or a modifier are never trivial.
        """
        if not case.relation.id or not proposal.conditions or not all(map(_states_class_alone, proposal.conditions)):
            return False
        shares = self.entity_and_answer_shares(case, proposal)
        return shares is not None and shares[0] >= TRIVIAL_SHARE and shares[1] >= HALF

    def entity_and_answer_shares(self, case: LadderCase, proposal: Proposal) -> tuple[float, float] | None:
        """Two shares in [0, 1] for which the tier is true: of the entities that have an answer, and of the different
        answers.

        None where too few answers or entities are known.
        """
        tier = _tier_key(proposal)
        # The first group that is large enough counts: entities of the subject's class, genres of the same art, all.
        kinds = [f"subject {kind}" for kind in self._graph.classes(case.subject)] if case.subject else []
        if case.relation.asks == "genre":
            kinds += [f"answer {kind}" for kind in self._art_words_of_genre(case.answer, case.relation)]
        for kind in (*kinds, ""):
            key = (case.relation.id, kind, tier)
            if key not in self._measured.shares:
                self._measured.shares[key] = self._shares_in_large_enough_group(case, kind, tier)
            if (measured := self._measured.shares[key]) is not None:
                return measured
        return None

    def with_bits_given_question(
        self,
        levels: tuple[Level, ...],
        case: LadderCase,
        worded_nodes: Mapping[str, Proposal],
        unworded_nodes: Mapping[str, Proposal],
        bits_of_answer: Callable[[str, str], float | None],
    ) -> tuple[Level, ...]:
        """The levels, the answer's first, with bits given the question: -log2 of the share of the relation's answers.

        `worded_nodes` are the proposals with the texts of the levels, `unworded_nodes` the same before wording. A
        coarser level never has more bits than a finer one. A tier that is true of none of the measured answers has no
        bits.
        """
        relation = case.relation.id
        most = bits_of_answer(case.answer, relation) if relation and len(levels) > 1 else None
        if most is None:
            return levels
        keys = {normalise(node.text): key for key, node in worded_nodes.items()}

        def with_bits(tier: Tier, bound: float) -> Tier:
            key = keys.get(normalise(tier.text))
            shares = self.entity_and_answer_shares(case, unworded_nodes[key]) if key is not None else None
            if shares is None or not shares[0]:
                return tier
            return replace(tier, bits_asked=min(bound, -math.log2(min(1.0, shares[0]))))

        out, bound = [Level(tiers=tuple(replace(tier, bits_asked=most) for tier in levels[0].tiers))], most
        for level in levels[1:]:
            tiers = tuple(with_bits(tier, bound) for tier in level.tiers)
            out.append(replace(level, tiers=tiers))
            bound = max((tier.bits_asked for tier in tiers if tier.bits_asked is not None), default=bound)
        return tuple(out)

    def _art_words_of_genre(self, genre: str, relation: Relation) -> list[str]:
        """The words for the arts of a genre, from those of its classes that the relation lists as trivial: "film" for
        film, film genre.
        """
        kinds = dict.fromkeys((*self._graph.classes(genre), *self._graph.targets(genre, "P279")))
        self._graph.fetch(kinds)
        labels = (normalise(self._graph.label(kind) or "") for kind in kinds)
        return list(
            dict.fromkeys(label.split()[0] for label in labels if label != "genre" and label in relation.trivial)
        )

    def _shares_in_large_enough_group(self, case: LadderCase, group: str, tier: str) -> tuple[float, float] | None:
        weights = self._entity_counts_by_answer(case, group)
        total = sum(weights.values())
        fewest_answers, fewest_entities = _minimum_answers_and_entities(case)
        if len(weights) < fewest_answers or total < fewest_entities:
            return None
        answers = self._frequent_answers(case)
        true_answers = [qid for qid in weights if tier in answers[qid].tiers]
        return sum(weights[qid] for qid in true_answers) / total, len(true_answers) / len(weights)

    def _entity_counts_by_answer(self, case: LadderCase, group: str) -> Mapping[str, float]:
        """The number of entities in a group that have each answer.

        A group is "answer ART" (entities whose answer is a genre of this art), "subject CLASS" (entities of the
        class), or "" (all).
        """
        of, _, kind = group.partition(" ")
        answers = self._frequent_answers(case)
        weights = {qid: float(answer.count) for qid, answer in answers.items()}
        if of == "answer":
            weights = {qid: weight for qid, weight in weights.items() if kind in answers[qid].arts}
        elif of == "subject":
            counted = {qid: answer.subjects for qid, answer in answers.items() if answer.subjects[kind]}
            weights = {qid: weights[qid] * subjects[kind] / subjects[""] for qid, subjects in counted.items()}
        return weights

    def _frequent_answers(self, case: LadderCase) -> Mapping[str, FrequentAnswer]:
        """The most frequent answers of the relation that have proposals; none where they are too few."""
        relation = case.relation.id
        known = self._measured.answers.get(relation)
        if known is None:
            graph = self._graph
            values = graph.store.values_of(relation, limit=ANSWERS)
            known = {}
            if sum(count for _, count in values) >= _minimum_answers_and_entities(case)[1]:
                graph.fetch_with_values((qid for qid, _ in values), steps=3)  # the layers that builders read above
                subjects = self._subject_class_counts_by_answer(relation, [qid for qid, _ in values])
                for qid, count in values:
                    alone = replace(case, answer=qid, question="", subject=None, subject_text=None, at=None)
                    if tiers := frozenset(map(_tier_key, self._build(alone))):
                        arts = frozenset(self._art_words_of_genre(qid, case.relation))
                        known[qid] = FrequentAnswer(count=count, arts=arts, tiers=tiers, subjects=subjects[qid])
            self._measured.answers[relation] = known
        return known

    def _subject_class_counts_by_answer(self, relation: str, answers: Iterable[str]) -> Mapping[str, Counter[str]]:
        """For each answer, how many of the first SUBJECTS entities that have it are of each class; under "" the number
        of these entities.
        """
        store = self._graph.store
        referrers = store.referrers([(relation, qid) for qid in answers], limit=SUBJECTS)
        read = store.entities(
            {subject for subjects in referrers.values() for subject in subjects}, languages=(), properties=("P31",)
        )
        kinds = {i: {"", *(s.target for s in entity.values("P31") if s.target)} for i, entity in read.items()}
        return {
            qid: Counter(kind for subject in referrers.get((relation, qid), ()) for kind in kinds.get(subject, ("",)))
            for qid in answers
        }


def _minimum_answers_and_entities(case: LadderCase) -> tuple[int, int]:
    return (FEWEST_ANSWERS, FEWEST_ENTITIES) if case.relation.id in relations_by_id() else (UNLISTED, UNLISTED)


def _tier_key(proposal: Proposal) -> str:
    return proposal.qid or without_article(proposal.text)


def _states_class_alone(condition: Condition) -> bool:
    """Whether a condition states a class alone."""
    return condition.property in _OF_CLASS or (
        condition.property == "text" and condition.value.rpartition(":")[0] in ("", "kind", "occupation")
    )
