"""Prediction files scored against one tiered file, for the verbs that score and compare them."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from granola.cli.matcher_options import (
    check_matcher,
    check_workers,
    judge_ahead,
    opened_matcher,
    warn_of_answer_languages,
)
from granola.cli.scoring_options import ScoringSettings

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
        return [*self.tiered.rejected, *(row for given in self.files for row in given.rejected), *self.faults]


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
    from granola.cli.output import check_standard_input, readable, report_rejects
    from granola.scoring import scores
    from granola.scoring.predictions import read_predictions
    from granola.scoring.tiered_file import read_tiered_file

    check_settings(settings)
    check_standard_input([tiered, *predictions])
    gc.set_threshold(100_000, 20, 100)  # rows and items stay: looking them through again and again takes a sixth of it
    with readable(tiered) as held:
        read = read_tiered_file(held, name=tiered, tiers_from=settings.tiers_from)
    report_rejects(tiered, read.rejected)
    files = [read_predictions(path) for path in predictions]
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
        for name, given in zip(names, files, strict=True):
            report_rejects(given.name, given.rejected)
            judge_ahead(chosen, read.rows, given, settings.standard or "aliases")
            before = len(faults)
            reports.append(
                scores.score(
                    read,
                    given,
                    chosen,
                    lambda_=settings.lambda_,
                    standard=settings.standard,
                    times=settings.resamples,
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
            report_rejects(given.name, faults[before:])
    return Systems(tiered=read, files=files, reports=reports, faults=faults)


def check_settings(settings: ScoringSettings) -> None:
    """Raise for settings that do not go together, before anything is read."""
    from granola.scoring.metrics import metrics
    from granola.scoring.scores import check_resamples

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


DEFAULT_BINS = 5
_ENDING = re.compile(r"(?:\.(?:jsonl|ndjson|json|csv|tsv|parquet))?(?:\.gz)?\Z", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Grouping:
    """A way to group questions: by `field`, in `bins` where it is a number."""

    field: str
    bins: int | None = None

    @property
    def title(self) -> str:
        """What a table of it is called."""
        return self.field if self.bins is None else f"{self.field}, bins of equal size"


def groupings(by: Sequence[str] | None, popularity: Sequence[str] | None, bins: int | None) -> list[Grouping]:
    """The groupings that options ask for, each once, columns first. Raises UsageError."""
    from granola.errors import UsageError
    from granola.scoring.grouping import BINS

    if bins is not None and bins < 1:
        raise UsageError(f"--bins is {bins}; allowed: 1 or more, as in --bins 5")
    if bins is not None and not popularity:
        raise UsageError("--bins goes with --popularity FIELD or --page-views FILE")
    found = [Grouping(field=name) for name in by or ()]
    found += [Grouping(field=name, bins=bins or BINS) for name in popularity or ()]
    return list(dict.fromkeys(found))


def with_popularity(
    rows: Sequence[TieredRow], popularity: Sequence[str] | None, page_views: str | None, project: str
) -> tuple[Sequence[TieredRow], list[str]]:
    """(the rows, the fields to group them by as popularity): page views where a file is given, then what is asked for.

    Where neither is, the sitelinks that rows carry of the entity asked about. Raises as `with_page_views`.
    """
    from granola.cli.output import count, note
    from granola.scoring.page_views import FIELD, SITELINKS, with_page_views

    fields = list(popularity or ())
    if page_views is not None:
        rows, found, unread = with_page_views(rows, page_views, project=project)
        lines = f"; {count(unread, 'line')} of the file could not be read" if unread else ""
        note(f"{page_views}: page views of {found:,} of {len(rows):,} entities asked about{lines}")
        fields.insert(0, FIELD)
    elif not fields and sum(isinstance(row.extra.get(SITELINKS), int) for row in rows) >= 2 * DEFAULT_BINS:
        fields.append(SITELINKS)
    elif not fields:
        note(
            f"no figure by popularity: give --page-views FILE; rows of granola tiers have {SITELINKS} where the "
            "snapshot counts them, and these have none or too few"
        )
    return rows, fields


def groups_of(rows: Sequence[TieredRow], asked: Sequence[Grouping]) -> dict[Grouping, Mapping[str, str]]:
    """The group of every row by its id, for each grouping. Raises MatcherError for a field that no row has."""
    from granola.scoring.grouping import by_bins, by_column

    return {
        one: by_column(rows, one.field) if one.bins is None else by_bins(rows, one.field, one.bins) for one in asked
    }
