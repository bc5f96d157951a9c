"""The tables of scores in a terminal: every figure whole at 80 signs, and on one line where there is room."""

from __future__ import annotations

import pytest
from rich.console import Console

from abstraction.rows import TieredRow
from abstraction.tiers import Level, Tier
from granola.matching import matcher
from granola.report.score_tables import distribution_table, macro_table, relations_table, score_tables
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.scores import ScoreReport, score


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


def printed(width: int) -> list[str]:
    reports = [report("a-system"), report("another")]
    console = Console(width=width, file=None, color_system=None)
    with console.capture() as capture:
        for table in score_tables(reports, width):
            console.print(table)
        console.print(macro_table(reports, width))
        console.print(distribution_table(reports, width))
        console.print(relations_table(reports[0], width))
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [80, 100, 200])
def test_nothing_is_cut(width: int) -> None:
    lines = printed(width)
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)


def test_a_narrow_terminal_has_intervals_below_their_figures() -> None:
    narrow, wide = printed(80), printed(200)
    assert any("headquarters" in line and "[" in line for line in wide)
    assert not any("headquarters" in line and "[" in line for line in narrow)
    assert sum("metric" in line for line in narrow) == 2  # one table a system
    assert sum("metric" in line for line in wide) == 1
