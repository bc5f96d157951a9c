"""The matchers by name, with their settings. A new matcher is registered here and nowhere else."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from granola.errors import MatcherError

if TYPE_CHECKING:
    from abstraction.models.chat_model import ChatModel
    from granola.matching.verdict import Matcher


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MatcherEntry:
    """How a matcher is built from `settings`: by `make`, a class, or `MODULE:CLASS`, loaded when it is used."""

    make: Callable[..., Matcher] | str
    settings: frozenset[str]

    @property
    def asks_a_model(self) -> bool:
        """Whether it needs a chat model, which then reads answers in any language."""
        return "model" in self.settings

    def build(self, **settings: Any) -> Matcher:
        """The matcher with these settings, each one of `settings`."""
        make = self.make
        if isinstance(make, str):
            module, _, name = make.partition(":")
            make = getattr(import_module(module), name)
        return make(**settings)


_ENTRIES: dict[str, MatcherEntry] = {
    "rules": MatcherEntry(make="granola.matching.rules:RulesMatcher", settings=frozenset({"language", "raw"})),
    "f1": MatcherEntry(make="granola.matching.f1:F1Matcher", settings=frozenset({"language", "raw", "tau"})),
    "f1-published": MatcherEntry(
        make="granola.matching.f1:published_f1", settings=frozenset({"language", "raw", "tau"})
    ),
    "em": MatcherEntry(make="granola.matching.em:EmMatcher", settings=frozenset({"language", "raw"})),
    "judge": MatcherEntry(make="granola.matching.model_judge:JudgeMatcher", settings=frozenset({"model", "raw"})),
}
MATCHERS: Mapping[str, MatcherEntry] = MappingProxyType(_ENTRIES)
"""The registered matchers by name, the default first."""


def asks_a_model(name: str) -> bool:
    """Whether the matcher of a name needs a chat model; False of a name that is not known."""
    return name in MATCHERS and MATCHERS[name].asks_a_model


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MatcherSpec:
    """A matcher as a command line names it: `rules`, `em`, `f1`, `f1:0.5` or `judge:MODEL`."""

    name: str
    tau: float | None = None
    model: str | None = None


def parse_matcher(spec: str) -> MatcherSpec:
    """The parts of a specification NAME[:SETTING], where SETTING is the threshold of `f1` or the model of `judge`.

    Raises MatcherError for a setting that the matcher does not have, or that is missing; `matcher` checks the name.
    """
    name, colon, setting = spec.partition(":")
    entry = MATCHERS.get(name)
    if entry is None:
        return MatcherSpec(name=name)
    if entry.asks_a_model:
        if not setting:
            raise MatcherError(f"matcher {name!r} asks a model; name it: {name}:openai:URL#NAME, {name}:local:FOLDER")
        return MatcherSpec(name=name, model=setting)
    if not colon:
        return MatcherSpec(name=name)
    if "tau" not in entry.settings:
        raise MatcherError(
            f"matcher {name!r} takes no {setting!r}; a threshold is that of {matcher_names(with_setting='tau')}"
        )
    try:
        return MatcherSpec(name=name, tau=float(setting))
    except ValueError:
        raise MatcherError(f"the threshold of {spec!r} is no number; expected one as in {name}:0.5") from None


def matcher_names(*, with_setting: str = "", asking: bool | None = None, last: str = "or") -> str:
    """The names of matchers for help texts, as `rules, f1, em or judge`: of all, or of those that have a setting, or
    that ask a model (`asking`) or do not.
    """
    names = [
        name
        for name, entry in MATCHERS.items()
        if (not with_setting or with_setting in entry.settings) and asking in (None, entry.asks_a_model)
    ]
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def register(name: str, make: Callable[..., Matcher], *settings: str) -> None:
    """Register a matcher as `name`; `settings` are those of tau, language and model that `make` takes.

    Raises MatcherError where the name is taken.
    """
    if name in _ENTRIES:
        raise MatcherError(f"there is a matcher {name!r} already; choose another name")
    _ENTRIES[name] = MatcherEntry(make=make, settings=frozenset(settings))


def matcher(
    name: str,
    *,
    tau: float | None = None,
    language: str | None = None,
    model: ChatModel | None = None,
    raw: bool = False,
) -> Matcher:
    """The matcher of that name.

    `tau` is the threshold of `f1` alone, to be exceeded (default 0.3); `language` that in which `rules` reads answers
    and `em` and `f1` read abstentions (default "en"); `model` the one that `judge` asks, without a default. With `raw`
    the whole prediction is judged, not only the answer that `granola.replies` finds in it.

    Raises MatcherError for an unknown name, suggesting the nearest, and for a setting that the matcher does not have,
    or that is missing.
    """
    if name not in MATCHERS:
        near = difflib.get_close_matches(name.lower(), MATCHERS, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise MatcherError(f"no matcher {name!r}; there are {', '.join(sorted(MATCHERS))}{hint}")
    entry = MATCHERS[name]
    if tau is not None and "tau" not in entry.settings:
        with_tau = matcher_names(with_setting="tau")
        raise MatcherError(f"matcher {name!r} has no threshold; only {with_tau} has one")
    if (model is None) == entry.asks_a_model:
        raise MatcherError(
            f"matcher {name!r} asks a model; give one as `model`, or on the command line as in {name}:openai:URL#NAME"
            if model is None
            else f"matcher {name!r} asks no model; leave it out, or use {matcher_names(asking=True)}"
        )
    # None leaves a setting to the default of the matcher
    settings: dict[str, Any] = {"tau": tau, "language": language, "model": model, "raw": raw or None}
    return entry.build(**{key: value for key, value in settings.items() if value is not None and key in entry.settings})


def in_language(matcher: Matcher, code: str) -> Matcher:
    """The matcher for answers in the language of `code`; one without a language, such as `judge`, reads any."""
    if getattr(matcher, "language", code) == code or not dataclasses.is_dataclass(matcher):
        return matcher
    return dataclasses.replace(matcher, language=code)
