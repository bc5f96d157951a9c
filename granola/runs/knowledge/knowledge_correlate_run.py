"""`granola knowledge correlate`: do the scores order texts as people do, and the intrinsic ones as the extrinsic?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from granola.runs.knowledge.knowledge_settings import Judged, Resamples, Seed
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson

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
        from granola.errors import SheetError
        from granola.knowledge.judged_rows import mean_ratings, rating_agreement, read_judged, read_rating_sheet
        from granola.knowledge.knowledge_summary import slices

        rejected: list[Any] = []
        rows = read_judged(self.judged, on_reject=rejected.append)
        lines: list[dict[str, Any]] = []
        agreement: dict[str, tuple[float, int]] = {}
        systems = ["", *sorted({str(row["system"]) for row in rows if row.get("system")})]
        if self.ratings:
            sheets = [read_rating_sheet(path) for path in self.ratings]
            for sheet in sheets:
                for item, text in sheet.texts.items():
                    if not 1 <= item <= len(rows) or " ".join(text.split()) != " ".join(
                        str(rows[item - 1].get("knowledge") or "").split()
                    ):
                        raise SheetError(
                            f"{sheet.path}: item {item} is not row {item} of {self.judged}; give the file that "
                            "granola knowledge rate wrote with this sheet"
                        )
            rated = mean_ratings(sheets)
            agreement = {axis: rating_agreement(sheets, axis) for axis in OF_AXIS} if len(sheets) > 1 else {}
            for system in systems:
                for axis, names in OF_AXIS.items():
                    for name in names:
                        pairs = [
                            (means[axis], rows[item - 1]["scores"].get(name))
                            for item, means in rated.items()
                            if axis in means and system in ("", rows[item - 1].get("system"))
                        ]
                        lines += self._line(system, axis, name, pairs)
        else:
            for system in systems:
                for extrinsic in EXTRINSIC:
                    for name in INTRINSIC:
                        pairs = [
                            (row["scores"].get(extrinsic), row["scores"].get(name))
                            for row in rows
                            if system in ("", row.get("system"))
                        ]
                        lines += self._line(system, extrinsic, name, pairs)
        by_slice = {
            by: estimates
            for by in ("popularity", "sentences")
            if (estimates := slices(rows, by, "factuality", times=self.resamples, seed=self.seed))
        }
        return Correlated(
            settings=self, lines=lines, agreement=agreement, slices=by_slice, rejected=rejected, n=len(rows)
        )

    def _line(
        self, system: str, independent: str, dependent: str, pairs: Sequence[tuple[float | None, float | None]]
    ) -> list[dict[str, Any]]:
        from granola.knowledge.rank_association import somers_d

        there = [(left, right) for left, right in pairs if left is not None and right is not None]
        if not there:
            return []
        association = somers_d(
            [left for left, _ in there], [right for _, right in there], times=self.resamples, seed=self.seed
        )  # fmt: skip
        return [
            {"system": system or "all", "independent": independent, "dependent": dependent, **association.to_json()}
        ]


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

        settings = self.settings
        what = "somers-d:dependent-given-independent"
        return f"{what}|n:{self.n}|boot:{settings.resamples}|seed:{settings.seed}|version:{__version__}"

    def show(self) -> None:
        """A table, or JSON."""
        from granola.runs.outputs import print_json, report_rejects

        if self.settings.as_json:
            kappas = {
                axis: {"kappa": None if math.isnan(kappa) else kappa, "n": n}
                for axis, (kappa, n) in self.agreement.items()
            }
            slices = {
                by: {name: estimate.to_json() for name, estimate in estimates.items()}
                for by, estimates in self.slices.items()
            }
            print_json(
                {"signature": self.signature, "somers_d": list(self.lines), "agreement": kappas, "slices": slices},
                indent=2,
            )
        else:
            print(f"{'system':<16}{'independent':<18}{'dependent':<22}{'D':>8}  {'95 %':<18}{'p':>8}{'n':>7}")
            for line in self.lines:
                spread = f"{_shown(line['low'])} to {_shown(line['high'])}"
                print(
                    f"{line['system']:<16}{line['independent']:<18}{line['dependent']:<22}{_shown(line['d']):>8}  "
                    f"{spread:<18}{_shown(line['p']):>8}{line['n']:>7,}"
                )
            for axis, (kappa, n) in self.agreement.items():
                print(f"kappa of the raters, {axis}: {_shown(None if math.isnan(kappa) else kappa)} on {n}")
            for by, estimates in self.slices.items():
                for name, estimate in estimates.items():
                    print(
                        f"factuality by {by} {name}: {estimate.value:.4f}  "
                        f"{estimate.interval.low:.4f}–{estimate.interval.high:.4f}  n {estimate.n:,}"
                    )
            print(self.signature)
        report_rejects(self.settings.judged, self.rejected)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
