"""DRAG's examples in Yona, Aharoni and Geva 2024, by the graph, in the prompt, and with recorded answers of a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from granola.commands.cli import main
from granola.decoding.aggregation_rules import DragGraph, SelfConsistency
from granola.decoding.decision import Decision
from granola.decoding.methods import read_prompts
from granola.decoding.response_aggregation import Aggregator
from granola.decoding.samples import SampleRow
from tests.worlds import entity, store_of

STORE = store_of(
    entity("Q183", "Germany", "country in Europe", P31="Q3624078", P30="Q46"),
    entity("Q46", "Europe", "continent", P31="Q5107"),
    entity("Q1055", "Hamburg", "city in Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q586", "Bonn", "city in Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P131="Q183", P17="Q183"),
)
PLACES = ("Hamburg", "Hamburg", "Bonn", "Berlin")
DATES = ("February 1, 1937", "November 20, 1937", "January 1937")
BILS = ("March 22, 1958", "May 19, 1958", "August 15, 1958")
# Responses, the aggregate that the paper calls right, and the one that it calls wrong.
EXAMPLES = [
    ("P19", "Where was [X] born?", PLACES, "Germany", "Hamburg"),
    ("P569", "When was [X] born?", DATES, "1937", "November 1937"),
]


def decided(relation: str, question: str, responses: Sequence[str], rule: DragGraph | SelfConsistency) -> Decision:
    row = SampleRow(
        id="1",
        question=question.replace("[X]", "Mark Bils"),
        samples=tuple(responses),
        relation=relation,
        subject_text="Mark Bils",
    )
    ((_, decision),) = Aggregator(STORE).decide([row], rule)
    return decision


@pytest.mark.parametrize(
    ("relation", "question", "responses", "answer"),
    [*(example[:4] for example in EXAMPLES), ("P569", "When was Mark Bils born?", BILS, "1958")],
)
def test_the_graph_aggregates_the_examples_as_the_paper_does(
    relation: str, question: str, responses: tuple[str, ...], answer: str
) -> None:
    decision = decided(relation, question, responses, DragGraph(support=1.0))
    assert (decision.text, decision.support) == (answer, 1.0)
    assert decided(relation, question, responses[::-1], DragGraph(support=1.0)).text == answer


# Two of four: what a majority says, and the paper marks as wrong.
def test_a_majority_gives_what_the_paper_marks_as_wrong() -> None:
    assert decided("P19", "Where was [X] born?", PLACES, SelfConsistency()).text == "Hamburg"


@pytest.mark.parametrize(("question", "responses", "right", "wrong"), [example[1:] for example in EXAMPLES])
def test_the_worked_examples_stand_in_the_prompt(
    question: str, responses: tuple[str, ...], right: str, wrong: str
) -> None:
    (message,) = read_prompts("paper")["drag"].fill({"question": "Where?", "responses": ["A"]})
    lines = message.content.splitlines()
    start = lines.index(f"Question: {question}")
    assert lines[start + 1] == "Responses:"
    shown = start + 2 + len(responses)
    assert lines[start + 2 : shown] == [f"- {one}" for one in responses]
    assert lines[shown : shown + 2] == [f"Correct answer: {right}", f"Incorrect answer: {wrong}"]
    assert lines[shown + 2].startswith("Explanation: ")
    # Two examples, none of which ends in IDK, and then what is asked.
    assert message.content.count("Incorrect answer:") == 2
    assert not [line for line in lines if line.endswith("answer: IDK")]
    assert lines[-4:] == ["Question: Where?", "Responses:", "- A", "Correct answer:"]


ADA, BOB, CYD, DAN, EVE = (f"Where was {name} Lang born?" for name in ("Ada", "Bob", "Cyd", "Dan", "Eve"))
DRAWN = {
    ADA: ["Hamburg", "Hamburg", "Answer: Bonn", "Berlin"],
    BOB: ["Hamburg", "hamburg.", "Hamburg", "Hamburg"],  # all alike: nobody is asked
    CYD: ["Hamburg", "Hamburg", "I don't know", "Hamburg"],
    DAN: ["IDK", "IDK", "I don't know.", "Bonn"],
    EVE: ["IDK", "IDK", "I don't know.", "IDK"],  # nothing to aggregate: nobody is asked
}
# What the model is shown of them: cleaned, and IDK for each response that declines.
SHOWN = {
    ADA: ["Hamburg", "Hamburg", "Bonn", "Berlin"],
    CYD: ["Hamburg", "Hamburg", "IDK", "Hamburg"],
    DAN: ["IDK", "IDK", "IDK", "Bonn"],
}
AGGREGATED = {ADA: "Germany", CYD: "in Germany", DAN: "IDK"}
PREDICTED = ["Germany", "Hamburg", "in Germany", "IDK", "IDK"]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["granola", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main.main()
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return call


def put(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def recorded(path: Path, asked: dict[str, list[str]] | None, aggregated: dict[str, str]) -> str:
    """A model that says what is recorded: the answers to questions, and the aggregates of what it is shown."""
    prompts = read_prompts()
    lines = [(prompts["answer"].fill({"question": one}), answers) for one, answers in (asked or {}).items()]
    lines += [
        (prompts["drag"].fill({"question": one, "responses": SHOWN[one]}), [answer])
        for one, answer in aggregated.items()
    ]
    rows = [
        {"messages": [{"role": one.role, "content": one.content} for one in messages], "answers": answers}
        for messages, answers in lines
    ]
    return f"replay:{put(path, rows)}"


def rows_of(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    rows = [{"id": str(n), "question": one, "samples": said} for n, (one, said) in enumerate(DRAWN.items())]
    return put(tmp_path / "samples.jsonl", rows)


def test_drag_works_on_samples_from_files(run: Run, samples: Path, tmp_path: Path) -> None:
    model, out = recorded(tmp_path / "aggregates.jsonl", None, AGGREGATED), tmp_path / "p.jsonl"
    status, told, _ = run("aggregate", samples, "--method", "drag", "--aggregator", model, "--out", out)
    assert (status, told) == (0, "5 questions: 3 answered, 2 IDK\n")
    found = rows_of(out)
    assert [row["prediction"] for row in found] == PREDICTED
    assert {row["method"] for row in found} == {"drag"}
    assert [row["samples"] for row in found] == list(DRAWN.values())
    record = json.loads((tmp_path / "p.jsonl.run.json").read_text())
    assert record["prompts"].startswith("paper-")
    assert record["arguments"]["aggregator"] == model
    assert record["arguments"]["abstaining"] == "pass"


def test_the_model_that_aggregates_may_be_another(run: Run, tmp_path: Path) -> None:
    questions = put(tmp_path / "q.jsonl", [{"id": str(n), "question": one} for n, one in enumerate(DRAWN)])
    sampled = recorded(tmp_path / "sampled.jsonl", DRAWN, {})
    other = recorded(tmp_path / "aggregates.jsonl", None, AGGREGATED)
    asked = ["answer", questions, "--model", sampled, "--method", "drag", "--samples", 4]
    out = tmp_path / "p.jsonl"
    status, told, _ = run(*asked, "--aggregator", other, "--out", out)
    assert (status, told) == (0, "5 questions: 3 answered, 2 IDK\n")
    assert [row["prediction"] for row in rows_of(out)] == PREDICTED
    record = json.loads((tmp_path / "p.jsonl.run.json").read_text())
    assert record["aggregator"] != record["model"]
    # The model that is sampled has no such answers.
    status, _, told = run(*asked, "--out", tmp_path / "q-alone.jsonl")
    assert status == 1
    assert "3 " in told


# Cyd: three Hamburg and one IDK are Hamburg where IDK is nothing, IDK where it speaks against.
@pytest.mark.parametrize(
    ("abstaining", "predicted"),
    [
        ("pass", PREDICTED),
        ("vote", ["Germany", "Hamburg", "Hamburg", "IDK", "IDK"]),
        ("ignore", ["Germany", "Hamburg", "Hamburg", "Bonn", "IDK"]),
        ("against", ["Germany", "Hamburg", "IDK", "IDK", "IDK"]),
    ],
)
def test_what_becomes_of_idk_among_the_samples(
    run: Run, samples: Path, tmp_path: Path, abstaining: str, predicted: list[str]
) -> None:
    asked = AGGREGATED if abstaining == "pass" else {ADA: "Germany"}
    model, out = recorded(tmp_path / "aggregates.jsonl", None, asked), tmp_path / "p.jsonl"
    drag = ["aggregate", samples, "--method", "drag", "--aggregator", model]
    status, _, told = run(*drag, "--abstaining", abstaining, "--out", out)
    assert status == 0, told
    assert [row["prediction"] for row in rows_of(out)] == predicted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "drag"], "give it as --aggregator MODEL"),
        (["--method", "self-consistency", "--aggregator", "replay:x"], "which no other method takes"),
        (["--method", "self-consistency", "--abstaining", "pass"], "--abstaining pass is drag's"),
    ],
)
def test_wrong_usage(run: Run, samples: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    status, _, told = run("aggregate", samples, *arguments, "--out", tmp_path / "p.jsonl")
    assert status == 2
    assert message in told
    assert not (tmp_path / "p.jsonl").exists()


def test_only_drag_takes_an_aggregator(run: Run, tmp_path: Path) -> None:
    questions = put(tmp_path / "q.jsonl", [{"id": "0", "question": ADA}])
    asked = ["answer", questions, "--model", "replay:x", "--out", tmp_path / "p.jsonl"]
    status, _, told = run(*asked, "--method", "greedy", "--aggregator", "replay:x")
    assert (status, "--aggregator is drag's" in told) == (2, True), told


# Wang et al. 2023, counted as in the paper: case, punctuation and articles apart, and by nothing else.
def test_a_majority_counts_words_and_breaks_ties_by_no_alphabet() -> None:
    def said(*responses: str) -> str:
        return decided("P50", "Who wrote [X]?", responses, SelfConsistency()).text or "IDK"

    # Three that are the same words, against two: by articles, by punctuation, by case.
    assert said("Dune", "Lord of the Rings", "Dune", "Lord of Rings", "Lord of a Rings").startswith("Lord of")
    assert said("Dune", "J.R.R. Tolkien", "Dune", "JRR Tolkien", "J.R.R Tolkien").endswith("Tolkien")
    assert said("Dune", "HAMLET", "Dune", "Hamlet", "hamlet").casefold() == "hamlet"
    assert said("Zürich", "Zurich", "Rome", "Rome") == "Rome"  # an accent is not taken off
    pairs = [(f"{first}{n}", f"Z{n}") for n in range(40) for first in ("A", "B")]
    kept = [said(*pair) for pair in pairs]
    assert kept == [said(*reversed(pair)) for pair in pairs]
    earlier = sum(one == min(pair) for one, pair in zip(kept, pairs, strict=True))
    assert 20 <= earlier <= 60  # of 80 by chance: 40, four standard deviations of 4.5 either way
