"""`granola grounding describe`: what a file of questions with passages consists of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from granola.errors import UsageError
from granola.runs.grounding.grounding_settings import GroundedQuestions
from granola.runs.settings import Run
from granola.runs.shared_settings import AsJson
from granola.terminal_lines import TextTable, show_lines


@dataclass(frozen=True, kw_only=True)
class GroundingDescribeRun(Run):
    """Count questions, passages, labels, providers, ages, expected deflections, and what was not understood."""

    verb: ClassVar[str] = "grounding describe"

    questions: GroundedQuestions
    as_json: AsJson = False

    def run(self) -> QuestionsDescribed:
        """Read and count. Raises UsageError where there is no question."""
        from granola.grounding.grounded_rows import read_grounded
        from granola.grounding.sample_statistics import statistics_of

        rejected: list[Any] = []
        unknown: Counter[str] = Counter()
        statistics = statistics_of(read_grounded(self.questions, on_reject=rejected.append, unknown=unknown))
        if not statistics.questions:
            more = f"; its first row: {rejected[0].reason}" if rejected else ""
            raise UsageError(f"{self.questions} has no question with passages{more}")
        counts = {**statistics.to_json(), "not_understood": dict(unknown.most_common())}
        return QuestionsDescribed(settings=self, counts=counts, rejected=rejected)


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionsDescribed:
    """Counts of a file, as `GroundedStatistics.to_json` gives them, with `not_understood`."""

    settings: GroundingDescribeRun
    counts: Mapping[str, Any]
    rejected: Sequence[Any]

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.rejected)

    def show(self) -> None:
        """A line a count, tables under their name."""
        from granola.runs.outputs import print_json, report_rejects

        if self.settings.as_json:
            print_json({"schema_version": 1, **self.counts}, indent=1)
        else:
            show_lines(TextTable(rows=[row for name, value in self.counts.items() for row in _rows(name, value)]))
        report_rejects(str(self.settings.questions), self.rejected)


def _rows(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    label = "  " * depth + (str(name)[:80] if depth else name.replace("_", " "))
    if isinstance(value, Mapping):
        yield label + ("" if value else ": none"), ""
        for key, inner in value.items():
            yield from _rows(key, inner, depth + 1)
    elif isinstance(value, float):
        yield label, f"{value:,.3f}"
    else:
        yield label, "-" if value is None else f"{value:,}"
