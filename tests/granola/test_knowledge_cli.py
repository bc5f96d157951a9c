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
from granola.commands import (
    KnowledgeChoose,
    KnowledgeCorrelate,
    KnowledgeDescribe,
    KnowledgeGenerate,
    KnowledgeJudge,
)
from granola.commands.people_judging import SheetsDraw, SheetsRead
from granola.errors import SheetError, UsageError
from granola.evidence.annotation_sheets import read_sheet, shared_out
from granola.knowledge.knowledge_baselines import entity_finder, hallucinated_entities
from granola.knowledge.knowledge_files import read_items
from granola.knowledge.knowledge_task import AXES, KNOWLEDGE
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


def test_four_columns_with_texts_and_documents_beside(tmp_path: Path) -> None:
    rows = ["Ulm\tHello. [SEP] Where is it?\tUlm is a city.\tIn Germany.", "only\tthree\tcolumns", "A\tb\tc\td"]
    (tmp_path / "set.txt.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    (tmp_path / "texts.txt").write_text("A text.\nx\n\n", encoding="utf-8")
    (tmp_path / "documents.txt").write_text('["e1", {"text": "e2"}]\nx\ne3\te4\n', encoding="utf-8")
    rejected: list[Any] = []
    first, last = read_items(
        tmp_path / "set.txt.gz", texts=tmp_path / "texts.txt", documents=tmp_path / "documents.txt",
        on_reject=rejected.append,
    )  # fmt: skip
    assert (first.query, first.context, first.gold) == ("Where is it?", ("Hello.",), ("In Germany.",))
    assert (first.knowledge, first.reference, first.evidence) == ("A text.", "Ulm is a city.", ("e1", "e2"))
    assert (last.id, last.knowledge, last.evidence) == ("3", "", ("e3", "e4"))
    assert rejected[0].source.endswith("set.txt.gz:2")
    assert "3 columns; four are needed" in rejected[0].reason
    (tmp_path / "texts.txt").write_text("A text.\n", encoding="utf-8")
    with pytest.raises(RowError, match="ends before line 2"):
        list(read_items(tmp_path / "set.txt.gz", texts=tmp_path / "texts.txt", on_reject=rejected.append))


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


def test_documents_in_another_form_are_never_evaluated(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("t\tq\tk\tr\n", encoding="utf-8")
    (tmp_path / "d.txt").write_text("[__import__('os').getcwd()]\n", encoding="utf-8")
    rejected: list[Any] = []
    assert list(read_items(tmp_path / "a.txt", documents=tmp_path / "d.txt", on_reject=rejected.append)) == []
    assert "no JSON array" in rejected[0].reason


def test_judging_choosing_rating_and_correlating(
    tmp_path: Path, models: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "judged.jsonl"
    judging = KnowledgeJudge(
        items=items(tmp_path), out=out, **models, baselines=True, reference=True, resamples=50
    )  # fmt: skip
    done = judging.run()
    judging.show(done)
    told = capsys.readouterr().out
    assert "factuality" in told
    assert "|n:12|boot:50|seed:0|version:" in told
    rows = written(out)
    assert len(rows) == 12
    assert {"factuality", "relevance", "helpfulness", "validity", "nli_decompose"} <= rows[0]["scores"].keys()
    assert sum(rows[0]["scores"][name] for name in ("factuality", "non_verified", "refuted")) == pytest.approx(1)

    best = tmp_path / "best.jsonl"
    KnowledgeChoose(judged=out, out=best, best=3, of=8, resamples=50).execute()
    assert len(written(best)) == 3
    assert "random" in capsys.readouterr().out

    sheet, drawn = tmp_path / "sheet.csv", tmp_path / "drawn.jsonl"
    SheetsDraw(items=out, task="knowledge", out=drawn, sheet=sheet, number=4).run()
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
    KnowledgeCorrelate(judged=drawn, ratings=filled, resamples=50, as_json=True).execute()
    told_json = json.loads(capsys.readouterr().out)
    assert {line["independent"] for line in told_json["somers_d"]} == set(AXES)
    assert told_json["agreement"]["validity"]["n"] == 8
    assert set(told_json["slices"]["popularity"]) <= {"0", "1", "2", "3"}
    SheetsRead(drawn=drawn, task="knowledge", sheet=filled, out=tmp_path / "people.jsonl").execute()
    assert "kappa" in capsys.readouterr().out
    people = written(tmp_path / "people.jsonl")
    assert (len(people), people[0]["judge"]) == (16, "person:filled0")
    assert people[0]["scores"].keys() == {f"rated {axis}" for axis in AXES}
    with pytest.raises(SheetError, match="is not row"):
        KnowledgeCorrelate(judged=best, ratings=filled, resamples=10).run()
    KnowledgeCorrelate(judged=out, resamples=20).execute()
    assert "helpfulness" in capsys.readouterr().out


def test_a_run_cut_short_goes_on_and_gives_the_same_rows(
    tmp_path: Path, models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from abstraction.models.local_scorers import LocalContinuations

    given = items(tmp_path)
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    KnowledgeJudge(items=given, out=whole, **models, resamples=10).run()
    monkeypatch.setattr(LocalContinuations, "block", 5)
    scored: list[int] = []
    plain = LocalContinuations.scores

    def failing(self: Any, some: Any) -> Any:
        scored.append(len(some))
        if sum(scored) > 30:
            raise ModelError("cut short")
        return plain(self, some)

    monkeypatch.setattr(LocalContinuations, "scores", failing)
    with pytest.raises(ModelError, match="cut short"):
        KnowledgeJudge(items=given, out=cut, **models, resamples=10).run()
    assert not cut.exists()
    monkeypatch.setattr(LocalContinuations, "scores", plain)
    KnowledgeJudge(items=given, out=cut, **models, resamples=10).run()
    for one, two in zip(written(whole), written(cut), strict=True):
        assert one["scores"] == pytest.approx(two["scores"], abs=1e-5)
    # Nothing at all is left to compute: the same bytes, though no model can answer.
    monkeypatch.setattr(LocalContinuations, "scores", failing)
    again = tmp_path / "again.jsonl"
    KnowledgeJudge(items=given, out=again, scores=Path(f"{cut}.scores.sqlite"), **models, resamples=10).run()
    assert again.read_bytes() == cut.read_bytes()


def test_texts_are_generated_and_not_asked_for_again(tmp_path: Path) -> None:
    given, out, log = items(tmp_path, 5), tmp_path / "made.jsonl", tmp_path / "asked.txt"
    with serving(log=str(log)) as (url, _):
        run = KnowledgeGenerate(
            items=given, model=f"openai:{url}?temperature=1&top_p=.9#m", out=out, samples=3, examples=given, shots=2,
            system="m", force=True,
        )  # fmt: skip
        run.run()
        first, asked = out.read_bytes(), len(log.read_text(encoding="utf-8").splitlines())
        run.run()
        assert len(log.read_text(encoding="utf-8").splitlines()) == asked > 0
    assert out.read_bytes() == first
    rows = written(out)
    assert [row.get("candidate", 0) for row in rows[:3]] == [0, 1, 2]
    assert rows[0]["system"] == "m"
    assert len({row["knowledge"] for row in rows}) > 3


def test_settings_that_do_not_go_together(tmp_path: Path) -> None:
    given = items(tmp_path)
    with pytest.raises(UsageError, match="nothing to score with"):
        KnowledgeJudge(items=given, out=tmp_path / "x.jsonl").run()
    with pytest.raises(UsageError, match="--embeddings goes with --passages"):
        KnowledgeJudge(items=given, out=tmp_path / "x.jsonl", embeddings="local:x", baselines=True).run()
    with pytest.raises(UsageError, match="do not go together"):
        KnowledgeGenerate(items=given, model="replay:x", out=tmp_path / "x.jsonl", samples=3).run()
    with pytest.raises(UsageError, match="--of goes with --best"):
        KnowledgeChoose(judged=given, out=tmp_path / "x.jsonl", of=3).run()
    with pytest.raises(UsageError, match="no judged text"):
        KnowledgeChoose(judged=given, out=tmp_path / "x.jsonl").run()


def test_a_mark_that_is_none_is_told(tmp_path: Path) -> None:
    head = ",".join(["item", "topic", "query", "knowledge", "answer", "gold", *AXES])
    (tmp_path / "s.csv").write_text(f"{head}\n1,,,text,,,3,0,0,0,0,0\n", encoding="utf-8")
    with pytest.raises(SheetError, match=r"s.csv:2: factuality is '3'; allowed: 2, 1, 0, unclear"):
        read_sheet(tmp_path / "s.csv", KNOWLEDGE.sheet)


def test_ladders_as_texts(tmp_path: Path) -> None:
    step = {"kind": "statement", "subject": "Q1", "property": "P131", "value": "Q2",
            "labels": {"Q1": "Ulm", "P131": "located in", "Q2": "Germany"}}  # fmt: skip
    rows = [
        {"schema_version": 1, "id": str(at), "question": "where is the place", "answer": ["a city"], "levels": [
            {"tiers": [{"text": "a city", "bits": 9.0 + at}]},
            {"tiers": [{"text": "a country", "qid": "Q2", "bits": 3.0, "evidence": [step]}]},
        ]} for at in range(3)
    ]  # fmt: skip
    tiered = lines(tmp_path / "tiered.jsonl", rows)
    KnowledgeDescribe(tiered=tiered, out=tmp_path / "texts.jsonl").execute()
    assert written(tmp_path / "texts.jsonl")[0]["knowledge"] == "Ulm lies in the administrative area of Germany."


def test_scores_of_texts_against_the_saved_models(models: dict[str, str]) -> None:
    """Equations 1, 3, 5 and 6 once more, with nothing of ours between the saved weights and the numbers."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

    from abstraction.models import open_continuations, open_entailment
    from granola.knowledge import JudgeModels, JudgeSettings, KnowledgeItem, KnowledgeJudge, read_knowledge_prompts

    sentences, evidence = ["The river is one.", "A city in the country."], ["the river", "a city of two"]
    item = KnowledgeItem(
        id="1", query="where is it", knowledge=" ".join(sentences), evidence=tuple(evidence), gold=("a place",)
    )
    causal = open_continuations(models["causal"])
    judge = KnowledgeJudge(
        JudgeModels(entailment=open_entailment(models["entailment"]), causal=causal, reader=causal),
        read_knowledge_prompts(),
        settings=JudgeSettings(randoms=2),
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
    own = shared_out(10, 3, 0.2)
    assert own == [{1, 2, 3, 6, 9}, {1, 2, 4, 7, 10}, {1, 2, 5, 8}]
    assert shared_out(3, 1, 0.2) == [{1, 2, 3}]


def test_named_entities_by_spacy_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import SimpleNamespace

    with pytest.raises(UsageError, match="allowed: rule, spacy:MODEL"):
        entity_finder("nltk")
    entity_finder.cache_clear()
    documents = [SimpleNamespace(ents=[SimpleNamespace(text="Ann Lee")])]
    loaded = SimpleNamespace(load=lambda name: SimpleNamespace(pipe=lambda texts: documents))
    monkeypatch.setitem(sys.modules, "spacy", loaded)
    assert entity_finder("spacy:en")(["Ann Lee."]) == {"ann lee"}
    assert hallucinated_entities(["Ann Lee."], "nobody", entity_finder("spacy:en")) == -1.0
    entity_finder.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(UsageError, match="install spaCy"):
        entity_finder("spacy:en")
