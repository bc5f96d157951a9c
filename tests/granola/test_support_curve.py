"""`granola curve`: precision, coverage and bits by demanded support, and which support reaches a precision."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from abstraction.files.rows import QARow, TieredRow, write_tiered
from granola.decoding.support_curve import (
    SUPPORTS,
    Outcomes,
    least_support_reaching,
    outcomes_by_support,
    support_curves,
)
from granola.matching import matcher
from granola.scoring.metrics import Outcome
from kg.store.sqlite import SQLiteStore
from tests.conftest import Run
from tests.decoding_world import AGGREGATOR, BORN, MAKER, STORE

BORN_IN_HAMBURG = MAKER.make(
    QARow(id="1", question=BORN.question, answers=("Hamburg",), answer_qids=("Q1055",), relation="P19")
)
RIGHT, WRONG, IDK = Outcome(level=1), Outcome(level=None), Outcome(level=None, abstained=True)


def outcomes(*responses: str, ladder: TieredRow = BORN_IN_HAMBURG) -> dict[str, Outcomes]:
    row = replace(BORN, samples=responses)
    return outcomes_by_support([row], {"1": ladder}, AGGREGATOR, matcher("rules"), on_reject=lambda row: None)


def told(found: Outcomes) -> dict[float, int | str | None]:
    """The level by support, "IDK" for none."""
    ((of_question),) = found
    return {s: "IDK" if one.abstained else one.level for s, one in zip(SUPPORTS, of_question, strict=True)}


def test_a_coarser_answer_is_right_where_the_finest_is_not() -> None:
    # Hamburg 2 of 4; Germany, level 2 of the ladder, 4 of 4. Munich alone is the finest at a support of a quarter, but
    # Hamburg is better supported.
    found = outcomes("Hamburg", "Hamburg", "Berlin", "Munich")
    assert told(found["drag-graph"]) == {s: 1 if s <= 0.5 else 2 for s in SUPPORTS}
    assert told(found["self-consistency"]) == {s: 1 if s <= 0.5 else "IDK" for s in SUPPORTS}


def test_questions_without_a_ladder_count_for_nothing() -> None:
    row = replace(BORN, samples=("Hamburg",))
    found = outcomes_by_support([row], {"2": BORN_IN_HAMBURG}, AGGREGATOR, matcher("rules"), on_reject=lambda row: None)
    assert found == {"drag-graph": [], "ladder": [], "self-consistency": []}


def test_precision_coverage_and_bits() -> None:
    # Up to 0.5 two of four are right and three answered; from 0.6 on two are right and two answered; at 1 nothing is.
    def question(low: Outcome, high: Outcome) -> tuple[Outcome, ...]:
        return tuple(low if s <= 0.5 else IDK if s == 1 else high for s in SUPPORTS)

    known = replace(RIGHT, bits=8.0, share=1.0)
    rows = [question(known, known), question(known, known), question(WRONG, IDK), question(IDK, IDK)]
    curves = support_curves({"rule": rows})
    precision, coverage, bits = ({s: e.value for s, e in curves[n]["rule"]} for n in ("precision", "coverage", "bits"))
    assert [round(precision[s], 3) for s in (0.1, 0.5, 0.6)] == [0.667, 0.667, 1.0]
    assert [coverage[s] for s in (0.5, 0.6, 1.0)] == [0.75, 0.5, 0.0]
    assert bits[0.5] == 8.0  # of the two questions whose outcome has bits
    assert math.isnan(precision[1.0])
    assert least_support_reaching(0.9, rows).value == 0.6
    assert least_support_reaching(0.6, rows).value == 0.1
    least = least_support_reaching(0.9, rows * 50)
    assert (least.interval.low, least.interval.high) == (0.6, 0.6)
    assert math.isnan(least_support_reaching(0.9, [question(WRONG, WRONG)] * 9).value)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    store, tiers, samples = (tmp_path / name for name in ("s.sqlite", "tiers.jsonl", "samples.jsonl"))
    SQLiteStore.create(store, STORE.entities(STORE.ids()).values()).close()
    write_tiered([BORN_IN_HAMBURG], tiers)
    samples.write_text(json.dumps({"id": "1", "question": BORN.question, "samples": ["Hamburg", "Berlin"]}) + "\n")
    return {"samples": samples, "tiers": tiers, "store": store}


def test_the_command(run: Run, files: dict[str, Path]) -> None:
    words = ["curve", files["samples"], "--tiered", files["tiers"], "--snapshot", files["store"]]
    status, out, _ = run(*words, "--precision", "0.5")
    assert (status, "drag-graph, 1 question\n" in out) == (0, True)
    told = json.loads(run(*words, "--json", "--precision", "0.5")[1])
    assert list(told["support_reaching_precision"]) == ["drag-graph", "ladder", "self-consistency"]
    assert [point["support"] for point in told["precision"]["drag-graph"]] == list(SUPPORTS)
    files["samples"].write_text(json.dumps({"id": "9", "question": "Where?", "samples": ["Hamburg"]}) + "\n")
    status, _, problem = run(*words)
    assert (status, "has the id of a row of" in problem) == (2, True)


def test_a_figure(run: Run, files: dict[str, Path]) -> None:
    pytest.importorskip("matplotlib")
    figure = files["tiers"].with_name("curve.svg")
    words = ["curve", files["samples"], "--tiered", files["tiers"], "--snapshot", files["store"], "--figure"]
    assert run(*words, figure)[0] == 0
    assert figure.read_bytes().startswith(b"<?xml")
    for place, why in ((figure, "give --force"), (figure.with_suffix(".gif"), "ends in .svg, .png, .pdf")):
        status, _, problem = run(*words, place)
        assert (status, why in problem) == (2, True)
