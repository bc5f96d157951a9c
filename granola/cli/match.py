"""`granola match`: predictions beside their own acceptable answers, for pipelines that have no tiered file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from granola.cli.judging import ANSWERS, JUDGE, MATCHER, TAU, opened_matcher

if TYPE_CHECKING:
    from abstraction.formats.records import Record, RejectedRow
    from granola.matching import Matcher
    from granola.matching.verdict import Verdict

Levels = tuple[tuple[str, ...], ...]


def match(
    file: str = typer.Argument(
        ...,
        metavar="FILE",
        help='Rows with "prediction" and "answers" (one set) or "levels" (lists of texts, finest first), and maybe '
        '"question" and "language", as JSONL, a JSON array, CSV or Parquet; - is standard input.',
    ),
    out: str = typer.Option(
        "-", "--out", metavar="FILE", help="Where to write rows with level, rule, abstained; - is standard output."
    ),
    force: bool = typer.Option(False, "--force", help="Replace an existing --out."),
    matcher: str = MATCHER,
    tau: float | None = TAU,
    language: str = typer.Option("en", "--language", help="Language of rows without one; rules reads in it."),
    judge: str | None = JUDGE,
    answers: Path | None = ANSWERS,
) -> None:
    """Say which level, if any, each prediction states, by which rule, and whether it abstains."""
    from abstraction.formats.writing import check_format, write_records
    from granola.cli.output import (
        REJECTS_SUFFIX,
        STANDARD,
        check_language,
        check_outputs,
        count,
        exit_status,
        list_rejects,
        note,
        removed_on_error,
        report_rejects,
    )
    from granola.run_record import SUFFIX as RECORD_SUFFIX
    from granola.run_record import write_run_record

    check_language(language)
    check_format(out)
    target = None if out == STANDARD else Path(out)
    if target is not None:
        check_outputs(target, inputs=[file], sides=(REJECTS_SUFFIX, RECORD_SUFFIX), force=force)
    rejected: list[RejectedRow] = []
    with (
        opened_matcher(
            matcher, tau=tau, judge=judge, answers=answers, out=target, inputs=[file], language=language
        ) as chosen,
        removed_on_error(target),
    ):
        written = write_records(_matched(file, chosen, language, rejected), out)
        signature = chosen.signature()
    rejects = list_rejects(out, rejected)
    if rejects is not None:
        write_run_record(
            out,
            command="match",
            arguments={"file": file, "matcher": signature, "language": language},
            inputs=[file],
            more={"signature": signature, "counts": {"matched": written, "rejected": len(rejected)}},
        )
    report_rejects(file, rejected, listed=rejects)
    note(f"{count(written, 'row')} matched, {count(len(rejected), 'row')} rejected; matcher: {signature}")
    exit_status(rejected)


def _matched(file: str, matcher: Matcher, language: str, rejected: list[RejectedRow]) -> Iterator[Mapping[str, Any]]:
    from abstraction.formats.records import RejectedRow, excerpt, read_records
    from granola.matching.judge import JudgeMatcher

    def rows() -> Iterator[tuple[Record, str, Levels, str | None]]:
        for record in read_records(file):
            if isinstance(record, RejectedRow):
                rejected.append(record)
                continue
            found = read_row(record.data, flat=record.flat)
            if isinstance(found, str):
                rejected.append(
                    RejectedRow(source=record.source, reason=found, excerpt=excerpt(repr(dict(record.data))))
                )
            else:
                yield record, *found

    if isinstance(matcher, JudgeMatcher):
        yield from _judged(rows(), matcher, rejected)
        return
    for record, prediction, levels, question in rows():
        own = record.data.get("language")
        verdict = _in_language(matcher, own if isinstance(own, str) and own.strip() else language).match(
            prediction, levels, question
        )
        yield _told(record.data, verdict)


def _judged(
    rows: Iterator[tuple[Record, str, Levels, str | None]], matcher: Any, rejected: list[RejectedRow]
) -> Iterator[Mapping[str, Any]]:
    from collections import deque

    from abstraction.formats.records import RejectedRow, excerpt
    from granola.matching.judge import Item

    waiting: deque[Record] = deque()

    def items() -> Iterator[Item]:
        for record, prediction, levels, question in rows:
            waiting.append(record)
            yield Item(prediction=prediction, levels=levels, question=question)

    for item, outcome in matcher.judged(items()):
        record = waiting.popleft()
        if outcome.value is None:
            reason = f"the judge gave no verdict: {outcome.failed} {outcome.why}".strip()
            rejected.append(RejectedRow(source=record.source, reason=reason, excerpt=excerpt(item.prediction)))
        else:
            yield _told(record.data, outcome.value)


def _in_language(matcher: Matcher, language: str) -> Matcher:
    from dataclasses import replace

    from granola.matching import RulesMatcher

    if isinstance(matcher, RulesMatcher) and matcher.language != language:
        return replace(matcher, language=language)
    return matcher


def _told(data: Mapping[str, Any], verdict: Verdict) -> dict[str, Any]:
    return {**data, "level": verdict.level, "rule": verdict.rule, "abstained": verdict.abstained}


def read_row(data: Mapping[str, Any], *, flat: bool) -> tuple[str, Levels, str | None] | str:
    """(prediction, levels, question) of a row, or the reason why it has none. In CSV lists are JSON texts."""
    import json

    def listed(name: str) -> Any:
        value = data.get(name)
        if flat and isinstance(value, str):
            try:
                return json.loads(value) if value.lstrip()[:1] == "[" else ([value] if value else None)
            except ValueError:
                return value
        return value

    prediction = data.get("prediction")
    if not isinstance(prediction, str):
        kind = "null" if "prediction" in data and prediction is None else type(prediction).__name__
        return f"no prediction: expected a text under 'prediction', found {kind if 'prediction' in data else 'nothing'}"
    levels, answers = listed("levels"), listed("answers")
    if levels is not None and answers is not None:
        return "both 'answers' and 'levels': give one of them"
    if levels is None:
        if answers is None:
            return "neither 'answers' (a list of texts) nor 'levels' (lists of texts, finest first)"
        levels = [[answers] if isinstance(answers, str) else answers]
    named = "levels" if "levels" in data else "answers"
    if not isinstance(levels, list) or not levels:
        return f"{named}: expected a list with at least one level"
    for number, names in enumerate(levels, start=1):
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return f"{named}: level {number} is no list of texts"
        if not any(name.strip() for name in names):
            return f"{named}: level {number} has no text"
    question = data.get("question")
    if question is not None and not isinstance(question, str):
        return f"question: expected a text, found {type(question).__name__}"
    return prediction, tuple(map(tuple, levels)), question or None
