"""FActScore of samples: the share of the facts that an answer needs which its citations support.

Hu et al. 2025 (CAQA), section 5.4: of partially supportive samples, automatically by the triples that are left, or by
what an evaluator says of each fact; the gap to people is |score - theirs|.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.evaluators import AttributionJudgement

# Table 6, on 200 partially supportive samples; people say 0.58.
PAPER_HUMAN, PAPER_AUTOMATIC = 0.58, 0.62


def automatic_score(sample: AttributionSample) -> float:
    """Facts of the subgraph that the evidence still states / all of them; NaN without a subgraph."""
    if not sample.subgraph:
        return math.nan
    left = {(fact.subject, fact.property, fact.object, fact.qualifier) for fact in sample.evidence}
    kept = sum((fact.subject, fact.property, fact.object, fact.qualifier) in left for fact in sample.subgraph)
    return kept / len(sample.subgraph)


def fact_samples(sample: AttributionSample) -> Iterator[AttributionSample]:
    """Each fact of the undamaged subgraph as a statement of its own, with the sample's citations."""
    for number, fact in enumerate(sample.subgraph, 1):
        yield replace(sample, id=f"{sample.id}/{number}", statement=fact.text, category=None)


def judged_score(judgements: Sequence[AttributionJudgement]) -> float:
    """The share of facts that an evaluator calls supported; all other labels count as not; NaN for none."""
    supported = [judgement.supported is True for judgement in judgements]
    return sum(supported) / len(supported) if supported else math.nan


def mean_score(scores: Iterable[float]) -> float:
    """The mean of the scores that are numbers; NaN for none."""
    there = [score for score in scores if not math.isnan(score)]
    return math.fsum(there) / len(there) if there else math.nan
