"""`granola demo`: the whole way once, on the bundled sample."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from granola.bundled import bundled
from granola.commands.command import Command
from granola.commands.output import alone
from granola.errors import GranolaError, UsageError
from granola.run_record import SUFFIX, made_by, write_run_record
from granola.settings import Setting
from granola.shared_settings import Force
from granola.terminal_lines import Verbatim, show_lines

if TYPE_CHECKING:
    from granola.scoring.scores import ScoreReport

SYSTEMS = ("specific", "cautious")
PAGE = "report.html"


@dataclass(frozen=True, kw_only=True)
class Demo(Command["Sequence[ScoreReport]"]):
    """Build a snapshot, make ladders, score two prediction files and write a page about it all.

    Needs no network, no server and no model: a WikiData sample, questions and predictions are bundled.
    """

    out: Annotated[Path, Setting("Folder for what the demo makes; created where absent.", metavar="DIR")] = Path(
        "demo-output"
    )
    force: Force = False

    def run(self) -> Sequence[ScoreReport]:
        """Make everything. Raises UsageError for a folder with files that are not an earlier demo's."""
        from granola.report.score_page import render
        from kg.files import atomic_path

        self._check()
        with alone(self.out):
            self.out.mkdir(parents=True, exist_ok=True)
            tiers, manifest = self._ladders()
            reports = [self._scores(system, tiers) for system in SYSTEMS]
            page = self.out / PAGE
            with atomic_path(page) as temporary:
                temporary.write_text(render(_rows(tiers), reports, manifest, title="GRANOLA demo"), encoding="utf-8")
        return reports

    def show(self, result: Sequence[ScoreReport]) -> None:
        """The tables, the signature, and where the page is."""
        from granola.report.score_tables import score_tables

        signatures = dict.fromkeys(f"signature: {report.signature}" for report in result)
        show_lines(*score_tables(result), "", *map(Verbatim, signatures), Verbatim(f"page: {self.out / PAGE}"))

    def told(self, result: Sequence[ScoreReport]) -> Any:
        """The scores, and where the page is."""
        return {"page": self.out / PAGE, "systems": result}

    def _check(self) -> None:
        if not str(self.out) or self.out == Path():
            raise UsageError("--out is empty; name a folder, as in --out demo-output")
        if self.out.exists() and not self.out.is_dir():
            raise GranolaError(f"--out {self.out} is a file; name a folder, as in --out demo-output")
        if not self.force:
            _check_folder(self.out)

    def _ladders(self) -> tuple[Path, Any]:
        """The tiered file, and the manifest of the snapshot that it was made with."""
        from abstraction.pipeline import make_ladders
        from abstraction.rows import read_questions, write_tiered
        from kg.building.snapshot import build
        from kg.store.sqlite import SQLiteStore

        source, questions = bundled("wikidata"), bundled("questions")
        snapshot, tiers = self.out / "snapshot.sqlite", self.out / "tiers.jsonl"
        print(f"snapshot  {source.name} -> {snapshot}", file=sys.stderr)
        build([source], snapshot, force=True, command=f"granola snapshot build {source} --out {snapshot}")
        print(f"ladders   {questions.name} -> {tiers}", file=sys.stderr)
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
        from granola.scoring.predictions import read_predictions
        from granola.scoring.scores import score

        predictions, items = bundled(f"predictions-{system}"), self.out / f"items-{system}.jsonl"
        print(f"scores    {predictions.name} -> {items}", file=sys.stderr)
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


def _rows(tiers: Path) -> list[Any]:
    from abstraction.rows import read_tiered

    return list(read_tiered(tiers))


def _check_folder(out: Path) -> None:
    """Raise UsageError where a file that the demo would write is there, and no earlier demo wrote it."""
    items = [f"items-{system}.jsonl" for system in SYSTEMS]
    recorded = ["tiers.jsonl", *items]
    names = ["snapshot.sqlite", PAGE, *recorded, *(f"{name}{SUFFIX}" for name in recorded)]
    there = [out / name for name in names if (out / name).exists()]
    earlier = [path for path in there if made_by(path.with_name(path.name.removesuffix(SUFFIX))) == "demo"]
    if earlier:  # snapshot and page have no record of their own
        earlier += [path for path in there if path.name in names[:2]]
    if foreign := [path for path in there if path not in earlier]:
        raise UsageError(f"{foreign[0]} is not an earlier demo's; name another folder, or give --force to replace it")
