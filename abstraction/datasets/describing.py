"""What GRANOLA-EQ's rows say of their two entities: ids, descriptions; and how many sites have a page on each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from abstraction.datasets.columns import ANSWER_SITELINKS, QUESTION_SITELINKS
from abstraction.rows import TieredRow
from kg.graph import Graph
from kg.store.base import Store
from kg.terms import fallback_chain

_CHUNK = 100  # rows that one query is for


def with_sitelinks(rows: Iterable[TieredRow], store: Store) -> Iterator[TieredRow]:
    """The rows with the sitelink counts of the entities asked about, where the snapshot has any and the row none."""
    source = iter(rows)
    while chunk := list(islice(source, _CHUNK)):
        asked = [(row.question_entity or {}).get("qid") for row in chunk]
        wanted = {qid for qid in asked if isinstance(qid, str)}
        known = store.entities(wanted, languages=(), properties=()) if wanted else {}
        for row, qid in zip(chunk, asked, strict=True):
            entity = known.get(qid) if isinstance(qid, str) else None
            if entity is None or not entity.sitelinks or row.extra.get(QUESTION_SITELINKS) not in (None, ""):
                yield row
            else:
                yield replace(row, extra={**row.extra, QUESTION_SITELINKS: entity.sitelinks})


def described(row: TieredRow, graph: Graph) -> TieredRow:
    """The row with its entities' descriptions and sitelink counts, where it does not give them already.

    The popularity of GRANOLA-EQ's columns is none of WikiData's facts: it stays what the row gives, or nothing.
    """
    entity = row.question_entity or {}
    told = {
        **_told(graph, entity.get("qid"), "question_entity_description", QUESTION_SITELINKS),
        **_told(graph, row.levels[0].tiers[0].qid, "answer_entity_description", ANSWER_SITELINKS),
    }
    missing = {key: value for key, value in told.items() if row.extra.get(key) in (None, "")}
    return replace(row, extra={**row.extra, **missing}) if missing else row


def _told(graph: Graph, qid: object, description: str, sitelinks: str) -> dict[str, Any]:
    entity = graph.entity(qid) if isinstance(qid, str) else None
    if entity is None:
        return {}
    chain = fallback_chain(graph.shown_in)
    text = next((entity.descriptions[code] for code in chain if code in entity.descriptions), None)
    return {key: value for key, value in ((description, text), (sitelinks, entity.sitelinks)) if value}
