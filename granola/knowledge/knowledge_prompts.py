"""The prompts of this room: files with slots, for what is scored and for what is generated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path

from abstraction.models.prompts import Prompt, PromptKind, load_prompts

_QUERY = frozenset({"query"})
GIVEN_QUERY = PromptKind(name="given_query", required=_QUERY)
GIVEN_KNOWLEDGE = PromptKind(name="given_knowledge", required=frozenset({"query", "knowledge"}))
KNOWLEDGE = PromptKind(name="knowledge", required=_QUERY, optional=frozenset({"topic"}))
ANSWER_FROM = PromptKind(name="answer", required=frozenset({"query", "knowledge"}), optional=frozenset({"topic"}))
REPLY_FROM = PromptKind(name="reply", required=frozenset({"query", "knowledge"}), optional=frozenset({"topic"}))
KNOWLEDGE_KINDS = (GIVEN_QUERY, GIVEN_KNOWLEDGE, KNOWLEDGE, ANSWER_FROM, REPLY_FROM)
_SLOT = re.compile(r"\{\{([a-z ]{1,40})\}\}")


def read_knowledge_prompts(chosen: Path | str | None = None) -> dict[str, Prompt]:
    """All prompts by name, those of a folder of one's own before ours. Raises PromptError."""
    with as_file(files("granola") / "knowledge" / "prompts") as bundled:
        return load_prompts(KNOWLEDGE_KINDS, bundled, chosen)


def as_text(prompt: Prompt, values: Mapping[str, str]) -> str:
    """The turns as one text for a model that continues texts, slots filled with texts as they are, all at once."""
    turns = (_SLOT.sub(lambda found: values[found[1].strip()], turn.text) for turn in prompt.turns)
    return "\n\n".join(turns)
