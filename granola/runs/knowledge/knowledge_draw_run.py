"""`granola knowledge draw`: factuality by popularity, length and evidence, and scores by the size of models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from granola.errors import UsageError
from granola.runs.knowledge.knowledge_settings import Resamples, Seed
from granola.runs.settings import Run, Setting


@dataclass(frozen=True, kw_only=True)
class KnowledgeDrawRun(Run):
    """Draw judged files as the paper's Figures 2, 3 and 4, and write what is drawn beside it as CSV.

    popularity and sentences of any files; pieces where files were judged with different --pieces, with and without
    --reference, as their run records tell; size where --size says how large the model of each file is.
    """

    verb: ClassVar[str] = "knowledge draw"

    judged: Annotated[tuple[Path, ...], Setting("Judged texts; several files.", metavar="JUDGED...", positional=True)]
    out: Annotated[Path, Setting("The folder to write the figures to.")]
    size: Annotated[
        tuple[float, ...], Setting("Billions of parameters of the model of each file, in their order.", least=0)
    ] = ()
    resamples: Resamples = 1000
    seed: Seed = 0
    force: Annotated[bool, Setting("Replace figures that stand there.", recorded=False)] = False

    def run(self) -> FiguresDrawn:
        """Read and draw. Raises UsageError where there is nothing to draw."""
        from granola.knowledge.judged_rows import read_judged
        from granola.knowledge.knowledge_figures import JudgedFile, drawn_figures, figure_lines
        from granola.run_record import record_of
        from kg.files import atomic_path

        if self.size and len(self.size) != len(self.judged):
            raise UsageError(f"--size is given {len(self.size)} times for {len(self.judged)} files; give one for each")
        if self.out.exists() and not self.out.is_dir():
            raise UsageError(f"--out {self.out} is a file; name a folder")
        rejected: list[Any] = []
        files = []
        for at, path in enumerate(self.judged):
            arguments = record_of(path).get("arguments", {})
            pieces = arguments.get("pieces")
            files.append(
                JudgedFile(
                    name=path.stem,
                    rows=read_judged(path, on_reject=rejected.append),
                    pieces=pieces if isinstance(pieces, int) else None,
                    reference=arguments.get("reference") is True,
                    size=self.size[at] if self.size else None,
                )
            )
        lines = figure_lines(files, times=self.resamples, seed=self.seed)
        if not lines:
            raise UsageError("nothing to draw: rows have neither views nor sentences with factuality")
        self.out.mkdir(parents=True, exist_ok=True)
        contents = {**drawn_figures(lines), "figures.csv": _table(lines)}
        for name, data in contents.items():
            place = self.out / name
            if place.exists() and not self.force:
                raise UsageError(f"{place} exists; give --force to replace it, or another --out")
            with atomic_path(place) as temporary:
                temporary.write_bytes(data)
        return FiguresDrawn(files=[self.out / name for name in contents], rejected=rejected, source=str(self.judged[0]))


def _table(lines: Mapping[str, Mapping[str, Sequence[tuple[float, Any]]]]) -> bytes:
    rows = ["figure,line,at,value,low,high,n"]
    for figure, lines_of_figure in lines.items():
        for name, points in lines_of_figure.items():
            shown = name.replace('"', "'")
            for at, estimate in points:
                numbers = (estimate.value, estimate.interval.low, estimate.interval.high)
                cells = ",".join("" if math.isnan(x) else f"{x:.6f}" for x in numbers)
                rows.append(f'{figure},"{shown}",{at:g},{cells},{estimate.n}')
    return ("\n".join(rows) + "\n").encode()


@dataclass(frozen=True, kw_only=True, slots=True)
class FiguresDrawn:
    """Files that were written."""

    files: Sequence[Path]
    rejected: Sequence[Any]
    source: str

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.rejected)

    def show(self) -> None:
        """Their names."""
        from granola.runs.outputs import report_rejects

        print(*self.files, sep="\n")
        report_rejects(self.source, self.rejected)
