"""The command line: an option for every setting of a run."""

from __future__ import annotations

from tests.conftest import Run


def test_help_and_wrong_use(run: Run) -> None:
    status, told, _ = run("score", "--help")
    assert status == 0
    assert "--lambda" in told
    assert run("score")[0] == 2
