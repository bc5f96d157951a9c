"""A verb as a value."""

from granola.runs.settings import Run


def test_a_run_is_checked() -> None:
    assert Run.__abstractmethods__ == {"run"}
