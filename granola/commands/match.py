"""`granola match`: predictions with their own acceptable answers, for pipelines without a tiered file."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from abstraction.base.faults import Fault, RejectedRow, excerpt
from abstraction.files.records import Record, read_records
from granola.base.settings import Setting
from granola.commands.messages import count, note, warn_of_answer_languages
from granola.commands.models import open_matcher
from granola.commands.output import RowsCommand, RowsOutput, writing_rows
from granola.errors import UsageError
from granola.matching import Matcher
from granola.matching.matchers import MatchCase, Verdict, asks_a_model, match_many, matcher_names
from granola.scoring.shared_settings import Force, MatcherName, PredictionField, Raw

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
        from abstraction.text.language.languages import is_known, supported_languages

        if self.language is not None:
            if not is_known(self.language):
                allowed = f"answers are read in {supported_languages()}, or a kind as de-at"
                raise UsageError(f"--language is {self.language!r}; {allowed}")
            if asks_a_model(self.matcher.partition(":")[0]):
                readers = matcher_names(asking=False)
                raise UsageError(f"--language goes with --matcher {readers}: a judge reads any language")
        with writing_rows(self, self.out, inputs=[self.file], force=self.force) as output:
            languages = Counter[str]()
            with open_matcher(
                self.matcher, out=output.named_path, inputs=[self.file], language=self.language,
                raw=self.raw,
            ) as chosen:  # fmt: skip
                output.write(_matched_lines(self._records(), chosen, output, languages))
                signature = chosen.signature()
            output.more |= {
                "signature": signature, "counts": {"matched": output.written, "rejected": len(output.rejected)}
            }  # fmt: skip
            warn_of_answer_languages(languages)
            if replaced := output.counts["replaced"]:
                note(f"{count(replaced, 'row')} had {', '.join(ADDED[:-1])} or {ADDED[-1]} already: replaced")
            rejected = count(len(output.rejected), "row")
            note(f"{count(output.written, 'row')} matched, {rejected} rejected; matcher: {signature}")
            return output.finish(source=self.file, matcher=signature, language=self.language or "en")

    def _records(self) -> Iterator[Record | RejectedRow]:
        from granola.scoring.prediction_shapes import prediction_shape, read_with_shape

        shape = prediction_shape(prediction=self.prediction_field)
        return read_records(self.file) if shape is None else read_with_shape(self.file, shape)


def _matched_lines(
    records: Iterator[Record | RejectedRow], matcher: Matcher, output: RowsOutput, languages: Counter[str]
) -> Iterator[Mapping[str, Any]]:
    """The rows with their verdicts, in order; invalid rows, and those without a verdict, are rejected."""
    from abstraction.files.row_models import read_each
    from granola.scoring.predictions import read_row

    waiting: deque[Record] = deque()

    def valid_cases() -> Iterator[MatchCase]:
        for read in read_each(records, lambda record: (record, read_row(record))):
            if isinstance(read, RejectedRow):
                output.rejected.append(read)
            else:
                waiting.append(read[0])
                yield read[1]

    # Verdicts come in the order of the rows, which are read ahead.
    for outcome in _outcomes(valid_cases(), matcher, languages):
        record = waiting.popleft()
        shown = {name: str(record.data.get(name, "")) for name in ("id", "prediction")}
        if isinstance(outcome, Fault):
            output.rejected.append(outcome.rejected(source=record.source, id=shown["id"], text=shown["prediction"]))
        elif isinstance(outcome, str):
            said = excerpt(shown["prediction"])
            output.rejected.append(RejectedRow(source=record.source, reason=outcome, excerpt=said))
        else:
            # Fields of the row with these names are overwritten, which is reported.
            output.counts["replaced"] += not record.data.keys().isdisjoint(ADDED)
            verdict = {"level": outcome.level, "rule": outcome.rule, "abstained": outcome.abstained}
            cut = {"answer": outcome.answer, "cuts": list(outcome.cuts)} if outcome.cuts else {}
            yield {**record.data, **verdict, **cut}


def _outcomes(
    rows: Iterator[MatchCase], matcher: Matcher, languages: Counter[str]
) -> Iterator[Verdict | Fault | str]:
    """For each row its verdict, a fault of the program, or the reason why a judge gave none."""
    from granola.matching.model_judge import JudgeMatcher

    # A judge is asked for many items at a time.
    if isinstance(matcher, JudgeMatcher):
        items = (matcher.item(row.prediction, row.levels, row.question) for row in rows)
        for _, judged in matcher.judge(items):
            why = f"the judge gave no verdict: {judged.failed} {judged.why}".strip()
            yield judged.fault or judged.value or why
        return

    def count_languages() -> Iterator[MatchCase]:
        for row in rows:
            if row.language is not None:
                languages[row.language] += 1
            yield row

    yield from match_many(matcher, count_languages(), workers=None, keep_faults=True)
