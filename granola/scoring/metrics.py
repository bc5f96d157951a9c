"""Metrics as values: what each item adds, and how the sums become a score.

Every metric here is a ratio of sums over items, so an aggregate needs only how many items had which outcome.
Source "Yona et al. 2024" is "Narrowing the Knowledge Evaluation Gap: Open-Domain Question Answering with
Multi-Granularity Answers"; i* is the finest level that a prediction matches, 1 the finest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from granola.errors import MatcherError

LAMBDA = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What a metric needs of a scored item: its matched level from 1, or None, and whether it abstained.

    `bits` is the information content of the matched level, `share` that of the answer's own bits, in [0, 1]; both 0
    where nothing matched, and None where the ladder has no bits. `other` is the outcome, without bits, where the other
    names of the gold answer count, or do not; None where it is the same.
    """

    level: int | None
    abstained: bool = False
    bits: float | None = None
    share: float | None = None
    other: Outcome | None = None

    @property
    def plain(self) -> Outcome:
        """The outcome without bits, of which there are few."""
        return Outcome(level=self.level, abstained=self.abstained, other=self.other)

    @property
    def name(self) -> str:
        """Where the item stands in the distribution: its level, "wrong" or "idk"."""
        return str(self.level) if self.level is not None else "idk" if self.abstained else "wrong"

    @property
    def order(self) -> tuple[tuple[bool, int, bool], ...]:
        """Sort key: by level, then wrong, then idk; then alike by the other outcome, where there is one."""
        own = (self.level is None, self.level or 0, self.abstained)
        return (own,) if self.other is None else (own, *self.other.order)


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """`adds(outcome)` is what an item adds to the numerator, or None where it is not counted at all.

    The score is the mean over the counted items, in `range`; NaN with n = 0 where none is counted.
    `better` tells the direction; "neither" for a description of behaviour. `adds_own` names the field of an outcome
    that an item adds, None where it adds none; such metrics add the same for the same `Outcome.plain`. `of_matched`:
    only matched items have something of their own to add.
    """

    name: str
    title: str
    range: tuple[float, float]
    better: Literal["higher", "lower", "neither"]
    source: str
    adds: Callable[[Outcome], float | None]
    adds_own: Literal["bits", "share"] | None = None
    of_matched: bool = False

    def of(self, counts: Mapping[Outcome, int]) -> tuple[float, int]:
        """(score, number of counted items) of items given as outcome counts."""
        added = [(adds, count) for outcome, count in counts.items() if (adds := self.adds(outcome)) is not None]
        n = sum(count for _, count in added)
        return (math.fsum(adds * count for adds, count in added) / n if n else math.nan), n


def informativeness_weight(level: int, lambda_: float = LAMBDA) -> float:
    """exp(-lambda * (level - 1)): 1 at level 1, falling with the level (Yona et al. 2024, Definition 1)."""
    return math.exp(-lambda_ * (level - 1))


Standard = Literal["aliases", "gold"]
STANDARDS: tuple[Standard, ...] = get_args(Standard)


def usual_standard(matcher: str) -> Standard:
    """What counts as level 1 where nobody says: for `f1`, the paper's matcher, what counts in the paper."""
    return "gold" if matcher == "f1" else "aliases"


def other_standard(standard: Standard) -> Standard:
    """The one that `standard` is not."""
    return "gold" if standard == "aliases" else "aliases"


def metrics(lambda_: float = LAMBDA, standard: Standard = "aliases") -> tuple[Metric, ...]:
    """Every metric in display order. `lambda_` >= 0 weighs informativeness; MatcherError where it is not.

    `standard` says which names level 1 has, and so i*, every accuracy and informativeness: those of the gold answers
    alone, as in the paper, or all aliases as well. Both accuracies and the gap by the other are metrics of their own.
    """
    if standard not in STANDARDS:
        raise MatcherError(f"standard is {standard!r}; allowed: {', '.join(STANDARDS)}")
    if not (math.isfinite(lambda_) and lambda_ >= 0):
        raise MatcherError(f"lambda is {lambda_:g}; allowed: 0 (all levels weigh the same) or more")
    share = (0.0, 1.0)
    paper = "Yona et al. 2024, Definition 1"
    content = "Resnik 1995, information content"
    selective = "El-Yaniv and Wiener 2010; Yona et al. 2024, section 5"

    def matched(outcome: Outcome) -> float:
        return float(outcome.level is not None)

    def finest(outcome: Outcome) -> float:
        return float(outcome.level == 1)

    def gap(outcome: Outcome) -> float:
        return matched(outcome) - finest(outcome)

    other = other_standard(standard)
    takes = {"aliases": "with all names of the gold answer", "gold": "with the gold answers alone"}

    def by_other(adds: Callable[[Outcome], float | None]) -> Callable[[Outcome], float | None]:
        return lambda outcome: adds(outcome.other or outcome)

    def weight(outcome: Outcome) -> float:
        return 0.0 if outcome.level is None else informativeness_weight(outcome.level, lambda_)

    def where_matched(adds: Callable[[Outcome], float | None]) -> Callable[[Outcome], float | None]:
        return lambda outcome: None if outcome.level is None else adds(outcome)

    def attempted(adds: Callable[[Outcome], float]) -> Callable[[Outcome], float | None]:
        return lambda outcome: None if outcome.abstained else adds(outcome)

    return (
        Metric(
            name="granola_accuracy",
            title="GRANOLA accuracy",
            range=share,
            better="higher",
            source=f"{paper}: share of scored items that match at any level; an abstention counts 0",
            adds=matched,
        ),
        Metric(
            name="standard_accuracy",
            title="standard accuracy",
            range=share,
            better="higher",
            source=f"share of scored items that match level 1, {takes[standard]}; an abstention counts 0",
            adds=finest,
        ),
        Metric(
            name="knowledge_evaluation_gap",
            title="knowledge evaluation gap",
            range=share,
            better="neither",
            source="Yona et al. 2024, section 5: GRANOLA accuracy minus standard accuracy, both over the items "
            "that did not abstain",
            adds=attempted(gap),
        ),
        Metric(
            name=f"granola_accuracy_{other}",
            title=f"GRANOLA accuracy, {other}",
            range=share,
            better="higher",
            source=f"GRANOLA accuracy, level 1 {takes[other]}",
            adds=by_other(matched),
        ),
        Metric(
            name=f"standard_accuracy_{other}",
            title=f"standard accuracy, {other}",
            range=share,
            better="higher",
            source=f"standard accuracy {takes[other]}",
            adds=by_other(finest),
        ),
        Metric(
            name=f"knowledge_evaluation_gap_{other}",
            title=f"knowledge evaluation gap, {other}",
            range=share,
            better="neither",
            source=f"the gap, level 1 {takes[other]}",
            adds=by_other(attempted(gap)),
        ),
        Metric(
            name="informativeness",
            title="informativeness",
            range=share,
            better="higher",
            source=f"{paper} and section 5.1: mean of exp(-lambda (i* - 1)) over the scored items, 0 where nothing "
            "matched or the item abstained",
            adds=weight,
        ),
        Metric(
            name="informativeness_matched",
            title="informativeness, matched",
            range=share,
            better="higher",
            source="ours: mean of exp(-lambda (i* - 1)) over the matched items",
            adds=where_matched(weight),
        ),
        Metric(
            name="informativeness_bits",
            title="informativeness by bits",
            range=share,
            better="higher",
            source=f"ours; {content}: mean of bits(level i*) / bits(level 1) over the scored items whose ladders have "
            "bits, 0 where nothing matched",
            adds=lambda outcome: outcome.share,
            adds_own="share",
        ),
        Metric(
            name="informativeness_bits_matched",
            title="informativeness by bits, matched",
            range=share,
            better="higher",
            source="ours: the same over the matched items",
            adds=where_matched(lambda outcome: outcome.share),
            adds_own="share",
            of_matched=True,
        ),
        Metric(
            name="bits",
            title="bits told",
            range=(0.0, math.inf),
            better="higher",
            source=f"ours; {content}: mean of bits(level i*) over the scored items whose ladders have bits, 0 where "
            "nothing matched",
            adds=lambda outcome: outcome.bits,
            adds_own="bits",
        ),
        Metric(
            name="bits_matched",
            title="bits told, matched",
            range=(0.0, math.inf),
            better="higher",
            source="ours: the same over the matched items",
            adds=where_matched(lambda outcome: outcome.bits),
            adds_own="bits",
            of_matched=True,
        ),
        Metric(
            name="selective_accuracy",
            title="selective GRANOLA accuracy",
            range=share,
            better="higher",
            source=f"{selective}.1: GRANOLA accuracy over the items that did not abstain; the paper's accuracy "
            "wherever IDK occurs",
            adds=attempted(matched),
        ),
        Metric(
            name="selective_standard_accuracy",
            title="selective standard accuracy",
            range=share,
            better="higher",
            source=f"{selective}: standard accuracy over the items that did not abstain",
            adds=attempted(finest),
        ),
        Metric(
            name="coverage",
            title="coverage",
            range=share,
            better="neither",
            source=f"{selective}: share of scored items that did not abstain",
            adds=lambda outcome: float(not outcome.abstained),
        ),
        Metric(
            name="abstention_rate",
            title="abstention rate",
            range=share,
            better="neither",
            source="1 - coverage",
            adds=lambda outcome: float(outcome.abstained),
        ),
    )
