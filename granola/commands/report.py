"""`granola report`: systems on one tiered file as a page with figures, and as files for a paper."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from granola.base.run_record import record_of, write_run_record
from granola.base.settings import Setting
from granola.commands.command import Command
from granola.commands.messages import count, note, report_rejects
from granola.commands.output import csv_raw, lock_output
from granola.commands.score import GroupSettings, ScoringSettings, SystemFiles, grouped_scores, score_systems
from granola.errors import UsageError
from granola.scoring.shared_settings import Force, Tiered

if TYPE_CHECKING:
    from abstraction.base.faults import RejectedRow
    from granola.scoring.predictions import PredictionFile


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnReport:
    """The files of a report: its page and all others, with names relative to the folder."""

    page: Path
    files: Sequence[str]
    rejected: Sequence[RejectedRow]


@dataclass(frozen=True, kw_only=True)
class Report(Command[DrawnReport], GroupSettings, ScoringSettings):
    """Draw the paper's figures for one's own systems: one HTML page, and every figure and table as files.

    Without predictions the page shows the ladders, to be filtered, sorted and searched.
    """

    tiered: Tiered
    predictions: SystemFiles = ()
    out: Annotated[
        Path,
        Setting("A folder for report.html, figures (SVG, PNG) and tables (CSV).", metavar="FOLDER", recorded=False),
    ]
    force: Force = False
    colour: Annotated[
        str | None,
        Setting(
            "Colour the points of token-F1, and order examples, by this number of the predictions.",
            metavar="SCORE",
            advanced=True,
        ),
    ] = None

    def run(self) -> DrawnReport:
        """Score, draw and write. Raises UsageError for a folder with other content."""
        from granola.report.drawing.style import check_drawing
        from granola.report.question_list import rows_with_evidence
        from granola.report.study import Study
        from granola.report.study_html import PAGE, write_study
        from granola.scoring.system_comparison import compare

        if not self.predictions:
            return self._ladders()
        # Before scoring, which may take minutes.
        check_drawing()
        with lock_output(self.out):
            earlier = _check_folder(self.out, force=self.force)
            systems = score_systems(self.tiered, self.predictions, self, out=self.out / PAGE)
            if self.colour is not None:
                _check_number(self.colour, systems.files)
            groups = grouped_scores(systems, self, self, popular=True)
            study = Study(
                rows=groups.rows,
                files=systems.files,
                reports=systems.reports,
                matcher=self.matcher,
                lambda_=self.lambda_,
                differences=compare(systems.reports, resamples=self.resamples),
                popularity={grouping.field: of for grouping, of in groups.scores.items() if grouping.bins is not None},
                groups={grouping.field: of for grouping, of in groups.scores.items() if grouping.bins is None},
                coloured=self.colour,
                evidence=rows_with_evidence(self.tiered, groups.rows),
            )
            written = write_study(study, self.out, earlier=earlier, csv_raw=csv_raw())
            write_run_record(
                self.out / PAGE,
                command=self.verb,
                arguments={**self.arguments(), **self.resolved_settings(), "bins": groups.bins},
                inputs=[self.tiered, *self.predictions, *self.page_views],
                more={"signatures": {r.system: str(r.signature) for r in systems.reports}, "files": written},
            )
        return DrawnReport(page=self.out / PAGE, files=written, rejected=systems.rejected)

    def _ladders(self) -> DrawnReport:
        """The page of the ladders alone."""
        from granola.report.study_html import PAGE
        from kg.base.files import atomic_path

        with lock_output(self.out):
            _check_folder(self.out, force=self.force)
            page, rejected = ladders_page(self.tiered)
            self.out.mkdir(parents=True, exist_ok=True)
            # The page appears whole or not at all.
            with atomic_path(self.out / PAGE) as temporary:
                temporary.write_text(page, encoding="utf-8")
            write_run_record(
                self.out / PAGE, command=self.verb, arguments=self.arguments(), inputs=[self.tiered],
                more={"files": [PAGE]},
            )  # fmt: skip
        return DrawnReport(page=self.out / PAGE, files=[PAGE], rejected=rejected)

    def show(self, result: DrawnReport) -> None:
        """Print the path of the page."""
        note(f"{result.page}: {count(len(result.files), 'file')}")


def ladders_page(tiered: str) -> tuple[str, list[RejectedRow]]:
    """Return (the page of the ladders of a file, with filter, sorting and search; the rejected rows).

    Raises UsageError without any usable row.
    """
    from abstraction.files.rows import read_tiered
    from granola.report.score_page import render
    from granola.scoring.signature import snapshot_of

    rejected: list[RejectedRow] = []
    rows = list(read_tiered(tiered, on_reject=rejected.append))
    report_rejects(tiered, rejected)
    if not rows:
        raise UsageError(f"{tiered} has no tiered row; make one with granola tiers")
    return render(rows, (), {"snapshot_id": snapshot_of(tiered)}, title="GRANOLA ladders"), rejected


def _check_folder(out: Path, *, force: bool) -> list[str]:
    """The files of an earlier report in the folder, which may be replaced.

    Raises UsageError for a file, and for a folder with content other than an earlier report.
    """
    from granola.report.study_html import FIGURES, PAGE, TABLES

    if out.is_dir():
        record = record_of(out / PAGE)
        earlier = record.get("command") == "report"
        if earlier and not force:
            raise UsageError(f"{out} holds a report; give --force to replace it, or another --out")
        # Its page, written last, is missing.
        began = {entry.name for entry in out.iterdir()} <= {FIGURES, TABLES}  # an interrupted report
        if not earlier and not began:
            raise UsageError(f"{out} is not empty and holds no earlier report; give --out a folder of its own")
        files = record.get("files")
        return [name for name in files if isinstance(name, str)] if isinstance(files, list) else []
    elif out.exists() or out.is_symlink():
        raise UsageError(f"{out} is no folder; --out takes one, which is made")
    return []


def _check_number(name: str, files: Sequence[PredictionFile]) -> None:
    """Raise UsageError for a score name that no prediction has."""

    known = sorted({number for file in files for number in file.numeric_fields})
    if name not in known:
        # Most unknown names are typing errors.
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; they have {', '.join(known) or 'none'}"
        raise UsageError(f"no prediction has a number under {name!r}{hint}")
