"""The judged long answer: verdicts on sentences, eligibility, whether it deflects, its citations."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, StrictBool, StrictStr, field_serializer

from abstraction.files.row_models import RowModel
from granola.evidence.grounding.grounded_samples import Relevance


class AnswerVerdict(StrEnum):
    """The grade of an answer, compared with the reference answer."""

    NO_ISSUES = "no issues"
    MINOR = "minor issues"
    MAJOR = "major issues"


class SentenceVerdict(StrEnum):
    """The verdict on a sentence, given passages."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTORY = "contradictory"
    NO_NEED = "no attribution needed"


_AGAINST = (SentenceVerdict.UNSUPPORTED, SentenceVerdict.CONTRADICTORY)
Verdicts = tuple[SentenceVerdict | None, ...]
Whole = Annotated[int, Field(ge=0, strict=True)]


class CitationCounts(NamedTuple):
    """Counts of one answer: `right` citations, all passages `cited` (citations of no passage included), and passages
    `wanted`, which it should cite.
    """

    right: Whole
    cited: Whole
    wanted: Whole

    @classmethod
    def of(cls, cited: Iterable[str], wanted: Iterable[str], *, strange: int = 0) -> CitationCounts:
        """The counts of an answer; `strange` is the number of citations of no passage, which count as wrong."""
        said, right = set(cited), set(wanted)
        return cls(right=len(said & right), cited=len(said) + strange, wanted=len(right))


class AnsweredSentence(BaseModel, frozen=True):
    """A sentence with its verdict against all passages, and against the relevant ones in each judged reading.

    None where a judge gave no verdict.
    """

    text: StrictStr
    all: SentenceVerdict | None = None
    strict: SentenceVerdict | None = None
    wide: SentenceVerdict | None = None


class GroundingItem(RowModel):
    """One judged answer, as a line of a file contains it.

    `unjudged` maps each missing verdict to the reason. `deflects` names the rule by which the answer deflects; it is
    "" where it does not, None where the judge gave no verdict. `readings` are the readings for which passages are
    labelled. `citations` are None where the passages to cite are unknown. `system` wrote the answer, `judge` judged
    it.
    """

    id: Annotated[StrictStr, Field(min_length=1)]
    answer: StrictStr
    expected_deflection: StrictBool
    eligibility: AnswerVerdict | None = None
    sentences: tuple[AnsweredSentence, ...] = ()
    deflects: StrictStr | None = ""
    citations: CitationCounts | None = None
    readings: tuple[Relevance, ...] = ()
    tags: dict[str, str] = Field(default_factory=dict)
    unjudged: dict[str, str] = Field(default_factory=dict)
    system: StrictStr = ""
    judge: StrictStr = ""

    @field_serializer("sentences")
    def _as_judged(self, sentences: tuple[AnsweredSentence, ...]) -> list[dict[str, Any]]:
        """The sentences as JSON; the field of a reading that was not judged is left out."""
        return [one.model_dump(mode="json", exclude_unset=True) for one in sentences]

    @property
    def eligible(self) -> bool | None:
        """Whether the answer has no major issues; None where it was not judged."""
        return None if self.eligibility is None else self.eligibility is not AnswerVerdict.MAJOR

    def verdicts(self, reading: Relevance | None = None) -> Verdicts:
        """The verdicts on the sentences, in order, against all passages or the relevant ones."""
        return tuple(getattr(one, reading or "all") for one in self.sentences)

    def factual(self, reading: Relevance | None = None) -> bool | None:
        """Whether every sentence is supported or needs no attribution, by all passages or the relevant ones; None
        where undecided.

        An answer without sentences states nothing and is not factual.
        """
        # Without labels there is no set of relevant passages to judge by.
        if reading is not None and reading not in self.readings:
            return None
        verdicts = self.verdicts(reading)
        # One bad sentence decides, even if others lack a verdict.
        if not verdicts or any(one in _AGAINST for one in verdicts):
            return False
        return None if None in verdicts else True

    @property
    def deflecting(self) -> float | None:
        """1 where it deflects, 0 where it does not, None where no judge decided."""
        return None if self.deflects is None else float(bool(self.deflects))
