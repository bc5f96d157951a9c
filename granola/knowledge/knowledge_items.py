"""What is judged: a knowledge text with the query that it is to help with, and what is known of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TEXTS = ("topic", "query", "knowledge", "answer", "reference", "system")
LISTS = ("gold", "evidence", "context")


@dataclass(frozen=True, kw_only=True, slots=True)
class KnowledgeItem:
    """One text. Chen et al. 2023, section 3: query q, knowledge k, answer a, gold answer a*.

    `answer` is what a model answered from the knowledge, `gold` the right answers, `reference` the right knowledge,
    `evidence` passages found for the item, `context` the turns of a dialogue before the query. `system` names who
    wrote the text, `candidate` its number among several for one id, from 0. `views`: how popular the topic is, page
    views or any other count; None where it is not known.
    """

    id: str
    query: str
    knowledge: str = ""
    topic: str = ""
    answer: str = ""
    gold: tuple[str, ...] = ()
    reference: str = ""
    evidence: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    system: str = ""
    candidate: int = 0
    views: float | None = None
    source: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells a text from every other of a file: system, id, candidate."""
        return self.system, self.id, self.candidate

    def to_json(self) -> dict[str, Any]:
        """A JSON object without the fields that are empty; `knowledge` always, `source` never."""
        record: dict[str, Any] = {**self.extra, "id": self.id, "query": self.query, "knowledge": self.knowledge}
        record |= {name: getattr(self, name) for name in TEXTS if getattr(self, name)}
        record |= {name: list(getattr(self, name)) for name in LISTS if getattr(self, name)}
        if self.candidate:
            record["candidate"] = self.candidate
        if self.views is not None:
            record["views"] = self.views
        return record
