"""Cleaning: each step takes out what it is for, and only where it is on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from abstraction.datasets.dataset_cleaning import SCORE, STEPS, Cleaner, CleaningStep, Dropped, read_trivial_answers
from abstraction.errors import DatasetError
from abstraction.files.rows import TieredRow
from tests.abstraction.tiny_dataset import tiered


@pytest.mark.parametrize(
    ("row", "step", "reason"),
    [
        (tiered("Town", "State"), None, ""),
        (tiered("Town"), CleaningStep.MISSING_ANSWERS, "no coarser answer"),
        (replace(tiered("Town"), abstained="no-link"), CleaningStep.MISSING_ANSWERS, "no-link"),
        (tiered("Town", " "), CleaningStep.MISSING_ANSWERS, "an answer is empty"),
        (replace(tiered("Town"), abstained="only-trivial-left"), None, ""),  # trivial answers cost no row
        (tiered("Town", "State", "state "), CleaningStep.DUPLICATE_ANSWERS, "an answer occurs twice"),
        (tiered("Town", ("a State", "State")), CleaningStep.DUPLICATE_ANSWERS, "an answer occurs twice"),
        (tiered("Town", "State", **{SCORE: 0.5}), None, ""),
        (
            tiered("Town", "State", **{SCORE: 0.625}),
            CleaningStep.INCONSISTENT_DESCRIPTIONS,
            "the score is above the threshold",
        ),
        (
            tiered("Town", "State", **{SCORE: "0.9"}),
            CleaningStep.INCONSISTENT_DESCRIPTIONS,
            "the score is above the threshold",
        ),
        (tiered("Town", "State", **{SCORE: "0.4"}), None, ""),
        (tiered("Town", "State", **{SCORE: "high"}), None, ""),
        (tiered("Town", "State", **{SCORE: True}), None, ""),
    ],
)
def test_each_step_takes_out_what_it_is_for_and_only_where_it_is_on(
    row: TieredRow, step: CleaningStep | None, reason: str
) -> None:
    cleaner = Cleaner()
    done = cleaner.clean(row)
    if step is None:
        assert done == row
        return
    assert done == Dropped(step=step, reason=reason)
    assert cleaner.counts[step].dropped == 1
    assert Cleaner(steps=frozenset(STEPS) - {step}).clean(row) == row


def test_trivial_answers_go_and_the_row_stays() -> None:
    cleaner = Cleaner(trivial=["The Old World"])
    done = cleaner.clean(tiered("Town", ("State", "a city"), "Old World", "the world", "Land"))
    assert isinstance(done, TieredRow)
    assert [[tier.text for tier in level.tiers] for level in done.levels] == [["Town"], ["State"], ["Land"]]
    assert cleaner.counts[CleaningStep.TRIVIAL_ANSWERS].to_json()["answers_taken_out"] == 3
    assert isinstance(Cleaner().clean(tiered("city", "State")), TieredRow)  # the gold answer is nobody's to take out


@pytest.mark.parametrize(
    "row",
    [
        tiered("Town", "city"),
        tiered("a poet", "a thing", relation=None),
        tiered("Lyric Street Records", "a music label", relation="P264"),  # Yona et al. 2024, Table 2
        tiered("Jane Austen", "a writer", "a person", relation="P50"),  # the paper's example of trivial answers
    ],
    ids=lambda row: row.answers[0],
)
def test_a_row_whose_coarser_answers_are_all_trivial_stays_with_the_gold_answer_alone(row: TieredRow) -> None:
    cleaner = Cleaner()
    assert cleaner.clean(row) == replace(row, levels=row.levels[:1])
    assert cleaner.clean(tiered("Town", "State")) == tiered("Town", "State")
    assert cleaner.counts[CleaningStep.TRIVIAL_ANSWERS].to_json() == {
        "rows": 2, "dropped": 0, "answers_taken_out": len(row.levels) - 1, "unjudged": 0, "gold_answer_alone": 1,
        "reasons": {},
    }  # fmt: skip


# Appendix B: consistency, then missing and duplicate answers, trivial answers last. Each row has two faults at least.
@pytest.mark.parametrize(
    ("row", "first"),
    [
        (tiered("Town", **{SCORE: 0.9}), CleaningStep.INCONSISTENT_DESCRIPTIONS),
        (tiered("Town", "State", "State", **{SCORE: 0.9}), CleaningStep.INCONSISTENT_DESCRIPTIONS),
        (tiered("Town", "State", "State", " "), CleaningStep.MISSING_ANSWERS),
        (tiered("Town", "city", "a city"), CleaningStep.DUPLICATE_ANSWERS),  # trivial, too, but that is looked at last
        (tiered("Town", "city", " "), CleaningStep.MISSING_ANSWERS),
    ],
)
def test_the_steps_are_taken_in_the_papers_order(row: TieredRow, first: CleaningStep) -> None:
    cleaner = Cleaner()
    done = cleaner.clean(row)
    assert isinstance(done, Dropped)
    assert done.step is first
    reached = [step for step, count in cleaner.counts.items() if count.rows]
    assert reached == list(STEPS[1 : STEPS.index(first) + 1])
    assert STEPS == (
        CleaningStep.SEVERAL_ANSWERS,
        CleaningStep.INCONSISTENT_DESCRIPTIONS,
        CleaningStep.MISSING_ANSWERS,
        CleaningStep.DUPLICATE_ANSWERS,
        CleaningStep.TRIVIAL_ANSWERS,
    )


def test_a_list_of_trivial_answers_has_comments(tmp_path: Path) -> None:
    file = tmp_path / "trivial.txt"
    file.write_text("\ufeffthing # any\n\n# none\n somewhere \n", encoding="utf-8")
    assert read_trivial_answers(file) == ("thing", "somewhere")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(DatasetError, match="not UTF-8"):
        read_trivial_answers(file)
