"""How much support answers need: the fit, its file, `granola calibrate`, and `--calibration`."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granola.decoding import DragGraph
from granola.decoding.calibrating import (
    BASES,
    PER_BIT,
    JudgedClaim,
    Known,
    curve,
    envelope,
    finest,
    fit,
    majority,
    precision_at,
    supported,
)
from granola.decoding.calibration import Calibration
from granola.decoding.decision import Abstaining
from granola.decoding.methods import rule_of
from granola.errors import UsageError
from kg import snapshot
from tests.conftest import Run
from tests.decoding_world import decide

DEMO = Path(__file__).resolve().parents[2] / "granola" / "demo"
HALF = Calibration(base=0.5, per_bit=0.025)


def question(*candidates: tuple[float, float, bool]) -> Known:
    """Candidates by share, bits and whether they are right; the first is what most say."""
    made = tuple(JudgedClaim(share=s, bits=b, right=r, text=f"{s} {b}") for s, b, r in candidates)
    return Known(candidates=made, majority=made[0] if made else None)


def towns(number: int, seed: int = 0) -> list[Known]:
    """Questions with a town of 8 bits, right as often as it is shared, and its country, which all share."""
    draw = random.Random(seed)
    shares = [draw.randrange(1, 9) / 8 for _ in range(number)]
    return [question((share, 8.0, draw.random() < share), (1.0, 2.0, True)) for share in shares]


def test_support_demanded_rises_with_fineness() -> None:
    assert HALF.demanded(0.0) == 0.5
    assert HALF.demanded(4.0) == pytest.approx(0.6)
    assert HALF.demanded(40.0) > 1


@given(st.floats(0, 20), st.floats(0, 20), st.sampled_from(BASES), st.sampled_from(PER_BIT))
def test_more_bits_never_need_less_support(one: float, other: float, base: float, per_bit: float) -> None:
    rule = Calibration(base=base, per_bit=per_bit)
    low, high = sorted((one, other))
    assert rule.demanded(low) <= rule.demanded(high)


def test_the_wanted_precision_is_reached_with_as_many_answers_as_it_allows() -> None:
    questions = towns(400)
    found = fit(questions, precision=0.9)
    assert found.point.precision >= 0.9
    assert found.point.coverage == 1.0  # what is no town is the country
    strict = fit(questions, precision=0.98)
    assert strict.calibration.demanded(8.0) > found.calibration.demanded(8.0)
    assert found.left_out is not None
    assert found.precision.low <= found.left_out.precision <= found.precision.high
    assert found.left_out.precision > 0.85


def test_a_wanted_coverage_is_reached_as_precisely_as_it_allows() -> None:
    alone = [question((share / 8, 8.0, share >= 6)) for share in range(1, 9) for _ in range(10)]
    found = fit(alone, coverage=0.5)
    assert found.point.coverage == 0.5
    assert found.point.precision == 3 / 4  # shares 5 to 8, of which 6, 7 and 8 are right
    everything = fit(alone, coverage=1.0)
    assert (everything.point.coverage, everything.point.precision) == (1.0, 3 / 8)


def test_a_town_needs_more_than_a_country() -> None:
    """Half of those who say a town are right in a fifth of the cases, half of those who say a country nearly always."""
    draw = random.Random(1)
    questions = [question((0.5, 10.0, draw.random() < 0.2), (0.75, 3.0, draw.random() < 0.95)) for _ in range(100)]
    questions += [question((0.875, 10.0, draw.random() < 0.95), (1.0, 3.0, True)) for _ in range(100)]
    rule = fit(questions, precision=0.9).calibration
    assert rule.demanded(10.0) > 0.5
    assert rule.demanded(3.0) <= 0.75
    assert rule.demanded(10.0) <= 0.875  # the surer town is told, which costs too little precision


def test_what_cannot_be_reached_is_refused() -> None:
    wrong = [question((share / 8, 8.0, at % 2 == 0)) for share in range(1, 9) for at in range(10)]
    with pytest.raises(UsageError, match=r"precision 0\.99 is not reached.* 0\.500, with 1\.000"):
        fit(wrong, precision=0.99)
    silent = [*wrong, *[Known()] * 80]
    with pytest.raises(UsageError, match=r"coverage 0\.8 is not reached.* 0\.500, of them 0\.500"):
        fit(silent, coverage=0.8)


def test_the_precision_of_few_answers_is_no_evidence() -> None:
    lucky = [question((1.0, 8.0, True))] * 10 + [question((0.5, 8.0, False))] * 70
    with pytest.raises(UsageError, match="is not reached"):
        fit(lucky, precision=0.9)


def test_where_nothing_has_enough_support_the_surest_may_do() -> None:
    """A town that all name is right, a country that 5 of 8 entail as well; a town that 4 of 8 name beside it is not."""
    sure = [question((1.0, 8.0, True), (1.0, 2.0, True))] * 60
    torn = [question((0.5, 8.0, False), (0.625, 2.0, True))] * 60
    found = fit([*sure, *torn], precision=0.99)
    assert (found.point.coverage, found.point.precision, found.point.bits) == (1.0, 1.0, 5.0)
    rule = Calibration(base=0.9, per_bit=0.02, least=0.4)
    assert rule.chosen([(0.5, 8.0), (0.625, 2.0)]) == 1
    assert rule.chosen([(1.0, 5.0), (1.0, 2.0)]) == 0
    assert rule.chosen([(0.375, 2.0)]) is None
    assert rule.chosen([]) is None
    responses = ["Hamburg", "Hamburg", "Berlin", "Munich", "Paris", "Tokyo"]
    assert decide(responses, DragGraph(calibration=Calibration(base=0.9, per_bit=0.0))).text == "IDK"
    surest = DragGraph(calibration=Calibration(base=0.9, per_bit=0.02, least=0.5))
    assert decide(responses, surest).text == "Europe"


@given(
    st.lists(
        st.lists(st.tuples(st.integers(1, 8), st.floats(0, 15), st.booleans()), max_size=4), min_size=1, max_size=9
    )
)
def test_the_grid_counts_what_each_calibration_chooses(drawn: list[list[tuple[int, float, bool]]]) -> None:
    questions = [question(*((share / 8, bits, right) for share, bits, right in one)) for one in drawn]
    for calibration, point in envelope(questions):
        (own,) = curve(questions, [(point.at, finest(calibration))])
        assert (own.coverage, own.precision) == (point.coverage, point.precision)
        assert own.bits == pytest.approx(point.bits, abs=1e-8)


def test_the_order_of_questions_does_not_matter() -> None:
    questions = towns(120)
    turned = list(reversed(questions))
    one, other = fit(questions, precision=0.9), fit(turned, precision=0.9)
    assert one.calibration == other.calibration
    assert one.point == other.point
    assert one == fit(questions, precision=0.9)


def test_too_few_questions() -> None:
    with pytest.raises(UsageError, match="49 questions"):
        fit([*towns(49), *[Known()] * 100], precision=0.9)


def test_curves() -> None:
    questions = [question((0.5, 8.0, False), (1.0, 2.0, True)), question((1.0, 8.0, True)), Known()]
    loose, strict, same = curve(questions, [(share, supported(share)) for share in (0.5, 0.75, 1.0)])
    assert (loose.coverage, loose.precision) == (pytest.approx(2 / 3), 0.5)
    assert (strict.coverage, strict.precision) == (pytest.approx(2 / 3), 1.0)
    assert (strict.precision, strict.bits) == (same.precision, same.bits)
    assert (loose.bits, strict.bits) == (pytest.approx(8 / 3), pytest.approx(10 / 3))
    all_, some = curve(questions, [(share, majority(share)) for share in (0.5, 1.0)])
    assert (all_.precision, some.precision, some.coverage) == (0.5, 1.0, pytest.approx(1 / 3))
    assert precision_at([all_, some], 0.6) == 0.5
    assert precision_at([all_, some], 0.9) is None
    assert finest(HALF)(questions[0]) == questions[0].candidates[1]


def test_no_point_of_the_envelope_surpasses_another() -> None:
    points = [point for _, point in envelope(towns(200))]
    assert all(wide.coverage > narrow.coverage or wide.bits > 0 for wide, narrow in pairwise(points))
    assert all(wide.precision < narrow.precision for wide, narrow in pairwise(points))


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    HALF.write(tmp_path / "c.json")
    assert Calibration.read(tmp_path / "c.json") == HALF
    other = Calibration(base=0.5, per_bit=0.025, least=0.25, abstaining=Abstaining.AGAINST)
    other.write(tmp_path / "d.json", evidence={"questions": 60})
    assert Calibration.read(tmp_path / "d.json") == other
    assert rule_of("drag-graph", calibration=other) == DragGraph(calibration=other, abstaining=Abstaining.AGAINST)
    with pytest.raises(UsageError, match="is for --abstaining against"):
        rule_of("drag-graph", calibration=other, abstaining=Abstaining.IGNORE)
    assert json.loads((tmp_path / "c.json").read_text())["support demanded"]["4 bits"] == 0.6


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"kind": "granola-calibration"}',
        '{"kind": "other", "base": 0.5, "per_bit": 0}',
        '{"kind": "granola-calibration", "base": -1, "per_bit": 0}',
        '{"kind": "granola-calibration", "base": 0.5, "per_bit": -0.1}',
        '{"kind": "granola-calibration", "base": NaN, "per_bit": 0}',
        '{"kind": "granola-calibration", "base": "half", "per_bit": 0}',
        '{"kind": "granola-calibration", "base": "0.5", "per_bit": 0}',
        '{"kind": "granola-calibration", "base": true, "per_bit": 0}',
        '{"kind": "granola-calibration", "base": 5, "per_bit": 0}',
        '{"kind": "granola-calibration", "base": 0.5, "per_bit": 0, "least": 0.6}',
        '{"kind": "granola-calibration", "base": 0.5, "per_bit": 0, "least": -0.1}',
        '{"kind": "granola-calibration", "base": 0.5, "per_bit": 0, "abstaining": "pass"}',
        '{"kind": "granola-calibration", "base": 0.5, "per_bit": 0, "abstaining": "often"}',
    ],
)  # fmt: skip
def test_what_is_no_calibration(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"calibration"):
        Calibration.read(path)
    with pytest.raises(UsageError, match=r"not a calibration"):
        Calibration.read(tmp_path / "none.json")


def test_answers_by_a_calibration() -> None:
    responses = ["Hamburg", "Hamburg", "Berlin", "Munich"]
    trusting = Calibration(base=0.25, per_bit=0.0)
    wary = Calibration(base=0.75, per_bit=0.0)
    never = Calibration(base=1.0, per_bit=1.0)
    assert decide(responses, DragGraph(calibration=trusting)).text == "Hamburg"
    assert decide(responses, DragGraph(calibration=wary)).text == "Germany"
    assert decide(responses, DragGraph(calibration=never)).text == "IDK"
    with pytest.raises(UsageError, match="--calibration"):
        rule_of("drag-graph", support=0.5, calibration=wary)
    with pytest.raises(UsageError, match="--calibration"):
        rule_of("self-consistency", calibration=wary)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The demo's snapshot and tiered rows, and responses to each question: right ones, and a share of wrong ones."""
    from abstraction.pipeline import make_ladders
    from abstraction.rows import read_questions, write_tiered
    from kg.store import open_store

    folder = tmp_path_factory.mktemp("calibration")
    snapshot.build([DEMO / "wikidata.json"], folder / "s.sqlite")
    rows = list(make_ladders(read_questions([DEMO / "questions.jsonl"]), open_store(str(folder / "s.sqlite"))))
    write_tiered(rows, folder / "tiers.jsonl")
    draw = random.Random(0)
    with (folder / "samples.jsonl").open("w", encoding="utf-8") as stream:
        for row in rows:
            wrong = draw.choice([one for one in rows if one.relation == row.relation]).answers[0]
            right = draw.randrange(9)
            samples = [row.answers[0]] * right + [wrong] * (8 - right)
            told = {"id": row.id, "question": row.question, "relation": row.relation, "samples": samples}
            stream.write(json.dumps(told) + "\n")
    return {one.stem: one for one in folder.iterdir()} | {"folder": folder}


def test_calibrate_and_aggregate(run: Run, world: dict[str, Path], tmp_path: Path) -> None:
    out, figure = tmp_path / "c.json", tmp_path / "c.svg"
    words = ["calibrate", world["samples"], world["tiers"], "--snapshot", world["s"], "--out", out]
    status, told, problems = run(*words, "--precision", "0.9", "--figure", figure)
    assert (status, problems) == (0, "")
    assert "right of the answered  0.9" in told
    assert "on questions left out  0." in told
    assert "<svg" in figure.read_text(encoding="utf-8")
    assert json.loads(Path(f"{out}.run.json").read_text())["command"] == "calibrate"
    predictions = tmp_path / "p.jsonl"
    aggregate = ["aggregate", world["samples"], "--snapshot", world["s"], "--out", predictions, "--calibration", out]
    assert run(*aggregate)[0] == 0
    rule = Calibration.read(out)
    rows = [json.loads(line) for line in predictions.read_text(encoding="utf-8").splitlines()]
    given = [row for row in rows if row["prediction"] != "IDK"]
    assert len(given) > 50
    assert all(row["support"] >= (rule.least or rule.base) - 1e-4 for row in given)
    status, _, problems = run(*aggregate, "--support", "0.5", "--force")
    assert (status, "demands its own support" in problems) == (2, True)
    status, told, _ = run(*words, "--coverage", "0.5", "--json", "--force")
    found = json.loads(told)
    assert found["reached"]["coverage"] >= 0.5
    assert 0.0 < found["left out"]["precision"] <= 1.0
    assert set(found["curves"]) == {"calibrated", "fixed support", "majority"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([], "give either"), (["--precision", "0.9", "--coverage", "0.5"], "give either"),
        (["--precision", "0"], "no share"), (["--coverage", "1.5"], "no share"),
        (["--precision", "0.9", "--abstaining", "pass"], "drag's"),
    ],
)  # fmt: skip
def test_wrong_usage(run: Run, world: dict[str, Path], tmp_path: Path, options: list[str], why: str) -> None:
    words = ["calibrate", world["samples"], world["tiers"], "--snapshot", world["s"], "--out", tmp_path / "c.json"]
    status, _, problems = run(*words, *options)
    assert (status, why in problems) == (2, True)
    assert not (tmp_path / "c.json").exists()


def test_a_text_of_which_nothing_is_known_needs_the_support_of_a_town() -> None:
    rule = DragGraph(calibration=Calibration(base=0.4, per_bit=0.03))
    assert decide(["Zzyzxville"] * 4 + ["Paris"] * 2 + ["Tokyo"] * 2, rule).text == "IDK"
    assert decide(["Zzyzxville"] * 7 + ["Paris"], rule).text == "Zzyzxville"
