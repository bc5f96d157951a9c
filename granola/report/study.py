"""A report on several systems: its tables, its figures, the page with them inside, and all of these as files.

Systems differ in marks, dashes and hatches as well as in colour. Numbers of figures and tables are those of Yona et
al. 2024. Each `draw_...` draws into an empty figure; it returns False where the study has no numbers for it.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import nsmallest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from abstraction.base.properties import id_with_label
from abstraction.files.rows import TieredRow
from granola.matching import squad
from granola.report.charts import (
    LEVELS,
    SHOWN_SYSTEMS,
    WIDTH,
    Panel,
    add_legend,
    check_matplotlib,
    draw_panels,
    figure_bytes,
    names_shortened_in_middle,
    new_figure,
    set_share_axes,
    shortened_at_end,
    system_style,
)
from granola.report.score_page import DrawnFigure, render
from granola.report.score_tables import Table, Value, distribution_columns
from granola.scoring.grouping import TITLES, Grouping
from granola.scoring.metrics import GroupScore, informativeness_weight, names_of
from granola.scoring.predictions import PredictionFile
from granola.scoring.scores import ScoreReport
from granola.scoring.statistics import Estimate, Interval
from granola.scoring.system_comparison import LAMBDAS, Difference, level_f1_of_items, risk_coverage
from kg.base.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAGE, FIGURES, TABLES = "report.html", "figures", "tables"
_LONG = 40  # rows of a table that the page shows; the file has all
EXAMPLES = 8  # rows of the table of coarse answers for each system
_BOTH = {
    "selective_accuracy": "selective GRANOLA accuracy",
    "selective_standard_accuracy": "selective standard accuracy",
}
SHORT_ANSWER = 10  # words: a greater median gives a warning; NQ-open takes questions whose answers have at most 5
DRAWN_LEVELS = 6  # levels in the figure of weights
_ByGroup = Sequence[Mapping[str, GroupScore]]


def coarse_answers_table(
    rows: Sequence[TieredRow], reports: Sequence[ScoreReport], files: Sequence[PredictionFile], score: str | None = None
) -> Table:
    """Answers that match a coarser level than the gold answer, in the form of the paper's Table 9.

    Those with the lowest token-F1 with the gold answer and the highest with the matched tier are chosen; among equal
    ones, those with the least score. They are sorted, in ascending order, by `score`, a score in the predictions (the
    paper takes BLEURT), or by the F1 with the gold answer where `score` is None.
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

    `groups`: for each grouping, the scores of each system by bin or value. `coloured`: the score in the predictions
    that colours points. `evidence`: the rows with their evidence, by id, for the questions on the page.
    """

    rows: Sequence[TieredRow]
    files: Sequence[PredictionFile]
    reports: Sequence[ScoreReport]
    lambda_: float
    differences: Sequence[Difference]
    groups: Mapping[Grouping, _ByGroup] = field(default_factory=dict)
    coloured: str | None = None
    evidence: Mapping[str, TieredRow] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The systems' names."""
        return [report.system for report in self.reports]

    @cached_property
    def f1_warning(self) -> str:
        """A warning about token-F1 where answers are longer than the names that they are compared with."""
        words = sorted(len(p.text.split()) for file in self.files for p in file.predictions.values())
        # The median, unlike the mean, does not change with a few long answers.
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
        coarse = coarse_answers_table(self.rows, self.reports, self.files, self.coloured)
        tables = self._scores_table(), self._differences_table(), *figures, self._distribution_table(), coarse
        return [table for table in tables if table.rows]

    def _figures_by_group(self) -> Iterator[PanelFigure]:
        in_bins = [(grouping.field, scores) for grouping, scores in self.groups.items() if grouping.bins is not None]
        for number, (name, scores) in enumerate(in_bins):
            title = TITLES.get(name, "popularity" if number == 0 else name)
            without = next((by_bin["none"].n for by_bin in scores if "none" in by_bin), 0)
            left = f" {without:,} questions have no such number." if without else ""
            yield self._accuracy_figure(
                "popularity" if number == 0 else f"popularity-{file_name_part(name)}", f"Accuracy against {title}",
                f"Bins of equal size of {name}, with 95 % intervals (as Figures 6 and 11).{left}", scores,
                f"bin of {name}",
            )  # fmt: skip
        for grouping, scores in self.groups.items():
            if grouping.bins is None:
                name, caption = f"by-{file_name_part(grouping.field)}", f"Scores by the values of {grouping.field}."
                yield self._accuracy_figure(name, f"By {grouping.field}", caption, scores, grouping.field)

    def _accuracy_figure(self, name: str, title: str, caption: str, scores: _ByGroup, across: str) -> PanelFigure:
        """A figure with a panel for each selective accuracy, with the values of every system by group."""
        panels = {
            words: {
                system: [(id_with_label(group), one.estimates[key]) for group, one in groups.items()]
                for system, groups in zip(self.names, scores, strict=True)
            }
            for key, words in _BOTH.items()
        }
        return PanelFigure(name=name, title=title, caption=caption, across=across, lines=panels, is_shown=True)

    def _weights_figure(self) -> PanelFigure:
        deepest = max((len(row.levels) for row in self.rows), default=1)
        lines = {
            f"level {level}": [(at, _estimate_without_interval(informativeness_weight(level, at))) for at in LAMBDAS]
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
                (x, _estimate_without_interval(y, round(x * curve.n))) for x, y in curve.points
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
    """A name in lower case with "-" for all but letters and digits, for use in a file name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def _estimate_without_interval(value: float, n: int = 0) -> Estimate:
    """An estimate whose interval is NaN."""
    return Estimate(value=value, interval=Interval(low=math.nan, high=math.nan), n=n)


def draw_figures(study: Study) -> list[DrawnFigure]:
    """Every figure that the study has numbers for, in the order of the page. Raises UsageError without matplotlib."""
    check_matplotlib()
    import matplotlib

    plans: tuple[_FigureWithOwnDrawing | PanelFigure, ...] = (*_OWN, *study.figures)
    drawn = []
    for plan in plans:
        with new_figure() as figure:
            if not plan.draw(study, figure):
                continue
            svg, png = figure_bytes(figure), figure_bytes(figure, "png")
            # Letters as text take a third of the room of outlines.
            with matplotlib.rc_context({"svg.fonttype": "none"}):
                address = f"data:image/svg+xml;base64,{base64.b64encode(figure_bytes(figure)).decode()}"
        caption = plan.caption + (study.f1_warning if plan.name == "f1" else "")
        drawn.append(DrawnFigure(name=plan.name, title=plan.title, caption=caption, svg=svg, png=png, address=address))
    return drawn


def draw_gap(study: Study, figure: Figure) -> bool:
    """A mark for each system: standard accuracy on x, GRANOLA accuracy on y, with intervals and lines of equal gaps."""
    figure.set_size_inches(WIDTH, WIDTH)
    axes = _draw_marks(study, figure, "selective_standard_accuracy")
    if not axes.lines:
        return False
    # Lines of equal gap: 0, 5 and 20 points, as in Figure 5 of the paper.
    for points, colour, dash in ((0, "#000000", "-"), (5, "#777777", ":"), (20, "#c03030", ":")):
        axes.plot([0, 1 - points / 100], [points / 100, 1], linewidth=0.9, zorder=0, color=colour, linestyle=dash)
        if points:
            axes.annotate(
                f"+{points}", (0.02, 0.02 + points / 100), xytext=(0, 3), textcoords="offset points", fontsize=8,
                ha="left", color=colour,
            )  # fmt: skip
    set_share_axes(axes, x=True, y=True)
    axes.set_aspect("equal")
    add_legend(figure)
    return True


def draw_tradeoff(study: Study, figure: Figure) -> bool:
    """Selective GRANOLA accuracy against informativeness over all answers, with intervals."""
    axes = _draw_marks(study, figure, "informativeness")
    if not axes.lines:
        return False
    axes.margins(0.15)
    set_share_axes(axes, x=True, y=True, shown=None)
    add_legend(figure)
    return True


def _draw_marks(study: Study, figure: Figure, x_score: str) -> Axes:
    """Axes with a mark for each system at the score `x_score` and its GRANOLA accuracy, with both intervals."""
    axes = figure.add_subplot()
    axes.set_xlabel(_BOTH.get(x_score, x_score))
    axes.set_ylabel(_BOTH["selective_accuracy"])
    for index, report in enumerate(study.reports):
        x, y = report.overall.estimates[x_score], report.overall.estimates["selective_accuracy"]
        if math.isnan(x.value) or math.isnan(y.value):
            continue
        axes.hlines(y.value, x.interval.low, x.interval.high, color="#bbbbbb", linewidth=2, zorder=1)
        axes.vlines(x.value, y.interval.low, y.interval.high, color="#bbbbbb", linewidth=2, zorder=1)
        axes.plot(
            x.value, y.value, linestyle="none", label=names_shortened_in_middle(study.names)[index], zorder=3,
            **system_style(index),
        )  # fmt: skip
    return axes


def draw_distribution(study: Study, figure: Figure) -> bool:
    """Shares of the levels, of wrong answers and of abstentions, stacked."""
    figure.set_size_inches(WIDTH, 1.4 + 0.36 * len(study.names))
    axes = figure.add_subplot()
    left = [0.0] * len(study.names)
    for column in distribution_columns(study.reports):
        shares = [r.overall.distribution.get(column, 0) / max(1, r.questions) for r in study.reports]
        if not any(shares):
            continue
        level = int(column) if column.isdigit() else 0
        face = LEVELS[min(level, len(LEVELS)) - 1] if level else "white"
        hatch = {"wrong": "////", "idk": "--", "unscored": ""}.get(column)
        name = f"level {column}" if level else {"idk": "IDK"}.get(column, column)
        axes.barh(
            range(len(study.names)), shares, left=left, color=face, hatch=hatch, edgecolor="#333333", linewidth=0.6,
            label=name, height=0.62,
        )  # fmt: skip
        for place, part in enumerate(shares):
            # A narrower bar has no room for its number.
            if part > 0.07:
                axes.text(
                    left[place] + part / 2, place, f"{100 * part:.0f}", ha="center", va="center", fontsize=8,
                    color="white" if 0 < level < 3 else "#06231c" if level else "black",
                    bbox=None if level else {"facecolor": "white", "edgecolor": "none", "pad": 1},
                )  # fmt: skip
            left[place] += part
    axes.set_yticks(range(len(study.names)), names_shortened_in_middle(study.names))
    # The first system is on top.
    axes.set_ylim(len(study.names) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the questions; figures in per cent")
    axes.grid(visible=False)
    add_legend(figure)
    return True


def draw_f1(study: Study, figure: Figure) -> bool:
    """Token-F1 with the gold answer against that with the matched tier (the closest if none), coloured by a score."""
    import matplotlib

    panels = [
        (name, points) for index, name in enumerate(study.names[:SHOWN_SYSTEMS]) if (points := _f1_points(study, index))
    ]
    if not panels:
        return False
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    figure.set_size_inches(WIDTH, 0.9 + 2.3 * down if across == 2 else 3.6)
    means = [mean for _, points in panels for _, mean in points.values()]
    # One colour scale for all panels; of a single value a scale of width 1.
    scale = matplotlib.colors.Normalize(min(means), max(means) if max(means) > min(means) else min(means) + 1)
    most = max(n for _, points in panels for n, _ in points.values())
    axes_list: list[Axes] = []
    for number, (name, points) in enumerate(panels, start=1):
        axes = figure.add_subplot(down, across, number)
        axes.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=0.8, zorder=0)
        drawn = axes.scatter(  # the area of a point grows with its number of answers; the diagonal means equal F1
            [x for x, _ in points], [y for _, y in points],
            s=[12 + 240 * math.sqrt(n / most) for n, _ in points.values()],
            c=[mean for _, mean in points.values()], cmap="viridis", norm=scale, edgecolors="#333333", linewidths=0.4,
            clip_on=False, zorder=3,
        )  # fmt: skip
        set_share_axes(axes, x=True, y=True, margin=0.06)
        axes.set_title(name, fontsize=9)
        lowest, leftmost = number + across > len(panels), number % across == 1 or across == 1
        axes.tick_params(labelbottom=lowest, labelleft=leftmost)
        axes.set_xlabel("F1, gold answer" if lowest else "")
        axes.set_ylabel("F1, matched tier" if leftmost else "")
        axes_list.append(axes)
    figure.colorbar(drawn, ax=axes_list, label=shortened_at_end(study.coloured or "informativeness"))
    return True


def _f1_points(study: Study, index: int) -> dict[tuple[float, float], tuple[int, float]]:
    """By pair of F1 (with the gold answer, with the matched tier): the number of answers of a system, and the mean of
    the scores that colour them.
    """
    items, score = study.reports[index].items, study.coloured
    matched = {id_: one.level for id_, one in zip(items.ids, items.outcomes, strict=True) if one is not None}
    # Without a score in the predictions, points are coloured by informativeness.
    colour = (
        {id_: informativeness_weight(level, study.lambda_) if level else 0.0 for id_, level in matched.items()}
        if score is None
        else {id_: p.scores[score] for id_, p in study.files[index].predictions.items() if score in p.scores}
    )
    colours: dict[tuple[float, float], list[float]] = {}
    standard = study.reports[0].signature.standard
    for item in level_f1_of_items(study.rows, study.files[index].predictions, standard):
        if not item.abstained and item.id in colour and item.id in matched:
            # To two decimals, so that equal pairs form one larger point.
            level = matched[item.id]  # without a matched level, the best F1 with any level
            place = (round(item.levels[0], 2), round(item.levels[level - 1] if level else max(item.levels), 2))
            colours.setdefault(place, []).append(colour[item.id])
    return {place: (len(own), sum(own) / len(own)) for place, own in colours.items()}


class _FigureWithOwnDrawing(NamedTuple):
    """A figure that a function of its own draws, unlike `PanelFigure`, which draws panels of slices."""

    name: str
    title: str
    caption: str
    draw: Callable[[Study, Figure], bool]


_OWN = (
    _FigureWithOwnDrawing(
        "gap", "Standard and GRANOLA accuracy",
        "Each mark is a system, over the questions that it answers. How far it lies above the full line, where both "
        "accuracies are equal, is the knowledge evaluation gap. Dotted lines are gaps of 5 and 20 points, bars 95 % "
        "intervals (as Figure 5).", draw_gap,
    ),
    _FigureWithOwnDrawing(
        "tradeoff", "Accuracy against informativeness",
        "Accuracy over the questions that are answered, informativeness over all, where wrong answers and IDK count 0; "
        "bars are 95 % intervals (as Figure 7).", draw_tradeoff,
    ),
    _FigureWithOwnDrawing(
        "distribution", "Where the answers stand",
        "The finest level that each answer states, from level 1 on the left; then wrong answers, hatched obliquely, "
        "and IDK, hatched across (as Figure 8).", draw_distribution,
    ),
    _FigureWithOwnDrawing(
        "f1", "Token-F1 with the gold answer and with the matched tier",
        "Where nothing matched, with the closest tier. Larger marks stand for more answers (as Figure 12); of the "
        f"first {SHOWN_SYSTEMS} systems.", draw_f1,
    ),
)  # fmt: skip


def report_files(study: Study, *, csv_raw: bool = False) -> dict[str, bytes]:
    """The files of a report by name: figures/*.svg and *.png, tables/*.csv, and last report.html, which links them.

    Raises UsageError where matplotlib is missing.
    """
    drawn, tables = draw_figures(study), study.tables()
    files: dict[str, bytes] = {}
    for drawing in drawn:
        files |= {f"{FIGURES}/{drawing.name}.svg": drawing.svg, f"{FIGURES}/{drawing.name}.png": drawing.png}
    files |= {f"{TABLES}/{table.name}.csv": table.to_csv(raw=csv_raw).encode() for table in tables}
    # The page names the other tables as files: the figures show their numbers.
    on_page = {"differences", "coarse-answers", *(figure.name for figure in study.figures if figure.is_shown)}
    shown = [
        replace(one, rows=one.rows[:_LONG], caption=f"{one.caption} The first {_LONG} of {len(one.rows):,} rows.")
        if len(one.rows) > _LONG
        else one
        for one in tables
        if one.name in on_page
    ]
    page = render(
        [study.evidence.get(row.id, row) for row in study.rows],
        study.reports,
        title="GRANOLA report",
        figures=drawn,
        tables=shown,
        files_of_tables=[f"{TABLES}/{table.name}.csv" for table in tables if table.name not in on_page],
        made_of={
            report.system: {one.id: one.made_of for one in file.predictions.values() if one.made_of}
            for report, file in zip(study.reports, study.files, strict=True)
        },
    )
    return files | {PAGE: page.encode()}


def write_report(files: Mapping[str, bytes], folder: Path, *, earlier: Collection[str] = ()) -> None:
    """Write the files of a report in order. Of `earlier`, the files of an earlier report, those not written again are
    removed. Raises OSError where a file cannot be written.
    """
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(folder / name) as temporary:
            temporary.write_bytes(content)
    for name in earlier:
        # Only in these two folders, whatever the earlier record lists.
        if name not in files and Path(name).parts[:-1] in ((FIGURES,), (TABLES,)):
            (folder / name).unlink(missing_ok=True)
