"""Evaluators without any text model: the graph, and the most frequent category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category
from granola.attribution.evaluators import AttributionJudgement, of_category
from granola.attribution.graph_verdicts import GraphVerdicts
from granola.code_hash import hash_of_modules
from kg.queries import StoreFacts


class GraphEvaluator:
    """Looks the names of citations up and tests the query on them; see `granola.attribution.graph_verdicts`."""

    def __init__(self, facts: StoreFacts) -> None:
        self._verdicts = GraphVerdicts(facts)
        self._snapshot = str(facts.store.manifest()["snapshot_id"])[:8]

    @property
    def classes(self) -> tuple[Category, ...]:
        """All four."""
        return tuple(Category)

    def signature(self) -> str:
        """`graph|snapshot:ID|v:HASH`."""
        return f"graph|snapshot:{self._snapshot}|v:{hash_of_modules('granola.attribution.graph_verdicts')}"

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`; a sample without a query that the graph answers has no verdict."""
        for sample in samples:
            category = self._verdicts.category(sample)
            if category is None:
                yield AttributionJudgement(id=sample.id, failed="no query that the graph answers")
            else:
                yield of_category(sample, category)


@dataclass(frozen=True, kw_only=True, slots=True)
class MajorityEvaluator:
    """Says the same of every sample: what most samples of a training side are."""

    category: Category

    @classmethod
    def trained(cls, samples: Iterable[AttributionSample]) -> MajorityEvaluator:
        """Of samples with categories; ties go to the first in the order of categories."""
        counts = Counter(sample.category for sample in samples if sample.category is not None)
        return cls(category=max(Category, key=lambda category: counts[category]))

    @property
    def classes(self) -> tuple[Category, ...]:
        """The one."""
        return (self.category,)

    def signature(self) -> str:
        """`majority:CATEGORY`."""
        return f"majority:{self.category.replace(' ', '-')}"

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`."""
        return (of_category(sample, self.category) for sample in samples)
