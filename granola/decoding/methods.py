"""The methods of answering: their prompts and rules."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

from abstraction.phrasing.prompting import Prompt, PromptKind, load_prompts
from granola.decoding.aggregation_rules import DragGraph, Method, SelfConsistency
from granola.decoding.decision import SUPPORT, Abstaining, Answering, Counting
from granola.errors import UsageError


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


TEMPERATURE = 0.8
_QUESTION = frozenset({"question"})
ANSWER = PromptKind(name="answer", required=_QUESTION)
IDK = PromptKind(name="idk", required=_QUESTION)
IDK_IF_UNCERTAIN = PromptKind(name="idk_if_uncertain", required=_QUESTION)
AGG = PromptKind(name="agg", required=_QUESTION)
DRAG = PromptKind(name="drag", required=frozenset({"responses"}), optional=_QUESTION)
KINDS = (ANSWER, IDK, IDK_IF_UNCERTAIN, AGG, DRAG)
SETS = ("paper", "guided")  # rebuilt from the description in Yona et al. 2024; ours, with instructions and examples


def read_prompts(chosen: Path | str | None = None) -> dict[str, Prompt]:
    """All prompts by name: the set `chosen` (see `SETS`), or a folder whose files replace the default ones.

    Raises PromptError.
    """
    with as_file(files("granola") / "decoding" / "prompts") as bundled:
        return load_prompts(KINDS, bundled, chosen, sets=SETS)


@dataclass(frozen=True, slots=True)
class MethodKind:
    """`prompts`: all prompts of the method, the one for a question first.

    `drawn`: "no" for greedy decoding, "once" for one sample, "often" for several.
    """

    prompts: tuple[PromptKind, ...]
    drawn: Literal["no", "once", "often"] = "no"


# Yona et al. 2024, section 5: greedy, temperature sampling, IDK, IDK if uncertain, IDK with aggregation, DRAG.
METHODS = {
    Answering.GREEDY: MethodKind((ANSWER,)),
    Answering.SAMPLE: MethodKind((ANSWER,), drawn="once"),
    Answering.IDK: MethodKind((IDK,)),
    Answering.IDK_IF_UNCERTAIN: MethodKind((IDK_IF_UNCERTAIN,)),
    Answering.AGG: MethodKind((AGG,)),
    Answering.SELF_CONSISTENCY: MethodKind((ANSWER,), drawn="often"),
    Answering.DRAG: MethodKind((ANSWER, DRAG), drawn="often"),
    Answering.DRAG_GRAPH: MethodKind((ANSWER,), drawn="often"),
}
