"""What the runs that score share: `score`, `compare` and `report`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from granola.runs.scores.matcher_settings import JudgeAnswers, JudgeModel, MatcherName, MatchingWorkers, Tau
from granola.runs.settings import Setting, recorded
from granola.runs.shared_settings import Resamples

if TYPE_CHECKING:
    from granola.scoring.metrics import Standard

SystemFiles = Annotated[
    tuple[str, ...],
    Setting(
        'A prediction file a system: {"id", "prediction"} and maybe "confidence" and other metrics as numbers.',
        metavar="PRED...",
        positional=True,
    ),
]


class StandardName(StrEnum):
    """What `--standard` takes."""

    ALIASES = "aliases"
    GOLD = "gold"


class Join(StrEnum):
    """What `--join` takes."""

    ID = "id"
    QUESTION = "question"


@dataclass(frozen=True, kw_only=True)
class ScoringSettings:
    """How predictions are scored, as `granola.scoring.scores.score` takes it."""

    matcher: MatcherName = "rules"
    tau: Tau = None
    judge: JudgeModel = None
    answers: JudgeAnswers = None
    lambda_: Annotated[float, Setting("Informativeness of level k is exp(-lambda (k - 1)); 0 or more.")] = 0.5
    standard: Annotated[
        StandardName | None,
        Setting(
            "The names of level 1, for every score: the gold answers alone, as in the paper (gold), or their aliases "
            "as well (aliases). The tables also have both accuracies by the other. Default: gold for "
            "--matcher f1, else "
            "aliases."
        ),
    ] = None
    seed: Annotated[int, Setting("Seed of the bootstrap and the permutation tests.")] = 0
    resamples: Resamples = 1000
    join: Annotated[
        Join,
        Setting(
            "How predictions find their rows: by id, or by the words of the question (predictions then "
            "need a field question)."
        ),
    ] = Join.ID
    allow_missing: Annotated[bool, Setting("Leave questions without a prediction unscored instead of stopping.")] = (
        False
    )
    ignore_unknown: Annotated[bool, Setting("Leave out predictions for unknown ids instead of stopping.")] = False
    workers: MatchingWorkers = 1

    @property
    def first_level(self) -> Standard | None:
        """The standard, None for the matcher's usual one."""
        return None if self.standard is None else self.standard.value

    def resolved(self) -> dict[str, Any]:
        """The settings for a run record; of defaults that depend on the matcher, the values that they had."""
        from granola.matching import F1Matcher
        from granola.scoring.metrics import usual_standard

        settings = recorded(self, ScoringSettings)
        settings["standard"] = self.first_level or usual_standard(self.matcher)
        if self.matcher == "f1" and self.tau is None:
            settings["tau"] = F1Matcher().tau
        return settings


@dataclass(frozen=True, kw_only=True)
class GroupSettings:
    """By what questions are grouped."""

    by: Annotated[
        tuple[str, ...],
        Setting(
            "Scores by the values of this field of the rows; a.b leads inside, levels counts them. May be repeated.",
            metavar="FIELD",
        ),
    ] = ()
    popularity: Annotated[
        tuple[str, ...],
        Setting("Scores by bins of equal size of this field of the rows, a number. May be repeated.", metavar="FIELD"),
    ] = ()
    page_views: Annotated[
        str | None,
        Setting(
            "Scores by bins of the page views of the entity asked about: two columns, a title or QID and a number.",
            metavar="FILE",
        ),
    ] = None
    bins: Annotated[int | None, Setting("How many bins --popularity and --page-views make, 1 or more. Default: 5.")] = (
        None
    )
