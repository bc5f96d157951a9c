"""`granola grounding describe`: what a file of questions with passages consists of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from granola.errors import UsageError
from granola.runs.grounding.grounding_settings import GroundedQuestions
from granola.runs.settings import Run


@dataclass(frozen=True, kw_only=True)
class GroundingDescribeRun(Run):
    """Count questions, passages, labels, providers, expected deflections and tags, and what was not understood."""

    verb: ClassVar[str] = "grounding describe"

    questions: GroundedQuestions

    def run(self) -> QuestionsDescribed:
        """Read and count. Raises UsageError where there is no question."""
        from granola.grounding.grounded_rows import read_grounded
        from granola.grounding.sample_statistics import statistics_of

        rejected: list[Any] = []
        unknown: Counter[str] = Counter()
        counts = statistics_of(read_grounded(self.questions, on_reject=rejected.append, unknown=unknown))
        if not counts["questions"]:
            more = f"; its first row: {rejected[0].reason}" if rejected else ""
            raise UsageError(f"{self.questions} has no question with passages{more}")
        counts["not_understood"] = dict(unknown.most_common())
        return QuestionsDescribed(source=str(self.questions), counts=counts, rejected=rejected)


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionsDescribed:
    """Counts of a file, as `statistics_of` gives them, with `not_understood`."""

    source: str
    counts: Mapping[str, Any]
    rejected: Sequence[Any]

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.rejected)

    def show(self) -> None:
        """The counts as JSON; rejected rows on standard error."""
        from granola.runs.outputs import print_json, report_rejects

        print_json({"schema_version": 1, **self.counts}, indent=1)
        report_rejects(self.source, self.rejected)
