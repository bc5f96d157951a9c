"""Rows of questions and tiered rows: the classes, and reading and writing files of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from abstraction.base.faults import OnReject, RejectedRow, UnansweredRow
from abstraction.base.tiers import Level, Tier
from abstraction.errors import RowError
from abstraction.files.records import (
    GRANOLA_ANSWERS,
    GRANOLA_COLUMNS,
    GRANOLA_COUNT,
    KNOWN,
    REFERENCE,
    Record,
    canonical_split,
    data_files,
    parse_json_or_text,
    read_records,
    split_or_stem_of_file_name,
)
from abstraction.files.row_models import (
    AnsweredModel,
    AskedModel,
    QuestionModel,
    RowIdCounter,
    read_each_id_once,
    reference_levels,
    unread_fields,
    without_redundant_answer,
    without_rejected,
)
from abstraction.files.row_shapes import RowShape, records_with_usual_fields
from abstraction.files.writing import write_records
from abstraction.text.language.languages import is_supported_language
from abstraction.text.questions.question_wording import read_relation_wording, subject_of
from kg.base.model import ENTITY_ID

T = TypeVar("T")
# A file named by its relation, as EntityQuestions has them: P19.test.json.
_FILE_RELATION = re.compile(r"\A(P[1-9][0-9]*)\b", re.IGNORECASE)
# Codes as in BCP 47: a language of 2 or 3 letters, then up to three subtags.
_CODE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")


@dataclass(frozen=True, kw_only=True, slots=True)
class QARow:
    """A question with its gold answers.

    `answer_qids` has one id or None for each of `answers`. `subject_text` and `subject_qid` name the entity that the
    question is about. `extra` contains the fields of the input that are not read; existing levels are kept there as
    texts under "reference_levels". `source` is "file:line".
    """

    id: str
    question: str
    answers: tuple[str, ...]
    answer_qids: tuple[str | None, ...]
    relation: str | None = None
    subject_text: str | None = None
    subject_qid: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    def __post_init__(self) -> None:
        if not self.answers or len(self.answers) != len(self.answer_qids):
            raise RowError(
                f"{self.source or self.id}: {len(self.answers)} answers with {len(self.answer_qids)} ids; "
                "give at least one answer and one id or None for each"
            )

    def earlier_link(self, answer: str, qid: str) -> Mapping[str, Any] | None:
        """The note on how an earlier run linked the answer to this item; None where there is none."""
        links = (link for link in _stored_links(self.extra) if link.get("answer", answer) == answer)
        return next((link for link in links if link.get("qid") == qid), None)

    @property
    def answer_description(self) -> str | None:
        """The row's own description of its answer's entity, as in GRANOLA-EQ; None for several answers."""
        said = self.extra.get("answer_entity_description") or self.extra.get("answer_description")
        return said.strip() or None if isinstance(said, str) and len(self.answers) == 1 else None


@dataclass(frozen=True, kw_only=True, slots=True)
class TieredRow:
    """A question with its ladder: `levels[0]` is the answer itself, each later level is coarser.

    A row that abstains has one level and the code in `abstained`. `question_entity` has "text" and "qid" where known.
    `extra` contains the fields of a file that are not read. `source` is the "file:line" of the row, or of its
    question.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    levels: tuple[Level, ...]
    relation: str | None = None
    question_entity: Mapping[str, Any] | None = None
    abstained: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    source: str = field(default="", compare=False, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The row as a JSON object of a tiered file; `extra` never overrides a field of the row."""
        out: dict[str, Any] = {"id": self.id, "question": self.question}
        if self.relation is not None:
            out["relation"] = self.relation
        if self.question_entity:
            out["question_entity"] = dict(self.question_entity)
        out["answer"] = list(self.answers)
        out["levels"] = [level.to_json() for level in self.levels]
        if self.abstained is not None:
            out["abstained"] = self.abstained
        for key, value in self.extra.items():
            out.setdefault(key, value)
        return out

    def __str__(self) -> str:
        """The question and its ladder on one line, for `print`."""
        why = f" (no coarser answer: {self.abstained})" if self.abstained else ""
        return f"{self.question} {' › '.join(level.tiers[0].text for level in self.levels)}{why}"

    def _repr_html_(self) -> str:
        """The ladder as HTML for notebooks: one line per level, tiers with their bits."""
        lines = []
        for level in self.levels:
            bits = (f" ({tier.bits:.1f} bits)" if tier.bits is not None else "" for tier in level.tiers)
            tiers = (escape(tier.text) + told for tier, told in zip(level.tiers, bits, strict=True))
            lines.append(f"<li>{' | '.join(tiers)}</li>")
        why = f"<p>no coarser answer: {escape(self.abstained)}</p>" if self.abstained else ""
        return f"<p><b>{escape(self.question)}</b></p><ol>{''.join(lines)}</ol>{why}"

    @property
    def links(self) -> list[dict[str, Any]]:
        """The notes on how the answers were linked, from the field "links"."""
        return _stored_links(self.extra)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, flat: bool = False) -> TieredRow:
        """The inverse of `to_json`; also reads levels given as plain texts and GRANOLA-EQ's columns.

        Raises RowError where a field is missing or malformed.
        """
        return _read_tiered_row(Record(source="", data=data, flat=flat))


def _stored_links(extra: Mapping[str, Any]) -> list[dict[str, Any]]:
    links = extra.get("links")
    if isinstance(links, str):  # a cell of CSV
        links = parse_json_or_text(links)
    return [link for link in links if isinstance(link, dict)] if isinstance(links, list) else []


def _linked_qid(answer: str, extra: Mapping[str, Any], *, is_only_answer: bool) -> str | None:
    """The item that an answer of a tiered row was linked to; None for an id of another form, which is linked anew."""
    for link in _stored_links(extra):
        qid = link.get("qid")
        if (
            link.get("answer", answer if is_only_answer else None) == answer
            and isinstance(qid, str)
            and ENTITY_ID.match(qid)
        ):
            return qid
    return None


def candidate_ids_of_link(link: Mapping[str, Any]) -> list[str]:
    """The entities that a link may mean, the chosen one first."""
    rivals = link.get("rivals")
    return [i for i in (link.get("qid"), *(rivals if isinstance(rivals, list | tuple) else ())) if isinstance(i, str)]


def read_questions(
    paths: Iterable[Path | str],
    *,
    relation: str | None = None,
    limit: int | None = None,
    on_reject: OnReject | None = None,
    on_unanswered: Callable[[UnansweredRow], object] = lambda row: None,
    shape: RowShape | None = None,
    language: str = "en",
) -> Iterator[QARow]:
    """The questions of files in order: JSON arrays, JSONL, CSV, Parquet, with GRANOLA-EQ's columns too.

    `shape` maps the fields of other datasets (`abstraction.files.row_shapes`), `language` picks one of their
    languages.

    A row's relation is its own, else `relation`, else the file name's (P19.test.json), else that of its wording
    (`abstraction.text.questions.question_wording`). Its subject is given, or read from the question by the relation's
    patterns. A row without an id gets "<relation>-<n>", with n counting the records of that relation's files from
    1, or "row-<n>" where no relation is given, even if the wording has one.

    `limit` caps the rows returned. Bad and repeated rows go to `on_reject`; without it they raise RowError. Rows whose
    question has no answer in the dataset, by the shape, are left out and go to `on_unanswered`. Raises RowError
    for a file that cannot be used at all.
    """
    rows = read_files(paths, _read_question_row, relation=relation, shape=shape, language=language)
    # Islice refuses negative numbers.
    yield from islice(without_rejected(rows, on_reject, on_unanswered), None if limit is None else max(limit, 0))


def read_files(
    paths: Iterable[Path | str],
    read: Callable[..., T],
    *,
    relation: str | None,
    shape: RowShape | None,
    language: str,
    with_answers: bool = True,
) -> Iterator[T | RejectedRow]:
    """The result of `read` for each record of the files, each id once; rejected rows stay in their places.

    A folder is replaced by its files; of a shape with a split only that split is read. Records without a field that the
    shape names are rejected, those without answers only if `with_answers`; those without an answer in the dataset
    become an UnansweredRow. Raises RowError as `data_files` does, and where the split is unknown.

    `read` takes a record, `default` (the relation of records without one) and `numbers` (ids of records without one).
    For the other arguments see `read_questions`.
    """
    numbers = RowIdCounter()
    seen: dict[str, str] = {}
    split = shape.split if shape is not None else ""
    for path in (file for one in paths for file in data_files(one, split or None)):
        records = read_records(path)
        if shape is not None:
            file_named_by_split = bool(split) and split_or_stem_of_file_name(Path(path)) == canonical_split(split)
            records = records_with_usual_fields(
                records, shape, language, with_answers, path=path, file_named_by_split=file_named_by_split
            )
        from_name = _FILE_RELATION.match(Path(path).name)
        default = relation or (from_name[1].upper() if from_name else None)
        yield from read_each_id_once(
            numbers.number_records(records), partial(read, default=default, numbers=numbers), seen=seen
        )


def question_rows(
    records: Iterable[Record | RejectedRow], *, relation: str | None = None
) -> Iterator[QARow | RejectedRow]:
    """The questions of records, see `read_questions`; rejected rows stay in their places."""
    numbers = RowIdCounter()
    return read_each_id_once(
        numbers.number_records(records), partial(_read_question_row, default=relation, numbers=numbers)
    )


def read_tiered(path: Path | str, *, on_reject: OnReject | None = None, evidence: bool = True) -> Iterator[TieredRow]:
    """The rows of a tiered file in order: ours in any format, or GRANOLA-EQ with each granola_answer as a level.

    Without `evidence` the evidence is left out, which saves half of the time and memory. Raises RowError for an
    unusable file, and for a bad or repeated row unless there is `on_reject`.
    """
    return tiered_rows(read_records(path), on_reject=on_reject, evidence=evidence)


def tiered_rows(
    records: Iterable[Record | RejectedRow], *, on_reject: OnReject | None = None, evidence: bool = True
) -> Iterator[TieredRow]:
    """The tiered rows of records; see `read_tiered`."""
    numbers = RowIdCounter()
    rows = read_each_id_once(
        numbers.number_records(records), partial(_read_tiered_row, numbers=numbers, evidence=evidence)
    )
    return without_rejected(rows, on_reject)


def write_tiered(
    rows: Iterable[TieredRow],
    path: Path | str,
    *,
    format: str | None = None,
    csv_raw: bool = False,
    as_granola_eq: bool = False,
) -> int:
    """Write rows as "jsonl", "csv" or "parquet" (None: by suffix, else JSONL); returns their number.

    The file appears whole or not at all. In CSV and Parquet `levels` is one JSON text; for `csv_raw` see
    `write_records`.

    `as_granola_eq`: under GRANOLA-EQ's columns, one answer per level, that of its first tier, at most 14. There are no
    columns for alternates and evidence; the other fields of a row follow after them.
    """
    if not as_granola_eq:
        return write_records(map(TieredRow.to_json, rows), path, format=format, csv_raw=csv_raw)
    records = (
        {name: "" if value is None else value for name, value in granola_columns(row).items()}
        | {key: value for key, value in row.extra.items() if key not in KNOWN and key not in GRANOLA_COLUMNS}
        for row in rows
    )
    return write_records(records, path, format=format, csv_raw=csv_raw)


def granola_columns(row: TieredRow) -> dict[str, Any]:
    """A row under GRANOLA-EQ's columns, in their order; None where the row lacks a value."""
    entity = row.question_entity or {}
    names = [level.tiers[0].text for level in row.levels[: len(GRANOLA_ANSWERS)]]
    columns: dict[str, Any] = {
        "relation": row.relation,
        "question": row.question,
        "question_entity": entity.get("text"),
        "question_entity_qid": entity.get("qid"),
        "answer": row.answers[0],
        "answer_entity_qid": row.levels[0].tiers[0].qid,
        GRANOLA_COUNT: len(names),
        "id": row.id,
        **dict(zip(GRANOLA_ANSWERS, names, strict=False)),  # a ladder has fewer levels than there are columns
    }
    return {name: columns.get(name, row.extra.get(name)) for name in GRANOLA_COLUMNS}


def _read_question_row(record: Record, default: str | None, numbers: RowIdCounter) -> QARow:
    record = without_redundant_answer(record)
    fields = QuestionModel.of(record)
    relation, text = relation_and_subject_text(fields, default)
    extra = unread_fields(record.data)
    if (reference := reference_levels(record.data)) is not None:
        extra.setdefault(REFERENCE, reference)  # a new ladder must not replace the reference
    qids = fields.qid_of_each_answer()
    alone = len(fields.answer) == 1
    if "levels" in record.data and not (alone and any(qids)):  # a tiered row keeps the links of each of its answers
        linked = tuple(_linked_qid(answer, extra, is_only_answer=alone) for answer in fields.answer)
        qids = linked if any(linked) else qids
    return QARow(
        answer_qids=qids,
        id=fields.id
        or numbers.id_of_current_record(fields.relation or default or "row"),  # rules for wording may change
        question=fields.question,
        answers=fields.answer,
        relation=relation,
        subject_text=text,
        subject_qid=fields.subject_qid,
        extra=extra,
        source=record.source,
    )


def relation_and_subject_text(fields: AskedModel, default: str | None) -> tuple[str | None, str | None]:
    """The relation of a question and the name of its subject: as given, else by its wording."""
    relation = fields.relation or default or read_relation_wording(fields.question).relation
    text = fields.subject_text
    if text is None and relation is not None:
        text = subject_of(fields.question, relation)
    return relation, text


def _read_tiered_row(record: Record, numbers: RowIdCounter | None = None, *, evidence: bool = True) -> TieredRow:
    record = without_redundant_answer(record)
    data = record.data
    fields = AnsweredModel.of(record)
    entity = dict(fields.question_entity)
    if fields.subject_qid is not None:
        entity.setdefault("qid", fields.subject_qid)
    levels = _read_levels(record, fields.answer, evidence=evidence)
    abstained = data.get("abstained")
    if abstained is not None and not isinstance(abstained, str):
        raise RowError(f"abstained {abstained!r} is no text")
    own_id = fields.id or (numbers.id_of_current_record("row") if numbers is not None and "id" not in data else None)
    if own_id is None:
        raise RowError("no id: expected a text or a whole number under 'id'")
    return TieredRow(
        id=own_id,
        question=fields.question,
        answers=fields.answer,
        levels=levels,
        relation=fields.relation,
        question_entity=entity or None,
        abstained=abstained or None,
        extra=unread_fields(data),
        source=record.source,
    )


def _read_levels(record: Record, answers: Sequence[str], *, evidence: bool) -> tuple[Level, ...]:
    """The levels under "levels", else those of GRANOLA-EQ's columns. Raises RowError."""
    levels = record.data.get("levels")
    if isinstance(levels, str):
        levels = parse_json_or_text(levels)
    try:
        if isinstance(levels, list) and levels and all(isinstance(level, dict) for level in levels):
            if not evidence:
                levels = [{**level, "tiers": [{**tier, "evidence": ()} for tier in level["tiers"]]} for level in levels]
            made = tuple(map(Level.from_json, levels))
        else:
            texts = reference_levels(record.data) or []
            (qid, *_) = QuestionModel.of(record).qid_of_each_answer()
            made = tuple(
                Level(tiers=tuple(Tier(text=t, qid=qid if t == answers[0] else None) for t in level)) for level in texts
            )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise RowError(f"levels are malformed: {type(error).__name__} {error}") from error
    if not made or not all(level.tiers and {*map(type, level.names())} == {str} for level in made):
        raise RowError("no levels: expected a ladder under 'levels' or in granola_answer_1 and on")
    return made


def row_language_or_default(row: QARow, default: str) -> str:
    """The row's language where it names a known one, else `default`.

    A row in "de" gets `default` where `default` is "de-at".
    """
    named = row.extra.get("language")
    code = named.strip().lower() if isinstance(named, str) and unknown_language_of_row(row) is None else ""
    # The default "de-at" is more specific than "de" in the row.
    return default if not code or code.split("-")[0] == default.lower().split("-")[0] else code


def unknown_language_of_row(row: QARow) -> str | None:
    """The language that a row names, where it is unknown; None where it is known or the row names none."""
    named = row.extra.get("language")
    if not isinstance(named, str) or not named.strip():
        return None
    known = _CODE.fullmatch(named.strip()) is not None and is_supported_language(named.strip().lower())
    return None if known else named.strip()
