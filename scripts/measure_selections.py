"""How many ladders a selection by questions changes: those made from all of a source beside those from the piece.

python scripts/measure_selections.py DUMP QUESTIONS... [--limit 200] [--no-complete]
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import closing
from pathlib import Path

from abstraction.pipeline import make_ladders
from abstraction.rows import QARow, read_questions
from granola.runs import BuildRun
from kg.store import open_store


def main() -> None:
    """Build both, make the ladders, and print those that differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=200, help="questions of each file")
    parser.add_argument("--no-complete", action="store_true", help="without what the ladders ask for")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.sqlite"
        BuildRun(sources=(str(given.dump),), out=whole).run()
        for path in given.questions:
            piece = Path(folder) / f"{path.name}.sqlite"
            built = BuildRun(
                sources=(str(given.dump),), qa=(path,), hops=6, out=piece, complete=not given.no_complete, force=True
            ).run()
            rows = list(read_questions([path], limit=given.limit, on_reject=lambda _: None))
            differing = [
                row for row, one, other in zip(rows, _ladders(rows, whole), _ladders(rows, piece), strict=True)
                if one != other
            ]  # fmt: skip
            entities = built.report.manifest["counts"]["entities"]  # type: ignore[attr-defined]
            print(f"{path.name}: {entities:,} entities, {len(differing)} of {len(rows)} ladders differ")
            for row in differing[:5]:
                print(f"  {row.id} {row.question}")


def _ladders(rows: list[QARow], snapshot: Path) -> list[object]:
    with closing(open_store(snapshot)) as store:
        made = make_ladders(rows, store, on_reject=lambda _: None)
        return [([level.names() for level in row.levels], row.abstained) for row in made]


if __name__ == "__main__":
    main()
