"""`granola report`: the page stands alone, figures and tables are files, and what is wrong is told before drawing."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.command_line import COMMAND, run_granola
from tests.granola.test_compare_cli import systems
from tests.thorough import thorough_only

__all__ = ["systems"]
pytestmark = pytest.mark.xdist_group("report")  # one report for all
FIGURES = {
    "by-region", "distribution", "f1", "gap", "popularity", "relations", "risk-coverage",
    "tradeoff", "weights",
}  # fmt: skip


VOID = ("meta", "br", "link", "input", "img")


def report_of(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return run_granola("report", *words)


class Outline(HTMLParser):
    """Tags that are open at the end, addresses, ids, and the row lengths of tables."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href") and value is not None:
                self.links.append(value)
            if name == "id" and value is not None:
                self.ids.append(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self.open[-1] in {"li", "td", "th", "tr"} - {tag}:  # their end tags may be left out
            self.open.pop()
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def report(systems: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    out = tmp_path_factory.mktemp("report") / "out"
    files = [systems / f"{name}.jsonl" for name in ("tiers", "exact", "cautious", "mute")]
    done = report_of(*files, "--by", "region", "--popularity", "popularity", "--colour", "bleurt", "--out", out)
    assert done.returncode == 0, done.stderr
    return out


def test_every_figure_is_there_in_both_forms_and_in_the_page(report: Path) -> None:
    assert {path.stem for path in (report / "figures").glob("*.svg")} == FIGURES
    assert {path.stem for path in (report / "figures").glob("*.png")} == FIGURES
    for path in (report / "figures").glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (report / "figures").glob("*.png"))
    assert (report / "report.html").read_text().count("<img src=\"data:image/svg+xml") == len(FIGURES)


def test_the_page_needs_nothing_else_and_is_well_formed(report: Path) -> None:
    outline = Outline()
    outline.feed((report / "report.html").read_text(encoding="utf-8"))
    assert outline.open == []
    assert all(link.startswith(("#", "data:", "https://www.wikidata.org/wiki/")) for link in outline.links)
    assert {link[1:] for link in outline.links if link.startswith("#")} <= set(outline.ids)
    assert len(outline.ids) == len(set(outline.ids))


def table(report: Path, name: str) -> list[dict[str, str]]:
    with (report / f"tables/{name}.csv").open() as stream:
        return list(csv.DictReader(stream))


def test_tables_say_what_the_scores_are(report: Path) -> None:
    found = {(row["system"], row["metric"], row["average"]): row["value"] for row in table(report, "scores")}
    assert float(found["cautious", "GRANOLA accuracy", "micro"]) == 1.0
    assert {float(found["exact", "standard accuracy", average]) for average in ("micro", "macro")} == {0.6}
    assert found["mute", "selective GRANOLA accuracy", "micro"] == ""  # of no answer
    assert float(found["mute", "informativeness", "micro"]) == 0.0
    coarse = table(report, "coarse-answers")
    assert {row["system"] for row in coarse} == {"cautious"}
    assert all(row["candidate"] == row["matched tier"] in ("Yunnan", "China") for row in coarse)
    assert {(row["level"] in "23", row["F1, gold"], row["F1, tier"]) for row in coarse} == {(True, "0.0", "1.0")}


def test_the_run_record_has_the_settings_that_were_used(report: Path) -> None:
    arguments = json.loads((report / "report.html.run.json").read_text())["arguments"]
    assert arguments["matcher"] == "rules"
    assert (arguments["standard"], arguments["bins"]) == ("aliases", 5)  # both by default


def test_two_runs_give_the_same_bytes(report: Path, systems: Path, tmp_path: Path) -> None:
    files = [systems / f"{name}.jsonl" for name in ("tiers", "exact", "cautious", "mute")]
    again = tmp_path / "again"
    words = ["report", *files, "--by", "region", "--popularity", "popularity", "--colour", "bleurt", "--out", again]
    environment = {**os.environ, "PYTHONHASHSEED": "7"}  # another order of sets
    done = subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    names = [path.relative_to(report) for path in report.rglob("*") if path.is_file() and "run.json" not in path.name]
    assert len(names) > 25
    assert [name for name in names if (report / name).read_bytes() != (again / name).read_bytes()] == []


def test_one_system_without_any_field(systems: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    done = report_of(systems / "tiers.jsonl", systems / "mute.jsonl", "--out", tmp_path / "one")
    assert done.returncode == 0, done.stderr
    figures = {path.stem for path in (tmp_path / "one/figures").glob("*.svg")}
    assert figures >= {"distribution", "weights"}
    assert figures.isdisjoint({"popularity", "risk-coverage", "f1", "gap", "tradeoff"})  # of no answer


def test_a_report_is_replaced_only_where_it_is_one(report: Path, systems: Path, tmp_path: Path) -> None:
    files = [systems / "tiers.jsonl", systems / "mute.jsonl"]
    assert "give --force" in report_of(*files, "--out", report).stderr
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("x")
    for force in ([], ["--force"]):
        done = report_of(*files, "--out", tmp_path / "mine", *force)
        assert done.returncode == 2
        assert "holds no earlier report" in done.stderr
    assert "is no folder" in report_of(*files, "--out", files[0]).stderr


def test_micro_macro_and_intervals_stand_side_by_side(report: Path) -> None:
    rows = {(r["system"], r["metric"], r["average"]): r for r in table(report, "scores")}
    one = rows["cautious", "standard accuracy", "micro"]
    assert float(one["low"]) <= float(one["value"]) == 0.15 <= float(one["high"])
    assert rows["cautious", "standard accuracy", "macro"]["n"] == "2"
    for name, head, group, n in (
        ("relations", "relation", "P19 place of birth", "20"), ("by-region", "region", "south", "20"),
        ("popularity", "bin of popularity", "1: 0–49", "8"),
    ):  # fmt: skip
        (one,) = [
            row for row in table(report, name)
            if (row["line"], row["score"], row[head]) == ("cautious", "selective standard accuracy", group)
        ]  # fmt: skip
        assert one["n"] == n
        assert float(one["low"]) <= float(one["value"]) <= float(one["high"])


def test_what_an_earlier_report_left_goes(report: Path, systems: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(report, out)
    assert (out / "figures/popularity.svg").exists()
    (out / "figures/mine.svg").write_text("<svg/>")
    files = [systems / "tiers.jsonl", systems / "mute.jsonl"]
    assert report_of(*files, "--resamples", "10", "--out", out, "--force").returncode == 0
    assert not list(out.glob("*/*popularity*"))
    assert (out / "figures/mine.svg").exists()


@thorough_only
def test_names_that_figures_could_misread(systems: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    names = ("_hidden", "a$b$c", "x" * 90, "<b>&amp;")
    files = [systems / "tiers.jsonl", *(tmp_path / f"{name}.jsonl" for name in names)]
    for file in files[1:]:
        file.write_bytes((systems / "exact.jsonl").read_bytes())
    done = report_of(*files, "--resamples", "10", "--out", tmp_path / "out")
    assert (done.returncode, "Warning" in done.stderr) == (0, False)
    assert {row["system"] for row in table(tmp_path / "out", "scores")} == set(names)
    outline = Outline()
    outline.feed((tmp_path / "out/report.html").read_text(encoding="utf-8"))
    assert outline.open == []


def test_an_unknown_score_is_told(systems: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    done = report_of(systems / "tiers.jsonl", systems / "exact.jsonl", "--colour", "bluert", "--out", tmp_path / "x")
    assert done.returncode == 2
    assert "did you mean 'bleurt'" in done.stderr
    assert not (tmp_path / "x").exists()


def test_without_matplotlib_the_install_line_is_told(systems: Path, tmp_path: Path) -> None:
    code = (
        "import sys, importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'matplotlib' else real(name, *a)\n"
        "from granola.commands.cli.main import main; main()"
    )
    arguments = ["report", str(systems / "tiers.jsonl"), str(systems / "mute.jsonl"), "--out", str(tmp_path / "x")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install -e '.[report]'" in done.stderr


def test_figures_in_the_page_are_small_and_those_in_files_need_no_font(report: Path) -> None:
    page = (report / "report.html").read_text(encoding="utf-8")
    figures = [b64decode(drawn).decode() for drawn in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", page)]
    assert len(figures) == len(FIGURES)
    assert sum(map(len, figures)) < 600_000
    assert any(">selective standard accuracy</text>" in drawn for drawn in figures)
    assert "DejaVuSans-" in (report / "figures/gap.svg").read_text()  # letters as shapes


def test_the_page_has_questions_and_says_how_many_have_a_ladder(report: Path) -> None:
    page = (report / "report.html").read_text(encoding="utf-8")
    assert "asked 40 questions. <b>40</b> of them have a ladder" in page
    assert page.count('<details class="question"') == 40
    assert "Gold answer: Kunming" in page
    assert "8 of 40" not in page
