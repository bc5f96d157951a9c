"""`granola demo`: the whole way once, on the bundled sample."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.runs.settings import Run, Setting

if TYPE_CHECKING:
    from granola.scoring.scores import ScoreReport

BUNDLED = Path(__file__).resolve().parents[1] / "demo"
SYSTEMS = ("specific", "cautious")


@dataclass(frozen=True, kw_only=True)
class DemoRun(Run):
    """Build a snapshot, make ladders, score two prediction files and write a page about it all.

    Needs no network, no server and no model: a WikiData sample, questions and predictions are bundled.
    """

    verb: ClassVar[str] = "demo"

    out: Annotated[Path, Setting("Folder for what the demo makes; created where absent.", metavar="DIR")] = Path(
        "demo-output"
    )
    force: Annotated[bool, Setting("Replace files in the folder that are not an earlier demo's.", recorded=False)] = (
        False
    )

    def run(self) -> Shown:
        """Make everything. Raises UsageError for a folder with files that are not an earlier demo's."""
        from granola.report.score_page import render
        from kg.files import atomic_path

        self._check()
        self.out.mkdir(parents=True, exist_ok=True)
        tiers, manifest = self._ladders()
        reports = [self._scores(system, tiers) for system in SYSTEMS]
        page = self.out / "report.html"
        with atomic_path(page) as temporary:
            temporary.write_text(render(_rows(tiers), reports, manifest, title="GRANOLA demo"), encoding="utf-8")
        return Shown(reports=reports, page=page)

    def _check(self) -> None:
        from granola.errors import GranolaError, UsageError

        if not str(self.out) or self.out == Path():
            raise UsageError("--out is empty; name a folder, as in --out demo-output")
        if self.out.exists() and not self.out.is_dir():
            raise GranolaError(f"--out {self.out} is a file; name a folder, as in --out demo-output")
        if not self.force:
            _check_folder(self.out)

    def _ladders(self) -> tuple[Path, Any]:
        """The tiered file, and the manifest of the snapshot that it was made with."""
        from contextlib import closing

        from abstraction.pipeline import make_ladders
        from abstraction.rows import read_questions, write_tiered
        from granola.run_record import write_run_record
        from kg.snapshot import build
        from kg.store.sqlite import SQLiteStore

        source, questions = bundled("wikidata"), bundled("questions")
        snapshot, tiers = self.out / "snapshot.sqlite", self.out / "tiers.jsonl"
        _say(f"snapshot  {source.name} -> {snapshot}")
        build([source], snapshot, force=True, command=f"granola snapshot build {source} --out {snapshot}")
        _say(f"ladders   {questions.name} -> {tiers}")
        with closing(SQLiteStore.open(snapshot)) as store:
            manifest = store.manifest()
            write_tiered(make_ladders(read_questions([questions]), store), tiers)
        write_run_record(
            tiers,
            command=self.verb,
            arguments=self.arguments(),
            inputs=[questions, snapshot],
            more={"snapshot": manifest["snapshot_id"]},
        )
        return tiers, manifest

    def _scores(self, system: str, tiers: Path) -> ScoreReport:
        from abstraction.files.writing import writing_lines
        from granola.matching import matcher
        from granola.run_record import write_run_record
        from granola.scoring.predictions import read_predictions
        from granola.scoring.scores import score

        predictions, items = bundled(f"predictions-{system}"), self.out / f"items-{system}.jsonl"
        _say(f"scores    {predictions.name} -> {items}")
        report = score(tiers, read_predictions(predictions), matcher("rules"), system=system)
        with writing_lines(items) as write:
            for item in report.items:
                write(item.to_json())
        write_run_record(
            items,
            command=self.verb,
            arguments=self.arguments(),
            inputs=[tiers, predictions],
            more={"signature": str(report.signature), "counts": dict(report.counts)},
        )
        return report


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """The scores of both systems, and the page."""

    reports: Sequence[ScoreReport]
    page: Path

    @property
    def failed(self) -> bool:
        """Never."""
        return False

    def show(self) -> None:
        """The tables, the signature, and where the page is."""
        from rich.console import Console

        from granola.report.score_tables import distribution_tables, score_tables

        console = Console(width=None if sys.stdout.isatty() else 140)
        for table in (
            *score_tables(self.reports, console.width),
            *distribution_tables(self.reports, console.width),
        ):
            console.print(table)
        for signature in dict.fromkeys(str(report.signature) for report in self.reports):
            print(f"signature: {signature}")
        print(f"page: {self.page}")


def _rows(tiers: Path) -> list[Any]:
    from abstraction.rows import read_tiered

    return list(read_tiered(tiers))


def _check_folder(out: Path) -> None:
    """Raise UsageError where a file that the demo would write is there, and no earlier demo wrote it."""
    from granola.errors import UsageError
    from granola.run_record import SUFFIX, made_by

    items = [f"items-{system}.jsonl" for system in SYSTEMS]
    recorded = ["tiers.jsonl", *items]
    names = ["snapshot.sqlite", "report.html", *recorded, *(f"{name}{SUFFIX}" for name in recorded)]
    there = [out / name for name in names if (out / name).exists()]
    earlier = [path for path in there if made_by(path.with_name(path.name.removesuffix(SUFFIX))) == "demo"]
    if earlier:  # snapshot and page have no record of their own
        earlier += [path for path in there if path.name in names[:2]]
    if foreign := [path for path in there if path not in earlier]:
        raise UsageError(f"{foreign[0]} is not an earlier demo's; name another folder, or give --force to replace it")


def bundled(name: str) -> Path:
    """A file of the bundled sample, whatever its suffix."""
    from granola.errors import GranolaError

    paths = sorted(path for path in BUNDLED.glob(f"{name}.*") if path.is_file())
    if not paths:
        raise GranolaError(f"the bundled {name} is missing from {BUNDLED}; install granola-ladders again")
    return paths[0]


def _say(line: str) -> None:
    print(line, file=sys.stderr)
