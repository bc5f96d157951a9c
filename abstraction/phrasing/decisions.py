"""Decisions about tiers that a model wrote: lines of the phrasing log, and the note in each row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from abstraction.files.rows import TieredRow
from abstraction.models.chat_model import FailureReason
from abstraction.verifying.verdicts import LEAKS, TierVerdict, VerdictKind

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


# The other results are called as the verdicts are.
_FINDING_OF = {VerdictKind.UNKNOWN: CheckResult.UNPROVEN, VerdictKind.UNINFORMATIVE: CheckResult.TRIVIAL}


def check_result(verdict: TierVerdict) -> CheckResult:
    """The result of checking that corresponds to a verdict."""
    if verdict.beside_answer:
        return CheckResult.BESIDE_ANSWER
    if verdict.why == LEAKS:
        return CheckResult.LEAKING
    return _FINDING_OF.get(verdict.verdict) or CheckResult(verdict.verdict.replace("_", "-"))


@dataclass(frozen=True, kw_only=True, slots=True)
class TextDecision:
    """The decision on one text that a model wrote: line `line` of its reply, from 1.

    `level` is the level of the row that now contains it, from 1, None where it is dropped; `moved`: whether it was
    moved to another place in the order.
    """

    line: int
    text: str
    finding: CheckResult
    why: str
    action: Action
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
    """The row as it is written out: its note without the decisions, which the log contains."""
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
    def fallback_in_words(self) -> str:
        """The fallback of rows without a ladder by the model, in words."""
        return "have their answer alone" if self.as_paper else "keep the graph's ladder"

    @property
    def unanswered(self) -> int:
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
            out.append(f"  {number:>6}  rows {self.fallback_in_words}: {name}")
        return out
