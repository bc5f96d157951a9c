"""The prompts for knowledge texts: files with slots, to score and to generate them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TypeVar

from abstraction.models.chat_model import ChatModel, Message, Request, Result
from abstraction.phrasing.prompting import Prompt, PromptKind, harmless, load_prompts
from granola.evidence.knowledge.knowledge_items import KnowledgeItem

_QUERY, _BOTH, _TOPIC = frozenset({"query"}), frozenset({"query", "knowledge"}), frozenset({"topic"})
GIVEN_QUERY = PromptKind(name="given_query", required=_QUERY, optional=_TOPIC)
GIVEN_KNOWLEDGE = PromptKind(name="given_knowledge", required=_BOTH, optional=_TOPIC)
KNOWLEDGE = PromptKind(name="knowledge", required=_QUERY, optional=_TOPIC)
ANSWER_FROM = PromptKind(name="answer", required=_BOTH, optional=_TOPIC)
REPLY_FROM = PromptKind(name="reply", required=_BOTH, optional=_TOPIC)
# the first two score, the others generate
KNOWLEDGE_KINDS = (GIVEN_QUERY, GIVEN_KNOWLEDGE, KNOWLEDGE, ANSWER_FROM, REPLY_FROM)
_SLOT = re.compile(r"\{\{([a-z ]{1,40})\}\}")
Item = TypeVar("Item")


def read_knowledge_prompts(prompt_folder: Path | str | None = None) -> dict[str, Prompt]:
    """All prompts by name; files of the folder `prompt_folder` override the bundled ones. Raises PromptError."""
    with as_file(files("granola") / "evidence" / "knowledge" / "prompts") as bundled:
        return load_prompts(KNOWLEDGE_KINDS, bundled, prompt_folder)


def prompt_as_text(
    prompt: Prompt, item: KnowledgeItem, knowledge: str, examples: Sequence[tuple[KnowledgeItem, str]] = ()
) -> str:
    """The turns for an item with a knowledge text as one text, for a model that continues texts; slots are filled with
    unchanged texts.

    A line whose slots are all empty is left out. Before it are `examples`, each with its continuation.
    """

    def fill_slots(own: KnowledgeItem, text: str) -> str:
        values = {"topic": own.topic.strip(), "query": own.query.strip(), "knowledge": text.strip()}
        turns = []
        for turn in prompt.turns:
            lines = []
            for line in turn.content.split("\n"):
                slots = [values[slot.strip()] for slot in _SLOT.findall(line)]
                # "Topic:" without a topic would be noise to a model that continues texts.
                if not slots or any(slots):
                    lines.append(_SLOT.sub(lambda found: values[found[1].strip()], line))
            turns.append("\n".join(lines))
        return "\n\n".join(turns)

    shown = [f"{fill_slots(one, one.reference_or_own_knowledge)} {target}" for one, target in examples]
    return "\n\n".join([*shown, fill_slots(item, knowledge)])


def items_with_results(
    items: Iterable[Item], ask: Callable[[Item], Request], model: ChatModel
) -> Iterator[tuple[Item, Result]]:
    """The items with the results of their requests, in order. Raises ModelError where all further ones would fail."""
    # `model.generate` reads ahead: items wait here for their result.
    waiting: deque[Item] = deque()

    def requests() -> Iterator[Request]:
        for item in items:
            waiting.append(item)
            yield ask(item)

    for result in model.generate(requests()):
        yield waiting.popleft(), result


def generating_turns(prompt: Prompt, item: KnowledgeItem, examples: Sequence[KnowledgeItem]) -> tuple[Message, ...]:
    """The messages that make a model write the text or the answer of an item; `prompt` is one of KNOWLEDGE,
    ANSWER_FROM and REPLY_FROM.

    The `examples` come first, each as the prompt filled with the example and its right text as the reply; an item is
    no example for itself.
    """
    is_knowledge = prompt.kind == KNOWLEDGE

    def turns_of(one: KnowledgeItem) -> tuple[Message, ...]:
        values: dict[str, str | Sequence[str]] = {"query": one.query, "topic": one.topic}
        return prompt.fill(values if is_knowledge else values | {"knowledge": one.knowledge})

    turns: list[Message] = []
    for one in examples:
        right = one.reference_or_own_knowledge if is_knowledge else next(iter(one.gold), one.answer)
        if right.strip() and one.id != item.id:
            turns += [*turns_of(one), Message(role="assistant", content=harmless(right))]
    return (*turns, *turns_of(item))
