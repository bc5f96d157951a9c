"""Models of commands: open as long as needed, with their answers stored next to the output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from granola import matching
from granola.commands.messages import count, note
from granola.commands.output import check_outputs
from granola.errors import BatchWritten, GranolaError, UsageError
from granola.scoring.shared_settings import ANSWERS_SUFFIX, CALLS_SUFFIX

if TYPE_CHECKING:
    from abstraction.models.answer_store import KeptAnswers
    from abstraction.models.chat_model import ChatModel
    from abstraction.models.spec import ModelSpec
    from granola.matching import Matcher
    from granola.matching.matchers import MatcherSpec


@contextmanager
def open_model(
    word: str, out: Path | str | None, inputs: Iterable[Path | str]
) -> Iterator[ChatModel]:
    """The model of a specification, its answers stored in the file it names, else next to `out` (None: standard
    output).

    Raises BatchWritten at its end where requests were written to the file of a batch instead of being asked.
    """
    from abstraction.models.spec import BATCH_SETTINGS, open_spec, parse_model_spec

    spec = parse_model_spec(word)
    taken = [*inputs, *([] if out is None else [out])]
    cache = log = None  # of stored answers, and of calls; a replay has none
    if spec.kind != "replay":
        cache = spec.settings.get("answers") or (None if out is None else Path(f"{out}{ANSWERS_SUFFIX}"))
        log = None if cache is None else Path(f"{str(cache).removesuffix(ANSWERS_SUFFIX)}{CALLS_SUFFIX}")
        # The answers of a batch come later and need a place until then.
        if cache is None and (batch := [name for name in BATCH_SETTINGS if name in spec.settings]):
            raise UsageError(
                f"{batch[0]}: answers of a batch are kept beside an output: give --out FILE, or answers=FILE in the"
                " model's name, here and with batch_results"
            )
        if cache is None:
            note("the model's answers are not kept; answers=FILE in its name keeps them, so that a run can go on")
        for place in (cache, log):
            if place is not None:
                check_outputs(place, inputs=taken, force=True, asked="answers")
    model = open_spec(spec, cache=cache, log=log)
    try:
        with _use_batch(model, spec, taken):
            yield model
    finally:
        model.close()
        had = model.totals
        if had.calls or had.cached:
            failed = f" ({had.failed_calls:,} brought nothing)" if had.failed_calls else ""
            tokens = f"; {had.prompt_tokens:,} tokens sent, {had.completion_tokens:,} received" if had.calls else ""
            note(f"model: {count(had.calls, 'call')}{failed}, {count(had.cached, 'answer')} had before{tokens}")


@contextmanager
def _use_batch(model: KeptAnswers, spec: ModelSpec, inputs: list[Path | str]) -> Iterator[None]:
    """Use the answers of a batch; or write requests instead of asking, then raise BatchWritten."""
    file, results = spec.settings.get("batch_file"), spec.settings.get("batch_results")
    if file is None and results is None:
        yield
        return
    from abstraction.models.answer_files import take_results, written_to

    if results is not None:
        taken = take_results(model, results)
        by = f" of {', '.join(taken.models)}" if taken.models else ""
        note(f"{results}: {count(taken.answers, 'answer')}{by} taken")
        # The five most frequent reasons.
        for reason, times in taken.failed.most_common(5):
            note(f"  {count(times, 'request')} without one: {reason}")
    if file is None:
        yield
        return
    check_outputs(file, inputs=inputs, force=True, asked="batch_file")
    with written_to(model, file) as written:
        try:
            yield
        except GranolaError:  # usually raised because nothing has an answer yet
            if not written:
                raise
    if written:
        raise BatchWritten(
            f"{count(len(written), 'request')} written to {file}, and nothing was asked; have the provider answer "
            "them, then give the same command with batch_results=RESULTS in the place of batch_file"
        )


@contextmanager
def open_matcher(
    spec: str,
    *,
    out: Path | str | None,
    inputs: list[str],
    language: str | None = None,
    raw: bool = False,
) -> Iterator[Matcher]:
    """The matcher of a specification, which is checked before a model is opened."""
    parsed = check_matcher(spec)
    if parsed.model is None:
        yield matching.matcher(parsed.name, tau=parsed.tau, language=language, raw=raw)
        return
    with open_model(parsed.model, out, inputs) as model:
        yield matching.matcher(parsed.name, model=model, raw=raw)


def check_matcher(spec: str) -> MatcherSpec:
    """The parsed specification of a matcher. Raises MatcherError or ModelSpecError for a wrong one."""
    from abstraction.models.spec import parse_model_spec
    from granola.matching.matchers import parse_matcher

    parsed = parse_matcher(spec)
    if parsed.model is None:
        matching.matcher(parsed.name, tau=parsed.tau)
    else:
        parse_model_spec(parsed.model)
    return parsed
