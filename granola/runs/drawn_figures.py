"""Figures that a run draws into a folder, beside a table of what is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from granola.errors import UsageError
from granola.runs.settings import Setting

if TYPE_CHECKING:
    from granola.scoring.aggregation import Estimate

FiguresOut = Annotated[Path, Setting("The folder to write the figures to.")]
ForceFigures = Annotated[bool, Setting("Replace figures that stand there.", recorded=False)]


@dataclass(frozen=True, kw_only=True, slots=True)
class FiguresDrawn:
    """Files that were written; `signature` tells what they are drawn of, where a score has one."""

    files: Sequence[Path]
    rejected: Sequence[Any]
    source: str
    signature: str = ""

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.rejected)

    def show(self) -> None:
        """Their names, and the signature."""
        from granola.runs.outputs import report_rejects

        print(*self.files, *filter(None, [self.signature]), sep="\n")
        report_rejects(self.source, self.rejected)


def check_folder(out: Path) -> None:
    """Raises UsageError for a file."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is a file; name a folder")


def write_figures(files: Mapping[str, bytes], out: Path, *, force: bool) -> list[Path]:
    """The files that were written; raises UsageError where one stands there that is not to be replaced."""
    from kg.files import atomic_path

    out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        place = out / name
        if place.exists() and not force:
            raise UsageError(f"{place} exists; give --force to replace it, or another --out")
        with atomic_path(place) as temporary:
            temporary.write_bytes(data)
    return [out / name for name in files]


def numbers_of(estimate: Estimate) -> str:
    """Value, low, high and n as cells of a table; NaN is empty."""
    numbers = (estimate.value, estimate.interval.low, estimate.interval.high)
    return ",".join([*("" if math.isnan(x) else f"{x:.6f}" for x in numbers), str(estimate.n)])
