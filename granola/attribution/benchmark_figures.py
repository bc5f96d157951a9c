"""Figures of a benchmark: lengths of citations (the paper's Figures 3 and 4) and domains (Figure 5)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from granola.attribution.benchmark_statistics import BIN
from granola.report.figure_style import COLOURS, STYLE, WIDTH, plain, short


def benchmark_figures(statistics: Mapping[str, Any]) -> dict[str, bytes]:
    """SVG by file name. Needs matplotlib."""
    import matplotlib
    from matplotlib.figure import Figure

    drawn = {}
    with matplotlib.rc_context(STYLE):
        for name, draw in (("citation-words.svg", _lengths), ("domains.svg", _domains)):
            figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
            draw(figure, statistics)
            out = io.StringIO()
            figure.savefig(out, format="svg", metadata={"Date": None})
            drawn[name] = out.getvalue().encode()
    return drawn


def _lengths(figure: Any, statistics: Mapping[str, Any]) -> None:
    axes = figure.subplots()
    sides = statistics["citation_words"]
    width = BIN / (len(sides) + 0.5)
    for at, (name, counts) in enumerate(sides.items()):
        total = sum(counts.values()) or 1
        places = [int(low) + (at + 0.5) * width for low in counts]
        axes.bar(places, [n / total for n in counts.values()], width, label=plain(name), color=COLOURS[at + 1])
    axes.set_xlabel("words of all citations of a sample")
    axes.set_ylabel("share of samples")
    axes.set_ylim(0, min(1.0, axes.get_ylim()[1]))
    axes.legend()


def _domains(figure: Any, statistics: Mapping[str, Any]) -> None:
    axes = figure.subplots()
    sides = list(statistics["domains"].values())
    total = {name: sum(side.get(name, 0) for side in sides) for side in sides for name in side}
    whole = sum(total.values()) or 1
    shown = sorted(total, key=lambda name: (name != "other", total[name]))
    figure.set_figheight(1.0 + 0.22 * len(shown))
    axes.barh([short(name) for name in shown], [total[name] / whole for name in shown], color=COLOURS[1])
    axes.set_xlabel("share of questions, by the class of the entity asked about")
    axes.set_xlim(0, min(1.0, axes.get_xlim()[1]))
    axes.grid(False, axis="y")
