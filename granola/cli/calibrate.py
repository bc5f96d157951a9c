"""`granola calibrate`: how much support answers need, fitted to questions whose answers are known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from granola.cli.decoding_options import AbstainingOption, Force, Linker, ResponseLanguage
from granola.cli.linking_options import LinkerName
from granola.decoding.decision import Abstaining

if TYPE_CHECKING:
    from granola.decoding.calibrating import Fitted
    from granola.decoding.calibration import Calibration


def calibrate(
    samples: str = typer.Argument(
        help='Responses to a development file\'s questions: rows with "id", "question" and "samples".',
        metavar="SAMPLES",
    ),
    tiered: str = typer.Argument(help="The tiered rows of these questions, by id.", metavar="TIERED"),
    snapshot: str = typer.Option(help="The snapshot to link responses to: a file, or bolt://HOST:PORT."),
    out: Path = typer.Option(help="Where to write the calibration, for `granola aggregate --calibration`."),
    precision: float | None = typer.Option(
        None, help="The wanted share of right answers among those given: answer as much as it allows."
    ),
    coverage: float | None = typer.Option(
        None, help="The wanted share of questions answered: answer them as well as it allows."
    ),
    figure: Path | None = typer.Option(
        None, help="Draw precision against coverage as SVG, beside fixed support and the majority.", metavar="FILE"
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the result and the curves as JSON."),
    abstaining: AbstainingOption = None,
    language: ResponseLanguage = "en",
    linker: Linker = LinkerName.QUESTION,
    force: Force = False,
) -> None:
    """Fit the support that answers of each fineness need, for a wanted precision or coverage.

    An answer is right where it is a gold answer or in the ladder of its question, at any level. What to expect of other
    questions is measured by leaving out a fifth of these at a time. What cannot be reached is refused.
    """
    from abstraction.faults import Fault, attempt
    from abstraction.rows import RejectedRow
    from granola.cli.output import (
        REJECTS_SUFFIX,
        check_language,
        check_outputs,
        exit_status,
        list_rejects,
        report_rejects,
        warn_of_language,
    )
    from granola.decoding import Aggregator, read_samples
    from granola.decoding.calibrating import SHARES, curve, fit, in_ladder, known, majority, supported
    from granola.errors import UsageError
    from granola.matching import matcher
    from granola.report.figures import check_drawing
    from granola.report.risk_figure import draw_curves
    from granola.run_record import SUFFIX as RECORD_SUFFIX
    from granola.run_record import write_run_record
    from granola.scoring.tiered_file import read_tiered_file
    from kg.store import open_store

    check_language(language)
    if (precision is None) == (coverage is None):
        raise UsageError("give either --precision or --coverage, as in --precision 0.9")
    wanted = precision if coverage is None else coverage
    if wanted is None or not 0.0 < wanted <= 1.0:
        raise UsageError(f"{wanted:g} is no share; give one above 0 and up to 1")
    if abstaining is Abstaining.PASS:
        raise UsageError("--abstaining pass is drag's; give majority, ignore or against")
    if figure is not None:
        check_drawing()
        check_outputs(figure, inputs=[samples, tiered, snapshot, out], force=force, asked="--figure")
    check_outputs(out, inputs=[samples, tiered, snapshot], sides=(RECORD_SUFFIX, REJECTS_SUFFIX), force=force)
    abstaining = abstaining or Abstaining.MAJORITY
    rules = matcher("rules", language=language)
    gold = {row.id: row for row in read_tiered_file(tiered).rows}
    rejected: list[RejectedRow] = []
    found = []
    unknown = 0
    with closing(open_store(snapshot)) as store:
        warn_of_language(language, store)
        rows = read_samples(samples, on_reject=rejected.append)
        aggregator = Aggregator(store, language=language, linker=linker)
        for row, counted in aggregator.tallies(rows, on_reject=rejected.append):
            answer = gold.get(row.id)
            if answer is None:
                unknown += 1
                continue
            made = attempt("matching", known, counted, in_ladder(answer, rules), abstaining)
            if isinstance(made, Fault):
                rejected.append(made.rejected(source=row.source, id=row.id, text=row.question))
            else:
                found.append(made)
        snapshot_id = store.manifest()["snapshot_id"]
    rejects = list_rejects(out, rejected)
    fitted = fit(found, precision=precision, coverage=coverage)
    calibration = replace(fitted.calibration, abstaining=abstaining)
    evidence = {
        "questions": fitted.questions, "wanted": {"precision": precision, "coverage": coverage},
        "reached": asdict(fitted.point), "left out": fitted.left_out and asdict(fitted.left_out),
    }  # fmt: skip
    calibration.write(out, evidence=evidence)
    curves = {
        "calibrated": fitted.curve,
        "fixed support": curve(found, ((share, supported(share)) for share in SHARES)),
        "majority": curve(found, ((share, majority(share)) for share in SHARES)),
    }
    arguments = {
        "samples": samples, "tiered": tiered, "snapshot": snapshot, "precision": precision, "coverage": coverage,
        "abstaining": abstaining, "language": language, "linker": linker,
    }  # fmt: skip
    more = {"snapshot": snapshot_id, "rejected": len(rejected), "questions": fitted.questions}
    write_run_record(str(out), command="calibrate", arguments=arguments, inputs=[samples, tiered, snapshot], more=more)
    if figure is not None:
        figure.write_text(draw_curves(curves, chosen=fitted.point), encoding="utf-8")
    if as_json:
        told: dict[str, Any] = evidence | {
            "without_ladder": unknown, "precision_interval": asdict(fitted.precision),
            "coverage_interval": asdict(fitted.coverage), "support_demanded": calibration.table(),
            "least": calibration.least,
            "curves": {name: [asdict(point) for point in points] for name, points in curves.items()},
        }  # fmt: skip
        print(json.dumps(told))
    else:
        print(f"{fitted.questions:,} questions" + (f"; {unknown:,} without a ladder left out" if unknown else ""))
        for name, value in _lines(fitted):
            print(f"{name:24s}{value}")
        print(_demand(calibration))
    report_rejects(samples, rejected, listed=rejects)
    exit_status(rejected)


def _lines(fitted: Fitted) -> Iterator[tuple[str, str]]:
    """What it reaches: on the questions of the fit, and on those left out of it."""
    point, other = fitted.point, fitted.left_out
    yield "right of the answered", f"{point.precision:.3f}"
    yield "answered", f"{point.coverage:.3f}"
    if other is None:
        yield "on questions left out", "nothing is answered"
        return
    right, covered = fitted.precision, fitted.coverage
    yield "on questions left out", f"{other.precision:.3f} right  [{right.low:.3f}, {right.high:.3f}]"
    yield "", f"{other.coverage:.3f} answered  [{covered.low:.3f}, {covered.high:.3f}]"


def _demand(calibration: Calibration) -> str:
    shares = ", ".join(f"{bits} {need:g}" for bits, need in calibration.table().items())
    second = "" if calibration.least is None else f"; else the surest, from {calibration.least:g} at 0 bits"
    return f"{'support demanded':24s}{shares}{second}"
