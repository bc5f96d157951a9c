"""`granola grounding pool`: several judges of the same answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from granola.errors import UsageError
from granola.runs.grounding.grounding_score_run import shown
from granola.runs.grounding.grounding_settings import FormingSettings, JudgedAnswers
from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.settings import Run
from granola.runs.shared_settings import AsJson, Force, Out

if TYPE_CHECKING:
    from granola.grounding.grounding_items import GroundingItem
    from granola.grounding.grounding_scores import GroundingSettings
    from granola.grounding.judge_pools import JudgeBias
    from granola.scoring.aggregation import Estimate

_SHOWN = ("E", "uF", "F", "uRAF strict", "RAF strict", "uRAF wide", "RAF wide", "deflection TP", "deflection FP")


@dataclass(frozen=True, kw_only=True)
class GroundingPoolRun(Run, FormingSettings):
    """Pool judges by majority, into --out, and by mean; show how far they agree, what they cost and whom they favour.

    Files of one judge (by the signature in their rows) belong together. All must have judged the same answers.
    """

    verb: ClassVar[str] = "grounding pool"

    judged: JudgedAnswers
    out: Out
    as_json: AsJson = False
    force: Force = False

    def run(self) -> JudgesPooled:
        """Pool and write. Raises UsageError for one judge alone, or judges of different answers."""
        from granola.errors import SampleError
        from granola.grounding.grounding_scores import grounding_report
        from granola.grounding.judge_pools import (
            agreement_of,
            judge_biases,
            judged_together,
            pooled_by_majority,
            pooled_by_mean,
        )

        how = self.forming()
        with rows_output(self, self.out, inputs=self.judged, force=self.force) as output:
            judges, costs = self._judges(output.rejected)
            if len(judges) < 2:
                raise UsageError(
                    "these are of one judge; give files of two judges or more, each written by granola grounding judge"
                )
            names = {f"J{number}": judge for number, judge in enumerate(judges, 1)}
            try:
                together = judged_together({name: judges[judge] for name, judge in names.items()})
            except SampleError as error:
                raise UsageError(str(error)) from error
            pooled = [pooled_by_majority(one) for one in together]
            systems = sorted({one.system for one in together})
            scores: dict[str, dict[str, Mapping[str, Estimate]]] = {}
            for system in systems:
                own = [one for one in together if one.system == system]
                scores[system] = {
                    **{name: grounding_report([one.items[at] for one in own], how) for at, name in enumerate(names)},
                    "majority": grounding_report([one for one in pooled if one.system == system], how),
                    "mean": pooled_by_mean(own, how),
                }
            output.more |= {"judges": names}
            output.write(one.to_json() for one in pooled)
        return JudgesPooled(
            settings=self,
            how=how,
            names=names,
            costs={name: costs[judge] for name, judge in names.items()},
            scores=scores,
            agreement=agreement_of(together),
            biases=judge_biases(together, self.sliced, how),
            written=output.ended(f"{len(pooled):,} answers of {len(systems):,} systems, {len(names)} judges",
                                 source=str(self.judged[0])),
        )  # fmt: skip

    def _judges(self, rejected: list[Any]) -> tuple[dict[str, list[GroundingItem]], dict[str, dict[str, float]]]:
        from granola.grounding.judged_answers import read_judged_answers
        from granola.run_record import record_of

        judges: dict[str, list[GroundingItem]] = {}
        costs: dict[str, dict[str, float]] = {}
        for path in self.judged:
            signature = ""
            for item in read_judged_answers(path, rejected.append):
                signature = item.judge or path.stem
                judges.setdefault(signature, []).append(item)
            total = costs.setdefault(signature, {})
            for name, number in _asked(path, record_of(path)).items():
                total[name] = total.get(name, 0) + number
        return judges, costs


def _asked(path: Path, record: Mapping[str, Any]) -> dict[str, float]:
    asked = record.get("asked")
    if not isinstance(asked, dict):
        return {}
    return {str(name): number for name, number in asked.items() if isinstance(number, int | float)}


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgesPooled:
    """Scores by system and judge, of the majority and of the mean; agreement, biases and costs of judges."""

    settings: GroundingPoolRun
    how: GroundingSettings
    names: Mapping[str, str]
    costs: Mapping[str, Mapping[str, float]]
    scores: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    agreement: Sequence[Mapping[str, Any]]
    biases: Sequence[JudgeBias]
    written: RowsWritten

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return self.written.failed

    def show(self) -> None:
        """Judges, scores, agreement, biases."""
        from granola.runs.outputs import print_json

        if self.settings.as_json:
            print_json(self._json(), indent=1)
            self.written.show()
            return
        for name, judge in self.names.items():
            told = ", ".join(f"{number:,g} {what.replace('_', ' ')}" for what, number in self.costs[name].items())
            print(f"{name}: {judge}{'; ' + told if told else ''}")
        for system, own in self.scores.items():
            print(f"{system:26}" + "".join(f"{who:>10}" for who in own))
            for score in _SHOWN:
                print(f"  {score:24}" + "".join(_number(found[score].value) for found in own.values()))
        print("agreement                         n   all agree   kappa")
        for one in self.agreement:
            pairs = ", ".join(f"{first}-{second} {_short(kappa)}" for (first, second), kappa in one["pairs"].items())
            more = f"  ({pairs})" if len(self.names) > 2 else ""
            print(f"  {one['label']:24}{one['n']:>9,}{_number(one['agree'])}  {_short(one['kappa']):>7}{more}")
        print(f"judge minus the others, {self.settings.sliced}")
        for bias in self.biases:
            print(f"  {bias.judge} lenient by {'':14}{shown(bias.lenient)}")
            for system, gap in bias.favours.items():
                print(f"  {bias.judge} favours {system[:18]:18}{shown(gap)}")
        print(self.how)
        self.written.show()

    def _json(self) -> dict[str, Any]:
        return {
            "schema_version": 1,
            "signature": str(self.how),
            "judges": {name: {"signature": judge, **self.costs[name]} for name, judge in self.names.items()},
            "systems": {
                system: {who: {score: one.to_json() for score, one in found.items()} for who, found in own.items()}
                for system, own in self.scores.items()
            },
            "agreement": [
                {
                    "label": one["label"], "n": one["n"], "agree": _null(one["agree"]), "kappa": _null(one["kappa"]),
                    "pairs": {f"{first}-{second}": _null(kappa) for (first, second), kappa in one["pairs"].items()},
                }
                for one in self.agreement
            ],
            "biases": [
                {
                    "judge": bias.judge, "lenient": bias.lenient.to_json(),
                    "favours": {system: one.to_json() for system, one in bias.favours.items()},
                }
                for bias in self.biases
            ],
        }  # fmt: skip


def _number(value: float) -> str:
    return f"{'-':>10}" if math.isnan(value) else f"{value:10.4f}"


def _short(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _null(value: float) -> float | None:
    return None if math.isnan(value) else value
