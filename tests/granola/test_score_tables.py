"""The tables of scores in a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow
from granola.base.terminal_lines import fit_lines
from granola.matching import matcher
from granola.report.score_tables import differences_tables, group_table, macro_table, relations_table, score_tables
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.scores import ScoreReport, score
from granola.scoring.system_comparison import compare


def report(system: str) -> ScoreReport:
    places = [("Kunming", "Yunnan", "China"), ("Paris", "France"), ("Lagos", "Nigeria", "Africa")] * 40
    rows = [
        TieredRow(
            id=str(index),
            question="Where?",
            answers=(names[0],),
            levels=tuple(Level(tiers=(Tier(text=name, aliases=()),)) for name in names),
            relation=("P19", "P20", "P159")[index % 3],
        )
        for index, names in enumerate(places)
    ]
    told = ("Kunming", "France", "Europe", "I don't know")
    predictions = {row.id: Prediction(id=row.id, text=told[int(row.id) % 4]) for row in rows}
    return score(rows, PredictionFile(name=f"{system}.jsonl", predictions=predictions), matcher("rules"))


@pytest.mark.parametrize("width", [60, 80, None])
@pytest.mark.parametrize("names", [("a-system", "another", "third"), ("a" * 40, "b" * 70)])
def test_every_figure_is_whole(width: int | None, names: tuple[str, ...]) -> None:
    reports = [replace(report(name), system=name) for name in names]
    metrics = {metric.name: metric for metric in reports[0].metrics}
    parts = [
        *score_tables(reports),
        *macro_table(reports),
        *relations_table(reports[0]),
        *differences_tables(compare(reports, resamples=10), metrics),
        *group_table("relation", reports, [one.relations for one in reports]),
    ]
    lines = fit_lines(parts, width)
    assert width is None or max(len(line) for line in lines if names[-1] not in line) <= width
    text = "\n".join(lines)
    assert sum(line.startswith("informativeness ") for line in lines) >= 2
    estimate = reports[0].overall.estimates["granola_accuracy"]
    assert f"{estimate.value:.3f} [{estimate.interval.low:.3f}–{estimate.interval.high:.3f}]" in text
    assert "P159 headquarters" in text
    assert "of the answered (selective):" in text
    assert f"{names[0]} - {names[1]}: differences" in " ".join(text.split())
