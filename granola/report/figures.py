"""A report on several systems: its figures, the page with them inside, and every figure and table as a file.

Systems differ in marks, dashes and hatches as well as in colour. Figure numbers are those of Yona et al. 2024. Each
`draw_...` draws into an empty figure; it returns False where the study has no numbers for it.
"""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from granola.report.charts import (
    LEVELS,
    SHOWN_SYSTEMS,
    WIDTH,
    check_drawing,
    figure_bytes,
    figure_of,
    legend,
    set_share_axes,
    shortened,
    shortened_names,
    system_style,
)
from granola.report.score_page import render
from granola.report.score_tables import distribution_columns
from granola.report.study import PanelFigure, Study
from granola.scoring.metrics import informativeness_weight
from kg.base.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAGE, FIGURES, TABLES = "report.html", "figures", "tables"
_LONG = 40  # rows of a table that the page shows; the file has all


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnFigure:
    """A figure: `name` for its files, a title, and a description, also for readers who cannot see it."""

    name: str
    title: str
    caption: str
    svg: bytes
    png: bytes
    address: str  # the figure itself as an address, for a page in one file


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plan:
    name: str
    title: str
    caption: str
    draw: Callable[[Study, Figure], bool]


def drawings(study: Study) -> list[DrawnFigure]:
    """Every figure that the study has numbers for, in the order of the page. Raises UsageError without matplotlib."""
    check_drawing()
    import matplotlib

    plans: tuple[_Plan | PanelFigure, ...] = (*_OWN, *study.figures)
    drawn = []
    for plan in plans:
        with figure_of() as figure:
            if not plan.draw(study, figure):
                continue
            svg, png = figure_bytes(figure), figure_bytes(figure, "png")
            # Letters as text take a third of the room of outlines.
            with matplotlib.rc_context({"svg.fonttype": "none"}):
                address = f"data:image/svg+xml;base64,{base64.b64encode(figure_bytes(figure)).decode()}"
        caption = plan.caption + (study.f1_warning if plan.name == "f1" else "")
        drawn.append(DrawnFigure(name=plan.name, title=plan.title, caption=caption, svg=svg, png=png, address=address))
    return drawn


def draw_gap(study: Study, figure: Figure) -> bool:
    """A mark for each system: standard accuracy on x, GRANOLA accuracy on y, with intervals and lines of equal gaps."""
    figure.set_size_inches(WIDTH, WIDTH)
    axes = figure.add_subplot()
    if not _draw_marks(study, axes, "selective_standard_accuracy", "selective_accuracy"):
        return False
    # Lines of equal gap: 0, 5 and 20 points, as in Figure 5 of the paper.
    for points, colour, dash in ((0, "#000000", "-"), (5, "#777777", ":"), (20, "#c03030", ":")):
        axes.plot([0, 1 - points / 100], [points / 100, 1], linewidth=0.9, zorder=0, color=colour, linestyle=dash)
        if points:
            axes.annotate(
                f"+{points}", (0.02, 0.02 + points / 100), xytext=(0, 3), textcoords="offset points", fontsize=8,
                ha="left", color=colour,
            )  # fmt: skip
    set_share_axes(axes, x=True, y=True)
    axes.set_aspect("equal")
    axes.set_xlabel("selective standard accuracy")
    axes.set_ylabel("selective GRANOLA accuracy")
    legend(figure)
    return True


def draw_tradeoff(study: Study, figure: Figure) -> bool:
    """Selective GRANOLA accuracy against informativeness over all answers, with intervals."""
    axes = figure.add_subplot()
    if not _draw_marks(study, axes, "informativeness", "selective_accuracy"):
        return False
    axes.set_xlabel("informativeness")
    axes.set_ylabel("selective GRANOLA accuracy")
    axes.margins(0.15)
    set_share_axes(axes, x=True, y=True, shown=None)
    legend(figure)
    return True


def _draw_marks(study: Study, axes: Axes, along: str, up: str) -> bool:
    """A mark for each system at two of its scores, with both intervals; returns whether there is any."""
    for index, report in enumerate(study.reports):
        x, y = report.overall.estimates[along], report.overall.estimates[up]
        if math.isnan(x.value) or math.isnan(y.value):
            continue
        axes.hlines(y.value, x.interval.low, x.interval.high, color="#bbbbbb", linewidth=2, zorder=1)
        axes.vlines(x.value, y.interval.low, y.interval.high, color="#bbbbbb", linewidth=2, zorder=1)
        axes.plot(
            x.value, y.value, linestyle="none", label=shortened_names(study.names)[index], zorder=3,
            **system_style(index),
        )  # fmt: skip
    return bool(axes.lines)


def draw_distribution(study: Study, figure: Figure) -> bool:
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
            # A narrower bar has no room for its number.
            if part > 0.07:
                axes.text(
                    left[place] + part / 2, place, f"{100 * part:.0f}", ha="center", va="center", fontsize=8,
                    color="white" if 0 < level < 3 else "#06231c" if level else "black",
                    bbox=None if level else {"facecolor": "white", "edgecolor": "none", "pad": 1},
                )  # fmt: skip
            left[place] += part
    axes.set_yticks(range(len(study.names)), shortened_names(study.names))
    # The first system is on top.
    axes.set_ylim(len(study.names) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the questions; figures in per cent")
    axes.grid(visible=False)
    legend(figure)
    return True


def draw_f1(study: Study, figure: Figure) -> bool:
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
    # One colour scale for all panels; of a single value a scale of width 1.
    scale = matplotlib.colors.Normalize(min(means), max(means) if max(means) > min(means) else min(means) + 1)
    most = max(n for _, points in panels for n, _ in points.values())
    axes_list: list[Axes] = []
    for number, (name, points) in enumerate(panels, start=1):
        axes = figure.add_subplot(down, across, number)
        axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=0.8, zorder=0)
        drawn = axes.scatter(  # the area of a point grows with its number of answers; the diagonal means equal F1
            [x for x, _ in points], [y for _, y in points],
            s=[12 + 240 * math.sqrt(n / most) for n, _ in points.values()],
            c=[mean for _, mean in points.values()], cmap="viridis", norm=scale, edgecolors="#333333", linewidths=0.4,
            clip_on=False, zorder=3,
        )  # fmt: skip
        set_share_axes(axes, x=True, y=True, margin=0.06)
        axes.set_title(name, fontsize=9)
        lowest, leftmost = number + across > len(panels), number % across == 1 or across == 1
        axes.tick_params(labelbottom=lowest, labelleft=leftmost)
        axes.set_xlabel("F1, gold answer" if lowest else "")
        axes.set_ylabel("F1, matched tier" if leftmost else "")
        axes_list.append(axes)
    figure.colorbar(drawn, ax=axes_list, label=shortened(study.coloured or "informativeness"))
    return True


def _f1_points(study: Study, index: int) -> dict[tuple[float, float], tuple[int, float]]:
    """For each pair of F1: the number of answers of a system, and the mean of the scores that colour them."""
    matched, score = study.matched(index), study.coloured
    # Without a score in the predictions, points are coloured by informativeness.
    colour = (
        {id_: informativeness_weight(level, study.lambda_) if level else 0.0 for id_, level in matched.items()}
        if score is None
        else {id_: p.scores[score] for id_, p in study.files[index].predictions.items() if score in p.scores}
    )
    counts: Counter[tuple[float, float]] = Counter()
    sums: Counter[tuple[float, float]] = Counter()
    for item in study.f1[index]:
        if not item.abstained and item.id in colour and item.id in matched:
            # To two decimals, so that equal pairs form one larger point.
            level = matched[item.id]  # without one, the best F1 with any
            place = (round(item.standard, 2), round(item.levels[level - 1] if level else max(item.levels), 2))
            counts[place] += 1
            sums[place] += colour[item.id]  # type: ignore[assignment]  # a Counter takes floats as well
    return {place: (n, sums[place] / n) for place, n in counts.items()}


_OWN = (
    _Plan(
        name="gap",
        title="Standard and GRANOLA accuracy",
        caption="Each mark is a system, over the questions that it answers. How far it lies above the full line, where "
        "both accuracies are equal, is the knowledge evaluation gap. Dotted lines are gaps of 5 and 20 points, bars "
        "95 % intervals (as Figure 5).",
        draw=draw_gap,
    ),
    _Plan(
        name="tradeoff",
        title="Accuracy against informativeness",
        caption="Accuracy over the questions that are answered, informativeness over all, where wrong answers and IDK "
        "count 0; bars are 95 % intervals (as Figure 7).",
        draw=draw_tradeoff,
    ),
    _Plan(
        name="distribution",
        title="Where the answers stand",
        caption="The finest level that each answer states, from level 1 on the left; then wrong answers, hatched "
        "obliquely, and IDK, hatched across (as Figure 8).",
        draw=draw_distribution,
    ),
    _Plan(
        name="f1",
        title="Token-F1 with the gold answer and with the matched tier",
        caption="Where nothing matched, with the closest tier. Larger marks stand for more answers (as Figure 12); of "
        f"the first {SHOWN_SYSTEMS} systems.",
        draw=draw_f1,
    ),
)


def write_study(study: Study, folder: Path, *, earlier: Collection[str] = (), csv_raw: bool = False) -> list[str]:
    """Write report.html, figures/*.svg and *.png, tables/*.csv; the page last. Returns the names of the files.

    Of `earlier`, the files of an earlier report, those not written again are removed. Raises UsageError where
    matplotlib is missing, OSError where a file cannot be written.
    """
    drawn, tables = drawings(study), study.tables()
    written: dict[str, bytes] = {}
    for drawing in drawn:
        written[f"{FIGURES}/{drawing.name}.svg"] = drawing.svg
        written[f"{FIGURES}/{drawing.name}.png"] = drawing.png
    for table in tables:
        written[f"{TABLES}/{table.name}.csv"] = table.to_csv(raw=csv_raw).encode()
    # The page links the other tables as files: the figures show their numbers.
    on_page = {"differences", "coarse-answers", *(figure.name for figure in study.figures if figure.is_shown)}
    shown = [
        replace(one, rows=one.rows[:_LONG], caption=f"{one.caption} The first {_LONG} of {len(one.rows):,} rows.")
        if len(one.rows) > _LONG
        else one
        for one in tables
        if one.name in on_page
    ]
    page = render(
        [study.evidence.get(row.id, row) for row in study.rows],
        study.reports,
        title="GRANOLA report",
        figures=drawn,
        tables=shown,
        files_of_tables=[f"{TABLES}/{table.name}.csv" for table in tables if table.name not in on_page],
        made_of={
            report.system: {one.id: one.made_of for one in file.predictions.values() if one.made_of}
            for report, file in zip(study.reports, study.files, strict=True)
        },
    )
    # Last, since the page links the other files.
    written[PAGE] = page.encode()
    for name in (FIGURES, TABLES):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, content in written.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_bytes(content)
    for name in earlier:
        # Only in these two folders, whatever the earlier record lists.
        if name not in written and Path(name).parts[:-1] in ((FIGURES,), (TABLES,)):
            (folder / name).unlink(missing_ok=True)
    return list(written)
