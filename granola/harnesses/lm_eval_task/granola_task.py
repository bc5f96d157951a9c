"""The functions that granola.yaml names: a tiered file as a dataset, and graded scores of each answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from granola.errors import PredictionError
from granola.harnesses.grading import PROMPT, harness_questions, scores_of_verdict
from granola.matching import in_language, matcher
from granola.scoring.metrics import LAMBDA, usual_standard_of_level_1


def dataset(
    tiered: str | None = None, matcher: str = "rules", tau: float | None = None, prompt: str = PROMPT, **more: Any
) -> dict[str, Any]:
    """{"test": the questions of the tiered file}, each with the fields that `process_results` needs.

    Levels are JSON text, since rows of a dataset have one shape. `lambda` and `standard` may be among `more`; other
    settings of the harness are ignored. Raises PredictionError without a tiered file.
    """
    from datasets import Dataset

    if tiered is None:
        raise PredictionError("""no tiered file; give --metadata '{"tiered": "tiers.jsonl"}'""")
    settings = {"matcher": matcher, "tau": tau, "lambda": more.get("lambda", LAMBDA)}
    rows = [
        {
            "id": row.id,
            "question": row.question,
            "prompt": prompt.replace("{question}", row.question),
            "gold": row.levels[0][0],
            "levels": json.dumps(row.levels),  # JSON text, since rows differ in the number of levels
            "language": row.language,
            "settings": json.dumps(settings),  # the harness gives `process_results` the row alone
        }
        for row in harness_questions(tiered, more.get("standard") or usual_standard_of_level_1(matcher))
    ]
    return {"test": Dataset.from_list(rows)}


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """The graded scores of one answer by name."""
    settings = json.loads(doc["settings"])
    chosen = in_language(matcher(settings["matcher"], tau=settings["tau"]), doc["language"])
    verdict = chosen.match(results[0], json.loads(doc["levels"]), doc["question"])
    return scores_of_verdict(verdict, settings["lambda"])
