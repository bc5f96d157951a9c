"""Three judges of one statement: most of them say that its citations support it."""

from __future__ import annotations

import pytest

from granola.evidence.evidence_task import EstimateSettings
from granola.evidence.verdict_rows import VerdictRows, pool_judges


def test_most_judges_decide() -> None:
    labels = {"first": "supportive", "second": "irrelevant", "third": "supportive"}
    rows = [{"evaluator": judge, "id": "1", "category": label} for judge, label in labels.items()]
    pool = pool_judges(VerdictRows.of(rows, EstimateSettings()))
    assert [row["category"] for row in pool.rows] == ["supportive"]
    assert pool.agreement["category"] == {"n": 1, "agree": 0.0, "kappa": pytest.approx(-0.5)}
