"""`granola snapshot import`: a snapshot back from Parquet tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from granola.runs.outputs import check_out
from granola.runs.progress import counting
from granola.runs.settings import Run, Setting
from granola.runs.snapshots.export_run import Exported


@dataclass(frozen=True, kw_only=True)
class ImportRun(Run):
    """Build a snapshot from an exported folder of Parquet tables; it has the id of the one that was exported."""

    verb: ClassVar[str] = "snapshot import"

    folder: Annotated[
        Path, Setting("A folder of Parquet tables, as 'granola snapshot export' writes it.", positional=True)
    ]
    out: Annotated[Path, Setting("The snapshot file to write.", short="-o")]
    force: Annotated[bool, Setting("Replace the output if it exists.")] = False

    def run(self) -> Exported:
        """Build it."""
        from kg.export.parquet import import_parquet

        check_out(self.out, inputs=self.folder.glob("*") if self.folder.is_dir() else ())
        with counting("entities") as progress:
            counts = import_parquet(self.folder, self.out, force=self.force, progress=progress)["counts"]
        return Exported(lines=[f"{self.out}: {counts['entities']:,} entities, {counts['statements']:,} statements"])
