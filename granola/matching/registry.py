"""The matchers by name, with the settings that each takes. A new one is registered here and nowhere else."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from granola.errors import MatcherError
from granola.matching.em import EmMatcher
from granola.matching.f1 import F1Matcher
from granola.matching.rules import RulesMatcher
from granola.matching.verdict import Matcher

if TYPE_CHECKING:
    from abstraction.models.base import ChatModel


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """How a matcher is made: of which `settings`, by name, and what is told where one that it has not is given."""

    make: Callable[..., Matcher]
    settings: frozenset[str]


def _judge(model: ChatModel) -> Matcher:
    from granola.matching.judge import JudgeMatcher  # it loads what asks models

    return JudgeMatcher(model=model)


_ENTRIES: dict[str, Entry] = {
    "em": Entry(make=EmMatcher, settings=frozenset({"language"})),
    "f1": Entry(make=F1Matcher, settings=frozenset({"language", "tau"})),
    "judge": Entry(make=_judge, settings=frozenset({"model"})),
    "rules": Entry(make=RulesMatcher, settings=frozenset({"language"})),
}
MATCHERS: Mapping[str, Entry] = MappingProxyType(_ENTRIES)
"""The registered matchers by name, in alphabetical order of those that come with the package."""


def register(name: str, make: Callable[..., Matcher], *settings: str) -> None:
    """Make a matcher known by `name`; `settings` are those of tau, language and model that `make` takes.

    Raises MatcherError where the name is taken.
    """
    if name in _ENTRIES:
        raise MatcherError(f"there is a matcher {name!r} already; choose another name")
    _ENTRIES[name] = Entry(make=make, settings=frozenset(settings))


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
    entry = MATCHERS[name]
    if tau is not None and "tau" not in entry.settings:
        raise MatcherError(f"matcher {name!r} has no threshold; leave --tau out, or use --matcher f1")
    if (model is None) == ("model" in entry.settings):
        raise MatcherError(
            f"matcher {name!r} asks a model; name one with --judge openai:URL#NAME, local:FOLDER or replay:FILE"
            if model is None
            else f"matcher {name!r} asks no model; leave --judge out, or use --matcher judge"
        )
    given: dict[str, Any] = {"tau": tau, "language": language, "model": model}
    return entry.make(**{key: value for key, value in given.items() if value is not None and key in entry.settings})


def in_language(matcher: Matcher, code: str) -> Matcher:
    """The matcher for answers in the language of `code`; one without a language, such as `judge`, reads any."""
    if getattr(matcher, "language", code) == code or not dataclasses.is_dataclass(matcher):
        return matcher
    return dataclasses.replace(matcher, language=code)
