"""The tutorial, the how-to pages, the codes, the README and the Python page, run as they are printed.

Commands are those of the ```sh blocks. A line of a ```text block is one that the commands before it print; the hash of
the matcher's code (`v:`) in it may differ, and a line that begins with `granola` is a command that is not run.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import granola
from abstraction.base.tiers import REASONS
from abstraction.files.rows import read_tiered
from granola.commands import Demo
from tests.command_line import run_granola

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
OURS = re.compile(r"(?:granola [^|<>$;&`*~#]*)?(?:#.*)?")  # a line that asks nothing of a shell
PRESIDENT = "where was the president born"
DATASETS = {
    "score-nq": ("NQ-open.dev.jsonl", f'{{"question": "{PRESIDENT}", "answer": ["Honolulu", "Honolulu, Hawaii"]}}\n'),
    "score-simpleqa": (
        "simple_qa_test_set.csv",
        "metadata,problem,answer\n\"{'topic': 'Politics'}\",Where was the president born?,Honolulu\n",
    ),
    "score-triviaqa": (
        "triviaqa-dev.json",
        '{"Data": [{"Question": "Who wrote War and Peace?", "QuestionId": "tc_1", "Answer": {"Value": "Leo Tolstoy", '
        '"Aliases": ["Tolstoy"]}}], "Version": 1.0}',
    ),
}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `granola demo --out sample` writes."""
    folder = tmp_path_factory.mktemp("walks") / "sample"
    Demo(out=folder).run()
    return folder


def blocks(page: Path) -> list[tuple[str, str]]:
    """The language and the text of every block of a page."""
    return [(kind, text) for kind, text in BLOCK.findall(page.read_text(encoding="utf-8"))]


def shell(commands: str, folder: Path) -> str:
    """What commands print to standard output; they must end well.

    Where all of them are commands of ours, they run in this process, which starts none of them anew.
    """
    lines = commands.replace("\\\n", " ").splitlines()
    if all(OURS.fullmatch(line) for line in lines):
        ran = [run_granola(*shlex.split(line, comments=True)[1:], cwd=folder) for line in lines if line.strip()]
    else:
        environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        bash = ["bash", "-euc", commands]
        ran = [subprocess.run(bash, cwd=folder, capture_output=True, text=True, check=False, env=environment)]
    for done in ran:
        assert done.returncode == 0, f"{commands}\n{done.stderr}"
    return "".join(done.stdout for done in ran)


def plain(text: str) -> str:
    """A text without what may differ from version to version, and with single blanks."""
    return re.sub(r"\|v:\w{8}\|", "|v:-|", " ".join(text.split()))


def walk(page: Path, folder: Path) -> str:
    """Run a page's commands in a folder, hold what it shows against what they print, and give all that they print."""
    printed = ""
    for kind, text in blocks(page):
        if kind == "sh":
            printed += shell(text, folder)
        elif kind == "text":
            there = {plain(line) for line in printed.splitlines()}
            shown = [line for line in text.splitlines() if not line.startswith("granola ")]
            assert [line for line in shown if plain(line) not in there] == []
    return printed


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="the report needs the extra `report`")
def test_the_tutorial_runs_as_it_stands(tmp_path: Path) -> None:
    walk(DOCS / "tutorial.md", tmp_path)
    rows = {row.id: row for row in read_tiered(tmp_path / "tiers.jsonl")}
    assert [id for id, row in rows.items() if row.abstained] == ["q12"]
    assert (tmp_path / "report" / "report.html").stat().st_size > 10_000


def test_the_tutorial_on_attribution_runs_as_it_stands(tmp_path: Path) -> None:
    walk(DOCS / "tutorial-attribution.md", tmp_path)
    assert (tmp_path / "drawn.2.csv").is_file()


def test_links_are_reviewed_as_the_page_says(tmp_path: Path) -> None:
    walk(DOCS / "how-to" / "review-links.md", tmp_path)
    ladders = {
        name: {row.id: [level.names()[0] for level in row.levels] for row in read_tiered(tmp_path / f"{name}.jsonl")}
        for name in ("tiers", "decided", "strict")
    }
    assert ladders["tiers"]["q2"] == ["Cambridge"]
    assert ladders["tiers"]["q3"] == ["Springfield", "United States"]
    assert "Massachusetts" in ladders["decided"]["q2"]
    assert ladders["decided"]["q3"] == ["Springfield"]
    assert [len(ladder) for ladder in ladders["strict"].values()] == [4, 1, 1]


@pytest.mark.parametrize(
    "name", ["how-to/compare-systems", "how-to/audit-ladders", "tutorial-grounding", "tutorial-knowledge"]
)
def test_pages_on_the_sample_run_as_they_stand(name: str, tmp_path: Path) -> None:
    walk(DOCS / f"{name}.md", tmp_path)


@pytest.mark.parametrize("name", DATASETS)
def test_datasets_are_scored_as_the_page_says(name: str, tmp_path: Path) -> None:
    """With a file in the published form, the bundled sample for the dump, and the page's own prediction."""
    page = DOCS / "how-to" / f"{name}.md"
    file, rows = DATASETS[name]
    (tmp_path / file).write_text(rows, encoding="utf-8")
    with gzip.open(tmp_path / "latest-all.json.gz", "wb") as dump:
        dump.write((ROOT / "granola" / "demo" / "wikidata.json").read_bytes())
    kind, predictions = [block for block in blocks(page) if block[0] in ("json", "csv")][-1]
    suffix = {"json": "jsonl", "csv": "csv"}[kind]
    (tmp_path / f"predictions.{suffix}").write_text(predictions, encoding="utf-8")
    printed = walk(page, tmp_path)
    assert re.search(r"GRANOLA accuracy +1\.000", printed)
    assert "snapshot:unknown" not in printed


def test_a_dataset_is_published_as_the_page_says(tmp_path: Path) -> None:
    page = blocks(DOCS / "how-to" / "publish-a-dataset.md")
    (tmp_path / "granola").symlink_to(ROOT / "granola")
    commands = [text.replace(". .venv/bin/activate\n", "") for kind, text in page if kind == "sh"]
    printed = "".join(shell(text, tmp_path) for text in commands)
    assert next(text for kind, text in page if kind == "text") in printed
    assert "snapshot:unknown" not in printed
    rows = [*read_tiered(tmp_path / "my-dataset" / "data" / "test.jsonl")]
    assert [row.extra["topic"] for row in rows] == ["politics", "science", "geography"]
    assert {path.name for path in (tmp_path / "my-dataset").iterdir()} == {
        "README.md", "build.json", "data", "dropped.jsonl"
    }  # fmt: skip


CODES = re.findall(
    r"^\| `([a-z-]+)` \| `(granola [^`]+)` \|$",
    (DOCS / "reference" / "abstention-codes.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize(("code", "command"), CODES)
def test_the_example_of_a_code_gives_it(code: str, command: str, sample: Path, tmp_path: Path) -> None:
    (tmp_path / "sample").symlink_to(sample)
    assert f"abstained: {code}" in shell(command, tmp_path)


def test_every_code_has_its_row_and_its_example() -> None:
    text = (DOCS / "reference" / "abstention-codes.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([a-z-]+)` \|.*\|.*\|.*\|$", text, re.MULTILINE)
    assert listed == [code for code, _ in CODES] == list(dict.fromkeys(listed))
    assert set(listed) == set(map(str, REASONS))


def python_of(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run a page's Python blocks, one after the other, and give what each prints."""
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    printed = []
    for kind, text in blocks(page):
        if kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as told:
                exec(text, names)  # the page's own code
            printed.append(told.getvalue())
        elif kind == "text" and printed:
            assert printed[-1] == text
    return printed


def test_the_page_on_python_runs_and_prints_what_it_shows(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sample").symlink_to(sample)
    (tmp_path / "questions.csv").write_text("question,answer\nWhere was Barack Obama born?,Honolulu\n")
    assert len(python_of(DOCS / "reference" / "python.md", tmp_path, monkeypatch)) == 6


def test_the_readme_runs_and_leaves_nothing_beside_its_folder(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the two commands of make, in what they leave, the sample's folder; and but what asks WikiData."""
    page = ROOT / "README.md"
    shutil.copytree(sample, tmp_path / "demo-output")
    (tmp_path / "granola").symlink_to(ROOT / "granola")
    first, walked, _ = [text for kind, text in blocks(page) if kind == "sh"]  # the third asks WikiData
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make demo", "make test"]
    printed = shell(walked.replace(". .venv/bin/activate\n", ""), tmp_path)
    shown = next(text for kind, text in blocks(page) if kind == "text" and text.startswith("matcher:"))
    assert f"signature: {plain(shown)}" in {plain(line) for line in printed.splitlines()}
    (text,) = [text for kind, text in blocks(page) if kind == "python"]
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as told:
        exec(text, {})  # the page's own code
    names, level, ladders, score = told.getvalue().splitlines()
    assert (names, level) == ("['Honolulu', 'Honolulu County, Hawaii', 'Hawaii', 'United States']", "3")
    assert ladders == "105 of 117 questions have a ladder"
    assert plain(score) == f"0.7606837606837606 {plain(shown)}"
    assert {path.name for path in tmp_path.iterdir()} == {"granola", "demo-output"}
    assert "demo-output/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_the_picture_of_a_ladder_is_current() -> None:
    picture = (ROOT / "docs" / "ladder.svg").read_text(encoding="utf-8")
    with granola.snapshot() as sample:
        row = granola.ladder("Where was Barack Obama born?", "Honolulu", sample)
    for level in row.levels:
        assert level.tiers[0].text in picture
        assert f"{level.tiers[0].bits:.1f} bits" in picture
