"""Questions with passages of which some are relevant: GaRAGe's rows (Sorodoc et al. 2025) and rows of one's own.

One's own rows have `id`, `question`, `passages` (each a text, or {"id", "text", "date"?, "provider"?, "label"?}), and
where there are any `question_date`, `reference`, `reference_citations`, `deflection`, `tags`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from abstraction.formats.fields import parsed
from abstraction.formats.records import RejectedRow, excerpt, read_records
from granola.errors import SampleError

MOST_PASSAGES = 500
LONGEST = 200_000  # characters of a passage or an answer
# The marks that GaRAGe's passages begin with, and what the labels of its two steps are called.
_HEAD = re.compile(r"\s*\[(?P<key>[^\]\[:]{1,40}):?\s*(?P<value>[^\]\[]{0,200})\]\s*")
_STEP_ONE = {"RELEVANT": True, "IRRELEVANT": False}
_STRICT = frozenset({"ANSWER-THE-QUESTION", "RELATED-INFORMATION"})
_WIDE = frozenset({*_STRICT, "OUTDATED", "UNKNOWN"})


class Relevance(StrEnum):
    """Which passages count as relevant. STRICT: those that answer or are related; WIDE: outdated and undated ones too.

    The paper's text does not settle which of the two its scores are of.
    """

    STRICT = "strict"
    WIDE = "wide"


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundingPassage:
    """A passage: `relevant` by the first step of labelling, `label` of the second; None where nobody labelled."""

    id: str
    text: str
    date: str | None = None
    age: str | None = None
    provider: str | None = None
    relevant: bool | None = None
    label: str | None = None

    def is_relevant(self, reading: Relevance) -> bool | None:
        """Whether it counts; a relevant passage without a second label counts in both readings."""
        if self.relevant is False:
            return False
        if self.label is not None:
            return self.label in (_STRICT if reading is Relevance.STRICT else _WIDE)
        return self.relevant


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundedSample:
    """One question. `deflection`: whether a good answer says that the passages do not suffice.

    `cited`: ids of the passages that the reference answer cites. `tags` hold time-sensitivity, complexity and so on.
    """

    id: str
    question: str
    passages: tuple[GroundingPassage, ...]
    question_date: str | None = None
    reference: str = ""
    cited: tuple[str, ...] = ()
    deflection: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)

    def relevant(self, reading: Relevance) -> tuple[GroundingPassage, ...]:
        """The relevant passages, in order."""
        return tuple(one for one in self.passages if one.is_relevant(reading))

    def relevant_share(self, reading: Relevance) -> float | None:
        """The share of labelled passages that are relevant; None without labels."""
        told = [one.is_relevant(reading) for one in self.passages]
        labelled = [one for one in told if one is not None]
        return sum(labelled) / len(labelled) if labelled else None


def read_grounded(
    path: Path | str,
    *,
    on_reject: Callable[[RejectedRow], None] | None = None,
    unknown: Counter[str] | None = None,
) -> Iterator[GroundedSample]:
    """The questions of a file, GaRAGe's or one's own, told row by row.

    Bad and repeated rows go to `on_reject`, else they raise. `unknown` counts labels that are none of the known ones.
    """
    seen: dict[str, str] = {}
    for record in read_records(path):
        row = record if isinstance(record, RejectedRow) else None
        if row is None and not isinstance(record, RejectedRow):
            try:
                sample = _garage(record.data, unknown) if "grounding" in record.data else _own(record.data, unknown)
                if sample.id in seen:
                    raise SampleError(f"id {sample.id!r} stands already at {seen[sample.id]}")
                seen[sample.id] = record.source
                yield sample
                continue
            except SampleError as error:
                row = RejectedRow(source=record.source, reason=str(error), excerpt=excerpt(repr(dict(record.data))))
        assert row is not None
        if on_reject is None:
            raise SampleError(f"{row.source}: {row.reason}")
        on_reject(row)


def _garage(data: Mapping[str, Any], unknown: Counter[str] | None) -> GroundedSample:
    texts = _listed(data, "grounding")
    relevant, correct = _parallel(data, "evidence_relevant", texts), _parallel(data, "evidence_correct", texts)
    cited = _parallel(data, "evidence_cited", texts)
    passages = []
    for number, text in enumerate(texts, 1):
        head, body = _headed(text)
        step, label = _label(relevant[number - 1]), _label(correct[number - 1])
        passages.append(
            GroundingPassage(
                id=str(number), text=body, date=head.get("date"), age=head.get("age"), provider=head.get("provider"),
                relevant=_step_one(step, unknown), label=_step_two(label, unknown),
            )
        )  # fmt: skip
    answer = data.get("answer_generate")
    related = data.get("answer_related_info") or data.get("related_info")
    tags = {
        key.removeprefix("question_"): str(value)
        for key, value in data.items()
        if key.startswith("question") and key not in ("question", "question_date") and isinstance(value, str | int)
    }
    tags |= {key: str(data[key]) for key in ("topic_tag",) if isinstance(data.get(key), str)}
    return GroundedSample(
        id=_text(data, "sample_id"),
        question=_text(data, "question"),
        passages=tuple(passages),
        question_date=_optional(data, "question_date"),
        reference=answer if isinstance(answer, str) else "",
        cited=tuple(str(n) for n, mark in enumerate(cited, 1) if _is_yes(mark)),
        deflection=not (isinstance(answer, str) and answer.strip()) and isinstance(related, str),
        tags=tags,
    )


def _own(data: Mapping[str, Any], unknown: Counter[str] | None) -> GroundedSample:
    given = _listed(data, "passages")
    passages = []
    for number, one in enumerate(given, 1):
        if isinstance(one, str):
            passages.append(GroundingPassage(id=str(number), text=one[:LONGEST]))
            continue
        if not isinstance(one, Mapping):
            raise SampleError(f"passage {number} is {excerpt(repr(one))}; expected a text or an object with text")
        label, relevant = _label(one.get("label")), one.get("relevant")
        if relevant is not None and not isinstance(relevant, bool):
            raise SampleError(f'passage {number}: "relevant" is {excerpt(repr(relevant))}; expected true or false')
        if label in _STEP_ONE:
            relevant, label = _STEP_ONE[label], None
        passages.append(
            GroundingPassage(
                id=str(one.get("id") or number), text=_text(one, "text"), date=_optional(one, "date"),
                age=_optional(one, "age"), provider=_optional(one, "provider"), relevant=relevant,
                label=_step_two(label, unknown),
            )
        )  # fmt: skip
    if len({one.id for one in passages}) < len(passages):
        raise SampleError("two passages have one id")
    tags = data.get("tags") or {}
    if not isinstance(tags, Mapping):
        raise SampleError(f'"tags" is {excerpt(repr(tags))}; expected an object')
    cited = data.get("reference_citations") or []
    if not isinstance(cited, list):
        raise SampleError(f'"reference_citations" is {excerpt(repr(cited))}; expected a list of ids')
    return GroundedSample(
        id=_text(data, "id"),
        question=_text(data, "question"),
        passages=tuple(passages),
        question_date=_optional(data, "question_date"),
        reference=str(data.get("reference") or "")[:LONGEST],
        cited=tuple(map(str, cited)),
        deflection=data.get("deflection") is True,
        tags={str(key): str(value) for key, value in tags.items()},
    )


def _headed(text: object) -> tuple[dict[str, str], str]:
    """The marks before a passage, by what they are called, and the passage."""
    if not isinstance(text, str):
        raise SampleError(f"a passage is {excerpt(repr(text))}; expected a text")
    head: dict[str, str] = {}
    rest = text[:LONGEST]
    for _ in range(6):
        match = _HEAD.match(rest)
        if match is None:
            break
        key = match["key"].strip().casefold()
        for name in ("provider", "date", "age"):
            if name in key:
                head[name] = match["value"].strip()
        rest = rest[match.end() :]
    return head, rest


def _listed(data: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = data.get(name)
    if isinstance(value, str):
        value = parsed(value)
    if not isinstance(value, list) or not value:
        raise SampleError(f'"{name}" is {excerpt(repr(value))}; expected a list of passages')
    if len(value) > MOST_PASSAGES:
        raise SampleError(f'"{name}" has {len(value):,} passages; allowed are {MOST_PASSAGES}')
    return value


def _parallel(data: Mapping[str, Any], name: str, texts: Sequence[Any]) -> Sequence[Any]:
    value = data.get(name)
    if value is None:
        return [None] * len(texts)
    if isinstance(value, str):
        value = parsed(value)
    if not isinstance(value, list) or len(value) != len(texts):
        told = len(value) if isinstance(value, list) else excerpt(repr(value))
        raise SampleError(f'"{name}" has {told} entries for {len(texts)} passages')
    return value


def _label(value: object) -> str | None:
    text = value.strip().upper().replace("_", "-").replace(" ", "-") if isinstance(value, str) else ""
    return text or None


def _step_one(label: str | None, unknown: Counter[str] | None) -> bool | None:
    if label is not None and label not in _STEP_ONE and unknown is not None:
        unknown[label[:60]] += 1
    return _STEP_ONE.get(label) if label is not None else None


def _step_two(label: str | None, unknown: Counter[str] | None) -> str | None:
    if label is None or label in ("NONE", "N/A", "IRRELEVANT"):
        return None
    if label not in _WIDE and unknown is not None:
        unknown[label[:60]] += 1
    return label


def _is_yes(mark: object) -> bool:
    return (
        mark is True
        or mark == 1
        or (isinstance(mark, str) and mark.strip().casefold() in ("1", "yes", "true", "cited"))
    )


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and name.endswith("id"):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise SampleError(f'"{name}" is {excerpt(repr(value))}; expected a text')
    return value[:LONGEST]


def _optional(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    return value.strip() or None if isinstance(value, str) else None
