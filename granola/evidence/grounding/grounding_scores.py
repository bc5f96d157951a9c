"""Scores of grounded answers: eligibility, factuality, relevance-aware factuality, deflection, citations.

Sorodoc et al. 2025 (GaRAGe), section 5. E: share of eligible answers; uF, uRAF: share of factual answers, against all
passages or the relevant ones; F, RAF: share of answers both eligible and factual. The paper defines neither the set of
questions behind these scores nor the score of a deflecting answer: both are settings, printed with every score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from abstraction.files.row_models import finite
from granola import __version__
from granola.errors import UsageError
from granola.evidence.evidence_task import Forming
from granola.evidence.grounding.grounded_samples import Relevance
from granola.evidence.grounding.grounding_items import CitationCounts, GroundingItem
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import RESAMPLES, bootstrap_estimate, divide_or_nan, mean_of
from granola.scoring.statistics import share_estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARE_TAGS = frozenset(reading.share_tag for reading in Relevance)  # tags with a share, which slices cut into bands
THIRDS = (1 / 3, 2 / 3)  # upper ends of all bands but the last; the paper's text does not give its own


class Over(StrEnum):
    """The questions that enter the five scores."""

    ALL = "all"
    ANSWERABLE = "answerable"  # questions whose passages suffice


class Deflecting(StrEnum):
    """How the five scores count an answer that deflects."""

    AS_JUDGED = "as-judged"
    FAILS = "fails"
    LEFT_OUT = "left-out"


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundingSettings:
    """How scores are formed; the signature contains all of it.

    `bands`: the ends of bands of the share of relevant passages, each in (0, 1).
    """

    over: Over = Over.ANSWERABLE
    deflecting: Deflecting = Deflecting.AS_JUDGED
    bands: tuple[float, ...] = THIRDS
    resamples: int = RESAMPLES
    seed: int = 0

    def __str__(self) -> str:
        return (
            f"over:{self.over}|deflecting:{self.deflecting}|citations over:{Over.ANSWERABLE}"
            "|strict:answers,related,relevant without second label"
            "|wide:strict,outdated,unknown,relevant with another second label"
            f"|intervals:wilson of shares, else boot:{self.resamples}|seed:{self.seed}|version:{__version__}"
        )


_RULES: Mapping[str, type[StrEnum]] = {"over": Over, "deflecting": Deflecting}
# for the message about an unknown rule
RULES = "over=all|answerable, deflecting=as-judged|fails|left-out, bands=0.3,0.7"


@lru_cache(maxsize=8)
def grounding_settings(forming: Forming) -> GroundingSettings:
    """The settings from rules such as over=all and deflecting=fails. Raises UsageError for another rule."""
    told: dict[str, Any] = {}
    for rule in forming.rules:
        name, _, word = rule.partition("=")
        if name == "bands" and (limits := _limits(word)):
            told[name] = limits
        elif name in _RULES and word in list(_RULES[name]):
            told[name] = _RULES[name](word)
        else:
            raise UsageError(f"--rule is {rule!r}; allowed: {RULES}")
    return GroundingSettings(resamples=forming.resamples, seed=forming.seed, **told)


def _limits(word: str) -> tuple[float, ...]:
    numbers = [finite(part) for part in word.split(",")]
    limits = sorted(number for number in numbers if number is not None and 0 < number < 1)
    return tuple(limits) if len(limits) == len(numbers) else ()


def and_if_known(first: bool | None, second: bool | None) -> bool | None:
    """Logical and; None where one is unknown, even where the other is False: counting only those would lower the
    score.
    """
    return None if first is None or second is None else first and second


def _relevance_score_functions(reading: Relevance) -> dict[str, Callable[[GroundingItem], bool | None]]:
    return {
        f"uRAF {reading}": lambda item: item.factual(reading),
        f"RAF {reading}": lambda item: and_if_known(item.eligible, item.factual(reading)),
    }


# The five scores of an item by name; those against relevant passages once per reading.
SCORE_FUNCTIONS: Mapping[str, Callable[[GroundingItem], bool | None]] = {
    "E": lambda item: item.eligible,
    "uF": lambda item: item.factual(),
    "F": lambda item: and_if_known(item.eligible, item.factual()),
    **_relevance_score_functions(Relevance.STRICT),
    **_relevance_score_functions(Relevance.WIDE),
}
DEFLECTIONS = {"deflection TP": True, "deflection FP": False}  # by score: whether its questions expect a deflection


def reading_of_score(score: str) -> Relevance | None:
    """The reading of relevance in a score; None for a score over all passages, or over none."""
    return next((reading for reading in Relevance if score.endswith(f" {reading}")), None)


def item_value(item: GroundingItem, score: str, settings: GroundingSettings) -> float | None:
    """The contribution of an item to one of the five scores, or of DEFLECTIONS: 0 or 1, None where it does not count.
    """
    if score in DEFLECTIONS:
        return item.deflecting if item.expected_deflection is DEFLECTIONS[score] else None
    # A good answer to such a question deflects, and is scored by DEFLECTIONS.
    if settings.over is Over.ANSWERABLE and item.expected_deflection:
        return None
    worth = SCORE_FUNCTIONS[score](item)
    if settings.deflecting is not Deflecting.AS_JUDGED:
        if item.deflects is None:
            worth = None  # no judge decided whether it deflects
        elif item.deflects:
            # None leaves the answer out of the denominator, 0 keeps it.
            return None if settings.deflecting is Deflecting.LEFT_OUT else 0.0
    return None if worth is None else float(worth)


def grounding_report(items: Sequence[GroundingItem], settings: GroundingSettings | None = None) -> dict[str, Estimate]:
    """Every score with its interval and n: the five, `deflection TP` and `FP`, and citations.

    An answer without a verdict on deflection is in neither `deflection` score. Citations are compared with those of
    the reference, where it has any, over answerable questions, whatever `over` is.
    """
    how = settings or GroundingSettings()
    report = {
        name: share_estimate([item_value(item, name, how) for item in items])
        for name in (*SCORE_FUNCTIONS, *DEFLECTIONS)
    }
    cited = [item.citations for item in items if item.citations is not None and not item.expected_deflection]
    scores = citation_scores(cited, resamples=how.resamples, seed=how.seed)
    return report | {f"cited {name}": estimate for name, estimate in scores.items()}


# Precision, recall and F1 of cited passages in three ways: Table 4 prints F1 that are the harmonic mean of the printed
# P and R, `f1_of_means` or `pooled_f1`, never `mean_f1`.
CITATIONS = (
    "pooled_precision", "pooled_recall", "pooled_f1", "mean_precision", "mean_recall", "f1_of_means", "mean_f1",
)  # fmt: skip


def citation_scores(
    counts: Sequence[CitationCounts], *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Estimate]:
    """The scores of CITATIONS, each over the answers for which it is defined.

    An answer that cites nothing has no precision, one that should cite nothing no recall: they are left out of those
    means, but count in the pooled scores. `f1_of_means` is 0 where no citation is right. A score that no answer
    defines is NaN with n 0.
    """
    # By score, the number of answers for which it is undefined.
    without = {
        "mean_precision": sum(not one.cited for one in counts),
        "mean_recall": sum(not one.wanted for one in counts),
        "mean_f1": sum(not one.cited + one.wanted for one in counts),
    }
    scores = {}
    for name in CITATIONS:
        value, interval = bootstrap_estimate(
            counts, lambda kinds, numbers, name=name: _citation_score(name, kinds, numbers),  # type: ignore[misc]
            resamples=resamples, seed=seed,
        )  # fmt: skip
        n = 0 if math.isnan(value) else len(counts) - without.get(name, 0)
        scores[name] = Estimate(value=value, interval=interval, n=n)
    return scores


def _citation_score(name: str, kinds: Sequence[CitationCounts], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """A score of CITATIONS for each resample. `numbers`: how often each kind of answer occurs, [resamples, kinds]."""
    import numpy as np

    if name == "f1_of_means":
        precision, recall = (_citation_score(f"mean_{one}", kinds, numbers) for one in ("precision", "recall"))
        # 0 / 0 counts as 0, as no citation is right.
        return np.where(precision + recall == 0, 0.0, divide_or_nan(2 * precision * recall, precision + recall))
    right, cited, wanted = np.array(kinds, dtype=np.float64).T
    how, _, what = name.partition("_")
    above, below = {
        "precision": (right, cited), "recall": (right, wanted), "f1": (2 * right, cited + wanted)
    }[what]  # fmt: skip
    if how == "pooled":
        return divide_or_nan(numbers @ above, numbers @ below)
    return mean_of([None if math.isnan(one) else one for one in divide_or_nan(above, below)])(numbers)


def bands_signature(tags: Iterable[str], bands: Sequence[float]) -> str:
    """The part `bands of TAG:LIMITS` of the signature, for each tag that is cut into bands; "" where there is none."""
    limits = ",".join(f"{limit:g}" for limit in bands)
    return "|".join(f"bands of {tag}:{limits}" for tag in tags if tag in SHARE_TAGS)


def band_of(share: float, bands: Sequence[float] = THIRDS) -> str:
    """The band of a share of relevant passages, such as "0.33-0.67"; a share equal to a limit is in the band below it.
    """
    limits = (0.0, *bands, 1.0)
    at = sum(share > limit for limit in bands)
    return f"{limits[at]:.2f}-{limits[at + 1]:.2f}"
