"""`granola report`: systems on one tiered file as a page with figures, and as files for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from granola.cli.csv_options import CsvRaw
from granola.cli.scoring_options import (
    BINS,
    BY,
    PAGE_VIEWS,
    PAGE_VIEWS_OF,
    POPULARITY,
    PREDICTIONS,
    TIERED,
    ScoringSettings,
    with_scoring,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from granola.scoring.predictions import PredictionFile


@with_scoring
def report(
    tiered: str = TIERED,
    predictions: list[str] = PREDICTIONS,
    out: Path = typer.Option(
        ..., "--out", metavar="FOLDER", help="A folder for report.html, figures (SVG, PNG) and tables (CSV, LaTeX)."
    ),
    force: bool = typer.Option(False, "--force", help="Replace an earlier report in --out."),
    csv_raw: CsvRaw = False,
    colour: str | None = typer.Option(
        None,
        "--colour",
        metavar="SCORE",
        help="Colour the points of token-F1, and order examples, by this score of the predictions. "
        "Without it examples are ordered by BLEURT, where predictions carry it.",
    ),
    by: list[str] | None = BY,
    popularity: list[str] | None = POPULARITY,
    page_views: str | None = PAGE_VIEWS,
    page_views_of: str = PAGE_VIEWS_OF,
    bins: int | None = BINS,
    *,
    settings: ScoringSettings,
) -> None:
    """Draw the paper's figures for one's own systems: one HTML page, and every figure and table as files."""
    from granola.cli.output import count, exit_status, note
    from granola.cli.scored_systems import groupings, groups_of, score_systems, with_popularity
    from granola.report.figures import check_drawing
    from granola.report.study import Study
    from granola.report.study_html import PAGE, write_study
    from granola.run_record import write_run_record
    from granola.scoring.grouping import grouped
    from granola.scoring.system_comparison import compare

    check_drawing()
    groupings(by, [*(popularity or ()), *([page_views] if page_views else ())], bins)
    earlier = _check_folder(out, force=force)
    found = score_systems(tiered, predictions, settings, out=out / PAGE)
    _check_colour(colour, found.files)
    rows, fields = with_popularity(found.rows, popularity, page_views, page_views_of)
    asked = groupings(by, fields, bins)
    times, seed = settings.resamples, settings.seed
    scores = {
        one: [grouped(system, of, times=times, seed=seed) for system in found.reports]
        for one, of in groups_of(rows, asked).items()
    }
    study = Study(
        rows=rows,
        files=found.files,
        reports=found.reports,
        matcher=settings.matcher,
        lambda_=settings.lambda_,
        differences=compare(found.reports, times=times, seed=seed),
        popularity={one.field: of for one, of in scores.items() if one.bins is not None},
        groups={one.field: of for one, of in scores.items() if one.bins is None},
        coloured=colour,
        seed=seed,
    )
    written = write_study(study, out, earlier=earlier, csv_raw=csv_raw)
    write_run_record(
        out / PAGE,
        command="report",
        arguments={
            "tiered": tiered,
            "predictions": predictions,
            **settings.to_json(),
            "by": by,
            "popularity": popularity,
            "page_views": page_views,
            "page_views_of": page_views_of,
            "bins": next((one.bins for one in asked if one.bins is not None), None),
            "colour": colour,
        },
        inputs=[tiered, *predictions, *([page_views] if page_views else ())],
        more={"signatures": {r.system: str(r.signature) for r in found.reports}, "files": written},
    )
    note(f"{out / PAGE}: {count(len(written), 'file')}")
    exit_status(found.rejected)


def _check_folder(out: Path, *, force: bool) -> list[str]:
    """The files of an earlier report in the folder that may be replaced.

    Raises UsageError for a file, and for a folder that holds something else than an earlier report.
    """
    from granola.errors import UsageError
    from granola.report.study_html import PAGE
    from granola.run_record import record_of

    if out.is_dir():
        record = record_of(out / PAGE)
        earlier = record.get("command") == "report"
        if earlier and not force:
            raise UsageError(f"{out} holds a report; give --force to replace it, or another --out")
        if not earlier and any(out.iterdir()):
            raise UsageError(f"{out} is not empty and holds no earlier report; give --out a folder of its own")
        files = record.get("files")
        return [name for name in files if isinstance(name, str)] if isinstance(files, list) else []
    elif out.exists() or out.is_symlink():
        raise UsageError(f"{out} is no folder; --out takes one, which is made")
    return []


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
