"""The options that score, compare and report have alike, and the settings that they make."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from granola.cli.matcher_options import ANSWERS, JUDGE, MATCHER, TAU

if TYPE_CHECKING:
    from abstraction.assembly.reference_levels import Source
    from granola.scoring.metrics import Standard

TIERED = typer.Argument(..., metavar="TIERED", help="Tiered rows, as `granola tiers` writes them; - is standard input.")
PREDICTIONS = typer.Argument(
    ...,
    metavar="PRED...",
    help='A prediction file a system: {"id", "prediction"} and maybe "confidence" and other metrics as numbers.',
)
BY = typer.Option(
    None,
    "--by",
    metavar="FIELD",
    help="Scores by the values of this field of the rows; a.b leads inside, levels counts them. May be repeated.",
)
POPULARITY = typer.Option(
    None,
    "--popularity",
    metavar="FIELD",
    help="Scores by bins of equal size of this field of the rows, a number. May be repeated.",
)
PAGE_VIEWS = typer.Option(
    None,
    "--page-views",
    metavar="FILE",
    help="Scores by bins of the page views of the entity asked about: Wikimedia's page-view file, or two columns, a "
    "title or QID and a number.",
)
PAGE_VIEWS_OF = typer.Option("en.wikipedia", "--page-views-of", help="The wiki whose lines of --page-views count.")
BINS = typer.Option(None, "--bins", help="How many bins --popularity and --page-views make, 1 or more. Default: 5.")


class StandardName(StrEnum):
    """What `--standard` takes."""

    ALIASES = "aliases"
    GOLD = "gold"


class TiersFrom(StrEnum):
    """What `--tiers-from` takes."""

    LADDER = "ladder"
    REFERENCE = "reference"


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoringSettings:
    """How predictions are scored, as `granola.scoring.scores.score` takes it; `workers` processes match, 1 or more."""

    matcher: str = "rules"
    tau: float | None = None
    judge: str | None = None
    answers: Path | None = None
    lambda_: float = 0.5
    standard: Standard | None = None
    tiers_from: Source | None = None
    seed: int = 0
    resamples: int = 1000
    allow_missing: bool = False
    ignore_unknown: bool = False
    workers: int = 1

    def to_json(self) -> dict[str, Any]:
        """What a run record says of them: all but where answers are kept and by how many processes."""
        from granola.matching import F1Matcher
        from granola.scoring.metrics import usual_standard

        said = {name.rstrip("_"): value for name, value in asdict(self).items()}
        said["standard"] = self.standard or usual_standard(self.matcher)
        if self.matcher == "f1" and self.tau is None:
            said["tau"] = F1Matcher().tau
        return {name: value for name, value in said.items() if name not in ("answers", "workers")}


def _options(
    matcher: str = MATCHER,
    tau: float | None = TAU,
    judge: str | None = JUDGE,
    answers: Path | None = ANSWERS,
    lambda_: float = typer.Option(
        0.5, "--lambda", help="Informativeness of level k is exp(-lambda (k - 1)); 0 or more."
    ),
    standard: StandardName | None = typer.Option(
        None,
        "--standard",
        help="The names of level 1, for every score: the gold answers alone, as in the paper (gold), or their aliases "
        "as well (aliases). Both accuracies by the other stand beside. Default: gold for --matcher f1, else aliases.",
    ),
    tiers_from: TiersFrom | None = typer.Option(
        None,
        "--tiers-from",
        help="Of ladders united with a dataset's own (`granola tiers --reference`): score by the tiers of one alone. "
        "Default: by both.",
    ),
    seed: int = typer.Option(0, "--seed", help="Seed of the bootstrap and the permutation tests."),
    resamples: int = typer.Option(1000, "--resamples", help="Bootstrap resamples and permutations, 1 or more."),
    allow_missing: bool = typer.Option(
        False, "--allow-missing", help="Leave questions without a prediction unscored instead of stopping."
    ),
    ignore_unknown: bool = typer.Option(
        False, "--ignore-unknown", help="Leave out predictions for unknown ids instead of stopping."
    ),
    workers: int = typer.Option(1, "--workers", help="Processes that match, 1 or more; the scores are the same."),
) -> ScoringSettings:
    return ScoringSettings(
        matcher=matcher,
        tau=tau,
        judge=judge,
        answers=answers,
        lambda_=lambda_,
        standard=standard.value if standard else None,
        tiers_from=tiers_from.value if tiers_from else None,
        seed=seed,
        resamples=resamples,
        allow_missing=allow_missing,
        ignore_unknown=ignore_unknown,
        workers=workers,
    )


def with_scoring(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of `ScoringSettings` behind its own; it takes them as `settings`."""
    shared = inspect.signature(_options, eval_str=True).parameters
    own = inspect.signature(command, eval_str=True)
    parameters = [one for name, one in own.parameters.items() if name != "settings"]

    def run(**given: Any) -> None:
        settings = _options(**{name: given.pop(name) for name in shared})
        command(settings=settings, **given)

    everything = [*parameters, *shared.values()]
    run.__doc__, run.__name__ = command.__doc__, command.__name__
    run.__annotations__ = {one.name: one.annotation for one in everything}
    run.__signature__ = own.replace(parameters=everything)  # type: ignore[attr-defined]  # what typer reads
    return run
