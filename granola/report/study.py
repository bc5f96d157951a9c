"""The content of a report on several systems: the numbers of its figures, each also as a table, and further tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from abstraction.base.properties import titled
from abstraction.files.rows import TieredRow
from granola.matching import squad
from granola.report.charts import Panel, draw_panels
from granola.report.score_tables import Table, Value, distribution_columns
from granola.scoring.aggregation import GroupScore, names_of
from granola.scoring.grouping import TITLES
from granola.scoring.metrics import informativeness_weight
from granola.scoring.predictions import PredictionFile
from granola.scoring.scores import ScoreReport
from granola.scoring.statistics import Estimate, Interval
from granola.scoring.sweeps import LAMBDAS, ItemF1, item_f1, risk_coverage
from granola.scoring.system_comparison import Difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXAMPLES = 8  # rows of the table for each system


def coarse_answers(
    rows: Sequence[TieredRow],
    reports: Sequence[ScoreReport],
    files: Sequence[PredictionFile],
    score: str | None = None,
) -> Table:
    """Answers that match a coarser level than the gold answer, in the form of the paper's Table 9.

    Chosen are those with the lowest token-F1 with the gold answer and the highest with the matched tier, in ascending
    order of the score `score` in the predictions (the paper takes BLEURT), or of the F1 with the gold answer where
    none is named. Many answers often have the same pair of F1; of those, the ones with the least score are chosen.
    """
    lines: list[tuple[Value, ...]] = []
    for report, file in zip(reports, files, strict=True):
        best: list[tuple[float, float, tuple[Any, ...]]] = []
        for row, item in zip(rows, report.items, strict=True):
            level = (item.verdict.level if item.verdict else None) or 0
            if item.verdict is None or level < 2:
                continue
            text, names = item.prediction or "", names_of(row, report.signature.standard)
            gold, tier = squad.best_f1(text, names[0]), squad.best_f1(text, names[level - 1])
            value = file.predictions[item.id].scores.get(score, math.nan) if score else math.nan
            states = item.verdict.compared.tier if item.verdict.compared else ""
            line = (report.system, row.question, row.answers[0], text, states, level, value, gold, tier)
            # Lowest F1 with the gold answer and highest with the tier first; NaN scores last.
            best.append((gold - tier, math.inf if math.isnan(value) else value, line))
        chosen = [line for _, _, line in nsmallest(EXAMPLES, best, key=lambda one: one[:2])]
        chosen.sort(key=lambda line: (math.isnan(line[6]), line[6], line[7]))
        lines += chosen
    caption = f"Up to {EXAMPLES} a system: low token-F1 with the gold answer, high with the tier (as Table 9)."
    return Table(
        name="coarse-answers",
        title="Wrong by the standard, right at a coarser level",
        caption=f"{caption} Ordered by {score}, least first." if score else f"{caption} Ordered by the first.",
        head=("system", "question", "gold answer", "candidate", "matched tier", "level", score or "score", "F1, gold",
              "F1, tier"),
        rows=tuple(lines),
    )  # fmt: skip


_BOTH = {
    "selective_accuracy": "selective GRANOLA accuracy",
    "selective_standard_accuracy": "selective standard accuracy",
}
SHORT_ANSWER = 10  # words; NQ-open takes questions whose answers have at most 5
DRAWN_LEVELS = 6  # levels in the figure of weights
_ByGroup = Sequence[Mapping[str, GroupScore]]


@dataclass(frozen=True, kw_only=True, slots=True)
class PanelFigure:
    """A figure of estimates by slice or along a number; `name` is that of its files, `is_shown`: also shown as a
    table.

    `lines` contain the points of each panel, by its score and by label.
    """

    name: str
    title: str
    caption: str
    across: str
    lines: Mapping[str, Mapping[str, Sequence[tuple[float | str, Estimate]]]]
    is_shown: bool = False

    def draw(self, _: Study, figure: Figure) -> bool:
        """Draw a panel for each score."""
        panels = [Panel(name=score, across=self.across, score=score, lines=own) for score, own in self.lines.items()]
        draw_panels(figure, panels)
        return True

    def table(self) -> Table:
        """All points as a table, including slices that are left out of the figure for lack of room."""
        rows = [
            (line, score, place, one.value, one.interval.low, one.interval.high, one.n)
            for score, lines in self.lines.items() for line, points in lines.items() for place, one in points
        ]  # fmt: skip
        head = ("line", "score", self.across, "value", "low", "high", "n")
        return Table(name=self.name, title=self.title, caption=self.caption, head=head, rows=tuple(rows))


@dataclass(frozen=True)
class Study:
    """Systems scored on one tiered file, and further results on them; all sequences in the order of the systems.

    `popularity` and `groups` contain by field the scores of each system by bin or value. `coloured` names the score in
    the predictions that colours points. `evidence` contains by id the rows with their evidence, for the questions on
    the page.
    """

    rows: Sequence[TieredRow]
    files: Sequence[PredictionFile]
    reports: Sequence[ScoreReport]
    lambda_: float
    differences: Sequence[Difference]
    popularity: Mapping[str, _ByGroup] = field(default_factory=dict)
    groups: Mapping[str, _ByGroup] = field(default_factory=dict)
    coloured: str | None = None
    evidence: Mapping[str, TieredRow] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The systems' names."""
        return [report.system for report in self.reports]

    def matched(self, index: int) -> dict[str, int | None]:
        """The matched level of each scored item of a system, by id; None for no match."""
        items = self.reports[index].items
        outcomes = zip(items.ids, items.outcomes(), strict=True)
        return {id_: outcome.level for id_, outcome in outcomes if outcome is not None}

    @cached_property
    def f1(self) -> list[list[ItemF1]]:
        """Token-F1 of every scored prediction with each level."""
        standard = self.reports[0].signature.standard
        return [item_f1(self.rows, file.predictions, standard) for file in self.files]

    @cached_property
    def f1_warning(self) -> str:
        """A warning about token-F1 where answers are longer than the names that they are compared with."""
        words = sorted(len(p.text.split()) for file in self.files for p in file.predictions.values())
        # The median: a few long answers do not matter.
        median = words[len(words) // 2] if words else 0
        if median <= SHORT_ANSWER:
            return ""
        return (
            f" Read with care: half of the predictions have {median} words or more, and token-F1 falls with every "
            "word that is not in the answer."
        )

    @cached_property
    def figures(self) -> list[PanelFigure]:
        """The figures of panels that have a number, in the order of the page."""
        relations = self._accuracy_figure(
            "relations", "Per relation",
            "Both accuracies of each relation, with 95 % intervals; of the relations with most questions where not all "
            "have room (as Figure 10).",
            [report.relations for report in self.reports], "relation",
        )  # fmt: skip
        return [
            figure
            for figure in (*self._figures_by_group(), self._weights_figure(), relations, self._risk_coverage_figure())
            if any(
                not math.isnan(one.value)
                for lines in figure.lines.values() for line in lines.values() for _, one in line
            )
        ]  # fmt: skip

    def tables(self) -> list[Table]:
        """All tables with rows, in the order of the page."""
        figures = [figure.table() for figure in self.figures]
        coarse = coarse_answers(self.rows, self.reports, self.files, self.coloured)
        tables = self._scores_table(), self._differences_table(), *figures, self._distribution_table(), coarse
        return [table for table in tables if table.rows]

    def _figures_by_group(self) -> Iterator[PanelFigure]:
        for number, (name, scores) in enumerate(self.popularity.items()):
            title = TITLES.get(name, "popularity" if number == 0 else name)
            without = next((by_bin["none"].n for by_bin in scores if "none" in by_bin), 0)
            left = f" {without:,} questions have no such number." if without else ""
            yield self._accuracy_figure(
                "popularity" if number == 0 else f"popularity-{file_name_part(name)}", f"Accuracy against {title}",
                f"Bins of equal size of {name}, with 95 % intervals (as Figures 6 and 11).{left}", scores,
                f"bin of {name}",
            )  # fmt: skip
        for name, scores in self.groups.items():
            yield self._accuracy_figure(
                f"by-{file_name_part(name)}", f"By {name}", f"Scores by the values of {name}.", scores, name
            )

    def _accuracy_figure(self, name: str, title: str, caption: str, scores: _ByGroup, across: str) -> PanelFigure:
        """A figure with a panel for each selective accuracy, with the values of every system by group."""
        panels = {
            words: {
                system: [(titled(group), one.estimates[key]) for group, one in groups.items()]
                for system, groups in zip(self.names, scores, strict=True)
            }
            for key, words in _BOTH.items()
        }
        return PanelFigure(name=name, title=title, caption=caption, across=across, lines=panels, is_shown=True)

    def _weights_figure(self) -> PanelFigure:
        deepest = max((len(row.levels) for row in self.rows), default=1)
        lines = {
            f"level {level}": [(at, _without_interval(informativeness_weight(level, at))) for at in LAMBDAS]
            for level in range(1, min(deepest, DRAWN_LEVELS) + 1)
        }
        return PanelFigure(
            name="weights",
            title="Weights of the levels",
            caption=f"exp(-lambda (level - 1)) against lambda (as Figure 9); the scores here take {self.lambda_:g}.",
            across="lambda",
            lines={"weight": lines},
        )

    def _risk_coverage_figure(self) -> PanelFigure:
        lines = {
            f"{report.system} ({curve.area:.2f})": [
                (x, _without_interval(y, round(x * curve.n))) for x, y in curve.points
            ]
            for report, file in zip(self.reports, self.files, strict=True)
            if (curve := risk_coverage(report, file.predictions)) is not None
        }
        return PanelFigure(
            name="risk-coverage",
            title="Risk and coverage",
            caption="The share of wrong answers among the surest ones; in brackets its mean over the curve. "
            "Abstentions and answers without a confidence are never covered: a curve that ends early is the mean of "
            "few answers.",
            across="coverage: share of the questions answered, surest first",
            lines={"risk: share wrong": lines},
        )

    def _scores_table(self) -> Table:
        rows: list[tuple[Value, ...]] = []
        for average in ("micro", "macro"):
            for r in self.reports:
                estimates = r.overall.estimates if average == "micro" else r.macro
                for metric in r.metrics if estimates else ():
                    one = estimates[metric.name]
                    ends = one.interval.low, one.interval.high
                    rows.append((r.system, metric.title, average, one.value, *ends, one.n))
        return Table(
            name="scores",
            title="Scores with their intervals",
            caption="Every metric with its 95 % bootstrap interval over questions: over all questions (micro), and the "
            "mean over relations (macro), whose n counts relations.",
            head=("system", "metric", "average", "value", "low", "high", "n"),
            rows=tuple(rows),
        )

    def _differences_table(self) -> Table:
        titles = {metric.name: metric.title for metric in self.reports[0].metrics}
        return Table(
            name="differences",
            title="Differences between systems",
            caption="Paired over questions: 95 % bootstrap interval, p of a permutation test, p after Holm's "
            "correction over the pairs of systems, the least difference that so many questions show with 80 % power.",
            head=("metric", "first", "second", "difference", "low", "high", "p", "p, Holm", "n", "detectable"),
            rows=tuple(
                (titles[d.metric], d.first, d.second, d.difference, d.interval.low, d.interval.high, d.p, d.adjusted,
                 d.n, d.detectable)
                for d in self.differences
            ),
        )  # fmt: skip

    def _distribution_table(self) -> Table:
        columns = distribution_columns(self.reports)
        return Table(
            name="distribution",
            title="Where the answers stand",
            caption="Answers by the finest level that they state (1 is the gold answer), wrong, or abstained.",
            head=("system", *(f"level {c}" if c.isdigit() else c for c in columns)),
            rows=tuple((r.system, *(r.overall.distribution.get(c, 0) for c in columns)) for r in self.reports),
        )


def file_name_part(name: str) -> str:
    """A name as part of a file's name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def _without_interval(value: float, n: int = 0) -> Estimate:
    """A value without an interval."""
    return Estimate(value=value, interval=Interval(low=math.nan, high=math.nan), n=n)
