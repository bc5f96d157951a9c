"""Rows that bring their own acceptable answers beside a prediction: one set of them, or levels, finest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from abstraction.files.cells import parsed, split_cell
from abstraction.files.records import Record
from granola.errors import PredictionError
from granola.scoring.predictions import prediction_text

Levels = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchRow:
    """A row to match: its levels finest first, `language` None where it names none."""

    prediction: str
    levels: Levels
    question: str | None = None
    language: str | None = None


def read_row(record: Record) -> MatchRow:
    """The row of a record; in CSV lists are JSON texts, and answers may be parted by `|`.

    Numbers count as their digits, in predictions as in answers. Raises PredictionError with the reason where it has
    no prediction, or nothing to hold it against.
    """
    data = record.data
    prediction = prediction_text(record)
    for name in ("question", "language"):
        if not isinstance(data.get(name), str | None):
            raise PredictionError(f"{name}: expected a text, found {type(data[name]).__name__}")
    return MatchRow(
        prediction=prediction,
        levels=_levels(data, flat=record.flat),
        question=data.get("question") or None,
        language=(data.get("language") or "").strip() or None,
    )


def _levels(data: Mapping[str, Any], *, flat: bool) -> Levels:
    field = "answers" if data.get("levels") is None else "levels"
    levels = _given_levels(data, flat=flat)
    if not isinstance(levels, list) or not levels:
        raise PredictionError(f"{field}: expected a list with at least one level")
    parsed_levels = []
    for number, names in enumerate(levels, start=1):
        if not isinstance(names, list) or not all(
            isinstance(name, str | int | float) and not isinstance(name, bool) for name in names
        ):
            raise PredictionError(f"{field}: level {number} is no list of texts")
        if not any(str(name).strip() for name in names):
            raise PredictionError(f"{field}: level {number} has no text")
        parsed_levels.append(tuple(map(str, names)))
    return tuple(parsed_levels)


def _given_levels(data: Mapping[str, Any], *, flat: bool) -> Any:
    """What a row has as levels, or its answers as the one level."""
    levels, answers = data.get("levels"), data.get("answers")
    if levels is not None and answers is not None:
        raise PredictionError("both 'answers' and 'levels': give one of them")
    if levels is None and answers is None:
        raise PredictionError("neither 'answers' (a list of texts) nor 'levels' (lists of texts, finest first)")
    if levels is None:
        if flat and isinstance(answers, str):
            answers = split_cell(answers)
        return [answers if isinstance(answers, list) else [answers]]
    if flat and isinstance(levels, str):
        levels = parsed(levels)
        if isinstance(levels, str):
            raise PredictionError(
                'levels: no JSON; expected lists of texts, finest first, as in [["Lyon", "Lyons"], ["France"]]'
            )
    return levels
