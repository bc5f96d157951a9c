"""Prompts for answering: their names and slots, and the prompts of each method."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

from abstraction.phrasing.prompt_files import Prompt, PromptKind, load_prompts
from granola.decoding.methods import Answering

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


@dataclass(frozen=True, kw_only=True, slots=True)
class MethodKind:
    """`drawn`: "no" for greedy decoding, "once" for one sample, "often" for several. `prompts`: all that the method
    uses.
    """

    prompts: tuple[PromptKind, ...]
    drawn: Literal["no", "once", "often"] = "no"

    @property
    def asks(self) -> PromptKind:
        """The prompt for a question."""
        return self.prompts[0]


# Yona et al. 2024, section 5: greedy, temperature sampling, IDK, IDK if uncertain, IDK with aggregation, DRAG.
METHODS = {
    Answering.GREEDY: MethodKind(prompts=(ANSWER,)),
    Answering.SAMPLE: MethodKind(prompts=(ANSWER,), drawn="once"),
    Answering.IDK: MethodKind(prompts=(IDK,)),
    Answering.IDK_IF_UNCERTAIN: MethodKind(prompts=(IDK_IF_UNCERTAIN,)),
    Answering.AGG: MethodKind(prompts=(AGG,)),
    Answering.SELF_CONSISTENCY: MethodKind(prompts=(ANSWER,), drawn="often"),
    Answering.DRAG: MethodKind(prompts=(ANSWER, DRAG), drawn="often"),
    Answering.DRAG_GRAPH: MethodKind(prompts=(ANSWER,), drawn="often"),
}
