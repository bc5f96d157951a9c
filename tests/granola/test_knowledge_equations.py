"""Each equation of Chen et al. 2023 against an example worked out by hand, and what holds of them by construction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.models.text_scorers import Continuation, Entailment, TokenScores
from granola.errors import UsageError
from granola.evidence.evidence_task import EstimateSettings
from granola.evidence.knowledge.knowledge_items import (
    Aggregation,
    AnswerForm,
    ItemPieces,
    JudgeSettings,
    KnowledgeItem,
    VectorIndex,
    WordIndex,
)
from granola.evidence.knowledge.knowledge_judge import (
    KnowledgeJudge,
    RandomTexts,
    aggregate_vectors,
    mean_sentence_coherence,
    most_entailed_vector_and_piece,
    named_entities,
    negated_hallucinated_share,
    unclipped_helpfulness,
)
from granola.evidence.knowledge.knowledge_prompts import read_knowledge_prompts
from granola.evidence.knowledge.knowledge_task import (
    EQUAL,
    PARTS,
    choose_texts,
    knowledge_quality,
    parse_coefficients,
    somers_d,
    somers_d_of_score_pairs,
)
from tests.knowledge_models import TableCoherence, TableContinuations, TableEntailment, TableRelevance

HALF, QUARTER = math.log(0.5), math.log(0.25)
NLI = TableEntailment({
    ("e1", "One."): (0.7, 0.2, 0.1), ("e2", "One."): (0.6, 0.0, 0.4),
    ("e1", "Two."): (0.1, 0.3, 0.6), ("e2", "Two."): (0.3, 0.3, 0.4),
})  # fmt: skip
NAN = math.nan


def test_equation_1_takes_the_evidence_that_entails_most_with_its_whole_vector() -> None:
    (found,) = judge({"entailment": NLI}).judge([item()])
    assert found.vectors == [(Entailment(0.7, 0.2, 0.1), 0), (Entailment(0.3, 0.3, 0.4), 1)]
    vectors = [vector for vector, _ in found.vectors]
    assert aggregate_vectors(vectors, Aggregation.MIN) == Entailment(0.3, 0.3, 0.4)
    assert aggregate_vectors(vectors, Aggregation.MAX) == Entailment(0.7, 0.2, 0.1)
    mean = aggregate_vectors(vectors, Aggregation.MEAN)
    assert (mean.entailed, mean.neutral, mean.refuted) == pytest.approx((0.5, 0.25, 0.25))
    assert found.label == "inconsistent"
    # The premise is the evidence, the hypothesis the sentence.
    assert (NLI.asked[0].premise, NLI.asked[0].hypothesis) == ("e1", "One.")


def test_no_sentence_no_evidence_no_number() -> None:
    unverified, number, none = Entailment(0, 1, 0), Entailment(0.2, 0.5, 0.3), Entailment(NAN, NAN, NAN)
    assert aggregate_vectors([], Aggregation.MIN) == unverified
    assert most_entailed_vector_and_piece([]) == most_entailed_vector_and_piece([none]) == (unverified, None)
    assert most_entailed_vector_and_piece([none, number]) == (number, 1)


vectors = st.tuples(*[st.floats(0.01, 1)] * 3).map(lambda t: Entailment(*(one / sum(t) for one in t)))


@given(st.lists(vectors, max_size=6), st.sampled_from(list(Aggregation)))
def test_the_three_shares_add_up_to_one(some: list[Entailment], how: Aggregation) -> None:
    found = aggregate_vectors(some, how)
    assert found.entailed + found.neutral + found.refuted == pytest.approx(1)


def test_equation_3_is_the_mean_of_inverse_perplexities() -> None:
    # 1/PPL: exp(mean(ln 1/2, ln 1/2)) = 1/2 and exp(mean(ln 1/4)) = 1/4
    assert mean_sentence_coherence([TokenScores((HALF, HALF)), TokenScores((QUARTER,))]) == pytest.approx(0.375)
    assert mean_sentence_coherence([]) == 0
    assert mean_sentence_coherence([TokenScores((HALF,)), TokenScores(())]) == pytest.approx(0.25)


def test_equation_6_compares_with_the_mean_over_random_texts() -> None:
    # L = 1; random 2 and 4, mean 3: 1 - 1/3. The second printed form would divide by their sum: 1 - 1/6.
    found = unclipped_helpfulness(TokenScores((-1.0,)), [TokenScores((-2.0,)), TokenScores((-4.0,))])
    assert found == pytest.approx(2 / 3)
    assert unclipped_helpfulness(TokenScores((-3.0,)), [TokenScores((-2.0,))]) == pytest.approx(-0.5)


@given(st.floats(0.001, 50), st.integers(1, 9))
def test_what_holds_of_helpfulness_by_construction(loss: float, u: int) -> None:
    same = TokenScores((-loss,))
    assert unclipped_helpfulness(same, [same]) == pytest.approx(0, abs=1e-12)
    assert unclipped_helpfulness(TokenScores((0.0,)), [same]) == 1
    own = TokenScores((-loss / 3,))
    assert unclipped_helpfulness(own, [same] * u) == pytest.approx(unclipped_helpfulness(own, [same]))


def item(**more: object) -> KnowledgeItem:
    return KnowledgeItem(**{"id": "1", "query": "Who?", "knowledge": "One. Two.", "evidence": ("e1", "e2"), **more})  # type: ignore[arg-type]


def items_of(*texts: str, id_: str = "other") -> list[KnowledgeItem]:
    return [KnowledgeItem(id=f"{id_}{n}", query="q", knowledge=text) for n, text in enumerate(texts)]


def test_random_texts_are_never_of_the_same_item_and_do_not_depend_on_order() -> None:
    own = item(knowledge="a")
    candidates = [
        own.model_copy(update={"system": "s", "knowledge": "own too"}),
        own.model_copy(update={"candidate": 1, "knowledge": "mine"}),
    ]
    pool = [own, *candidates, *items_of("b", "c", "d", "a", "e")]
    drawn = RandomTexts(pool).draw(own, 3)
    assert len(set(drawn)) == 3
    assert set(drawn) <= {"b", "c", "d", "e"}
    assert drawn == RandomTexts(pool[::-1]).draw(own, 3)
    assert RandomTexts([own, *items_of("b")]).draw(own, 5) == ["b"]
    assert RandomTexts([own, *candidates]).draw(own, 5) == []


def test_topic_and_demonstrations_stand_before_an_item_but_never_itself() -> None:
    """As in the authors' code: examples before the item, with the right knowledge, or with the gold answer."""
    example = KnowledgeItem(id="e", query="What?", topic="T", knowledge="E.", gold=("it",))
    asked: list[Continuation] = []

    class Noting(TableContinuations):
        def scores(self, given: Sequence[Continuation], /) -> list[TokenScores]:
            asked.extend(given)
            return [TokenScores((HALF,)) for _ in given]

    own = item(topic="Ann", gold=("me",))
    one = KnowledgeJudge(
        {"causal": Noting({}), "reader": Noting({})}, read_knowledge_prompts(), pool=items_of("x"),
        examples=[example, own],
    )  # fmt: skip
    one.judge([own])
    prompts = {ask.prompt for ask in asked}
    assert "T\nWhat? E.\n\nAnn\nWho?" in prompts
    answered = "Topic: T\nE.\nQuestion: What?\nAnswer: it\n\nTopic: Ann\n{}\nQuestion: Who?\nAnswer:"
    assert {answered.format("One. Two."), answered.format("x")} <= prompts
    assert one.identity["examples"] == ["e", "1"]


def test_a_perplexity_is_cut_where_that_is_asked_for() -> None:
    """The authors' values of sentence coherence: no perplexity counts as more than 100."""
    scores = [TokenScores((math.log(1 / 500),)), TokenScores((HALF,))]
    assert mean_sentence_coherence(scores) == pytest.approx((1 / 500 + 1 / 2) / 2)
    assert mean_sentence_coherence(scores, perplexity_cut=100) == pytest.approx((1 / 100 + 1 / 2) / 2)


def judge(models: dict[str, Any], *, pool: tuple[str, ...] = (), answered: bool = True, **settings: object):  # type: ignore[no-untyped-def]
    return KnowledgeJudge(
        models,
        read_knowledge_prompts(),
        JudgeSettings(**settings),  # type: ignore[arg-type]
        pool=items_of(*pool),
        answered=answered,
    )


def test_all_scores_of_an_item_by_tables() -> None:
    causal = TableContinuations({
        ("", "One."): [HALF], ("", "Two."): [QUARTER], ("Who?", " One. Two."): [HALF, QUARTER, HALF, QUARTER],
        ("One. Two.\nQuestion: Who?\nAnswer:", " me"): [-1.0], ("x\nQuestion: Who?\nAnswer:", " me"): [-4.0],
    })  # fmt: skip
    models = {
        "entailment": TableEntailment({**NLI.table, ("Who? me", "Who? you"): (0.2, 0.3, 0.5)}),
        "relevance": TableRelevance({("Who?", "One. Two."): 0.9}),
        "causal": causal, "reader": causal, "coherence": TableCoherence({("One.", "Two."): 0.8}),
    }  # fmt: skip
    (found,) = judge(models, pool=("x", "One. Two.")).judge([item(gold=("me",), answer="you")])
    assert found.scores == pytest.approx({
        "factuality": 0.3, "non_verified": 0.3, "refuted": 0.4, "relevance": 0.9, "coherence_sentence": 0.375,
        "coherence_paragraph": 0.8, "coherence_greater": 0.8, "helpfulness": 0.75, "helpfulness_raw": 0.75,
        "informativeness": 1 - math.sqrt(0.125), "validity": 0.2,
    })  # fmt: skip
    assert found.label == "inconsistent"
    assert found.notes == []


def test_equation_8_takes_the_best_evidence_for_an_open_answer() -> None:
    model = TableEntailment({("e1", "yes"): (0.4, 0.6, 0.0), ("e2", "yes"): (0.5, 0.5, 0.0)})
    (found,) = judge({"entailment": model}, validity=AnswerForm.OPEN).judge([item(answer="yes", knowledge="")])
    assert found.scores["validity"] == 0.5


def test_the_best_of_several_gold_answers_counts_and_a_lacking_answer_is_the_worst() -> None:
    model = TableEntailment({("Who? b", "Who? y"): (0.9, 0.1, 0.0)})
    own = judge({"entailment": model})
    one, lacking, none = own.judge([item(answer="y", gold=("a", "b")), item(answer="", gold=("a",)), item(answer="y")])
    assert one.scores["validity"] == 0.9
    assert lacking.scores["validity"] == 0.0
    assert none.scores["validity"] is None


def test_an_empty_text_has_every_score() -> None:
    models = {
        "entailment": NLI, "relevance": TableRelevance({}), "causal": TableContinuations({}),
        "coherence": TableCoherence({}),
    }  # fmt: skip
    (found,) = judge(models, answered=False).judge([item(knowledge=" ")])
    assert found.scores == {
        "factuality": 0.0, "non_verified": 1.0, "refuted": 0.0, "relevance": 0.0, "coherence_sentence": 0.0,
        "coherence_paragraph": 0.0, "coherence_greater": 0.0, "informativeness": 0.0,
    }  # fmt: skip
    assert found.notes == ["the knowledge is empty"]


def test_a_score_that_is_no_number_counts_as_the_worst_and_is_told() -> None:
    models = {"relevance": TableRelevance({("Who?", "One. Two."): NAN})}
    (found,) = judge(models).judge([item()])
    assert found.scores["relevance"] == 0.0
    assert found.notes == ["relevance: the model gave no number"]


def rows_of(*qualities: float) -> list[dict[str, Any]]:
    return [
        {"id": str(n), "candidate": n, "scores": dict.fromkeys(PARTS, quality)} for n, quality in enumerate(qualities)
    ]  # fmt: skip


def test_equation_9_and_the_choices_by_it() -> None:
    scores = dict(zip(PARTS, (0.4, 0.8, 0.2, 0.6), strict=True))
    assert knowledge_quality({**scores, "coherence_sentence": 9}, EQUAL) == pytest.approx(0.5)
    assert knowledge_quality(scores, parse_coefficients("1,0,0,2")) == pytest.approx(1.6)
    for wrong in ("1,2", "a,b,c,d", "1,2,3,nan"):
        with pytest.raises(UsageError, match="four numbers"):
            parse_coefficients(wrong)
    with pytest.raises(UsageError, match="no score relevance"):
        knowledge_quality({**scores, "relevance": None}, EQUAL)
    best = choose_texts(rows_of(1, 3, 2, 3), "3", EQUAL, EstimateSettings(resamples=20))
    assert [row["id"] for row in best.rows] == ["1", "3", "2"]
    assert best.gains["factuality"].value == pytest.approx(8 / 3 - 9 / 4)
    assert len(choose_texts(rows_of(1, 3, 2, 3), "2/3", EQUAL, EstimateSettings(resamples=20)).rows) == 2
    candidates = [{**row, "id": "same"} for row in rows_of(1, 3, 3)]
    each = choose_texts(candidates, "each", EQUAL, EstimateSettings(resamples=20))
    assert [row["candidate"] for row in each.rows] == [1]
    with pytest.raises(UsageError, match="expected each, a number"):
        choose_texts(candidates, "all", EQUAL, EstimateSettings())


def test_scores_are_held_against_people_or_against_the_extrinsic() -> None:
    """Ratings 0 1 2 of factuality, each of two people's mean, against scores in the same order: D is 1."""
    texts = [{"id": str(n), "system": "s", "scores": {"factuality": n / 2, "validity": n / 4}} for n in range(3)]
    people = [{"id": str(n), "system": "s", "judge": f"person:{p}", "scores": {"rated factuality": float(n)}}
              for n in range(3) for p in "ab"]  # fmt: skip
    told = [(one.system, one.independent, one.dependent, one.d) for one in somers_d_of_score_pairs([*texts, *people])]
    assert told == [("all", "factuality", "factuality", 1.0), ("s", "factuality", "factuality", 1.0)]
    (extrinsic, _) = somers_d_of_score_pairs(texts)
    assert (extrinsic.independent, extrinsic.dependent) == ("validity", "factuality")


def test_somers_d_of_a_rating_by_hand() -> None:
    """Ratings 0 0 1 2, metric 1 2 2 3: of 5 pairs with different ratings 4 are alike and 1 is tied: 4/5."""
    assert somers_d([0, 0, 1, 2], [1, 2, 2, 3])[0] == pytest.approx(0.8)
    assert somers_d([0, 0, 0, 1], [1, 2, 3, 4])[0] == 1.0
    assert somers_d([1, 2, 3, 4], [0, 0, 0, 1])[0] == pytest.approx(0.5)
    assert math.isnan(somers_d([1, 1], [1, 2])[0])


def test_named_entities_and_baselines() -> None:
    assert named_entities(["The river Danube passes Ulm in 1944.", "It is New York City."]) == {
        "danube", "ulm", "1944", "new york city",
    }  # fmt: skip
    assert negated_hallucinated_share(["He went from Ulm to New York."], "Ulm is a city") == -0.5
    assert negated_hallucinated_share([], "Ulm") == 0.0


class _Vectors:
    identity = {"kind": "letters"}  # noqa: RUF012

    def scores(self, texts, /):  # type: ignore[no-untyped-def]
        return [[float(one.text.count("a")), float(one.text.count("b"))] for one in texts]


def test_evidence_by_words_by_vectors_and_of_the_item() -> None:
    passages = ["The Danube flows through Ulm.", "Bread is baked.", "Ulm is a city in Germany."]
    words = WordIndex(passages)
    first, none = words.find_pieces(["Which city is Ulm?", "zzz"], 5)
    assert first[0] == "Ulm is a city in Germany."
    assert len(first) == 2
    assert none == []
    near = VectorIndex(["aab", "bbb"], _Vectors())
    assert near.find_pieces(["a", "b"], 1) == [["aab"], ["bbb"]]
    own = ItemPieces(reference=True)
    assert own.find_pieces(item(reference="r"), ["s"], 2) == [["r", "e1"]]
    joined = ItemPieces(sources=(near,))
    assert joined.find_pieces(item(), ["a"], 9) == [["e1", "e2", "aab", "bbb"]]


def test_scores_depend_on_neither_order_nor_company() -> None:
    models = {"entailment": NLI}
    items = [item(id="1"), item(id="2", knowledge="Two."), item(id="3", knowledge="")]
    own = judge(models)
    together = {one.item.id: one.scores for one in own.judge(items)}
    assert {one.item.id: one.scores for each in items[::-1] for one in own.judge([each])} == together
