"""Figures of scores: over all, by popularity, by relation, and where the answers stand.

Each draws into an empty figure; False where the study has no numbers for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from granola.figures.style import (
    COLOURS,
    LEVELS,
    SHOWN_RELATIONS,
    SHOWN_SYSTEMS,
    WIDTH,
    legend,
    look,
    share,
    short,
    shown_names,
)
from granola.report.score_page import few
from granola.report.score_tables import distribution_columns, relation_title
from granola.report.study import Study
from granola.scoring.grouping import NONE
from granola.scoring.page_views import TITLES
from granola.scoring.scores import ScoreReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BOTH = ("selective_standard_accuracy", "selective_accuracy")  # over the same items: those that do not abstain


def gap(study: Study, figure: Figure) -> bool:
    """A mark for each system: standard accuracy along, GRANOLA accuracy up, with intervals and lines of equal gaps."""
    if all(math.isnan(report.overall.estimates[BOTH[0]].value) for report in study.reports):
        return False
    figure.set_size_inches(WIDTH, WIDTH)
    axes, names = figure.add_subplot(), shown_names(study.names)
    for index, report in enumerate(study.reports):
        standard, granola = (report.overall.estimates[k] for k in BOTH)
        if math.isnan(standard.value):
            continue
        axes.hlines(
            granola.value, standard.interval.low, standard.interval.high, color="#bbbbbb", linewidth=2, zorder=1
        )
        axes.vlines(standard.value, granola.interval.low, granola.interval.high, color="#bbbbbb", linewidth=2, zorder=1)
        axes.plot(standard.value, granola.value, linestyle="none", label=names[index], zorder=3, **look(index))
    _gap_lines(axes)
    legend(figure)
    return True


def _gap_lines(axes: Axes, low: float = 0.0, high: float = 1.0) -> None:
    """x = y, and where GRANOLA accuracy is 5 and 20 points above; both axes are shares, shown from `low` to `high`."""
    edge = low + 0.02 * (high - low)
    for points, colour, dash in ((0, "#000000", "-"), (5, "#777777", ":"), (20, "#c03030", ":")):
        axes.plot([0, 1 - points / 100], [points / 100, 1], linewidth=0.9, zorder=0, color=colour, linestyle=dash)
        if points:
            axes.annotate(
                f"+{points}", (edge, edge + points / 100), xytext=(0, 3), textcoords="offset points", fontsize=8,
                ha="left", color=colour,
            )  # fmt: skip
    share(axes, x=True, y=True, shown=(low, high))
    axes.set_aspect("equal")
    axes.set_xlabel("selective standard accuracy")
    axes.set_ylabel("selective GRANOLA accuracy")


def popularity(study: Study, figure: Figure, field: str) -> bool:
    """Both accuracies by bins of a number; `field` is one that the study is grouped by."""
    figure.set_size_inches(WIDTH, 3.3)
    axes = figure.add_subplot()
    systems, names = study.popularity[field], shown_names(study.names)
    labels = [label for label in systems[0] if label[:1].isdigit()]
    for index, scores in enumerate(systems):
        there = [(place, scores[label].estimates) for place, label in enumerate(labels) if label in scores]
        # Beside each other, so that the intervals of several systems can be told apart.
        places = [place + (index - (len(systems) - 1) / 2) * 0.4 / len(systems) for place, _ in there]
        for key, dash, face in (("selective_accuracy", "-", None), ("selective_standard_accuracy", ":", "white")):
            bins = [estimates[key] for _, estimates in there]
            axes.vlines(
                places, [e.interval.low for e in bins], [e.interval.high for e in bins], linewidth=0.8,
                color=look(index)["color"], linestyle=dash, zorder=1,
            )  # fmt: skip
            axes.plot(
                places, [e.value for e in bins], linestyle=dash,
                markerfacecolor=face or COLOURS[index % len(COLOURS)], label=names[index] if face is None else None,
                **look(index),
            )  # fmt: skip
    axes.plot([], [], "-", color="#777777", label="GRANOLA")
    axes.plot([], [], ":", color="#777777", label="standard")
    narrow = len(labels) > 6
    axes.set_xticks(
        range(len(labels)), [_edges(label, "–" if narrow else "–\n") for label in labels],
        rotation=90 if narrow else 0, fontsize=8 if len(labels) > 4 else None,
    )  # fmt: skip
    axes.set_xlabel(f"{TITLES.get(field) or short(field)}, bins of equal size")
    axes.set_ylabel("selective accuracy")
    share(axes, y=True)
    legend(figure)
    return True


def without_number(study: Study, field: str) -> str:
    """What the caption says of questions that have no such number and stand in no bin."""
    left = study.popularity[field][0].get(NONE)
    return "" if left is None else f" {left.n:,} questions without this number are in the table alone."


def _edges(label: str, between: str) -> str:
    """The ends of a bin as an axis has room for: `4,502–60,434` is 4.5k to 60k, where that tells them apart."""
    ends = label.partition(": ")[2].split("–")
    brief = [_brief(end) for end in ends]
    return between.join(ends if len(set(brief)) < len(ends) else brief)


def _brief(figure: str) -> str:
    number = float(figure.replace(",", ""))
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.3g}{letter}"
    return figure


def tradeoff(study: Study, figure: Figure) -> bool:
    """Selective GRANOLA accuracy against informativeness over all answers, with intervals."""
    if all(math.isnan(report.overall.estimates["selective_accuracy"].value) for report in study.reports):
        return False
    axes, names = figure.add_subplot(), shown_names(study.names)
    for index, report in enumerate(study.reports):
        accuracy, informativeness = (report.overall.estimates[k] for k in ("selective_accuracy", "informativeness"))
        if math.isnan(accuracy.value):
            continue
        spread = [
            [
                [informativeness.value - informativeness.interval.low],
                [informativeness.interval.high - informativeness.value],
            ],
            [[accuracy.value - accuracy.interval.low], [accuracy.interval.high - accuracy.value]],
        ]
        axes.errorbar(
            informativeness.value, accuracy.value, xerr=_positive(spread[0]), yerr=_positive(spread[1]),
            linestyle="none", elinewidth=0.8, **look(index),
        )  # fmt: skip
        axes.plot([], [], linestyle="none", label=names[index], **look(index))  # its mark without bars
    axes.set_xlabel("informativeness")
    axes.set_ylabel("selective GRANOLA accuracy")
    axes.margins(0.15)
    share(axes, x=True, y=True, shown=None)
    legend(figure)
    return True


def _positive(spread: list[list[float]]) -> list[list[float]]:
    return [[max(0.0, value) for value in side] for side in spread]


def distribution(study: Study, figure: Figure) -> bool:
    """Shares of the levels, of wrong answers and of abstentions, stacked."""
    figure.set_size_inches(WIDTH, 1.4 + 0.36 * len(study.names))
    axes = figure.add_subplot()
    left = [0.0] * len(study.names)
    for column in distribution_columns(study.reports):
        shares = [r.overall.distribution.get(column, 0) / max(1, r.questions) for r in study.reports]
        if not any(shares):
            continue
        level = int(column) if column.isdigit() else 0
        face = LEVELS[min(level, len(LEVELS)) - 1] if level else "white"
        hatch = {"wrong": "////", "idk": "--", "unscored": ""}.get(column)
        name = f"level {column}" if level else {"idk": "IDK"}.get(column, column)
        axes.barh(
            range(len(study.names)), shares, left=left, color=face, hatch=hatch, edgecolor="#333333", linewidth=0.6,
            label=name, height=0.62,
        )  # fmt: skip
        for place, part in enumerate(shares):
            if part > 0.07:
                axes.text(
                    left[place] + part / 2, place, f"{100 * part:.0f}", ha="center", va="center", fontsize=8,
                    color="white" if 0 < level < 3 else "#06231c" if level else "black",
                    bbox=None if level else {"facecolor": "white", "edgecolor": "none", "pad": 1},
                )  # fmt: skip
            left[place] += part
    axes.set_yticks(range(len(study.names)), shown_names(study.names))
    axes.set_ylim(len(study.names) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the questions; figures in per cent")
    axes.grid(visible=False)
    legend(figure)
    return True


def relations(study: Study, figure: Figure) -> bool:
    """A mark for each relation in a panel for each system: standard accuracy along, GRANOLA accuracy up.

    All panels show the same range, that of the points: in one from 0 to 1 the names of relations hide each other.
    """
    names = _frequent(study)
    if not names:
        return False
    reports = study.reports[:SHOWN_SYSTEMS]
    across = min(2, len(reports))
    down = -(-len(reports) // across)
    figure.set_size_inches(WIDTH, WIDTH if across == 1 else 0.4 + 2.5 * down)
    shown = _range_of(reports, names)
    if shown is None:
        return False
    for index, report in enumerate(reports):
        axes = figure.add_subplot(down, across, index + 1)
        labels = {}
        for place, there in _places_of(report, names).items():
            small = all(few(report.relations[name].n) for name in there)
            axes.plot(*place, zorder=3, **look(index) | {"linestyle": "none", "markersize": 3.5 if small else 6})
            labels[place] = short(there[0]) + (f" +{len(there) - 1}" if len(there) > 1 else "")
        for (x, y), label in _with_room(labels, shown, WIDTH * 72 / across - 50).items():
            axes.annotate(label, (x, y), xytext=(4, 0), textcoords="offset points", fontsize=7, va="center")
        _gap_lines(axes, *shown)
        axes.set_title(shown_names(study.names)[index], fontsize=9)
        if index + across < len(reports):
            axes.set_xlabel("")
        if index % across:
            axes.set_ylabel("")
    return True


def _with_room(
    labels: Mapping[tuple[float, float], str], shown: tuple[float, float], side: float
) -> dict[tuple[float, float], str]:
    """The labels that hide neither a mark nor another label, first come; in panels of `side` points a side."""
    scale = side / (shown[1] - shown[0])
    marks = [(x * scale - 3.5, y * scale - 3.5, x * scale + 3.5, y * scale + 3.5) for x, y in labels]
    taken: list[tuple[float, float, float, float]] = []
    kept = {}
    for (x, y), label in labels.items():
        left = x * scale + 4
        box = (left, y * scale - 4, left + 4.6 * len(label), y * scale + 4)  # of letters of 7 points
        if not any(_meet(box, other) for other in (*taken, *marks)) and box[2] <= shown[1] * scale + 20:
            taken.append(box)
            kept[x, y] = label
    return kept


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _frequent(study: Study) -> list[str]:
    """The relations with most questions, as many as are drawn."""
    names = [name for name, group in study.reports[0].relations.items() if group.n]
    return sorted(names, key=lambda name: -study.reports[0].relations[name].n)[:SHOWN_RELATIONS]


def names_of_relations(study: Study) -> str:
    """What the caption says of the relations that are drawn, and of how many are not."""
    names = _frequent(study)
    more = sum(group.n > 0 for group in study.reports[0].relations.values()) - len(names)
    left = f" The {len(names)} with most questions; {more} others are in the table alone." if more else ""
    return f"{left} {', '.join(sorted(map(relation_title, names)))}."


def _range_of(reports: Sequence[ScoreReport], names: Sequence[str]) -> tuple[float, float] | None:
    """The tenths around all accuracies of those relations, some way apart; None where there are none."""
    every = [
        r.relations[name].estimates[k].value for r in reports for name in names if name in r.relations for k in BOTH
    ]
    values = [value for value in every if not math.isnan(value)]
    if not values:
        return None
    low, high = max(0.0, math.floor(10 * min(values)) / 10), min(1.0, math.ceil(10 * max(values)) / 10)
    return (low, high) if high > low else (max(0.0, low - 0.1), min(1.0, high + 0.1))


def _places_of(report: ScoreReport, names: Sequence[str]) -> dict[tuple[float, float], list[str]]:
    """The relations that stand at each pair of accuracies."""
    places: dict[tuple[float, float], list[str]] = {}
    for name in names:
        if name in report.relations:
            standard, granola = (report.relations[name].estimates[k].value for k in BOTH)
            if not math.isnan(standard):
                places.setdefault((round(standard, 2), round(granola, 2)), []).append(name)
    return places
