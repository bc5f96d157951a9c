"""The prompts of phrasing and cleaning: their names, slots and files, and the descriptions that fill them."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from abstraction.errors import PromptError
from abstraction.files.records import QUESTION_SITELINKS
from abstraction.files.rows import TieredRow
from abstraction.phrasing.prompt_files import Prompt, PromptKind, load_prompts
from kg.base.model import fallback_chain
from kg.graph.graph import Graph

ANSWER_SITELINKS = "answer_entity_sitelinks"


def with_descriptions(row: TieredRow, graph: Graph) -> TieredRow:
    """The row with its entities' descriptions and sitelink counts, where it lacks them.

    The popularity in GRANOLA-EQ's columns is no fact of WikiData: it remains as the row gives it, or empty.
    """
    entity = row.question_entity or {}
    columns = {
        **_entity_columns(graph, entity.get("qid"), "question_entity_description", QUESTION_SITELINKS),
        **_entity_columns(graph, row.levels[0].tiers[0].qid, "answer_entity_description", ANSWER_SITELINKS),
    }
    missing = {key: value for key, value in columns.items() if row.extra.get(key) in (None, "")}
    return replace(row, extra={**row.extra, **missing}) if missing else row


def _entity_columns(graph: Graph, qid: object, description: str, sitelinks: str) -> dict[str, Any]:
    entity = graph.entity(qid) if isinstance(qid, str) else None
    if entity is None:
        return {}
    chain = fallback_chain(graph.shown_in)
    text = next((entity.descriptions[code] for code in chain if code in entity.descriptions), None)
    return {key: value for key, value in ((description, text), (sitelinks, entity.sitelinks)) if value}


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
