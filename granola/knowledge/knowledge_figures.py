"""Figures 2, 3 and 4 of Chen et al. 2023: factuality by popularity and length, by evidence, and scores by size."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from granola.knowledge.knowledge_summary import slices
from granola.report.figure_style import STYLE, WIDTH, legend, look, plain, share
from granola.report.figures import check_drawing
from granola.scoring.aggregation import Estimate
from granola.scoring.statistics import mean_estimate

SCORES = ("factuality", "relevance", "coherence_paragraph", "informativeness", "helpfulness_raw", "validity")


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedFile:
    """Rows of one file; `name` in legends, `pieces` and `reference` as it was judged with, `size` of the model."""

    name: str
    rows: Sequence[Mapping[str, Any]]
    pieces: int | None = None
    reference: bool = False
    size: float | None = None


Line = Sequence[tuple[float, Estimate]]


def figure_lines(files: Sequence[JudgedFile], *, resamples: int, seed: int) -> dict[str, dict[str, Line]]:
    """What each figure draws: by file name of the figure, by line, points with their estimates; empty ones are absent.

    `popularity` and `sentences` have a line a file and system (Figure 2), `pieces` one with and one without the
    reference where files were judged with different numbers of pieces (Figure 4), `size` one a score (Figure 3).
    """
    lines = {by: _lines_of_slices(files, by, resamples=resamples, seed=seed) for by in ("popularity", "sentences")}
    with_pieces = [file for file in files if file.pieces is not None]
    if len({file.pieces for file in with_pieces}) > 1:
        lines["pieces"] = {
            "with the reference" if reference else "without the reference": _line(
                [(file.pieces, file) for file in with_pieces if file.reference is reference],
                "factuality", resamples=resamples, seed=seed,
            )
            for reference in dict.fromkeys(file.reference for file in with_pieces)
        }  # fmt: skip
    sized = [(file.size, file) for file in files if file.size is not None]
    if len(sized) > 1:
        lines["size"] = {score: _line(sized, score, resamples=resamples, seed=seed) for score in SCORES}
    drawable = {figure: {name: line for name, line in own.items() if line} for figure, own in lines.items()}
    return {figure: own for figure, own in drawable.items() if own}


def _lines_of_slices(files: Sequence[JudgedFile], by: str, *, resamples: int, seed: int) -> dict[str, Line]:
    """A line for each system of each file, over the slices of its rows."""
    lines: dict[str, Line] = {}
    for file in files:
        for system in sorted({str(row.get("system") or "") for row in file.rows}):
            rows = [row for row in file.rows if str(row.get("system") or "") == system]
            name = " ".join(filter(None, (file.name if len(files) > 1 else "", system))) or file.name
            estimates = slices(rows, by, "factuality", resamples=resamples, seed=seed)
            lines[name] = [(float(at), estimate) for at, estimate in estimates.items()]
    return lines


def _line(places: Sequence[tuple[float | None, JudgedFile]], score: str, *, resamples: int, seed: int) -> Line:
    """The mean score of each file that has it, at its place, from left to right."""
    points = [
        (float(place or 0), mean_estimate(values, resamples=resamples, seed=seed))
        for place, file in places
        if (values := _values(file, score))
    ]
    return sorted(points, key=lambda point: point[0])


_AXES = {
    "popularity": ("log10 of page views", "factuality"),
    "sentences": ("sentences of a text", "factuality of a sentence"),
    "pieces": ("pieces of evidence a sentence", "factuality"),
    "size": ("parameters, billions", "score"),
}


def drawn_figures(lines: Mapping[str, Mapping[str, Line]]) -> dict[str, bytes]:
    """SVG by file name, with 95 % intervals. Raises UsageError without matplotlib."""
    check_drawing()
    import matplotlib
    from matplotlib.figure import Figure

    drawn = {}
    with matplotlib.rc_context(STYLE):
        for name, by_label in lines.items():
            figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
            axes = figure.subplots()
            for at, (label, points) in enumerate(by_label.items()):
                places = [place for place, _ in points]
                axes.plot(places, [estimate.value for _, estimate in points], label=plain(label), **look(at))
                low, high = ([getattr(estimate.interval, end) for _, estimate in points] for end in ("low", "high"))
                axes.fill_between(places, low, high, color=look(at)["color"], alpha=0.15, linewidth=0)
            axes.set_xlabel(_AXES[name][0])
            axes.set_ylabel(_AXES[name][1])
            if name == "size":
                axes.set_xscale("log")
            else:  # of the scores by size, raw helpfulness is no share
                share(axes, y=True, shown=None)
            if len(by_label) > 1:
                legend(figure)
            out = io.StringIO()
            figure.savefig(out, format="svg", metadata={"Date": None})
            drawn[f"{name}.svg"] = out.getvalue().encode()
    return drawn


def _values(file: JudgedFile, score: str) -> list[float]:
    return [row["scores"][score] for row in file.rows if row["scores"].get(score) is not None]
