"""Charts of all packages: one style; estimates by slice or along a number, as SVG, PNG or PDF, and as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstraction.files.records import escape_formula
from granola.errors import UsageError
from granola.scoring.grouping import natural_sort_key
from granola.scoring.statistics import Estimate
from kg.base.packages import install_hint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDED = f"figures need matplotlib: {install_hint('report')}"
FORMATS = ("svg", "png", "pdf")  # those for pages, slides and papers
WIDTH = 4.7  # inches: on a phone's 340 pixels the letters stay readable
# Okabe and Ito's colours, which colour-blind readers can distinguish, from dark to light for printing in grey.
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", "h")  # with the colours, 63 systems look different
DASHES = ("-", "--", "-.", ":")  # distinguish lines in grey print
LEVELS = ("#12594a", "#2a7d6a", "#4f9c89", "#84bcae", "#b3d7cd", "#d6eae4")
_NARROWEST = 0.1  # least range of an axis of shares: a smaller one would exaggerate small differences
_SAME = 1e-9  # ticks equal the ends up to the rounding of binary fractions
SHOWN_SYSTEMS = 4  # systems at most with panels of their own
STYLE: dict[str, Any] = {
    "font.size": 9,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "svg.fonttype": "path",  # letters as outlines, independent of the fonts of the reader
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


def check_matplotlib() -> None:
    """Raise UsageError, with the line that installs it, where matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise UsageError(NEEDED)


def figure_format(path: Path, option: str = "--out") -> str:
    """The format by the ending of a file name; `option` is named in the error. Raises UsageError for another ending,
    and without matplotlib.
    """
    format = path.suffix.removeprefix(".").lower()
    if format not in FORMATS:
        raise UsageError(f"{option} is {path}; name a file that ends in .{', .'.join(FORMATS)}")
    check_matplotlib()
    return format


@contextmanager
def new_figure() -> Iterator[Figure]:
    """An empty figure, to be drawn and saved within the block. Raises UsageError without matplotlib."""
    check_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        yield Figure(figsize=(WIDTH, 3.0), layout="constrained")


def figure_bytes(figure: Figure, format: str = "svg") -> bytes:
    """The figure as bytes in one of FORMATS; the same bytes for the same figure, as the time of day is left out."""
    # Dates and versions would change the bytes of equal figures.
    metadata = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}
    out = io.BytesIO()
    figure.savefig(out, format=format, dpi=200 if format == "png" else "figure", metadata=metadata[format])
    return out.getvalue()


def system_style(index: int) -> dict[str, Any]:
    """The drawing style of system number `index`."""
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKS[index % len(MARKS)]}


def add_legend(figure: Figure) -> None:
    """A legend above the axes, each label once, in as many columns as have room; more rows make the figure taller."""
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    # Estimated width of a column: 34 points for the mark, 4.8 for a letter.
    columns = max(1, int(WIDTH * 72 / (34 + 4.8 * max(map(len, handles)))))  # 8 point letters
    rows = -(-len(handles) // columns)
    columns = -(-len(handles) // rows)  # the columns are as even in length as possible
    figure.set_figheight(figure.get_figheight() + 0.17 * (rows - 1))
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=columns, columnspacing=1.2)


def set_share_axes(
    axes: Axes,
    *,
    x: bool = False,
    y: bool = False,
    shown: tuple[float, float] | None = (0.0, 1.0),
    margin: float = 0.02,
) -> None:
    """Limit the axes that show shares to values from 0 to 1, after drawing, without cutting bars and marks at the
    ends.

    The axes cover `shown`, or the drawn values if None, and a margin at both ends: the fraction `margin` of that
    range, without ticks.
    """
    for axis, limit, asked in ((axes.xaxis, axes.set_xlim, x), (axes.yaxis, axes.set_ylim, y)):
        if not asked:
            continue
        low, high = shown or axis.get_view_interval()
        low, high = max(0.0, low), min(1.0, high)
        # At least _NARROWEST wide, so that small differences do not look large.
        low = min(low, max(0.0, high - _NARROWEST))
        high = max(high, min(1.0, low + _NARROWEST))
        limit(low - margin * (high - low), high + margin * (high - low))
        axis.set_ticks([tick for tick in axis.get_majorticklocs() if low - _SAME <= tick <= high + _SAME])
    # Marks at 0 and 1 would be cut in half by the axes.
    for line in axes.lines:
        if line.get_marker() not in (None, "", "None"):
            line.set_clip_on(False)


def shortened_at_end(text: str) -> str:
    """A text shortened to the room of an axis, 28 characters."""
    return escape_mathtext(text if len(text) <= 28 else text[:27].rstrip() + "…")


def escape_mathtext(text: str) -> str:
    """A text that matplotlib prints unchanged: it would read text between two $ as a formula, and leave labels that
    begin with _ out of a legend.
    """
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def names_shortened_in_middle(names: Sequence[str]) -> list[str]:
    """The names of systems shortened in the middle, since names often differ at their ends."""
    return [escape_mathtext(name if len(name) <= 28 else f"{name[:13]}…{name[-14:]}") for name in names]


MOST = 30  # slices of a panel
# The order of slices in the figures of GaRAGe; other slices follow in their own order.
_ORDER = ("fast-changing", "slow-changing", "static", "web", "private", "head", "torso", "tail")
SliceValue = float | str


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """Axes of a figure.

    `lines` contain by label the points: a slice name or a number, and the estimate. `across` is the title of the
    slices or numbers, `score` that of the estimates; `is_share` is False for estimates outside [0, 1].
    """

    name: str
    across: str
    score: str
    lines: Mapping[str, Sequence[tuple[SliceValue, Estimate]]]
    is_share: bool = True
    is_logarithmic: bool = False

    @property
    def slice_names(self) -> list[str]:
        """The names of slices from top to bottom, at most MOST, those with most items; none where slices are numbers.
        """
        n: dict[str, int] = {}
        for place, estimate in (point for line in self.lines.values() for point in line):
            if isinstance(place, str):
                n[place] = n.get(place, 0) + estimate.n
        # Slices of most items are kept, since their intervals are narrow.
        most_first = sorted(n, key=lambda name: (-n[name], name))
        rank = {word: place for place, word in enumerate(_ORDER)}
        return sorted(
            most_first[:MOST], key=lambda name: (rank.get(name.casefold(), len(rank)), natural_sort_key(name))
        )


def estimates_figure(panels: Sequence[Panel], format: str = "svg") -> bytes:
    """The drawing of `draw_panels` as a file. Raises UsageError without matplotlib."""
    with new_figure() as figure:
        draw_panels(figure, panels)
        return figure_bytes(figure, format)


def draw_panels(figure: Figure, panels: Sequence[Panel]) -> None:
    """Draw the panels one below the other, each estimate with its 95 % interval.

    Named slices (relations, systems) are rows from top to bottom; each line of the panel has one point in a row.
    Numeric slices are on the x axis; the points of each line of the panel are connected.
    """
    lanes = max(len(panel.lines) for panel in panels)
    # In inches: 0.75 for title and axis, 0.12 for each point of a slice.
    heights = [
        0.75 + max(0.3, 0.12 * lanes + 0.14) * len(panel.slice_names) if panel.slice_names else 2.6 for panel in panels
    ]
    figure.set_figheight(sum(heights) + 0.4)
    every = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, panel in zip(every, panels, strict=True):
        (_draw_slices if panel.slice_names else _draw_curves)(axes, panel)
    if lanes > 1:
        add_legend(figure)


def _draw_slices(axes: Axes, panel: Panel) -> None:
    names, lines = panel.slice_names, len(panel.lines)
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
            label=shortened_at_end(label), **system_style(at),
        )  # fmt: skip
    axes.set_yticks(range(len(names)), [f"{shortened_at_end(name)}, n {n[name]:,}" for name in names])
    # The first slice is on top.
    axes.set_ylim(len(names) - 0.5, -0.5)
    if panel.is_share:
        set_share_axes(axes, x=True)
    left_out = len(n) - len(names)
    more = f"\nleft out, of fewest items: {left_out:,} slices; the table has all" if left_out else ""
    axes.set_xlabel(escape_mathtext(panel.score) + more)
    axes.set_ylabel(escape_mathtext(panel.across))


def _draw_curves(axes: Axes, panel: Panel) -> None:
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


def estimates_csv(panels: Sequence[Panel]) -> bytes:
    """All points of all panels as CSV, also of slices that the figure leaves out; NaN is empty."""
    lines: list[Sequence[Any]] = [["panel", "score", "line", "at", "value", "low", "high", "n"]]
    for panel in panels:
        for label, line in panel.lines.items():
            for place, one in line:
                at = place if isinstance(place, str) else f"{place:g}"
                numbers = (one.value, one.interval.low, one.interval.high)
                cells = ["" if math.isnan(number) else f"{number:.6f}" for number in numbers]
                lines.append([panel.name, panel.score, label, at, *cells, one.n])
    return csv_text(lines).encode()


def csv_text(lines: Iterable[Sequence[Any]], *, raw: bool = False) -> str:
    """Lines of cells as CSV; NaN is empty; formulas are escaped unless `raw`: see `abstraction.files.records`."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for line in lines:
        cells = ["" if isinstance(cell, float) and math.isnan(cell) else cell for cell in line]
        writer.writerow(cells if raw else map(escape_formula, cells))
    return stream.getvalue()
