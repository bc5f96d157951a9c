"""`granola snapshot verify`: a snapshot against its own manifest, a mirror against the file it was made from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from granola.errors import UsageError
from granola.runs.settings import Run, Setting
from granola.runs.snapshots.info_run import AnySnapshot
from granola.terminal_lines import show_lines


@dataclass(frozen=True, kw_only=True)
class VerifyRun(Run):
    """Check a snapshot: the file's pages, its counts and content against its manifest, and its references.

    A mirror is compared with the snapshot file that it was made from: all counts, and a sample of entities.

    Exit status 1 if something is wrong, 2 if the file is no snapshot.
    """

    verb: ClassVar[str] = "snapshot verify"

    snapshot: AnySnapshot
    against: Annotated[Path | None, Setting("The snapshot file that a mirror is compared with.")] = None
    database: Annotated[str | None, Setting("A mirror's database; by default NEO4J_DATABASE, else neo4j.")] = None
    sample: Annotated[int, Setting("Entities of a mirror to compare whole; 0: all.", least=0)] = 1000

    def run(self) -> Verified:
        """Check it. Raises UsageError, and for what is no snapshot what opening it raises."""
        from kg.checks.verification import verify
        from kg.store import is_address

        if is_address(self.snapshot):
            return self._mirror()
        if self.against is not None or self.database is not None:
            raise UsageError("--against and --database are for mirrors; 'granola snapshot diff' compares files")
        result = verify(self.snapshot, progress=_telling("checking"))
        well = f"well ({', '.join(result.checked)} checked)"
        return Verified(place=self.snapshot, problems=result.problems, well=well)

    def _mirror(self) -> Verified:
        from kg.checks.mirror_verification import verify_mirror

        if self.against is None:
            raise UsageError("a mirror is compared with the snapshot file that it was made from; name it as --against")
        result = verify_mirror(
            self.snapshot, self.against, database=self.database, sample=self.sample or None,
            progress=_telling("comparing"),
        )  # fmt: skip
        well = f"as {self.against} ({', '.join(result.checked)} compared)"
        return Verified(place=self.snapshot, problems=result.problems, well=well)


def _telling(doing: str) -> Callable[[str], None] | None:
    """What names each check on a terminal."""
    if not sys.stderr.isatty():
        return None
    return lambda check: print(f"{doing} {check}", file=sys.stderr)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """What is wrong with a snapshot, a line each; `well` is said where nothing is."""

    place: str
    problems: Sequence[str]
    well: str

    @property
    def failed(self) -> bool:
        """Whether something is wrong."""
        return bool(self.problems)

    def show(self) -> None:
        """The problems, or that all is well."""
        show_lines(*(f"{self.place}: {line}" for line in self.problems or [self.well]))
