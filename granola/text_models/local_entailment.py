"""Natural language inference by any three-class checkpoint that `transformers` loads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from abstraction.errors import ModelError
from granola.text_models.local_weights import LocalWeights, WeightSettings
from granola.text_models.text_entailment import Entailment, TextPair

Class = Literal["entailed", "neutral", "refuted"]
CLASSES: tuple[Class, ...] = ("entailed", "neutral", "refuted")
# What checkpoints call the classes: those of MNLI, FEVER and FactCC, in capitals or not.
WORDS: Mapping[str, Class] = {
    "entailment": "entailed", "entailed": "entailed", "entail": "entailed", "supports": "entailed",
    "supported": "entailed", "correct": "entailed", "true": "entailed",
    "neutral": "neutral", "not enough info": "neutral", "nei": "neutral", "unverifiable": "neutral",
    "not entailment": "neutral",
    "contradiction": "refuted", "contradicted": "refuted", "contradict": "refuted", "refutes": "refuted",
    "refuted": "refuted", "incorrect": "refuted", "false": "refuted",
}  # fmt: skip


class LocalEntailment:
    """Premise and hypothesis as one pair, in this order, under a head of sequence classification.

    Which of the outputs is which class is read from the labels in the model's config. A pair that is too long loses
    the premise's end; where the hypothesis alone takes more than half of the room, the longer of the two loses its end
    until both fit. A head of two classes, as FactCC's or one of "entailment" and "not_entailment", gives the third
    class 0.
    """

    def __init__(
        self, place: Path | str, *, settings: WeightSettings | None = None, labels: Sequence[str] | None = None
    ) -> None:
        """`labels` names the classes of the outputs in order, for a checkpoint whose own labels say nothing.

        Raises ModelError for a place without a model, and for labels that cannot be read.
        """
        self._weights = LocalWeights(place, head="AutoModelForSequenceClassification", settings=settings)
        label_of = self._weights.config.id2label
        model_labels = [str(label_of[at]) for at in sorted(label_of)]
        self.classes = classes_of(labels or model_labels, where=f"local:{place}")
        if len(self.classes) != len(model_labels):
            raise ModelError(
                f"local:{place}: {len(self.classes)} labels are given, "
                f"the model has {len(model_labels)}: {model_labels}"
            )

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights and the classes of their outputs."""
        return {**self._weights.identity, "classes": list(self.classes)}

    def entailments(self, pairs: Sequence[TextPair]) -> list[Entailment]:
        """As `EntailmentModel.entailments`, by the softmax of the logits."""
        logits = self._weights.pair_logits([(pair.premise, pair.hypothesis) for pair in pairs])
        return [entailment_of(softmax(row), self.classes) for row in logits]

    def close(self) -> None:
        """Release the weights."""
        self._weights.close()


def classes_of(labels: Sequence[str], *, where: str) -> tuple[Class, ...]:
    """The class of each label. Raises ModelError where one is not known, or two mean the same."""
    words = [label.strip().lower().replace("_", " ").replace("-", " ") for label in labels]
    if any(word not in WORDS for word in words) or len(set(map(WORDS.get, words))) != len(words):
        raise ModelError(
            f"{where}: its labels are {', '.join(labels)}, which do not say what is entailed, neutral or refuted; "
            "give their classes in order, as in labels=refuted,neutral,entailed"
        )
    classes = tuple(WORDS[word] for word in words)
    if "entailed" not in classes or len(classes) < 2:
        raise ModelError(f"{where}: none of its labels ({', '.join(labels)}) means entailed, or there is no other")
    return classes


def softmax(logits: Sequence[float]) -> list[float]:
    """Probabilities of logits."""
    most = max(logits)
    powers = [math.exp(logit - most) for logit in logits]
    whole = math.fsum(powers)
    return [power / whole for power in powers]


def entailment_of(shares: Sequence[float], classes: Sequence[Class]) -> Entailment:
    """The judgement of probabilities in the order of `classes`; a class that is not there has 0."""
    by_class = dict(zip(classes, shares, strict=True))
    return Entailment(*(by_class.get(name, 0.0) for name in CLASSES))
