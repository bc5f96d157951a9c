"""The prompts for knowledge texts: files with slots, to score and to generate them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from abstraction.phrasing.prompt_files import Prompt, PromptKind, load_prompts

_QUERY = frozenset({"query"})
GIVEN_QUERY = PromptKind(name="given_query", required=_QUERY, optional=frozenset({"topic"}))
GIVEN_KNOWLEDGE = PromptKind(
    name="given_knowledge", required=frozenset({"query", "knowledge"}), optional=frozenset({"topic"})
)
KNOWLEDGE = PromptKind(name="knowledge", required=_QUERY, optional=frozenset({"topic"}))
ANSWER_FROM = PromptKind(name="answer", required=frozenset({"query", "knowledge"}), optional=frozenset({"topic"}))
REPLY_FROM = PromptKind(name="reply", required=frozenset({"query", "knowledge"}), optional=frozenset({"topic"}))
# the first two score, the others generate
KNOWLEDGE_KINDS = (GIVEN_QUERY, GIVEN_KNOWLEDGE, KNOWLEDGE, ANSWER_FROM, REPLY_FROM)
_SLOT = re.compile(r"\{\{([a-z ]{1,40})\}\}")


def read_knowledge_prompts(chosen: Path | str | None = None) -> dict[str, Prompt]:
    """All prompts by name; files of the folder `chosen` override the bundled ones. Raises PromptError."""
    with as_file(files("granola") / "evidence" / "knowledge" / "prompts") as bundled:
        return load_prompts(KNOWLEDGE_KINDS, bundled, chosen)


def prompt_as_text(
    prompt: Prompt, values: Mapping[str, str], before: Sequence[tuple[Mapping[str, str], str]] = ()
) -> str:
    """The turns as one text, for a model that continues texts; slots are filled with unchanged texts, all at once.

    A line whose slots are all empty is left out. `before` are demonstrations: the values of each, and its
    continuation.
    """
    shown = [f"{_fill_slots(prompt, own)} {target}" for own, target in before]
    return "\n\n".join([*shown, _fill_slots(prompt, values)])


def _fill_slots(prompt: Prompt, values: Mapping[str, str]) -> str:
    lines = []
    for turn in prompt.turns:
        for line in turn.text.split("\n"):
            slots = [found[1].strip() for found in _SLOT.finditer(line)]
            # "Topic:" without a topic would be noise to a model that continues texts.
            if not slots or any(values[slot].strip() for slot in slots):
                lines.append(_SLOT.sub(lambda found: values[found[1].strip()], line))
        lines.append("")
    return "\n".join(lines[:-1])
