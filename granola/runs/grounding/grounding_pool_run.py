"""`granola grounding pool`: several judges of the same answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from granola.errors import UsageError
from granola.runs.grounding.grounding_judge_run import shown_asked
from granola.runs.grounding.grounding_score_run import estimates_table, signed
from granola.runs.grounding.grounding_settings import FormingSettings, JudgedAnswers
from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.settings import Run
from granola.runs.shared_settings import AsJson, Force, Out
from granola.terminal_lines import Part, TextTable, Verbatim, show_lines

if TYPE_CHECKING:
    from granola.grounding.grounding_items import GroundingItem
    from granola.grounding.grounding_scores import GroundingSettings
    from granola.grounding.judge_pools import JudgeBias
    from granola.scoring.aggregation import Estimate

_SHOWN = ("E", "uF", "F", "uRAF strict", "RAF strict", "uRAF wide", "RAF wide", "deflection TP", "deflection FP")


@dataclass(frozen=True, kw_only=True)
class GroundingPoolRun(Run, FormingSettings):
    """Pool judges by majority, into --out, and by mean; show how far they agree, what they cost and whom they favour.

    Files of one judge (by the signature in their rows, which a replay of its calls shares) belong together. All must
    have judged the same answers, each of them once.
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
            pooled = [pooled_by_majority(answer) for answer in together]
            systems = sorted({answer.system for answer in together})
            scores: dict[str, dict[str, Mapping[str, Estimate]]] = {}
            for system in systems:
                answers = [answer for answer in together if answer.system == system]
                scores[system] = {
                    **{
                        name: grounding_report([answer.items[at] for answer in answers], how)
                        for at, name in enumerate(names)
                    },
                    "majority": grounding_report([item for item in pooled if item.system == system], how),
                    "mean": pooled_by_mean(answers, how),
                }
            output.more |= {"judges": names}
            output.write(item.to_json() for item in pooled)
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
        from granola.grounding.grounding_items import read_judged_answers
        from granola.run_record import record_of

        judges: dict[str, list[GroundingItem]] = {}
        seen: dict[tuple[str, str, str], Path] = {}
        costs: dict[str, dict[str, float]] = {}
        for path in self.judged:
            signature = ""
            for item in read_judged_answers(path, rejected.append):
                signature = item.judge or path.stem
                key = (signature, item.system, item.id)
                if seen.setdefault(key, path) != path:
                    raise UsageError(
                        f"{path} and {seen[key]} are of the same judge ({signature}) and have the same answers: "
                        "a judge, with its replays, counts once"
                    )
                judges.setdefault(signature, []).append(item)
            total = costs.setdefault(signature, {})
            for name, number in _asked(record_of(path)).items():
                total[name] = total.get(name, 0) + number
        return judges, costs


def _asked(record: Mapping[str, Any]) -> dict[str, float]:
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
        show_lines(*self._parts())
        self.written.show()

    def _parts(self) -> Iterator[Part]:
        for name, judge in self.names.items():
            yield Verbatim(f"{name}: {judge}{'; ' + shown_asked(self.costs[name]) if self.costs[name] else ''}")
        for system, by_judge in self.scores.items():
            yield system
            yield estimates_table(
                [((score, who), report[score]) for score in _SHOWN for who, report in by_judge.items()]
            )
        head = ("agreement", "n", "all agree", "kappa")
        yield TextTable(head=head, rows=[_agreement_row(label) for label in self.agreement], indent=2)
        for label in self.agreement if len(self.names) > 2 else ():
            pairs = ", ".join(f"{first}-{second} {_short(kappa)}" for (first, second), kappa in label["pairs"].items())
            yield f"  {label['label']}, kappa by pairs: {pairs}"
        yield f"judge minus the others, {self.settings.sliced}"
        rows = []
        for bias in self.biases:
            rows.append(((f"{bias.judge} lenient by",), bias.lenient))
            rows += [((f"{bias.judge} favours {system[:18]}",), gap) for system, gap in bias.favours.items()]
        yield estimates_table(rows)
        if len(self.scores) < 2:
            yield "  whom a judge favours is told of two systems or more; these are of one"
        yield Verbatim(signed(self.how, {"judges": list(self.names.values())}))

    def _json(self) -> dict[str, Any]:
        return {
            "schema_version": 1,
            "signature": signed(self.how, {"judges": list(self.names.values())}),
            "judges": {name: {"signature": judge, **self.costs[name]} for name, judge in self.names.items()},
            "systems": {
                system: {
                    who: {score: estimate.to_json() for score, estimate in report.items()}
                    for who, report in by_judge.items()
                }
                for system, by_judge in self.scores.items()
            },
            "agreement": [
                {
                    "label": label["label"], "n": label["n"], "agree": _null(label["agree"]),
                    "kappa": _null(label["kappa"]),
                    "pairs": {f"{first}-{second}": _null(kappa) for (first, second), kappa in label["pairs"].items()},
                }
                for label in self.agreement
            ],
            "biases": [
                {
                    "judge": bias.judge, "lenient": bias.lenient.to_json(),
                    "favours": {system: one.to_json() for system, one in bias.favours.items()},
                }
                for bias in self.biases
            ],
        }  # fmt: skip


def _agreement_row(label: Mapping[str, Any]) -> tuple[str, ...]:
    agree = "-" if math.isnan(label["agree"]) else f"{label['agree']:.4f}"
    return label["label"], f"{label['n']:,}", agree, _short(label["kappa"])


def _short(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _null(value: float) -> float | None:
    return None if math.isnan(value) else value
