"""Descriptions and sitelink counts of a row's entities, for prompts and dataset columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from abstraction.files.row_names import QUESTION_SITELINKS
from abstraction.files.rows import TieredRow
from kg.base.terms import fallback_chain
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
