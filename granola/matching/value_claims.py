"""Answers that state dates or amounts, compared with tiers that are dates or amounts: the claim that decides, and its
level.

Both are intervals, as wide as their wording leaves open: "August 1961" leaves a month open, "the 1960s" ten years,
"about 35 million" half a million to either side. So equal, finer, coarser and conflicting are interval relations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from abstraction.text.language.amounts import convert_if_same_dimension, is_money
from abstraction.text.language.date_finder import IntervalClaim
from abstraction.text.language.languages import language
from granola.matching.matchers import Comparison, Verdict
from granola.matching.mentions import AnswerText
from granola.matching.tokens import words
from granola.matching.vetoes import is_denied_word, patterns_in_english_and_language
from granola.replies.plain_text import fold_case_and_accents


@dataclass(frozen=True, slots=True)
class IntervalPlacing:
    """A claim with its place on a ladder: level from 0 or None, the relation, and the tier that decided."""

    claim: IntervalClaim
    level: int | None
    relation: str
    tier: IntervalClaim


Ladder = Sequence[Sequence[IntervalClaim]]
"""The claims of each level of a gold answer, finest first, empty where none."""


def place_on_ladder(claim: IntervalClaim, ladder: Ladder) -> IntervalPlacing | None:
    """The level that a claim states.

    equal: a tier has exactly this interval. finer-than-gold: inside the finest tier of that unit, and credited at its
    level. between-tiers: true, coarser than one level, finer than the next, and credited at the next. coarser-than-
    all: true, but no tier is that coarse. conflict: it excludes the finest tier, also where it is inside a coarser
    one. None where the ladder has no claim in a comparable unit.
    """
    comparable = (
        (number, [tier for tier in tiers if not (claim.label and tier.label) or claim.label == tier.label])
        for number, tiers in enumerate(ladder)
    )
    stated = [(number, tiers) for number, tiers in comparable if tiers]
    if not stated:
        return None
    for number, tiers in stated:
        for tier in tiers:
            # exact equality: both are computed from the same wording rules
            if claim.low == tier.low and claim.high == tier.high:
                return IntervalPlacing(claim, number, "equal", tier)
    number, finest = stated[0]
    for tier in finest:
        # a plain number is only refined by decimals: 21,196.18 where 21,196 is the gold answer
        is_exact = claim.exact is not None and tier.width == 1 and tier.exact is not None and tier.exact.is_integer()
        if claim.inside(tier) and (tier.exact is None or is_exact):
            return IntervalPlacing(claim, number, "finer-than-gold", tier)
    # a claim that excludes the finest tier is wrong, whatever coarser tiers allow
    if not any(claim.contains(tier) for tier in finest):
        return IntervalPlacing(claim, None, "conflict", finest[0])
    for number, tiers in stated[1:]:
        for tier in tiers:
            if claim.width <= tier.width:
                return IntervalPlacing(claim, number, "between-tiers", tier)
    return IntervalPlacing(claim, None, "coarser-than-all", stated[-1][1][0])


MONTH = 31  # days
YEAR = 12 * 31  # days, in the day numbers of `calendar_dates`, where each month has 31
ROUNDED = 0.1  # proportion of a number: the widest interval that rounding it to two digits leaves open
CLOSE = 3  # a date less than this many times as wide as the gold answer counts as equally exact

_NEAR = 60  # characters before a claim that may qualify it: "about", "before"
_ABOUT = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|over)|~|≈)\s*\Z", re.I
)
_OPEN = re.compile(  # these give a bound and no day or year of the event
    r"\b(?:before|after|since|by|prior to|earlier than|later than)\s+(?:the\s+)?(?:year\s+|end of\s+)?\Z", re.IGNORECASE
)
_BEFORE, _AFTER = frozenset({"before", "prior", "earlier"}), frozenset({"after", "since", "later"})
_ASKS_OPEN = re.compile(rf"\b(?:{'|'.join(sorted(_BEFORE | _AFTER))}|by (?:which|what))\b")
_MAYBE = r"(?:(?:possibly|perhaps|maybe|probably|likely|even|alternatively|else)\s+)"
_OR = re.compile(
    rf"[\s,;(]*(?:\bor\b,?\s*{_MAYBE}*|(?:(?:though|although|but)\s+)?(?:possibly|perhaps|maybe)\s+)"
    r"(?:(?:as|the|in|on|about|around|early|late)\s+)*",
    re.IGNORECASE,
)


def verdict_on_claims(
    kind: str, claims: Sequence[IntervalClaim], ladder: Ladder, text: str, question: str | None, code: str = "en"
) -> Verdict:
    """The verdict of the finest level that any claim states; claims joined by "or" count as the worst of them.

    Negated claims are left out, and a claim is left out where a finer one inside it is wrong.
    """
    if not claims:
        return Verdict(level=None, rule=f"{kind}:none-stated")
    affirmed = _affirmed_claims(kind, claims, ladder, text, question)
    if not affirmed:
        first = next(claim.text for level in ladder for claim in level)
        return Verdict(level=None, rule="negated", compared=Comparison(prediction=claims[0].text, tier=first))
    if kind == "amount" and question and not any(tier.label for level in ladder for tier in level):
        affirmed = [claim for claim in affirmed if _may_question_ask_unit(claim.label, question.lower(), code)]
    placed = [found for claim in affirmed if (found := _place_claim(kind, claim, ladder)) is not None]
    if not placed:
        return Verdict(level=None, rule=f"{kind}:other-unit")
    if (refused := _verdict_on_failing_alternatives(placed, text)) is not None:
        return refused
    if kind == "amount":
        placed = [_conflicting_unless_rounded(placing, text) for placing in placed]
    best = _finest_consistent_placing(placed)
    claim = best.claim
    if best.relation == "coarser-than-all" and (
        _is_date_nearly_as_exact(claim, ladder, question, code)
        if kind == "date"
        else _is_acceptable_rounding_of_amount(claim, ladder, text)
    ):
        best = replace(best, level=max(level for level, tiers in enumerate(ladder) if tiers), relation="coarser")
    return Verdict(
        level=None if best.level is None else best.level + 1,
        rule=f"{kind}:{best.relation}",
        compared=Comparison(prediction=claim.text, tier=best.tier.text),
    )


def _affirmed_claims(
    kind: str, claims: Sequence[IntervalClaim], ladder: Ladder, text: str, question: str | None
) -> list[IntervalClaim]:
    """The claims that are not negated nor, for dates, mere bounds ("before 1990"), unless the gold answer has the same
    bound.
    """
    answer = AnswerText(text, ())
    affirmed = [claim for claim in claims if not is_denied_word(answer, answer.index_of_word_at(claim.start))]
    if kind != "date" or (question and _ASKS_OPEN.search(question.lower())):
        return affirmed
    opened = [_OPEN.search(text, max(0, claim.start - _NEAR), claim.start) for claim in affirmed]
    if not any(opened):
        return affirmed
    own = _open_sides(" ".join(tier.text for tiers in ladder for tier in tiers))
    return [claim for claim, found in zip(affirmed, opened, strict=True) if not found or own & _open_sides(found[0])]


def _place_claim(kind: str, claim: IntervalClaim, ladder: Ladder) -> IntervalPlacing | None:
    """A claim with its place, an amount converted to the unit of the tiers; None where no tier has a comparable unit.
    """
    placing = _place_amount(claim, ladder) if kind == "amount" else place_on_ladder(claim, ladder)
    if placing is None or placing.level is not None or placing.claim.wider is None:
        return placing
    low, high = placing.claim.wider
    wider = place_on_ladder(replace(placing.claim, low=low, high=high), ladder)
    return None if wider is None else replace(wider, claim=placing.claim)


def _verdict_on_failing_alternatives(placed: Sequence[IntervalPlacing], text: str) -> Verdict | None:
    """The verdict on two claims joined by "or" of which one states no level; None where there is no such pair."""
    for first, second in pairwise(placed):
        if _OR.fullmatch(text, first.claim.end, second.claim.start) and None in (first.level, second.level):
            compared = Comparison(prediction=text[first.claim.start : second.claim.end], tier=first.tier.text)
            return Verdict(level=None, rule="alternatives", compared=compared)
    return None


def _finest_consistent_placing(placed: Sequence[IntervalPlacing]) -> IntervalPlacing:
    """The claim that states the finest level, without those that contain a finer one that is wrong.

    A plain number equal to the gold answer is kept: "10 sets of 6 x 16 inches" states 10.
    """
    wrong = [placing.claim for placing in placed if placing.level is None]
    left = [
        placing
        for placing in placed
        if placing.level is None
        or (placing.claim.exact is not None and placing.level == 0 and placing.relation == "equal")
        or not any(claim.inside(placing.claim) and claim.width < placing.claim.width for claim in wrong)
    ]
    return min(left, key=lambda placing: (placing.level is None, placing.level or 0, placing.relation == "conflict"))


def _open_sides(text: str) -> set[str]:
    """The sides, "before" and "after", on which a text leaves a date open: "before" for `prior to 1996` and `before
    1996`.
    """
    present = set(text.lower().split())
    return {name for name, words in (("before", _BEFORE | {"by"}), ("after", _AFTER)) if not words.isdisjoint(present)}


def _place_amount(claim: IntervalClaim, ladder: Ladder) -> IntervalPlacing | None:
    """An amount with its place, converted to the unit of the gold answers in which it states the finest level.

    Each unit gives one place; where the amount rounds to one of the gold answers, no other unit can be better.
    """
    if not claim.label:
        return place_on_ladder(claim, ladder)
    by_unit: dict[str, IntervalClaim] = {}  # the claim in each unit of the gold answers
    placed: dict[str, IntervalPlacing] = {}  # by the unit of the claim after conversion
    for finest in ladder[0]:
        if (in_unit := by_unit.get(finest.label)) is None:
            in_unit = by_unit[finest.label] = convert_if_same_dimension(claim, finest.label) if finest.label else claim
            if in_unit.label not in placed and (placing := place_on_ladder(in_unit, ladder)) is not None:
                placed[in_unit.label] = placing
        if in_unit is not claim and _rounds_to(in_unit, finest):
            return place_on_ladder(replace(in_unit, low=finest.low, high=finest.high), ladder)
    return min(
        placed.values(),
        key=lambda placing: (placing.level is None, placing.level or 0, _RELATIONS.index(placing.relation)),
        default=None,
    )


_RELATIONS = ("equal", "finer-than-gold", "between-tiers", "coarser-than-all", "conflict")  # from best to worst


def _rounds_to(claim: IntervalClaim, finest: IntervalClaim) -> bool:
    """Whether an amount in the unit of a gold answer rounds to the gold answer's own number."""
    return (
        claim.low <= finest.high
        and finest.low <= claim.high
        and claim.label == finest.label
        and claim.width <= 4 * finest.width  # a claim much wider than the gold answer is no rounding of it
        and abs(_midpoint(claim) - _midpoint(finest))
        <= max(ROUNDED / 2 * abs(_midpoint(finest)), ROUNDED * finest.width)
    )


def _midpoint(claim: IntervalClaim) -> float:
    return (claim.low + claim.high) / 2


def _is_date_nearly_as_exact(claim: IntervalClaim, ladder: Ladder, question: str | None, code: str) -> bool:
    """Whether a date coarser than every level is nearly as exact as the coarsest, as human graders judge it.

    That is the year of a day or month, or the century of a part of it; not where the question asks for the day or
    month.
    """
    for key, least in (("asks_day", 2), ("asks_month", MONTH)):
        if question and claim.width >= least and _question_matches(key, question, code):
            return False
    coarsest = [tiers for tiers in ladder if tiers][-1]
    if len(ladder) == 1 and claim.width < 10 * YEAR:  # with one level, dates narrower than a decade count
        return True
    return claim.width < YEAR or any(claim.width < CLOSE * tier.width for tier in coarsest)


def _question_matches(key: str, question: str, code: str) -> bool:
    """Whether a question matches the pattern `key` of a language, or of English."""
    return any(
        pattern.search(fold_case_and_accents(question)) for pattern in patterns_in_english_and_language(key, code)
    )


def _is_acceptable_rounding_of_amount(claim: IntervalClaim, ladder: Ladder, text: str) -> bool:
    """Whether an amount coarser than every level rounds the gold answer to two digits or more.

    Rounding to one digit counts where the answer marks it ("about") and is off by at most a twentieth: `about 70 %`
    for 71 %.
    """
    if claim.low <= 0:
        return False
    middle = _midpoint(claim)
    off = min(abs(middle - _midpoint(tier)) for tiers in ladder for tier in tiers)
    return claim.width <= ROUNDED * middle or (
        bool(_ABOUT.search(text, max(0, claim.start - _NEAR), claim.start)) and off <= ROUNDED / 2 * middle
    )


def _conflicting_unless_rounded(placing: IntervalPlacing, text: str) -> IntervalPlacing:
    """The placing, in conflict where the claim is a bare number much wider than rounding: 30 is not 25, though a tier
    is "about 30", nor 200 "between 100 and 1,000".
    """
    claim = placing.claim
    is_bare = claim.exact is not None and not _ABOUT.search(text, max(0, claim.start - _NEAR), claim.start)
    if placing.level and is_bare and claim.width > ROUNDED * abs(_midpoint(claim)):
        return replace(placing, level=None, relation="conflict")
    return placing


def _may_question_ask_unit(unit: str, question: str, code: str) -> bool:
    """Whether the question may ask for a percentage or money, if `unit` is one; True for other units. 42 % is no
    number of stations.
    """
    key = "asks_share" if unit == _PERCENT else "asks_money" if is_money(unit) else ""
    pattern = language(code).matching.get(key)
    return pattern is None or pattern.search(question) is not None


_PERCENT = "Q11229"  # per cent in WikiData

_NTH = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
# the values of number words that are no cardinals
_COUNTED = {"once": 1, "twice": 2, "thrice": 3, "dozen": 12, "single": 1, "couple": 2, "pair": 2, "none": 0}


def ordinals_and_counts(text: str) -> tuple[IntervalClaim, ...]:
    """The numbers that a text gives by an ordinal or a word, as claims: the fourteenth season, twice, a dozen."""
    claims = []
    for word in words(text):
        nth = _NTH.fullmatch(word.text)
        value = float(nth[1]) if nth else _COUNTED.get(word.text)
        if value is not None:
            stated = text[word.start : word.end]
            claims.append(IntervalClaim(value - 0.5, value + 0.5, stated, word.start, word.end, "", float(value)))
    return tuple(claims)
