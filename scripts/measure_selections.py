"""How many ladders a selection by questions changes: those made from all of a dump beside those from the piece.

    python scripts/measure_selections.py DUMP QUESTIONS... [--limit 200] [--no-complete]
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

from measuring import arguments

from abstraction.pipeline import make_ladders
from abstraction.rows import QARow, read_questions
from granola.commands import SnapshotBuild
from kg.store import open_store


def main() -> None:
    """Build both, make the ladders, and print those that differ."""
    parser = arguments(__doc__, data=False)
    parser.add_argument("dump")
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=200, help="questions of each file")
    parser.add_argument("--no-complete", action="store_true", help="without what the ladders ask for")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole, piece = Path(folder) / "whole.sqlite", Path(folder) / "piece.sqlite"
        SnapshotBuild(sources=(given.dump,), out=whole).run()
        for path in given.questions:
            complete = not given.no_complete
            SnapshotBuild(sources=(given.dump,), qa=(path,), hops=6, out=piece, complete=complete, force=True).run()
            rows = list(read_questions([path], limit=given.limit, on_reject=lambda _: None))
            pairs = zip(rows, _ladders(rows, whole), _ladders(rows, piece), strict=True)
            differing = [(row, one, other) for row, one, other in pairs if one != other]
            print(f"{path.name}: {len(differing)} of {len(rows)} ladders differ")
            for row, whole_one, piece_one in differing[:5]:
                print(f"  {row.id} {row.question}\n    whole: {whole_one}\n    piece: {piece_one}")


def _ladders(rows: list[QARow], snapshot: Path) -> list[object]:
    with closing(open_store(snapshot)) as store:
        made = make_ladders(rows, store, on_reject=lambda _: None)
        return [([level.names() for level in row.levels], row.abstained) for row in made]


if __name__ == "__main__":
    main()
