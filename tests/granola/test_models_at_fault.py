"""An unforeseen error in one row of what a model is asked: the row is told, and all others are as ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from abstraction.faults import FAULT
from abstraction.files.records import RejectedRow
from abstraction.phrasing.phraser import ModelPhraser
from abstraction.pipeline import LadderMaker
from granola.decoding.answer_prompts import read_prompts
from granola.decoding.methods import Answering
from granola.decoding.model_answers import Answered, Answerer, AnswerSettings, Unanswered
from granola.decoding.samples import SampleRow
from granola.matching.batch_matching import MatchCase, match_each
from granola.matching.model_judge import JudgeMatcher
from granola.matching.verdict import Verdict
from tests.abstraction.scripted_model import Scripted, block
from tests.granola.rows_fed import WORLD
from tests.worlds import row, store_of


def breaks(*_: object, **__: object) -> Any:
    """Raise what nobody foresaw."""
    raise ZeroDivisionError("half way")


def broken(real: Callable[..., Any], is_bad: Callable[..., bool]) -> Callable[..., Any]:
    """The function, which raises for what is bad."""
    return lambda *args, **kwargs: (breaks if is_bad(*args, **kwargs) else real)(*args, **kwargs)


@pytest.mark.parametrize("stage", ["_request", "_phrased", "read_ladder"])
def test_phrasing(monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    import abstraction.phrasing.phraser as phrasing

    with store_of(*WORLD[-7:]) as store:
        rows = list(LadderMaker(store).make_all([row("Berlin"), row("Berlin", question="bad?"), row("Berlin")]))
        model = Scripted(lambda request: block("bad" if "bad?" in request.messages[-1].content else "Germany"))
        expected = list(ModelPhraser(model, store).stream(rows))
        if stage == "read_ladder":
            monkeypatch.setattr(phrasing, stage, broken(phrasing.read_ladder, lambda text, _: "bad" in text))
        else:
            real = getattr(ModelPhraser, stage)
            monkeypatch.setattr(ModelPhraser, stage, broken(real, lambda _, row, *__: row.question == "bad?"))
        told: list[RejectedRow] = []
        made = list(ModelPhraser(model, store).stream(rows, on_reject=told.append))
        assert made == [expected[0], expected[2]]
        (only,) = told
        assert only.reason.startswith(FAULT)
        assert "ZeroDivisionError: half way" in only.reason
        with pytest.raises(ZeroDivisionError):
            list(ModelPhraser(model, store).stream(rows))


def test_judging(monkeypatch: pytest.MonkeyPatch) -> None:
    import granola.matching.model_judge as judging

    monkeypatch.setattr(judging, "_slots", broken(judging._slots, lambda item: item.prediction == "bad"))
    judge = JudgeMatcher(model=Scripted(lambda _: "1"))
    levels = (("Berlin",),)
    cases = [MatchCase(prediction=text, levels=levels) for text in ("Berlin", "bad", "Bonn")]
    assert judge.prepare(judging.JudgedItem(prediction=one.prediction, levels=levels) for one in cases) == {}
    found = list(match_each(judge, cases))
    assert [isinstance(one, Verdict) for one in found] == [True, False, True]
    with pytest.raises(ZeroDivisionError):
        judge.match("bad", levels)


@pytest.mark.parametrize("method", [Answering.GREEDY, Answering.DRAG])
def test_answering(monkeypatch: pytest.MonkeyPatch, method: Answering) -> None:
    import granola.decoding.model_answers as asking

    rows = [SampleRow(id=str(n), question=f"Where was {n}?", samples=(), source=f"q:{n}") for n in range(3)]
    model = Scripted(lambda request: "bad" if "Where was 1?" in request.messages[-1].content else "Berlin")

    def answer() -> list[Answered | Unanswered]:
        return list(Answerer(model, AnswerSettings(method=method, samples=2), read_prompts()).answer(rows))

    expected = answer()
    monkeypatch.setattr(asking, "clean_response", broken(asking.clean_response, lambda text, **_: text == "bad"))
    found = answer()
    assert [found[0], found[2]] == [expected[0], expected[2]]
    assert isinstance(found[1], Unanswered)
    told = found[1].rejected()
    assert (told.source, told.id) == ("q:1", "1")
    assert told.reason.startswith(FAULT)
