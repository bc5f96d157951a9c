"""How every figure of a report looks: sizes, colours, marks, dashes, legends, and names with room for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from granola.report.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 4.7  # inches: on a phone's 340 pixels the letters stay readable
# Okabe and Ito's colours, which the colour-blind tell apart, from dark to light so that grey print keeps an order.
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", "h")  # with the colours, 63 systems look different
DASHES = ("-", "--", "-.", ":")
LEVELS = ("#12594a", "#2a7d6a", "#4f9c89", "#84bcae", "#b3d7cd", "#d6eae4")
SHOWN_RELATIONS = 24
_NARROWEST = 0.1  # of a share's axis: less would draw small differences large
_SAME = 1e-9  # ticks are as near to the ends as binary fractions let them
SHOWN_SYSTEMS = 4  # in panels of their own
# The colours of figures in a dark page, by those of a light one.
DARK = {
    "#000000": "#e9e7e2", "#333333": "#b9bcc2", "#777777": "#9ba0a8", "#bbbbbb": "#5d6169", "#dddddd": "#3a3e45",
    "#ffffff": "#1d2024", "#c03030": "#f08a7f", "#cccccc": "#4a4e55",
    "#0072b2": "#56a8e0", "#d55e00": "#f0883e", "#009e73": "#3fc79c", "#cc79a7": "#dd9cc0",
}  # fmt: skip
STYLE: dict[str, Any] = {
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


def look(index: int) -> dict[str, Any]:
    """How system number `index` is drawn."""
    colour = COLOURS[index % len(COLOURS)]
    return {"color": colour, "marker": MARKS[index % len(MARKS)]}


def legend(figure: Figure) -> None:
    """A legend above the axes, in as many columns as have room; what is more than a row makes the figure taller."""
    labels = [label for axes in figure.axes for label in axes.get_legend_handles_labels()[1]]
    columns = max(1, int(WIDTH * 72 / (34 + 4.8 * max(map(len, labels)))))  # 8 point letters
    rows = -(-len(labels) // columns)
    columns = -(-len(labels) // rows)  # as even as they can be
    figure.set_figheight(figure.get_figheight() + 0.17 * (rows - 1))
    figure.legend(loc="outside upper center", ncols=columns, columnspacing=1.2)


def share(
    axes: Axes,
    *,
    x: bool = False,
    y: bool = False,
    shown: tuple[float, float] | None = (0.0, 1.0),
    margin: float = 0.02,
) -> None:
    """Let the axes that a share is on, once all is drawn, show values from 0 to 1 alone, and marks at the ends whole.

    They reach over `shown`, None for what is drawn, and by `margin` of it beyond both ends, where no tick stands.
    """
    for axis, limit, asked in ((axes.xaxis, axes.set_xlim, x), (axes.yaxis, axes.set_ylim, y)):
        if not asked:
            continue
        low, high = shown or axis.get_view_interval()
        low, high = max(0.0, low), min(1.0, high)
        low = min(low, max(0.0, high - _NARROWEST))
        high = max(high, min(1.0, low + _NARROWEST))
        limit(low - margin * (high - low), high + margin * (high - low))
        axis.set_ticks([tick for tick in axis.get_majorticklocs() if low - _SAME <= tick <= high + _SAME])
    for line in axes.lines:
        if line.get_marker() not in (None, "", "None"):
            line.set_clip_on(False)


def short(text: str) -> str:
    """A text cut to what an axis has room for."""
    return plain(text if len(text) <= 28 else text[:27].rstrip() + "…")


def plain(text: str) -> str:
    """A text as matplotlib shows it: no formula between two $, no label that a legend leaves out for its first _."""
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def shown_names(study: Study) -> list[str]:
    """The systems' names with room for them: of long ones both ends, by which they differ."""
    return [plain(name if len(name) <= 28 else f"{name[:13]}…{name[-14:]}") for name in study.names]
