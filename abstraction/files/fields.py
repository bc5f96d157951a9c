"""The fields of one record: every accepted spelling of a question, its answers and their ids.

A record that says too little or contradicts itself raises `FieldError` with the reason for its rejection.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from abstraction.files.pieces import loads
from kg.model import ENTITY_ID

GRANOLA_ANSWERS = tuple(f"granola_answer_{k}" for k in range(1, 15))
GRANOLA_COUNT = "num_granola_answers"
QUESTION_SITELINKS = "question_entity_sitelinks"  # ours: pages about the entity asked about, by the snapshot
GRANOLA_COLUMNS = (
    "relation", "question",
    "question_entity", "question_entity_qid", "question_entity_description", "question_entity_popularity",
    "answer", "answer_entity_qid", "answer_entity_description", "answer_entity_popularity",
    "score_for_potential_error", *GRANOLA_ANSWERS, GRANOLA_COUNT, "id",
)  # fmt: skip
REFERENCE = "reference_levels"  # where the levels that an input row already had are kept

QUESTION = ("question",)
ANSWERS = ("answer", "answers")
ANSWER_QIDS = ("answer_qid", "answer_qids", "answer_entity_qid", "answer_entity")
KNOWN = frozenset(
    {
        "id", "relation", "question_entity", "question_entity_qid", "levels", "abstained", "schema_version",
        GRANOLA_COUNT, *QUESTION, *ANSWERS, *ANSWER_QIDS, *GRANOLA_ANSWERS,
    }
)  # fmt: skip

_RELATION = re.compile(r"P[1-9][0-9]{0,8}\Z")
_URI = re.compile(r"\Ahttps?://(?:www\.)?wikidata\.org/(?:wiki|entity|prop(?:/direct)?)/(?:Property:)?", re.I)


class FieldError(ValueError):
    """Why a record is no question; the message stands in the reject file."""


def question_of(data: Mapping[str, Any]) -> str:
    """The question's text."""
    text = data.get("question")
    if not isinstance(text, str) or not text.strip():
        raise FieldError("no question: expected a text under 'question'")
    return text.strip()


def answers_of(data: Mapping[str, Any], *, flat: bool) -> tuple[str, ...]:
    """The gold answers in order. In CSV several stand as a JSON list or parted by `|`."""
    key = next((k for k in ANSWERS if k in data), None)
    value = data[key] if key else None
    if flat and isinstance(value, str):
        value = split_cell(value)
    if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        value = [value]
    if not isinstance(value, list | tuple):
        raise FieldError("no answer: expected a text or a list of texts under 'answer' or 'answers'")
    out = []
    for item in value:
        if isinstance(item, bool) or not isinstance(item, str | int | float):
            raise FieldError(f"answer {item!r} is no text")
        if not str(item).strip():
            raise FieldError("an answer is empty")
        out.append(str(item).strip())
    if not out:
        raise FieldError("the list of answers is empty")
    return tuple(out)


def answer_qids_of(data: Mapping[str, Any], count: int, *, flat: bool) -> tuple[str | None, ...]:
    """One id or None for each answer; a single id stands for every answer, as other names of one entity."""
    key = next((k for k in ANSWER_QIDS if data.get(k) not in (None, "", [])), None)
    if key is None:
        return (None,) * count
    value = data[key]
    if flat and isinstance(value, str):
        cells = split_cell(value)
        value = cells[0] if len(cells) == 1 else cells
    if isinstance(value, str | Mapping):
        return (qid_of(value, key),) * count
    if not isinstance(value, list | tuple):
        raise FieldError(f"{key} {value!r} is neither an id nor a list of ids")
    if len(value) != count:
        raise FieldError(f"{key} has {len(value)} ids for {count} answers")
    return tuple(qid_of(item, key) for item in value)


def subject_of(data: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """(text, QID) of the entity that the question is about, each None where not given."""
    value = data.get("question_entity")
    qid = qid_of(data.get("question_entity_qid"), "question_entity_qid")
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = parsed(value)
    if value is None or isinstance(value, str):
        return (value.strip() or None if value else None), qid
    if not isinstance(value, Mapping):
        raise FieldError(f"question_entity {value!r} is neither a text nor an object with qid and text")
    text = value.get("text")
    if text is not None and not isinstance(text, str):
        raise FieldError(f"question_entity's text {text!r} is no text")
    return (text if text and text.strip() else None), qid_of(value, "question_entity") or qid


def other_fields(entity: object) -> dict[str, Any]:
    """What a question_entity given as an object (in CSV as its JSON) has besides qid and text."""
    if isinstance(entity, str) and entity.lstrip().startswith("{"):
        entity = parsed(entity)
    if not isinstance(entity, Mapping):
        return {}
    return {key: value for key, value in entity.items() if key not in ("qid", "text")}


def relation_of(data: Mapping[str, Any]) -> str | None:
    """The property id, or None where the record names none; WikiData addresses and lower case will do."""
    value = data.get("relation")
    if value is None or value == "":
        return None
    name = _URI.sub("", value.strip()).upper() if isinstance(value, str) else ""
    if not _RELATION.match(name):
        raise FieldError(f"relation {value!r} is no property id; expected P and a number, as in P19")
    return name


def id_of(data: Mapping[str, Any]) -> str | None:
    """The id as text, or None where the record has none."""
    value = data.get("id")
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise FieldError(f"id {value!r} is neither a text nor a whole number")
    return str(value).strip()


def qid_of(value: object, field: str) -> str | None:
    """An item id from an id, an address or an object with "qid"; None for nothing."""
    if isinstance(value, Mapping):
        value = value.get("qid")
    if value is None or value == "":
        return None
    name = _URI.sub("", value.strip()).upper() if isinstance(value, str) else ""
    if not ENTITY_ID.match(name) or name[0] != "Q":
        raise FieldError(f"{field} {value!r} is no item id; expected Q and a number, as in Q76")
    return name


def reference_levels(data: Mapping[str, Any]) -> list[list[str]] | None:
    """The levels that the record already has, as texts: GRANOLA-EQ's columns, or a list under 'levels'."""
    granola = [str(data[k]).strip() for k in GRANOLA_ANSWERS if data.get(k) not in (None, "")]
    if granola:
        return [[text] for text in granola]
    levels = data.get("levels")
    if isinstance(levels, str):
        levels = parsed(levels)
    if not isinstance(levels, list) or not levels:
        return None
    out: list[list[str]] = []
    for level in levels:
        if isinstance(level, str):
            out.append([level])
        elif isinstance(level, list) and all(isinstance(text, str) for text in level):
            out.append(level)
        elif isinstance(level, Mapping) and isinstance(level.get("tiers"), list):
            tiers = level["tiers"]
            out.append([tier["text"] for tier in tiers if isinstance(tier, Mapping) and "text" in tier])
        else:
            raise FieldError(f"level {level!r} is neither a text, a list of texts nor an object with tiers")
    return out


def rest_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that mean nothing here, to be handed on."""
    return {key: value for key, value in data.items() if key not in KNOWN}


def split_cell(cell: str) -> list[Any]:
    """The values of a CSV cell: a JSON list, or texts parted by `|`."""
    if cell.lstrip().startswith("["):
        value = parsed(cell)
        if isinstance(value, list):
            return value
    return [part.strip() for part in cell.split("|")]


def join_cell(texts: tuple[str, ...] | list[str]) -> str:
    """The inverse of `split_cell`: `|` between texts, or a JSON list where that would not read back."""
    joined = "|".join(texts)
    return joined if split_cell(joined) == list(texts) else json.dumps(list(texts), ensure_ascii=False)


def parsed(text: str) -> Any:
    """The JSON value of a text, or the text itself where it is none. Raises FieldError for half a surrogate pair."""
    try:
        value = loads(text)
    except ValueError:
        return text
    if "\\ud" in text.lower() and not is_unicode(value):
        raise FieldError("half of a surrogate pair")
    return value


def is_unicode(value: object) -> bool:
    """Whether a JSON value can be written as UTF-8: no text in it has half of a surrogate pair."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def finite(value: object) -> float | None:
    """The finite number that a JSON value is, or in a CSV says; None for any other, and for one past a float."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
