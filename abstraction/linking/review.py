"""Links that a person should look at: a sheet of them with their rivals, and the sheet read back with decisions.

The sheet is a CSV file with a row for each doubtful link. In its column `decision` stands what the answer means: the
id of an item, or "none" for no item at all; an empty one leaves the link as it is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from abstraction.errors import RowError
from abstraction.files.cells import marked
from abstraction.files.row_reading import read_sheet_lines
from abstraction.rows import QARow, TieredRow, linked_ids
from abstraction.tiers import Abstention, Level, Tier
from kg.files import atomic_path
from kg.model import ENTITY_ID
from kg.store.protocol import Store
from kg.walks.graph import Graph

CONFIDENCE = ("low", "medium", "high", "given")  # of links, least first
COLUMNS = ("id", "question", "answer", "confidence", "reason", "meant", "rivals", "holds", "ladder", "decision")
NONE = "none"
MOST_SHOWN = 8  # rivals, and statements of an entity
_WORD = re.compile(r"\S+")
_LONGEST = 12  # words of an answer in which names are looked for
Decisions = Mapping[tuple[str, str], str]
"""What a person decided: by row id and answer, an item's id or NONE."""


def confident(row: TieredRow, least: str) -> TieredRow:
    """The row, or where one of its links is of less confidence than `least`, the row without a ladder."""
    if any(_rank(link) < CONFIDENCE.index(least) for link in row.links if link.get("qid")):
        return _without_ladder(row, Abstention.UNCERTAIN_LINK)
    return row


def decided(row: QARow, decisions: Decisions) -> QARow:
    """The question with the items that a person decided on."""
    qids = [decisions.get((row.id, text), qid) for text, qid in zip(row.answers, row.answer_qids, strict=True)]
    return replace(row, answer_qids=tuple(None if qid == NONE else qid for qid in qids))


def refused(row: TieredRow, decisions: Decisions) -> TieredRow:
    """The row, or where a person decided that an answer is no item, the row without a ladder and that link."""
    none = {text for text in row.answers if decisions.get((row.id, text)) == NONE}
    if not none:
        return row
    links = [link for link in row.links if _linked(link, row) not in none]
    return replace(_without_ladder(row, Abstention.NO_LINK), extra={**row.extra, "links": links})


def _linked(link: Mapping[str, Any], row: TieredRow) -> str:
    """The answer that a link is of."""
    return str(link.get("answer") or row.answers[0])


def _rank(link: Mapping[str, Any]) -> int:
    confidence = link.get("confidence")
    return CONFIDENCE.index(confidence) if confidence in CONFIDENCE else 0


def _without_ladder(row: TieredRow, code: Abstention) -> TieredRow:
    alone = Level(tiers=tuple(Tier(text=text) for text in row.answers))
    return replace(row, levels=(alone,), abstained=code)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A doubtful link: the answer, what it was taken for, what else it may be, and what the snapshot holds of it."""

    answer: str
    confidence: str
    reason: str
    meant: str
    rivals: tuple[str, ...]
    holds: tuple[str, ...]


class Reviewer:
    """Tells what a person needs to know of a row's links, from one snapshot."""

    def __init__(self, store: Store, *, language: str = "en") -> None:
        self._graph = Graph(store, language=language)

    def doubts(self, row: TieredRow, *, certain: str = "high") -> Iterator[Doubt]:
        """The links of less confidence than `certain`, and those that were given up for their rivals or their kind.

        An answer that no item is called is listed where parts of it are names.
        """
        for link in row.links:
            text = _linked(link, row)
            code = link.get("abstained")
            if code is None and _rank(link) >= CONFIDENCE.index(certain):
                continue
            ids = [i for i in linked_ids(link) if ENTITY_ID.match(i)]
            named = ids or self._named(text) or self._within(text)
            if code == Abstention.NO_LINK and not named:
                continue
            meant = ids[:1] if link.get("qid") else []
            self._graph.fetch(named)
            yield Doubt(
                answer=text,
                confidence=str(link.get("confidence") or ""),
                reason=str(code or link.get("rule") or ""),
                meant="".join(map(self.in_words, meant)),
                rivals=tuple(self.in_words(i) for i in named[:MOST_SHOWN] if i not in meant),
                holds=tuple(map(self._held, named[:1])),
            )

    def _named(self, text: str) -> list[str]:
        return [m.id for m in self._graph.find(text) if m.id.startswith("Q")]

    def _within(self, text: str) -> list[str]:
        """Items that carry the longest parts of the text as their names."""
        words = _WORD.findall(text)[:_LONGEST]
        spans = [
            " ".join(words[start : start + size]).strip(".,;:()\"'")
            for size in range(len(words) - 1, 1, -1)
            for start in range(len(words) - size + 1)
        ]
        spans = [span for span in spans if span[:1].isupper() and len(span) > 3]
        self._graph.find_all(spans)
        ids = [i for span in spans for i in self._named(span)]
        return list(dict.fromkeys(ids))[:MOST_SHOWN]

    def in_words(self, qid: str) -> str:
        """An item by id, label and description."""
        description = self._graph.description(qid)
        return f"{qid} {self._graph.label(qid) or '(no label)'}" + (f": {description}" if description else "")

    def _held(self, qid: str) -> str:
        """What the snapshot states of an item."""
        entity = self._graph.entity(qid)
        held = [(s.property, s.target) for s in entity.statements if s.target] if entity else []
        self._graph.fetch(i for pair in held for i in pair if i)
        statements = (f"{self._graph.label(p) or p} {self._graph.label(t) or t}" for p, t in held if t)
        return f"{qid}: " + (
            "; ".join(list(dict.fromkeys(statements))[:MOST_SHOWN]) or "no statement about another item"
        )


@contextmanager
def writing_sheet(reviewer: Reviewer, path: Path, *, certain: str = "high") -> Iterator[Callable[[TieredRow], None]]:
    """What puts the doubtful links of a row on the sheet, which is there, whole, once the block has ended well."""
    with atomic_path(path) as part, part.open("w", encoding="utf-8", newline="") as stream:
        sheet = csv.writer(stream)
        sheet.writerow(COLUMNS)

        def see(row: TieredRow) -> None:
            ladder = " > ".join(" | ".join(tier.text for tier in level.tiers) for level in row.levels[1:])
            for doubt in reviewer.doubts(row, certain=certain):
                cells = (
                    row.id, row.question, doubt.answer, doubt.confidence, doubt.reason, doubt.meant,
                    "\n".join(doubt.rivals), "\n".join(doubt.holds), ladder, "",
                )  # fmt: skip
                sheet.writerow(map(marked, cells))

        yield see


def write_sheet(
    rows: Iterable[TieredRow], reviewer: Reviewer, path: Path, *, certain: str = "high"
) -> Iterator[TieredRow]:
    """Hand the rows on and write the sheet of their doubtful links, whole when the last row is taken."""
    with writing_sheet(reviewer, path, certain=certain) as see:
        for row in rows:
            see(row)
            yield row


def read_decisions(path: Path) -> Decisions:
    """The decisions of a sheet. Raises RowError for a file without the columns, or a decision that is none."""
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


def shown(doubts: Sequence[Doubt]) -> list[str]:
    """The doubts as lines for a terminal."""
    out = []
    for doubt in doubts:
        out += [f"{doubt.answer}: {doubt.meant or 'no entity'} ({doubt.reason})"]
        out += [f"  may be {rival}" for rival in doubt.rivals]
        out += [f"  known: {held}" for held in doubt.holds]
    return out
