"""`granola score`: predictions against a tiered file."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from granola.runs.scores.scored_systems import Systems, score_systems
from granola.runs.scores.scoring_settings import ScoringSettings
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson, Force, Tiered

if TYPE_CHECKING:
    from granola.scoring.scores import ScoreReport


@dataclass(frozen=True, kw_only=True)
class ScoreRun(Run, ScoringSettings):
    """Score predictions: GRANOLA accuracy, informativeness and more, with intervals and a signature."""

    verb: ClassVar[str] = "score"

    tiered: Tiered
    predictions: Annotated[
        str,
        Setting(
            'Predictions: {"id", "prediction"} as JSONL, JSON, CSV or Parquet; - is standard input.',
            metavar="PREDICTIONS",
            positional=True,
        ),
    ]
    as_json: AsJson = False
    out: Annotated[
        Path | None,
        Setting(
            "Write one JSON row an item here, FILE.run.json beside it, and FILE.rejects.jsonl for rejected rows.",
            metavar="FILE",
        ),
    ] = None
    force: Force = False

    def run(self) -> Scored:
        """Score, and write the items where `out` is given, each as soon as it is scored."""
        if self.out is None:
            return Scored(settings=self, systems=score_systems(self.tiered, [self.predictions], self, keep_items=False))
        return self._scored_into(self.out)

    def _scored_into(self, out: Path) -> Scored:
        from abstraction.files.writing import check_kind
        from granola.errors import UsageError
        from granola.report.item_rows import writing_items
        from granola.run_record import SUFFIX as RECORD_SUFFIX
        from granola.run_record import write_run_record
        from granola.runs.outputs import REJECTS_SUFFIX, STANDARD, check_outputs, list_rejects, removed_on_error

        if str(out) in (STANDARD, "."):
            raise UsageError("--out takes a file; the tables or --json go to standard output")
        inputs = [self.tiered, self.predictions]
        check_outputs(out, inputs=inputs, sides=(REJECTS_SUFFIX, RECORD_SUFFIX), force=self.force)
        check_kind(out, "jsonl", may_be_packed=True)
        with removed_on_error(out):
            with writing_items(out) as write:
                systems = score_systems(
                    self.tiered, [self.predictions], self, out=out, on_item=write, keep_items=False
                )  # fmt: skip
            listed = list_rejects(out, systems.rejected)
        (report,) = systems.reports
        write_run_record(
            out,
            command=self.verb,
            arguments={**self.arguments(), **self.resolved(), "matcher": report.signature.matcher},
            inputs=inputs,
            more={
                "signature": str(report.signature),
                "counts": dict(report.counts),
                "rejected": [row.to_json() for row in systems.rejected],
            },
        )
        return Scored(settings=self, systems=systems, listed=listed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """The scores of one system."""

    settings: ScoreRun
    systems: Systems
    listed: Path | None = None

    @property
    def report(self) -> ScoreReport:
        """The scores."""
        return self.systems.reports[0]

    @property
    def failed(self) -> bool:
        """Whether rows were rejected, or nothing could be scored."""
        return bool(self.systems.rejected) or self._nothing

    @property
    def _nothing(self) -> bool:
        return self.report.overall.unscored == len(self.systems.rows)

    def show(self) -> None:
        """The tables and the signature, or JSON."""
        from granola.runs.outputs import count, note, print_json

        if self.listed is not None and self.systems.rejected:
            note(f"{count(len(self.systems.rejected), 'rejected row')} listed in {self.listed}")
        if self.report.overall.unscored:
            note(f"{self.report.overall.unscored} of {count(len(self.systems.rows), 'question')} are unscored")
        if self.settings.as_json:
            print_json(self.report.to_json(), indent=1)
        else:
            self._print_tables()
        if self._nothing:
            note("nothing is scored: no question has a usable prediction")

    def _print_tables(self) -> None:
        from rich.console import Console

        from granola.report.score_tables import distribution_tables, relations_tables, scores_table

        console = Console(width=None if sys.stdout.isatty() else 140)
        for table in (
            scores_table([self.report]),
            *distribution_tables([self.report], console.width),
            *(relations_tables(self.report, console.width) if self.report.relations else ()),
        ):
            console.print(table)
        print(f"signature: {self.report.signature}")
