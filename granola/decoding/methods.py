"""The methods of answering, and the rules that aggregate several responses."""

from __future__ import annotations

from enum import StrEnum

from granola.decoding.decision import Abstaining
from granola.decoding.drag_graph import SUPPORT, DragGraph
from granola.decoding.response_aggregation import Method
from granola.decoding.self_consistency import Counting, SelfConsistency
from granola.errors import UsageError

# Rules, by name and settings of a method.


def rule_of(
    method: str,
    *,
    support: float | None = None,
    counting: Counting = Counting.TEXT,
    abstaining: Abstaining | None = None,
) -> Method | None:
    """The rule of a method, None if it has none; `abstaining` None for the default of the method.

    Raises UsageError for settings of another method.
    """
    abstaining = abstaining or default_abstaining(method)
    if method != "drag-graph" and support is not None:
        raise UsageError("--support is drag-graph's; give --method drag-graph with it")
    # PASS shows IDK to a model, which these methods do not use.
    if abstaining is Abstaining.PASS and method in ("drag-graph", "self-consistency"):
        raise UsageError("--abstaining pass is drag's; for others give ignore, vote or against")
    if method != "self-consistency" and counting is not Counting.TEXT:
        raise UsageError(f"--counting {counting} is self-consistency's; give --method self-consistency with it")
    if method == "drag-graph":
        return DragGraph(support=SUPPORT if support is None else support, abstaining=abstaining)
    if method == "self-consistency":
        return SelfConsistency(counting=counting, abstaining=abstaining)
    return None


def default_abstaining(method: str) -> Abstaining:
    """The default treatment of abstaining responses: the model of DRAG sees them, as in Yona et al. 2024."""
    return Abstaining.PASS if method == "drag" else Abstaining.IGNORE


def needs_snapshot(rule: Method | None) -> bool:
    """Whether a rule needs the entities of responses."""
    return isinstance(rule, DragGraph) or (isinstance(rule, SelfConsistency) and rule.counting is not Counting.TEXT)


# The methods.


TEMPERATURE = 0.8
SAMPLES = 10


class Answering(StrEnum):
    """The methods by name."""

    GREEDY = "greedy"
    SAMPLE = "sample"
    IDK = "idk"
    IDK_IF_UNCERTAIN = "idk-if-uncertain"
    AGG = "agg"
    SELF_CONSISTENCY = "self-consistency"
    DRAG = "drag"
    DRAG_GRAPH = "drag-graph"
