"""`granola score`: predictions against a tiered file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from granola.cli.judging import ANSWERS, JUDGE, MATCHER, TAU, check_matcher, judge_ahead, opened_matcher

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow
    from granola.scoring import ScoreReport


def score(
    tiered: str = typer.Argument(
        ..., metavar="TIERED", help="Tiered rows, as `granola tiers` writes them; - is standard input."
    ),
    predictions: str = typer.Argument(
        ...,
        metavar="PREDICTIONS",
        help='Predictions: {"id", "prediction"} as JSONL or CSV; - is standard input.',
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the scores as one JSON object."),
    out: Path | None = typer.Option(
        None,
        "--out",
        metavar="FILE",
        help="Write one JSON row an item here, FILE.run.json beside it, and FILE.rejects.jsonl for rejected rows.",
    ),
    force: bool = typer.Option(False, "--force", help="Replace an existing --out."),
    matcher: str = MATCHER,
    tau: float | None = TAU,
    judge: str | None = JUDGE,
    answers: Path | None = ANSWERS,
    lambda_: float = typer.Option(
        0.5, "--lambda", help="Informativeness of level k is exp(-lambda (k - 1)); 0 or more."
    ),
    seed: int = typer.Option(0, "--seed", help="Seed of the bootstrap."),
    resamples: int = typer.Option(1000, "--resamples", help="Bootstrap resamples for the intervals, 1 or more."),
    allow_missing: bool = typer.Option(
        False, "--allow-missing", help="Leave questions without a prediction unscored instead of stopping."
    ),
    ignore_unknown: bool = typer.Option(
        False, "--ignore-unknown", help="Leave out predictions for unknown ids instead of stopping."
    ),
) -> None:
    """Score predictions: GRANOLA accuracy, informativeness and more, with intervals and a signature."""
    from abstraction.formats.writing import check_format
    from abstraction.rows import read_tiered
    from granola import scoring
    from granola.cli.output import (
        REJECTS_SUFFIX,
        STANDARD,
        check_outputs,
        check_standard_input,
        count,
        exit_status,
        note,
        print_json,
        readable,
        report_rejects,
    )
    from granola.errors import PredictionError, UsageError
    from granola.predictions import read_predictions
    from granola.run_record import SUFFIX as RECORD_SUFFIX
    from granola.signature import prompts_of, short_hash, snapshot_of

    check_matcher(matcher, tau=tau, judge=judge, answers=answers)
    check_standard_input([tiered, predictions])
    if out is not None:
        if str(out) in (STANDARD, "."):
            raise UsageError("--out takes a file; the tables or --json go to standard output")
        check_outputs(out, inputs=[tiered, predictions], sides=(REJECTS_SUFFIX, RECORD_SUFFIX), force=force)
        check_format(out)
    rejected: list[RejectedRow] = []
    with readable(tiered) as held:
        rows = list(read_tiered(held, on_reject=rejected.append))
        tiers_hash = short_hash(held)
    if not rows:
        reason = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
        raise PredictionError(f"{tiered} has no tiered row{reason}; make one with granola tiers")
    given = read_predictions(predictions)
    inputs = [tiered, predictions]
    with opened_matcher(matcher, tau=tau, judge=judge, answers=answers, out=out, inputs=inputs) as chosen:
        judge_ahead(chosen, rows, given)
        report = scoring.score(
            rows,
            given,
            chosen,
            lambda_=lambda_,
            times=resamples,
            seed=seed,
            system=Path(predictions).stem if predictions != "-" else "stdin",
            allow_missing=allow_missing,
            ignore_unknown=ignore_unknown,
            rejected_rows=len(rejected),
            tiers_hash=tiers_hash,
            snapshot=snapshot_of(tiered),
            prompts=prompts_of(tiered),
        )
    if out is not None:
        _write_items(
            report,
            out,
            inputs=[tiered, predictions],
            rejected=[*rejected, *given.rejected],
            arguments={
                "tiered": tiered,
                "predictions": predictions,
                "matcher": chosen.signature(),
                "lambda": lambda_,
                "seed": seed,
                "resamples": resamples,
                "allow_missing": allow_missing,
                "ignore_unknown": ignore_unknown,
            },
        )
    listed = Path(f"{out}{REJECTS_SUFFIX}") if out is not None else None
    report_rejects(tiered, rejected, listed=listed)
    report_rejects(given.name, given.rejected, listed=listed)
    if report.overall.unscored:
        note(f"{report.overall.unscored} of {count(len(rows), 'question')} are unscored")
    if as_json:
        print_json(report.to_json(), indent=1)
    else:
        _print_tables(report)
    if report.overall.unscored == len(rows):
        note("nothing is scored: no question has a usable prediction")
        raise typer.Exit(1)
    exit_status(rejected, given.rejected)


def _print_tables(report: ScoreReport) -> None:
    from rich.console import Console

    from granola.report.tables import distribution_table, relations_table, scores_table

    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(scores_table([report]))
    console.print(distribution_table([report]))
    if report.relations:
        console.print(relations_table(report))
    print(f"signature: {report.signature}")


def _write_items(
    report: ScoreReport,
    out: Path,
    *,
    inputs: list[str],
    rejected: list[RejectedRow],
    arguments: dict[str, object],
) -> None:
    from granola.cli.output import list_rejects, removed_on_error
    from granola.report.items import write_items
    from granola.run_record import write_run_record

    with removed_on_error(out):
        write_items(report, out)
        list_rejects(out, rejected)
    write_run_record(
        out,
        command="score",
        arguments=arguments,
        inputs=inputs,
        more={
            "signature": str(report.signature),
            "counts": dict(report.counts),
            "rejected": [row.to_json() for row in rejected],
        },
    )
