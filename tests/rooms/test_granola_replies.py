"""What granola.replies is for: the answer in what a model wrote."""

from __future__ import annotations

from granola.replies import read_reply, read_verdict


def test_a_thought_is_no_answer() -> None:
    reply = read_reply("<think>Lyon? No.</think>**Answer:** Paris\n\nQ: Where did she die?\nA: Lyon")
    assert reply.answer == "Paris"
    assert list(reply.cuts) == ["thought", "next-question", "final-answer"]


def test_a_judge_may_write_more_than_its_word() -> None:
    labels = {"yes": ("supported", "1"), "no": ("unsupported", "2")}
    assert read_verdict("I compared both. Verdict: **2**, as no passage says so.", labels) == "no"
    assert read_verdict("supported or unsupported", labels) is None
