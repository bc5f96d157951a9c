"""All evidence tasks, and detection of the task of a row."""

from __future__ import annotations

from abstraction.files.records import Record
from granola.errors import SampleError
from granola.evidence.attribution.attribution_task import ATTRIBUTION
from granola.evidence.attribution.text_task import COVERAGE, TEXTS
from granola.evidence.audit.tier_sheets import TIERS
from granola.evidence.evidence_task import EvidenceTask, Row, SheetForm
from granola.evidence.grounding.grounding_task import GROUNDING
from granola.evidence.knowledge.knowledge_task import KNOWLEDGE

TASKS = (GROUNDING, ATTRIBUTION, KNOWLEDGE)
BY_NAME: dict[str, EvidenceTask] = {task.name: task for task in TASKS}
MADE_BY = ", ".join(task.made_by for task in TASKS)


def task_of(row: Row) -> EvidenceTask | None:
    """The task of a row of verdicts; None for another row."""
    return next((task for task in TASKS if task.distinctive_field in row), None)


def sheet_form(item: Row) -> SheetForm:
    """The sheet for an item: a row of verdicts, an attribution sample, a text with its facts, or a tier."""
    # Tiers and texts have no judge, so they are recognised by their fields.
    if "tier" in item and "before" in item:
        return TIERS
    if COVERAGE.field in item and "facts" in item:
        return TEXTS
    return (task_of(item) or ATTRIBUTION).sheet


def read_verdict(record: Record) -> dict[str, object]:
    """Validate a row of verdicts of any task. Raises SampleError, RowError."""
    task = task_of(record.data)
    if task is None or not isinstance(record.data.get("id"), str):
        raise SampleError(f"no verdict of {MADE_BY}")
    return task.read(record)
