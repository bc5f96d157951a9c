"""The questions of the page: each with its gold answer, ladder and evidence, and every system's prediction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from abstraction.properties import titled
from abstraction.rows import TieredRow, read_tiered
from granola.report.ladder_view import LadderView, gold, view_ladder
from granola.report.score_tables import number
from granola.scoring.aggregation import NO_RELATION
from granola.scoring.items import ItemScore
from granola.scoring.predictions import SystemAnswer
from granola.scoring.scores import ScoreReport

MOST = 300  # questions on one page: under 600 KB, which a phone opens at once
MOST_LADDERS = 2000  # of a page without predictions, which is there to be searched
_LONGEST = 200  # characters of a field of the rows


@dataclass(frozen=True, kw_only=True, slots=True)
class PredictionView:
    """What a system said: the part that decided is `marked`. `score`, `compared` and `weight` are empty without one.

    `made_of` is what other systems said that the prediction was made of.
    """

    system: str
    item: ItemScore
    before: str
    marked: str
    after: str
    score: str
    compared: str
    weight: str
    made_of: Sequence[SystemAnswer] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionView:
    """A question with its ladder; `title` names its relation, and `verdicts` are those that the page can filter by.

    `name` is its own on the page, for a link to it; `fields` are what a page without predictions searches and sorts by.
    """

    name: str
    row: TieredRow
    gold: str
    relation: str
    title: str
    verdicts: Sequence[str]
    is_different: bool
    predictions: Sequence[PredictionView]
    ladder: LadderView
    fields: Sequence[tuple[str, str]] = ()


def shown_places(count: int, most: int = MOST) -> range:
    """The places of the questions that are shown: all, or evenly drawn from the file."""
    return range(count) if count <= most else range(0, count, -(-count // most))


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
        if known is not None and _tier_texts(known) == _tier_texts(row):
            row_of[row.id] = replace(known, levels=row.levels)
    return row_of


def _tier_texts(row: TieredRow) -> list[list[str]]:
    return [[tier.text for tier in level.tiers] for level in row.levels]


def question_views(
    rows: Sequence[TieredRow],
    reports: Sequence[ScoreReport],
    made_of: Mapping[str, Mapping[str, Sequence[SystemAnswer]]] | None = None,
) -> Iterator[QuestionView]:
    """The questions at `shown_places`; `made_of` has by system and id what other systems said."""
    parts = made_of or {}
    for index in shown_places(len(rows), MOST if reports else MOST_LADDERS):
        row, scored = rows[index], [(report.system, report.items[index]) for report in reports]
        relation = row.relation or NO_RELATION
        yield QuestionView(
            name=f"q{index + 1}",
            row=row,
            gold=gold(row),
            relation=relation,
            title="" if relation == NO_RELATION else titled(relation),
            verdicts=list(dict.fromkeys(_verdict_filter(item) for _, item in scored)),
            is_different=len({(item.status, item.verdict and item.verdict.level) for _, item in scored}) > 1,
            predictions=[
                replace(prediction_view(system, item), made_of=parts.get(system, {}).get(row.id, ()))
                for system, item in scored
            ],
            ladder=view_ladder(row, scored),
            fields=() if reports else list(_searchable_fields(row)),
        )


def _searchable_fields(row: TieredRow) -> Iterator[tuple[str, str]]:
    """What a row says beside its ladder: of its own fields, texts and numbers."""
    entity = row.question_entity or {}
    yield "id", row.id
    yield "levels", str(len(row.levels))
    if (bits := row.levels[0].tiers[0].bits) is not None:
        yield "bits", f"{bits:.1f}"
    own = {"asked about": entity.get("text"), "abstained": row.abstained, **row.extra}
    for name, value in own.items():
        if isinstance(value, str | int | float) and (text := str(value).strip()) and len(text) <= _LONGEST:
            yield name, text
    for link in row.links[:1]:
        yield from ((f"link {name}", str(link[name])) for name in ("confidence", "rule") if name in link)


def _verdict_filter(item: ItemScore) -> str:
    """What the filter calls a verdict: gold, coarser, wrong, idk or unscored."""
    if item.verdict is not None and item.verdict.level is not None:
        return "gold" if item.verdict.level == 1 else "coarser"
    return {"wrong": "wrong", "abstained": "idk"}.get(item.status, "unscored")


def prediction_view(system: str, item: ItemScore) -> PredictionView:
    """The prediction with the part that decided apart, and why it has its verdict."""
    text, verdict = item.prediction or "", item.verdict
    compared = verdict.compared if verdict else None
    part = compared.prediction if compared else ""
    start = text.find(part) if part and part != text.strip() else -1
    end = start + len(part) if start >= 0 else len(text)
    return PredictionView(
        system=system,
        item=item,
        before=text[: max(start, 0)] if start >= 0 else text,
        marked=text[start:end] if start >= 0 else "",
        after=text[end:],
        score=number(verdict.score) if verdict and verdict.score is not None else "",
        compared=compared.tier if compared else "",
        weight=number(item.weight) if item.weight is not None else "",
    )
