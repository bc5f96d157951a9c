"""`granola snapshot diff`: what changed between two snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import orjson

from abstraction.files.writing import check_kind
from granola.runs.json_lines import json_lines
from granola.runs.outputs import check_outputs
from granola.runs.settings import Run, Setting
from granola.terminal_lines import Part, TextTable, show_lines

if TYPE_CHECKING:
    from kg.checks.snapshot_diff import SnapshotDifference

SHOWN = 20  # properties in the printed table


@dataclass(frozen=True, kw_only=True)
class DiffRun(Run):
    """Say what changed between two snapshots: entities, statements by property, terms, redirects.

    A statement is identified by its id; it has changed if its rank, value or qualifiers have.
    """

    verb: ClassVar[str] = "snapshot diff"

    old: Annotated[Path, Setting("The earlier snapshot file.", positional=True)]
    new: Annotated[Path, Setting("The later snapshot file.", positional=True)]
    as_json: Annotated[bool, Setting("Print one JSON object, with every property.", flag="--json")] = False
    changes: Annotated[Path | None, Setting("Write every change to this file, one JSON object a line.")] = None
    force: Annotated[bool, Setting("Replace the file of --changes if it exists.")] = False

    def run(self) -> Changes:
        """Compare them."""
        from kg.checks.snapshot_diff import diff

        if self.changes is not None:
            check_outputs(self.changes, inputs=[self.old, self.new], force=self.force, asked="--changes")
            check_kind(self.changes, "jsonl", asked="--changes")
        with json_lines(self.changes) as write:
            return Changes(diff=diff(self.old, self.new, on_change=write), as_json=self.as_json)


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """How two snapshots differ."""

    diff: SnapshotDifference
    as_json: bool

    @property
    def failed(self) -> bool:
        """Never: snapshots may differ."""
        return False

    def show(self) -> None:
        """The counts as a table, or as JSON."""
        if self.as_json:
            print(orjson.dumps(self.diff.to_json(), option=orjson.OPT_INDENT_2).decode())
        elif self.diff.same:
            print("no difference in entities, statements, terms and redirects")
        else:
            show_lines(*self._parts())

    def _parts(self) -> Iterator[Part]:
        summary = self.diff.to_json()
        rows = [_row("entities", summary["entities"]), _row("statements", summary["statements"])]
        rows += [_row({"alias": "aliases"}.get(what, f"{what}s"), counts) for what, counts in summary["terms"].items()]
        rows.append(_row("redirects", summary["redirects"]))
        yield TextTable(head=("", *_KINDS), rows=rows)
        if self.diff.merged:
            yield f"{self.diff.merged:,} of the removed entities were merged into others"
        if self.diff.aspects:
            parts = ", ".join(f"{what} of {count:,}" for what, count in self.diff.aspects.items())
            yield f"changed statements: {parts}"
        yield "statements by property"
        by_property = list(summary["properties"].items())[:SHOWN]
        yield TextTable(head=("", *_KINDS), rows=[_row(prop, counts) for prop, counts in by_property], indent=2)
        if len(summary["properties"]) > SHOWN:
            yield f"  and {len(summary['properties']) - SHOWN:,} more properties; --json has them all"


def _row(name: str, counts: Mapping[str, int]) -> tuple[str, ...]:
    return name, *(f"{counts[kind]:,}" for kind in _KINDS)


_KINDS = ("added", "removed", "changed")
