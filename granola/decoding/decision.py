"""What a method decides for a question: a prediction, how sure it is, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from granola.decoding.response_cleaning import IDK

SHOWN = 4  # further answers that an explanation names


class Abstaining(StrEnum):
    """What the responses count that decline to answer.

    IGNORE: nothing, unless all decline. VOTE: each votes for IDK, which is the answer where more responses decline than
    entail what would be said. AGAINST: each is a response that entails nothing. PASS: they are shown to the model that
    aggregates, as IDK; for DRAG alone.
    """

    IGNORE = "ignore"
    VOTE = "vote"
    AGAINST = "against"
    PASS = "pass"

    def declines(self, *, responses: float, abstaining: float, support: float = math.inf) -> bool:
        """Whether so many declining responses decide that there is no answer, against one that `support` entail."""
        return abstaining >= responses or (self is Abstaining.VOTE and abstaining > support)

    def counted_responses(self, *, responses: float, abstaining: float) -> float:
        """How many responses a share is taken of."""
        return responses if self is Abstaining.AGAINST else responses - abstaining


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """`text` is the prediction, "IDK" for an abstention.

    `support`: the share of the `counted` responses that entail it, `supporters` their numbers, from 0. `confidence` in
    [0, 1] is of all `responses` and one more (`confidence`), None for an abstention. `qid`, `bits` of the tier,
    where it has them. `more` are further fields of the method's own.
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
        """Whether there is no answer: IDK, or a text that declines, whose short form is IDK."""
        return IDK in (self.text, self.more.get("short"))

    def to_json(self) -> dict[str, Any]:
        """The fields that it adds to a row, without those that are not known."""
        out: dict[str, Any] = {"prediction": self.text}
        for name, value in (("support", self.support), ("confidence", self.confidence), ("bits", self.bits)):
            if value is not None:
                out[name] = round(value, 4)
        for name, number in (("qid", self.qid), ("counted", self.counted), ("responses", self.responses)):
            if number is not None:
                out[name] = round(number, 4) if isinstance(number, float) else number
        return out | {"explanation": self.explanation, **self.more}


def abstention(explanation: str) -> Decision:
    """The decision not to answer."""
    return Decision(text=IDK, explanation=explanation)


def confidence(support: float, said: float, same: float, responses: float) -> float:
    """(support + said + same) / 3 of `responses` and one more: how many entail the answer, give it, use the same words.

    `responses` counts those that decline too; the one more is a response that disagrees. Of answers that as many
    responses entail the one that they name is surer than one that only follows from what they name.
    """
    return (support + said + same) / (3 * (responses + 1))


def of_responses(number: float, of: float) -> str:
    """`4 of 4 responses`, `1 of 1 response`; of weights, `2.5 of 4 responses`."""
    return f"{number:.4g} of {of:.4g} response{'' if of == 1 else 's'}"


def list_others(others: Sequence[tuple[str, float]], of: float) -> list[str]:
    """What else there was, with its support: `Lyon: 2 of 5`; the first of them, and how many more."""
    more = [f"{len(others) - SHOWN} more"] if len(others) > SHOWN else []
    return [f"{name}: {number:.4g} of {of:.4g}" for name, number in others[:SHOWN]] + more
