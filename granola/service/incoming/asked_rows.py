"""The rows that requests ask about: questions, batches of them, questions with responses, rows of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from abstraction.errors import RowError
from abstraction.faults import EXCERPT, RejectedRow
from abstraction.files.records import Record
from abstraction.rows import QARow, TieredRow, question_rows
from abstraction.tiers import Level, Tier
from granola.decoding import SampleRow
from granola.decoding.samples import sample_row
from granola.service.incoming.bodies import body_records
from granola.service.incoming.limits import check_answers, check_question, check_rows, check_text


def read_question(data: Mapping[str, Any]) -> QARow:
    """The question of one row. Raises RowError, and HTTPProblem for more than is read of one."""
    row = next(question_rows([Record(source="the request", data=data)]))
    if isinstance(row, RejectedRow):
        raise RowError(row.reason)
    check_question(row)
    check_text(row.answers, "answers")
    return row


def read_batch(body: bytes, *, relation: str | None, most: int) -> list[QARow | RejectedRow]:
    """The questions of a batch, a JSON array or JSONL, rejected ones in their places.

    Raises RowError where there is none, and HTTPProblem for more than `most`, or for more answers than so many bytes
    may have.
    """
    rows: list[QARow | RejectedRow] = []
    answers = 0
    for row in question_rows(body_records(body), relation=relation):
        rows.append(_within_limits(row))
        check_rows(len(rows), most)
        if isinstance(rows[-1], QARow):
            answers += len(rows[-1].answers)
    if not rows:
        raise RowError("request holds no row; expected a JSON array, or one JSON object a line")
    check_answers(answers, len(body))
    return rows


def unheeded(rows: Iterable[QARow | RejectedRow], settings: Mapping[str, Any]) -> list[str]:
    """The settings that some rows of a batch have fields of, which say something else and are handed on."""
    extra = [row.extra for row in rows if isinstance(row, QARow)]
    return sorted(name for name, value in settings.items() if any(one.get(name, value) != value for one in extra))


def _within_limits(row: QARow | RejectedRow) -> QARow | RejectedRow:
    """The row, rejected where it is more than a request for a single ladder may be."""
    if isinstance(row, RejectedRow):
        return row
    try:
        check_question(row)
    except RowError as error:
        return RejectedRow(source=row.source, reason=str(error), excerpt=row.question[:EXCERPT])
    return row


def read_samples(data: Mapping[str, Any]) -> SampleRow:
    """A question with responses. Raises RowError, and HTTPProblem for more than is read of them."""
    row = sample_row(Record(source="the request", data={**data, "id": data.get("id") or "1"}))
    check_question(row)
    check_text(row.samples, "samples")
    return row


def row_of_names(levels: Sequence[Sequence[str]], question: str | None) -> TieredRow:
    """A tiered row of names alone."""
    made = tuple(Level(tiers=(Tier(text=names[0], aliases=tuple(names[1:])),)) for names in levels)
    return TieredRow(id="1", question=question or "", answers=tuple(levels[0]), levels=made)
