"""Many predictions at once: order, languages, processes; and tiered files as scoring reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from abstraction.files.rows import read_tiered
from granola.errors import MatcherError, PredictionError
from granola.matching import matcher
from granola.matching.matchers import CHUNK, MatchCase, match_many
from granola.scoring.metrics import names_of
from granola.scoring.tiered_file import read_tiered_file

FILES = Path(__file__).parent / "files"
LEVELS = (("Kunming",), ("Yunnan",), ("China", "PRC"))


def test_verdicts_come_in_order_from_one_process_and_from_several() -> None:
    said = ("Kunming", "in Yunnan", "the PRC", "Berlin", "I don't know")
    cases = [MatchCase(prediction=said[i % 5], levels=LEVELS) for i in range(3 * CHUNK + 7)]
    alone = list(match_many(matcher("rules"), cases))
    assert [verdict.level for verdict in alone[:5]] == [1, 2, 3, None, None]
    assert list(match_many(matcher("rules"), iter(cases), workers=2)) == alone


def test_cases_are_taken_as_they_are_needed() -> None:
    taken = 0

    def endless():  # type: ignore[no-untyped-def]
        nonlocal taken
        while True:
            taken += 1
            yield MatchCase(prediction="Kunming", levels=LEVELS)

    verdicts = match_many(matcher("em"), endless())
    assert [next(verdicts).level for _ in range(3)] == [1, 1, 1]
    assert taken == 3


@pytest.mark.parametrize("name", ["rules", "f1", "em"])
def test_each_case_is_read_in_its_language(name: str) -> None:
    cases = [MatchCase(prediction="Keine Ahnung", levels=LEVELS, language=code) for code in ("de", None, "de-ch")]
    assert [verdict.abstained for verdict in match_many(matcher(name), cases)] == [True, False, True]


def test_no_workers_are_told() -> None:
    with pytest.raises(MatcherError, match="workers is 0; allowed: 1 or more"):
        list(match_many(matcher("em"), [], workers=0))


def test_a_tiered_file_has_the_same_names_without_its_evidence() -> None:
    path = FILES / "tiers.jsonl"
    whole, read = list(read_tiered(path)), read_tiered_file(path)
    assert [names_of(row) for row in read.rows] == [names_of(row) for row in whole]
    assert any(tier.evidence for row in whole for level in row.levels for tier in level.tiers)
    assert not any(tier.evidence for row in read.rows for level in row.levels for tier in level.tiers)
    assert [row.extra for row in read.rows] == [row.extra for row in whole]


def test_fields_of_levels_stay_and_evidence_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "tiers.jsonl"
    names = ("Kunming", "China"), ("Dali", "China")
    asia = {"tiers": [{"text": "Asia"}], "x": 1}
    rows = [
        {
            "id": str(number), "question": "Where?", "answer": [levels[0]], "language": "de",
            "levels": [{"tiers": [{"text": text, "evidence": "damaged"}]} for text in levels] + [asia],
        }
        for number, levels in enumerate(names)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = (read := read_tiered_file(path)).rows
    assert first.levels[1] == second.levels[1]
    assert first.levels[1].tiers[0].evidence == ()
    assert read.languages == {"de": 2}


def test_a_file_without_a_row_is_told(tmp_path: Path) -> None:
    path = tmp_path / "tiers.jsonl"
    path.write_text('{"id": 1}\n')
    with pytest.raises(PredictionError, match=r"has no tiered row; .*tiers.jsonl:1: .*; make one with granola tiers"):
        read_tiered_file(path)
