"""Scoring inside an evaluation harness: its questions, and a graded answer."""

from __future__ import annotations

from pathlib import Path

from granola.harnesses.grading import harness_questions, scores_of_verdict
from granola.matching import matcher


def test_a_harness_asks_and_is_told_the_level(demo: Path) -> None:
    first = next(iter(harness_questions(demo / "tiers.jsonl")))
    assert first.question.endswith("?")
    verdict = matcher("rules").match("Hawaii", first.levels, question=first.question)
    assert scores_of_verdict(verdict)["granola_accuracy"] == 1.0
