"""The six scores of knowledge texts, with whichever models there are: what has no model is not scored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from abstraction.language.sentences import sentences as parted
from abstraction.models import (
    CoherenceModel,
    Continuation,
    ContinuationModel,
    EntailmentModel,
    QueryPassage,
    RelevanceModel,
    TextPair,
)
from abstraction.models.prompts import Prompt, hash_of
from granola.evidence.judge_names import identity_name
from granola.knowledge.evidence_pieces import PIECES, EvidenceSource, OwnPieces
from granola.knowledge.knowledge_baselines import (
    answer_em,
    answer_f1,
    entailment_ratios,
    hallucinated_entities,
    knowledge_f1,
)
from granola.knowledge.knowledge_items import KnowledgeItem
from granola.knowledge.knowledge_metrics import (
    Aggregation,
    JudgedSentence,
    RandomTexts,
    aggregated,
    helpfulness,
    informativeness,
    is_number,
    judged,
    label_of,
    sentence_coherence,
)
from granola.knowledge.knowledge_prompts import GIVEN_KNOWLEDGE, GIVEN_QUERY, as_text


class AnswerForm(StrEnum):
    """How validity is judged: short answers by the gold answer, open ones by evidence."""

    SPAN = "span"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeSettings:
    """`pieces` of evidence a sentence; `randoms` is u, the number of random texts; `baselines`: those too.

    `perplexity_cut`: see `sentence_coherence`.
    """

    aggregation: Aggregation = Aggregation.MIN
    pieces: int = PIECES
    randoms: int = 4
    validity: AnswerForm = AnswerForm.SPAN
    baselines: bool = False
    perplexity_cut: float | None = None
    seed: int = 0
    language: str = "en"


PARTS_OF_MODELS = ("entailment", "relevance", "causal", "reader", "coherence")


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
        return {name: dict(one.identity) for name in PARTS_OF_MODELS if (one := getattr(self, name)) is not None}


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
    judge: str = ""

    def to_json(self) -> dict[str, Any]:
        """The item's own fields, the scores, and each sentence with its vector."""
        record = {**self.item.to_json(), "scores": dict(self.scores), "judge": self.judge}
        if self.label is not None:
            record["factuality_label"] = self.label
            record["sentences"] = [
                {"text": one.text, "entailed": one.vector.entailed, "neutral": one.vector.neutral,
                 "refuted": one.vector.refuted, "piece": one.piece} for one in self.sentences
            ]  # fmt: skip
        return record | ({"notes": list(self.notes)} if self.notes else {})


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
        pool: Sequence[KnowledgeItem] = (),
        examples: Sequence[KnowledgeItem] = (),
        answered: bool = True,
    ) -> None:
        """`pool` are the items whose texts random ones are drawn from: as a rule all.

        `examples` stand before each item where a model continues a text: with the right knowledge for informativeness,
        with the gold answer for helpfulness; an item is no example for itself. `answered`: answers are judged too, a
        lacking one as the worst; False where no item has any.
        """
        self.models, self.settings = models, settings or JudgeSettings()
        self._prompts = prompts
        self._evidence = evidence or OwnPieces()
        self._pool = RandomTexts(pool, seed=self.settings.seed)
        self._examples = examples
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
            "validity": str(settings.validity), "seed": settings.seed, "language": settings.language,
            **({} if settings.perplexity_cut is None else {"perplexity_cut": settings.perplexity_cut}),
            **({"examples": [item.id for item in self._examples]} if self._examples else {}),
        }  # fmt: skip

    @property
    def name(self) -> str:
        """What rows call the judge: a hash of its identity."""
        return identity_name({"kind": "conner", **self.identity})

    def judge(self, items: Sequence[KnowledgeItem]) -> list[ScoredKnowledge]:
        """Each item with its scores, in their order. Raises ModelError where a model cannot be used."""
        work = [_Work(item, parted(item.knowledge, self.settings.language)) for item in items]
        for task in work:
            if not task.item.knowledge.strip():
                task.notes.append("the knowledge is empty")
        self._factuality(work)
        self._relevance(work)
        self._coherence(work)
        self._informativeness(work)
        self._helpfulness(work)
        self._validity(work)
        if self.settings.baselines:
            self._baselines(work)
        name = self.name
        return [
            ScoredKnowledge(
                item=task.item, scores=task.scores, label=task.label, sentences=task.judged, notes=task.notes,
                judge=name,
            )
            for task in work
        ]

    def _factuality(self, work: Sequence[_Work]) -> None:
        model = self.models.entailment
        if model is None:
            return
        pieces = [self._evidence.pieces(task.item, task.sentences, self.settings.pieces) for task in work]
        whole = iter(
            judged([s for task in work for s in task.sentences], [own for found in pieces for own in found], model)
        )
        for task in work:
            task.judged = [next(whole) for _ in task.sentences]
            if lacking := sum(sentence.piece is None for sentence in task.judged):
                task.notes.append(f"{lacking} of {len(task.judged)} sentences without evidence")
            vector = aggregated([sentence.vector for sentence in task.judged], self.settings.aggregation)
            task.label = label_of(vector)
            task.scores |= {"factuality": vector.entailed, "non_verified": vector.neutral, "refuted": vector.refuted}

    def _relevance(self, work: Sequence[_Work]) -> None:
        if self.models.relevance is None:
            return
        there = [task for task in work if task.item.knowledge.strip()]
        pairs = [QueryPassage(task.item.query, task.item.knowledge) for task in there]
        found = dict(zip(map(id, there), self.models.relevance.scores(pairs) if pairs else [], strict=True))
        for task in work:
            task.score("relevance", found.get(id(task), 0.0))

    def _coherence(self, work: Sequence[_Work]) -> None:
        self._sentence_coherence(work)
        self._paragraph_coherence(work)
        for task in work:
            both = [task.scores.get(name) for name in ("coherence_sentence", "coherence_paragraph")]
            values = [value for value in both if value is not None]
            if len(values) == 2:
                task.scores["coherence_greater"] = max(values)

    def _sentence_coherence(self, work: Sequence[_Work]) -> None:
        if self.models.causal is None:
            return
        asked = [Continuation("", text) for task in work for text in task.sentences]
        scores = iter(self.models.causal.scores(asked) if asked else [])
        for task in work:
            of_sentences = [next(scores) for _ in task.sentences]
            if any(math.isnan(each.mean) for each in of_sentences):
                task.notes.append("coherence_sentence: a sentence without tokens or numbers counts 0")
            cut = self.settings.perplexity_cut
            task.scores["coherence_sentence"] = sentence_coherence(of_sentences, perplexity_cut=cut)

    def _paragraph_coherence(self, work: Sequence[_Work]) -> None:
        if self.models.coherence is None:
            return
        there = [task for task in work if task.sentences]
        coherences = self.models.coherence.scores([task.sentences for task in there]) if there else []
        by_item = dict(zip(map(id, there), coherences, strict=True))
        for task in work:
            task.score("coherence_paragraph", by_item.get(id(task), 0.0))

    def _informativeness(self, work: Sequence[_Work]) -> None:
        if self.models.causal is None:
            return
        prompt = self._prompts[GIVEN_QUERY.name]
        shown = [(one, one.reference or one.knowledge) for one in self._examples]
        asked = [
            Continuation(
                as_text(prompt, _given(task.item), _before(task.item, shown)),
                f" {task.item.knowledge}" if task.sentences else "",
            )
            for task in work
        ]
        for task, scores in zip(work, self.models.causal.scores(asked), strict=True):
            if task.sentences and math.isnan(scores.mean):
                task.notes.append("informativeness: the model gave no number")
            task.scores["informativeness"] = informativeness(scores)

    def _helpfulness(self, work: Sequence[_Work]) -> None:
        if self.models.reader is None:
            return
        prompt = self._prompts[GIVEN_KNOWLEDGE.name]
        shown = [(one, next(iter(one.gold), "")) for one in self._examples]
        asked: list[Continuation] = []
        numbers: list[int] = []
        for task in work:
            randoms = self._pool.drawn(task.item, self.settings.randoms)
            before = _before(task.item, shown)
            texts = [task.item.knowledge, *randoms] if task.item.gold else []
            numbers.append(len(texts))
            asked += [
                Continuation(as_text(prompt, _given(task.item, text), before), f" {task.item.gold[0]}")
                for text in texts
            ]
        scores = iter(self.models.reader.scores(asked) if asked else [])
        for task, number in zip(work, numbers, strict=True):
            log_probabilities = [next(scores) for _ in range(number)]
            if not log_probabilities:
                task.scores |= {"helpfulness": None, "helpfulness_raw": None}
                task.notes.append("helpfulness: no gold answer")
                continue
            gain = helpfulness(log_probabilities[0], log_probabilities[1:])
            if gain.raw is None:
                task.notes.append("helpfulness: no other text to compare with, or no number")
            task.scores |= {"helpfulness": gain.score, "helpfulness_raw": gain.raw}

    def _validity(self, work: Sequence[_Work]) -> None:
        model = self.models.entailment
        if model is None or not self._answered:
            return
        span = self.settings.validity is AnswerForm.SPAN
        pairs: list[list[TextPair]] = []
        for task in work:
            item = task.item
            if not item.answer.strip():
                pairs.append([])
            elif span:
                pairs.append([TextPair(f"{item.query} {gold}", f"{item.query} {item.answer}") for gold in item.gold])
            else:
                (pieces,) = self._evidence.pieces(item, [item.answer], self.settings.pieces)
                pairs.append([TextPair(piece, item.answer) for piece in pieces])
        every_pair = [pair for of_item in pairs for pair in of_item]
        vectors = iter(model.scores(every_pair) if every_pair else [])
        for task, asked in zip(work, pairs, strict=True):
            shares = [vector.entailed for vector in (next(vectors) for _ in asked) if is_number(vector)]
            if span and not task.item.gold:
                task.scores["validity"] = None
                task.notes.append("validity: no gold answer")
                continue
            if not shares:
                task.notes.append("validity: no answer, no evidence or no number counts 0")
            task.scores["validity"] = max(shares, default=0.0)

    def _baselines(self, work: Sequence[_Work]) -> None:
        for task in work:
            item = task.item
            if item.reference.strip():
                task.scores["he_negated"] = hallucinated_entities(task.sentences, item.reference)
                task.scores["knowledge_f1"] = knowledge_f1(item.knowledge, item.reference)
            if item.gold and self._answered:
                task.scores["answer_em"] = answer_em(item.answer, item.gold)
                task.scores["answer_f1"] = answer_f1(item.answer, item.gold)
        model = self.models.entailment
        there = [task for task in work if task.item.reference.strip()]
        if model is None or not there:
            return
        whole = entailment_ratios([(task.item.knowledge, task.item.reference) for task in there], model)
        parts = iter(
            judged(
                [text for task in there for text in task.sentences],
                [[task.item.reference] for task in there for _ in task.sentences],
                model,
            )
        )
        for task, ratio in zip(there, whole, strict=True):
            task.scores["entailment_ratio"] = ratio
            own = [next(parts).vector for _ in task.sentences]
            task.scores["nli_decompose"] = aggregated(own, self.settings.aggregation).entailed


def _given(item: KnowledgeItem, knowledge: str | None = None) -> dict[str, str]:
    """What fills the prompts of an item, with its own text or another."""
    text = (item.reference or item.knowledge) if knowledge is None else knowledge
    return {"topic": item.topic, "query": item.query, "knowledge": text}


def _before(
    item: KnowledgeItem, shown: Sequence[tuple[KnowledgeItem, str]]
) -> list[tuple[dict[str, str], str]]:
    """Demonstrations before an item, without itself and those that have no text or answer."""
    return [(_given(one), target) for one, target in shown if one.id != item.id and target.strip()]
