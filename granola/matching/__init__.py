"""Does a prediction state a tier? Matchers by name, each a value whose verdicts say which rule decided."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING

from granola.errors import MatcherError
from granola.matching.em import EmMatcher
from granola.matching.f1 import F1Matcher
from granola.matching.rules import RulesMatcher
from granola.matching.verdict import Comparison, Levels, Matcher, Verdict

if TYPE_CHECKING:
    from abstraction.models.base import ChatModel

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
]

MATCHERS = ("em", "f1", "judge", "rules")


def matcher(
    name: str, *, tau: float | None = None, language: str | None = None, model: ChatModel | None = None
) -> Matcher:
    """The matcher of that name.

    `tau` is the threshold of `f1`, to be exceeded (default 0.3) and of no other, `language` that in which `rules` reads
    answers and `em` and `f1` abstentions (default "en"), `model` the one that `judge` asks, which has no default.
    Raises MatcherError for an unknown name, naming the nearest, and for a setting that the matcher has not, or lacks.
    """
    if name not in MATCHERS:
        near = difflib.get_close_matches(name.lower(), MATCHERS, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise MatcherError(f"no matcher {name!r}; there are {', '.join(MATCHERS)}{hint}")
    if tau is not None and name != "f1":
        raise MatcherError(f"matcher {name!r} has no threshold; leave --tau out, or use --matcher f1")
    if (model is None) == (name == "judge"):
        raise MatcherError(
            "matcher 'judge' asks a model; name one with --judge openai:URL#NAME, local:FOLDER or replay:FILE"
            if model is None
            else f"matcher {name!r} asks no model; leave --judge out, or use --matcher judge"
        )
    if model is not None:
        from granola.matching.judge import JudgeMatcher

        return JudgeMatcher(model=model)
    code = language or "en"
    if name == "f1":
        return F1Matcher(language=code) if tau is None else F1Matcher(tau=tau, language=code)
    return EmMatcher(language=code) if name == "em" else RulesMatcher(language=code)


def in_language(matcher: Matcher, code: str) -> Matcher:
    """The matcher for answers in the language of `code`; `judge` reads any."""
    if isinstance(matcher, RulesMatcher | F1Matcher | EmMatcher) and matcher.language != code:
        return replace(matcher, language=code)
    return matcher
