"""Matchers: the verdict on a prediction, the matchers by name, and many predictions matched by one of them.

A new matcher is registered here and nowhere else. Predictions are matched in order, by this process or by several: the
verdicts are the same.
"""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import cache
from importlib import import_module
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Protocol

from abstraction.base.faults import Fault, attempt
from granola.errors import MatcherError

if TYPE_CHECKING:
    from abstraction.models.chat_model import ChatModel
    from granola.replies.reply import ModelReply

CHUNK = 500  # predictions per task of a process: few enough to share evenly, enough to outweigh the transfer
CASES_OF_ONE_PROCESS = 4_000  # cases that one process matches in the time that it takes to start the others

Levels = Sequence[Sequence[str]]
"""Acceptable names, finest level first; the order inside a level decides only which name is quoted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """The evidence of a verdict: the part of the prediction, and the tier's name that it was compared with."""

    prediction: str
    tier: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """`level` is 1-based, 1 the finest; None where no tier is stated.

    `rule` is the name of the rule that decided, also where nothing matches. `abstained` verdicts have no level and are
    neither right nor wrong. `compared` is None where there was nothing to compare, `score` the similarity in [0, 1]
    where the rule has one. Where something was cut from a prediction (`granola.replies`), `answer` is the judged part,
    and `cuts` are the rules that cut.
    """

    level: int | None
    rule: str
    compared: Comparison | None = None
    abstained: bool = False
    score: float | None = None
    answer: str | None = None
    cuts: tuple[str, ...] = ()


def signature(name: str, **settings: str) -> str:
    """The signature of a matcher: its name and its settings in order, `name|setting:value`."""
    return "|".join((name, *(f"{setting}:{value}" for setting, value in settings.items())))


class Matcher(Protocol):
    """Decides which level, if any, a prediction states. A value: equal settings give equal verdicts."""

    @property
    def name(self) -> str:
        """The name under which `granola.matching.matcher` finds it."""

    def signature(self) -> str:
        """The name with every setting that can change a verdict, for the signature of a score."""

    def match(self, prediction: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict on one prediction. Never raises on any text; a rule may use `question` to decide."""


@dataclass(frozen=True, kw_only=True)
class ReplyMatcher(ABC):
    """A matcher that judges the answer in a model's output (`granola.replies`); with `raw` the whole output."""

    raw: bool = False

    def match(self, prediction: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict on the answer in a prediction. An output that ends within a thought has none and abstains."""
        if self.raw:
            return self.match_answer(prediction, levels, question)
        reply = _reply_reader()(prediction)
        if not reply.cuts:
            return self.match_answer(prediction, levels, question)
        if reply.unfinished:
            rule = str(reply.abstention_rule())
            return Verdict(level=None, rule=rule, abstained=True, answer=reply.answer, cuts=reply.cuts)
        return replace(self.match_answer(reply.answer, levels, question), answer=reply.answer, cuts=reply.cuts)

    @abstractmethod
    def match_answer(self, answer: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict on an answer that was extracted from its reply."""

    @property
    def reading_settings(self) -> dict[str, str]:
        """How predictions are read, as part of a signature."""
        return {"replies": "raw" if self.raw else "cut"}


@cache
def _reply_reader() -> Callable[[str], ModelReply]:
    from granola.replies.reply import read_reply  # not loaded for the help of a command, nor once for each prediction

    return read_reply


@dataclass(frozen=True, kw_only=True, slots=True)
class MatcherEntry:
    """A registered matcher: `make` builds it, a class or `MODULE:CLASS`, imported when it is used; `settings` are the
    keywords that `make` accepts.
    """

    make: Callable[..., Matcher] | str
    settings: frozenset[str]

    @property
    def asks_a_model(self) -> bool:
        """Whether it needs a chat model, which then reads answers in any language."""
        return "model" in self.settings


MATCHERS: dict[str, MatcherEntry] = {
    "rules": MatcherEntry(make="granola.matching.rules:RulesMatcher", settings=frozenset({"language", "raw"})),
    "f1": MatcherEntry(make="granola.matching.squad:F1Matcher", settings=frozenset({"language", "raw", "tau"})),
    "f1-published": MatcherEntry(
        make="granola.matching.squad:published_f1", settings=frozenset({"language", "raw", "tau"})
    ),
    "em": MatcherEntry(make="granola.matching.squad:EmMatcher", settings=frozenset({"language", "raw"})),
    "judge": MatcherEntry(make="granola.matching.model_judge:JudgeMatcher", settings=frozenset({"model", "raw"})),
}
"""The registered matchers by name, the default first."""


@dataclass(frozen=True, kw_only=True, slots=True)
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
    if entry is None or not (colon or entry.asks_a_model):
        return MatcherSpec(name=name)
    if entry.asks_a_model:
        if not setting:
            raise MatcherError(f"matcher {name!r} asks a model; name it: {name}:openai:URL#NAME, {name}:local:FOLDER")
        return MatcherSpec(name=name, model=setting)
    if "tau" not in entry.settings:
        raise MatcherError(
            f"matcher {name!r} takes no {setting!r}; only {matcher_names(with_setting='tau')} takes a threshold"
        )
    try:
        return MatcherSpec(name=name, tau=float(setting))
    except ValueError:
        raise MatcherError(f"the threshold of {spec!r} is no number; expected one as in {name}:0.5") from None


def matcher_names(*, with_setting: str = "", asks_a_model: bool | None = None) -> str:
    """The names of the matchers as one text for help and errors, `rules, f1, em or judge`; only those that accept
    `with_setting`, and only those that ask a model, or that ask none.
    """
    names = [
        name
        for name, entry in MATCHERS.items()
        if (not with_setting or with_setting in entry.settings) and asks_a_model in (None, entry.asks_a_model)
    ]
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def register(name: str, make: Callable[..., Matcher], *settings: str) -> None:
    """Register a matcher as `name`; `settings` are those of tau, language and model that `make` takes.

    Raises MatcherError where the name is taken.
    """
    if name in MATCHERS:
        raise MatcherError(f"there is a matcher {name!r} already; choose another name")
    MATCHERS[name] = MatcherEntry(make=make, settings=frozenset(settings))


def matcher(
    name: str,
    *,
    tau: float | None = None,
    language: str | None = None,
    model: ChatModel | None = None,
    raw: bool = False,
) -> Matcher:
    """The matcher of that name, or of NAME:THRESHOLD, as in `f1:0.5`.

    `tau` is the threshold of `f1` alone, to be exceeded (default 0.3); `language` that in which `rules` reads answers
    and `em` and `f1` read abstentions (default "en"); `model` the one that `judge` asks, without a default. With `raw`
    the whole prediction is judged, not only the answer that `granola.replies` finds in it.

    Raises MatcherError for an unknown name, suggesting the nearest, and for a setting that the matcher does not have,
    that is missing, or that is given twice.
    """
    spec, name = name, name.partition(":")[0]
    if name not in MATCHERS:
        near = difflib.get_close_matches(name.lower(), MATCHERS, n=1, cutoff=0.5)  # 0.5 finds a word half right
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise MatcherError(f"no matcher {name!r}; there are {', '.join(sorted(MATCHERS))}{hint}")
    entry = MATCHERS[name]
    if spec != name and not entry.asks_a_model:
        if tau is not None:
            raise MatcherError(f"matcher {spec!r} has a threshold already; leave out tau")
        tau = parse_matcher(spec).tau
    if tau is not None and "tau" not in entry.settings:
        with_tau = matcher_names(with_setting="tau")
        raise MatcherError(f"matcher {name!r} has no threshold; only {with_tau} has one")
    if (model is None) == entry.asks_a_model:
        raise MatcherError(
            f"matcher {name!r} asks a model; give one as `model`, or on the command line as in {name}:openai:URL#NAME"
            if model is None
            else f"matcher {name!r} asks no model; leave it out, or use {matcher_names(asks_a_model=True)}"
        )
    # None leaves a setting to the default of the matcher
    settings: dict[str, Any] = {"tau": tau, "language": language, "model": model, "raw": raw or None}
    make = entry.make
    if isinstance(make, str):
        module, _, attribute = make.partition(":")
        make = getattr(import_module(module), attribute)
    return make(**{key: value for key, value in settings.items() if value is not None and key in entry.settings})


def in_language(matcher: Matcher, code: str) -> Matcher:
    """The matcher for answers in the language of `code`; one without a language, such as `judge`, reads any."""
    if getattr(matcher, "language", code) == code or not is_dataclass(matcher):
        return matcher
    return replace(matcher, language=code)


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchCase:
    """A prediction with the tiers to match it with; `language` is that of the row, None where it names none."""

    prediction: str
    levels: Levels
    question: str | None = None
    language: str | None = None


def match_many(
    matcher: Matcher, cases: Iterable[MatchCase], *, workers: int | None = 1, keep_faults: bool = False
) -> Iterator[Verdict | Fault]:
    """The verdict on each case, in order, by `workers` processes, 1 or more; None: one per core, if there are many
    cases.

    With `keep_faults` a case that fails by an error of the program has a Fault in place of its verdict, else the error
    is raised. Raises MatcherError for fewer than 1 and where a process ended before its work was done.
    """
    if workers is not None and workers < 1:
        raise MatcherError(f"workers is {workers}; allowed: 1 or more")
    left = iter(cases)
    # few cases are matched here: starting processes would take longer
    for case in left if workers == 1 else islice(left, CASES_OF_ONE_PROCESS if workers is None else 0):
        yield from _match_chunk(matcher, [case], keep_faults)
    further = list(islice(left, 1))  # looks one case ahead: no process is started for none
    if further:
        from kg.building.source_pass import available_cores

        yield from _match_in_processes(matcher, chain(further, left), workers or available_cores(), keep_faults)


def _match_in_processes(
    matcher: Matcher, cases: Iterator[MatchCase], workers: int, keep_faults: bool
) -> Iterator[Verdict | Fault]:
    """The verdicts on the cases, in order, by a pool of processes."""
    import multiprocessing
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    running: deque[Future[list[Verdict | Fault]]] = deque()
    # spawn: a fork would copy threads and locks of a service
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            while True:
                # three chunks per process keep every process busy while results are read in order
                while len(running) < 3 * workers and (chunk := list(islice(cases, CHUNK))):
                    running.append(pool.submit(_match_chunk, matcher, chunk, keep_faults))
                if not running:
                    return
                yield from running.popleft().result()
        except BrokenProcessPool as error:
            raise MatcherError("a matching process was ended, perhaps for lack of memory; use fewer workers") from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # a reader that stops early does not wait for the rest


def _match_chunk(matcher: Matcher, cases: Sequence[MatchCase], keep_faults: bool) -> list[Verdict | Fault]:
    return [attempt("matching", _match, matcher, case) if keep_faults else _match(matcher, case) for case in cases]


def _match(matcher: Matcher, case: MatchCase) -> Verdict:
    # the row's language goes before the matcher's
    chosen = in_language(matcher, case.language) if case.language else matcher
    return chosen.match(case.prediction, case.levels, case.question)
