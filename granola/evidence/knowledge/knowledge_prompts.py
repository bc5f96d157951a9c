"""The prompts for knowledge texts: files with slots, to score and to generate them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TypeVar

from abstraction.base.faults import RejectedRow, excerpt
from abstraction.models.chat_model import ChatModel, Failure, Message, Request, Result, Sampling
from abstraction.phrasing.prompt_files import Prompt, PromptKind, harmless, load_prompts
from granola.evidence.knowledge.knowledge_items import KnowledgeItem
from granola.replies import read_reply
from granola.replies.reply import visible_text

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


def read_knowledge_prompts(chosen: Path | str | None = None) -> dict[str, Prompt]:
    """All prompts by name; files of the folder `chosen` override the bundled ones. Raises PromptError."""
    with as_file(files("granola") / "evidence" / "knowledge" / "prompts") as bundled:
        return load_prompts(KNOWLEDGE_KINDS, bundled, chosen)


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

    shown = [f"{fill_slots(one, one.reference or one.knowledge)} {target}" for one, target in examples]
    return "\n\n".join([*shown, fill_slots(item, knowledge)])


def replies_of(
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


def generate_texts(
    items: Iterable[KnowledgeItem],
    prompt: Prompt,
    model: ChatModel,
    sampling: Sampling,
    examples: Sequence[KnowledgeItem] = (),
) -> Iterator[KnowledgeItem | RejectedRow]:
    """The items with their generated texts, in order, one per sample with `candidate` from 0.

    `prompt` is of KNOWLEDGE, ANSWER_FROM or REPLY_FROM. Before the item's own it is shown with each of the `examples`,
    whose right text is the reply; an item is no example for itself. An item without an answer is rejected. Raises
    ModelError where all further requests would fail.
    """
    is_knowledge = prompt.kind == KNOWLEDGE

    def turns_of(item: KnowledgeItem) -> tuple[Message, ...]:
        values: dict[str, str | Sequence[str]] = {"query": item.query, "topic": item.topic}
        return prompt.fill(values if is_knowledge else values | {"knowledge": item.knowledge})

    def ask(item: KnowledgeItem) -> Request:
        turns: list[Message] = []
        for one in examples:
            right = one.reference or one.knowledge if is_knowledge else next(iter(one.gold), one.answer)
            if right.strip() and one.id != item.id:
                turns += [*turns_of(one), Message(role="assistant", content=harmless(right))]
        return Request(id=item.id, messages=(*turns, *turns_of(item)), sampling=sampling)

    for item, result in replies_of(items, ask, model):
        if isinstance(result, Failure):
            reason = f"{result.reason}: {result.message}"
            yield RejectedRow(source=item.read_from or item.id, reason=reason, excerpt=excerpt(item.query), id=item.id)
            continue
        for number, completion in enumerate(result.completions):
            if is_knowledge:
                text, reference = visible_text(completion.text), item.reference or item.knowledge
                yield item.model_copy(update={"knowledge": text, "reference": reference, "candidate": number})
            else:
                answer = read_reply(completion.text).answer.strip()
                yield item.model_copy(update={"answer": answer, "candidate": number or item.candidate})
