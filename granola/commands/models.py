"""Models of commands: open as long as they are needed, their answers kept beside the output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from granola.commands.messages import count, note
from granola.commands.output import check_outputs
from granola.errors import UsageError
from granola.shared_settings import ANSWERS_SUFFIX, CALLS_SUFFIX

if TYPE_CHECKING:
    from abstraction.models.chat_model import ChatModel
    from granola.matching import Matcher


@contextmanager
def opened(
    word: str, out: Path | str | None, answers: Path | None, inputs: Iterable[Path | str]
) -> Iterator[ChatModel]:
    """The model that a word names, its answers kept beside `out` (None: standard output) or in `answers`."""
    from abstraction.models import open_model

    cache, log = kept_places(word, out, answers)
    if not word.startswith("replay:"):
        if cache is None:
            note("the model's answers are not kept; --answers FILE keeps them, so that a run cut short can go on")
        for place in (cache, log):
            if place is not None:
                taken = [*inputs, *([] if out is None else [out])]
                check_outputs(place, inputs=taken, force=True, asked="--answers")
    model = open_model(word, cache=cache, log=log)
    try:
        yield model
    finally:
        model.close()
        tell_totals(model)


def kept_places(word: str, out: Path | str | None, answers: Path | None) -> tuple[Path | None, Path | None]:
    """Where `opened` keeps a model's answers, and the log of its calls; nowhere for a replay."""
    if word.startswith("replay:"):
        return None, None
    cache = answers or (None if out is None else Path(f"{out}{ANSWERS_SUFFIX}"))
    return cache, None if cache is None else Path(f"{str(cache).removesuffix(ANSWERS_SUFFIX)}{CALLS_SUFFIX}")


def tell_totals(model: ChatModel) -> None:
    """On stderr, what was asked and what it cost."""
    had = model.totals
    if not had.calls and not had.cached:
        return
    failed = f" ({had.failed_calls:,} brought nothing)" if had.failed_calls else ""
    tokens = f"; {had.prompt_tokens:,} tokens sent, {had.completion_tokens:,} received" if had.calls else ""
    cost = f"; cost {had.cost:,.4f}" if had.cost is not None else ""
    note(f"model: {count(had.calls, 'call')}{failed}, {count(had.cached, 'answer')} had before{tokens}{cost}")


@contextmanager
def opened_matcher(
    name: str,
    *,
    tau: float | None,
    judge: str | None,
    answers: Path | None,
    out: Path | str | None,
    inputs: list[str],
    language: str | None = None,
    raw: bool = False,
) -> Iterator[Matcher]:
    """The matcher, wrong settings told before a model is opened."""
    from granola import matching

    check_matcher(name, tau=tau, judge=judge, answers=answers)
    if judge is None:
        yield matching.matcher(name, tau=tau, language=language, raw=raw)
        return
    with opened(judge, out, answers, inputs) as model:
        yield matching.matcher("judge", model=model, raw=raw)


def check_matcher(name: str, *, tau: float | None, judge: str | None, answers: Path | None) -> None:
    """Raise MatcherError, UsageError or ModelSpecError for settings that do not go together."""
    from abstraction.models import parse_model_spec
    from granola import matching

    if answers is not None and judge is None:
        raise UsageError("--answers goes with --matcher judge --judge MODEL")
    if judge is None or name != "judge":
        matching.matcher(name, tau=tau)
        if judge is not None:
            raise UsageError(f"--judge goes with --matcher judge, not with {name}")
        return
    if tau is not None:
        raise UsageError("--tau goes with --matcher f1, not with judge")
    parse_model_spec(judge)


def check_workers(workers: int, matcher: str) -> None:
    """Raise UsageError for several processes where a model is asked."""
    from granola.matching.registry import asks_a_model, named

    if workers > 1 and asks_a_model(matcher):
        raise UsageError(f"--workers goes with --matcher {named(asking=False)}: a judge asks many at once by itself")
