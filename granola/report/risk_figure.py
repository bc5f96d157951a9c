"""Precision against coverage of several rules: how much is right of what is answered, the more is answered."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from granola.report.figure_style import DASHES, STYLE, WIDTH, legend, look, share
from granola.report.figures import check_drawing

if TYPE_CHECKING:
    from granola.decoding.calibrating import Point


def draw_curves(curves: Mapping[str, Sequence[Point]], *, chosen: Point | None = None) -> str:
    """The curves as SVG, told apart by marks and dashes; `chosen` is marked. Raises UsageError without matplotlib."""
    check_drawing()
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
        axes = figure.add_subplot()
        for index, (name, points) in enumerate(curves.items()):
            own: dict[str, Any] = look(index) | {"markevery": (0.05 + 0.03 * index, 0.2)}
            along = sorted((point.coverage, point.precision) for point in points)
            axes.plot([x for x, _ in along], [y for _, y in along], linestyle=DASHES[index % 4], label=name, **own)
        if chosen is not None:
            axes.plot(
                [chosen.coverage], [chosen.precision], marker="*", markersize=12, linestyle="", color="#d55e00",
                label="chosen",
            )  # fmt: skip
        share(axes, x=True)
        share(axes, y=True, shown=None)
        axes.set_xlabel("coverage: share of the questions answered")
        axes.set_ylabel("share right of the answered")
        legend(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()
