"""What a check of a tier's evidence can find."""

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
    STATEMENT_OUTRANKED = "statement-outranked"  # a preferred value stands beside it
    STATEMENT_ENDED = "statement-ended"  # and does not cover the question's date
    DESCRIPTION_CHANGED = "description-changed"
    SPAN_MISSING = "span-missing"
    SPAN_OUTSIDE = "span-outside"  # of the description, or empty
    NOT_INSIDE = "not-inside"  # the words before the span say near, between, off ...
    QUALIFIER_DROPPED = "qualifier-dropped"  # "vice president" told as a president
    WRONG_PROPERTY = "wrong-property"  # neither containment nor class
    DISCONNECTED = "disconnected"  # a step starts where no step before it led
    OTHER_CONCLUSION = "other-conclusion"  # the steps lead elsewhere than the tier
    FOREIGN_NAME = "foreign-name"  # text or alias that is no name of the tier's entity
    WORDS_UNSUPPORTED = "words-unsupported"  # words of the tier that no step says
    RULE_WRONG = "rule-wrong"  # recomputed, a date or an amount does not hold the answer
    BITS_RISE = "bits-rise"  # it tells more than anything that it may follow from


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One flaw, with the words or ids it is about."""

    flaw: Flaw
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TierCheck:
    """The outcome for one tier of a row: level 2 is the first beyond the answer, tiers count from 1.

    "unchecked" where there is no means to tell: an answer without an entity, or a rule in words that no reader knows.
    """

    row: str
    level: int
    position: int
    text: str
    status: Status
    findings: tuple[Finding, ...] = ()
