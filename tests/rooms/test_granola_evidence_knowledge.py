"""`granola.evidence.knowledge`: texts judged with whichever models there are, and the better one chosen."""

from __future__ import annotations

from granola.evidence.knowledge.knowledge_items import ItemPieces, KnowledgeItem, WordIndex
from granola.evidence.knowledge.knowledge_judge import KnowledgeJudge
from granola.evidence.knowledge.knowledge_prompts import read_knowledge_prompts
from granola.evidence.knowledge.knowledge_task import EQUAL, knowledge_quality, somers_d
from tests.knowledge_models import TableEntailment

PASSAGES = ["Ulm lies on the Danube.", "Bread is baked."]
SAYS = "Ulm lies on the Danube."


def test_a_text_is_judged_by_passages() -> None:
    judge = KnowledgeJudge(
        {"entailment": TableEntailment({(SAYS, SAYS): (0.9, 0.1, 0.0)})},
        read_knowledge_prompts(),
        evidence=ItemPieces(sources=(WordIndex(PASSAGES),)),
    )
    right, empty = judge.judge([
        KnowledgeItem(id="1", query="Where does Ulm lie?", knowledge=SAYS),
        KnowledgeItem(id="2", query="Where does Ulm lie?"),
    ])  # fmt: skip
    assert right.scores["factuality"] == 0.9
    assert right.label == "consistent"
    assert empty.scores["non_verified"] == 1.0


def test_one_number_to_choose_by() -> None:
    scores = {"factuality": 1.0, "relevance": 0.5, "coherence_paragraph": 0.5, "informativeness": 0.0}
    assert knowledge_quality(scores, EQUAL) == 0.5


def test_do_people_agree() -> None:
    assert somers_d([0, 1, 2], [0.1, 0.5, 0.7])[0] == 1.0
