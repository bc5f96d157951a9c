"""Does a prediction state a tier? Matchers by name, each a value whose verdicts say which rule decided."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from granola.errors import MatcherError
from granola.matching.em import EmMatcher
from granola.matching.f1 import F1Matcher
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
    "matcher",
]

MATCHERS: dict[str, Callable[..., Matcher]] = {"em": EmMatcher, "f1": F1Matcher, "rules": RulesMatcher}


def matcher(name: str, *, tau: float | None = None) -> Matcher:
    """The matcher of that name; `tau` is the threshold of `f1` (default 0.5) and of no other.

    Raises MatcherError for an unknown name, naming the nearest, and for a setting that the matcher has not.
    """
    if name not in MATCHERS:
        near = difflib.get_close_matches(name.lower(), MATCHERS, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise MatcherError(f"no matcher {name!r}; there are {', '.join(sorted(MATCHERS))}{hint}")
    if tau is None:
        return MATCHERS[name]()
    if name != "f1":
        raise MatcherError(f"matcher {name!r} has no threshold; leave --tau out, or use --matcher f1")
    return F1Matcher(tau=tau)
