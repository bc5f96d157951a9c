"""Questions with passages, some of which are relevant (Sorodoc et al. 2025, GaRAGe)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, BeforeValidator, StrictBool, StringConstraints, model_validator

if TYPE_CHECKING:
    from granola.evidence.grounding.deflection_signs import DeflectionSigns

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


def parse_label(value: object) -> object:
    """A label in capitals with hyphens; None for an empty one."""
    return value.strip().upper().replace("_", "-").replace(" ", "-") or None if isinstance(value, str) else value


def _text_or_none(value: object) -> object:
    """A text; None for placeholders such as "not defined" and "Published date: N/A"."""
    return None if isinstance(value, str) and _PLACEHOLDER.fullmatch(value.strip()) else _text(value)


def _text(value: object) -> object:
    return str(value) if isinstance(value, int) else value


OptionalText = Annotated[str | None, BeforeValidator(_text_or_none)]
SecondStep = Annotated[
    Literal["ANSWER-THE-QUESTION", "RELATED-INFORMATION", "OUTDATED", "UNKNOWN", "IRRELEVANT"] | None,
    BeforeValidator(parse_label),
]


class GroundingPassage(BaseModel, frozen=True):
    """A passage, read from a text, from these fields, or from GaRAGe's {"cite_3": text, ...}.

    `relevant` is the label of the first step of labelling, `label` of the second; None where nobody labelled.
    `private`: whether it is from private documents; derived from a `provider` "web" or "ent" where it is missing.
    """

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    id: Annotated[str, BeforeValidator(_text)] = ""
    date: OptionalText = None
    age: OptionalText = None
    provider: OptionalText = None
    relevant: StrictBool | None = None
    label: SecondStep = None
    private: StrictBool | None = None

    @model_validator(mode="before")
    @classmethod
    def _fields(cls, given: object) -> object:
        if isinstance(given, str):
            return {"text": given}
        if not isinstance(given, Mapping):
            raise ValueError("is neither a text nor an object with a text")
        fields = dict(given)
        if "text" not in fields and (cite := next((name for name in fields if _CITE.fullmatch(name)), None)):
            fields |= {"text": fields[cite], "id": cite}
        provider = str(fields.get("provider")).casefold()
        if fields.get("private") is None and provider in ("web", "ent"):
            fields["private"] = provider == "ent"
        return fields

    def is_relevant(self, reading: Relevance) -> bool | None:
        """Whether the passage counts as relevant; one without a second label counts in both readings.

        A passage whose second label contradicts the first step counts in the wide reading only.
        """
        if self.relevant is False or self.label is None:
            return self.relevant
        if self.label in WIDE_LABELS:
            # The second step is the finer label, so it decides.
            return self.label in STRICT_LABELS or reading is Relevance.WIDE
        return bool(self.relevant) and reading is Relevance.WIDE


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundedSample:
    """One question. `deflection`: whether a good answer states that the passages do not suffice.

    `cited`: ids of the passages that the reference answer cites, None where unknown. `tags` contain `time_sensitivity`
    (fast-changing, slow-changing or static), `complexity`, `popularity`, `category` and further labels of the row.
    `signs`: the evidence for `deflection` in a published row.
    """

    id: str
    question: str
    passages: tuple[GroundingPassage, ...]
    question_date: str | None = None
    reference: str = ""
    cited: tuple[str, ...] | None = None
    deflection: bool = False
    signs: DeflectionSigns | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    def relevant_passages(self, reading: Relevance) -> tuple[GroundingPassage, ...]:
        """The relevant passages, in order."""
        return tuple(one for one in self.passages if one.is_relevant(reading))

    def relevant_share(self, reading: Relevance) -> float | None:
        """The share of labelled passages that are relevant; None without labels."""
        told = [one.is_relevant(reading) for one in self.passages]
        labelled = [one for one in told if one is not None]
        return sum(labelled) / len(labelled) if labelled else None

    @property
    def source(self) -> str | None:
        """`private` where one passage is from private documents, `web` where all are from the web, else None."""
        told = {one.private for one in self.passages}
        # One private passage makes the question one about private documents.
        return "private" if True in told else "web" if told == {False} else None
