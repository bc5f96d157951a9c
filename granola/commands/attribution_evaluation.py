"""`granola attribution evaluate`: evaluators held against samples of which it is known what their citations are."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.files.writing import check_kind
from granola.attribution.entailment_evaluators import PremiseIs
from granola.commands.command import Command
from granola.commands.messages import count, report_rejects, told_test
from granola.commands.models import opened
from granola.commands.output import writing
from granola.errors import UsageError
from granola.run_record import write_run_record
from granola.settings import Setting
from granola.shared_settings import Force, Resamples
from granola.terminal_lines import Part, TextTable, Verbatim, show_lines

if TYPE_CHECKING:
    from abstraction.models.chat_model import ChatModel
    from abstraction.rows import RejectedRow
    from granola.attribution.attribution_samples import AttributionSample
    from granola.attribution.evaluation import EvaluatorReport
    from granola.attribution.evaluator_words import EvaluatorWords
    from granola.scoring.system_comparison import Difference

PRINTED = "beside the paper's evaluators: write --out FILE, then granola verdicts FILE --table caqa-5 --printed"


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorsCompared:
    """Evaluators with their figures, side by side. `facts` has each one's FActScore, and the automatic one."""

    samples: int
    reports: Sequence[EvaluatorReport]
    tests: Sequence[Difference]
    facts: Mapping[str, float]
    automatic_facts: float
    agreement: Mapping[str, Any]
    rejected: Sequence[RejectedRow]

    def to_json(self) -> dict[str, Any]:
        """Everything but the judgements."""
        return {
            "samples": self.samples, "evaluators": [report.to_json() for report in self.reports],
            "tests": [test.to_json() for test in self.tests], "fact_scores": dict(self.facts),
            "automatic_fact_score": self.automatic_facts, "agreement": dict(self.agreement),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AttributionEvaluate(Command[EvaluatorsCompared]):
    """Hold evaluators against samples: F1 by category and complexity, confusion, intervals, paired tests.

    SAMPLES are a benchmark's, or AttributionBench's rows as they are, which tell supported from not. Replies of models
    are kept, so that a run that was killed goes on.
    """

    resumes = True

    samples: Annotated[Path, Setting("Samples with known categories.", metavar="SAMPLES", positional=True)]
    evaluator: Annotated[
        tuple[str, ...],
        Setting(
            "KIND=WHERE; may be given again. graph=SNAPSHOT, words=SHARE, trained=FOLDER, encoder=FOLDER, "
            "defined=MODEL, options=MODEL, three-way=MODEL, decomposed=MODEL, nli=TEXT_MODEL, autois=MODEL.",
            metavar="KIND=WHERE",
        ),
    ] = ()
    limit: Annotated[int | None, Setting("Only so many samples, drawn with the seed.", least=1)] = None
    examples: Annotated[Path | None, Setting("Where --shots are drawn from: samples, as train.jsonl.")] = None
    shots: Annotated[int, Setting("Examples of each category before a chat model is asked.", least=0, most=10)] = 0
    premise: Annotated[PremiseIs, Setting("What an entailment model takes as its premise.", advanced=True)] = (
        PremiseIs.EVIDENCE
    )
    facts: Annotated[
        bool, Setting("Also ask for each fact of partially supportive samples: the FActScore of each evaluator.")
    ] = False
    people: Annotated[
        tuple[Path, ...],
        Setting(
            "Labels by people: what `granola sheets read` wrote, or JSONL of one with id and category; may be given "
            "again.",
            advanced=True,
        ),
    ] = ()
    prompts: Annotated[Path | None, Setting("A folder with prompts of your own.", advanced=True)] = None
    out: Annotated[Path | None, Setting("Write every judgement to this file, as JSONL.")] = None
    resamples: Resamples = 1_000
    seed: Annotated[int, Setting("Seed of draws and resamples.", least=0, advanced=True)] = 0
    force: Force = False

    def run(self) -> EvaluatorsCompared:
        """Judge and score. Raises UsageError for settings that do not go together."""
        words = self._words()
        words.check(self.evaluator)
        if not self.evaluator:
            raise UsageError("name an --evaluator, as graph=snapshot.sqlite; see --help")
        with writing(self.out, inputs=[self.samples], force=self.force):
            if self.out is not None:
                check_kind(self.out, "jsonl")
            return self._compared(words)

    def _compared(self, words: EvaluatorWords) -> EvaluatorsCompared:
        from granola.attribution.categories import Category
        from granola.attribution.evaluation import (
            AttributionVerdict,
            agreement,
            automatic_facts,
            compared,
            evaluated,
            fact_score,
            verdict_row,
        )
        from granola.attribution.evaluators import fact_verdicts

        rejected: list[RejectedRow] = []
        samples = self._samples(rejected)
        people = [labels for path in self.people for labels in _labels(path).values()]
        partial = [sample for sample in samples if sample.category is Category.PARTIAL]
        kinds = [word.partition("=")[0] for word in self.evaluator]
        reports: list[EvaluatorReport] = []
        rows: list[dict[str, Any]] = []
        facts: dict[str, float] = {}
        for word, kind in zip(self.evaluator, kinds, strict=True):
            with ExitStack() as stack:
                evaluator = words.opened(word, stack)
                name = kind if kinds.count(kind) == 1 else word
                judged = zip(samples, evaluator.judged(samples), strict=True)
                own = [verdict_row(name, sample, judgement) for sample, judgement in judged]
                if self.facts:
                    facts[name] = fact_score(fact_verdicts(evaluator, partial))
                verdicts = [AttributionVerdict.model_validate(row) for row in own]
                reports.append(
                    evaluated(name, evaluator.signature(), verdicts, resamples=self.resamples, seed=self.seed)
                )
            rows += own
        self._write(rows, reports)
        return EvaluatorsCompared(
            samples=len(samples), reports=reports, facts=facts, rejected=rejected,
            tests=compared(reports, resamples=self.resamples, seed=self.seed),
            automatic_facts=fact_score(map(automatic_facts, partial)),
            agreement=agreement(samples, people, reports) if people else {},
        )  # fmt: skip

    def show(self, result: EvaluatorsCompared) -> None:
        """The table, the tests, what people said."""
        show_lines(f"{count(result.samples, 'sample')} of {self.samples}", "", *_parts(result))

    def tell(self, result: EvaluatorsCompared) -> None:
        """The rejected rows."""
        report_rejects(str(self.samples), result.rejected)

    def _words(self) -> EvaluatorWords:
        from granola.attribution.evaluator_words import EvaluatorWords

        def chat(word: str) -> AbstractContextManager[ChatModel]:
            return opened(word, self.out, [self.samples])

        return EvaluatorWords(
            examples=self.examples, shots=self.shots, seed=self.seed, premise=self.premise, prompts=self.prompts,
            chat=chat,
        )  # fmt: skip

    def _samples(self, rejected: list[RejectedRow]) -> list[AttributionSample]:
        from granola.attribution.attribution_samples import read_any_samples

        read = read_any_samples(self.samples, on_reject=rejected.append)
        samples = [sample for sample in read if sample.supported is not None]
        if self.limit is not None and self.limit < len(samples):
            drawn = sorted(random.Random(f"evaluate {self.seed}").sample(range(len(samples)), self.limit))
            samples = [samples[at] for at in drawn]
        if not samples:
            report_rejects(str(self.samples), rejected)
            raise UsageError(f"{self.samples}: no sample with a category or label")
        return samples

    def _write(self, rows: Sequence[Mapping[str, Any]], reports: Sequence[EvaluatorReport]) -> None:
        from abstraction.files.writing import write_records

        if self.out is None:
            return
        write_records(rows, self.out, format="jsonl")
        write_run_record(
            self.out, command=self.verb, arguments=self.arguments(), inputs=[self.samples],
            more={"reports": [report.to_json() for report in reports]},
        )  # fmt: skip


def _labels(path: Path) -> dict[str, dict[str, str]]:
    """Categories by id, of each person of a file; unclear ones are left out. Raises UsageError for another row."""
    from abstraction.faults import RejectedRow
    from abstraction.files.records import read_records
    from granola.attribution.categories import Category

    labels: dict[str, dict[str, str]] = {}
    for record in read_records(path):
        if isinstance(record, RejectedRow):
            raise UsageError(f"{record.source}: {record.reason}")
        key, label = record.data.get("id"), record.data.get("category")
        if label is None and record.data.get("unclear"):
            continue
        if not isinstance(key, str) or label not in list(Category):
            raise UsageError(f"{record.source}: expected an id and a category of {', '.join(Category)}")
        labels.setdefault(str(record.data.get("evaluator") or path.stem), {})[key] = str(label)
    return labels


def _parts(compared: EvaluatorsCompared) -> Iterator[Part]:
    for start in range(0, len(compared.reports), 3):
        yield from (_figures(compared.reports[start : start + 3]), "")
    for report in compared.reports:
        for rows in (report.confusion, report.two_way) if report.confusion else (report.two_way,):
            yield f"{report.name}: gold in rows"
            cells = [(gold, *(f"{number:,}" for number in by_label.values())) for gold, by_label in rows.items()]
            yield TextTable(head=("", *map(str, next(iter(rows.values()), {}))), rows=cells, indent=2)
        yield from (Verbatim(f"  {report.signature}"), "")
    yield from map(told_test, compared.tests)
    if not math.isnan(compared.automatic_facts):
        yield ""
        yield f"FActScore of partially supportive samples, by the triples that are left: {compared.automatic_facts:.3f}"
        yield from (f"  {name}: {score:.3f}" for name, score in compared.facts.items())
    if told := compared.agreement:
        yield ""
        yield (
            f"people: kappa {told['kappa']:.3f} over {told['labelled_by_all']}, unanimous {told['unanimous']}; kappa "
            f"of automatic and human labels {told['kappa_of_automatic_and_human']:.3f}; Pearson's r of micro-F1 over "
            f"evaluators {told['pearson']:.3f} (paper: 0.97)"
        )
    if any(report.confusion for report in compared.reports):
        yield from ("", PRINTED)


def _figures(reports: Sequence[EvaluatorReport]) -> TextTable:
    """Every figure that one of the evaluators has, a column each."""
    names = dict.fromkeys(name for report in reports for name in report.figures)
    rows = [(name, *(_cell(report, name) for report in reports)) for name in names]
    unlabelled = ("without a label", *(f"{report.unparsed:,}" for report in reports))
    return TextTable(head=("", *(report.name for report in reports)), rows=[*rows, unlabelled])


def _cell(report: EvaluatorReport, name: str) -> str:
    figure = report.figures.get(name)
    if figure is None or math.isnan(figure.value):
        return "-"
    return f"{figure.value:.3f} [{figure.interval.low:.3f}, {figure.interval.high:.3f}]"
