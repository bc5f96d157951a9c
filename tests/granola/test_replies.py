"""The border for what models write: raw outputs of many families of models, each with what a person reads in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granola.matching import matcher
from granola.replies import read_reply

OUTPUTS = [
    json.loads(line)
    for line in (Path(__file__).parent / "files" / "raw_outputs.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("case", OUTPUTS, ids=lambda case: f"{case['family']}: {case['form']}")
def test_a_person_reads_the_same_answer(case: dict[str, Any]) -> None:
    reply = read_reply(case["raw"])
    assert reply.answer.strip() == case["answer"]
    assert reply.unfinished == case.get("unfinished", False)
    assert reply.raw == case["raw"]


@given(st.text())
def test_no_text_raises_and_nothing_is_reworded(text: str) -> None:
    reply = read_reply(text)
    assert reply.raw == text
    if set(reply.cuts).isdisjoint({"thought", "boxed", "json"}):  # these leave out what stands between
        assert reply.answer.strip() in text


@pytest.mark.parametrize("size", [10_000])
@pytest.mark.parametrize(
    "part", ["<think>", "</think>", "<|channel|>", "{", "[", "Q: a? ", "```", "\\boxed{", "A) ", "\n", "**", "a: "]
)
def test_long_texts_of_one_sign_take_no_long_time(part: str, size: int) -> None:
    read_reply(part * size)


@pytest.mark.parametrize("name", ["rules", "em", "f1"])
def test_thoughts_are_no_answer_unless_all_is_judged(name: str) -> None:
    said, levels = "<think>Paris?</think>Lyon", [["Paris"]]
    verdict = matcher(name).match(said, levels)
    assert (verdict.level, verdict.answer, verdict.cuts) == (None, "Lyon", ("thought",))
    assert matcher(name).match("<think>Paris, or", levels).abstained
    raw = matcher(name, raw=True)
    assert raw.signature() != matcher(name).signature()
    assert raw.match("Lyon</think>Paris", [["Lyon</think>Paris"]]).level == 1


def test_a_reply_says_how_it_declines() -> None:
    assert read_reply("<think>Paris?</think>I don't know.").abstention_rule() is not None
    assert read_reply("<think>Paris, or").abstention_rule() == "abstain:unfinished"
    assert read_reply("<think>Paris.</think>").abstention_rule() == "abstain:empty"
    assert read_reply("Answer: Paris").abstention_rule() is None
