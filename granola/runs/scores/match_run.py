"""`granola match`: predictions beside their own acceptable answers, for pipelines that have no tiered file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.scores.matcher_settings import (
    JudgeAnswers,
    JudgeModel,
    MatcherName,
    MatchingWorkers,
    Tau,
    check_answer_language,
    check_workers,
    opened_matcher,
    warn_of_answer_languages,
)
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import CsvRaw, Force

if TYPE_CHECKING:
    from abstraction.faults import Fault
    from abstraction.files.records import Record, RejectedRow
    from granola.matching import Matcher
    from granola.matching.model_judge import JudgeMatcher
    from granola.matching.verdict import Verdict

Levels = tuple[tuple[str, ...], ...]
ADDED = ("level", "rule", "abstained")


@dataclass(kw_only=True, slots=True)
class MatchCounts:
    """What is told at the end: rejected rows, rows that lost a field of their own, and rows by language."""

    rejected: list[RejectedRow] = field(default_factory=list)
    taken: Record | None = None  # for writing
    replaced: int = 0
    languages: Counter[str] = field(default_factory=Counter)

    def reject(self, source: str, reason: str, shown: str) -> None:
        """Note a rejected row."""
        from abstraction.files.records import RejectedRow, excerpt

        self.rejected.append(RejectedRow(source=source, reason=reason, excerpt=excerpt(shown)))

    def fault(self, fault: Fault, record: Record | None = None) -> None:
        """Note that the program is at fault with a row, that which was taken last unless one is given."""
        record = record or self.taken
        assert record is not None  # a fault is a row's
        told = {name: str(record.data.get(name, "")) for name in ("id", "prediction")}
        self.rejected.append(fault.rejected(source=record.source, id=told["id"], text=told["prediction"]))


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchRow:
    """A row to match: its levels finest first, `language` None where it names none."""

    prediction: str
    levels: Levels
    question: str | None = None
    language: str | None = None


@dataclass(frozen=True, kw_only=True)
class MatchRun(Run):
    """Say which level, if any, each prediction states, by which rule, and whether it abstains."""

    verb: ClassVar[str] = "match"

    file: Annotated[
        str,
        Setting(
            'Rows with "prediction" and "answers" (one set) or "levels" (lists of texts, finest first), and maybe '
            '"question" and "language", as JSONL, a JSON array, CSV or Parquet; - is standard input.',
            metavar="FILE",
            positional=True,
        ),
    ]
    out: Annotated[
        str, Setting("Where to write rows with level, rule, abstained; - is standard output.", metavar="FILE")
    ] = "-"
    force: Force = False
    csv_raw: CsvRaw = False
    matcher: MatcherName = "rules"
    tau: Tau = None
    language: Annotated[
        str | None, Setting("Language of the answers in rows that name none, as de or fr. Default: en.")
    ] = None
    judge: JudgeModel = None
    answers: JudgeAnswers = None
    workers: MatchingWorkers = 1

    def run(self) -> RowsWritten:
        """Match and write. Raises UsageError, MatcherError for settings that do not go together."""
        from granola.runs.outputs import count, note

        check_answer_language(self.language, self.matcher)
        check_workers(self.workers, self.matcher)
        with rows_output(self, self.out, inputs=[self.file], force=self.force, csv_raw=self.csv_raw) as output:
            tally = MatchCounts(rejected=output.rejected)
            with opened_matcher(
                self.matcher, tau=self.tau, judge=self.judge, answers=self.answers, out=output.beside,
                inputs=[self.file], language=self.language,
            ) as chosen:  # fmt: skip
                output.write(_matched(self.file, chosen, tally, self.workers), on_fault=tally.fault)
                signature = chosen.signature()
            output.more |= {
                "signature": signature, "counts": {"matched": output.written, "rejected": len(output.rejected)}
            }  # fmt: skip
        warn_of_answer_languages(tally.languages)
        if tally.replaced:
            note(f"{count(tally.replaced, 'row')} had {', '.join(ADDED[:-1])} or {ADDED[-1]} already: replaced")
        rejected = count(len(output.rejected), "row")
        note(f"{count(output.written, 'row')} matched, {rejected} rejected; matcher: {signature}")
        return output.ended(source=self.file, matcher=signature, language=self.language or "en")


def _matched(file: str, matcher: Matcher, tally: MatchCounts, workers: int) -> Iterator[Mapping[str, Any]]:
    from collections import deque

    from abstraction.faults import Fault, fault_of
    from abstraction.files.records import RejectedRow, read_records
    from granola.errors import PredictionError
    from granola.matching.batch_matching import MatchCase, match_each
    from granola.matching.model_judge import JudgeMatcher

    waiting: deque[Record] = deque()

    def rows() -> Iterator[tuple[Record, MatchRow]]:
        for record in read_records(file):
            if isinstance(record, RejectedRow):
                tally.rejected.append(record)
                continue
            try:
                yield record, read_row(record)
            except PredictionError as error:
                tally.reject(record.source, str(error), repr(dict(record.data)))
            except Exception as error:
                tally.fault(fault_of(error, "reading"), record)

    def cases() -> Iterator[MatchCase]:
        for record, row in rows():
            waiting.append(record)
            if row.language is not None:
                tally.languages[row.language] += 1
            yield MatchCase(prediction=row.prediction, levels=row.levels, question=row.question, language=row.language)

    if isinstance(matcher, JudgeMatcher):
        yield from _judged(rows(), matcher, tally)
        return
    for verdict in match_each(matcher, cases(), workers=workers):
        record = waiting.popleft()
        if isinstance(verdict, Fault):
            tally.fault(verdict, record)
        else:
            yield _line_with_verdict(record, verdict, tally)


def _judged(
    rows: Iterator[tuple[Record, MatchRow]], matcher: JudgeMatcher, tally: MatchCounts
) -> Iterator[Mapping[str, Any]]:
    from collections import deque

    from granola.matching.model_judge import JudgedItem

    waiting: deque[Record] = deque()

    def items() -> Iterator[JudgedItem]:
        for record, row in rows:
            waiting.append(record)
            yield JudgedItem(prediction=row.prediction, levels=row.levels, question=row.question)

    for item, outcome in matcher.judged(items()):
        record = waiting.popleft()
        if outcome.fault is not None:
            tally.fault(outcome.fault, record)
        elif outcome.value is None:
            reason = f"the judge gave no verdict: {outcome.failed} {outcome.why}".strip()
            tally.reject(record.source, reason, item.prediction)
        else:
            yield _line_with_verdict(record, outcome.value, tally)


def _line_with_verdict(record: Record, verdict: Verdict, tally: MatchCounts) -> dict[str, Any]:
    data = record.data
    tally.taken = record
    tally.replaced += not data.keys().isdisjoint(ADDED)
    return {**data, "level": verdict.level, "rule": verdict.rule, "abstained": verdict.abstained}


def read_row(record: Record) -> MatchRow:
    """The row of a record; in CSV lists are JSON texts, and answers may be parted by `|`.

    Numbers count as their digits, in predictions as in answers. Raises PredictionError with the reason where it has
    no prediction, or nothing to hold it against.
    """
    from granola.errors import PredictionError
    from granola.scoring.predictions import prediction_text

    data = record.data
    prediction = prediction_text(record)
    for name in ("question", "language"):
        if not isinstance(data.get(name), str | None):
            raise PredictionError(f"{name}: expected a text, found {type(data[name]).__name__}")
    return MatchRow(
        prediction=prediction,
        levels=_levels(data, flat=record.flat),
        question=data.get("question") or None,
        language=(data.get("language") or "").strip() or None,
    )


def _given_levels(data: Mapping[str, Any], *, flat: bool) -> Any:
    """What a row has as levels, or its answers as the one level."""
    from abstraction.files.fields import parsed, split_cell
    from granola.errors import PredictionError

    levels, answers = data.get("levels"), data.get("answers")
    if levels is not None and answers is not None:
        raise PredictionError("both 'answers' and 'levels': give one of them")
    if levels is None and answers is None:
        raise PredictionError("neither 'answers' (a list of texts) nor 'levels' (lists of texts, finest first)")
    if levels is None:
        if flat and isinstance(answers, str):
            answers = split_cell(answers)
        return [answers if isinstance(answers, list) else [answers]]
    if flat and isinstance(levels, str):
        levels = parsed(levels)
        if isinstance(levels, str):
            raise PredictionError(
                'levels: no JSON; expected lists of texts, finest first, as in [["Lyon", "Lyons"], ["France"]]'
            )
    return levels


def _levels(data: Mapping[str, Any], *, flat: bool) -> Levels:
    from granola.errors import PredictionError

    field = "answers" if data.get("levels") is None else "levels"
    levels = _given_levels(data, flat=flat)
    if not isinstance(levels, list) or not levels:
        raise PredictionError(f"{field}: expected a list with at least one level")
    parsed_levels = []
    for number, names in enumerate(levels, start=1):
        if not isinstance(names, list) or not all(
            isinstance(name, str | int | float) and not isinstance(name, bool) for name in names
        ):
            raise PredictionError(f"{field}: level {number} is no list of texts")
        if not any(str(name).strip() for name in names):
            raise PredictionError(f"{field}: level {number} has no text")
        parsed_levels.append(tuple(map(str, names)))
    return tuple(parsed_levels)
