"""Figures of Yona, Aharoni and Geva 2024 (ACL) that can be computed: Figures 7 and 8, Tables 3 and 9."""

from __future__ import annotations

import pytest

from abstraction.base.tiers import Level, Tier
from abstraction.files.records import Record
from abstraction.files.rows import TieredRow
from granola.matching import matcher, squad
from granola.report.score_tables import Table
from granola.report.study import coarse_answers_table
from granola.scoring.predictions import Prediction, PredictionFile, predictions_of
from granola.scoring.scores import ScoreReport, ScoreSettings, score

LEVELS = (Level(tiers=(Tier(text="Hamburg"),)), Level(tiers=(Tier(text="Germany"),)))
FINE, COARSE, WRONG, IDK = "Hamburg", "Germany", "Lisbon", "I don't know"

# Figure 8, PaLM 2-M: right at level 1, right at a coarser level, wrong, IDK, each of 100 questions. Every coarse answer
# stands at level 2 here, which the paper does not say.
SYSTEMS = {"greedy": (53, 5, 42, 0), "IDK": (47, 5, 31, 17), "DRAG": (47, 16, 31, 6)}


def report_of(counts: tuple[int, int, int, int]) -> ScoreReport:
    """The scores of a system that answers so often at level 1, at level 2, wrongly, and with IDK."""
    return score(*asked(counts), matcher("rules"), ScoreSettings(resamples=10))


def asked(counts: tuple[int, int, int, int]) -> tuple[list[TieredRow], PredictionFile]:
    said = [text for text, number in zip((FINE, COARSE, WRONG, IDK), counts, strict=True) for _ in range(number)]
    rows = [TieredRow(id=str(i), question="Where?", answers=(FINE,), levels=LEVELS) for i in range(len(said))]
    given = {str(i): Prediction(id=str(i), text=text) for i, text in enumerate(said)}
    return rows, PredictionFile(name="said", predictions=given)


def values(counts: tuple[int, int, int, int]) -> dict[str, float]:
    return {name: estimate.value for name, estimate in report_of(counts).overall.estimates.items()}


# exp(-0.5) = 0.60653. Accuracy over what is not IDK: 58 / 100, 52 / 83, 63 / 94. Informativeness over all 100:
# 53 + 5 * 0.60653 = 56.03; 47 + 5 * 0.60653 = 50.03; 47 + 16 * 0.60653 = 56.70. Over the 58, 52, 63 that match:
# 56.03 / 58, 50.03 / 52, 56.70 / 63.
@pytest.mark.parametrize(
    ("system", "accuracy", "informativeness", "matched"),
    [("greedy", 0.580, 0.560, 0.966), ("IDK", 0.627, 0.500, 0.962), ("DRAG", 0.670, 0.567, 0.900)],
)
def test_the_systems_of_figure_8(system: str, accuracy: float, informativeness: float, matched: float) -> None:
    found = values(SYSTEMS[system])
    assert found["selective_accuracy"] == pytest.approx(accuracy, abs=0.0005)
    assert found["informativeness"] == pytest.approx(informativeness, abs=0.0005)
    assert found["informativeness_matched"] == pytest.approx(matched, abs=0.0005)
    fine, coarse, wrong, idk = SYSTEMS[system]
    assert report_of(SYSTEMS[system]).overall.distribution == {
        "1": fine, "2": coarse, "wrong": wrong, "idk": idk, "unscored": 0,
    }  # fmt: skip
    # One denominator for both accuracies of the gap: what is not IDK.
    assert found["knowledge_evaluation_gap"] == pytest.approx(coarse / (100 - idk))
    assert found["selective_standard_accuracy"] == pytest.approx(fine / (100 - idk))


def test_the_claims_of_figure_7_hold_with_the_papers_definitions_and_with_no_others() -> None:
    greedy, idk, drag = (values(SYSTEMS[name]) for name in ("greedy", "IDK", "DRAG"))
    # IDK raises accuracy and lowers informativeness; DRAG raises both.
    assert idk["selective_accuracy"] > greedy["selective_accuracy"]
    assert idk["informativeness"] < greedy["informativeness"]
    assert drag["selective_accuracy"] > greedy["selective_accuracy"]
    assert drag["informativeness"] > greedy["informativeness"]
    # An accuracy in which IDK is wrong loses the first claim, informativeness of what matches the second.
    assert idk["granola_accuracy"] < greedy["granola_accuracy"]
    assert drag["informativeness_matched"] < greedy["informativeness_matched"]


# Table 3, PaLM 2-L greedy, of 1000 questions: 49.5 % right by the standard, 5.6 % by GRANOLA alone, 44.9 % by neither.
def test_the_shares_of_table_3() -> None:
    counts = (495, 56, 449, 0)
    found = values(counts)
    assert found["standard_accuracy"] == pytest.approx(0.495)
    assert found["granola_accuracy"] == pytest.approx(0.551)  # 49.5 + 5.6
    assert found["knowledge_evaluation_gap"] == pytest.approx(0.056)


# Table 9: gold answer, candidate, matched tier, token-F1 with the tier. By hand, 2 * common / (words + words):
# screenwriter, being a screenwriter (an article goes): 2/3; London, London Borough of Sutton: 2/5; London, City of
# London: 2/4; London, London: 2/2.
TABLE_9 = [
    ("What is Aline Brosh McKenna famous for?", "27 Dresses", "screenwriter", "being a screenwriter", 2 / 3),
    ("Where did Tilly Armstrong die?", "Carshalton", "London", "London Borough of Sutton", 2 / 5),
    ("Where is the headquarter of Guildhall School of Music and Drama?", "Barbican Centre", "London", "City of London",
     2 / 4),
    ("Where is Battersea Park located?", "Battersea", "London", "London", 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("question", "gold", "candidate", "tier", "expected"), TABLE_9)
def test_table_9_matches_by_default(question: str, gold: str, candidate: str, tier: str, expected: float) -> None:
    assert squad.token_f1(candidate, tier) == pytest.approx(expected)
    assert squad.token_f1(candidate, gold) == 0.0
    verdict = matcher("f1").match(candidate, [[gold], [tier]], question)
    assert (verdict.level, verdict.score) == (2, pytest.approx(expected))


def test_table_9_is_laid_out_by_bleurt_with_both_token_f1() -> None:
    bleurt = [0.04, 0.05, 0.06, 0.06]
    rows, predictions = [], {}
    for number in (3, 1, 0, 2):
        question, gold, candidate, tier, _ = TABLE_9[number]
        levels = (Level(tiers=(Tier(text=gold),)), Level(tiers=(Tier(text=tier),)))
        rows.append(TieredRow(id=question, question=question, answers=(gold,), levels=levels))
        predictions[question] = Prediction(id=question, text=candidate, scores={"BLEURT": bleurt[number]})
    given = PredictionFile(name="greedy", predictions=predictions)
    report = score(rows, given, matcher("f1"), ScoreSettings(resamples=10), system="greedy")
    made = coarse_answers_table(rows, [report], [given], "BLEURT")
    found = [dict(zip(made.head, row, strict=True)) for row in made.rows]
    assert [row["BLEURT"] for row in found] == bleurt  # ascending
    columns = ("question", "gold answer", "candidate", "matched tier", "F1, gold", "F1, tier")
    assert sorted(tuple(row[name] for name in columns) for row in found) == sorted(
        (question, gold, candidate, tier, 0.0, pytest.approx(f1)) for question, gold, candidate, tier, f1 in TABLE_9
    )


@pytest.mark.parametrize("named", ["chrF", "BLEURT-20"])
def test_table_9_is_ordered_by_the_number_that_is_named(named: str) -> None:
    made = examples_by({"aaa": [3, 2, 1, 0], "chrF": [2, 3, 0, 1], "BLEURT-20": [1, 0, 3, 2]}, named)
    assert made.head[6] == named
    assert [row[6] for row in made.rows] == [0, 1, 2, 3]


def test_of_many_that_are_alike_table_9_shows_those_of_the_least_score() -> None:
    bleurt = [0.01 * (40 - number) for number in range(30)]  # the least stands last in the file
    rows = [TieredRow(id=str(n), question=f"Where {n}?", answers=(FINE,), levels=LEVELS) for n in range(30)]
    said = {str(n): Prediction(id=str(n), text=COARSE, scores={"BLEURT": value}) for n, value in enumerate(bleurt)}
    said["29"] = Prediction(id="29", text=COARSE)  # without the score: behind all that have it
    given = PredictionFile(name="greedy", predictions=said)
    made = coarse_answers_table(
        rows, [score(rows, given, matcher("f1"), ScoreSettings(resamples=10))], [given], "BLEURT"
    )
    assert [row[1] for row in made.rows] == [f"Where {n}?" for n in range(28, 20, -1)]


def examples_by(scores: dict[str, list[int]], named: str | None) -> Table:
    """The rows of Table 9 as a file of predictions with such scores has them."""
    rows, records = [], []
    for number, (question, gold, candidate, tier, _) in enumerate(TABLE_9):
        levels = (Level(tiers=(Tier(text=gold),)), Level(tiers=(Tier(text=tier),)))
        rows.append(TieredRow(id=str(number), question=question, answers=(gold,), levels=levels))
        told = {name: values[number] for name, values in scores.items()}
        records.append(Record(source="x", data={"id": str(number), "prediction": candidate, **told}))
    given = predictions_of(records, "greedy")
    return coarse_answers_table(rows, [score(rows, given, matcher("f1"), ScoreSettings(resamples=10))], [given], named)
