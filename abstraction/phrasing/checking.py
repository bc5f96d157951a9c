"""Builds a ladder from a model's answers: the graph judges each, then it is kept, merged, moved or dropped.

The decisions are lines of the phrasing log, and a note in each row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, Literal

from abstraction.base.tiers import MAX_LEVELS, MAX_TIERS, Evidence, Ladder, Level, Tier, complete_evidence
from abstraction.files.rows import TieredRow
from abstraction.models.chat_model import FailureReason
from abstraction.text.language.phrases import content_words, without_article
from abstraction.verifying.tier_verdicts import Judge
from abstraction.verifying.verdicts import LEAKS, TierVerdict, VerdictKind
from kg.base.model import normalise
from kg.graph.graph import Graph
from kg.store.protocol import Store

NOTE = "phrasing"  # the field of a row with the note on its phrasing
_TIERS = "tiers"  # the part of the note that only the log keeps


class CheckResult(StrEnum):
    """The result of checking a tier."""

    ENTAILED = "entailed"  # by the graph
    UNPROVEN = "unproven"  # consistent with the graph, but not in it
    CONTRADICTED = "contradicted"
    ALIAS = "alias"  # another name of the answer
    DUPLICATE = "duplicate"  # another name of a finer tier
    SIBLING = "sibling"  # of the same level as the tier before it
    BESIDE_ANSWER = "beside-answer"  # another answer, or a member of it
    FINER = "finer-than-previous"
    NOT_COARSER = "not-coarser-than-answer"
    TRIVIAL = "trivial"
    LEAKING = "leaking"
    UNCHECKED = "unchecked"  # by the paper's procedure, which checks nothing


class Action(StrEnum):
    """The action taken on a checked tier."""

    KEPT = "kept"  # a level of its own
    MERGED = "merged"  # added to the level of its sibling
    JOINED = "joined"  # added to the aliases of the answer
    DROPPED = "dropped"


# All other results have the name of their verdict.
_FINDING_OF = {VerdictKind.UNKNOWN: CheckResult.UNPROVEN, VerdictKind.UNINFORMATIVE: CheckResult.TRIVIAL}


def check_result(verdict: TierVerdict) -> CheckResult:
    """The result of checking that corresponds to a verdict."""
    if verdict.is_sibling_of_answer:
        return CheckResult.BESIDE_ANSWER
    if verdict.why == LEAKS:
        return CheckResult.LEAKING
    return _FINDING_OF.get(verdict.verdict) or CheckResult(verdict.verdict.replace("_", "-"))


@dataclass(kw_only=True)
class TextDecision:
    """The decision on one text that a model wrote: line `line` of its reply, from 1.

    `level` is the level of the row that now contains it, from 1, None where it is dropped; `moved`: whether it was
    moved to another place in the order.
    """

    line: int
    text: str
    finding: CheckResult
    why: str
    action: Action = Action.DROPPED
    level: int | None = None
    moved: bool = False

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object; `moved` only where true."""
        out: dict[str, Any] = {"line": self.line, "text": self.text, "finding": str(self.finding), "why": self.why}
        return out | {"action": str(self.action), "level": self.level} | ({"moved": True} if self.moved else {})


def with_note(
    row: TieredRow, *, mode: str, calls: Iterable[str] = (), fallback: str = "", why: str = "",
    decisions: Iterable[TextDecision] = (),
) -> TieredRow:  # fmt: skip
    """The row with its note: the mode, the keys of its calls, why it has no ladder by the model, each decision."""
    note: dict[str, Any] = {"mode": mode, "calls": list(calls)}
    if fallback:
        note |= {"fallback": fallback, "why": why}
    note[_TIERS] = [decision.to_json() for decision in decisions]
    return replace(row, extra={**row.extra, NOTE: note})


def _phrasing_note(row: TieredRow) -> Mapping[str, Any]:
    """The row's note; empty where it has none."""
    note = row.extra.get(NOTE)
    return note if isinstance(note, Mapping) else {}


def log_lines(row: TieredRow) -> Iterator[dict[str, Any]]:
    """The lines of the phrasing log for a row: one per text of the model, and one where the fallback is used."""
    note = _phrasing_note(row)
    about = {"row": row.id, "call": (note.get("calls") or [None])[-1], "calls": len(note.get("calls") or ())}
    for decision in note.get(_TIERS) or ():
        yield {**about, **decision}
    if note.get("fallback"):
        yield {**about, "fallback": note["fallback"], "why": note.get("why", "")}


def without_decisions(row: TieredRow) -> TieredRow:
    """The row as it is written out: its note without the decisions, which only the log contains."""
    note = _phrasing_note(row)
    if not note:
        return row
    return replace(row, extra={**row.extra, NOTE: {k: v for k, v in note.items() if k not in (_TIERS, "why")}})


class DecisionCounts:
    """Counts rows and texts by decision."""

    def __init__(self) -> None:
        self.rows = self.asked = self.asked_again = 0
        self.findings: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.fallbacks: Counter[str] = Counter()
        self.moved = 0
        self.as_paper = False  # the paper's procedure, in which a failed row keeps its answer only

    def add(self, row: TieredRow) -> None:
        """Count a row with its whole note; a row without a note is ignored."""
        note = _phrasing_note(row)
        if not note:
            return
        calls = len(note.get("calls") or ())
        self.as_paper |= note.get("mode") == "paper"
        self.rows += 1
        self.asked += calls > 0
        self.asked_again += calls > 1
        if fallback := note.get("fallback"):
            self.fallbacks[fallback] += 1
        for decision in note.get(_TIERS) or ():
            self.findings[decision["finding"]][decision["action"]] += 1
            self.moved += bool(decision.get("moved"))

    @property
    def fallback_clause(self) -> str:
        """The fallback of rows without a ladder by the model, as a clause: "keep the graph's ladder"."""
        return "have their answer alone" if self.as_paper else "keep the graph's ladder"

    @property
    def rows_with_failed_call(self) -> int:
        """The number of rows whose call failed: another run asks again for these."""
        return sum(self.fallbacks[str(reason)] for reason in FailureReason)

    def to_json(self) -> dict[str, Any]:
        """All counts as a JSON object."""
        return {
            "rows": self.rows, "asked": self.asked, "asked_again": self.asked_again,
            "fallbacks": dict(sorted(self.fallbacks.items())),
            "findings": {name: dict(sorted(by.items())) for name, by in sorted(self.findings.items())},
            "moved": self.moved,
        }  # fmt: skip

    def lines(self) -> list[str]:
        """The counts for a screen."""
        again = f", {self.asked_again:,} of them twice" if self.asked_again else ""
        out = [f"phrasing: {self.asked:,} of {self.rows:,} rows asked{again}"]
        for finding in (f for f in CheckResult if f in self.findings):
            by = self.findings[finding]
            actions = ", ".join(f"{n:,} {action}" for action, n in by.most_common())
            out.append(f"  {sum(by.values()):>6}  {finding}: {actions}")
        for name, number in sorted(self.fallbacks.items(), key=lambda pair: (-pair[1], pair[0])):
            out.append(f"  {number:>6}  rows {self.fallback_clause}: {name}")
        return out


Unproven = Literal["keep", "drop"]
MOST_ENTITIES = 20_000  # entities in memory, some 10 kB each with conclusions, before the judge is renewed
_OVER_CAP = "the ladder has as many levels as it may"
_FULL = "its level is full"


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedLadder:
    """A checked ladder: `levels` from the answer on, and the decision on each text.

    `has_model_texts`: whether it contains a text of the model; otherwise the levels beyond the answer are those of the
    graph.
    """

    levels: tuple[Level, ...]
    decisions: tuple[TextDecision, ...]
    has_model_texts: bool = True


@dataclass(kw_only=True)
class _Draft(TextDecision):
    """One text of the model while its ladder is being built."""

    entities: tuple[str, ...]
    rung: _CheckedRung | None = None

    def merge_into(self, rung: _CheckedRung) -> bool:
        """Add the text to a level. Returns False where that is full."""
        if len(rung.texts) >= MAX_TIERS:
            return False
        self.action, self.rung = Action.MERGED, rung
        rung.texts.append(self)
        return True


@dataclass(slots=True)
class _CheckedRung:
    """One level while the ladder is being built; `proven`: whether the graph entails it."""

    texts: list[_Draft]
    proven: bool = True


class LadderCheck:
    """Checks the texts of ladders against one snapshot; the same row and texts always give the same result.

    `unproven`: whether a tier that the graph neither entails nor contradicts is kept or dropped.
    """

    def __init__(self, store: Store, *, unproven: Unproven = "keep", language: str = "en") -> None:
        self._new_judge = partial(Judge, store, language=language)
        self._judge = self._new_judge()
        self._keeps_unproven = unproven == "keep"

    @property
    def graph(self) -> Graph:
        """The graph that rows are checked against."""
        return self._judge.graph

    def check(self, row: TieredRow, texts: Sequence[str], *, call: str) -> CheckedLadder:
        """The ladder from `texts`, finest first, for a row that has the graph's own ladder.

        A tier that the graph's ladder has too takes over its entity, aliases, bits and evidence.
        """
        if self._judge.graph.cached_size > MOST_ENTITIES:
            self._judge = self._new_judge()
        drafts = self._drafts_reordered(row, texts)
        rungs = self._build_rungs(row, drafts)
        first = row.levels[0]
        for draft in drafts:
            if draft.finding is CheckResult.ALIAS:
                # The text becomes an alias of the gold answer that has the most words in common with it.
                words = content_words(draft.text)
                nearest = max(first.tiers, key=lambda tier: len(content_words(tier.text) & words))
                named = replace(nearest, aliases=(*nearest.aliases, draft.text))
                first = replace(first, tiers=tuple(named if tier is nearest else tier for tier in first.tiers))
                draft.action = Action.JOINED
        graph = {
            without_article(name): tier
            for level in row.levels[1:]
            for tier in level.tiers
            for name in reversed(tier.names())
        }
        taken: set[str] = set()
        beyond: Sequence[Level] = [
            Level(tiers=tuple(self._tier_of_draft(draft, graph, taken, call) for draft in rung.texts)) for rung in rungs
        ]
        for draft in drafts:
            is_alias = draft.finding is CheckResult.ALIAS
            draft.level = 1 if is_alias else next((at for at, rung in enumerate(rungs, 2) if rung is draft.rung), None)
            draft.moved &= draft.level is not None
        decisions = sorted(drafts, key=lambda draft: draft.line)
        steps = [step for level in row.levels[1:] for tier in level.tiers for step in tier.evidence]
        beyond = complete_evidence(Ladder(levels=(first, *beyond)), further_steps=steps).levels[1:]
        levels = drop_repeated_aliases((first, *(beyond or row.levels[1:])))
        return CheckedLadder(levels=levels, decisions=tuple(decisions), has_model_texts=bool(beyond))

    def _drafts_reordered(self, row: TieredRow, texts: Sequence[str]) -> list[_Draft]:
        """The texts with their results, reordered so that as few as possible are finer than one before them.

        A finer text is moved before the last entailed text that precedes it, until there is none or an order repeats.
        """
        order, moved = list(range(len(texts))), set[int]()
        seen = {tuple(order)}
        while True:
            verdicts = self._verdicts(row, *([texts[at]] for at in order))
            results = list(map(check_result, verdicts))
            finer = next((at for at, result in enumerate(results) if result is CheckResult.FINER), None)
            good = [at for at, result in enumerate(results[:finer]) if result is CheckResult.ENTAILED]
            if finer is None or not good:
                break
            changed = list(order)
            changed.insert(good[-1], changed.pop(finer))
            # An order seen before would repeat for ever.
            if tuple(changed) in seen:
                break
            seen.add(tuple(changed))
            moved.add(order[finer])
            order = changed
        return [
            _Draft(
                line=at + 1, text=texts[at], finding=check_result(verdict), entities=verdict.entities, why=verdict.why,
                moved=at in moved,
            )
            for at, verdict in zip(order, verdicts, strict=True)
        ]  # fmt: skip

    def _verdicts(self, row: TieredRow, *levels: Sequence[str]) -> tuple[TierVerdict, ...]:
        """The verdicts on the texts of `levels`, each level coarser than the one before it, beginning at the answer."""
        beyond = (Level(tiers=tuple(Tier(text=text) for text in texts)) for texts in levels)
        return self._judge.judge(replace(row, levels=(row.levels[0], *beyond), abstained=None)).tiers

    def _build_rungs(self, row: TieredRow, drafts: Sequence[_Draft]) -> list[_CheckedRung]:
        """The levels beyond the answer; sets the action on each text."""
        self._mark_graph_tiers_and_duplicates(row, drafts)
        rungs: list[_CheckedRung] = []
        for draft in drafts:
            proven = [rung for rung in rungs if rung.proven]
            entailed = draft.finding is CheckResult.ENTAILED
            if entailed and (beside := self._finer_level_of_sibling(row, draft, proven)) is not None:
                draft.finding, draft.why = CheckResult.SIBLING, "follows from a finer level, not from the one before it"
                draft.merge_into(beside)
            elif self._is_kept(draft):
                draft.action, draft.rung = Action.KEPT, _CheckedRung(texts=[draft], proven=entailed)
                rungs.append(draft.rung)
            elif draft.finding is CheckResult.SIBLING and proven and not draft.merge_into(proven[-1]):
                draft.why = _FULL
        while len(rungs) > MAX_LEVELS:  # the three finest and the two coarsest stay, as in the graph's ladders
            for draft in rungs.pop(MAX_LEVELS - 2).texts:
                draft.action, draft.rung, draft.why = Action.DROPPED, None, _OVER_CAP
        return rungs

    def _mark_graph_tiers_and_duplicates(self, row: TieredRow, drafts: Sequence[_Draft]) -> None:
        """Mark texts of the graph's own ladder as entailed, whatever their verdict, and repeated texts as duplicates.
        """
        tiers = {
            without_article(name): tier.text
            for level in row.levels[1:]
            for tier in level.tiers
            for name in tier.names()
        }
        used: set[str | None] = {None}
        known: set[str] = set()
        for draft in drafts:
            key = without_article(draft.text)
            if draft.finding in (CheckResult.UNPROVEN, CheckResult.DUPLICATE) and tiers.get(key) not in used:
                draft.finding, draft.why = CheckResult.ENTAILED, "is in the graph's own ladder"
            used.add(tiers.get(key))
            if key in known and self._is_kept(draft):
                draft.finding = CheckResult.DUPLICATE
            known.add(key)

    def _is_kept(self, draft: _Draft) -> bool:
        return draft.finding is CheckResult.ENTAILED or (draft.finding is CheckResult.UNPROVEN and self._keeps_unproven)

    def _finer_level_of_sibling(
        self, row: TieredRow, draft: _Draft, proven: Sequence[_CheckedRung]
    ) -> _CheckedRung | None:
        """The finer level that a phrase belongs to, where it does not follow from the last one; None where it does."""
        if draft.entities:
            return None  # names may follow from any finer level, whatever lies between
        beside = None
        for rung in reversed(proven):
            *_, verdict = self._verdicts(row, [other.text for other in rung.texts], [draft.text])
            if check_result(verdict) is not CheckResult.SIBLING:
                break
            beside = rung
        return beside

    def _tier_of_draft(self, draft: _Draft, graph_tiers: Mapping[str, Tier], used_texts: set[str], call: str) -> Tier:
        written = Evidence(kind="model", call=call, check=f"{draft.finding}: {draft.why}")
        of_graph = graph_tiers.get(without_article(draft.text))
        if of_graph is not None and of_graph.text not in used_texts:
            used_texts.add(of_graph.text)
            aliases = (*of_graph.aliases, of_graph.text)
            return replace(of_graph, text=draft.text, aliases=aliases, evidence=(*of_graph.evidence, written))
        # Several entities of one name leave open which is meant.
        qid = draft.entities[0] if draft.finding is CheckResult.ENTAILED and len(draft.entities) == 1 else None
        names = self.graph.shown_names(qid) if qid else ()
        return Tier(text=draft.text, qid=qid, aliases=tuple(names), evidence=(written,))


def drop_repeated_aliases(levels: Sequence[Level]) -> tuple[Level, ...]:
    """The levels with each name once: an alias that is the text of any tier, or of an earlier tier, is removed."""
    texts = {normalise(tier.text) for level in levels for tier in level.tiers}
    seen: set[str] = set()
    out = []
    for level in levels:
        tiers = []
        for tier in level.tiers:
            aliases: dict[str, str] = {}
            for alias in tier.aliases:
                key = normalise(alias)
                if key and key not in texts and key not in seen:
                    aliases.setdefault(key, alias)
            seen |= aliases.keys()
            tiers.append(replace(tier, aliases=tuple(aliases.values())))
        out.append(replace(level, tiers=tuple(tiers)))
    return tuple(out)
