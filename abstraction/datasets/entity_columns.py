"""What GRANOLA-EQ's rows say of their two entities: ids, descriptions; and how many sites have a page on each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from abstraction.datasets.dataset_columns import ANSWER_SITELINKS
from abstraction.formats.fields import QUESTION_SITELINKS
from abstraction.rows import TieredRow
from kg.terms import fallback_chain
from kg.walks.graph import Graph


def described(row: TieredRow, graph: Graph) -> TieredRow:
    """The row with its entities' descriptions and sitelink counts, where it does not give them already.

    The popularity of GRANOLA-EQ's columns is none of WikiData's facts: it stays what the row gives, or nothing.
    """
    entity = row.question_entity or {}
    columns = {
        **_columns_of(graph, entity.get("qid"), "question_entity_description", QUESTION_SITELINKS),
        **_columns_of(graph, row.levels[0].tiers[0].qid, "answer_entity_description", ANSWER_SITELINKS),
    }
    missing = {key: value for key, value in columns.items() if row.extra.get(key) in (None, "")}
    return replace(row, extra={**row.extra, **missing}) if missing else row


def _columns_of(graph: Graph, qid: object, description: str, sitelinks: str) -> dict[str, Any]:
    entity = graph.entity(qid) if isinstance(qid, str) else None
    if entity is None:
        return {}
    chain = fallback_chain(graph.shown_in)
    text = next((entity.descriptions[code] for code in chain if code in entity.descriptions), None)
    return {key: value for key, value in ((description, text), (sitelinks, entity.sitelinks)) if value}
