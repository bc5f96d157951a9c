"""How many ladders a selection by questions changes: those made from all of a source beside those from the piece.

python scripts/measure_selections.py DUMP QUESTIONS... [--limit 200] [--no-complete] [--from api]

With `--from api` the piece is asked for at an API on loopback, which serves the dump as WikiData's does.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from abstraction.pipeline import make_ladders
from abstraction.rows import QARow, read_questions
from granola.commands import SnapshotBuild
from granola.commands.snapshot_build import SourceKind
from kg.store import open_store

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/kg"))
import wikidata_api  # the server that the tests have


def main() -> None:
    """Build both, make the ladders, and print those that differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=200, help="questions of each file")
    parser.add_argument("--no-complete", action="store_true", help="without what the ladders ask for")
    parser.add_argument(
        "--from", dest="source", choices=["dump", "api"], default="dump", help="where the piece is from"
    )
    given = parser.parse_args()
    os.environ.setdefault("GRANOLA_CONTACT", "loopback@example.org")
    with tempfile.TemporaryDirectory() as folder, _source(given.source, given.dump) as source:
        whole = Path(folder) / "whole.sqlite"
        SnapshotBuild(sources=(str(given.dump),), out=whole).run()
        for path in given.questions:
            piece = Path(folder) / f"{path.name}.sqlite"
            built = SnapshotBuild(
                sources=(source,), source_kind=SourceKind(given.source), qa=(path,), hops=6, out=piece,
                complete=not given.no_complete, force=True,
            ).run()  # fmt: skip
            rows = list(read_questions([path], limit=given.limit, on_reject=lambda _: None))
            differing = [
                (row, one, other)
                for row, one, other in zip(rows, _ladders(rows, whole), _ladders(rows, piece), strict=True)
                if one != other
            ]  # fmt: skip
            entities = built.report.manifest["counts"]["entities"]  # type: ignore[attr-defined]
            print(f"{path.name}: {entities:,} entities, {len(differing)} of {len(rows)} ladders differ")
            for row, whole_one, piece_one in differing[:5]:
                print(f"  {row.id} {row.question}\n    whole: {whole_one}\n    piece: {piece_one}")


@contextmanager
def _source(kind: str, dump: Path) -> Iterator[str]:
    """The dump, or the address of an API that serves it."""
    if kind == "dump":
        yield str(dump)
        return
    entities = {}
    with gzip.open(dump) if dump.suffix == ".gz" else dump.open("rb") as stream:
        for line in stream:
            if (text := line.strip().rstrip(b",")).startswith(b"{"):
                data = json.loads(text)
                entities[data["id"]] = data
    server = _Server(entities)
    with wikidata_api.running(server):
        yield server.url


class _Server(wikidata_api.Server):
    """That of the tests, which finds names in an index instead of one by one."""

    def __init__(self, entities: Mapping[str, Any]) -> None:
        super().__init__(entities, {})
        self.RequestHandlerClass = _Handler
        names = []
        for id, data in entities.items():
            if id[0] != "Q":
                continue
            labels = [("label", label) for label in (data.get("labels") or {}).values()]
            aliases = [("alias", alias) for several in (data.get("aliases") or {}).values() for alias in several]
            for kind, term in (*labels, *aliases):
                names.append((term["language"], term["value"].casefold(), term["value"], kind, id))
        self.names = sorted(names)


class _Handler(wikidata_api.Handler):
    def search(self, params: Mapping[str, str]) -> None:
        code, wanted = params["language"], params["search"].casefold()
        names = self.server.names  # type: ignore[attr-defined]
        matches: dict[str, tuple[int, str, str]] = {}
        for language, folded, text, kind, id in names[bisect_left(names, (code, wanted)) :]:
            if language != code or not folded.startswith(wanted):
                break
            matches.setdefault(id, (len(text), text, kind))
        start, limit = int(params.get("continue", "0")), int(params["limit"])
        ordered = sorted(matches, key=lambda id: (matches[id][0], id))
        page = [
            {"id": id, "match": {"type": matches[id][2], "language": code, "text": matches[id][1]}}
            for id in ordered[start : start + limit]
        ]
        told: dict[str, Any] = {"search": page, "success": 1}
        if start + limit < len(ordered):
            told["search-continue"] = start + limit
        self.answer(told)


def _ladders(rows: list[QARow], snapshot: Path) -> list[object]:
    with closing(open_store(snapshot)) as store:
        made = make_ladders(rows, store, on_reject=lambda _: None)
        return [([level.names() for level in row.levels], row.abstained) for row in made]


if __name__ == "__main__":
    main()
