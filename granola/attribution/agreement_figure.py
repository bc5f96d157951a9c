"""Evaluators by micro-F1 under human labels (x) and automatic ones (y): the paper's Figure 2."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from granola.report.figure_style import STYLE, WIDTH, look, plain, share
from granola.report.figures import check_drawing


def agreement_figure(agreement: Mapping[str, Any]) -> bytes:
    """SVG of `granola.attribution.evaluation.agreement`. Raises UsageError without matplotlib."""
    check_drawing()
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
        axes = figure.subplots()
        for at, point in enumerate(agreement["points"]):
            axes.plot(point["human"], point["automatic"], linestyle="", label=plain(point["evaluator"]), **look(at))
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
        share(axes, x=True, y=True)
        axes.set_xlabel("micro-F1 by human labels")
        axes.set_ylabel("micro-F1 by automatic labels")
        axes.legend()
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue().encode()
