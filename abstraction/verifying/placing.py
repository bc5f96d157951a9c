"""Does a name stand above the answer and above the tiers before it, or can no place of that name hold the answer?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from abstraction.linking.gazetteer import PLACES, WORLD
from abstraction.tiers import Tier
from abstraction.verifying.answer_facts import AnswerFacts, CaseReader
from abstraction.verifying.comparable_words import bare, content, says_outside
from abstraction.verifying.neighbourhood import CONTINENT
from abstraction.verifying.verdicts import TierVerdict, VerdictKind

_NAMES_OF_UNITS = """
    canton county province region state department prefecture oblast governorate district territory parish
    voivodeship raion republic
"""
_UNITS = frozenset(_NAMES_OF_UNITS.split())


class PlaceRelation:
    """Judges tiers that are names by what the snapshot puts above what."""

    def __init__(self, cases: CaseReader) -> None:
        self.cases = cases
        self.maker = cases.maker
        self.graph = cases.graph
        self.near = cases.near

    def meant(self, case: AnswerFacts, tier: Tier) -> frozenset[str]:
        """The entities above the answer that the tier names, or a mark that only a description names it."""
        key = bare(tier.text)
        if tier.qid is not None:
            known = tier.qid in case.above.ids or tier.qid in case.above_classes
            return frozenset({tier.qid}) if known else frozenset()
        ids = {i for i in case.above.ids if key in {bare(n) for n in self.graph.names(i)}}
        if ids or key in case.above.names or self._is_described(case, tier.text):
            return frozenset(ids or {f"text:{key}"})
        return frozenset(c for c in case.above_classes if self.cases.is_called(c, key))

    def unit_around(self, case: AnswerFacts, text: str) -> frozenset[str] | None:
        """The units around a place that are called after it and their kind: Geneva Canton, the Province of Turin.

        Empty where those called so are not known to lie around it. None for any other text, and where the answer is
        such a unit itself.
        """
        words = content(text)
        name = next((n for n in case.names if content(n) and content(n) < words and words - content(n) <= _UNITS), None)
        if not case.place or name is None:
            return None
        kinds = words - content(name)
        descriptions = [self.graph.description(i) or "" for i in case.answers]
        classes = [self.graph.label(c) or "" for i in case.answers for c in self.graph.classes(i)]
        heads = [re.split(r"\s(?:of|in)\s|,", said, maxsplit=1)[0] for said in (*descriptions, *classes)]
        if any(kinds & content(head) for head in heads):
            return None
        forms = [form for kind in sorted(kinds) for form in (text, f"{name} {kind}", f"{kind} of {name}")]
        self.graph.find_all(forms)
        called = {m.id for form in forms for m in self.graph.find(form) if content(m.text) == words}
        called |= {i for i in case.above.ids if any(content(n) == words for n in self.graph.names(i))}
        called -= set(case.answers)
        if not called:
            return None
        self.graph.fetch(called)
        # "city in Switzerland and capital of its canton"
        its = re.compile(rf"\b(?:its|eponymous|same|same-named) (?:[a-z]+ )?(?:{'|'.join(sorted(kinds))})\b")
        told = any(its.search(said) for said in descriptions)
        return frozenset(
            i
            for i in called
            if (told or i in case.above.ids or not set(case.answers).isdisjoint(self.graph.targets(i, "P36")))
            and not self.elsewhere(case, [i])
        )

    def _is_described(self, case: AnswerFacts, text: str) -> bool:
        """Whether the answer's description tells the name as a place or owner of the answer: "in X", ", X", "of X"."""
        if not text[:1].isupper() or case.person:
            return False
        for found in re.finditer(re.escape(text), case.description):
            before, after = case.description[: found.start()], case.description[found.end() :]
            opened = re.search(r"(?:\b(?:in|of|within|by|at|on|the)\s+|,\s*|\band\s+)$", before)
            closed = re.match(r"$|[,;.)]|\s+(?:and|in|of|on)\b|\s*\(", after)
            if opened and closed and not says_outside(case.description, found.start()):
                return True
        return False

    def ordered(self, case: AnswerFacts, tier: Tier, meant: frozenset[str]) -> tuple[VerdictKind, str]:
        """Whether an entity above the answer also stands above the tiers accepted before it."""
        before = [ids for _, ids in case.good if ids and not any(i.startswith("text:") for i in ids)]
        if len(case.answers) > 1:  # each answer has tiers of its own
            over = [self._over(case, a) for a in case.answers]
            before = [ids for ids in before if any(ids & one and meant & one for one in over)]
        if not before or any(i.startswith("text:") for i in meant):
            return VerdictKind.ENTAILED, "lies above the answer"
        for ids in before:
            if ids & meant:
                return VerdictKind.DUPLICATE, "another name of a finer tier"
        if any(meant & self._over(case, i) for ids in before for i in ids):
            return VerdictKind.ENTAILED, "lies above the tier before it"
        if all(any(ids & self._over(case, m) for m in meant) for ids in before):
            return VerdictKind.FINER_THAN_PREVIOUS, "lies within the tier before it"
        label = self.graph.label
        if any(content(label(m) or "-") < content(label(i) or "") for ids in before for i in ids for m in meant):
            return VerdictKind.ENTAILED, "its name is in the name of the tier before it"  # Western Europe, Europe
        shared = [c for ids in before for i in ids for m in meant for c in self._same_class(i, m)]
        if shared and case.certain:
            return VerdictKind.SIBLING, f"a {shared[0]} like the tier before it"
        return VerdictKind.ENTAILED, "lies above the answer"

    def _over(self, case: AnswerFacts, qid: str) -> frozenset[str]:
        above = frozenset(self.near.above(qid).ids)
        return above | self.near.classes_above(qid) if case.above_classes else above

    def _same_class(self, one: str, other: str) -> list[str]:
        kinds = set(self.graph.classes(one)) & set(self.graph.classes(other))
        return [label for k in sorted(kinds) if (label := self.graph.label(k))]

    def elsewhere(self, case: AnswerFacts, linked: Sequence[str]) -> str | None:
        """Why no place of that name can hold the answer: another state, another first-level division."""
        if not case.place or not case.answers:
            return None
        places = [i for i in linked if not PLACES.isdisjoint(self.maker.classes(i)) and not self.graph.is_historical(i)]
        reasons = [reason for i in places if (reason := self._conflict(case, i)) is not None]
        return reasons[0] if places and len(reasons) == len(places) else None

    def _conflict(self, case: AnswerFacts, place: str) -> str | None:
        above = case.above
        label = self.graph.label
        if WORLD.search(label(place) or "") and CONTINENT not in self.graph.classes(place):
            return None  # the Caribbean is in no one state
        if self.near.is_state(place):
            return f"the answer lies in {_list(map(label, above.states))}" if above.states else None
        if self.graph.label(place) and CONTINENT in self.graph.classes(place):
            return f"the answer lies in {_list(map(label, above.continents))}" if above.continents else None
        own = self.near.above(place)
        if own.states and above.states and own.states.isdisjoint(above.states):
            told = {bare(tier.text) for level in case.row.levels[1:] for tier in level.tiers}
            if any(self.cases.is_called(state, name) for state in above.states for name in told):
                return None  # the chain ends in the right state: the snapshot lacks the place that is meant
            return f"{label(place)} lies in {_list(map(label, own.states))}"
        mine = {place} if self.near.is_division(place) else set(own.divisions)
        if mine and above.divisions and mine.isdisjoint(above.divisions):
            classes = {c for d in mine for c in self.graph.classes(d)}
            if any(classes & set(self.graph.classes(d)) for d in above.divisions):
                return f"the answer lies in {_list(map(label, above.divisions))}"
        return None

    def namesake(self, case: AnswerFacts, tiers: Sequence[TierVerdict]) -> str | None:
        """The namesake that the contradicted places of a chain belong to; see RowVerdict."""
        wrong = [bare(t.text) for t in tiers if t.verdict is VerdictKind.CONTRADICTED] + case.doubtful
        if not case.place or not wrong:
            return None
        for qid in self._namesakes(case):
            names = self.near.above(qid).names
            if all(name in names for name in wrong):
                return qid
        return ""

    def _namesakes(self, case: AnswerFacts) -> Iterator[str]:
        for match in self.graph.find(case.gold):
            if match.id not in case.answers and not PLACES.isdisjoint(self.maker.classes(match.id)):
                yield match.id


def _list(labels: Iterable[str | None]) -> str:
    return " and ".join(sorted(label for label in labels if label))
