"""Figures 5 and 6 of Sorodoc et al. 2025: a score of systems by slices of the questions."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from granola.report.figure_style import STYLE, WIDTH, legend, look, plain, short
from granola.report.figures import check_drawing
from granola.scoring.aggregation import Estimate

Slices = Mapping[str, Mapping[str, Estimate]]  # by system, by slice
# The order of slices in the paper's figures; others stand behind in their own.
_ORDER = ("fast-changing", "slow-changing", "static", "web", "private", "head", "torso", "tail")
MOST = 12  # slices of a figure


def figure_slices(found: Slices) -> list[str]:
    """The slices of a figure from left to right, at most MOST, those of most answers."""
    n: dict[str, int] = {}
    for own in found.values():
        for name, one in own.items():
            n[name] = n.get(name, 0) + one.n
    kept = sorted(n, key=lambda name: (-n[name], name))[:MOST]
    return sorted(kept, key=lambda name: (_place(name), name))


def slice_figure(found: Slices, *, score: str, by: str) -> bytes:
    """SVG: a point with its 95 % interval for each system in each slice. Raises UsageError without matplotlib."""
    check_drawing()
    import matplotlib
    from matplotlib.figure import Figure

    names = figure_slices(found)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
        axes = figure.subplots()
        for at, (system, own) in enumerate(found.items()):
            shift = (at - (len(found) - 1) / 2) * min(0.12, 0.7 / len(found))
            points = [(place + shift, own[name]) for place, name in enumerate(names) if name in own and own[name].n]
            values = [one.value for _, one in points]
            error: Any = [
                [max(0.0, one.value - one.interval.low) for _, one in points],
                [max(0.0, one.interval.high - one.value) for _, one in points],
            ]
            axes.errorbar(
                [place for place, _ in points], values, yerr=error, linestyle="", elinewidth=1, label=short(system),
                **look(at),
            )  # fmt: skip
        axes.set_xticks(range(len(names)), [_named(name, found) for name in names])
        if max(map(len, names), default=0) > 16:
            axes.tick_params(axis="x", labelrotation=25)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlabel(plain(by.replace("_", " ")))
        axes.set_ylabel(score)
        if len(found) > 1:
            legend(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue().encode()


def _place(name: str) -> int:
    word = name.casefold()
    return _ORDER.index(word) if word in _ORDER else len(_ORDER)


def _named(name: str, found: Slices) -> str:
    n = max(own[name].n for own in found.values() if name in own)
    return f"{short(name)}\nn {n:,}"
