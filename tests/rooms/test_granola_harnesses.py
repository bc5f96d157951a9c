"""Scoring inside an evaluation harness: its questions, and a graded answer."""

from __future__ import annotations

from pathlib import Path

from granola.harnesses.grading import graded, questions
from granola.matching import matcher


def test_a_harness_asks_and_is_told_the_level(demo: Path) -> None:
    first = next(iter(questions(demo / "tiers.jsonl")))
    assert first.question.endswith("?")
    verdict = matcher("rules").match("Hawaii", first.levels, question=first.question)
    assert graded(verdict)["granola_accuracy"] == 1.0
