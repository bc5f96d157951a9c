"""Samples: several responses of a model to each question, and the predictions that are made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from abstraction.errors import RowError
from abstraction.faults import fault_of
from abstraction.files import fields
from abstraction.files.records import Record, RejectedRow, UnansweredRow, excerpt, read_records
from abstraction.files.row_shapes import RowShape
from abstraction.questions.relation_wording import read_wording, subject_of
from abstraction.rows import shaped_files

_FILE_RELATION = re.compile(r"\A(P[1-9][0-9]*)\b", re.IGNORECASE)  # P19.test.json
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


def read_samples(
    path: Path | str, *, on_reject: Callable[[RejectedRow], None], limit: int | None = None
) -> Iterator[SampleRow]:
    """The rows of a file ("-": standard input) in order; bad and repeated ones go to `on_reject` with the reason.

    Raises RowError for a file that is empty or of no known kind.
    """
    seen: dict[str, str] = {}
    first = ""

    def reject(row: RejectedRow) -> None:
        nonlocal first
        first = first or f"; {row.source}: {row.reason}"
        on_reject(row)

    for record in read_records(path):
        if limit is not None and len(seen) >= limit:
            return
        if isinstance(record, RejectedRow):
            reject(record)
            continue
        try:
            row = sample_row(record)
            if row.id in seen:
                raise fields.FieldError(f"id {row.id!r} stands already at {seen[row.id]}")
        except fields.FieldError as error:
            reject(RejectedRow(source=record.source, reason=str(error), excerpt=excerpt(repr(dict(record.data)))))
            continue
        except Exception as error:
            reject(_faulty(record, error))
            continue
        seen[row.id] = record.source
        yield row
    if not seen:
        raise RowError(f"{path}: no row with samples{first}; {EXPECTED}")


def read_asked(
    paths: Iterable[Path | str],
    *,
    on_reject: Callable[[RejectedRow], None],
    relation: str | None = None,
    limit: int | None = None,
    on_unanswered: Callable[[UnansweredRow], None] = lambda row: None,
    shape: RowShape | None = None,
    language: str = "en",
) -> Iterator[SampleRow]:
    """The questions of files in order, without samples; gold answers and ladders in them are not looked at.

    Relations and ids are given to rows as `abstraction.rows.read_questions` gives them, so that predictions fit the
    tiered rows of the same files; so rows to whose question the dataset has no answer go to `on_unanswered`. Raises
    RowError for a file that cannot be used at all.
    """
    seen: dict[str, str] = {}
    counted: dict[str, int] = {}
    for path, records in shaped_files(paths, shape, language, with_answers=False):
        from_name = _FILE_RELATION.match(Path(path).name)
        default = relation or (from_name[1].upper() if from_name else None)
        before = dict(counted)
        for position, record in enumerate(records, 1):
            if limit is not None and len(seen) >= limit:
                return
            if isinstance(record, UnansweredRow):
                on_unanswered(record)
                continue
            if isinstance(record, RejectedRow):
                on_reject(record)
                continue
            try:
                row = _row(record, (), default)
                if not row.id:
                    prefix = fields.relation_of(record.data) or default or "row"
                    counted[prefix] = before.get(prefix, 0) + position
                    row = replace(row, id=f"{prefix}-{counted[prefix]}")
                if row.id in seen:
                    raise fields.FieldError(f"id {row.id!r} stands already at {seen[row.id]}")
            except fields.FieldError as error:
                reason = RejectedRow(source=record.source, reason=str(error), excerpt=excerpt(repr(dict(record.data))))
                on_reject(reason)
                continue
            except Exception as error:
                on_reject(_faulty(record, error))
                continue
            seen[row.id] = record.source
            yield row


def sample_row(record: Record) -> SampleRow:
    """The row of a record with samples. Raises FieldError with the reason why it is none."""
    data = record.data
    if not fields.id_of(data):
        raise fields.FieldError("no id: expected a text or a whole number under 'id'")
    fields.question_of(data)
    samples = data.get("samples")
    if record.flat and isinstance(samples, str):
        samples = fields.split_cell(samples) if samples.strip() else []
    if not isinstance(samples, list) or not samples:
        shown = "an empty list" if samples == [] else "nothing" if samples is None else _kind(samples)
        raise fields.FieldError(f"no samples: expected a list of texts under 'samples', found {shown}")
    for place, sample in enumerate(samples):
        if isinstance(sample, bool) or not isinstance(sample, str | int | float):
            raise fields.FieldError(f"samples: the {_ordinal(place)} is {_kind(sample)}, no text")
    return _row(record, tuple(str(sample) for sample in samples), None)


def _row(record: Record, samples: tuple[str, ...], default: str | None) -> SampleRow:
    data = record.data
    question = fields.question_of(data)
    relation = fields.relation_of(data) or default or read_wording(question).relation
    text, qid = fields.subject_of(data)
    if text is None and relation is not None:
        text = subject_of(question, relation)
    return SampleRow(
        id=fields.id_of(data) or "",
        question=question,
        samples=samples,
        relation=relation,
        subject_text=text,
        subject_qid=qid,
        data=data,
        source=record.source,
    )


def _faulty(record: Record, error: Exception) -> RejectedRow:
    """The record as one that an unforeseen error rejects. Raises the error where it is another."""
    fault = fault_of(error, "reading")
    return fault.rejected(source=record.source, id=str(record.data.get("id", "")), text=repr(dict(record.data)))


def _kind(value: object) -> str:
    """What a value is called in JSON."""
    if isinstance(value, str):
        return "a single text"
    if value is None or isinstance(value, bool):
        return str(value).lower() if value is not None else "null"
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a number"


def _ordinal(place: int) -> str:
    return ("first", "second", "third")[place] if place < 3 else f"one at place {place + 1}"
