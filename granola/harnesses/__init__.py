"""GRANOLA scoring inside evaluation harnesses: lm-evaluation-harness, inspect_ai, and Hugging Face's evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from granola.harnesses.grading import HarnessQuestion, graded, questions

__all__ = [
    "HarnessQuestion",
    "graded",
    "questions",
]
_MODULES = {
    "HarnessQuestion": ".grading",
    "graded": ".grading",
    "questions": ".grading",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
