"""What takes a mention back: all of it on ladders, little of it where the gold answer has one level.

Cases of ladders stand in files/vetoes.jsonl.
"""

from __future__ import annotations

import pytest

from granola.matching import matcher
from granola.matching.vetoing.vetoes import ALWAYS, SHORT, VETOES

RULES = matcher("rules")
ELSE = ["something else"]


@pytest.mark.parametrize(
    ("said", "gold", "question", "flat", "ladder"),
    [
        ("It was never in Paris that they met him, they say.", "Paris", None, None, None),
        ("You can get one from a bank or credit union.", "a bank", None, 1, 1),
        ("The answer that is most often given is Paris or Lyon.", "Paris", None, 1, 1),
        ("Paris or Lyon", "Paris", None, None, None),
        ("It is the Narora Atomic Power Plant that they mean.", "Atomic Power", None, 1, 1),
        ("The capital of Australia is Sydney, of course.", "Australia", "What is the capital of Australia?", 1, None),
        ('The singer of "I Write Sins Not Tragedies" is Panic! at the Disco.', "Panic! at the Disco", None, 1, 1),
    ],
)
def test_one_level_is_no_ladder(
    said: str, gold: str, question: str | None, flat: int | None, ladder: int | None
) -> None:
    assert RULES.match(said, [[gold]], question).level == flat
    assert RULES.match(said, [[gold], ELSE], question).level == ladder


def test_what_holds_always_is_among_the_vetoes() -> None:
    assert {name for name, _ in VETOES} >= ALWAYS
    assert len(["Paris", "or", "Lyon"]) <= SHORT
