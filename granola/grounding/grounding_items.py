"""What is found of one long answer: verdicts on sentences, eligibility, whether it deflects, what it cites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from granola.errors import SampleError
from granola.grounding.citation_scores import CitationCounts
from granola.grounding.grounded_samples import Relevance
from granola.grounding.ladder_levels import LadderStanding


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


NOTHING_CITED = CitationCounts(0, 0, 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundingItem:
    """One answer. `sentences` has of each its text, its verdict against all passages, and against the relevant ones.

    A verdict is None where a judge gave none; `unjudged` says what is lacking and why. `deflects` names the rule.
    `system` wrote the answer, `judge` is the signature of who judged it. `ladder` is None where there is none.
    """

    id: str
    answer: str
    expected_deflection: bool
    eligibility: AnswerVerdict | None = None
    sentences: tuple[str, ...] = ()
    against_all: tuple[SentenceVerdict | None, ...] = ()
    against_relevant: Mapping[Relevance, tuple[SentenceVerdict | None, ...]] = field(default_factory=dict)
    deflects: str | None = None
    citations: CitationCounts = NOTHING_CITED
    by_relevance: Mapping[Relevance, CitationCounts] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    unjudged: Mapping[str, str] = field(default_factory=dict)
    ladder: LadderStanding | None = None
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
            return False
        if len(verdicts) < len(self.sentences):
            return None
        if any(one in (SentenceVerdict.UNSUPPORTED, SentenceVerdict.CONTRADICTORY) for one in verdicts):
            return False
        return None if None in verdicts else True

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
            "citations": _counts(self.citations),
            "citations_by_relevance": {str(reading): _counts(one) for reading, one in self.by_relevance.items()},
            "tags": dict(self.tags),
            "unjudged": dict(self.unjudged),
            **({"ladder": self.ladder.to_json()} if self.ladder is not None else {}),
            **({"system": self.system} if self.system else {}),
            **({"judge": self.judge} if self.judge else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GroundingItem:
        """The inverse of `to_json`. Raises SampleError for anything else."""
        try:
            parts = data["sentences"]
            readings = [reading for reading in Relevance if parts and str(reading) in parts[0]]
            return cls(
                id=data["id"],
                answer=data["answer"],
                expected_deflection=data["expected_deflection"],
                eligibility=AnswerVerdict(data["eligibility"]) if data["eligibility"] is not None else None,
                sentences=tuple(one["text"] for one in parts),
                against_all=tuple(_verdict(one["all"]) for one in parts),
                against_relevant={reading: tuple(_verdict(one[str(reading)]) for one in parts) for reading in readings},
                deflects=data["deflects"],
                citations=CitationCounts(*data["citations"]),
                by_relevance={
                    Relevance(name): CitationCounts(*one) for name, one in data["citations_by_relevance"].items()
                },
                tags=data.get("tags") or {},
                unjudged=data.get("unjudged") or {},
                ladder=LadderStanding.from_json(data["ladder"]) if data.get("ladder") is not None else None,
                system=str(data.get("system") or ""),
                judge=str(data.get("judge") or ""),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise SampleError(
                f"this is no judged answer: {error!r}; expected what granola grounding judge writes"
            ) from error


def _word(verdicts: Sequence[SentenceVerdict | None], at: int) -> str | None:
    one = verdicts[at] if at < len(verdicts) else None
    return None if one is None else str(one)


def _verdict(word: str | None) -> SentenceVerdict | None:
    return None if word is None else SentenceVerdict(word)


def _counts(one: CitationCounts) -> list[int]:
    return [one.right, one.cited, one.wanted]
