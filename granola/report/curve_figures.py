"""Figures of curves and points: over lambda, thresholds and coverage, and token-F1 answer by answer.

Each draws into an empty figure; False where the study has no numbers for it.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from granola.figures.style import DASHES, SHOWN_SYSTEMS, WIDTH, legend, look, share, short, shown_names
from granola.report.study import Study
from granola.scoring.metrics import informativeness_weight
from granola.scoring.sweeps import LAMBDAS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def weights(study: Study, figure: Figure) -> bool:
    """The weight of each level against lambda."""
    axes = figure.add_subplot()
    for level in range(1, min(study.deepest, 6) + 1):
        axes.plot(
            LAMBDAS, [informativeness_weight(level, value) for value in LAMBDAS], label=f"level {level}",
            linestyle=DASHES[(level - 1) % 4], markevery=((level - 1) % 5, 5), **look(level - 1),
        )  # fmt: skip
    _mark_lambda(axes, study)
    axes.set_ylabel("weight")
    legend(figure)
    return True


def lambdas(study: Study, figure: Figure) -> bool:
    """Informativeness of every system against lambda."""
    if all(math.isnan(points[0].informativeness) for points in study.lambdas):
        return False
    axes = figure.add_subplot()
    for index, points in enumerate(study.lambdas):
        axes.plot(
            [point.lambda_ for point in points], [point.informativeness for point in points],
            linestyle=DASHES[index % 4], markevery=(index % 5, 5), label=shown_names(study.names)[index], **look(index),
        )  # fmt: skip
    _mark_lambda(axes, study)
    axes.set_ylabel("informativeness")
    legend(figure)
    return True


def _mark_lambda(axes: Axes, study: Study) -> None:
    axes.axvline(study.lambda_, color="#777777", linewidth=0.8)
    axes.annotate(
        f"here {study.lambda_:g}", (study.lambda_, 1.0), xytext=(3, 3), textcoords="offset points", fontsize=8
    )
    axes.set_xlabel("lambda")
    share(axes, y=True)
    axes.set_ylim(top=1.1)  # room for the word


def f1(study: Study, figure: Figure) -> bool:
    """Token-F1 with the gold answer against that with the matched tier (the closest if none), coloured by a score."""
    import matplotlib

    panels = [
        (name, points) for index, name in enumerate(study.names[:SHOWN_SYSTEMS]) if (points := _f1_points(study, index))
    ]
    if not panels:
        return False
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    figure.set_size_inches(WIDTH, 0.9 + 2.3 * down if across == 2 else 3.6)
    means = [mean for _, points in panels for _, mean in points.values()]
    scale = matplotlib.colors.Normalize(min(means), max(means) if max(means) > min(means) else min(means) + 1)
    most = max(n for _, points in panels for n, _ in points.values())
    axes_list: list[Axes] = []
    for number, (name, points) in enumerate(panels, start=1):
        axes = figure.add_subplot(down, across, number)
        axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=0.8, zorder=0)
        drawn = axes.scatter(  # points as large as they are many, beside the diagonal
            [x for x, _ in points], [y for _, y in points],
            s=[12 + 240 * math.sqrt(n / most) for n, _ in points.values()],
            c=[mean for _, mean in points.values()], cmap="viridis", norm=scale, edgecolors="#333333", linewidths=0.4,
            clip_on=False, zorder=3,
        )  # fmt: skip
        share(axes, x=True, y=True, margin=0.06)
        axes.set_title(name, fontsize=9)
        lowest, leftmost = number + across > len(panels), number % across == 1 or across == 1
        axes.tick_params(labelbottom=lowest, labelleft=leftmost)
        axes.set_xlabel("F1, gold answer" if lowest else "")
        axes.set_ylabel("F1, matched tier" if leftmost else "")
        axes_list.append(axes)
    figure.colorbar(drawn, ax=axes_list, label=short(study.colour_title) if study.coloured else "informativeness")
    return True


def _f1_points(study: Study, index: int) -> dict[tuple[float, float], tuple[int, float]]:
    """How many answers of a system stand at each pair of F1, and the mean of the scores that colour them."""
    colour, matched = study.colour_of(index), study.matched(index)
    counts: Counter[tuple[float, float]] = Counter()
    sums: Counter[tuple[float, float]] = Counter()
    for item in study.f1[index]:
        if not item.abstained and item.id in colour and item.id in matched:
            place = (round(item.standard, 2), round(item.with_level(matched[item.id]), 2))
            counts[place] += 1
            sums[place] += colour[item.id]  # type: ignore[assignment]  # a Counter takes floats as well
    return {place: (n, sums[place] / n) for place, n in counts.items()}


def risk(study: Study, figure: Figure) -> bool:
    """Risk against coverage of the systems that give confidences."""
    if not any(study.curves):
        return False
    axes = figure.add_subplot()
    for index, curve in enumerate(study.curves):
        if curve is None:
            continue
        style = look(index) | {"markevery": (0.05 + 0.03 * (index % 7), 0.25)}
        axes.plot(
            [x for x, _ in curve.points], [y for _, y in curve.points], linestyle=DASHES[index % 4],
            label=f"{shown_names(study.names)[index]} ({curve.area:.2f})", **style,
        )  # fmt: skip
    share(axes, x=True, y=True)
    axes.set_xlabel("coverage: share of the questions answered, surest first")
    axes.set_ylabel("risk: share wrong")
    legend(figure)
    return True


def taus(study: Study, figure: Figure) -> bool:
    """Both accuracies by token-F1 at every threshold."""
    axes = figure.add_subplot()
    for index, points in enumerate(study.sweeps):
        style = look(index) | {"markevery": (index, 4)}
        taus = [point.tau for point in points]
        axes.plot(taus, [point.granola for point in points], "-", label=shown_names(study.names)[index], **style)
        axes.plot(taus, [point.standard for point in points], ":", markerfacecolor="white", **style)
    axes.plot([], [], "-", color="#777777", label="GRANOLA")
    axes.plot([], [], ":", color="#777777", label="standard")
    axes.set_xlabel("threshold of token-F1 (what exceeds it matches)")
    axes.set_ylabel("selective accuracy")
    share(axes, x=True, y=True)
    legend(figure)
    return True
