"""Computes the six scores of knowledge texts with the available models; a score without its model is left out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from typing import Any

from abstraction.models.text_scorers import (
    CoherenceModel,
    Continuation,
    ContinuationModel,
    EntailmentModel,
    QueryPassage,
    RelevanceModel,
    TextPair,
)
from abstraction.phrasing.prompt_files import Prompt, hash_of
from abstraction.text.language.phrases import sentences as split_sentences
from granola.evidence.evidence_task import identity_name
from granola.evidence.knowledge.evidence_pieces import PIECES, ItemPieces
from granola.evidence.knowledge.knowledge_items import KnowledgeItem
from granola.evidence.knowledge.knowledge_metrics import (
    UNVERIFIED,
    Aggregation,
    JudgedSentence,
    RandomTexts,
    aggregate_vectors,
    hallucinated_entities,
    helpfulness,
    informativeness,
    is_number,
    judge_sentences,
    likeliest_label,
    scores_per_item,
    sentence_coherence,
)
from granola.evidence.knowledge.knowledge_prompts import GIVEN_KNOWLEDGE, GIVEN_QUERY, prompt_as_text
from granola.matching.squad import best_f1, normalise, token_f1


class AnswerForm(StrEnum):
    """How validity is judged: short answers (span) by the gold answer, open ones by evidence."""

    SPAN = "span"
    OPEN = "open"


SEED, LANGUAGE = 0, "en"  # of drawing random texts, and of splitting a text into sentences
PARTS_OF_MODELS = ("entailment", "relevance", "causal", "reader", "coherence")  # the fields of JudgeModels


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeModels:
    """The models; `causal` scores coherence of sentences and informativeness, `reader` helpfulness."""

    entailment: EntailmentModel | None = None
    relevance: RelevanceModel | None = None
    causal: ContinuationModel | None = None
    reader: ContinuationModel | None = None
    coherence: CoherenceModel | None = None

    @property
    def identities(self) -> dict[str, Any]:
        """The identities of the models that are given, by part."""
        return {name: dict(one.identity) for name in PARTS_OF_MODELS if (one := getattr(self, name)) is not None}


@dataclass(kw_only=True, slots=True)
class ScoredKnowledge:
    """An item with its scores by name; None where a score is undefined for it, such as helpfulness without a gold
    answer.

    `sentences` are those of its text, `judged` the same with their vectors where factuality is scored. `notes` explain
    scores: an empty text, a model without a number.
    """

    item: KnowledgeItem
    sentences: Sequence[str] = ()
    scores: dict[str, float | None] = field(default_factory=dict)
    label: str | None = None
    judged: Sequence[JudgedSentence] = ()
    notes: list[str] = field(default_factory=list)

    def to_json(self, judge: str) -> dict[str, Any]:
        """The item's own fields, the scores, the name of the judge, and each sentence with its vector."""
        record = {**self.item.to_json(), "scores": self.scores, "judge": judge}
        if self.label is not None:
            record["factuality_label"] = self.label
            record["sentences"] = [
                {"text": one.text, "entailed": one.vector.entailed, "neutral": one.vector.neutral,
                 "refuted": one.vector.refuted, "piece": one.piece} for one in self.judged
            ]  # fmt: skip
        return record | ({"notes": self.notes} if self.notes else {})


@dataclass
class KnowledgeJudge:
    """Judges items with models and evidence; a score depends only on its item, the pool and the settings.

    `pool` are the items from whose texts random ones are drawn, usually all items. `examples` are put before each item
    where a model continues a text: with the right knowledge for informativeness, with the gold answer for helpfulness;
    an item is no example for itself. `answered`: whether to judge answers, a missing one as the worst; False where no
    item has an answer. `pieces`: of evidence per sentence. `randoms`: u in the paper, the number of random texts.
    `baselines`: whether to score those too. `perplexity_cut`: see `sentence_coherence`.
    """

    models: JudgeModels
    prompts: Mapping[str, Prompt]
    _: KW_ONLY
    evidence: ItemPieces = field(default_factory=ItemPieces)
    pool: Sequence[KnowledgeItem] = ()
    examples: Sequence[KnowledgeItem] = ()
    answered: bool = True
    aggregation: Aggregation = Aggregation.MIN
    pieces: int = PIECES
    randoms: int = 4
    validity: AnswerForm = AnswerForm.SPAN
    baselines: bool = False
    perplexity_cut: float | None = None

    def __post_init__(self) -> None:
        self.random_texts = RandomTexts(self.pool, seed=SEED)

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that scores depend on besides the items."""
        return {
            "models": self.models.identities,
            "evidence": dict(self.evidence.identity),
            "prompts": hash_of(self.prompts, GIVEN_QUERY, GIVEN_KNOWLEDGE),
            "aggregation": str(self.aggregation), "pieces": self.pieces, "randoms": self.randoms,
            "validity": str(self.validity), "seed": SEED, "language": LANGUAGE,
            **({} if self.perplexity_cut is None else {"perplexity_cut": self.perplexity_cut}),
            **({"examples": [item.id for item in self.examples]} if self.examples else {}),
        }  # fmt: skip

    @property
    def name(self) -> str:
        """The name of the judge in rows: a hash of its identity."""
        return identity_name({"kind": "conner", **self.identity})

    def judge(self, items: Sequence[KnowledgeItem]) -> list[ScoredKnowledge]:
        """The items with their scores, in order. Raises ModelError where a model cannot be used."""
        # All scores of one model are computed together, to fill its batches.
        work = [
            ScoredKnowledge(
                item=one, sentences=split_sentences(one.knowledge, LANGUAGE),
                notes=[] if one.knowledge.strip() else ["the knowledge is empty"],
            )
            for one in items
        ]  # fmt: skip
        self._add_factuality_scores(work)
        # An empty text is not shown to the model: it is irrelevant.
        asked = [[QueryPassage(one.item.query, one.item.knowledge)] * bool(one.item.knowledge.strip()) for one in work]
        _set_scores("relevance", work, self.models.relevance, asked)
        self._add_coherence_scores(work)
        self._add_informativeness_scores(work)
        self._add_helpfulness_scores(work)
        self._add_validity_scores(work)
        if self.baselines:
            self._add_baseline_scores(work)
        return work

    def _add_factuality_scores(self, work: Sequence[ScoredKnowledge]) -> None:
        model = self.models.entailment
        if model is None:
            return
        pieces = [self.evidence.pieces(task.item, task.sentences, self.pieces) for task in work]
        texts = [text for task in work for text in task.sentences]
        whole = iter(judge_sentences(texts, [own for found in pieces for own in found], model))
        for task in work:
            task.judged = [next(whole) for _ in task.sentences]
            if lacking := sum(sentence.piece is None for sentence in task.judged):
                task.notes.append(f"{lacking} of {len(task.judged)} sentences without evidence")
            vector = aggregate_vectors([sentence.vector for sentence in task.judged], self.aggregation)
            task.label = likeliest_label(vector)
            task.scores |= {"factuality": vector.entailed, "non_verified": vector.neutral, "refuted": vector.refuted}

    def _add_coherence_scores(self, work: Sequence[ScoredKnowledge]) -> None:
        if self.models.causal is not None:
            asked = [[Continuation("", text) for text in task.sentences] for task in work]
            for task, scores in zip(work, scores_per_item(self.models.causal, asked), strict=True):
                if any(math.isnan(each.mean) for each in scores):
                    task.notes.append("coherence_sentence: a sentence without tokens or numbers counts 0")
                task.scores["coherence_sentence"] = sentence_coherence(scores, perplexity_cut=self.perplexity_cut)
        paragraphs = [[task.sentences] * bool(task.sentences) for task in work]
        _set_scores("coherence_paragraph", work, self.models.coherence, paragraphs)
        for task in work:
            both = [task.scores.get("coherence_sentence"), task.scores.get("coherence_paragraph")]
            if None not in both:
                task.scores["coherence_greater"] = max(one or 0.0 for one in both)

    def _add_informativeness_scores(self, work: Sequence[ScoredKnowledge]) -> None:
        if self.models.causal is None:
            return
        prompt = self.prompts[GIVEN_QUERY.name]
        shown = [(one, one.reference or one.knowledge) for one in self.examples]
        asked = []
        for task in work:
            text = prompt_as_text(prompt, _slot_values(task.item), _demonstrations(task.item, shown))
            # The space belongs to the first token of the continuation.
            asked.append([Continuation(text, f" {task.item.knowledge}" if task.sentences else "")])
        for task, (scores,) in zip(work, scores_per_item(self.models.causal, asked), strict=True):
            if task.sentences and math.isnan(scores.mean):
                task.notes.append("informativeness: the model gave no number")
            task.scores["informativeness"] = informativeness(scores)

    def _add_helpfulness_scores(self, work: Sequence[ScoredKnowledge]) -> None:
        if self.models.reader is None:
            return
        asked = [self._gold_continuations(task.item) for task in work]
        for task, scores in zip(work, scores_per_item(self.models.reader, asked), strict=True):
            if not scores:
                task.scores |= {"helpfulness": None, "helpfulness_raw": None}
                task.notes.append("helpfulness: no gold answer")
                continue
            gain = helpfulness(scores[0], scores[1:])
            if gain is None:
                task.notes.append("helpfulness: no other text to compare with, or no number")
            task.scores |= {"helpfulness": max(0.0, gain or 0.0), "helpfulness_raw": gain}

    def _gold_continuations(self, item: KnowledgeItem) -> list[Continuation]:
        """The gold answer as continuation of the item's own text, then of random ones; [] without a gold answer."""
        if not item.gold:
            return []
        prompt = self.prompts[GIVEN_KNOWLEDGE.name]
        before = _demonstrations(item, [(one, next(iter(one.gold), "")) for one in self.examples])
        texts = [item.knowledge, *self.random_texts.draw(item, self.randoms)]
        return [
            Continuation(prompt_as_text(prompt, _slot_values(item, text), before), f" {item.gold[0]}") for text in texts
        ]

    def _add_validity_scores(self, work: Sequence[ScoredKnowledge]) -> None:
        if self.models.entailment is None or not self.answered:
            return
        asked = [self._answer_pairs(task.item) for task in work]
        for task, vectors in zip(work, scores_per_item(self.models.entailment, asked), strict=True):
            shares = [vector.entailed for vector in vectors if is_number(vector)]
            if self.validity is AnswerForm.SPAN and not task.item.gold:
                task.scores["validity"] = None
                task.notes.append("validity: no gold answer")
                continue
            if not shares:
                task.notes.append("validity: no answer, no evidence or no number counts 0")
            task.scores["validity"] = max(shares, default=0.0)

    def _answer_pairs(self, item: KnowledgeItem) -> list[TextPair]:
        """The premise and hypothesis pairs of validity: question and gold answer entail question and answer (Chen et
        al. 2023, equation 7), or a piece of evidence entails the answer (equation 8).
        """
        if not item.answer.strip():
            return []
        if self.validity is AnswerForm.SPAN:
            return [TextPair(f"{item.query} {gold}", f"{item.query} {item.answer}") for gold in item.gold]
        (pieces,) = self.evidence.pieces(item, [item.answer], self.pieces)
        return [TextPair(piece, item.answer) for piece in pieces]

    def _add_baseline_scores(self, work: Sequence[ScoredKnowledge]) -> None:
        for task in work:
            item = task.item
            if item.reference.strip():
                task.scores["he_negated"] = hallucinated_entities(task.sentences, item.reference)
                task.scores["knowledge_f1"] = token_f1(item.knowledge, item.reference)
            if item.gold and self.answered:
                task.scores["answer_em"] = float(normalise(item.answer) in map(normalise, item.gold))
                task.scores["answer_f1"] = best_f1(item.answer, item.gold)
        if self.models.entailment is None:
            return
        there = [task for task in work if task.item.reference.strip()]
        pairs = [
            [TextPair(task.item.reference, text) for text in [task.item.knowledge, *task.sentences] if text.strip()]
            for task in there
        ]
        for task, vectors in zip(there, scores_per_item(self.models.entailment, pairs), strict=True):
            # A pair without numbers counts as not verified: a failed model must not look like support.
            whole, *parts = [one if is_number(one) else UNVERIFIED for one in vectors] or [UNVERIFIED]
            task.scores["entailment_ratio"] = whole.entailed
            task.scores["nli_decompose"] = aggregate_vectors(parts, self.aggregation).entailed


def _set_scores(name: str, work: Sequence[ScoredKnowledge], model: Any, asked: Sequence[Sequence[Any]]) -> None:
    """Set a score by one input for each item, 0 for none.

    NaN, where the model returned no number, becomes 0, the worst, so that the item stays in the denominator.
    """
    if model is None:
        return
    for task, found in zip(work, scores_per_item(model, asked), strict=True):
        value = found[0] if found else 0.0
        if math.isnan(value):
            task.notes.append(f"{name}: the model gave no number")
        task.scores[name] = 0.0 if math.isnan(value) else value


def _slot_values(item: KnowledgeItem, knowledge: str | None = None) -> dict[str, str]:
    """The values of prompt slots for an item, with its own text or another."""
    text = (item.reference or item.knowledge) if knowledge is None else knowledge
    return {"topic": item.topic, "query": item.query, "knowledge": text}


def _demonstrations(
    item: KnowledgeItem, shown: Sequence[tuple[KnowledgeItem, str]]
) -> list[tuple[dict[str, str], str]]:
    """The demonstrations before an item, without itself and those without text or answer."""
    return [(_slot_values(one), target) for one, target in shown if one.id != item.id and target.strip()]
