"""Long answers and passages held against a ladder: how finely is the gold answer stated, and is that grounded?

An answer may be finer than what is relevant entails, then it is invented at that level, or coarser and grounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from abstraction.language.sentences import sentences
from abstraction.rows import TieredRow
from granola.grounding.answer_sentences import answer_sentences
from granola.grounding.citation_markers import without_markers
from granola.grounding.grounded_samples import GroundedSample, Relevance
from granola.matching.verdict import Matcher

MOST_SENTENCES = 200  # of a passage
LONGEST = 600  # characters of a sentence
BY_MENTION = "by mention, not entailment"  # how levels are told where no judge that reads is asked


class LevelGrounding(StrEnum):
    """What an answer makes of a ladder."""

    FINEST_GROUNDED = "finest level, grounded"
    FINEST_INVENTED = "finest level, not grounded"
    COARSER_GROUNDED = "coarser level, grounded"
    COARSER_INVENTED = "coarser level, not grounded"
    NOT_STATED = "no level stated"
    DEFLECTED = "deflected"


@dataclass(frozen=True, kw_only=True, slots=True)
class LadderStanding:
    """`mentioned`: the finest of `levels` levels that the answer names, 1 the finest, None for none.

    `stated`: that level, or where `judged`, by a judge that reads, the finest that it finds the answer to state.
    `passages`: the finest that a relevant passage names, by reading. `supported`: whether the judge says that the
    relevant passages support the stated level; None where it did not say.
    """

    levels: int
    stated: int | None
    mentioned: int | None = None
    judged: bool = False
    passages: Mapping[Relevance, int | None] = field(default_factory=dict)
    supported: Mapping[Relevance, bool | None] = field(default_factory=dict)

    def grounded(self, reading: Relevance) -> bool | None:
        """Whether the stated level follows from relevant passages: by the judge, else as one names it or a finer one.

        None where no level is stated, or the judge did not say.
        """
        if self.stated is None:
            return None
        if self.judged:
            return self.supported.get(reading)
        finest = self.passages.get(reading)
        return finest is not None and finest <= self.stated

    def outcome(self, reading: Relevance, *, deflects: bool | None) -> LevelGrounding | None:
        """What the answer makes of the ladder, None where nobody judged; one that states a level does not deflect."""
        grounded = self.grounded(reading)
        if self.stated is None:
            return None if deflects is None else LevelGrounding.DEFLECTED if deflects else LevelGrounding.NOT_STATED
        if grounded is None:
            return None
        if self.stated == 1:
            return LevelGrounding.FINEST_GROUNDED if grounded else LevelGrounding.FINEST_INVENTED
        return LevelGrounding.COARSER_GROUNDED if grounded else LevelGrounding.COARSER_INVENTED

    def against_passages(self, reading: Relevance) -> str | None:
        """finer, as fine or coarser than what relevant passages name; None where one of them states no level."""
        finest = self.passages.get(reading)
        if self.stated is None or finest is None:
            return None
        return "as fine" if self.stated == finest else "finer" if self.stated < finest else "coarser"

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "levels": self.levels,
            "stated": self.stated,
            "mentioned": self.mentioned,
            "judged": self.judged,
            "passages": {str(reading): level for reading, level in self.passages.items()},
            "supported": {str(reading): told for reading, told in self.supported.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LadderStanding:
        """The inverse of `to_json`. Raises ValueError."""
        levels, stated, judged = data.get("levels"), data.get("stated"), data.get("judged", False)
        mentioned = data.get("mentioned", stated)
        passages, supported = data.get("passages"), data.get("supported")
        if (
            not isinstance(levels, int)
            or levels < 1
            or not isinstance(passages, dict)
            or not isinstance(supported, dict)
            or not isinstance(judged, bool)
        ):
            raise ValueError("expected levels, judged, passages and supported")
        for level in (stated, mentioned, *passages.values()):
            if level is not None and (not isinstance(level, int) or not 1 <= level <= levels):
                raise ValueError(f"a level is {level!r}; expected 1 to {levels}")
        if not all(entailed is None or isinstance(entailed, bool) for entailed in supported.values()):
            raise ValueError("supported is true, false or null")
        return cls(
            levels=levels,
            stated=stated,
            mentioned=mentioned,
            judged=judged,
            passages={Relevance(name): level for name, level in passages.items()},
            supported={Relevance(name): entailed for name, entailed in supported.items()},
        )


def ladder_standing(
    sample: GroundedSample, answer: str, row: TieredRow, matcher: Matcher, *, language: str = "en"
) -> LadderStanding:
    """The levels that an answer and the relevant passages name, sentence by sentence."""
    names = [level.names() for level in row.levels]
    ids = [one.id for one in sample.passages]
    texts = (without_markers(text, ids) for text in answer_sentences(answer, ids, language=language))
    mentioned = _finest(texts, names, matcher, row.question)
    return LadderStanding(
        levels=len(names),
        stated=mentioned,
        mentioned=mentioned,
        passages={
            reading: _finest(_passages(sample, reading, language), names, matcher, row.question)
            for reading in Relevance
        },
    )


def level_sentence(row: TieredRow, level: int) -> str:
    """What a judge is asked about a level, 1-based: a sentence that states it as the answer."""
    return f'The answer to the question "{row.question}" is: {row.levels[level - 1].tiers[0].text}.'


def _passages(sample: GroundedSample, reading: Relevance, language: str) -> Iterator[str]:
    for passage in sample.relevant(reading):
        for number, text in enumerate(sentences(passage.text, language)):
            if number >= MOST_SENTENCES:
                break
            yield text


def _finest(texts: Iterable[str], names: Sequence[Sequence[str]], matcher: Matcher, question: str) -> int | None:
    best: int | None = None
    for text in texts:
        level = matcher.match(text[:LONGEST], names, question).level
        if level is not None and (best is None or level < best):
            best = level
            if best == 1:
                break
    return best
