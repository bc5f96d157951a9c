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
from granola.runs.grounding.grounding_score_run import signed
from granola.runs.grounding.grounding_settings import (
    THIRDS,
    Bands,
    FormingSettings,
    JudgedAnswers,
    bands_stated,
    named_tags,
)
from granola.runs.settings import Run, Setting

if TYPE_CHECKING:
    from granola.grounding.grounding_items import GroundingItem
    from granola.grounding.grounding_scores import GroundingSettings
    from granola.scoring.aggregation import Estimate

PAPERS = ("time_sensitivity", "source", "relevant_share", "popularity")


@dataclass(frozen=True, kw_only=True)
class GroundingDrawRun(Run, FormingSettings):
    """Draw judged answers as the paper's Figures 5 and 6, and write every slice beside it as CSV, and the signature.

    Without --by: time_sensitivity and source (Figure 5), relevant_share (Figure 6) and popularity, those that are told.
    relevant_share is of the reading of --of: relevant_share_strict or relevant_share_wide, as its file is called.
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
        from granola.grounding.grounding_items import answers_by_system
        from granola.grounding.grounding_scores import judges_of, sliced
        from granola.runs.grounding.grounding_settings import check_bands, check_tag, slice_of

        check_bands(self.bands)
        check_folder(self.out)
        how = self.forming()
        rejected: list[Any] = []
        systems = answers_by_system(self.judged, rejected.append)
        for tag in named_tags(self.by, self.sliced):
            check_tag(tag, systems)
        slices = {
            tag: {name: sliced(items, self.sliced, slice_of(tag, self.bands), how) for name, items in systems.items()}
            for tag in named_tags(self.by or PAPERS, self.sliced)
        }
        slices = {
            by: by_system
            for by, by_system in slices.items()
            if any(estimate.n for by_slice in by_system.values() for estimate in by_slice.values())
        }
        if not slices:
            raise UsageError(f"nothing to draw: {self._what_lacks(systems, how)}")
        made = {
            f"{_safe(by)}.svg": slice_figure(by_system, score=self.sliced, by=by) for by, by_system in slices.items()
        }
        judges = {name: judges_of(items) for name, items in systems.items()}
        made["figures.csv"] = self._table(slices, judges)
        files = write_figures(made, self.out, force=self.force)
        signature = signed(how, judges, bands=bands_stated(slices, self.bands))
        return FiguresDrawn(files=files, rejected=rejected, source=str(self.judged[0]), signature=signature)

    def _what_lacks(self, systems: Mapping[str, Sequence[GroundingItem]], how: GroundingSettings) -> str:
        from granola.grounding.grounding_scores import value

        if any(value(answer, self.sliced, how) is not None for answers in systems.values() for answer in answers):
            return f"no answer has a tag of {', '.join(self.by or PAPERS)}"
        return f"{self.sliced} counts for no answer (E, F and RAF ask a judge's --model); --of names another score"

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
                    settings = (self.sliced, over, deflecting, " ".join(judges[system]))
                    cells = [*map(_cell, (by, system, name)), numbers_of(estimate), *map(_cell, settings)]
                    rows.append(",".join(cells))
        return ("\n".join(rows) + "\n").encode()


def _safe(name: str) -> str:
    return "".join(character if character.isalnum() or character in "-_" else "_" for character in name)[:60]


def _cell(word: str) -> str:
    from abstraction.files.cells import marked

    return '"' + str(marked(word)).replace('"', "'") + '"'
