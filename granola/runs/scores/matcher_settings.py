"""The matcher that settings name, with its model open while it is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from granola.matching.registry import asks_a_model, named
from granola.runs.settings import Setting

if TYPE_CHECKING:
    from abstraction.rows import TieredRow
    from granola.matching import Matcher
    from granola.scoring.metrics import Standard
    from granola.scoring.predictions import PredictionFile

MatcherName = Annotated[str, Setting(f"What decides a match: {named()}.")]
Tau = Annotated[float | None, Setting("Threshold of --matcher f1: a token-F1 above it matches. Default 0.3.")]
JudgeModel = Annotated[
    str | None,
    Setting("The model that --matcher judge asks: openai:URL#NAME, local:FOLDER or replay:FILE.", metavar="MODEL"),
]
JudgeAnswers = Annotated[
    Path | None,
    Setting(
        "Where the judge's answers are kept, so that nothing is asked twice (default: OUT.answers.sqlite).",
        metavar="FILE",
        recorded=False,
    ),
]
MatchingWorkers = Annotated[int, Setting("Processes that match, 1 or more; the result is the same.", recorded=False)]


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
) -> Iterator[Matcher]:
    """The matcher, wrong settings told before a model is opened."""
    from granola import matching
    from granola.runs.phrasing_settings import opened

    check_matcher(name, tau=tau, judge=judge, answers=answers)
    if judge is None:
        yield matching.matcher(name, tau=tau, language=language)
        return
    with opened(judge, out, answers, inputs) as model:
        yield matching.matcher("judge", model=model)


def check_matcher(name: str, *, tau: float | None, judge: str | None, answers: Path | None) -> None:
    """Raise MatcherError, UsageError or ModelSpecError for settings that do not go together."""
    from abstraction.models.spec import parse_model_spec
    from granola import matching
    from granola.errors import UsageError

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


def check_answer_language(code: str | None, matcher: str) -> None:
    """Raise UsageError for a language that answers cannot be read in, and for one where a model reads them."""
    from abstraction.language.languages import is_known, told_languages
    from granola.errors import UsageError

    if code is not None and not is_known(code):
        raise UsageError(f"--language is {code!r}; answers are read in {told_languages()}, or a kind as de-at")
    if code is not None and asks_a_model(matcher):
        raise UsageError(f"--language goes with --matcher {named(asking=False)}: a judge reads any language")


def check_workers(workers: int, matcher: str) -> None:
    """Raise UsageError for fewer than one process, and for several where a model is asked."""
    from granola.errors import UsageError

    if workers < 1:
        raise UsageError(f"--workers is {workers}; allowed: 1 or more")
    if workers > 1 and asks_a_model(matcher):
        raise UsageError(f"--workers goes with --matcher {named(asking=False)}: a judge asks many at once by itself")


def warn_of_answer_languages(rows: Mapping[str, int]) -> None:
    """Say on stderr which of the languages, given with how many rows are in them, have no rules of their own."""
    from abstraction.language.languages import is_known, language, told_languages
    from granola.runs.outputs import count, note

    for code, number in sorted(rows.items()):
        if not is_known(code):
            note(
                f"{count(number, 'row')} in the language {code!r}, which has no rules (there are: "
                f"{told_languages()}): read as {language(code).name}"
            )


def judge_ahead(matcher: Matcher, rows: Sequence[TieredRow], given: PredictionFile, standard: Standard) -> None:
    """Ask a judge about all predictions at once, not one by one. Raises PredictionError where it gives no verdict."""
    from granola.matching.model_judge import JudgedItem, JudgeMatcher
    from granola.scoring.items import names_of

    if not isinstance(matcher, JudgeMatcher):
        return
    from granola.errors import PredictionError

    failed = matcher.prepare(
        JudgedItem(prediction=said.text, levels=tuple(map(tuple, names_of(row, standard))), question=row.question)
        for row in rows
        if (said := given.predictions.get(row.id)) is not None
    )
    if failed:
        why = ", ".join(f"{number} {reason}" for reason, number in sorted(failed.items()))
        raise PredictionError(
            f"the judge gave no verdict on {sum(failed.values())} predictions ({why}); its other answers are kept: "
            "run again, or leave those predictions out with --allow-missing"
        )
