"""Rows of questions with passages, GaRAGe's and one's own: what is read, what is refused, what is counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from abstraction.errors import RowError
from granola.grounding.answer_judging import AnswerJudge
from granola.grounding.citation_scores import CitationCounts
from granola.grounding.grounded_rows import read_grounded
from granola.grounding.grounded_samples import Relevance
from granola.grounding.sample_fields import is_age, is_date
from granola.grounding.sample_statistics import statistics_of
from granola.grounding.sentence_judges import WordSentences
from tests.granola.test_grounding_answers import write
from tests.grounding_world import TOPICS, garage_rows, own_rows

STRICT, WIDE = Relevance


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("grounding") / "questions.jsonl", own_rows())


def test_garages_rows_as_published(tmp_path: Path) -> None:
    """The published file: passages under cite_N, answers that were validated, labels that may be empty."""
    row = {
        "sample_id": "3e85", "question_date": "17 December 2024", "question": "Which?",
        "grounding": [
            {"age": "6 days", "date": "not defined", "provider": "web", "cite_1": " It opened."},
            {"age": "not defined", "date": "Published date: N/A", "provider": "ent", "cite_2": " Old."},
        ],
        "question_sensitive": "YES", "question_type": "FAST-CHANGING", "question_complexity": "Multi-hop",
        "evidence_relevant": ["YES", ""], "evidence_correct": ["ANSWER-THE-QUESTION", ""],
        "answer_generate": "It opened.[cite_1]", "answer_related_info": "", "answer_validate": "YES", "comments": "c",
        "evidence_cited": ["YES", "NO"], "question_tag": "sec",
    }  # fmt: skip
    unvalidated = {**row, "sample_id": "4f", "answer_validate": "", "answer_generate": "It may have."}
    first, second = read_grounded(write(tmp_path / "garage.jsonl", [row, unvalidated]))
    assert [(one.id, one.text.strip(), one.age, one.date, one.private) for one in first.passages] == [
        ("cite_1", "It opened.", "6 days", None, False), ("cite_2", "Old.", None, None, True),
    ]  # fmt: skip
    # Who validated an answer says nothing of whether it deflects.
    assert (first.cited, first.deflection, second.deflection) == (("cite_1",), False, False)
    assert (first.tags["answer_validate"], second.tags["answer_validate"]) == ("yes", "not told")
    assert (first.tags["time_sensitivity"], first.tags["question_tag"], first.source) == (
        "fast-changing",
        "sec",
        "private",
    )
    assert first.relevant_share(STRICT) == 1.0  # one of one that is labelled
    judge = AnswerJudge(sentences=WordSentences())
    (judged_answer,) = judge.judged([(first, "It opened.[cite_1]")])
    assert judged_answer.citations == CitationCounts(1, 1, 1)


def test_the_questions_have_all_kinds(world: Path) -> None:
    samples = list(read_grounded(world))
    assert len(samples) >= 60
    names = ("complexity", "time_sensitivity", "popularity", "question_tag")
    tags = {name: Counter(one.tags[name] for one in samples) for name in names}
    assert set(tags["question_tag"]) == {"web", "ent", "devops", "sec", "arxiv", "enron"}
    assert len(tags["complexity"]) == 7
    assert set(tags["time_sensitivity"]) == {"fast-changing", "slow-changing", "static"}
    assert set(tags["popularity"]) == {"Head", "Torso", "Tail"}
    assert {one.source for one in samples} == {"web", "private"}
    assert sum(one.deflection for one in samples) >= 10
    shares = [one.relevant_share(STRICT) or 0.0 for one in samples]
    assert {sum(share > limit for limit in (1 / 3, 2 / 3)) for share in shares} == {0, 1, 2}
    assert any(one.relevant_share(STRICT) != one.relevant_share(WIDE) for one in samples)
    assert len(TOPICS) == 16


def test_garages_fields_tell_the_same(world: Path, tmp_path: Path) -> None:
    own = list(read_grounded(world))
    unknown: Counter[str] = Counter()
    garage = list(read_grounded(write(tmp_path / "garage.jsonl", garage_rows()), unknown=unknown))
    assert not unknown
    for one, other in zip(own, garage, strict=True):
        assert (one.id, one.passages, set(one.cited or ()), one.deflection, one.reference) == (
            other.id, other.passages, set(other.cited or ()), other.deflection, other.reference,
        )  # fmt: skip
        assert {name: other.tags[name] for name in one.tags} == dict(one.tags)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("[3] [Age: 2 days] [Date: 2024-11-18] [Provider: ent] A text [1].", ("3", "A text [1].", "ent", True)),
        ("[3][Provider: web] A text.", ("3", "A text.", "web", False)),
        ("【3】Age: 2 days\nDate: 2024-11-18\nProvider: web\nText: A text.", ("3", "A text.", "web", False)),
        ({"id": "3", "text": "A text.", "provider": "ENT"}, ("3", "A text.", "ENT", True)),
        ({"citation_marker": "3", "passage": "[Age: 1 day] A text.", "source": "web"}, ("3", "A text.", "web", False)),
        ("A text: with a colon [and brackets].", ("1", "A text: with a colon [and brackets].", None, None)),
        ("[sic] A text.", ("sic", "A text.", None, None)),
        ("[cite_1] (Age: 6 days) (Provider: web) A text.", ("cite_1", "A text.", "web", False)),
        ("[cite_3] [6 days] [17 December 2024] [web] A text.", ("cite_3", "A text.", "web", False)),
        ("(cite_3) (6 days) (not defined) (ent) A text.", ("cite_3", "A text.", "ent", True)),
        ("(3 weeks ago) it opened.", ("1", "(3 weeks ago) it opened.", None, None)),
    ],
)
def test_marks_before_passages(given: Any, expected: tuple[Any, ...], tmp_path: Path) -> None:
    row = {"sample_id": "a", "question": "q", "grounding": [given], "answer_generate": "An answer."}
    (sample,) = read_grounded(write(tmp_path / "g.jsonl", [row]))
    (one,) = sample.passages
    assert (one.id, one.text, one.provider, one.private) == expected


def test_what_is_not_understood_is_counted(tmp_path: Path) -> None:
    """Heads, labels that contradict each other, unknown words: each says what it counts as."""
    head = "[cite_1] [6 days] [not defined] [web] [rank three] A text."
    row = {
        "sample_id": "a", "question": "q", "grounding": [head, "[cite_2] b", "[cite_3] c", "[cite_4] d"],
        "evidence_relevant": ["YES", "YES", "NO", "YES"],
        "evidence_correct": ["IRRELEVANT", "", "OUTDATED", "SOSO"],
        "answer_generate": "It opened.", "answer_validate": "PERHAPS",
    }  # fmt: skip
    unknown: Counter[str] = Counter()
    (sample,) = read_grounded(write(tmp_path / "g.jsonl", [row]), unknown=unknown)
    assert unknown == {
        "head [rank three] (left in the text)": 1,
        "RELEVANT, second label IRRELEVANT (counts in the wide reading alone)": 1,
        "IRRELEVANT, second label OUTDATED (counts as irrelevant)": 1,
        "second label SOSO (counts in the wide reading alone, if relevant)": 1,
        "answer_validate perhaps (decides nothing)": 1,
    }
    first = sample.passages[0]
    assert (first.id, first.age, first.date, first.provider) == ("cite_1", "6 days", None, "web")
    assert first.text == "[rank three] A text."
    assert ([one.id for one in sample.relevant(STRICT)], [one.id for one in sample.relevant(WIDE)]) == (
        ["cite_2"],  # relevant without a second label
        ["cite_1", "cite_2", "cite_4"],
    )
    assert (sample.deflection, "answer_validate" in sample.tags) == (False, False)
    # The same contradictions in a row of one's own.
    passages = [
        {"text": "a", "relevant": True, "label": "IRRELEVANT"}, {"text": "b", "relevant": False, "label": "RELEVANT"},
        {"text": "c", "label": "RELEVANT"}, {"text": "d", "label": "IRRELEVANT"},
    ]  # fmt: skip
    unknown.clear()
    (sample,) = read_grounded(
        write(tmp_path / "own.jsonl", [{"id": "a", "question": "q", "passages": passages}]), unknown=unknown
    )
    assert ([one.id for one in sample.relevant(STRICT)], [one.id for one in sample.relevant(WIDE)]) == (
        ["3"],
        ["1", "3"],
    )
    assert sum(unknown.values()) == 2


def test_ids_count_from_zero_too(tmp_path: Path) -> None:
    row = {
        "id": "a", "question": "q", "reference_citations": [0],
        "passages": [{"id": 0, "text": "It opened."}, {"id": 1, "text": "Noise."}],
    }  # fmt: skip
    (sample,) = read_grounded(write(tmp_path / "own.jsonl", [row]))
    assert [one.id for one in sample.passages] == ["0", "1"]
    (one,) = AnswerJudge(sentences=WordSentences()).judged([(sample, "It opened [0].")])
    assert one.citations == CitationCounts(1, 1, 1)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"grounding": ["[1] [Age: 2 days] "]}, "a passage has no text"),
        ({"grounding": [3]}, "a passage is 3; expected a text"),
        ({"grounding": ["a", "b"], "evidence_cited": [True]}, "1 entries for 2 passages"),
        ({"passages": [{"text": "a", "private": "yes"}]}, "expected true or false"),
        ({"passages": ["a"], "deflection": "no"}, '"deflection" is'),
        ({"passages": ["a"], "reference_citations": ["7"]}, "no passage's id"),
        ({"passages": ["a"] * 501}, "allowed are 500"),
        ({"passages": ["a"], "reference": ["In Paris"]}, '"reference" is'),
        ({"grounding": ["a"], "answer_generate": {"text": "x"}}, '"answer_generate" is'),
        ({"passages": [{"id": ["1"], "text": "a"}]}, '"id" is'),
        ({"passages": [{"id": "1", "text": "a"}, "b", {"id": "2", "text": "c"}]}, "two passages have one id"),
    ],
)
def test_rows_that_cannot_be_read_say_why(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    whole = {"id": "a", "sample_id": "a", "question": "q", "answer_generate": "x", **row}
    with pytest.raises(RowError, match=message):
        list(read_grounded(write(tmp_path / "bad.jsonl", [whole])))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 days", True), ("2 weeks", True), ("1 year 2 months", True), ("12 minutes", True), ("1.5 years", True),
        ("1,200 days", True), ("3 yrs old", True), ("about 3 days ago", True),
        ("5", False), ("3 fortnights", False), ("unknown", False), ("", False), ("2 days 5", False),
    ],
)  # fmt: skip
def test_ages_are_told_from_other_marks(text: str, expected: bool) -> None:
    assert is_age(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-11-13", True), ("2024-11-21T10:00", True), ("13 November 2024", True), ("November 2024", True),
        ("2024", False), ("soon", False), ("6 days", False),
    ],
)  # fmt: skip
def test_dates_are_told_from_other_marks(text: str, expected: bool) -> None:
    assert is_date(text) is expected


def test_statistics_count_what_is_there(world: Path) -> None:
    counts = statistics_of(read_grounded(world))
    assert (counts["questions"], counts["deflection_expected"]) == (64, sum(row["deflection"] for row in own_rows()))
    assert counts["passages"] == sum(len(row["passages"]) for row in own_rows())
    assert counts["tags"]["popularity"].keys() == {"Head", "Torso", "Tail"}
