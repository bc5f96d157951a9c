"""Compares a tier that is a name with the answer and finer tiers: does it lie above them, or can no place of that name
contain the answer?
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import product

from abstraction.base.tiers import Tier
from abstraction.linking.gazetteer import PLACES, WORLD
from abstraction.text.language.phrases import bare, content, denies_location_before
from abstraction.verifying.answer_facts import CONTINENT, AnswerFacts, AnswerFactsReader
from abstraction.verifying.verdicts import A_PERSON, ANOTHER_ANSWER, MEMBER, TierVerdict, VerdictKind


class PlaceRelation:
    """Judges tiers that are names, by containment and classes in the snapshot.

    Names of the same level as the answer cannot be coarser tiers: another answer, a member, an entity of its kind.
    """

    def __init__(self, facts_reader: AnswerFactsReader) -> None:
        self.facts_reader, self.maker, self.graph = facts_reader, facts_reader.maker, facts_reader.graph

    def entities_meant(self, facts: AnswerFacts, tier: Tier) -> frozenset[str]:
        """The entities above the answer that the tier names, or "text:NAME" where only a description names it."""
        key = bare(tier.text)
        if tier.qid is not None:
            known = tier.qid in facts.above.ids or tier.qid in facts.above_classes
            return frozenset({tier.qid}) if known else frozenset()
        ids = {i for i in facts.above.ids if key in {bare(n) for n in self.graph.names(i)}}
        if ids or key in facts.above.names or self._agrees_with_surroundings(facts, tier.text):
            return frozenset(ids or {f"text:{key}"})
        return frozenset(c for c in facts.above_classes if self.facts_reader.is_called(c, key))

    def _agrees_with_surroundings(self, facts: AnswerFacts, text: str) -> bool:
        """Whether the answer's description names the text as a place or owner of the answer: "in X", ", X", "of X"."""
        if not text[:1].isupper() or facts.person:
            return False
        for match in re.finditer(re.escape(text), facts.description):
            before, after = facts.description[: match.start()], facts.description[match.end() :]
            opened = re.search(r"(?:\b(?:in|of|within|by|at|on|the)\s+|,\s*|\band\s+)$", before)
            closed = re.match(r"$|[,;.)]|\s+(?:and|in|of|on)\b|\s*\(", after)
            if opened and closed and not denies_location_before(facts.description, match.start()):
                return True
        return False

    def order_verdict(self, facts: AnswerFacts, meant: frozenset[str]) -> tuple[VerdictKind, str]:
        """The verdict on entities above the answer, compared with the good tiers before this one."""
        before = [ids for _, ids in facts.good if ids and not _is_known_from_text_only(ids)]
        if len(facts.answers) > 1:  # only names under a shared answer
            over = [above for a in facts.answers if meant & (above := self._ids_above(facts, a))]
            before = [ids for ids in before if any(ids & above for above in over)]
        # A name from a description has no place in the graph to compare.
        if not before or _is_known_from_text_only(meant):
            return VerdictKind.ENTAILED, "lies above the answer"
        finer = [i for ids in before for i in ids]
        if not meant.isdisjoint(finer):
            return VerdictKind.DUPLICATE, "another name of a finer tier"
        if any(meant & self._ids_above(facts, i) for i in finer):
            return VerdictKind.ENTAILED, "lies above the tier before it"
        if all(any(ids & self._ids_above(facts, m) for m in meant) for ids in before):
            return VerdictKind.FINER_THAN_PREVIOUS, "lies within the tier before it"
        label = self.graph.label
        pairs = list(product(finer, meant))
        if any(content(label(m) or "-") < content(label(i) or "") for i, m in pairs):
            return VerdictKind.ENTAILED, "its name is in the name of the tier before it"  # Western Europe, Europe
        shared = (c for i, m in pairs for c in sorted({*self.graph.classes(i)} & {*self.graph.classes(m)}))
        if facts.certain and (kind := next(filter(None, map(label, shared)), None)):
            return VerdictKind.SIBLING, f"a {kind} like the tier before it"
        return VerdictKind.ENTAILED, "lies above the answer"

    def _ids_above(self, facts: AnswerFacts, qid: str) -> frozenset[str]:
        above = frozenset(self.facts_reader.above(qid).ids)
        return above | self.facts_reader.classes_above(qid) if facts.above_classes else above

    def location_conflict(self, facts: AnswerFacts, linked: Sequence[str]) -> str | None:
        """The reason why no place of that name can contain the answer: another state, or another first-level division;
        None where one can.
        """
        if not facts.place or not facts.answers:
            return None
        places = [i for i in linked if not PLACES.isdisjoint(self.maker.classes(i)) and not self.graph.is_historical(i)]
        reasons = [reason for i in places if (reason := self._reason_not_inside(facts, i)) is not None]
        return reasons[0] if places and len(reasons) == len(places) else None

    def _reason_not_inside(self, facts: AnswerFacts, place: str) -> str | None:
        """The reason why a place cannot contain the answer, or None."""
        above = facts.above
        label = self.graph.label(place) or ""
        is_continent = CONTINENT in self.graph.classes(place)
        if WORLD.search(label) and not is_continent:
            return None  # the Caribbean spans states: no conflict can be shown
        if self.facts_reader.is_present_state(place):
            return self._answer_lies_in(above.states)
        if label and is_continent:
            return self._answer_lies_in(above.continents)
        around = self.facts_reader.above(place)
        if around.states and above.states and around.states.isdisjoint(above.states):
            # A chain that ends in the right state means another place, which the snapshot lacks.
            texts = {bare(tier.text) for level in facts.row.levels[1:] for tier in level.tiers}
            if any(self.facts_reader.is_called(state, text) for state in above.states for text in texts):
                return None
            return f"{label} lies in {self._labels_of(around.states)}"
        divisions = {place} if self.facts_reader.is_division(place) else around.divisions
        if divisions.isdisjoint(above.divisions):
            # Only divisions of one class exclude each other: a county may lie in a region.
            classes = {c for d in divisions for c in self.graph.classes(d)}
            if any(not classes.isdisjoint(self.graph.classes(d)) for d in above.divisions):
                return self._answer_lies_in(above.divisions)
        return None

    def _answer_lies_in(self, places: Collection[str]) -> str | None:
        return f"the answer lies in {self._labels_of(places)}" if places else None

    def _labels_of(self, places: Iterable[str]) -> str:
        return " and ".join(sorted(filter(None, map(self.graph.label, places))))

    def sibling_reason(self, facts: AnswerFacts, linked: Sequence[str]) -> str | None:
        """The reason why a name is a sibling of the answer: another answer to the question, a member of a group that
        is the answer, or a person where the answer is none; None otherwise.
        """
        others = set(self.graph.targets(facts.subject, facts.asked.id)) if facts.subject else set()
        if others & set(linked) - set(facts.answers):
            return ANOTHER_ANSWER
        members = {t for a in facts.answers for p in ("P527", "P463") for t in self.graph.targets(a, p)}
        members |= {i for i in linked if set(self.graph.targets(i, "P463")) & set(facts.answers)}
        if members & set(linked):
            return MEMBER
        persons = bool(linked) and all("person" in self.maker.classes(i) for i in linked)
        return A_PERSON if persons and facts.kinds and not facts.person and not facts.place else None

    def is_other_entity(self, facts: AnswerFacts, linked: Sequence[str]) -> bool:
        """Whether the text names an entity of the answer's own kind, unrelated to it."""
        if facts.place or not facts.kinds:
            return False
        kinds = set().union(*(self.maker.classes(i) for i in linked)) if linked else set()
        # "organisation" is too wide a kind: a club and a company differ.
        telling_kinds = facts.kinds - {"organisation"} or facts.kinds
        return bool(kinds & telling_kinds) and not kinds & PLACES

    def namesake(self, facts: AnswerFacts, tiers: Sequence[TierVerdict]) -> str | None:
        """The namesake of the answer that lies in the contradicted places of a chain; see RowVerdict."""
        wrong = [bare(t.text) for t in tiers if t.verdict is VerdictKind.CONTRADICTED] + facts.doubtful
        if not facts.place or not wrong:
            return None
        others = (m.id for m in self.graph.find(facts.gold) if m.id not in facts.answers)
        places = (i for i in others if not PLACES.isdisjoint(self.maker.classes(i)))
        return next((i for i in places if self.facts_reader.above(i).names.issuperset(wrong)), "")


def _is_known_from_text_only(ids: Iterable[str]) -> bool:
    """Whether a name is known from words of a description only."""
    return any(i.startswith("text:") for i in ids)
