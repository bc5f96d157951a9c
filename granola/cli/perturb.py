"""`granola derive perturb`: tiered rows in, the same questions asking for less out."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import typer

from granola.cli.csv_options import CsvRaw
from granola.decoding.perturbing import AskedUnit


def perturb(
    tiered: str = typer.Argument(help="Tiered rows, as `granola tiers` writes them.", metavar="TIERED"),
    out: str = typer.Option(help="Where to write the new tiered rows; - is standard output."),
    unit: AskedUnit = typer.Option(AskedUnit.YEAR, help="What the new questions ask for."),
    force: bool = typer.Option(False, "--force", help="Replace an existing output."),
    csv_raw: CsvRaw = False,
) -> None:
    """Ask for less: "In what year was ..." from "When was ...", with the ladder cut to match.

    Questions that cannot be asked so are left out and counted by reason.
    """
    from abstraction.faults import Fault, attempt
    from abstraction.formats.writing import check_format
    from abstraction.rows import RejectedRow, TieredRow, read_tiered, write_tiered
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
    from granola.decoding.perturbing import Kept, perturbed
    from granola.errors import PredictionError
    from granola.run_record import SUFFIX as RECORD_SUFFIX
    from granola.run_record import write_run_record
    from granola.scoring.signature import snapshot_of

    to_stdout = out == STANDARD
    if not to_stdout:
        check_outputs(out, inputs=[tiered], sides=(REJECTS_SUFFIX, RECORD_SUFFIX), force=force)
    check_format(out)
    rejected: list[RejectedRow] = []
    reasons: Counter[str] = Counter()
    made = 0

    def rows() -> Iterator[TieredRow]:
        nonlocal made
        for row in read_tiered(tiered, on_reject=rejected.append):
            found = attempt("perturbing", perturbed, row, unit)
            if isinstance(found, Fault):
                rejected.append(found.rejected(source=row.source, id=row.id, text=row.question))
                continue
            if isinstance(found, Kept):
                reasons[found.reason] += 1
                continue
            made += 1
            yield found
        if not made:
            why = "; ".join(f"{number:,} {reason}" for reason, number in reasons.most_common())
            raise PredictionError(f"{tiered}: no question can ask for a {unit}: {why or 'no tiered row'}")

    with removed_on_error(None if to_stdout else out):
        write_tiered(rows(), out, csv_raw=csv_raw, on_reject=rejected.append)
        rejects = list_rejects(out, rejected)
    screen = sys.stderr if to_stdout else sys.stdout
    print(f"{count(made, 'question')} for a {unit}; left out: {count(reasons.total(), 'question')}", file=screen)
    for reason, number in reasons.most_common():
        print(f"  {number:>6}  {reason}", file=screen)
    if not to_stdout:
        write_run_record(
            out,
            command="derive perturb",
            arguments={"tiered": tiered, "unit": unit},
            inputs=[tiered],
            more={"snapshot": snapshot_of(tiered), "left_out": dict(reasons), "rejected": len(rejected)},
        )
    report_rejects(tiered, rejected, listed=rejects)
    exit_status(rejected)
