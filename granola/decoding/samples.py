"""Rows of samples: several responses of a model, or of several systems, to each question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator

from abstraction.base.faults import OnReject, RejectedRow, UnansweredRow, repr_excerpt
from abstraction.errors import RowError
from abstraction.files.records import Record, read_records, split_cell
from abstraction.files.row_models import (
    AskedModel,
    NeededId,
    RowIdCounter,
    is_number,
    read_each_id_once,
    without_rejected,
)
from abstraction.files.row_shapes import RowShape
from abstraction.files.rows import read_files, relation_and_subject_text

EXPECTED = 'expected {"id", "question", "samples": [text, ...]} a line, with "relation" and "question_entity" if known'


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleRow:
    """A question with its sampled responses, in order.

    `relation`, `subject_text`, `subject_qid`: see `abstraction.files.rows.QARow`; derived from the question if the row
    lacks them. `data`: the input record; `source`: "file:line". `systems`, `weights`: one per sample, for samples of
    several systems.
    """

    id: str
    question: str
    samples: tuple[str, ...]
    relation: str | None = None
    subject_text: str | None = None
    subject_qid: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    systems: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()


def _check_samples(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("is no list of texts; expected one, with at least one text in it")
    for sample in value:
        # Years and amounts come as JSON numbers.
        if not isinstance(sample, str) and not is_number(sample):
            raise ValueError(f"has {repr_excerpt(sample)} in it, which is no text")
    return tuple(map(str, value))


class SampledModel(AskedModel):
    """The model of a row with samples."""

    cells: ClassVar[Mapping[str, Callable[[str], Any]]] = {"samples": split_cell}

    id: NeededId = Field(description="a text or a whole number")
    samples: Annotated[tuple[str, ...] | None, PlainValidator(_check_samples)] = Field(
        None, description="a list of texts"
    )
    prediction: str | None = None


def read_samples(
    path: Path | str, *, on_reject: OnReject, limit: int | None = None, prediction_as_sample: bool = False
) -> Iterator[SampleRow]:
    """The rows of a file ("-": standard input), in order; invalid and repeated ones go to `on_reject`.

    With `prediction_as_sample`, the prediction of a row is its only sample, if it has one.

    Raises RowError for an empty file, or one without samples.
    """
    first = ""

    def reject(row: RejectedRow) -> None:
        nonlocal first
        # The first rejection explains an empty result best.
        first = first or f"; {row.source}: {row.reason}"
        on_reject(row)

    row = None
    read = partial(sample_row, prediction_as_sample=prediction_as_sample)
    for row in islice(without_rejected(read_each_id_once(read_records(path), read), reject), limit):
        yield row
    # With limit 0 an empty result is requested.
    if row is None and limit != 0:
        raise RowError(f"{path}: no row with samples{first}; {EXPECTED}")


def read_systems(files: Mapping[str, Path | str], *, on_reject: OnReject) -> list[SampleRow]:
    """Merge the files of several systems by id: each response is a sample with the name of its system.

    A system has a prediction in a row, or several samples whose weights add up to 1. Other fields come from the first
    file with the question. Raises RowError for an unusable file.
    """
    rows: dict[str, SampleRow] = {}
    for system, path in files.items():
        for row in read_samples(path, on_reject=on_reject, prediction_as_sample=True):
            before = rows.get(row.id, replace(row, samples=()))
            # A system has one vote in all, however many samples it has.
            each = 1.0 / len(row.samples)
            rows[row.id] = replace(
                before,
                samples=(*before.samples, *row.samples),
                systems=(*before.systems, *[system] * len(row.samples)),
                weights=(*before.weights, *[each] * len(row.samples)),
            )
    return list(rows.values())


def read_unsampled_questions(
    paths: Iterable[Path | str],
    *,
    on_reject: OnReject,
    relation: str | None = None,
    limit: int | None = None,
    on_unanswered: Callable[[UnansweredRow], object] = lambda row: None,
    shape: RowShape | None = None,
    language: str = "en",
) -> Iterator[SampleRow]:
    """The questions of files, in order, without samples; gold answers and ladders are ignored.

    Relations and ids are assigned as in `abstraction.files.rows.read_questions`, so that predictions match tiered rows
    of the same files. Rows whose question has no answer in the dataset go to `on_unanswered`. Raises RowError for an
    unusable file.
    """
    rows = read_files(paths, _question_row, relation=relation, shape=shape, language=language, with_answers=False)
    return islice(without_rejected(rows, on_reject, on_unanswered), limit)


def sample_row(record: Record, *, prediction_as_sample: bool = False) -> SampleRow:
    """The row of a record with samples, or with its prediction as only sample. Raises RowError for other records."""
    model = SampledModel.of(record)
    samples = (model.prediction,) if prediction_as_sample and model.prediction is not None else model.samples
    if not samples:
        raise RowError(f"no samples; {EXPECTED}")
    return replace(_question_row(record, model=model), samples=samples)


def _question_row(
    record: Record, *, default: str | None = None, numbers: RowIdCounter | None = None, model: AskedModel | None = None
) -> SampleRow:
    """The question of a record, without samples; `model`: the record as read."""
    model = model or AskedModel.of(record)
    relation, text = relation_and_subject_text(model, default)
    return SampleRow(
        id=model.id or (numbers or RowIdCounter()).id_of_current_record(model.relation or default or "row"),
        question=model.question,
        samples=(),
        relation=relation,
        subject_text=text,
        subject_qid=model.subject_qid,
        data=record.data,
        source=record.source,
    )
