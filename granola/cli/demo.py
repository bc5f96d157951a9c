"""`granola demo`: the whole way once, on the bundled sample."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from granola.scoring.scores import ScoreReport

BUNDLED = Path(__file__).resolve().parents[1] / "demo"
SYSTEMS = ("specific", "cautious")


def demo(
    out: Path = typer.Option(
        Path("demo-output"), "--out", metavar="DIR", help="Folder for what the demo makes; created where absent."
    ),
    force: bool = typer.Option(False, "--force", help="Replace files in the folder that are not an earlier demo's."),
) -> None:
    """Build a snapshot, make ladders, score two prediction files and write a page about it all.

    Needs no network, no server and no model: a WikiData sample, questions and predictions are bundled.
    """
    from contextlib import closing

    from abstraction.pipeline import make_ladders
    from abstraction.rows import read_questions, read_tiered, write_tiered
    from granola.errors import GranolaError, UsageError
    from granola.matching import matcher
    from granola.report.item_rows import write_items
    from granola.report.score_page import render
    from granola.run_record import write_run_record
    from granola.scoring.predictions import read_predictions
    from granola.scoring.scores import score
    from granola.scoring.signature import snapshot_of
    from kg.files import atomic_path
    from kg.snapshot import build
    from kg.store.sqlite import SQLiteStore

    if not str(out) or out == Path():
        raise UsageError("--out is empty; name a folder, as in --out demo-output")
    source = bundled("wikidata")
    questions = bundled("questions")
    if out.exists() and not out.is_dir():
        raise GranolaError(f"--out {out} is a file; name a folder, as in --out demo-output")
    if not force:
        _check_folder(out)
    out.mkdir(parents=True, exist_ok=True)

    snapshot = out / "snapshot.sqlite"
    _say(f"snapshot  {source.name} -> {snapshot}")
    build([source], snapshot, force=True, command=f"granola snapshot build {source} --out {snapshot}")

    tiers = out / "tiers.jsonl"
    _say(f"ladders   {questions.name} -> {tiers}")
    with closing(SQLiteStore.open(snapshot)) as store:
        manifest = store.manifest()
        write_tiered(make_ladders(read_questions([questions]), store), tiers)
    write_run_record(
        tiers,
        command="demo",
        arguments={"out": out},
        inputs=[questions, snapshot],
        more={"snapshot": manifest["snapshot_id"]},
    )

    rows = list(read_tiered(tiers))
    reports = []
    for system in SYSTEMS:
        predictions = bundled(f"predictions-{system}")
        items = out / f"items-{system}.jsonl"
        _say(f"scores    {predictions.name} -> {items}")
        report = score(
            rows,
            read_predictions(predictions),
            matcher("rules"),
            system=system,
            snapshot=snapshot_of(tiers),
        )
        write_items(report.items, items)
        write_run_record(
            items,
            command="demo",
            arguments={"out": out},
            inputs=[tiers, predictions],
            more={"signature": str(report.signature), "counts": dict(report.counts)},
        )
        reports.append(report)

    page = out / "report.html"
    with atomic_path(page) as temporary:
        temporary.write_text(render(rows, reports, manifest, title="GRANOLA demo"), encoding="utf-8")
    _print(reports, page)


def _check_folder(out: Path) -> None:
    """Raise UsageError where a file that the demo would write is there, and no earlier demo wrote it."""
    from granola.errors import UsageError
    from granola.run_record import SUFFIX, made_by

    items = [f"items-{system}.jsonl" for system in SYSTEMS]
    recorded = ["tiers.jsonl", *items]
    names = ["snapshot.sqlite", "report.html", *recorded, *(f"{name}{SUFFIX}" for name in recorded)]
    there = [out / name for name in names if (out / name).exists()]
    own = [path for path in there if made_by(path.with_name(path.name.removesuffix(SUFFIX))) == "demo"]
    if own:  # snapshot and page have no record of their own
        own += [path for path in there if path.name in names[:2]]
    if foreign := [path for path in there if path not in own]:
        raise UsageError(f"{foreign[0]} is not an earlier demo's; name another folder, or give --force to replace it")


def bundled(name: str) -> Path:
    """A file of the bundled sample, whatever its suffix."""
    from granola.errors import GranolaError

    found = sorted(path for path in BUNDLED.glob(f"{name}.*") if path.is_file())
    if not found:
        raise GranolaError(f"the bundled {name} is missing from {BUNDLED}; install granola-ladders again")
    return found[0]


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _print(reports: list[ScoreReport], page: Path) -> None:
    from rich.console import Console

    from granola.report.score_tables import distribution_table, scores_table

    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(scores_table(reports))
    console.print(distribution_table(reports))
    for signature in dict.fromkeys(str(report.signature) for report in reports):
        print(f"signature: {signature}")
    print(f"page: {page}")
