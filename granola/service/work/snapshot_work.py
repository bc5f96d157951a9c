"""What the endpoints do, by the library: pieces of work for a reader's thread, each from one snapshot."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from abstraction.faults import RejectedRow
from abstraction.files.writing import json_line
from abstraction.language.languages import told_languages
from abstraction.rows import SCHEMA_VERSION, QARow, TieredRow
from granola.service.incoming.problems import HTTPProblem
from granola.service.work.snapshot_session import SnapshotSession
from kg.store.protocol import NameMatch
from kg.terms import best_text, fallback_chain

SLICE_SECONDS = 0.02  # how long a batch keeps its reader before others have their turn
SLICE_ROWS = 100
NAMES_AN_ENTITY = 5  # that begin alike, of those which complete what is typed


def check_language(session: SnapshotSession, language: str) -> None:
    """Raise HTTPProblem for a language that nothing would be told in."""
    if not session.speaks(language):
        raise HTTPProblem(
            422, "language", f"language is {language!r}: the snapshot has no names in it, and dates are written in "
            f"{told_languages()} alone; ask in one of these, or in one that the snapshot has names in",
        )  # fmt: skip


def ladder(session: SnapshotSession, row: QARow, *, language: str, linker: str = "question") -> TieredRow:
    """The tiered row of a question; where there is nothing in the language, tiers are told in another."""
    session.count_sent(_said_in(row))
    return session.maker(language, linker).make(row)


def _said_in(row: QARow) -> Iterator[str]:
    """The texts of a question that are looked into."""
    return chain((row.question, row.subject_text or "", row.answer_description or ""), row.answers)


def line_of(record: Mapping[str, Any], *, first: bool = False) -> bytes:
    """A record as a line of JSONL, as files have it: the first tells the schema."""
    return json_line({"schema_version": SCHEMA_VERSION, **record} if first else record)


class Batch:
    """The rows of a batch's answer, made slice by slice: a ladder each, or why there is none."""

    def __init__(self, rows: Sequence[QARow | RejectedRow], *, language: str, linker: str) -> None:
        self._rows = rows
        self._language = language
        self._linker = linker
        self._made: Iterator[TieredRow | RejectedRow] | None = None
        self._at = 0

    @property
    def is_done(self) -> bool:
        """Whether every row has been made."""
        return self._at >= len(self._rows)

    def slice(self, session: SnapshotSession) -> list[TieredRow | RejectedRow]:
        """The next rows, for as long as a turn takes."""
        if self._made is None:
            questions = (row for row in self._rows if isinstance(row, QARow))
            self._made = session.maker(self._language, self._linker).make_each(questions)
        until = time.monotonic() + SLICE_SECONDS
        rows: list[TieredRow | RejectedRow] = []
        while not self.is_done and len(rows) < SLICE_ROWS and not (rows and time.monotonic() > until):
            row = self._rows[self._at]
            if isinstance(row, QARow):
                session.count_sent(_said_in(row))
            rows.append(next(self._made) if isinstance(row, QARow) else row)
            self._at += 1
        return rows


def named(session: SnapshotSession, ids: Iterable[str], language: str) -> dict[str, dict[str, Any]]:
    """Entities briefly: id, label and description in a language or its fallbacks."""
    out = {}
    for entity_id, entity in session.store.entities(list(dict.fromkeys(ids)), properties=()).items():
        label, description = (best_text(terms, language) for terms in (entity.labels, entity.descriptions))
        out[entity_id] = {
            "id": entity.id,
            "label": label[0] if label else None,
            "description": description[0] if description else None,
        }
    return out


def search(session: SnapshotSession, name: str, *, language: str, limit: int, begins: bool) -> dict[str, Any]:
    """Entities that carry a name as label or alias, or one that begins so; upper and lower case do not matter."""
    matches = _beginning(session, name, language, limit) if begins else session.store.find([name]).get(name, [])
    shown = matches[:limit]
    known = named(session, [match.id for match in shown], language)
    blank = {"label": None, "description": None}
    found = [
        {**blank, **known.get(m.id, {}), "id": m.id, "kind": m.kind, "language": m.language, "text": m.text}
        for m in shown
    ]
    return {"name": name, "found": found, "more": len(matches) - len(shown)}


def _beginning(session: SnapshotSession, text: str, language: str, limit: int) -> list[NameMatch]:
    """Entities that carry a name which begins so, each with the shortest of its names that does."""
    names = session.store.names_beginning(text, languages=fallback_chain(language), limit=NAMES_AN_ENTITY * limit)
    match_of: dict[str, NameMatch] = {}
    for match in names:
        if match.id.startswith("Q"):
            match_of.setdefault(match.id, match)
    return list(match_of.values())
