"""Metrics as values: `str` gives the name with its parameters; they compare and pickle.

Every metric here is a mean over items, so an aggregate needs only the number of items with each outcome. Statistics
that are not means use `granola.scoring.statistics.bootstrap_estimate`.
Source "Yona et al. 2024" is "Narrowing the Knowledge Evaluation Gap: Open-Domain Question Answering with
Multi-Granularity Answers"; i* is the finest level that a prediction matches, 1 the finest.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from granola.errors import MatcherError

LAMBDA = 0.5  # weighs levels; level 2 then counts 0.61, level 3 0.37
Standard = Literal["aliases", "gold"]
STANDARDS: tuple[Standard, ...] = get_args(Standard)
Over = Literal["all", "answered", "matched"]
"""The items that a metric is a mean over: all, those that did not abstain, those that matched a level."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The input of a metric for a scored item: its matched level from 1, or None, and whether it abstained.

    `bits` is the information content of the matched level; `share` is its part of the bits of the answer, in [0, 1].
    Both are 0 where nothing matched, and None where the ladder has no bits. `other` is the outcome, without bits, by
    the other standard of level 1 (with or without its aliases); None where it is the same.
    """

    level: int | None
    abstained: bool = False
    bits: float | None = None
    share: float | None = None
    other: Outcome | None = None

    @property
    def plain(self) -> Outcome:
        """The outcome without bits; items have few distinct ones."""
        return Outcome(level=self.level, abstained=self.abstained, other=self.other)

    @property
    def name(self) -> str:
        """The row of the distribution that counts the item: its level, "wrong" or "idk"."""
        return str(self.level) if self.level is not None else "idk" if self.abstained else "wrong"

    @property
    def order(self) -> tuple[tuple[bool, int, bool], ...]:
        """Sort key: by level, then wrong, then idk; ties by the same key of the other outcome."""
        place = (self.level is None, self.level or 0, self.abstained)
        return (place,) if self.other is None else (place, *self.other.order)


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """The definition of a metric.

    `title` is its name in tables, `source` the formula in words with its origin. `adds` takes the outcome and lambda,
    and returns the value that the mean averages. `better` is its direction, "neither" for a description of behaviour.
    `over` are the items that it averages; `adds` is not asked about others. `by_other_standard` where it counts the
    outcomes by the other standard of level 1. `summed_field` is the field of an outcome that the mean sums, None where
    items of equal `Outcome.plain` add the same value.
    """

    title: str
    source: str
    adds: Callable[[Outcome, float], float | None]
    better: Literal["higher", "lower", "neither"] = "higher"
    range: tuple[float, float] = (0.0, 1.0)
    weighs: bool = False
    summed_field: Literal["bits", "share"] | None = None
    over: Over = "all"
    by_other_standard: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """A metric by its name, with lambda where it weighs levels, else None.

    `str(metric)` is "coverage" or "informativeness(lambda=0.5)". Raises MatcherError for an unknown name or an
    impossible lambda.
    """

    name: str
    lambda_: float | None = None

    @property
    def definition(self) -> Definition:
        """What it averages, and how it is shown."""
        return _DEFINITIONS[self.name]

    def __post_init__(self) -> None:
        if self.name not in _DEFINITIONS:
            # Most unknown names are typing errors.
            near = difflib.get_close_matches(self.name, _DEFINITIONS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(_DEFINITIONS)}"
            raise MatcherError(f"no metric {self.name!r}{hint}")
        if not self.definition.weighs:
            if self.lambda_ is not None:
                raise MatcherError(f"{self.name} has no lambda")
        elif self.lambda_ is None:
            # Frozen; the default is part of the printed name.
            object.__setattr__(self, "lambda_", LAMBDA)
        elif not (math.isfinite(self.lambda_) and self.lambda_ >= 0):
            raise MatcherError(f"lambda is {self.lambda_:g}; allowed: 0 (all levels weigh the same) or more")

    def __str__(self) -> str:
        return self.name if self.lambda_ is None else f"{self.name}(lambda={self.lambda_!r})"

    @property
    def title(self) -> str:
        """The name in tables."""
        return self.definition.title

    def adds(self, outcome: Outcome) -> float | None:
        """The value that an item adds to the numerator, or None where the metric does not count the item."""
        definition = self.definition
        if definition.by_other_standard:
            outcome = outcome.other or outcome
        if (definition.over == "answered" and outcome.abstained) or (
            definition.over == "matched" and outcome.level is None
        ):
            return None
        return definition.adds(outcome, LAMBDA if self.lambda_ is None else self.lambda_)

    def of(self, counts: Mapping[Outcome, int]) -> tuple[float, int]:
        """Return (score, number of counted items) for items given as outcome counts; NaN with 0 where none is counted.
        """
        added = [(adds, count) for outcome, count in counts.items() if (adds := self.adds(outcome)) is not None]
        n = sum(count for _, count in added)
        return (math.fsum(adds * count for adds, count in added) / n if n else math.nan), n


def informativeness_weight(level: int, lambda_: float = LAMBDA) -> float:
    """exp(-lambda * (level - 1)): 1 at level 1, falling with the level (Yona et al. 2024, Definition 1)."""
    return math.exp(-lambda_ * (level - 1))


def usual_standard(matcher: str) -> Standard:
    """The default standard of level 1 for a matcher: as in the paper for `f1`, the matcher of the paper."""
    return "gold" if matcher in ("f1", "f1-published") else "aliases"


def metrics(lambda_: float = LAMBDA, standard: Standard = "aliases") -> tuple[Metric, ...]:
    """Every metric in display order.

    `lambda_` weighs informativeness; MatcherError where it is negative. `standard` selects the names of level 1, and
    so affects i*, every accuracy and informativeness: the gold answers alone, as in the paper, or all aliases as well.
    Both accuracies and the gap by the other standard are metrics of their own.
    """
    if standard not in STANDARDS:
        raise MatcherError(f"standard is {standard!r}; allowed: {', '.join(STANDARDS)}")
    return tuple(
        Metric(name=name, lambda_=lambda_ if definition.weighs else None)
        for name, definition in _DEFINITIONS.items()
        if not name.endswith(f"_{standard}")
    )


def _matched(outcome: Outcome, _: float = 0.0) -> float:
    return float(outcome.level is not None)


def _matched_finest(outcome: Outcome, _: float = 0.0) -> float:
    return float(outcome.level == 1)


def _weight_of_level(outcome: Outcome, lambda_: float) -> float:
    return 0.0 if outcome.level is None else informativeness_weight(outcome.level, lambda_)


_PAPER = "Yona et al. 2024, Definition 1"
_CONTENT = "Resnik 1995, information content"
_SELECTIVE = "El-Yaniv and Wiener 2010; Yona et al. 2024, section 5"
_TAKES = {"aliases": "with all names of the gold answer", "gold": "with the gold answers alone"}

_ACCURACIES = {
    "granola_accuracy": Definition(
        title="GRANOLA accuracy",
        source=f"{_PAPER}: share of scored items that match at any level; an abstention counts 0",
        adds=_matched,
    ),
    "standard_accuracy": Definition(
        title="standard accuracy",
        source="share of scored items that match level 1; an abstention counts 0",
        adds=_matched_finest,
    ),
}
_GAP = {
    "knowledge_evaluation_gap": Definition(
        title="knowledge evaluation gap",
        source="Yona et al. 2024, section 5: GRANOLA accuracy minus standard accuracy, both over the items "
        "that did not abstain",
        better="neither",
        over="answered",
        adds=lambda outcome, _: _matched(outcome) - _matched_finest(outcome),
    ),
}


def _metrics_of_other_standard(definitions: Mapping[str, Definition]) -> dict[str, Definition]:
    """The same metrics under each standard of level 1, named "NAME_STANDARD"."""
    return {
        f"{name}_{standard}": replace(
            definition,
            title=f"{definition.title}, {standard}",
            source=f"{definition.title}, level 1 {_TAKES[standard]}",
            by_other_standard=True,
        )
        for name, definition in definitions.items()
        for standard in STANDARDS
    }


_DEFINITIONS: dict[str, Definition] = {  # in the order of tables: grouped by the items that they average
    **_ACCURACIES,
    **_metrics_of_other_standard(_ACCURACIES),
    "informativeness": Definition(
        title="informativeness",
        source=f"{_PAPER} and section 5.1: mean of exp(-lambda (i* - 1)) over the scored items, 0 where nothing "
        "matched or the item abstained",
        adds=_weight_of_level,
        weighs=True,
    ),
    "informativeness_bits": Definition(
        title="informativeness by bits",
        source=f"ours; {_CONTENT}: mean of bits(level i*) / bits(level 1) over the scored items whose ladders have "
        "bits, 0 where nothing matched",
        adds=lambda outcome, _: outcome.share,
        summed_field="share",
    ),
    "bits": Definition(
        title="bits told",
        source=f"ours; {_CONTENT}: mean of bits(level i*) over the scored items whose ladders have bits, 0 where "
        "nothing matched",
        range=(0.0, math.inf),
        adds=lambda outcome, _: outcome.bits,
        summed_field="bits",
    ),
    "coverage": Definition(
        title="coverage",
        source=f"{_SELECTIVE}: share of scored items that did not abstain",
        better="neither",
        adds=lambda outcome, _: float(not outcome.abstained),
    ),
    "abstention_rate": Definition(
        title="abstention rate",
        source="1 - coverage",
        better="neither",
        adds=lambda outcome, _: float(outcome.abstained),
    ),
    "selective_accuracy": Definition(
        title="selective GRANOLA accuracy",
        source=f"{_SELECTIVE}.1: GRANOLA accuracy over the items that did not abstain; the paper's accuracy "
        "wherever IDK occurs",
        adds=_matched,
        over="answered",
    ),
    "selective_standard_accuracy": Definition(
        title="selective standard accuracy",
        source=f"{_SELECTIVE}: standard accuracy over the items that did not abstain",
        adds=_matched_finest,
        over="answered",
    ),
    **_GAP,
    **_metrics_of_other_standard(_GAP),
    "informativeness_matched": Definition(
        title="informativeness, matched",
        source="ours: mean of exp(-lambda (i* - 1)) over the matched items",
        adds=_weight_of_level,
        weighs=True,
        over="matched",
    ),
    "informativeness_bits_matched": Definition(
        title="informativeness by bits, matched",
        source="ours: informativeness by bits over the matched items",
        adds=lambda outcome, _: outcome.share,
        summed_field="share",
        over="matched",
    ),
    "bits_matched": Definition(
        title="bits told, matched",
        source="ours: mean of bits(level i*) over the matched items",
        range=(0.0, math.inf),
        adds=lambda outcome, _: outcome.bits,
        summed_field="bits",
        over="matched",
    ),
}
