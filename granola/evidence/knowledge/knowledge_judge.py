"""Judges knowledge texts: those scores of Chen et al. 2023 whose models are available, and baselines."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, asdict, astuple, dataclass, field
from typing import Any

from abstraction.models.text_scorers import Continuation, Entailment, QueryPassage, TextPair, TextScorer, TokenScores
from abstraction.phrasing.prompting import Prompt, signature_of
from abstraction.text.language.phrases import sentences as split_sentences
from granola.evidence.evidence_task import name_with_hash
from granola.evidence.knowledge.knowledge_items import Aggregation, AnswerForm, ItemPieces, JudgeSettings, KnowledgeItem
from granola.evidence.knowledge.knowledge_prompts import GIVEN_KNOWLEDGE, GIVEN_QUERY, prompt_as_text
from granola.evidence.knowledge.knowledge_task import LABELS
from granola.matching.squad import best_f1, normalise, token_f1

SEED, LANGUAGE = 0, "en"  # of drawing random texts, and of splitting a text into sentences
# The parts of a judge and the kinds of their models: `causal` scores coherence of sentences and informativeness,
# `reader` helpfulness.
PARTS_OF_MODELS = {
    "entailment": "entailment", "relevance": "relevance", "causal": "continuations", "reader": "continuations",
    "coherence": "coherence",
}  # fmt: skip
UNVERIFIED = Entailment(0.0, 1.0, 0.0)  # vector of a sentence without evidence, and of a text without a sentence


# A named entity is a run of capitalised words or numbers; a sentence's first word alone is one only if it is a number.
# Repeats are bounded, so that the pattern takes linear time on every text.
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+){0,4}")


def named_entities(sentences: Sequence[str]) -> set[str]:
    """The named entities of sentences, in lower case: runs of words that begin with a capital or digit."""
    entities: set[str] = set()
    for sentence in sentences:
        words = _WORD.findall(sentence)
        run: list[str] = []
        for place, word in enumerate([*words, ""]):
            if word[:1].isupper() or word[:1].isdigit():
                run.append(word)
                continue
            if run and not (len(run) == place == 1 and run[0].isalpha()):
                entities.add(" ".join(run).lower())
            run = []
    return entities


def negated_hallucinated_share(knowledge: Sequence[str], reference: str) -> float:
    """Hallucinated entities (HE), negated: minus the share of the text's named entities that are missing in the
    reference, in [-1, 0], higher is better; 0 for a text without any.
    """
    names = named_entities(knowledge)
    held = f" {normalise(reference)} "
    lacking = sum(f" {normalise(name)} " not in held for name in names)
    return -lacking / len(names) if names else 0.0


def mean_sentence_coherence(scores: Sequence[TokenScores], *, perplexity_cut: float | None = None) -> float:
    """The mean of 1 / PPL over the sentences, in [0, 1]; 0 without sentences. A sentence without tokens, or for which
    the model gave no number, counts as 0.

    `perplexity_cut`: greater perplexities are replaced by it, as in the authors' own values (100); the paper's text
    has no cut.
    """
    # Where perplexity has an upper limit, 1 / PPL has a lower one.
    least = 0.0 if perplexity_cut is None else 1.0 / perplexity_cut
    shares = [max(least, mean) if not math.isnan(mean := one.geometric_mean) else math.nan for one in scores]
    return math.fsum(0.0 if math.isnan(share) else share for share in shares) / len(shares) if shares else 0.0


def unclipped_helpfulness(own_scores: TokenScores, random_scores: Sequence[TokenScores]) -> float | None:
    """1 - L(q, k, a) / mean of L(q, k_i-, a): equation 6 in its first form, before negative values become 0.

    L is the mean negative log-probability of the gold answer's tokens. 0 where both losses are 0; None without a
    random text or a token, or where the model returns no number.
    """
    loss = -own_scores.mean_logprob
    losses = [-scores.mean_logprob for scores in random_scores]
    mean = math.fsum(losses) / len(losses) if losses else math.nan
    if math.isnan(loss) or math.isnan(mean):
        return None
    if mean == 0:
        # Random texts already predict the answer with certainty: nothing can be gained.
        return 0.0 if loss == 0 else None
    return 1.0 - loss / mean


class RandomTexts:
    """Draws random knowledge texts to compare an item's own with: never one of the same id, whatever its system or
    candidate.

    A draw depends on the item's key and the set of texts, not on their order.
    """

    def __init__(self, pool: Iterable[KnowledgeItem]) -> None:
        self._ids_of: dict[str, set[str]] = {}
        for item in pool:
            self._ids_of.setdefault(item.knowledge, set()).add(item.id)
        self._texts = sorted(self._ids_of)
        self._texts_of = Counter(id_ for ids in self._ids_of.values() for id_ in ids)

    def draw(self, item: KnowledgeItem, number: int) -> list[str]:
        """`number` different texts of other items; all of them where there are fewer."""
        # One generator per item, so that a draw does not depend on other items.
        source = random.Random(f"{SEED}\0{(item.system, item.id, item.candidate)!r}")
        # Drawing so many leaves `number` texts even if all texts of this id are among them.
        enough = min(len(self._texts), number + self._texts_of[item.id] + 1)
        texts = (self._texts[at] for at in source.sample(range(len(self._texts)), enough))
        return [text for text in texts if item.id not in self._ids_of[text] and text != item.knowledge][:number]


def has_no_nan(vector: Entailment) -> bool:
    """Whether all three shares are numbers: a model may return NaN."""
    return not any(map(math.isnan, astuple(vector)))


def most_entailed_vector_and_piece(vectors: Sequence[Entailment]) -> tuple[Entailment, int | None]:
    """f(s, E) (equation 1): the vector with the greatest entailment of a sentence over its pieces of evidence, and the
    index of that piece, the first of equal ones.

    A vector that is no number is skipped; without any other the sentence is not verified, and the index is None.
    """
    known = [(vector, place) for place, vector in enumerate(vectors) if has_no_nan(vector)]
    return max(known, key=lambda one: one[0].entailed, default=(UNVERIFIED, None))


def aggregate_vectors(vectors: Sequence[Entailment], aggregation: Aggregation) -> Entailment:
    """The vector of a text: that of the sentence with the least or greatest entailment, or the mean over all
    sentences.

    Its three numbers add up to 1. A text without a sentence is not verified.
    """
    if not vectors:
        return UNVERIFIED
    if aggregation is Aggregation.MEAN:
        shares = zip(*map(astuple, vectors), strict=True)
        return Entailment(*(math.fsum(own) / len(vectors) for own in shares))
    chosen = min if aggregation is Aggregation.MIN else max
    return chosen(vectors, key=lambda vector: vector.entailed)


@dataclass(kw_only=True, slots=True)
class ScoredKnowledge:
    """An item with its scores by name; None where a score is undefined for it, such as helpfulness without a gold
    answer.

    `sentences` are those of its text; `vectors`, where factuality is scored, have for each the result of
    `most_entailed_vector_and_piece`. `notes` explain scores: an empty text, a model without a number.
    """

    item: KnowledgeItem
    sentences: Sequence[str] = ()
    scores: dict[str, float | None] = field(default_factory=dict)
    label: str | None = None
    vectors: Sequence[tuple[Entailment, int | None]] = ()
    notes: list[str] = field(default_factory=list)

    def set_score(self, name: str, values: Sequence[float]) -> None:
        """Set a score to its only value; to 0, the worst, without one.

        NaN, where the model returned no number, becomes 0 too, so that the item stays in the denominator.
        """
        value = values[0] if values else 0.0
        if math.isnan(value):
            self.notes.append(f"{name}: the model gave no number")
        self.scores[name] = 0.0 if math.isnan(value) else value

    def to_json(self, judge: str) -> dict[str, Any]:
        """The item's own fields, the scores, the name of the judge, and each sentence with its vector."""
        record = {**self.item.to_json(), "scores": self.scores, "judge": judge}
        if self.label is not None:
            record["factuality_label"] = self.label
            record["sentences"] = [
                {"text": text, **asdict(vector), "piece": piece}
                for text, (vector, piece) in zip(self.sentences, self.vectors, strict=True)
            ]
        return record | ({"notes": self.notes} if self.notes else {})


Scoring = Generator[Sequence[Any], list[Any], None]  # yields the inputs of a model, receives their scores


@dataclass
class KnowledgeJudge:
    """Judges items with models and evidence; a score depends only on its item, the pool and the settings.

    `models`: the available ones of PARTS_OF_MODELS; a score without its model is left out. `pool` are the items
    from whose texts random ones are drawn, usually all items. `examples` are put before each item where a model
    continues a text: with the right knowledge for informativeness, with the gold answer for helpfulness; an item is no
    example for itself. `answered`: whether to judge answers, a missing one as the worst; False where no item has an
    answer.

    The methods that score an item are generators, so that a model receives the inputs of all items at once.
    """

    models: Mapping[str, TextScorer[Any, Any]]
    prompts: Mapping[str, Prompt]
    settings: JudgeSettings = field(default_factory=JudgeSettings)
    _: KW_ONLY
    evidence: ItemPieces = field(default_factory=ItemPieces)
    pool: Sequence[KnowledgeItem] = ()
    examples: Sequence[KnowledgeItem] = ()
    answered: bool = True

    def __post_init__(self) -> None:
        self.random_texts = RandomTexts(self.pool)

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that scores depend on besides the items."""
        settings = self.settings
        return {
            "models": {part: dict(self.models[part].identity) for part in PARTS_OF_MODELS if part in self.models},
            "evidence": dict(self.evidence.identity),
            "prompts": signature_of(self.prompts, GIVEN_QUERY, GIVEN_KNOWLEDGE),
            "aggregation": str(settings.aggregation), "pieces": settings.pieces, "randoms": settings.randoms,
            "validity": str(settings.validity), "seed": SEED, "language": LANGUAGE,
            **({} if settings.perplexity_cut is None else {"perplexity_cut": settings.perplexity_cut}),
            **({"examples": [item.id for item in self.examples]} if self.examples else {}),
        }  # fmt: skip

    @property
    def name(self) -> str:
        """The name of the judge in rows: a hash of its identity."""
        return name_with_hash({"kind": "conner", **self.identity})

    def judge(self, items: Sequence[KnowledgeItem]) -> list[ScoredKnowledge]:
        """The items with their scores, in order. Raises ModelError where a model cannot be used."""
        work = [
            ScoredKnowledge(
                item=one, sentences=split_sentences(one.knowledge, LANGUAGE),
                notes=[] if one.knowledge.strip() else ["the knowledge is empty"],
            )
            for one in items
        ]  # fmt: skip
        self._run_scoring(work, "entailment", self._score_factuality)
        self._run_scoring(work, "relevance", self._score_relevance)
        self._run_scoring(work, "causal", self._score_sentence_coherence)
        self._run_scoring(work, "coherence", self._score_paragraph_coherence)
        self._run_scoring(work, "causal", self._score_informativeness)
        self._run_scoring(work, "reader", self._score_helpfulness)
        if self.answered:
            self._run_scoring(work, "entailment", self._score_validity)
        if self.settings.baselines:
            for task in work:
                self._add_word_baselines(task)
            self._run_scoring(work, "entailment", self._score_entailment_baselines)
        return work

    def _run_scoring(
        self, work: Sequence[ScoredKnowledge], part: str, score: Callable[[ScoredKnowledge], Scoring]
    ) -> None:
        """Run one scoring for all items with a single call of the model `part`, to fill its batches; skip it without
        that model.
        """
        model = self.models.get(part)
        if model is None:
            return
        scorings = [score(task) for task in work]
        asked = [next(scoring) for scoring in scorings]
        every = [one for own in asked for one in own]
        found = iter(model.scores(every) if every else [])
        for scoring, own in zip(scorings, asked, strict=True):
            with suppress(StopIteration):
                scoring.send([next(found) for _ in own])

    def _score_factuality(self, task: ScoredKnowledge) -> Scoring:
        pieces = self.evidence.find_pieces(task.item, task.sentences, self.settings.pieces)
        # The premise is the piece, the hypothesis the sentence.
        found = yield [TextPair(piece, text) for text, own in zip(task.sentences, pieces, strict=True) for piece in own]
        vectors = iter(found)
        task.vectors = [most_entailed_vector_and_piece([next(vectors) for _ in own]) for own in pieces]
        if lacking := sum(piece is None for _, piece in task.vectors):
            task.notes.append(f"{lacking} of {len(task.vectors)} sentences without evidence")
        whole = aggregate_vectors([vector for vector, _ in task.vectors], self.settings.aggregation)
        task.scores |= {"factuality": whole.entailed, "non_verified": whole.neutral, "refuted": whole.refuted}
        # The likeliest label, the first of equal ones.
        shares = astuple(whole)
        task.label = LABELS[shares.index(max(shares))]

    def _score_relevance(self, task: ScoredKnowledge) -> Scoring:
        # An empty text is not shown to the model: it is irrelevant.
        text = task.item.knowledge
        task.set_score("relevance", (yield [QueryPassage(task.item.query, text)] if text.strip() else []))

    def _score_sentence_coherence(self, task: ScoredKnowledge) -> Scoring:
        found = yield [Continuation("", text) for text in task.sentences]
        if any(math.isnan(each.mean_logprob) for each in found):
            task.notes.append("coherence_sentence: a sentence without tokens or numbers counts 0")
        task.scores["coherence_sentence"] = mean_sentence_coherence(found, perplexity_cut=self.settings.perplexity_cut)

    def _score_paragraph_coherence(self, task: ScoredKnowledge) -> Scoring:
        task.set_score("coherence_paragraph", (yield [task.sentences] if task.sentences else []))
        if (of_sentences := task.scores.get("coherence_sentence")) is not None:
            task.scores["coherence_greater"] = max(of_sentences, task.scores["coherence_paragraph"] or 0.0)

    def _score_informativeness(self, task: ScoredKnowledge) -> Scoring:
        """1 - exp(mean log-probability given the query) (equation 5), in [0, 1]."""
        before = self._prompt_with_examples(GIVEN_QUERY.name, task.item, "", lambda one: one.reference_or_own_knowledge)
        # The space belongs to the first token of the continuation.
        found = yield [Continuation(before, f" {task.item.knowledge}")] if task.sentences else []
        task.set_score("informativeness", [1.0 - one.geometric_mean for one in found])

    def _score_helpfulness(self, task: ScoredKnowledge) -> Scoring:
        item = task.item
        if not item.gold:
            yield []
            task.scores |= {"helpfulness": None, "helpfulness_raw": None}
            task.notes.append("helpfulness: no gold answer")
            return
        own, *others = yield [
            Continuation(
                self._prompt_with_examples(GIVEN_KNOWLEDGE.name, item, text, lambda one: next(iter(one.gold), "")),
                f" {item.gold[0]}",
            )
            for text in [item.knowledge, *self.random_texts.draw(item, self.settings.randoms)]
        ]  # fmt: skip
        gain = unclipped_helpfulness(own, others)
        if gain is None:
            task.notes.append("helpfulness: no other text to compare with, or no number")
        task.scores |= {"helpfulness": max(0.0, gain or 0.0), "helpfulness_raw": gain}

    def _prompt_with_examples(
        self, name: str, item: KnowledgeItem, text: str, target: Callable[[KnowledgeItem], str]
    ) -> str:
        """The prompt of an item as the text that a model continues, after the examples with their continuations
        (`target`).
        """
        examples = [(one, target(one)) for one in self.examples if one.id != item.id and target(one).strip()]
        return prompt_as_text(self.prompts[name], item, text, examples)

    def _score_validity(self, task: ScoredKnowledge) -> Scoring:
        """Question and gold answer entail question and answer (equation 7), or evidence entails the answer (8)."""
        item, pairs = task.item, list[TextPair]()
        if item.answer.strip() and self.settings.validity is AnswerForm.SPAN:
            pairs = [TextPair(f"{item.query} {gold}", f"{item.query} {item.answer}") for gold in item.gold]
        elif item.answer.strip():
            (pieces,) = self.evidence.find_pieces(item, [item.answer], self.settings.pieces)
            pairs = [TextPair(piece, item.answer) for piece in pieces]
        found = yield pairs
        if self.settings.validity is AnswerForm.SPAN and not item.gold:
            task.scores["validity"] = None
            task.notes.append("validity: no gold answer")
            return
        shares = [vector.entailed for vector in found if has_no_nan(vector)]
        if not shares:
            task.notes.append("validity: no answer, no evidence or no number counts 0")
        task.scores["validity"] = max(shares, default=0.0)

    def _add_word_baselines(self, task: ScoredKnowledge) -> None:
        item = task.item
        if item.reference.strip():
            task.scores["he_negated"] = negated_hallucinated_share(task.sentences, item.reference)
            task.scores["knowledge_f1"] = token_f1(item.knowledge, item.reference)
        if item.gold and self.answered:
            task.scores["answer_em"] = float(normalise(item.answer) in map(normalise, item.gold))
            task.scores["answer_f1"] = best_f1(item.answer, item.gold)

    def _score_entailment_baselines(self, task: ScoredKnowledge) -> Scoring:
        reference, texts = task.item.reference, [task.item.knowledge, *task.sentences]
        if not reference.strip():
            yield []
            return
        found = yield [TextPair(reference, text) for text in texts if text.strip()]
        # A pair without numbers counts as not verified: a failed model must not look like support.
        whole, *parts = [one if has_no_nan(one) else UNVERIFIED for one in found] or [UNVERIFIED]
        task.scores["entailment_ratio"] = whole.entailed
        task.scores["nli_decompose"] = aggregate_vectors(parts, self.settings.aggregation).entailed
