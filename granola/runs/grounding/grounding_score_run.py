"""`granola grounding score`: the scores of judged answers, by slices, with paired tests, and against ladders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.grounding.grounding_scores import THIRDS, bands_stated
from granola.runs.grounding.grounding_settings import (
    Bands,
    FormingSettings,
    JudgedAnswers,
    named_tags,
)
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson
from granola.terminal_lines import Part, TextTable, Verbatim, show_lines

if TYPE_CHECKING:
    from granola.grounding.grounding_scores import GroundingSettings
    from granola.scoring.aggregation import Estimate
    from granola.scoring.system_comparison import Difference


@dataclass(frozen=True, kw_only=True)
class GroundingScoreRun(Run, FormingSettings):
    """Eligibility (E), factuality against all passages (uF, F) and relevant ones (uRAF, RAF), deflection, citations.

    Rows tell their system. --by names a tag of the questions, or the share of relevant passages, in three bands:
    relevant_share_strict, relevant_share_wide, or relevant_share, which is that of the reading of --of.
    """

    verb: ClassVar[str] = "grounding score"

    judged: JudgedAnswers
    by: Annotated[
        tuple[str, ...],
        Setting(
            "Also by a tag, as time_sensitivity, source, popularity; relevant_share_strict and relevant_share_wide in "
            "bands, of which relevant_share is the one of the reading of --of."
        ),
    ] = ()
    bands: Bands = THIRDS
    as_json: AsJson = False

    def run(self) -> AnswersScored:
        """Score every system. Raises UsageError."""
        from granola.grounding.grounded_samples import Relevance
        from granola.grounding.grounding_items import answers_by_system
        from granola.grounding.grounding_scores import (
            compared_answers,
            deflections_unjudged,
            fineness,
            grounded_by,
            grounding_report,
            judges_of,
            ladder_shares,
            ladders_unjudged,
            slice_of,
            sliced,
        )
        from granola.runs.grounding.grounding_settings import check_bands, check_tag

        check_bands(self.bands)
        how = self.forming()
        rejected: list[Any] = []
        systems = answers_by_system(self.judged, rejected.append)
        tags = named_tags(self.by, self.sliced)
        for tag in tags:
            check_tag(tag, systems)
        return AnswersScored(
            settings=self,
            how=how,
            judges={name: judges_of(items) for name, items in systems.items()},
            reports={name: grounding_report(items, how) for name, items in systems.items()},
            unjudged={name: sum(bool(item.unjudged) for item in items) for name, items in systems.items()},
            deflections_unjudged={name: deflections_unjudged(items) for name, items in systems.items()},
            slices={
                name: {tag: sliced(items, self.sliced, slice_of(tag, self.bands), how) for tag in tags}
                for name, items in systems.items()
            },
            ladders={
                name: {
                    str(reading): {
                        **{str(one): share for one, share in ladder_shares(items, reading).items()},
                        "fineness": fineness(items, reading),
                        "unjudged": ladders_unjudged(items, reading),
                        "grounded_by": grounded_by(items),
                    }
                    for reading in Relevance
                }
                for name, items in systems.items()
                if grounded_by(items)
            },
            tests=compared_answers(systems, self.sliced, how),
            rejected=rejected,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswersScored:
    """Scores of systems, with slices of one score, paired tests in it, and what answers make of ladders."""

    settings: GroundingScoreRun
    how: GroundingSettings
    judges: Mapping[str, Sequence[str]]
    reports: Mapping[str, Mapping[str, Estimate]]
    unjudged: Mapping[str, int]
    deflections_unjudged: Mapping[str, int]
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
        """Settings, the limits of bands, and who judged."""
        tags = named_tags(self.settings.by, self.settings.sliced)
        return signed(self.how, self.judges, bands=bands_stated(tags, self.settings.bands))

    def show(self) -> None:
        """A table a system, its slices and ladders, the tests, the signature."""
        from granola.runs.outputs import print_json, report_rejects

        if self.settings.as_json:
            print_json(self._json(), indent=1)
        else:
            for name, own in self.reports.items():
                show_lines(*self._of_system(name, own))
            for test in self.tests:
                if not test.n:
                    show_lines(f"{test.first} - {test.second}, {test.metric}: no question has this score of both")
                    continue
                show_lines(
                    f"{test.first} - {test.second}, {test.metric}: {test.difference:+.3f} [{test.interval.low:+.3f}, "
                    f"{test.interval.high:+.3f}], p {test.p:.4f}, after Holm {test.adjusted:.4f}, n {test.n:,}",
                    *(f"  {note}" for note in filter(None, [self._judged_apart(test)])),
                )
            show_lines(Verbatim(self.signature))
        report_rejects(str(self.settings.judged[0]), self.rejected)

    def _of_system(self, name: str, report: Mapping[str, Estimate]) -> Iterator[Part]:
        yield f"{name}, {self.unjudged[name]:,} answers without a verdict that was asked for"
        if not report["E"].n:
            yield "  no answer has a verdict on eligibility (judge --model, and a reference), so E, F and RAF have n 0"
        yield estimates_table(
            [((score,), estimate) for score, estimate in report.items() if not score.startswith("cited")]
        )
        if self.deflections_unjudged[name]:
            yield f"  {self.deflections_unjudged[name]:,} answers are in no deflection score: not judged"
        yield "  citations, over answerable questions"
        cited = []
        for whose in ("cited", "cited-relevant strict", "cited-relevant wide"):
            if report[f"{whose} pooled_f1"].n:
                against = "the reference's" if whose == "cited" else whose.removeprefix("cited-")
                cited += [((f"against {against}, {way}",), report[f"{whose} {key}"]) for key, way in _WAYS.items()]
        yield estimates_table(cited)
        yield estimates_table(
            [
                ((f"{self.settings.sliced}, {by} {key[:40]}",), estimate)
                for by, estimates in self.slices[name].items()
                for key, estimate in estimates.items()
            ]
        )
        for reading, standings in self.ladders.get(name, {}).items():
            shares = [(key, share) for key, share in standings.items() if key not in _NO_SHARE]
            yield estimates_table([((f"ladders, {reading}: {key}",), share) for key, share in shares])
            counts = ", ".join(f"{key} {number:,}" for key, number in standings["fineness"].items())
            yield f"  ladders, {reading}: against the finest level that relevant passages mention: {counts}"
            grounds = standings["grounded_by"].removeprefix("by ")
            yield f"  ladders, {reading}: levels and grounds by {grounds}; not judged: {standings['unjudged']:,}"

    def _json(self) -> dict[str, Any]:
        return {
            "schema_version": 1,
            "signature": self.signature,
            "judges": {name: list(signatures) for name, signatures in self.judges.items()},
            "unjudged": dict(self.unjudged),
            "deflections_unjudged": dict(self.deflections_unjudged),
            "systems": {
                name: {key: one.to_json() for key, one in by_name.items()} for name, by_name in self.reports.items()
            },
            "slices": {
                name: {by: {key: score.to_json() for key, score in scores.items()} for by, scores in by_name.items()}
                for name, by_name in self.slices.items()
            },
            "ladders": {
                name: {
                    reading: {key: one if key in _NO_SHARE else one.to_json() for key, one in found.items()}
                    for reading, found in by_name.items()
                }
                for name, by_name in self.ladders.items()
            },
            "tests": [{**test.to_json(), "note": self._judged_apart(test) or None} for test in self.tests],
        }

    def _judged_apart(self, test: Difference) -> str:
        """Which judge is whose, where two systems were judged by different ones, ladders apart; else ""."""
        first, second = (
            {judge.partition("|ladders:")[0] for judge in self.judges[name]} for name in (test.first, test.second)
        )
        if first == second:
            return ""
        whose = "; ".join(
            f"{name}: {' '.join(f'[{judge}]' for judge in self.judges[name]) or 'not told'}"
            for name in (test.first, test.second)
        )
        return f"not judged alike, so the difference may be the judges': {whose}"


_NO_SHARE = ("fineness", "unjudged", "grounded_by")  # of what is told of ladders
_WAYS: dict[str, str] = {
    "pooled_precision": "precision, pooled", "pooled_recall": "recall, pooled", "pooled_f1": "F1, pooled",
    "mean_precision": "precision, mean", "mean_recall": "recall, mean", "f1_of_means": "F1 of these means",
    "mean_f1": "mean of F1",
}  # fmt: skip


def signed(how: GroundingSettings, judges: Mapping[str, Sequence[str]], *, bands: str = "") -> str:
    """Settings, what `bands_stated` says of slices, and all who judged."""
    everyone = sorted({judge for signatures in judges.values() for judge in signatures})
    return "|".join([str(how), *filter(None, [bands]), *(f"judge:[{judge}]" for judge in everyone)])


def estimates_table(rows: Sequence[tuple[tuple[str, ...], Estimate]]) -> TextTable:
    """Scores under their names, each with its interval and n, indented under their system."""
    names = len(rows[0][0]) if rows else 1
    words = (*range(1, names), names + 1, names + 2)
    return TextTable(rows=[(*name, *_cells(estimate)) for name, estimate in rows], words=words, keys=names, indent=2)


def _cells(estimate: Estimate) -> tuple[str, str, str]:
    if math.isnan(estimate.value):
        return "-", "", f"n {estimate.n:,}"
    interval = f"[{estimate.interval.low:.4f}, {estimate.interval.high:.4f}]"
    return f"{estimate.value:.4f}", interval, f"n {estimate.n:,}"
