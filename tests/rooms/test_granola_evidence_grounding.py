"""Answers from passages: one that is grounded, one that stands on an irrelevant passage, one that deflects."""

from __future__ import annotations

from granola.evidence.attribution.evaluators import WordEvaluator
from granola.evidence.grounding.answer_judging import AnswerJudge, EvaluatorSentenceJudge
from granola.evidence.grounding.answer_text import cited_passages, deflecting_rule
from granola.evidence.grounding.grounded_rows import GroundedSample, GroundingPassage, Relevance

BRIDGE = GroundedSample(
    id="1",
    question="When did the bridge open?",
    passages=(
        GroundingPassage(id="1", text="The new bridge opened in 1999.", relevant=True),
        GroundingPassage(id="2", text="The harbour tunnel closed in 1932.", relevant=False),
    ),
    cited=("1",),
)


def test_an_answer_may_be_factual_on_a_passage_that_is_irrelevant() -> None:
    words = EvaluatorSentenceJudge(evaluator=WordEvaluator(), apart=True)
    good, noise = AnswerJudge(sentences=words).judge(
        [(BRIDGE, "The bridge opened in 1999 [1]."), (BRIDGE, "The harbour tunnel closed in 1932 [2].")]
    )
    assert (good.is_factual(), good.is_factual(Relevance.STRICT)) == (True, True)
    assert (noise.is_factual(), noise.is_factual(Relevance.STRICT)) == (True, False)
    assert [one.citations.right for one in (good, noise) if one.citations is not None] == [1, 0]


def test_citations_and_deflections() -> None:
    assert cited_passages("It opened [1][2-3].", ["1", "2", "3"])[0] == ("1", "2", "3")
    assert deflecting_rule("The passages do not provide enough information.") is not None
