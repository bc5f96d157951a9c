"""`--standard`: level 1 has the gold answers alone, or their aliases as well; every score follows it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow
from granola.errors import MatcherError
from granola.matching import matcher, matchers
from granola.report.study import coarse_answers_table
from granola.scoring.metrics import Standard, metrics, names_of
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.scores import ScoreReport, ScoreSettings, score
from tests.command_line import run_granola

LEVELS = (
    Level(tiers=(Tier(text="New York City", aliases=("Gotham", "Big Apple")),)),
    Level(tiers=(Tier(text="New York State", aliases=("Empire State",)),)),
)
# By the gold answer, by an alias of it, by an alias that has a word of the coarser level, by an alias of the coarser
# level, wrong, and IDK.
SAID = ("New York City", "Gotham", "Gotham State", "Empire State", "Lisbon", "I don't know")
ROWS = [TieredRow(id=str(i), question="Where?", answers=("New York City",), levels=LEVELS) for i in range(len(SAID))]
GIVEN = PredictionFile(
    name="said", predictions={str(i): Prediction(id=str(i), text=text) for i, text in enumerate(SAID)}
)


def report(standard: Standard | None, name: str = "f1") -> ScoreReport:
    return score(ROWS, GIVEN, matcher(name), ScoreSettings(standard=standard, resamples=10), system="said")


def values(of: ScoreReport) -> dict[str, float]:
    return {name: estimate.value for name, estimate in of.overall.estimates.items()}


def levels(of: ScoreReport) -> list[int | None]:
    return [item.verdict.level for item in of.items if item.verdict is not None]


# Token-F1 above 0.3. "Gotham State": with "Gotham" 2 * 1 / 3, with "New York State" 2 * 1 / 5, with "Empire State" 2/4.
# So it is level 1 with the aliases, and level 2 without them; "Gotham" alone is then wrong.
def test_without_aliases_neither_accuracy_has_them() -> None:
    gold, aliases = report("gold"), report("aliases")
    assert levels(gold) == [1, None, 2, 2, None, None]
    assert levels(aliases) == [1, 1, 1, 2, None, None]
    found = values(gold)
    assert found["standard_accuracy"] == pytest.approx(1 / 6)
    assert found["granola_accuracy"] == pytest.approx(3 / 6)
    assert found["knowledge_evaluation_gap"] == pytest.approx(2 / 5)  # no alias of level 1 is in it
    assert found["informativeness"] == pytest.approx((1 + 2 * math.exp(-0.5)) / 6)
    found = values(aliases)
    assert (found["standard_accuracy"], found["granola_accuracy"]) == pytest.approx((3 / 6, 4 / 6))
    assert found["knowledge_evaluation_gap"] == pytest.approx(1 / 5)


@pytest.mark.parametrize("name", ["f1", "em", "rules"])
def test_each_has_the_accuracies_of_the_other_beside_its_own(name: str) -> None:
    gold, aliases = values(report("gold", name)), values(report("aliases", name))
    for metric in ("granola_accuracy", "standard_accuracy", "knowledge_evaluation_gap"):
        assert gold[f"{metric}_aliases"] == aliases[metric]
        assert aliases[f"{metric}_gold"] == gold[metric]
    assert gold["standard_accuracy"] < aliases["standard_accuracy"]


def test_the_default_is_the_papers_for_the_papers_matcher() -> None:
    assert report(None).signature == report("gold").signature
    assert "|standard:gold|" in str(report(None).signature)
    assert report(None, "rules").signature == report("aliases", "rules").signature
    assert "standard" not in str(report(None, "rules").signature)


def test_names_of_level_1_alone_are_left_out() -> None:
    assert names_of(ROWS[0], "gold") == [["New York City"], ["New York State", "Empire State"]]
    assert names_of(ROWS[0]) == [["New York City", "Gotham", "Big Apple"], ["New York State", "Empire State"]]


def test_the_same_rows_have_the_same_hash_and_other_gold_answers_another() -> None:
    assert report("gold").signature.tiers_hash == report("aliases").signature.tiers_hash
    other = [
        TieredRow(id=row.id, question="Where?", answers=("New York City", "Gotham"), levels=LEVELS) for row in ROWS
    ]
    assert (
        score(other, GIVEN, matcher("f1"), ScoreSettings(resamples=10)).signature.tiers_hash
        != report("gold").signature.tiers_hash
    )


def test_several_processes_give_the_same_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matchers, "CASES_OF_ONE_PROCESS", 2)
    by = [score(ROWS, GIVEN, matcher("f1"), ScoreSettings(resamples=10, workers=n)) for n in (1, 2, None)]
    one = by[0]
    assert list(one.items) == list(by[1].items) == list(by[2].items)
    assert [item.to_json()["other_level"] for item in one.items] == [1, 1, 1, 2, None, None]


# Table 9 and the thresholds.
def test_the_rows_of_table_9_follow() -> None:
    seen = {}
    for standard in ("gold", "aliases"):
        made = coarse_answers_table(ROWS, [report(standard)], [GIVEN])  # type: ignore[arg-type]
        rows = [dict(zip(made.head, row, strict=True)) for row in made.rows]
        seen[standard] = {row["candidate"]: (row["matched tier"], row["F1, gold"], row["F1, tier"]) for row in rows}
    assert seen["aliases"] == {"Empire State": ("Empire State", 0.0, 1.0)}
    assert seen["gold"] == {"Empire State": ("Empire State", 0.0, 1.0), "Gotham State": ("Empire State", 0.0, 0.5)}


def test_a_word_that_is_none_is_told() -> None:
    with pytest.raises(MatcherError, match="allowed: aliases, gold"):
        metrics(standard="golden")  # type: ignore[arg-type]


def test_the_command_line_takes_it_and_its_record_says_it(tmp_path: Path) -> None:
    tiers, said, out = (tmp_path / name for name in ("tiers.jsonl", "said.jsonl", "items.jsonl"))
    tiers.write_text("".join(json.dumps(row.to_json()) + "\n" for row in ROWS))
    said.write_text("".join(json.dumps({"id": str(i), "prediction": text}) + "\n" for i, text in enumerate(SAID)))
    for options, expected in (((), "gold"), (("--standard", "aliases"), "aliases"), (("--standard", "gold"), "gold")):
        done = run_granola("score", tiers, said, "--matcher", "f1", *options, "--json", "--out", out, "--force")
        assert done.returncode == 0, done.stderr
        found = {name: one["value"] for name, one in json.loads(done.stdout)["metrics"].items()}
        assert found["standard_accuracy"] == pytest.approx({"gold": 1 / 6, "aliases": 3 / 6}[expected])
        arguments = json.loads(Path(f"{out}.run.json").read_text())["arguments"]
        assert (arguments["standard"], arguments["matcher"][:10]) == (expected, "f1|tau:>0.")
