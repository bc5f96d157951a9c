"""Verbs over snapshots: build, compare, export and mirror them."""

__all__ = [
    "build_run",
    "diff_run",
    "estimates",
    "export_run",
    "info_run",
    "manifest_text",
    "push_run",
    "scope_settings",
    "source_settings",
    "spark_run",
    "verify_run",
]
