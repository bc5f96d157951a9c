"""The prompts for knowledge texts: files with slots, to score and to generate them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from importlib.resources import as_file, files
from pathlib import Path

from abstraction.base.faults import RejectedRow, excerpt
from abstraction.models.chat_model import ChatModel, Failure, Message, Request, Sampling
from abstraction.phrasing.prompt_files import Prompt, PromptKind, harmless, load_prompts
from granola.evidence.knowledge.knowledge_items import KnowledgeItem
from granola.replies import read_reply
from granola.replies.reply import visible_text


class TextKind(StrEnum):
    """The kind of text to generate: a knowledge text, a short answer from one, a turn of a dialogue. Its value is the
    name of the prompt.
    """

    KNOWLEDGE = "knowledge"
    ANSWER = "answer"
    REPLY = "reply"


def messages_for(
    item: KnowledgeItem, what: TextKind, prompt: Prompt, examples: Sequence[KnowledgeItem] = ()
) -> tuple[Message, ...]:
    """The messages: each example's prompt with its right text as reply, then the item's prompt. An item is no example
    for itself.
    """
    turns: list[Message] = []
    for example in examples:
        target = (
            (example.reference or example.knowledge)
            if what is TextKind.KNOWLEDGE
            else next(iter(example.gold), example.answer)
        )
        if target.strip() and example.id != item.id:
            turns += [*_item_messages(example, what, prompt), Message(role="assistant", content=harmless(target))]
    return (*turns, *_item_messages(item, what, prompt))


def _item_messages(item: KnowledgeItem, what: TextKind, prompt: Prompt) -> tuple[Message, ...]:
    values: dict[str, str | Sequence[str]] = {"query": item.query, "topic": item.topic}
    if what is not TextKind.KNOWLEDGE:
        values["knowledge"] = item.knowledge
    return prompt.fill(values)


def generate_texts(
    items: Iterable[KnowledgeItem],
    what: TextKind,
    model: ChatModel,
    prompts: Mapping[str, Prompt],
    sampling: Sampling,
    examples: Sequence[KnowledgeItem] = (),
) -> Iterator[KnowledgeItem | RejectedRow]:
    """The items with their generated texts, in order, one per sample with `candidate` from 0.

    An item without an answer is rejected. Raises ModelError where all further requests would fail.
    """
    # `model.generate` reads ahead: items wait here for their result.
    waiting: list[KnowledgeItem] = []
    prompt = prompts[what]

    def requests() -> Iterator[Request]:
        for item in items:
            waiting.append(item)
            yield Request(id=item.id, messages=messages_for(item, what, prompt, examples), sampling=sampling)

    for result in model.generate(requests()):
        item = waiting.pop(0)
        if isinstance(result, Failure):
            reason = f"{result.reason}: {result.message}"
            yield RejectedRow(source=item.read_from or item.id, reason=reason, excerpt=excerpt(item.query), id=item.id)
            continue
        for number, completion in enumerate(result.completions):
            is_knowledge = what is TextKind.KNOWLEDGE
            text = visible_text(completion.text) if is_knowledge else read_reply(completion.text).answer.strip()
            if is_knowledge:
                reference = item.reference or item.knowledge
                yield item.with_changes(knowledge=text, reference=reference, candidate=number)
            else:
                yield item.with_changes(answer=text, candidate=number or item.candidate)


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
