"""GRANOLA inside lm-evaluation-harness and inspect_ai, with models that repeat what they were told, offline.

What both harnesses report is held against `granola.scoring.scores` on the same answers.
"""

from __future__ import annotations

import json
import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from abstraction.files.rows import read_tiered
from granola.errors import PredictionError
from granola.harnesses.grading import SCORES, harness_questions, scores_of_verdict
from granola.matching import matcher
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.scores import ScoreSettings, score
from tests.granola.test_compare_cli import systems

__all__ = ["systems"]
SAID = ("Kunming", "Yunnan", "in China", "Paris", "I don't know.")


def answers(tiered: Path) -> dict[str, str]:
    return {row.id: SAID[index % len(SAID)] for index, row in enumerate(harness_questions(tiered))}


def expected(tiered: Path) -> dict[str, float]:
    said = {id_: Prediction(id=id_, text=text) for id_, text in answers(tiered).items()}
    found = score(
        read_tiered(tiered), PredictionFile(name="x", predictions=said), matcher("rules"), ScoreSettings(resamples=10)
    )
    return {name: found.overall.estimates[name].value for name in SCORES}


def test_graded_scores_are_not_cut_to_right_and_wrong(systems: Path) -> None:
    levels = next(iter(harness_questions(systems / "tiers.jsonl"))).levels
    one = scores_of_verdict(matcher("rules").match("Yunnan", levels))
    assert one["granola_accuracy"] == 1.0
    assert one["standard_accuracy"] == 0.0
    assert 0 < one["informativeness"] < 1
    assert set(scores_of_verdict(matcher("rules").match("IDK", levels)).values()) == {0.0}


def test_the_names_of_level_1_may_be_the_gold_answers_alone(tmp_path: Path) -> None:
    path = tmp_path / "tiers.jsonl"
    level = {"tiers": [{"text": "New York City", "aliases": ["Gotham"]}]}
    path.write_text(json.dumps({"id": "1", "question": "q", "answer": ["New York City"], "levels": [level]}) + "\n")
    assert [one.levels for one in harness_questions(path, "gold")] == [(("New York City",),)]
    assert [one.levels for one in harness_questions(path)] == [(("New York City", "Gotham"),)]


def test_the_harness_file_names_the_scores_that_are_returned() -> None:
    text = (files("granola.harnesses") / "lm_eval_task" / "granola.yaml").read_text(encoding="utf-8")
    assert re.findall(r"- metric: (\w+)", text) == list(SCORES)


def test_a_damaged_tiered_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "tiers.jsonl"
    path.write_text(
        '{"id": "1", "question": "q", "answer": ["a"], "levels": [{"tiers": [{"text": "a"}]}]}\n{"id": 2}\n'
    )
    with pytest.raises(PredictionError, match="mend or leave out 1 rows"):
        list(harness_questions(path))


def test_lm_evaluation_harness(systems: Path) -> None:
    os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
    pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed")
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    import granola.harnesses

    tiered = systems / "tiers.jsonl"
    asked = {f"Question: {row.question}\nAnswer:": answers(tiered)[row.id] for row in harness_questions(tiered)}

    class Repeating(LM):  # type: ignore[misc]  # untyped where it is installed
        def generate_until(self, requests: list[Any], **more: Any) -> list[str]:
            return [f" {asked[request.args[0]]}\n\nQuestion: another" for request in requests]

        def loglikelihood(self, requests: list[Any], **more: Any) -> list[tuple[float, bool]]:
            raise NotImplementedError

        def loglikelihood_rolling(self, requests: list[Any], **more: Any) -> list[float]:
            raise NotImplementedError

    folder = str(Path(granola.harnesses.__file__).parent / "lm_eval_task")
    metadata = {"tiered": str(tiered)}
    found = simple_evaluate(
        model=Repeating(),
        tasks=["granola"],
        task_manager=TaskManager(include_path=folder, include_defaults=False, metadata=metadata),
        metadata=metadata,
        bootstrap_iters=0,
    )
    results = found["results"]["granola"]
    for name, value in expected(tiered).items():
        assert results[f"{name},none"] == pytest.approx(value)
    assert 0 < results["informativeness,none"] < results["granola_accuracy,none"]


def test_inspect_ai(systems: Path, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
    from inspect_ai import Task, eval
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate

    from granola.harnesses.inspect_scorer import granola_dataset, granola_scorer

    tiered = systems / "tiers.jsonl"
    said = answers(tiered)
    dataset = granola_dataset(tiered)
    by_question = {sample.input: said[str(sample.id)] for sample in dataset}

    def reply(messages: list[Any], *more: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm", by_question[messages[-1].text])
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # counting would fetch a vocabulary
        return output

    log = eval(
        Task(dataset=dataset, solver=generate(), scorer=granola_scorer()),
        model=get_model("mockllm/model", custom_outputs=reply),
        log_dir=str(tmp_path),
        display="none",
    )[0]
    assert log.status == "success", log.error
    assert log.results is not None
    means = {one.name: one.metrics["mean"].value for one in log.results.scores}
    assert means == pytest.approx(expected(tiered))
    assert log.samples is not None
    first = next(iter((log.samples[1].scores or {}).values()))
    assert first.explanation == "exact"
    assert first.metadata == {"level": 2, "abstained": False, "matcher": matcher("rules").signature()}
