"""What a matcher says of one prediction, and what a matcher is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from granola.replies.reply import UNFINISHED, read_reply

Levels = Sequence[Sequence[str]]
"""Acceptable names, finest level first; the order inside a level decides only which name is quoted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """What decided: the part of the prediction, and the tier's name it was held against."""

    prediction: str
    tier: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """`level` is 1-based, 1 the finest; None where no tier is stated.

    `rule` names what decided, also for a refusal to match. `abstained` verdicts have no level and are
    neither right nor wrong. `compared` is None where there was nothing to compare, `score` the
    similarity in [0, 1] where the rule has one. Where something was cut off a prediction (`granola.replies`),
    `answer` is what was judged, and `cuts` are the rules that cut.
    """

    level: int | None
    rule: str
    compared: Comparison | None = None
    abstained: bool = False
    score: float | None = None
    answer: str | None = None
    cuts: tuple[str, ...] = ()


def signature(name: str, **settings: str) -> str:
    """A matcher's name with its settings in their order, `name|setting:value`: what every signature is made of."""
    return "|".join((name, *(f"{setting}:{value}" for setting, value in settings.items())))


class Matcher(Protocol):
    """Decides which level, if any, a prediction states. A value: equal settings give equal verdicts."""

    @property
    def name(self) -> str:
        """The word that `granola.matching.matcher` knows it by."""
        ...

    def signature(self) -> str:
        """The name with every setting that can change a verdict, as it stands in a score's signature."""
        ...

    def match(self, prediction: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict on one prediction. Never raises on any text; `question` may sharpen a rule."""
        ...


@dataclass(frozen=True, kw_only=True)
class ReplyMatcher(ABC):
    """A matcher that judges the answer in what a model wrote (`granola.replies`); with `raw` all that it wrote."""

    raw: bool = False

    def match(self, prediction: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict on the answer in a prediction. A thought without an end has none, which is an abstention."""
        if self.raw:
            return self.match_answer(prediction, levels, question)
        reply = read_reply(prediction)
        if not reply.cuts:
            return self.match_answer(prediction, levels, question)
        cuts = tuple(cut.rule for cut in reply.cuts)
        if reply.unfinished:
            return Verdict(level=None, rule=UNFINISHED, abstained=True, answer=reply.answer, cuts=cuts)
        return replace(self.match_answer(reply.answer, levels, question), answer=reply.answer, cuts=cuts)

    @abstractmethod
    def match_answer(self, answer: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict on an answer without anything around it."""

    @property
    def reading(self) -> dict[str, str]:
        """How predictions are read, as a signature says it."""
        return {"replies": "raw" if self.raw else "cut"}
