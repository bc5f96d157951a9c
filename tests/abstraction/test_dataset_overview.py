"""What a card tells at a glance: counts that add up, ladders of different classes, text that stays text."""

from __future__ import annotations

import re
from typing import Any

import pytest

from abstraction.base.tiers import Abstention, Level, Tier
from abstraction.datasets.dataset_statistics import (
    NO_ENTITY,
    NOT_LINKED,
    Statistics,
    asked_answer_class,
    least_link_confidence,
)
from abstraction.files.rows import TieredRow


def row(question: str, *levels: str, relation: str | None = None, **extra: Any) -> TieredRow:
    """A row whose levels are given as `one/another`."""
    made = tuple(Level(tiers=tuple(Tier(text=name) for name in names.split("/"))) for names in levels)
    abstained = None if len(made) > 1 else Abstention.NO_LINK
    return TieredRow(
        id=question, question=question, answers=(levels[0],), levels=made, relation=relation, extra=extra,
        abstained=abstained,
    )  # fmt: skip


ROWS = [
    row("Where was she born?", "Lagos", "Nigeria", "Africa", relation="P19", links=[{"confidence": "high"}]),
    row("Where did she live?", "Accra", "Ghana", "Africa", links=[{"confidence": "medium"}, {"confidence": "high"}]),
    row("When was it built?", "May 1900", "1900", "the 1900s"),
    row("Who built it?", "Ada", links=[{"rule": "none"}]),
    row("What is it worth?", "12 euros", "about 10 euros"),
]


def overview(*rows: TieredRow) -> Statistics:
    made = Statistics()
    for one in rows:
        made.add(one)
    return made


def test_counts_add_up() -> None:
    told = overview(*ROWS)
    assert sum(int(rows) for _, rows, _, _ in told.answer_class_rows()) == len(ROWS)
    assert told.rows_with_ladder == 4
    assert told.abstained == {"no-link": 1}
    assert told.links.total() == len(ROWS)
    assert told.answer_class_rows()[0] == ("place", "2", "2 of 2 (100.0 %)", "3.00")
    assert dict(told.link_confidence_rows()) == {
        "high": "1 of 5 (20.0 %)", "medium": "1 of 5 (20.0 %)", NO_ENTITY: "2 of 5 (40.0 %)",
        NOT_LINKED: "1 of 5 (20.0 %)",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("links", "sure"),
    [
        ([{"confidence": "given"}], "given"),
        ([{"confidence": "high"}, {"confidence": "low"}], "low"),
        ([{"confidence": "high"}, {}], NOT_LINKED),
        ([], NO_ENTITY),
        ("a text", NO_ENTITY),
        ([None], NOT_LINKED),
    ],
)
def test_the_least_sure_link_of_a_row_counts(links: Any, sure: str) -> None:
    assert least_link_confidence(row("Where?", "a", "b", links=links)) == sure


def test_classes_come_from_the_relation_then_from_the_question() -> None:
    assert asked_answer_class(row("x", "a", "b", relation="P1082")) == "amount"
    assert asked_answer_class(row("When was it built?", "a", "b")) == "date"
    assert asked_answer_class(row("Was ist das?", "a", "b"), "de") == "not told by the question"
    assert asked_answer_class(row("???", "a", "b")) == "not told by the question"


def test_example_ladders_are_of_different_classes_and_have_three_levels() -> None:
    drawn = overview(*ROWS).example_ladders()
    assert re.findall(r"^\*\*(\w.*\?)\*\*$", drawn, re.M) == [
        "Where was she born?",
        "When was it built?",
        "Where did she live?",
    ]
    assert "\n\n1. Lagos\n2. Nigeria\n3. Africa" in drawn
    many = overview(*(row(f"Where is {n}?", "a", "b", "c") for n in range(20)))
    assert many.example_ladders().count("?") == 5
    wide = overview(row("Where?", "a", "b/c/d/e", "f"))
    assert wide.example_ladders() == "No row has three levels."


def test_hostile_text_stays_text() -> None:
    drawn = overview(row("```\n# A heading\u202e?", "```` b](x)", "<script>", "c" * 500)).example_ladders()
    assert drawn.split("\n")[0] == r"**\`\`\` \# A heading ?**"
    assert r"1. \`\`\`\` b\]\(x\)" in drawn
    assert r"2. \<script\>" in drawn
    assert max(map(len, drawn.split("\n"))) <= 125
