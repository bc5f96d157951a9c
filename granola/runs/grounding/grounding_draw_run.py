"""`granola grounding draw`: a score of systems by time-sensitivity, source and share of relevant passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.errors import UsageError
from granola.runs.drawn_figures import (
    FiguresDrawn,
    FiguresOut,
    ForceFigures,
    check_folder,
    numbers_of,
    write_figures,
)
from granola.runs.grounding.grounding_settings import THIRDS, Bands, FormingSettings, JudgedAnswers
from granola.runs.settings import Run, Setting

if TYPE_CHECKING:
    from granola.grounding.grounding_items import GroundingItem
    from granola.grounding.grounding_scores import GroundingSettings
    from granola.scoring.aggregation import Estimate

PAPERS = ("time_sensitivity", "source", "relevant_share", "popularity")


@dataclass(frozen=True, kw_only=True)
class GroundingDrawRun(Run, FormingSettings):
    """Draw judged answers as the paper's Figures 5 and 6, and write what is drawn beside it as CSV.

    Without --by: time_sensitivity and source (Figure 5), relevant_share (Figure 6) and popularity, those that are told.
    """

    verb: ClassVar[str] = "grounding draw"

    judged: JudgedAnswers
    out: FiguresOut
    by: Annotated[tuple[str, ...], Setting("A tag to draw the score by; the paper's by default.")] = ()
    bands: Bands = THIRDS
    force: ForceFigures = False

    def run(self) -> FiguresDrawn:
        """Read and draw. Raises UsageError where there is nothing to draw."""
        from granola.grounding.grounding_figures import slice_figure
        from granola.grounding.grounding_scores import sliced
        from granola.grounding.judged_answers import answers_by_system
        from granola.runs.grounding.grounding_settings import check_bands, check_tag, slice_of

        check_bands(self.bands)
        check_folder(self.out)
        how = self.forming()
        rejected: list[Any] = []
        systems = answers_by_system(self.judged, rejected.append)
        for by in self.by:
            check_tag(by, systems)
        told = {
            by: {name: sliced(items, self.sliced, slice_of(by, self.bands), how) for name, items in systems.items()}
            for by in self.by or PAPERS
        }
        told = {by: found for by, found in told.items() if any(one.n for own in found.values() for one in own.values())}
        if not told:
            raise UsageError(f"nothing to draw: {self._what_lacks(systems, how)}")
        made = {f"{_safe(by)}.svg": slice_figure(found, score=self.sliced, by=by) for by, found in told.items()}
        made["figures.csv"] = _table(told)
        files = write_figures(made, self.out, force=self.force)
        return FiguresDrawn(files=files, rejected=rejected, source=str(self.judged[0]))

    def _what_lacks(self, systems: Mapping[str, Sequence[GroundingItem]], how: GroundingSettings) -> str:
        from granola.grounding.grounding_scores import value

        if any(value(answer, self.sliced, how) is not None for answers in systems.values() for answer in answers):
            return f"no answer has a tag of {', '.join(self.by or PAPERS)}"
        return f"{self.sliced} counts for no answer (E, F and RAF ask a judge's --model); --of names another score"


def _safe(name: str) -> str:
    return "".join(character if character.isalnum() or character in "-_" else "_" for character in name)[:60]


def _table(told: Mapping[str, Mapping[str, Mapping[str, Estimate]]]) -> bytes:
    from abstraction.formats.cells import marked

    rows = ["by,system,slice,value,low,high,n"]
    for by, found in told.items():
        for system, own in found.items():
            for name, one in own.items():
                words = [str(marked(word)).replace('"', "'") for word in (by, system, name)]
                rows.append(",".join([*(f'"{word}"' for word in words), numbers_of(one)]))
    return ("\n".join(rows) + "\n").encode()
