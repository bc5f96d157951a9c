"""What is drawn: intervals where scores are few, marks and dashes that grey print tells apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from granola.grouping import by_bins, grouped
from granola.matching import matcher
from granola.predictions import read_predictions
from granola.report.curve_figures import weights
from granola.report.score_figures import popularity, relations, tradeoff
from granola.report.study import Study
from granola.scoring import score
from granola.tiered_file import read_tiered_file
from tests.granola.test_compare_cli import systems

__all__ = ["systems"]
matplotlib_figure = pytest.importorskip("matplotlib.figure", reason="figures need matplotlib")


@pytest.fixture(scope="module")
def study(systems: Path) -> Study:
    rows = read_tiered_file(str(systems / "tiers.jsonl"), name="tiers").rows
    names = ("exact", "cautious")
    files = [read_predictions(systems / f"{name}.jsonl") for name in names]
    reports = [
        score(rows, said, matcher("rules"), times=50, system=name) for name, said in zip(names, files, strict=True)
    ]
    bins = by_bins(rows, "popularity", 4)
    return Study(
        rows=rows,
        files=files,
        reports=reports,
        matcher="rules",
        lambda_=0.5,
        differences=[],
        popularity={"popularity": [grouped(report, bins, times=50, seed=0) for report in reports]},
    )


def bars(axes, across: int) -> set[tuple[float, float]]:  # type: ignore[no-untyped-def]
    """The ends of the lines that intervals are drawn by."""
    return {
        (float(ends[0][across]), float(ends[1][across]))
        for drawn in axes.collections
        for ends in drawn.get_segments()
    }  # fmt: skip


def test_scores_by_popularity_and_relation_have_their_intervals(study: Study) -> None:
    both = ("standard_accuracy", "granola_accuracy")
    figure = matplotlib_figure.Figure()
    assert popularity(study, figure, "popularity")
    groups = [group for by_bin in study.popularity["popularity"] for group in by_bin.values()]
    assert bars(figure.axes[0], 1) == {
        (e.interval.low, e.interval.high) for group in groups for e in (group.estimates[k] for k in both)
    }
    figure = matplotlib_figure.Figure()
    assert relations(study, figure)
    groups = [group for report in study.reports for group in report.relations.values()]
    assert bars(figure.axes[0], 0) == {
        (e.interval.low, e.interval.high) for group in groups for e in (group.estimates[k] for k in both)
    }


def test_levels_are_told_apart_without_colour(study: Study) -> None:
    six = replace(study.rows[0], levels=study.rows[0].levels * 2)
    deep = replace(study, rows=[six])
    figure = matplotlib_figure.Figure()
    assert weights(deep, figure)
    lines = [line for line in figure.axes[0].lines if str(line.get_label()).startswith("level")]
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == len(lines) == 6


def test_marks_of_a_legend_stand_without_bars(study: Study) -> None:
    figure = matplotlib_figure.Figure()
    assert tradeoff(study, figure)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    assert labels == ["exact", "cautious"]
    assert [handle.get_marker() for handle in handles] == ["o", "s"]
