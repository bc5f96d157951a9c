"""What a matcher says of one prediction, and what a matcher is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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
    similarity in [0, 1] where the rule has one.
    """

    level: int | None
    rule: str
    compared: Comparison | None = None
    abstained: bool = False
    score: float | None = None


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
