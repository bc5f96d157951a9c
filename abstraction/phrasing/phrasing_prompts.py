"""The prompts of phrasing and cleaning: their names, slots and files."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from abstraction.errors import PromptError
from abstraction.files.rows import TieredRow
from abstraction.phrasing.prompt_files import Prompt, PromptKind, load_prompts

LADDER = PromptKind(
    name="ladder", required=frozenset({"question", "answer"}), optional=frozenset({"about_question", "about_answer"})
)
AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
CONSISTENCY = PromptKind(
    name="consistency",
    required=frozenset({"question", "answer", "about_question", "about_answer"}),
    optional=frozenset({"subject"}),
)
KINDS = (LADDER, AGAIN, CONSISTENCY)
UNKNOWN = "not known"  # shown in a prompt for a missing description
SETS = ("paper", "guided")  # built as Yona et al. 2024 describe; our own, with whole ladders as examples


def read_prompts(chosen: Path | str | None = None) -> dict[str, Prompt]:
    """All prompts by name: from the set `chosen` (see `SETS`), or from a folder, completed by the default set.

    Raises PromptError.
    """
    with as_file(files("abstraction") / "phrasing" / "prompts") as bundled:
        prompts = load_prompts(KINDS, bundled, chosen, sets=SETS)
    if [turn.role for turn in prompts[AGAIN.name].turns] != ["user"]:
        where = f"{chosen}/again.txt" if chosen is not None else "again.txt"
        raise PromptError(f"{where}: it stands behind other turns and must be a single [user] turn")
    return prompts


def slots_of(row: TieredRow) -> dict[str, str]:
    """The values of the slots question, answer, about_question and about_answer for a row."""

    def description(key: str) -> str:
        text = row.extra.get(key)
        return text if isinstance(text, str) and text.strip() else UNKNOWN

    return {
        "question": row.question,
        "answer": "; ".join(row.answers),
        "about_question": description("question_entity_description"),
        "about_answer": description("answer_entity_description"),
    }
