"""Counts of a dataset: rows, relations, answers per row, classes of answers, confidence of links, example ladders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from abstraction.base.faults import RejectedRow
from abstraction.base.properties import id_with_label
from abstraction.base.relations import relations_by_id
from abstraction.files.rows import TieredRow
from abstraction.text.questions.question_wording import QuestionKind, asked_kind
from kg.base.model import ENTITY_ID, number_within_kind

Row = tuple[str, ...]
NO_RELATION = "(none)"
MANY = 4  # rows with this many answers or more are counted together, as in the paper
EXAMPLES = 5  # ladders on the card
_LEAST_LEVELS = 3  # least levels of an example
_MOST_TIERS = 3  # most tiers in one level of an example
_LONGEST = 120  # characters of a line of an example
_CONFIDENCES = ("given", "high", "medium", "low")  # from the surest link to the least sure one
NO_ENTITY = "no entity needed (dates and amounts)"
NOT_LINKED = "an answer was not linked"
# Clearer names than those of the table of relations.
_CLASSES = {"any": "thing", "quantity": "amount", QuestionKind.UNKNOWN: "not told by the question"}
# Marks of Markdown and HTML; control characters and those that change the direction of text.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>()#+!|~&]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def asked_answer_class(row: TieredRow, language: str = "en") -> str:
    """The answer class that a row asks for: by its relation, else by the words of its question in its language."""
    relation = relations_by_id().get(row.relation or "")
    found = relation.asks if relation else asked_kind(row.question, str(row.extra.get("language") or language)).kind
    return _CLASSES.get(found, str(found))


def least_link_confidence(row: TieredRow) -> str:
    """The confidence of the least sure link of a row; NO_ENTITY for a row without links."""
    notes = row.extra.get("links")
    if not isinstance(notes, list) or not notes:
        return NO_ENTITY
    confidences = [str(note.get("confidence")) for note in notes if isinstance(note, Mapping)]
    if len(confidences) < len(notes) or any(one not in _CONFIDENCES for one in confidences):
        return NOT_LINKED
    return max(confidences, key=_CONFIDENCES.index)


class Statistics:
    """Counts of the rows given to `add`: answers are levels, as in GRANOLA-EQ's columns; tiers include siblings.

    `answers`: for each relation, the number of rows by number of answers. `classes`: for each class of answers, the
    numbers of "rows", of rows with a ladder ("laddered") and of "levels". `coarser`: the number of tiers on coarser
    levels than the gold answer; `foreign`: of those in another language than their row.
    """

    def __init__(self, language: str = "en") -> None:
        self.rows = self.coarser = self.foreign = 0
        self.answers: dict[str, Counter[int]] = {}
        self.tiers: Counter[int] = Counter()
        self.classes: dict[str, Counter[str]] = {}
        self.links: Counter[str] = Counter()
        self.abstained: Counter[str] = Counter()
        self._language = language
        self._first_examples: dict[str, list[str]] = {}  # Markdown lines, by class of answers ("city")
        self._other_examples: list[list[str]] = []

    def add(self, row: TieredRow) -> None:
        """Count one row."""
        self.rows += 1
        self.answers.setdefault(row.relation or NO_RELATION, Counter())[len(row.levels)] += 1
        self.tiers[sum(len(level.tiers) for level in row.levels)] += 1
        name = asked_answer_class(row, self._language)
        of_row = {"rows": 1, "laddered": int(len(row.levels) > 1), "levels": len(row.levels)}
        self.classes.setdefault(name, Counter()).update(of_row)
        self.links[least_link_confidence(row)] += 1
        coarser = [tier for level in row.levels[1:] for tier in level.tiers]
        self.coarser += len(coarser)
        self.foreign += sum(tier.language is not None for tier in coarser)
        if len(row.levels) == 1:
            self.abstained[row.abstained or "all coarser answers taken out by cleaning"] += 1
        if len(row.levels) >= _LEAST_LEVELS and all(len(level.tiers) <= _MOST_TIERS for level in row.levels):
            if name not in self._first_examples:
                self._first_examples[name] = _ladder_lines(row)
            elif len(self._other_examples) < EXAMPLES:
                self._other_examples.append(_ladder_lines(row))

    def count_each(self, rows: Iterable[TieredRow | RejectedRow]) -> Iterator[TieredRow]:
        """The tiered rows, each counted as it is taken."""
        for row in rows:
            if isinstance(row, TieredRow):
                self.add(row)
                yield row

    @property
    def rows_with_ladder(self) -> int:
        """The number of rows with a coarser answer."""
        return sum(count["laddered"] for count in self.classes.values())

    @property
    def relations(self) -> list[str]:
        """The relations of the rows by property number; "(none)" comes last."""
        return sorted(self.answers, key=lambda r: (r == NO_RELATION, 0 if r == NO_RELATION else number_within_kind(r)))

    def rows_by_answer_count(self, relation: str | None = None) -> Counter[int]:
        """The number of rows by number of answers, of all relations or of one."""
        chosen = self.answers.values() if relation is None else [self.answers[relation]]
        return sum(chosen, Counter[int]())

    def answer_count_shares(self, relation: str | None = None) -> dict[str, float]:
        """The shares, in [0, 1], of rows with 1, 2, 3 and "4 or more" answers; {} without rows."""
        counted = self.rows_by_answer_count(relation)
        whole = counted.total()
        if not whole:
            return {}
        few = {str(n): counted[n] / whole for n in range(1, MANY)}
        return few | {f"{MANY} or more": sum(c for n, c in counted.items() if n >= MANY) / whole}

    def mean_answer_count(self, relation: str | None = None) -> float:
        """The mean number of answers per row, the gold answer included; NaN without rows."""
        counted = self.rows_by_answer_count(relation)
        return sum(n * c for n, c in counted.items()) / counted.total() if counted else float("nan")

    def answer_class_rows(self) -> list[Row]:
        """(class, number of rows, those with a ladder, mean number of levels) for each class of answers, the largest
        first.
        """
        # Names break ties, so that cards are reproducible.
        ordered = sorted(self.classes.items(), key=lambda one: (-one[1]["rows"], one[0]))
        return [
            (name, f"{n['rows']:,}", format_share(n["laddered"], n["rows"]), f"{n['levels'] / n['rows']:.2f}")
            for name, n in ordered
        ]

    def link_confidence_rows(self) -> list[Row]:
        """(confidence, number and share of rows) for each confidence that occurs, the surest first."""
        whole, names = self.links.total(), (*_CONFIDENCES, NO_ENTITY, NOT_LINKED)
        return [(name, format_share(self.links[name], whole)) for name in names if self.links[name]]

    def summary_tables(self) -> list[tuple[Row, list[Row]]]:
        """Two tables, each its head and its rows: rows by number of answers, and the same by relation."""
        related = sum(name != NO_RELATION for name in self.answers)
        rows: list[Row] = [("rows", f"{self.rows:,}"), ("relations", str(related))]
        rows += [
            (f"rows with {name} answer{'s' * (name != '1')}", f"{100 * share:.1f} %")
            for name, share in self.answer_count_shares().items()
        ]
        if self.rows:
            rows.append(("answers per row, mean", f"{self.mean_answer_count():.2f}"))
        by_relation: list[Row] = [
            (
                id_with_label(name),
                f"{self.answers[name].total():,}",
                *(f"{100 * share:.1f} %" for share in self.answer_count_shares(name).values()),
                f"{self.mean_answer_count(name):.2f}",
            )
            for name in self.relations
        ]
        return [(("", "this dataset"), rows), (("relation", "rows", "1", "2", "3", "4 or more", "mean"), by_relation)]

    def example_ladders(self) -> str:
        """Up to five ladders in Markdown: one of each class of answers, the largest first, then others."""
        ordered = sorted(self._first_examples, key=lambda name: (-self.classes[name]["rows"], name))
        chosen = [*(self._first_examples[name] for name in ordered), *self._other_examples][:EXAMPLES]
        return "\n\n".join("\n".join(lines) for lines in chosen) or "No row has three levels."

    def to_json(self) -> dict[str, Any]:
        """All counts as a JSON object."""
        return {
            "rows": self.rows,
            "relations": {r: self.answers[r].total() for r in self.relations},
            "answers": {str(n): c for n, c in sorted(self.rows_by_answer_count().items())},
            "answers_with_siblings": {str(n): c for n, c in sorted(self.tiers.items())},
            "answer_classes": {name: dict(count) for name, count in sorted(self.classes.items())},
            "links": dict(sorted(self.links.items())),
            **({"tiers_in_another_language": self.foreign} if self.foreign else {}),
        }


def format_share(part: int, whole: int) -> str:
    """Format a part of a whole: `12 of 40 (30.0 %)`."""
    return f"{part:,} of {whole:,}" + (f" ({100 * part / whole:.1f} %)" if whole else "")


def _ladder_lines(row: TieredRow) -> list[str]:
    """The question, and a line for each level with the text of each tier, linked to its item at WikiData."""
    lines = [f"**{_escape_markdown(row.question)}**", ""]
    for number, level in enumerate(row.levels, 1):
        names = []
        for tier in level.tiers:
            is_item = tier.qid is not None and ENTITY_ID.match(tier.qid)
            name = _escape_markdown(tier.text)
            foreign = "" if tier.language is None else f" ({tier.language})"  # in another language than the row
            names.append((f"[{name}](https://www.wikidata.org/wiki/{tier.qid})" if is_item else name) + foreign)
        lines.append(f"{number}. {' / '.join(names)}")
    return lines


def _escape_markdown(text: str) -> str:
    """A text escaped for Markdown, on one line of at most _LONGEST characters."""
    line = _CONTROL.sub(" ", text[: 2 * _LONGEST])  # long texts are cut before any work on them
    line = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    return _MARKUP.sub(r"\\\g<0>", line)
