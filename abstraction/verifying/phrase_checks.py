"""Judges phrases such as "a British sculptor": is it true of the answer, and coarser than the tiers before it?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from abstraction.base.tiers import Tier
from abstraction.text.language.comparable_words import all_words, bare, content, proper_names
from abstraction.text.language.demonyms import bundled_demonyms
from abstraction.verifying.answer_facts import AnswerFacts, AnswerFactsReader
from abstraction.verifying.step_replay import titles
from abstraction.verifying.verdicts import VerdictKind
from kg.base.terms import normalise

_AFTER_NOUN = re.compile(r"\s(?:in|of|from|by|who|that|which)\s")
LONGEST = 20  # most words of a name at the end of a phrase
KINDS = frozenset({"P106", "P31", "P136", "P641", "P452"})  # occupation, instance of, genre, sport, industry


class Phrases:
    """Judges tiers that are phrases, word by word."""

    def __init__(self, facts_reader: AnswerFactsReader) -> None:
        self.facts_reader, self.graph = facts_reader, facts_reader.graph

    def is_phrase(self, text: str, linked: Sequence[str]) -> bool:
        """Whether the text is a phrase rather than a name; `linked` are entities with that name."""
        first = normalise(text).split(" ")[0]
        if first in ("a", "an") or text[:1].islower() or (first == "the" and text.split()[1:2] and text[4:5].islower()):
            return True
        further = text.split()[1:]
        national = not bundled_demonyms().countries.keys().isdisjoint((first, first.split("-")[0]))
        return not linked and (national or (bool(further) and all(w[:1].islower() for w in further)))

    def verdict(self, facts: AnswerFacts, tier: Tier) -> tuple[VerdictKind, str]:
        """The verdict on a phrase and its reason."""
        words = content(tier.text)
        if missing := self._unsupported_words(facts, words):
            countries = bundled_demonyms().countries
            nations = facts.nations | facts.above.states
            foreign = [w for w in missing if w in countries and nations and nations.isdisjoint(countries[w])]
            if foreign and facts.certain:
                why = f"no source calls the answer {foreign[0]}, and its country is known"
                return VerdictKind.CONTRADICTED, why
            return VerdictKind.UNKNOWN, f"no source says {', '.join(missing)} of the answer"
        true = [t for t in facts.true if self.is_phrase(t.text, ())]
        if any(words == content(t.text) for t in true):
            return VerdictKind.DUPLICATE, "says the same as a finer tier"
        return self._compare_with_finer(facts, tier, true)

    def _compare_with_finer(self, facts: AnswerFacts, tier: Tier, true: Sequence[Tier]) -> tuple[VerdictKind, str]:
        """The verdict on a phrase that is true of the answer, compared with the tiers before it; `true` are the
        phrases among those.
        """
        words = content(tier.text)
        earlier = [t for t in facts.earlier if t in true]
        entailing = [t for t in facts.earlier if (t in earlier or t.qid) and words <= self._entailed_words(facts, t)]
        if entailing:
            if not tier.evidence and all(self._are_listed_apart(facts, tier, t) for t in entailing):
                return VerdictKind.SIBLING, "the description lists it next to the tier before it"
            return VerdictKind.ENTAILED, "follows from a tier before it"
        if true and content(true[-1].text) <= self._entailed_words(facts, tier):
            return VerdictKind.FINER_THAN_PREVIOUS, "says more than the tier before it"
        if not earlier:
            return VerdictKind.ENTAILED, "each word is said of the answer"
        return VerdictKind.SIBLING, "neither follows from the tier before it nor the reverse"

    def _unsupported_words(self, facts: AnswerFacts, words: Iterable[str]) -> list[str]:
        """The words that no source says of the answer, neither whole nor by their hyphenated parts, sorted."""
        known = facts.words | {"person", "man", "woman"} if facts.person else facts.words
        return sorted(w for w in words if w not in known and not known.issuperset(w.split("-")))

    def _are_listed_apart(self, facts: AnswerFacts, tier: Tier, before: Tier) -> bool:
        """Whether the description lists the two tiers as different things: "comedian, actor and composer"."""
        items = [content(part) for part in re.split(r"[,;]|\band\b", facts.description)]

        def among(text: str) -> set[int]:
            head = all_words(_AFTER_NOUN.split(text)[0])[-1:]
            return {at for at, words in enumerate(items) if head and head[0] in words}

        if any(re.search(r",|\band\b", text) for text in (tier.text, before.text)):
            return False
        items_of_tier, items_before = among(tier.text), among(before.text)
        return bool(items_of_tier and items_before) and not items_of_tier & items_before

    def _entities_of_last_words(self, words: Sequence[str]) -> list[str]:
        """The ids with the longest name at the end of `words`: two by label, else one by alias ("actress")."""
        for start in range(max(0, len(words) - LONGEST), len(words)):
            # The longest ending first: "football club" before "club".
            matches = [m for m in self.graph.find(" ".join(words[start:])) if m.id.startswith("Q")]
            if matches:
                return [m.id for m in matches if m.kind == "label"][:2] or [m.id for m in matches][:1]
        return []

    def _entailed_words(self, facts: AnswerFacts, tier: Tier) -> frozenset[str]:
        """The words of a phrase, of the broader classes of its noun, and of the wider nationality: all that it
        entails.
        """
        words = all_words(tier.text)
        head = all_words(_AFTER_NOUN.split(tier.text)[0])  # also "a baseball team" of "a baseball team in ..."
        kinds = [
            i
            for text in dict.fromkeys((words, head))
            for i in self.facts_reader.superclasses(self._entities_of_last_words(text))
        ]
        stated = [e.value for e in tier.evidence if e.value and e.property in KINDS and e.value[:1] == "Q"]
        kinds += self.facts_reader.superclasses(stated)
        out = content(tier.text) | self.facts_reader.words(kinds) | {"person"}
        text = f" {normalise(tier.text)} "
        lifts = [lift for title, lift in titles().items() if f" {title} " in text]
        return out.union(
            *map(content, lifts),
            *map(self.facts_reader.nation_names, set(words)),
            *(self._words_around_place(facts, bare(name)) for name in proper_names(tier.text)),
        )

    def _words_around_place(self, facts: AnswerFacts, name: str) -> set[str]:
        """The words of names and demonyms around the places of the answer with this name."""
        out: set[str] = set()
        for qid in [i for i in (*facts.above.ids, *sorted(facts.nations)) if self.facts_reader.is_called(i, name)][:3]:
            above = self.facts_reader.above(qid)
            out.update(*map(content, above.names), *map(self.facts_reader.demonyms, (qid, *above.states)))
        return out
