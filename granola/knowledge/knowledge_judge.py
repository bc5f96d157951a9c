"""The six scores of knowledge texts, with whichever models there are: what has no model is not scored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from abstraction.language.sentences import sentences as parted
from abstraction.models.prompts import Prompt, hash_of
from granola.knowledge.evidence_pieces import PIECES, EvidenceSource, OwnPieces
from granola.knowledge.factuality import Aggregation, JudgedSentence, aggregated, is_number, judged, label_of
from granola.knowledge.knowledge_baselines import (
    RULE,
    answer_em,
    answer_f1,
    entailment_ratios,
    entity_finder,
    hallucinated_entities,
    knowledge_f1,
)
from granola.knowledge.knowledge_items import KnowledgeItem
from granola.knowledge.knowledge_prompts import GIVEN_KNOWLEDGE, GIVEN_QUERY, as_text
from granola.knowledge.token_metrics import helpfulness, informativeness, random_texts, sentence_coherence
from granola.text_models.coherence import CoherenceModel
from granola.text_models.continuations import Continuation, ContinuationModel
from granola.text_models.relevance import QueryPassage, RelevanceModel
from granola.text_models.text_entailment import EntailmentModel, TextPair


class AnswerForm(StrEnum):
    """How validity is judged: short answers by the gold answer, open ones by evidence."""

    SPAN = "span"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeSettings:
    """`pieces` of evidence a sentence; `randoms` is u, the number of random texts; `baselines`: those too.

    `entities`: what finds named entities for HE, "rule" or "spacy:MODEL".
    """

    aggregation: Aggregation = Aggregation.MIN
    pieces: int = PIECES
    randoms: int = 4
    validity: AnswerForm = AnswerForm.SPAN
    baselines: bool = False
    entities: str = RULE
    seed: int = 0
    language: str = "en"


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeModels:
    """`causal` gives coherence of sentences and informativeness, `reader` helpfulness."""

    entailment: EntailmentModel | None = None
    relevance: RelevanceModel | None = None
    causal: ContinuationModel | None = None
    reader: ContinuationModel | None = None
    coherence: CoherenceModel | None = None

    @property
    def identities(self) -> dict[str, Any]:
        """Those that there are, by their parts."""
        parts = ("entailment", "relevance", "causal", "reader", "coherence")
        return {name: dict(model.identity) for name in parts if (model := getattr(self, name)) is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredKnowledge:
    """An item with its scores by name; None where a score is not defined for it, as helpfulness without a gold answer.

    `notes` say what the scores alone do not: that a text is empty, that a model gave no number.
    """

    item: KnowledgeItem
    scores: Mapping[str, float | None]
    label: str | None = None
    sentences: Sequence[JudgedSentence] = ()
    notes: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """The item's own fields, the scores, and each sentence with its vector."""
        record = {**self.item.to_json(), "scores": dict(self.scores)}
        if self.label is not None:
            record["factuality_label"] = self.label
            record["sentences"] = [
                {"text": sentence.text, "entailed": sentence.vector.entailed, "neutral": sentence.vector.neutral,
                 "refuted": sentence.vector.refuted, "piece": sentence.piece} for sentence in self.sentences
            ]  # fmt: skip
        return record | ({"notes": list(self.notes)} if self.notes else {})


@dataclass(slots=True)
class _Judgement:
    item: KnowledgeItem
    sentences: list[str]
    scores: dict[str, float | None] = field(default_factory=dict)
    label: str | None = None
    judged: list[JudgedSentence] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def score(self, name: str, value: float) -> None:
        """A number that a model did not give is the worst score, 0: the item stays in the denominator."""
        if math.isnan(value):
            self.notes.append(f"{name}: the model gave no number")
        self.scores[name] = 0.0 if math.isnan(value) else value


class KnowledgeJudge:
    """Judges items by models, evidence and settings; a score depends on its item and the pool alone."""

    def __init__(
        self,
        models: JudgeModels,
        prompts: Mapping[str, Prompt],
        *,
        settings: JudgeSettings | None = None,
        evidence: EvidenceSource | None = None,
        pool: Sequence[str] = (),
        answered: bool = True,
    ) -> None:
        """`pool` are the texts that random ones are drawn from: as a rule the knowledge of all items.

        `answered`: answers are judged too, a lacking one as the worst; False where no item has any.
        """
        self.models, self.settings = models, settings or JudgeSettings()
        self._prompts = prompts
        self._evidence = evidence or OwnPieces()
        self._pool = sorted(set(pool))
        self._answered = answered

    @property
    def identity(self) -> dict[str, Any]:
        """All that scores depend on besides the items."""
        settings = self.settings
        return {
            "models": self.models.identities,
            "evidence": dict(self._evidence.identity),
            "prompts": hash_of(self._prompts, GIVEN_QUERY, GIVEN_KNOWLEDGE),
            "aggregation": str(settings.aggregation), "pieces": settings.pieces, "randoms": settings.randoms,
            "validity": str(settings.validity), "entities": settings.entities, "seed": settings.seed,
            "language": settings.language,
        }  # fmt: skip

    def judge(self, items: Sequence[KnowledgeItem]) -> list[ScoredKnowledge]:
        """Each item with its scores, in their order. Raises ModelError where a model cannot be used."""
        judgements = [_Judgement(item, parted(item.knowledge, self.settings.language)) for item in items]
        for judgement in judgements:
            if not judgement.item.knowledge.strip():
                judgement.notes.append("the knowledge is empty")
        self._factuality(judgements)
        self._relevance(judgements)
        self._coherence(judgements)
        self._informativeness(judgements)
        self._helpfulness(judgements)
        self._validity(judgements)
        if self.settings.baselines:
            self._baselines(judgements)
        return [
            ScoredKnowledge(
                item=judgement.item,
                scores=judgement.scores,
                label=judgement.label,
                sentences=judgement.judged,
                notes=judgement.notes,
            )
            for judgement in judgements
        ]

    def _factuality(self, judgements: Sequence[_Judgement]) -> None:
        model = self.models.entailment
        if model is None:
            return
        pieces = [
            self._evidence.pieces(judgement.item, judgement.sentences, self.settings.pieces) for judgement in judgements
        ]
        whole = iter(
            judged(
                [s for judgement in judgements for s in judgement.sentences],
                [of_sentence for of_text in pieces for of_sentence in of_text],
                model,
            )
        )
        for judgement in judgements:
            judgement.judged = [next(whole) for _ in judgement.sentences]
            if lacking := sum(sentence.piece is None for sentence in judgement.judged):
                judgement.notes.append(f"{lacking} of {len(judgement.judged)} sentences without evidence")
            vector = aggregated([sentence.vector for sentence in judgement.judged], self.settings.aggregation)
            judgement.label = label_of(vector)
            judgement.scores |= {
                "factuality": vector.entailed,
                "non_verified": vector.neutral,
                "refuted": vector.refuted,
            }

    def _relevance(self, judgements: Sequence[_Judgement]) -> None:
        if self.models.relevance is None:
            return
        there = [judgement for judgement in judgements if judgement.item.knowledge.strip()]
        pairs = [QueryPassage(judgement.item.query, judgement.item.knowledge) for judgement in there]
        relevances = dict(zip(map(id, there), self.models.relevance.relevances(pairs) if pairs else [], strict=True))
        for judgement in judgements:
            judgement.score("relevance", relevances.get(id(judgement), 0.0))

    def _coherence(self, judgements: Sequence[_Judgement]) -> None:
        if self.models.causal is not None:
            asked = [Continuation("", text) for judgement in judgements for text in judgement.sentences]
            scores = iter(self.models.causal.token_scores(asked) if asked else [])
            for judgement in judgements:
                of_sentences = [next(scores) for _ in judgement.sentences]
                if any(math.isnan(sentence_scores.mean) for sentence_scores in of_sentences):
                    judgement.notes.append("coherence_sentence: a sentence without tokens or numbers counts 0")
                judgement.scores["coherence_sentence"] = sentence_coherence(of_sentences)
        if self.models.coherence is not None:
            there = [judgement for judgement in judgements if judgement.sentences]
            coherences = self.models.coherence.coherences([judgement.sentences for judgement in there]) if there else []
            by_item = dict(zip(map(id, there), coherences, strict=True))
            for judgement in judgements:
                judgement.score("coherence_paragraph", by_item.get(id(judgement), 0.0))
        for judgement in judgements:
            both = [judgement.scores.get(name) for name in ("coherence_sentence", "coherence_paragraph")]
            if all(value is not None for value in both):
                judgement.scores["coherence_greater"] = max(value for value in both if value is not None)

    def _informativeness(self, judgements: Sequence[_Judgement]) -> None:
        if self.models.causal is None:
            return
        prompt = self._prompts[GIVEN_QUERY.name]
        asked = [
            Continuation(
                as_text(prompt, {"query": judgement.item.query}),
                f" {judgement.item.knowledge}" if judgement.sentences else "",
            )
            for judgement in judgements
        ]
        for judgement, scores in zip(judgements, self.models.causal.token_scores(asked), strict=True):
            if judgement.sentences and math.isnan(scores.mean):
                judgement.notes.append("informativeness: the model gave no number")
            judgement.scores["informativeness"] = informativeness(scores)

    def _helpfulness(self, judgements: Sequence[_Judgement]) -> None:
        if self.models.reader is None:
            return
        prompt = self._prompts[GIVEN_KNOWLEDGE.name]
        asked: list[Continuation] = []
        numbers: list[int] = []
        for judgement in judgements:
            randoms = random_texts(
                judgement.item.knowledge,
                self._pool,
                self.settings.randoms,
                seed=self.settings.seed,
                key=judgement.item.key,
            )
            texts = [judgement.item.knowledge, *randoms] if judgement.item.gold else []
            numbers.append(len(texts))
            asked += [
                Continuation(
                    as_text(prompt, {"query": judgement.item.query, "knowledge": text}), f" {judgement.item.gold[0]}"
                )
                for text in texts
            ]
        scores = iter(self.models.reader.token_scores(asked) if asked else [])
        for judgement, number in zip(judgements, numbers, strict=True):
            of_texts = [next(scores) for _ in range(number)]
            if not of_texts:
                judgement.scores |= {"helpfulness": None, "helpfulness_raw": None}
                judgement.notes.append("helpfulness: no gold answer")
                continue
            measured = helpfulness(of_texts[0], of_texts[1:])
            if measured.raw is None:
                judgement.notes.append("helpfulness: no other text to compare with, or no number")
            judgement.scores |= {"helpfulness": measured.score, "helpfulness_raw": measured.raw}

    def _validity(self, judgements: Sequence[_Judgement]) -> None:
        model = self.models.entailment
        if model is None or not self._answered:
            return
        span = self.settings.validity is AnswerForm.SPAN
        pairs: list[list[TextPair]] = []
        for judgement in judgements:
            item = judgement.item
            if not item.answer.strip():
                pairs.append([])
            elif span:
                pairs.append([TextPair(f"{item.query} {gold}", f"{item.query} {item.answer}") for gold in item.gold])
            else:
                (pieces,) = self._evidence.pieces(item, [item.answer], self.settings.pieces)
                pairs.append([TextPair(piece, item.answer) for piece in pieces])
        every_pair = [pair for of_answer in pairs for pair in of_answer]
        vectors = iter(model.entailments(every_pair) if every_pair else [])
        for judgement, asked in zip(judgements, pairs, strict=True):
            shares = [vector.entailed for vector in (next(vectors) for _ in asked) if is_number(vector)]
            if span and not judgement.item.gold:
                judgement.scores["validity"] = None
                judgement.notes.append("validity: no gold answer")
                continue
            if not shares:
                judgement.notes.append("validity: no answer, no evidence or no number counts 0")
            judgement.scores["validity"] = max(shares, default=0.0)

    def _baselines(self, judgements: Sequence[_Judgement]) -> None:
        finder = entity_finder(self.settings.entities)
        for judgement in judgements:
            item = judgement.item
            if item.reference.strip():
                judgement.scores["he_negated"] = hallucinated_entities(judgement.sentences, item.reference, finder)
                judgement.scores["knowledge_f1"] = knowledge_f1(item.knowledge, item.reference)
            if item.gold and self._answered:
                judgement.scores["answer_em"] = answer_em(item.answer, item.gold)
                judgement.scores["answer_f1"] = answer_f1(item.answer, item.gold)
        model = self.models.entailment
        there = [judgement for judgement in judgements if judgement.item.reference.strip()]
        if model is None or not there:
            return
        whole = entailment_ratios([(judgement.item.knowledge, judgement.item.reference) for judgement in there], model)
        parts = iter(
            judged(
                [text for judgement in there for text in judgement.sentences],
                [[judgement.item.reference] for judgement in there for _ in judgement.sentences],
                model,
            )
        )
        for judgement, ratio in zip(there, whole, strict=True):
            judgement.scores["entailment_ratio"] = ratio
            vectors = [next(parts).vector for _ in judgement.sentences]
            judgement.scores["nli_decompose"] = aggregated(vectors, self.settings.aggregation).entailed
