"""Eligibility, factuality, relevance-aware factuality, deflection, citations: over which answers, worth what.

Sorodoc et al. 2025 (GaRAGe), section 5. E: share of eligible answers; uF, uRAF: share of factual ones, against all
passages or the relevant ones; F, RAF: share of answers both eligible and factual. The paper says neither over which
questions these run nor what a deflecting answer is worth: both are settings, printed with every score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from granola import __version__
from granola.evidence.estimates import by_slice, compared_pairs
from granola.grounding.citation_scores import citation_scores
from granola.grounding.grounded_samples import Relevance
from granola.grounding.grounding_items import GroundingItem
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import RESAMPLES
from granola.scoring.statistics import share_estimate
from granola.scoring.system_comparison import Difference

SHARES = frozenset(reading.share_tag for reading in Relevance)  # tags whose slices are bands
THIRDS = (1 / 3, 2 / 3)  # where bands end; the paper's limits are missing in its text


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
    resamples: int = RESAMPLES
    seed: int = 0

    def __str__(self) -> str:
        over = _with_exceptions(self.over, self.over_of)
        deflecting = _with_exceptions(self.deflecting, self.deflecting_of)
        return (
            f"over:{over}|deflecting:{deflecting}|unjudged:{self.unjudged}|citations over:{Over.ANSWERABLE}"
            "|strict:answers,related,relevant without second label"
            "|wide:strict,outdated,unknown,relevant with another second label"
            f"|intervals:wilson of shares, else boot:{self.resamples}|seed:{self.seed}|version:{__version__}"
        )


def _with_exceptions(usual: StrEnum, of: Mapping[str, StrEnum]) -> str:
    return ",".join([str(usual), *(f"{score}={value}" for score, value in sorted(of.items()))])


Worth = Callable[[GroundingItem], bool | None]


def worths() -> dict[str, Worth]:
    """The five scores of an item by name; those against relevant passages in both readings."""
    scores: dict[str, Worth] = {
        "E": lambda item: item.eligible,
        "uF": lambda item: item.factual(),
        "F": lambda item: both(item.eligible, item.factual()),
    }
    for reading in Relevance:
        scores[f"uRAF {reading}"] = lambda item, reading=reading: item.factual(reading)  # type: ignore[misc]
        scores[f"RAF {reading}"] = lambda item, reading=reading: both(item.eligible, item.factual(reading))  # type: ignore[misc]
    return scores


def reading_of(score: str) -> Relevance | None:
    """Which passages a score of `worths` takes as relevant; None for one that asks of all passages, or of none."""
    return next((reading for reading in Relevance if score.endswith(f" {reading}")), None)


def both(first: bool | None, second: bool | None) -> bool | None:
    """And; None where one is unknown, also where the other is False: to count those alone would lower the score."""
    return None if first is None or second is None else first and second


def value(item: GroundingItem, score: str, settings: GroundingSettings) -> float | None:
    """What an item adds to a score of `worths`: 0 or 1, None where it does not count."""
    if settings.over_of.get(score, settings.over) is Over.ANSWERABLE and item.expected_deflection:
        return None
    worth_of_deflecting = settings.deflecting_of.get(score, settings.deflecting)
    worth = worths()[score](item)
    if worth_of_deflecting is not Deflecting.AS_JUDGED:
        if item.deflects is None:
            worth = None  # nobody said whether it deflects
        elif item.deflects:
            return None if worth_of_deflecting is Deflecting.LEFT_OUT else 0.0
    if worth is None:
        return None if settings.unjudged is Unjudged.LEFT_OUT else 0.0
    return float(worth)


def grounding_report(items: Sequence[GroundingItem], settings: GroundingSettings | None = None) -> dict[str, Estimate]:
    """Every score with its interval and n: the five, `deflection TP` and `FP`, and citations.

    An answer of which no judge said whether it deflects is in neither `deflection` score (`deflections_unjudged`).
    Citations are scored over answerable questions, whatever `over` is: `cited ...` against the reference's, where it
    tells them, `cited-relevant ...` against the passages that are labelled as relevant.
    """
    how = settings or GroundingSettings()
    report = {name: share_estimate([value(item, name, how) for item in items]) for name in worths()}
    for name, expected in (("deflection TP", True), ("deflection FP", False)):
        report[name] = share_estimate([deflecting(item) for item in items if item.expected_deflection is expected])
    answerable = [item for item in items if not item.expected_deflection]
    against = {"cited": [item.citations for item in answerable]}
    against |= {
        f"cited-relevant {reading}": [item.by_relevance.get(reading) for item in answerable] for reading in Relevance
    }
    for whose, given in against.items():
        counts = [one for one in given if one is not None]
        for name, estimate in citation_scores(counts, resamples=how.resamples, seed=how.seed).items():
            report[f"{whose} {name}"] = estimate
    return report


def deflecting(item: GroundingItem) -> float | None:
    """1 where an answer deflects, 0 where it does not, None where nobody said."""
    return None if item.deflects is None else float(bool(item.deflects))


def deflections_unjudged(items: Sequence[GroundingItem]) -> int:
    """How many answers are in no deflection score, as the judge that was asked did not say."""
    return sum(item.deflects is None for item in items)


def sliced(
    items: Sequence[GroundingItem], score: str, by: Callable[[GroundingItem], str | None], settings: GroundingSettings
) -> dict[str, Estimate]:
    """A score by what `by` says of an item; items of which it says nothing are in no slice."""
    placed = ((name, value(item, score, settings)) for item in items if (name := by(item)) is not None)
    return by_slice(placed, share_estimate)


def bands_stated(tags: Iterable[str], bands: Sequence[float] = THIRDS) -> str:
    """`bands of TAG:LIMITS` for the signature, of the tags that are cut into bands; "" where there is none."""
    limits = ",".join(f"{limit:g}" for limit in sorted(bands))
    return "|".join(f"bands of {tag}:{limits}" for tag in tags if tag in SHARES)


def slice_of(by: str, bands: Sequence[float] = THIRDS) -> Callable[[GroundingItem], str | None]:
    """What slice an item is in by a tag; relevant shares are cut at `bands`; a limit is of the band below."""

    def tag(item: GroundingItem) -> str | None:
        word = item.tags.get(by)
        if by not in SHARES or word is None:
            return word
        limits = [0.0, *sorted(bands), 1.0]
        share = float(word)
        at = sum(share > limit for limit in limits[1:-1])
        return f"{limits[at]:.2f}-{limits[at + 1]:.2f}"

    return tag


def compared_answers(
    systems: Mapping[str, Sequence[GroundingItem]], score: str, settings: GroundingSettings
) -> list[Difference]:
    """Every pair of systems in one score, paired over the questions where the answers of both count."""
    values = {name: {item.id: value(item, score, settings) for item in items} for name, items in systems.items()}
    return compared_pairs(values, score, settings.resamples, settings.seed)


def judges_of(items: Sequence[GroundingItem]) -> list[str]:
    """The signatures of who judged answers, as far as they are told."""
    return sorted({item.judge for item in items if item.judge})
