"""Comparing systems: paired tests, groups, sweeps, risk and coverage, and other metrics beside ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow
from granola.errors import MatcherError
from granola.matching import matcher
from granola.scoring.grouping import group_scores, groups_by_bins, groups_by_value
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.scores import ScoreReport, ScoreSettings, score
from granola.scoring.statistics import holm
from granola.scoring.system_comparison import (
    compare,
    lambda_sweep,
    least_permutations_for_significance,
    level_f1_of_items,
    risk_coverage,
    tau_sweep,
)
from tests.thorough import examples

SAYING = {"1": "Kunming", "2": "Yunnan", "3": "China", "w": "Berlin", "-": "IDK"}


def rows(n: int) -> list[TieredRow]:
    levels = tuple(Level(tiers=(Tier(text=text),)) for text in ("Kunming", "Yunnan", "China"))
    return [
        TieredRow(
            id=str(i),
            question="Where?",
            answers=("Kunming",),
            levels=levels,
            relation=f"P{i % 2 + 1}",
            extra={"popularity": (i * 7) % n, "deep": {"kind": "ab"[i % 2]}},
        )
        for i in range(n)
    ]


def predictions(
    said: str, confidences: Sequence[float | None] = (), **scores: Sequence[float]
) -> dict[str, Prediction]:
    return {
        str(i): Prediction(
            id=str(i),
            text=SAYING[letter],
            confidence=confidences[i] if confidences else None,
            scores={name: values[i] for name, values in scores.items()},
        )
        for i, letter in enumerate(said)
    }


def scored(said: str, name: str = "a") -> ScoreReport:
    given_ = PredictionFile(name=name, predictions=predictions(said))
    return score(rows(len(said)), given_, matcher("rules"), ScoreSettings(resamples=50), system=name)


# Holm 1979 by hand: 0.01 * 4, 0.02 * 3, 0.03 * 2, 0.04 * 1, each at least the one before.
def test_holms_correction_by_hand() -> None:
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
    kept = holm([math.nan, 0.5])
    assert math.isnan(kept[0])
    assert kept[1] == 0.5


def test_a_system_does_not_differ_from_itself() -> None:
    said = "1123w-" * 20
    for found in compare([scored(said), scored(said, "b")], resamples=200):
        assert found.difference == 0
        assert found.p == 1.0
        assert (found.interval.low <= 0 <= found.interval.high) or math.isnan(found.interval.low)


def test_a_clear_difference_is_one_and_the_test_is_two_sided() -> None:
    better, worse = scored("1" * 60 + "w" * 40, "x"), scored("1" * 20 + "w" * 80, "y")
    one, *_ = compare([better, worse], metrics=["granola_accuracy"], resamples=999)
    other, *_ = compare([worse, better], metrics=["granola_accuracy"], resamples=999)
    assert one.difference == pytest.approx(0.4)
    assert one.p == 0.001  # 1 / (999 + 1): as small as it can be
    assert one.interval.low > 0.2
    assert other.difference == pytest.approx(-0.4)
    assert other.p == 0.001
    assert 0 < one.detectable < 0.4


def test_the_permutation_test_agrees_with_the_sign_test() -> None:
    # 10 questions differ, 8 to 2: exact two-sided p = 2 * (45 + 10 + 1) / 1024 = 0.109375.
    found, *_ = compare(
        [scored("1" * 8 + "w" * 2 + "1" * 40, "x"), scored("w" * 8 + "1" * 2 + "1" * 40, "y")],
        metrics=["granola_accuracy"],
        resamples=20_000,
    )
    assert found.p == pytest.approx(0.109375, abs=0.01)


def test_digits_depend_on_the_pair_alone() -> None:
    saying = {"a": "123w-1" * 9, "b": "1w21-w" * 8 + "w" * 6, "c": "wwww11" * 9}
    a, b, c = (scored(said, name) for name, said in saying.items())
    both = compare([a, b], resamples=100)
    three = compare([a, b, c], resamples=100)
    renamed = compare([scored(saying["a"], "a (1)"), scored(saying["b"], "b (2)")], resamples=100)
    exchanged = compare([b, a], resamples=100)
    other_seed = compare([a, b], resamples=100, seed=1)
    for found, again, mirrored in zip(both, renamed, exchanged, strict=True):
        same = next(d for d in three if (d.metric, d.first, d.second) == (found.metric, "a", "b"))
        assert (same.p, same.interval, same.difference) == (found.p, found.interval, found.difference)
        assert same.adjusted >= found.adjusted or math.isnan(found.adjusted)
        assert (again.p, again.interval, again.detectable) == (found.p, found.interval, found.detectable)
        assert (mirrored.p, mirrored.difference) == (found.p, -found.difference)
        assert (mirrored.interval.low, mirrored.interval.high) == pytest.approx(
            (-found.interval.high, -found.interval.low), abs=1e-12
        )
    assert [d.interval for d in other_seed] != [d.interval for d in both]
    assert len(three) == 3 * len(both)


def test_digits_do_not_depend_on_the_order_of_the_questions() -> None:
    drawing = Random(5)
    said = "".join(drawing.choices("123w-", k=60))
    given_rows = [
        replace(row, levels=tuple(Level(tiers=(replace(level.tiers[0], bits=10.0 / k + i % 7 / 8),))
                                  for k, level in enumerate(row.levels, start=1)))
        for i, row in enumerate(rows(60))
    ]  # fmt: skip
    told = PredictionFile(name="a", predictions=predictions(said))
    shuffled = drawing.sample(given_rows, k=60)
    one, other = (score(order, told, matcher("rules"), ScoreSettings(resamples=50)) for order in (given_rows, shuffled))
    assert one.to_json() == other.to_json()
    assert not math.isnan(one.overall.estimates["bits"].interval.low)


def test_unscored_questions_are_left_out_of_a_pair() -> None:
    few = PredictionFile(name="few", predictions=dict(list(predictions("1" * 10).items())[:4]))
    one = score(rows(10), few, matcher("rules"), ScoreSettings(resamples=10, allow_missing=True))
    found, *_ = compare([one, scored("w" * 10)], metrics=["granola_accuracy"], resamples=10)
    assert (found.n, found.difference) == (4, 1.0)


def test_an_unknown_metric_is_told() -> None:
    with pytest.raises(MatcherError, match="no metric 'f1'; there are granola_accuracy"):
        compare([scored("1"), scored("1", "b")], metrics=["f1"])
    with pytest.raises(MatcherError, match="did you mean 'coverage'"):
        compare([scored("1")], metrics=["covrage"])


def test_how_many_permutations_a_correction_over_pairs_needs() -> None:
    assert [least_permutations_for_significance(systems) for systems in (1, 2, 3, 4)] == [0, 20, 60, 120]
    # With so many the least p of 1 / (times + 1), times the pairs, is below 0.05; with one fewer it is not.
    assert 6 / (120 + 1) < 0.05 <= 6 / (119 + 1)


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(1, 60), st.integers(1, 9))
def test_bins_have_equal_size_and_grow(n: int, bins: int) -> None:
    if n < bins:
        with pytest.raises(MatcherError, match="too few"):
            groups_by_bins(rows(n), "popularity", bins)
        return
    found = groups_by_bins(rows(n), "popularity", bins)
    sizes = {label: list(found.values()).count(label) for label in found.values()}
    assert len(sizes) == bins
    assert max(sizes.values()) - min(sizes.values()) <= 1
    edges = [[float(end) for end in label.partition(": ")[2].split("–")] for label in sorted(sizes)]
    assert all(one[-1] <= other[0] for one, other in pairwise(edges))


@pytest.mark.parametrize(
    ("numbers", "labels"),
    [
        ([1, 1234567, 20, 300], ["1: 1–20", "2: 300–1,234,567"]),
        ([0.25, 0.123456, 2.5, 2.5], ["1: 0.1235–0.25", "2: 2.5"]),
        ([-3, -2, 1e20, 4], ["1: -3–-2", "2: 4–1e+20"]),
    ],
)
def test_bins_have_labels_that_can_be_read(numbers: list[float], labels: list[str]) -> None:
    given_rows = [replace(row, extra={"x": number}) for row, number in zip(rows(4), numbers, strict=True)]
    assert sorted(set(groups_by_bins(given_rows, "x", 2).values())) == labels


def test_groups_by_any_field() -> None:
    report = scored("1w" * 10)
    by_kind = group_scores(report, groups_by_value(rows(20), "deep.kind"), resamples=10, seed=0)
    assert {name: group.estimates["granola_accuracy"].value for name, group in by_kind.items()} == {"a": 1.0, "b": 0.0}
    names = ("P112", "none", "P20", "P19", "3", "P19", "0.25", "0.5", "12")
    of = {str(i): name for i, name in enumerate(names)}
    in_order = ["0.25", "0.5", "3", "12", "P19", "P20", "P112", "none"]
    assert list(group_scores(scored("1" * len(names)), of, resamples=10, seed=0)) == in_order
    assert list(groups_by_value(rows(2), "relation").values()) == ["P1", "P2"]
    assert list(groups_by_value(rows(2), "levels").values()) == ["3", "3"]
    assert list(groups_by_value(rows(2), "answer").values()) == ["Kunming", "Kunming"]
    subject = replace(rows(1)[0], question_entity={"text": "Nie Er", "qid": "Q1"})
    assert groups_by_value([subject], "question_entity.qid") == {"0": "Q1"}
    with pytest.raises(MatcherError, match="did you mean 'popularity'"):
        groups_by_value(rows(2), "popularty")
    with pytest.raises(MatcherError, match="'id' has 501 values in 501 rows; allowed: up to 500"):
        groups_by_value(rows(501), "id")
    with pytest.raises(MatcherError, match="has 0 numbers"):
        groups_by_bins(rows(2), "deep", 1)


def test_a_sweep_of_thresholds_is_what_f1_says() -> None:
    said = predictions("123w-1")
    items = level_f1_of_items(rows(6), said)
    for point in tau_sweep(items, (0.0, 0.3, 0.5, 0.95)):
        report = score(
            rows(6),
            PredictionFile(name="x", predictions=said),
            matcher("f1", tau=point.tau),
            ScoreSettings(resamples=10),
        )
        values = {name: e.value for name, e in report.overall.estimates.items()}
        assert point.standard_accuracy == pytest.approx(values["selective_standard_accuracy"])
        assert point.granola_accuracy == pytest.approx(values["selective_accuracy"])
        assert point.informativeness == pytest.approx(values["informativeness"])


def test_an_answer_of_token_f1_abstains_in_the_language_of_its_row() -> None:
    (german,) = [replace(row, extra={"language": "de"}) for row in rows(1)]
    told = {"0": Prediction(id="0", text="Keine Ahnung")}
    assert [item.abstained for row in (german, *rows(1)) for item in level_f1_of_items([row], told)] == [True, False]


def test_a_sweep_of_lambda_falls_from_the_share_of_right_answers() -> None:
    points = lambda_sweep(scored("123w-"))
    values = [point.informativeness for point in points]
    assert values[0] == 3 / 5
    assert values == sorted(values, reverse=True)
    matched = [point.informativeness_matched for point in points]
    assert matched[0] == 1.0
    assert matched == pytest.approx([value * 5 / 3 for value in values])
    (half,) = lambda_sweep(scored("12w-"), [0.5])
    assert half.informativeness == pytest.approx((1 + math.exp(-0.5)) / 4)
    assert half.informativeness_matched == pytest.approx((1 + math.exp(-0.5)) / 2)
    (none,) = lambda_sweep(scored("w-"), [0.5])
    assert (none.informativeness, math.isnan(none.informativeness_matched)) == (0.0, True)


def test_risk_and_coverage_by_hand() -> None:
    # Surest first: right, (right and wrong together), wrong; one abstains, one has no confidence.
    said = "11ww-1"
    told = predictions(said, [0.9, 0.5, 0.5, 0.1, 0.95, None])
    report = score(rows(6), PredictionFile(name="x", predictions=told), matcher("rules"), ScoreSettings(resamples=10))
    curve = risk_coverage(report, told)
    assert curve is not None
    assert curve.points == pytest.approx([(1 / 6, 0.0), (3 / 6, 1 / 3), (4 / 6, 2 / 4)])
    assert curve.area == pytest.approx((1 * 0 + 2 * (1 / 3) + 1 * 0.5) / 4)
    assert (curve.n, curve.unsure, curve.covered) == (6, 1, 4)
    assert curve.to_json() == {"area": curve.area, "covered": 4, "unsure": 1, "n": 6}
    assert risk_coverage(report, predictions(said)) is None


def test_the_detectable_difference_is_that_of_the_normal_approximation() -> None:
    # 400 questions, 100 of them won and 40 lost: the difference of one question has the variance
    # 140/400 - (60/400)^2 = 0.3275. Two-sided 5 % and 80 % power: (1.95996 + 0.84162) * sqrt(0.3275 / 400) = 0.08016.
    one, other = scored("1" * 100 + "w" * 40 + "1" * 260, "x"), scored("w" * 100 + "1" * 40 + "1" * 260, "y")
    (found,) = compare([one, other], metrics=["granola_accuracy"], resamples=8000)
    assert found.detectable == pytest.approx(0.08016, rel=0.04)
