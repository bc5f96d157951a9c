"""Facts, questions and answer statements in English, from a table of relations, else from property labels.

A question with several hops applies the question of the last relation to a noun phrase for the rest ("Where was the
director of Psycho born?"); a question with several subjects joins clauses ("Who directed A and wrote B?").
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from granola.evidence.attribution.attribution_task import CitedFact, NoSampleError
from kg.graph.logical_query import Branch, Fact, Grounding, Hop, LogicalQuery, Shape, StoreFacts
from kg.graph.query_mining import name_of

CLASS = "P31"
_LOOKED_AT = 60  # values sampled, with five subjects each, to see whether a relation has several values
_MOST = 2_000  # most frequent values of a relation that are read


@cache
def _table() -> dict[str, Any]:
    path = files("granola") / "evidence" / "attribution" / "data" / "relation_wordings.json"
    return dict(json.loads(path.read_text(encoding="utf-8")))


@cache
def known_properties() -> tuple[str, ...]:
    """Properties with a question in the table, in the order of the table."""
    return tuple(prop for prop, words in _table()["wordings"].items() if "question" in words and ">" not in prop)


@cache
def follow_up_relations() -> dict[str, tuple[str, ...]]:
    """For each relation, the relations that a question may ask about its target."""
    data = _table()
    return {relation: tuple(data["asked"][kind]) for kind, own in data["through"].items() for relation in own}


@cache
def relations_sharing_answers() -> dict[str, tuple[str, ...]]:
    """For each relation, those that can share an answer with it: "Who wrote A and directed B?"."""
    return {relation: tuple(group) for group in _table()["meets"] for relation in group}


@cache
def related_properties(relation: str) -> frozenset[str]:
    """The relation and those that give information about it: a place of birth suggests a country."""
    return frozenset({relation}).union(*(set(group) for group in _table()["groups"].values() if relation in group))


def wording(relation: str) -> dict[str, Any]:
    """The templates of a relation, where it has them: `says`, `noun`, `question`, `that` with `head`, `against`.

    `several`: subjects often have several values. `unlike`: a class for which the question sounds unnatural.
    """
    wordings: dict[str, Any] = _table()["wordings"].get(relation, {})
    return wordings


class RelationValues:
    """Values of relations in a store, read once per relation and cached."""

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts
        self._values_by_class: dict[str, dict[str, list[str]]] = {}
        self._multivalued: dict[str, bool] = {}
        self._relations_by_class: dict[str, dict[str, None]] = {}  # by class: relations with values of that class

    def by_class(self, relation: str) -> dict[str, list[str]]:
        """Values of a relation by class, the most frequent first."""
        if relation not in self._values_by_class:
            values = [value for value, _ in self._facts.store.values_of(relation, limit=_MOST)]
            self._facts.fetch(values)
            by_class = self._values_by_class[relation] = {}
            for value in values:
                for kind in self.classes(value):
                    by_class.setdefault(kind, []).append(value)
        return self._values_by_class[relation]

    def classes(self, entity_id: str) -> tuple[str, ...]:
        """The classes of an entity."""
        return self._facts.targets(entity_id, Hop(property=CLASS))

    def is_often_multivalued(self, relation: str) -> bool:
        """Whether subjects often have several values: by the table, or in over a tenth of a sample of the store."""
        if relation not in self._multivalued:
            pairs = [(relation, value) for value, _ in self._facts.store.values_of(relation, limit=_LOOKED_AT)]
            referrers_of = self._facts.store.referrers(pairs, limit=5)
            subjects = dict.fromkeys(one for found in referrers_of.values() for one in found)
            self._facts.fetch(subjects)
            numbers = [len(self._facts.targets(subject, Hop(property=relation))) for subject in subjects]
            # A tenth: properties with occasional second values, as a disputed birth date, stay below.
            measured = sum(number > 1 for number in numbers) > len(numbers) / 10
            self._multivalued[relation] = measured or bool(wording(relation).get("several"))
        return self._multivalued[relation]

    def relations_to(self, entity_id: str) -> list[str]:
        """Known properties with values in one of the classes of the entity."""
        if not self._relations_by_class:
            for relation in known_properties():
                for kind in self.by_class(relation):
                    self._relations_by_class.setdefault(kind, {})[relation] = None
        own = [self._relations_by_class.get(kind, {}) for kind in self.classes(entity_id)]
        return [relation for relation in known_properties() if any(relation in one for one in own)]


# Last words of labels that lead on to the object ("named after", "owned by"); verbs that begin labels ("uses").
_LEADS_ON = frozenset({"of", "by", "in", "at", "to", "for", "from", "on", "with", "after", "as"})
_VERBS = frozenset({
    "has", "contains", "uses", "shares", "studies", "depicts", "follows", "replaces", "owns", "grants", "afflicts",
    "represents", "connects",
})  # fmt: skip
_AUXILIARY = re.compile(r"\b(is|was|does|has) (?=\{subject\})")
# auxiliaries of singular questions, for two subjects
_PLURAL = {"is ": "are ", "was ": "were ", "does ": "do ", "has ": "have "}
# Only an auxiliary near the question word: one inside a name must not change.
_PRESENT = re.compile(r"\A((?:What|Where|Who|Which)[^?]{0,25}? )(is|does)\b")
_PAST = {"is": "was", "does": "did"}
# Names with "the" before them, by their first or last words: right of 168 of 170 in samples; the other two are films,
# and titles are left as they are.
_WITH_ARTICLE = re.compile(
    r"(?!The )(?:(?:United (?:States|Kingdom|Nations|Arab)|(?:Soviet|European) Union|University of|Kingdom of"
    r"|Republic of|Province of|London Borough of|Academy Award|Order of|Church of|Democratic Republic|Socialist"
    r"|People's Republic|Sea of|Gulf of|Bay of|Isle of|Netherlands\Z|Philippines\Z)|[^(]* (?:Republic|Empire|Olympics"
    r"|Confederation|Federation|Islands|Sea|Ocean|Gulf|River|Mountains|Alps|dynasty|Awards?|Prize|Medal|Cross|Army|Navy"
    r"|Party|League|Orchestra|Association|Festival|Academy of [^(]*)(?: \(|\Z))"
)
# director, screenwriter, composer, cast, performer; date of death
_OF_WORKS, _OF_THE_DEAD = frozenset({"P57", "P58", "P86", "P161", "P175"}), frozenset({"P570"})
# nouns that a more specific one of another clause replaces
_VAGUE = frozenset({"thing", "place", "work", "topic", "owner", "performer"})
NO_NAMES: Mapping[str, str] = {}  # no entity is called by another name than its label


class FactWording:
    """Wordings of the facts in a store. `called` maps entities to names other than their labels."""

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts

    def name(self, entity_id: str) -> str:
        """The English label. Raises NoSampleError where there is none."""
        name = name_of(self._facts.entity(entity_id))
        if name is None:
            raise NoSampleError("an entity has no English name")
        return name

    def _name_in_sentence(self, entity_id: str, called: Mapping[str, str] = NO_NAMES) -> str:
        """The name of an entity within a sentence, with its article: "the Soviet Union"."""
        name = called.get(entity_id) or self.name(entity_id)
        if not _WITH_ARTICLE.match(name) or self._has_relation(entity_id, _OF_WORKS):
            return name
        return f"the {name}"

    def distinct_names(self, query: LogicalQuery) -> Mapping[str, str]:
        """Names with descriptions for namesakes from which a query starts: readers of citations can assign the facts.

        Raises NoSampleError where descriptions are missing or equal.
        """
        ids = [branch.start for branch in query.branches]
        if query.shape is not Shape.UNION or len(set(map(self.name, ids))) > 1:
            return NO_NAMES
        entities = {entity_id: self._facts.entity(entity_id) for entity_id in ids}
        told = {one: entity.descriptions.get("en") for one, entity in entities.items() if entity is not None}
        called = {one: f"{self.name(one)} ({description})" for one, description in told.items() if description}
        if len({name.casefold() for name in called.values()}) < len(ids):
            raise NoSampleError("namesakes without distinct descriptions")
        return called

    def with_sentence(self, fact: Fact, called: Mapping[str, str]) -> CitedFact:
        """The fact with names and a sentence."""
        ends = (fact.subject, fact.object)
        subject, target = (called.get(one) or self.name(one) for one in ends)
        label = self.name(fact.relation)
        said = [self._name_in_sentence(one, called) for one in ends]
        if fact.qualifier is None:
            text = sentence_of(fact.property, said[0], label, said[1])
        else:
            text = f"Of {said[0]}, for {self.name(fact.property)}, {label} is {said[1]}."
        return CitedFact(
            subject=fact.subject, property=fact.property, qualifier=fact.qualifier, object=fact.object,
            names=(subject, label, target), text=_capitalised(text),
        )  # fmt: skip

    def question(self, query: LogicalQuery) -> str:
        """The question that a query expresses."""
        if query.union or len(query.branches) == 1:
            # Namesakes share their name: the asker does not know that there are several.
            return " ".join(dict.fromkeys(map(self._question_of_branch, query.branches)))
        branches = query.branches
        lasts = {branch.hops[-1] for branch in branches}
        if len(lasts) == 1:
            # "both" is wrong for three subjects.
            both = "both " if len(branches) == 2 else ""
            subjects = both + _join_names([self._subject_phrase(branch) for branch in branches])
            return self._hop_question(lasts.pop(), subjects, plural=True)
        clauses = [self._head_and_clause(branch) for branch in branches]
        heads = [head for head, _ in clauses]
        head = next((one for one in heads if one not in _VAGUE and one != "person"), heads[0])
        if all(clause.startswith("who ") for _, clause in clauses):
            return _tidy_punctuation(f"Who {_join_names([clause.removeprefix('who ') for _, clause in clauses])}?")
        asks, by = ("Who", "who ") if head == "person" else ("What", "that ")
        told = _join_names([re.sub(r"\A(?:who|that) ", by, clause) for _, clause in clauses])
        return _tidy_punctuation(f"{asks} is the {head} {told}?")

    def extend_question(self, question: str, before: LogicalQuery, query: LogicalQuery) -> str | None:
        """Extend the question of a person for the query `before` to `query`; None where that is not possible.

        A relation that leads to a subject replaces its name by a noun phrase; a second path to the answer becomes a
        sentence of its own.
        """
        asked = _capitalised(question.strip().rstrip("?").strip() + "?")
        added = [branch for branch in query.branches if branch not in before.branches]
        if not added:
            return asked
        gone = [branch.start for branch in before.branches if branch not in query.branches]
        if gone:
            name = self.name(gone[0])
            at = asked.casefold().find(name.casefold())
            told = self._noun_phrase(added[0].hops[0], self._name_in_sentence(added[0].start))
            return _capitalised(f"{asked[:at]}{told}{asked[at + len(name) :]}") if at >= 0 else None
        head, clause = self._head_and_clause(added[0])
        # "It is also the thing that ..." is no natural sentence.
        if query.shape is not Shape.TREE or head == "thing":
            return None
        if clause.startswith("who "):
            return f"{asked} The same person {clause.removeprefix('who ')}."
        return f"{asked} It is also the {head} {clause}."

    def statement(self, grounding: Grounding, called: Mapping[str, str]) -> str:
        """The answers in a full sentence: "The spouse of Anna Scott was born in Bloomington."."""
        union = grounding.query.shape is Shape.UNION
        parts: list[str] = []
        for at, branch in enumerate(grounding.query.branches):
            answers = [answer for answer in grounding.answers if grounding.ways[answer][at] or not union]
            names = _join_names([self._name_in_sentence(answer) for answer in answers])
            before = self._subject_phrase(branch, called)
            hop = branch.hops[-1]
            subject, target = (before, names) if hop.forward else (names, before)
            said = sentence_of(hop.property, subject, self.name(hop.property), target)
            if hop.qualifier is not None:
                said = f"{names} is {self._noun_phrase(hop, before)}."
            if not any(one.endswith(".") and said.endswith(one) for one in (before, names)):  # "Monsters, Inc."
                said = said.removesuffix(".")
            if parts and said.startswith("The ") and not said.startswith((before, names)):  # as "The Happening"
                said = f"the {said.removeprefix('The ')}"
            parts.append(said)
        return _capitalised(", and ".join(parts) + ".")

    def _subject_phrase(self, branch: Branch, called: Mapping[str, str] = NO_NAMES) -> str:
        """A noun phrase for all hops of a branch except the last: "the director of Psycho"."""
        phrase = self._name_in_sentence(branch.start, called)
        for hop in branch.hops[:-1]:
            phrase = self._noun_phrase(hop, phrase)
        return phrase

    def _question_of_branch(self, branch: Branch) -> str:
        both = ">".join(hop.property for hop in branch.hops[-2:])
        # Some pairs of relations have a question of their own, which avoids an awkward noun phrase.
        if len(branch.hops) > 1 and (template := wording(both).get("question")):
            branch = replace(branch, hops=branch.hops[:-1], via=())  # "What country was he born in?"
            return _capitalised(template.format(subject=self._subject_phrase(branch)))
        asked = self._hop_question(branch.hops[-1], self._subject_phrase(branch))
        is_past = len(branch.hops) == 1 and self._has_relation(branch.start, _OF_THE_DEAD)
        return _PRESENT.sub(lambda match: match[1] + _PAST[match[2]], asked) if is_past else asked

    def _has_relation(self, entity_id: str, relations: Collection[str]) -> bool:
        entity = self._facts.entity(entity_id)
        return entity is not None and any(one.property in relations for one in entity.statements)

    def _hop_question(self, hop: Hop, subject: str, *, plural: bool = False) -> str:
        """The question for one hop from a subject; `plural` for two subjects."""
        template = wording(hop.property).get("question", "")
        if hop.qualifier is not None or not hop.forward or not template:
            return _tidy_punctuation(f"What is {self._noun_phrase(hop, subject)}?")
        if plural:
            template = _AUXILIARY.sub(lambda match: _PLURAL[match[0]], template)
        return _capitalised(template.format(subject=subject))

    def _noun_phrase(self, hop: Hop, before: str) -> str:
        """A noun phrase for the target of a hop."""
        words = wording(hop.property)
        label = self.name(hop.property)
        if hop.qualifier is not None:
            return f"the {self.name(hop.qualifier)} of {before} for {label}"
        template, predicate = words.get("noun" if hop.forward else "against"), _predicate_or_empty(label)
        if template:
            return str(template.format(subject=before, object=before))
        if hop.forward:
            return f"the thing that {before} {predicate}" if predicate else f"the {label} of {before}"
        return f"what {predicate} {before}" if predicate else f"what has {before} as its {label}"

    def _head_and_clause(self, branch: Branch) -> tuple[str, str]:
        """A branch as a noun and a relative clause: ("person", "who directed Psycho")."""
        hop, before = branch.hops[-1], self._subject_phrase(branch)
        words = wording(hop.property)
        if hop.forward and hop.qualifier is None and "that" in words:
            return str(words["head"]), _tidy_punctuation(words["that"].format(subject=before))
        return "thing", f"that is {self._noun_phrase(hop, before)}"


def sentence_of(relation: str, subject: str, label: str, target: str) -> str:
    """A sentence for a fact: from the template of the relation, else from the label."""
    template = wording(relation).get("says")
    if template:
        # The article depends on the sound; the first letter is right for nearly all names.
        if target[:1].lower() in "aeiou":
            template = template.replace(" a {object}", " an {object}")
        return _capitalised(template.format(subject=subject, object=target))
    predicate = _predicate_or_empty(label)
    return _capitalised(f"{subject} {predicate} {target}." if predicate else f"The {label} of {subject} is {target}.")


def _predicate_or_empty(label: str) -> str:
    """A property label as a predicate: "has part", "is named after"; empty for a noun such as "capital"."""
    if label.split(" ", 1)[0] in _VERBS:
        return label
    return f"is {label}" if label.rsplit(" ", 1)[-1] in _LEADS_ON else ""


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _tidy_punctuation(text: str) -> str:
    """Remove the comma that a clause leaves before another mark, and a doubled full stop."""
    for mark in "?.;,'":
        text = text.replace(f",{mark}", mark)
    return text[:-1] if text.endswith("..") else text


def _capitalised(text: str) -> str:
    return text[:1].upper() + _tidy_punctuation(text[1:])
