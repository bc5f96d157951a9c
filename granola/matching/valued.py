"""Answers that state dates or amounts, held against tiers that are such: which of the claims counts, and for what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from granola.matching.amounts import converted
from granola.matching.answer import Answer
from granola.matching.dates import as_century, day_of_month, days_of_months
from granola.matching.events import of_asked_events
from granola.matching.names import is_denied
from granola.matching.ranges import Claim, Placing, place
from granola.matching.verdict import Comparison, Verdict

YEAR = 12 * 31  # days, as dates count them
ROUNDED = 0.1  # of a number, what rounding it to two digits leaves open at most
LIFE = 15 * YEAR  # years so far apart are those of a life, and no doubt about when it began
CLOSE = 3  # times as wide a date may be and still be as exact as the gold answer

_YEAR = re.compile(r"[12]\d{3}")
_IN_YEAR = re.compile(r"\b(?:in|since|by|of|from|year)\s*\Z", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|over)|~|≈)\s*\Z", re.I
)
_OPEN = re.compile(  # these name no day or year that something was in
    r"\b(?:before|after|since|by|prior to|earlier than|later than)\s+(?:the\s+)?(?:year\s+|end of\s+)?\Z", re.IGNORECASE
)
_OPENING = frozenset({"before", "after", "since", "prior", "earlier", "later"})
_BEGINS = frozenset(
    (
        "start",
        "started",
        "begin",
        "began",
        "beginning",
        "open",
        "opened",
        "founded",
        "enter",
        "entered",
        "join",
        "joined",
    )
)
_ENDS = frozenset(("end", "ended", "finish", "finished", "stop", "stopped", "close", "closed", "leave", "left"))
_BORN, _DIED = frozenset(("born", "birth")), frozenset(("die", "died", "death"))
_RANGE = re.compile(r"(?:from )?\d{3,4}\s*(?:-|–|—|to|until|through)\s*\d{3,4}", re.IGNORECASE)
_MAYBE = r"(?:(?:possibly|perhaps|maybe|probably|likely|even|alternatively|else)\s+)"
_OR = re.compile(
    rf"[\s,;(]*(?:\bor\b,?\s*{_MAYBE}*|(?:(?:though|although|but)\s+)?(?:possibly|perhaps|maybe)\s+)"
    r"(?:(?:as|the|in|on|about|around|early|late)\s+)*",
    re.IGNORECASE,
)


def valued(
    kind: str, claims: Sequence[Claim], ladder: Sequence[Sequence[Claim]], text: str, question: str | None
) -> Verdict:
    """The finest level that any of the claims states; claims joined by "or" state the worst of theirs.

    What is negated is not claimed, and a claim does not save a finer one inside it that is wrong.
    """
    if not claims:
        return _without_year(ladder, text) if kind == "date" else Verdict(level=None, rule=f"{kind}:none-stated")
    if kind == "date":
        claims = _with_days(claims, text)
    answer = Answer(text, ())
    affirmed = [claim for claim in claims if not is_denied(answer, claim.start)]
    asked = Answer(text, (), question)
    if kind == "date" and asked.asked.isdisjoint(_OPENING):
        affirmed = [claim for claim in affirmed if not _OPEN.search(text, 0, claim.start)]
    affirmed = [
        claim for claim, well in zip(affirmed, of_asked_events(asked, [c.start for c in affirmed]), strict=True) if well
    ]
    if not affirmed:
        return Verdict(level=None, rule="negated", compared=Comparison(prediction=claims[0].text, tier=_first(ladder)))
    placed: list[tuple[Claim, Placing]] = []
    for told in affirmed:
        claim, placing = _placed(told, ladder) if kind == "amount" else (told, place(told, ladder))
        if placing is not None and placing.level != 0 and (year := _asked_edge(claim, asked)):
            claim, placing = year, place(year, ladder)
        if placing is not None and placing.level is None and (wider := as_century(claim)) is not None:
            placing = place(wider, ladder)
        if placing is not None:
            placed.append((claim, placing))
    if not placed:
        return Verdict(level=None, rule=f"{kind}:other-unit")
    for (left, first), (right, second) in pairwise(placed):
        if _OR.fullmatch(text, left.end, right.start) and None in (first.level, second.level):
            return Verdict(
                level=None,
                rule="alternatives",
                compared=Comparison(prediction=text[left.start : right.end], tier=first.tier.text),
            )
    wrong = {
        (claim.low, claim.high): claim
        for claim, placing in placed
        if placing.level is None and not (kind == "amount" and _is_dated(claim, text))
    }.values()
    placed = [
        (claim, placing)
        for claim, placing in placed
        if placing.level is None or not any(w.inside(claim) and w.width < claim.width for w in wrong)
    ]
    claim, best = min(placed, key=lambda pair: (pair[1].level is None, pair[1].level or 0, pair[1].how == "conflict"))
    if best.how == "coarser-than-all" and (
        _is_close(claim, ladder) if kind == "date" else _is_rounded(claim, ladder, text)
    ):
        best = Placing(max(level for level, tiers in enumerate(ladder) if tiers), "coarser", best.tier)
    return Verdict(
        level=None if best.level is None else best.level + 1,
        rule=f"{kind}:{best.how}",
        compared=Comparison(prediction=claim.text, tier=best.tier.text),
    )


def _with_days(claims: Sequence[Claim], text: str) -> Sequence[Claim]:
    """With the day that the sentence of the only year tells without one: `1945, ... on September 2`."""
    if len(claims) != 1 or claims[0].width != YEAR - 1:
        return claims
    year = claims[0]
    before, behind = (text[: year.start], text[year.end :])
    sentence = (
        before[max(before.rfind(end) for end in _STOPS) + 1 :]
        + " , "
        + min((behind.split(end)[0] for end in _STOPS), key=len)
    )
    days = set(days_of_months(sentence))
    if len(days) != 1:
        return claims
    (month, day), first = days.pop(), year.low
    low = first + 31 * (month - 1) + day - 1
    return [*claims, replace(year, low=low, high=low)]


_STOPS = (". ", "; ", "? ", "! ")


def _without_year(ladder: Sequence[Sequence[Claim]], text: str) -> Verdict:
    """`November 6` for November 6, 2018, where the gold answer has no coarser level that it could state as well."""
    said = set(days_of_months(text)) if len(ladder) == 1 else set()
    if len(said) == 1:
        for tier in ladder[0]:
            if day_of_month(tier) in said:
                return Verdict(level=1, rule="date:no-year", compared=Comparison(prediction=text, tier=tier.text))
    return Verdict(level=None, rule="date:none-stated")


def _asked_edge(claim: Claim, answer: Answer) -> Claim | None:
    """The year with which `from 1914 to 1918` begins or ends, where the question asks for one of them."""
    years = _RANGE.fullmatch(claim.text)
    if years is None:
        return None
    lived = claim.width > LIFE
    begins, ends = (
        not answer.asked.isdisjoint(told | born if lived else told) for told, born in ((_BEGINS, _BORN), (_ENDS, _DIED))
    )
    if begins == ends:
        return None
    first, last = int(claim.low), int(claim.high)
    return replace(claim, high=first + YEAR - 1) if begins else replace(claim, low=last - YEAR + 1)


def _placed(claim: Claim, ladder: Sequence[Sequence[Claim]]) -> tuple[Claim, Placing | None]:
    """An amount in that of the gold answer's units in which it states the finest level, and where it falls."""
    told = [_comparable(claim, finest) for finest in ladder[0]]
    found = [(one, placing) for one in told if (placing := place(one, ladder)) is not None]
    return min(
        found,
        key=lambda pair: (pair[1].level is None, pair[1].level or 0, _HOW.index(pair[1].how)),
        default=(claim, None),
    )


_HOW = ("equal", "finer-than-gold", "between-tiers", "coarser-than-all", "conflict")


def _comparable(claim: Claim, finest: Claim) -> Claim:
    """An amount in the unit of a gold answer; where it rounds to the gold answer's own number, that number."""
    if not finest.label or claim.label in {"", finest.label}:
        return claim
    told = converted(claim, finest.label)
    if (
        told.label == finest.label
        and told.low <= finest.high
        and finest.low <= told.high
        and told.width <= 4 * finest.width
        and abs(_middle(told) - _middle(finest)) <= max(ROUNDED / 2 * abs(_middle(finest)), ROUNDED * finest.width)
    ):
        return replace(told, low=finest.low, high=finest.high)
    return told


def _middle(claim: Claim) -> float:
    return (claim.low + claim.high) / 2


def _is_close(claim: Claim, ladder: Sequence[Sequence[Claim]]) -> bool:
    """Whether a date coarser than every level is nearly as exact as the coarsest, as people judge it.

    That is the year of a day or month, or the century of a part of it.
    """
    coarsest = [tiers for tiers in ladder if tiers][-1]
    if len(ladder) == 1 and claim.width < 10 * YEAR:
        return True
    return claim.width < YEAR or any(claim.width < CLOSE * tier.width for tier in coarsest)


def _is_rounded(claim: Claim, ladder: Sequence[Sequence[Claim]], text: str) -> bool:
    """Whether an amount coarser than every level rounds the gold answer to two digits or more.

    To one digit where it is called a rounded one, and is off by a twentieth at most: `about 70 %` for 71 %.
    """
    if claim.low <= 0:
        return False
    middle = _middle(claim)
    off = min(abs(middle - _middle(tier)) for tiers in ladder for tier in tiers)
    return claim.width <= ROUNDED * middle or (
        bool(_ABOUT.search(text, 0, claim.start)) and off <= ROUNDED / 2 * middle
    )


def _is_dated(claim: Claim, text: str) -> bool:
    """Whether an amount is only the year it was counted in: `between 1,000 and 10,000 in 1990`."""
    return bool(_YEAR.fullmatch(claim.text) and _IN_YEAR.search(text[: claim.start][-20:]))


def _first(ladder: Sequence[Sequence[Claim]]) -> str:
    return next(claim.text for claims in ladder for claim in claims)
