"""What is in a benchmark: counts as in Table 4 of Hu et al. 2025 (CAQA), lengths of citations, domains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category, Complexity

# Table 4: training, testing, all.
PAPER_COUNTS: Mapping[str, tuple[int, int, int]] = {
    "all": (137_211, 23_963, 161_174),
    Category.SUPPORTIVE: (39_489, 6_668, 46_157),
    Category.PARTIAL: (28_868, 5_065, 33_933),
    Category.CONTRADICTORY: (36_620, 6_423, 43_043),
    Category.IRRELEVANT: (32_234, 5_807, 38_041),
    Complexity.SINGLE: (73_795, 10_443, 84_238),
    Complexity.CONCATENATION: (46_783, 8_455, 55_238),
    Complexity.UNION: (5_347, 886, 6_233),
    Complexity.INTERSECTION: (11_286, 4_179, 15_465),
}
BIN = 5  # words: the width of a bar of the histogram of lengths
DOMAINS = 15


def counts(samples: Iterable[AttributionSample]) -> dict[str, int]:
    """Samples: all, by category, by complexity, with the keys of `PAPER_COUNTS`."""
    tally = Counter[str]()
    for sample in samples:
        tally["all"] += 1
        if sample.category is not None:
            tally[sample.category] += 1
        if sample.complexity is not None:
            tally[sample.complexity] += 1
    return {str(key): tally[key] for key in PAPER_COUNTS}


def cross_counts(samples: Iterable[AttributionSample]) -> dict[str, dict[str, int]]:
    """Samples by complexity, then by category."""
    number_of = Counter((sample.complexity, sample.category) for sample in samples)
    return {str(row): {str(column): number_of[row, column] for column in Category} for row in Complexity}


def lengths(samples: Iterable[AttributionSample]) -> dict[int, int]:
    """How many samples have citations of so many words in all; the key is the lowest of `BIN` lengths. Figures 3, 4."""
    number_of = Counter(sum(len(citation.split()) for citation in sample.citations) // BIN * BIN for sample in samples)
    return dict(sorted(number_of.items()))


def domains(samples: Iterable[AttributionSample], class_of: Callable[[str], str | None]) -> dict[str, int]:
    """How many questions start from an entity of each class, most first; the rest as "other". Figure 5."""
    tally = Counter[str]()
    for sample in samples:
        branches = (sample.query or {}).get("branches", ())
        if branches:
            tally[class_of(branches[0]["start"]) or "without a class"] += 1
    most = tally.most_common(DOMAINS)
    others = sum(tally.values()) - sum(number for _, number in most)
    return {**dict(most), **({"other": others} if others else {})}


def table(sides: Mapping[str, Sequence[AttributionSample]]) -> list[str]:
    """Lines of Table 4's layout in Markdown, the paper's shares beside."""
    tallies = {name: counts(samples) for name, samples in sides.items()}
    whole = {key: sum(tally[key] for tally in tallies.values()) for key in map(str, PAPER_COUNTS)}
    lines = [f"| | {' | '.join(tallies)} | all | share | in the paper |", f"|---|{'---|' * (len(tallies) + 3)}"]
    for key, (_, _, theirs) in PAPER_COUNTS.items():
        cells = [f"{tally[key]:,}" for tally in tallies.values()]
        share = whole[key] / whole["all"] if whole["all"] else 0.0
        lines.append(
            f"| {key} | {' | '.join(cells)} | {whole[key]:,} | {share:.1%} | {theirs / PAPER_COUNTS['all'][2]:.1%} |"
        )
    return lines


def statistics(
    sides: Mapping[str, Sequence[AttributionSample]], class_of: Callable[[str], str | None]
) -> dict[str, Any]:
    """Everything above, as JSON has it."""
    return {
        "counts": {name: counts(samples) for name, samples in sides.items()},
        "categories_by_complexity": {name: cross_counts(samples) for name, samples in sides.items()},
        "citation_words": {name: lengths(samples) for name, samples in sides.items()},
        "domains": {name: domains(samples, class_of) for name, samples in sides.items()},
        "sources": {
            name: dict(Counter(str(sample.provenance.get("source")) for sample in samples).most_common())
            for name, samples in sides.items()
        },
    }
