"""Questions with passages, GaRAGe's rows as published or the user's own: reading, and statistics of their labels.

The user's rows have `id`, `question`, `passages` (each a text, or the fields of `GroundingPassage`), and optionally
`question_date`, `reference`, `reference_citations`, `deflection`, `tags`. A passage of a published row is {"cite_3":
text, "age", "date", "provider"}; each list of labels has one entry per passage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, StrictBool, StringConstraints, model_validator

from abstraction.base.faults import OnReject, excerpt
from abstraction.files.records import Record, read_records
from abstraction.files.row_models import NeededId, RowModel, read_each_id_once, without_rejected
from granola.errors import SampleError
from granola.evidence.evidence_task import estimates_by_slice
from granola.evidence.grounding.answer_text import cited_passages, deflecting_rule
from granola.report.charts import Panel, SliceValue
from granola.scoring.statistics import Estimate, mean_estimate, share_estimate

STRICT_LABELS = frozenset({"ANSWER-THE-QUESTION", "RELATED-INFORMATION"})  # second-step labels of Sorodoc et al. 2025
WIDE_LABELS = frozenset({*STRICT_LABELS, "OUTDATED", "UNKNOWN"})
RELEVANT_SHARE = "relevant_share"  # the field that `--by` takes for both readings


class Relevance(StrEnum):
    """How to decide which passages are relevant. STRICT: those that answer or are related; WIDE: also outdated and
    undated ones.

    The paper's text does not state which of the two its scores use.
    """

    STRICT = "strict"
    WIDE = "wide"

    @property
    def share_tag(self) -> str:
        """The tag of judged answers for the share of passages that are relevant in this reading."""
        return f"{RELEVANT_SHARE}_{self}"


_CITE = re.compile(r"cite_?\d{1,4}", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"(?:published date:)?\s*(?:not defined|not available|n/a|none|unknown)?\.?", re.IGNORECASE)


def label_in_capitals_or_none(value: object) -> object:
    """A label in capitals with hyphens, YES and NO also from true and false; None for an empty one."""
    if isinstance(value, bool):
        return "YES" if value else "NO"
    return value.strip().upper().replace("_", "-").replace(" ", "-") or None if isinstance(value, str) else value


def _text_or_none_for_placeholder(value: object) -> object:
    """A text; None for placeholders such as "not defined" and "Published date: N/A"."""
    return None if isinstance(value, str) and _PLACEHOLDER.fullmatch(value.strip()) else _int_as_text(value)


def _int_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) else value


OptionalText = Annotated[str | None, BeforeValidator(_text_or_none_for_placeholder)]
SecondStep = Annotated[
    Literal["ANSWER-THE-QUESTION", "RELATED-INFORMATION", "OUTDATED", "UNKNOWN", "IRRELEVANT"] | None,
    BeforeValidator(label_in_capitals_or_none),
]


class GroundingPassage(BaseModel, frozen=True):
    """A passage, read from a text, from these fields, or from GaRAGe's {"cite_3": text, ...}.

    `relevant` is the label of the first step of labelling, `label` of the second; None where nobody labelled.
    `private`: whether it is from private documents; derived from a `provider` "web" or "ent" where it is missing.
    """

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    id: Annotated[str, BeforeValidator(_int_as_text)] = ""
    date: OptionalText = None
    age: OptionalText = None
    provider: OptionalText = None
    relevant: StrictBool | None = None
    label: SecondStep = None
    private: StrictBool | None = None

    @model_validator(mode="before")
    @classmethod
    def _passage_fields(cls, value: object) -> object:
        if isinstance(value, str):
            return {"text": value}
        if not isinstance(value, Mapping):
            raise ValueError("is neither a text nor an object with a text")
        fields = dict(value)
        if "text" not in fields and (cite := next((name for name in fields if _CITE.fullmatch(name)), None)):
            fields |= {"text": fields[cite], "id": cite}
        provider = str(fields.get("provider")).casefold()
        if fields.get("private") is None and provider in ("web", "ent"):
            fields["private"] = provider == "ent"
        return fields

    def is_relevant(self, reading: Relevance) -> bool | None:
        """Whether the passage counts as relevant; a relevant one without a second label counts in both readings.

        A passage whose second label contradicts the first step counts in the wide reading only.
        """
        if self.relevant is False or self.label is None:
            return self.relevant
        if self.label in WIDE_LABELS:
            # The label of the second step is finer than that of the first, so it decides.
            return self.label in STRICT_LABELS or reading is Relevance.WIDE
        return bool(self.relevant) and reading is Relevance.WIDE


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundedSample:
    """One question. `deflection`: whether a good answer states that the passages do not suffice.

    `cited`: ids of the passages that the reference answer cites, None where unknown. `tags` contain `time_sensitivity`
    (fast-changing, slow-changing or static), `complexity`, `popularity`, `category` and further labels of the row.

    In a published row `deflects_by` is "printed sentence", "empty answer" or the name of the rule by which the human
    answer deflects, "" where it answers; `contradicting` are the further signs of the row ("not validated", "no
    relevant passage" in the wide reading, "no citation") that disagree with the human answer.
    """

    id: str
    question: str
    passages: tuple[GroundingPassage, ...]
    question_date: str | None = None
    reference: str = ""
    cited: tuple[str, ...] | None = None
    deflection: bool = False
    deflects_by: str | None = None
    contradicting: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)

    def relevant_passages(self, reading: Relevance) -> tuple[GroundingPassage, ...]:
        """The relevant passages, in order."""
        return tuple(one for one in self.passages if one.is_relevant(reading))

    def relevant_share(self, reading: Relevance) -> float | None:
        """The share of labelled passages that are relevant; None without labels."""
        judged = [one.is_relevant(reading) for one in self.passages]
        labelled = [one for one in judged if one is not None]
        return sum(labelled) / len(labelled) if labelled else None

    @property
    def source(self) -> str | None:
        """`private` where one passage is from private documents, `web` where all are from the web, else None."""
        kinds = {one.private for one in self.passages}
        # One private passage is enough: the answer then depends on private documents.
        return "private" if True in kinds else "web" if kinds == {False} else None


# the sentence that annotators write in Sorodoc et al. 2025 (GaRAGe)
DEFLECTING_SENTENCE = "There is not enough grounding for an answer."


def deflection_signs(
    answer: str, passages: Sequence[GroundingPassage], *, validated: bool | None, cited: bool | None
) -> tuple[str, tuple[str, ...]]:
    """The way in which the human answer of a row deflects ("" where it answers), and the signs that contradict it: see
    `GroundedSample.deflects_by` and `contradicting`.

    `validated` and `cited` are None where the row lacks that field.
    """
    ids = [passage.id for passage in passages]
    if not answer.strip():
        by = "empty answer"
    elif " ".join(answer.split()).strip(" .\"'").casefold() == DEFLECTING_SENTENCE.rstrip(".").casefold():
        by = "printed sentence"
    else:
        by = deflecting_rule(answer, ids) or ""
    # Annotators did not validate answers that deflect.
    others = {} if validated is None else {"not validated": not validated}
    labels = [passage.is_relevant(Relevance.WIDE) for passage in passages]
    # Without any label the relevance of passages is unknown.
    if any(label is not None for label in labels):
        others["no relevant passage"] = True not in labels
    marked = bool(cited_passages(answer, ids)[0])
    # A row may lack labels of citations, and its answer still contain markers.
    if cited is not None or marked:
        others["no citation"] = not (cited or marked)
    return by, tuple(sign for sign, suggests in others.items() if suggests is not bool(by))


KNOWLEDGE_BASES = frozenset({"web", "arxiv", "sec", "devops", "enron"})  # sources that GaRAGe wrote its questions from
MOST_PASSAGES = 500  # per question; bounds the size of a request to a judge


FirstStep = Annotated[Literal["YES", "NO", "RELEVANT", "IRRELEVANT"] | None, BeforeValidator(label_in_capitals_or_none)]
Mark = Annotated[Literal["YES", "NO"] | None, BeforeValidator(label_in_capitals_or_none)]
Passages = Annotated[list[GroundingPassage], Field(min_length=1, max_length=MOST_PASSAGES, description="a list")]


class _Question(RowModel):
    question: Annotated[str, Field(min_length=1, description="a text")]
    question_date: OptionalText = None


class _GarageRow(_Question):
    sample_id: Annotated[NeededId, Field(description="a text")]
    grounding: Passages
    evidence_relevant: list[FirstStep] | None = None
    evidence_correct: list[SecondStep] | None = None
    evidence_cited: list[Mark] | None = None
    answer_generate: str | None = None
    answer_validate: Mark = None


class _PlainRow(_Question):
    id: Annotated[NeededId, Field(description="a text")]
    passages: Passages
    reference: str | None = None
    reference_citations: list[NeededId] | None = None
    deflection: StrictBool = False
    tags: dict[str, Any] | None = None


def read_grounded(path: Path | str, *, on_reject: OnReject | None = None) -> Iterator[GroundedSample]:
    """The questions of a file, in order; each row may be GaRAGe's or the user's own.

    Bad and repeated rows go to `on_reject`; without it they raise.
    """
    return without_rejected(read_each_id_once(read_records(path), _parse_sample), on_reject)


def _parse_sample(record: Record) -> GroundedSample:
    """The question of a row; for a row of GaRAGe `deflection_signs` decides whether a deflection is expected."""
    if "grounding" not in record.data:
        return _parse_own_row(record)
    row = _GarageRow.of(record)
    n = len(row.grounding)
    for name in ("evidence_relevant", "evidence_correct", "evidence_cited"):
        labels = getattr(row, name)
        # A list of another length would give labels to the wrong passages.
        if labels is not None and len(labels) != n:
            raise SampleError(f'"{name}" has {len(labels)} entries for {n} passages')
    steps = zip(row.grounding, row.evidence_relevant or [None] * n, row.evidence_correct or [None] * n, strict=True)
    passages = _fill_missing_ids(
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
    by, contradicting = deflection_signs(
        answer, passages, cited=None if cited is None else bool(cited),
        validated=row.answer_validate == "YES" if "answer_validate" in record.data else None,
    )  # fmt: skip
    return GroundedSample(
        id=row.sample_id, question=row.question, passages=passages, question_date=row.question_date, reference=answer,
        cited=cited, deflection=bool(by), deflects_by=by, contradicting=contradicting,
        tags=_published_row_tags(record.data),
    )  # fmt: skip


def _parse_own_row(record: Record) -> GroundedSample:
    row = _PlainRow.of(record)
    passages = _fill_missing_ids(row.passages)
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


def _fill_missing_ids(passages: Iterator[GroundingPassage] | list[GroundingPassage]) -> tuple[GroundingPassage, ...]:
    """The passages; those without an id get their number, from 1."""
    return tuple(
        one if one.id else one.model_copy(update={"id": str(number)}) for number, one in enumerate(passages, 1)
    )


def _published_row_tags(data: Mapping[str, Any]) -> dict[str, str]:
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


# Statistics of questions with passages: labels, passages by provider, deflections; as counts and as figures.

_RELEVANT = {
    True: "RELEVANT",
    False: "IRRELEVANT",
    None: "not labelled",
}  # shown for a passage that has no second-step label
# Sorodoc et al. 2025 (GaRAGe): labels of questions; sources of passages with their relevance, also by knowledge base.
QUESTION_FIGURES = ("garage-3", "garage-4")
# Tags with a panel of their own in garage-3, the figure of question labels.
_LABELS = ("time_sensitivity", "complexity", "popularity", "category", "knowledge_base")


def starts_with_grounded_question(path: Path) -> bool:
    """Whether the first row of a file is a question with passages."""
    first = next(iter(read_records(path)), None)
    return isinstance(first, Record) and bool({"grounding", "passages"} & first.data.keys())


def statistics_of(questions: Iterable[GroundedSample]) -> dict[str, Any]:
    """Counts over questions as a JSON object, most frequent values first, and shares of relevant passages.

    `contradicting` lists published rows whose signs of a deflection disagree with the human answer.
    """
    samples = list(questions)
    labels = _passage_labels_by_provider(samples)
    deflections = sum(sample.deflection for sample in samples)
    return {
        "questions": len(samples),
        "passages": sum(map(len, labels.values())),
        "deflection_expected": deflections,
        "answerable": len(samples) - deflections,
        "sources": _count_values(sample.source or "not told" for sample in samples),
        "providers": {name: _count_values(own) for name, own in sorted(labels.items())},
        "relevant_share": {
            reading: one.to_json()
            for reading in Relevance
            for one in _mean_relevant_share_by_group(samples, reading, lambda _: "all").values()
        },
        "relevance_by_knowledge_base": {
            base: one.to_json()
            for base, one in _mean_relevant_share_by_group(
                samples, Relevance.WIDE, _knowledge_base_or_question_tag
            ).items()
        },
        "tags": {
            tag: _count_values(sample.tags[tag] for sample in samples if tag in sample.tags)
            for tag in sorted({tag for sample in samples for tag in sample.tags})
        },
        "deflection_signs": _count_values(
            one.deflects_by or "answers" for one in samples if one.deflects_by is not None
        ),
        "contradicting_signs": _count_values(sign for one in samples for sign in one.contradicting),
        "contradicting": [
            {"id": one.id, "by": one.deflects_by, "signs": list(one.contradicting)}
            for one in samples
            if one.contradicting
        ],
    }


def question_panels(questions: Iterable[GroundedSample], figure: str) -> list[Panel]:
    """The panels of a figure of QUESTION_FIGURES: shares of questions, or of passages, with their intervals."""
    samples = list(questions)
    if figure == "garage-3":
        values = {tag: [sample.tags[tag] for sample in samples if tag in sample.tags] for tag in _LABELS}
        return [
            _panel(tag, {"questions": _value_shares(own)}, "share of questions") for tag, own in values.items() if own
        ]
    labels = _passage_labels_by_provider(samples)
    providers = _value_shares([name for name, own in labels.items() for _ in own])
    relevant = list(_mean_relevant_share_by_group(samples, Relevance.WIDE, _knowledge_base_or_question_tag).items())
    return [
        _panel("provider", {"passages": providers}, "share of passages"),
        _panel("label", {name: _value_shares(own) for name, own in labels.items()}, "share of passages"),
        *([_panel("knowledge base", {"relevant passages": relevant}, "mean share")] if relevant else []),
    ]


def _panel(name: str, lines: Mapping[str, Sequence[tuple[SliceValue, Estimate]]], score: str) -> Panel:
    return Panel(name=name, across=name.replace("_", " "), score=score, lines=lines)


def _value_shares(values: Sequence[str]) -> list[tuple[SliceValue, Estimate]]:
    return [(value, share_estimate([float(one == value) for one in values])) for value in _count_values(values)]


def _passage_labels_by_provider(samples: Iterable[GroundedSample]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for passage in (passage for sample in samples for passage in sample.passages):
        label = passage.label or _RELEVANT[passage.relevant]
        found.setdefault(passage.provider or "not told", []).append(label)
    return found


def _mean_relevant_share_by_group(
    samples: Iterable[GroundedSample], reading: Relevance, group_of: Callable[[GroundedSample], str]
) -> dict[SliceValue, Estimate]:
    """For each group, the mean over its questions of the share of relevant passages; questions of the group "" are
    left out.
    """
    shares = ((group_of(sample), sample.relevant_share(reading)) for sample in samples)
    return estimates_by_slice(((place, share) for place, share in shares if place and share is not None), mean_estimate)


def _knowledge_base_or_question_tag(sample: GroundedSample) -> str:
    """The knowledge base that a question was written from, else the tag of the user's own rows."""
    return sample.tags.get("knowledge_base") or sample.tags.get("question_tag") or ""


def _count_values(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda one: (-one[1], one[0])))
