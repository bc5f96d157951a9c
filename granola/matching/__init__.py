"""Does a prediction state a tier? Matchers by name, each a value whose verdicts say which rule decided.

What is named here is loaded when it is first used: the registry, which the command line reads for its help, is light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from granola.matching.em import EmMatcher
    from granola.matching.f1 import F1Matcher
    from granola.matching.registry import MATCHERS, in_language, matcher, register
    from granola.matching.rules import RulesMatcher
    from granola.matching.verdict import Comparison, Levels, Matcher, Verdict

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

_MODULES = {
    "em": ("EmMatcher",),
    "f1": ("F1Matcher",),
    "registry": ("MATCHERS", "in_language", "matcher", "register"),
    "rules": ("RulesMatcher",),
    "verdict": ("Comparison", "Levels", "Matcher", "Verdict"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value
