"""Metrics and intervals: by hand, and their laws."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granola.errors import MatcherError
from granola.scoring.metrics import Metric, Outcome, aggregate, informativeness_weight, metrics
from granola.scoring.statistics import (
    bootstrap_estimate,
    draw_counts,
    mean_statistic_of,
    percentile_interval,
    random_stream,
)

WRONG, IDK = Outcome(level=None), Outcome(level=None, abstained=True)


def level(number: int) -> Outcome:
    return Outcome(level=number)


# Ten items: three at level 1, one of them by an alias of the gold answer, two at level 2, one at level 3, two wrong,
# two abstained. Four ladders have bits: one of level 1, that of level 3 (half of the answer's bits are left there), one
# of the wrong answers, one of the abstentions.
FULL, HALF = Outcome(level=1, bits=12.0, share=1.0), Outcome(level=3, bits=4.0, share=0.5)
MISSED, DECLINED = replace(WRONG, bits=0.0, share=0.0), replace(IDK, bits=0.0, share=0.0)
BY_ALIAS = Outcome(level=1, other=WRONG)
TEN = {FULL: 1, level(1): 1, BY_ALIAS: 1, level(2): 2, HALF: 1, WRONG: 1, MISSED: 1, IDK: 1, DECLINED: 1}
E1, E2 = math.exp(-0.5), math.exp(-1.0)
BY_HAND = {
    "granola_accuracy": (6 / 10, 10),
    "standard_accuracy": (3 / 10, 10),
    "granola_accuracy_gold": (5 / 10, 10),
    "standard_accuracy_gold": (2 / 10, 10),
    "knowledge_evaluation_gap_gold": (3 / 8, 8),  # (5 - 2) of 8
    "knowledge_evaluation_gap": (3 / 8, 8),  # (6 - 3) of the 8 that did not abstain
    "informativeness": ((3 + 2 * E1 + E2) / 10, 10),
    "informativeness_matched": ((3 + 2 * E1 + E2) / 6, 6),
    "informativeness_bits": ((1 + 0.5 + 0 + 0) / 4, 4),
    "informativeness_bits_matched": ((1 + 0.5) / 2, 2),
    "bits": ((12 + 4 + 0 + 0) / 4, 4),
    "bits_matched": ((12 + 4) / 2, 2),
    "selective_accuracy": (6 / 8, 8),
    "selective_standard_accuracy": (3 / 8, 8),
    "coverage": (8 / 10, 10),
    "abstention_rate": (2 / 10, 10),
}


def test_every_metric_has_a_hand_calculation() -> None:
    assert {metric.name for metric in metrics()} == BY_HAND.keys()


@pytest.mark.parametrize("metric", metrics(), ids=lambda metric: metric.name)
def test_by_hand(metric) -> None:  # type: ignore[no-untyped-def]
    value, n = metric.score(TEN)
    assert (value, n) == (pytest.approx(BY_HAND[metric.name][0]), BY_HAND[metric.name][1])


@pytest.mark.parametrize("metric", metrics(), ids=lambda metric: metric.name)
def test_nothing_scored_is_nan_and_not_zero(metric) -> None:  # type: ignore[no-untyped-def]
    value, n = metric.score({})
    assert math.isnan(value)
    assert n == 0


def test_what_cannot_be_asked_is_nan_beside_what_is_zero() -> None:
    found = {metric.name: metric.score({IDK: 4}) for metric in metrics()}
    assert found["granola_accuracy"] == (0.0, 4)
    assert math.isnan(found["selective_accuracy"][0])
    assert found["selective_accuracy"][1] == 0
    assert found["informativeness"] == (0.0, 4)
    for name in ("informativeness_matched", "knowledge_evaluation_gap"):
        assert math.isnan(found[name][0])
        assert found[name][1] == 0


def test_informativeness_falls_with_the_level_and_lambda_zero_is_flat() -> None:
    weights = [informativeness_weight(number, 0.5) for number in range(1, 8)]
    assert weights[0] == 1.0
    assert weights[1] == pytest.approx(0.6065306597)  # exp(-1/2)
    assert all(fine > coarse for fine, coarse in pairwise(weights))
    assert informativeness_weight(5, 0.0) == 1.0


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_a_bad_lambda_is_told(value: float) -> None:
    with pytest.raises(MatcherError, match="allowed: 0"):
        metrics(value)


SMALL = st.floats(0, 40)
OUTCOMES = st.one_of(
    st.integers(1, 6).map(level),
    st.builds(lambda n, bits, part: Outcome(level=n, bits=bits, share=part), st.integers(1, 6), SMALL, st.floats(0, 1)),
    st.sampled_from([WRONG, IDK]),
)
ITEMS = st.lists(OUTCOMES, min_size=1, max_size=30)


@given(ITEMS, st.floats(0, 3))
def test_scores_stay_in_their_range(items: list[Outcome], lambda_: float) -> None:
    for metric in metrics(lambda_):
        value, n = metric.score(Counter(items))
        low, high = metric.definition.range
        assert n == 0 or low - 1e-12 <= value <= high + 1e-12


@given(ITEMS)
def test_the_gap_is_the_difference_of_what_is_answered_and_the_selective_scores_are_no_lower(
    items: list[Outcome],
) -> None:
    found = {metric.name: metric.score(Counter(items))[0] for metric in metrics()}
    gap = found["selective_accuracy"] - found["selective_standard_accuracy"]
    assert found["knowledge_evaluation_gap"] == pytest.approx(gap, nan_ok=True)
    assert found["coverage"] + found["abstention_rate"] == pytest.approx(1)
    assert math.isnan(found["selective_accuracy"]) or found["selective_accuracy"] >= found["granola_accuracy"]


@given(ITEMS)
def test_what_an_answer_tells_is_its_share_of_right_ones_times_what_they_tell(items: list[Outcome]) -> None:
    found = {metric.name: metric.score(Counter(items))[0] for metric in metrics()}
    if found["granola_accuracy"]:
        told = found["granola_accuracy"] * found["informativeness_matched"]
        assert found["informativeness"] == pytest.approx(told)
    else:
        assert found["informativeness"] == 0.0


@given(ITEMS, st.integers(0, 29))
def test_a_coarser_match_never_raises_a_score_of_the_finest(items: list[Outcome], at: int) -> None:
    at %= len(items)
    if items[at].level is None:
        return
    coarser = [*items[:at], level((items[at].level or 1) + 1), *items[at + 1 :]]
    before = {metric.name: metric.score(Counter(items))[0] for metric in metrics()}
    after = {metric.name: metric.score(Counter(coarser))[0] for metric in metrics()}
    assert after["granola_accuracy"] == before["granola_accuracy"]
    for name in ("standard_accuracy", "informativeness", "informativeness_matched"):
        assert after[name] <= before[name]


def test_zero_bits_are_no_missing_bits() -> None:
    found = {m.name: m for m in metrics()}
    told_nothing = Outcome(level=2, bits=0.0, share=0.0)
    assert found["informativeness_bits"].score({told_nothing: 2, FULL: 2}) == (0.5, 4)
    assert found["informativeness_bits"].score({level(2): 2, FULL: 2}) == (1.0, 2)
    nothing_known = found["informativeness_bits"].score({level(2): 2, WRONG: 1})
    assert math.isnan(nothing_known[0])
    assert nothing_known[1] == 0
    assert found["informativeness_bits"].score({MISSED: 2, IDK: 5}) == (0.0, 2)
    assert found["informativeness_bits_matched"].score({told_nothing: 2, FULL: 2, MISSED: 4}) == (0.5, 4)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6), st.integers(0, 1 << 30))
def test_a_resample_has_as_many_items_and_only_kinds_that_occur(counts: list[int], seed: int) -> None:
    drawn = draw_counts(counts, sum(counts), random_stream(seed), resamples=10)
    assert drawn.shape == (10, len(counts))
    assert (drawn.sum(axis=1) == sum(counts)).all()
    assert (drawn[:, [count == 0 for count in counts]] == 0).all()


def test_resampling_is_the_same_for_the_same_seed_only() -> None:
    def draw(seed: int) -> list[list[int]]:
        return draw_counts([30, 20, 50], 100, random_stream(seed), resamples=20).tolist()  # type: ignore[no-any-return]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_the_interval_of_a_share_is_near_the_normal_one() -> None:
    # 300 of 1000: 0.3 +- 1.96 * sqrt(0.3 * 0.7 / 1000) = 0.3 +- 0.0284.
    values = [1.0] * 300 + [0.0] * 700
    value, interval = bootstrap_estimate(values, lambda kinds, n: mean_statistic_of(kinds)(n), resamples=4000, seed=3)
    assert value == pytest.approx(0.3)
    assert interval.low == pytest.approx(0.2716, abs=0.003)
    assert interval.high == pytest.approx(0.3284, abs=0.003)


def test_the_interval_of_bits_is_that_of_values_drawn_one_by_one() -> None:
    """400 values of one outcome: the mean of 4 and 8 bits, half each, is 6 +- 1.96 * 2 / sqrt(400)."""
    items = [("P1", Outcome(level=1, bits=4.0 + 4 * (n % 2), share=1.0)) for n in range(400)]
    overall, relations, _ = aggregate(items, metrics(), resamples=4000, seed=5)
    for found in (overall.estimates["bits"], relations["P1"].estimates["bits"]):
        assert (found.value, found.n) == (6.0, 400)
        assert found.interval.low == pytest.approx(6 - 0.196, abs=0.02)
        assert found.interval.high == pytest.approx(6 + 0.196, abs=0.02)


def test_bits_move_no_other_metrics_digits() -> None:
    bare = [(None, level(1 + n % 3)) for n in range(60)]
    told = [(None, replace(one, bits=float(n), share=0.5)) for n, (_, one) in enumerate(bare)]
    before, after = (aggregate(items, metrics(), resamples=200, seed=1)[0].estimates for items in (bare, told))
    assert before["granola_accuracy"] == after["granola_accuracy"]
    assert before["informativeness"] == after["informativeness"]
    assert after["bits"].n == 60


def test_any_statistic_of_items_has_an_interval() -> None:
    """Macro-F1 of a confusion matrix and an expected calibration error, which are no means, by hand."""
    pairs = [("a", "a")] * 30 + [("a", "b")] * 10 + [("b", "b")] * 50 + [("b", "a")] * 10

    def macro_f1(kinds, counts):  # type: ignore[no-untyped-def]
        def total(keep):  # type: ignore[no-untyped-def]
            return counts[:, [keep(true, said) for true, said in kinds]].sum(axis=1)

        f1 = [
            2
            * total(lambda t, s, c=c: t == s == c)
            / (total(lambda t, _, c=c: t == c) + total(lambda _, s, c=c: s == c))
            for c in "ab"
        ]
        return sum(f1) / len(f1)

    value, interval = bootstrap_estimate(pairs, macro_f1, seed=1)
    assert value == pytest.approx((2 * 30 / (40 + 40) + 2 * 50 / (60 + 60)) / 2)
    assert interval.low < value < interval.high
    assert bootstrap_estimate(reversed(pairs), macro_f1, seed=1) == (value, interval)
    assert bootstrap_estimate(pairs, macro_f1, seed=2)[1] != interval

    sure = [(0.9, True)] * 60 + [(0.9, False)] * 40 + [(0.5, True)] * 50 + [(0.5, False)] * 50

    def calibration_error(kinds, counts):  # type: ignore[no-untyped-def]
        off = 0.0
        for confidence in (0.5, 0.9):
            here = counts[:, [c == confidence for c, _ in kinds]].sum(axis=1)
            right = counts[:, [c == confidence and r for c, r in kinds]].sum(axis=1)
            off = off + abs(right - confidence * here)
        return off / counts.sum(axis=1)

    assert bootstrap_estimate(sure, calibration_error)[0] == pytest.approx(0.15)
    assert math.isnan(bootstrap_estimate([], calibration_error)[0])


@given(st.sampled_from(metrics()), st.floats(0, 50))
def test_a_metric_compares_and_pickles(metric: Metric, lambda_: float) -> None:
    if metric.lambda_ is not None:
        metric = replace(metric, lambda_=lambda_)
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert len({metric, replace(metric)}) == 1


@pytest.mark.parametrize(
    "fields", [{"name": "coverag"}, {"name": "coverage", "lambda_": 1}, {"name": "informativeness", "lambda_": -1}]
)
def test_what_is_no_metric(fields: dict[str, Any]) -> None:
    with pytest.raises(MatcherError):
        Metric(**fields)


def test_percentiles_are_interpolated_and_nan_is_left_out() -> None:
    values = [float(value) for value in range(101)]
    interval = percentile_interval([*values, math.nan])
    assert (interval.low, interval.high) == (pytest.approx(2.5), pytest.approx(97.5))
    assert math.isnan(percentile_interval([math.nan]).low)
