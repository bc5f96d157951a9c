"""How an answer is set changes no verdict: held over every case in the tables of the rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from granola.matching.rules import RulesMatcher
from tests.granola.test_matching_rules import TABLES, table

CHANGES: dict[str, Callable[[str], str]] = {
    "blanks": lambda text: "  " + text.replace(" ", " \t ") + " \n",
    "no-break blanks": lambda text: text.replace(" ", "\u00a0"),
    "zero width": lambda text: "\u200b" + text,
    "byte order mark": lambda text: "\ufeff" + text,
    "bold": lambda text: f"**{text}**",
    "bold underscores": lambda text: f"__{text}__",
    "italic": lambda text: f"*{text}*",
    "underscores": lambda text: f"_{text}_",
    "code": lambda text: f"`{text}`",
    "quoted": lambda text: f'"{text}"',
    "curly quotes": lambda text: f"“{text}”",
    "single quotes": lambda text: f"'{text}'",
    "heading": lambda text: "# " + text,
    "quotation": lambda text: "> " + text,
    "all of them": lambda text: f"\ufeff> **“{text}”** ",
}


@pytest.mark.parametrize("change", CHANGES)
def test_how_an_answer_is_set_changes_no_verdict(change: str) -> None:
    changed = []
    for case in CASES:
        rules = RulesMatcher(language=case.get("language", "en"))
        one = rules.match(case["prediction"], case["levels"], case["question"])
        other = rules.match(CHANGES[change](case["prediction"]), case["levels"], case["question"])
        if (one.level, one.abstained) != (other.level, other.abstained):
            changed.append((case, one, other))
    assert not changed, changed[:5]


CASES = [case for name in TABLES for case in table(name)]


def test_the_tables_are_read() -> None:
    assert len(CASES) > 600
