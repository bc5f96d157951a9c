"""`granola grounding score`: the scores of judged answers, by slices, with paired tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.errors import UsageError
from granola.grounding.grounding_scores import Deflecting, GroundingSettings, Over, Unjudged
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson

if TYPE_CHECKING:
    from granola.grounding.grounding_items import GroundingItem
    from granola.scoring.aggregation import Estimate
    from granola.scoring.system_comparison import Difference

BANDS = (1 / 3, 2 / 3)


@dataclass(frozen=True, kw_only=True)
class GroundingScoreRun(Run):
    """Eligibility (E), factuality against all passages (uF, F) and relevant ones (uRAF, RAF), deflection, citations.

    Each file is a system. --by names a tag of the questions, or relevant_share for three bands.
    """

    verb: ClassVar[str] = "grounding score"

    judged: Annotated[
        tuple[Path, ...], Setting("Judged answers, a file a system.", metavar="JUDGED...", positional=True)
    ]
    over: Annotated[Over, Setting("Over which questions E, uF, F, uRAF and RAF run.")] = Over.ANSWERABLE
    deflecting: Annotated[Deflecting, Setting("What a deflecting answer is worth in them.")] = Deflecting.AS_JUDGED
    unjudged: Annotated[Unjudged, Setting("What an answer is worth that a judge gave no verdict of.")] = (
        Unjudged.LEFT_OUT
    )
    by: Annotated[tuple[str, ...], Setting("Also by a tag, as time_sensitivity; relevant_share: in three bands.")] = ()
    sliced: Annotated[str, Setting("The score that slices and tests are of.", flag="--of")] = "RAF strict"
    bands: Annotated[
        tuple[float, ...], Setting("Where the bands of relevant_share end; the paper's limits are not in its text.")
    ] = BANDS
    resamples: Annotated[int, Setting("Bootstrap resamples.", least=10, most=100_000)] = 1_000
    seed: Annotated[int, Setting("Seed of the resamples.", least=0)] = 0
    as_json: AsJson = False

    def run(self) -> AnswersScored:
        """Score every file. Raises UsageError."""
        from abstraction.formats.records import RejectedRow, read_records
        from granola.errors import SampleError
        from granola.grounding.grounding_items import GroundingItem
        from granola.grounding.grounding_scores import compared_answers, grounding_report, sliced, worths

        if self.sliced not in worths():
            raise UsageError(f"--of is {self.sliced!r}; allowed: {', '.join(worths())}")
        if len({path.stem for path in self.judged}) < len(self.judged):
            raise UsageError("two files have one name; a system is called by its file")
        how = GroundingSettings(
            over=self.over, deflecting=self.deflecting, unjudged=self.unjudged, times=self.resamples, seed=self.seed
        )
        rejected: list[Any] = []
        systems: dict[str, list[GroundingItem]] = {}
        for path in self.judged:
            own = systems[path.stem] = []
            for record in read_records(path):
                try:
                    if isinstance(record, RejectedRow):
                        raise SampleError(record.reason)
                    own.append(GroundingItem.from_json(record.data))
                except SampleError as error:
                    rejected.append(RejectedRow(source=record.source, reason=str(error), excerpt=""))
            if not own:
                raise UsageError(f"{path} has no judged answer; granola grounding judge writes them")
        return AnswersScored(
            settings=self,
            how=how,
            reports={name: grounding_report(items, how) for name, items in systems.items()},
            unjudged={name: sum(bool(item.unjudged) for item in items) for name, items in systems.items()},
            slices={
                name: {by: sliced(items, self.sliced, self._slice(by), how) for by in self.by}
                for name, items in systems.items()
            },
            tests=compared_answers(systems, self.sliced, how),
            rejected=rejected,
        )

    def _slice(self, by: str) -> Any:
        def tag(item: GroundingItem) -> str | None:
            found = item.tags.get(by)
            if by != "relevant_share" or found is None:
                return found
            limits = [0.0, *sorted(self.bands), 1.0]
            share = float(found)
            at = sum(share > limit for limit in limits[1:-1])
            return f"{limits[at]:.2f}-{limits[at + 1]:.2f}"

        return tag


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswersScored:
    """Scores of systems, with slices of one score and paired tests in it."""

    settings: GroundingScoreRun
    how: GroundingSettings
    reports: Mapping[str, Mapping[str, Estimate]]
    unjudged: Mapping[str, int]
    slices: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    tests: Sequence[Difference]
    rejected: Sequence[Any]

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.rejected)

    def show(self) -> None:
        """A table a system, its slices, the tests, the signature."""
        from granola.runs.outputs import print_json, report_rejects

        if self.settings.as_json:
            print_json(
                {
                    "schema_version": 1, "signature": str(self.how), "unjudged": dict(self.unjudged),
                    "systems": {name: {key: one.to_json() for key, one in own.items()}
                                for name, own in self.reports.items()},
                    "slices": {name: {by: {key: one.to_json() for key, one in found.items()}
                                      for by, found in own.items()} for name, own in self.slices.items()},
                    "tests": [one.to_json() for one in self.tests],
                },
                indent=1,
            )  # fmt: skip
        else:
            for name, own in self.reports.items():
                print(f"{name}, {self.unjudged[name]:,} answers not judged in full")
                for score, one in own.items():
                    print(f"  {score:26}{_shown(one)}")
                for by, found in self.slices[name].items():
                    for key, one in found.items():
                        print(f"  {self.settings.sliced}, {by} {key[:40]:20}{_shown(one)}")
            for test in self.tests:
                print(
                    f"{test.first} - {test.second}, {test.metric}: {test.difference:+.3f} [{test.interval.low:+.3f}, "
                    f"{test.interval.high:+.3f}], p {test.p:.4f}, after Holm {test.adjusted:.4f}, n {test.n:,}"
                )
            print(self.how)
        report_rejects(str(self.settings.judged[0]), self.rejected)


def _shown(one: Estimate) -> str:
    if math.isnan(one.value):
        return f"{'-':>7}  n {one.n:,}"
    return f"{one.value:7.4f}  [{one.interval.low:.4f}, {one.interval.high:.4f}]  n {one.n:,}"
