"""`granola grounding draw`: a score of systems by time-sensitivity, source and share of relevant passages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.errors import UsageError
from granola.runs.grounding.grounding_score_run import signed
from granola.runs.grounding.grounding_settings import THIRDS, Bands, FormingSettings, JudgedAnswers
from granola.runs.settings import Run, Setting

if TYPE_CHECKING:
    from granola.scoring.aggregation import Estimate

PAPERS = ("time_sensitivity", "source", "relevant_share", "popularity")


@dataclass(frozen=True, kw_only=True)
class GroundingDrawRun(Run, FormingSettings):
    """Draw judged answers as the paper's Figures 5 and 6, and write every slice beside it as CSV, and the signature.

    Without --by: time_sensitivity and source (Figure 5), relevant_share (Figure 6) and popularity, those that are told.
    """

    verb: ClassVar[str] = "grounding draw"

    judged: JudgedAnswers
    out: Annotated[Path, Setting("The folder to write the figures to.")]
    by: Annotated[tuple[str, ...], Setting("A tag to draw the score by; the paper's by default.")] = ()
    bands: Bands = THIRDS
    force: Annotated[bool, Setting("Replace figures that stand there.", recorded=False)] = False

    def run(self) -> FiguresOfGrounding:
        """Read and draw. Raises UsageError where there is nothing to draw."""
        from granola.grounding.grounding_figures import slice_figure
        from granola.grounding.grounding_scores import judges_of, sliced, value
        from granola.grounding.judged_answers import answers_by_system
        from granola.runs.grounding.grounding_settings import check_bands, check_tag, slice_of
        from kg.files import atomic_path

        check_bands(self.bands)
        if self.out.exists() and not self.out.is_dir():
            raise UsageError(f"--out {self.out} is a file; name a folder")
        how = self.forming()
        rejected: list[Any] = []
        systems = answers_by_system(self.judged, rejected.append)
        for by in self.by:
            check_tag(by, systems)
        slices = {
            by: {name: sliced(items, self.sliced, slice_of(by, self.bands), how) for name, items in systems.items()}
            for by in self.by or PAPERS
        }
        slices = {
            by: by_system
            for by, by_system in slices.items()
            if any(estimate.n for by_slice in by_system.values() for estimate in by_slice.values())
        }
        if not slices:
            counts = any(value(one, self.sliced, how) is not None for items in systems.values() for one in items)
            tags = f"no answer has a tag of {', '.join(self.by or PAPERS)}"
            none = f"{self.sliced} counts for no answer (E, F and RAF ask a judge's --model); --of names another score"
            raise UsageError(f"nothing to draw: {tags if counts else none}")
        made = {
            f"{_safe(by)}.svg": slice_figure(by_system, score=self.sliced, by=by) for by, by_system in slices.items()
        }
        judges = {name: judges_of(items) for name, items in systems.items()}
        made["figures.csv"] = self._table(slices, judges)
        self.out.mkdir(parents=True, exist_ok=True)
        for name, data in made.items():
            place = self.out / name
            if place.exists() and not self.force:
                raise UsageError(f"{place} exists; give --force to replace it, or another --out")
            with atomic_path(place) as temporary:
                temporary.write_bytes(data)
        return FiguresOfGrounding(
            files=[self.out / name for name in made],
            signature=signed(how, judges),
            rejected=rejected,
            source=str(self.judged[0]),
        )

    def _table(
        self, slices: Mapping[str, Mapping[str, Mapping[str, Estimate]]], judges: Mapping[str, Sequence[str]]
    ) -> bytes:
        """A row a slice, with the score that it is of, how that was formed, and who judged."""
        how = self.forming()
        over = str(how.over_of.get(self.sliced, how.over))
        deflecting = str(how.deflecting_of.get(self.sliced, how.deflecting))
        rows = ["by,system,slice,value,low,high,n,score,over,deflecting,judge"]
        for by, by_system in slices.items():
            for system, by_slice in by_system.items():
                for name, estimate in by_slice.items():
                    numbers = (estimate.value, estimate.interval.low, estimate.interval.high)
                    cells = ["" if math.isnan(number) else f"{number:.6f}" for number in numbers]
                    settings = (self.sliced, over, deflecting, " ".join(judges[system]))
                    rows.append(
                        ",".join([*map(_cell, (by, system, name)), *cells, str(estimate.n), *map(_cell, settings)])
                    )
        return ("\n".join(rows) + "\n").encode()


def _safe(name: str) -> str:
    return "".join(character if character.isalnum() or character in "-_" else "_" for character in name)[:60]


def _cell(word: str) -> str:
    from abstraction.formats.cells import marked

    return '"' + str(marked(word)).replace('"', "'") + '"'


@dataclass(frozen=True, kw_only=True, slots=True)
class FiguresOfGrounding:
    """Files that were written."""

    files: Sequence[Path]
    signature: str
    rejected: Sequence[Any]
    source: str

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.rejected)

    def show(self) -> None:
        """Their names, and the signature."""
        from granola.runs.outputs import report_rejects

        print(*self.files, self.signature, sep="\n")
        report_rejects(self.source, self.rejected)
