"""`granola snapshot push`: a snapshot mirrored in a Neo4j database."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from granola.runs.settings import Run, Setting

if TYPE_CHECKING:
    from kg.store.neo4j_push import Pushed, PushProgress


@dataclass(frozen=True, kw_only=True)
class PushRun(Run):
    """Mirror a snapshot in a Neo4j database, or go on with that after it was stopped.

    On a complete mirror of the same snapshot it changes nothing. Nodes that are not the mirror's are left alone.
    """

    verb: ClassVar[str] = "snapshot push"

    snapshot: Annotated[Path, Setting("A snapshot file.", positional=True)]
    address: Annotated[
        str,
        Setting(
            "The Neo4j server, 5.26 or newer; credentials are NEO4J_USER and NEO4J_PASSWORD.",
            metavar="bolt://HOST:PORT",
            positional=True,
        ),
    ]
    database: Annotated[str | None, Setting("The server's database; by default NEO4J_DATABASE, else neo4j.")] = None
    batch: Annotated[int, Setting("Nodes or relationships in one transaction.", least=1)] = 10_000
    replace: Annotated[bool, Setting("Delete another snapshot, or a broken copy, that is there.")] = False

    def run(self) -> MirrorPushed:
        """Push it."""
        from kg.store.neo4j_push import push

        began = time.monotonic()
        with _progress_bar() as progress:
            done = push(
                self.snapshot, self.address, database=self.database, batch=self.batch, replace=self.replace,
                progress=progress,
            )  # fmt: skip
        return MirrorPushed(done=done, seconds=time.monotonic() - began)


@dataclass(frozen=True, kw_only=True, slots=True)
class MirrorPushed:
    """What was written to the mirror."""

    done: Pushed
    seconds: float

    @property
    def failed(self) -> bool:
        """Never."""
        return False

    def show(self) -> None:
        """What was written, on standard error."""
        report = self.done
        if report.written:
            went_on = "went on; " if report.resumed else ""
            what = went_on + ", ".join(f"{count:,} {name}" for name, count in report.written.items())
        else:
            what = f"holds {report.snapshot_id} already"
        print(f"{report.address}: {what}, in {self.seconds:.1f} s", file=sys.stderr)


@contextmanager
def _progress_bar() -> Iterator[Callable[[PushProgress], None] | None]:
    """A bar a phase on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("connecting", total=None)

        def show(state: PushProgress) -> None:
            bar.update(task, description=state.phase, total=state.total, completed=state.done)

        yield show
