"""The methods of answering, by name: with which prompt, how it is sampled, and what becomes of several responses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from abstraction.models.prompts import PromptKind
from granola.decoding import answer_prompts

TEMPERATURE = 0.8
SAMPLES = 10


class Answering(StrEnum):
    """The names."""

    GREEDY = "greedy"
    SAMPLE = "sample"
    IDK = "idk"
    IDK_IF_UNCERTAIN = "idk-if-uncertain"
    AGG = "agg"
    SELF_CONSISTENCY = "self-consistency"
    DRAG = "drag"
    DRAG_GRAPH = "drag-graph"


@dataclass(frozen=True, kw_only=True, slots=True)
class MethodKind:
    """`drawn`: "no" at temperature 0, "once" a single sample, "often" several. `prompts`: all that it asks with."""

    prompts: tuple[PromptKind, ...]
    drawn: Literal["no", "once", "often"] = "no"

    @property
    def asks(self) -> PromptKind:
        """The prompt that a question is asked with."""
        return self.prompts[0]


# Yona et al. 2024, section 5: greedy, temperature sampling, IDK, IDK if uncertain, IDK with aggregation, DRAG.
METHODS = {
    Answering.GREEDY: MethodKind(prompts=(answer_prompts.ANSWER,)),
    Answering.SAMPLE: MethodKind(prompts=(answer_prompts.ANSWER,), drawn="once"),
    Answering.IDK: MethodKind(prompts=(answer_prompts.IDK,)),
    Answering.IDK_IF_UNCERTAIN: MethodKind(prompts=(answer_prompts.IDK_IF_UNCERTAIN,)),
    Answering.AGG: MethodKind(prompts=(answer_prompts.AGG,)),
    Answering.SELF_CONSISTENCY: MethodKind(prompts=(answer_prompts.ANSWER,), drawn="often"),
    Answering.DRAG: MethodKind(prompts=(answer_prompts.ANSWER, answer_prompts.DRAG), drawn="often"),
    Answering.DRAG_GRAPH: MethodKind(prompts=(answer_prompts.ANSWER,), drawn="often"),
}
