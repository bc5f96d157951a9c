"""Whether a prediction states a tier: matchers by name, each a value whose verdicts name the rule that decided.

Each name here is loaded when it is first used; `matchers`, which the command line reads for its help, is light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.base.packages import lazy_names

if TYPE_CHECKING:
    from granola.matching.matchers import MATCHERS, Comparison, Levels, Matcher, Verdict, in_language, matcher, register
    from granola.matching.rules import RulesMatcher
    from granola.matching.squad import EmMatcher, F1Matcher

__all__ = [
    "MATCHERS",
    "Comparison",
    "EmMatcher",
    "F1Matcher",
    "Levels",
    "Matcher",
    "RulesMatcher",
    "Verdict",
    "in_language",
    "matcher",
    "register",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
