"""Systems scored against one tiered file, and how they compare."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abstraction.base.faults import RejectedRow
    from abstraction.files.rows import TieredRow
    from granola.matching import Matcher
    from granola.scoring.aggregation import GroupScore
    from granola.scoring.metrics import Standard
    from granola.scoring.predictions import PredictionFile
    from granola.scoring.scores import ScoreReport
    from granola.scoring.sweeps import RiskCoverage
    from granola.scoring.system_comparison import Difference
    from granola.scoring.tiered_file import TieredFile


@dataclass(frozen=True, kw_only=True, slots=True)
class Systems:
    """The files read and the scores of each system; `reports` and `files` in the order given.

    `faults` are the predictions whose matching failed by an error of the program.
    """

    tiered: TieredFile
    files: Sequence[PredictionFile]
    reports: Sequence[ScoreReport]
    faults: Sequence[RejectedRow] = ()

    @property
    def report(self) -> ScoreReport:
        """The scores of the first system."""
        return self.reports[0]

    @property
    def rows(self) -> Sequence[TieredRow]:
        """The questions in the order of the tiered file."""
        return self.tiered.rows

    @property
    def rejected(self) -> list[RejectedRow]:
        """All rejected rows, those of the tiered file first."""
        return [*self.tiered.rejected, *(row for file in self.files for row in file.rejected), *self.faults]


def names_of_systems(paths: Sequence[str]) -> list[str]:
    """The file names as given, without endings; with folders, or numbers, where two are equal."""
    stems = ["stdin" if path == "-" else _ENDING.sub("", Path(path).name) or path for path in paths]
    if len(set(stems)) < len(stems):
        # Runs are often kept as FOLDER/predictions.jsonl.
        placed = [f"{Path(path).parent.name}/{stem}" for path, stem in zip(paths, stems, strict=True)]
        stems = [
            place if stems.count(stem) > 1 and Path(path).parent.name else stem
            for path, place, stem in zip(paths, placed, stems, strict=True)
        ]
    return [stem if stems.count(stem) == 1 else f"{stem} ({number})" for number, stem in enumerate(stems, start=1)]


_ENDING = re.compile(r"(?:\.(?:jsonl|ndjson|json|csv|tsv|parquet))?(?:\.gz)?\Z", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedSystems:
    """Compared systems: scores, differences by metric and pair, scores by group, risk-coverage curves."""

    systems: Systems
    differences: Sequence[Difference]
    groups: Mapping[str, list[dict[str, GroupScore]]]
    curves: Mapping[str, RiskCoverage]
    lambda_: float

    @property
    def rejected(self) -> list[RejectedRow]:
        """All rejected rows."""
        return self.systems.rejected

    def to_json(self) -> dict[str, Any]:
        """The whole comparison, with the sweeps of lambda and of the threshold of token-F1."""
        from granola.scoring.sweeps import item_f1, lambda_sweep, tau_sweep

        systems = self.systems
        thresholds = {
            report.system: tau_sweep(
                item_f1(systems.rows, file.predictions, report.signature.standard), lambda_=self.lambda_
            )
            for report, file in zip(systems.reports, systems.files, strict=True)
        }  # fmt: skip
        return {
            "schema_version": 1,
            "systems": [report.to_json() for report in systems.reports],
            "differences": [difference.to_json() for difference in self.differences],
            "groups": {
                title: {
                    report.system: {name: group.to_json() for name, group in by_name.items()}
                    for report, by_name in zip(systems.reports, scores, strict=True)
                }
                for title, scores in self.groups.items()
            },
            "risk_coverage_area": {system: curve.area for system, curve in self.curves.items()},
            "risk_coverage": {system: curve.to_json() for system, curve in self.curves.items()},
            "lambda_sweep": {
                report.system: lambda_sweep(report) for report in systems.reports
            },
            "tau_sweep": thresholds,
        }


def judge_ahead(matcher: Matcher, rows: Sequence[TieredRow], given: PredictionFile, standard: Standard) -> None:
    """Ask a judge about all predictions at once, not one by one. Raises PredictionError where it gives no verdict."""
    from granola.errors import PredictionError
    from granola.matching.model_judge import JudgeMatcher
    from granola.scoring.items import names_of

    # Other matchers need no requests.
    if not isinstance(matcher, JudgeMatcher):
        return
    failed = matcher.prepare(
        matcher.item(said.text, names_of(row, standard), row.question)
        for row in rows
        if (said := given.predictions.get(row.id)) is not None
    )
    if failed:
        why = ", ".join(f"{number} {reason}" for reason, number in sorted(failed.items()))
        raise PredictionError(
            f"the judge gave no verdict on {sum(failed.values())} predictions ({why}); its other answers are kept: "
            "run again, or leave those predictions out with --allow-missing"
        )
