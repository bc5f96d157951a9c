"""Three judges of one statement: most of them say that its citations support it."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from granola.evidence.judge_pools import pool_judges


def test_most_judges_decide(tmp_path: Path) -> None:
    labels = {"first": "supportive", "second": "irrelevant", "third": "supportive"}
    path = tmp_path / "verdicts.jsonl"
    path.write_bytes(b"\n".join(
        orjson.dumps({"evaluator": judge, "id": "1", "category": label}) for judge, label in labels.items()
    ))  # fmt: skip
    rejected: list[object] = []
    pool = pool_judges([path], on_reject=rejected.append)
    assert [row["category"] for row in pool.rows] == ["supportive"]
    assert pool.agreement["category"] == {"n": 1, "agree": 0.0, "kappa": pytest.approx(-0.5)}
