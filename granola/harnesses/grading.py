"""Shared by the harnesses: the questions of a tiered file, and the scores of one answer.

Every score is defined for every answer, so that a harness's plain mean is the metric of that name; over the answers
that did not abstain, GRANOLA accuracy is `granola_accuracy` divided by `coverage`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from abstraction.base.faults import RejectedRow
from abstraction.files.rows import read_tiered
from granola.errors import PredictionError
from granola.matching import Verdict
from granola.scoring.metrics import LAMBDA, Outcome, Standard, language_of, metrics, names_of

# metrics that are defined for a single answer
SCORES = ("granola_accuracy", "standard_accuracy", "informativeness", "coverage")
PROMPT = "Question: {question}\nAnswer:"


@dataclass(frozen=True, kw_only=True, slots=True)
class HarnessQuestion:
    """A question of a harness, from a row; `levels` are the acceptable names, finest first."""

    id: str
    question: str
    levels: tuple[tuple[str, ...], ...]
    language: str = "en"


def harness_questions(tiered: Path | str, standard: Standard = "aliases") -> Iterator[HarnessQuestion]:
    """Yield the questions of a tiered file for a harness; `standard` as in `granola.scoring.scores.names_of`.

    Raises PredictionError for a damaged row: a harness has no place for rejects.
    """
    rejected: list[RejectedRow] = []
    for row in read_tiered(tiered, on_reject=rejected.append):
        yield HarnessQuestion(
            id=row.id,
            question=row.question,
            levels=tuple(map(tuple, names_of(row, standard))),
            language=language_of(row) or "en",
        )
    if rejected:
        first = rejected[0]  # one example is enough to find the cause
        raise PredictionError(f"{first.source}: {first.reason}; mend or leave out {len(rejected)} rows of {tiered}")


def scores_of_verdict(verdict: Verdict, lambda_: float = LAMBDA) -> dict[str, float]:
    """The scores of one answer by their names in SCORES, each in [0, 1]."""
    outcome = Outcome(level=verdict.level, abstained=verdict.abstained)
    by_name = {metric.name: metric for metric in metrics(lambda_)}
    # an answer that a metric does not count scores 0.0
    return {name: by_name[name].adds(outcome) or 0.0 for name in SCORES}
