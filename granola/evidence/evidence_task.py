"""The definition of an evidence task: items, questions for judges, rows of verdicts, scores.

item -> judge -> verdicts (JSON lines) -> estimates by slice -> table, LaTeX, CSV, figure. All steps after the verdicts
are shared; a task defines the fields of its rows. Tables and figures of the papers are data: `published()`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

from abstraction.files.records import Record
from granola import __version__
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import RESAMPLES

UNCLEAR = "unclear"  # the label of an annotator who cannot decide
Row = Mapping[str, Any]
Report = Mapping[str, Mapping[str, Estimate]]  # estimates by system or evaluator, then by score
Place = float | str  # the value that a slice is for: a number or a name


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedQuestion:
    """A question to a judge about an item, or about each of its sentences.

    `field`: the field of the label in a row. `labels`: the meaning of each; those in favour of an item first, best
    first. `against`: labels that count against the item. `lacking`: the name under which missing verdicts are
    reported.
    """

    field: str
    labels: Mapping[str, str]
    against: Sequence[str] = ()
    of_sentences: bool = False
    lacking: str = ""

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels against an item, then those for it, each with the worst first: on a tie the earlier one wins."""
        worst_first = tuple(self.labels)[::-1]
        return (
            tuple(label for label in worst_first if label in self.against),
            tuple(label for label in worst_first if label not in self.against),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetLine:
    """A line of a sheet: an item, or a part of it (its n-th sentence, from 1). `cells`: by displayed column."""

    cells: Mapping[str, str]
    part: int = 0


Labels = Mapping[int, Mapping[str, str]]  # labels of one annotator for an item: by part, then by field of the question


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetForm:
    """The sheet of a task: displayed columns, questions, and conversion to verdicts.

    `lines` yields the lines of an item; `verdict` makes a row of verdicts from item, labels and the name of the
    annotator.
    """

    shown: tuple[str, ...]
    questions: tuple[JudgedQuestion, ...]
    lines: Callable[[Row], Iterator[SheetLine]]
    verdict: Callable[[Row, Labels, str], dict[str, Any]]
    draw_by: str = ""  # stratify the draw by this field


@dataclass(frozen=True, kw_only=True, slots=True)
class Forming:
    """Settings of scores. `rules`: NAME=VALUE, for choices that the paper of a task leaves open."""

    resamples: int = RESAMPLES
    seed: int = 0
    rules: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"boot:{self.resamples}|seed:{self.seed}|version:{__version__}"


Cells = Iterable[tuple[Place, Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceTask:
    """A task. Its rows of verdicts are recognised by `distinctive_field`.

    `judge` and `line`: the fields with the names of the judge and of the system. `read`: validates a row. `texts`:
    fields that must be equal for judges to be pooled. `scores`: the estimates of one system; `main`: the default
    score. `value`: the contribution of a row to a score, None where it does not count. `cells`: slice and contribution
    of a row along a field, None for the default by `value`; `estimate`: the estimate of a slice. `along`: the field
    that a name refers to for a score. `signature`: the settings of scores sliced along fields. `lacking`: the reason
    why a score may have no value.
    """

    name: str
    distinctive_field: str
    judge: str
    line: str = "system"
    made_by: str
    read: Callable[[Record], dict[str, Any]]
    texts: tuple[str, ...]
    questions: tuple[JudgedQuestion, ...]
    main: str
    scores: Callable[[Sequence[Row], Forming], Mapping[str, Estimate]]
    value: Callable[[Row, str, Forming], float | None]
    sheet: SheetForm
    cells: Callable[[Row, str, str, Forming], Cells | None] = lambda row, along, score, forming: None
    estimate: Callable[[Sequence[Any], Place, Forming], Estimate] | None = None
    along: Callable[[str, str], str] = lambda field, score: field
    signature: Callable[[Forming, Iterable[str]], str] = lambda forming, fields: str(forming)
    lacking: str = ""


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
def published() -> PublishedFigures:
    """The tables and figures of `data/papers.json`."""
    return PublishedFigures.model_validate_json((files("granola") / "evidence" / "data" / "papers.json").read_bytes())
