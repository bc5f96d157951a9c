"""`granola score`, `compare` and `match`: predictions against tiered rows, systems against each other, single rows."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.base.faults import Fault, RejectedRow, excerpt
from abstraction.files.records import Record, read_records
from abstraction.files.writing import check_kind, json_line_writer
from granola.base.run_record import SUFFIX as RECORD_SUFFIX
from granola.base.run_record import write_run_record
from granola.base.settings import Setting, recorded_settings
from granola.base.terminal_lines import Part, Verbatim, show_lines
from granola.commands.command import Command
from granola.commands.messages import count, note, report_rejects, warn_of_languages_without_rules
from granola.commands.output import (
    REJECTS_SUFFIX,
    STANDARD,
    RowsCommand,
    WrittenRows,
    check_matcher,
    check_standard_input,
    open_matcher,
    write_rejects,
    writing,
    writing_rows,
)
from granola.errors import UsageError
from granola.matching import Matcher
from granola.matching.matchers import MATCHERS, MatchCase, Verdict, match_many, matcher_names
from granola.scoring.metrics import metrics, usual_standard_of_level_1
from granola.scoring.shared_settings import (
    AllowMissing,
    FirstLevel,
    Force,
    Lambda,
    MatcherName,
    PredictionField,
    Raw,
    Resamples,
    Tiered,
)
from granola.scoring.system_comparison import (
    COMPARED,
    ComparedSystems,
    ScoredSystems,
    check_metric_names,
    compare,
    judge_all_ahead,
    least_permutations_for_significance,
    unique_system_names,
)

if TYPE_CHECKING:
    from abstraction.files.rows import TieredRow
    from granola.scoring.grouping import GroupedScores
    from granola.scoring.predictions import PredictionFile
    from granola.scoring.scores import ItemScore

BY_ID, BY_QUESTION = "id", "question"  # values of --join; any other is the path of the question in predictions
SystemFiles = Annotated[
    tuple[str, ...],
    Setting(
        'A prediction file a system: {"id", "prediction"} and maybe "confidence" and other metrics as numbers.',
        metavar="PRED...",
        positional=True,
        folder=True,
    ),
]


@dataclass(frozen=True, kw_only=True)
class ScoringSettings:
    """Settings of scoring, for `granola.scoring.scores.score`."""

    matcher: MatcherName = "rules"
    raw: Raw = False
    lambda_: Lambda = 0.5
    standard: FirstLevel = None
    resamples: Resamples = 1000
    join: Annotated[
        str,
        Setting(
            "How predictions find their rows: by id, or by the words of the question in their field question, or in "
            "the field named here; a.b leads inside.",
            metavar="id|question|FIELD",
            advanced=True,
        ),
    ] = BY_ID
    preset: Annotated[
        str | None,
        Setting("Read predictions as this program writes them: lm-eval, inspect, openai-batch.", metavar="PROGRAM"),
    ] = None
    prediction_field: PredictionField = None
    id_field: Annotated[
        str | None,
        Setting(
            "The field of the predictions with the id; a.b leads inside. Default: id.", metavar="FIELD", advanced=True
        ),
    ] = None
    allow_missing: AllowMissing = False

    @property
    def matcher_name(self) -> str:
        """The name of the matcher, without its setting."""
        return self.matcher.partition(":")[0]

    def check(self) -> None:
        """Raise for settings that exclude each other, before anything is read."""
        check_matcher(self.matcher)
        metrics(self.lambda_)

    def resolved_settings(self) -> dict[str, Any]:
        """The settings for a run record, with the default standard of the matcher filled in."""
        standard = self.standard or usual_standard_of_level_1(self.matcher_name)
        return {**recorded_settings(self, ScoringSettings), "standard": standard}


def _read_prediction_files(
    predictions: Sequence[str], rows: Sequence[TieredRow], settings: ScoringSettings
) -> list[PredictionFile]:
    """Read the prediction files; warn where an id joins different questions."""
    from granola.scoring.predictions import QuestionIds, count_other_questions, prediction_shape, read_predictions

    # Anything but the id joins by the words of the question.
    by_question = QuestionIds.of(rows) if settings.join != BY_ID else None
    asked_at = None if settings.join in (BY_ID, BY_QUESTION) else settings.join
    shape = prediction_shape(
        settings.preset, prediction=settings.prediction_field, id=settings.id_field, question=asked_at
    )
    files = [read_predictions(path, by_question=by_question, shape=shape) for path in predictions]
    # Where questions join, they agree by definition.
    for file in files if by_question is None else ():
        other, carrying = count_other_questions(file, rows)
        if other:
            note(
                f"{file.name}: {other:,} of {count(carrying, 'prediction')} with a question carry another one than the "
                "row of their id asks; where ids are not those of the tiered file, give --join question"
            )
    return files


def score_systems(
    tiered: str,
    predictions: Sequence[str],
    settings: ScoringSettings,
    *,
    out: Path | None = None,
    on_item: Callable[[ItemScore], object] | None = None,
    keep_items: bool = True,
) -> ScoredSystems:
    """Score every system; rejected rows are reported on stderr.

    `out` is the path next to which the answers of a judge are stored; `on_item`, `keep_items` and errors: see
    `granola.scoring.scores.score`. Also raises UsageError.
    """
    from granola.scoring.scores import ScoreSettings, score
    from granola.scoring.tiered_file import read_tiered_file

    settings.check()
    check_standard_input([tiered, *predictions])
    # Read once, however many systems are scored.
    read = read_tiered_file(tiered)
    report_rejects(tiered, read.rejected)
    files = _read_prediction_files(predictions, read.rows, settings)
    how = ScoreSettings(
        lambda_=settings.lambda_, standard=settings.standard, resamples=settings.resamples,
        allow_missing=settings.allow_missing, workers=None,
    )  # fmt: skip
    reports = []
    faults: list[RejectedRow] = []
    with open_matcher(
        settings.matcher, out=out, inputs=[tiered, *predictions], raw=settings.raw,
    ) as chosen:  # fmt: skip
        # A judge reads any language.
        if settings.matcher_name != "judge":
            warn_of_languages_without_rules(read.languages)
        for name, file in zip(unique_system_names(predictions), files, strict=True):
            report_rejects(file.name, file.rejected)
            # All requests at once: a judge is slow when asked one by one.
            judge_all_ahead(chosen, read.rows, file, settings.standard or "aliases")
            # `faults` collects those of all systems; each file reports its own.
            before = len(faults)
            report = score(
                read, file, chosen, how, system=name, on_item=on_item, keep_items=keep_items, on_reject=faults.append
            )
            reports.append(report)
            report_rejects(file.name, faults[before:])
    return ScoredSystems(tiered=read, files=files, reports=reports, faults=faults)


@dataclass(frozen=True, kw_only=True)
class Score(Command["ScoredSystems"], ScoringSettings):
    """Score predictions: GRANOLA accuracy, informativeness and more, with intervals and a signature."""

    tiered: Tiered
    predictions: Annotated[
        str,
        Setting(
            'Predictions: {"id", "prediction"} as JSONL, JSON, CSV or Parquet; - is standard input.',
            metavar="PREDICTIONS",
            positional=True,
            folder=True,
        ),
    ]
    out: Annotated[
        Path | None,
        Setting(
            "Write one JSON row an item here, FILE.run.json beside it, and FILE.rejects.jsonl for rejected rows.",
            metavar="FILE",
        ),
    ] = None
    force: Force = False

    def run(self) -> ScoredSystems:
        """Score, and write the items where `out` is given, each as soon as it is scored."""
        inputs = [self.tiered, self.predictions]
        if self.out is None:
            # Tables need outcomes alone; items are kept only where they are written.
            return score_systems(self.tiered, [self.predictions], self, keep_items=False)
        if str(self.out) in (STANDARD, "."):
            raise UsageError("--out takes a file; the tables or --json go to standard output")
        with writing(self.out, inputs=inputs, sides=(REJECTS_SUFFIX, RECORD_SUFFIX), force=self.force):
            check_kind(self.out, "jsonl", may_be_packed=True)
            with json_line_writer(self.out) as write:
                systems = score_systems(
                    self.tiered, [self.predictions], self, out=self.out, keep_items=False,
                    on_item=lambda item: write(item.to_json()),
                )  # fmt: skip
            write_rejects(self.out, systems.rejected)
            report = systems.report
            more = {
                "signature": str(report.signature),
                "counts": report.counts,
                "rejected": [row.to_json() for row in systems.rejected],
            }
            arguments = {**self.arguments(), **self.resolved_settings(), "matcher": report.signature.matcher}
            write_run_record(self.out, command=self.verb, arguments=arguments, inputs=inputs, more=more)
        return systems

    def failed(self, result: ScoredSystems) -> bool:
        """Whether rows were rejected, or nothing could be scored."""
        return bool(result.rejected) or _nothing_was_scored(result)

    def show(self, result: ScoredSystems) -> None:
        """Print the tables and the signature."""
        from granola.report.score_tables import relations_table, score_tables

        report = result.report
        relations = relations_table(report) if report.relations else ()
        show_lines(*score_tables([report]), *relations, "", Verbatim(f"signature: {report.signature}"))

    def json_result(self, result: ScoredSystems) -> Any:
        """The scores."""
        return result.report

    def report_problems(self, result: ScoredSystems) -> None:
        """Report the rejected rows, and the numbers of unscored items."""
        if self.out is not None and result.rejected:
            note(f"{count(len(result.rejected), 'rejected row')} listed in {self.out}{REJECTS_SUFFIX}")
        if unscored := result.report.overall.unscored:
            note(f"{unscored} of {count(len(result.rows), 'question')} are unscored")
        if _nothing_was_scored(result):
            note("nothing is scored: no question has a usable prediction")


def _nothing_was_scored(systems: ScoredSystems) -> bool:
    return systems.report.overall.unscored == len(systems.rows)


@dataclass(frozen=True, kw_only=True)
class GroupSettings:
    """Settings: the fields by which questions are grouped."""

    by: Annotated[
        tuple[str, ...],
        Setting(
            "Scores by the values of this field of the rows; a.b leads inside, levels counts them. May be repeated.",
            metavar="FIELD",
        ),
    ] = ()
    popularity: Annotated[
        tuple[str, ...],
        Setting(
            "Scores by five bins of equal size of this field of the rows, a number; FIELD:N makes N. Or of the page "
            "views of the entity asked about: a file of titles or QIDs with numbers. May be repeated.",
            metavar="FIELD[:N]|FILE",
        ),
    ] = ()

    @property
    def page_view_files(self) -> list[str]:
        """Those values of --popularity that are files of page views."""
        return [word for word in self.popularity if Path(word).is_file()]


def grouped_scores(
    systems: ScoredSystems, settings: GroupSettings, scoring: ScoringSettings, *, by_popularity: bool
) -> GroupedScores:
    """The scores by the groups of the settings; with `by_popularity` also by the popularity of the question entity."""
    from granola.scoring.grouping import GroupedScores, Grouping, group_scores

    rows, fields = systems.rows, list(settings.popularity)
    if by_popularity:
        rows, fields = with_popularity_fields(rows, fields)
    groupings = [Grouping(field=name) for name in settings.by]
    groupings += [Grouping.parse_with_bins(name) for name in fields]
    groups = {grouping: grouping.groups_of(rows) for grouping in groupings}
    scores = {
        grouping: [group_scores(report, of, resamples=scoring.resamples) for report in systems.reports]
        for grouping, of in groups.items()
    }
    return GroupedScores(rows=rows, scores=scores)


def with_popularity_fields(
    rows: Sequence[TieredRow], popularity: Sequence[str]
) -> tuple[Sequence[TieredRow], list[str]]:
    """Return (rows, fields that measure popularity); a file of page views is replaced by the field with its numbers.

    Without `popularity` the sitelinks of the question entity are used if rows have them. Raises as `with_page_views`.
    """
    from granola.scoring.grouping import BINS, PAGE_VIEWS, SITELINKS, with_page_views

    fields = list(popularity)
    for at, word in enumerate(fields):
        if Path(word).is_file():
            rows, found, unread = with_page_views(rows, word)
            lines = f"; {count(unread, 'line')} of the file could not be read" if unread else ""
            note(f"{word}: page views of {found:,} of {len(rows):,} entities asked about{lines}")
            fields[at] = PAGE_VIEWS
    # Fewer rows would make bins of a question or two.
    if not fields and sum(isinstance(row.extra.get(SITELINKS), int) for row in rows) >= 2 * BINS:
        fields.append(SITELINKS)
    elif not fields:
        note(
            "no figure by popularity: give --popularity FIELD, or FILE of page views, to have one (too few rows say in "
            f"{SITELINKS} how many pages their entity has)"
        )
    return rows, fields


@dataclass(frozen=True, kw_only=True)
class Compare(Command["ComparedSystems"], GroupSettings, ScoringSettings):
    """Compare systems: scores side by side, paired tests with Holm's correction, and what n could show."""

    tiered: Tiered
    predictions: SystemFiles
    metric: Annotated[
        tuple[str, ...],
        Setting("Test this metric; may be repeated. Default: both accuracies, selective and not, and informativeness."),
    ] = ()

    def run(self) -> ComparedSystems:
        """Score every system and test each pair. Raises MatcherError, UsageError."""
        from granola.scoring.system_comparison import risk_coverage

        # A metric that is named twice must not be tested twice: Holm counts tests.
        metrics = tuple(dict.fromkeys(self.metric or COMPARED))
        check_metric_names(metrics)
        # Its scores are still printed.
        if len(self.predictions) == 1:
            note("one system is compared with nothing: give a file of predictions for each system")
        systems = score_systems(self.tiered, self.predictions, self, keep_items=False)
        groups = grouped_scores(systems, self, self, by_popularity=bool(self.page_view_files))
        differences = compare(systems.reports, metrics=metrics, resamples=self.resamples)
        # The least p is 1 / (permutations + 1), before the correction.
        if (needed := least_permutations_for_significance(len(systems.reports))) > self.resamples:
            note(
                f"{self.resamples} permutations cannot take a p below 0.05 after the correction for so many pairs of "
                f"systems; give --resamples {needed} or more"
            )
        curves = {
            report.system: risk_coverage(report, file.predictions)
            for report, file in zip(systems.reports, systems.files, strict=True)
        }
        return ComparedSystems(
            systems=systems,
            differences=differences,
            groups={grouping.title: scores for grouping, scores in groups.scores.items()},
            curves={system: curve for system, curve in curves.items() if curve is not None},
            lambda_=self.lambda_,
        )

    def show(self, result: ComparedSystems) -> None:
        """Print the tables, the risk-coverage curves and the signatures."""
        from granola.report.score_tables import differences_tables, group_table, macro_table, score_tables

        reports = result.systems.reports
        parts: list[Part] = list(score_tables(reports))
        if any(report.macro for report in reports):
            parts += macro_table(reports)
        parts += differences_tables(result.differences, {metric.name: metric for metric in reports[0].metrics})
        for title, of_groups in result.groups.items():
            parts += group_table(title, reports, of_groups)
        parts.append("")
        for system, curve in result.curves.items():
            parts.append(
                f"mean risk under the risk-coverage curve, {system}: {curve.area:.3f} (lower is better) over the "
                f"{curve.covered} of {curve.n} questions answered with a confidence"
            )
        show_lines(*parts, *(Verbatim(f"signature of {report.system}: {report.signature}") for report in reports))


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

    def run(self) -> WrittenRows:
        """Match the predictions and write verdicts. Raises UsageError, and MatcherError for settings that exclude each
        other.
        """
        from abstraction.text.language.languages import is_supported_language, supported_languages_text

        if self.language is not None:
            if not is_supported_language(self.language):
                allowed = f"answers are read in {supported_languages_text()}, or a kind as de-at"
                raise UsageError(f"--language is {self.language!r}; {allowed}")
            named = MATCHERS.get(self.matcher.partition(":")[0])
            if named is not None and named.asks_a_model:
                readers = matcher_names(asks_a_model=False)
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
            warn_of_languages_without_rules(languages)
            if replaced := output.counts["replaced"]:
                note(f"{count(replaced, 'row')} had {', '.join(ADDED[:-1])} or {ADDED[-1]} already: replaced")
            rejected = count(len(output.rejected), "row")
            note(f"{count(output.written, 'row')} matched, {rejected} rejected; matcher: {signature}")
            return output.finish(source=self.file, matcher=signature, language=self.language or "en")

    def _records(self) -> Iterator[Record | RejectedRow]:
        from granola.scoring.predictions import prediction_shape, read_with_shape

        shape = prediction_shape(prediction=self.prediction_field)
        return read_records(self.file) if shape is None else read_with_shape(self.file, shape)


def _matched_lines(
    records: Iterator[Record | RejectedRow], matcher: Matcher, output: WrittenRows, languages: Counter[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows with their verdicts, in order; invalid rows, and those without a verdict, are rejected."""
    from abstraction.files.row_models import read_each
    from granola.scoring.predictions import read_match_case

    waiting: deque[Record] = deque()

    def valid_cases() -> Iterator[MatchCase]:
        for read in read_each(records, lambda record: (record, read_match_case(record))):
            if isinstance(read, RejectedRow):
                output.rejected.append(read)
            else:
                waiting.append(read[0])
                yield read[1]

    # Verdicts come in the order of the rows, which are read ahead.
    for outcome in _match_outcomes(valid_cases(), matcher, languages):
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
            # Where the matcher cut text from the prediction, the row shows the rest and the cuts.
            cut = {"answer": outcome.answer, "cuts": list(outcome.cuts)} if outcome.cuts else {}
            yield {**record.data, **verdict, **cut}


def _match_outcomes(
    rows: Iterator[MatchCase], matcher: Matcher, languages: Counter[str]
) -> Iterator[Verdict | Fault | str]:
    """Yield for each row its verdict, a fault of the program, or the reason why a judge gave none."""
    from granola.matching.model_judge import JudgeMatcher

    # A judge is asked for many items at a time.
    if isinstance(matcher, JudgeMatcher):
        items = (matcher.case_of_prediction(row.prediction, row.levels, row.question) for row in rows)
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
