"""`granola report`: systems on one tiered file as a page with figures, and as files for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from granola.cli.judging import ANSWERS, JUDGE, MATCHER, TAU
from granola.cli.systems import (
    ALLOW_MISSING,
    BINS,
    BY,
    IGNORE_UNKNOWN,
    LAMBDA,
    POPULARITY,
    PREDICTIONS,
    RESAMPLES,
    SEED,
    TIERED,
    groups_of,
    score_systems,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from granola.predictions import PredictionFile


def report(
    tiered: str = TIERED,
    predictions: list[str] = PREDICTIONS,
    out: Path = typer.Option(
        ..., "--out", metavar="FOLDER", help="A folder for report.html, figures (SVG, PNG) and tables (CSV, LaTeX)."
    ),
    force: bool = typer.Option(False, "--force", help="Replace an earlier report in --out."),
    colour: str | None = typer.Option(
        None, "--colour", metavar="SCORE", help="Colour the points of token-F1 by this score of the predictions."
    ),
    by: str | None = BY,
    popularity: str | None = POPULARITY,
    bins: int = BINS,
    matcher: str = MATCHER,
    tau: float | None = TAU,
    judge: str | None = JUDGE,
    answers: Path | None = ANSWERS,
    lambda_: float = LAMBDA,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    allow_missing: bool = ALLOW_MISSING,
    ignore_unknown: bool = IGNORE_UNKNOWN,
) -> None:
    """Draw the paper's figures for one's own systems: one HTML page, and every figure and table as files."""
    from granola.cli.output import count, exit_status, note
    from granola.comparing import compare
    from granola.grouping import by_bins, grouped
    from granola.report.figures import check_drawing
    from granola.report.study import Study
    from granola.report.study_html import PAGE, write_study
    from granola.run_record import write_run_record

    check_drawing()
    _check_folder(out, force=force)
    found = score_systems(
        tiered,
        predictions,
        matcher=matcher,
        tau=tau,
        judge=judge,
        answers=answers,
        out=out / PAGE,
        lambda_=lambda_,
        seed=seed,
        resamples=resamples,
        allow_missing=allow_missing,
        ignore_unknown=ignore_unknown,
    )
    _check_colour(colour, found.files)
    groups = groups_of(found.rows, by=by, popularity=None, bins=bins)
    bins_of = by_bins(found.rows, popularity, bins) if popularity is not None else {}
    study = Study(
        rows=found.rows,
        files=found.files,
        reports=found.reports,
        matcher=matcher,
        lambda_=lambda_,
        differences=compare(found.reports, times=resamples, seed=seed),
        popularity=[grouped(one, bins_of, times=resamples, seed=seed) for one in found.reports] if bins_of else (),
        popularity_field=popularity or "",
        groups={
            title: [grouped(one, of, times=resamples, seed=seed) for one in found.reports]
            for title, of in groups.items()
        },
        coloured=colour,
        seed=seed,
    )
    written = write_study(study, out)
    write_run_record(
        out / PAGE,
        command="report",
        arguments={
            "tiered": tiered,
            "predictions": predictions,
            "lambda": lambda_,
            "seed": seed,
            "resamples": resamples,
            "by": by,
            "popularity": popularity,
            "bins": bins,
            "colour": colour,
        },
        inputs=[tiered, *predictions],
        more={"signatures": {r.system: str(r.signature) for r in found.reports}, "files": written},
    )
    note(f"{out / PAGE}: {count(len(written), 'file')}")
    exit_status(found.rejected)


def _check_folder(out: Path, *, force: bool) -> None:
    """Raise UsageError for a file, and for a folder that holds something else than an earlier report."""
    from granola.errors import UsageError
    from granola.report.study_html import PAGE
    from granola.run_record import made_by

    if out.is_dir():
        earlier = made_by(out / PAGE) == "report"
        if earlier and not force:
            raise UsageError(f"{out} holds a report; give --force to replace it, or another --out")
        if not earlier and any(out.iterdir()):
            raise UsageError(f"{out} is not empty and holds no earlier report; give --out a folder of its own")
    elif out.exists() or out.is_symlink():
        raise UsageError(f"{out} is no folder; --out takes one, which is made")


def _check_colour(colour: str | None, files: Sequence[PredictionFile]) -> None:
    import difflib

    from granola.errors import UsageError

    if colour is None:
        return
    known = sorted({name for given in files for said in given.predictions.values() for name in said.scores})
    if colour not in known:
        near = difflib.get_close_matches(colour, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; they have {', '.join(known) or 'none'}"
        raise UsageError(f"no prediction has a number under {colour!r}{hint}")
