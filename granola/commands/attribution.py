"""`granola attribution`: benchmarks of evidence and answers, and evaluators held against them."""

from __future__ import annotations

import gc
import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.files.writing import check_kind
from granola.attribution.benchmark_building import CategoryShares, CitedTogether
from granola.attribution.entailment_evaluators import PremiseIs
from granola.attribution.evaluation_metrics import Unparsed
from granola.attribution.query_extension import AnswerEdge, HeadEntity, Impossible
from granola.commands.command import Command
from granola.commands.messages import count, note, print_json, report_rejects
from granola.commands.models import opened
from granola.commands.output import alone, json_lines, writing
from granola.errors import UsageError
from granola.run_record import write_run_record
from granola.settings import Setting
from granola.shared_settings import AsJson, Force, KeptAnswers, Language, Resamples, Tiered
from granola.terminal_lines import Part, TextTable, Verbatim, counted, show_lines
from kg.files import resolved
from kg.queries.logical_query import Shape

if TYPE_CHECKING:
    from abstraction.models.chat_model import ChatModel
    from abstraction.rows import RejectedRow
    from granola.attribution.attribution_samples import AttributionSample
    from granola.attribution.benchmark_building import SampleMaker, SourcedQuery
    from granola.attribution.evaluation import EvaluatorReport
    from granola.attribution.question_sources import QuestionSources
    from granola.attribution.text_checks import TextCoverage
    from granola.attribution.tier_checks import TierAttribution
    from granola.scoring.system_comparison import Difference
    from kg.queries import StoreFacts

SHOWN = 20  # tiers that are printed
UNTOLD = "no verdict"


def _without_nan(value: Any) -> Any:
    """The same for JSON: NaN is null."""
    if isinstance(value, Mapping):
        return {key: _without_nan(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


class BenchmarkFormat(StrEnum):
    """What `--format` takes."""

    JSONL = "jsonl"
    PARQUET = "parquet"


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchmarkBuilt:
    """A benchmark that was built: samples by category and complexity, and what was left out."""

    maker: SampleMaker
    statistics: Mapping[str, Any]
    torn: int
    worded: Mapping[str, int]
    sources: QuestionSources

    def built(self) -> dict[str, Any]:
        """The counts of the build."""
        return {
            **self.maker.counts.to_json(),
            "unread": dict(self.sources.reasons),
            "torn": self.torn,
            "worded": dict(self.worded),
        }


@dataclass(frozen=True, kw_only=True)
class AttributionBuild(Command[BenchmarkBuilt]):
    """Build a benchmark that tells whether evidence supports an answer, from WikiData alone.

    Each query is grounded in the snapshot, made more complex, and its facts edited so that they support the answer,
    lack a part of it, contradict it or miss it; every label is proved by running the query on both.
    The folder is loaded with datasets.load_dataset(OUT).
    """

    snapshot: Annotated[str, Setting("The snapshot: a file, or bolt://HOST:PORT.")]
    out: Annotated[Path, Setting("The folder to write; it appears when all is done.")]
    questions: Annotated[
        tuple[Path, ...],
        Setting(
            "Questions with queries: SimpleQuestions on WikiData, QALD, LC-QuAD 2.0, or rows with sparql or query; "
            "may be given again.",
            metavar="FILE",
        ),
    ] = ()
    singles: Annotated[int, Setting("Single triples to mine from the snapshot.", least=0)] = 16_000
    paths: Annotated[int, Setting("Paths of two hops to mine.", least=0)] = 10_000
    trees: Annotated[int, Setting("Pairs of entities that meet in an answer to mine.", least=0)] = 4_000
    unions: Annotated[int, Setting("Namesakes with one relation to mine.", least=0)] = 2_000
    seed: Annotated[int, Setting("Seed of everything that is drawn.", least=0)] = 0
    shares: Annotated[
        CategoryShares,
        Setting("How often each category: as in the paper's Table 4, evenly, or every query in all of them."),
    ] = CategoryShares.PAPER
    extend: Annotated[bool, Setting("Make queries more complex first.", flag="--extend/--no-extend", advanced=True)] = (
        True
    )
    test_share: Annotated[float, Setting("Share of the samples for testing.", least=0, most=1, advanced=True)] = 0.15
    format: Annotated[BenchmarkFormat, Setting("The format of the samples.", advanced=True)] = BenchmarkFormat.JSONL
    together: Annotated[
        CitedTogether, Setting("What a citation states: one fact, or all of a branch.", advanced=True)
    ] = CitedTogether.FACT
    most_answers: Annotated[
        int, Setting("Queries with more answers are left out.", least=1, most=20, advanced=True)
    ] = 3
    answer_edge: Annotated[
        AnswerEdge,
        Setting(
            "A triple added at the answer enters it (the paper's rule) or leaves it (its examples).", advanced=True
        ),
    ] = AnswerEdge.ENTERS
    head: Annotated[
        HeadEntity, Setting("Whether a question still names the entity that a new head leads to.", advanced=True)
    ] = HeadEntity.NAMED
    impossible: Annotated[
        Impossible, Setting("What becomes of a query that cannot be extended as was drawn.", advanced=True)
    ] = Impossible.UNCHANGED
    hub: Annotated[int, Setting("A value that more entities have is no answer.", least=1, advanced=True)] = 500
    flattening: Annotated[
        float,
        Setting(
            "A relation is drawn by its frequency to this power; 1: the frequency.", least=0, most=1, advanced=True
        ),
    ] = 0.5
    words: Annotated[
        str | None,
        Setting(
            "A model that words citations, questions and statements, each checked for its names: openai:URL#NAME, "
            "local:FOLDER, replay:FILE.",
            metavar="MODEL",
        ),
    ] = None
    prompts: Annotated[
        Path | None,
        Setting(
            "A folder with prompts of your own: citation, question, statement, again, each .txt; not all of them.",
            advanced=True,
        ),
    ] = None
    answers: KeptAnswers = None
    force: Force = False
    as_json: AsJson = False

    def run(self) -> BenchmarkBuilt:
        """Build it. Raises UsageError where no sample can be made."""
        from abstraction.datasets.building import check_place
        from granola import __version__
        from granola.attribution.benchmark_folder import Benchmark
        from granola.attribution.question_sources import QuestionSources
        from granola.attribution.subject_split import split
        from kg.queries import StoreFacts
        from kg.store import is_address, open_store

        for path in self.questions:
            if not path.exists():
                raise FileNotFoundError(2, "no such file", str(path))
        beside = [] if is_address(self.snapshot) else [Path(self.snapshot)]
        check_place(self.out, [*self.questions, *beside], force=self.force)
        self.out.absolute().parent.mkdir(parents=True, exist_ok=True)
        with alone(self.out), closing(open_store(self.snapshot)) as store, _uncollected():
            facts = StoreFacts(store)
            rejected: list[Any] = []
            sources = QuestionSources(list(self.questions), on_reject=rejected.append)
            maker = self._maker(facts)
            samples: list[AttributionSample] = list(maker.samples(itertools.chain(sources, self._mined(facts))))
            if not samples:
                reason = f"{rejected[0].source}: {rejected[0].reason}" if rejected else _first(maker)
                raise UsageError(f"no sample can be made: {reason}")
            samples, wording, worded = self._worded(samples)
            origin = {
                "Snapshot": str(store.manifest()["snapshot_id"]),
                "Command": f"granola attribution build {self._options()}",
                "Version": f"granola-ladders {__version__}",
            }
            benchmark = Benchmark(
                name=resolved(self.out).name,
                split=split(samples, test=self.test_share, seed=self.seed),
                built={**maker.counts.to_json(), "unread": dict(sources.reasons.most_common()), "worded": worded},
                made=origin,
                wording=wording,
                rejected=rejected,
            )
            statistics = benchmark.write(self.out, format=self.format.value, class_of=_class_names(facts))
        return BenchmarkBuilt(
            maker=maker, statistics=statistics, torn=benchmark.split.torn, worded=worded, sources=sources
        )

    def failed(self, result: BenchmarkBuilt) -> bool:
        """Whether rows of the sources are damaged; those of shapes that are not read are no failure."""
        return result.sources.reasons["damaged row"] > 0

    def show(self, result: BenchmarkBuilt) -> None:
        """Samples by category and complexity, and what was left out."""
        if self.as_json:
            print_json({"built": result.built(), "statistics": result.statistics}, indent=1)
            return
        sides = result.statistics["counts"]
        rows = [(key, *(f"{side[key]:,}" for side in sides.values())) for key in next(iter(sides.values()))]
        show_lines(TextTable(head=("", *map(str, sides)), rows=rows), "")
        reasons = result.sources.reasons
        for title, of_title in (
            ("queries left out", result.maker.counts.left_out), ("samples dropped", result.maker.counts.dropped),
            ("rows of other shapes", reasons),
        ):  # fmt: skip
            if of_title:
                show_lines(f"{title}:", counted(of_title))
        show_lines(counted(result.worded), counted({"samples with entities of both sides of the split": result.torn}))
        show_lines("", str(self.out))
        if self.failed(result):
            note(f"{count(reasons['damaged row'], 'row')} rejected; see rejected.jsonl there")

    def _worded(self, samples: list[AttributionSample]) -> tuple[list[AttributionSample], str, dict[str, int]]:
        """The samples in a model's words where one is named; what the card says of it; how many texts it worded."""
        if self.words is None:
            return samples, "All texts are made by templates; no model took part.", {}
        from granola.attribution.model_wording import ModelWording, read_wording_prompts

        prompts = read_wording_prompts(self.prompts)
        inputs: list[Path | str] = [*self.questions, self.snapshot]
        with opened(self.words, f"{self.out}.words", self.answers, inputs) as model:
            wording = ModelWording(model=model, prompts=prompts)
            worded_samples = list(wording.worded(samples))
        description = (
            f"Texts are in the words of a model ({model.identity.get('model') or model.identity.get('kind')}, prompts "
            f"{wording.fingerprint}) where they name their facts and nothing else, and of templates elsewhere."
        )
        return worded_samples, description, dict(sorted(wording.counts.items()))

    def _maker(self, facts: StoreFacts) -> SampleMaker:
        from granola.attribution.benchmark_building import SampleMaker, SampleSettings
        from granola.attribution.query_extension import ExtensionSettings

        return SampleMaker(
            facts,
            SampleSettings(
                seed=self.seed,
                shares=self.shares,
                together=self.together,
                most_answers=self.most_answers,
                extend=self.extend,
                extension=ExtensionSettings(
                    answer_edge=self.answer_edge, head=self.head, impossible=self.impossible, hub=self.hub
                ),
            ),
        )

    def _mined(self, facts: StoreFacts) -> Iterator[SourcedQuery]:
        from granola.attribution.benchmark_building import SourcedQuery
        from granola.attribution.relation_table import excluded
        from kg.queries import MinedQueries, MiningSettings

        counts = {
            Shape.SINGLE: self.singles, Shape.PATH: self.paths, Shape.TREE: self.trees, Shape.UNION: self.unions
        }  # fmt: skip
        if not any(counts.values()):
            return
        settings = MiningSettings(
            counts=counts, seed=self.seed, flattening=self.flattening, hub=self.hub, excluded=excluded(),
            most_values=self.most_answers,
        )  # fmt: skip
        for number, query in enumerate(MinedQueries(facts, settings), 1):
            yield SourcedQuery(id=f"mined-{number}", query=query, source="mined")

    def _options(self) -> str:
        """The options that tell this build from one by default."""
        return " ".join(
            f"--{name.replace('_', '-')} {Path(str(value)).name if name in ('snapshot', 'out') else value}"
            for name, value in self.arguments().items()
            if name != "questions"
        ) + "".join(f" --questions {path.name}" for path in self.questions)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the search for cycles: there are none, and among a million statements it takes a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _first(maker: SampleMaker) -> str:
    reasons = [*maker.counts.left_out.most_common(1), *maker.counts.dropped.most_common(1)]
    return "; ".join(f"{reason} ({number:,})" for reason, number in reasons) or "there is no query"


def _class_names(facts: StoreFacts) -> Any:
    from granola.attribution.relation_table import CLASS
    from kg.queries import Hop
    from kg.queries.query_mining import name_of

    def class_of(entity_id: str) -> str | None:
        kinds = facts.targets(entity_id, Hop(property=CLASS))
        return name_of(facts.entity(kinds[0])) if kinds else None

    return class_of


@dataclass(frozen=True, kw_only=True, slots=True)
class TextsAudited:
    """Texts by how they cover their facts, or the rates of sheets."""

    counts: Mapping[str, Counter[TextCoverage]]
    rates: Mapping[str, Any] | None = None
    rejected: Sequence[RejectedRow] = ()


@dataclass(frozen=True, kw_only=True)
class AttributionAudit(Command[TextsAudited]):
    """Check whether citations and questions cover their facts; draw a sheet for people, or read filled ones.

    Each text covers its facts fully, misses one of them (absent), or has a name that is in none (hallucinated).
    """

    files: Annotated[
        tuple[Path, ...],
        Setting("Files of samples; with --annotated, filled sheets.", metavar="FILE...", positional=True),
    ]
    sheet: Annotated[Path | None, Setting("Write a CSV sheet for people to this file.")] = None
    number: Annotated[int, Setting("With --sheet: so many citations, and as many questions.", flag="--n", least=1)] = 50
    seed: Annotated[int, Setting("Seed of the draw.", least=0)] = 0
    annotated: Annotated[bool, Setting("Read filled sheets: shares with intervals, and agreement.")] = False
    force: Force = False
    as_json: AsJson = False

    def run(self) -> TextsAudited:
        """Check, draw or read. Raises UsageError for settings that do not go together."""
        from granola.attribution.text_sheets import read_text_sheet, text_rates

        if self.annotated:
            if self.sheet is not None:
                raise UsageError("--annotated reads sheets, --sheet writes one: give one of them")
            rates = text_rates([read_text_sheet(path) for path in self.files])
            return TextsAudited(counts={}, rates=rates)
        with writing(self.sheet, inputs=self.files, force=self.force, asked="--sheet"):
            return self._checked()

    def _checked(self) -> TextsAudited:
        from granola.attribution.attribution_samples import read_samples
        from granola.attribution.model_wording import automatic_coverage
        from granola.attribution.text_sheets import drawn_texts, write_text_sheet

        if self.sheet is not None:
            check_kind(self.sheet, "csv")
        rejected: list[RejectedRow] = []
        samples = [sample for path in self.files for sample in read_samples(path, on_reject=rejected.append)]
        counts: dict[str, Counter[TextCoverage]] = {"citation": Counter(), "question": Counter()}
        for sample in samples:
            for kind, _, label in automatic_coverage(sample):
                counts[kind][label] += 1
        if not any(counts.values()):
            raise UsageError(f"{self.files[0]}: no sample with facts in it; name a file of granola attribution build")
        if self.sheet is not None:
            write_text_sheet(drawn_texts(samples, self.number, seed=self.seed), self.sheet)
        return TextsAudited(counts=counts, rejected=rejected)

    def show(self, result: TextsAudited) -> None:
        """The shares, or the rates of sheets."""
        if result.rates is not None:
            if self.as_json:
                print_json(_without_nan(result.rates), indent=1)
            else:
                show_lines(*_rates_parts(result.rates))
            return
        if self.as_json:
            print_json(
                {kind: {str(k): n for k, n in of_kind.items()} for kind, of_kind in result.counts.items()}, indent=1
            )
        else:
            for kind, of_kind in result.counts.items():
                rows = [
                    (f"{number:>8,}", f"{number / of_kind.total():.1%}", str(label))
                    for label, number in of_kind.most_common()
                ]
                title = f"{count(of_kind.total(), kind)}, by an automatic check of names:"
                show_lines(title, TextTable(rows=rows, words=(2,)))
            if self.sheet is not None:
                show_lines("", f"{self.sheet}: fill the column label in, then granola attribution audit --annotated")
        report_rejects(str(self.files[0]), result.rejected)


def _rates_parts(rates: Mapping[str, Any]) -> Iterator[Part]:
    for name, shares in {**rates["readers"], "automatic": rates["automatic"]}.items():
        rows = [
            (label, f"{cell['share']:.1%}", f"[{cell['low']:.1%}, {cell['high']:.1%}]")
            for label, cell in shares.items()
            if label != "n"
        ]
        yield from (f"{name}, {count(shares['n'], 'text')}:", TextTable(rows=rows, words=(2,), indent=2))
    yield f"kappa of readers {rates['kappa']:.3f} over {count(rates['marked_by_all'], 'text')}"
    yield f"kappa of the check and the first reader {rates['kappa_of_check_and_first_reader']:.3f}"
    yield "paper: full coverage 92 % and 95 % by two readers of 100 texts, kappa 0.758 (Hu et al. 2025, section 4.2)"


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorTrained:
    """An evaluator that was trained."""

    samples: int
    signature: str
    rejected: Sequence[RejectedRow]


@dataclass(frozen=True, kw_only=True)
class AttributionTrain(Command[EvaluatorTrained]):
    """Train an evaluator on samples with categories: logistic regression on what of the statement the citations repeat.

    The folder is named with --evaluator of `granola attribution evaluate`, as linear=FOLDER.
    """

    samples: Annotated[Path, Setting("Samples to train on, as train.jsonl.", metavar="SAMPLES", positional=True)]
    out: Annotated[Path, Setting("The folder to write the evaluator to.")]
    entailment: Annotated[
        str | None,
        Setting("A model of entailment whose three probabilities are features, too: local:FOLDER, openai:URL#NAME.",
                metavar="TEXT_MODEL"),
    ] = None  # fmt: skip
    seed: Annotated[int, Setting("Seed of everything that is drawn.", least=0)] = 0
    force: Force = False

    def run(self) -> EvaluatorTrained:
        """Train it. Raises UsageError."""
        from abstraction.models import open_entailment
        from granola.attribution.attribution_samples import read_samples
        from granola.attribution.linear_evaluator import LinearEvaluator

        if self.out.exists() and (not self.out.is_dir() or (any(self.out.iterdir()) and not self.force)):
            raise UsageError(f"{self.out} exists; give --force to replace it, or name another folder")
        rejected: list[RejectedRow] = []
        samples = list(read_samples(self.samples, on_reject=rejected.append))
        if not any(sample.category is not None for sample in samples):
            raise UsageError(f"{self.samples}: no sample with a category; name a file of granola attribution build")
        model = None if self.entailment is None else open_entailment(self.entailment)
        with alone(self.out):
            evaluator = LinearEvaluator.trained(samples, seed=self.seed, entailment=model)
            evaluator.save(self.out)
            signature = evaluator.signature()
            write_run_record(
                self.out / "linear.json", command=self.verb, arguments=self.arguments(), inputs=[self.samples],
                more={"signature": signature},
            )  # fmt: skip
        return EvaluatorTrained(samples=len(samples), signature=signature, rejected=rejected)

    def show(self, result: EvaluatorTrained) -> None:
        """Where it is, and what was rejected."""
        show_lines(f"linear evaluator of {count(result.samples, 'sample')}: signature {result.signature}")
        show_lines(Verbatim(f"granola attribution evaluate SAMPLES --evaluator linear={self.out}"))
        report_rejects(str(self.samples), result.rejected)


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
            "KIND=WHERE; may be given again. graph=SNAPSHOT, majority=TRAIN, linear=FOLDER, "
            "defined=MODEL, options=MODEL, three-way=MODEL, decomposed=MODEL, nli=TEXT_MODEL, nli-binary=TEXT_MODEL.",
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
        Setting("The entailment model that a linear evaluator was trained with.", metavar="TEXT_MODEL", advanced=True),
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
        tuple[Path, ...], Setting("Labels by a person, JSONL with id and category; may be given again.", advanced=True)
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

    def _compared(self, words: Any) -> EvaluatorsCompared:
        from granola.attribution.evaluation import agreement, compared, partial_fact_scores

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
            samples=len(samples), reports=reports, tests=tests, facts=facts, human_facts=self.human_facts,
            automatic_facts=partial_fact_scores(samples), agreement=agreed, rejected=rejected,
        )  # fmt: skip

    def show(self, result: EvaluatorsCompared) -> None:
        """The table, the paper's rows beside it, the tests."""
        if self.as_json:
            print_json(_without_nan(result.to_json()), indent=1)
        else:
            show_lines(f"{count(result.samples, 'sample')} of {self.samples}", "", *_evaluation_parts(result))
        report_rejects(str(self.samples), result.rejected)

    def _words(self) -> Any:
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


def _evaluation_parts(compared: EvaluatorsCompared) -> Iterator[Part]:
    for start in range(0, len(compared.reports), 3):
        yield from (_figures(compared.reports[start : start + 3]), "")
    for report in compared.reports:
        for rows in (report.confusion, report.two_way) if report.confusion else (report.two_way,):
            yield f"{report.name}: gold in rows"
            cells = [(gold, *(f"{number:,}" for number in by_label.values())) for gold, by_label in rows.items()]
            yield TextTable(head=("", *map(str, next(iter(rows.values()), {}))), rows=cells, indent=2)
        yield from (Verbatim(f"  {report.signature}"), "")
    for test in compared.tests:
        yield (
            f"{test.first} - {test.second}, {test.metric}: {test.difference:+.3f} "
            f"[{test.interval.low:+.3f}, {test.interval.high:+.3f}], p {test.p:.4f}, after Holm {test.adjusted:.4f}"
        )
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
    from granola.attribution.evaluation import COLUMNS, NOT_COMPARABLE, TABLE_5

    if not any(report.confusion for report in compared.reports):
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


@dataclass(frozen=True, kw_only=True, slots=True)
class TiersAttributed:
    """Tiers by what their evidence is to them."""

    snapshot: str
    rows: int
    counts: Counter[str]
    errors: Sequence[TierAttribution]
    rejected: Sequence[RejectedRow]


@dataclass(frozen=True, kw_only=True)
class AttributionCheck(Command[TiersAttributed]):
    """Turn the evidence of each tier into citations, and say whether they support it.

    A tier that is not supportive is an error found: exit status 1.
    """

    tiered: Tiered
    snapshot: Annotated[str, Setting("The snapshot to judge by: a file, or bolt://HOST:PORT.")]
    language: Language = "en"
    out: Annotated[Path | None, Setting("Write every tier with its citations and verdict to this file, as JSONL.")] = (
        None
    )
    force: Force = False
    as_json: AsJson = False

    def run(self) -> TiersAttributed:
        """Check every row. Raises UsageError where there is none."""
        with writing(self.out, inputs=[self.tiered, self.snapshot], force=self.force):
            if self.out is not None:
                check_kind(self.out, "jsonl")
            return self._checked()

    def _checked(self) -> TiersAttributed:
        from abstraction.faults import Fault, attempt
        from abstraction.rows import read_tiered
        from granola.attribution.categories import Category
        from granola.attribution.tier_checks import TierAttributor
        from kg.store import open_store

        counts: Counter[str] = Counter()
        rejected: list[RejectedRow] = []
        errors: list[TierAttribution] = []
        rows = 0
        with closing(open_store(self.snapshot)) as store, json_lines(self.out) as write:
            attributor = TierAttributor(store, language=self.language)
            for row in read_tiered(self.tiered, on_reject=rejected.append):
                attributions = attempt("a check of evidence", attributor.checked, row)
                if isinstance(attributions, Fault):
                    rejected.append(attributions.rejected(source=row.source, id=row.id, text=row.question))
                    attributor = TierAttributor(store, language=self.language)
                    continue
                rows += 1
                for attribution in attributions:
                    counts[UNTOLD if attribution.category is None else str(attribution.category)] += 1
                    if attribution.category not in (None, Category.SUPPORTIVE):
                        errors.append(attribution)
                    if write is not None:
                        write(attribution.to_json())
            snapshot = str(store.manifest()["snapshot_id"])
        return TiersAttributed(snapshot=snapshot, rows=rows, counts=counts, errors=errors, rejected=rejected)

    def failed(self, result: TiersAttributed) -> bool:
        """Whether a tier's evidence does not support it, or rows were rejected."""
        return bool(result.errors or result.rejected)

    def show(self, result: TiersAttributed) -> None:
        """The counts, and the tiers that are not supported. Raises UsageError where there was no row."""
        if self.as_json:
            summary = {"snapshot": result.snapshot, "rows": result.rows, "tiers": dict(sorted(result.counts.items()))}
            print_json({**summary, "errors": [error.to_json() for error in result.errors]}, indent=1)
        else:
            what = f"{count(result.rows, 'row')}, {count(result.counts.total(), 'tier')}, snapshot {result.snapshot}"
            show_lines(what, counted(result.counts))
            for error in result.errors[:SHOWN]:
                place = f"{error.row} level {error.level}.{error.position}"
                show_lines(f"  {place}: {error.text!r}: {error.category}: {'; '.join(error.flaws)}")
            if len(result.errors) > SHOWN:
                show_lines(f"  and {len(result.errors) - SHOWN:,} more; --out has all of them")
        report_rejects(self.tiered, result.rejected)
        if not result.rows:
            raise UsageError(f"{self.tiered}: no tiered row in it; name a file that granola tiers wrote")
