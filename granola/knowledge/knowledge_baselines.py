"""What the six scores are compared with: simpler measures of the same texts (Chen et al. 2023, Table 10)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from granola.knowledge.factuality import Aggregation, aggregated, judged
from granola.matching.squad import best_f1, normalise, token_f1
from granola.text_models.entailment import EntailmentModel, TextPair

# Words in capitals or with digits, in a row; the first word of a sentence counts where it has a digit, or the next
# word is in capitals too. No sentence is longer than its text, and no repeat stands within another.
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+){0,4}")


def named_entities(sentences: Sequence[str]) -> set[str]:
    """The named entities of sentences by this rule, in lower case: runs of words that begin with a capital or digit."""
    found: set[str] = set()
    for sentence in sentences:
        run: list[str] = []
        begun_first = False
        for place, word in enumerate(_WORD.findall(sentence)):
            if word[0].isupper() or word[0].isdigit():
                begun_first = place == 0 if not run else begun_first
                run.append(word)
                continue
            _take(found, run, begun_first)
            run = []
        _take(found, run, begun_first)
    return found


def _take(found: set[str], run: Sequence[str], begun_first: bool) -> None:
    if run and not (begun_first and len(run) == 1 and run[0].isalpha()):
        found.add(" ".join(run).lower())


def hallucinated_entities(knowledge: Sequence[str], reference: str) -> float:
    """HE, negated: minus the share of the text's named entities that the reference lacks, in [-1, 0]; 0 without any."""
    names = named_entities(knowledge)
    held = f" {normalise(reference)} "
    lacking = sum(f" {normalise(name)} " not in held for name in names)
    return -lacking / len(names) if names else 0.0


def entailment_ratio(knowledge: str, reference: str, model: EntailmentModel) -> float:
    """ER: how far the reference entails the whole text, in [0, 1]; 0 for an empty text."""
    if not knowledge.strip():
        return 0.0
    share = model.entailments([TextPair(reference, knowledge)])[0].entailed
    return 0.0 if math.isnan(share) else share


def decomposed_entailment(sentences: Sequence[str], reference: str, model: EntailmentModel, how: Aggregation) -> float:
    """The same by sentence, aggregated as factuality is: the paper does not say how."""
    found = judged(sentences, [[reference]] * len(sentences), model)
    return aggregated([one.vector for one in found], how).entailed


def knowledge_f1(knowledge: str, reference: str) -> float:
    """Unigram F1 of the text with the reference, after SQuAD's normalisation."""
    return token_f1(knowledge, reference)


def answer_em(answer: str, gold: Sequence[str]) -> float:
    """1 where the answer equals a gold answer after SQuAD's normalisation, else 0."""
    return float(any(normalise(answer) == normalise(one) for one in gold))


def answer_f1(answer: str, gold: Sequence[str]) -> float:
    """The greatest token-F1 of the answer with a gold answer."""
    return best_f1(answer, gold)
