"""The definition of an evidence task: items, questions for judges, rows of verdicts; estimates of any task's scores.

item -> judge -> verdicts (JSON lines) -> estimates by slice -> table, LaTeX, CSV, figure. All steps after the verdicts
are shared; a task defines the fields of its rows. Tables and figures of the papers are data:
`granola.evidence.verdict_rows.published_figures`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from abstraction.files.row_models import RowModel
from abstraction.models.chat_model import ChatModel
from granola import __version__
from granola.scoring.statistics import RESAMPLES, Estimate, mean_estimate, share_estimate

UNCLEAR = "unclear"  # the label of an annotator who cannot decide
Row = Mapping[str, Any]
Report = Mapping[str, Mapping[str, Estimate]]  # estimates by system or evaluator, then by score
SliceValue = float | str  # the value that all items of a slice have: a number or a name


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
    def labels_against_and_for(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels against an item, then those for it, each with the worst first: on a tie the earlier one wins."""
        worst_first = tuple(self.labels)[::-1]
        return (
            tuple(label for label in worst_first if label in self.against),
            tuple(label for label in worst_first if label not in self.against),
        )


Labels = Sequence[Mapping[str, str]]  # labels of one annotator by field of the question, for each line of an item


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetForm:
    """The sheet of a task: displayed columns, questions, and conversion to verdicts.

    `lines` makes the lines of an item, by displayed column: the item itself, then its sentences in order. `verdict`
    makes a row of verdicts from item, labels and the name of the annotator.
    """

    shown: tuple[str, ...]
    questions: tuple[JudgedQuestion, ...]
    lines: Callable[[Row], Sequence[Mapping[str, str]]]
    verdict: Callable[[Row, Labels, str], dict[str, Any]]
    draw_by: str = ""  # stratify the draw by this field


@dataclass(frozen=True, kw_only=True, slots=True)
class EstimateSettings:
    """Settings of scores. `rules`: NAME=VALUE, for choices that the paper of a task leaves open."""

    resamples: int = RESAMPLES
    seed: int = 0
    rules: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"boot:{self.resamples}|seed:{self.seed}|version:{__version__}"


def share_or_mean_estimate(values: Sequence[float], settings: EstimateSettings) -> Estimate:
    """A share with Wilson's interval if all values are 0 or 1, else a mean with a bootstrap interval."""
    # Wilson is valid near 0 and 1 and for few items, where the bootstrap is too narrow.
    if set(values) <= {0.0, 1.0}:
        return share_estimate(values)
    return mean_estimate(values, resamples=settings.resamples, seed=settings.seed)


Cells = Iterable[tuple[SliceValue, float]]


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceTask:
    """A task. Its rows of verdicts are recognised by `distinctive_field`.

    `judge` and `line`: the fields with the names of the judge and of the system. `row`: the model of a row. `texts`:
    fields that must be equal for judges to be pooled. `scores`: the estimates of one system; `main`: the default
    score. `value`: the contribution of a row to a score, None where it does not count. `cells`: the slices of a row
    along a field, each with its contribution to a score; None where the slice is the value of the field and the
    contribution that of `value`. `estimate`: the estimate of a slice. `sliced_field`: the field behind a name given
    for slicing and a score. `signature`: the settings of scores sliced along fields. `lacking`: the reason why a score
    may have no value.
    """

    name: str
    distinctive_field: str
    judge: str
    line: str = "system"
    made_by: str
    row: type[RowModel]
    texts: tuple[str, ...]
    questions: tuple[JudgedQuestion, ...]
    main: str
    scores: Callable[[Sequence[Row], EstimateSettings], Mapping[str, Estimate]]
    value: Callable[[Row, str, EstimateSettings], float | None]
    sheet: SheetForm
    cells: Callable[[Row, str, str, EstimateSettings], Cells | None] = lambda row, sliced_field, score, settings: None
    estimate: Callable[[Sequence[float], EstimateSettings], Estimate] = share_or_mean_estimate
    sliced_field: Callable[[str, str], str] = lambda field, score: field
    signature: Callable[[EstimateSettings, Iterable[str]], str] = lambda settings, fields: str(settings)
    lacking: str = ""


def estimates_by_slice(
    values: Iterable[tuple[SliceValue, float]], estimate: Callable[[Sequence[float]], Estimate]
) -> dict[SliceValue, Estimate]:
    """The estimate of each slice by its value, numbers before names."""
    groups: dict[SliceValue, list[float]] = {}
    for place, value in values:
        groups.setdefault(place, []).append(value)
    return {place: estimate(groups[place]) for place in sorted(groups, key=lambda one: (isinstance(one, str), one))}


def field_value(row: Row, path: str) -> Any:
    """The value of a field, with dots between nested names; None where it is missing. Tags and scores need no prefix.

    Where the field is a list, a further name returns whether the list contains it.
    """
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else name in value if isinstance(value, list) else None
    if value is not None:
        return value
    return next((inner[path] for inner in (row.get("tags"), row.get("scores")) if inner and path in inner), None)


def slice_value_or_empty_list(value: Any) -> list[SliceValue]:
    """A list with the slice of a value: the value itself, "yes" or "no" for a bool; empty for a missing value."""
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    return [value] if isinstance(value, str | int | float) and value != "" else []


def name_with_hash(identity: Mapping[str, object]) -> str:
    """The name of a model and a hash of its whole identity."""
    digest = hashlib.sha256(orjson.dumps(dict(identity), option=orjson.OPT_SORT_KEYS, default=str)).hexdigest()[:8]
    called = str(identity.get("model") or identity.get("kind") or "model")
    return "".join(c if c.isalnum() or c in "._/-" else "_" for c in called) + f"-{digest}"


def model_name_with_hash(model: ChatModel) -> str:
    """`name_with_hash` of a chat model; for a replay, those of the recorded models, joined by "+"."""
    # A replay gives the verdicts of the recorded models: its signature must equal theirs.
    recorded = getattr(getattr(model, "source", None), "recorded", None) or [model.identity]
    return "+".join(sorted(map(name_with_hash, recorded)))
