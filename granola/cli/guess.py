"""`granola derive guess`: what could be answered without knowing anything of the subject but its name."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import typer

from granola.cli.csv_options import CsvRaw
from granola.decoding.guessing import FOLDS


def guess(
    tiered: str = typer.Argument(help="Tiered rows, as `granola tiers` writes them.", metavar="TIERED"),
    out: str = typer.Option(help="Where to write the predictions; - is standard output."),
    least: float | None = typer.Option(
        None, help="Guess the finest tier that is at least so likely, rather than the likeliest; above 0 and up to 1."
    ),
    folds: int = typer.Option(FOLDS, min=2, help="Parts of the file; each is guessed from the others."),
    force: bool = typer.Option(False, "--force", help="Replace an existing output."),
    csv_raw: CsvRaw = False,
) -> None:
    """Guess each answer from the other questions of its relation and the words of the subject's name.

    A baseline to stand beside systems in `granola compare` and `granola report`: how far up can one guess?
    """
    from abstraction.faults import Taken
    from abstraction.formats.writing import check_format, write_records
    from abstraction.rows import RejectedRow, read_tiered
    from granola.cli.output import (
        REJECTS_SUFFIX,
        STANDARD,
        check_outputs,
        count,
        exit_status,
        list_rejects,
        removed_on_error,
        report_rejects,
    )
    from granola.decoding.guessing import guesses
    from granola.errors import PredictionError
    from granola.run_record import SUFFIX as RECORD_SUFFIX
    from granola.run_record import write_run_record

    to_stdout = out == STANDARD
    if not to_stdout:
        check_outputs(out, inputs=[tiered], sides=(REJECTS_SUFFIX, RECORD_SUFFIX), force=force)
    check_format(out)
    rejected: list[RejectedRow] = []
    rows = list(read_tiered(tiered, on_reject=rejected.append))
    if not rows:
        reason = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
        raise PredictionError(f"{tiered} has no tiered row{reason}; make one with granola tiers")
    outcomes: Counter[str] = Counter()
    taken = Taken(rejected.append)

    def predictions() -> Iterator[dict[str, Any]]:
        for row, decision in guesses(rows, least=least, folds=folds, on_reject=rejected.append):
            taken.take(row.source, row.id, row.question)
            outcomes["IDK" if decision.abstains else "guessed"] += 1
            yield {"id": row.id, "question": row.question, "method": "guess", **decision.to_json()}

    with removed_on_error(None if to_stdout else out):
        write_records(predictions(), out, csv_raw=csv_raw, on_fault=taken.unwritten)
        rejects = list_rejects(out, rejected)
    screen = sys.stderr if to_stdout else sys.stdout
    total = count(outcomes.total(), "question")
    print(f"{total}: {outcomes['guessed']:,} guessed, {outcomes['IDK']:,} IDK", file=screen)
    if not to_stdout:
        arguments = {"tiered": tiered, "least": least, "folds": folds}
        write_run_record(
            out, command="derive guess", arguments=arguments, inputs=[tiered], more={"outcomes": dict(outcomes)}
        )
    report_rejects(tiered, rejected, listed=rejects)
    exit_status(rejected)
