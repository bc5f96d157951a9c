"""`granola knowledge draw`: factuality by popularity, length and evidence, and scores by the size of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from granola.errors import UsageError
from granola.runs.drawn_figures import (
    FiguresDrawn,
    FiguresOut,
    ForceFigures,
    check_folder,
    numbers_of,
    write_figures,
)
from granola.runs.knowledge.knowledge_settings import Seed
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import Resamples


@dataclass(frozen=True, kw_only=True)
class KnowledgeDrawRun(Run):
    """Draw judged files as the paper's Figures 2, 3 and 4, and write what is drawn beside it as CSV.

    popularity and sentences of any files; pieces where files were judged with different --pieces, with and without
    --reference, as their run records tell; size where --size says how large the model of each file is.
    """

    verb: ClassVar[str] = "knowledge draw"

    judged: Annotated[tuple[Path, ...], Setting("Judged texts; several files.", metavar="JUDGED...", positional=True)]
    out: FiguresOut
    size: Annotated[
        tuple[float, ...], Setting("Billions of parameters of the model of each file, in their order.", least=0)
    ] = ()
    resamples: Resamples = 1000
    seed: Seed = 0
    force: ForceFigures = False

    def run(self) -> FiguresDrawn:
        """Read and draw. Raises UsageError where there is nothing to draw."""
        from granola.knowledge.judged_rows import read_judged
        from granola.knowledge.knowledge_figures import JudgedFile, drawn_figures, figure_lines
        from granola.run_record import record_of

        if self.size and len(self.size) != len(self.judged):
            raise UsageError(f"--size is given {len(self.size)} times for {len(self.judged)} files; give one for each")
        check_folder(self.out)
        rejected: list[Any] = []
        judged = []
        for at, path in enumerate(self.judged):
            arguments = record_of(path).get("arguments", {})
            pieces = arguments.get("pieces")
            judged.append(
                JudgedFile(
                    name=path.stem,
                    rows=read_judged(path, on_reject=rejected.append),
                    pieces=pieces if isinstance(pieces, int) else None,
                    reference=arguments.get("reference") is True,
                    size=self.size[at] if self.size else None,
                )
            )
        lines = figure_lines(judged, resamples=self.resamples, seed=self.seed)
        if not lines:
            raise UsageError("nothing to draw: rows have neither views nor sentences with factuality")
        files = write_figures({**drawn_figures(lines), "figures.csv": _table(lines)}, self.out, force=self.force)
        return FiguresDrawn(files=files, rejected=rejected, source=str(self.judged[0]))


def _table(lines: Mapping[str, Mapping[str, Sequence[tuple[float, Any]]]]) -> bytes:
    rows = ["figure,line,at,value,low,high,n"]
    for figure, own in lines.items():
        for name, points in own.items():
            shown = name.replace('"', "'")
            for at, one in points:
                rows.append(f'{figure},"{shown}",{at:g},{numbers_of(one)}')
    return ("\n".join(rows) + "\n").encode()
