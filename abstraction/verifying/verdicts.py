"""Verdicts on tiers that are plain text: the kinds of verdict, their axes, and the verdicts of a row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class VerdictKind(StrEnum):
    """The verdict on one tier. Only `entailed` tiers are good; `unknown` is no objection."""

    ENTAILED = "entailed"
    ALIAS = "alias"  # another name of the answer
    DUPLICATE = "duplicate"  # another name of a finer tier
    SIBLING = "sibling"  # true, but not coarser than the tier before it
    FINER_THAN_PREVIOUS = "finer_than_previous"
    NOT_COARSER_THAN_ANSWER = "not_coarser_than_answer"
    CONTRADICTED = "contradicted"  # wrong
    UNINFORMATIVE = "uninformative"
    UNKNOWN = "unknown"


# The axis of Yona et al. 2024 that each verdict is an error on.
AXES = {
    VerdictKind.CONTRADICTED: "correctness",
    VerdictKind.UNINFORMATIVE: "informativeness",
    VerdictKind.ALIAS: "granularity",
    VerdictKind.DUPLICATE: "granularity",
    VerdictKind.SIBLING: "granularity",
    VerdictKind.FINER_THAN_PREVIOUS: "granularity",
    VerdictKind.NOT_COARSER_THAN_ANSWER: "granularity",
}
# Reasons that other modules compare with: part of the output, so their wording is fixed.
LEAKS = "describes the answer by the entity in the question"
NOT_ALL = "one of several places, or no larger than a finer one: nothing shows that it contains the answer"
NOTHING_NEW = "the question already states it, or most answers share it"
ANOTHER_ANSWER, MEMBER = "another answer to the question", "a member of the answer"
A_PERSON = "a person, who is never a coarser answer to this question"
# Texts that are true of any answer, so uninformative.
_GENERIC = """
    person|people|human|man|woman|someone|something|thing|entity|place|location|group|group of people|organization|
    organisation|individual|earth|world|planet|planet earth|universe|solar system|name|object|male|female|adult
"""
GENERIC = frozenset(word.strip() for word in _GENERIC.split("|"))


@dataclass(frozen=True, kw_only=True, slots=True)
class TierVerdict:
    """The verdict on one tier: level 2 is the first beyond level 1, tiers are numbered from 1; `why` is the reason in
    words.

    `entities` are the entities above the answer that the tier names, as far as the snapshot contains them.
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
    """The verdicts of one row, the entity to which its answer was linked, and the classes of that entity.

    `namesake` is set where places of a chain lie elsewhere: the id of the namesake of the answer that lies in them, or
    "" where the snapshot has no such namesake; None where nothing suggests one. Where the answer itself may be linked
    to a namesake (`certain` False) those tiers stay "unknown".
    """

    row: str
    answer: str | None
    classes: tuple[str, ...]
    tiers: tuple[TierVerdict, ...]
    namesake: str | None = None
    certain: bool = True
