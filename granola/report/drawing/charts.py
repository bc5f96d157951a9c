"""Charts: estimates by slice or along a number; and estimates as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstraction.files.records import escape_formula
from granola.report.drawing.style import (
    DASHES,
    escape_mathtext,
    figure_bytes,
    figure_of,
    legend,
    set_share_axes,
    shortened,
    system_style,
)
from granola.scoring.aggregation import Estimate
from granola.scoring.grouping import natural_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 30  # slices of a panel
# The order of slices in the figures of GaRAGe; other slices follow in their own order.
_ORDER = ("fast-changing", "slow-changing", "static", "web", "private", "head", "torso", "tail")
Place = float | str


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """Axes of a figure.

    `lines` contain by label the points: a slice name or a number, and the estimate. `across` is the title of the
    slices or numbers, `score` that of the estimates; `is_share` is False for estimates outside [0, 1].
    """

    name: str
    across: str
    score: str
    lines: Mapping[str, Sequence[tuple[Place, Estimate]]]
    is_share: bool = True
    is_logarithmic: bool = False

    @property
    def slices(self) -> list[str]:
        """The names of slices from top to bottom, the MOST with most items where there are more; none for numbers."""
        n: dict[str, int] = {}
        for place, estimate in (point for line in self.lines.values() for point in line):
            if isinstance(place, str):
                n[place] = n.get(place, 0) + estimate.n
        # Slices of most items are kept, since their intervals are narrow.
        most_first = sorted(n, key=lambda name: (-n[name], name))
        return sorted(most_first[:MOST], key=lambda name: (_rank(name), natural_order(name)))


def _rank(name: str) -> int:
    word = name.casefold()
    return _ORDER.index(word) if word in _ORDER else len(_ORDER)


def estimates_figure(panels: Sequence[Panel], format: str = "svg") -> bytes:
    """The drawing of `draw_panels` as a file. Raises UsageError without matplotlib."""
    with figure_of() as figure:
        draw_panels(figure, panels)
        return figure_bytes(figure, format)


def draw_panels(figure: Figure, panels: Sequence[Panel]) -> None:
    """Draw the panels one below the other, each estimate with its 95 % interval.

    Named slices are listed from top to bottom, with a point for each line; numbers are on x, their points joined by
    lines.
    """
    lanes = max(len(panel.lines) for panel in panels)
    # Inches: 0.75 for title and axis, 0.12 for each point of a slice.
    heights = [0.75 + max(0.3, 0.12 * lanes + 0.14) * len(panel.slices) if panel.slices else 2.6 for panel in panels]
    figure.set_figheight(sum(heights) + 0.4)
    every = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, panel in zip(every, panels, strict=True):
        (_draw_slices if panel.slices else _draw_along)(axes, panel)
    if lanes > 1:
        legend(figure)


def _draw_slices(axes: Axes, panel: Panel) -> None:
    names, lines = panel.slices, len(panel.lines)
    n: dict[str, int] = {}
    for at, (label, line) in enumerate(panel.lines.items()):
        # The points of a slice are spread over 0.7 of its height.
        shift = (at - (lines - 1) / 2) * 0.7 / lines
        estimates = {str(place): estimate for place, estimate in line}
        points = [(names.index(name) + shift, estimates[name]) for name in names if name in estimates]
        # A slice without items has no point but keeps its row.
        there = [(place, estimate) for place, estimate in points if estimate.n]
        n |= {name: max(n.get(name, 0), one.n) for name, one in estimates.items()}
        if not there:
            continue
        # matplotlib takes distances from the value, which rounding may make negative.
        error: Any = [
            [max(0.0, one.value - one.interval.low) for _, one in there],
            [max(0.0, one.interval.high - one.value) for _, one in there],
        ]
        axes.errorbar(
            [one.value for _, one in there], [place for place, _ in there], xerr=error, linestyle="", elinewidth=1,
            label=shortened(label), **system_style(at),
        )  # fmt: skip
    axes.set_yticks(range(len(names)), [f"{shortened(name)}, n {n[name]:,}" for name in names])
    # The first slice is on top.
    axes.set_ylim(len(names) - 0.5, -0.5)
    if panel.is_share:
        set_share_axes(axes, x=True)
    left_out = len(n) - len(names)
    more = f"\nleft out, of fewest items: {left_out:,} slices; the table has all" if left_out else ""
    axes.set_xlabel(escape_mathtext(panel.score) + more)
    axes.set_ylabel(escape_mathtext(panel.across))


def _draw_along(axes: Axes, panel: Panel) -> None:
    for at, (label, line) in enumerate(panel.lines.items()):
        places = [float(place) for place, _ in line]
        every = max(1, len(line) // 5)  # points between two marks: about five marks on a line
        axes.plot(
            places, [one.value for _, one in line], label=escape_mathtext(label), linestyle=DASHES[at % 4],
            markevery=(at % every, every), **system_style(at),
        )  # fmt: skip
        low, high = ([getattr(one.interval, end) for _, one in line] for end in ("low", "high"))
        axes.fill_between(places, low, high, color=system_style(at)["color"], alpha=0.15, linewidth=0)
    axes.set_xlabel(escape_mathtext(panel.across))
    axes.set_ylabel(escape_mathtext(panel.score))
    if panel.is_logarithmic:
        axes.set_xscale("log")
    if panel.is_share:
        set_share_axes(axes, y=True, shown=None)


def estimates_table(panels: Sequence[Panel]) -> bytes:
    """All points of all panels as CSV, including slices that the figure leaves out; NaN is empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["panel", "score", "line", "at", "value", "low", "high", "n"])
    for panel in panels:
        for label, line in panel.lines.items():
            for place, one in line:
                at = escape_formula(place) if isinstance(place, str) else f"{place:g}"
                numbers = (one.value, one.interval.low, one.interval.high)
                cells = ["" if math.isnan(number) else f"{number:.6f}" for number in numbers]
                writer.writerow(
                    [escape_formula(panel.name), escape_formula(panel.score), escape_formula(label), at, *cells, one.n]
                )
    return stream.getvalue().encode()
