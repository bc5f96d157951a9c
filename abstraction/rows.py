"""QA rows in, tiered rows out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from abstraction.errors import RowError
from abstraction.faults import Fault, OnReject, Taken, attempt, fault_of
from abstraction.files import fields
from abstraction.files.data_folders import canonical_split, data_files, split_of
from abstraction.files.records import (
    SCHEMA_VERSION,
    Record,
    RejectedRow,
    UnansweredRow,
    excerpt,
    names_in,
    read_records,
)
from abstraction.files.row_shapes import RowShape, of_split
from abstraction.files.writing import FORMATS, write_records
from abstraction.questions.relation_wording import read_wording, subject_of
from abstraction.tiers import Level, Tier

__all__ = [
    "FORMATS",
    "SCHEMA_VERSION",
    "QARow",
    "RejectedRow",
    "TieredRow",
    "UnansweredRow",
    "granola_columns",
    "question_rows",
    "read_questions",
    "read_tiered",
    "write_granola_eq",
    "write_tiered",
]

UNANSWERED = "the dataset has no answer to it"
_FILE_RELATION = re.compile(r"\A(P[1-9][0-9]*)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class QARow:
    """A question with its gold answers.

    `answer_qids` has one id or None for each of `answers`. `subject_text` and `subject_qid` are the entity
    that the question is about. `extra` holds the fields of the input that mean nothing here; levels that the
    input already had stand there as texts under "reference_levels". `source` is "file:line".
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

    @property
    def answer_description(self) -> str | None:
        """What the row itself says of its answer's entity, as GRANOLA-EQ's rows do; None for several answers."""
        said = self.extra.get("answer_entity_description") or self.extra.get("answer_description")
        return said.strip() or None if isinstance(said, str) and len(self.answers) == 1 else None


@dataclass(frozen=True, kw_only=True, slots=True)
class TieredRow:
    """A question with its ladder: `levels[0]` is the answer itself, the rest ever coarser.

    A row that abstains has one level and the code in `abstained`. `question_entity` has "text" and "qid",
    each where known. `extra` holds the fields of a file that mean nothing here. `source` is the "file:line" that it, or
    its question, was read from.
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
        """The row as it stands in a tiered file; `extra` never hides a field of the row."""
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

    @property
    def links(self) -> list[dict[str, Any]]:
        """How the row's answers were linked, as its field "links" tells."""
        links = self.extra.get("links")
        return [link for link in links if isinstance(link, dict)] if isinstance(links, list) else []

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, flat: bool = False) -> TieredRow:
        """The inverse of `to_json`; also reads levels given as plain texts and GRANOLA-EQ's columns.

        Raises RowError where a field is missing or malformed.
        """
        try:
            return _tiered(data, flat=flat)
        except fields.FieldError as error:
            raise RowError(str(error)) from error


def linked_ids(link: Mapping[str, Any]) -> list[str]:
    """The entities that one of a row's links may lead to, the one it was taken for first."""
    return [i for i in (link.get("qid"), *(link.get("rivals") or ())) if isinstance(i, str)]


def read_questions(
    paths: Iterable[Path | str],
    *,
    relation: str | None = None,
    limit: int | None = None,
    on_reject: Callable[[RejectedRow], None] | None = None,
    on_unanswered: Callable[[UnansweredRow], None] | None = None,
    shape: RowShape | None = None,
    language: str = "en",
) -> Iterator[QARow]:
    """The questions of files in order: JSON arrays, JSONL, CSV, Parquet, with GRANOLA-EQ's columns too.

    `shape` says where rows of another form have what (`abstraction.files.row_shapes`), `language` which of theirs.

    A row's relation is its own, else `relation`, else the file name's (P19.test.json), else what its wording surely
    asks for (`questions.wording`). Its subject is given, or read from the question by the relation's patterns.
    A row without an id is called "<relation>-<n>", n counting the records of that relation's files from 1; "row-<n>"
    where no relation is given, whatever the wording asks for.
    `limit` caps the rows given out. Bad and repeated rows go to `on_reject`; without it they raise RowError. Rows to
    whose question the dataset has no answer, as the shape knows, are left out and go to `on_unanswered`.
    Raises RowError for a file that cannot be used at all.
    """
    seen: dict[str, str] = {}
    bases: dict[str, int] = {}
    given = 0
    if limit is not None and limit <= 0:
        return
    for path, records in shaped_files(paths, shape, language):
        from_name = _FILE_RELATION.match(Path(path).name)
        default = relation or (from_name[1].upper() if from_name else None)
        for row in _rows(records, default, seen, bases):
            if isinstance(row, UnansweredRow):
                if on_unanswered is not None:
                    on_unanswered(row)
                continue
            if isinstance(row, RejectedRow):
                _reject(row, on_reject)
                continue
            yield row
            given += 1
            if limit is not None and given >= limit:
                return


def _of_split(
    records: Iterable[Record | RejectedRow], split: str, path: Path | str, *, called_so: bool
) -> Iterator[Record | RejectedRow]:
    """The records of a split; those that say none are of it in a file that is called so.

    Raises RowError for a file where nothing says which split its rows are of.
    """
    is_told = called_so
    for record in records:
        is_of_split = None if isinstance(record, RejectedRow) else of_split(record.data, split)
        is_told = is_told or is_of_split is not None
        if is_of_split or (is_of_split is None and (called_so or isinstance(record, RejectedRow))):
            yield record
    if not is_told:
        raise RowError(f"{path}: no row says its split, and the file is not called {split!r}; leave --split out")


def shaped_files(
    paths: Iterable[Path | str], shape: RowShape | None, language: str, *, with_answers: bool = True
) -> Iterator[tuple[Path | str, Iterator[Record | RejectedRow]]]:
    """Each file of `paths`, those of a folder in its place, with its records under the usual names.

    Records without a field that the shape names are rejected; without answers only those read `with_answers`; those
    to which the dataset has no answer become an UnansweredRow. Of a shape's split alone, where it has one. Raises
    RowError as `data_files`, and where nothing tells the split.
    """
    split = shape.split if shape is not None else ""
    for path in (file for one in paths for file in data_files(one, split or None)):
        records = read_records(path)
        if shape is not None:
            called_so = bool(split) and split_of(Path(path)) == canonical_split(split)
            records = shaped_records(records, shape, language, with_answers, path=path, called_so=called_so)
        yield path, records


def shaped_records(
    records: Iterable[Record | RejectedRow],
    shape: RowShape,
    language: str = "en",
    with_answers: bool = True,
    *,
    path: Path | str = "the rows",
    called_so: bool = False,
) -> Iterator[Record | RejectedRow]:
    """Records of a shape, of its split alone, under the usual names.

    `path` is what messages call their file, `called_so` whether it is called by the split. Raises RowError where
    nothing tells the split.
    """
    if shape.split:
        called_so = called_so or not shape.split_must_be_told
        records = _of_split(records, shape.split, path, called_so=called_so)
    return map(partial(_shaped, shape=shape, language=language, with_answers=with_answers), records)


def _shaped(
    record: Record | RejectedRow, *, shape: RowShape, language: str, with_answers: bool
) -> Record | RejectedRow:
    if isinstance(record, RejectedRow):
        return record
    try:
        if shape.is_unanswered(record.data, language):
            shown = excerpt(repr(dict(record.data)))
            return UnansweredRow(source=record.source, reason=UNANSWERED, excerpt=shown)
        return shape.shaped(record, language, with_answers=with_answers)
    except fields.FieldError as error:
        return RejectedRow(source=record.source, reason=str(error), excerpt=excerpt(repr(dict(record.data))))
    except Exception as error:
        return _faulty(record, error)


def question_rows(
    records: Iterable[Record | RejectedRow], *, relation: str | None = None
) -> Iterator[QARow | RejectedRow]:
    """The questions of records, as `read_questions` of a file that holds them; rejected rows stand in their places."""
    return _rows(records, relation, {}, {})


def _rows(
    records: Iterable[Record | RejectedRow], default: str | None, seen: dict[str, str], bases: dict[str, int]
) -> Iterator[QARow | RejectedRow]:
    start = dict(bases)
    for position, record in enumerate(records, 1):
        if isinstance(record, RejectedRow):
            yield record
            continue
        try:
            row = _question(record.data, default, record.source, flat=record.flat)
        except fields.FieldError as error:
            reason = str(error)
            if reason.startswith(("no question", "no answer")):
                reason += f"; the row has {names_in(record)}"
            yield RejectedRow(source=record.source, reason=reason, excerpt=excerpt(repr(dict(record.data))))
            continue
        except Exception as error:
            yield _faulty(record, error)
            continue
        if not row.id:
            prefix = fields.relation_of(record.data) or default or "row"  # not by what rules read, which may change
            bases[prefix] = start.get(prefix, 0) + position
            row = replace(row, id=f"{prefix}-{bases[prefix]}")
        if row.id in seen:
            reason = f"id {row.id!r} stands already at {seen[row.id]}"
            yield RejectedRow(source=record.source, reason=reason, excerpt=excerpt(row.question))
            continue
        seen[row.id] = record.source
        yield row


def read_tiered(
    path: Path | str, *, on_reject: Callable[[RejectedRow], None] | None = None, evidence: bool = True
) -> Iterator[TieredRow]:
    """The rows of a tiered file in order: ours in any format, or GRANOLA-EQ with each granola_answer a level.

    Without `evidence` that of the tiers is left out, which takes half of the time and of the memory. Raises RowError
    for an unusable file, and for a bad or repeated row unless `on_reject` takes it.
    """
    return tiered_rows(read_records(path), on_reject=on_reject, evidence=evidence)


def tiered_rows(
    records: Iterable[Record | RejectedRow],
    *,
    on_reject: Callable[[RejectedRow], None] | None = None,
    evidence: bool = True,
) -> Iterator[TieredRow]:
    """The rows of records, as `read_tiered` of a file that holds them."""
    seen: dict[str, str] = {}
    for position, record in enumerate(records, 1):
        if isinstance(record, RejectedRow):
            _reject(record, on_reject)
            continue
        try:
            data = {"id": f"row-{position}", **record.data}
            row = _tiered(data, flat=record.flat, evidence=evidence, source=record.source)
            if row.id in seen:
                raise fields.FieldError(f"id {row.id!r} stands already at {seen[row.id]}")
        except fields.FieldError as error:
            rejected = RejectedRow(source=record.source, reason=str(error), excerpt=excerpt(repr(dict(record.data))))
            _reject(rejected, on_reject)
            continue
        except Exception as error:
            _reject(_faulty(record, error), on_reject)
            continue
        seen[row.id] = record.source
        yield row


def _faulty(record: Record, error: Exception) -> RejectedRow:
    """The record as one that an unforeseen error rejects. Raises the error where it is another."""
    fault = fault_of(error, "reading")
    return fault.rejected(source=record.source, id=str(record.data.get("id", "")), text=repr(dict(record.data)))


def write_tiered(
    rows: Iterable[TieredRow],
    path: Path | str,
    *,
    format: str | None = None,
    csv_raw: bool = False,
    on_reject: OnReject | None = None,
) -> int:
    """Write rows as "jsonl", "csv" or "parquet" (None: by suffix, else JSONL) and return how many.

    The file appears whole or not at all. In CSV and Parquet `levels` is one JSON text; `csv_raw` as in
    `write_records`. A row that cannot be written goes to `on_reject`; without it, what is wrong is raised.
    """
    return _write(rows, TieredRow.to_json, path, format, csv_raw, on_reject)


def _write(
    rows: Iterable[TieredRow],
    form: Callable[[TieredRow], dict[str, Any]],
    path: Path | str,
    format: str | None,
    csv_raw: bool,
    on_reject: OnReject | None,
) -> int:
    if on_reject is None:
        return write_records(map(form, rows), path, format=format, csv_raw=csv_raw)
    taken = Taken(on_reject)

    def records() -> Iterator[dict[str, Any]]:
        for row in rows:
            taken.take(row.source, row.id, row.question)
            record = attempt("writing", form, row)
            if isinstance(record, Fault):
                taken.unwritten(record)
            else:
                yield record

    return write_records(records(), path, format=format, csv_raw=csv_raw, on_fault=taken.unwritten)


def write_granola_eq(
    rows: Iterable[TieredRow],
    path: Path | str,
    *,
    format: str | None = None,
    csv_raw: bool = False,
    on_reject: OnReject | None = None,
) -> int:
    """Write rows under GRANOLA-EQ's own columns: one answer a level, that of its first tier, at most 14.

    Alternates and evidence have no place there; the row's other fields stand behind its columns. The other
    arguments as in `write_tiered`.
    """
    return _write(rows, _granola_row, path, format, csv_raw, on_reject)


def granola_columns(row: TieredRow) -> dict[str, Any]:
    """A row under GRANOLA-EQ's own columns, in their order; None where the row does not tell."""
    entity = row.question_entity or {}
    names = [level.tiers[0].text for level in row.levels[: len(fields.GRANOLA_ANSWERS)]]
    columns: dict[str, Any] = {
        "relation": row.relation,
        "question": row.question,
        "question_entity": entity.get("text"),
        "question_entity_qid": entity.get("qid"),
        "answer": row.answers[0],
        "answer_entity_qid": row.levels[0].tiers[0].qid,
        fields.GRANOLA_COUNT: len(names),
        "id": row.id,
        **dict(zip(fields.GRANOLA_ANSWERS, names, strict=False)),
    }
    return {name: columns.get(name, row.extra.get(name)) for name in fields.GRANOLA_COLUMNS}


def _reject(row: RejectedRow, on_reject: Callable[[RejectedRow], None] | None) -> None:
    if on_reject is None:
        raise RowError(f"{row.source}: {row.reason}: {row.excerpt}")
    on_reject(row)


def _question(data: Mapping[str, Any], default: str | None, source: str, *, flat: bool) -> QARow:
    question = fields.question_of(data)
    answers = fields.answers_of(data, flat=flat)
    text, qid = fields.subject_of(data)
    relation = fields.relation_of(data) or default or read_wording(question).relation
    if text is None and relation is not None:
        text = subject_of(question, relation)
    extra = fields.rest_of(data)
    if (reference := fields.reference_levels(data)) is not None:
        extra.setdefault(fields.REFERENCE, reference)  # ladders made of such a row do not replace it
    return QARow(
        id=fields.id_of(data) or "",
        question=question,
        answers=answers,
        answer_qids=fields.answer_qids_of(data, len(answers), flat=flat),
        relation=relation,
        subject_text=text,
        subject_qid=qid,
        extra=extra,
        source=source,
    )


def _tiered(data: Mapping[str, Any], *, flat: bool, evidence: bool = True, source: str = "") -> TieredRow:
    answers = fields.answers_of(data, flat=flat)
    entity = _question_entity(data)
    made = _levels(data, answers, flat=flat, evidence=evidence)
    abstained = data.get("abstained")
    if abstained is not None and not isinstance(abstained, str):
        raise fields.FieldError(f"abstained {abstained!r} is no text")
    own_id = fields.id_of(data)
    if own_id is None:
        raise fields.FieldError("no id")
    return TieredRow(
        id=own_id,
        question=fields.question_of(data),
        answers=answers,
        levels=made,
        relation=fields.relation_of(data),
        question_entity=entity or None,
        abstained=abstained or None,
        extra=fields.rest_of(data),
        source=source,
    )


def _question_entity(data: Mapping[str, Any]) -> dict[str, Any]:
    """The entity asked about, its fields as they stood, to the byte."""
    text, qid = fields.subject_of(data)
    given = data.get("question_entity")
    known = fields.other_fields(given) | {key: value for key, value in (("text", text), ("qid", qid)) if value}
    order = dict.fromkeys((*given, *known)) if isinstance(given, Mapping) else known
    return {key: known[key] for key in order if key in known}


def _levels(data: Mapping[str, Any], answers: Sequence[str], *, flat: bool, evidence: bool) -> tuple[Level, ...]:
    """The levels under "levels", else those of GRANOLA-EQ's columns. Raises FieldError."""
    levels = data.get("levels")
    if isinstance(levels, str):
        levels = fields.parsed(levels)
    try:
        if isinstance(levels, list) and levels and all(isinstance(level, dict) for level in levels):
            made = tuple(Level.from_json(level if evidence else _bare(level)) for level in levels)
        else:
            texts = fields.reference_levels(data) or []
            (qid, *_) = fields.answer_qids_of(data, len(answers), flat=flat)
            made = tuple(
                Level(tiers=tuple(Tier(text=t, qid=qid if t == answers[0] else None) for t in level)) for level in texts
            )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise fields.FieldError(f"levels are malformed: {type(error).__name__} {error}") from error
    if not made or not all(level.tiers and {*map(type, level.names())} == {str} for level in made):
        raise fields.FieldError("no levels: expected a ladder under 'levels' or in granola_answer_1 and on")
    return made


def _bare(level: Mapping[str, Any]) -> dict[str, Any]:
    tiers = [{**tier, "evidence": ()} for tier in level["tiers"]]
    return {**level, "tiers": tiers}


def _granola_row(row: TieredRow) -> dict[str, Any]:
    columns = {name: "" if value is None else value for name, value in granola_columns(row).items()}
    return columns | {key: value for key, value in row.extra.items() if key not in fields.KNOWN and key not in columns}
