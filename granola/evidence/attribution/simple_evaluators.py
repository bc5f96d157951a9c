"""Evaluators without a text model: by the facts of a sample, and by word overlap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from granola.base.code_hash import hash_of_modules
from granola.evidence.attribution.attribution_samples import AttributionSample
from granola.evidence.attribution.categories import Category
from granola.evidence.attribution.evaluation import facts_in_evidence
from granola.evidence.attribution.evaluators import AttributionJudgement, category_judgement
from granola.evidence.attribution.label_proofs import why_unproven
from kg.errors import GroundingError
from kg.graph import Fact, Grounding, LogicalQuery, StoreFacts, ground


class GraphEvaluator:
    """Labels a sample by the facts in its row: the query is run on them and on a store.

    It reads no text. It shows whether labels are valid for another snapshot, and gives an upper bound for evaluators.
    """

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts

    def signature(self) -> str:
        """`graph|snapshot:ID|v:HASH`."""
        snapshot = str(self._facts.store.manifest()["snapshot_id"])[:8]
        return f"graph|snapshot:{snapshot}|v:{hash_of_modules('granola.evidence.attribution.label_proofs')}"

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`; a sample without a query that the graph answers has no verdict."""
        for sample in samples:
            truth = None if sample.query is None else self._truth(LogicalQuery.from_json(sample.query))
            evidence = (tuple(Fact(one.subject, one.property, one.object, one.qualifier) for one in sample.evidence),)
            holds = (one for one in Category if truth and why_unproven(one, truth, evidence, self._facts) is None)
            category = next(holds, None)
            if category is None:
                why = "no category is proved" if truth else "no query that the graph answers"
                yield AttributionJudgement(id=sample.id, failed=why)
            else:
                yield category_judgement(sample, category)

    def fact_verdicts(self, samples: Sequence[AttributionSample]) -> Iterator[tuple[bool | None, ...]]:
        """See `evaluators.fact_verdicts`: the stated facts are known, so this equals the automatic score."""
        return map(facts_in_evidence, samples)

    def _truth(self, query: LogicalQuery) -> Grounding | None:
        try:
            truth = ground(query, self._facts)
        except GroundingError:
            return None
        return truth if truth.answers else None


# Word overlap.


@dataclass(frozen=True, kw_only=True, slots=True)
class WordEvaluator:
    """A baseline: supported if the citations contain at least `share` of the words of the statement.

    Words have four letters or more; it is two-way.
    """

    share: float = 0.6

    def signature(self) -> str:
        """`words|share:S`."""
        return f"words|share:{self.share:g}"

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`."""
        for sample in samples:
            words, there = long_words(sample.statement), long_words(" ".join(sample.citations))
            # A statement without long words claims nothing that could be missing.
            supported = not words or len(words & there) / len(words) >= self.share
            yield AttributionJudgement(id=sample.id, supported=supported)


def long_words(text: str) -> frozenset[str]:
    """The case-folded words of at least four letters."""
    return frozenset(re.findall(r"\w{4,60}", text.casefold()[:200_000]))
