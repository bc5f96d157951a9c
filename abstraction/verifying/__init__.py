"""Checking tiers, whoever made them: does each follow from its evidence, and is it what a tier should be?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.verifying.entailment import EntailmentChecker
    from abstraction.verifying.tier_verdicts import Judge
    from abstraction.verifying.verdicts import RowVerdict, TierVerdict, VerdictKind

__all__ = [
    "EntailmentChecker",
    "Judge",
    "RowVerdict",
    "TierVerdict",
    "VerdictKind",
]
_MODULES = {
    "EntailmentChecker": ".entailment",
    "Judge": ".tier_verdicts",
    "RowVerdict": ".verdicts",
    "TierVerdict": ".verdicts",
    "VerdictKind": ".verdicts",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
