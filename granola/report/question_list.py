"""The questions of the page: each with its gold answer, ladder and evidence, and every system's prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from abstraction.rows import TieredRow, read_tiered
from granola.report.ladder_html import gold, ladder, outcome_chip
from granola.report.score_tables import DASH, number, relation_title
from granola.scoring.aggregation import NO_RELATION
from granola.scoring.items import ItemScore
from granola.scoring.scores import ScoreReport

MOST = 300  # questions on one page: under 600 KB, which a phone opens at once


def shown_places(count: int) -> range:
    """The places of the questions that are shown: all, or evenly drawn from the file."""
    return range(count) if count <= MOST else range(0, count, -(-count // MOST))


def shown_note(count: int, shown: int) -> str:
    """How many questions are shown, where these are not all."""
    if count == shown:
        return ""
    return (
        f'<p class="soft">{shown:,} of the {count:,} questions, evenly drawn from the file. The scores above are of '
        "all; <code>granola score --items FILE</code> writes the verdict on each.</p>"
    )


def rows_with_evidence(tiered: str, rows: Sequence[TieredRow]) -> dict[str, TieredRow]:
    """By id, the rows of a file that the page shows, with their evidence; none from standard input, read before.

    Rows whose ladders are not those of `rows`, as where one of two sources was chosen, stay without.
    """
    if tiered == "-":
        return {}
    shown = {rows[index].id: rows[index] for index in shown_places(len(rows))}
    row_of = {}
    for row in read_tiered(tiered, on_reject=lambda _: None):
        known = shown.pop(row.id, None)
        if known is not None and _texts(known) == _texts(row):
            row_of[row.id] = replace(known, levels=row.levels)
    return row_of


def _texts(row: TieredRow) -> list[list[str]]:
    return [[tier.text for tier in level.tiers] for level in row.levels]


def question_list(rows: Sequence[TieredRow], reports: Sequence[ScoreReport]) -> str:
    """The questions at `shown_places`."""
    return "\n".join(
        _question(rows[index], [(report.system, report.items[index]) for report in reports])
        for index in shown_places(len(rows))
    )


def _question(row: TieredRow, scored: Sequence[tuple[str, ItemScore]]) -> str:
    outcomes = "".join(f"<span>{escape(system)} {outcome_chip(item)}</span>" for system, item in scored)
    different = len({(item.status, item.verdict and item.verdict.level) for _, item in scored}) > 1
    relation = row.relation or NO_RELATION
    title = "" if relation == NO_RELATION else f"{relation_title(relation)} &middot; "
    verdicts = " ".join(dict.fromkeys(_kind(item) for _, item in scored))
    return (
        f'<details class="question" data-relation="{escape(relation)}" data-verdicts="{verdicts}" '
        f'data-different="{"yes" if different else "no"}"><summary>'
        f"<span class=asked>{escape(row.question)}</span> "
        f"<small>Gold answer: {escape(gold(row))}</small><span class=outcomes>{outcomes}</span></summary>"
        f"<div class=inside><p class=soft>{title}{escape(row.id)}</p>{ladder(row, scored)}{_predictions(scored)}"
        "</div></details>"
    )


def _kind(item: ItemScore) -> str:
    """What the filter calls a verdict: gold, coarser, wrong, idk or unscored."""
    if item.verdict is not None and item.verdict.level is not None:
        return "gold" if item.verdict.level == 1 else "coarser"
    return {"wrong": "wrong", "abstained": "idk"}.get(item.status, "unscored")


def _predictions(scored: Sequence[tuple[str, ItemScore]]) -> str:
    """What each system said, and why it has its verdict; optional end tags are left out, as in the ladder."""
    rows = "".join(
        f"<tr><th scope=row>{escape(system)}<td>{_prediction_html(item)}<td>{_why(item)}" for system, item in scored
    )
    return f"<table class=predictions>{rows}</table>"


def _prediction_html(item: ItemScore) -> str:
    """The prediction with the part that decided marked."""
    if item.prediction is None:
        return DASH
    compared = item.verdict.compared if item.verdict else None
    part = compared.prediction if compared else ""
    start = item.prediction.find(part) if part and part != item.prediction.strip() else -1
    if start < 0:
        return escape(item.prediction) or "<em>(empty)</em>"
    end = start + len(part)
    text = item.prediction
    return f"{escape(text[:start])}<mark>{escape(text[start:end])}</mark>{escape(text[end:])}"


def _why(item: ItemScore) -> str:
    if item.verdict is None:
        return "no prediction"
    why = f"<code>{escape(item.verdict.rule)}</code>"
    if item.verdict.score is not None:
        why += f" {number(item.verdict.score)}"
    if item.verdict.compared is not None:
        why += f" against &ldquo;{escape(item.verdict.compared.tier)}&rdquo;"
    if item.weight is not None:
        why += f"<small> weight {number(item.weight)}</small>"
    return why
