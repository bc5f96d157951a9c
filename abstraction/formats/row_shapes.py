"""Rows of datasets as they are published, told where they have what: presets by name, or fields named one by one.

A path leads inside by dots, `*` is every item of a list, `{language}` the language that is asked for; of several paths,
parted by `|`, the first with something in it counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from abstraction.errors import RowError
from abstraction.formats.data_folders import canonical_split
from abstraction.formats.fields import parsed
from abstraction.formats.records import Record

MOST_VALUES = 1_000  # of one path in one row
_POPQA = {
    "author": "P50", "capital": "P36", "capital of": "P1376", "color": "P462", "composer": "P86", "country": "P17",
    "director": "P57", "father": "P22", "genre": "P136", "mother": "P25", "occupation": "P106", "place of birth": "P19",
    "producer": "P162", "religion": "P140", "screenwriter": "P58", "sport": "P641",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class RowShape:
    """Where a row has its question, answers and the rest; empty where it has the usual names, or nothing.

    `aliases` are further names of the answers; `relations` are the property ids of what stands under `relation`.
    Rows of another `split` than this are left out: by their field `split`, or by the name of their file. Where
    nothing tells, that is an error, or where it need not be told all rows are taken.
    """

    question: str = ""
    answers: str = ""
    aliases: str = ""
    answer_qids: str = ""
    id: str = ""
    language: str = ""
    subject: str = ""
    subject_qid: str = ""
    relation: str = ""
    relations: Mapping[str, str] | None = None
    split: str = ""
    split_must_be_told: bool = True

    def shaped(self, record: Record, language: str = "en") -> Record:
        """The record under the usual names; fields that the shape does not read are handed on."""
        data = record.data
        fields: dict[str, Any] = {}
        if self.question:
            fields["question"] = next(_texts(data, self.question, language), None)
        if self.answers:
            fields["answer"] = [*_texts(data, self.answers, language), *_texts(data, self.aliases, language)]
            fields["answer"] = list(dict.fromkeys(fields["answer"]))
        if self.answer_qids:
            fields["answer_qid"] = self._qids(data, language, len(fields.get("answer", ())))
        for name, path in (("id", self.id), ("language", self.language), ("question_entity", self.subject)):
            if path:
                fields[name] = next(_texts(data, path, language), None)
        if self.subject_qid:
            fields["question_entity_qid"] = next(_texts(data, self.subject_qid, language), None)
        if self.relation:
            stated = next(_texts(data, self.relation, language), None)
            fields["relation"] = stated if self.relations is None else self.relations.get(stated or "")
        filled = {name: value for name, value in fields.items() if value not in (None, [])}
        read = {path.partition(".")[0] for name in filled for path in self._paths(name)}
        unread = {name: value for name, value in data.items() if name not in read}
        return replace(record, data={**unread, **filled}, flat=record.flat and "answer" not in filled)

    def _paths(self, name: str) -> list[str]:
        """Where what is now under a usual name was."""
        paths = {
            "question": (self.question,), "answer": (self.answers, self.aliases), "answer_qid": (self.answer_qids,),
            "id": (self.id,), "language": (self.language,), "question_entity": (self.subject,),
            "question_entity_qid": (self.subject_qid,), "relation": (self.relation,),
        }[name]  # fmt: skip
        return [path for alternatives in paths for path in alternatives.split("|") if path]

    def _qids(self, data: Mapping[str, Any], language: str, answers: int) -> str | list[str] | None:
        qids = list(_texts(data, self.answer_qids, language))
        if len(qids) == 1:
            return qids[0]
        return qids if qids and len(qids) == answers else None


PRESETS: Mapping[str, RowShape] = {
    "nq-open": RowShape(question="question", answers="answer|answers"),
    "entityquestions": RowShape(question="question", answers="answers"),
    "simpleqa": RowShape(question="problem|question", answers="answer"),
    "triviaqa": RowShape(
        question="question|Question", answers="answer.value|Answer.Value", aliases="answer.aliases.*|Answer.Aliases.*",
        id="question_id|QuestionId",
    ),
    "webquestions": RowShape(question="question|utterance", answers="answers.*|answer"),
    "popqa": RowShape(
        question="question", answers="possible_answers.*", answer_qids="o_uri", id="id", subject="subj",
        subject_qid="s_uri", relation="prop", relations=_POPQA,
    ),
    "mintaka": RowShape(
        question="translations.{language}|question", id="id",
        answers="answer.answer.*.label.{language}|answerEntity.*.label|answer.mention|answerText|answer.answer.*|answer",
        answer_qids="answer.answer.*.name|answerEntity.*.name", language="lang",
    ),
    "mkqa": RowShape(
        question="queries.{language}|query", answers="answers.{language}.*.text",
        aliases="answers.{language}.*.aliases.*", answer_qids="answers.{language}.*.entity", id="example_id",
    ),
    "crag": RowShape(question="query|question", answers="answer", aliases="alt_ans.*", id="interaction_id|id"),
}  # fmt: skip


def shape_of(
    preset: str | None = None,
    *,
    question: str | None = None,
    answer: str | None = None,
    id: str | None = None,
    split: str | None = None,
) -> RowShape | None:
    """The shape of a preset with the fields that are named in the place of its own; None where nothing is told.

    Raises RowError for a preset that is not known.
    """
    if preset is not None and preset not in PRESETS:
        raise RowError(f"preset {preset!r} is not known; there are {', '.join(PRESETS)}")
    if preset is None and not (question or answer or id or split):
        return None
    shape = PRESETS[preset] if preset is not None else RowShape()
    return replace(
        shape,
        question=question or shape.question,
        answers=answer or shape.answers,
        id=id or shape.id,
        split=split or "",
    )


def of_split(data: Mapping[str, Any], split: str) -> bool | None:
    """Whether a row says that it is of a split; None where it does not say."""
    stated = next((value for name in ("split", "Split") if isinstance(value := data.get(name), str)), None)
    return None if stated is None else canonical_split(stated) == canonical_split(split)


def _texts(data: Mapping[str, Any], paths: str, language: str) -> Iterator[str]:
    """The texts and numbers at the first of the paths that has any."""
    for path in filter(None, paths.split("|")):
        # A field may have dots in its own name.
        steps = [path] if path in data else path.replace("{language}", language).split(".")
        values = []
        for value in _at(data, steps):
            values.append(value)
            if len(values) > MOST_VALUES:
                break
        if values:
            yield from values[:MOST_VALUES]
            return


def _at(value: Any, steps: list[str]) -> Iterator[str]:
    if isinstance(value, str) and (steps or value[:1] in "[{") and value[:1] in "[{":
        value = _read(value)
    if not steps:
        if isinstance(value, list):
            for item in value:
                yield from _at(item, [])
        elif isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            yield str(value)
        elif isinstance(value, bool):
            yield "yes" if value else "no"
        return
    first, deeper = steps[0], steps[1:]
    if first == "*":
        for item in value if isinstance(value, list) else ():
            yield from _at(item, deeper)
    elif isinstance(value, Mapping) and value.get(first) is not None:
        yield from _at(value[first], deeper)


def _read(text: str) -> Any:
    """The list or object of a cell, as JSON or as Python writes it; the text itself where it is neither."""
    value = parsed(text)
    if not isinstance(value, str) or len(text) > 100_000:
        return value
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
