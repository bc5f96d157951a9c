"""`granola snapshot check`: whether a dataset's evidence still stands in another snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import orjson

from abstraction.files.writing import check_kind
from granola.errors import UsageError
from granola.runs.json_lines import json_lines
from granola.runs.outputs import check_outputs, report_rejects
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson
from granola.terminal_lines import counted, show_lines

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow


@dataclass(frozen=True, kw_only=True)
class CheckRun(Run):
    """Check whether a dataset's evidence still holds in another snapshot, such as a later one.

    Every entity of a row must be there, and every statement and description of its evidence say the same there.
    Exit status 1 if anything does not stand.
    """

    verb: ClassVar[str] = "snapshot check"

    tiered: Annotated[Path, Setting("Tiered rows, as 'granola tiers' writes them.", positional=True)]
    snapshot: Annotated[
        str, Setting("The snapshot to check them against, a file or bolt://HOST:PORT.", positional=True)
    ]
    as_json: AsJson = False
    problems: Annotated[Path | None, Setting("Write every problem to this file, one JSON object a line.")] = None
    force: Annotated[bool, Setting("Replace the file of --problems if it exists.")] = False

    def run(self) -> Revalidated:
        """Check every row. Raises UsageError where there is none."""
        from abstraction.rows import read_tiered
        from abstraction.verifying.revalidation import recheck
        from kg.store import open_store

        if self.problems is not None:
            check_outputs(self.problems, inputs=[self.tiered, self.snapshot], force=self.force, asked="--problems")
            check_kind(self.problems, "jsonl", asked="--problems")
        findings: Counter[str] = Counter()
        rows = sound = 0
        rejected: list[RejectedRow] = []
        with closing(open_store(self.snapshot)) as store, json_lines(self.problems) as write:
            tiered_rows = read_tiered(self.tiered, on_reject=rejected.append)
            for _, problems in recheck(tiered_rows, store, on_reject=rejected.append):
                rows += 1
                sound += not problems
                findings.update(str(problem.finding) for problem in problems)
                for problem in problems if write is not None else ():
                    write(problem.to_json())  # type: ignore[misc]  # there is no loop without it
            snapshot = str(store.manifest()["snapshot_id"])
        return Revalidated(
            settings=self, snapshot=snapshot, rows=rows, sound=sound, findings=findings, rejected=rejected
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Revalidated:
    """How many rows stand in a snapshot, and what does not, by kind."""

    settings: CheckRun
    snapshot: str
    rows: int
    sound: int
    findings: Counter[str] = field(default_factory=Counter)
    rejected: Sequence[RejectedRow] = ()

    @property
    def failed(self) -> bool:
        """Whether anything does not stand."""
        return self.sound < self.rows or bool(self.rejected)

    def show(self) -> None:
        """The counts. Raises UsageError where there was no row, when what was rejected has been told."""
        if self.settings.as_json:
            summary = {
                "snapshot": self.snapshot, "rows": self.rows, "sound": self.sound, "rejected": len(self.rejected),
                "findings": dict(sorted(self.findings.items())),
            }  # fmt: skip
            print(orjson.dumps(summary, option=orjson.OPT_INDENT_2).decode())
        else:
            sound = f"{self.sound:,} of {self.rows:,} rows stand in snapshot {self.snapshot}"
            show_lines(sound, counted(self.findings))
        report_rejects(str(self.settings.tiered), self.rejected)
        if not self.rows:
            raise UsageError(f"{self.settings.tiered}: no tiered row in it; name a file that granola tiers wrote")
