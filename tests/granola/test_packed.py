"""Rows and items that are kept packed are what was put in, and a long file takes little memory a row."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.rows import TieredRow, read_tiered
from abstraction.tiers import Level, Tier
from granola.matching import Comparison, Verdict, matcher
from granola.scoring.items import ItemScore, ItemScores
from granola.scoring.packed_rows import BLOCK, Packed, PackedRows
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.scores import ScoreReport, score

ROOT = Path(__file__).resolve().parents[2]
FILES = Path(__file__).parent / "files"


def same(value: object) -> object:
    return value


@settings(deadline=None)
@given(st.lists(st.integers() | st.text() | st.lists(st.integers()), max_size=2 * BLOCK + 2), st.data())
def test_a_packed_sequence_is_the_list_of_what_was_appended(values: list[object], draw: st.DataObject) -> None:
    packed: Packed[object] = Packed(same, same)
    for value in values:
        packed.append(value)
    assert list(packed) == values == packed[:]
    assert len(packed) == len(values)
    for _ in range(3):
        if values:
            at = draw.draw(st.integers(-len(values), len(values) - 1))
            assert packed[at] == values[at]
    for at in (len(values), -len(values) - 1):
        with pytest.raises(IndexError, match="outside a sequence"):
            packed[at]


def test_rows_come_back_as_they_were_without_evidence() -> None:
    own = Level(tiers=(Tier(text="a", extra={"x": 1}),), extra={"y": [2]})
    rows = [
        *read_tiered(FILES / "tiers.jsonl", evidence=False),
        TieredRow(
            id="z", question="?", answers=("a",), levels=(own, own, own), extra={"when": datetime.date(2020, 1, 2)}
        ),
    ]
    packed = PackedRows(rows * 40)
    assert packed.ids == [row.id for row in rows] * 40
    for one, other in zip(packed, rows * 40, strict=True):
        assert one == other
    first = packed[0]
    assert first.levels[1] is packed[len(rows)].levels[1]


verdicts = st.builds(
    Verdict,
    level=st.none() | st.integers(1, 9),
    rule=st.text(),
    compared=st.none() | st.builds(Comparison, prediction=st.text(), tier=st.text()),
    score=st.none() | st.floats(0, 1),
) | st.builds(Verdict, level=st.none(), rule=st.text(), abstained=st.just(True))
bits = st.none() | st.integers(0, 40) | st.floats(0, 40)


@settings(deadline=None)
@given(
    st.lists(
        st.builds(
            ItemScore,
            id=st.text(),
            relation=st.none() | st.text(),
            prediction=st.none() | st.text(),
            verdict=st.none() | verdicts,
            weight=st.none() | st.floats(0, 1),
        )
        | st.builds(
            ItemScore,
            id=st.text(),
            relation=st.none(),
            prediction=st.text(),
            verdict=st.builds(Verdict, level=st.integers(1, 9), rule=st.text()),
            weight=st.floats(0, 1),
            bits=st.integers(0, 40) | st.floats(0, 40),
            bits_share=st.none() | st.floats(0, 1),
        )
    )
)
def test_items_come_back_as_they_were(items: list[ItemScore]) -> None:
    packed = ItemScores()
    for item in items:
        packed.append(item)
    assert list(packed) == items
    assert packed == items
    assert [item.to_json() for item in packed] == [item.to_json() for item in items]
    assert list(packed.outcomes()) == [item.outcome for item in items]
    assert packed.ids == [item.id for item in items]


@pytest.mark.parametrize("kept", [True, False])
def test_items_are_handed_on_as_they_come_and_kept_only_where_asked(kept: bool) -> None:
    rows = list(read_tiered(FILES / "tiers.jsonl"))
    said = {row.id: Prediction(id=row.id, text=row.answers[0]) for row in rows[:3]}
    given_ = PredictionFile(name="x", predictions=said)
    seen: list[ItemScore] = []

    def scored(rows_: Sequence[TieredRow]) -> ScoreReport:
        seen.clear()
        return score(
            rows_, given_, matcher("rules"), resamples=10, allow_missing=True, on_item=seen.append, keep_items=kept
        )

    report, packed = scored(rows), scored(PackedRows(rows))
    assert report.to_json() == packed.to_json()
    assert report.items == packed.items
    assert [item.id for item in seen] == [row.id for row in rows]
    assert [item.status for item in seen] == ["matched"] * 3 + ["unscored"] * (len(rows) - 3)
    assert list(report.items) == (seen if kept else [])


HELD = """
import functools, gc, json, sys, tracemalloc
import numpy.random  # code is no row
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from bench_scoring import write
from granola.matching import matcher
from granola.scoring.predictions import read_predictions
from granola.scoring.scores import score
from granola.scoring.tiered_file import read_tiered_file
tiered, predictions = write(Path(sys.argv[2]), 3_000, packed=True, shuffled=True)
said = read_predictions(predictions)
score(read_tiered_file(tiered).rows, said, matcher("em"), resamples=10)  # reads code and languages, which do not grow
tracemalloc.start()
read = read_tiered_file(tiered)
of_rows, _ = tracemalloc.get_traced_memory()
report = score(read.rows, said, matcher("em"), resamples=10)
for one in [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]:
    one.cache_clear()  # those of matchers, which do not grow with the file
gc.collect()
print(json.dumps([report.overall.n, of_rows, tracemalloc.get_traced_memory()[0] - of_rows]))
"""


def test_a_row_more_takes_little_memory(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HELD, ROOT / "scripts", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # alone, for nothing else to be counted
    n, of_rows, of_items = json.loads(done.stdout)
    assert n == 3_000
    assert of_rows / 3_000 < 2_000  # the coarse levels included, which a longer file shares among more rows
    assert of_items / 3_000 < 700
