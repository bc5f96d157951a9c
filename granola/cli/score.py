"""`granola score`: predictions against a tiered file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from granola.cli.scoring_options import TIERED, ScoringSettings, with_scoring

if TYPE_CHECKING:
    from granola.cli.scored_systems import Systems
    from granola.scoring.scores import ScoreReport


@with_scoring
def score(
    tiered: str = TIERED,
    predictions: str = typer.Argument(
        ...,
        metavar="PREDICTIONS",
        help='Predictions: {"id", "prediction"} as JSONL, JSON, CSV or Parquet; - is standard input.',
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the scores as one JSON object."),
    out: Path | None = typer.Option(
        None,
        "--out",
        metavar="FILE",
        help="Write one JSON row an item here, FILE.run.json beside it, and FILE.rejects.jsonl for rejected rows.",
    ),
    force: bool = typer.Option(False, "--force", help="Replace an existing --out."),
    *,
    settings: ScoringSettings,
) -> None:
    """Score predictions: GRANOLA accuracy, informativeness and more, with intervals and a signature."""
    from abstraction.formats.writing import check_kind
    from granola.cli.output import REJECTS_SUFFIX, STANDARD, check_outputs, count, exit_status, note, print_json
    from granola.cli.scored_systems import score_systems
    from granola.errors import UsageError
    from granola.run_record import SUFFIX as RECORD_SUFFIX

    if out is not None:
        if str(out) in (STANDARD, "."):
            raise UsageError("--out takes a file; the tables or --json go to standard output")
        check_outputs(out, inputs=[tiered, predictions], sides=(REJECTS_SUFFIX, RECORD_SUFFIX), force=force)
        check_kind(out, "jsonl", may_be_packed=True)
    if out is None:
        found = score_systems(tiered, [predictions], settings, keep_items=False)
    else:
        found = _scored_into(out, tiered, predictions, settings)
    (report,) = found.reports
    if report.overall.unscored:
        note(f"{report.overall.unscored} of {count(len(found.rows), 'question')} are unscored")
    if as_json:
        print_json(report.to_json(), indent=1)
    else:
        _print_tables(report)
    if report.overall.unscored == len(found.rows):
        note("nothing is scored: no question has a usable prediction")
        raise typer.Exit(1)
    exit_status(found.rejected)


def _print_tables(report: ScoreReport) -> None:
    from rich.console import Console

    from granola.report.score_tables import distribution_table, relations_table, scores_table

    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(scores_table([report]))
    console.print(distribution_table([report]))
    if report.relations:
        console.print(relations_table(report))
    print(f"signature: {report.signature}")


def _scored_into(out: Path, tiered: str, predictions: str, settings: ScoringSettings) -> Systems:
    """The scores, each item written to `out` as soon as it is scored."""
    from granola.cli.output import count, list_rejects, note, removed_on_error
    from granola.cli.scored_systems import score_systems
    from granola.report.item_rows import writing_items
    from granola.run_record import write_run_record

    with removed_on_error(out):
        with writing_items(out) as write:
            found = score_systems(tiered, [predictions], settings, out=out, on_item=write, keep_items=False)
        rejected = found.rejected
        listed = list_rejects(out, rejected)
    (report,) = found.reports
    if rejected:
        note(f"{count(len(rejected), 'rejected row')} listed in {listed}")
    write_run_record(
        out,
        command="score",
        arguments={
            "tiered": tiered,
            "predictions": predictions,
            **settings.to_json(),
            "matcher": report.signature.matcher,
        },
        inputs=[tiered, predictions],
        more={
            "signature": str(report.signature),
            "counts": dict(report.counts),
            "rejected": [row.to_json() for row in rejected],
        },
    )
    return found
