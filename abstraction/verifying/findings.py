"""The flaws that a check of evidence can find in a tier."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

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
