"""`granola demo`: all steps once, on the bundled sample."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.files.writing import json_line_writer
from granola.base.run_record import record_of, write_run_record
from granola.base.settings import Setting
from granola.base.terminal_lines import Verbatim, show_lines
from granola.commands.command import Command
from granola.commands.output import lock_output
from granola.commands.score import ScoringSettings, score_systems
from granola.commands.snapshot_build import SnapshotBuild
from granola.commands.tiers import Tiers
from granola.errors import GranolaError, UsageError
from granola.scoring.shared_settings import Force
from kg.base.files import atomic_path

if TYPE_CHECKING:
    from granola.scoring.system_comparison import ScoredSystems

SYSTEMS = ("specific", "cautious")  # the two bundled prediction files
PAGE = "report.html"  # its run record marks the folder as a demo


@dataclass(frozen=True, kw_only=True)
class Demo(Command["ScoredSystems"]):
    """Build a snapshot, make ladders, score two prediction files and write a page about it all.

    Needs no network, no server and no model: a WikiData sample, questions and predictions are bundled.
    """

    out: Annotated[Path, Setting("Folder for what the demo makes; created where absent.", metavar="DIR")] = Path(
        "demo-output"
    )
    force: Force = False

    def run(self) -> ScoredSystems:
        """Make all files. Raises UsageError for a folder with files other than those of an earlier demo."""
        if not str(self.out) or self.out == Path():
            raise UsageError("--out is empty; name a folder, as in --out demo-output")
        if self.out.exists() and not self.out.is_dir():
            raise GranolaError(f"--out {self.out} is a file; name a folder, as in --out demo-output")
        # Only a folder that a demo made is overwritten.
        is_demo = record_of(self.out / PAGE).get("command") == "demo"
        if not self.force and self.out.exists() and any(self.out.iterdir()) and not is_demo:
            raise UsageError(f"{self.out} is not an earlier demo's; name another folder, or give --force")
        with lock_output(self.out):
            return self._make_files()

    def _make_files(self) -> ScoredSystems:
        from granola.report.score_page import render, shown_rows_with_evidence

        snapshot, tiers = str(self.out / "snapshot.sqlite"), str(self.out / "tiers.jsonl")
        self.out.mkdir(parents=True, exist_ok=True)
        SnapshotBuild(sources=_bundled_path("snapshot", "wikidata", snapshot), out=Path(snapshot), force=True).run()
        made = Tiers(qa=_bundled_path("ladders", "questions", tiers), snapshot=snapshot, out=tiers, force=True).run()
        items = {system: self.out / f"items-{system}.jsonl" for system in SYSTEMS}
        predictions = [*(_bundled_path("scores", f"predictions-{name}", str(path))[0] for name, path in items.items())]
        systems = score_systems(tiers, predictions, ScoringSettings())
        for report, path, given in zip(systems.reports, items.values(), predictions, strict=True):
            with json_line_writer(path) as write:
                for item in report.items:
                    write(item.to_json())
            more = {"signature": str(report.signature), "counts": dict(report.counts)}
            self._write_run_record(path, [tiers, given], more)
        rows = shown_rows_with_evidence(tiers, systems.rows)
        shown = [rows[row.id] for row in systems.rows]
        page = render(shown, systems.reports, made.more["snapshot"], title="GRANOLA demo")
        with atomic_path(self.out / PAGE) as temporary:
            temporary.write_text(page, encoding="utf-8")
        self._write_run_record(self.out / PAGE, [tiers, *predictions], {})
        return systems

    def _write_run_record(self, path: Path, inputs: list[str], more: dict[str, Any]) -> None:
        write_run_record(path, command=self.verb, arguments=self.arguments(), inputs=inputs, more=more)

    def show(self, result: ScoredSystems) -> None:
        """Print the tables, the signature, and the path of the page."""
        from granola.report.score_tables import score_tables

        # Systems scored alike have one signature.
        signatures = dict.fromkeys(f"signature: {report.signature}" for report in result.reports)
        show_lines(*score_tables(result.reports), "", *map(Verbatim, signatures), Verbatim(f"page: {self.out / PAGE}"))

    def json_result(self, result: ScoredSystems) -> Any:
        """The scores, and the path of the page."""
        return {"page": self.out / PAGE, "systems": result.reports}


def _bundled_path(activity: str, name: str, out: str) -> tuple[str]:
    """The path of a bundled file; announces on standard error what is made from it."""
    from granola.shortcuts import bundled

    path = bundled(name)
    print(f"{activity:<9} {path.name} -> {out}", file=sys.stderr)
    return (str(path),)
