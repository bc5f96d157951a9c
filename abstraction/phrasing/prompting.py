"""Prompts, which are text files with named slots, in turns; and the requests made with them about a stream of items.

A file looks like this:

    # A line that begins with # before the first turn is a comment.
    [system]
    You name places.
    [user]
    Which place is meant? <question>{{question}}</question>

Turns begin with a line of [system], [user] or [assistant] alone; blank lines around the text of a turn are ignored.
Examples are turns of user and assistant before the last one. The program defines the slots of each prompt; a file must
use the required ones.

The text of a slot is data, and may be hostile. Turns are separated before slots are filled, and a slot's text is never
searched for slots again. It is put on one line, without control characters, and angle brackets and other marks that
separate turns or close tags are replaced. So `<question>...</question>` around a slot cannot be closed from within,
and a tag in a reply (`abstraction.phrasing.phraser`) cannot come from data.

Requests are sent in order; an unreadable reply is asked for once more.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from abstraction.base.faults import FAULT, Fault, fault_or_raise
from abstraction.errors import PromptError, ReplyError
from abstraction.models.chat_model import ChatModel, Failure, Message, Request, Result

SUFFIX = ".txt"
LONGEST = 2000  # most characters of one slot's text; a longer text is cut and ends in ...
_TURN = re.compile(r"^\[(system|user|assistant)\][ \t]*$", re.MULTILINE)
_SLOT = re.compile(r"\{\{([^{}\n]*)\}\}")
# The opening of an instruction such as [INST].
_INSTRUCTION = re.compile(r"\[(?=\s*+/?\s*+(?:inst|system|user|assistant))", re.IGNORECASE)
# Replaces characters by which models separate turns, and which close slots, by similar ones without meaning.
_HARMLESS = str.maketrans({"<": "‹", ">": "›", "＜": "‹", "＞": "›", "{": "(", "}": ")", "`": "'"})


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptKind:
    """A kind of prompt that the program uses: the slots that its file must have, and the optional ones."""

    name: str
    required: frozenset[str]
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A prompt as read. `sha256`: hex, of the text of the file, independent of its line ends; part of a signature.

    `origin` names the bundled set that contains it, or "own"; "" where there are no sets.
    """

    kind: PromptKind
    turns: tuple[Message, ...]
    sha256: str
    origin: str = ""

    def fill(self, values: Mapping[str, str | Sequence[str]]) -> tuple[Message, ...]:
        """The messages with each slot filled. A sequence fills its slot with one line `- item` per item.

        Raises PromptError for a slot without a value, or a value without a slot in this kind of prompt.
        """
        unknown = sorted(values.keys() - self.kind.required - self.kind.optional)
        if unknown:
            raise PromptError(f"prompt {self.kind.name} has no slot {', '.join(unknown)}")
        ready = {
            name: harmless(value) if isinstance(value, str) else "\n".join(f"- {harmless(item)}" for item in value)
            for name, value in values.items()
        }

        def value_of(match: re.Match[str]) -> str:
            name = match[1].strip()
            if name not in ready:
                raise PromptError(f"prompt {self.kind.name}: no text for the slot {name}")
            return ready[name]

        return tuple(replace(turn, content=_SLOT.sub(value_of, turn.content)) for turn in self.turns)


def harmless(text: str) -> str:
    """Text from data, made safe for a slot: one line, no control or invisible characters, no marks of turns.

    Angle brackets become ‹ ›, braces and the opening bracket of [INST], [system] and the like round ones.
    """
    letters = []
    for letter in unicodedata.normalize("NFC", text):
        # Controls, lone surrogates, and marks that change the direction of text or hide in it.
        category = unicodedata.category(letter)
        is_hidden = category in ("Cc", "Cs", "Co", "Cn") or (category == "Cf" and letter not in "\u200c\u200d")
        letters.append(" " if is_hidden else letter)
    line = _INSTRUCTION.sub("(", " ".join("".join(letters).split()).translate(_HARMLESS))
    return line if len(line) <= LONGEST else line[: LONGEST - 3].rstrip() + "..."


def parse_prompt(text: str, kind: PromptKind, where: str) -> Prompt:
    """A prompt from its file's text. Raises PromptError naming `where` and the line."""
    normal = "\n".join(text.splitlines())
    before, *parts = _TURN.split(normal)
    if stray := next((line for line in before.split("\n") if line.strip() and not line.startswith("#")), None):
        number = normal.split("\n").index(stray) + 1
        raise PromptError(f"{where}, line {number}: text before the first turn; begin it with a line of [user]")
    turns: list[Message] = []
    role: Any  # one of the pattern's three
    number = before.count("\n") + 1
    for role, content in zip(parts[::2], parts[1::2], strict=True):
        if not content.strip():
            raise PromptError(f"{where}, line {number}: the turn [{role}] is empty")
        for at, line in enumerate(content.split("\n")):
            _check_slots(line, kind, f"{where}, line {number + at}")
        number += content.count("\n")
        turns.append(Message(role=role, content=content.strip()))
    if not re.fullmatch(r"(s)?(ua)*u", "".join(turn.role[0] for turn in turns)):
        raise PromptError(
            f"{where}: its turns are {', '.join(f'[{turn.role}]' for turn in turns) or 'none'}; expected an "
            "optional [system], then [user] and [assistant] in turn, beginning and ending with [user]"
        )
    lacking = sorted(kind.required - {match[1].strip() for match in _SLOT.finditer(normal)})
    if lacking:
        raise PromptError(f"{where}: the prompt {kind.name} needs {', '.join(f'{{{{{slot}}}}}' for slot in lacking)}")
    return Prompt(kind=kind, turns=tuple(turns), sha256=hashlib.sha256(normal.encode()).hexdigest())


def _check_slots(line: str, kind: PromptKind, where: str) -> None:
    allowed = kind.required | kind.optional
    for match in _SLOT.finditer(line):
        if match[1].strip() not in allowed:
            shown = ", ".join(sorted(allowed)) or "none"
            raise PromptError(f"{where}: no slot {match[0]} in the prompt {kind.name}; allowed: {shown}")
    outside = _SLOT.sub("", line)
    if "{{" in outside or "}}" in outside:
        raise PromptError(f"{where}: a slot that is not closed; a slot is {{{{name}}}}, on one line")


OWN_ORIGIN = "own"  # the origin of prompts from a folder of the user


def load_prompts(
    kinds: Iterable[PromptKind], bundled: Path, chosen: Path | str | None = None, *, sets: Sequence[str] = ()
) -> dict[str, Prompt]:
    """The prompt of each kind by name, from the file NAME.txt.

    `sets` are folders of `bundled`, the default first; without any, `bundled` itself contains the prompts. `chosen` is
    one of the sets, or a folder of the user. Prompts missing there come from the default set, then from the other
    sets. Raises PromptError for a malformed file, for a .txt file of the user with an unknown name, and for a folder
    without any prompt.
    """
    kind_of = {kind.name: kind for kind in kinds}
    folders = [(name, bundled / name) for name in sets] or [("", bundled)]
    if chosen is not None and str(chosen) in sets:
        folders.sort(key=lambda folder: folder[0] != str(chosen))
    elif chosen is not None:
        own = Path(chosen)
        if not own.is_dir():
            others = f", or one of the sets {', '.join(sets)}" if sets else ""
            raise PromptError(f"{own}: no such folder of prompts; allowed: a folder{others}")
        there = sorted(own.glob(f"*{SUFFIX}"))
        known = ", ".join(f"{name}{SUFFIX}" for name in sorted(kind_of))
        if not there:
            raise PromptError(f"{own} holds no prompt; those that can be replaced: {known}")
        if strange := next((file for file in there if file.stem not in kind_of), None):
            raise PromptError(f"{strange} replaces no prompt; those there are: {known}")
        folders.insert(0, (OWN_ORIGIN, own))
    return {name: _load_prompt(kind, folders) for name, kind in kind_of.items()}


def _load_prompt(kind: PromptKind, folders: Sequence[tuple[str, Path]]) -> Prompt:
    for origin, folder in folders:
        path = folder / f"{kind.name}{SUFFIX}"
        if path.is_file():
            try:
                text = path.read_text(encoding="utf-8-sig")
            except UnicodeDecodeError as error:
                raise PromptError(f"{path} is not UTF-8: byte {error.start}") from error
            return replace(parse_prompt(text, kind, str(path)), origin=origin)
    raise PromptError(f"no prompt {kind.name}{SUFFIX} in {' or '.join(str(folder) for _, folder in folders)}")


def prompts_hash(prompts: Mapping[str, Prompt]) -> str:
    """The hex SHA-256 over names and texts of prompts; signatures contain its first eight digits."""
    lines = "".join(f"{name}\0{prompts[name].sha256}\n" for name in sorted(prompts))
    return hashlib.sha256(lines.encode()).hexdigest()


def signature_of(prompts: Mapping[str, Prompt], *kinds: PromptKind) -> str:
    """The signature of some prompts: their sets and eight digits of their hash, such as "paper-1a2b3c4d".

    The hash alone where there are no sets.
    """
    used = {kind.name: prompts[kind.name] for kind in kinds}
    origins = "+".join(sorted({prompt.origin for prompt in used.values()} - {""}))
    return f"{origins}-{prompts_hash(used)[:8]}" if origins else prompts_hash(used)[:8]


T = TypeVar("T")
V = TypeVar("V")

UNREADABLE = "unreadable-reply"  # the code `failed` of a reply that was unreadable twice
_MOST_REPEATED = 4000  # characters of an unreadable reply that the second request repeats
_MOST_WAITING = 4096  # most items that wait for an earlier one, before no more are requested: bounds memory


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestOutcome(Generic[V]):
    """The result for an item: `value`, or None with the code `failed` and the reason `why`.

    `calls` are the keys of its requests, in order, as in the log of calls and the cache. `fault` is an unexpected
    error in making the request or in reading the reply; it does not stop the other items.
    """

    value: V | None
    calls: tuple[str, ...] = ()
    failed: str = ""
    why: str = ""
    fault: Fault | None = None

    @classmethod
    def of_fault(cls, error: Exception, calls: tuple[str, ...] = ()) -> RequestOutcome[V]:
        """The outcome of an unforeseen error. Errors that end a run, such as ModelError, are raised again."""
        fault = fault_or_raise(error, "asking a model")
        return cls(
            value=None, calls=calls, failed=FAULT, why=fault.reject_reason.removeprefix(f"{FAULT} "), fault=fault
        )


@dataclass(slots=True)
class _Slot(Generic[T, V]):
    item: T
    request: Request | None
    calls: tuple[str, ...] = ()
    outcome: RequestOutcome[V] | None = None


@dataclass(slots=True)
class RequestForm(Generic[T, V]):
    """How to ask about items: `ask` makes the request of an item (None for no request), `read` reads the text of the
    reply.

    `read` raises ReplyError for an unreadable reply; then `again`, filled with the reason, follows once in the same
    conversation. Results depend only on replies, not on the time at which they arrive.
    """

    model: ChatModel
    ask: Callable[[T], Request | None]
    read: Callable[[T, str], V]
    again: Prompt

    def run(self, items: Iterable[T]) -> Iterator[tuple[T, RequestOutcome[V]]]:
        """The items with their outcomes, in order. Memory does not grow with their number.

        Raises ModelError where all further requests would fail.
        """
        source = iter(items)
        waiting: deque[_Slot[T, V]] = deque()
        retries: deque[_Slot[T, V]] = deque()
        asked: deque[_Slot[T, V]] = deque()
        over = False

        def requests() -> Iterator[Request]:
            nonlocal over
            while True:
                # Second requests go first: the oldest item holds back the output.
                if retries:
                    slot = retries.popleft()
                elif over or len(waiting) >= _MOST_WAITING:
                    return
                else:
                    try:
                        item = next(source)
                    except StopIteration:
                        over = True
                        return
                    try:
                        slot = _Slot(item, self.ask(item))
                    except Exception as error:  # a fault at one item does not stop the others
                        slot = _Slot(item, None, outcome=RequestOutcome.of_fault(error))
                    waiting.append(slot)
                if slot.outcome is not None:
                    continue
                if slot.request is None:  # there is nothing to ask about the item
                    slot.outcome = RequestOutcome(value=None)
                    continue
                slot.calls = (*slot.calls, slot.request.key())
                asked.append(slot)
                yield slot.request

        def finished_items() -> Iterator[tuple[T, RequestOutcome[V]]]:
            while waiting and (outcome := waiting[0].outcome) is not None:
                yield waiting.popleft().item, outcome

        while True:
            for result in self.model.generate(requests()):
                slot = asked.popleft()
                self._set_outcome_or_retry(slot, result)
                if slot.outcome is None:
                    retries.append(slot)
                yield from finished_items()
            yield from finished_items()
            if over and not retries:
                return

    def _set_outcome_or_retry(self, slot: _Slot[T, V], result: Result) -> None:
        """Set the outcome of an item, or for an unreadable first reply its second request."""
        if isinstance(result, Failure):
            slot.outcome = RequestOutcome(value=None, calls=slot.calls, failed=str(result.reason), why=result.message)
            return
        try:
            slot.outcome = RequestOutcome(value=self.read(slot.item, result.text), calls=slot.calls)
        except ReplyError as error:
            why = f"{error}; it was cut off" if result.completions[0].finish_reason == "length" else str(error)
            if len(slot.calls) > 1:
                slot.outcome = RequestOutcome(value=None, calls=slot.calls, failed=UNREADABLE, why=why)
            else:
                text = result.text.strip()[:_MOST_REPEATED] or "(nothing)"
                answer, problem = Message(role="assistant", content=text), self.again.fill({"problem": why})
                slot.request = replace(result.request, messages=(*result.request.messages, answer, *problem))
        except Exception as error:
            slot.outcome = RequestOutcome.of_fault(error, slot.calls)
