"""`granola tiers --phrase` and `granola dataset --phrase --consistency` as they are called, against a real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import tiny_model
from tests.chat_server import serving
from tests.conftest import Run
from tests.worlds import CLASSES, entity, snapshot_at

WORLD = (
    *CLASSES,
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q3012", "Ulm", "city in Baden-Württemberg, Germany", P31="Q515", P131="Q985", P17="Q183"),
    entity("Q985", "Baden-Württemberg", "state of Germany", P31="Q1221156", P131="Q183"),
    entity("Q1221156", "federated state of Germany", P279="Q10864048"),
    entity("Q183", "Germany", "country in Central Europe", P31="Q3624078"),
    entity("Q142", "France", "country", P31="Q3624078"),
)  # fmt: skip
QUESTIONS = [
    {"id": "1", "relation": "P19", "question": "Where was Ada born?", "answer": "Ulm", "answer_qid": "Q3012"},
    {"id": "2", "relation": "P19", "question": "Where was Bob born?", "answer": "Berlin", "answer_qid": "Q64"},
    {"id": "3", "relation": "P19", "question": "Where was Eve born?", "answer": "Nowhere"},
    {"id": "4", "relation": "P19", "question": "Where was Joe born?", "answer": "Berlin", "answer_qid": "Q64"},
]
REPLIES = {
    "Where was Ada born?": ("Swabia", "Baden-Württemberg", "France", "Germany"),
    "Where was Bob born?": ("Germany",),
    "Where was Eve born?": ("Utopia",),
}


@pytest.fixture
def world(tmp_path: Path) -> list[object]:
    """The words `granola tiers` begins with: questions and snapshot."""
    snapshot_at(tmp_path / "world.sqlite", WORLD)
    (tmp_path / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    blocks = {
        question: "\n".join(["<answers>", *(f"- {text}" for text in texts), "</answers>"])
        for question, texts in REPLIES.items()
    }
    (tmp_path / "script.json").write_text(json.dumps(blocks))
    return [tmp_path / "qa.jsonl", "--snapshot", tmp_path / "world.sqlite"]


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def told(path: Path) -> list[list[str]]:
    return [[level["tiers"][0]["text"] for level in row["levels"][1:]] for row in lines(path)]


def test_phrased_listed_kept_and_replayed(run: Run, world: list[object], tmp_path: Path) -> None:
    out = tmp_path / "tiers.jsonl"
    with serving(script=str(tmp_path / "script.json")) as (url, _):
        words = ["tiers", *world, "--out", out, "--phrase", f"openai:{url}#m"]
        code, stdout, stderr = run(*words)
        assert code == 0, stderr
        assert told(out) == [["Swabia", "Baden-Württemberg", "Germany"], ["Germany"], ["Utopia"], ["Germany"]]
        assert "phrasing: 4 of 4 rows asked, 1 of them twice" in stdout
        assert "1  contradicted: 1 dropped" in stdout
        assert "1  rows keep the graph's ladder: unreadable-reply" in stdout
        assert "model: 5 calls, 0 answers had before" in stderr
        head, *log = lines(Path(f"{out}.phrasing.jsonl"))
        assert head["kind"] == "phrasing"
        assert head["prompts"]
        assert [(line["row"], line.get("text"), line.get("finding"), line.get("action")) for line in log] == [
            ("1", "Swabia", "unproven", "kept"), ("1", "Baden-Württemberg", "entailed", "kept"),
            ("1", "France", "contradicted", "dropped"), ("1", "Germany", "entailed", "kept"),
            ("2", "Germany", "entailed", "kept"), ("3", "Utopia", "unproven", "kept"), ("4", None, None, None),
        ]  # fmt: skip
        calls = {line["key"] for line in lines(Path(f"{out}.calls.jsonl")) if "key" in line}
        assert {line["call"] for line in log} < calls
        assert [row.get("abstained") for row in lines(out)] == [None] * 4
        assert lines(out)[3]["phrasing"]["fallback"] == "unreadable-reply"
        record = json.loads(Path(f"{out}.run.json").read_text())["phrasing"]
        assert record["prompts"] == head["prompts"]
        assert record["fingerprint"].startswith("openai:m free")
        assert record["counts"]["asked_again"] == 1
        predictions = tmp_path / "predictions.jsonl"
        predictions.write_text("".join(json.dumps({"id": row["id"], "prediction": "Ulm"}) + "\n" for row in QUESTIONS))
        _, stdout, _ = run("score", out, predictions)
        assert f"|prompts:{head['prompts']}|" in stdout
        first = out.read_bytes()
        code, _, stderr = run(*words)
        assert (code, "exists; give --force" in stderr) == (2, True)
        code, _, stderr = run(*words, "--force")
        assert (code, out.read_bytes()) == (0, first)
        assert "model: 0 calls, 5 answers had before" in stderr
    replayed = tmp_path / "replayed.jsonl"
    code, _, _ = run("tiers", *world, "--out", replayed, "--phrase", f"replay:{out}.calls.jsonl")
    assert (code, replayed.read_bytes()) == (0, first)
    assert not Path(f"{replayed}.answers.sqlite").exists()
    dropped = tmp_path / "dropped.jsonl"
    replay = f"replay:{out}.calls.jsonl"
    code, _, _ = run("tiers", *world, "--out", dropped, "--phrase", replay, "--phrase-mode", "strict")
    assert (code, told(dropped)[0], told(dropped)[2]) == (0, ["Baden-Württemberg", "Germany"], [])
    assert lines(dropped)[2]["abstained"] == "no-link"


def test_the_papers_procedure_from_end_to_end(run: Run, world: list[object], tmp_path: Path) -> None:
    """Nothing of ours comes before the paper's steps: repeated and missing answers fall, then trivial ones."""
    replies = {
        "Where was Ada born?": "1:: Ulm, Germany\n2:: Swabia\n3:: Germany",
        "Where was Bob born?": "1:: Berlin\n2:: Germany\n3:: Germany",
        "Where was Eve born?": "1:: Nowhere\n2:: a place",
    }
    (tmp_path / "script.json").write_text(json.dumps(replies))
    out = tmp_path / "mine"
    with serving(script=str(tmp_path / "script.json")) as (url, _):
        run("dataset", *world, "--out", out, "--phrase", f"openai:{url}#m", "--prompts", "paper")
    rows = lines(out / "data" / "test.jsonl")
    assert [(row["id"], row["granola_answer_1"], row["granola_answer_2"]) for row in rows] == [
        ("1", "Ulm", "Swabia"), ("3", "Nowhere", ""),
    ]  # fmt: skip
    dropped = {row["id"]: row["step"] for row in lines(out / "dropped.jsonl")}
    assert dropped == {"2": "duplicate-answers", "4": "missing-answers"}


def test_rows_without_an_answer_are_told_and_asked_again_another_time(
    run: Run, world: list[object], tmp_path: Path
) -> None:
    out = tmp_path / "tiers.jsonl"
    with serving(script=str(tmp_path / "script.json"), refuse="Bob") as (url, server):
        words = ["tiers", *world, "--out", out, "--phrase", f"openai:{url}#m"]
        code, stdout, stderr = run(*words)
        assert code == 1
        assert "1  rows keep the graph's ladder: refused" in stdout
        assert "1 row without an answer of the model's" in stderr
        assert told(out)[1] == ["Germany"]
        (why,) = [line["why"] for line in lines(Path(f"{out}.phrasing.jsonl")) if line.get("fallback") == "refused"]
        assert "too long, says the server" in why
        server.refuse = ""
        code, _, stderr = run(*words, "--force")
        assert code == 0
        assert "model: 1 call, 4 answers had before" in stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--phrase", "gpt"], "names no kind of model"),
        (["--phrase", "openai:http://127.0.0.1:9/v1"], "has no #"),
        (["--phrase", "openai:http://127.0.0.1:9/v1?key=sk-mine#m"], "the NAME, in capitals"),
        (["--phrase", "openai:http://127.0.0.1:9/v1?key=GRANOLA_NO_KEY#m"], "GRANOLA_NO_KEY is not set"),
        (["--phrase", "openai:http://127.0.0.1:9/v1?tries=1#m"], "is the server running"),
        (["--phrase", "local:{folder}/nowhere"], "no such folder"),
        (["--phrase", "replay:{folder}/nowhere.jsonl"], "no such file"),
        (["--phrase", "replay:{folder}/x?temperature=3"], "temperature: Input should be less than or equal to 2"),
        (["--phrase", "replay:{folder}/x", "--prompts", "{folder}/nowhere"], "no such folder of prompts"),
        (["--phrase", "replay:{folder}/x", "--prompts", "{folder}/empty"], "holds no prompt; those that can be"),
        (["--phrase", "replay:{folder}/x", "--prompts", "{folder}/slotless"], "the prompt ladder needs {{answer}}"),
        (["--phrase", "replay:{folder}/x", "--prompts", "{folder}/strange"], "no slot {{fact}} in the prompt ladder"),
        (["--phrase", "openai:http://127.0.0.1:9/v1?answers={folder}/qa.jsonl#m"], "is also an input"),
        (["--phrase-mode", "strict"], "--phrase-mode goes with --phrase MODEL"),
        (["--prompts", "{folder}"], "--prompts goes with --phrase MODEL"),
    ],
)
def test_wrong_use_is_told_and_leaves_nothing(
    run: Run, world: list[object], tmp_path: Path, words: list[str], said: str
) -> None:
    for name, text in (("slotless", "[user]\n{{question}}\n"), ("strange", "[user]\n{{fact}}\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ladder.txt").write_text(text)
    (tmp_path / "empty").mkdir()
    before = (tmp_path / "qa.jsonl").read_bytes()
    given = [word.replace("{folder}", str(tmp_path)) for word in words]
    out = tmp_path / "tiers.jsonl"
    code, stdout, stderr = run("tiers", *world, "--out", out, *given)
    assert (code, stdout) == (2, "")
    assert said in stderr
    assert "sk-mine" not in stderr
    assert not out.exists()
    assert not Path(f"{out}.phrasing.jsonl").exists()
    assert (tmp_path / "qa.jsonl").read_bytes() == before


def test_samples_go_with_a_model(run: Run, world: list[object], tmp_path: Path) -> None:
    code, _, stderr = run("dataset", *world, "--out", tmp_path / "mine", "--samples", 3)
    assert (code, "--samples goes with --consistency MODEL" in stderr) == (2, True)
    assert not (tmp_path / "mine").exists()


def test_a_wrong_key_is_never_shown(
    run: Run, world: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-very-secret-0123456789"
    monkeypatch.setenv("GRANOLA_TEST_KEY", key)
    with serving(need="another") as (url, _):
        model = f"openai:{url}?key=GRANOLA_TEST_KEY#m"
        code, stdout, stderr = run("tiers", *world, "--out", tmp_path / "tiers.jsonl", "--phrase", model)
        assert code == 2
        assert "the key in GRANOLA_TEST_KEY" in stderr
        assert not (tmp_path / "tiers.jsonl").exists()
    with serving(need=key, echo_headers=True, script=str(tmp_path / "script.json")) as (url, _):
        model = f"openai:{url}?key=GRANOLA_TEST_KEY#m"
        code, more, errors = run("tiers", *world, "--out", tmp_path / "tiers.jsonl", "--phrase", model)
        assert code == 0
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 6
    assert not any(key.encode() in path.read_bytes() for path in written)
    assert key not in stdout + stderr + more + errors


def test_a_dataset_phrased_and_scored(run: Run, world: list[object], tmp_path: Path) -> None:
    script = json.loads((tmp_path / "script.json").read_text())
    asked = [{**row, "question_entity_description": "fish" if row["id"] == "2" else "poet"} for row in QUESTIONS]
    (tmp_path / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    # A server that answers the question about descriptions too: the prompts differ, the question's tag does not.
    (tmp_path / "own").mkdir()
    prompt = "[user]\n<question>fit {{question}} {{answer}} {{about_question}} {{about_answer}}</question>\n"
    (tmp_path / "own" / "consistency.txt").write_text(prompt)
    for row in asked:
        known = {"1": "city in Baden-Württemberg, Germany", "2": "capital of Germany", "4": "capital of Germany"}
        said = f"fit {row['question']} {row['answer']} {row['question_entity_description']} "
        script[said + known.get(str(row["id"]), "not known")] = "no" if row["id"] == "2" else "yes"
    (tmp_path / "script.json").write_text(json.dumps(script))
    out = tmp_path / "mine"
    with serving(script=str(tmp_path / "script.json")) as (url, _):
        model = f"openai:{url}#m"
        words = ["dataset", *world, "--out", out, "--phrase", model, "--consistency", model, "--samples", 4]
        code, stdout, stderr = run(*words, "--prompts", tmp_path / "own")
    assert code == 0, stderr
    assert "phrasing: 4 of 4 rows asked, 1 of them twice" in stdout
    assert "inconsistent-descriptions: 1 of 4 rows left out, 0 without a score" in stdout
    rows = lines(out / "data" / "test.jsonl")
    assert [(row["id"], row["score_for_potential_error"]) for row in rows] == [("1", 0.0), ("3", 0.0), ("4", 0.0)]
    assert [row["granola_answer_2"] for row in rows] == ["Swabia", "Utopia", "Germany"]
    (dropped,) = lines(out / "dropped.jsonl")
    assert (dropped["id"], dropped["step"], dropped["score_for_potential_error"]) == (
        "2", "inconsistent-descriptions", 1.0,
    )  # fmt: skip
    decided = lines(out / "phrasing.jsonl")
    assert [line["row"] for line in decided] == ["1", "1", "1", "1", "2", "3", "4"]
    card = (out / "README.md").read_text()
    assert "phrased by a model and each was checked" in card
    assert "| `contradicted` | 1 dropped |" in card
    assert "openai:m free prompts:" in card
    assert "openai:m 4 samples prompts:" in card


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for library in ("torch", "transformers"):
        pytest.importorskip(library, reason=f"{library} is not installed: pip install -e '.[models]'")
    return tiny_model.build(tmp_path_factory.mktemp("tiny"), room=4096)


@pytest.mark.xdist_group("torch")
def test_a_local_model_whose_words_are_noise_leaves_the_graphs_ladders(
    run: Run, world: list[object], tmp_path: Path, tiny: Path
) -> None:
    plain, out = tmp_path / "plain.jsonl", tmp_path / "tiers.jsonl"
    run("tiers", *world, "--out", plain)
    words = ["tiers", *world, "--out", out, "--phrase", f"local:{tiny}?device=cpu&max_tokens=16"]
    code, stdout, stderr = run(*words)
    assert code == 0, stderr
    assert told(out) == told(plain)
    assert "phrasing: 4 of 4 rows asked, 4 of them twice" in stdout
    first = out.read_bytes()
    code, _, stderr = run(*words, "--force")
    assert (code, out.read_bytes()) == (0, first)
    assert "model: 0 calls, 8 answers had before" in stderr
