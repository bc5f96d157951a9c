"""What benchmarks share: where the project and the real data are, and the command line in a process of its own."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
GRANOLA = [sys.executable, "-c", "from granola.cli.main import main; main()"]


def arguments(doc: str | None, *, data: bool = False) -> argparse.ArgumentParser:
    """A parser whose help is the script's docstring; with `data`, of --data and --snapshot too."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if data:
        parser.add_argument("--data", type=Path, default=DATA, help="folder of real data")
        parser.add_argument("--snapshot", type=Path, help="a snapshot of the sample; by default one is built")
    return parser


@contextmanager
def sample_snapshot(data: Path, given: Path | None) -> Iterator[Path]:
    """The snapshot that is given, or one of the 76 K sample, for as long as the block lasts."""
    from kg import snapshot

    with tempfile.TemporaryDirectory(prefix="granola-bench-") as folder:
        if given is None:
            given = Path(folder) / "sample.sqlite"
            snapshot.build([data / "wikidata" / "entities.json.gz"], given)
        yield given
