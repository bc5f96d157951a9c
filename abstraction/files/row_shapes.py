"""Rows of published datasets, with the paths of their fields: presets by name, or fields named one by one.

In a path a dot enters an object, `*` is every item of a list, a number one item, `{language}` the requested language,
`(description)` the descriptions in a list of Freebase, as WebQuestions writes its answers. A field whose name equals
the whole path comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from abstraction.base.faults import RejectedRow, UnansweredRow
from abstraction.base.properties import package_data
from abstraction.errors import RowError
from abstraction.files.records import (
    ANSWERS,
    QUESTION,
    Record,
    canonical_split,
    field_of_heading,
    parse_literal_or_text,
    split_cell,
)

UNANSWERED = "the dataset has no answer to it"
_LIST = "(list "  # the beginning of a list of Freebase
# One description: a quoted text with escapes, or a bare word.
_DESCRIPTION = re.compile(r'\(description (?:"((?:[^"\\]|\\.)*)"|([^\s()"]+))\)(?: |(?=\)\Z))')

Paths = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RowShape:
    """The paths of the question, the answers and other fields in a row; () for a field that has its
    usual name or is missing.

    `aliases` are further names of the answers; `relations` maps the values under `relation` to property ids. The
    question, the answers and `needed` fields must be there; others may be missing. `source` and `licence` are those of
    a dataset published in this shape.

    Rows of another `split` are left out: by their field `split`, or by the name of their file. Where neither gives the
    split, that is an error, or all rows are taken unless `split_must_be_told`.

    A dataset that has questions without an answer marks them by one of the kinds `no_answer` under `answer_kind`, or
    leaves the answers empty; a shape without `no_answer` has no such rows.
    """

    question: Paths = ()
    answers: Paths = ()
    aliases: Paths = ()
    answer_qids: Paths = ()
    id: Paths = ()
    language: Paths = ()
    subject: Paths = ()
    subject_qid: Paths = ()
    relation: Paths = ()
    relations: Mapping[str, str] | None = None
    answer_kind: Paths = ()
    no_answer: tuple[str, ...] = ()
    split: str = ""
    split_must_be_told: bool = True
    needed: tuple[str, ...] = ()
    source: str = ""
    licence: str = ""

    def rename_fields(self, record: Record, language: str = "en", *, with_answers: bool = True) -> Record:
        """The record with its fields under the usual names; unread fields are passed on.

        Raises RowError for a missing field, for answers only if the row is read `with_answers`.
        """
        paths = {
            "question": self.question, "answer": self.answers + self.aliases, "id": self.id,
            "answer_qid": self.answer_qids, "language": self.language, "question_entity": self.subject,
            "question_entity_qid": self.subject_qid, "relation": self.relation,
        }  # fmt: skip
        needed = {"question": self.question or QUESTION, "answer": self.answers or ANSWERS, "id": self.id}
        asked = ("question", *(["answer"] if with_answers else []))
        there = {**dict.fromkeys(record.columns), **record.data}
        for name in (*asked, *self.needed):
            if not any(values_at(there, path, language) for path in needed[name]):
                raise RowError(
                    f"no field {_quote_paths(needed[name], language)}; the row has {record.first_field_names}"
                )
        fields = self._read_fields(record, language, paths)
        filled = {name: value for name, value in fields.items() if value not in (None, [])}
        for name in asked:
            if name in fields and name not in filled:
                raise RowError(f"no {name}: no value under {_quote_paths(paths[name], language)}")
        read = {path if path in record.data else path.partition(".")[0] for name in filled for path in paths[name]}
        unread = {name: value for name, value in record.data.items() if name not in read}
        # Filled answers are lists, not cells to be split.
        return replace(record, data={**unread, **filled}, flat=record.flat and "answer" not in filled)

    def is_unanswered(self, data: Mapping[str, Any], language: str = "en") -> bool:
        """Whether the dataset has no answer to the question of a row that has fields for answers."""
        if not self.no_answer or not any(values_at(data, path, language) for path in self.answers):
            return False
        kinds = set(_texts_at_first_filled_path(data, self.answer_kind, language))
        return (bool(kinds) and kinds <= {*self.no_answer}) or next(
            _texts_at_first_filled_path(data, self.answers, language), None
        ) is None

    def _read_fields(self, record: Record, language: str, paths_by_field: Mapping[str, Paths]) -> dict[str, Any]:
        """The fields that the shape reads, under the usual names; None or empty where the row lacks them."""
        data = record.data
        fields: dict[str, Any] = {
            name: next(_texts_at_first_filled_path(data, paths, language), None)
            for name, paths in paths_by_field.items()
            if paths
        }
        answers = [
            *_texts_at_first_filled_path(data, self.answers, language),
            *_texts_at_first_filled_path(data, self.aliases, language),
        ]
        if record.flat:  # a renamed CSV cell is split as any other
            answers = [answer for cell in answers for answer in split_cell(cell)]
        if self.answers:
            fields["answer"] = answers = list(dict.fromkeys(answers))
        if self.answer_qids:
            qids = list(_texts_at_first_filled_path(data, self.answer_qids, language))
            # Ids that match no answers one to one are dropped: answers are then linked by name.
            fields["answer_qid"] = qids[0] if len(qids) == 1 else qids if len(qids) == len(answers) else None
        if self.relations is not None:
            fields["relation"] = self.relations.get(fields.get("relation") or "")
        return fields


def _shape_with_fields(given: Mapping[str, Any]) -> RowShape:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return RowShape(**fields)


PRESETS: Mapping[str, RowShape] = {
    name: _shape_with_fields(given) for name, given in package_data("datasets.json").items() if name != "_about"
}


def shape_of(
    preset: str | None = None,
    *,
    question: str | None = None,
    answer: str | None = None,
    id: str | None = None,
    split: str | None = None,
) -> RowShape | None:
    """The shape of a preset, with single fields replaced by the named ones; None where nothing is given.

    Raises RowError for an unknown preset.
    """
    if preset is not None and preset not in PRESETS:
        raise RowError(f"preset {preset!r} is not known; there are {', '.join(PRESETS)}")
    if preset is None and not (question or answer or id or split):
        return None
    shape = PRESETS[preset] if preset is not None else RowShape()
    return replace(
        shape,
        no_answer=() if answer else shape.no_answer,
        question=(question,) if question else shape.question,
        answers=(answer,) if answer else shape.answers,
        id=(id,) if id else shape.id,
        split=split or "",
        needed=("id",) if id else (),
    )


def origin_sentence(shape: RowShape | None) -> str:
    """The dataset and licence of a shape, in one sentence; "" where the shape has none."""
    if shape is None or not shape.source:
        return ""
    licence = f"published under {shape.licence}" if shape.licence else "under the terms of those who published it"
    return f"The questions and their gold answers are from {shape.source}, {licence}."


def _texts_at_first_filled_path(data: Mapping[str, Any], paths: Paths, language: str) -> Iterator[str]:
    """The texts and numbers at the first of the paths that has any."""
    for path in paths:
        if values := [text for value in values_at(data, path, language) for text in _flatten_texts(value)]:
            yield from values
            return


def _flatten_texts(value: Any) -> Iterator[str]:
    """The texts of a value or of all items in a list; numbers as their digits."""
    if isinstance(value, str) and value[:1] in "[{":
        value = parse_literal_or_text(value)
    if isinstance(value, list):
        for item in value:
            yield from _flatten_texts(item)
    elif isinstance(value, bool):
        yield "yes" if value else "no"
    elif isinstance(value, str | int | float) and str(value).strip():
        yield str(value)


def values_at(data: Mapping[str, Any], path: str, language: str = "") -> list[Any]:
    """The values at the end of a path, empty ones as None; a field may have dots in its own name."""
    name = path if path in data else field_of_heading(path)  # CSV headings are read in this form
    return list(_values_at_steps(data, [name] if name in data else path.replace("{language}", language).split(".")))


def _values_at_steps(value: Any, steps: Sequence[str]) -> Iterator[Any]:
    """The values reached by the steps. JSON in a text, as in cells, is parsed; for an empty value the result is None.
    """
    if not steps or value in (None, "", []):
        yield None if steps else value
        return
    if isinstance(value, str) and value[:1] in "[{":
        value = parse_literal_or_text(value)
    first, *rest = steps
    if first == "(description)":
        yield from _parse_description_list(value.strip()) if isinstance(value, str) else ()
    elif isinstance(value, Mapping):
        yield from _values_at_steps(value[first], rest) if first in value else ()
    elif isinstance(value, list):
        for item in value if first == "*" else value[int(first) :][:1] if first.isdigit() else ():
            yield from _values_at_steps(item, rest)


def _quote_paths(paths: Sequence[str], language: str) -> str:
    """The paths in quotation marks for a message, joined by "or"."""
    return " or ".join(repr(path.replace("{language}", language)) for path in paths)


def _parse_description_list(text: str) -> Iterator[str]:
    """The texts of `(list (description Paris) (description "New York"))`; none for a text in another form."""
    if not text.startswith(_LIST) or not text.endswith(")"):
        return
    at = len(_LIST)
    read = []
    while at < len(text) - 1:
        description = _DESCRIPTION.match(text, at)
        if description is None:
            return
        read.append(re.sub(r"\\(.)", r"\1", description[1]) if description[1] is not None else description[2])
        at = description.end()
    yield from filter(str.strip, read)


def records_with_usual_fields(
    records: Iterable[Record | RejectedRow],
    shape: RowShape,
    language: str = "en",
    with_answers: bool = True,
    *,
    path: Path | str = "the rows",
    file_named_by_split: bool = False,
) -> Iterator[Record | RejectedRow]:
    """The records of the shape's split, with their fields under the usual names; rejected rows stay in their places.

    `path` is the name of their file for messages; `file_named_by_split`: whether the file is named by the split.
    Raises RowError where the split is unknown.
    """
    from abstraction.files.row_models import read_each  # here: commands that only name shapes start without pydantic

    def rename_or_reject(record: Record) -> Record | UnansweredRow:
        if shape.is_unanswered(record.data, language):
            return UnansweredRow(source=record.source, reason=UNANSWERED, excerpt=record.text_excerpt)
        return shape.rename_fields(record, language, with_answers=with_answers)

    if shape.split:
        file_named_by_split = file_named_by_split or not shape.split_must_be_told
        records = _select_split(records, shape.split, path, file_named_by_split=file_named_by_split)
    return read_each(records, rename_or_reject)


def _select_split(
    records: Iterable[Record | RejectedRow], split: str, path: Path | str, *, file_named_by_split: bool
) -> Iterator[Record | RejectedRow]:
    """The records of a split, by the split's name or number in them; records without one are kept if the file is named
    by the split.

    Raises RowError for a file where neither the rows nor the name give the split.
    """
    is_told = file_named_by_split
    for record in records:
        if isinstance(record, RejectedRow):
            yield record
            continue
        named = (record.data.get(name) for name in ("split", "Split"))
        its_split = next((name for name in named if isinstance(name, str | int)), None)
        is_told = is_told or its_split is not None
        if file_named_by_split if its_split is None else canonical_split(str(its_split)) == canonical_split(split):
            yield record
    if not is_told:
        raise RowError(f"{path}: no row names its split, and the file is not called {split!r}; leave --split out")
