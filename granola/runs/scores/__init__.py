"""Verbs that score predictions, compare systems and draw figures."""

__all__ = [
    "compare_run",
    "group_scores",
    "match_run",
    "matcher_settings",
    "report_run",
    "score_run",
    "scored_systems",
    "scoring_settings",
]
