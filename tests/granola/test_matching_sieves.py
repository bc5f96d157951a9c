"""What is left out before a looser rule is asked: never a tier that the rule would have found stated."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from granola.matching.answer import Answer
from granola.matching.looser import LOOSER
from granola.matching.sieves import SIEVES

CASES = [json.loads(line) for line in (Path(__file__).parent / "files/looser.jsonl").read_text().splitlines()]
FIND = dict(LOOSER)


def answers() -> list[Answer]:
    """Every case with its own ladder and with three others', and its names put into other words as answers."""
    drawing = random.Random(3)
    texts = [case["prediction"] for case in CASES]
    for name in [name for case in CASES for names in case["levels"] for name in names]:
        parts = name.split()
        texts += [name, "".join(part[0] for part in parts), "".join(parts), name[:-2] + name[-1:], parts[-1]]
    found = []
    for text in texts:
        for case in drawing.sample(CASES, 3):
            found.append(Answer(text, tuple(map(tuple, case["levels"])), case["question"]))
    found += [Answer(c["prediction"], tuple(map(tuple, c["levels"])), c["question"]) for c in CASES]
    return found


@pytest.mark.parametrize("rule", SIEVES)
def test_a_sieve_holds_back_nothing_that_its_rule_finds(rule: str) -> None:
    found = 0
    for answer in answers():
        through = set(SIEVES[rule](answer))
        for tier in answer.tiers:
            if any(True for _ in FIND[rule](answer, tier)):
                found += 1
                assert tier in through, (rule, answer.text, tier)
    assert found > 0, "no case of this rule"


def test_every_sieve_is_of_a_rule() -> None:
    assert SIEVES.keys() <= FIND.keys()
