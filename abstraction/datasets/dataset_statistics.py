"""Statistics of a dataset: rows, relations, and numbers of answers per row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from abstraction.base.properties import titled
from abstraction.datasets.dataset_overview import Overview
from abstraction.files.rows import RejectedRow, TieredRow
from kg.base.model import entity_number

NO_RELATION = "(none)"
Row = tuple[str, ...]
MANY = 4  # rows with this many answers or more are counted together, as in the paper


class Statistics:
    """Counts of the rows given to `add`: answers are levels, as in GRANOLA-EQ's columns; tiers include siblings."""

    def __init__(self, language: str = "en") -> None:
        self.rows = 0
        self.answers: dict[str, Counter[int]] = {}
        self.tiers: Counter[int] = Counter()
        self.overview = Overview(language)

    def add(self, row: TieredRow) -> None:
        """Count one row."""
        self.rows += 1
        self.answers.setdefault(row.relation or NO_RELATION, Counter())[len(row.levels)] += 1
        self.tiers[sum(len(level.tiers) for level in row.levels)] += 1
        self.overview.add(row)

    def watch(self, rows: Iterable[TieredRow | RejectedRow]) -> Iterator[TieredRow]:
        """The tiered rows, each counted as it is taken."""
        for row in rows:
            if isinstance(row, TieredRow):
                self.add(row)
                yield row

    @property
    def relations(self) -> list[str]:
        """The relations of the rows by property number; "(none)" comes last."""
        return sorted(self.answers, key=lambda r: (r == NO_RELATION, 0 if r == NO_RELATION else entity_number(r)))

    def by_answers(self, relation: str | None = None) -> Counter[int]:
        """The number of rows by number of answers, of all relations or of one."""
        chosen = self.answers.values() if relation is None else [self.answers[relation]]
        return sum(chosen, Counter[int]())

    def shares(self, relation: str | None = None) -> dict[str, float]:
        """The shares, in [0, 1], of rows with 1, 2, 3 and "4 or more" answers; {} without rows."""
        counted = self.by_answers(relation)
        whole = counted.total()
        if not whole:
            return {}
        few = {str(n): counted[n] / whole for n in range(1, MANY)}
        return few | {f"{MANY} or more": sum(c for n, c in counted.items() if n >= MANY) / whole}

    def mean(self, relation: str | None = None) -> float:
        """The mean number of answers per row, the gold answer included; NaN without rows."""
        counted = self.by_answers(relation)
        return sum(n * c for n, c in counted.items()) / counted.total() if counted else float("nan")

    def to_json(self) -> dict[str, Any]:
        """All counts as a JSON object."""
        return {
            "rows": self.rows,
            "relations": {r: self.answers[r].total() for r in self.relations},
            "answers": {str(n): c for n, c in sorted(self.by_answers().items())},
            "answers_with_siblings": {str(n): c for n, c in sorted(self.tiers.items())},
            **self.overview.to_json(),
        }

    def tables(self) -> list[tuple[Row, list[Row]]]:
        """The statistics as tables, head and rows."""
        related = sum(r != NO_RELATION for r in self.relations)
        rows: list[Row] = [("rows", f"{self.rows:,}"), ("relations", str(related))]
        rows += [
            (f"rows with {name} answer{'s' * (name != '1')}", f"{100 * share:.1f} %")
            for name, share in self.shares().items()
        ]
        if self.rows:
            rows.append(("answers per row, mean", f"{self.mean():.2f}"))
        by_relation: list[Row] = [
            (
                titled(name),
                f"{self.by_answers(name).total():,}",
                *(f"{100 * share:.1f} %" for share in self.shares(name).values()),
                f"{self.mean(name):.2f}",
            )
            for name in self.relations
        ]
        return [
            (("", "this dataset"), rows),
            (("relation", "rows", "1", "2", "3", "4 or more", "mean"), by_relation),
        ]
