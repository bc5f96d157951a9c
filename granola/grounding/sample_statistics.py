"""What questions with passages consist of: passages by provider and label, expected deflections, tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import fmean
from typing import Any

from granola.grounding.grounded_samples import GroundedSample, Relevance

_RELEVANT = {True: "RELEVANT", False: "IRRELEVANT", None: "not labelled"}  # of passages without a second label


def statistics_of(given: Iterable[GroundedSample]) -> dict[str, Any]:
    """Counts over questions as JSON has them: most frequent values first, None for a mean of nothing."""
    samples = list(given)
    passages = [passage for sample in samples for passage in sample.passages]
    deflections = sum(sample.deflection for sample in samples)
    shares = {
        reading: [share for sample in samples if (share := sample.relevant_share(reading)) is not None]
        for reading in Relevance
    }
    tags = sorted({tag for sample in samples for tag in sample.tags})
    providers = sorted({passage.provider or "not told" for passage in passages})
    return {
        "questions": len(samples),
        "passages": len(passages),
        "deflection_expected": deflections,
        "answerable": len(samples) - deflections,
        "sources": _counts(sample.source or "not told" for sample in samples),
        "providers": {
            name: _counts(
                one.label or _RELEVANT[one.relevant] for one in passages if (one.provider or "not told") == name
            )
            for name in providers
        },
        "relevant_share": {str(reading): fmean(own) if own else None for reading, own in shares.items()},
        "tags": {tag: _counts(sample.tags[tag] for sample in samples if tag in sample.tags) for tag in tags},
    }


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda one: (-one[1], one[0])))
