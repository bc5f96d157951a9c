"""Rows with a prediction and their own acceptable answers: one set of names, or levels, finest first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import PlainValidator, StrictStr

from abstraction.errors import RowError
from abstraction.files.records import Record, parse_json, split_cell
from abstraction.files.row_models import is_number
from granola.scoring.predictions import PredictedModel

Levels = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchRow:
    """A row to match: its levels, finest first; `language` is None where the row names none."""

    prediction: str
    levels: Levels
    question: str | None = None
    language: str | None = None


def _validate_names(value: object) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    if not all(isinstance(name, str) or is_number(name) for name in names):
        raise ValueError("is no list of texts")
    if not any(str(name).strip() for name in names):
        raise ValueError("has no text")
    return tuple(map(str, names))


def _validate_levels(value: object) -> Levels:
    if not isinstance(value, list) or not value or not all(isinstance(level, list) for level in value):
        raise ValueError('is no list of levels; expected lists of texts, finest first, as in [["Lyon"], ["France"]]')
    return tuple(map(_validate_names, value))


class MatchModel(PredictedModel):
    """The fields of a row in a file: a prediction with "answers" or "levels"; a number becomes the text of its digits.
    """

    cells: ClassVar[Mapping[str, Callable[[str], Any]]] = {"answers": split_cell, "levels": parse_json}

    question: StrictStr | None = None
    language: StrictStr | None = None
    answers: Annotated[tuple[str, ...], PlainValidator(_validate_names)] | None = None
    levels: Annotated[Levels, PlainValidator(_validate_levels)] | None = None


def read_row(record: Record) -> MatchRow:
    """The MatchRow of a record. Raises RowError where it has no prediction, or no acceptable answer."""
    told = MatchModel.of(record)
    # A single set of answers is a ladder of one level.
    levels = told.levels or (told.answers and (told.answers,))
    if not levels:
        raise RowError("neither 'answers' (a list of texts) nor 'levels' (lists of texts, finest first)")
    # They might contradict each other.
    if told.levels and told.answers:
        raise RowError("both 'answers' and 'levels': give one of them")
    return MatchRow(
        prediction=told.prediction,
        levels=levels,
        question=told.question or None,
        language=(told.language or "").strip() or None,
    )
