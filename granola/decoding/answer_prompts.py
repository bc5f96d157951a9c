"""The prompts that questions are asked with: which there are, with which slots, and where their texts stand."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from abstraction.phrasing.prompt_files import Prompt, PromptKind, load_prompts

_QUESTION = frozenset({"question"})
ANSWER = PromptKind(name="answer", required=_QUESTION)
IDK = PromptKind(name="idk", required=_QUESTION)
IDK_IF_UNCERTAIN = PromptKind(name="idk_if_uncertain", required=_QUESTION)
AGG = PromptKind(name="agg", required=_QUESTION)
DRAG = PromptKind(name="drag", required=frozenset({"responses"}), optional=_QUESTION)
KINDS = (ANSWER, IDK, IDK_IF_UNCERTAIN, AGG, DRAG)


SETS = ("paper", "guided")  # built as Yona et al. 2024 describe theirs; our own with instructions and examples


def read_prompts(chosen: Path | str | None = None) -> dict[str, Prompt]:
    """All prompts by name: of the set `chosen` (see `SETS`), or those of a folder before the default set's.

    Raises PromptError.
    """
    with as_file(files("granola") / "decoding" / "prompts") as bundled:
        return load_prompts(KINDS, bundled, chosen, sets=SETS)
