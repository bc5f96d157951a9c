"""Verbs over knowledge texts."""

__all__ = [
    "knowledge_choose_run",
    "knowledge_correlate_run",
    "knowledge_describe_run",
    "knowledge_generate_run",
    "knowledge_judge_run",
    "knowledge_rate_run",
    "knowledge_settings",
]
