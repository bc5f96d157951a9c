"""Which rule makes one answer of several, by the name of a method and its settings."""

from __future__ import annotations

from granola.decoding.aggregating import Method
from granola.decoding.decision import Abstaining
from granola.decoding.drag_graph import DragGraph
from granola.decoding.self_consistency import Counting, SelfConsistency
from granola.errors import UsageError


def rule_of(
    method: str,
    *,
    support: float = 1.0,
    weigh: float | None = None,
    counting: Counting = Counting.TEXT,
    abstaining: Abstaining = Abstaining.MAJORITY,
) -> Method | None:
    """The rule of a method, None for one that has none. Raises UsageError for settings of another method."""
    if method != "drag-graph" and (support != 1.0 or weigh is not None):
        raise UsageError("--support and --weigh are drag-graph's; give --method drag-graph with them")
    if method != "self-consistency" and counting is not Counting.TEXT:
        raise UsageError(f"--counting {counting} is self-consistency's; give --method self-consistency with it")
    if method == "drag-graph":
        return DragGraph(support=support, weigh=weigh, abstaining=abstaining)
    if method == "self-consistency":
        return SelfConsistency(counting=counting, abstaining=abstaining)
    return None


def needs_snapshot(rule: Method | None) -> bool:
    """Whether a rule looks at what responses mean."""
    return isinstance(rule, DragGraph) or (isinstance(rule, SelfConsistency) and rule.counting is not Counting.TEXT)
