"""What commands print fits the terminal: every command with tables, at 60 signs, and at 80 in thorough runs."""

from __future__ import annotations

import csv
import io
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.main import get_command

from granola.audit.sheets import COLUMNS, QUESTIONS
from granola.cli.main import app, main
from granola.terminal_lines import TextTable, Verbatim, fitted
from tests.attribution_world import LABELS, people, places, property_of, rest
from tests.chat_server import serving
from tests.grounding_world import own_rows
from tests.thorough import THOROUGH
from tests.tiny_model import WORDS, build
from tests.tiny_scorers import build_classifier
from tests.worlds import CLASSES, snapshot_at

DEMO = Path(__file__).resolve().parents[2] / "granola" / "demo"
WIDTHS = (60, 80) if THOROUGH else (60,)
# Lines that people copy or that name a file: a command, a signature, a judge, where something is.
COPIED = re.compile(r"(signature|rebuild|page)\b|\S+$|judge |granola |J\d: |over:")
COMMANDS = {
    "demo": "--out demo --force",
    "snapshot info": "demo/snapshot.sqlite",
    "snapshot verify": "demo/snapshot.sqlite",
    "snapshot diff": "demo/snapshot.sqlite part.sqlite",
    "snapshot build": "DEMO/wikidata.json --out x.sqlite --dry-run",
    "tiers": "DEMO/questions.jsonl --snapshot part.sqlite --out t.jsonl --force",
    "ladder": "'Where was Barack Obama born?' Honolulu --snapshot demo/snapshot.sqlite",
    "dataset": "DEMO/questions.jsonl --snapshot demo/snapshot.sqlite --out made --format jsonl --one-answer --force",
    "audit": "wrong.jsonl --snapshot demo/snapshot.sqlite --out findings.jsonl --force",
    "audit --entailment": "wrong.jsonl --snapshot demo/snapshot.sqlite",
    "audit --attribution": "wrong.jsonl --snapshot demo/snapshot.sqlite",
    "audit --annotated": "sheet1.csv sheet2.csv",
    "guess": "demo/tiers.jsonl --out guessed.jsonl --force",
    "aggregate": "DEMO/samples.jsonl --out aggregated.jsonl --force --snapshot demo/snapshot.sqlite",
    "experiment": "plan.toml --out experiment --no-report --force",
    "score": "demo/tiers.jsonl a-system-with-a-long-name.jsonl --resamples 20",
    "compare": "demo/tiers.jsonl a-system-with-a-long-name.jsonl DEMO/predictions-specific.jsonl --resamples 20",
    "grounding describe": "grounded.jsonl",
    "grounding judge": "grounded.jsonl --answered copies.jsonl --out judged3.jsonl --force",
    "grounding pool": "judged1.jsonl judged2.jsonl judged.jsonl --out pooled.jsonl --of uF --resamples 20 --force",
    "grounding score": "judged1.jsonl other.jsonl --of uF --by question_tag --by relevant_share --resamples 20",
    "knowledge judge": "items.jsonl --out k.jsonl --entailment NLI --relevance ONE --coherence ONE --causal CAUSAL "
    "--baselines --resamples 20 --force",
    "knowledge choose": "knowledge.jsonl --out best.jsonl --best 3 --of 8 --resamples 20 --force",
    "knowledge correlate": "knowledge.jsonl --resamples 20",
    "knowledge describe": "demo/tiers.jsonl --out texts.jsonl --force",
    "attribution build": "--snapshot world.sqlite --out bench2 --shares all --singles 16 --paths 16 --trees 8 --force",
    "attribution audit": "bench/data/train.jsonl",
    "attribution train": "bench/data/train.jsonl --out linear2 --force",
    "attribution evaluate": "bench/data/train.jsonl --evaluator linear=linear "
    "--evaluator majority=bench/data/train.jsonl --resamples 20",
    "attribution check": "wrong.jsonl --snapshot demo/snapshot.sqlite",
}
# They print where something is, a line or nothing; or ask what is not there in a test.
WITHOUT_TABLES = {
    "serve", "answer", "match", "report", "snapshot push", "snapshot export", "snapshot spark",
    "grounding answer", "grounding draw", "knowledge generate", "knowledge rate", "knowledge draw",
}  # fmt: skip


class Terminal(io.StringIO):
    """A standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def rows(path: Path, written: Iterable[Any]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in written))
    return path


def command(words: Iterable[str]) -> None:
    before, sys.argv = sys.argv, ["granola", *words]
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = before
    assert ended.value.code in (0, 1, None), words


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with what all commands read, made by commands where it is one's output."""
    made = tmp_path_factory.mktemp("terminal")
    with pytest.MonkeyPatch.context() as patch, serving() as (address, _):
        patch.chdir(made)
        patch.setattr(sys, "stdout", io.StringIO())
        command(["demo", "--out", "demo"])
        command(["snapshot", "build", str(DEMO / "wikidata.json"), "--ids", "Q76,Q937", "--hops", "2",
                 "--out", "part.sqlite"])  # fmt: skip
        of_texts(made, address)
        of_grounding(made)
        of_knowledge(made)
        named = [property_of(one, label) for one, label in LABELS.items()]
        snapshot_at(made / "world.sqlite", [*CLASSES, *people(), *places(), *rest(), *named])
        build_words = COMMANDS["attribution build"].replace("bench2", "bench").split()
        command(["attribution", "build", *build_words])
        command(["attribution", "train", "bench/data/train.jsonl", "--out", "linear"])
        yield made


def of_texts(made: Path, address: str) -> None:
    """Predictions with confidences, tiers with faults, filled sheets, a plan of an experiment."""
    predicted = [orjson.loads(line) for line in (DEMO / "predictions-cautious.jsonl").read_bytes().splitlines()]
    rows(made / "a-system-with-a-long-name.jsonl", ({**row, "confidence": 0.5} for row in predicted))
    tiered = [orjson.loads(line) for line in (made / "demo" / "tiers.jsonl").read_bytes().splitlines()]
    for row in tiered:
        for level in row["levels"][1:]:
            level["tiers"][0]["text"] = f"{level['tiers'][0]['text']}, on the far side of the Moon and beyond it"
    rows(made / "wrong.jsonl", tiered)
    rows(made / "few.jsonl", tiered[:4])
    for reader in (1, 2):
        with (made / f"sheet{reader}.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(COLUMNS)
            for number in range(8):
                marks = [str(int(number > reader))] * len(QUESTIONS)
                writer.writerow([number, "q", "", "a", "b" if number else "", f"tier {number}", "e", *marks])
    plan = (
        'tiered = "few.jsonl"\nsnapshot = "demo/snapshot.sqlite"\nmethods = ["greedy", "self-consistency"]\n'
        f'samples = [2]\n[models]\na-model-with-a-long-name = "openai:{address}#m"\n[scoring]\nresamples = 20\n'
    )
    (made / "plan.toml").write_text(plan)


def of_grounding(made: Path) -> None:
    """Answers of two systems, judged alike and otherwise."""
    grounded = own_rows()
    rows(made / "grounded.jsonl", grounded)
    for name, relevant in (("copies", True), ("noise", False)):
        answers = [
            {"id": row["id"], "answer": " ".join(
                f"{one['text'].rstrip('.')} [{one['id']}]." for one in row["passages"] if one["relevant"] is relevant
            )}
            for row in grounded
        ]  # fmt: skip
        rows(made / f"{name}.jsonl", answers)
    ladder = {"id": "bridge 1", "question": "When did the Golden Gate Bridge open?", "answer": ["27 May 1937"],
              "levels": [["27 May 1937"], ["May 1937"], ["1937"]]}  # fmt: skip
    rows(made / "bridge.jsonl", [ladder])
    judge = ["grounding", "judge", "grounded.jsonl", "--answered"]
    command([*judge, "copies.jsonl", "--out", "judged1.jsonl", "--ladders", "bridge.jsonl"])
    command([*judge, "noise.jsonl", "--out", "other.jsonl"])
    judged = [orjson.loads(line) for line in (made / "judged1.jsonl").read_bytes().splitlines()]
    for number in (2, 3):
        rows(made / f"judged{number if number == 2 else ''}.jsonl", ({**row, "judge": f"j|{number}"} for row in judged))


def of_knowledge(made: Path) -> None:
    """Texts, and judged ones."""
    draw = random.Random(4)
    items = [
        {"id": str(at), "query": "who is born in the city", "system": "ab"[at % 2] * 12, "gold": ["the city"],
         "knowledge": " ".join(draw.choices(WORDS, k=6)) + ".", "answer": "the city", "reference": "the river"}
        for at in range(12)
    ]  # fmt: skip
    rows(made / "items.jsonl", items)
    scores = ("factuality", "relevance", "coherence_sentence", "coherence_paragraph", "informativeness", "helpfulness")
    rows(made / "knowledge.jsonl", (
        {**item, "scores": {name: draw.random() for name in (*scores, "validity")}} for item in items
    ))  # fmt: skip
    pytest.importorskip("transformers")
    build_classifier(made / "NLI", ["contradiction", "neutral", "entailment"])
    build_classifier(made / "ONE", ["x"])
    build(made / "CAUSAL")


@pytest.fixture
def shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], list[str]]:
    """The lines that a command prints in a terminal of so many signs, without colours."""

    def call(name: str, width: int) -> list[str]:
        import shlex

        monkeypatch.chdir(folder)
        screen = Terminal()
        monkeypatch.setattr(sys, "stdout", screen)
        for variable, value in (("COLUMNS", width), ("LINES", 50), ("TERM", "xterm")):
            monkeypatch.setenv(variable, str(value))
        words = shlex.split(COMMANDS[name].replace("DEMO", str(DEMO)))
        words = [f"local:{word}?device=cpu" if word in ("NLI", "ONE", "CAUSAL") else word for word in words]
        command([*name.split(), *words])
        return re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue()).splitlines()

    return call


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_lines_fit(name: str, width: int, shown: Callable[[str, int], list[str]]) -> None:
    lines = shown(name, width)
    assert lines
    assert [line for line in lines if len(line) > width and not COPIED.match(line.strip())] == []


def test_every_command_is_looked_at() -> None:
    def names(group: Any, before: str = "") -> Iterator[str]:
        for name, one in group.commands.items():
            yield from names(one, f"{before}{name} ") if hasattr(one, "commands") else (f"{before}{name}",)

    looked_at = {re.sub(r" --.*", "", name) for name in COMMANDS}
    assert looked_at | WITHOUT_TABLES == set(names(get_command(app)))


TABLE = TextTable(
    head=("relation", "questions", "linked", "levels"),
    rows=[("P19 place of birth", "1,117", "12  50.0 %", "3"), ("a name of many words that has no room", "1", "-", "")],
)


def test_a_table_with_room_stands_in_columns() -> None:
    assert TABLE.lines() == TABLE.lines(200) == [
        "relation                               questions      linked  levels",
        "P19 place of birth                         1,117  12  50.0 %       3",
        "a name of many words that has no room          1           -",
    ]  # fmt: skip


def test_names_are_wrapped_before_columns_part() -> None:
    assert TABLE.lines(60) == [
        "relation                       questions      linked  levels",
        "P19 place of birth                 1,117  12  50.0 %       3",
        "a name of many words that has          1           -",
        "  no room",
    ]


def test_columns_without_room_stand_below() -> None:
    assert TABLE.lines(41) == [
        "relation            questions      linked",
        "P19 place of birth      1,117  12  50.0 %",
        "a name of many              1           -",
        "  words that has",
        "  no room",
        "",
        "relation                           levels",
        "P19 place of birth                      3",
        "a name of many words that has no",
        "  room",
    ]


@pytest.mark.parametrize("width", [40, 47, 60, 80])
def test_no_cell_is_lost_and_no_line_too_long(width: int) -> None:
    draw = random.Random(width)
    cell = lambda most: "".join(draw.choices("ab c", k=draw.randint(0, most))).strip()  # noqa: E731  # of one line
    for _ in range(200):
        columns, keys = draw.randint(1, 7), draw.randint(1, 3)
        table = TextTable(
            rows=[[cell(70 if at % 3 == 0 else 12) for at in range(columns)] for _ in range(3)],
            words=(1,), keys=min(keys, columns), indent=draw.choice([0, 2]),
        )  # fmt: skip
        lines = table.lines(width)
        assert max(map(len, lines)) <= width
        letters = {letter: sum(line.count(letter) for line in lines) for letter in "abc"}
        wanted = {letter: sum(text.count(letter) for row in table.rows for text in row) for letter in "abc"}
        assert all(letters[letter] >= wanted[letter] for letter in "abc")


def test_sentences_are_wrapped_and_what_is_copied_is_not() -> None:
    long = "matcher:rules|" * 10
    assert fitted(["  one two three four five six seven eight nine ten", Verbatim(f"signature: {long}")], 40) == [
        "  one two three four five six seven",
        "    eight nine ten",
        f"signature: {long}",
    ]
    assert fitted(["", f"{long} is long"], 40) == ["", long, "  is long"]
    assert fitted(["one two " * 20], None) == ["one two " * 20]
