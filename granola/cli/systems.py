"""Several prediction files scored against one tiered file, for the verbs that compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from granola.cli.judging import check_matcher, judge_ahead, opened_matcher

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow, TieredRow
    from granola.predictions import PredictionFile
    from granola.scoring import ScoreReport

TIERED = typer.Argument(..., metavar="TIERED", help="Tiered rows, as `granola tiers` writes them; - is standard input.")
PREDICTIONS = typer.Argument(
    ...,
    metavar="PRED...",
    help='A prediction file a system: {"id", "prediction"} and maybe "confidence" and other metrics as numbers.',
)
LAMBDA = typer.Option(0.5, "--lambda", help="Informativeness of level k is exp(-lambda (k - 1)); 0 or more.")
SEED = typer.Option(0, "--seed", help="Seed of the bootstrap and the permutation tests.")
RESAMPLES = typer.Option(1000, "--resamples", help="Bootstrap resamples and permutations, 1 or more.")
BY = typer.Option(
    None, "--by", metavar="FIELD", help="Scores by the values of this field of the rows; a.b leads inside."
)
POPULARITY = typer.Option(
    None, "--popularity", metavar="FIELD", help="Scores by bins of equal size of this field of the rows, a number."
)
BINS = typer.Option(5, "--bins", help="How many bins --popularity makes, 1 or more.")
ALLOW_MISSING = typer.Option(
    False, "--allow-missing", help="Leave questions without a prediction unscored instead of stopping."
)
IGNORE_UNKNOWN = typer.Option(
    False, "--ignore-unknown", help="Leave out predictions for unknown ids instead of stopping."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Systems:
    """What was read and how each system scored; `reports` and `files` in the order given."""

    rows: Sequence[TieredRow]
    files: Sequence[PredictionFile]
    reports: Sequence[ScoreReport]
    rejected: Sequence[RejectedRow]


def score_systems(
    tiered: str,
    predictions: Sequence[str],
    *,
    matcher: str,
    tau: float | None,
    judge: str | None,
    answers: Path | None,
    out: Path | None,
    lambda_: float,
    seed: int,
    resamples: int,
    allow_missing: bool,
    ignore_unknown: bool,
) -> Systems:
    """Every system's scores; rejected rows are told on stderr. Raises what `scoring.score` raises."""
    from abstraction.rows import read_tiered
    from granola import scoring
    from granola.cli.output import check_standard_input, readable, report_rejects
    from granola.errors import PredictionError
    from granola.predictions import read_predictions
    from granola.signature import short_hash, snapshot_of

    check_matcher(matcher, tau=tau, judge=judge, answers=answers)
    check_standard_input([tiered, *predictions])
    rejected: list[RejectedRow] = []
    with readable(tiered) as held:
        rows = list(read_tiered(held, on_reject=rejected.append))
        tiers_hash = short_hash(held)
    if not rows:
        reason = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
        raise PredictionError(f"{tiered} has no tiered row{reason}; make one with granola tiers")
    report_rejects(tiered, rejected)
    files = [read_predictions(path) for path in predictions]
    names = names_of_systems(predictions)
    reports = []
    inputs = [tiered, *predictions]
    with opened_matcher(matcher, tau=tau, judge=judge, answers=answers, out=out, inputs=inputs) as chosen:
        for name, given in zip(names, files, strict=True):
            report_rejects(given.name, given.rejected)
            judge_ahead(chosen, rows, given)
            reports.append(
                scoring.score(
                    rows,
                    given,
                    chosen,
                    lambda_=lambda_,
                    times=resamples,
                    seed=seed,
                    system=name,
                    allow_missing=allow_missing,
                    ignore_unknown=ignore_unknown,
                    rejected_rows=len(rejected),
                    tiers_hash=tiers_hash,
                    snapshot=snapshot_of(tiered),
                )
            )
    return Systems(
        rows=rows, files=files, reports=reports, rejected=[*rejected, *(row for f in files for row in f.rejected)]
    )


def names_of_systems(paths: Sequence[str]) -> list[str]:
    """The files' names without their endings and what they all begin with, made different where they are not."""
    stems = ["stdin" if path == "-" else Path(path).name.split(".")[0] or path for path in paths]
    if len(stems) > 1 and all(stem.startswith("predictions-") and len(stem) > 12 for stem in stems):
        stems = [stem.removeprefix("predictions-") for stem in stems]
    return [stem if stems.count(stem) == 1 else f"{stem} ({number})" for number, stem in enumerate(stems, start=1)]


def groups_of(
    rows: Sequence[TieredRow], *, by: str | None, popularity: str | None, bins: int
) -> dict[str, Mapping[str, str]]:
    """The groupings asked for by their titles. Raises MatcherError for a field that no row has."""
    from granola.grouping import by_bins, by_column

    found: dict[str, Mapping[str, str]] = {}
    if by is not None:
        found[by] = by_column(rows, by)
    if popularity is not None:
        found[f"{popularity}, bins of equal size"] = by_bins(rows, popularity, bins)
    return found
