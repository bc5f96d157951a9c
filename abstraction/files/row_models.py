"""Rows from records: fields validated on entry, rows read one by one, malformed and repeated ones rejected.

A model has the fields that are read; `unread_fields` returns all others. Errors are one sentence with the field, the
given value and the expected one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PlainValidator, ValidationError

from abstraction.base.faults import OnReject, RejectedRow, UnansweredRow, fault_or_raise, repr_excerpt
from abstraction.errors import RowError
from abstraction.files.records import (
    ANSWER_QIDS,
    ANSWERS,
    GRANOLA_ANSWERS,
    KNOWN,
    NEAR,
    Record,
    open_for_reading,
    parse_json_or_text,
    read_csv,
    split_cell,
)
from kg.base.model import ENTITY_ID
from kg.errors import ForeseenError

T = TypeVar("T")


def read_each(
    records: Iterable[Record | RejectedRow],
    read: Callable[[Record], T],
    *,
    name: Callable[[Any], str] | None = None,
    seen: dict[str, str] | None = None,
) -> Iterator[T | RejectedRow]:
    """The result of `read` for each record, in order; the rejected row for a malformed one.

    `read` raises one of our errors with the reason. An unforeseen error is a fault of the program, which rejects the
    row. `name` returns the name of a row; a row whose name occurred before is rejected too. `seen` maps the names of
    earlier files to their places.
    """
    seen = {} if seen is None else seen
    for record in records:
        if isinstance(record, RejectedRow):
            yield record
            continue
        try:
            row = read(record)
        except ForeseenError as error:
            yield record.rejected_row(str(error))
        except Exception as error:
            given = record.data.get("id", "")
            fault, id_ = fault_or_raise(error, "reading"), str(given) if isinstance(given, str | int) else ""
            yield fault.rejected(source=record.source, id=id_, text=record.text_excerpt)
        else:
            if name is not None and name(row) in seen:
                yield record.rejected_row(f"id {name(row)!r} was used already at {seen[name(row)]}")
                continue
            if name is not None:
                seen[name(row)] = record.source
            yield row


def read_each_id_once(
    records: Iterable[Record | RejectedRow], read: Callable[[Record], T], *, seen: dict[str, str] | None = None
) -> Iterator[T | RejectedRow]:
    """As `read_each`; a row whose id an earlier row has is rejected too."""
    return read_each(records, read, name=attrgetter("id"), seen=seen)


def without_rejected(
    rows: Iterable[T | RejectedRow],
    on_reject: OnReject | None,
    on_unanswered: Callable[[UnansweredRow], object] = lambda row: None,
) -> Iterator[T]:
    """The rows without rejected ones: unanswered ones go to `on_unanswered`, others to `on_reject`.

    Without `on_reject` a rejected row raises RowError.
    """
    for row in rows:
        if not isinstance(row, RejectedRow):
            yield row
        elif isinstance(row, UnansweredRow):
            on_unanswered(row)
        elif on_reject is not None:
            on_reject(row)
        else:
            raise RowError(f"{row.source}: {row.reason}: {row.excerpt}")


def read_sheet_lines(
    path: Path | str, columns: Iterable[str], *, expected: str, error: type[Exception]
) -> Iterator[Record]:
    """The lines of a CSV sheet that people filled in, except empty ones.

    Raises `error` with the place for a malformed line, and for a sheet without one of the columns.
    """
    with open_for_reading(path) as stream:
        for record in read_csv(stream, str(path)):
            if isinstance(record, RejectedRow):
                raise error(f"{record.source}: {record.reason}")
            if missing := [name for name in columns if name not in record.columns]:
                raise error(f"{path}: no column {', '.join(missing)}; expected {expected}")
            yield record


class RowIdCounter:
    """Makes ids for rows without one: "<prefix>-<n>", where n counts the records from 1, on from file to file."""

    def __init__(self) -> None:
        self._counted: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._place = 0

    def number_records(self, records: Iterable[T]) -> Iterator[T]:
        """The records of one file, unchanged; taking one makes it the current record."""
        self._before = dict(self._counted)
        for self._place, record in enumerate(records, 1):
            yield record

    def id_of_current_record(self, prefix: str) -> str:
        """The id for the row of the record that was taken last, as "<prefix>-<n>"."""
        self._counted[prefix] = self._before.get(prefix, 0) + self._place
        return f"{prefix}-{self._counted[prefix]}"


SHOWN = 60  # characters of a wrong value
_RELATION = re.compile(r"P[1-9][0-9]{0,8}\Z")  # a property id of at most nine digits
# The addresses of WikiData for an id.
_URI = re.compile(r"\Ahttps?://(?:www\.)?wikidata\.org/(?:wiki|entity|prop(?:/direct)?)/(?:Property:)?", re.I)
# The types of pydantic's own checks in the words of our messages.
_EXPECTED = {
    "string_type": "a text", "list_type": "a list", "tuple_type": "a list", "dict_type": "an object",
    "int_type": "a whole number", "float_type": "a number", "bool_type": "true or false",
}  # fmt: skip


def is_number(value: object) -> bool:
    """Whether a JSON value is a number; true and false do not count as numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def finite_number(value: object) -> float | None:
    """The finite number of a JSON value or a CSV cell; None for anything else, and beyond the range of floats."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def parse_item_id(value: object) -> str | None:
    """An item's id from an id, an address or an object with "qid"; None for an empty value. Raises ValueError."""
    if isinstance(value, Mapping):
        value = value.get("qid")
    if value is None or value == "":
        return None
    name = _id_without_address(value)
    if not ENTITY_ID.match(name) or name[0] != "Q":
        raise ValueError("is no item id; expected Q and a number, as in Q76")
    return name


def parse_qid_setting(value: str | None, setting: str) -> str | None:
    """The item id in the value of an option; `setting` is its name for the message. None for an empty value. Raises
    RowError.
    """
    try:
        return parse_item_id(value)
    except ValueError as error:
        raise RowError(f"{setting} {value!r} {error}") from None


def _id_without_address(value: object) -> str:
    return _URI.sub("", value.strip()).upper() if isinstance(value, str) else ""  # p19 and q76 are accepted


def _parse_row_id(value: object) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("is no id; expected a text or a whole number")
    return str(value).strip()


def _parse_required_id(value: object) -> str:
    if not (read := _parse_row_id(value)):
        raise ValueError("is no id; expected a text or a whole number")
    return read


def _parse_question(value: object) -> str:
    if not isinstance(value, str) or not (text := value.strip()):
        raise ValueError("is no question; expected a text")
    return text


def _parse_relation(value: object) -> str | None:
    if value is None or value == "":
        return None
    name = _id_without_address(value)
    if not _RELATION.match(name):
        raise ValueError("is no property id; expected P and a number, as in P19")
    return name


def _parse_entity(value: object) -> Mapping[str, Any]:
    """The fields of an entity, from a name, an object or its JSON text; "text" and "qid" where it has any.

    Fields of an object keep their order.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = parse_json_or_text(value)
    if value is None or isinstance(value, str):
        name = (value or "").strip()
        return {"text": name} if name else {}
    if not isinstance(value, Mapping):
        raise ValueError('is neither a text nor an object with "qid" and "text"')
    text = value.get("text")
    if text is not None and not isinstance(text, str):
        raise ValueError('has a "text" that is not a text')
    read = {**value, "text": text if text and text.strip() else None, "qid": parse_item_id(value)}
    return {name: one for name, one in read.items() if one is not None or name not in ("text", "qid")}


def _parse_answers(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or is_number(value):
        value = [value]
    if not isinstance(value, list | tuple):
        raise ValueError("is no answer; expected a text or a list of texts")
    answers = []
    for item in value:
        if not isinstance(item, str):
            if not is_number(item):
                raise ValueError(f"has {repr_excerpt(item)} in it, which is no text")
            item = str(item)
        if not (text := item.strip()):
            raise ValueError("has an empty text as an answer")
        answers.append(text)
    if not answers:
        raise ValueError("is an empty list; expected at least one answer")
    return tuple(answers)


def _parse_item_ids(value: object) -> str | tuple[str | None, ...] | None:
    if value in (None, "", []):
        return None
    if isinstance(value, str | Mapping):
        return parse_item_id(value)
    if not isinstance(value, list | tuple):
        raise ValueError("is neither an id nor a list of ids")
    return tuple(map(parse_item_id, value))


def _split_ids(cell: str) -> Any:
    """The ids in a cell: a single one is for all answers, several are for one answer each."""
    ids = split_cell(cell)
    return ids[0] if len(ids) == 1 else ids


RowId = Annotated[str | None, PlainValidator(_parse_row_id)]
NeededId = Annotated[str, PlainValidator(_parse_required_id)]
ItemIds = Annotated[str | tuple[str | None, ...] | None, PlainValidator(_parse_item_ids)]


class RowModel(BaseModel):
    """A row of any kind. `cells` maps the fields that have another form in CSV to the functions that read their cells.
    """

    model_config = ConfigDict(extra="ignore", defer_build=True)  # built on first use: imports stay fast
    cells: ClassVar[Mapping[str, Callable[[str], Any]]] = {}

    @classmethod
    def of(cls, record: Record) -> Self:
        """The row of a record. Raises RowError for a malformed record, with the reason but not the place."""
        data = record.data
        if record.flat:
            data = {name: cls.cells[name](value) if name in cls.cells else value for name, value in data.items()}
        try:
            row: Self = cls.__pydantic_validator__.validate_python(data)  # model_validate without reading its options
        except ValidationError as error:
            raise RowError(cls._sentence_on_first_error(error, record)) from None
        return row

    @classmethod
    def _sentence_on_first_error(cls, error: ValidationError, record: Record) -> str:
        """The first error of the validation, in one sentence for a message."""
        first = error.errors(include_url=False)[0]
        name, *inside = first["loc"]
        place = f"{name}{''.join(f'[{at + 1}]' if isinstance(at, int) else f'.{at}' for at in inside)}"
        if first["type"] == "missing" and not inside:
            expected = cls.model_fields[str(name)].description
            if name in record.columns:
                return f"no {name}: it is empty; expected {expected}"
            near = get_close_matches(str(name), set(record.data) - KNOWN, n=1, cutoff=NEAR)
            meant = f" (is {near[0]!r} meant?)" if near else ""
            return f"no {name}: expected {expected} under {name!r}; the row has {record.first_field_names}{meant}"
        if first["type"] == "missing":
            return f"{place} is missing"
        given = repr_excerpt(first["input"])
        given = given if len(given) <= SHOWN else f"{given[: SHOWN - 1]}…"
        if first["type"] == "value_error":
            return f"{place} {given} {first['ctx']['error']}"
        expects = _EXPECTED.get(first["type"]) or first["msg"].removeprefix("Input should be ")
        return f"{place} is {given}; expected {expects}"


class AskedModel(RowModel):
    """A question: its id, its text, its relation and the entity that it is about."""

    id: RowId = None
    question: Annotated[str, PlainValidator(_parse_question)] = Field(description="a text")
    relation: Annotated[str | None, PlainValidator(_parse_relation)] = None
    question_entity: Annotated[Mapping[str, Any], PlainValidator(_parse_entity)] = Field(default_factory=dict)
    question_entity_qid: Annotated[str | None, PlainValidator(parse_item_id)] = None

    @property
    def subject_text(self) -> str | None:
        """The name of the entity asked about, where it is given."""
        return self.question_entity.get("text")

    @property
    def subject_qid(self) -> str | None:
        """The item of the entity asked about, where it is given."""
        return self.question_entity.get("qid") or self.question_entity_qid


class AnsweredModel(AskedModel):
    """A question with its gold answers; the levels of a tiered row are read elsewhere."""

    cells: ClassVar[Mapping[str, Callable[[str], Any]]] = dict.fromkeys(ANSWERS, split_cell)

    answer: Annotated[tuple[str, ...], PlainValidator(_parse_answers)] = Field(
        validation_alias=AliasChoices(*ANSWERS), description="a text or a list of texts"
    )


class QuestionModel(AnsweredModel):
    """A question with its gold answers and their items."""

    cells: ClassVar[Mapping[str, Callable[[str], Any]]] = {
        **AnsweredModel.cells, **dict.fromkeys(ANSWER_QIDS, _split_ids)
    }  # fmt: skip

    answer_qid: ItemIds = None
    answer_qids: ItemIds = None
    answer_entity_qid: ItemIds = None
    answer_entity: ItemIds = None

    def qid_of_each_answer(self) -> tuple[str | None, ...]:
        """One id or None for each answer; a single id applies to every answer, as other names of one entity.

        Raises RowError for a list of another length.
        """
        ids = self.answer_qid or self.answer_qids or self.answer_entity_qid or self.answer_entity
        if not isinstance(ids, tuple):
            return (ids,) * len(self.answer)
        if len(ids) != len(self.answer):
            name = next(name for name in ANSWER_QIDS if getattr(self, name))
            raise RowError(f"{name} has {len(ids)} ids for {len(self.answer)} answers")
        return ids


def reference_levels(data: Mapping[str, Any]) -> list[list[str]] | None:
    """The existing levels of a row as texts: GRANOLA-EQ's columns, or a list under 'levels'. Raises RowError."""
    granola = [str(data[k]).strip() for k in GRANOLA_ANSWERS if data.get(k) not in (None, "")]
    if granola:
        return [[text] for text in granola]
    levels = data.get("levels")
    if isinstance(levels, str):
        levels = parse_json_or_text(levels)
    if not isinstance(levels, list) or not levels:
        return None
    return [_texts_of_level(level) for level in levels]


def _texts_of_level(level: object) -> list[str]:
    if isinstance(level, str):
        return [level]
    if isinstance(level, list) and all(isinstance(text, str) for text in level):
        return level
    if isinstance(level, Mapping) and isinstance(level.get("tiers"), list):
        return [tier["text"] for tier in level["tiers"] if isinstance(tier, Mapping) and "text" in tier]
    raise RowError(f"level {repr_excerpt(level)} is neither a text, a list of texts nor an object with tiers")


def without_redundant_answer(record: Record) -> Record:
    """The record without `answer` where `answers` contains it too, as in rows of published datasets."""
    first, second = ANSWERS
    if first in record.data and (several := record.data.get(second)):
        several = split_cell(several) if record.flat else several
        try:
            if set(_parse_answers(record.data[first])) <= set(_parse_answers(several)):
                return replace(record, data={name: value for name, value in record.data.items() if name != first})
        except ValueError:  # the error is reported where the answers are read
            pass
    return record


def unread_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that no model reads, which are passed on; they include `answers` where `answer` is read instead."""
    first, second = ANSWERS
    unread = KNOWN - {second} if first in data else KNOWN
    return {key: value for key, value in data.items() if key not in unread}
