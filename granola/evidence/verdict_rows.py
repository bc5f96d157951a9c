"""Rows of verdicts of any task and judge: reading, scores by system, slices along a field, paired tests, pooling.

Tables and figures of the papers are data; estimates fill their columns as text, LaTeX, CSV and JSON.

A judge may favour answers of its own model family (Sorodoc et al. 2025, limitations); pooling several judges, or
people, reduces that bias.
"""

from __future__ import annotations

import copy
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel

from abstraction.base.faults import OnReject, RejectedRow
from abstraction.files.records import Record, read_records
from abstraction.files.row_models import read_each, without_rejected
from granola.base.run_record import record_of
from granola.base.terminal_lines import TextTable
from granola.errors import SampleError, UsageError
from granola.evidence.annotation_sheets import TIERS
from granola.evidence.attribution.attribution_task import ATTRIBUTION
from granola.evidence.attribution.sample_texts import COVERAGE, TEXTS
from granola.evidence.evidence_task import (
    EstimateSettings,
    EvidenceTask,
    Report,
    Row,
    SheetForm,
    SliceValue,
    estimates_by_slice,
    field_value,
    slice_value_or_empty_list,
)
from granola.evidence.grounding.grounding_task import GROUNDING
from granola.evidence.knowledge.knowledge_task import KNOWLEDGE
from granola.report.charts import Panel, csv_text
from granola.scoring.statistics import Estimate, Interval, kappa
from granola.scoring.system_comparison import Difference, paired_difference, with_holm_adjusted_p

PRINTED = "paper: "  # prefix for rows of the paper
NOTHING = "-"
# characters with a meaning in LaTeX that may occur in names of systems
_LATEX = re.compile(r"[&%$#_{}]")
_EMPTY = Estimate(value=math.nan, interval=Interval(low=math.nan, high=math.nan), n=0)


class ItemFigure(BaseModel, frozen=True):
    """A figure with a panel for each field of `x`, with a line for each score of `y`; for one score, for each value of
    `by`.

    `longer_than`: only texts with more tokens (words by blanks) count.
    """

    task: str = ""
    x: tuple[str, ...]
    y: tuple[str, ...]
    by: str = "system"
    longer_than: int = 0


class PaperTable(BaseModel, frozen=True):
    """A table of a paper: the columns with their scores, and the rows of the paper.

    `factor`: the multiplier for display, 100 where the paper prints percentages. `note`: the limits of comparing with
    the paper.
    """

    task: str
    columns: dict[str, str]
    printed: dict[str, tuple[float | None, ...]]
    factor: float
    digits: int
    note: str


class PublishedFigures(BaseModel, frozen=True):
    """Tables and figures of Hu et al. 2025 (CAQA), Sorodoc et al. 2025 (GaRAGe), Chen et al. 2023 (CONNER), by name.

    The column heads for Table 2 of GaRAGe are derived from the text; percentages of CONNER (factuality, validity) are
    stored as shares.
    """

    tables: dict[str, PaperTable]
    figures: dict[str, ItemFigure]


@cache
def published_figures() -> PublishedFigures:
    """The tables and figures of the papers, from `data/papers.json`."""
    return PublishedFigures.model_validate_json((files("granola") / "evidence" / "data" / "papers.json").read_bytes())


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledTable:
    """The table of a paper filled with estimates by system; `printed`: include the rows of the paper."""

    table: PaperTable
    report: Report
    printed: bool = False

    def cells(self, *, intervals: bool) -> list[list[str]]:
        """The displayed rows, name first; the rows of the paper have no intervals."""

        def estimate_cell(estimate: Estimate) -> str:
            # The value is NaN where no item has the score.
            if math.isnan(estimate.value):
                return NOTHING
            value, low, high = (
                f"{one * self.table.factor:.{self.table.digits}f}"
                for one in (estimate.value, estimate.interval.low, estimate.interval.high)
            )
            return f"{value} [{low}, {high}]" if intervals else value

        own = [
            [name, *(estimate_cell(scores.get(score, _EMPTY)) for score in self.table.columns.values())]
            for name, scores in self.report.items()
        ]
        return own + [
            [f"{PRINTED}{name}", *(NOTHING if one is None else f"{one:.{self.table.digits}f}" for one in values)]
            for name, values in (self.table.printed.items() if self.printed else ())
        ]

    def text(self) -> TextTable:
        """The table for a terminal, with intervals."""
        return TextTable(head=("", *self.table.columns), rows=self.cells(intervals=True))

    def latex(self) -> str:
        """A LaTeX tabular with booktabs rules."""

        def latex_line(cells: Sequence[str]) -> str:
            return " & ".join(_LATEX.sub(lambda sign: f"\\{sign[0]}", cell) for cell in cells) + r" \\"

        lines = [f"\\begin{{tabular}}{{l{'r' * len(self.table.columns)}}}", "\\toprule"]
        lines += [latex_line(["", *self.table.columns]), "\\midrule", *map(latex_line, self.cells(intervals=False))]
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])

    def csv(self) -> str:
        """CSV with a header."""
        return csv_text([["system", *self.table.columns], *self.cells(intervals=False)], raw=True)

    def to_json(self) -> dict[str, Any]:
        """JSON with estimates as shares, without `factor`; the rows of the paper as printed."""
        columns = self.table.columns
        return {
            "systems": {
                name: {head: own.get(score, _EMPTY) for head, score in columns.items()}
                for name, own in self.report.items()
            },
            "printed": {name: dict(zip(columns, own, strict=True)) for name, own in self.table.printed.items()},
            "factor": self.table.factor,
            "note": self.table.note,
        }


TASKS = (GROUNDING, ATTRIBUTION, KNOWLEDGE)
BY_NAME: dict[str, EvidenceTask] = {task.name: task for task in TASKS}
MADE_BY = ", ".join(task.made_by for task in TASKS)


def task_of(row: Row) -> EvidenceTask | None:
    """The task of a row of verdicts; None for another row."""
    return next((task for task in TASKS if task.distinctive_field in row), None)


def sheet_form(item: Row) -> SheetForm:
    """The sheet for an item: a row of verdicts, an attribution sample, a text with its facts, or a tier."""
    # Tiers and texts have no judge, so they are recognised by their fields.
    if "tier" in item and "before" in item:
        return TIERS
    if COVERAGE.field in item and "facts" in item:
        return TEXTS
    return (task_of(item) or ATTRIBUTION).sheet


def read_verdict(record: Record) -> dict[str, Any]:
    """The row of verdicts of any task, unchanged, after validation. Raises SampleError, RowError."""
    task = task_of(record.data)
    if task is None or not isinstance(record.data.get("id"), str):
        raise SampleError(f"no verdict of {MADE_BY}")
    task.row.of(record)
    return dict(record.data)


SYSTEM = "system"  # default grouping of rows; in attribution the systems are evaluators
_TITLES = {
    "popularity": "log10 of page views", "sentences": "sentences of a text", "size": "parameters, billions",
    "settings.pieces": "pieces of evidence a sentence",
}  # fmt: skip


def read_verdicts(paths: Sequence[Path], *, on_reject: OnReject) -> list[dict[str, Any]]:
    """The rows of all files, each with `file` and the `settings` that produced the file.

    Damaged rows and rows of no task are rejected. Raises UsageError where no row is left, and for a file given twice.
    """
    # Counted twice, the items would be a second judge's, and intervals too narrow.
    if twice := [str(path) for path, times in Counter(path.resolve() for path in paths).items() if times > 1]:
        raise UsageError(f"{', '.join(twice)}: the same file is given twice")
    rows: list[dict[str, Any]] = []
    rejected: list[RejectedRow] = []
    for path in paths:
        more = {"file": path.stem, "settings": record_of(path).get("arguments", {})}
        rows += [
            {**row, **more} for row in without_rejected(read_each(read_records(path), read_verdict), rejected.append)
        ]
    if not rows:
        why = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
        raise UsageError(f"{', '.join(map(str, paths))}: no row{why}")
    # Reported only if other rows are usable: otherwise the error names the first one.
    for row in rejected:
        on_reject(row)
    return rows


@dataclass(frozen=True, kw_only=True)
class VerdictRows:
    """Rows of one task, with the settings of scores."""

    rows: Sequence[Row]
    task: EvidenceTask
    settings: EstimateSettings

    @classmethod
    def of(cls, rows: Sequence[Row], settings: EstimateSettings) -> VerdictRows:
        """Detect the task of rows. Raises UsageError for rows of two tasks."""
        tasks = {task.name: task for row in rows if (task := task_of(row)) is not None}
        if len(tasks) != 1:
            raise UsageError(f"these rows are of {' and '.join(tasks) or 'no task'}; give files of one task")
        return cls(rows=rows, task=next(iter(tasks.values())), settings=settings)

    def group_of_each_row(self, by: str = SYSTEM) -> list[str]:
        """The name of the group of each row, in order: its system or evaluator, or its value of the field `by`.

        Rows of a system from several files form one group; if they share an item, each file is a group of its own, as
        two judges.
        """
        name = self.task.line
        files: dict[tuple[Any, ...], set[str]] = {}
        for row in self.rows:
            key = (str(row.get(name) or ""), row.get("id"), row.get("candidate"))
            files.setdefault(key, set()).add(str(row.get("file")))
        # The same item in two files: two judges or two runs, whose rows must not be mixed.
        apart = {system for (system, *_), own in files.items() if len(own) > 1}
        lines = []
        for row in self.rows:
            system, file = str(row.get(name) or ""), str(row.get("file") or "")
            line: Any = f"{file} {system}".strip() if system in apart else system
            if by not in (SYSTEM, name):
                line = field_value(row, by)
                if isinstance(line, bool):
                    line = f"{'with' if line else 'without'} {by.rpartition('.')[2]}"
            lines.append(str(line or file))
        return lines

    def rows_by_system(self) -> dict[str, list[Row]]:
        """The rows by system or evaluator."""
        groups: dict[str, list[Row]] = {}
        for line, row in zip(self.group_of_each_row(), self.rows, strict=True):
            groups.setdefault(line, []).append(row)
        return groups

    def scores_by_system(self) -> Report:
        """The scores of the task for each system or evaluator."""
        return {name: self.task.scores(own, self.settings) for name, own in self.rows_by_system().items()}

    def value(self, row: Row, score: str) -> float | None:
        """The contribution of a row to a score of the task, or the number in a field of that name; None if missing."""
        value = self.task.value(row, score, self.settings)
        found = field_value(row, score) if value is None else value
        return float(found) if isinstance(found, int | float) and not math.isnan(found) else None

    def paired_tests(self, score: str) -> list[Difference]:
        """Paired tests of all pairs of systems on a score that is a mean over items, with Holm's correction.

        Tests are paired over items with both values.
        """
        systems: dict[str, dict[tuple[Any, ...], float]] = {}
        for name, own in self.rows_by_system().items():
            values = {(row.get("id"), row.get("candidate", 0)): self.value(row, score) for row in own}
            # A test with a system without any value would be empty.
            if counting := {key: value for key, value in values.items() if value is not None}:
                systems[name] = counting
        return with_holm_adjusted_p(
            [
                paired_difference(
                    [(value, others[key]) for key, value in own.items() if key in others], metric=score,
                    first=first, second=second, resamples=self.settings.resamples, seed=self.settings.seed,
                )
                for (first, own), (second, others) in combinations(systems.items(), 2)
            ]
        )  # fmt: skip

    def judges_by_system(self) -> dict[str, list[str]]:
        """The names of the judges of each system; empty where its rows name none."""
        judge, lines = self.task.judge, self.rows_by_system()
        return {line: sorted({str(row[judge]) for row in own if row.get(judge)}) for line, own in lines.items()}

    def missing_verdict_counts(self) -> dict[str, dict[str, int]]:
        """By system and kind of verdict, the number of rows that lack this verdict though it was requested."""
        return {
            line: dict(Counter(name for row in own for name in row.get("unjudged") or ()))
            for line, own in self.rows_by_system().items()
        }

    def signature(self, fields: Iterable[str] = ()) -> str:
        """The settings of scores, the bands along `fields`, and the judges."""
        names = sorted({judge for judges in self.judges_by_system().values() for judge in judges})
        return "|".join([self.task.signature(self.settings, fields), *(f"judge:[{judge}]" for judge in names)])

    def panels(self, plan: ItemFigure) -> list[Panel]:
        """A panel of slices for each field; items without the field or the score are omitted.

        Raises UsageError where all are.
        """
        panels = []
        for field in plan.x:
            sliced_field = self.task.sliced_field(field, plan.y[0])
            lines = self._slices_by_line(sliced_field, plan)
            if not lines:
                continue
            has_names = any(isinstance(place, str) for line in lines.values() for place, _ in line)
            ends = [end for line in lines.values() for _, one in line for end in (one.interval.low, one.interval.high)]
            score = plan.y[0] if len(plan.y) == 1 else "score"
            panels.append(
                Panel(
                    name=sliced_field,
                    across=sliced_field.replace("_", " ") if has_names else _TITLES.get(sliced_field, sliced_field),
                    score=f"{score} of a sentence" if sliced_field == "sentences" else score,
                    lines=lines,
                    # Only shares are drawn on an axis from 0 to 1; `end == end` excludes NaN.
                    is_share=all(0 <= end <= 1 for end in ends if end == end),
                    is_logarithmic=sliced_field == "size",
                )
            )
        if panels:
            return panels
        fields = dict.fromkeys(
            name for row in self.rows for name in (*row, *row.get("tags", ()), *row.get("scores", ()))
        )
        more = f"; {self.task.lacking}" if self.task.lacking else ""
        raise UsageError(
            f"nothing to show: no item has a number as {' or '.join(plan.y)} and a place along {' or '.join(plan.x)}; "
            f"the fields are {', '.join(fields)}{more}"
        )

    def _slices_by_line(self, sliced_field: str, plan: ItemFigure) -> dict[str, list[tuple[SliceValue, Estimate]]]:
        labels = self.group_of_each_row(plan.by)
        several = sliced_field != "size" and len(set(labels)) > 1  # along the size of models a line joins the systems
        values: dict[str, list[tuple[SliceValue, float]]] = {}
        for score in plan.y:
            for label, row in zip(labels, self.rows, strict=True):
                if sliced_field == "sentences" and len(str(row.get("knowledge") or "").split()) <= plan.longer_than:
                    continue
                line = label if len(plan.y) == 1 else f"{label}, {score}" if several else score
                cells = self.task.cells(row, sliced_field, score, self.settings)
                if cells is None:
                    value = self.value(row, score)
                    at = field_value(row, sliced_field)
                    cells = [] if value is None else [(place, value) for place in slice_value_or_empty_list(at)]
                values.setdefault(line, []).extend(cells)

        def estimate(own: Sequence[float]) -> Estimate:
            return self.task.estimate(own, self.settings)

        return {line: list(estimates_by_slice(own, estimate).items()) for line, own in values.items() if own}


POOLED = "pooled by majority"  # prefix of the judge in pooled rows
# By field: labels against an item, then labels for it, each with the worst first.
LABELS: Mapping[str, Sequence[Sequence[Any]]] = {
    **{question.field: question.labels_against_and_for for task in TASKS for question in task.questions},
    "deflects": ((False,), (True,)),
    "supported": ((False,), (True,)),
}
_LACKING: Mapping[str, str] = {
    question.field: question.lacking or question.field for task in TASKS for question in task.questions
}
VerdictsByPath = dict[tuple[Any, ...], Any]  # verdicts by their key path in a row


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgePool:
    """`rows`: pooled verdicts, as if from one judge. `agreement`: by field of a label.

    `n`, `agree` (the share of unanimous labels, in [0, 1]) and `kappa`, over labels that all judges gave; `kappa` is
    None where chance agreement is 1.
    """

    judges: Sequence[str]
    rows: Sequence[dict[str, Any]]
    agreement: Mapping[str, Mapping[str, float | None]]


def pool_judges(verdicts: VerdictRows) -> JudgePool:
    """Pool verdicts over the items that all judges have judged; a judge is identified by name, else by file.

    Raises UsageError for a single judge, a judge with two verdicts on an item, and judges of different items.
    """
    judges: dict[str, dict[tuple[Any, ...], Row]] = {}
    for row in verdicts.rows:
        judge = str(row.get(verdicts.task.judge) or row.get("file"))
        # A pooled row would count its judges twice.
        if judge.startswith(POOLED):
            raise UsageError(f"{row.get('file')} has pooled verdicts; give the verdicts of single judges")
        key = tuple(row.get(name) for name in ("system", "id", "candidate"))
        # A replay of a judge is the same judge, so its votes must not count twice.
        if key in judges.setdefault(judge, {}):
            raise UsageError(f"{judge} judged {row['id']!r} twice; a judge, with its replays, counts once")
        judges[judge][key] = row
    if len(judges) < 2:
        raise UsageError("all verdicts are of one judge; give verdicts of two or more on the same items")
    first, *others = judges.values()
    rows_by_item = [[rows[key] for rows in judges.values()] for key in first if all(key in rows for rows in others)]
    if not rows_by_item:
        raise UsageError("no item was judged by all; judges are pooled over the same systems and questions")
    rows = [_pool_item(verdicts.task, own, list(judges)) for own in rows_by_item]
    return JudgePool(judges=list(judges), rows=rows, agreement=_agreement_by_question(rows_by_item))


def _labels_and_scores_by_path(row: Row) -> VerdictsByPath:
    """The labels and scores of a row and of its sentences, each by the keys that lead to it."""
    verdicts: VerdictsByPath = {(name,): row[name] for name in LABELS if name in row}
    if verdicts.get(("deflects",)) is not None:  # the row has the name of the rule; pooling needs yes or no
        verdicts["deflects",] = bool(row["deflects"])
    verdicts |= {("scores", name): number for name, number in row.get("scores", {}).items()}
    for at, sentence in enumerate(row.get("sentences") or ()):
        verdicts |= {("sentences", at, name): sentence[name] for name in sentence if name not in ("text", "piece")}
    return verdicts


def _pool_item(task: EvidenceTask, rows: Sequence[Row], judges: Sequence[str]) -> dict[str, Any]:
    """One pooled item: the majority label (the worse on a tie) and the mean of scores."""
    given = [
        [*(row.get(name) for name in task.texts), *map(itemgetter("text"), row.get("sentences") or ())] for row in rows
    ]
    for judge, theirs in zip(judges, given, strict=True):
        # Verdicts on different texts cannot be combined.
        if theirs != given[0]:
            raise UsageError(f"{judges[0]} and {judge} judged different texts or sentences of {rows[0]['id']!r}")
    pooled: dict[str, Any] = copy.deepcopy(dict(rows[0]))
    every, lacking = [_labels_and_scores_by_path(row) for row in rows], dict[str, str]()
    for place in {place: None for own in every for place in own}:
        votes = [own[place] for own in every if own.get(place) is not None]
        if place[-1] in LABELS:
            value = _top_label_of_majority_side(votes, LABELS[place[-1]])
        else:
            value = fmean(votes) if votes else None
        if value is None:
            name = _LACKING.get(place[-1], place[-1])
            reasons = [row["unjudged"][name] for row in rows if name in row.get("unjudged", {})]
            lacking[name] = next(iter(reasons), "no judge reported it")
        elif place == ("deflects",):
            value = next(row["deflects"] for row in rows if row["deflects"]) if value else ""
        parent: Any = pooled
        for key in place[:-1]:
            parent = parent[key]
        parent[place[-1]] = value
    # fields that make sense for a single judge only, so pooled rows lack them
    own = {"unjudged": lacking, "reply": "", "failed": "", "facts": [], "notes": []}
    pooled |= {name: value for name, value in own.items() if name in pooled}
    pooled = {name: value for name, value in pooled.items() if name not in ("unclear", "file", "settings")}
    return pooled | {task.judge: f"{POOLED}: {' '.join(f'[{judge}]' for judge in judges)}"}


def _top_label_of_majority_side(votes: Sequence[Any], sides: Sequence[Sequence[Any]]) -> Any:
    """The most frequent label on the side with more votes; a side is the labels for, or those against. None without
    votes.
    """
    if not votes:
        return None
    counts = Counter(votes)
    side = max(sides, key=lambda labels: sum(counts[label] for label in labels))
    return max(side, key=lambda label: counts[label])


def _agreement_by_question(rows_by_item: Sequence[Sequence[Row]]) -> dict[str, dict[str, float | None]]:
    labels: dict[str, list[tuple[str, ...]]] = {}
    for rows in rows_by_item:
        first, *others = map(_labels_and_scores_by_path, rows)
        for place, label in first.items():
            votes = (label, *(other.get(place) for other in others))
            if place[-1] in LABELS and None not in votes:
                labels.setdefault(_LACKING.get(place[-1], place[-1]), []).append(tuple(map(str, votes)))
    return {
        name: {
            "n": len(own), "agree": fmean(len(set(votes)) == 1 for votes in own),
            "kappa": None if math.isnan(beyond_chance := kappa(own)) else beyond_chance,
        }
        for name, own in labels.items()
    }  # fmt: skip
