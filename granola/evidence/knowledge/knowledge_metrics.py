"""The scores of knowledge texts: factuality, coherence, informativeness, helpfulness
(Chen et al. 2023, equations 1, 3, 5 and 6)."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from abstraction.models.text_scorers import Entailment, EntailmentModel, TextPair, TokenScores
from granola.evidence.knowledge.knowledge_items import KnowledgeItem
from granola.matching.squad import normalise

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


def hallucinated_entities(knowledge: Sequence[str], reference: str) -> float:
    """Hallucinated entities (HE), negated: minus the share of the text's named entities that are missing in the
    reference, in [-1, 0], higher is better; 0 for a text without any.
    """
    names = named_entities(knowledge)
    held = f" {normalise(reference)} "
    lacking = sum(f" {normalise(name)} " not in held for name in names)
    return -lacking / len(names) if names else 0.0


def sentence_coherence(scores: Sequence[TokenScores], *, perplexity_cut: float | None = None) -> float:
    """The mean of 1 / PPL over the sentences, in [0, 1]; 0 without sentences. A sentence without tokens or numbers
    counts as 0.

    `perplexity_cut`: greater perplexities are replaced by it, as in the authors' own values (100); the paper's text
    has no cut.
    """
    # A largest perplexity is a least 1 / PPL.
    least = 0.0 if perplexity_cut is None else 1.0 / perplexity_cut
    shares = [max(least, mean) if not math.isnan(mean := one.geometric_mean) else math.nan for one in scores]
    return math.fsum(0.0 if math.isnan(share) else share for share in shares) / len(shares) if shares else 0.0


def informativeness(scores: TokenScores) -> float:
    """1 - exp(mean log-probability given the query), in [0, 1]; 0 for a text without tokens or numbers."""
    share = scores.geometric_mean
    return 0.0 if math.isnan(share) else 1.0 - share


def helpfulness(with_own: TokenScores, with_random: Sequence[TokenScores]) -> float | None:
    """1 - L(q, k, a) / mean of L(q, k_i-, a): equation 6 in its first form, before negative values become 0.

    L is the mean negative log-probability of the gold answer's tokens. 0 where both losses are 0; None without a
    random text or a token, or where the model returns no number.
    """
    loss = -with_own.mean
    losses = [-scores.mean for scores in with_random]
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

    A draw depends on the seed, the item's key and the set of texts, not on their order.
    """

    def __init__(self, pool: Iterable[KnowledgeItem], *, seed: int = 0) -> None:
        ids_of: dict[str, set[str]] = {}
        for item in pool:
            ids_of.setdefault(item.knowledge, set()).add(item.id)
        self._texts = sorted(ids_of)
        self._ids_of, self._seed = ids_of, seed
        self._texts_of = Counter(id_ for ids in ids_of.values() for id_ in ids)

    def draw(self, item: KnowledgeItem, number: int) -> list[str]:
        """`number` different texts of other items; all of them where there are fewer."""
        # One generator per item, so that a draw does not depend on other items.
        source = random.Random(f"{self._seed}\0{(item.system, item.id, item.candidate)!r}")
        # Drawing so many leaves `number` texts even if all texts of this id are among them.
        enough = min(len(self._texts), number + self._texts_of[item.id] + 1)
        texts = (self._texts[at] for at in source.sample(range(len(self._texts)), enough))
        others = [text for text in texts if item.id not in self._ids_of[text] and text != item.knowledge]
        return others[:number]


UNVERIFIED = Entailment(0.0, 1.0, 0.0)  # vector of a sentence without evidence, and of a text without a sentence
LABELS = ("consistent", "non-verified", "inconsistent")  # in the order of the shares of a vector


class Aggregation(StrEnum):
    """How the vector of a text is formed from those of its sentences."""

    MIN = "min"
    MEAN = "mean"
    MAX = "max"


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedSentence:
    """A sentence with the vector of the piece that entails it most; `piece` is the index of that piece, None without
    evidence.
    """

    text: str
    vector: Entailment
    piece: int | None


def shares_of(vector: Entailment) -> tuple[float, float, float]:
    """The three shares in the order of LABELS."""
    return vector.entailed, vector.neutral, vector.refuted


def is_number(vector: Entailment) -> bool:
    """Whether all three shares are numbers."""
    return not any(map(math.isnan, shares_of(vector)))


def judge_sentences(
    sentences: Sequence[str], pieces: Sequence[Sequence[str]], model: EntailmentModel
) -> list[JudgedSentence]:
    """f(s_i, E_i): for each sentence, the vector with the greatest entailment over its pieces, the first of equal
    ones.

    The premise is the piece, the hypothesis the sentence. A pair for which the model returns no number is skipped; a
    sentence without any vector is not verified.
    """
    pairs = [[TextPair(piece, text) for piece in own] for text, own in zip(sentences, pieces, strict=True)]
    judgements = []
    for text, vectors in zip(sentences, scores_per_item(model, pairs), strict=True):
        known = [(place, vector) for place, vector in enumerate(vectors) if is_number(vector)]
        best = max(known, key=lambda one: one[1].entailed, default=None)
        place, vector = best or (None, UNVERIFIED)
        judgements.append(JudgedSentence(text=text, vector=vector, piece=place))
    return judgements


def scores_per_item(model: Any, asked: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The scores of each item's inputs, from one call of the model with the inputs of all items."""
    every = [one for own in asked for one in own]
    source = iter(model.scores(every) if every else [])
    return [[next(source) for _ in own] for own in asked]


def aggregate_vectors(vectors: Sequence[Entailment], how: Aggregation) -> Entailment:
    """The vector of a text: that of the sentence with the least or greatest entailment, or the mean over all
    sentences.

    Its three numbers add up to 1. A text without a sentence is not verified.
    """
    if not vectors:
        return UNVERIFIED
    if how is Aggregation.MEAN:
        shares = zip(*map(shares_of, vectors), strict=True)
        return Entailment(*(math.fsum(own) / len(vectors) for own in shares))
    chosen = min if how is Aggregation.MIN else max
    return chosen(vectors, key=lambda vector: vector.entailed)


def likeliest_label(vector: Entailment) -> str:
    """The likeliest of LABELS, the first of equal ones."""
    shares = shares_of(vector)
    return LABELS[shares.index(max(shares))]
