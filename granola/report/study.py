"""What a report on several systems says, as tables of plain values: one for each figure, and those without one."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from abstraction.rows import TieredRow
from granola.aggregating import GroupScore
from granola.comparing import Difference
from granola.matching import F1Matcher, Matcher, RulesMatcher
from granola.meta_evaluation import CELLS, meta_table
from granola.metrics import informativeness_weight
from granola.predictions import PredictionFile
from granola.report.tables import distribution_columns, relation_title
from granola.scoring import ScoreReport, names_of
from granola.sweeps import LAMBDAS, ItemF1, RiskCoverage, TauPoint, item_f1, risk_coverage, tau_sweep

EXAMPLES = 8
Value = str | int | float


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table: `name` for its files, `head` and rows of one length; NaN stands for what is not there."""

    name: str
    title: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def to_csv(self) -> str:
        """CSV with a header; numbers unrounded, NaN empty."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.head)
        writer.writerows([["" if _is_nan(value) else value for value in row] for row in self.rows])
        return stream.getvalue()

    def to_latex(self) -> str:
        """A `tabular` between rules of booktabs, numbers with three decimals."""
        columns = "".join(
            "l" if any(isinstance(row[i], str) for row in self.rows) else "r" for i in range(len(self.head))
        )
        lines = [rf"% {latex(self.caption)}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
        lines += [" & ".join(map(latex, self.head)) + r" \\", r"\midrule"]
        lines += [" & ".join(latex(shown(value)) for value in row) + r" \\" for row in self.rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _numbers(d: Difference) -> tuple[Value, ...]:
    return (d.difference, d.interval.low, d.interval.high, d.p, d.adjusted, d.n, d.detectable)


def _is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def shown(value: Value) -> str:
    """A value as a reader sees it: three decimals, a dash for NaN."""
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.3f}"
    return str(value)


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "\n": " ",
}  # fmt: skip


def latex(text: str) -> str:
    """Text with every sign that LaTeX reads escaped."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


@dataclass(frozen=True)
class Study:
    """Systems scored on one tiered file, and what else was computed of them; all sequences in the systems' order.

    `popularity` are the scores of each system by bin, empty without such a field; `coloured` names the score that
    points are coloured by, one that predictions carry; `matcher` is the name of the one that decided.
    """

    rows: Sequence[TieredRow]
    files: Sequence[PredictionFile]
    reports: Sequence[ScoreReport]
    matcher: str
    lambda_: float
    differences: Sequence[Difference]
    popularity: Sequence[Mapping[str, GroupScore]] = ()
    popularity_field: str = ""
    groups: Mapping[str, Sequence[Mapping[str, GroupScore]]] = field(default_factory=dict)
    coloured: str | None = None
    seed: int = 0

    @cached_property
    def names(self) -> list[str]:
        """The systems' names."""
        return [report.system for report in self.reports]

    @cached_property
    def f1(self) -> list[list[ItemF1]]:
        """Token-F1 of every scored prediction with each level."""
        return [item_f1(self.rows, given.predictions) for given in self.files]

    @cached_property
    def curves(self) -> list[RiskCoverage | None]:
        """Risk and coverage, where predictions carry a confidence."""
        return [
            risk_coverage(report, given.predictions) for report, given in zip(self.reports, self.files, strict=True)
        ]

    @cached_property
    def sweeps(self) -> list[list[TauPoint]]:
        """Token-F1 matching at each threshold."""
        return [tau_sweep(items, lambda_=self.lambda_) for items in self.f1]

    @cached_property
    def colour_title(self) -> str:
        """What points of token-F1 are coloured by."""
        return self.coloured or f"{self.matcher}: informativeness, 0 where wrong"

    def colour_of(self, index: int) -> dict[str, float]:
        """By id, what points of a system's items are coloured by."""
        if self.coloured is not None:
            told = self.files[index].predictions
            return {i: said.scores[self.coloured] for i, said in told.items() if self.coloured in said.scores}
        return {item.id: item.weight or 0.0 for item in self.reports[index].items if item.verdict is not None}

    def tables(self) -> list[Table]:
        """Every table that has a row, in the order of the page."""
        made = [
            self._scores(),
            self._differences(),
            self._popularity(),
            *(self._groups(title, scores) for title, scores in self.groups.items()),
            self._distribution(),
            self._weights(),
            self._relations(),
            self._risk(),
            self._taus(),
            *(self._meta(index) for index in range(len(self.reports))),
            self._coarse(),
            self._matchers(),
        ]
        return [table for table in made if table.rows]

    def _scores(self) -> Table:
        head = ["system", "n"]
        for metric in self.reports[0].metrics:
            head += [metric.title, "low", "high"]
        rows = []
        for report in self.reports:
            row: list[Value] = [report.system, report.overall.n]
            for metric in report.metrics:
                estimate = report.overall.estimates[metric.name]
                row += [estimate.value, estimate.interval.low, estimate.interval.high]
            rows.append(tuple(row))
        return Table(
            name="scores",
            title="Scores",
            caption="Every metric with its 95 % bootstrap interval over questions.",
            head=tuple(head),
            rows=tuple(rows),
        )

    def _differences(self) -> Table:
        return Table(
            name="differences",
            title="Differences between systems",
            caption="Paired over questions: 95 % bootstrap interval, p of a permutation test, p after Holm's "
            "correction over the pairs of systems, the least difference that so many questions show with 80 % power.",
            head=("metric", "first", "second", "difference", "low", "high", "p", "p, Holm", "n", "detectable"),
            rows=tuple((d.metric, d.first, d.second, *_numbers(d)) for d in self.differences),
        )

    def _grouped(self, scores: Sequence[Mapping[str, GroupScore]]) -> tuple[tuple[Value, ...], ...]:
        rows: list[tuple[Value, ...]] = []
        for name, by_group in zip(self.names, scores, strict=True):
            for group, score in by_group.items():
                found = (score.estimates[key] for key in ("standard_accuracy", "granola_accuracy", "informativeness"))
                rows.append((name, group, score.n, *(estimate.value for estimate in found)))
        return tuple(rows)

    def _popularity(self) -> Table:
        return Table(
            name="popularity",
            title="Accuracy against popularity",
            caption=f"By bins of equal size of {self.popularity_field}.",
            head=("system", "bin", "n", "standard accuracy", "GRANOLA accuracy", "informativeness"),
            rows=self._grouped(self.popularity) if self.popularity else (),
        )

    def _groups(self, title: str, scores: Sequence[Mapping[str, GroupScore]]) -> Table:
        return Table(
            name="by-" + "".join(c if c.isalnum() else "-" for c in title.lower()),
            title=f"By {title}",
            caption=f"Scores by the values of {title}.",
            head=("system", title, "n", "standard accuracy", "GRANOLA accuracy", "informativeness"),
            rows=self._grouped(scores),
        )

    def _distribution(self) -> Table:
        columns = distribution_columns(self.reports)
        return Table(
            name="distribution",
            title="Where the answers stand",
            caption="Answers by the finest level that they state (1 is the gold answer), wrong, or abstained.",
            head=("system", *(f"level {c}" if c.isdigit() else c for c in columns)),
            rows=tuple((r.system, *(r.overall.distribution.get(c, 0) for c in columns)) for r in self.reports),
        )

    @cached_property
    def deepest(self) -> int:
        """The number of levels that any row has."""
        return max((len(row.levels) for row in self.rows), default=1)

    def _weights(self) -> Table:
        levels = range(1, min(self.deepest, 6) + 1)
        return Table(
            name="weights",
            title="Weights of the levels",
            caption="exp(-lambda (level - 1)) against lambda.",
            head=("lambda", *(f"level {level}" for level in levels)),
            rows=tuple((value, *(informativeness_weight(level, value) for level in levels)) for value in LAMBDAS),
        )

    def _relations(self) -> Table:
        keys = ("standard_accuracy", "granola_accuracy", "informativeness")
        rows: list[tuple[Value, ...]] = [
            (r.system, relation_title(name), group.n, *(group.estimates[key].value for key in keys))
            for r in self.reports
            for name, group in r.relations.items()
        ]
        return Table(
            name="relations",
            title="Per relation",
            caption="Scores of each relation.",
            head=("system", "relation", "n", "standard accuracy", "GRANOLA accuracy", "informativeness"),
            rows=tuple(rows),
        )

    def _risk(self) -> Table:
        return Table(
            name="risk-coverage",
            title="Risk and coverage",
            caption="The share answered, surest first, and the share of wrong answers among them.",
            head=("system", "coverage", "risk"),
            rows=tuple(
                (name, *point)
                for name, curve in zip(self.names, self.curves, strict=True)
                for point in (curve.points if curve else ())
            ),
        )

    def _taus(self) -> Table:
        return Table(
            name="thresholds",
            title="Thresholds of token-F1",
            caption="What matching by token-F1 (at or above the threshold) says at each threshold.",
            head=("system", "tau", "standard accuracy", "GRANOLA accuracy", "informativeness"),
            rows=tuple(
                (name, point.tau, point.standard, point.granola, point.informativeness)
                for name, points in zip(self.names, self.sweeps, strict=True)
                for point in points
            ),
        )

    def _meta(self, index: int) -> Table:
        report = self.reports[index]
        table = meta_table(report, self.files[index].predictions, self.f1[index])
        return Table(
            name=f"other-metrics-{index + 1}",
            title=f"Other metrics: {report.system}",
            caption="The mean of each score where an answer is right by standard and GRANOLA accuracy, by the latter "
            "alone, by neither, and where it abstains.",
            head=("score", *(name for cell in CELLS for name in (cell, "n"))),
            rows=tuple(
                (name, *(value for cell in CELLS for value in (cells[cell].mean, cells[cell].n)))
                for name, cells in table.items()
            ),
        )

    def _drawn(self, rows: list[tuple[Value, ...]], what: str) -> tuple[tuple[Value, ...], ...]:
        chosen = Random(f"{self.seed}:{what}").sample(range(len(rows)), min(EXAMPLES, len(rows)))
        return tuple(rows[index] for index in sorted(chosen))

    def _coarse(self) -> Table:
        rows: list[tuple[Value, ...]] = []
        for report in self.reports:
            found: list[tuple[Value, ...]] = [
                (report.system, row.question, row.answers[0], item.prediction or "", v.level, v.compared.tier)
                for row, item in zip(self.rows, report.items, strict=True)
                if (v := item.verdict) is not None and v.level is not None and v.level > 1 and v.compared is not None
            ]
            rows += self._drawn(found, f"coarse:{report.system}")
        return Table(
            name="coarse-answers",
            title="Wrong by the standard, right at a coarser level",
            caption=f"Up to {EXAMPLES} a system, drawn by the seed.",
            head=("system", "question", "gold answer", "prediction", "level", "states"),
            rows=tuple(rows),
        )

    def _matchers(self) -> Table:
        other: Matcher = RulesMatcher() if self.matcher == "f1" else F1Matcher()
        rows: list[tuple[Value, ...]] = []
        for report in self.reports:
            found: list[tuple[Value, ...]] = []
            for row, item in zip(self.rows, report.items, strict=True):
                if item.verdict is None or item.prediction is None:
                    continue
                second = other.match(item.prediction, names_of(row), row.question)
                if second.level != item.verdict.level:
                    levels = [str(level or "wrong") for level in (item.verdict.level, second.level)]
                    found.append(
                        (report.system, row.question, row.answers[0], item.prediction, *levels, item.verdict.rule)
                    )
            rows += self._drawn(found, f"matchers:{report.system}")
        return Table(
            name="matchers",
            title=f"Where {self.matcher} and {other.name} disagree",
            caption=f"Up to {EXAMPLES} a system, drawn by the seed.",
            head=("system", "question", "gold answer", "prediction", self.matcher, other.name, "rule"),
            rows=tuple(rows),
        )
