"""What is found of one long answer: verdicts on sentences, eligibility, whether it deflects, what it cites;
and files of such items."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictBool, ValidationError, field_validator

from abstraction.faults import RejectedRow
from abstraction.files.records import read_records
from abstraction.files.row_reading import read_each
from granola.errors import SampleError, UsageError
from granola.grounding.citation_scores import CitationCounts
from granola.grounding.grounded_samples import RELEVANT_SHARE, Relevance

CUT = "sentences cut"  # in `unjudged`: the answer is longer than what was judged of it


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


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundingItem:
    """One answer. `sentences` has of each its text, its verdict against all passages, and against the relevant ones.

    A verdict is None where a judge gave none; `unjudged` says what is lacking and why. `deflects` names the rule, "" of
    an answer that does not deflect, None where the judge that was asked did not say. `system` wrote the answer, `judge`
    is the signature of who judged it. `citations` are None where nobody told what to cite. Readings that nobody
    labelled passages in are absent.
    """

    id: str
    answer: str
    expected_deflection: bool
    eligibility: AnswerVerdict | None = None
    sentences: tuple[str, ...] = ()
    against_all: tuple[SentenceVerdict | None, ...] = ()
    against_relevant: Mapping[Relevance, tuple[SentenceVerdict | None, ...]] = field(default_factory=dict)
    deflects: str | None = ""
    citations: CitationCounts | None = None
    by_relevance: Mapping[Relevance, CitationCounts] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    unjudged: Mapping[str, str] = field(default_factory=dict)
    system: str = ""
    judge: str = ""

    @property
    def eligible(self) -> bool | None:
        """Without major issues; None where nobody judged."""
        return None if self.eligibility is None else self.eligibility is not AnswerVerdict.MAJOR

    def factual(self, reading: Relevance | None = None) -> bool | None:
        """Every sentence supported or in no need, against all passages or the relevant ones; None where it is open.

        An answer without sentences states nothing and is not factual.
        """
        verdicts = self.against_all if reading is None else self.against_relevant.get(reading, ())
        if not self.sentences:
            return False if reading is None or reading in self.against_relevant else None
        if len(verdicts) < len(self.sentences):
            return None
        if any(one in (SentenceVerdict.UNSUPPORTED, SentenceVerdict.CONTRADICTORY) for one in verdicts):
            return False
        return None if None in verdicts or CUT in self.unjudged else True

    def to_json(self) -> dict[str, Any]:
        """A line of a file."""
        return {
            "id": self.id,
            "answer": self.answer,
            "expected_deflection": self.expected_deflection,
            "eligibility": None if self.eligibility is None else str(self.eligibility),
            "sentences": [
                {
                    "text": text,
                    "all": _word(self.against_all, at),
                    **{str(reading): _word(verdicts, at) for reading, verdicts in self.against_relevant.items()},
                }
                for at, text in enumerate(self.sentences)
            ],
            "deflects": self.deflects,
            "citations": None if self.citations is None else _counts(self.citations),
            "readings": [str(reading) for reading in self.against_relevant],
            "citations_by_relevance": {str(reading): _counts(one) for reading, one in self.by_relevance.items()},
            "tags": dict(self.tags),
            "unjudged": dict(self.unjudged),
            **({"system": self.system} if self.system else {}),
            **({"judge": self.judge} if self.judge else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GroundingItem:
        """The inverse of `to_json`. Raises SampleError for anything else, with the field."""
        try:
            line = _ItemLine.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise SampleError(
                f"this is no judged answer: {place}: {first['msg']}; expected what granola grounding judge writes"
            ) from None
        parts = line.sentences
        readings = [one for one in Relevance if line.readings is None or one in line.readings]
        for reading in readings:
            if any(getattr(one, reading) == MISSING for one in parts):
                raise SampleError(f"this is no judged answer: a sentence has no verdict in the reading {reading}")
        return cls(
            id=line.id,
            answer=line.answer,
            expected_deflection=line.expected_deflection,
            eligibility=line.eligibility,
            sentences=tuple(one.text for one in parts),
            against_all=tuple(one.all for one in parts),
            against_relevant={reading: tuple(getattr(one, reading) for one in parts) for reading in readings},
            deflects=line.deflects,
            citations=_counted(line.citations) if line.citations is not None else None,
            by_relevance={reading: _counted(one) for reading, one in line.citations_by_relevance.items()},
            tags=line.tags,
            unjudged=line.unjudged,
            system=line.system,
            judge=line.judge,
        )


def _counted(told: tuple[int, int, int]) -> CitationCounts:
    return CitationCounts(*told)


MISSING: Literal["missing"] = "missing"
Whole = Annotated[int, Field(ge=0, le=1_000_000, strict=True)]
Verdict = SentenceVerdict | None


class _SentenceLine(BaseModel):
    """A sentence in a file."""

    text: Annotated[str, Field(strict=True)]
    all: Verdict
    strict: Verdict | Literal["missing"] = MISSING
    wide: Verdict | Literal["missing"] = MISSING


class _ItemLine(BaseModel):
    """A line of a file."""

    id: Annotated[str, Field(min_length=1, max_length=1_000, strict=True)]
    answer: Annotated[str, Field(strict=True)]
    expected_deflection: StrictBool
    eligibility: AnswerVerdict | None
    sentences: list[_SentenceLine]
    readings: list[Relevance] | None = None
    deflects: Annotated[str, Field(strict=True)] | None
    citations: tuple[Whole, Whole, Whole] | None
    citations_by_relevance: dict[Relevance, tuple[Whole, Whole, Whole]]
    tags: dict[str, str] = {}
    unjudged: dict[str, str] = {}
    system: Annotated[str, Field(max_length=300, strict=True)] = ""
    judge: Annotated[str, Field(max_length=20_000, strict=True)] = ""

    @field_validator("citations", "citations_by_relevance")
    @classmethod
    def _no_more_right_than_cited(cls, value: Any) -> Any:
        for one in value.values() if isinstance(value, dict) else [value]:
            if one is not None and one[0] > min(one[1], one[2]):
                raise ValueError("more cited rightly than cited, or than there is to cite")
        return value

    @field_validator("tags")
    @classmethod
    def _shares(cls, value: dict[str, str]) -> dict[str, str]:
        # Files from before both readings were kept have the strict one under a name without a reading.
        tags = {Relevance.STRICT.share_tag if tag == RELEVANT_SHARE else tag: word for tag, word in value.items()}
        for tag in (reading.share_tag for reading in Relevance):
            share = tags.get(tag)
            if share is not None and re.fullmatch(r"0(?:\.\d{1,20})?|1(?:\.0{1,9})?", share) is None:
                raise ValueError(f"{tag} is {share[:40]!r}; expected a share from 0 to 1")
        return tags


def _word(verdicts: Sequence[SentenceVerdict | None], at: int) -> str | None:
    one = verdicts[at] if at < len(verdicts) else None
    return None if one is None else str(one)


def _counts(one: CitationCounts) -> list[int]:
    return [one.right, one.cited, one.wanted]


# Reads files of judged answers, as `granola grounding judge` and `granola pool` write them.


def read_judged_answers(path: Path, on_reject: Callable[[RejectedRow], object]) -> list[GroundingItem]:
    """The items of a file; those that name no system are of one called by the file. Raises UsageError for none."""
    items: list[GroundingItem] = []
    why = ""
    for item in read_each(read_records(path), lambda record: GroundingItem.from_json(record.data)):
        if isinstance(item, RejectedRow):
            why = why or f"; {item.source}: {item.reason}"
            on_reject(item)
        else:
            items.append(item if item.system else replace(item, system=path.stem))
    if not items:
        raise UsageError(f"{path} has no judged answer; granola grounding judge writes them{why}")
    return items


def answers_by_system(
    paths: Iterable[Path], on_reject: Callable[[RejectedRow], object]
) -> dict[str, list[GroundingItem]]:
    """Items of all files by system. Raises UsageError where a system's answer to a question stands there twice."""
    systems: dict[str, list[GroundingItem]] = {}
    seen: dict[tuple[str, str], Path] = {}
    for path in paths:
        for item in read_judged_answers(path, on_reject):
            key = (item.system, item.id)
            if key in seen:
                raise UsageError(
                    f"the answer of {item.system!r} to {item.id!r} is in {seen[key]} and in {path}: of several judges, "
                    "granola pool puts them together; of two systems with one name, judge with --system NAME"
                )
            seen[key] = path
            systems.setdefault(item.system, []).append(item)
    return systems
