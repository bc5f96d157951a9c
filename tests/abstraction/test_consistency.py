"""Whether descriptions fit, by a model's yes and no."""

from __future__ import annotations

from dataclasses import replace

import pytest

from abstraction.files.rows import TieredRow
from abstraction.maker.pipeline import LadderMaker
from abstraction.models.chat_model import Failure, Request
from abstraction.phrasing.phraser import ConsistencyScorer, share_of_no_votes
from tests.abstraction.scripted_model import Scripted
from tests.worlds import row, store_of


@pytest.mark.parametrize(
    ("replies", "score"),
    [
        (["yes", "No, it is not.", "yes.", "YES"], 0.25),
        (["no"] * 3, 1.0),
        (["yes", "perhaps"], 0.0),
        (["yes", "perhaps", "who knows"], None),
        (["<think>no?</think> yes"], 0.0),
        ([], None),
    ],
)
def test_the_score_is_the_share_of_no(replies: list[str], score: float | None) -> None:
    assert share_of_no_votes(replies) == score


def test_scores_of_rows() -> None:
    def answer(request: Request) -> str | None:
        said = request.messages[-1].content
        return None if "Bob" in said else "no" if "fish" in said else "yes"

    def tiered(name: str, **extra: str) -> TieredRow:
        asked = row(name, question=f"Where was {name} born?", extra=extra)
        return replace(LadderMaker(store_of()).make(asked), id=name)

    model = Scripted(answer)
    rows = [
        tiered("Ada", answer_entity_description="city"),
        tiered("Eve", question_entity_description="kind of fish"),
        tiered("Bob", answer_entity_description="town"),
        tiered("Joe"),
    ]
    scorer = ConsistencyScorer(model, samples=4)
    scores = scorer(rows)
    assert [isinstance(score, Failure) for score in scores] == [False, False, True, False]
    assert [score for score in scores if not isinstance(score, Failure)] == [0.0, 1.0, None]
    assert [request.sampling.n for request in model.asked] == [4, 4, 4]
    assert {request.sampling.temperature for request in model.asked} == {1.0}
    assert ConsistencyScorer(model, samples=5).fingerprint != scorer.fingerprint
