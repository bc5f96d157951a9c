"""`granola snapshot spark`: a dump decoded on a cluster."""

from __future__ import annotations

import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from granola.runs.outputs import check_outputs
from granola.runs.settings import Run, Setting
from granola.runs.snapshots.scope_settings import languages_of

if TYPE_CHECKING:
    from kg.export.spark_tables import SparkReport


@dataclass(frozen=True, kw_only=True)
class SparkRun(Run):
    """Decode dumps on a Spark cluster into Parquet tables, which 'granola snapshot build --from parquet' reads.

    The snapshot has the id that 'granola snapshot build' of the same dumps gives. Exit status 1 if anything was
    rejected, which is listed in OUT.rejects.jsonl, or a dump's array is never closed.
    """

    verb: ClassVar[str] = "snapshot spark"

    sources: Annotated[
        tuple[Path, ...],
        Setting(
            "JSON dumps, one entity a line, plain or .bz2 (.gz is read by one core alone).",
            metavar="SOURCE...",
            positional=True,
        ),
    ]
    out: Annotated[Path, Setting("The folder of Parquet tables to write, seen by all executors.", short="-o")]
    master: Annotated[
        str | None,
        Setting("Spark's master, as spark://HOST:7077 or local[8]; by default as spark-submit says, or local[*]."),
    ] = None
    languages: Annotated[
        tuple[str, ...], Setting("Keep terms in these languages and those they fall back to.", metavar="CODE,...")
    ] = ("all",)
    partitions: Annotated[
        int | None,
        Setting("How many files a table has; by default one for 100 000 entities, at least one a core.", least=1),
    ] = None
    force: Annotated[bool, Setting("Replace a folder of an earlier export.")] = False

    def run(self) -> TablesWritten:
        """Decode them."""
        from granola import __version__
        from kg.export.spark_tables import REJECTS_SUFFIX, decode_dump

        began = time.monotonic()
        codes = languages_of(self.languages)
        check_outputs(Path(f"{self.out}{REJECTS_SUFFIX}"), inputs=self.sources, force=True)
        command = ["granola", "snapshot", "spark", *map(str, self.sources), "--out", str(self.out)]
        for code in codes or ():
            command += ["--languages", code]
        report = decode_dump(
            self.sources,
            self.out,
            master=self.master,
            languages=codes,
            partitions=self.partitions,
            force=self.force,
            command=shlex.join(command),
            software=f"granola {__version__}",
        )
        return TablesWritten(out=self.out, done=report, seconds=time.monotonic() - began)


@dataclass(frozen=True, kw_only=True, slots=True)
class TablesWritten:
    """The tables of a dump."""

    out: Path
    done: SparkReport
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether anything was rejected, or a dump was cut short."""
        return bool(self.done.rejects or self.done.incomplete)

    def show(self) -> None:
        """Rows by table and what was left out, on standard error."""
        from kg.reading.dump import unclosed

        report = self.done
        tables = ", ".join(f"{count:,} {table}" for table, count in report.rows.items())
        lines = [f"{self.out}: {tables}, in {self.seconds:.1f} s"]
        if report.duplicates:
            lines.append(f"{report.duplicates:,} entities occurred again; the last of each was kept")
        lines += [f"warning: {unclosed(name)}" for name in report.incomplete]
        if report.rejects:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in report.rejects.items())
            lines.append(f"rejected: {reasons}; listed in {report.rejects_path}")
        print(*lines, sep="\n", file=sys.stderr)
