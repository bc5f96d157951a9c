"""Fitting how much support an answer needs, on questions whose answers are known; and how much is answered how well.

The candidates of a question are its claims, each right or wrong by the gold ladder. The answer is the finest candidate
with the support that a calibration demands of its bits. All calibrations of a grid are tried; of them the best for each
coverage make the curve of risk and coverage (El-Yaniv and Wiener 2010), on which the wanted one is taken.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from granola.decoding.calibration import Calibration
from granola.decoding.decision import Abstaining
from granola.decoding.drag_graph import agreeing
from granola.decoding.self_consistency import Counting, SelfConsistency
from granola.decoding.tally import Claim, Tally
from granola.errors import UsageError
from granola.statistics import Interval, percentile_interval

FEWEST = 50  # questions with candidates, below which a fit says little
BASES = tuple(n / 40 for n in range(1, 41))
PER_BIT = (0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1)
SHARES = tuple(n / 40 for n in range(1, 41))  # fixed shares of support that curves are drawn over


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A claim that may be the answer: its support as a share, its bits, and whether it is right."""

    share: float
    bits: float
    right: bool
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """A question whose answer is known: its candidates, the finest first, and the majority's answer with its share.

    `candidates` is empty and `majority` None where too many responses decline.
    """

    candidates: tuple[Candidate, ...] = ()
    majority: Candidate | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """`coverage`: the share of the questions that are answered; `precision`: of these the share answered rightly.

    `bits` are told by the mean answer that is right, over all questions. `at` is the threshold.
    """

    coverage: float
    precision: float
    bits: float
    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitted:
    """A calibration, the point that it reaches on the questions that it was fitted to, and 95 % intervals there."""

    calibration: Calibration
    point: Point
    precision: Interval
    coverage: Interval
    questions: int
    reached: bool
    curve: tuple[Point, ...] = field(repr=False)


def known(tally: Tally, is_right: Callable[[str], bool], abstaining: Abstaining = Abstaining.MAJORITY) -> Known:
    """What is known of a question by its tally; `is_right` tells of a text whether the gold ladder has it."""
    if abstaining.declines(responses=tally.responses, abstaining=tally.abstaining):
        return Known()
    of = abstaining.counted(responses=tally.responses, abstaining=tally.abstaining)

    def candidate(text: str, share: float, bits: float) -> Candidate:
        return Candidate(share=share, bits=bits, right=is_right(text), text=text)

    pool: Sequence[Claim] = agreeing(tally.claims)
    decided = SelfConsistency(counting=Counting.ALIAS, abstaining=abstaining).of_tally(tally)
    return Known(
        candidates=tuple(candidate(claim.text, claim.support / of, claim.information) for claim in pool),
        majority=None if decided.abstains else candidate(decided.text, decided.support or 0.0, decided.bits or 0.0),
    )


def fit(
    questions: Sequence[Known], *, precision: float | None = None, coverage: float | None = None, seed: int = 0
) -> Fitted:
    """The calibration that reaches a precision with the greatest coverage, or a coverage with the greatest precision.

    Where that is not to be reached, the nearest. Of calibrations as good the one whose right answers tell most. The
    order of the questions does not matter but for the intervals. Raises UsageError for fewer than FEWEST questions
    with candidates.
    """
    some = sum(bool(one.candidates) for one in questions)
    if some < FEWEST:
        raise UsageError(f"{some} questions with answers that can be weighed; a calibration needs {FEWEST}")
    tried = _tried(questions)
    if precision is not None:
        enough = [pair for pair in tried if pair[1].precision >= precision]
        most = max(point.precision for _, point in tried)
        nearest = [pair for pair in tried if pair[1].precision == most]
        calibration, best = max(enough or nearest, key=lambda pair: (pair[1].coverage, pair[1].bits))
    else:
        enough = [pair for pair in tried if pair[1].coverage >= (coverage or 0.0)]
        most = max(point.coverage for _, point in tried)
        nearest = [pair for pair in tried if pair[1].coverage == most]
        calibration, best = max(enough or nearest, key=lambda pair: (pair[1].precision, pair[1].bits))
    rule = finest(calibration)
    answers = [rule(one) for one in questions]
    draw = random.Random(seed)
    drawn = [draw.choices(answers, k=len(answers)) for _ in range(1000)]
    scored = [(_covered(one), _right(one)) for one in drawn]
    return Fitted(
        calibration=calibration,
        point=best,
        precision=percentile_interval([right for _, right in scored]),
        coverage=percentile_interval([covered for covered, _ in scored]),
        questions=len(questions),
        reached=bool(enough),
        curve=tuple(point for _, point in _best(tried)),
    )


def envelope(questions: Sequence[Known]) -> list[tuple[Calibration, Point]]:
    """The calibrations that no other surpasses in coverage and precision, the widest first; `at` is the base."""
    return _best(_tried(questions))


Pair = tuple[Calibration, Point]


def _tried(questions: Sequence[Known]) -> list[Pair]:
    made = (Calibration(base=base, per_bit=per_bit) for per_bit in PER_BIT for base in BASES)
    return [(one, point) for one in made if (point := _point(questions, finest(one), one.base)) is not None]


def _best(tried: Sequence[Pair]) -> list[Pair]:
    order = sorted(tried, key=lambda pair: (-pair[1].coverage, -pair[1].precision, -pair[1].bits))
    out: list[Pair] = []
    for pair in order:
        if not out or pair[1].precision > out[-1][1].precision:
            out.append(pair)
    return out


Rule = Callable[[Known], Candidate | None]


def finest(calibration: Calibration) -> Rule:
    """The finest candidate with the support that is demanded of its bits."""
    return lambda one: next((c for c in one.candidates if c.share >= calibration.demanded(c.bits) - 1e-9), None)


def supported(share: float) -> Rule:
    """The finest candidate with a fixed share of support, or more."""
    return lambda one: next((c for c in one.candidates if c.share >= share - 1e-9), None)


def majority(share: float) -> Rule:
    """What most responses say, where that is at least a share of them."""
    return lambda one: one.majority if one.majority is not None and one.majority.share >= share - 1e-9 else None


def curve(questions: Sequence[Known], rules: Iterable[tuple[float, Rule]]) -> list[Point]:
    """A point for each (threshold, rule) that answers anything."""
    return [point for at, rule in rules if (point := _point(questions, rule, at)) is not None]


def _point(questions: Sequence[Known], rule: Rule, at: float) -> Point | None:
    answers = [rule(one) for one in questions]
    if not any(answers):
        return None
    told = sum(one.bits for one in answers if one is not None and one.right) / len(answers)
    return Point(coverage=_covered(answers), precision=_right(answers), bits=told, at=at)


def precision_at(points: Sequence[Point], coverage: float) -> float | None:
    """The greatest precision of a curve at this coverage or more; None where it does not reach so far."""
    return max((point.precision for point in points if point.coverage >= coverage - 1e-9), default=None)


def _covered(answers: Sequence[Candidate | None]) -> float:
    return sum(one is not None for one in answers) / len(answers)


def _right(answers: Sequence[Candidate | None]) -> float:
    given = [one for one in answers if one is not None]
    return sum(one.right for one in given) / len(given) if given else 0.0
