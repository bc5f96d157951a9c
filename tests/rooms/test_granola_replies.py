"""What granola.replies is for: the answer in what a model wrote."""

from __future__ import annotations

from granola.replies import read_reply, read_word


def test_a_thought_is_no_answer() -> None:
    reply = read_reply("<think>Lyon? No.</think>**Answer:** Paris\n\nQ: Where did she die?\nA: Lyon")
    assert reply.answer == "Paris"
    assert [cut.rule for cut in reply.cuts] == ["thought", "next-question", "label"]


def test_a_judge_may_write_more_than_its_word() -> None:
    assert read_word("Verdict: **Level 2**.", ["1", "2", "wrong"]) == "2"
    assert read_word("1 or 2", ["1", "2", "wrong"]) is None
