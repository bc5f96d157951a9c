"""What an evidence task is: items, what a judge is asked of them, rows of verdicts, scores.

item -> judge -> verdicts (JSON lines) -> estimates by slice -> table, LaTeX, CSV, figure. Everything behind the
verdicts is the same for all tasks; a task says where things stand in its rows. The papers' tables and figures are
data: `published()`.
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

UNCLEAR = "unclear"  # what an annotator writes who cannot decide
Row = Mapping[str, Any]
Report = Mapping[str, Mapping[str, Estimate]]  # estimates by system or evaluator, then by score
Place = float | str  # of a slice: a number, or a name


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedQuestion:
    """What a judge is asked of an item, or of each of its sentences.

    `field` is where the label stands in a row; `labels` say what each means, those that count for an item first, the
    best one first; `against` are those that count against it. `lacking` names it where no verdict was given.
    """

    field: str
    labels: Mapping[str, str]
    against: Sequence[str] = ()
    of_sentences: bool = False
    lacking: str = ""

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels against, then those for an item, the worst first: of as many votes the earlier one counts."""
        worst_first = tuple(self.labels)[::-1]
        return (
            tuple(label for label in worst_first if label in self.against),
            tuple(label for label in worst_first if label not in self.against),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetLine:
    """A line of a sheet: an item, or a part of it (its n-th sentence, from 1). `cells` are by the shown columns."""

    cells: Mapping[str, str]
    part: int = 0


Labels = Mapping[int, Mapping[str, str]]  # an annotator's labels of an item: by part, then by the question's field


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetForm:
    """How people judge the items of a task: what they are shown, what they are asked, what comes of it.

    `lines` are those of an item; `verdict` makes a row of verdicts of an item, labels and the annotator's name.
    """

    shown: tuple[str, ...]
    questions: tuple[JudgedQuestion, ...]
    lines: Callable[[Row], Iterator[SheetLine]]
    verdict: Callable[[Row, Labels, str], dict[str, Any]]
    draw_by: str = ""  # as many items are drawn of each value of this field


@dataclass(frozen=True, kw_only=True, slots=True)
class Forming:
    """How scores are formed. `rules` are NAME=VALUE, of a task that has any: what its paper leaves open."""

    resamples: int = RESAMPLES
    seed: int = 0
    rules: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"boot:{self.resamples}|seed:{self.seed}|version:{__version__}"


Cells = Iterable[tuple[Place, Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceTask:
    """A task. Rows of its verdicts have the field `told_by`, the judge's name under `judge`, the system's under `line`.

    `read` checks such a row by the task's pydantic model; `texts` are what several judges must have judged alike.
    `scores` are the estimates of one system's rows; `value` is what a row adds to a score, None where it does not
    count; `main` is the score that is sliced and tested where none is named. `cells` says where a row stands along a
    field and what it adds to a score there, None where `value` and the field tell that; `estimate` makes a slice's
    estimate of it. `along` names the field that is meant for a score; `signature` states how scores of slices along
    these fields are formed. `lacking` says what scores without a value are in want of.
    """

    name: str
    told_by: str
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
    """A panel for each field of `x`. A line for each score of `y`; of one score, for each value of `by`.

    `longer_than`: only texts of more tokens (words by blanks) count.
    """

    task: str = ""
    x: tuple[str, ...]
    y: tuple[str, ...]
    by: str = "system"
    longer_than: int = 0


class PaperTable(BaseModel, frozen=True):
    """A table of a paper: the heads of its columns, each with the score that stands there; and the paper's own rows.

    `factor` is what figures are multiplied with: 100 where the paper prints percentages. `note` says how far the
    paper's rows compare.
    """

    task: str
    columns: dict[str, str]
    printed: dict[str, tuple[float | None, ...]]
    factor: float
    digits: int
    note: str


class PublishedFigures(BaseModel, frozen=True):
    """What the papers print: Hu et al. 2025 (CAQA), Sorodoc et al. 2025 (GaRAGe), Chen et al. 2023 (CONNER), by name.

    The heads of GaRAGe's Table 2 are derived from its text; CONNER's factuality and validity, there in percent, are
    shares here.
    """

    tables: dict[str, PaperTable]
    figures: dict[str, ItemFigure]


@cache
def published() -> PublishedFigures:
    """The tables and figures of `data/papers.json`."""
    return PublishedFigures.model_validate_json((files("granola") / "evidence" / "data" / "papers.json").read_bytes())
