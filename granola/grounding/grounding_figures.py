"""Figures 5 and 6 of Sorodoc et al. 2025: a score of systems by slices of the questions."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from granola.report.figure_style import STYLE, WIDTH, legend, look, plain, share, short
from granola.report.figures import check_drawing
from granola.scoring.aggregation import Estimate

Slices = Mapping[str, Mapping[str, Estimate]]  # by system, by slice
# The order of slices in the paper's figures; others stand behind in their own.
_ORDER = ("fast-changing", "slow-changing", "static", "web", "private", "head", "torso", "tail")
MOST = 30  # slices of a figure


def figure_slices(slices: Slices) -> tuple[list[str], list[str]]:
    """The slices of a figure from top to bottom, at most MOST, those of most answers; and those that are left out."""
    n: dict[str, int] = {}
    for by_slice in slices.values():
        for name, estimate in by_slice.items():
            n[name] = n.get(name, 0) + estimate.n
    most_first = sorted(n, key=lambda name: (-n[name], name))
    return sorted(most_first[:MOST], key=lambda name: (_place(name), name)), most_first[MOST:]


def slice_figure(slices: Slices, *, score: str, by: str) -> bytes:
    """SVG: a point with its 95 % interval for each system, a line a slice. Raises UsageError without matplotlib.

    Slices that are left out are counted below the axis.
    """
    check_drawing()
    import matplotlib
    from matplotlib.figure import Figure

    names, left_out = figure_slices(slices)
    with matplotlib.rc_context(STYLE):
        lane = max(0.3, 0.12 * len(slices) + 0.14)  # inches of a slice
        figure = Figure(figsize=(WIDTH, 1.0 + lane * len(names)), layout="constrained")
        axes = figure.subplots()
        for at, (system, by_slice) in enumerate(slices.items()):
            shift = (at - (len(slices) - 1) / 2) * 0.7 / len(slices)
            points = [
                (place + shift, by_slice[name])
                for place, name in enumerate(names)
                if name in by_slice and by_slice[name].n
            ]
            values = [estimate.value for _, estimate in points]
            error: Any = [
                [max(0.0, estimate.value - estimate.interval.low) for _, estimate in points],
                [max(0.0, estimate.interval.high - estimate.value) for _, estimate in points],
            ]
            axes.errorbar(
                values, [place for place, _ in points], xerr=error, linestyle="", elinewidth=1, label=short(system),
                **look(at),
            )  # fmt: skip
        axes.set_yticks(range(len(names)), [_named(name, slices) for name in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        share(axes, x=True)
        axes.set_xlabel(score + (f"\n{_omitted(left_out)}" if left_out else ""))
        axes.set_ylabel(plain(by.replace("_", " ")))
        if len(slices) > 1:
            legend(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue().encode()


def _omitted(left_out: Sequence[str]) -> str:
    return f"left out, of fewest answers: {len(left_out):,} slices; figures.csv has all"


def _place(name: str) -> int:
    word = name.casefold()
    return _ORDER.index(word) if word in _ORDER else len(_ORDER)


def _named(name: str, slices: Slices) -> str:
    n = max(by_slice[name].n for by_slice in slices.values() if name in by_slice)
    return f"{short(name)}, n {n:,}"
