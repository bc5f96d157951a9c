"""The sets of prompts, paper and guided, a folder over them, and what signatures and replies have of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from abstraction.errors import PromptError, ReplyError
from abstraction.phrasing import phraser as phrasing
from abstraction.phrasing.phraser import read_ladder, read_numbered_lines
from abstraction.phrasing.prompting import Prompt, prompts_hash, signature_of
from granola.decoding import methods as decoding

Read = Callable[..., Mapping[str, Prompt]]
BOTH = pytest.mark.parametrize("of", [decoding, phrasing], ids=["decoding", "phrasing"])


@BOTH
def test_the_papers_set_is_the_default_and_the_other_has_its_name(of) -> None:  # type: ignore[no-untyped-def]
    assert of.SETS == ("paper", "guided")
    default, paper, guided = of.read_prompts(), of.read_prompts("paper"), of.read_prompts("guided")
    assert default == paper
    assert {prompt.origin for prompt in guided.values()} == {"guided"}
    assert {prompt.origin for prompt in paper.values()} == {"paper"}
    assert all(paper[name].turns != guided[name].turns for name in paper)


@BOTH
def test_the_sets_name_stands_in_the_hash(of) -> None:  # type: ignore[no-untyped-def]
    kind = of.KINDS[0]
    seen = {name: signature_of(of.read_prompts(name), kind) for name in of.SETS}
    for name, shown in seen.items():
        whole = prompts_hash({kind.name: of.read_prompts(name)[kind.name]})
        assert shown == f"{name}-{whole[:8]}"
    assert seen["paper"].partition("-")[2] != seen["guided"].partition("-")[2]


@BOTH
def test_a_folder_of_ones_own_stands_before_the_papers_set(of, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    one, other = of.KINDS[0], of.KINDS[-1]
    slots = " ".join(f"{{{{{slot}}}}}" for slot in sorted(one.required))
    (tmp_path / f"{one.name}.txt").write_text(f"[user]\nMine: {slots}\n", encoding="utf-8")
    found, paper = of.read_prompts(tmp_path), of.read_prompts("paper")
    assert (found[one.name].origin, found[other.name]) == ("own", paper[other.name])
    assert found[one.name].fill(dict.fromkeys(one.required, "x"))[0].content.startswith("Mine: x")
    assert re.fullmatch(r"own-[0-9a-f]{8}", signature_of(found, one))
    assert re.fullmatch(r"own\+paper-[0-9a-f]{8}", signature_of(found, one, other))
    assert of.read_prompts(str(tmp_path)) == found


@BOTH
def test_a_set_that_is_not_there_is_told(of, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(PromptError, match="allowed: a folder, or one of the sets paper, guided"):
        of.read_prompts(tmp_path / "papers")


# The paper's baselines are zero-shot: one turn without a demonstration; the plain one is the two fields alone.
def test_the_papers_baselines_are_zero_shot() -> None:
    prompts = decoding.read_prompts()
    said = {name: prompts[name].fill({"question": "Where?"}) for name in ("answer", "idk", "idk_if_uncertain", "agg")}
    assert {len(messages) for messages in said.values()} == {1}
    assert said["answer"][0].content == "Question: Where?\nAnswer:"
    for name in ("idk", "idk_if_uncertain", "agg"):
        text = said[name][0].content
        assert text.endswith("\n\nQuestion: Where?\nAnswer:")
        assert text.count("Question:") == 1
        assert "IDK" in text


def test_the_papers_consistency_prompt_has_five_demonstrations_and_its_ladder_prompt_none() -> None:
    prompts = phrasing.read_prompts()
    slots = dict.fromkeys(("question", "subject", "about_question", "answer", "about_answer"), "x")
    roles = [one.role for one in prompts["consistency"].fill(slots)]
    assert roles == ["user", "assistant"] * 5 + ["user"]
    replies = [one.content for one in prompts["consistency"].fill(slots) if one.role == "assistant"]
    assert set(replies) == {"Yes", "No"}
    (asked,) = prompts["ladder"].fill({name: slots[name] for name in slots if name != "subject"})
    assert "number:: answer" in asked.content
    assert all(word in asked.content for word in ('"a writer"', '"a person"', "trivial"))


HAMBURG = ["northern Germany", "Germany"]


@pytest.mark.parametrize(
    "reply",
    [
        "1:: Hamburg\n2:: northern Germany\n3:: Germany",
        "1::Hamburg\n2 :: northern Germany\n\n3::  Germany\n",
        "Here are the answers:\n\n1:: Hamburg\n2:: northern Germany\n3:: Germany\n\nI stopped before Europe.",
        "```\n1:: Hamburg\n2:: northern Germany\n3:: Germany\n```",
        '1:: Hamburg\n2:: "northern Germany"\n3:: **Germany**',
        "<think>1:: Bonn\n3:: x</think>\n1:: Hamburg\n2:: northern Germany\n3:: Germany",
        "<answers>\n- northern Germany\n- Germany\n</answers>",
        "Of course.\n<answers>\n1. northern Germany\n2. Germany\n</answers>",
        # Either form inside the tags.
        "<answers>\n1:: Hamburg\n2:: northern Germany\n3:: Germany\n</answers>",
        "Of course.\n<answers>\n1:: northern Germany\n2:: Germany\n</answers>",
        # Numbered from the first coarser answer on, and the answer with more behind it.
        "1:: northern Germany\n2:: Germany",
        "1:: Hamburg, Germany\n2:: northern Germany\n3:: Germany",
        "1:: Free City (alias)\n2:: northern Germany\n3:: Germany",
        "1:: hamburg.\n2:: northern Germany\n3:: Germany",
    ],
)
def test_a_ladder_is_read_in_either_form(reply: str) -> None:
    assert read_ladder(reply, {"Hamburg", "Free City"}) == HAMBURG


def test_a_first_answer_that_is_coarser_is_not_lost() -> None:
    """Only the answer itself is left out, not what merely has a word of it."""
    reply = "1:: the Hamburg metropolitan region\n2:: Germany"
    assert read_ladder(reply, {"Hamburg"}) == ["the Hamburg metropolitan region", "Germany"]
    assert read_ladder("1:: Altona\n2:: Germany", {"Hamburg-Altona"}) == ["Altona", "Germany"]


@pytest.mark.parametrize("reply", ["1:: Hamburg", "1:: Hamburg\n2:: none", "1:: none", "<answers>\n- none\n</answers>"])
def test_a_reply_may_say_that_there_is_nothing_coarser(reply: str) -> None:
    assert read_ladder(reply, {"Hamburg"}) == []


@pytest.mark.parametrize(
    "reply",
    [
        "1:: Hamburg\n3:: Germany",
        "2:: northern Germany\n3:: Germany",
        "0:: Hamburg\n1:: Germany",
        "1:: Hamburg\n2:: northern Germany\n2:: Germany",
        "2:: Germany\n1:: Hamburg",
        "1:: Hamburg\nwhich is in\n2:: Germany",
        "1:: Hamburg\n2::\n3:: Germany",
        "one:: Hamburg",
        "::",
        "",
    ],
)
def test_gaps_and_words_between_are_refused(reply: str) -> None:
    with pytest.raises(ReplyError):
        read_numbered_lines(reply)
    with pytest.raises(ReplyError):
        read_ladder(reply, {"Hamburg"})
