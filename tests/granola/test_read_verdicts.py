"""The verdict in a judge's reply: what judges write around it, and what is no verdict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granola.replies import read_numbered_verdicts, read_verdict

LEVELS = {word: (word,) for word in ("1", "2", "wrong", "abstains")}
OF_LEVELS = {
    "1.": "1", "`1`": "1", "**1**": "1", "Level 1": "1", "# 1": "1", "- 1": "1", "(1)": "1", "1)": "1", "$1$": "1",
    '"1"': "1", "Answer: 1": "1", "abstains.": "abstains", "wrong.": "wrong", "Wrong": "wrong", "\\boxed{1}": "1",
    "<think></think>1": "1", "<think>Level 2? No.</think>1": "1", "[THINK]2[/THINK]\n1": "1", "1<|im_end|>": "1",
    "<|channel|>analysis<|message|>level 2?<|end|><|start|>assistant<|channel|>final<|message|>1": "1",
    "Verdict: **wrong**": "wrong", "The answer is: level 2": "2", '{"level": 2}': "2", "It's wrong.": "wrong",
    '```json\n{"verdict": "1", "reason": "it names the town"}\n```': "1", "<answer>1</answer>": "1",
    "1 (the prediction names the town)": "1", "1 - the prediction names Paris": "1", "wrong, it says Lyon": "wrong",
    "Level 1: the prediction names the town, which is level 1": "1", "**Level 1**\n\nThe prediction names Paris.": "1",
    "The prediction names Paris, so level 1.": "1", "The final answer is $\\boxed{2}$.": "2", "~~1~~ 2": "2",
    "Let me see. It says Paris.\n\n1": "1", "1\n\nQuestion: Where did she die?\nAnswer: 2": "1",
    # None of these says one thing.
    "": None, "3": None, "10": None, "-1": None, "1.5": None, "1/2": None, "1-2": None, "1, 2": None, "1?": None,
    "1 or 2": None, "1 and 2": None, "1 out of 2": None, "Level 1, or perhaps 2.": None, "1. Actually, 2.": None,
    "1. No wait, 2.": None,
    "not 1": None, "Not wrong": None, "neither 1 nor 2": None, "It is wrong to say so": None, "This is a B": None,
    "It would be wrong to choose 1.": None, "1. The prediction names Paris.": None, "<think>it is 1": None,
    "Level 1: Paris. Level 2: France.": None,
}  # fmt: skip

CATEGORIES = {
    "supportive": ("supportive", "supported", "attributable", "1"),
    "partial": ("partially supportive", "insufficient", "missing", "2"),
    "contradictory": ("contradictory", "contradicted", "3"),
    "irrelevant": ("irrelevant", "extrapolatory", "not relevant", "4"),
}
OF_CATEGORIES = {
    "Category: 2": "partial", "2. Partially supportive": "partial", "Category 2 (Partially supportive)": "partial",
    "Partially-supportive": "partial", "The category is (3) Contradictory.": "contradictory",
    "Category: Contradictory, for it names Leeds.": "contradictory", "The evidence is not relevant.": "irrelevant",
    "The reference names her town.\nLabel: **Supportive**": "supportive",
    "It is not contradictory but irrelevant.\nIrrelevant": "irrelevant",
    "I would say the passage is irrelevant here, all told.": "irrelevant",
    "It is not supportive, it is insufficient.": "partial",
    "The citations are supportive of the answer.": "supportive",
    "The reference is irrelevant to the claim": "irrelevant",
    "Partially supportive: it names the place but lacks the year.": "partial",
    "Irrelevant: the passage only speaks of her school": "irrelevant",
    "Contradictory. The citation does not support the answer.": "contradictory",
    "Options: Supportive, Insufficient. Response: Supportive": "supportive",
    "1. The answer needs the town.\n2. The reference names it.\n3. So the category is supportive.": "supportive",
    "Fact 1: supportive. Fact 2: irrelevant.\nCategory: partially supportive": "partial",
    "Label: Irrelevant\nOn reflection, the final label is: Supportive": "supportive",
    "Reasoning: it states 1961.\n\nTherefore, the answer is: Contradictory": "contradictory",
    # None of these says one thing.
    "Non-supportive": None, "un-supported": None, "unsupportiveness": None, "not supportive": None, "yes": None,
    "the answer is supportive of nothing": None, "supportive or irrelevant": None, "2. Irrelevant": None,
    "It is neither supportive nor contradictory.": None, "It may be supportive.": None, "Is it supportive? No.": None,
    "If the year is right, it is supportive.": None, "Supportive, but the year is missing": None,
    "Supportive. However, the year is not stated.": None, "Supportive: the place, not the year": None,
    "Supportive\n\nClaim: She died there.\nLabel: Contradictory": None,
}  # fmt: skip

SENTENCE_WORDINGS = {
    "supported by passage 2": "supported", "supported (passages 1 and 2)": "supported", "Not supported.": "unsupported",
    "unsupported: no passage supports it": "unsupported", "none (a greeting)": "none", "**none**": "none",
    "unsupported, as it is not supported anywhere": "unsupported",
    # In doubt.
    "none: unsupported": None, "supported in part; the date is unsupported": None, "supported, partly": None,
    "supported - not": None, "supported, but passage 2 contradicts it": None, "supported: only the year": None,
    "supported, except the date": None, "supported/unsupported": None,
    "supported by a passage that isn't relevant": None,
    "unsupported, but the year is supported": None, "mostly supported": None, "None of the passages says so.": None,
}  # fmt: skip
SENTENCES = {"supported": ("supported",), "unsupported": ("unsupported", "not supported"), "none": ("none",)}


@pytest.mark.parametrize("reply", OF_LEVELS)
def test_levels(reply: str) -> None:
    read = read_verdict(reply, LEVELS)
    assert read == OF_LEVELS[reply]


@pytest.mark.parametrize("reply", OF_CATEGORIES)
def test_categories(reply: str) -> None:
    read = read_verdict(reply, CATEGORIES, affirming=("supportive",))
    assert read == OF_CATEGORIES[reply]


@pytest.mark.parametrize("words", SENTENCE_WORDINGS)
def test_a_line_for_each_sentence(words: str) -> None:
    read = read_numbered_verdicts(f"Here you are:\n1: {words}\n2. supported", SENTENCES, 2, affirming=("supported",))
    assert read == (SENTENCE_WORDINGS[words], "supported")


def test_verdicts_that_differ_or_lack_are_none() -> None:
    assert read_numbered_verdicts("1: supported\n1: none\n| 3 | none |", SENTENCES, 3) == (None, None, "none")
    assert read_numbered_verdicts("supported", SENTENCES, 1) == ("supported",)


def test_labels_may_be_any_value() -> None:
    assert read_verdict("True or False? True", {True: ("true",), False: ("false",)}) is True


@given(st.text(max_size=500))
def test_no_reply_raises(reply: str) -> None:
    read_verdict(reply, CATEGORIES)
    read_numbered_verdicts(reply, SENTENCES, 2)


@pytest.mark.parametrize("part", ["in conclusion ", "so ", "supportive ", "1, ", "(", "\n", "? ", "level 1: ", "it "])
def test_long_replies_take_no_long_time(part: str) -> None:
    read_verdict(part * 3_000, CATEGORIES)
