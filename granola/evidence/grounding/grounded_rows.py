"""Reads questions with passages: GaRAGe's rows as published, and rows of the user's own.

The user's rows have `id`, `question`, `passages` (each a text, or the fields of `GroundingPassage`), and optionally
`question_date`, `reference`, `reference_citations`, `deflection`, `tags`. A passage of a published row is {"cite_3":
text, "age", "date", "provider"}; each list of labels has one entry per passage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool

from abstraction.base.faults import OnReject, excerpt
from abstraction.files.records import Record, parse_json, read_records
from abstraction.files.row_models import NeededId, RowModel, read_each_once, without_rejected
from granola.errors import SampleError
from granola.evidence.grounding.deflection_signs import deflection_signs
from granola.evidence.grounding.grounded_samples import (
    GroundedSample,
    GroundingPassage,
    OptionalText,
    SecondStep,
    parse_label,
)

KNOWLEDGE_BASES = frozenset({"web", "arxiv", "sec", "devops", "enron"})  # sources that GaRAGe wrote its questions from
MOST_PASSAGES = 500  # per question; bounds the size of a request to a judge


def _parse_cell(value: object) -> object:
    """A list or an object, parsed from JSON where a CSV cell contains it as text."""
    return parse_json(value) if isinstance(value, str) else value


def _parse_mark(value: object) -> object:
    """YES or NO, also from true and false."""
    return parse_label("YES" if value is True else "NO" if value is False else value)


FirstStep = Annotated[Literal["YES", "NO", "RELEVANT", "IRRELEVANT"] | None, BeforeValidator(parse_label)]
Mark = Annotated[Literal["YES", "NO"] | None, BeforeValidator(_parse_mark)]
Passages = Annotated[
    list[GroundingPassage],
    BeforeValidator(_parse_cell),
    Field(min_length=1, max_length=MOST_PASSAGES, description="a list"),
]


class _Question(RowModel):
    question: Annotated[str, Field(min_length=1, description="a text")]
    question_date: OptionalText = None


class _GarageRow(_Question):
    sample_id: Annotated[NeededId, Field(description="a text")]
    grounding: Passages
    evidence_relevant: Annotated[list[FirstStep] | None, BeforeValidator(_parse_cell)] = None
    evidence_correct: Annotated[list[SecondStep] | None, BeforeValidator(_parse_cell)] = None
    evidence_cited: Annotated[list[Mark] | None, BeforeValidator(_parse_cell)] = None
    answer_generate: str | None = None
    answer_validate: Mark = None


class _PlainRow(_Question):
    id: Annotated[NeededId, Field(description="a text")]
    passages: Passages
    reference: str | None = None
    reference_citations: Annotated[list[NeededId] | None, BeforeValidator(_parse_cell)] = None
    deflection: StrictBool = False
    tags: Annotated[dict[str, Any] | None, BeforeValidator(_parse_cell)] = None


def read_grounded(path: Path | str, *, on_reject: OnReject | None = None) -> Iterator[GroundedSample]:
    """The questions of a file, in order; each row may be GaRAGe's or the user's own.

    Bad and repeated rows go to `on_reject`; without it they raise.
    """

    def read(record: Record) -> GroundedSample:
        return (_garage_sample if "grounding" in record.data else _plain_sample)(record)

    return without_rejected(read_each_once(read_records(path), read), on_reject)


def _garage_sample(record: Record) -> GroundedSample:
    """The question of a published row; `deflection_signs` decides whether it expects a deflection."""
    row = _GarageRow.of(record)
    n = len(row.grounding)
    for name in ("evidence_relevant", "evidence_correct", "evidence_cited"):
        labels = getattr(row, name)
        # A list of another length would give labels to the wrong passages.
        if labels is not None and len(labels) != n:
            raise SampleError(f'"{name}" has {len(labels)} entries for {n} passages')
    steps = zip(row.grounding, row.evidence_relevant or [None] * n, row.evidence_correct or [None] * n, strict=True)
    passages = _with_ids(
        passage.model_copy(
            update={"relevant": None if first is None else first in ("YES", "RELEVANT"), "label": second}
        )
        for passage, first, second in steps
    )
    # None rather than (): unknown citations are not scored, an empty list is.
    cited = None
    if row.evidence_cited is not None:
        cited = tuple(one.id for one, mark in zip(passages, row.evidence_cited, strict=True) if mark == "YES")
    answer = (row.answer_generate or "").strip()
    signs = deflection_signs(
        answer, passages, cited=None if cited is None else bool(cited),
        validated=row.answer_validate == "YES" if "answer_validate" in record.data else None,
    )  # fmt: skip
    return GroundedSample(
        id=row.sample_id, question=row.question, passages=passages, question_date=row.question_date, reference=answer,
        cited=cited, deflection=signs.deflects, signs=signs, tags=_tags(record.data),
    )  # fmt: skip


def _plain_sample(record: Record) -> GroundedSample:
    row = _PlainRow.of(record)
    passages = _with_ids(row.passages)
    known = {one.id for one in passages}
    if len(known) < len(passages):
        raise SampleError("two passages have one id")
    if strange := [one for one in row.reference_citations or () if one not in known]:
        raise SampleError(f'"reference_citations" names {excerpt(strange[0])}, which is no passage\'s id')
    return GroundedSample(
        id=row.id, question=row.question, passages=passages, question_date=row.question_date,
        reference=(row.reference or "").strip(), deflection=row.deflection,
        cited=None if row.reference_citations is None else tuple(row.reference_citations),
        tags={name: str(value) for name, value in (row.tags or {}).items() if value not in (None, "")},
    )  # fmt: skip


def _with_ids(passages: Iterator[GroundingPassage] | list[GroundingPassage]) -> tuple[GroundingPassage, ...]:
    """The passages; those without an id get their number, from 1."""
    return tuple(
        one if one.id else one.model_copy(update={"id": str(number)}) for number, one in enumerate(passages, 1)
    )


def _tags(data: Mapping[str, Any]) -> dict[str, str]:
    """The tags of a published row: its question fields without the prefix "question_", its two tags, and two derived
    ones.

    Derived are `time_sensitivity` and, where a tag names one, `knowledge_base`.
    """
    tags = {
        name if name.endswith("_tag") else name.removeprefix("question_"): str(value)
        for name, value in data.items()
        if name.startswith(("question_", "topic_tag")) and name != "question_date" and str(value or "").strip()
    }
    if "question_type" in data:  # filled where the question is sensitive to time
        tags["time_sensitivity"] = tags.get("type", "static").casefold()
    bases = (tags.get(name, "").casefold() for name in ("topic_tag", "question_tag"))
    if base := next((one for one in bases if one in KNOWLEDGE_BASES), None):
        tags["knowledge_base"] = base
    return tags
