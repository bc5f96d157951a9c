"""Citations, sentences and deflections in long answers: the forms that they come in, and what only looks like them."""

from __future__ import annotations

import gzip
import json
import os
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granola.evidence.grounding.answer_text import (
    answer_sentences,
    cited_passages,
    deflecting_rule,
    without_markers,
)
from tests.conftest import DATA, needs_data
from tests.tables import read_table

KNOWN = ("1", "2", "3", "4", "doc-a", "web_7", "Annual Report", "A.3")


def test_ids_of_other_forms() -> None:
    assert cited_passages("It [a] and [A] opened.", ["a", "A"])[0] == ("a", "A")
    assert cited_passages("It [doc_2-doc_4] opened.", [f"doc_{n}" for n in range(1, 6)])[0] == (
        "doc_2",
        "doc_3",
        "doc_4",
    )
    assert cited_passages("It [cite_1-3] opened.", [f"cite_{n}" for n in range(1, 6)])[0] == (
        "cite_1",
        "cite_2",
        "cite_3",
    )
    assert cited_passages("It opened [1].", ["[1]"])[0] == ("[1]",)
    assert cited_passages("(a) It opened, (b) it closed.", ["a", "b"])[0] == ()
    from_zero = ("0", "1", "2")
    for text in ("It opened [0-2].", "It opened [0, 1, 2].", "It opened.⁰ ¹ ²"):
        assert cited_passages(text, from_zero)[0] == from_zero


@pytest.mark.parametrize(("text", "told"), read_table("citations"))
def test_citations_in_the_forms_that_answers_have(text: str, told: list[list[str]]) -> None:
    """`told` are the passages that the text cites, and what it cites and is no passage."""
    assert list(map(list, cited_passages(text, KNOWN))) == told


@pytest.mark.parametrize(("text", "without"), read_table("texts_without_citations"))
def test_texts_without_their_citations(text: str, without: str) -> None:
    assert without_markers(text, KNOWN) == without


@pytest.mark.parametrize(("text", "sentences"), read_table("sentences"))
def test_sentences_keep_abbreviations_lists_and_citations(text: str, sentences: list[str]) -> None:
    assert answer_sentences(text, KNOWN) == sentences


@pytest.mark.parametrize(("answer", "declined"), read_table("deflections"))
def test_deflections_by_named_rules(answer: str, declined: bool) -> None:
    assert (deflecting_rule(answer) is not None) is declined


@pytest.mark.parametrize(("language", "answer", "declined"), read_table("deflections_in_languages"))
def test_deflections_in_other_languages(language: str, answer: str, declined: bool) -> None:
    assert (deflecting_rule(answer, language=language) is not None) is declined


@given(st.text(max_size=400), st.lists(st.text(min_size=1, max_size=5), max_size=4, unique=True))
def test_no_text_breaks_the_parsers(text: str, ids: list[str]) -> None:
    _parsed(text, ids)


_PIECES = (
    "[", "]", "(", ")", "【", "】", "1", "2", "12", ",", ";", "-", "–", "source ", "passage ", "and ", "²", "#", "^",
    "/", ". ", "? ", "\n", "\n- ", "\n1. ", "• ", "</s>", "Dr. ", "U.S. ", "It opened", " [1]", "doc-a", 
    "the passages do not ", "say", "\u0000", "\u202e", "é", "日本", "\ud83d\ude00", "<|", "|>", "&", "0" * 30,
    "###", "\t", "\r", "…",
)  # fmt: skip


def test_random_strings_never_raise() -> None:
    """`GRANOLA_RANDOM_STRINGS=1000000` tries a million."""
    source = random.Random(0)
    for _ in range(int(os.environ.get("GRANOLA_RANDOM_STRINGS", "3000"))):
        _parsed("".join(source.choices(_PIECES, k=source.randint(0, 30))), KNOWN)


def _parsed(text: str, ids: list[str] | tuple[str, ...]) -> None:
    cited, strange = cited_passages(text, ids)
    assert set(cited) <= set(ids)
    assert not set(strange) & set(ids)
    without_markers(text, ids)
    answer_sentences(text, ids)
    deflecting_rule(text)


@needs_data
def test_claims_that_others_split_off_answers_are_sentences_here() -> None:
    """AttributionBench's 1,198 claims: the others are two sentences here, or a heading with what follows it."""
    ids = tuple(map(str, range(1, 41)))

    def plain(text: str) -> str:
        return re.sub(r"[\W_]+", " ", without_markers(text, ids).replace("</s>", "")).strip().casefold()

    with gzip.open(DATA / "attribution" / "attributionbench_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = 0
    for row in rows:
        claim = plain(row["claim_raw_string"])
        ours = {plain(one) for one in answer_sentences(row["response"], ids)}
        found += not ours.isdisjoint((claim, re.sub(r"^\d+ ", "", claim)))
    assert (len(rows), found >= 1_160) == (1_198, True), found
