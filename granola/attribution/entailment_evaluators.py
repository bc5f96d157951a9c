"""Evaluators that stand on natural language inference: two-way as AutoIS, three-way as its classes allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from abstraction.models import EntailmentModel, TextPair
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category
from granola.attribution.evaluators import AttributionJudgement, of_category
from granola.evidence.judge_names import identity_name

_BATCH = 256


class PremiseIs(StrEnum):
    """What the premise is: the evidence, as such models take it, or question and statement, as Table 12 prints it."""

    EVIDENCE = "evidence"
    STATEMENT = "statement"


@dataclass(kw_only=True)
class EntailmentEvaluator:
    """`three_way`: entailed is supportive, refuted contradictory, neutral irrelevant, as the paper maps AttrScore's.

    Otherwise it says whether a sample is supported: where entailed is the likeliest class.
    """

    model: EntailmentModel
    premise: PremiseIs = PremiseIs.EVIDENCE
    three_way: bool = True

    @property
    def classes(self) -> tuple[Category, ...]:
        """Three, or none."""
        return (Category.SUPPORTIVE, Category.CONTRADICTORY, Category.IRRELEVANT) if self.three_way else ()

    def signature(self) -> str:
        """`nli:three-way|premise:evidence|model:NAME-HASH`."""
        kind = "three-way" if self.three_way else "binary"
        return f"nli:{kind}|premise:{self.premise}|model:{identity_name(self.model.identity)}"

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`."""
        source = iter(samples)
        while batch := list(islice(source, _BATCH)):
            entailments = self.model.entailments([self._pair(sample) for sample in batch])
            for sample, entailment in zip(batch, entailments, strict=True):
                shares = {
                    Category.SUPPORTIVE: entailment.entailed, Category.CONTRADICTORY: entailment.refuted,
                    Category.IRRELEVANT: entailment.neutral,
                }  # fmt: skip
                likeliest = max(shares, key=shares.__getitem__)
                if self.three_way:
                    yield of_category(sample, likeliest)
                else:
                    yield AttributionJudgement(id=sample.id, supported=likeliest is Category.SUPPORTIVE)

    def _pair(self, sample: AttributionSample) -> TextPair:
        evidence, statement = " ".join(sample.citations), f"{sample.question} {sample.statement}".strip()
        if self.premise is PremiseIs.EVIDENCE:
            return TextPair(evidence, sample.statement)
        return TextPair(statement, evidence)
