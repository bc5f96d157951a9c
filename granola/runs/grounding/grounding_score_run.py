"""`granola grounding score`: the scores of judged answers, by slices, with paired tests, and against ladders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.runs.grounding.grounding_settings import THIRDS, Bands, FormingSettings, JudgedAnswers
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson

if TYPE_CHECKING:
    from granola.grounding.grounding_scores import GroundingSettings
    from granola.scoring.aggregation import Estimate
    from granola.scoring.system_comparison import Difference


@dataclass(frozen=True, kw_only=True)
class GroundingScoreRun(Run, FormingSettings):
    """Eligibility (E), factuality against all passages (uF, F) and relevant ones (uRAF, RAF), deflection, citations.

    Rows tell their system. --by names a tag of the questions, or relevant_share for three bands.
    """

    verb: ClassVar[str] = "grounding score"

    judged: JudgedAnswers
    by: Annotated[
        tuple[str, ...],
        Setting("Also by a tag, as time_sensitivity, source, popularity; relevant_share: in three bands."),
    ] = ()
    bands: Bands = THIRDS
    as_json: AsJson = False

    def run(self) -> AnswersScored:
        """Score every system. Raises UsageError."""
        from granola.grounding.grounded_samples import Relevance
        from granola.grounding.grounding_scores import (
            compared_answers,
            fineness,
            grounding_report,
            ladder_shares,
            sliced,
        )
        from granola.grounding.judged_answers import answers_by_system
        from granola.runs.grounding.grounding_settings import check_bands, check_tag, slice_of

        check_bands(self.bands)
        how = self.forming()
        rejected: list[Any] = []
        systems = answers_by_system(self.judged, rejected.append)
        for by in self.by:
            check_tag(by, systems)
        return AnswersScored(
            settings=self,
            how=how,
            judges=sorted({item.judge for items in systems.values() for item in items if item.judge}),
            reports={name: grounding_report(items, how) for name, items in systems.items()},
            unjudged={name: sum(bool(item.unjudged) for item in items) for name, items in systems.items()},
            slices={
                name: {by: sliced(items, self.sliced, slice_of(by, self.bands), how) for by in self.by}
                for name, items in systems.items()
            },
            ladders={
                name: {
                    str(reading): {
                        **{str(one): share for one, share in ladder_shares(items, reading).items()},
                        "fineness": fineness(items, reading),
                    }
                    for reading in Relevance
                }
                for name, items in systems.items()
                if any(item.ladder is not None for item in items)
            },
            tests=compared_answers(systems, self.sliced, how),
            rejected=rejected,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswersScored:
    """Scores of systems, with slices of one score, paired tests in it, and what answers make of ladders."""

    settings: GroundingScoreRun
    how: GroundingSettings
    judges: Sequence[str]
    reports: Mapping[str, Mapping[str, Estimate]]
    unjudged: Mapping[str, int]
    slices: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    ladders: Mapping[str, Mapping[str, Mapping[str, Any]]]
    tests: Sequence[Difference]
    rejected: Sequence[Any]

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.rejected)

    @property
    def signature(self) -> str:
        """Settings, and who judged."""
        return "|".join([str(self.how), *(f"judge:[{one}]" for one in self.judges)])

    def show(self) -> None:
        """A table a system, its slices and ladders, the tests, the signature."""
        from granola.runs.outputs import print_json, report_rejects

        if self.settings.as_json:
            print_json(self._json(), indent=1)
        else:
            for name, own in self.reports.items():
                self._show_system(name, own)
            for test in self.tests:
                print(
                    f"{test.first} - {test.second}, {test.metric}: {test.difference:+.3f} [{test.interval.low:+.3f}, "
                    f"{test.interval.high:+.3f}], p {test.p:.4f}, after Holm {test.adjusted:.4f}, n {test.n:,}"
                )
            print(self.signature)
        report_rejects(str(self.settings.judged[0]), self.rejected)

    def _show_system(self, name: str, own: Mapping[str, Estimate]) -> None:
        print(f"{name}, {self.unjudged[name]:,} answers not judged in full")
        if not own["E"].n:
            print("  no answer was judged for eligibility, so E, F and RAF are of none")
        for score, one in own.items():
            if not score.startswith("cited"):
                print(f"  {score:26}{shown(one)}")
        print(f"  {'citations against':36}{'precision':>10}{'recall':>10}{'F1':>10}")
        for whose in ("cited", "cited-relevant strict", "cited-relevant wide"):
            if own[f"{whose} pooled_f1"].n:
                against = "the reference's" if whose == "cited" else whose.removeprefix("cited-")
                for way, names in _WAYS.items():
                    told = "".join(_number(own[f"{whose} {one}"].value) if one else " " * 10 for one in names)
                    print(f"  {against + ', ' + way:36}{told}")
        for by, found in self.slices[name].items():
            for key, one in found.items():
                print(f"  {self.settings.sliced}, {by} {key[:40]:20}{shown(one)}")
        for reading, standings in self.ladders.get(name, {}).items():
            for key, one in standings.items():
                if key != "fineness":
                    print(f"  ladders, {reading}: {key:30}{shown(one)}")
            told = ", ".join(f"{key} {number:,}" for key, number in standings["fineness"].items())
            print(f"  ladders, {reading}: against the finest level of relevant passages: {told}")

    def _json(self) -> dict[str, Any]:
        return {
            "schema_version": 1,
            "signature": self.signature,
            "unjudged": dict(self.unjudged),
            "systems": {name: {key: one.to_json() for key, one in own.items()} for name, own in self.reports.items()},
            "slices": {
                name: {by: {key: one.to_json() for key, one in found.items()} for by, found in own.items()}
                for name, own in self.slices.items()
            },
            "ladders": {
                name: {
                    reading: {key: one if key == "fineness" else one.to_json() for key, one in found.items()}
                    for reading, found in own.items()
                }
                for name, own in self.ladders.items()
            },
            "tests": [one.to_json() for one in self.tests],
        }


_WAYS: dict[str, tuple[str, str, str]] = {
    "pooled": ("pooled_precision", "pooled_recall", "pooled_f1"),
    "of means": ("mean_precision", "mean_recall", "f1_of_means"),
    "mean of F1": ("", "", "mean_f1"),
}


def shown(one: Estimate) -> str:
    """A score in a table of the terminal."""
    if math.isnan(one.value):
        return f"{'-':>7}  n {one.n:,}"
    return f"{one.value:7.4f}  [{one.interval.low:.4f}, {one.interval.high:.4f}]  n {one.n:,}"


def _number(value: float) -> str:
    return f"{'-':>10}" if math.isnan(value) else f"{value:10.4f}"
