"""Verbs over benchmarks of attribution."""

__all__ = [
    "attribution_audit_run",
    "attribution_build_run",
    "attribution_check_run",
    "attribution_evaluate_run",
    "attribution_train_run",
    "evaluator_words",
]
