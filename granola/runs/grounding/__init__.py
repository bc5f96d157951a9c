"""Verbs over answers from passages."""

__all__ = [
    "grounding_answer_run",
    "grounding_describe_run",
    "grounding_judge_run",
    "grounding_score_run",
    "grounding_settings",
]
