"""The results of both checks: flaws of a tier's evidence, and verdicts on tiers that are plain text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from abstraction.text.language.phrases import word_list

Status = Literal["entailed", "flawed", "unchecked"]


class Flaw(StrEnum):
    """Why a tier does not follow from its evidence."""

    NO_EVIDENCE = "no-evidence"
    ENTITY_GONE = "entity-gone"
    STATEMENT_GONE = "statement-gone"
    STATEMENT_CHANGED = "statement-changed"
    STATEMENT_DEPRECATED = "statement-deprecated"
    STATEMENT_OUTRANKED = "statement-outranked"  # the property has a preferred value besides it
    STATEMENT_ENDED = "statement-ended"  # it ended and does not cover the question's date
    DESCRIPTION_CHANGED = "description-changed"
    SPAN_MISSING = "span-missing"
    SPAN_OUTSIDE = "span-outside"  # outside the description, or empty
    NOT_INSIDE = "not-inside"  # the words before the span say near, between, off ...
    QUALIFIER_DROPPED = "qualifier-dropped"  # "vice president" used as president
    WRONG_PROPERTY = "wrong-property"  # neither containment nor class
    DISCONNECTED = "disconnected"  # a step starts where no step before it led
    OTHER_CONCLUSION = "other-conclusion"  # the steps lead elsewhere than the tier
    FOREIGN_NAME = "foreign-name"  # text or alias that is no name of the tier's entity
    WORDS_UNSUPPORTED = "words-unsupported"  # words of the tier that no step supports
    RULE_WRONG = "rule-wrong"  # the date or amount, recomputed, does not contain the answer
    BITS_RISE = "bits-rise"  # it has more bits than any tier that it may follow from


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A flaw, with the words or ids that it is about."""

    flaw: Flaw
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TierCheck:
    """The outcome of checking one tier: level 2 is the first beyond the answer, tiers are numbered from 1.

    "unchecked" where nothing can be checked: an answer without an entity, or a rule with a wording that cannot be
    read.
    """

    row: str
    level: int
    position: int
    text: str
    status: Status
    findings: tuple[Finding, ...] = ()


class VerdictKind(StrEnum):
    """The verdict on one tier. Only `entailed` tiers are good; `unknown` is no objection.

    Where the answers of a row give different verdicts on one tier, the first in this order counts.
    """

    ENTAILED = "entailed"
    UNKNOWN = "unknown"
    ALIAS = "alias"  # another name of the answer
    DUPLICATE = "duplicate"  # another name of a finer tier
    SIBLING = "sibling"  # true, but not coarser than the tier before it
    FINER_THAN_PREVIOUS = "finer_than_previous"
    NOT_COARSER_THAN_ANSWER = "not_coarser_than_answer"
    UNINFORMATIVE = "uninformative"
    CONTRADICTED = "contradicted"  # wrong


# By verdict, the quality of Yona et al. 2024 in which the tier fails.
AXES = {
    VerdictKind.CONTRADICTED: "correctness",
    VerdictKind.UNINFORMATIVE: "informativeness",
    **dict.fromkeys((VerdictKind.ALIAS, VerdictKind.DUPLICATE, VerdictKind.SIBLING), "granularity"),
    **dict.fromkeys((VerdictKind.FINER_THAN_PREVIOUS, VerdictKind.NOT_COARSER_THAN_ANSWER), "granularity"),
}
# Reasons that other modules compare with: part of the output, so their wording is fixed.
LEAKS = "describes the answer by the entity in the question"
NOT_ALL = "one of several places, or no larger than a finer one: nothing shows that it contains the answer"
NOTHING_NEW = "the question already states it, or most answers share it"
ANOTHER_ANSWER, MEMBER = "another answer to the question", "a member of the answer"
A_PERSON = "a person, who is never a coarser answer to this question"
GENERIC = word_list("generic_answers")  # texts that are true of any answer, so uninformative


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
    def is_sibling_of_answer(self) -> bool:
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
