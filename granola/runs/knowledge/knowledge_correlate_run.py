"""`granola knowledge correlate`: do the scores order texts as people do, and the intrinsic ones as the extrinsic?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.runs.knowledge.knowledge_settings import Judged, Seed
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson, Resamples
from granola.terminal_lines import Part, TextTable, Verbatim, show_lines

if TYPE_CHECKING:
    from granola.knowledge.judged_rows import RatingSheet

# Which scores are held against the ratings of an axis: the metric's own first, then the baselines (Tables 9, 10, 18).
OF_AXIS: Mapping[str, tuple[str, ...]] = {
    "factuality": ("factuality", "he_negated", "entailment_ratio", "nli_decompose"),
    "relevance": ("relevance", "knowledge_f1"),
    "coherence": ("coherence_sentence", "coherence_paragraph", "coherence_greater"),
    "informativeness": ("informativeness",),
    "helpfulness": ("helpfulness", "helpfulness_raw"),
    "validity": ("validity", "answer_em", "answer_f1"),
}
INTRINSIC = ("factuality", "relevance", "coherence_sentence", "coherence_paragraph", "informativeness")
EXTRINSIC = ("helpfulness", "validity")


@dataclass(frozen=True, kw_only=True)
class KnowledgeCorrelateRun(Run):
    """Somers' D of scores with ratings, or without --ratings of intrinsic scores with helpfulness and validity.

    The rating, or the extrinsic score, is the independent variable: pairs that are tied in it do not count. Each D has
    its 95 % interval and p-value; then factuality by popularity and by number of sentences, where rows tell them.
    """

    verb: ClassVar[str] = "knowledge correlate"

    judged: Judged
    ratings: Annotated[
        tuple[Path, ...],
        Setting("Filled sheets of `granola knowledge rate`, one a rater; JUDGED is then what it wrote.", metavar="CSV"),
    ] = ()
    resamples: Resamples = 1000
    seed: Seed = 0
    as_json: AsJson = False

    def run(self) -> Correlated:
        """Read and correlate. Raises UsageError and SheetError for files that do not fit."""
        from granola.knowledge.judged_rows import rating_agreement, read_judged, read_rating_sheet
        from granola.knowledge.knowledge_summary import slices

        rejected: list[Any] = []
        rows = read_judged(self.judged, on_reject=rejected.append)
        sheets = [read_rating_sheet(path) for path in self.ratings]
        agreement = {axis: rating_agreement(sheets, axis) for axis in OF_AXIS} if len(sheets) > 1 else {}
        lines = list(self._by_ratings(rows, sheets) if sheets else self._by_scores(rows))
        slices_by = {
            by: estimates
            for by in ("popularity", "sentences")
            if (estimates := slices(rows, by, "factuality", resamples=self.resamples, seed=self.seed))
        }
        return Correlated(
            settings=self, lines=lines, agreement=agreement, slices=slices_by, rejected=rejected, n=len(rows)
        )

    def _by_ratings(self, rows: _Rows, sheets: Sequence[RatingSheet]) -> Iterator[dict[str, Any]]:
        """Scores given ratings, of all systems and of each."""
        from granola.knowledge.judged_rows import mean_ratings

        for sheet in sheets:
            self._check_sheet(sheet, rows)
        rated = mean_ratings(sheets)
        for system, axis in product(_systems(rows), OF_AXIS):
            for name in OF_AXIS[axis]:
                pairs = [
                    (ratings[axis], rows[item - 1]["scores"].get(name))
                    for item, ratings in rated.items()
                    if axis in ratings and system in ("", rows[item - 1].get("system"))
                ]
                yield from self._line(system, axis, name, pairs)

    def _by_scores(self, rows: _Rows) -> Iterator[dict[str, Any]]:
        """Intrinsic scores given extrinsic ones, of all systems and of each."""
        for system, extrinsic, name in product(_systems(rows), EXTRINSIC, INTRINSIC):
            pairs = [
                (row["scores"].get(extrinsic), row["scores"].get(name))
                for row in rows
                if system in ("", row.get("system"))
            ]
            yield from self._line(system, extrinsic, name, pairs)

    def _check_sheet(self, sheet: RatingSheet, rows: _Rows) -> None:
        from granola.errors import SheetError

        for item, text in sheet.texts.items():
            knowledge = str(rows[item - 1].get("knowledge") or "") if 1 <= item <= len(rows) else None
            if knowledge is None or text.split() != knowledge.split():
                raise SheetError(
                    f"{sheet.path}: item {item} is not row {item} of {self.judged}; give the file that "
                    "granola knowledge rate wrote with this sheet"
                )

    def _line(
        self, system: str, independent: str, dependent: str, pairs: Sequence[tuple[float | None, float | None]]
    ) -> Iterator[dict[str, Any]]:
        from granola.knowledge.rank_association import somers_d

        there = [(one, two) for one, two in pairs if one is not None and two is not None]
        if there:
            first, second = ([pair[at] for pair in there] for at in (0, 1))
            association = somers_d(first, second, resamples=self.resamples, seed=self.seed)
            names = {"system": system or "all", "independent": independent, "dependent": dependent}
            yield {**names, **association.to_json()}


_Rows = Sequence[Mapping[str, Any]]


def _systems(rows: _Rows) -> list[str]:
    """ "" for all, and the names of those that rows tell."""
    return ["", *sorted({str(row["system"]) for row in rows if row.get("system")})]


@dataclass(frozen=True, kw_only=True, slots=True)
class Correlated:
    """What came of it."""

    settings: KnowledgeCorrelateRun
    lines: Sequence[Mapping[str, Any]]
    agreement: Mapping[str, tuple[float, int]]
    slices: Mapping[str, Mapping[str, Any]]
    rejected: Sequence[Any]
    n: int

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.rejected)

    @property
    def signature(self) -> str:
        """What someone else needs to repeat the numbers."""
        from granola import __version__

        own = self.settings
        what = "somers-d:dependent-given-independent"
        return f"{what}|n:{self.n}|boot:{own.resamples}|seed:{own.seed}|version:{__version__}"

    def show(self) -> None:
        """A table, or JSON."""
        from granola.runs.outputs import print_json, report_rejects

        if self.settings.as_json:
            kappas = {
                axis: {"kappa": None if math.isnan(kappa) else kappa, "n": n}
                for axis, (kappa, n) in self.agreement.items()
            }
            by_slice = {
                by: {name: estimate.to_json() for name, estimate in estimates.items()}
                for by, estimates in self.slices.items()
            }
            print_json(
                {"signature": self.signature, "somers_d": list(self.lines), "agreement": kappas, "slices": by_slice},
                indent=2,
            )
        else:
            show_lines(*self._parts())
        report_rejects(self.settings.judged, self.rejected)

    def _parts(self) -> Iterator[Part]:
        head = ("system", "independent", "dependent", "D", "95 %", "p", "n")
        rows = [
            (
                line["system"],
                line["independent"],
                line["dependent"],
                _shown(line["d"]),
                f"{_shown(line['low'])} to {_shown(line['high'])}",
                _shown(line["p"]),
                f"{line['n']:,}",
            )
            for line in self.lines
        ]
        yield TextTable(head=head, rows=rows, words=(1, 2, 4), keys=3)
        for axis, (kappa, n) in self.agreement.items():
            yield f"kappa of the raters, {axis}: {_shown(None if math.isnan(kappa) else kappa)} on {n}"
        for by, estimates in self.slices.items():
            for name, estimate in estimates.items():
                yield (
                    f"factuality by {by} {name}: {estimate.value:.4f}  "
                    f"{estimate.interval.low:.4f}–{estimate.interval.high:.4f}  n {estimate.n:,}"
                )
        yield Verbatim(self.signature)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
