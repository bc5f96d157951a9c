"""Prompts: text files with named slots, in turns.

A file looks like this:

    # A line that begins with # before the first turn is a comment.
    [system]
    You name places.
    [user]
    Which place is meant? <question>{{question}}</question>

Turns begin with a line of [system], [user] or [assistant] alone; the blank lines around a turn's text are no part of
it. Examples are turns of the user's and the assistant's before the last one. Which slots a prompt has is the program's
to say; a file must use those that are required.

What fills a slot is data, whoever wrote it. Turns are parted before slots are filled, a slot's text is never searched
for slots again, and it is put on one line, without control characters, and with its angle brackets and other marks
that part turns or close tags replaced. So `<question>...</question>` around a slot cannot be closed from within, and
a reply in which a tag is looked for (`abstraction.phrasing.forms`) cannot have got that tag from data.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from abstraction.errors import PromptError
from abstraction.models.chat_model import Message, Role

SUFFIX = ".txt"
LONGEST = 2000  # characters of one slot's text; what is longer ends in ...
_TURN = re.compile(r"^\[(system|user|assistant)\][ \t]*$", re.MULTILINE)
_SLOT = re.compile(r"\{\{([^{}\n]*)\}\}")
# What opens an instruction, and every closing bracket.
_INSTRUCTION = re.compile(r"\[(?=\s*+/?\s*+(?:inst|system|user|assistant))|\]", re.IGNORECASE)
# What looks like the marks by which models part turns, and what closes a slot, as signs that mean nothing to either.
_HARMLESS = str.maketrans({"<": "‹", ">": "›", "＜": "‹", "＞": "›", "{": "(", "}": ")", "`": "'"})


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptKind:
    """A prompt that the program asks with: the slots that its file must have, and those that it may have."""

    name: str
    required: frozenset[str]
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Turn:
    role: Role
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A prompt as read. `sha256`: hex, of the file's text, whatever its line ends; part of a signature.

    `origin` names the bundled set that it belongs to, or "own"; "" where there are no sets.
    """

    kind: PromptKind
    turns: tuple[_Turn, ...]
    sha256: str
    origin: str = ""

    def fill(self, values: Mapping[str, str | Sequence[str]]) -> tuple[Message, ...]:
        """The messages with each slot filled. A sequence fills its slot with a line `- item` each.

        Raises PromptError for a slot without a value, or a value without a slot in this kind of prompt.
        """
        unknown = sorted(values.keys() - self.kind.required - self.kind.optional)
        if unknown:
            raise PromptError(f"prompt {self.kind.name} has no slot {', '.join(unknown)}")
        ready = {name: _rendered(value) for name, value in values.items()}

        def value_of(match: re.Match[str]) -> str:
            name = match[1].strip()
            if name not in ready:
                raise PromptError(f"prompt {self.kind.name}: no text for the slot {name}")
            return ready[name]

        return tuple(Message(role=turn.role, content=_SLOT.sub(value_of, turn.text)) for turn in self.turns)


def harmless(text: str) -> str:
    """Text from data as it stands in a slot: one line, no control or invisible characters, no marks.

    Angle brackets become ‹ ›, braces round brackets, and [INST], [system] and their like lose their square brackets.
    """
    seen = (letter if _is_shown(letter) else " " for letter in unicodedata.normalize("NFC", text))
    line = " ".join("".join(seen).split()).translate(_HARMLESS)
    line = _without_instructions(line)
    return line if len(line) <= LONGEST else line[: LONGEST - 3].rstrip() + "..."


def _without_instructions(line: str) -> str:
    """Each opening of an instruction and the next free closing bracket as round ones; what is never closed stays."""
    letters = list(line)
    open_: deque[int] = deque()
    for match in _INSTRUCTION.finditer(line):
        if match[0] == "[":
            open_.append(match.start())
        elif open_:
            letters[open_.popleft()], letters[match.start()] = "(", ")"
    return "".join(letters)


def _is_shown(letter: str) -> bool:
    """Not a control, a lone surrogate, or one of the signs that change a text's direction or hide in it."""
    category = unicodedata.category(letter)
    return category not in ("Cc", "Cs", "Co", "Cn") and (category != "Cf" or letter in "\u200c\u200d")


def _rendered(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return harmless(value)
    return "\n".join(f"- {harmless(item)}" for item in value)


def parse_prompt(text: str, kind: PromptKind, where: str) -> Prompt:
    """A prompt from its file's text. Raises PromptError naming `where` and the line."""
    normal = "\n".join(text.splitlines())
    before, *parts = _TURN.split(normal)
    if stray := next((line for line in before.split("\n") if line.strip() and not line.startswith("#")), None):
        number = normal.split("\n").index(stray) + 1
        raise PromptError(f"{where}, line {number}: text before the first turn; begin it with a line of [user]")
    turns: list[_Turn] = []
    role: Any  # one of the pattern's three
    number = before.count("\n") + 1
    for role, content in zip(parts[::2], parts[1::2], strict=True):
        if not content.strip():
            raise PromptError(f"{where}, line {number}: the turn [{role}] is empty")
        for at, line in enumerate(content.split("\n")):
            _check_slots(line, kind, f"{where}, line {number + at}")
        number += content.count("\n")
        turns.append(_Turn(role=role, text=content.strip()))
    if not re.fullmatch(r"(s)?(ua)*u", "".join(turn.role[0] for turn in turns)):
        raise PromptError(
            f"{where}: its turns are {', '.join(f'[{turn.role}]' for turn in turns) or 'none'}; [user] and [assistant] "
            "take turns, [user] first and last: what the model answers; [system] may stand before them"
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


OWN = "own"  # the origin of prompts from a folder that the user names


def load_prompts(
    kinds: Iterable[PromptKind], bundled: Path, chosen: Path | str | None = None, *, sets: Sequence[str] = ()
) -> dict[str, Prompt]:
    """Each kind's prompt by name, from the file NAME.txt.

    `sets` are folders of `bundled`, the default first; without any, the prompts stand in `bundled` itself. `chosen` is
    one of the sets, or a folder of the user's. What a set or that folder lacks comes from the default, then from the
    other sets. Raises PromptError for a file that is not as it must be, for a .txt of the user's that is no prompt's,
    and where there is none at all.
    """
    kind_of = {kind.name: kind for kind in kinds}
    folders = [(name, bundled / name) for name in sets] or [("", bundled)]
    if chosen is not None and str(chosen) in sets:
        folders.sort(key=lambda folder: folder[0] != str(chosen))
    elif chosen is not None:
        folders.insert(0, (OWN, _own_folder(Path(chosen), kind_of, sets)))
    return {name: _load(kind, folders) for name, kind in kind_of.items()}


def _own_folder(folder: Path, kind_of: Mapping[str, PromptKind], sets: Sequence[str]) -> Path:
    if not folder.is_dir():
        others = f", or one of the sets {', '.join(sets)}" if sets else ""
        raise PromptError(f"{folder}: no such folder of prompts; allowed: a folder{others}")
    there = sorted(folder.glob(f"*{SUFFIX}"))
    known = ", ".join(f"{name}{SUFFIX}" for name in sorted(kind_of))
    if not there:
        raise PromptError(f"{folder} holds no prompt; those that can be replaced: {known}")
    if strange := next((file for file in there if file.stem not in kind_of), None):
        raise PromptError(f"{strange} replaces no prompt; those there are: {known}")
    return folder


def _load(kind: PromptKind, folders: Sequence[tuple[str, Path]]) -> Prompt:
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
    """Hex SHA-256 over names and texts of prompts: what a signature says of them, its first eight letters."""
    lines = "".join(f"{name}\0{prompts[name].sha256}\n" for name in sorted(prompts))
    return hashlib.sha256(lines.encode()).hexdigest()


def hash_of(prompts: Mapping[str, Prompt], *kinds: PromptKind) -> str:
    """What a signature says of some of the prompts: the sets that they are from and eight letters of their hash.

    For instance "paper-1a2b3c4d"; the hash alone where there are no sets.
    """
    used = {kind.name: prompts[kind.name] for kind in kinds}
    origins = "+".join(sorted({prompt.origin for prompt in used.values()} - {""}))
    return f"{origins}-{prompts_hash(used)[:8]}" if origins else prompts_hash(used)[:8]
