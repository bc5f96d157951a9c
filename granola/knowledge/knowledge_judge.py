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
        return {name: dict(one.identity) for name in parts if (one := getattr(self, name)) is not None}


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
        told = {**self.item.to_json(), "scores": dict(self.scores)}
        if self.label is not None:
            told["factuality_label"] = self.label
            told["sentences"] = [
                {"text": one.text, "entailed": one.vector.entailed, "neutral": one.vector.neutral,
                 "refuted": one.vector.refuted, "piece": one.piece} for one in self.sentences
            ]  # fmt: skip
        return told | ({"notes": list(self.notes)} if self.notes else {})


@dataclass(slots=True)
class _Work:
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
        own = self.settings
        return {
            "models": self.models.identities,
            "evidence": dict(self._evidence.identity),
            "prompts": hash_of(self._prompts, GIVEN_QUERY, GIVEN_KNOWLEDGE),
            "aggregation": str(own.aggregation), "pieces": own.pieces, "randoms": own.randoms,
            "validity": str(own.validity), "entities": own.entities, "seed": own.seed, "language": own.language,
        }  # fmt: skip

    def judge(self, items: Sequence[KnowledgeItem]) -> list[ScoredKnowledge]:
        """Each item with its scores, in their order. Raises ModelError where a model cannot be used."""
        work = [_Work(item, parted(item.knowledge, self.settings.language)) for item in items]
        for one in work:
            if not one.item.knowledge.strip():
                one.notes.append("the knowledge is empty")
        self._factuality(work)
        self._relevance(work)
        self._coherence(work)
        self._informativeness(work)
        self._helpfulness(work)
        self._validity(work)
        if self.settings.baselines:
            self._baselines(work)
        return [
            ScoredKnowledge(item=one.item, scores=one.scores, label=one.label, sentences=one.judged, notes=one.notes)
            for one in work
        ]

    def _factuality(self, work: Sequence[_Work]) -> None:
        model = self.models.entailment
        if model is None:
            return
        pieces = [self._evidence.pieces(one.item, one.sentences, self.settings.pieces) for one in work]
        whole = iter(
            judged([s for one in work for s in one.sentences], [own for found in pieces for own in found], model)
        )
        for one in work:
            one.judged = [next(whole) for _ in one.sentences]
            if lacking := sum(sentence.piece is None for sentence in one.judged):
                one.notes.append(f"{lacking} of {len(one.judged)} sentences without evidence")
            vector = aggregated([sentence.vector for sentence in one.judged], self.settings.aggregation)
            one.label = label_of(vector)
            one.scores |= {"factuality": vector.entailed, "non_verified": vector.neutral, "refuted": vector.refuted}

    def _relevance(self, work: Sequence[_Work]) -> None:
        if self.models.relevance is None:
            return
        there = [one for one in work if one.item.knowledge.strip()]
        pairs = [QueryPassage(one.item.query, one.item.knowledge) for one in there]
        found = dict(zip(map(id, there), self.models.relevance.relevances(pairs) if pairs else [], strict=True))
        for one in work:
            one.score("relevance", found.get(id(one), 0.0))

    def _coherence(self, work: Sequence[_Work]) -> None:
        self._sentence_coherence(work)
        self._paragraph_coherence(work)
        for one in work:
            both = [one.scores.get(name) for name in ("coherence_sentence", "coherence_paragraph")]
            values = [value for value in both if value is not None]
            if len(values) == 2:
                one.scores["coherence_greater"] = max(values)

    def _sentence_coherence(self, work: Sequence[_Work]) -> None:
        if self.models.causal is None:
            return
        asked = [Continuation("", text) for one in work for text in one.sentences]
        scores = iter(self.models.causal.token_scores(asked) if asked else [])
        for one in work:
            own = [next(scores) for _ in one.sentences]
            if any(math.isnan(each.mean) for each in own):
                one.notes.append("coherence_sentence: a sentence without tokens or numbers counts 0")
            one.scores["coherence_sentence"] = sentence_coherence(own)

    def _paragraph_coherence(self, work: Sequence[_Work]) -> None:
        if self.models.coherence is None:
            return
        there = [one for one in work if one.sentences]
        coherences = self.models.coherence.coherences([one.sentences for one in there]) if there else []
        by_item = dict(zip(map(id, there), coherences, strict=True))
        for one in work:
            one.score("coherence_paragraph", by_item.get(id(one), 0.0))

    def _informativeness(self, work: Sequence[_Work]) -> None:
        if self.models.causal is None:
            return
        prompt = self._prompts[GIVEN_QUERY.name]
        asked = [
            Continuation(as_text(prompt, {"query": one.item.query}), f" {one.item.knowledge}" if one.sentences else "")
            for one in work
        ]
        for one, scores in zip(work, self.models.causal.token_scores(asked), strict=True):
            if one.sentences and math.isnan(scores.mean):
                one.notes.append("informativeness: the model gave no number")
            one.scores["informativeness"] = informativeness(scores)

    def _helpfulness(self, work: Sequence[_Work]) -> None:
        if self.models.reader is None:
            return
        prompt = self._prompts[GIVEN_KNOWLEDGE.name]
        asked: list[Continuation] = []
        numbers: list[int] = []
        for one in work:
            randoms = random_texts(
                one.item.knowledge, self._pool, self.settings.randoms, seed=self.settings.seed, key=one.item.key
            )
            texts = [one.item.knowledge, *randoms] if one.item.gold else []
            numbers.append(len(texts))
            asked += [
                Continuation(as_text(prompt, {"query": one.item.query, "knowledge": text}), f" {one.item.gold[0]}")
                for text in texts
            ]
        scores = iter(self.models.reader.token_scores(asked) if asked else [])
        for one, number in zip(work, numbers, strict=True):
            own = [next(scores) for _ in range(number)]
            if not own:
                one.scores |= {"helpfulness": None, "helpfulness_raw": None}
                one.notes.append("helpfulness: no gold answer")
                continue
            found = helpfulness(own[0], own[1:])
            if found.raw is None:
                one.notes.append("helpfulness: no other text to compare with, or no number")
            one.scores |= {"helpfulness": found.score, "helpfulness_raw": found.raw}

    def _validity(self, work: Sequence[_Work]) -> None:
        model = self.models.entailment
        if model is None or not self._answered:
            return
        span = self.settings.validity is AnswerForm.SPAN
        pairs: list[list[TextPair]] = []
        for one in work:
            item = one.item
            if not item.answer.strip():
                pairs.append([])
            elif span:
                pairs.append([TextPair(f"{item.query} {gold}", f"{item.query} {item.answer}") for gold in item.gold])
            else:
                (found,) = self._evidence.pieces(item, [item.answer], self.settings.pieces)
                pairs.append([TextPair(piece, item.answer) for piece in found])
        given = [pair for own in pairs for pair in own]
        vectors = iter(model.entailments(given) if given else [])
        for one, asked in zip(work, pairs, strict=True):
            shares = [vector.entailed for vector in (next(vectors) for _ in asked) if is_number(vector)]
            if span and not one.item.gold:
                one.scores["validity"] = None
                one.notes.append("validity: no gold answer")
                continue
            if not shares:
                one.notes.append("validity: no answer, no evidence or no number counts 0")
            one.scores["validity"] = max(shares, default=0.0)

    def _baselines(self, work: Sequence[_Work]) -> None:
        finder = entity_finder(self.settings.entities)
        for one in work:
            item = one.item
            if item.reference.strip():
                one.scores["he_negated"] = hallucinated_entities(one.sentences, item.reference, finder)
                one.scores["knowledge_f1"] = knowledge_f1(item.knowledge, item.reference)
            if item.gold and self._answered:
                one.scores["answer_em"] = answer_em(item.answer, item.gold)
                one.scores["answer_f1"] = answer_f1(item.answer, item.gold)
        model = self.models.entailment
        there = [one for one in work if one.item.reference.strip()]
        if model is None or not there:
            return
        whole = entailment_ratios([(one.item.knowledge, one.item.reference) for one in there], model)
        parts = iter(
            judged(
                [text for one in there for text in one.sentences],
                [[one.item.reference] for one in there for _ in one.sentences],
                model,
            )
        )
        for one, ratio in zip(there, whole, strict=True):
            one.scores["entailment_ratio"] = ratio
            own = [next(parts).vector for _ in one.sentences]
            one.scores["nli_decompose"] = aggregated(own, self.settings.aggregation).entailed
