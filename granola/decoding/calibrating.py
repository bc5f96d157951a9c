"""Fitting how much support an answer needs, on questions whose answers are known; and how much is answered how well.

The candidates of a question are its claims, each right or wrong by the gold ladder. The answer is the finest candidate
with the support that a calibration demands of its bits. All calibrations of a grid are tried; of them the best for each
coverage make the curve of risk and coverage (El-Yaniv and Wiener 2010), on which the wanted one is taken.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from abstraction.rows import TieredRow
from granola.decoding.calibration import CLOSE, Calibration
from granola.decoding.claims import ClaimTally
from granola.decoding.decision import Abstaining
from granola.decoding.drag_graph import agreeing
from granola.decoding.self_consistency import Counting, SelfConsistency
from granola.errors import UsageError
from granola.matching import Matcher
from granola.matching.batch_matching import MatchCase, match_many
from granola.scoring.bootstrap import Interval, estimated, mean_of
from granola.scoring.items import language_of, names_of

FEWEST = 50  # questions with candidates, below which a fit says little
FEWEST_ANSWERED = 20  # questions answered, below which their precision says little
FOLDS = 5
BASES = tuple(n / 40 for n in range(1, 41))
PER_BIT = (0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1)
SHARES = tuple(n / 40 for n in range(1, 41))  # fixed shares of support that curves are drawn over


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedClaim:
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

    candidates: tuple[JudgedClaim, ...] = ()
    majority: JudgedClaim | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """`coverage`: the share of the questions that are answered; `precision`: of these the share answered rightly.

    `bits` are those of the right answers, as a mean over all questions. `at` is the threshold.
    """

    coverage: float
    precision: float
    bits: float
    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitted:
    """A calibration, and the point that it reaches on the questions that it was fitted to.

    `left_out` is reached on a fifth of the questions each by a calibration fitted to the others, with 95 % intervals
    over questions: what to expect of questions like these. None where no fold answers anything.
    """

    calibration: Calibration
    point: Point
    left_out: Point | None
    precision: Interval
    coverage: Interval
    questions: int
    curve: tuple[Point, ...] = field(repr=False)


def known(
    tally: ClaimTally,
    are_right: Callable[[Sequence[str]], Sequence[bool]],
    abstaining: Abstaining = Abstaining.MAJORITY,
) -> Known:
    """What is known of a question by its tally; `are_right` tells of texts whether the gold ladder has them."""
    if abstaining.declines(responses=tally.responses, abstaining=tally.abstaining):
        return Known()
    of = abstaining.counted(responses=tally.responses, abstaining=tally.abstaining)
    pool = [(claim.text, claim.support / of, claim.fineness) for claim in agreeing(tally.claims)]
    most = SelfConsistency(counting=Counting.ALIAS, abstaining=abstaining).of_tally(tally)
    if not most.abstains:
        pool.append((most.text, most.support or 0.0, most.bits or 0.0))
    verdicts = are_right([text for text, _, _ in pool])
    judged = [
        JudgedClaim(share=share, bits=bits, right=right, text=text)
        for (text, share, bits), right in zip(pool, verdicts, strict=True)
    ]
    majority = None if most.abstains else judged.pop()
    return Known(candidates=tuple(judged), majority=majority)


def in_ladder(row: TieredRow, matcher: Matcher) -> Callable[[Sequence[str]], list[bool]]:
    """Whether texts are right: whether they match a gold answer or a tier of the row, in the row's language."""
    names, language = names_of(row), language_of(row)

    def are_right(texts: Sequence[str]) -> list[bool]:
        different = list(dict.fromkeys(texts))
        cases = [
            MatchCase(prediction=text, levels=names, question=row.question, language=language) for text in different
        ]
        verdicts = dict(zip(different, match_many(matcher, cases), strict=True))
        return [verdicts[text].level is not None for text in texts]

    return are_right


def fit(
    questions: Sequence[Known], *, precision: float | None = None, coverage: float | None = None, seed: int = 0
) -> Fitted:
    """The calibration that reaches a precision with the greatest coverage, or a coverage with the greatest precision.

    Of calibrations as good the one whose right answers tell most. The order of the questions matters for `left_out` and
    the intervals alone. Raises UsageError for fewer than FEWEST questions with candidates, and where no calibration
    that answers FEWEST_ANSWERED questions reaches it.
    """
    some = sum(bool(question.candidates) for question in questions)
    if some < FEWEST:
        raise UsageError(f"{some} questions with answers that can be weighed; a calibration needs {FEWEST}")
    tried = list(_tried(questions, fewest=FEWEST_ANSWERED))
    calibration, point = _wanted(tried, precision=precision, coverage=coverage)
    draw = random.Random(seed)
    answers = list(_left_out(questions, draw, precision=precision, coverage=coverage))
    _, right = estimated(
        (None if answer is None else answer.right for answer in answers), lambda kinds, n: mean_of(kinds)(n), seed=seed
    )
    _, covered = estimated((answer is not None for answer in answers), lambda kinds, n: mean_of(kinds)(n), seed=seed)
    return Fitted(
        calibration=calibration,
        point=point,
        left_out=_point(answers, point.at),
        precision=right,
        coverage=covered,
        questions=len(questions),
        curve=tuple(point for _, point in _best(tried)),
    )


def _wanted(tried: Sequence[Pair], *, precision: float | None, coverage: float | None) -> Pair:
    if not tried:
        raise UsageError(f"no calibration answers {FEWEST_ANSWERED} of these questions")
    if precision is not None:
        enough = [pair for pair in tried if pair[1].precision >= precision]
        if not enough:
            most = max((point for _, point in tried), key=lambda point: (point.precision, point.coverage))
            raise UsageError(
                f"precision {precision:g} is not reached on these questions: the most is {most.precision:.3f}, "
                f"with {most.coverage:.3f} of them answered"
            )
        return max(enough, key=lambda pair: (pair[1].coverage, pair[1].bits))
    enough = [pair for pair in tried if pair[1].coverage >= (coverage or 0.0)]
    if not enough:
        most = max((point for _, point in tried), key=lambda point: (point.coverage, point.precision))
        raise UsageError(
            f"coverage {coverage:g} is not reached on these questions: the most is {most.coverage:.3f}, "
            f"of them {most.precision:.3f} right"
        )
    return max(enough, key=lambda pair: (pair[1].precision, pair[1].bits))


def _left_out(
    questions: Sequence[Known], draw: random.Random, *, precision: float | None, coverage: float | None
) -> Iterator[JudgedClaim | None]:
    """The answer to each question by a calibration that was fitted without it; of no such calibration none."""
    order = list(questions)
    draw.shuffle(order)
    for fold in range(FOLDS):
        others = [question for at, question in enumerate(order) if at % FOLDS != fold]
        try:
            calibration, _ = _wanted(list(_tried(others, fewest=1)), precision=precision, coverage=coverage)
        except UsageError:
            rule: Rule = supported(2.0)
        else:
            rule = finest(calibration)
        yield from (rule(question) for question in order[fold::FOLDS])


def envelope(questions: Sequence[Known]) -> list[tuple[Calibration, Point]]:
    """The calibrations that no other surpasses in coverage and precision, the widest first; `at` is the base."""
    return _best(list(_tried(questions)))


def _tried(questions: Sequence[Known], fewest: int = 1) -> Iterator[Pair]:
    """All calibrations of the grid that answer enough questions, with what they reach."""
    of = len(questions)
    for per_bit in PER_BIT:
        finest_sums, surest_sums = _sums(questions, per_bit)
        for at, base in enumerate(BASES):
            for lower in range(at, -1, -1):
                answered, right, bits = (
                    some + least - most
                    for some, least, most in zip(finest_sums[at], surest_sums[lower], surest_sums[at], strict=True)
                )
                if answered >= fewest:
                    yield (
                        Calibration(base=base, per_bit=per_bit, least=None if lower == at else BASES[lower]),
                        Point(coverage=answered / of, precision=right / answered, bits=round(bits / of, 9), at=base),
                    )


Sums = list[tuple[float, float, float]]


def _sums(questions: Sequence[Known], per_bit: float) -> tuple[Sums, Sums]:
    """For each base: how many questions it answers, how many rightly, with how many bits; by the finest answer with
    enough support, and by the surest."""
    finest_steps = [[0.0, 0.0, 0.0] for _ in range(len(BASES) + 1)]
    surest_steps = [[0.0, 0.0, 0.0] for _ in range(len(BASES) + 1)]
    for question in questions:
        reached, surest, most = 0, None, float("-inf")
        for candidate in question.candidates:
            beyond = candidate.share - per_bit * candidate.bits + CLOSE
            if beyond > most:
                surest, most = candidate, beyond
            up_to = bisect_right(BASES, beyond)
            if up_to > reached:  # of the bases from `reached` to `up_to` it is the answer
                _add(finest_steps, reached, up_to, candidate)
                reached = up_to
        if surest is not None and reached:
            _add(surest_steps, 0, reached, surest)
    return _running(finest_steps), _running(surest_steps)


def _add(steps: list[list[float]], first: int, end: int, answer: JudgedClaim) -> None:
    for place, value in enumerate((1.0, float(answer.right), answer.bits if answer.right else 0.0)):
        steps[first][place] += value
        steps[end][place] -= value


def _running(steps: Sequence[Sequence[float]]) -> Sums:
    columns = [list(accumulate(column)) for column in zip(*steps, strict=True)]
    return [(a, b, c) for a, b, c in zip(*columns, strict=True)]


Pair = tuple[Calibration, Point]


def _best(tried: Sequence[Pair]) -> list[Pair]:
    order = sorted(tried, key=lambda pair: (-pair[1].coverage, -pair[1].precision, -pair[1].bits))
    out: list[Pair] = []
    for pair in order:
        if not out or pair[1].precision > out[-1][1].precision:
            out.append(pair)
    return out


Rule = Callable[[Known], JudgedClaim | None]


def finest(calibration: Calibration) -> Rule:
    """The candidate that a calibration chooses."""

    def rule(question: Known) -> JudgedClaim | None:
        at = calibration.chosen([(candidate.share, candidate.bits) for candidate in question.candidates])
        return None if at is None else question.candidates[at]

    return rule


def supported(share: float) -> Rule:
    """The finest candidate with a fixed share of support, or more."""
    return lambda question: next((c for c in question.candidates if c.share >= share - 1e-9), None)


def majority(share: float) -> Rule:
    """What most responses say, where that is at least a share of them."""
    return lambda question: (
        question.majority if question.majority is not None and question.majority.share >= share - 1e-9 else None
    )


def curve(questions: Sequence[Known], rules: Iterable[tuple[float, Rule]]) -> list[Point]:
    """A point for each (threshold, rule) that answers anything."""
    made = (_point([rule(question) for question in questions], at) for at, rule in rules)
    return [point for point in made if point is not None]


def _point(answers: Sequence[JudgedClaim | None], at: float) -> Point | None:
    if not any(answers):
        return None
    bits = sum(answer.bits for answer in answers if answer is not None and answer.right) / len(answers)
    return Point(coverage=_covered(answers), precision=_right(answers), bits=bits, at=at)


def precision_at(points: Sequence[Point], coverage: float) -> float | None:
    """The greatest precision of a curve at this coverage or more; None where it does not reach so far."""
    return max((point.precision for point in points if point.coverage >= coverage - 1e-9), default=None)


def _covered(answers: Sequence[JudgedClaim | None]) -> float:
    return sum(answer is not None for answer in answers) / len(answers)


def _right(answers: Sequence[JudgedClaim | None]) -> float:
    claims = [answer for answer in answers if answer is not None]
    return sum(claim.right for claim in claims) / len(claims) if claims else 0.0
