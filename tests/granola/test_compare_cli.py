"""`granola compare` from end to end, on the bundled sample's predictions against ladders of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from granola.scoring.system_comparison import unique_system_names
from tests.command_line import run_granola


@pytest.fixture(scope="session")
def systems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tiers.jsonl of 40 questions and three systems: exact, cautious, and one that says nothing."""
    folder = tmp_path_factory.mktemp("systems")
    cities = ("Kunming", "Dali", "Lijiang", "Qujing")
    rows: list[dict[str, Any]] = []
    exact, cautious, mute = [], [], []
    for i in range(40):
        city = cities[i % 4]
        names = (city, "Yunnan", "China")
        rows.append(
            {
                "id": f"q{i}",
                "question": f"Where was person {i} born?",
                "relation": ("P19", "P20")[i % 2],
                "answer": [city],
                "popularity": i * i,
                "region": ("north", "south")[i // 20],
                "levels": [{"tiers": [{"text": name, "aliases": []}]} for name in names],
            }
        )
        exact.append({"id": f"q{i}", "prediction": city if i > 15 else "Paris", "confidence": i, "bleurt": i / 40})
        cautious.append({"id": f"q{i}", "prediction": ("Yunnan", "China")[i % 2] if i > 5 else city})
        mute.append({"id": f"q{i}", "prediction": "I don't know."})
    rows[0]["schema_version"] = 1
    for name, lines in (("tiers", rows), ("exact", exact), ("cautious", cautious), ("mute", mute)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def test_scores_tests_groups_and_signatures(systems: Path) -> None:
    files = [systems / f"{name}.jsonl" for name in ("tiers", "exact", "cautious", "mute")]
    done = run_granola("compare", *files, "--by", "region", "--popularity", "popularity:4", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    accuracy = {
        s["system"]: (s["metrics"]["standard_accuracy"]["value"], s["metrics"]["granola_accuracy"]["value"])
        for s in found["systems"]
    }
    assert accuracy == {"exact": (0.6, 0.6), "cautious": (0.15, 1.0), "mute": (0.0, 0.0)}
    tests = {(d["metric"], d["first"], d["second"]): d for d in found["differences"]}
    assert len(tests) == 5 * 3
    assert {"selective_accuracy", "selective_standard_accuracy"} < {metric for metric, _, _ in tests}
    best = tests["granola_accuracy", "exact", "cautious"]
    assert best["difference"] == pytest.approx(-0.4)
    assert best["p"] <= best["p_holm"] < 0.05
    assert tests["selective_accuracy", "exact", "mute"]["difference"] is None  # who says nothing has none
    assert list(found["groups"]) == ["region", "popularity, bins of equal size"]
    bins = found["groups"]["popularity, bins of equal size"]["exact"]
    assert [group["n"] for group in bins.values()] == [10] * 4
    assert bins["1: 0–81"]["metrics"]["granola_accuracy"]["value"] == 0.0
    assert set(found["risk_coverage_area"]) == {"exact"}
    assert 0 <= found["risk_coverage_area"]["exact"] < 0.4


def test_sweeps_and_several_groupings(systems: Path) -> None:
    files = [systems / f"{name}.jsonl" for name in ("tiers", "exact", "cautious")]
    groupings = ["--by", "region", "--by", "levels", "--by", "region", "--popularity", "popularity"]
    done = run_granola("compare", *files, *groupings, "--resamples", "20", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found["groups"]) == ["region", "levels", "popularity, bins of equal size"]
    assert list(found["groups"]["levels"]["exact"]) == ["3"]
    told = {s["system"]: s["metrics"]["informativeness"]["value"] for s in found["systems"]}
    for system, value in told.items():
        assert {p["lambda"]: p["informativeness"] for p in found["lambda_sweep"][system]}[0.5] == pytest.approx(value)
        assert [p["n"] for p in found["tau_sweep"][system]] == [40] * 20


def test_too_few_permutations_for_so_many_pairs_are_told(systems: Path) -> None:
    files = [systems / f"{name}.jsonl" for name in ("tiers", "exact", "cautious", "mute")]
    assert "give --resamples 60 or more" in run_granola("compare", *files, "--resamples", "59").stderr
    assert run_granola("compare", *files, "--resamples", "60").stderr == ""


def test_groups_by_relation_have_names_and_risk_says_of_how_many(systems: Path, tmp_path: Path) -> None:
    some = tmp_path / "some.jsonl"
    lines = (systems / "exact.jsonl").read_text().splitlines()
    shy = [json.dumps({**json.loads(line), "prediction": "I don't know."}) for line in lines[:12]]
    some.write_text("\n".join([*shy, *lines[12:]]))
    done = run_granola("compare", systems / "tiers.jsonl", some, "--by", "relation", "--resamples", "10")
    assert done.returncode == 0, done.stderr
    assert "P19 place of birth" in done.stdout
    assert "By relation: selective accuracies" in done.stdout
    assert "over the 28 of 40 questions answered with a confidence" in done.stdout
    found = json.loads(run_granola("compare", systems / "tiers.jsonl", some, "--resamples", "10", "--json").stdout)
    risk = found["risk_coverage"]["some"]
    assert (risk["covered"], risk["unsure"], risk["n"]) == (28, 0, 40)
    assert risk["area"] == found["risk_coverage_area"]["some"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--metric", "bleu"], "no metric 'bleu'"),
        (["--by", "regoin"], "did you mean 'region'"),
        (["--popularity", "region"], "has 0 numbers"),
        (["--popularity", "popularity:99"], "too few for 99 bins"),
        (["--popularity", "popularity:0"], "bins is 0; allowed: 1 or more"),
        (["--metric", "granola_acuracy"], "did you mean 'granola_accuracy'"),
        (["--lambda", "-0.5"], "lambda is -0.5; allowed: 0"),
        (["--lambda", "nan"], "lambda is nan; allowed: 0"),
        (["--matcher", "f1:2"], "tau is 2; allowed: 0 and more, below 1"),
        (["--by", ""], "no row has a field ''"),
        (["--matcher", "ruls"], "did you mean 'rules'"),
        (["--resamples", "9"], "allowed: 10 to 100000"),
    ],
)
def test_wrong_settings_are_told(systems: Path, options: list[str], told: str) -> None:
    done = run_granola("compare", systems / "tiers.jsonl", systems / "exact.jsonl", systems / "mute.jsonl", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_systems_are_told_apart() -> None:
    assert unique_system_names(["a/x.jsonl", "b/x.jsonl", "y.csv.gz"]) == ["a/x", "b/x", "y"]
    assert unique_system_names(["x.jsonl", "x.csv"]) == ["x (1)", "x (2)"]
    assert unique_system_names(["drag-t0.7.jsonl", "drag-t0.9.jsonl.gz", "v1.2"]) == ["drag-t0.7", "drag-t0.9", "v1.2"]
    assert unique_system_names(["predictions-a.jsonl", "predictions-b.jsonl"]) == ["predictions-a", "predictions-b"]
