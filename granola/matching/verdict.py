"""The verdict of a matcher on one prediction, and the protocol of matchers."""

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
    """The evidence of a verdict: the part of the prediction, and the tier's name that it was compared with."""

    prediction: str
    tier: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """`level` is 1-based, 1 the finest; None where no tier is stated.

    `rule` is the name of the rule that decided, also where nothing matches. `abstained` verdicts have no level and are
    neither right nor wrong. `compared` is None where there was nothing to compare, `score` the similarity in [0, 1]
    where the rule has one. Where something was cut from a prediction (`granola.replies`), `answer` is the judged part,
    and `cuts` are the rules that cut.
    """

    level: int | None
    rule: str
    compared: Comparison | None = None
    abstained: bool = False
    score: float | None = None
    answer: str | None = None
    cuts: tuple[str, ...] = ()


def signature(name: str, **settings: str) -> str:
    """The signature of a matcher: its name and its settings in order, `name|setting:value`."""
    return "|".join((name, *(f"{setting}:{value}" for setting, value in settings.items())))


class Matcher(Protocol):
    """Decides which level, if any, a prediction states. A value: equal settings give equal verdicts."""

    @property
    def name(self) -> str:
        """The name under which `granola.matching.matcher` finds it."""
        ...

    def signature(self) -> str:
        """The name with every setting that can change a verdict, for the signature of a score."""
        ...

    def match(self, prediction: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict on one prediction. Never raises on any text; a rule may use `question` to decide."""
        ...


@dataclass(frozen=True, kw_only=True)
class ReplyMatcher(ABC):
    """A matcher that judges the answer in a model's output (`granola.replies`); with `raw` the whole output."""

    raw: bool = False

    def match(self, prediction: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict on the answer in a prediction. An output that ends within a thought has none and abstains."""
        if self.raw:
            return self.match_answer(prediction, levels, question)
        reply = read_reply(prediction)
        if not reply.cuts:
            return self.match_answer(prediction, levels, question)
        if reply.unfinished:
            return Verdict(level=None, rule=UNFINISHED, abstained=True, answer=reply.answer, cuts=reply.cuts)
        return replace(self.match_answer(reply.answer, levels, question), answer=reply.answer, cuts=reply.cuts)

    @abstractmethod
    def match_answer(self, answer: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict on an answer without anything around it."""

    @property
    def reading_settings(self) -> dict[str, str]:
        """How predictions are read, as part of a signature."""
        return {"replies": "raw" if self.raw else "cut"}
