"""Samples: several responses of a model to each question, and the predictions that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator

from abstraction.errors import RowError
from abstraction.faults import OnReject, RejectedRow, UnansweredRow, shown
from abstraction.files.cells import split_cell
from abstraction.files.records import Record, read_records
from abstraction.files.row_models import AskedModel, NeededId, is_number
from abstraction.files.row_reading import RowNumbers, accepted, each_once
from abstraction.files.row_shapes import RowShape
from abstraction.rows import asked_about, read_files

EXPECTED = 'expected {"id", "question", "samples": [text, ...]} a line, with "relation" and "question_entity" if known'


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleRow:
    """A question with the responses drawn for it, in their order.

    `relation`, `subject_text`, `subject_qid` as in `abstraction.rows.QARow`, read from the question where the row
    does not give them. `data` is the record as it was read; `source` is "file:line".
    """

    id: str
    question: str
    samples: tuple[str, ...]
    relation: str | None = None
    subject_text: str | None = None
    subject_qid: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""


def _samples(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("is no list of texts; expected one, with at least one text in it")
    for sample in value:
        if not isinstance(sample, str) and not is_number(sample):
            raise ValueError(f"has {shown(sample)} in it, which is no text")
    return tuple(map(str, value))


class SampledModel(AskedModel):
    """A question with the responses drawn for it."""

    cells: ClassVar[Mapping[str, Callable[[str], Any]]] = {"samples": split_cell}

    id: NeededId = Field(description="a text or a whole number")
    samples: Annotated[tuple[str, ...], PlainValidator(_samples)] = Field(description="a list of texts")


def read_samples(path: Path | str, *, on_reject: OnReject, limit: int | None = None) -> Iterator[SampleRow]:
    """The rows of a file ("-": standard input) in order; bad and repeated ones go to `on_reject` with the reason.

    Raises RowError for a file that is empty or of no known kind.
    """
    first = ""

    def reject(row: RejectedRow) -> None:
        nonlocal first
        first = first or f"; {row.source}: {row.reason}"
        on_reject(row)

    row = None
    for row in islice(accepted(each_once(read_records(path), sample_row), reject), limit):
        yield row
    if row is None and limit != 0:
        raise RowError(f"{path}: no row with samples{first}; {EXPECTED}")


def read_asked(
    paths: Iterable[Path | str],
    *,
    on_reject: OnReject,
    relation: str | None = None,
    limit: int | None = None,
    on_unanswered: Callable[[UnansweredRow], object] = lambda row: None,
    shape: RowShape | None = None,
    language: str = "en",
) -> Iterator[SampleRow]:
    """The questions of files in order, without samples; gold answers and ladders in them are not looked at.

    Relations and ids are given to rows as `abstraction.rows.read_questions` gives them, so that predictions fit the
    tiered rows of the same files; so rows to whose question the dataset has no answer go to `on_unanswered`. Raises
    RowError for a file that cannot be used at all.
    """
    rows = read_files(paths, _asked, relation=relation, shape=shape, language=language, with_answers=False)
    return islice(accepted(rows, on_reject, on_unanswered), limit)


def sample_row(record: Record) -> SampleRow:
    """The row of a record with samples. Raises RowError with the reason why it is none."""
    told = SampledModel.of(record)
    return _row(record, told, id=told.id, samples=told.samples)


def _asked(record: Record, *, default: str | None, numbers: RowNumbers) -> SampleRow:
    told = AskedModel.of(record)
    return _row(record, told, id=told.id or numbers.id_of(told.relation or default or "row"), default=default)


def _row(
    record: Record, told: AskedModel, *, id: str, samples: tuple[str, ...] = (), default: str | None = None
) -> SampleRow:
    relation, text = asked_about(told, default)
    return SampleRow(
        id=id,
        question=told.question,
        samples=samples,
        relation=relation,
        subject_text=text,
        subject_qid=told.subject_qid,
        data=record.data,
        source=record.source,
    )
