"""Rows of questions with passages, GaRAGe's and one's own: what is read, what is refused, what is counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from abstraction.errors import RowError
from granola.evidence.grounding.answer_judging import AnswerJudge
from granola.evidence.grounding.grounded_rows import Relevance, question_panels, read_grounded, statistics_of
from granola.evidence.grounding.grounding_task import CitationCounts
from tests.granola.test_grounding_answers import write
from tests.grounding_world import garage_rows, own_rows, word_judge

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
    assert [one.contradicting for one in (first, second)] == [(), ("not validated",)]
    assert (first.tags["time_sensitivity"], first.tags["knowledge_base"], first.source) == (
        "fast-changing", "sec", "private",
    )  # fmt: skip
    assert first.relevant_share(STRICT) == 1.0  # one of one that is labelled
    judge = AnswerJudge(sentences=word_judge())
    (judged_answer,) = judge.judge([(first, "It opened.[cite_1]")])
    assert judged_answer.citations == CitationCounts(1, 1, 1)


def test_the_questions_have_all_kinds(world: Path) -> None:
    samples = list(read_grounded(world))
    assert len(samples) == 32
    names = ("complexity", "time_sensitivity", "popularity", "question_tag")
    tags = {name: Counter(one.tags[name] for one in samples) for name in names}
    assert set(tags["question_tag"]) == {"web", "ent", "devops", "sec", "arxiv", "enron"}
    assert len(tags["complexity"]) == 7
    assert set(tags["time_sensitivity"]) == {"fast-changing", "slow-changing", "static"}
    assert set(tags["popularity"]) == {"Head", "Torso", "Tail"}
    assert {one.source for one in samples} == {"web", "private"}
    assert sum(one.deflection for one in samples) == 6
    assert any(one.relevant_share(STRICT) != one.relevant_share(WIDE) for one in samples)


def test_garages_fields_tell_the_same(world: Path, tmp_path: Path) -> None:
    own = list(read_grounded(world))
    garage = list(read_grounded(write(tmp_path / "garage.jsonl", garage_rows())))
    for one, other in zip(own, garage, strict=True):
        passages = tuple(passage.model_copy(update={"id": f"cite_{passage.id}"}) for passage in one.passages)
        assert (one.id, passages, one.deflection) == (other.id, other.passages, other.deflection)
        assert {f"cite_{id_}" for id_ in one.cited or ()} == set(other.cited or ())
        assert {name: other.tags[name] for name in one.tags} == dict(one.tags)


def test_steps_that_contradict_each_other_count_in_the_wide_reading_alone(tmp_path: Path) -> None:
    row = {
        "sample_id": "a", "question": "q", "grounding": [{f"cite_{n}": "A text."} for n in (1, 2, 3)],
        "evidence_relevant": ["YES", "YES", "NO"], "evidence_correct": ["IRRELEVANT", "", "OUTDATED"],
    }  # fmt: skip
    (sample,) = read_grounded(write(tmp_path / "g.jsonl", [row]))
    assert [one.id for one in sample.relevant_passages(STRICT)] == ["cite_2"]  # relevant without a second label
    assert [one.id for one in sample.relevant_passages(WIDE)] == ["cite_1", "cite_2"]


def test_ids_count_from_zero_too(tmp_path: Path) -> None:
    row = {
        "id": "a", "question": "q", "reference_citations": [0],
        "passages": [{"id": 0, "text": "It opened."}, {"id": 1, "text": "Noise."}],
    }  # fmt: skip
    (sample,) = read_grounded(write(tmp_path / "own.jsonl", [row]))
    assert [one.id for one in sample.passages] == ["0", "1"]
    (one,) = AnswerJudge(sentences=word_judge()).judge([(sample, "It opened [0].")])
    assert one.citations == CitationCounts(1, 1, 1)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"grounding": [{"cite_1": " "}]}, r"grounding\[1\].text is '.*'; expected"),
        ({"grounding": [3]}, "is neither a text nor an object with a text"),
        ({"grounding": ["a", "b"], "evidence_cited": [True]}, "1 entries for 2 passages"),
        ({"grounding": ["a"], "evidence_relevant": ["MAYBE"]}, "'MAYBE'; expected 'YES', 'NO', 'RELEVANT'"),
        ({"passages": [{"text": "a", "private": "yes"}]}, "expected true or false"),
        ({"passages": ["a"], "deflection": "no"}, "deflection is"),
        ({"passages": ["a"], "reference_citations": ["7"]}, "no passage's id"),
        ({"passages": ["a"] * 501}, "at most 500"),
        ({"passages": [{"id": "1", "text": "a"}, "b", {"id": "2", "text": "c"}]}, "two passages have one id"),
    ],
)
def test_rows_that_cannot_be_read_say_why(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    whole = {"id": "a", "sample_id": "a", "question": "q", "answer_generate": "x", **row}
    with pytest.raises(RowError, match=message):
        list(read_grounded(write(tmp_path / "bad.jsonl", [whole])))


def test_statistics_count_what_is_there(world: Path) -> None:
    counts = statistics_of(read_grounded(world))
    assert (counts["questions"], counts["deflection_expected"]) == (32, sum(row["deflection"] for row in own_rows()))
    assert counts["passages"] == sum(len(row["passages"]) for row in own_rows())
    assert counts["tags"]["popularity"].keys() == {"Head", "Torso", "Tail"}


def test_the_human_answer_says_whether_to_decline_and_other_signs_may_contradict(tmp_path: Path) -> None:
    """The printed sentence, whatever its case and blanks, stands by itself; rows whose signs disagree are listed."""
    row = {
        "sample_id": "a", "question": "q", "grounding": [{"cite_1": "A text."}], "evidence_relevant": ["NO"],
        "evidence_cited": ["NO"], "answer_validate": "", "topic_tag": "enron",
        "answer_generate": "There is  not enough grounding for an ANSWER",
    }  # fmt: skip
    odd = {**row, "sample_id": "b", "evidence_relevant": ["YES"], "answer_validate": "YES"}
    answered = {**row, "sample_id": "c", "answer_generate": "It opened.[cite_1]"}
    samples = list(read_grounded(write(tmp_path / "g.jsonl", [row, odd, answered])))
    assert [one.deflects_by for one in samples] == ["printed sentence", "printed sentence", ""]
    assert [one.deflection for one in samples] == [True, True, False]
    told = statistics_of(samples)
    assert told["deflection_signs"] == {"printed sentence": 2, "answers": 1}
    assert told["contradicting_signs"] == {"not validated": 2, "no relevant passage": 2}
    assert [one["id"] for one in told["contradicting"]] == ["b", "c"]
    enron = told["relevance_by_knowledge_base"]["enron"]
    assert (enron["value"], enron["n"]) == (pytest.approx(1 / 3), 3)


def test_figures_of_questions_are_drawn_from_their_rows(world: Path) -> None:
    samples = list(read_grounded(world))
    labels = {panel.name: panel for panel in question_panels(samples, "garage-3")}
    assert set(labels) == {"time_sensitivity", "complexity", "popularity", "category"}
    (line,) = labels["popularity"].lines.values()
    assert sum(estimate.value for _, estimate in line) == pytest.approx(1)
    providers, relevance, _ = question_panels(samples, "garage-4")
    assert {place for place, _ in providers.lines["passages"]} == {"web", "ent"}
    assert set(relevance.lines) == {"web", "ent"}
