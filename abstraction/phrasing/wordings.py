"""Do a model's words state the same tier as the graph's own? Nothing added, nothing lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from abstraction.language.comparable_words import all_words, bare, content, stands_in
from abstraction.language.demonyms import bundled_demonyms
from abstraction.phrasing.checking import HELD, Checked, tidied
from abstraction.phrasing.decisions import Action, CheckResult, TextDecision
from abstraction.relations import relation
from abstraction.rows import TieredRow
from abstraction.tiers import Evidence, Level, Tier
from abstraction.verifying.entailment import EntailmentChecker
from abstraction.verifying.step_replay import value_tier_holds
from abstraction.verifying.tier_verdicts import Judge
from kg.store.protocol import Store
from kg.terms import normalise
from kg.walks.graph import Graph

# May stand beside a name without changing what it names.
_SMALL = frozenset({"the", "a", "an", "of", "in"})
_KINDS = """
    state province region county district city town canton republic kingdom municipality borough continent country
    prefecture language genre
"""
_UNITS = frozenset(_KINDS.split())
_SAME_WORDS = "the same words"


class WordingCheck:
    """Checks wordings of the graph's tiers against one snapshot."""

    def __init__(self, store: Store, *, language: str = "en") -> None:
        self._store = store
        self._language = language
        self._begin()

    def _begin(self) -> None:
        self._checker = EntailmentChecker(self._store, language=self._language)
        self._near = Judge(self._store, language=self._language).near

    @property
    def graph(self) -> Graph:
        """What rows are checked by."""
        return self._near.graph

    def check(self, row: TieredRow, words: Sequence[str], *, call: str) -> Checked:
        """The row's ladder with `words`, one for each tier beyond the answer in order, where they state that tier.

        What the graph itself calls the tier stays among its aliases.
        """
        if self._near.graph.held + self._checker.graph.held > HELD:
            self._begin()
        checks = iter(self._checker.check(_worded(row, words)))
        taken = {normalise(tier.text) for level in row.levels for tier in level.tiers}
        decisions: list[TextDecision] = []
        out: list[Level] = [row.levels[0]]
        lines = enumerate(words, 1)
        for number, level in enumerate(row.levels[1:], 2):
            tiers: list[Tier] = []
            for tier in level.tiers:
                (line, wording), check = next(lines), next(checks)
                why = self._difference(row, tier, wording, check.status, [f.detail for f in check.findings])
                if not why and normalise(wording) != normalise(tier.text) and normalise(wording) in taken:
                    why = "another answer of the row is called so"
                left = bool(why) or wording == tier.text
                if not left:
                    taken.add(normalise(wording))
                tiers.append(tier if left else _in_words(tier, wording, call))
                decisions.append(
                    TextDecision(
                        line=line, text=wording, tier=tier.text, level=number, why=why or _SAME_WORDS,
                        finding=CheckResult.ANOTHER if why else CheckResult.SAME,
                        action=Action.LEFT if left else Action.WORDED,
                    )
                )  # fmt: skip
            out.append(replace(level, tiers=tuple(tiers)))
        return Checked(levels=tidied(out), decisions=tuple(decisions))

    def _difference(self, row: TieredRow, tier: Tier, wording: str, status: str, flaws: Sequence[str]) -> str:
        """What the wording adds or loses; "" where it states the tier."""
        if any(bare(wording) == bare(name) for name in tier.names()):
            return ""
        if row.relation and relation(row.relation).asks in ("date", "quantity"):
            there = value_tier_holds(Level(tiers=(tier,)), Tier(text=wording))
            back = value_tier_holds(Level(tiers=(Tier(text=wording),)), Tier(text=tier.text))
            return "" if there.holds and back.holds else there.wrong or back.wrong or "no reader knows this wording"
        if tier.qid is not None:
            return self._of_entity(tier.qid, tier, wording)
        lost = sorted(self._lost(tier.text, wording))
        if lost:
            return f"loses {', '.join(lost)}"
        if status != "entailed":
            return f"adds {flaws[0]}" if flaws else "adds what nothing vouches for"
        return ""

    def _of_entity(self, qid: str, tier: Tier, wording: str) -> str:
        """A name of the entity must stand there whole, and beside it only its kind and what it lies in."""
        graph = self._near.graph
        names = {*tier.names(), *graph.names(qid), *graph.shown_names(qid)}
        words = all_words(wording)
        beside = {w for place in self._near.above(qid).ids for name in graph.names(place) for w in all_words(name)}
        beside |= self._near.words(self._near.kinds(qid)) | _SMALL | _UNITS
        added = [
            sorted({w for w in words if w not in name_words and w not in beside})
            for name_words in map(all_words, sorted(names))
            if stands_in(name_words, words)
        ]
        if not added:
            return f"is no name of {tier.text!r}"
        fewest = min(added, key=len)
        return f"adds {', '.join(fewest)}" if fewest else ""

    def _lost(self, text: str, wording: str) -> set[str]:
        worded, normalised = content(wording), normalise(wording)
        table = bundled_demonyms()
        countries = {c for word in worded for c in table.countries.get(word, ())}
        countries |= {c for c, adjective in table.adjectives.items() if normalise(adjective) in normalised}

        def meant(word: str) -> bool:
            return word in worded or any(c in countries for c in table.countries.get(word, ()))

        return {word for word in content(text) if not meant(word)}


def _in_words(tier: Tier, wording: str, call: str) -> Tier:
    """The tier in a model's words, with its text among the aliases."""
    written = Evidence(kind="model", call=call, check=f"{CheckResult.SAME}: states what {tier.text!r} does")
    return replace(tier, text=wording, aliases=(tier.text, *tier.aliases), evidence=(*tier.evidence, written))


def _worded(row: TieredRow, words: Sequence[str]) -> TieredRow:
    """The row with the wordings as its only names beyond the answer."""
    texts = iter(words)
    levels = [
        Level(tiers=tuple(replace(tier, text=next(texts), aliases=()) for tier in level.tiers))
        for level in row.levels[1:]
    ]
    return replace(row, levels=(row.levels[0], *levels))
