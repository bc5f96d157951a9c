"""How an answer is set changes no verdict: held over every case in the tables of the other tests of the rules."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from granola.matching.rules import RulesMatcher
from granola.matching.verdict import Levels, Verdict

Case = tuple[str, str, tuple[tuple[str, ...], ...], str | None]
"""Language, prediction, levels, question."""
TABLES = sorted(
    path.stem
    for path in Path(__file__).parent.glob("test_matching_*.py")
    if path.stem.removeprefix("test_matching_") not in ("marks", "laws", "long", "many")
)
# Where its capitals are all that tells a name from common words.
TOLD_BY_CAPITALS = {
    "I think the film is It.",
    "the National Aeronautics and Space Administration",
    "the United Nations Educational, Scientific and Cultural Organization",
    "The 2018 FIFA World Cup was won by France, who beat Croatia 4-2.",
}


@cache
def cases() -> tuple[Case, ...]:
    """Every call of the rules that the plain tests of the tables make."""
    found: dict[Case, None] = {}
    match = RulesMatcher.match

    def heard(self: RulesMatcher, prediction: str, levels: Levels, question: str | None = None) -> Verdict:
        found[self.language, prediction, tuple(map(tuple, levels)), question] = None
        return match(self, prediction, levels, question)

    with patch.object(RulesMatcher, "match", heard):
        for name in TABLES:
            module = importlib.import_module(f"tests.granola.{name}")
            for test, values in plain_tests(module):
                test(**values)
    return tuple(found)


def plain_tests(module: Any) -> Iterator[tuple[Callable[..., None], dict[str, Any]]]:
    for name, test in vars(module).items():
        if (
            not (name.startswith("test_") and inspect.isfunction(test))
            or hasattr(test, "hypothesis")
            or "random" in name
        ):
            continue
        marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
        names, rows = (marks[0].args[0], marks[0].args[1]) if marks else ((), [()])
        if len(marks) > 1 or any("fixture" in mark.name for mark in getattr(test, "pytestmark", ())):
            continue
        single = isinstance(names, str) and "," not in names
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        if set(names) != set(inspect.signature(test).parameters):
            continue
        for row in rows:
            yield test, dict(zip(names, (row,) if single else row, strict=True))


CHANGES: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
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
    for code, said, levels, question in cases():
        if change in ("lower", "upper") and said in TOLD_BY_CAPITALS:
            continue
        rules = RulesMatcher(language=code)
        one = rules.match(said, levels, question)
        other = rules.match(CHANGES[change](said), levels, question)
        if (one.level, one.abstained) != (other.level, other.abstained):
            changed.append((said, levels, question, one, other))
    assert not changed, changed[:5]


def test_the_tables_are_read() -> None:
    assert len(cases()) > 600
