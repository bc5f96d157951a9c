"""The figures of a report, drawn by matplotlib: told apart by marks, dashes and hatches as well as by colour.

Figure numbers are those of Yona et al. 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from granola.figures.style import SHOWN_SYSTEMS, check_drawing, figure_of, inline_svg, saved
from granola.report.curve_figures import f1, lambdas, risk, taus, weights
from granola.report.score_figures import (
    distribution,
    gap,
    names_of_relations,
    popularity,
    relations,
    tradeoff,
    without_number,
)
from granola.report.study import Study, slug
from granola.scoring.page_views import TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnFigure:
    """A figure: `name` for its files, a title, and what it shows, also for those who cannot see it."""

    name: str
    title: str
    caption: str
    svg: str
    png: bytes
    inline: str  # the SVG for a page, with its letters as text, which can be read aloud


def drawings(study: Study) -> list[DrawnFigure]:
    """Every figure that the study has numbers for, in the order of the page. Raises UsageError without matplotlib."""
    check_drawing()
    import matplotlib

    drawn = []
    for plan in _plans(study):
        with figure_of() as figure:
            if not plan.draw(study, figure):
                continue
            svg, png = saved(figure).decode(), saved(figure, "png")
            with matplotlib.rc_context({"svg.fonttype": "none"}):
                inline = inline_svg(saved(figure, transparent=True).decode(), name=plan.name, title=plan.title)
        caption = plan.caption + (study.f1_warning if plan.name in ("f1", "thresholds") else "")
        if plan.says is not None:
            caption += plan.says(study)
        if plan.panels and len(study.names) > SHOWN_SYSTEMS:
            caption += f" The first {SHOWN_SYSTEMS} of {len(study.names)} systems."
        drawn.append(DrawnFigure(name=plan.name, title=plan.title, caption=caption, svg=svg, png=png, inline=inline))
    return drawn


@dataclass(frozen=True, kw_only=True, slots=True)
class _FigurePlan:
    """A figure to draw; `draw` is False where the study has no numbers for it, `panels` where it has few systems.

    `says` adds to the caption what the study decides.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[Study, Figure], bool]
    panels: bool = False
    says: Callable[[Study], str] | None = None


def _plans(study: Study) -> list[_FigurePlan]:
    by_popularity = [
        _FigurePlan(
            name="popularity" if index == 0 else f"popularity-{slug(field)}",
            title=f"Accuracy against {TITLES.get(field, 'popularity' if index == 0 else field)}",
            caption="Full lines GRANOLA, dotted lines standard accuracy, with 95 % intervals (as Figures 6 and 11).",
            draw=partial(popularity, field=field),
            says=partial(without_number, field=field),
        )
        for index, field in enumerate(study.popularity)
    ]
    return [_GAP, *by_popularity, *_REST]


_GAP = _FigurePlan(
    name="gap",
    title="Standard and GRANOLA accuracy",
    caption="Each mark is a system, over the questions that it answers. How far it lies above the full line, where "
    "both accuracies are equal, is the knowledge evaluation gap. Dotted lines are gaps of 5 and 20 points; the bars of "
    "a mark are 95 % intervals (as Figure 5).",
    draw=gap,
)
_REST = (
    _FigurePlan(
        name="tradeoff",
        title="Accuracy against informativeness",
        caption="Accuracy over the questions that are answered, informativeness over all, where wrong answers and IDK "
        "count 0; bars are 95 % intervals (as Figure 7).",
        draw=tradeoff,
    ),
    _FigurePlan(
        name="distribution",
        title="Where the answers stand",
        caption="The finest level that each answer states, from level 1 on the left; then wrong answers, hatched "
        "obliquely, and IDK, hatched across (as Figure 8).",
        draw=distribution,
    ),
    _FigurePlan(
        name="weights",
        title="Weights of the levels",
        caption="exp(-lambda (level - 1)) against lambda (as Figure 9).",
        draw=weights,
    ),
    _FigurePlan(
        name="lambdas",
        title="Informativeness against lambda",
        caption="Over all answers, by what lambda is; at 0 every level weighs the same.",
        draw=lambdas,
    ),
    _FigurePlan(
        name="relations",
        title="Per relation",
        caption="Each mark is a relation, a small mark one of few questions. Where names have room they stand beside "
        "their marks; “+2” counts others at the same place. Lines as in the first figure (as Figure 10).",
        draw=relations,
        says=names_of_relations,
        panels=True,
    ),
    _FigurePlan(
        name="f1",
        title="Token-F1 with the gold answer and with the matched tier",
        caption="Where nothing matched, with the closest tier. Larger marks stand for more answers (as Figure 12).",
        draw=f1,
        panels=True,
    ),
    _FigurePlan(
        name="risk-coverage",
        title="Risk and coverage",
        caption="The share of wrong answers among the surest ones; in brackets its mean over the curve. Abstentions "
        "and answers without a confidence are never covered: a curve that ends early is the mean of few answers.",
        draw=risk,
    ),
    _FigurePlan(
        name="thresholds",
        title="Thresholds of token-F1",
        caption="How both accuracies fall with the threshold, which is to be exceeded.",
        draw=taus,
    ),
)
