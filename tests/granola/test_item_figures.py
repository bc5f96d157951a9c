"""`granola draw`: scores of items by slice, the figures of three papers, and what is drawn as CSV."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from granola.commands.item_verdicts import Draw
from granola.errors import UsageError
from granola.figures.charts import MOST, Panel, estimates_figure, estimates_table
from granola.grounding.answer_judging import AnswerJudge
from granola.grounding.grounded_samples import GroundedSample, GroundingPassage
from granola.grounding.grounding_items import AnswerVerdict
from granola.grounding.grounding_scores import GroundingSettings, slice_of, sliced
from granola.grounding.sentence_judges import WordSentences
from granola.scoring.statistics import mean_estimate, share_estimate

pytest.importorskip("matplotlib", reason="figures need matplotlib")


def write(path: Path, rows: Iterable[Any]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def table(drawn: Path) -> list[dict[str, str]]:
    with Path(f"{drawn}.csv").open() as stream:
        return list(csv.DictReader(stream))


def points(drawn: Path, panel: str) -> dict[tuple[str, str], tuple[float, int]]:
    """Value and n by line and place."""
    rows = [row for row in table(drawn) if row["panel"] == panel and row["value"]]
    return {(row["line"], row["at"]): (float(row["value"]), int(row["n"])) for row in rows}


def answers(system: str, *, supported: int) -> list[dict[str, Any]]:
    """Six answers from passages of which a third or two thirds are relevant; the first so many are factual."""
    items = []
    for n in range(6):
        passages = [
            GroundingPassage(id=str(at), text=f"It opened in {n}{at}.", relevant=at <= n % 2, private=n < 2)
            for at in range(3)
        ]
        sample = GroundedSample(id=str(n), question="q", passages=tuple(passages),
                                tags={"time_sensitivity": ("static", "fast-changing")[n % 2]})  # fmt: skip
        said = f"It opened in {n}0." if n < supported else "Quite another thing happened."
        (item,) = AnswerJudge(sentences=WordSentences(share=1.0)).judged([(sample, said)])
        items.append(replace(item, system=system, eligibility=AnswerVerdict.NO_ISSUES, judge=f"judge of {system}"))
    return [item.to_json() for item in items]


def test_answers_are_drawn_as_in_figures_5_and_6(tmp_path: Path) -> None:
    good = write(tmp_path / "good.jsonl", answers("good", supported=6))
    bad = write(tmp_path / "bad.jsonl", answers("bad", supported=3))
    out = tmp_path / "five.svg"
    drawn = Draw(judged=(good, bad), figure="garage-5", out=out).run()
    assert [path.name for path in drawn.files] == ["five.svg", "five.svg.csv"]
    assert ElementTree.parse(out).getroot().tag.endswith("svg")
    assert points(out, "time_sensitivity") == {
        ("good", "fast-changing"): (1.0, 3), ("good", "static"): (1.0, 3),
        ("bad", "fast-changing"): (0.333333, 3), ("bad", "static"): (0.666667, 3),
    }  # fmt: skip
    assert points(out, "source")["bad", "private"] == (1.0, 2)
    assert {row["score"] for row in table(out)} == {"RAF strict"}
    assert drawn.signature.startswith("over:answerable|")
    assert drawn.signature.endswith("|judge:[judge of bad]|judge:[judge of good]")
    six = tmp_path / "six.svg"
    signature = Draw(judged=(bad,), figure="garage-6", y=("uRAF wide",), out=six).run().signature
    assert points(six, "relevant_share_wide") == {
        ("bad", "0.00-0.33"): (0.666667, 3), ("bad", "0.33-0.67"): (0.333333, 3),
    }  # fmt: skip
    assert "|bands of relevant_share_wide:0.333333,0.666667|" in signature


def test_what_is_drawn_of_answers_is_what_is_scored(tmp_path: Path) -> None:
    from granola.grounding.grounding_items import read_judged_answers

    path = write(tmp_path / "bad.jsonl", answers("bad", supported=4))
    items = read_judged_answers(path, on_reject=lambda row: None)
    out = tmp_path / "one.svg"
    Draw(judged=(path,), x=("relevant_share_strict",), y=("uF",), out=out).run()
    expected = sliced(items, "uF", slice_of("relevant_share_strict"), GroundingSettings())
    assert [(row["at"], row["low"], row["high"]) for row in table(out)] == [
        (name, f"{one.interval.low:.6f}", f"{one.interval.high:.6f}") for name, one in expected.items()
    ]


def texts(tmp_path: Path) -> list[Path]:
    paths = []
    for pieces in (1, 10):
        rows = [
            {"id": str(n), "knowledge": "k " * (50 if n else 10), "views": 10 ** (3 + n % 3), "system": "s",
             "scores": {"factuality": 0.1 * n, "validity": float(n % 2)},
             "sentences": [{"text": "k", "entailed": 0.1 * n, "neutral": 0.0}] * (1 + n % 2)}
            for n in range(6)
        ]  # fmt: skip
        path = write(tmp_path / f"judged{pieces}.jsonl", rows)
        Path(f"{path}.run.json").write_bytes(orjson.dumps({"arguments": {"pieces": pieces, "reference": False}}))
        paths.append(path)
    return paths


def test_texts_are_drawn_as_in_figures_2_to_4(tmp_path: Path) -> None:
    paths = tuple(texts(tmp_path))
    two, three, four = (tmp_path / f"{name}.svg" for name in ("two", "three", "four"))
    Draw(judged=paths, figure="conner-2", out=two, resamples=20).run()
    # Texts 0 and 3 have 10^3 views: factuality 0 and 0.3. Two sentences have texts 1, 3 and 5.
    assert points(two, "popularity")["judged1 s, factuality", "3"] == (0.15, 2)
    assert points(two, "sentences")["judged10 s, factuality", "2"] == (0.3, 6)
    assert points(two, "sentences")["judged10 s, non_verified", "2"] == (0.0, 6)
    # Of a text of one sentence text 0 is too short: 40 tokens or fewer.
    assert points(two, "sentences")["judged10 s, factuality", "1"] == (0.3, 2)
    Draw(judged=paths, figure="conner-3", size=(7, 65), out=three, resamples=20).run()
    assert points(three, "size") == {
        ("factuality", "7"): (0.25, 6), ("factuality", "65"): (0.25, 6),
        ("validity", "7"): (0.5, 6), ("validity", "65"): (0.5, 6),
    }  # fmt: skip
    by_bootstrap = mean_estimate([0.0, 1.0] * 3, resamples=20).interval
    assert f"{by_bootstrap.low:.6f}" in {row["low"] for row in table(three) if row["line"] == "validity"}
    Draw(judged=paths, figure="conner-4", out=four, resamples=20).run()
    assert points(four, "settings.pieces")["without reference", "10"] == (0.25, 6)
    with pytest.raises(UsageError, match="--size is given 1 times for 2 files"):
        Draw(judged=paths, figure="conner-3", out=tmp_path / "x.svg", size=(7,)).run()


def test_evaluators_are_drawn_by_category_and_complexity(tmp_path: Path) -> None:
    labels = [("supportive", "supportive"), ("supportive", "irrelevant"), ("irrelevant", "irrelevant"),
              ("contradictory", None)]  # fmt: skip
    rows = [
        {"evaluator": "graph", "id": str(n), "category": judged, "gold_category": gold, "complexity": "single"}
        for n, (gold, judged) in enumerate(labels)
    ]
    path = write(tmp_path / "said.jsonl", rows)
    out = tmp_path / "f1.pdf"
    Draw(judged=(path,), figure="caqa-f1", out=out, resamples=20).run()
    assert out.read_bytes().startswith(b"%PDF")
    assert points(out, "complexity") == {("graph", "single"): (0.5, 4)}  # micro: two of four
    by_category = points(out, "category")
    assert by_category["graph", "supportive"] == (0.666667, 4)  # 2 / (2 + 1)
    assert by_category["graph", "irrelevant"] == (0.666667, 4)
    assert by_category["graph", "contradictory"] == (0.0, 4)
    assert ("graph", "partially supportive") not in by_category  # neither is it nor is it said: NaN


def test_any_number_is_drawn_by_any_field(tmp_path: Path) -> None:
    rows = [{"id": str(n), "relation": "P19" if n < 3 else "P20", "right": n % 2 == 0, "more": {"bits": n / 4}}
            for n in range(6)]  # fmt: skip
    path = write(tmp_path / "items.jsonl", [*rows, {"id": "7", "right": None, "relation": "P19"}])
    out = tmp_path / "items.png"
    drawn = Draw(judged=(path,), x=("relation",), y=("right",), out=out).run()
    assert out.read_bytes().startswith(b"\x89PNG")
    assert points(out, "relation") == {("items", "P19"): (0.666667, 3), ("items", "P20"): (0.333333, 3)}
    assert drawn.signature.startswith("boot:1000|seed:0|version:")
    record = orjson.loads(Path(f"{out}.run.json").read_bytes())
    assert (record["command"], record["signature"]) == ("draw", drawn.signature)
    Draw(judged=(path,), x=("more.bits",), y=("more.bits", "right"), out=out, force=True).run()
    assert points(out, "more.bits")["more.bits", "1.25"] == (1.25, 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"figure": "garage-7"}, "allowed: caqa-f1, conner-2, .* garage-3"),
        ({"x": ("a",)}, "name --x and --y, or --figure of garage-5"),
        ({"x": ("a",), "y": ("b",), "out": "x.jpeg"}, "ends in .svg, .png, .pdf"),
        (
            {"x": ("colour",), "y": ("uF",)},
            "nothing to draw: .* along colour; the fields are .*time_sensit",
        ),
        ({"figure": "garage-5", "y": ("nothing",)}, "E, F and RAF ask a judge's --model"),
    ],
)
def test_what_cannot_be_drawn_is_told(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "good.jsonl", answers("good", supported=6))
    out = tmp_path / given.pop("out", "x.svg")
    with pytest.raises(UsageError, match=message):
        Draw(judged=(path,), out=out, **given).run()
    assert not out.exists()


def test_a_file_without_a_row_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("{bad\n")
    with pytest.raises(UsageError, match=r"bad\.jsonl: no row to draw; .*bad\.jsonl:1: not JSON"):
        Draw(judged=(path,), x=("a",), y=("b",), out=tmp_path / "x.svg").run()


def test_a_figure_that_stands_there_is_kept_and_bad_rows_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*answers("good", supported=6), {"id": "z", "expected_deflection": "no"}]
    path, out = write(tmp_path / "good.jsonl", rows), tmp_path / "x.svg"
    command = Draw(judged=(path,), figure="garage-6", out=out)
    assert command.execute() == 1
    shown = capsys.readouterr()
    assert shown.out.startswith(f"{out}\n{out}.csv\nover:answerable|")
    assert "this is no judged answer" in shown.err
    with pytest.raises(UsageError, match="--force"):
        Draw(judged=(path,), figure="garage-6", out=out).run()


def test_a_panel_has_a_line_a_slice_and_says_what_is_left_out() -> None:
    def panel(slices: int) -> Panel:
        line = [(f"slice {n:02}", share_estimate([1.0, 0.0] * (n + 1))) for n in range(slices)]
        return Panel(name="category", across="category", score="E", lines={"one": line})

    def height(panel: Panel) -> float:
        return float(re.search(rb'height="([\d.]+)pt"', estimates_figure([panel]))[1])  # type: ignore[index]

    many = panel(MOST + 4)
    assert len(many.slices) == MOST
    assert not {"slice 00", "slice 01", "slice 02", "slice 03"} & set(many.slices)  # those of fewest items
    assert height(many) == height(panel(MOST)) > height(panel(5)) * 3
    assert b"4 slices" in estimates_figure([many])
    assert estimates_table([many]).count(b"\n") == MOST + 5
