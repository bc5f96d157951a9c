"""The commands over knowledge texts: files, wrong input, runs cut short, ratings."""

from __future__ import annotations

import csv
import gzip
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from abstraction.errors import ModelError, RowError
from granola.commands import Generate, KnowledgeJudge, SheetsDraw, SheetsRead, Verdicts
from granola.errors import SheetError, UsageError
from granola.evidence.annotation_sheets import item_numbers_of_each_annotator, read_sheet
from granola.evidence.knowledge.knowledge_items import read_items
from granola.evidence.knowledge.knowledge_task import AXES, KNOWLEDGE
from tests.chat_server import serving
from tests.conftest import DATA
from tests.tiny_model import WORDS, build
from tests.tiny_scorers import build_classifier

PUBLISHED = DATA / "conner"


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("models")
    nli = build_classifier(folder / "nli", ["contradiction", "neutral", "entailment"])
    one = build_classifier(folder / "one", ["x"])
    causal = build(folder / "causal")
    return {
        "entailment": f"local:{nli}?device=cpu", "relevance": f"local:{one}?device=cpu",
        "coherence": f"local:{one}?device=cpu", "causal": f"local:{causal}?device=cpu",
        "reader": f"local:{causal}?device=cpu",
    }  # fmt: skip


def items(tmp_path: Path, count: int = 12) -> Path:
    draw = random.Random(4)
    rows = [
        {"id": str(at), "query": "who is born in the city", "system": "ab"[at % 2], "views": 10 ** (at % 4),
         "knowledge": ". ".join(" ".join(draw.choices(WORDS, k=6)).capitalize() for _ in range(1 + at % 3)) + ".",
         "gold": ["the city"], "answer": draw.choice(["the city", "no", ""]), "reference": "the river is in a city"}
        for at in range(count)
    ]  # fmt: skip
    return lines(tmp_path / "items.jsonl", rows)


@pytest.mark.parametrize("name", ["nq_test_random_testset.txt.gz", "seen_random_testset.txt.gz"])
def test_the_published_sets_are_read_whole(name: str) -> None:
    path = PUBLISHED / name
    if not path.is_file():
        pytest.skip("the published test sets are not here")
    rejected: list[Any] = []
    found = list(read_items(path, on_reject=rejected.append))
    assert (len(found), rejected) == (500, [])
    assert all(one.query and one.knowledge and one.gold for one in found)
    assert any(one.context for one in found) == name.startswith("seen")


def test_four_columns(tmp_path: Path) -> None:
    rows = ["Ulm\tHello. [SEP] Where is it?\tUlm is a city.\tIn Germany.", "only\tthree\tcolumns", "A\tb\tc\td"]
    (tmp_path / "set.txt.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    rejected: list[Any] = []
    first, last = read_items(tmp_path / "set.txt.gz", on_reject=rejected.append)
    assert (first.query, first.context, first.gold) == ("Where is it?", ("Hello.",), ("In Germany.",))
    assert (first.knowledge, first.reference, last.id) == ("Ulm is a city.", "Ulm is a city.", "3")
    assert rejected[0].source.endswith("set.txt.gz:2")
    assert "3 columns; four are needed" in rejected[0].reason
    (tmp_path / "cut.txt.gz").write_bytes((tmp_path / "set.txt.gz").read_bytes()[:-9])
    with pytest.raises(RowError, match="no whole gzip file"):
        list(read_items(tmp_path / "cut.txt.gz", on_reject=rejected.append))


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"query": "q"}, "no id"), ({"id": "1"}, "no query"), ({"id": "1", "query": "q", "gold": 3}, "gold is 3"),
        ({"id": "1", "query": "q", "views": -1}, "views is -1"), ({"id": "1", "query": "q", "topic": []}, "topic is"),
        ({"id": "1", "query": "q", "candidate": "x"}, "candidate is"),
    ],
)  # fmt: skip
def test_damaged_rows_are_told(tmp_path: Path, row: dict[str, Any], told: str) -> None:
    rejected: list[Any] = []
    assert list(read_items(lines(tmp_path / "x.jsonl", [row]), on_reject=rejected.append)) == []
    assert told in rejected[0].reason
    assert rejected[0].source.endswith("x.jsonl:1")


def judging(given: Path, out: Path, models: dict[str, str], **more: Any) -> KnowledgeJudge:
    return KnowledgeJudge(
        items=str(given), out=str(out), model=tuple(f"{part}={word}" for part, word in models.items()), **more
    )  # fmt: skip


def test_judging_choosing_rating_and_correlating(
    tmp_path: Path, models: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "judged.jsonl"
    judging(items(tmp_path), out, models, baselines=True, evidence=("reference",)).execute()
    rows = written(out)
    assert len(rows) == 12
    assert {"factuality", "relevance", "helpfulness", "validity", "nli_decompose"} <= rows[0]["scores"].keys()
    assert sum(rows[0]["scores"][name] for name in ("factuality", "non_verified", "refuted")) == pytest.approx(1)
    told = Verdicts(judged=(out,), resamples=50).run()
    assert (told.report["a"]["factuality"].n, told.judges["a"]) == (6, [rows[0]["judge"]])
    best = tmp_path / "best.jsonl"
    Verdicts(judged=(out,), best="3/8", out=best, resamples=50).execute()
    assert len(written(best)) == 3
    assert "gain over a random choice" in capsys.readouterr().out

    drawn, sheet = tmp_path / "drawn.jsonl", tmp_path / "drawn.1.csv"
    SheetsDraw(items=out, out=str(drawn), number=4).run()
    assert [row["system"] for row in written(drawn)].count("a") == 4
    assert "factuality" not in sheet.read_text(encoding="utf-8").splitlines()[2]
    filled = []
    for rater in range(2):
        with sheet.open(encoding="utf-8", newline="") as stream:
            cells = list(csv.reader(stream))
        for number, row in enumerate(cells[2:]):
            row[-len(AXES) - 1 : -1] = [str((number + rater * (number == 1)) % 3)] * len(AXES)
        filled.append(tmp_path / f"filled{rater}.csv")
        with filled[-1].open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(cells)
    people_file = tmp_path / "people.jsonl"
    SheetsRead(drawn=drawn, sheets=tuple(filled), out=people_file).execute()
    assert "kappa" in capsys.readouterr().out
    people = written(people_file)
    assert (len(people), people[0]["judge"]) == (16, "person:filled0")
    assert people[0]["scores"].keys() == {f"rated {axis}" for axis in AXES}
    Verdicts(judged=(out, people_file), correlate=True, resamples=50).execute(as_json=True)
    told_json = json.loads(capsys.readouterr().out)
    assert {line["independent"] for line in told_json["somers_d"]} == set(AXES)
    with pytest.raises(SheetError, match="is not row"):
        SheetsRead(drawn=best, sheets=tuple(filled)).run()


def test_a_run_cut_short_goes_on_and_gives_the_same_rows(
    tmp_path: Path, models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from abstraction.models.local_scorers import LocalContinuations

    given = items(tmp_path)
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    judging(given, whole, models).run()
    monkeypatch.setattr(LocalContinuations, "items_per_call", 5)
    scored: list[int] = []
    plain = LocalContinuations.scores

    def failing(self: Any, some: Any) -> Any:
        scored.append(len(some))
        if sum(scored) > 30:
            raise ModelError("cut short")
        return plain(self, some)

    monkeypatch.setattr(LocalContinuations, "scores", failing)
    with pytest.raises(ModelError, match="cut short"):
        judging(given, cut, models).run()
    assert not cut.exists()
    monkeypatch.setattr(LocalContinuations, "scores", plain)
    judging(given, cut, models).run()
    for one, two in zip(written(whole), written(cut), strict=True):
        assert one["scores"] == pytest.approx(two["scores"], abs=1e-5)
    # Nothing at all is left to compute: the same bytes, though no model can answer.
    monkeypatch.setattr(LocalContinuations, "scores", failing)
    first = cut.read_bytes()
    judging(given, cut, models, force=True).run()
    assert cut.read_bytes() == first


def test_texts_are_generated_and_not_asked_for_again(tmp_path: Path) -> None:
    given, out, log = items(tmp_path, 5), tmp_path / "made.jsonl", tmp_path / "asked.txt"
    with serving(log=str(log)) as (url, _):
        run = Generate(
            items=str(given), target="knowledge", model=f"openai:{url}#m", out=str(out), samples=3, examples=given,
            force=True,
        )  # type: ignore[arg-type]  # fmt: skip
        run.run()
        first, asked = out.read_bytes(), len(log.read_text(encoding="utf-8").splitlines())
        run.run()
        assert len(log.read_text(encoding="utf-8").splitlines()) == asked > 0
    assert out.read_bytes() == first
    rows = written(out)
    assert [row.get("candidate", 0) for row in rows[:3]] == [0, 1, 2]
    assert len({row["knowledge"] for row in rows[:3]}) == 3


def test_settings_that_do_not_go_together(tmp_path: Path) -> None:
    given, out = items(tmp_path), tmp_path / "x.jsonl"
    for model, message in (
        ({}, "nothing to score with"), ({"embeddings": "local:x"}, "nothing to score"),
        ({"causal": "local:x", "embeddings": "local:x"}, "give --evidence FILE"), ({"nli": "local:x"}, "of entailment"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            judging(given, out, model).run()
    with pytest.raises(UsageError, match="takes neither --examples nor --samples"):
        Generate(items=str(given), target="grounded", model="replay:x", out=str(out), samples=3).run()  # type: ignore[arg-type]


def test_a_mark_that_is_none_is_told(tmp_path: Path) -> None:
    head = ",".join(["item", "topic", "query", "knowledge", "answer", "gold", *AXES])
    (tmp_path / "s.csv").write_text(f"{head}\n1,,,text,,,3,0,0,0,0,0\n", encoding="utf-8")
    with pytest.raises(SheetError, match=r"s.csv:2: factuality is '3'; allowed: 2, 1, 0, unclear"):
        read_sheet(tmp_path / "s.csv", KNOWLEDGE.sheet)


def test_scores_of_texts_against_the_saved_models(models: dict[str, str]) -> None:
    """Equations 1, 3, 5 and 6 once more, with nothing of ours between the saved weights and the numbers."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

    from abstraction.models.spec import open_continuations, open_entailment
    from granola.evidence.knowledge.knowledge_items import JudgeSettings, KnowledgeItem
    from granola.evidence.knowledge.knowledge_judge import KnowledgeJudge as Judge
    from granola.evidence.knowledge.knowledge_prompts import read_knowledge_prompts

    sentences, evidence = ["The river is one.", "A city in the country."], ["the river", "a city of two"]
    item = KnowledgeItem(
        id="1", query="where is it", knowledge=" ".join(sentences), evidence=tuple(evidence), gold=("a place",)
    )
    causal = open_continuations(models["causal"])
    judge = Judge(
        {"entailment": open_entailment(models["entailment"]), "causal": causal, "reader": causal},
        read_knowledge_prompts(),
        JudgeSettings(randoms=2),
        pool=[item, *(KnowledgeItem(id=text, query="q", knowledge=text) for text in ("no", "yes yes"))],
    )
    (found,) = judge.judge([item])

    def folder(name: str) -> str:
        return models[name].removeprefix("local:").partition("?")[0]

    tokenizer = AutoTokenizer.from_pretrained(folder("causal"))
    language = AutoModelForCausalLM.from_pretrained(folder("causal")).eval()

    def loss(prompt: str, text: str) -> float:
        before = [tokenizer.eos_token_id, *tokenizer(prompt)["input_ids"]]
        ids = torch.tensor([before + tokenizer(text)["input_ids"]])
        labels = ids.clone()
        labels[0, : len(before)] = -100
        with torch.no_grad():
            return float(language(ids, labels=labels).loss)

    perplexities = [math.exp(loss("", one)) for one in sentences]
    assert found.scores["coherence_sentence"] == pytest.approx(sum(1 / one for one in perplexities) / 2, rel=1e-3)
    informed = 1 - math.exp(-loss("where is it", item.knowledge))
    assert found.scores["informativeness"] == pytest.approx(informed, abs=1e-6)
    asked = [f"{text} Question: where is it Answer:" for text in (item.knowledge, "no", "yes yes")]
    own, one, two = (loss(prompt, "a place") for prompt in asked)
    assert found.scores["helpfulness_raw"] == pytest.approx(1 - own / ((one + two) / 2), abs=1e-3)

    words = AutoTokenizer.from_pretrained(folder("entailment"))
    classifier = AutoModelForSequenceClassification.from_pretrained(folder("entailment")).eval()
    with torch.no_grad():
        vectors = [
            [classifier(**words(piece, text, return_tensors="pt")).logits.softmax(-1)[0].tolist() for piece in evidence]
            for text in sentences
        ]
    refuted, neutral, entailed = min((max(each, key=lambda v: v[2]) for each in vectors), key=lambda v: v[2])
    assert [found.scores[name] for name in ("factuality", "non_verified", "refuted")] == pytest.approx(
        [entailed, neutral, refuted], abs=1e-5
    )


def test_raters_share_a_fifth_of_the_texts() -> None:
    """Ten texts, three raters, a fifth for all: 1 and 2, then the other eight in turn."""
    own = item_numbers_of_each_annotator(10, 3, 0.2)
    assert own == [{1, 2, 3, 6, 9}, {1, 2, 4, 7, 10}, {1, 2, 5, 8}]
    assert item_numbers_of_each_annotator(3, 1, 0.2) == [{1, 2, 3}]
