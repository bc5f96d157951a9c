"""The figures of a report, drawn by matplotlib: told apart by marks, dashes and hatches as well as by colour.

Numbers of the figures that they follow are those of Yona et al. 2024.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from granola.errors import UsageError
from granola.metrics import informativeness_weight
from granola.report.study import Study, slug
from granola.report.tables import distribution_columns, relation_title
from granola.sweeps import LAMBDAS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDED = "figures need matplotlib: pip install -e '.[report]' in the clone"
WIDTH = 4.7  # inches: on a phone's 340 pixels the letters stay readable
# Okabe and Ito's colours, which the colour-blind tell apart, from dark to light so that grey print keeps an order.
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", "h")  # with the colours, 63 systems look different
DASHES = ("-", "--", "-.", ":")
LEVELS = ("#12594a", "#2a7d6a", "#4f9c89", "#84bcae", "#b3d7cd", "#d6eae4")
SHOWN_RELATIONS = 24
SHOWN_SYSTEMS = 4  # in panels of their own
_STYLE: dict[str, Any] = {
    "font.size": 9,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "svg.fonttype": "path",  # letters as they are here, whatever fonts the reader has
    "svg.hashsalt": "granola",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.markersize": 5,
    "figure.facecolor": "white",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """A figure: `name` for its files, a title, and what it shows, also for those who cannot see it."""

    name: str
    title: str
    caption: str
    svg: str
    png: bytes


def check_drawing() -> None:
    """Raise UsageError, with the line that installs it, where matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise UsageError(NEEDED)


def drawings(study: Study) -> list[Drawing]:
    """Every figure that the study has numbers for, in the order of the page. Raises UsageError without matplotlib."""
    check_drawing()
    import matplotlib
    from matplotlib.figure import Figure

    found = []
    with matplotlib.rc_context(_STYLE):
        for plan in _plans(study):
            figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
            if plan.draw(study, figure):
                svg, png = _saved(figure)
                caption = plan.caption
                if plan.panels and len(study.names) > SHOWN_SYSTEMS:
                    caption += f" The first {SHOWN_SYSTEMS} of {len(study.names)} systems."
                found.append(Drawing(name=plan.name, title=plan.title, caption=caption, svg=svg, png=png))
    return found


def _saved(figure: Figure) -> tuple[str, bytes]:
    svg, png = io.StringIO(), io.BytesIO()
    figure.savefig(svg, format="svg", metadata={"Date": None})
    figure.savefig(png, format="png", dpi=200, metadata={"Software": None})
    return svg.getvalue(), png.getvalue()


def _look(index: int) -> dict[str, Any]:
    """How system number `index` is drawn."""
    colour = COLOURS[index % len(COLOURS)]
    return {"color": colour, "marker": MARKS[index % len(MARKS)]}


def _legend(figure: Figure) -> None:
    """A legend above the axes, in as many columns as have room; what is more than a row makes the figure taller."""
    labels = [label for axes in figure.axes for label in axes.get_legend_handles_labels()[1]]
    columns = max(1, int(WIDTH * 72 / (34 + 4.8 * max(map(len, labels)))))  # 8 point letters
    rows = -(-len(labels) // columns)
    columns = -(-len(labels) // rows)  # as even as they can be
    figure.set_figheight(figure.get_figheight() + 0.17 * (rows - 1))
    figure.legend(loc="outside upper center", ncols=columns, columnspacing=1.2)


def _share(axes: Axes, *, x: bool = False, y: bool = False) -> None:
    if x:
        axes.set_xlim(-0.02, 1.02)
    if y:
        axes.set_ylim(-0.02, 1.02)


def _gap(study: Study, figure: Figure) -> bool:
    figure.set_size_inches(WIDTH, 1.3 + 0.36 * len(study.names))
    axes = figure.add_subplot()
    for place, report in enumerate(study.reports):
        one, other = (report.overall.estimates[k] for k in ("standard_accuracy", "granola_accuracy"))
        axes.plot([one.value, other.value], [place, place], color="#777777", linewidth=2, zorder=1)
        for estimate, face, mark in ((one, "white", "o"), (other, "black", "D")):
            axes.plot(
                [estimate.interval.low, estimate.interval.high], [place, place], color="#bbbbbb", linewidth=6, zorder=0,
                solid_capstyle="butt",
            )  # fmt: skip
            axes.plot(estimate.value, place, mark, markerfacecolor=face, markeredgecolor="black", zorder=2)
        if not math.isnan(other.value):
            axes.annotate(
                f"+{other.value - one.value:.2f}", ((one.value + other.value) / 2, place),
                xytext=(0, 5), textcoords="offset points", ha="center", fontsize=8,
            )  # fmt: skip
    axes.set_yticks(range(len(study.names)), _shown(study))
    axes.set_ylim(len(study.names) - 0.4, -0.6)
    axes.set_xlabel("accuracy")
    axes.plot([], [], "o", markerfacecolor="white", markeredgecolor="black", label="standard")
    axes.plot([], [], "D", color="black", label="GRANOLA")
    _legend(figure)
    return True


def _popularity(study: Study, figure: Figure, field: str) -> bool:
    figure.set_size_inches(WIDTH, 3.3)
    axes = figure.add_subplot()
    systems, names = study.popularity[field], _shown(study)
    labels = [label for label in systems[0] if label[:1].isdigit()]
    for index, scores in enumerate(systems):
        for key, dash, face in (("granola_accuracy", "-", None), ("standard_accuracy", ":", "white")):
            values = [scores[label].estimates[key].value if label in scores else math.nan for label in labels]
            axes.plot(
                range(len(labels)), values, linestyle=dash, markerfacecolor=face or COLOURS[index % len(COLOURS)],
                label=names[index] if face is None else None, **_look(index),
            )  # fmt: skip
    axes.plot([], [], "-", color="#777777", label="GRANOLA")
    axes.plot([], [], ":", color="#777777", label="standard")
    narrow = len(labels) > 6
    axes.set_xticks(
        range(len(labels)), [_edges(label, "–" if narrow else "–\n") for label in labels],
        rotation=90 if narrow else 0, fontsize=8 if len(labels) > 4 else None,
    )  # fmt: skip
    axes.set_xlabel(f"{_short(field)}, bins of equal size")
    axes.set_ylabel("accuracy")
    _share(axes, y=True)
    _legend(figure)
    return True


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


def _tradeoff(study: Study, figure: Figure) -> bool:
    if all(math.isnan(report.overall.estimates["informativeness"].value) for report in study.reports):
        return False
    axes = figure.add_subplot()
    for index, report in enumerate(study.reports):
        accuracy, told = (report.overall.estimates[k] for k in ("granola_accuracy", "informativeness"))
        if math.isnan(told.value):
            continue
        spread = [
            [[told.value - told.interval.low], [told.interval.high - told.value]],
            [[accuracy.value - accuracy.interval.low], [accuracy.interval.high - accuracy.value]],
        ]
        axes.errorbar(
            told.value, accuracy.value, xerr=_positive(spread[0]), yerr=_positive(spread[1]), linestyle="none",
            elinewidth=0.8, label=_shown(study)[index], **_look(index),
        )  # fmt: skip
    axes.set_xlabel("informativeness of the right answers")
    axes.set_ylabel("GRANOLA accuracy")
    axes.margins(0.15)
    _legend(figure)
    return True


def _positive(spread: list[list[float]]) -> list[list[float]]:
    return [[max(0.0, value) for value in side] for side in spread]


def _distribution(study: Study, figure: Figure) -> bool:
    figure.set_size_inches(WIDTH, 1.4 + 0.36 * len(study.names))
    axes = figure.add_subplot()
    left = [0.0] * len(study.names)
    for column in distribution_columns(study.reports):
        shares = [r.overall.distribution.get(column, 0) / max(1, len(r.items)) for r in study.reports]
        if not any(shares):
            continue
        level = int(column) if column.isdigit() else 0
        face = LEVELS[min(level, len(LEVELS)) - 1] if level else "white"
        hatch = {"wrong": "////", "idk": "....", "unscored": ""}.get(column)
        name = f"level {column}" if level else {"idk": "IDK"}.get(column, column)
        axes.barh(
            range(len(study.names)), shares, left=left, color=face, hatch=hatch, edgecolor="#333333", linewidth=0.6,
            label=name, height=0.62,
        )  # fmt: skip
        for place, share in enumerate(shares):
            if share > 0.07:
                axes.text(
                    left[place] + share / 2, place, f"{100 * share:.0f}", ha="center", va="center", fontsize=8,
                    color="white" if 0 < level < 3 else "black",
                    bbox=None if level else {"facecolor": "white", "edgecolor": "none", "pad": 1},
                )  # fmt: skip
            left[place] += share
    axes.set_yticks(range(len(study.names)), _shown(study))
    axes.set_ylim(len(study.names) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the questions; figures in per cent")
    axes.grid(visible=False)
    _legend(figure)
    return True


def _weights(study: Study, figure: Figure) -> bool:
    axes = figure.add_subplot()
    for level in range(1, min(study.deepest, 6) + 1):
        axes.plot(
            LAMBDAS, [informativeness_weight(level, value) for value in LAMBDAS], label=f"level {level}",
            linestyle=DASHES[(level - 1) % 4], color=COLOURS[(level - 1) % len(COLOURS)],
        )  # fmt: skip
    _mark_lambda(axes, study)
    axes.set_ylabel("weight")
    _legend(figure)
    return True


def _lambdas(study: Study, figure: Figure) -> bool:
    if all(math.isnan(points[0].informativeness) for points in study.lambdas):
        return False
    axes = figure.add_subplot()
    for index, points in enumerate(study.lambdas):
        axes.plot(
            [point.lambda_ for point in points], [point.informativeness for point in points],
            linestyle=DASHES[index % 4], markevery=(index % 5, 5), label=_shown(study)[index], **_look(index),
        )  # fmt: skip
    _mark_lambda(axes, study)
    axes.set_ylabel("informativeness")
    _legend(figure)
    return True


def _mark_lambda(axes: Axes, study: Study) -> None:
    axes.axvline(study.lambda_, color="#777777", linewidth=0.8)
    axes.annotate(
        f"here {study.lambda_:g}", (study.lambda_, 1.0), xytext=(3, 3), textcoords="offset points", fontsize=8
    )
    axes.set_xlabel("lambda")
    axes.set_ylim(-0.02, 1.1)


def _relations(study: Study, figure: Figure) -> bool:
    names = [name for name, group in study.reports[0].relations.items() if group.n]
    names = sorted(names, key=lambda name: -study.reports[0].relations[name].n)[:SHOWN_RELATIONS]
    if not names:
        return False
    reports = study.reports[:SHOWN_SYSTEMS]
    figure.set_size_inches(WIDTH, 1.3 + len(names) * (0.16 + 0.13 * len(reports)))
    axes = figure.add_subplot()
    for index, report in enumerate(reports):
        look = _look(index)
        offset = (index - (len(reports) - 1) / 2) * 0.7 / len(reports)
        for place, name in enumerate(names):
            if name not in report.relations:
                continue
            one, other = (report.relations[name].estimates[k].value for k in ("standard_accuracy", "granola_accuracy"))
            axes.plot([one, other], [place + offset] * 2, color=look["color"], linewidth=0.9)
            axes.plot(one, place + offset, look["marker"], markerfacecolor="white", markeredgecolor=look["color"])
            axes.plot(other, place + offset, look["marker"], color=look["color"])
        axes.plot([], [], linestyle="none", label=_shown(study)[index], **look)
    axes.set_yticks(range(len(names)), [_short(relation_title(name)) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    _share(axes, x=True)
    axes.set_xlabel("accuracy: hollow standard, full GRANOLA")
    _legend(figure)
    return True


def _short(text: str) -> str:
    return _plain(text if len(text) <= 28 else text[:27].rstrip() + "…")


def _plain(text: str) -> str:
    """A text as matplotlib shows it: no formula between two $, no label that a legend leaves out for its first _."""
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def _shown(study: Study) -> list[str]:
    """The systems' names with room for them: of long ones both ends, by which they differ."""
    return [_plain(name if len(name) <= 28 else f"{name[:13]}…{name[-14:]}") for name in study.names]


def _f1(study: Study, figure: Figure) -> bool:
    import matplotlib

    panels: list[tuple[str, dict[tuple[float, float], tuple[int, float]]]] = []
    for index, name in enumerate(study.names[:SHOWN_SYSTEMS]):
        colour = study.colour_of(index)
        counts: Counter[tuple[float, float]] = Counter()
        sums: Counter[tuple[float, float]] = Counter()
        for item in study.f1[index]:
            if not item.abstained and item.id in colour:
                place = (round(item.standard, 2), round(item.granola, 2))
                counts[place] += 1
                sums[place] += colour[item.id]  # type: ignore[assignment]  # a Counter takes floats as well
        if counts:
            panels.append((name, {place: (n, sums[place] / n) for place, n in counts.items()}))
    if not panels:
        return False
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    figure.set_size_inches(WIDTH, 0.9 + 2.3 * down if across == 2 else 3.6)
    means = [mean for _, points in panels for _, mean in points.values()]
    scale = matplotlib.colors.Normalize(min(means), max(means) if max(means) > min(means) else min(means) + 1)
    most = max(n for _, points in panels for n, _ in points.values())
    axes_list: list[Axes] = []
    drawn = None
    for number, (name, points) in enumerate(panels, start=1):
        axes = figure.add_subplot(down, across, number)
        axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=0.8, zorder=0)
        drawn = axes.scatter(
            [x for x, _ in points], [y for _, y in points],
            s=[12 + 240 * math.sqrt(n / most) for n, _ in points.values()],
            c=[mean for _, mean in points.values()], cmap="viridis", norm=scale, edgecolors="#333333", linewidths=0.4,
            clip_on=False, zorder=3,
        )  # fmt: skip
        axes.set_title(name, fontsize=9)
        axes.set(xlim=(-0.06, 1.06), ylim=(-0.06, 1.06))
        axes.tick_params(labelbottom=number + across > len(panels), labelleft=number % across == 1 or across == 1)
        axes.set_xlabel("F1, standard" if number + across > len(panels) else "")
        axes.set_ylabel("F1, GRANOLA" if number % across == 1 or across == 1 else "")
        axes_list.append(axes)
    if drawn is not None:
        figure.colorbar(drawn, ax=axes_list, label=_short(study.colour_title) if study.coloured else "informativeness")
    return True


def _risk(study: Study, figure: Figure) -> bool:
    if not any(study.curves):
        return False
    axes = figure.add_subplot()
    for index, curve in enumerate(study.curves):
        if curve is None:
            continue
        look = _look(index) | {"markevery": (0.05 + 0.03 * (index % 7), 0.25)}
        axes.plot(
            [x for x, _ in curve.points], [y for _, y in curve.points], linestyle=DASHES[index % 4],
            label=f"{_shown(study)[index]} ({curve.area:.2f})", **look,
        )  # fmt: skip
    _share(axes, x=True, y=True)
    axes.set_xlabel("coverage: share of the questions answered, surest first")
    axes.set_ylabel("risk: share wrong")
    _legend(figure)
    return True


def _taus(study: Study, figure: Figure) -> bool:
    axes = figure.add_subplot()
    for index, points in enumerate(study.sweeps):
        look = _look(index) | {"markevery": (index, 4)}
        taus = [point.tau for point in points]
        axes.plot(taus, [point.granola for point in points], "-", label=_shown(study)[index], **look)
        axes.plot(taus, [point.standard for point in points], ":", markerfacecolor="white", **look)
    axes.plot([], [], "-", color="#777777", label="GRANOLA")
    axes.plot([], [], ":", color="#777777", label="standard")
    axes.set_xlabel("threshold of token-F1 (at or above it matches)")
    axes.set_ylabel("accuracy")
    _share(axes, y=True)
    _legend(figure)
    return True


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plan:
    """A figure to draw; `draw` is False where the study has no numbers for it, `panels` where it has few systems."""

    name: str
    title: str
    caption: str
    draw: Callable[[Study, Figure], bool]
    panels: bool = False


def _plans(study: Study) -> list[_Plan]:
    popularity = [
        _Plan(
            name="popularity" if index == 0 else f"popularity-{slug(field)}",
            title="Accuracy against popularity" if index == 0 else f"Accuracy against {field}",
            caption="Full lines GRANOLA, dotted lines standard accuracy (as Figures 6 and 11).",
            draw=partial(_popularity, field=field),
        )
        for index, field in enumerate(study.popularity)
    ]
    return [_GAP, *popularity, *_REST]


_GAP = _Plan(
    name="gap",
    title="Standard and GRANOLA accuracy",
    caption="The line between them is the knowledge evaluation gap; grey bars are 95 % intervals (as Figure 5).",
    draw=_gap,
)
_REST = (
    _Plan(
        name="tradeoff",
        title="Accuracy against informativeness",
        caption="Of the answers that match, how informative they are; bars are 95 % intervals (as Figure 7).",
        draw=_tradeoff,
    ),
    _Plan(
        name="distribution",
        title="Where the answers stand",
        caption="Finest level stated, from dark (level 1) to light; wrong hatched, abstentions dotted (as Figure 8).",
        draw=_distribution,
    ),
    _Plan(
        name="weights",
        title="Weights of the levels",
        caption="exp(-lambda (level - 1)) against lambda (as Figure 9).",
        draw=_weights,
    ),
    _Plan(
        name="lambdas",
        title="Informativeness against lambda",
        caption="Of the answers that match, by what lambda is; at 0 every level weighs the same.",
        draw=_lambdas,
    ),
    _Plan(
        name="relations",
        title="Per relation",
        caption="Hollow marks standard, full marks GRANOLA accuracy; the most frequent relations (as Figure 10).",
        draw=_relations,
        panels=True,
    ),
    _Plan(
        name="f1",
        title="Token-F1 with the gold answer and with any level",
        caption="Above the line an answer is closer to a coarser level; larger marks stand for more answers "
        "(as Figure 12).",
        draw=_f1,
        panels=True,
    ),
    _Plan(
        name="risk-coverage",
        title="Risk and coverage",
        caption="The share of wrong answers among the surest ones; in brackets its mean over the curve.",
        draw=_risk,
    ),
    _Plan(
        name="thresholds",
        title="Thresholds of token-F1",
        caption="How both accuracies fall with the threshold.",
        draw=_taus,
    ),
)
