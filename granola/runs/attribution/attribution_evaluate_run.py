"""`granola attribution evaluate`: evaluators held against samples whose categories are known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from abstraction.files.writing import check_kind
from granola.attribution.entailment_evaluators import PremiseIs
from granola.attribution.evaluation_metrics import Unparsed
from granola.errors import UsageError
from granola.runs.outputs import check_outputs, count, print_json, report_rejects
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson, Resamples
from granola.terminal_lines import Part, TextTable, Verbatim, show_lines

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow
    from granola.attribution.attribution_samples import AttributionSample
    from granola.attribution.evaluation import EvaluatorReport
    from granola.scoring.system_comparison import Difference


@dataclass(frozen=True, kw_only=True)
class AttributionEvaluateRun(Run):
    """Hold evaluators against samples: F1 by category and complexity, confusion, intervals, paired tests.

    SAMPLES are a benchmark's, or AttributionBench's rows as they are, which tell supported from not. Replies of models
    are kept, so that a run that was killed goes on.
    """

    verb: ClassVar[str] = "attribution evaluate"

    samples: Annotated[Path, Setting("Samples with known categories.", metavar="SAMPLES", positional=True)]
    evaluator: Annotated[
        tuple[str, ...],
        Setting(
            "KIND=WHERE; may be given again. graph=SNAPSHOT, majority=TRAIN, linear=FOLDER, "
            "defined=MODEL, options=MODEL, three-way=MODEL, decomposed=MODEL, nli=TEXT_MODEL, nli-binary=TEXT_MODEL.",
            metavar="KIND=WHERE",
        ),
    ] = ()
    limit: Annotated[int | None, Setting("Only so many samples, drawn with the seed.", least=1)] = None
    examples: Annotated[Path | None, Setting("Where --shots are drawn from: samples, as train.jsonl.")] = None
    shots: Annotated[int, Setting("Examples of each category before a chat model is asked.", least=0, most=10)] = 0
    premise: Annotated[PremiseIs, Setting("What an entailment model takes as its premise.")] = PremiseIs.EVIDENCE
    entailment: Annotated[
        str | None, Setting("The entailment model that a linear evaluator was trained with.", metavar="TEXT_MODEL")
    ] = None
    unparsed: Annotated[Unparsed, Setting("How replies without a label enter micro-F1: as wrong ones, or as none.")] = (
        Unparsed.WRONG
    )
    facts: Annotated[
        bool, Setting("Also ask for each fact of partially supportive samples: the FActScore of each evaluator.")
    ] = False
    human_facts: Annotated[float | None, Setting("The FActScore by people, for the gap to it.", least=0, most=1)] = None
    people: Annotated[
        tuple[Path, ...], Setting("Labels by a person, JSONL with id and category; may be given again.")
    ] = ()
    temperature: Annotated[float, Setting("Temperature of chat models.", least=0, most=2)] = 0.0
    prompts: Annotated[Path | None, Setting("A folder with prompts of your own.")] = None
    answers: Annotated[
        Path | None, Setting("Keep replies of models here; by default beside --out.", recorded=False)
    ] = None
    out: Annotated[Path | None, Setting("Write every judgement to this file, as JSONL.")] = None
    resamples: Resamples = 1_000
    seed: Annotated[int, Setting("Seed of draws and resamples.", least=0)] = 0
    figure: Annotated[Path | None, Setting("Draw micro-F1 by human labels against automatic ones, as SVG.")] = None
    force: Annotated[bool, Setting("Replace the files of --out and --figure.", recorded=False)] = False
    as_json: AsJson = False

    def run(self) -> EvaluatorsCompared:
        """Judge and score. Raises UsageError for settings that do not go together."""
        from granola.attribution.evaluation import agreement, compared, partial_fact_scores

        words = self._words()
        words.check(self.evaluator)
        if not self.evaluator:
            raise UsageError("name an --evaluator, as graph=snapshot.sqlite; see --help")
        for place, kind, asked in ((self.out, "jsonl", "--out"), (self.figure, None, "--figure")):
            if place is not None:
                check_outputs(place, inputs=[self.samples], force=self.force, asked=asked)
                if kind:
                    check_kind(place, kind)
        rejected: list[RejectedRow] = []
        samples = self._samples(rejected)
        people = [_labels(path) for path in self.people]
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
            settings=self, samples=len(samples), reports=reports, tests=tests, facts=facts,
            automatic_facts=partial_fact_scores(samples), agreement=agreed, rejected=rejected,
        )  # fmt: skip

    def _words(self) -> Any:
        from granola.runs.attribution.evaluator_words import EvaluatorWords

        return EvaluatorWords(
            examples=self.examples, shots=self.shots, seed=self.seed, premise=self.premise,
            entailment=self.entailment, temperature=self.temperature, prompts=self.prompts, answers=self.answers,
            out=self.out, inputs=[self.samples],
        )  # fmt: skip

    def _samples(self, rejected: list[RejectedRow]) -> list[AttributionSample]:
        import random

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
        from granola.attribution.evaluation_metrics import fact_samples, judged_score, mean_score

        judgements = list(evaluator.judged(samples))
        report = evaluated(
            word.partition("=")[0] if sum(w.startswith(word.partition("=")[0]) for w in self.evaluator) == 1 else word,
            evaluator.signature(), samples, judgements, unparsed=self.unparsed,
            resamples=self.resamples, seed=self.seed,
        )  # fmt: skip
        if not self.facts:
            return report, None
        partial = [sample for sample in samples if sample.category is Category.PARTIAL]
        asked = [list(fact_samples(sample)) for sample in partial]
        fact_judgements = iter(list(evaluator.judged([sample for facts in asked for sample in facts])))
        return report, mean_score(judged_score([next(fact_judgements) for _ in facts]) for facts in asked)

    def _write(self, samples: Sequence[AttributionSample], reports: Sequence[EvaluatorReport]) -> None:
        from abstraction.files.writing import write_records
        from granola.run_record import write_run_record

        if self.out is None:
            return
        rows = (
            {
                "evaluator": report.name, **judgement.to_json(), "gold_supported": sample.supported,
                "gold_category": None if sample.category is None else str(sample.category),
                "complexity": None if sample.complexity is None else str(sample.complexity),
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


def _labels(path: Path) -> dict[str, str]:
    """Categories by id. Raises UsageError for a row without them."""
    from abstraction.faults import RejectedRow
    from abstraction.files.records import read_records
    from granola.attribution.categories import Category

    label_of: dict[str, str] = {}
    for record in read_records(path):
        if isinstance(record, RejectedRow):
            raise UsageError(f"{record.source}: {record.reason}")
        key, label = record.data.get("id"), record.data.get("category")
        if not isinstance(key, str) or label not in list(Category):
            raise UsageError(f"{record.source}: expected an id and a category of {', '.join(Category)}")
        label_of[key] = str(label)
    return label_of


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorsCompared:
    """Evaluators with their figures, side by side."""

    settings: AttributionEvaluateRun
    samples: int
    reports: Sequence[EvaluatorReport]
    tests: Sequence[Difference]
    facts: Mapping[str, float]
    automatic_facts: float
    agreement: Mapping[str, Any]
    rejected: Sequence[RejectedRow]

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.rejected)

    def show(self) -> None:
        """The table, the paper's rows beside it, the tests."""
        if self.settings.as_json:
            print_json(_plain(self.to_json()), indent=1)
        else:
            show_lines(*self._parts())
        report_rejects(str(self.settings.samples), self.rejected)

    def to_json(self) -> dict[str, Any]:
        """Everything but the judgements."""
        return {
            "schema_version": 1, "samples": self.samples, "evaluators": [report.to_json() for report in self.reports],
            "tests": [test.to_json() for test in self.tests], "fact_scores": dict(self.facts),
            "automatic_fact_score": self.automatic_facts, "human_fact_score": self.settings.human_facts,
            "agreement": dict(self.agreement),
        }  # fmt: skip

    def _parts(self) -> Iterator[Part]:
        yield from (f"{count(self.samples, 'sample')} of {self.settings.samples}", "")
        for start in range(0, len(self.reports), 3):
            yield from (_figures(self.reports[start : start + 3]), "")
        for report in self.reports:
            for rows in (report.confusion, report.two_way) if report.confusion else (report.two_way,):
                yield f"{report.name}: gold in rows"
                cells = [(gold, *(f"{number:,}" for number in by_label.values())) for gold, by_label in rows.items()]
                yield TextTable(head=("", *map(str, next(iter(rows.values()), {}))), rows=cells, indent=2)
            yield from (Verbatim(f"  {report.signature}"), "")
        for test in self.tests:
            yield (
                f"{test.first} - {test.second}, {test.metric}: {test.difference:+.3f} "
                f"[{test.interval.low:+.3f}, {test.interval.high:+.3f}], p {test.p:.4f}, after Holm {test.adjusted:.4f}"
            )
        yield from self._facts_parts()
        yield from self._paper_parts()

    def _facts_parts(self) -> Iterator[Part]:
        human = self.settings.human_facts
        if not math.isnan(self.automatic_facts):
            yield ""
            yield f"FActScore of partially supportive samples, by the triples that are left: {self.automatic_facts:.3f}"
        for name, score in self.facts.items():
            gap = "" if human is None else f", gap to people {abs(score - human):.3f}"
            yield f"  {name}: {score:.3f}{gap}"
        if self.agreement:
            agreement = self.agreement
            yield ""
            yield (
                f"people: kappa {agreement['kappa']:.3f} over {agreement['labelled_by_all']}, "
                f"unanimous {agreement['unanimous']}; "
                f"kappa of automatic and human labels {agreement['kappa_of_automatic_and_human']:.3f}; "
                f"Pearson's r of micro-F1 over evaluators {agreement['pearson']:.3f} (paper: 0.97)"
            )

    def _paper_parts(self) -> Iterator[Part]:
        from granola.attribution.evaluation import COLUMNS, NOT_COMPARABLE, TABLE_5

        if not any(report.confusion for report in self.reports):
            return
        rows = [
            (f"{setting}, {name}", *("-" if score is None else f"{score:.3f}" for score in scores))
            for (setting, name), scores in TABLE_5.items()
        ]
        yield from ("", TextTable(head=("paper, Table 5", *COLUMNS), rows=rows), NOT_COMPARABLE)


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


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value
