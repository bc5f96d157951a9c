"""A verb as a value."""

from granola.runs.demo_run import DemoRun


def test_a_run_has_its_verb() -> None:
    assert DemoRun.verb == "demo"
