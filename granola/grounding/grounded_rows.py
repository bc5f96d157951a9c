"""Reads questions with passages: GaRAGe's rows as they are published, and rows of one's own.

One's own rows have `id`, `question`, `passages` (each a text, or {"id", "text", "date"?, "age"?, "provider"?,
"private"?, "relevant"?, "label"?}), and where there are any `question_date`, `reference`, `reference_citations`,
`deflection`, `tags`. A passage of a published row is {"cite_3": text, "age", "date", "provider"}; lists of labels are
as long as the passages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictBool

from abstraction.faults import OnReject, excerpt
from abstraction.files.cells import parsed
from abstraction.files.records import Record, read_records
from abstraction.files.row_models import RowModel
from abstraction.files.row_reading import accepted, each_once
from granola.errors import SampleError
from granola.grounding.deflection_signs import deflection_signs
from granola.grounding.grounded_samples import WIDE_LABELS, GroundedSample, GroundingPassage

MOST_PASSAGES = 500
LONGEST = 200_000  # characters of a passage or an answer
KNOWLEDGE_BASES = frozenset({"web", "arxiv", "sec", "devops", "enron"})  # what questions were made from
_RELEVANT = {"RELEVANT": True, "YES": True, "TRUE": True, "IRRELEVANT": False, "NO": False, "FALSE": False}
_NO_LABEL = frozenset({"", "NONE", "N/A", "NA", "NULL", "-"})
_UNTOLD = frozenset({"", "not defined", "n/a", "na", "none", "null", "unknown", "not available", "undefined"})
_HEAD = re.compile(r"(?:published|publication|passage)? ?(?:date|age|on) ?: ?", re.IGNORECASE)
_NO = frozenset({"0", "no", "false", "n", "not-cited"})
_YES = frozenset({"1", "yes", "true", "cited", "y"})
_WEB = frozenset({"web", "internet", "search"})
_PRIVATE = frozenset({"ent", "enterprise", "private", "internal"})
_CITE = re.compile(r"cite_?\d{1,4}", re.IGNORECASE)


# Fields.


def _told(value: object) -> object:
    """A text, None for what says that it is not told: "not defined", "N/A", "Published date: N/A"."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return value
    head = _HEAD.match(value)
    bare = value[head.end() :] if head else value
    return None if bare.casefold().strip(" .-") in _UNTOLD else bare.strip()[:LONGEST]


def _listed(value: object) -> object:
    """A list, also one that stands in a cell as JSON."""
    return parsed(value) if isinstance(value, str) else value


def _identified(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _passages(value: object) -> object:
    value = _listed(value)
    if not isinstance(value, list) or not value:
        raise ValueError("is no list of passages")
    if len(value) > MOST_PASSAGES:
        raise ValueError(f"has {len(value):,} passages; allowed are {MOST_PASSAGES}")
    return value


def _label(value: object) -> str | None:
    """A label in capitals with hyphens; None for none."""
    if isinstance(value, bool | int):
        return str(bool(value)).upper()
    word = value.strip().upper().replace("_", "-").replace(" ", "-") if isinstance(value, str) else ""
    return None if word in _NO_LABEL else word


Id = Annotated[str, BeforeValidator(_identified), Field(min_length=1)]
Told = Annotated[str | None, BeforeValidator(_told)]
Passages = Annotated[list[Any], BeforeValidator(_passages)]
Labels = Annotated[list[Any] | None, BeforeValidator(_listed)]


class _Question(RowModel):
    question: Annotated[str, Field(min_length=1, description="a text")]
    question_date: Told = None


class _Garage(_Question):
    sample_id: Annotated[Id, Field(description="a text")]
    grounding: Annotated[Passages, Field(description="a list of passages")]
    evidence_relevant: Labels = None
    evidence_correct: Labels = None
    evidence_cited: Labels = None
    answer_generate: Annotated[str | None, Field(description="a text")] = None
    answer_related_info: str | None = None
    answer_validate: Any = None
    comments: str | None = None


class _Plain(_Question):
    id: Annotated[Id, Field(description="a text")]
    passages: Annotated[Passages, Field(description="a list of passages")]
    reference: str | None = None
    reference_citations: Annotated[list[Any] | None, BeforeValidator(_listed)] = None
    deflection: StrictBool | None = None
    tags: Annotated[dict[str, Any] | None, BeforeValidator(_listed)] = None


class _Passage(RowModel):
    text: Annotated[str, Field(min_length=1, description="a text")]
    id: Annotated[str | None, BeforeValidator(_identified)] = None
    date: Told = None
    age: Told = None
    provider: Told = None
    private: StrictBool | None = None
    relevant: StrictBool | None = None
    label: Any = None


# Rows.


def read_grounded(
    path: Path | str, *, on_reject: OnReject | None = None, unknown: Counter[str] | None = None
) -> Iterator[GroundedSample]:
    """The questions of a file, GaRAGe's or one's own, told row by row.

    Bad and repeated rows go to `on_reject`, else they raise. `unknown` counts what was not understood, in words that
    say what it counts as: labels that are none of the known ones, or contradict each other.
    """
    odd = Counter[str]() if unknown is None else unknown

    def read(record: Record) -> GroundedSample:
        return (_garage_sample if "grounding" in record.data else _plain_sample)(record, odd)

    return accepted(each_once(read_records(path), read), on_reject)


def _garage_sample(record: Record, odd: Counter[str]) -> GroundedSample:
    """The question of a published row; `granola.grounding.deflection_signs` tells whether it is to be declined."""
    row = _Garage.of(record)
    n = len(row.grounding)
    relevant, correct, cited = (
        _parallel(labels, name, n)
        for labels, name in (
            (row.evidence_relevant, "evidence_relevant"), (row.evidence_correct, "evidence_correct"),
            (row.evidence_cited, "evidence_cited"),
        )
    )  # fmt: skip
    passages = tuple(
        _passage(given, at, odd, first=_label(relevant[at]), second=_label(correct[at]))
        for at, given in enumerate(row.grounding)
    )
    answer = (row.answer_generate or "").strip()[:LONGEST]
    signs = deflection_signs(
        answer, passages,
        validated=_validated(row.answer_validate, odd) if "answer_validate" in record.data else None,
        cited=None if row.evidence_cited is None else any(_is_yes(mark) for mark in cited),
    )  # fmt: skip
    for mark in map(_label, cited):
        if mark is not None and mark not in _RELEVANT and mark.casefold() not in _YES | _NO:
            odd[f"cited {mark[:50]} (counts as not cited)"] += 1
    return GroundedSample(
        id=row.sample_id,
        question=row.question,
        passages=passages,
        question_date=row.question_date,
        reference=answer,
        related=(row.answer_related_info or str(record.data.get("related_info") or ""))[:LONGEST],
        comments=(row.comments or "")[:LONGEST],
        cited=None
        if row.evidence_cited is None
        else tuple(passage.id for passage, mark in zip(passages, cited, strict=True) if _is_yes(mark)),
        deflection=signs.deflects,
        signs=signs,
        tags=_tags(record.data),
    )


def _plain_sample(record: Record, odd: Counter[str]) -> GroundedSample:
    row = _Plain.of(record)
    passages = tuple(_passage(given, at, odd) for at, given in enumerate(row.passages))
    known = {one.id for one in passages}
    if len(known) < len(passages):
        raise SampleError("two passages have one id")
    if strange := [str(one) for one in row.reference_citations or () if str(one) not in known]:
        raise SampleError(f'"reference_citations" names {excerpt(strange[0])}, which is no passage\'s id')
    return GroundedSample(
        id=row.id,
        question=row.question,
        passages=passages,
        question_date=row.question_date,
        reference=(row.reference or "").strip()[:LONGEST],
        cited=None if row.reference_citations is None else tuple(map(str, row.reference_citations)),
        deflection=row.deflection is True,
        tags={str(key)[:60]: str(value)[:200] for key, value in (row.tags or {}).items() if value not in (None, "")},
    )


def _passage(
    given: object, at: int, odd: Counter[str], *, first: str | None = None, second: str | None = None
) -> GroundingPassage:
    """A passage with its labels: of a published row `first` and `second`, else those that it has itself."""
    if isinstance(given, str):
        given = {"text": given}
    if not isinstance(given, Mapping):
        raise SampleError(f"passage {at + 1} is {excerpt(repr(given))}; expected a text or an object with a text")
    cite = next((key for key in given if isinstance(key, str) and _CITE.fullmatch(key)), None)
    fields = {**given, "text": given[cite], "id": cite} if cite is not None and "text" not in given else dict(given)
    row = _Passage.of(Record(source=f"passage {at + 1}", data=fields))
    if not row.text.strip():
        raise SampleError(f"passage {at + 1} has no text")
    relevant, label = _both_steps(
        row.relevant if first is None else _step_one(first, odd), second or _label(row.label), odd
    )
    return GroundingPassage(
        id=row.id or str(at + 1), text=row.text.strip()[:LONGEST], date=row.date, age=row.age, provider=row.provider,
        relevant=relevant, label=label, private=is_private(row.provider) if row.private is None else row.private,
    )  # fmt: skip


def is_private(provider: str | None) -> bool | None:
    """What a provider's name says of where a passage is from; None where it says nothing."""
    word = (provider or "").strip().casefold()
    return True if word in _PRIVATE else False if word in _WEB else None


def _parallel(labels: Sequence[Any] | None, name: str, n: int) -> Sequence[Any]:
    """Labels of n passages, n times None where there are none. Raises SampleError."""
    if labels is not None and len(labels) != n:
        raise SampleError(f'"{name}" has {len(labels)} entries for {n} passages')
    return [None] * n if labels is None else labels


def _step_one(label: str, odd: Counter[str]) -> bool | None:
    if label not in _RELEVANT:
        odd[f"relevance {label[:60]} (counts as not labelled)"] += 1
    return _RELEVANT.get(label)


def _both_steps(relevant: bool | None, label: str | None, odd: Counter[str]) -> tuple[bool | None, str | None]:
    """Relevance by the first step, and the label of the second, in which a label of the first may stand too.

    Steps that contradict each other are counted: such a passage is relevant in the wide reading alone where the first
    step says so, else irrelevant. So are labels that are none of the known ones, which are kept.
    """
    if label is None:
        return relevant, None
    again = _RELEVANT.get(label)
    if again is not None and (relevant is None or relevant is again):
        return again, None
    if relevant is False and (again or label in WIDE_LABELS):
        odd[f"IRRELEVANT, second label {label} (counts as irrelevant)"] += 1
        return False, None if again else label
    if again is False:
        odd[f"RELEVANT, second label {label} (counts in the wide reading alone)"] += 1
        return relevant, "IRRELEVANT"
    if label not in WIDE_LABELS:
        odd[f"second label {label[:60]} (counts in the wide reading alone, if relevant)"] += 1
    return relevant, label


def _validated(value: object, odd: Counter[str]) -> bool | None:
    """Whether a second annotator validated the answer, YES or empty as published; None where that is not to be told."""
    word = "" if value is None else str(value).strip().casefold()
    if word not in _YES | _NO | _UNTOLD:
        odd[f"answer_validate {word[:60]} (decides nothing)"] += 1
        return None
    return word in _YES


def _is_yes(mark: object) -> bool:
    return mark is True or mark == 1 or (isinstance(mark, str) and mark.strip().casefold() in _YES)


def _tags(data: Mapping[str, Any]) -> dict[str, str]:
    """What a published row tells of its question: fields without "question_", the two tags and what follows of them."""
    tags = {
        key if key.endswith("_tag") else key.removeprefix("question_"): str(value)[:200]
        for key, value in data.items()
        if (key.startswith("question_") or key == "topic_tag")
        and key != "question_date"
        and isinstance(value, str | int)
        and str(value).strip()
    }
    if found := time_sensitivity(tags.get("type"), tags.get("sensitive")):
        tags["time_sensitivity"] = found
    bases = (tags.get(name, "").strip().casefold() for name in ("topic_tag", "question_tag"))
    if (base := next((one for one in bases if one in KNOWLEDGE_BASES), None)) is not None:
        tags["knowledge_base"] = base
    return tags


def time_sensitivity(kind: str | None, sensitive: str | None) -> str | None:
    """fast-changing, slow-changing or static, by `question_type` and `question_sensitive`; None where neither tells."""
    word = (kind or "").casefold()
    for name in ("fast", "slow"):
        if name in word:
            return f"{name}-changing"
    if any(name in word for name in ("static", "evergreen")):
        return "static"
    return "static" if sensitive is not None and sensitive.strip().casefold() in ("no", "false", "0") else None
