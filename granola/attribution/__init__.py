"""Does evidence support an answer? Benchmarks of that made from a graph, and evaluators held against them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from granola.attribution.attribution_samples import AttributionSample, CitedFact, read_samples, write_samples
    from granola.attribution.categories import Category, Complexity

__all__ = ["AttributionSample", "Category", "CitedFact", "Complexity", "read_samples", "write_samples"]
_MODULES = {
    "AttributionSample": ".attribution_samples",
    "Category": ".categories",
    "CitedFact": ".attribution_samples",
    "Complexity": ".categories",
    "read_samples": ".attribution_samples",
    "write_samples": ".attribution_samples",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
