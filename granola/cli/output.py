"""What the verbs share: rejected rows told on stderr, and the exit status that they lead to."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from abstraction.rows import RejectedRow

TOLD = 5


def report_rejects(name: str, rejected: Sequence[RejectedRow]) -> None:
    """The first rejected rows with their places and reasons, and how many there are."""
    for row in rejected[:TOLD]:
        print(f"granola: rejected {row.source}: {row.reason}: {row.excerpt}", file=sys.stderr)
    if rejected:
        print(f"granola: {name}: {len(rejected)} rows rejected", file=sys.stderr)


def exit_status(*rejected: Sequence[RejectedRow]) -> None:
    """End with status 1 where anything was rejected."""
    if any(rejected):
        raise typer.Exit(1)
