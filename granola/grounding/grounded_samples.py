"""Questions with passages of which some are relevant (Sorodoc et al. 2025, GaRAGe)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from granola.grounding.deflection_signs import DeflectionSigns

STRICT_LABELS = frozenset({"ANSWER-THE-QUESTION", "RELATED-INFORMATION"})
WIDE_LABELS = frozenset({*STRICT_LABELS, "OUTDATED", "UNKNOWN"})
RELEVANT_SHARE = "relevant_share"


class Relevance(StrEnum):
    """Which passages count as relevant. STRICT: those that answer or are related; WIDE: outdated and undated ones too.

    The paper's text does not settle which of the two its scores are of.
    """

    STRICT = "strict"
    WIDE = "wide"

    @property
    def share_tag(self) -> str:
        """The tag of judged answers that has the share of passages that are relevant in this reading."""
        return f"{RELEVANT_SHARE}_{self}"


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundingPassage:
    """A passage: `relevant` by the first step of labelling, `label` by the second; None where nobody labelled.

    `private` is None where nothing says whether the passage is from the web or from somebody's own documents.
    """

    id: str
    text: str
    date: str | None = None
    age: str | None = None
    provider: str | None = None
    relevant: bool | None = None
    label: str | None = None
    private: bool | None = None

    def is_relevant(self, reading: Relevance) -> bool | None:
        """Whether it counts; a relevant passage without a second label counts in both readings.

        One whose second label is of no known kind, or contradicts the first step, counts in the wide one alone.
        """
        if self.relevant is False:
            return False
        if self.label in WIDE_LABELS:
            return self.label in STRICT_LABELS or reading is Relevance.WIDE
        if self.label is not None:  # relevant by the first step alone
            return bool(self.relevant) and reading is Relevance.WIDE
        return self.relevant


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundedSample:
    """One question. `deflection`: whether a good answer says that the passages do not suffice.

    `cited`: ids of the passages that the reference answer cites, None where nobody told. `related` is the reference
    with related information added, `comments` what the annotators noted. `tags` hold `time_sensitivity` (fast-changing,
    slow-changing or static), `complexity`, `popularity`, `category` and whatever else a row tells. `signs` are what
    told of a published row whether it deflects.
    """

    id: str
    question: str
    passages: tuple[GroundingPassage, ...]
    question_date: str | None = None
    reference: str = ""
    cited: tuple[str, ...] | None = None
    related: str = ""
    comments: str = ""
    deflection: bool = False
    signs: DeflectionSigns | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    def relevant(self, reading: Relevance) -> tuple[GroundingPassage, ...]:
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
        return "private" if True in told else "web" if told == {False} else None
