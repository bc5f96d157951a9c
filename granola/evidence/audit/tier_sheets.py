"""Sheets on which people judge tiers, one per line, blind to relation, level and maker; error rates from filled
sheets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from abstraction.files.rows import TieredRow
from granola.base.terminal_lines import TextTable
from granola.evidence.annotation_sheets import FilledSheet
from granola.evidence.evidence_task import JudgedQuestion, Row, SheetForm
from granola.report.ladder_view import evidence_line
from granola.scoring.statistics import wilson

SHOWN = ("question", "template", "answer", "before", "tier", "evidence")  # columns that annotators see
YES, NO = "1", "0"
MEANINGS = {
    "correct": "it is a correct answer",
    "informative": "it says something that the question does not",
    "informative_template": "it says something that could not be said from the template",
    "granularity": "it is coarser than everything before; with nothing there, it is the answer itself",
}
# Yona et al. 2024, Table 2: 358 answers to 124 questions, including the 124 first answers. It does not state whether
# shares are of answers or of questions; its informativeness is judged from the question's template.
PAPER: Mapping[str, str] = {"correct": "< 1 %", "informative_template": "6 %", "granularity": "9 %"}
COMPARABLE = (
    "paper: Yona et al. 2024, Table 2, of 358 answers with the 124 first ones among them; of coarser tiers alone its "
    "shares are about 9 % (informative_template) and 14 % (granularity), if they are of answers. informative is our "
    "stricter reading, from the question as asked."
)


def tier_items(rows: Iterable[TieredRow], *, with_first: bool = False) -> Iterator[dict[str, Any]]:
    """The tiers beyond the answers, as items of a sheet; `with_first`: also the first answer of each row, as in the
    paper.

    `before` contains all finer levels in words, finest first; it is empty for the answer itself.
    """
    for row in rows:
        for number, level in enumerate(row.levels, 1):
            before = " > ".join(" | ".join(tier.text for tier in finer.tiers) for finer in row.levels[: number - 1])
            shown = level.tiers if number > 1 else level.tiers[: int(with_first)]
            for position, tier in enumerate(shown, 1):
                yield {
                    "id": f"{row.id}-{number}.{position}", "row": row.id, "relation": row.relation, "level": number,
                    "question": row.question, "template": _question_with_gap(row), "answer": " / ".join(row.answers),
                    "before": before, "tier": tier.text, "evidence": "; ".join(map(evidence_line, tier.evidence)),
                }  # fmt: skip


def _question_with_gap(row: TieredRow) -> str:
    """The question with [X] for the entity asked about; empty where its name is unknown or not in the question."""
    name = str((row.question_entity or {}).get("text") or "")
    at = row.question.casefold().find(name.casefold()) if name.strip() else -1
    # Case folding may change lengths ("ß"): then offsets do not fit the question.
    if at < 0 or len(row.question.casefold()) != len(row.question):
        return ""
    return f"{row.question[:at]}[X]{row.question[at + len(name) :]}"


TIERS = SheetForm(
    shown=SHOWN,
    questions=tuple(
        JudgedQuestion(field=field, labels={YES: meaning, NO: "not so"}, against=(NO,))
        for field, meaning in MEANINGS.items()
    ),
    lines=lambda item: [{name: str(item.get(name) or "") for name in SHOWN}],
    verdict=lambda item, labels, annotator: {"id": item["id"], "judge": annotator, **labels[0]},
)


def error_rates(sheets: Sequence[FilledSheet], items: Sequence[Row], *, first: bool = True) -> list[dict[str, Any]]:
    """The error rate on each axis with a mark, over the items on a sheet; `first` False leaves out the answers
    themselves.

    `rate` is the share of `errors` among `n` decided items, in [0, 1], lower is better; `low` and `high` are the ends
    of its 95 % Wilson interval; `paper` is the paper's share in words, None where it has none. An item is an error
    where more annotators say no than yes; `open` items are undecided, or divide them evenly.
    """
    numbers = {number for sheet in sheets for number, _ in sheet.labels if first or items[number - 1]["before"]}
    rates = []
    for axis in MEANINGS:
        errors = decided = 0
        for number in numbers:
            marks = [sheet.labels.get((number, 0), {}).get(axis) for sheet in sheets]
            no, yes = marks.count(NO), marks.count(YES)
            # A tie is undecided rather than an error.
            decided += no != yes
            errors += no > yes
        if decided:
            interval = wilson(errors, decided)
            rates.append(
                {
                    "axis": axis, "errors": errors, "n": decided, "open": len(numbers) - decided,
                    "rate": errors / decided, "low": interval.low, "high": interval.high, "paper": PAPER.get(axis),
                }
            )  # fmt: skip
    return rates


def rates_table(rates: Sequence[Mapping[str, Any]]) -> TextTable:
    """A table of errors, n, rate and interval, next to the paper's share."""

    def in_percent(*shares: float) -> str:
        return f"{'–'.join(f'{100 * share:.1f}' for share in shares)} %"

    return TextTable(
        head=("errors of", "errors", "n", "open", "rate", "95 % (Wilson)", "paper"),
        rows=[
            (*(str(rate[name]) for name in ("axis", "errors", "n", "open")), in_percent(rate["rate"]),
             in_percent(rate["low"], rate["high"]), rate["paper"] or "-")
            for rate in rates
        ],
    )  # fmt: skip
