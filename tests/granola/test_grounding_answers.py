"""Answers from passages: judges' replies, scores and slices, over the questions written for tests."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from abstraction.errors import ReplyError, RowError
from abstraction.files.records import Record
from granola.commands import GroundingJudge, Verdicts
from granola.evidence.evidence_task import EstimateSettings
from granola.evidence.grounding.answer_judging import (
    DEFLECTION_WORDINGS,
    GRADE_WORDINGS,
    AnswerJudge,
    ChatSentenceJudge,
    read_label_in_reply,
    read_sentence_verdicts,
)
from granola.evidence.grounding.grounded_rows import GroundedSample, GroundingPassage, Relevance, read_grounded
from granola.evidence.grounding.grounding_task import (
    GroundingItem,
    SentenceVerdict,
    band_of,
    grounding_scores,
)
from granola.evidence.verdict_rows import VerdictRows
from tests.abstraction.scripted_model import Scripted
from tests.grounding_world import judged_item, own_rows, word_judge

SUP, UNS, CON, NONE = SentenceVerdict
STRICT, WIDE = Relevance
QUICK = EstimateSettings(resamples=10)


def write(path: Path, rows: Iterable[Any]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("grounding") / "questions.jsonl", own_rows())


def copied(row: dict[str, Any], *, relevant: bool) -> str:
    """An answer of the passages that are relevant, or of those that are not, word for word, each cited."""
    kept = [one for one in row["passages"] if one["relevant"] is relevant]
    return " ".join(f"{one['text'].rstrip('.')} [{one['id']}]." for one in kept)


SYSTEMS: dict[str, Callable[[dict[str, Any]], str]] = {
    "relevant": lambda row: copied(row, relevant=True),
    "noise": lambda row: copied(row, relevant=False),
    "declines": lambda row: "The passages do not say.",
    "reference": lambda row: row["reference"],
}


@pytest.fixture(scope="module")
def judged(world: Path) -> dict[str, list[GroundingItem]]:
    rows = {row["id"]: row for row in own_rows()}
    samples = list(read_grounded(world))
    judge = AnswerJudge(sentences=word_judge(1.0))
    return {
        name: [
            item.model_copy(update={"system": name})
            for item in judge.judge([(sample, answer(rows[sample.id])) for sample in samples])
        ]
        for name, answer in SYSTEMS.items()
    }


def test_what_nobody_labelled_is_scored_by_nobody() -> None:
    sample = GroundedSample(
        id="a", question="q", reference="x", passages=(GroundingPassage(id="1", text="The bridge opened in 1999."),)
    )
    (one,) = AnswerJudge(sentences=word_judge()).judge([(sample, "The bridge opened in 1999 [1].")])
    assert (one.is_factual(), one.is_factual(STRICT), one.citations) == (True, None, None)
    report = grounding_scores([one], QUICK)
    assert (report["uF"].n, report["uRAF strict"].n, report["cited f1_of_means"].n) == (1, 0, 0)
    odd = GroundingPassage(id="1", text="x", relevant=True, label="IRRELEVANT")
    assert (odd.is_relevant(STRICT), odd.is_relevant(WIDE)) == (False, True)


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("No issues", "no issues"), ("minor issues.", "minor issues"), ("**Major Issue(s)**", "major issues"),
        ("Verdict: Minor Issue", "minor issues"), ("No Issue(s)", "no issues"), ("No major issues.", None),
        ("There are no major issues", None), ("Not major issues", None), ("no issues or minor issues", None),
        ("", None), ("There are no issues except a major one", None), ("No major or minor issues", None),
        ("almost no issues", None), ("No issues, but the date is missing", None), ("No issues? No.", None),
        ("No issues, though it is not complete", None), ("No issues. The answer agrees with it.", "no issues"),
        ("Major issues: it does not answer.", "major issues"), ("Minor issues: no date is given.", "minor issues"),
    ],
)  # fmt: skip
def test_grades_are_read_or_refused(reply: str, grade: str | None) -> None:
    if grade is None:
        with pytest.raises(ReplyError):
            read_label_in_reply(reply, GRADE_WORDINGS)
    else:
        assert read_label_in_reply(reply, GRADE_WORDINGS) == grade


@pytest.mark.parametrize(
    "reply",
    [
        "1: supported\n2: none", "- 1: supported\n- 2: none", "**1:** supported\n**2:** none", "1. Supported\n2. None",
        "Sentence 1: supported\nSentence 2: no attribution needed", "1 - supported\n2 - none",
        "(1) supported\n(2) none",
        "1: [supported]\n2: [none]", '1: "supported"\n2: "none"', "| 1 | supported |\n| 2 | none |",
        "1: supported, as passage two says\n2: none", "Here you are:\n1: supported\n2: none\n",
    ],
)  # fmt: skip
def test_verdicts_are_read_in_the_forms_that_models_write(reply: str) -> None:
    assert read_sentence_verdicts(reply, 2) == (SUP, NONE)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "1: supported",
        "1: supported or unsupported\n2: none",
        "1: supported\n1: unsupported\n2: none",
        "1: yes\n2: no",
    ],
)
def test_verdicts_that_can_be_taken_in_two_ways_are_refused(reply: str) -> None:
    with pytest.raises(ReplyError):
        read_sentence_verdicts(reply, 2)


VERDICTS: dict[str, SentenceVerdict | None] = {
    "supported by passage 2": SUP, "supported (passages 1 and 2)": SUP, "supported: passage 2 supports it": SUP,
    "unsupported: no passage supports it": UNS, "unsupported (not mentioned in the passages)": UNS,
    "Not supported.": UNS, "unsupported, as it is not supported anywhere": UNS,
    "contradictory: passage 2 says 1998, not 1999": CON, "Contradicted by passage 3": CON,
    "none (a greeting)": NONE, "none - it states nothing": NONE, "no need of attribution": NONE, "none needed.": NONE,
    "none, as no passage says so": NONE, "unsupported? supported": SUP,
    # In doubt.
    "None of the passages supports this claim.": None, "no need to check: unsupported": None, "none: unsupported": None,
    "supported in part; the date is unsupported": None, "supported partially": None, "supported, partly": None,
    "supported - not": None, "supported, but passage 2 contradicts it": None, "supported?": None,
    "supported, except the date": None, "supported: no passage says otherwise": None, "supported/unsupported": None,
    "supported, the date is contradicted": None, "supported | none": None, "supported: only the year": None,
    "supported by a passage that isn't relevant": None, "partially supported": None, "mostly supported": None,
    "unsupported - not": None, "unsupported, but the year is supported": None, "unsupported or contradictory": None,
    "contradictory, or unsupported": None, "contradictory in part": None,
    "not contradictory": None, "contradictory: no": None,
}  # fmt: skip


@pytest.mark.parametrize("words", VERDICTS)
def test_a_verdict_counts_where_the_line_takes_nothing_back(words: str) -> None:
    if (verdict := VERDICTS[words]) is not None:
        assert read_sentence_verdicts(f"1: {words}\n2: supported", 2) == (verdict, SUP)
    else:
        with pytest.raises(ReplyError):
            read_sentence_verdicts(f"1: {words}\n2: supported", 2)


def test_deflections_of_judges() -> None:
    assert read_label_in_reply("Deflects.", DEFLECTION_WORDINGS) == "deflects"
    assert read_label_in_reply("The text answers", DEFLECTION_WORDINGS) == "answers"
    for reply in ("It answers nothing", "not answers", "answers deflects", "yes"):
        with pytest.raises(ReplyError):
            read_label_in_reply(reply, DEFLECTION_WORDINGS)


def test_a_judges_prompt_is_the_same_however_passages_are_called() -> None:
    asked = []
    for ids in (("1", "2"), ("x", "y")):
        passages = tuple(
            GroundingPassage(id=id, text="The same text.", date=date, relevant=True)
            for id, date in zip(ids, ("2024-01-01", "2023-01-01"), strict=True)
        )
        for order in (passages, passages[::-1]):
            model = Scripted(lambda _: "1: supported")
            sample = GroundedSample(id="a", question="q", passages=order)
            list(AnswerJudge(sentences=ChatSentenceJudge(model=model)).judge([(sample, "It opened.")]))
            asked.append([request.messages for request in model.asked])
    assert all(one == asked[0] for one in asked)


@pytest.mark.parametrize(
    "change",
    [
        {"tags": ["a"]}, {"tags": {"popularity": 5}}, {"id": ["a"]},
        {"citations": ["a", "b", "c"]}, {"citations": [-1, 0, 0]},
        {"expected_deflection": "no"}, {"deflects": False}, {"answer": 5},
        {"eligibility": "great"}, {"sentences": [{"text": 5, "all": "supported"}]}, {"unjudged": ["x"]},
    ],
)  # fmt: skip
def test_lines_that_are_no_judged_answers_are_told(change: dict[str, Any]) -> None:
    line = orjson.loads(orjson.dumps(item().model_dump(mode="json")))
    assert GroundingItem.of(Record(source="x", data=line)) == item()
    with pytest.raises(RowError, match=next(iter(change))):
        GroundingItem.of(Record(source="x", data={**line, **change}))


def test_pairs_are_of_questions_where_both_count() -> None:
    """x fails twenty and passes twenty, y was judged on the latter alone: no difference there."""
    x = [item(id=str(n), system="x", all_=(UNS if n < 20 else SUP, SUP)) for n in range(40)]
    y = [item(id=str(n), system="y", all_=(None, None) if n < 20 else (SUP, SUP)) for n in range(40)]
    rows = [one.model_dump(mode="json") for one in (*x, *y)]
    (found,) = VerdictRows.of(rows, EstimateSettings(resamples=10)).paired_tests("uF")
    assert (found.n, found.difference) == (20, 0.0)


@pytest.mark.parametrize(
    ("relevant", "passages", "band"),
    [(1, 3, "0.00-0.33"), (2, 6, "0.00-0.33"), (2, 3, "0.33-0.67"), (4, 6, "0.33-0.67"), (5, 7, "0.67-1.00"),
     (2, 5, "0.33-0.67"), (0, 3, "0.00-0.33"), (3, 3, "0.67-1.00")],
)  # fmt: skip
def test_a_limit_belongs_to_the_band_below(relevant: int, passages: int, band: str) -> None:
    sample = GroundedSample(
        id="a", question="q",
        passages=tuple(GroundingPassage(id=str(at), text="x", relevant=at < relevant) for at in range(passages)),
    )  # fmt: skip
    (one,) = AnswerJudge(sentences=word_judge()).judge([(sample, "It opened.")])
    assert band_of(float(one.tags["relevant_share_strict"])) == band


@pytest.mark.parametrize(
    ("score", "by", "tag", "band"),
    [
        ("RAF strict", "relevant_share", "relevant_share_strict", "0.00-0.33"),
        ("uRAF wide", "relevant_share", "relevant_share_wide", "0.33-0.67"),
        ("uF", "relevant_share", "relevant_share_strict", "0.00-0.33"),
        ("RAF strict", "relevant_share_wide", "relevant_share_wide", "0.33-0.67"),
        ("RAF wide", "relevant_share_strict", "relevant_share_strict", "0.00-0.33"),
    ],
)
def test_bands_are_of_a_reading_that_is_named(score: str, by: str, tag: str, band: str, tmp_path: Path) -> None:
    """Of three passages one answers and one is outdated: a third is relevant in the strict reading, two in the wide."""
    labels = ("ANSWER-THE-QUESTION", "OUTDATED", "IRRELEVANT")
    sample = GroundedSample(
        id="a", question="q",
        passages=tuple(
            GroundingPassage(id=label, text="It opened.", relevant=label != "IRRELEVANT", label=label)
            for label in labels
        ),
    )  # fmt: skip
    (one,) = AnswerJudge(sentences=word_judge()).judge([(sample, "It opened.")])
    row = {**one.model_dump(mode="json"), "eligibility": "no issues"}
    told = Verdicts(judged=(write(tmp_path / "j.jsonl", [row]),), by=(by,), score=(score,), resamples=20).run()
    (panel,) = told.panels
    assert (panel.name, [place for place, _ in panel.lines["j"]]) == (tag, [band])
    assert f"|bands of {tag}:0.333333,0.666667|judge:" in told.signature


def test_what_systems_do_shows_in_the_scores(judged: dict[str, list[GroundingItem]]) -> None:
    """Copied passages are factual; against the relevant ones only where they are relevant."""
    found = {
        name: {key: one.value for key, one in grounding_scores(items, QUICK).items()} for name, items in judged.items()
    }
    assert (found["relevant"]["uF"], found["relevant"]["uRAF wide"]) == (1.0, 1.0)
    assert found["noise"]["uF"] > 0.75  # where every passage is relevant there is no noise to copy
    assert found["noise"]["uRAF wide"] == 0.0
    assert (found["declines"]["deflection TP"], found["declines"]["deflection FP"]) == (1.0, 1.0)
    assert (found["reference"]["deflection TP"], found["reference"]["deflection FP"]) == (1.0, 0.0)
    assert found["reference"]["cited f1_of_means"] == 1.0
    assert math.isnan(found["relevant"]["E"])  # words do not tell whether an answer is eligible


def test_order_and_names_of_all_passages_change_no_score(world: Path, judged: dict[str, list[GroundingItem]]) -> None:
    source = random.Random(0)
    rows = {row["id"]: row for row in own_rows()}
    judge = AnswerJudge(sentences=word_judge(1.0))
    pairs = []
    for sample in read_grounded(world):
        names = {one.id: f"p{one.id}" for one in sample.passages}
        turned = [one.model_copy(update={"id": names[one.id]}) for one in sample.passages]
        source.shuffle(turned)
        answer = re.sub(r"\[(\d+)\]", lambda match: f"[p{match[1]}]", copied(rows[sample.id], relevant=True))
        pairs.append(
            (replace(sample, passages=tuple(turned), cited=tuple(names[one] for one in sample.cited or ())), answer)
        )
    told = grounding_scores(list(judge.judge(pairs)), QUICK)
    for name, one in grounding_scores(judged["relevant"], QUICK).items():
        assert told[name] == one or (math.isnan(told[name].value) and math.isnan(one.value))


def item(**more: Any) -> GroundingItem:
    return judged_item(**{"system": "one", **more})


def test_two_judges_of_one_system_are_told_by_file_or_pooled(
    world: Path, judged: dict[str, list[GroundingItem]], tmp_path: Path
) -> None:
    rows = [{"id": r["id"], "answer": copied(r, relevant=True)} for r in own_rows()]
    first = tmp_path / "first.jsonl"
    GroundingJudge(questions=world, given=write(tmp_path / "copies.jsonl", rows), out=str(first)).run()
    second = write(tmp_path / "second.jsonl", [
        {**one.model_dump(mode="json"), "system": "copies"} for one in judged["relevant"]
    ])  # fmt: skip
    told = Verdicts(judged=(first, second), score=("uF",), by=("question_tag",), resamples=20).run()
    assert set(told.report) == {"first copies", "second copies"}
    answerable = Counter(row["tags"]["question_tag"] for row in own_rows() if not row["deflection"])
    assert {place: one.n for place, one in told.panels[0].lines["first copies"]} == answerable
    pooled = Verdicts(judged=(first, second), pool=True, resamples=20).run()
    assert (pooled.report["copies"]["uF"].value, pooled.report["copies"]["uF"].n) == (1.0, 26)
    assert pooled.signature.count("words|share:1") == pooled.signature.count("words|share:0.6") == 1


def test_what_scores_run_over_changes_them(judged: dict[str, list[GroundingItem]]) -> None:
    items = judged["declines"]
    rules = {over: replace(QUICK, rules=(f"over={over}",)) for over in ("all", "answerable")}
    told = {over: grounding_scores(items, forming)["uF"] for over, forming in rules.items()}
    assert told["all"].n - told["answerable"].n == sum(one.expected_deflection for one in items)
    assert grounding_scores(items, replace(QUICK, rules=("deflecting=left-out",)))["uF"].n == 0
