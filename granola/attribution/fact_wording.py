"""Facts, questions and answer statements in words, by templates: a table per property, a generic one for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from granola.attribution.attribution_samples import CitedFact
from granola.attribution.relation_table import CLASS, wording
from granola.errors import GranolaError
from kg.queries import Branch, Fact, Grounding, Hop, Shape, StoreFacts
from kg.queries.query_mining import name_of

_OPEN = {"what ": "the one that ", "who ": "the one who "}  # how a clause stands within another
# Last words of labels that go on to their object.
_LEADS_ON = frozenset({"of", "by", "in", "at", "to", "for", "from", "on", "with", "after", "as"})
_VERBS = frozenset({"has", "contains", "uses", "shares", "studies", "depicts", "follows", "replaces", "owns", "grants"})
HUMAN = "Q5"
_HAS = "has "  # "has part": the part of


class WordingError(GranolaError, ValueError):
    """A fact cannot be worded; `reason` is the kind, for counts."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class FactWording:
    """Words for facts of a store. `called` has names for some entities other than their labels."""

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts

    def name(self, entity_id: str) -> str:
        """The English label. Raises WordingError where there is none."""
        name = name_of(self._facts.entity(entity_id))
        if name is None:
            raise WordingError("an entity has no English name")
        return name

    def apart(self, ids: Sequence[str]) -> dict[str, str]:
        """Names with descriptions for entities of one name. Raises WordingError where descriptions do not part them."""
        called: dict[str, str] = {}
        for entity_id in ids:
            entity = self._facts.entity(entity_id)
            description = entity.descriptions.get("en") if entity is not None else None
            if not description:
                raise WordingError("nothing tells namesakes apart")
            called[entity_id] = f"{self.name(entity_id)} ({description})"
        if len({name.casefold() for name in called.values()}) < len(called):
            raise WordingError("nothing tells namesakes apart")
        return called

    def cited(self, fact: Fact, called: Mapping[str, str]) -> CitedFact:
        """The fact with its names and its sentence."""
        subject = called.get(fact.subject) or self.name(fact.subject)
        target = called.get(fact.object) or self.name(fact.object)
        label = self.name(fact.relation)
        if fact.qualifier is None:
            text = sentence_of(fact.property, subject, label, target)
        else:
            text = f"Of {subject}, for {self.name(fact.property)}, {label} is {target}."
        return CitedFact(
            subject=fact.subject,
            property=fact.property,
            object=fact.object,
            names=(subject, label, target),
            text=_sentence(text),
            qualifier=fact.qualifier,
        )

    def question(self, grounding: Grounding, called: Mapping[str, str]) -> str:
        """What the query asks; "who" where all answers are people."""
        query = grounding.query
        classes = [self._facts.targets(answer, Hop(property=CLASS)) for answer in grounding.answers]
        asks = "Who" if classes and all(HUMAN in ids for ids in classes) else "What"
        if query.shape is Shape.UNION:
            names = list(dict.fromkeys(self.name(branch.start) for branch in query.branches))
            named = {branch.start: f"each {names[0]}" for branch in query.branches} if len(names) == 1 else called
            phrases = list(dict.fromkeys(self.phrase(branch, named) for branch in query.branches))
            return _asked(phrases[0] if len(phrases) == 1 else " or ".join(map(_closed, phrases)), asks)
        phrases = [self.phrase(branch, called) for branch in query.branches]
        if len(phrases) == 1:
            return _asked(phrases[0], asks)
        return _ended(f"{asks} is {_both(phrases)}?")

    def statement(self, grounding: Grounding, called: Mapping[str, str]) -> str:
        """The answers in a full sentence: "Lyon is the place of birth of ..."."""
        query = grounding.query
        if query.shape is Shape.UNION:
            parts = []
            for at, branch in enumerate(query.branches):
                names = [self.name(answer) for answer in grounding.answers if grounding.ways[answer][at]]
                parts.append(_is(names, _closed(self.phrase(branch, called))))
            return _sentence(", and ".join(parts) + ".")
        phrases = [_closed(self.phrase(branch, called)) for branch in query.branches]
        names = [self.name(answer) for answer in grounding.answers]
        return _sentence(_is(names, _both(phrases) if len(phrases) > 1 else phrases[0]) + ".")

    def phrase(self, branch: Branch, called: Mapping[str, str]) -> str:
        """The end of a branch as a noun phrase: "the capital of the place of birth of ..."."""
        phrase = called.get(branch.start) or self.name(branch.start)
        for at, hop in enumerate(branch.hops):
            phrase = self._hop(hop, _closed(phrase))
            named = branch.via[at] if at < len(branch.via) else None
            if named is not None:
                # Told apart by what leads to it, and asked about by its name.
                phrase = f"{called.get(named) or self.name(named)}, {_closed(phrase)},"
        return phrase

    def _hop(self, hop: Hop, before: str) -> str:
        words = wording(hop.property)
        label = self.name(hop.property)
        if hop.qualifier is not None:
            return f"the {self.name(hop.qualifier)} of {before} for {label}"
        if hop.forward:
            template = words.get("asks")
            if template:
                return template.format(subject=before)
            if label.startswith(_HAS):
                return f"the {label.removeprefix(_HAS)} of {before}"
            if is_verb(label):
                return f"the thing that {before} {label}"
            return f"the thing that {before} is {label}" if is_clause(label) else f"the {label} of {before}"
        template = words.get("against")
        if template:
            return template.format(object=before)
        if is_verb(label):
            return f"what {label} {before}"
        return f"what is {label} {before}" if is_clause(label) else f"what has {before} as its {label}"


def sentence_of(relation: str, subject: str, label: str, target: str) -> str:
    """A fact in a sentence: by the relation's own words, else by its label."""
    template = wording(relation).get("says")
    if template:
        return _sentence(template.format(subject=subject, object=target))
    if is_verb(label):
        return _sentence(f"{subject} {label} {target}.")
    return _sentence(
        f"{subject} is {label} {target}." if is_clause(label) else f"The {label} of {subject} is {target}."
    )


def is_clause(label: str) -> bool:
    """Whether a property's label goes on to its object ("named after"), rather than naming it ("capital")."""
    return label.rsplit(" ", 1)[-1] in _LEADS_ON


def is_verb(label: str) -> bool:
    """Whether a property's label is what its subject does ("has part", "uses")."""
    return label.split(" ", 1)[0] in _VERBS


def _closed(phrase: str) -> str:
    for opening, instead in _OPEN.items():
        if phrase.startswith(opening):
            return instead + phrase[len(opening) :]
    return phrase


def _both(phrases: Sequence[str]) -> str:
    closed = [_closed(phrase) for phrase in phrases]
    return f"both {closed[0]} and {closed[1]}" if len(closed) == 2 else "; ".join(closed[:-1]) + f"; and {closed[-1]}"


def _asked(phrase: str, asks: str) -> str:
    for opening in _OPEN:
        if phrase.startswith(opening):
            return _ended(f"{asks}{phrase[len(opening) - 1 :]}?")
    return _ended(f"{asks} is {phrase}?")


def _ended(text: str) -> str:
    """Without the comma that closes a clause before the mark that closes the sentence."""
    text = text.replace(",?", "?").replace(",.", ".").replace(",;", ";").replace(",,", ",")
    return text[:-1] if text.endswith("..") else text


def _is(names: Sequence[str], phrase: str) -> str:
    if len(names) == 1:
        return f"{names[0]} is {phrase}"
    return f"{', '.join(names[:-1])} and {names[-1]} are each {phrase}"


def _sentence(text: str) -> str:
    return text[:1].upper() + _ended(text[1:])
