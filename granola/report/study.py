"""What a report on several systems says, as tables of plain values: one for each figure, and those without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from abstraction.rows import TieredRow
from granola.report.disagreements import coarse_answers
from granola.report.plain_table import Table, Value
from granola.report.score_tables import distribution_columns, lines_of
from granola.scoring.aggregation import Estimate, GroupScore
from granola.scoring.metrics import Standard, informativeness_weight
from granola.scoring.page_views import TITLES
from granola.scoring.predictions import PredictionFile
from granola.scoring.scores import ScoreReport
from granola.scoring.sweeps import (
    LAMBDAS,
    ItemF1,
    LambdaPoint,
    RiskCoverage,
    TauPoint,
    item_f1,
    lambda_sweep,
    risk_coverage,
    tau_sweep,
)
from granola.scoring.system_comparison import Difference

_GROUPED = ("selective_standard_accuracy", "selective_accuracy", "informativeness")
_TITLES = ("selective standard accuracy", "selective GRANOLA accuracy", "informativeness")
SHORT_ANSWER = 10  # words; NQ-open takes questions whose answers have at most 5
_ByGroup = Sequence[Mapping[str, GroupScore]]


@dataclass(frozen=True)
class Study:
    """Systems scored on one tiered file, and what else was computed of them; all sequences in the systems' order.

    `popularity` and `groups` have by field the scores of each system by bin or value; `coloured` names the score that
    points are coloured by, one that predictions carry; `matcher` is the name of the one that decided. `evidence` has
    by id the rows with their evidence, for questions that the page shows.
    """

    rows: Sequence[TieredRow]
    files: Sequence[PredictionFile]
    reports: Sequence[ScoreReport]
    matcher: str
    lambda_: float
    differences: Sequence[Difference]
    popularity: Mapping[str, _ByGroup] = field(default_factory=dict)
    groups: Mapping[str, _ByGroup] = field(default_factory=dict)
    coloured: str | None = None
    evidence: Mapping[str, TieredRow] = field(default_factory=dict)

    @cached_property
    def names(self) -> list[str]:
        """The systems' names."""
        return [report.system for report in self.reports]

    @property
    def standard(self) -> Standard:
        """Which names level 1 has in the scores."""
        return self.reports[0].signature.standard

    def matched(self, index: int) -> dict[str, int | None]:
        """By id, the level that each of a system's scored items matched; None for none."""
        items = self.reports[index].items
        outcomes = zip(items.ids, items.outcomes(), strict=True)
        return {id_: outcome.level for id_, outcome in outcomes if outcome is not None}

    @cached_property
    def f1(self) -> list[list[ItemF1]]:
        """Token-F1 of every scored prediction with each level."""
        return [item_f1(self.rows, file.predictions, self.standard) for file in self.files]

    @cached_property
    def curves(self) -> list[RiskCoverage | None]:
        """Risk and coverage, where predictions carry a confidence."""
        return [risk_coverage(report, file.predictions) for report, file in zip(self.reports, self.files, strict=True)]

    @cached_property
    def sweeps(self) -> list[list[TauPoint]]:
        """Token-F1 matching at each threshold."""
        return [tau_sweep(items, lambda_=self.lambda_) for items in self.f1]

    @cached_property
    def f1_warning(self) -> str:
        """A warning about token-F1 where answers are longer than the names that they are compared with."""
        words = sorted(len(p.text.split()) for file in self.files for p in file.predictions.values())
        median = words[len(words) // 2] if words else 0
        if median <= SHORT_ANSWER:
            return ""
        return (
            f" Read with care: half of the predictions have {median} words or more, and token-F1 falls with every "
            "word that is not in the answer."
        )

    @cached_property
    def colour_title(self) -> str:
        """What points of token-F1 are coloured by."""
        return self.coloured or f"{self.matcher}: informativeness, 0 where wrong"

    def colour_of(self, index: int) -> dict[str, float]:
        """By id, what points of a system's items are coloured by."""
        if self.coloured is not None:
            scores_of = {id_: p.scores for id_, p in self.files[index].predictions.items()}
            return {id_: scores[self.coloured] for id_, scores in scores_of.items() if self.coloured in scores}
        levels = self.matched(index)
        return {id_: informativeness_weight(level, self.lambda_) if level else 0.0 for id_, level in levels.items()}

    @cached_property
    def lambdas(self) -> list[list[LambdaPoint]]:
        """Informativeness at each lambda."""
        return [lambda_sweep(report) for report in self.reports]

    def tables(self) -> list[Table]:
        """Every table that has a row, in the order of the page."""
        made = [
            self._scores(),
            self._macro(),
            self._intervals(),
            self._differences(),
            *(self._by_bins(name, scores) for name, scores in self.popularity.items()),
            *(self._by_values(name, scores) for name, scores in self.groups.items()),
            self._distribution(),
            self._weights(),
            self._lambdas(),
            self._relations(),
            self._risk(),
            self._taus(),
            coarse_answers(self.rows, self.reports, self.files, self.coloured),
        ]
        there = [table for table in made if table.rows]
        names = [table.name for table in there]
        return [
            replace(table, name=f"{table.name}-{names[:index].count(table.name) + 1}") if table.name in names[:index]
            else table
            for index, table in enumerate(there)
        ]  # fmt: skip

    @property
    def _titles(self) -> tuple[str, ...]:
        return tuple(metric.title for metric in self.reports[0].metrics)

    def _scores(self) -> Table:
        return Table(
            name="scores",
            title="Scores",
            caption="Means over the questions (micro); intervals stand in a table of their own.",
            head=("system", "n", "with a ladder", *self._titles),
            rows=tuple((r.system, r.overall.n, r.laddered, *_values(r, r.overall.estimates)) for r in self.reports),
        )

    def _macro(self) -> Table:
        return Table(
            name="macro",
            title="Scores, each relation counting the same",
            caption="Means over the relations of each relation's score.",
            head=("system", "relations", *self._titles),
            rows=tuple((r.system, len(r.relations), *_values(r, r.macro)) for r in self.reports if r.macro),
        )

    def _intervals(self) -> Table:
        rows: list[tuple[Value, ...]] = []
        for average in ("micro", "macro"):
            for r in self.reports:
                estimates = r.overall.estimates if average == "micro" else r.macro
                for metric in r.metrics if estimates else ():
                    rows.append((r.system, metric.title, average, *_interval(estimates[metric.name])))
        by_group: list[tuple[str, _ByGroup]] = [("", [r.relations for r in self.reports])]
        by_group += [(f"{name} ", scores) for name, scores in (*self.popularity.items(), *self.groups.items())]
        for name, scores in by_group:
            for r, groups in zip(self.reports, scores, strict=True):
                rows += [
                    (r.system, title, f"{name}{line.name}", *_interval(line.estimates[key]))
                    for line in lines_of(groups)
                    for key, title in zip(_GROUPED, _TITLES, strict=True)
                ]
        return Table(
            name="intervals",
            title="Scores with their intervals",
            caption="Every metric with its 95 % bootstrap interval over questions, over all (micro, macro) and in each "
            "relation, bin and group; n counts questions, for macro means relations.",
            head=("system", "metric", "average", "value", "low", "high", "n"),
            rows=tuple(rows),
        )

    def _differences(self) -> Table:
        titles = {metric.name: metric.title for metric in self.reports[0].metrics}
        return Table(
            name="differences",
            title="Differences between systems",
            caption="Paired over questions: 95 % bootstrap interval, p of a permutation test, p after Holm's "
            "correction over the pairs of systems, the least difference that so many questions show with 80 % power.",
            head=("metric", "first", "second", "difference", "low", "high", "p", "p, Holm", "n", "detectable"),
            rows=tuple((titles[d.metric], d.first, d.second, *_numbers(d)) for d in self.differences),
        )

    def _by_bins(self, name: str, scores: _ByGroup) -> Table:
        title, caption = f"By bins of {TITLES.get(name, name)}", f"Scores by bins of equal size of {name}."
        return self._grouped(f"bins-{slug(name)}", "bin", scores, title=title, caption=caption)

    def _by_values(self, name: str, scores: _ByGroup) -> Table:
        caption = f"Scores by the values of {name}."
        return self._grouped(f"by-{slug(name)}", name, scores, title=f"By {name}", caption=caption)

    def _relations(self) -> Table:
        scores = [report.relations for report in self.reports]
        return self._grouped("relations", "relation", scores, title="Per relation", caption="Scores of each relation.")

    def _grouped(self, name: str, kind: str, scores: _ByGroup, *, title: str, caption: str) -> Table:
        """A row a group of each system; `kind` is what a group is called."""
        return Table(
            name=name,
            title=title,
            caption=caption,
            head=("system", kind, "n", *_TITLES),
            rows=tuple(
                (system, line.name, line.n, *(line.estimates[key].value for key in _GROUPED))
                for system, groups in zip(self.names, scores, strict=True)
                for line in lines_of(groups)
            ),
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

    def _lambdas(self) -> Table:
        return Table(
            name="lambdas",
            title="Informativeness against lambda",
            caption="The paper's, over all answers, where wrong ones and IDK count 0; ours over those that match.",
            head=("system", "lambda", "informativeness", "informativeness, matched"),
            rows=tuple(
                (name, point.lambda_, point.informativeness, point.informativeness_matched)
                for name, points in zip(self.names, self.lambdas, strict=True)
                for point in points
            ),
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
            caption=f"What matching by token-F1 (above the threshold) says at each threshold.{self.f1_warning}",
            head=("system", "tau", *_TITLES),
            rows=tuple(
                (name, point.tau, point.standard, point.granola, point.informativeness)
                for name, points in zip(self.names, self.sweeps, strict=True)
                for point in points
            ),
        )


def slug(name: str) -> str:
    """A name as part of a file's name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def _values(report: ScoreReport, estimates: Mapping[str, Estimate]) -> list[float]:
    return [estimates[metric.name].value for metric in report.metrics]


def _numbers(d: Difference) -> tuple[Value, ...]:
    return (d.difference, d.interval.low, d.interval.high, d.p, d.adjusted, d.n, d.detectable)


def _interval(e: Estimate) -> tuple[Value, ...]:
    return (e.value, e.interval.low, e.interval.high, e.n)
