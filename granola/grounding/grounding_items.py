"""What is found of one long answer: verdicts on sentences, eligibility, whether it deflects, what it cites."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, StrictBool, StrictStr, field_serializer

from abstraction.files.row_models import RowModel
from granola.grounding.grounded_samples import Relevance


class AnswerVerdict(StrEnum):
    """How an answer stands to the reference answer."""

    NO_ISSUES = "no issues"
    MINOR = "minor issues"
    MAJOR = "major issues"


class SentenceVerdict(StrEnum):
    """What passages are to a sentence."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTORY = "contradictory"
    NO_NEED = "no attribution needed"


_AGAINST = (SentenceVerdict.UNSUPPORTED, SentenceVerdict.CONTRADICTORY)
Verdicts = tuple[SentenceVerdict | None, ...]
Whole = Annotated[int, Field(ge=0, strict=True)]


class CitationCounts(NamedTuple):
    """Of one answer: passages cited rightly, cited at all (those that do not exist among them), and to be cited."""

    right: Whole
    cited: Whole
    wanted: Whole

    @classmethod
    def of(cls, cited: Iterable[str], wanted: Iterable[str], *, strange: int = 0) -> CitationCounts:
        """The counts of an answer; `strange` citations are of no passage, and wrong."""
        said, right = set(cited), set(wanted)
        return cls(right=len(said & right), cited=len(said) + strange, wanted=len(right))


class AnsweredSentence(BaseModel, frozen=True):
    """A sentence with its verdict against all passages, and against the relevant ones in readings that were judged.

    None where a judge gave none.
    """

    text: StrictStr
    all: SentenceVerdict | None = None
    strict: SentenceVerdict | None = None
    wide: SentenceVerdict | None = None


class GroundingItem(RowModel):
    """One answer, as a line of a file has it.

    `unjudged` says what verdict is lacking and why. `deflects` names the rule, "" of an answer that does not deflect,
    None where the judge that was asked did not say. `readings` are those in which anybody labelled passages.
    `citations` are None where nobody told what to cite. `system` wrote the answer, `judge` judged it.
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
        """A reading that was not judged is no field of the line."""
        return [one.model_dump(mode="json", exclude_unset=True) for one in sentences]

    @property
    def eligible(self) -> bool | None:
        """Without major issues; None where nobody judged."""
        return None if self.eligibility is None else self.eligibility is not AnswerVerdict.MAJOR

    def verdicts(self, reading: Relevance | None = None) -> Verdicts:
        """Of the sentences in order, against all passages or the relevant ones."""
        return tuple(getattr(one, reading or "all") for one in self.sentences)

    def factual(self, reading: Relevance | None = None) -> bool | None:
        """Every sentence supported or in no need, against all passages or the relevant ones; None where it is open.

        An answer without sentences states nothing and is not factual.
        """
        if reading is not None and reading not in self.readings:
            return None
        verdicts = self.verdicts(reading)
        if not verdicts or any(one in _AGAINST for one in verdicts):
            return False
        return None if None in verdicts else True

    @property
    def deflecting(self) -> float | None:
        """1 where it deflects, 0 where it does not, None where nobody said."""
        return None if self.deflects is None else float(bool(self.deflects))
