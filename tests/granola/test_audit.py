"""`granola audit`: tables and lists, exit status; agreement by hand."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from abstraction.base.properties import id_with_label
from abstraction.files.rows import read_questions
from abstraction.files.rows import write_tiered as write_rows
from abstraction.verifying.verdicts import VerdictKind
from granola.base.terminal_lines import fit_lines
from granola.commands.cli.main import app
from granola.evidence.audit.offences import TierAudit
from granola.scoring.statistics import cohen_kappa, fleiss_kappa, wilson
from kg.building import snapshot

DEMO = Path(__file__).resolve().parents[2] / "granola" / "demo"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("audit") / "demo.sqlite"
    snapshot.build([DEMO / "wikidata.json"], path)
    return path


@pytest.fixture(scope="module")
def tiered(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from abstraction.maker.pipeline import make_ladders
    from kg.store import open_store

    path = tmp_path_factory.mktemp("audit") / "tiers.jsonl"
    write_rows(make_ladders(read_questions([DEMO / "questions.jsonl"]), open_store(str(store))), path)
    return path


def run(*arguments: object, error: type[Exception] | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    if error is not None:
        assert isinstance(done.exception, error), done.output
    elif done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def tampered(tiered: Path, folder: Path) -> Path:
    """The file with the first tier of the first ladder told of Mars."""
    rows = [json.loads(line) for line in tiered.read_text(encoding="utf-8").splitlines()]
    row = next(r for r in rows if len(r.get("levels", ())) > 1)
    row["levels"][1]["tiers"][0].update(text="Mars Colony", qid=None)
    path = folder / "tampered.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in rows) + "\n", encoding="utf-8")
    return path


def test_evidence_of_made_ladders_stands(tiered: Path, store: Path) -> None:
    status, told = run(tiered, "--snapshot", store, "--entailment", "--json")
    figures = json.loads(told)
    assert figures["total"]["entailed"] > 200
    flawed = figures["total"].get("flawed", 0)
    assert flawed <= 0.01 * figures["total"]["tiers"], figures["findings"]
    assert status == (1 if flawed else 0)


def test_a_broken_tier_is_listed_and_the_status_is_one(tiered: Path, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.jsonl"
    status, told = run(tampered(tiered, tmp_path), "--snapshot", store, "--entailment", "--out", out)
    assert status == 1
    assert "Mars Colony" in told
    head, *found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert head["schema_version"] == 1
    assert {"words-unsupported"} <= {one["verdict"] for one in found if one["text"] == "Mars Colony"}


def test_axes_by_relation(tiered: Path, store: Path) -> None:
    _, told = run(tiered, "--snapshot", store, "--json")
    figures = json.loads(told)
    assert set(figures["relations"]) > {"P19"}
    total = figures["total"]
    assert total["entailed"] > 0.97 * total["tiers"]
    assert total["tiers"] == sum(group["tiers"] for group in figures["relations"].values())


def test_foreign_columns_are_judged(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "foreign.csv"
    columns = ["id", "relation", "question", "answer", "granola_answer_1", "granola_answer_2", "granola_answer_3"]
    question = "Where was Barack Obama born?"
    cells = ["1", "P19", question, "Honolulu", "Honolulu", "Hawaii", "Earth"]
    path.write_text(",".join(columns) + "\n" + ",".join(cells) + "\n", encoding="utf-8")
    status, told = run(path, "--snapshot", store)
    assert status == 1
    assert "'Earth': uninformative" in told
    assert "Hawaii'" not in told


def test_wilson_by_a_known_example() -> None:
    # 1 of 10: 0.0179-0.4042 (Newcombe 1998, table I's method 3).
    found = wilson(1, 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0179, 0.4042)
    assert wilson(0, 20).low == 0.0
    assert wilson(20, 20).high == 1.0
    assert math.isnan(wilson(0, 0).low)
    with pytest.raises(ValueError, match="from 0 to 3"):
        wilson(4, 3)


def test_kappas_by_known_examples() -> None:
    # Fleiss 1971's table as in every textbook: 14 raters, 10 subjects, 5 categories: 0.210.
    counts = [(0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1), (7, 7, 0, 0, 0),
              (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7)]  # fmt: skip
    items = [[str(category) for category, n in enumerate(row) for _ in range(n)] for row in counts]
    assert fleiss_kappa(items) == pytest.approx(0.210, abs=0.0005)
    # 50 items, both yes 20, both no 15, 5 and 10 divided: observed 0.7, by chance 0.5.
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert cohen_kappa(pairs) == pytest.approx(0.4)
    assert math.isnan(cohen_kappa([]))
    assert math.isnan(cohen_kappa([("y", "y")]))
    with pytest.raises(ValueError, match="same number"):
        fleiss_kappa([["a", "b"], ["a"]])


def test_a_table_of_an_audit_has_every_group() -> None:
    audit = TierAudit()
    for name in ("P1082", "P19"):
        by_verdict = {str(verdict): 1_234 for verdict in VerdictKind}
        audit.relations[name] = Counter({"rows": 12_345, "tiers": 23_456, **by_verdict})
    text = "\n".join(fit_lines([audit.table()], 80))
    assert id_with_label("P1082") in text
    assert text.count("12345") == 2
    assert text.count("1234   5.3 %") >= 2
