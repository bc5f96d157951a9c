"""Review of doubtful links by a person: writing a sheet with rivals, and reading it back with decisions.

The sheet is a CSV file with one row per doubtful link. The person enters in its column `decision` the item's QID, or
"none" for no item; an empty cell keeps the link.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from abstraction.base.faults import RejectedRow
from abstraction.base.tiers import Abstention, Level, Tier
from abstraction.errors import RowError
from abstraction.files.records import escape_formula
from abstraction.files.row_models import read_sheet_lines
from abstraction.files.rows import QARow, TieredRow, candidate_ids_of_link
from kg.base.files import atomic_path
from kg.base.model import ENTITY_ID
from kg.graph.graph import Graph
from kg.store.protocol import Store

CONFIDENCE = ("low", "medium", "high", "given")  # confidences of links, lowest first
COLUMNS = ("id", "question", "answer", "confidence", "reason", "meant", "rivals", "holds", "ladder", "decision")
NONE = "none"  # the decision that an answer is no item
MOST_SHOWN = 8  # rivals, and statements of an entity, on the sheet
_WORD = re.compile(r"\S+")
_LONGEST = 12  # words of an answer that are searched for names
AnyRow = TypeVar("AnyRow", bound=TieredRow | RejectedRow)
Decisions = Mapping[tuple[str, str], str]
"""Decisions of a person by (row id, answer): the QID of an item, or NONE."""


def drop_uncertain_ladder(row: TieredRow, least_confidence: str) -> TieredRow:
    """The row; without its ladder if one of its links has less confidence than `least_confidence`."""
    if any(_confidence_rank(link) < CONFIDENCE.index(least_confidence) for link in row.links if link.get("qid")):
        return _without_ladder(row, Abstention.UNCERTAIN_LINK)
    return row


def with_decided_qids(row: QARow, decisions: Decisions) -> QARow:
    """The question with the QIDs that a person decided on in place of its own."""
    qids = [decisions.get((row.id, text), qid) for text, qid in zip(row.answers, row.answer_qids, strict=True)]
    return replace(row, answer_qids=tuple(None if qid == NONE else qid for qid in qids))


def drop_refused_ladder(row: TieredRow, decisions: Decisions) -> TieredRow:
    """The row; without its ladder and the link if the decision for one of its answers is NONE."""
    none = {text for text in row.answers if decisions.get((row.id, text)) == NONE}
    if not none:
        return row
    links = [link for link in row.links if (link.get("answer") or row.answers[0]) not in none]
    return replace(_without_ladder(row, Abstention.NO_LINK), extra={**row.extra, "links": links})


def _confidence_rank(link: Mapping[str, Any]) -> int:
    confidence = link.get("confidence")
    return CONFIDENCE.index(confidence) if confidence in CONFIDENCE else 0


def _without_ladder(row: TieredRow, code: Abstention) -> TieredRow:
    alone = Level(tiers=tuple(Tier(text=text) for text in row.answers))
    return replace(row, levels=(alone,), abstained=code)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A doubtful link: the answer, its entity, the rivals, and the snapshot's statements about the first of them."""

    answer: str
    confidence: str
    reason: str
    meant: str
    rivals: tuple[str, ...]
    holds: tuple[str, ...]


class Reviewer:
    """Collects from one snapshot the information for reviewing a row's links."""

    def __init__(self, store: Store, *, language: str = "en") -> None:
        self._graph = Graph(store, language=language)

    def doubts(self, row: TieredRow) -> Iterator[Doubt]:
        """The links with less than high confidence, and those abandoned for rivals or a conflict of kind.

        An answer without a match is included where parts of it are names.
        """
        for link in row.links:
            text = str(link.get("answer") or row.answers[0])
            code = link.get("abstained")
            if code is None and _confidence_rank(link) >= CONFIDENCE.index("high"):
                continue
            ids = [i for i in candidate_ids_of_link(link) if ENTITY_ID.match(i)]
            named = ids or self._ids_of_items_named(text) or self._ids_of_items_named_in_parts(text)
            if code == Abstention.NO_LINK and not named:
                continue
            meant = ids[:1] if link.get("qid") else []
            self._graph.fetch(named)
            yield Doubt(
                answer=text,
                confidence=str(link.get("confidence") or ""),
                reason=str(code or link.get("rule") or ""),
                meant="".join(map(self.describe_item, meant)),
                rivals=tuple(self.describe_item(i) for i in named[:MOST_SHOWN] if i not in meant),
                holds=tuple(map(self._statements_as_text, named[:1])),
            )

    def _ids_of_items_named(self, text: str) -> list[str]:
        return [m.id for m in self._graph.find(text) if m.id.startswith("Q")]

    def _ids_of_items_named_in_parts(self, text: str) -> list[str]:
        """Items whose names are the longest parts of the text."""
        words = _WORD.findall(text)[:_LONGEST]
        spans = [
            " ".join(words[start : start + size]).strip(".,;:()\"'")
            for size in range(len(words) - 1, 1, -1)
            for start in range(len(words) - size + 1)
        ]
        spans = [span for span in spans if span[:1].isupper() and len(span) > 3]
        self._graph.prefetch_names(spans)
        ids = [i for span in spans for i in self._ids_of_items_named(span)]
        return list(dict.fromkeys(ids))[:MOST_SHOWN]

    def describe_item(self, qid: str) -> str:
        """An item as text: QID, label and description."""
        description = self._graph.description(qid)
        return f"{qid} {self._graph.label(qid) or '(no label)'}" + (f": {description}" if description else "")

    def _statements_as_text(self, qid: str) -> str:
        """The statements of an item about other items, as text."""
        entity = self._graph.entity(qid)
        held = [(s.property, s.target) for s in entity.statements if s.target] if entity else []
        self._graph.fetch(i for pair in held for i in pair if i)
        statements = (f"{self._graph.label(p) or p} {self._graph.label(t) or t}" for p, t in held if t)
        return f"{qid}: " + (
            "; ".join(list(dict.fromkeys(statements))[:MOST_SHOWN]) or "no statement about another item"
        )


def write_sheet(rows: Iterable[AnyRow], reviewer: Reviewer, path: Path) -> Iterator[AnyRow]:
    """Yield the rows unchanged and write the sheet of their doubtful links; the file appears after the last row."""
    with atomic_path(path) as part, part.open("w", encoding="utf-8", newline="") as stream:
        sheet = csv.writer(stream)
        sheet.writerow(COLUMNS)
        for row in rows:
            if isinstance(row, TieredRow):
                ladder = " > ".join(" | ".join(tier.text for tier in level.tiers) for level in row.levels[1:])
                for doubt in reviewer.doubts(row):
                    cells = (
                        row.id, row.question, doubt.answer, doubt.confidence, doubt.reason, doubt.meant,
                        "\n".join(doubt.rivals), "\n".join(doubt.holds), ladder, "",
                    )  # fmt: skip
                    sheet.writerow(map(escape_formula, cells))
            yield row


def read_decisions(path: Path) -> Decisions:
    """The decisions of a sheet. Raises RowError for missing columns or an invalid decision."""
    decisions: dict[tuple[str, str], str] = {}
    expected = "a sheet of tiers --review"
    for line in read_sheet_lines(path, ("id", "answer", "decision"), expected=expected, error=RowError):
        text = line.data.get("decision", "").strip()
        if not text:
            continue
        decision = NONE if text.lower() == NONE else text.upper()
        if decision != NONE and not re.fullmatch(r"Q[1-9][0-9]{0,9}", decision):
            raise RowError(f"{line.source}: decision {text[:40]!r}: expected an item's id, as Q90, or {NONE}")
        decisions[line.data.get("id", ""), line.data.get("answer", "")] = decision
    return decisions


def doubt_lines_for_terminal(doubts: Sequence[Doubt]) -> list[str]:
    """The doubts as lines for a terminal."""
    out = []
    for doubt in doubts:
        out += [f"{doubt.answer}: {doubt.meant or 'no entity'} ({doubt.reason})"]
        out += [f"  may be {rival}" for rival in doubt.rivals]
        out += [f"  known: {held}" for held in doubt.holds]
    return out
