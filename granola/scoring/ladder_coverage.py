"""Coverage: how many questions have a ladder, counted per relation over tiered rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from abstraction.base.properties import id_with_label
from abstraction.files.rows import TieredRow
from granola.base.terminal_lines import TextTable
from kg.base.model import number_within_kind

NO_RELATION = "(none)"  # in parentheses: no name of a relation looks so


@dataclass(kw_only=True, slots=True)
class LadderCounts:
    """Counts of one relation, or of all.

    `abstained` counts rows without a ladder by reason code; `tiers` are the tiers coarser than the answers, `foreign`
    those of them whose text is in another language than the row.
    """

    questions: int = 0
    linked: int = 0
    at_least_one: int = 0
    at_least_two: int = 0
    at_least_two_levels: int = 0
    tiers: int = 0
    foreign: int = 0
    abstained: Counter[str] = field(default_factory=Counter)

    def add(self, row: TieredRow) -> None:
        """Count one row; it is linked where its answer is an entity of the snapshot, a date or an amount."""
        coarser = row.levels[1:]
        texts = sum(len(level.tiers) for level in coarser)
        self.questions += 1
        # Dates and amounts have coarser tiers but no item.
        self.linked += texts > 0 or any(tier.qid for tier in row.levels[0].tiers)
        self.at_least_one += texts >= 1
        self.at_least_two += texts >= 2
        self.at_least_two_levels += len(coarser) >= 2
        self.tiers += texts
        # a tier has a language only where it is not the row's
        self.foreign += sum(tier.language is not None for level in coarser for tier in level.tiers)
        if row.abstained is not None:
            self.abstained[row.abstained] += 1

    def to_json(self) -> dict[str, Any]:
        """The counts as a JSON object."""
        return {
            "questions": self.questions,
            "linked": self.linked,
            "at_least_one_coarser": self.at_least_one,
            "at_least_two_coarser": self.at_least_two,
            "at_least_two_coarser_levels": self.at_least_two_levels,
            "tiers": self.tiers,
            **({"tiers_in_another_language": self.foreign} if self.foreign else {}),
            "abstained": dict(sorted(self.abstained.items())),
        }


class LadderCoverage:
    """Counts per relation, taken while rows are iterated."""

    def __init__(self) -> None:
        self.by_relation: dict[str, LadderCounts] = {}
        self.total = LadderCounts()

    def count_while_iterating(self, rows: Iterator[TieredRow]) -> Iterator[TieredRow]:
        """Yield the rows unchanged, counting each."""
        for row in rows:
            self.by_relation.setdefault(row.relation or NO_RELATION, LadderCounts()).add(row)
            self.total.add(row)
            yield row

    def sorted_counts(self) -> list[tuple[str, LadderCounts]]:
        """(relation, counts) sorted by property number; rows without a relation last."""
        return sorted(
            self.by_relation.items(),
            key=lambda item: (item[0] == NO_RELATION, number_within_kind(item[0]) if item[0] != NO_RELATION else 0),
        )

    def to_json(self) -> dict[str, Any]:
        """The counts of each relation and of all."""
        return {name: counts.to_json() for name, counts in [*self.sorted_counts(), ("total", self.total)]}

    def tables(self) -> list[TextTable]:
        """A table with a line for each relation and the total last; then a table of abstentions by code."""
        rows = []
        for name, counts in [*self.sorted_counts(), ("total", self.total)]:
            shares = (counts.linked, counts.at_least_one, counts.at_least_two, counts.at_least_two_levels)
            cells = (f"{share} {_percent(share, counts.questions):>7}" for share in shares)
            rows.append((id_with_label(name), str(counts.questions), *cells))
        head = ("relation", "questions", "linked", ">=1 tier", ">=2 tiers", ">=2 levels")
        abstained = [
            (f"abstained: {code}", str(number), _percent(number, self.total.questions))
            # most frequent first
            for code, number in sorted(self.total.abstained.items(), key=lambda item: (-item[1], item[0]))
        ]
        if self.total.foreign:
            share = _percent(self.total.foreign, self.total.tiers)
            abstained.insert(0, ("tiers in another language", str(self.total.foreign), share))
        return [TextTable(head=head, rows=rows), TextTable(rows=abstained)]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
