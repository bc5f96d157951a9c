"""The settings of methods of answering, and the decision of one for a question: prediction, confidence, explanation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from granola.base.settings import Setting

IDK = "IDK"  # prediction of an abstention
SUPPORT = 0.6  # minimum share of responses; measured in docs/reference/decoding.md
SAMPLES = 10
SHOWN = 4  # alternatives listed in an explanation


class Answering(StrEnum):
    """The methods by name."""

    GREEDY = "greedy"
    SAMPLE = "sample"
    IDK = "idk"
    IDK_IF_UNCERTAIN = "idk-if-uncertain"
    AGG = "agg"
    SELF_CONSISTENCY = "self-consistency"
    DRAG = "drag"
    DRAG_GRAPH = "drag-graph"


class Counting(StrEnum):
    """The criterion for equal answers."""

    TEXT = "text"
    ALIAS = "alias"
    LADDER = "ladder"


class Abstaining(StrEnum):
    """How abstaining responses count.

    IGNORE: not at all, unless all abstain. VOTE: each votes for IDK, which wins if more responses abstain than entail
    the answer. AGAINST: each counts as a response that entails nothing. PASS: they are shown to the aggregating model
    as IDK; for DRAG only.
    """

    IGNORE = "ignore"
    VOTE = "vote"
    AGAINST = "against"
    PASS = "pass"

    def forces_abstention(self, *, responses: float, abstaining: float, support: float = math.inf) -> bool:
        """Whether `abstaining` responses force IDK over an answer that `support` responses entail."""
        # If all abstain there is nothing to decide, whatever the setting.
        return abstaining >= responses or (self is Abstaining.VOTE and abstaining > support)

    def denominator_of_shares(self, *, responses: float, abstaining: float) -> float:
        """The number of responses that shares are taken of. AGAINST: all. IGNORE and VOTE: those that do not abstain.
        """
        return responses if self is Abstaining.AGAINST else responses - abstaining


CountedAs = Annotated[
    Counting,
    Setting(
        "self-consistency: what counts as the same answer: its words, what they name, or what follows from them.",
        advanced=True,
    ),
]
AbstainingRule = Annotated[
    Abstaining | None,
    Setting(
        "How declining responses count. ignore: not at all; vote: for IDK, where more decline than entail the answer; "
        "against: as responses that entail nothing; pass: drag's model sees them. Default: pass for drag, else ignore.",
        advanced=True,
    ),
]
ResponseLanguage = Annotated[str, Setting("Language of the responses and of the predictions.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """A prediction with its support; "IDK" in `text` for an abstention.

    `support`: the share of the `counted` responses that entail it, in [0, 1]; `supporters`: their indices, from 0.
    `confidence`: (responses that entail the answer + that state it + that share its wording) / (3 (all responses + 1)),
    in [0, 1); None for an abstention. `qid`, `bits`: of the tier, if it has them. `more`: further fields of the method.
    """

    text: str
    explanation: str
    support: float | None = None
    confidence: float | None = None
    qid: str | None = None
    bits: float | None = None
    counted: float | None = None
    responses: float | None = None
    supporters: frozenset[int] = field(default=frozenset(), compare=False)
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def abstains(self) -> bool:
        """Whether it abstains: IDK, or a text whose short form is IDK."""
        return IDK in (self.text, self.more.get("short"))

    def to_json(self) -> dict[str, Any]:
        """The fields for a row of output; unknown ones are omitted."""
        out: dict[str, Any] = {"prediction": self.text}
        for name, value in (("support", self.support), ("confidence", self.confidence), ("bits", self.bits)):
            # Missing is not zero: unknown fields are left out.
            if value is not None:
                out[name] = round(value, 4)
        for name, number in (("qid", self.qid), ("counted", self.counted), ("responses", self.responses)):
            if number is not None:
                out[name] = round(number, 4) if isinstance(number, float) else number
        return out | {"explanation": self.explanation, **self.more}


def abstention(explanation: str) -> Decision:
    """The decision to abstain."""
    return Decision(text=IDK, explanation=explanation)


def format_response_count(number: float, total: float) -> str:
    """Format a count: `4 of 4 responses`, `1 of 1 response`; for weights `2.5 of 4 responses`."""
    return f"{number:.4g} of {total:.4g} response{'' if total == 1 else 's'}"


def format_alternatives(others: Sequence[tuple[str, float]], total: float) -> list[str]:
    """The first `SHOWN` alternatives with their support, `Lyon: 2 of 5`, and the number of further ones."""
    # A long tail of single responses would bury the decision.
    more = [f"{len(others) - SHOWN} more"] if len(others) > SHOWN else []
    return [f"{name}: {number:.4g} of {total:.4g}" for name, number in others[:SHOWN]] + more
