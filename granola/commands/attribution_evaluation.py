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
from granola.attribution.evaluation_metrics import Unparsed
from granola.commands.command import Command
from granola.commands.item_verdicts import told_test
from granola.commands.messages import count, print_json, report_rejects
from granola.commands.models import opened
from granola.commands.output import writing
from granola.errors import UsageError
from granola.run_record import write_run_record
from granola.settings import Setting
from granola.shared_settings import AsJson, Force, KeptAnswers, Resamples
from granola.terminal_lines import Part, TextTable, Verbatim, show_lines

if TYPE_CHECKING:
    from abstraction.models import ChatModel
    from abstraction.rows import RejectedRow
    from granola.attribution.attribution_samples import AttributionSample
    from granola.attribution.evaluation import EvaluatorReport
    from granola.attribution.evaluator_words import EvaluatorWords
    from granola.scoring.system_comparison import Difference


def without_nan(value: Any) -> Any:
    """The same for JSON: NaN is null."""
    if isinstance(value, Mapping):
        return {key: without_nan(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorsCompared:
    """Evaluators with their figures, side by side."""

    samples: int
    reports: Sequence[EvaluatorReport]
    tests: Sequence[Difference]
    facts: Mapping[str, float]
    automatic_facts: float
    human_facts: float | None
    agreement: Mapping[str, Any]
    rejected: Sequence[RejectedRow]

    def to_json(self) -> dict[str, Any]:
        """Everything but the judgements."""
        return {
            "schema_version": 1, "samples": self.samples, "evaluators": [report.to_json() for report in self.reports],
            "tests": [test.to_json() for test in self.tests], "fact_scores": dict(self.facts),
            "automatic_fact_score": self.automatic_facts, "human_fact_score": self.human_facts,
            "agreement": dict(self.agreement),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AttributionEvaluate(Command[EvaluatorsCompared]):
    """Hold evaluators against samples: F1 by category and complexity, confusion, intervals, paired tests.

    SAMPLES are a benchmark's, or AttributionBench's rows as they are, which tell supported from not. Replies of models
    are kept, so that a run that was killed goes on.
    """

    samples: Annotated[Path, Setting("Samples with known categories.", metavar="SAMPLES", positional=True)]
    evaluator: Annotated[
        tuple[str, ...],
        Setting(
            "KIND=WHERE; may be given again. graph=SNAPSHOT, words=SHARE, trained=FOLDER, "
            "defined=MODEL, options=MODEL, three-way=MODEL, decomposed=MODEL, nli=TEXT_MODEL, nli-binary=TEXT_MODEL, "
            "autois=MODEL.",
            metavar="KIND=WHERE",
        ),
    ] = ()
    limit: Annotated[int | None, Setting("Only so many samples, drawn with the seed.", least=1)] = None
    examples: Annotated[Path | None, Setting("Where --shots are drawn from: samples, as train.jsonl.")] = None
    shots: Annotated[int, Setting("Examples of each category before a chat model is asked.", least=0, most=10)] = 0
    premise: Annotated[PremiseIs, Setting("What an entailment model takes as its premise.", advanced=True)] = (
        PremiseIs.EVIDENCE
    )
    entailment: Annotated[
        str | None,
        Setting("The entailment model that a trained evaluator was trained with.", metavar="TEXT_MODEL", advanced=True),
    ] = None
    unparsed: Annotated[
        Unparsed, Setting("How replies without a label enter micro-F1: as wrong ones, or as none.", advanced=True)
    ] = Unparsed.WRONG
    facts: Annotated[
        bool, Setting("Also ask for each fact of partially supportive samples: the FActScore of each evaluator.")
    ] = False
    human_facts: Annotated[
        float | None, Setting("The FActScore by people, for the gap to it.", least=0, most=1, advanced=True)
    ] = None
    people: Annotated[
        tuple[Path, ...],
        Setting(
            "Labels by people: what `granola sheets read` wrote, or JSONL of one with id and category; may be given "
            "again.",
            advanced=True,
        ),
    ] = ()
    temperature: Annotated[float, Setting("Temperature of chat models.", least=0, most=2, advanced=True)] = 0.0
    prompts: Annotated[Path | None, Setting("A folder with prompts of your own.", advanced=True)] = None
    answers: KeptAnswers = None
    out: Annotated[Path | None, Setting("Write every judgement to this file, as JSONL.")] = None
    resamples: Resamples = 1_000
    seed: Annotated[int, Setting("Seed of draws and resamples.", least=0, advanced=True)] = 0
    figure: Annotated[
        Path | None, Setting("Draw micro-F1 by human labels against automatic ones, as SVG.", advanced=True)
    ] = None
    force: Force = False
    as_json: AsJson = False

    def run(self) -> EvaluatorsCompared:
        """Judge and score. Raises UsageError for settings that do not go together."""
        words = self._words()
        words.check(self.evaluator)
        if not self.evaluator:
            raise UsageError("name an --evaluator, as graph=snapshot.sqlite; see --help")
        with (
            writing(self.out, inputs=[self.samples], force=self.force),
            writing(self.figure, inputs=[self.samples], force=self.force, asked="--figure"),
        ):
            if self.out is not None:
                check_kind(self.out, "jsonl")
            return self._compared(words)

    def _compared(self, words: EvaluatorWords) -> EvaluatorsCompared:
        from granola.attribution.evaluation import agreement, compared, partial_fact_scores

        rejected: list[RejectedRow] = []
        samples = self._samples(rejected)
        people = [labels for path in self.people for labels in _labels(path).values()]
        reports, facts = [], {}
        for word in self.evaluator:
            with ExitStack() as stack:
                report, score = self._report(word, words.opened(word, stack), samples)
            reports.append(report)
            if score is not None:
                facts[report.name] = score
        tests = compared(samples, reports, resamples=self.resamples, seed=self.seed)
        agreed = agreement(samples, people, reports) if people else {}
        self._write(samples, reports)
        if self.figure is not None:
            self._draw(agreed)
        return EvaluatorsCompared(
            samples=len(samples), reports=reports, tests=tests, facts=facts, human_facts=self.human_facts,
            automatic_facts=partial_fact_scores(samples), agreement=agreed, rejected=rejected,
        )  # fmt: skip

    def show(self, result: EvaluatorsCompared) -> None:
        """The table, the paper's rows beside it, the tests."""
        if self.as_json:
            print_json(without_nan(result.to_json()), indent=1)
        else:
            show_lines(f"{count(result.samples, 'sample')} of {self.samples}", "", *_evaluation_parts(result))
        report_rejects(str(self.samples), result.rejected)

    def _words(self) -> EvaluatorWords:
        from granola.attribution.evaluator_words import EvaluatorWords

        def chat(word: str) -> AbstractContextManager[ChatModel]:
            return opened(word, self.out, self.answers, [self.samples])

        return EvaluatorWords(
            examples=self.examples, shots=self.shots, seed=self.seed, premise=self.premise,
            entailment=self.entailment, temperature=self.temperature, prompts=self.prompts, chat=chat,
        )  # fmt: skip

    def _samples(self, rejected: list[RejectedRow]) -> list[AttributionSample]:
        from granola.attribution.attribution_samples import read_any_samples

        samples = [
            sample
            for sample in read_any_samples(self.samples, on_reject=rejected.append)
            if sample.supported is not None
        ]
        if self.limit is not None and self.limit < len(samples):
            drawn = sorted(random.Random(f"evaluate {self.seed}").sample(range(len(samples)), self.limit))
            samples = [samples[at] for at in drawn]
        if not samples:
            report_rejects(str(self.samples), rejected)
            raise UsageError(f"{self.samples}: no sample with a category or label")
        return samples

    def _report(
        self, word: str, evaluator: Any, samples: Sequence[AttributionSample]
    ) -> tuple[EvaluatorReport, float | None]:
        from granola.attribution.categories import Category
        from granola.attribution.evaluation import evaluated
        from granola.attribution.evaluation_metrics import fact_score, mean_score
        from granola.attribution.evaluators import fact_verdicts

        kind = word.partition("=")[0]
        judgements = list(evaluator.judged(samples))
        report = evaluated(
            kind if sum(other.partition("=")[0] == kind for other in self.evaluator) == 1 else word,
            evaluator.signature(), samples, judgements, unparsed=self.unparsed,
            resamples=self.resamples, seed=self.seed,
        )  # fmt: skip
        if not self.facts:
            return report, None
        partial = [sample for sample in samples if sample.category is Category.PARTIAL]
        return report, mean_score(fact_score(verdicts) for verdicts in fact_verdicts(evaluator, partial))

    def _write(self, samples: Sequence[AttributionSample], reports: Sequence[EvaluatorReport]) -> None:
        from abstraction.files.writing import write_records

        if self.out is None:
            return
        rows = (
            {
                "evaluator": report.name, **judgement.to_json(), "gold_supported": sample.supported,
                "gold_category": None if sample.category is None else str(sample.category),
                "complexity": None if sample.complexity is None else str(sample.complexity),
                "source": sample.provenance.get("source"),
            }
            for report in reports
            for sample, judgement in zip(samples, report.judgements, strict=True)
        )  # fmt: skip
        write_records(rows, self.out, format="jsonl")
        write_run_record(
            self.out, command=self.verb, arguments=self.arguments(), inputs=[self.samples],
            more={"reports": [report.to_json() for report in reports]},
        )  # fmt: skip

    def _draw(self, agreement: Mapping[str, Any]) -> None:
        from granola.attribution.evaluation import agreement_figure
        from kg.files import atomic_path

        if not agreement.get("points"):
            raise UsageError("--figure draws labels by people: give --people, and evaluators with categories")
        assert self.figure is not None
        with atomic_path(self.figure) as place:
            place.write_bytes(agreement_figure(agreement))


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


def _evaluation_parts(compared: EvaluatorsCompared) -> Iterator[Part]:
    for start in range(0, len(compared.reports), 3):
        yield from (_figures(compared.reports[start : start + 3]), "")
    for report in compared.reports:
        for rows in (report.confusion, report.two_way) if report.confusion else (report.two_way,):
            yield f"{report.name}: gold in rows"
            cells = [(gold, *(f"{number:,}" for number in by_label.values())) for gold, by_label in rows.items()]
            yield TextTable(head=("", *map(str, next(iter(rows.values()), {}))), rows=cells, indent=2)
        yield from (Verbatim(f"  {report.signature}"), "")
    yield from map(told_test, compared.tests)
    yield from _facts_parts(compared)
    yield from _paper_parts(compared)


def _facts_parts(compared: EvaluatorsCompared) -> Iterator[Part]:
    human = compared.human_facts
    if not math.isnan(compared.automatic_facts):
        yield ""
        yield f"FActScore of partially supportive samples, by the triples that are left: {compared.automatic_facts:.3f}"
    for name, score in compared.facts.items():
        gap = "" if human is None else f", gap to people {abs(score - human):.3f}"
        yield f"  {name}: {score:.3f}{gap}"
    if compared.agreement:
        agreement = compared.agreement
        yield ""
        yield (
            f"people: kappa {agreement['kappa']:.3f} over {agreement['labelled_by_all']}, "
            f"unanimous {agreement['unanimous']}; "
            f"kappa of automatic and human labels {agreement['kappa_of_automatic_and_human']:.3f}; "
            f"Pearson's r of micro-F1 over evaluators {agreement['pearson']:.3f} (paper: 0.97)"
        )


def _paper_parts(compared: EvaluatorsCompared) -> Iterator[Part]:
    if any(report.confusion for report in compared.reports):
        yield ""
        yield "beside the paper's evaluators: write --out FILE, then granola table FILE --table caqa-5 --printed"


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
