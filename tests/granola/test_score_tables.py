"""The tables of scores in a terminal: every figure whole at 80 signs, and on one line where there is room."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from abstraction.rows import TieredRow
from abstraction.tiers import Level, Tier
from granola.matching import matcher
from granola.report.comparison_tables import differences_tables, group_tables
from granola.report.score_tables import distribution_tables, macro_tables, relations_tables, score_tables
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


def printed(width: int, *, names: tuple[str, ...] = ("a-system", "another")) -> list[str]:
    reports = [replace(report(name), system=name) for name in names]
    metrics = {metric.name: metric for metric in reports[0].metrics}
    relations = [one.relations for one in reports]
    console = Console(width=width, file=None, color_system=None)
    with console.capture() as capture:
        for table in (
            *score_tables(reports, width),
            *macro_tables(reports, width),
            *distribution_tables(reports, width),
            *relations_tables(reports[0], width),
            *differences_tables(compare(reports, resamples=10), metrics, width),
            *group_tables("relation", reports, relations, width),
        ):
            console.print(table)
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("names", [("a-system", "another", "third"), ("a" * 40, "b" * 70)])
def test_nothing_is_cut(width: int, names: tuple[str, ...]) -> None:
    lines = printed(width, names=names)
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
    assert sum("informativeness" in line for line in lines) >= 2


@pytest.mark.parametrize("width", [60, 80, 200])
def test_differences_name_their_pair_and_every_metric(width: int) -> None:
    text = "\n".join(printed(width))
    _, pair, table = text.partition("a-system - another")
    assert pair
    labels = " ".join(line.split("│")[1].strip() for line in table.splitlines() if line.startswith("│"))
    for metric in ("standard accuracy", "GRANOLA accuracy", "informativeness"):
        assert metric in labels


def test_a_narrow_terminal_has_intervals_below_their_figures() -> None:
    narrow, wide = printed(80), printed(200)
    assert any("headquarters" in line and "[" in line for line in wide)
    assert not any("headquarters" in line and "[" in line for line in narrow)
    assert sum("metric" in line for line in narrow) == 3  # one table a system, and the differences
    assert sum("metric" in line for line in wide) == 2
