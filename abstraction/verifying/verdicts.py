"""Verdicts on a tier that comes as mere text: the kinds, their axes, and the record of a row's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class VerdictKind(StrEnum):
    """The verdict on one tier. Only `entailed` is a good tier; `unknown` says nothing against it."""

    ENTAILED = "entailed"
    ALIAS = "alias"  # another name of the answer
    DUPLICATE = "duplicate"  # of a finer tier
    SIBLING = "sibling"  # true beside the tier before it, not above it
    FINER_THAN_PREVIOUS = "finer_than_previous"
    NOT_COARSER_THAN_ANSWER = "not_coarser_than_answer"
    CONTRADICTED = "contradicted"  # wrong
    UNINFORMATIVE = "uninformative"
    UNKNOWN = "unknown"


AXES = {
    VerdictKind.CONTRADICTED: "correctness",
    VerdictKind.UNINFORMATIVE: "informativeness",
    VerdictKind.ALIAS: "granularity",
    VerdictKind.DUPLICATE: "granularity",
    VerdictKind.SIBLING: "granularity",
    VerdictKind.FINER_THAN_PREVIOUS: "granularity",
    VerdictKind.NOT_COARSER_THAN_ANSWER: "granularity",
}
# Reasons that readers of verdicts tell apart.
LEAKS = "tells of the answer by the question's own entity"
NOT_ALL = "one of several places, or no larger than a finer one: nothing shows that it holds the answer"
NOTHING_NEW = "the question tells it, or most answers share it"
ANOTHER_ANSWER, MEMBER = "another answer to the question", "a member of the answer"
A_PERSON = "a person, who stands beside the answer and never above it"
# Say nothing of any answer.
_GENERIC = """
    person|people|human|man|woman|someone|something|thing|entity|place|location|group|group of people|organization|
    organisation|individual|earth|world|planet|planet earth|universe|solar system|name|object|male|female|adult
"""
GENERIC = frozenset(word.strip() for word in _GENERIC.split("|"))


@dataclass(frozen=True, kw_only=True, slots=True)
class TierVerdict:
    """The verdict on one tier: level 2 is the first beyond level 1, tiers count from 1; `why` in words.

    `entities` are those above the answer that the tier names, as far as the snapshot tells.
    """

    row: str
    level: int
    position: int
    text: str
    verdict: VerdictKind
    why: str = ""
    entities: tuple[str, ...] = ()

    @property
    def leaks(self) -> bool:
        """Whether it is uninformative because it repeats the question."""
        return self.why == LEAKS

    @property
    def beside_answer(self) -> bool:
        """Whether it is a sibling of the answer itself, not of a tier before it."""
        return self.why in (ANOTHER_ANSWER, MEMBER, A_PERSON)


@dataclass(frozen=True, kw_only=True, slots=True)
class RowVerdict:
    """The verdicts of one row, the entity its answer was taken for, and its classes.

    `namesake` is set where places of a chain belong elsewhere: the id of the namesake of the answer that they do
    belong to, or "" where the snapshot has none that fits; None where nothing points to one. Where the link of the
    answer itself may be to a namesake (`certain` False) those tiers stay "unknown".
    """

    row: str
    answer: str | None
    classes: tuple[str, ...]
    tiers: tuple[TierVerdict, ...]
    namesake: str | None = None
    certain: bool = True
