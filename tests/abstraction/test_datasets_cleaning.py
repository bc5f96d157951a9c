"""Cleaning: each step takes out what it is for, and only where it is on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from abstraction.datasets.cleaning import SCORE, STEPS, Cleaner, Dropped, Step, read_trivial
from abstraction.errors import DatasetError
from abstraction.rows import TieredRow
from tests.abstraction.tiny_dataset import tiered


@pytest.mark.parametrize(
    ("row", "step", "reason"),
    [
        (tiered("Town", "State"), None, ""),
        (tiered("Town"), Step.MISSING_ANSWERS, "no coarser answer"),
        (replace(tiered("Town"), abstained="no-link"), Step.MISSING_ANSWERS, "no-link"),
        (tiered("Town", " "), Step.MISSING_ANSWERS, "an answer is empty"),
        (tiered("Town", "city"), Step.MISSING_ANSWERS, "no coarser answer"),
        (tiered("a poet", "a thing", relation=None), Step.MISSING_ANSWERS, "no coarser answer"),
        (tiered("Town", "State", "state "), Step.DUPLICATE_ANSWERS, "an answer stands twice"),
        (tiered("Town", ("a State", "State")), Step.DUPLICATE_ANSWERS, "an answer stands twice"),
        (tiered("Town", "State", **{SCORE: 0.5}), None, ""),
        (tiered("Town", "State", **{SCORE: 0.625}), Step.INCONSISTENT_DESCRIPTIONS, "the score is above the threshold"),
        (tiered("Town", "State", **{SCORE: "0.9"}), Step.INCONSISTENT_DESCRIPTIONS, "the score is above the threshold"),
        (tiered("Town", "State", **{SCORE: "0.4"}), None, ""),
        (tiered("Town", "State", **{SCORE: "high"}), None, ""),
        (tiered("Town", "State", **{SCORE: True}), None, ""),
    ],
)
def test_each_step_takes_out_what_it_is_for_and_only_where_it_is_on(
    row: TieredRow, step: Step | None, reason: str
) -> None:
    cleaner = Cleaner()
    done = cleaner.clean(row)
    if step is None:
        assert done == row
        return
    assert done == Dropped(step=step, reason=reason)
    assert cleaner.counts[step].dropped == 1
    without = {step, Step.MISSING_ANSWERS, Step.TRIVIAL_ANSWERS} if step is Step.MISSING_ANSWERS else {step}
    assert Cleaner(steps=frozenset(STEPS) - without).clean(row) == row


def test_trivial_answers_go_and_the_row_stays() -> None:
    cleaner = Cleaner(trivial=["The Old World"])
    done = cleaner.clean(tiered("Town", ("State", "a city"), "Old World", "the world", "Land"))
    assert isinstance(done, TieredRow)
    assert [[tier.text for tier in level.tiers] for level in done.levels] == [["Town"], ["State"], ["Land"]]
    assert cleaner.counts[Step.TRIVIAL_ANSWERS].to_json()["answers_taken_out"] == 3
    assert isinstance(Cleaner().clean(tiered("city", "State")), TieredRow)  # the gold answer is nobody's to take out


def test_a_list_of_trivial_answers_has_comments(tmp_path: Path) -> None:
    file = tmp_path / "trivial.txt"
    file.write_text("\ufeffthing # any\n\n# none\n somewhere \n", encoding="utf-8")
    assert read_trivial(file) == ("thing", "somewhere")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(DatasetError, match="not UTF-8"):
        read_trivial(file)
