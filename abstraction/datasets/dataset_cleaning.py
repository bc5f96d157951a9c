"""Cleaning a dataset as in GRANOLA-EQ's appendix B: steps in a fixed order, each counted and each optional.

Trivial answers go last, so that a row whose coarser answers are all trivial is kept, with its gold answer alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstraction.base.relations import ANY, relation
from abstraction.base.tiers import Abstention, Level
from abstraction.errors import DatasetError
from abstraction.text.language.phrases import without_article

if TYPE_CHECKING:
    from abstraction.files.rows import TieredRow

SCORE = "score_for_potential_error"  # GRANOLA-EQ's column: the share of samples that call the row inconsistent
MOST = 0.5  # in [0, 1]; a row with a greater score counts as an error


class CleaningStep(StrEnum):
    """The steps in their order; `SEVERAL_ANSWERS` is applied to the questions, before ladders are made."""

    SEVERAL_ANSWERS = "several-answers"
    INCONSISTENT_DESCRIPTIONS = "inconsistent-descriptions"
    MISSING_ANSWERS = "missing-answers"
    DUPLICATE_ANSWERS = "duplicate-answers"
    TRIVIAL_ANSWERS = "trivial-answers"


STEPS = tuple(CleaningStep)
WHAT_STEPS_DO = {
    CleaningStep.SEVERAL_ANSWERS: "questions with more than one gold answer",
    CleaningStep.INCONSISTENT_DESCRIPTIONS: f"rows whose `{SCORE}` is above the threshold",
    CleaningStep.MISSING_ANSWERS: "rows with an empty answer, or with no coarser answer than the gold one",
    CleaningStep.DUPLICATE_ANSWERS: "rows that give the same answer twice",
    CleaningStep.TRIVIAL_ANSWERS: "coarser answers that are on the list of trivial ones (the answers go, not the row)",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Dropped:
    """A dropped row: the step that dropped it, and the reason."""

    step: CleaningStep
    reason: str


@dataclass(kw_only=True, slots=True)
class StepCount:
    """The counts of one step: rows that reached it, rows and answers that it removed, rows that it could not judge.

    `gold_answer_alone`: rows that keep only the gold answer.
    """

    rows: int = 0
    dropped: int = 0
    answers_taken_out: int = 0
    unjudged: int = 0
    gold_answer_alone: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        """The counts as a JSON object."""
        return {**asdict(self), "reasons": dict(sorted(self.reasons.items()))}


class Cleaner:
    """Applies the steps to tiered rows and counts, step by step. `counts` has an entry for each step in use.

    `trivial` are texts that are no coarser answer for any question, in addition to those of the row's relation. `most`
    is the greatest score, in [0, 1], with which a row is kept; rows without a score are kept and count as unjudged.
    """

    def __init__(
        self, *, steps: Collection[CleaningStep] = STEPS, trivial: Iterable[str] = (), most: float = MOST
    ) -> None:
        self.counts = {step: StepCount() for step in STEPS if step in steps}
        self._most = most
        self._given = frozenset(without_article(text) for text in trivial)
        self._trivial: dict[str | None, frozenset[str]] = {}

    def clean(self, row: TieredRow) -> TieredRow | Dropped:
        """The cleaned row, or the reason why it is dropped."""
        for step, count in self.counts.items():
            if step is CleaningStep.SEVERAL_ANSWERS:
                continue
            count.rows += 1
            if step is CleaningStep.TRIVIAL_ANSWERS:
                row, taken = self._without_trivial_answers(row)
                count.answers_taken_out += taken
                count.gold_answer_alone += len(row.levels) == 1
                continue
            reason = self._reason_to_drop(step, row, count)
            if reason is not None:
                return self._count_dropped(step, reason)
        return row

    def drop_if_several_answers(self, *, one_answer: bool) -> Dropped | None:
        """Apply the first step to a question: Dropped if it has several answers and the step is in use, else None."""
        count = self.counts.get(CleaningStep.SEVERAL_ANSWERS)
        if count is None:
            return None
        count.rows += 1
        return None if one_answer else self._count_dropped(CleaningStep.SEVERAL_ANSWERS, "several answers")

    def _count_dropped(self, step: CleaningStep, reason: str) -> Dropped:
        self.counts[step].dropped += 1
        self.counts[step].reasons[reason] += 1
        return Dropped(step=step, reason=reason)

    def _reason_to_drop(self, step: CleaningStep, row: TieredRow, count: StepCount) -> str | None:
        from abstraction.files.row_models import finite_number

        if step is CleaningStep.MISSING_ANSWERS:
            texts = [tier.text for level in row.levels for tier in level.tiers]
            if not all(text.strip() for text in texts):
                return "an answer is empty"
            # Coarser answers exist, but are trivial: such rows are kept, as by the last step.
            if len(row.levels) > 1 or row.abstained in (Abstention.ONLY_TRIVIAL, Abstention.TOLD):
                return None
            return row.abstained or "no coarser answer"
        if step is CleaningStep.DUPLICATE_ANSWERS:
            names = [without_article(tier.text) for level in row.levels for tier in level.tiers]
            return None if len(set(names)) == len(names) else "an answer occurs twice"
        score = finite_number(row.extra.get(SCORE))
        if score is None:
            count.unjudged += 1
            return None
        return None if score <= self._most else "the score is above the threshold"

    def _without_trivial_answers(self, row: TieredRow) -> tuple[TieredRow, int]:
        if row.relation not in self._trivial:
            asked = relation(row.relation) if row.relation else ANY
            self._trivial[row.relation] = asked.trivial | ANY.trivial | self._given
        trivial = self._trivial[row.relation]
        levels, taken = [row.levels[0]], 0
        for level in row.levels[1:]:
            tiers = tuple(tier for tier in level.tiers if without_article(tier.text) not in trivial)
            taken += len(level.tiers) - len(tiers)
            if tiers:
                levels.append(level if len(tiers) == len(level.tiers) else Level(tiers=tiers, extra=level.extra))
        return (replace(row, levels=tuple(levels)), taken) if taken else (row, 0)


def read_trivial_answers(path: Path) -> tuple[str, ...]:
    """The texts in a list of trivial answers, one per line; `#` begins a comment. Raises DatasetError, OSError."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # some editors write a byte order mark
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} is not UTF-8 ({error}); expected a list of trivial answers, one a line") from error
    return tuple(text for line in lines if (text := line.partition("#")[0].strip()))
