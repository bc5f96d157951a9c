"""`granola snapshot export`: a snapshot for other programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

from granola.runs.outputs import STANDARD, check_outputs
from granola.runs.progress import counting
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import Force
from kg.errors import ExportError

PACKED = (".bz2", ".zst", ".xz", ".zip")


class ExportFormat(StrEnum):
    """What `--format` takes."""

    NT = "nt"
    TTL = "ttl"
    PARQUET = "parquet"


@dataclass(frozen=True, kw_only=True)
class ExportRun(Run):
    """Write a snapshot for other programs. The same snapshot always gives the same content."""

    verb: ClassVar[str] = "snapshot export"

    snapshot: Annotated[Path, Setting("A snapshot file.", positional=True)]
    out: Annotated[
        str,
        Setting("The file to write (packed where it ends in .gz; - is standard output), or the folder.", short="-o"),
    ]
    format: Annotated[
        ExportFormat,
        Setting("nt, ttl: RDF as WikiData writes it, one file. parquet: a folder of tables."),
    ]
    force: Force = False

    def run(self) -> Exported:
        """Write it. Raises ExportError, UsageError."""
        is_file = self.format in (ExportFormat.NT, ExportFormat.TTL)
        _check_name(self.out, self.format)
        if self.out == STANDARD and not is_file:
            raise ExportError(
                f"{self.format} is a folder of files, which standard output cannot take; give a folder as --out"
            )
        if is_file and self.out != STANDARD:
            check_outputs(self.out, inputs=[self.snapshot], force=self.force)
        with counting("entities") as progress:
            return self._rdf(progress) if is_file else self._parquet(progress)

    def _rdf(self, progress: Callable[[int], None] | None) -> Exported:
        from kg.export.rdf_writer import export_rdf

        done = export_rdf(
            self.snapshot, self.out, format="nt" if self.format is ExportFormat.NT else "ttl", progress=progress
        )
        counts = f"{done.triples:,} triples of {done.entities:,} entities and {done.statements:,} statements"
        left_out = [f"left out: {number:,} {what}" for what, number in done.left_out.items()]
        return Exported(lines=[f"{self.out}: {counts}", *left_out], failed=bool(left_out))

    def _parquet(self, progress: Callable[[int], None] | None) -> Exported:
        from kg.export.parquet import export_parquet

        rows = export_parquet(self.snapshot, self.out, force=self.force, progress=progress).rows
        return Exported(lines=[f"{self.out}: " + ", ".join(f"{count:,} {table}" for table, count in rows.items())])


@dataclass(frozen=True, kw_only=True, slots=True)
class Exported:
    """What was written, in lines; `failed` where something had to be left out."""

    lines: Sequence[str]
    failed: bool = False

    def show(self) -> None:
        """The lines on standard error."""
        print(*self.lines, sep="\n", file=sys.stderr)


def _check_name(out: str, format: ExportFormat) -> None:
    """Raise ExportError where the name of the output says another format than what would be written."""
    ending = Path(out.lower().removesuffix(".gz")).suffix
    if ending in PACKED:
        raise ExportError(f"{out}: {ending} is no way of packing that exports know; allowed are .gz and none")
    written = {".nt": ExportFormat.NT, ".ttl": ExportFormat.TTL, ".parquet": ExportFormat.PARQUET}.get(ending, format)
    if format is not written:
        raise ExportError(
            f"{out} is named {ending}, but --format {format} was asked for; give --format {written}, or another name"
        )
