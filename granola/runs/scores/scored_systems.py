"""Prediction files scored against one tiered file, for the runs that score and compare them."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from granola.runs.scores.matcher_settings import (
    check_matcher,
    check_workers,
    judge_ahead,
    opened_matcher,
    warn_of_answer_languages,
)
from granola.runs.scores.scoring_settings import ScoringSettings

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow, TieredRow
    from granola.scoring.items import ItemScore
    from granola.scoring.predictions import PredictionFile
    from granola.scoring.scores import ScoreReport
    from granola.scoring.tiered_file import TieredFile


@dataclass(frozen=True, kw_only=True, slots=True)
class Systems:
    """What was read and how each system scored; `reports` and `files` in the order given.

    `faults` are the predictions that could not be matched by a fault of the program.
    """

    tiered: TieredFile
    files: Sequence[PredictionFile]
    reports: Sequence[ScoreReport]
    faults: Sequence[RejectedRow] = ()

    @property
    def rows(self) -> Sequence[TieredRow]:
        """The questions in the order of the tiered file."""
        return self.tiered.rows

    @property
    def rejected(self) -> list[RejectedRow]:
        """Every rejected row, those of the tiered file first."""
        return [*self.tiered.rejected, *(row for file in self.files for row in file.rejected), *self.faults]


def score_systems(
    tiered: str,
    predictions: Sequence[str],
    settings: ScoringSettings,
    *,
    out: Path | None = None,
    on_item: Callable[[ItemScore], None] | None = None,
    keep_items: bool = True,
) -> Systems:
    """Every system's scores; rejected rows are told on stderr.

    `out` is what a judge's answers are kept beside; `on_item` and `keep_items` as in `granola.scoring.scores.score`.
    Raises UsageError and what `granola.scoring.scores.score` raises.
    """
    from granola.runs.outputs import check_standard_input, readable, report_rejects
    from granola.runs.scores.scoring_settings import Join
    from granola.scoring import scores
    from granola.scoring.predictions import QuestionIds, read_predictions
    from granola.scoring.tiered_file import read_tiered_file

    check_settings(settings)
    check_standard_input([tiered, *predictions])
    gc.set_threshold(100_000, 20, 100)  # rows and items stay: looking them through again and again takes a sixth of it
    with readable(tiered) as held:
        read = read_tiered_file(held, name=tiered)
    report_rejects(tiered, read.rejected)
    by_question = QuestionIds.of(read.rows) if settings.join is Join.QUESTION else None
    files = [read_predictions(path, by_question=by_question) for path in predictions]
    names = names_of_systems(predictions)
    reports = []
    faults: list[RejectedRow] = []
    with opened_matcher(
        settings.matcher,
        tau=settings.tau,
        judge=settings.judge,
        answers=settings.answers,
        out=out,
        inputs=[tiered, *predictions],
    ) as chosen:
        if settings.matcher != "judge":
            warn_of_answer_languages(read.languages)
        for name, file in zip(names, files, strict=True):
            report_rejects(file.name, file.rejected)
            judge_ahead(chosen, read.rows, file, settings.first_level or "aliases")
            before = len(faults)
            reports.append(
                scores.score(
                    read,
                    file,
                    chosen,
                    lambda_=settings.lambda_,
                    standard=settings.first_level,
                    resamples=settings.resamples,
                    seed=settings.seed,
                    system=name,
                    allow_missing=settings.allow_missing,
                    ignore_unknown=settings.ignore_unknown,
                    workers=settings.workers,
                    on_item=on_item,
                    keep_items=keep_items,
                    on_reject=faults.append,
                )
            )
            report_rejects(file.name, faults[before:])
    return Systems(tiered=read, files=files, reports=reports, faults=faults)


def check_settings(settings: ScoringSettings) -> None:
    """Raise for settings that do not go together, before anything is read."""
    from granola.scoring.bootstrap import check_resamples
    from granola.scoring.metrics import metrics

    check_matcher(settings.matcher, tau=settings.tau, judge=settings.judge, answers=settings.answers)
    metrics(settings.lambda_)
    check_resamples(settings.resamples)
    check_workers(settings.workers, settings.matcher)


def names_of_systems(paths: Sequence[str]) -> list[str]:
    """The files' names without their endings and what they all begin with, made different where they are not."""
    stems = ["stdin" if path == "-" else _ENDING.sub("", Path(path).name) or path for path in paths]
    if len(stems) > 1 and all(stem.startswith("predictions-") and len(stem) > 12 for stem in stems):
        stems = [stem.removeprefix("predictions-") for stem in stems]
    return [stem if stems.count(stem) == 1 else f"{stem} ({number})" for number, stem in enumerate(stems, start=1)]


_ENDING = re.compile(r"(?:\.(?:jsonl|ndjson|json|csv|tsv|parquet))?(?:\.gz)?\Z", re.IGNORECASE)
