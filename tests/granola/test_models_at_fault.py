"""A model whose reply is no text at one row: that row is told, and all others are as ever."""

from __future__ import annotations

from typing import Any

import pytest

from abstraction.base.faults import FAULT, RejectedRow
from abstraction.maker.pipeline import LadderMaker
from abstraction.phrasing.phraser import ModelPhraser
from granola.decoding.decision import Answering
from granola.decoding.methods import read_prompts
from granola.decoding.model_answers import Answerer, AnswerSettings
from granola.decoding.samples import SampleRow
from tests.abstraction.scripted_model import Scripted, block
from tests.granola.rows_fed import WORLD
from tests.worlds import row, store_of

NO_TEXT: Any = 7


def replies(good: str) -> Scripted:
    """A model that replies so, and with what is no text where "bad" stands in the question."""
    return Scripted(lambda request: NO_TEXT if "bad?" in request.messages[-1].content else good)


def test_phrasing() -> None:
    with store_of(*WORLD[-7:]) as store:
        rows = list(LadderMaker(store).make_all([row("Berlin"), row("Berlin", question="bad?"), row("Berlin")]))
        told: list[RejectedRow] = []
        made = list(ModelPhraser(replies(block("Germany")), store).stream(rows, on_reject=told.append))
        assert [one.question for one in made] == [rows[0].question, rows[2].question]
        assert [one.reason.startswith(FAULT) for one in told] == [True]
        with pytest.raises((TypeError, AttributeError)):
            list(ModelPhraser(replies(block("Germany")), store).stream(rows))


@pytest.mark.parametrize("method", [Answering.GREEDY, Answering.DRAG])
def test_answering(method: Answering) -> None:
    texts = ("Where was 0?", "Where was bad?", "Where was 2?")
    rows = [SampleRow(id=str(n), question=text, samples=(), source=f"q:{n}") for n, text in enumerate(texts)]
    settings = AnswerSettings(method=method, samples=2)
    found = list(Answerer(replies("Berlin"), settings, read_prompts()).answer(rows))
    assert [isinstance(one, RejectedRow) for one in found] == [False, True, False]
    assert isinstance(found[1], RejectedRow)
    told = found[1]
    assert (told.source, told.id) == ("q:1", "1")
    assert told.reason.startswith(FAULT)
