"""The texts of samples: by templates of relations, reworded by a model, and how they cover their facts.

Templates are those of a table of relations; without one, sentences are made of property labels. A question with several
hops applies the question of the last relation to a noun phrase for the rest ("Where was the director of Psycho born?");
a question with several subjects joins clauses ("Who directed A and wrote B?").

Coverage is full, lacks a name, or has a name that belongs to no fact: the labels of the annotators of Hu et al. 2025
(CAQA), section 4.2, here computed from names alone, and given by people on sheets.

The three prompts follow the structure of appendix B, in our words. A text that fails its check twice is replaced by the
template's; both are counted. A text with the right names may still negate its facts ("It is a myth that ..."): with an
entailment model, a citation must entail its facts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from importlib.resources import as_file, files
from itertools import islice
from typing import Any

from abstraction.errors import ReplyError
from abstraction.models.chat_model import ChatModel, Request, Sampling, sampling_of
from abstraction.models.text_scorers import EntailmentModel, TextPair
from abstraction.phrasing.prompting import PromptKind, RequestForm, load_prompts, prompts_hash
from abstraction.text.language.phrases import FUNCTION
from granola.evidence.attribution.attribution_task import LABELS, AttributionSample, CitedFact, NoSampleError
from granola.evidence.evidence_task import JudgedQuestion, SheetForm
from kg.graph.logical_query import Branch, Fact, Grounding, Hop, LogicalQuery, Shape, StoreFacts
from kg.graph.query_mining import english_label

CLASS = "P31"
_LOOKED_AT = 60  # values sampled, with five subjects each, to see whether a relation has several values
_MOST = 2_000  # most frequent values of a relation that are read


@cache
def _wording_data() -> dict[str, Any]:
    path = files("granola") / "evidence" / "attribution" / "data" / "relation_wordings.json"
    return dict(json.loads(path.read_text(encoding="utf-8")))


@cache
def properties_with_question() -> tuple[str, ...]:
    """Properties with a question in the table, in the order of the table."""
    return tuple(prop for prop, words in _wording_data()["wordings"].items() if "question" in words and ">" not in prop)


@cache
def follow_up_relations() -> dict[str, tuple[str, ...]]:
    """For each relation, the relations that a question may ask about its target."""
    data = _wording_data()
    return {relation: tuple(data["asked"][kind]) for kind, own in data["through"].items() for relation in own}


@cache
def relations_sharing_answers() -> dict[str, tuple[str, ...]]:
    """For each relation, those that can share an answer with it: "Who wrote A and directed B?"."""
    return {relation: tuple(group) for group in _wording_data()["meets"] for relation in group}


@cache
def related_properties(relation: str) -> frozenset[str]:
    """The relation, and relations that reveal part of its value: a place of birth suggests a country."""
    return frozenset({relation}).union(
        *(set(group) for group in _wording_data()["groups"].values() if relation in group)
    )


def wording_templates(relation: str) -> dict[str, Any]:
    """The templates of a relation, where it has them: `says` (a sentence), `noun` and `against` (noun phrases for
    object and subject), `question`, `that` with `head` (a relative clause and its noun).

    `several`: subjects often have several values. `unlike`: a class for which the question sounds unnatural.
    """
    wordings: dict[str, Any] = _wording_data()["wordings"].get(relation, {})
    return wordings


class RelationValues:
    """Values of relations in a store, read once per relation and cached."""

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts
        self._values_by_class: dict[str, dict[str, list[str]]] = {}
        self._multivalued: dict[str, bool] = {}

    def values_by_class(self, relation: str) -> dict[str, list[str]]:
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
            # Properties with occasional second values, such as a disputed birth date, stay below a tenth.
            measured = sum(number > 1 for number in numbers) > len(numbers) / 10
            self._multivalued[relation] = measured or bool(wording_templates(relation).get("several"))
        return self._multivalued[relation]

    def plausible_relations_to(self, entity_id: str) -> list[str]:
        """The relations with a question of which some value has a class in common with the entity."""
        kinds = self.classes(entity_id)
        return [one for one in properties_with_question() if not self.values_by_class(one).keys().isdisjoint(kinds)]


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
NO_NAMES: Mapping[str, str] = {}  # every entity is called by its label


class FactWording:
    """Questions, statements and sentences from templates. `display_names` maps entities to names other than their
    labels.
    """

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts

    def english_label(self, entity_id: str) -> str:
        """The English label. Raises NoSampleError where there is none."""
        name = english_label(self._facts.entity(entity_id))
        if name is None:
            raise NoSampleError("an entity has no English name")
        return name

    def _name_with_article(self, entity_id: str, display_names: Mapping[str, str] = NO_NAMES) -> str:
        """The name of an entity within a sentence, with its article: "the Soviet Union"."""
        name = display_names.get(entity_id) or self.english_label(entity_id)
        if not _WITH_ARTICLE.match(name) or self._has_relation(entity_id, _OF_WORKS):
            return name
        return f"the {name}"

    def distinct_names_of_namesakes(self, query: LogicalQuery) -> Mapping[str, str]:
        """If the query starts from namesakes, their names with descriptions, by which readers of the citations can
        tell them apart; else no names.

        Raises NoSampleError where descriptions are missing or equal.
        """
        ids = [branch.start for branch in query.branches]
        if query.shape is not Shape.UNION or len(set(map(self.english_label, ids))) > 1:
            return NO_NAMES
        entities = {entity_id: self._facts.entity(entity_id) for entity_id in ids}
        descriptions = {one: entity.descriptions.get("en") for one, entity in entities.items() if entity is not None}
        display_names = {one: f"{self.english_label(one)} ({text})" for one, text in descriptions.items() if text}
        if len({name.casefold() for name in display_names.values()}) < len(ids):
            raise NoSampleError("namesakes without distinct descriptions")
        return display_names

    def with_sentence(self, fact: Fact, display_names: Mapping[str, str]) -> CitedFact:
        """The fact with the names of its subject, property and object, and a sentence that states it."""
        ends = (fact.subject, fact.object)
        subject, target = (display_names.get(one) or self.english_label(one) for one in ends)
        label = self.english_label(fact.relation)
        said = [self._name_with_article(one, display_names) for one in ends]
        if fact.qualifier is None:
            text = sentence_of(fact.property, said[0], label, said[1])
        else:
            text = f"Of {said[0]}, for {self.english_label(fact.property)}, {label} is {said[1]}."
        return CitedFact(
            subject=fact.subject, property=fact.property, qualifier=fact.qualifier, object=fact.object,
            names=(subject, label, target), text=_capitalised_and_tidied(text),
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

    def extend_question(self, question: str, old_query: LogicalQuery, new_query: LogicalQuery) -> str | None:
        """Extend the question of a person for the query `old_query` to `new_query`; None where that is not possible.

        A relation that leads to a subject replaces its name by a noun phrase; a second path to the answer becomes a
        sentence of its own.
        """
        asked = _capitalised_and_tidied(question.strip().rstrip("?").strip() + "?")
        added = [branch for branch in new_query.branches if branch not in old_query.branches]
        if not added:
            return asked
        gone = [branch.start for branch in old_query.branches if branch not in new_query.branches]
        if gone:
            name = self.english_label(gone[0])
            at = asked.casefold().find(name.casefold())
            told = self._noun_phrase(added[0].hops[0], self._name_with_article(added[0].start))
            return _capitalised_and_tidied(f"{asked[:at]}{told}{asked[at + len(name) :]}") if at >= 0 else None
        head, clause = self._head_and_clause(added[0])
        # "It is also the thing that ..." is no natural sentence.
        if new_query.shape is not Shape.TREE or head == "thing":
            return None
        if clause.startswith("who "):
            return f"{asked} The same person {clause.removeprefix('who ')}."
        return f"{asked} It is also the {head} {clause}."

    def statement(self, grounding: Grounding, display_names: Mapping[str, str]) -> str:
        """The answers in a full sentence: "The spouse of Anna Scott was born in Bloomington."."""
        union = grounding.query.shape is Shape.UNION
        parts: list[str] = []
        for at, branch in enumerate(grounding.query.branches):
            answers = [answer for answer in grounding.answers if grounding.ways[answer][at] or not union]
            names = _join_names([self._name_with_article(answer) for answer in answers])
            before = self._subject_phrase(branch, display_names)
            hop = branch.hops[-1]
            subject, target = (before, names) if hop.forward else (names, before)
            said = sentence_of(hop.property, subject, self.english_label(hop.property), target)
            if hop.qualifier is not None:
                said = f"{names} is {self._noun_phrase(hop, before)}."
            if not any(one.endswith(".") and said.endswith(one) for one in (before, names)):  # "Monsters, Inc."
                said = said.removesuffix(".")
            if parts and said.startswith("The ") and not said.startswith((before, names)):  # as "The Happening"
                said = f"the {said.removeprefix('The ')}"
            parts.append(said)
        return _capitalised_and_tidied(", and ".join(parts) + ".")

    def _subject_phrase(self, branch: Branch, display_names: Mapping[str, str] = NO_NAMES) -> str:
        """A noun phrase for all hops of a branch except the last: "the director of Psycho"."""
        phrase = self._name_with_article(branch.start, display_names)
        for hop in branch.hops[:-1]:
            phrase = self._noun_phrase(hop, phrase)
        return phrase

    def _question_of_branch(self, branch: Branch) -> str:
        both = ">".join(hop.property for hop in branch.hops[-2:])
        # Some pairs of relations have a question of their own, which avoids an awkward noun phrase.
        if len(branch.hops) > 1 and (template := wording_templates(both).get("question")):
            branch = replace(branch, hops=branch.hops[:-1], via=())  # "What country was he born in?"
            return _capitalised_and_tidied(template.format(subject=self._subject_phrase(branch)))
        asked = self._hop_question(branch.hops[-1], self._subject_phrase(branch))
        is_past = len(branch.hops) == 1 and self._has_relation(branch.start, _OF_THE_DEAD)
        return _PRESENT.sub(lambda match: match[1] + _PAST[match[2]], asked) if is_past else asked

    def _has_relation(self, entity_id: str, relations: Collection[str]) -> bool:
        entity = self._facts.entity(entity_id)
        return entity is not None and any(one.property in relations for one in entity.statements)

    def _hop_question(self, hop: Hop, subject: str, *, plural: bool = False) -> str:
        """The question for one hop from a subject; `plural` for two subjects."""
        template = wording_templates(hop.property).get("question", "")
        if hop.qualifier is not None or not hop.forward or not template:
            return _tidy_punctuation(f"What is {self._noun_phrase(hop, subject)}?")
        if plural:
            template = _AUXILIARY.sub(lambda match: _PLURAL[match[0]], template)
        return _capitalised_and_tidied(template.format(subject=subject))

    def _noun_phrase(self, hop: Hop, before: str) -> str:
        """A noun phrase for the target of a hop."""
        words = wording_templates(hop.property)
        label = self.english_label(hop.property)
        if hop.qualifier is not None:
            return f"the {self.english_label(hop.qualifier)} of {before} for {label}"
        template, predicate = words.get("noun" if hop.forward else "against"), _predicate_or_empty(label)
        if template:
            return str(template.format(subject=before, object=before))
        if hop.forward:
            return f"the thing that {before} {predicate}" if predicate else f"the {label} of {before}"
        return f"what {predicate} {before}" if predicate else f"what has {before} as its {label}"

    def _head_and_clause(self, branch: Branch) -> tuple[str, str]:
        """A branch as a noun and a relative clause: ("person", "who directed Psycho")."""
        hop, before = branch.hops[-1], self._subject_phrase(branch)
        words = wording_templates(hop.property)
        if hop.forward and hop.qualifier is None and "that" in words:
            return str(words["head"]), _tidy_punctuation(words["that"].format(subject=before))
        return "thing", f"that is {self._noun_phrase(hop, before)}"


def sentence_of(relation: str, subject: str, label: str, target: str) -> str:
    """A sentence for a fact: from the template of the relation, else from the label."""
    template = wording_templates(relation).get("says")
    if template:
        # The article depends on the sound; the first letter is right for nearly all names.
        if target[:1].lower() in "aeiou":
            template = template.replace(" a {object}", " an {object}")
        return _capitalised_and_tidied(template.format(subject=subject, object=target))
    predicate = _predicate_or_empty(label)
    return _capitalised_and_tidied(
        f"{subject} {predicate} {target}." if predicate else f"The {label} of {subject} is {target}."
    )


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


def _capitalised_and_tidied(text: str) -> str:
    return text[:1].upper() + _tidy_punctuation(text[1:])


CITATION = PromptKind(name="citation", required=frozenset({"facts"}))
QUESTION = PromptKind(name="question", required=frozenset({"facts"}))
STATEMENT = PromptKind(name="statement", required=frozenset({"question", "answers"}))
AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
LONGEST_REPLY = 1_500  # characters of the longest reply that is accepted
_BATCH = 256  # samples per batch of requests
LONGEST = 20_000  # characters of a text that are read
_NAME = re.compile(r"(?<!\w)[^\W\d_][^\W_]*(?:[-'’][^\W_]+)*")


class TextCoverage(StrEnum):
    """How a text covers its facts."""

    FULL = "full coverage"
    ABSENT = "absent"
    HALLUCINATED = "hallucinated"


def states_name(text: str, name: str) -> bool:
    """Whether a text contains a name as whole words, ignoring case.

    For a namesake such as "Rick Scott (American politician)": the name, and the content words of the description
    anywhere.
    """
    words = folded_words(name)
    if not words:
        return name in text  # a name of symbols only, as of a currency, has no words
    if f" {words} " in f" {folded_words(text)} ":
        return True
    plain, _, apart = name.removesuffix(")").partition(" (")
    telling = [word for word in folded_words(apart).split() if word not in FUNCTION]
    return bool(apart) and states_name(text, plain) and all(states_name(text, word) for word in telling)


def classify_coverage(text: str, required: Sequence[str], allowed: Iterable[str] = ()) -> tuple[TextCoverage, str]:
    """The coverage of a text, and the first foreign or missing name.

    `allowed`: further names that may occur. A capitalised word counts as a name, so the check does not suit languages
    that capitalise nouns.
    """
    if foreign := foreign_names(text, [*required, *allowed]):
        return TextCoverage.HALLUCINATED, foreign[0]
    missing = next((name for name in required if not states_name(text, name)), "")
    return TextCoverage.ABSENT if missing else TextCoverage.FULL, missing


def foreign_names(text: str, known: Iterable[str]) -> list[str]:
    """Capitalised words, in order, that are part of no known name and do not begin a sentence."""
    words = {word for name in known for word in folded_words(name).split()}
    foreign = []
    text = text[:LONGEST]
    for match in _NAME.finditer(text):
        # The first word of a sentence has a capital in any case.
        before = text[: match.start()].rstrip(" \"'“”‘’(")
        begins = not before or before[-1] in ".!?:\n"
        name = match[0].removesuffix("'s").removesuffix("’s")
        if name[0].isupper() and not begins and not set(folded_words(name).split()) <= words:
            foreign.append(name)
    return foreign


def folded_words(text: str) -> str:
    """The case-folded words of a text, separated by single blanks."""
    return " ".join(re.sub(r"[^\w]+", " ", text.casefold()).split())


def facts_by_citation(sample: AttributionSample) -> list[tuple[CitedFact, ...]]:
    """The facts that each citation states, according to the row; empty where the row does not record them."""
    places = sample.cited or ((),) * len(sample.citations)
    return [tuple(sample.evidence[at] for at in of_citation) for of_citation in places]


def has_source_question(sample: AttributionSample) -> bool:
    """Whether the question is unchanged from the source data; such a question is not reworded."""
    return sample.provenance.get("extension") == "none" and sample.provenance.get("original_question") is not None


def entity_names(facts: Sequence[CitedFact]) -> tuple[str, ...]:
    """The names of the subjects and objects of facts."""
    return tuple(dict.fromkeys(name for fact in facts for name in (fact.names[0], fact.names[2])))


def names_required_in_question(sample: AttributionSample) -> tuple[str, ...]:
    """The names that a question must contain: those of the entities in its query."""
    branches = (sample.query or {}).get("branches", ())
    ids = {entity_id for branch in branches for entity_id in (branch["start"], *branch["via"]) if entity_id is not None}
    ends = [pair for one in sample.subgraph for pair in ((one.subject, one.names[0]), (one.object, one.names[2]))]
    names = [name for entity_id, name in ends if entity_id in ids]
    if (sample.query or {}).get("union"):
        names = [name.partition(" (")[0] for name in names]  # descriptions distinguish namesakes only in citations
    return tuple(dict.fromkeys(names))


COVERAGE = JudgedQuestion(field="coverage", **LABELS["sheets"]["coverage"])
# The paper's annotators: full coverage of 50 citations and 50 extended questions, and their kappa.
PAPER = "the paper's two readers of 100 texts: full coverage of 92 % and 95 %, kappa 0.758"


def coverage_sheet_items(samples: Iterable[AttributionSample]) -> Iterator[dict[str, Any]]:
    """Citations with recorded facts, and extended questions: each with its facts and the automatic label."""
    for sample in samples:
        texts: list[tuple[str, str, Sequence[CitedFact], TextCoverage]] = []
        for text, stated in zip(sample.citations, facts_by_citation(sample), strict=True):
            if stated:
                known = [name for fact in stated for name in (fact.names[1], fact.text)]
                texts.append(("citation", text, stated, classify_coverage(text, entity_names(stated), known)[0]))
        if not has_source_question(sample):
            known = [name for fact in sample.subgraph for name in fact.names]
            label, _ = classify_coverage(sample.question, names_required_in_question(sample), known)
            texts.append(("question", sample.question, sample.subgraph, label))
        for place, (kind, text, facts, label) in enumerate(texts):
            written = " | ".join("; ".join(fact.names) for fact in facts)
            yield {
                "id": f"{sample.id}-{kind[0]}{place}", "kind": kind, "text": text, "facts": written,
                COVERAGE.field: str(label),
            }  # fmt: skip


_SHOWN = ("kind", "text", "facts")
TEXTS = SheetForm(
    shown=_SHOWN,
    questions=(COVERAGE,),
    lines=lambda item: [{name: str(item.get(name) or "") for name in _SHOWN}],
    verdict=lambda item, labels, annotator: {
        "id": item["id"], "judge": annotator, COVERAGE.field: labels[0].get(COVERAGE.field)
    },
    draw_by="kind",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class _TextToReword:
    """A requested text: its kind and slots, and the names that it must contain, may contain, and must not contain."""

    kind: PromptKind
    before: str  # the text of the templates
    slots: tuple[tuple[str, str | tuple[str, ...]], ...]
    wanted: tuple[str, ...]
    known: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    says: str = ""  # the template sentences that a citation must entail

    def parse_reply(self, reply: str) -> str:
        """The text in a reply. Raises ReplyError if it fails the check."""
        text = " ".join(reply.split()).strip('"“”')
        if not text or len(text) > LONGEST_REPLY:
            raise ReplyError(f"a text of 1 to {LONGEST_REPLY} characters is wanted")
        # A question that reveals its answer could be answered without evidence.
        if revealed := next((name for name in self.hidden if states_name(text, name)), ""):
            raise ReplyError(f"it tells {revealed}")
        label, name = classify_coverage(text, self.wanted, self.known)
        if label is not TextCoverage.FULL:
            why = "is missing" if label is TextCoverage.ABSENT else "stands in none of the facts"
            raise ReplyError(f"{name} {why}")
        return text


@dataclass(kw_only=True)
class ModelWording:
    """Rewords samples with `model`; `counts` has the outcomes by kind of text, `fingerprint` hashes the prompts."""

    model: ChatModel
    entailment: EntailmentModel | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Read the prompts."""
        with as_file(files("granola") / "evidence" / "attribution" / "prompts") as bundled:
            self.prompts = load_prompts((CITATION, QUESTION, STATEMENT, AGAIN), bundled)
        self.fingerprint = prompts_hash(dict(self.prompts))[:8]
        self._sampling = sampling_of(self.model, Sampling(max_tokens=200))

    def reword(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionSample]:
        """The samples in order, with the model's texts in place of their own where those passed the check."""
        source = iter(samples)
        while batch := list(islice(source, _BATCH)):
            wanted = [_texts_to_reword(sample) for sample in batch]
            asked = self._texts_from_model(dict.fromkeys(text for texts in wanted for text in texts))
            for sample, texts in zip(batch, wanted, strict=True):
                new = [asked[text] or text.before for text in texts]
                number = len(sample.citations)
                yield sample.model_copy(
                    update={
                        "citations": tuple(new[:number]),
                        "question": sample.question if has_source_question(sample) else new[number],
                        "statement": new[-1],
                    }
                )

    def _texts_from_model(self, texts: Iterable[_TextToReword]) -> dict[_TextToReword, str | None]:
        """For each text, the model's rewording; None where that failed its check."""
        form: RequestForm[_TextToReword, str] = RequestForm(
            model=self.model, ask=self._request, read=_TextToReword.parse_reply, again=self.prompts[AGAIN.name]
        )
        outcomes = dict(form.run(texts))
        worded = {text: outcome.value for text, outcome in outcomes.items()}
        failed = {text: outcome.failed or "left" for text, outcome in outcomes.items()}
        # Without a model of entailment the check of names is the only one.
        if self.entailment is not None:
            pairs = [(text, TextPair(reply, text.says)) for text, reply in worded.items() if reply and text.says]
            judged = self.entailment.scores([pair for _, pair in pairs])
            for (text, _), found in zip(pairs, judged, strict=True):
                if found.entailed <= max(found.neutral, found.refuted):
                    worded[text], failed[text] = None, "does not entail its facts"
        self.counts.update(f"{text.kind.name}: {'worded' if reply else failed[text]}" for text, reply in worded.items())
        return worded

    def _request(self, text: _TextToReword) -> Request:
        messages = self.prompts[text.kind.name].fill(dict(text.slots))
        return Request(id=text.kind.name, messages=messages, sampling=self._sampling)


def _texts_to_reword(sample: AttributionSample) -> list[_TextToReword]:
    """The requested texts of a sample: citations, the question if it comes from a template, the statement."""
    required, is_extended = names_required_in_question(sample), not has_source_question(sample)
    relations = tuple(fact.names[1] for fact in sample.subgraph)
    texts = [
        _TextToReword(
            kind=CITATION, before=text, slots=(("facts", tuple("; ".join(fact.names) for fact in facts)),),
            wanted=entity_names(facts), known=tuple(fact.names[1] for fact in facts),
            says=" ".join(fact.text for fact in facts),
        )
        for text, facts in zip(sample.citations, facts_by_citation(sample), strict=True)
    ]  # fmt: skip
    question = _TextToReword(
        kind=QUESTION, before=sample.question, slots=(("facts", _fact_lines_with_masks(sample)),), wanted=required,
        known=relations, hidden=sample.answer,
    )  # fmt: skip
    statement = _TextToReword(
        kind=STATEMENT, before=sample.statement, known=(*relations, *required, sample.question),
        slots=(("question", sample.question), ("answers", "; ".join(sample.answer))),
        wanted=(*required, *sample.answer) if is_extended else sample.answer,
    )  # fmt: skip
    return [*texts, question, statement] if is_extended else [*texts, statement]


def _fact_lines_with_masks(sample: AttributionSample) -> tuple[str, ...]:
    """The facts of the query with ?x for answers and ?y for entities in between."""
    given = set(names_required_in_question(sample))
    # The prompt must not reveal the answer, or the model may write it into the question.
    masks: dict[str, str] = dict.fromkeys(sample.answer, "?x")
    for fact in sample.subgraph:
        for name in (fact.names[0], fact.names[2]):
            if name not in given:
                masks.setdefault(name, f"?y{len(masks) - len(sample.answer) + 1}")
    shown = masks | {name: name for name in given}
    lines = ("; ".join((shown[fact.names[0]], fact.names[1], shown[fact.names[2]])) for fact in sample.subgraph)
    return tuple(dict.fromkeys(lines))
