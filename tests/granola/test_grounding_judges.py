"""Judges of answers from passages: what they do not say, what they took, whose replay they are; and figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from abstraction.models.chat_model import Request
from granola.commands import GroundingJudge, Verdicts
from granola.errors import UsageError
from granola.evidence.evidence_task import EstimateSettings
from granola.evidence.grounding.answer_judging import AnswerJudge
from granola.evidence.grounding.grounded_rows import GroundedSample, GroundingPassage
from granola.evidence.grounding.grounding_task import (
    GroundingItem,
    grounding_scores,
    item_score,
)
from granola.scoring.statistics import share_estimate
from tests.abstraction.scripted_model import Scripted
from tests.chat_server import serving
from tests.grounding_world import word_judge


def sample(**more: Any) -> GroundedSample:
    passage = GroundingPassage(id="1", text="The bridge opened in 1999.", relevant=True)
    return GroundedSample(**{"id": "a", "question": "When?", "passages": (passage,), "reference": "In 1999.", **more})


def test_a_judge_that_does_not_say_whether_an_answer_deflects_leaves_it_out() -> None:
    def reply(request: Request) -> str | None:
        return None if request.id == "b deflection" else "deflects" if request.id == "a deflection" else "no issues"

    model = Scripted(reply)
    judge = AnswerJudge(sentences=word_judge(), chat=model, asks_deflection=True)
    answers = [(sample(), "It opened in 1999."), (sample(id="b"), "The passages do not say."), (sample(id="c"), "")]
    said, silent, empty = judge.judge(answers)
    assert (said.deflects, silent.deflects, empty.deflects) == ("judge", None, "empty")  # never the rules' verdict
    assert "deflection" in silent.unjudged
    items = [said, silent, empty]
    report = grounding_scores(items, EstimateSettings(resamples=10))
    assert (report["deflection FP"].value, report["deflection FP"].n) == (1.0, 2)
    left_out = EstimateSettings(rules=("deflecting=left-out",))
    assert item_score(silent, "E", left_out) is None
    assert GroundingItem.model_validate(orjson.loads(orjson.dumps(silent.model_dump(mode="json")))) == silent


def test_an_answer_without_reference_says_so() -> None:
    judge = AnswerJudge(sentences=word_judge(), chat=Scripted(lambda _: "no issues"))
    (one,) = judge.judge([(sample(reference=""), "It opened in 1999.")])
    assert (one.eligibility, one.unjudged) == (None, {"eligibility": "no reference"})


def test_shares_have_wilsons_interval() -> None:
    both = share_estimate([1.0, None, 1.0])
    assert (both.value, both.n, both.interval.high) == (1.0, 2, 1.0)
    assert both.interval.low == pytest.approx(0.3424, abs=1e-4)  # Wilson 1927: 1 / (1 + 1.96^2 / 2)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    rows = [
        {"id": f"q{n}", "question": "When did the bridge open?", "reference": "In 1999.",
         "passages": [{"text": "The bridge opened in 1999.", "relevant": True}]}
        for n in range(3)
    ]  # fmt: skip
    path = tmp_path / "questions.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(
        b"\n".join(orjson.dumps({"id": f"q{n}", "answer": "The bridge opened in 1999 [1]."}) for n in range(3))
    )
    return path


@pytest.fixture
def server() -> Iterator[str]:
    with serving() as (address, _):
        yield address


def test_a_replay_is_the_judge_whose_calls_it_repeats(
    questions: Path, answers: Path, server: str, tmp_path: Path
) -> None:
    """To the signature, and no second one where judges are pooled."""
    first, replayed = tmp_path / "j.jsonl", tmp_path / "replayed.jsonl"
    GroundingJudge(questions=questions, given=answers, model=f"openai:{server}#m", out=str(first)).run()
    log = tmp_path / "j.jsonl.calls.jsonl"
    GroundingJudge(questions=questions, given=answers, model=f"replay:{log}", out=str(replayed)).run()
    assert replayed.read_bytes() == first.read_bytes()
    with pytest.raises(UsageError, match="counts once"):
        Verdicts(judged=(first, replayed), pool=True).run()


def test_what_the_runs_say_of_what_they_lack(
    questions: Path, answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    GroundingJudge(questions=questions, given=answers, language="fi", out=str(tmp_path / "j.jsonl")).execute()
    noted = capsys.readouterr().err
    assert "no phrases" in noted  # Finnish has no rules of deflection
    scored = Verdicts(judged=(tmp_path / "j.jsonl",), rule=("over=all",), resamples=20).run()
    assert "|citations over:answerable|strict:answers,related,relevant without second label|" in scored.signature
