"""`granola verdicts`: scores of items by system and slice, paired tests, the papers' tables and figures."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from granola.commands import Verdicts
from granola.errors import UsageError
from granola.evidence.grounding.answer_judging import AnswerJudge
from granola.evidence.grounding.grounded_rows import GroundedSample, GroundingPassage
from granola.report.charts import MOST, Panel, estimates_csv, estimates_figure
from granola.scoring.statistics import mean_estimate, share_estimate
from tests.grounding_world import own_rows, word_judge

pytest.importorskip("matplotlib", reason="figures need matplotlib")


def write(path: Path, rows: Iterable[Any]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def points(drawn: Path, panel: str) -> dict[tuple[str, str], tuple[float, int]]:
    """Value and n by line and place, of the CSV beside a figure."""
    with Path(f"{drawn}.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["panel"] == panel and row["value"]]
    return {(row["line"], row["at"]): (float(row["value"]), int(row["n"])) for row in rows}


def answers(system: str, *, supported: int, **more: Any) -> list[dict[str, Any]]:
    """Six answers from passages of which a third or two thirds are relevant; the first so many are factual."""
    rows = []
    for n in range(6):
        passages = [
            GroundingPassage(id=str(at), text=f"It opened in {n}{at}.", relevant=at <= n % 2, private=n < 2)
            for at in range(3)
        ]
        sample = GroundedSample(id=str(n), question="q", passages=tuple(passages),
                                tags={"time_sensitivity": ("static", "fast-changing")[n % 2]})  # fmt: skip
        said = f"It opened in {n}0." if n < supported else "Quite another thing happened."
        (item,) = AnswerJudge(sentences=word_judge(1.0)).judge([(sample, said)])
        told = {"system": system, "eligibility": "no issues", "judge": f"judge of {system}", **more}
        rows.append({**item.model_dump(mode="json"), **told})
    return rows


def test_answers_are_drawn_as_in_figures_5_and_6(tmp_path: Path) -> None:
    good = write(tmp_path / "good.jsonl", answers("good", supported=6))
    bad = write(tmp_path / "bad.jsonl", answers("bad", supported=3))
    out = tmp_path / "five.svg"
    told = Verdicts(judged=(good, bad), figure="garage-5", out=out).run()
    assert [path.name for path in told.files] == ["five.svg", "five.svg.csv"]
    assert ElementTree.parse(out).getroot().tag.endswith("svg")
    assert points(out, "time_sensitivity") == {
        ("good", "fast-changing"): (1.0, 3), ("good", "static"): (1.0, 3),
        ("bad", "fast-changing"): (0.333333, 3), ("bad", "static"): (0.666667, 3),
    }  # fmt: skip
    assert points(out, "source")["bad", "private"] == (1.0, 2)
    assert told.signature.startswith("n:12|over:answerable|")
    assert told.signature.endswith("|judge:[judge of bad]|judge:[judge of good]")
    record = orjson.loads(Path(f"{out}.run.json").read_bytes())
    assert (record["command"], record["signature"]) == ("verdicts", told.signature)
    # Both systems in the score, paired over the six questions; they had other judges.
    (test,) = told.tests
    assert (test.metric, test.difference, test.n) == ("RAF strict", 0.5, 6)
    assert any("not judged alike" in str(part) for part in told.parts())
    six = tmp_path / "six.svg"
    signature = Verdicts(judged=(bad,), figure="garage-6", score=("uRAF wide",), out=six).run().signature
    assert points(six, "relevant_share_wide") == {
        ("bad", "0.00-0.33"): (0.666667, 3), ("bad", "0.33-0.67"): (0.333333, 3),
    }  # fmt: skip
    assert "|bands of relevant_share_wide:0.333333,0.666667|" in signature
    halves = Verdicts(judged=(bad,), figure="garage-6", rule=("bands=0.5",)).run()
    assert [place for place, _ in halves.panels[0].lines["bad"]] == ["0.00-0.50", "0.50-1.00"]
    assert "|bands of relevant_share_strict:0.5|" in halves.signature


def test_scores_are_shown_with_slices_and_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = answers("good", supported=4)
    rows[0] |= {"deflects": "rule"}
    rows[1] |= {"eligibility": None, "unjudged": {"eligibility": "cut off"}}
    path = write(tmp_path / "good.jsonl", rows)
    Verdicts(judged=(path,), by=("source",), resamples=20).execute()
    shown = capsys.readouterr().out
    assert "good; without a verdict that was asked for: 1 eligibility" in shown
    assert "n 0: deflection TP" in shown
    assert "RAF strict by source" in shown
    assert "nan" not in shown
    told = Verdicts(judged=(path,), rule=("deflecting=fails", "over=all"), resamples=20).run()
    scores = told.report["good"]
    assert (scores["E"].n, scores["uF"].value) == (5, 0.5)
    assert "over:all|deflecting:fails|" in told.signature
    for rule in ("over=some", "bands=0.5,2", "pace=all", "E.over=all"):
        with pytest.raises(UsageError, match=r"--rule is .*allowed: over=all"):
            Verdicts(judged=(path,), rule=(rule,)).run()


def texts(tmp_path: Path) -> list[Path]:
    paths = []
    for pieces, size in ((1, 7), (10, 65)):
        rows = [
            {"id": str(n), "knowledge": "k " * (50 if n else 10), "views": 10 ** (3 + n % 3), "system": "s",
             "size": size, "scores": {"factuality": 0.1 * n, "validity": float(n % 2)},
             "sentences": [{"text": "k", "entailed": 0.1 * n, "neutral": 0.0}] * (1 + n % 2)}
            for n in range(6)
        ]  # fmt: skip
        path = write(tmp_path / f"judged{pieces}.jsonl", rows)
        evidence = {"pieces": pieces, "evidence": ["reference"] if pieces == 1 else []}
        Path(f"{path}.run.json").write_bytes(orjson.dumps({"arguments": evidence}))
        paths.append(path)
    return paths


def test_texts_are_drawn_as_in_figures_2_to_4(tmp_path: Path) -> None:
    paths = tuple(texts(tmp_path))
    two, three, four = (tmp_path / f"{name}.svg" for name in ("two", "three", "four"))
    Verdicts(judged=paths, figure="conner-2", out=two, resamples=20).run()
    # Texts 0 and 3 have 10^3 views: factuality 0 and 0.3. Two sentences have texts 1, 3 and 5.
    assert points(two, "popularity")["judged1 s, factuality", "3"] == (0.15, 2)
    assert points(two, "sentences")["judged10 s, factuality", "2"] == (0.3, 6)
    assert points(two, "sentences")["judged10 s, non_verified", "2"] == (0.0, 6)
    # Of a text of one sentence text 0 is too short: 40 tokens or fewer.
    assert points(two, "sentences")["judged10 s, factuality", "1"] == (0.3, 2)
    Verdicts(judged=paths, figure="conner-3", out=three, resamples=20).run()
    assert points(three, "size") == {
        ("factuality", "7"): (0.25, 6), ("factuality", "65"): (0.25, 6),
        ("validity", "7"): (0.5, 6), ("validity", "65"): (0.5, 6),
    }  # fmt: skip
    by_bootstrap = mean_estimate([0.0, 1.0] * 3, resamples=20).interval
    assert f",{by_bootstrap.low:.6f},{by_bootstrap.high:.6f},6" in Path(f"{three}.csv").read_text()
    Verdicts(judged=paths, figure="conner-4", out=four, resamples=20).run()
    assert points(four, "settings.pieces") == {
        ("with reference", "1"): (0.25, 6), ("without reference", "10"): (0.25, 6),
    }  # fmt: skip


def test_evaluators_are_drawn_by_complexity(tmp_path: Path) -> None:
    labels = [("supportive", "supportive"), ("supportive", "irrelevant"), ("irrelevant", "irrelevant"),
              ("contradictory", None)]  # fmt: skip
    rows = [
        {"evaluator": "graph", "id": str(n), "category": judged, "gold_category": gold, "complexity": "single"}
        for n, (gold, judged) in enumerate(labels)
    ]
    path = write(tmp_path / "said.jsonl", rows)
    out = tmp_path / "f1.pdf"
    Verdicts(judged=(path,), by=("complexity",), out=out, resamples=20).run()
    assert out.read_bytes().startswith(b"%PDF")
    assert points(out, "complexity") == {("graph", "single"): (0.5, 4)}  # two of four
    (panel,) = Verdicts(judged=(path,), by=("complexity",)).run().panels
    assert {line: [one.value for _, one in own] for line, own in panel.lines.items()} == {"graph": [0.5]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"figure": "garage-7"}, "allowed: conner-2, .* garage-3"),
        ({"figure": "conner-2"}, "is of knowledge"),
        ({"figure": "garage-3"}, "no question with passages"),
        ({"by": ("a",), "out": "x.jpeg"}, r"--out is .*x.jpeg; a figure .* ends in .svg, .png, .pdf"),
        ({"out": "x.svg"}, "a figure"), ({"out": "x.tex", "by": ("source",)}, "a table"),
        ({"by": ("colour",), "score": ("uF",)}, "nothing to show: .* along colour; the fields are .*time_sensit"),
        ({"by": ("source",), "score": ("nothing",)}, "E, F and RAF ask a judge's --model"),
        ({"score": ("RAF strikt",)}, "--score is 'RAF strikt', no score of these rows .*did you mean 'RAF strict'"),
        ({"table": "garage-9"}, "allowed: garage, garage-2"), ({"table": "caqa-5"}, "no row of granola attribution"),
        ({"best": "each"}, "--best is for knowledge texts"), ({"quality": "1,1,1,1"}, "goes with --best"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_told(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "good.jsonl", answers("good", supported=6))
    out = tmp_path / given.pop("out") if "out" in given else None
    with pytest.raises(UsageError, match=message):
        Verdicts(judged=(path,), out=out, **given).run()
    assert out is None or not out.exists()


def test_files_of_no_row_and_of_two_tasks_are_told(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{bad\n")
    with pytest.raises(UsageError, match=r"bad\.jsonl: no row; .*bad\.jsonl:1: not JSON"):
        Verdicts(judged=(bad,)).run()
    plain = write(tmp_path / "plain.jsonl", [{"id": "1"}])
    with pytest.raises(UsageError, match=r"no row; .*no verdict of granola"):
        Verdicts(judged=(plain,)).run()
    with pytest.raises(UsageError, match=r"plain\.jsonl: the same file is given twice"):
        Verdicts(judged=(plain, tmp_path / "." / "plain.jsonl")).run()


def test_a_table_is_text_latex_csv_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": str(n), "system": "my_model", "scores": {"factuality": 0.5, "relevance": n / 2}} for n in range(3)]
    judged = write(tmp_path / "judged.jsonl", rows)
    asked: dict[str, Any] = {"judged": (judged,), "table": "conner-2", "resamples": 100}
    Verdicts(**asked, printed=True).execute()
    shown = capsys.readouterr().out
    assert "0.5000 [0.5000, 0.5000]" in shown
    assert "paper: LLaMA, zero-shot" in shown
    assert "table:conner-2|n:3|" in shown
    Verdicts(**asked, out=tmp_path / "table.tex").execute()
    latex = (tmp_path / "table.tex").read_text()
    assert r"my\_model & 0.5000 & - & - & 0.5000" in latex
    assert latex.startswith(r"\begin{tabular}{lrrrrrrrrr}")
    Verdicts(**asked, out=tmp_path / "table.csv").execute()
    assert "my_model,0.5000,-,-,0.5000" in (tmp_path / "table.csv").read_text()
    capsys.readouterr()
    more = {"system": "other", "scores": {"relevance": 0.0}}
    both = write(tmp_path / "both.jsonl", [*rows, *({**row, **more} for row in rows)])
    Verdicts(judged=(both,), table="conner-2", score=("relevance",), resamples=100).execute(as_json=True)
    told = orjson.loads(capsys.readouterr().out)
    assert told["table"]["systems"]["my_model"]["rel."]["n"] == 3
    assert told["table"]["printed"]["DPR, supervised"]["cons."] == 0.9778
    assert [(test["difference"], test["n"]) for test in told["tests"]] == [(0.5, 3)]


def test_questions_are_counted_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "questions.jsonl", own_rows())
    Verdicts(judged=(path,)).execute()
    told = orjson.loads(capsys.readouterr().out)
    assert (told["questions"], told["contradicting"]) == (32, [])
    out = tmp_path / "three.svg"
    Verdicts(judged=(path,), figure="garage-3", out=out).run()
    assert sum(value for value, _ in points(out, "popularity").values()) == pytest.approx(1, abs=1e-5)


def test_a_panel_has_a_line_a_slice_and_says_what_is_left_out() -> None:
    def panel(slices: int) -> Panel:
        line = [(f"slice {n:02}", share_estimate([1.0, 0.0] * (n + 1))) for n in range(slices)]
        return Panel(name="category", across="category", score="E", lines={"one": line})

    def height(panel: Panel) -> float:
        return float(re.search(rb'height="([\d.]+)pt"', estimates_figure([panel]))[1])  # type: ignore[index]

    many = panel(MOST + 4)
    assert len(many.slice_names) == MOST
    assert not {"slice 00", "slice 01", "slice 02", "slice 03"} & set(many.slice_names)  # those of fewest items
    assert height(many) == height(panel(MOST)) > height(panel(5)) * 3
    assert b"4 slices" in estimates_figure([many])
    assert estimates_csv([many]).count(b"\n") == MOST + 5
