"""What questions with passages consist of: labels, passages by provider and relevance, deflections, ages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from granola.grounding.deflections import deflects
from granola.grounding.grounded_samples import GroundedSample, Relevance
from granola.grounding.passage_ages import FRESH, age_in_days

KINDS = 30  # values of a tag that are told


@dataclass(kw_only=True)
class GroundedStatistics:
    """Counts over questions; `tags` by tag and value, `providers` by provider and label."""

    questions: int = 0
    passages: int = 0
    deflections: int = 0
    references: int = 0
    cited: int = 0
    deflecting: int = 0
    words: int = 0
    tags: dict[str, Counter[str]] = field(default_factory=dict)
    providers: dict[str, Counter[str]] = field(default_factory=dict)
    sources: Counter[str] = field(default_factory=Counter)
    relevant_shares: dict[Relevance, list[float]] = field(default_factory=lambda: {one: [] for one in Relevance})
    aged: int = 0
    stale: int = 0
    unlabelled: int = 0

    def add(self, sample: GroundedSample) -> None:
        """Count a question."""
        self.questions += 1
        self.passages += len(sample.passages)
        self.deflections += sample.deflection
        self.cited += len(sample.cited or ())
        ids = [passage.id for passage in sample.passages]
        self.deflecting += bool(sample.reference.strip()) and deflects(sample.reference, ids) is not None
        if sample.reference.strip() and not sample.deflection:
            self.references += 1
            self.words += len(sample.reference.split())
        for tag, value in sample.tags.items():
            self.tags.setdefault(tag, Counter())[value] += 1
        self.sources[sample.source or "not told"] += 1
        for reading in Relevance:
            share = sample.relevant_share(reading)
            if share is not None:
                self.relevant_shares[reading].append(share)
        fast = sample.tags.get("time_sensitivity") == "fast-changing"
        for passage in sample.passages:
            told = passage.label or {True: "RELEVANT", False: "IRRELEVANT", None: "not labelled"}[passage.relevant]
            self.unlabelled += passage.label is None and passage.relevant is None
            self.providers.setdefault(passage.provider or "not told", Counter())[told] += 1
            age = age_in_days(sample, passage)
            self.aged += age is not None
            self.stale += fast and age is not None and age > FRESH and passage.label == "ANSWER-THE-QUESTION"

    def to_json(self) -> dict[str, Any]:
        """All of it; tags with more than KINDS values by their number alone."""
        return {
            "questions": self.questions,
            "passages": self.passages,
            "passages_a_question": self.passages / self.questions if self.questions else None,
            "deflection_expected": self.deflections,
            "references_that_deflect_by_rules": self.deflecting,
            "answerable": self.questions - self.deflections,
            "words_of_a_reference": self.words / self.references if self.references else None,
            "citations_of_a_reference": self.cited / self.references if self.references else None,
            "sources": _sorted(self.sources),
            "providers": {name: _sorted(own) for name, own in sorted(self.providers.items())},
            "relevant_share": {
                str(reading): sum(shares) / len(shares) if shares else None
                for reading, shares in self.relevant_shares.items()
            },
            "passages_not_labelled": self.unlabelled,
            "passages_with_age": self.aged,
            "answers_older_than_7_days_of_fast_changing_questions": self.stale,
            "tags": {
                tag: _sorted(own) if len(own) <= KINDS else {"different values": len(own)}
                for tag, own in sorted(self.tags.items())
            },
        }


def statistics_of(samples: Iterable[GroundedSample]) -> GroundedStatistics:
    """The counts of all."""
    statistics = GroundedStatistics()
    for sample in samples:
        statistics.add(sample)
    return statistics


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
