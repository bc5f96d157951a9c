"""`granola match`: predictions with their own acceptable answers, for pipelines without a tiered file."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.base.faults import Fault, RejectedRow, excerpt
from abstraction.files.records import Record, read_records
from abstraction.files.row_models import read_each
from granola.base.settings import Setting
from granola.commands.messages import count, note, warn_of_answer_languages
from granola.commands.models import open_matcher
from granola.commands.output import RowsCommand, RowsOutput, writing_rows
from granola.errors import UsageError
from granola.scoring.predictions import MatchRow, read_row
from granola.scoring.shared_settings import (
    Force,
    MatcherName,
    PredictionField,
    Raw,
)

if TYPE_CHECKING:
    from granola.matching import Matcher
    from granola.matching.matchers import MatchCase
    from granola.matching.model_judge import JudgedItem, JudgeMatcher
    from granola.matching.verdict import Verdict

ADDED = ("level", "rule", "abstained")  # fields that each row gets


@dataclass(frozen=True, kw_only=True)
class Match(RowsCommand):
    """Say which level, if any, each prediction states, by which rule, and whether it abstains."""

    file: Annotated[
        str,
        Setting(
            'Rows with "prediction" and "answers" (one set) or "levels" (lists of texts, finest first), and maybe '
            '"question" and "language", as JSONL, a JSON array, CSV or Parquet; - is standard input.',
            metavar="FILE",
            positional=True,
            folder=True,
        ),
    ]
    out: Annotated[
        str, Setting("Where to write rows with level, rule, abstained; - is standard output.", metavar="FILE")
    ] = "-"
    force: Force = False
    matcher: MatcherName = "rules"
    raw: Raw = False
    prediction_field: PredictionField = None
    language: Annotated[
        str | None, Setting("Language of the answers in rows that name none, as de or fr. Default: en.")
    ] = None

    def run(self) -> RowsOutput:
        """Match and write. Raises UsageError, and MatcherError for settings that exclude each other."""
        check_answer_language(self.language, self.matcher)
        with writing_rows(self, self.out, inputs=[self.file], force=self.force) as output:
            tally = MatchCounts(rejected=output.rejected)
            with open_matcher(
                self.matcher, out=output.named_path, inputs=[self.file], language=self.language,
                raw=self.raw,
            ) as chosen:  # fmt: skip
                output.write(_matched_lines(self._records(), chosen, tally))
                signature = chosen.signature()
            output.more |= {
                "signature": signature, "counts": {"matched": output.written, "rejected": len(output.rejected)}
            }  # fmt: skip
            warn_of_answer_languages(tally.languages)
            if tally.replaced:
                note(f"{count(tally.replaced, 'row')} had {', '.join(ADDED[:-1])} or {ADDED[-1]} already: replaced")
            rejected = count(len(output.rejected), "row")
            note(f"{count(output.written, 'row')} matched, {rejected} rejected; matcher: {signature}")
            return output.finish(source=self.file, matcher=signature, language=self.language or "en")

    def _records(self) -> Iterator[Record | RejectedRow]:
        from granola.scoring.prediction_shapes import prediction_shape, read_with_shape

        shape = prediction_shape(prediction=self.prediction_field)
        return read_records(self.file) if shape is None else read_with_shape(self.file, shape)


def check_answer_language(code: str | None, matcher: str) -> None:
    """Raise UsageError for a language without rules for answers, and for any language where a model matches."""
    from abstraction.text.language.languages import is_known, supported_languages
    from granola.matching.matchers import asks_a_model, matcher_names

    if code is not None and not is_known(code):
        raise UsageError(f"--language is {code!r}; answers are read in {supported_languages()}, or a kind as de-at")
    if code is not None and asks_a_model(matcher.partition(":")[0]):
        raise UsageError(f"--language goes with --matcher {matcher_names(asking=False)}: a judge reads any language")


@dataclass(kw_only=True, slots=True)
class MatchCounts:
    """Counts for the final report: rejected rows, rows that lost a field of their own, and rows by language."""

    rejected: list[RejectedRow] = field(default_factory=list)
    replaced: int = 0
    languages: Counter[str] = field(default_factory=Counter)

    def reject(self, source: str, reason: str, shown: str) -> None:
        """Record a rejected row."""
        self.rejected.append(RejectedRow(source=source, reason=reason, excerpt=excerpt(shown)))

    def fault(self, fault: Fault, record: Record) -> None:
        """Record a row on which the program failed."""
        told = {name: str(record.data.get(name, "")) for name in ("id", "prediction")}
        self.rejected.append(fault.rejected(source=record.source, id=told["id"], text=told["prediction"]))


def _matched_lines(
    records: Iterator[Record | RejectedRow], matcher: Matcher, tally: MatchCounts
) -> Iterator[Mapping[str, Any]]:
    from granola.matching.matchers import MatchCase, match_each
    from granola.matching.model_judge import JudgeMatcher

    if isinstance(matcher, JudgeMatcher):
        yield from _lines_by_judge(_rows(records, tally), matcher, tally)
        return
    waiting: deque[Record] = deque()

    def cases() -> Iterator[MatchCase]:
        for record, row in _rows(records, tally):
            waiting.append(record)
            if row.language is not None:
                tally.languages[row.language] += 1
            yield MatchCase(prediction=row.prediction, levels=row.levels, question=row.question, language=row.language)

    # Verdicts come in the order of the cases, which run ahead in worker processes.
    for verdict in match_each(matcher, cases(), workers=None):
        record = waiting.popleft()
        if isinstance(verdict, Fault):
            tally.fault(verdict, record)
        else:
            yield _line_with_verdict(record, verdict, tally)


def _rows(
    records: Iterator[Record | RejectedRow], tally: MatchCounts
) -> Iterator[tuple[Record, MatchRow]]:
    """The records with their MatchRow; invalid records are rejected."""
    for row in read_each(records, lambda record: (record, read_row(record))):
        if isinstance(row, RejectedRow):
            tally.rejected.append(row)
        else:
            yield row


def _lines_by_judge(
    rows: Iterator[tuple[Record, MatchRow]], matcher: JudgeMatcher, tally: MatchCounts
) -> Iterator[Mapping[str, Any]]:

    waiting: deque[Record] = deque()

    def items() -> Iterator[JudgedItem]:
        for record, row in rows:
            waiting.append(record)
            yield matcher.item(row.prediction, row.levels, row.question)

    # A judge is asked for many items at a time.
    for item, outcome in matcher.judge(items()):
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
    # Fields of the row with these names are overwritten, which is reported.
    tally.replaced += not data.keys().isdisjoint(ADDED)
    judged = {"answer": verdict.answer, "cuts": list(verdict.cuts)} if verdict.cuts else {}
    return {**data, "level": verdict.level, "rule": verdict.rule, "abstained": verdict.abstained, **judged}
