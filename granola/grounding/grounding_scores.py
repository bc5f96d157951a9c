"""Eligibility, factuality, relevance-aware factuality, deflection, citations: over which answers, worth what.

Sorodoc et al. 2025 (GaRAGe), section 5. E: share of eligible answers; uF, uRAF: share of factual ones, against all
passages or the relevant ones; F, RAF: share of answers both eligible and factual. The paper says neither over which
questions these run nor what a deflecting answer is worth: both are settings, printed with every score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from granola import __version__
from granola.audit.agreement import wilson
from granola.grounding.citation_scores import citation_scores
from granola.grounding.grounded_samples import Relevance
from granola.grounding.grounding_items import GroundingItem
from granola.grounding.ladder_levels import LevelGrounding
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import RESAMPLES, estimated, mean_of
from granola.scoring.system_comparison import Difference, paired_difference


class Over(StrEnum):
    """Which questions the five scores run over."""

    ALL = "all"
    ANSWERABLE = "answerable"  # those whose passages suffice


class Deflecting(StrEnum):
    """What an answer that deflects is worth in the five scores."""

    AS_JUDGED = "as-judged"
    FAILS = "fails"
    LEFT_OUT = "left-out"


class Unjudged(StrEnum):
    """What an answer is worth of which a judge gave no verdict."""

    LEFT_OUT = "left-out"
    FAILS = "fails"


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundingSettings:
    """How scores are formed; all of it stands in the signature.

    `over_of` and `deflecting_of` are for single scores, by name, what `over` and `deflecting` are for all others.
    """

    over: Over = Over.ANSWERABLE
    deflecting: Deflecting = Deflecting.AS_JUDGED
    over_of: Mapping[str, Over] = field(default_factory=dict)
    deflecting_of: Mapping[str, Deflecting] = field(default_factory=dict)
    unjudged: Unjudged = Unjudged.LEFT_OUT
    times: int = RESAMPLES
    seed: int = 0

    def __str__(self) -> str:
        over = _told(self.over, self.over_of)
        deflecting = _told(self.deflecting, self.deflecting_of)
        return (
            f"over:{over}|deflecting:{deflecting}|unjudged:{self.unjudged}|strict:answers,related"
            f"|wide:strict,outdated,unknown|boot:{self.times}|seed:{self.seed}|version:{__version__}"
        )


def _told(usual: StrEnum, of: Mapping[str, StrEnum]) -> str:
    return ",".join([str(usual), *(f"{score}={value}" for score, value in sorted(of.items()))])


Worth = Callable[[GroundingItem], bool | None]


def worths() -> dict[str, Worth]:
    """The five scores of an item by name; those against relevant passages in both readings."""
    found: dict[str, Worth] = {
        "E": lambda item: item.eligible,
        "uF": lambda item: item.factual(),
        "F": lambda item: both(item.eligible, item.factual()),
    }
    for reading in Relevance:
        found[f"uRAF {reading}"] = lambda item, reading=reading: item.factual(reading)  # type: ignore[misc]
        found[f"RAF {reading}"] = lambda item, reading=reading: both(item.eligible, item.factual(reading))  # type: ignore[misc]
    return found


def both(first: bool | None, second: bool | None) -> bool | None:
    """And; None where one is unknown, also where the other is False: to count those alone would lower the score."""
    return None if first is None or second is None else first and second


def value(item: GroundingItem, score: str, settings: GroundingSettings) -> float | None:
    """What an item adds to a score of `worths`: 0 or 1, None where it does not count."""
    if settings.over_of.get(score, settings.over) is Over.ANSWERABLE and item.expected_deflection:
        return None
    deflecting = settings.deflecting_of.get(score, settings.deflecting)
    if item.deflects is not None and deflecting is not Deflecting.AS_JUDGED:
        return None if deflecting is Deflecting.LEFT_OUT else 0.0
    found = worths()[score](item)
    if found is None:
        return None if settings.unjudged is Unjudged.LEFT_OUT else 0.0
    return float(found)


def grounding_report(items: Sequence[GroundingItem], settings: GroundingSettings | None = None) -> dict[str, Estimate]:
    """Every score with its interval and n: the five, `deflection TP` and `FP`, and citations.

    Citations are scored over answerable questions, whatever `over` is: `cited ...` against the reference's, where it
    tells them, `cited-relevant ...` against the passages that are labelled as relevant.
    """
    how = settings or GroundingSettings()
    found = {name: mean_value([value(item, name, how) for item in items], how) for name in worths()}
    for name, expected in (("deflection TP", True), ("deflection FP", False)):
        found[name] = deflection_rate(
            [item.deflects is not None for item in items if item.expected_deflection is expected]
        )
    answerable = [item for item in items if not item.expected_deflection]
    against = {"cited": [item.citations for item in answerable]}
    against |= {f"cited-relevant {one}": [item.by_relevance.get(one) for item in answerable] for one in Relevance}
    for whose, given in against.items():
        told = [counts for counts in given if counts is not None]
        for name, one in citation_scores(told, times=how.times, seed=how.seed).items():
            found[f"{whose} {name}"] = one
    return found


def ladder_shares(items: Sequence[GroundingItem], reading: Relevance) -> dict[LevelGrounding, Estimate]:
    """What answers make of ladders, each share of all answers whose question has one, with Wilson's interval."""
    told = [
        item.ladder.outcome(reading, deflects=item.deflects is not None) for item in items if item.ladder is not None
    ]
    n = len(told)
    return {
        one: Estimate(value=told.count(one) / n if n else math.nan, interval=wilson(told.count(one), n), n=n)
        for one in LevelGrounding
    }


def fineness(items: Sequence[GroundingItem], reading: Relevance) -> dict[str, int]:
    """How many answers are finer than, as fine as, or coarser than what relevant passages state of their ladders."""
    told = [item.ladder.against_passages(reading) for item in items if item.ladder is not None]
    return {name: told.count(name) for name in ("finer", "as fine", "coarser")}


def deflection_rate(told: Sequence[bool]) -> Estimate:
    """The share of answers that deflect, with Wilson's interval."""
    n = len(told)
    return Estimate(value=sum(told) / n if n else math.nan, interval=wilson(sum(told), n), n=n)


def sliced(
    items: Sequence[GroundingItem], score: str, by: Callable[[GroundingItem], str | None], settings: GroundingSettings
) -> dict[str, Estimate]:
    """A score by what `by` says of an item; items of which it says nothing are in no slice."""
    groups: dict[str, list[GroundingItem]] = {}
    for item in items:
        if (name := by(item)) is not None:
            groups.setdefault(name, []).append(item)
    return {
        name: mean_value([value(item, score, settings) for item in own], settings)
        for name, own in sorted(groups.items())
    }


def compared_answers(
    systems: Mapping[str, Sequence[GroundingItem]], score: str, settings: GroundingSettings
) -> list[Difference]:
    """Every pair of systems in one score, paired over the questions where the answers of both count."""
    from dataclasses import replace
    from itertools import combinations

    from granola.scoring.bootstrap import holm

    told = {name: {item.id: value(item, score, settings) for item in items} for name, items in systems.items()}
    found = []
    for first, second in combinations(told, 2):
        shared = [key for key in told[first] if key in told[second]]
        pairs = [(told[first][key], told[second][key]) for key in shared]
        found.append(
            paired_difference(
                [pair for pair in pairs if None not in pair], metric=score, first=first, second=second,
                times=settings.times, seed=settings.seed,
            )
        )  # fmt: skip
    adjusted = holm([one.p for one in found])
    return [replace(one, adjusted=p) for one, p in zip(found, adjusted, strict=True)]


def mean_value(values: Sequence[float | None], settings: GroundingSettings) -> Estimate:
    """The mean of what items add, each in [0, 1] or None where it does not count, with its bootstrap interval."""
    counted = [one for one in values if one is not None]

    def statistic(kinds: Sequence[float], numbers: Any) -> Any:
        return mean_of(kinds)(numbers)

    found, interval = estimated(counted, statistic, times=settings.times, seed=settings.seed, order=float)
    return Estimate(value=found, interval=interval, n=len(counted))
