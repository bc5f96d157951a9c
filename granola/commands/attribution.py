"""`granola attribution`: benchmarks of evidence and answers, and evaluators held against them."""

from __future__ import annotations

import gc
import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.files.writing import check_kind
from granola.attribution.benchmark_building import CategoryShares, CitedTogether
from granola.attribution.query_extension import AnswerEdge, HeadEntity, Impossible
from granola.commands.attribution_evaluation import AttributionEvaluate as AttributionEvaluate
from granola.commands.command import Command
from granola.commands.messages import count, note, print_json, report_rejects
from granola.commands.models import opened
from granola.commands.output import alone, json_lines, writing
from granola.errors import UsageError
from granola.run_record import write_run_record
from granola.settings import Setting, command_line
from granola.shared_settings import AsJson, BatchFile, BatchResults, Force, KeptAnswers, Language, Tiered
from granola.terminal_lines import TextTable, Verbatim, counted, show_lines
from kg.files import resolved
from kg.queries.logical_query import Shape

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow
    from granola.attribution.attribution_samples import AttributionSample
    from granola.attribution.benchmark_building import SampleMaker, SourcedQuery
    from granola.attribution.question_sources import QuestionSources
    from granola.attribution.subject_split import SubjectSplit
    from granola.attribution.text_checks import TextCoverage
    from granola.attribution.tier_checks import TierAttribution
    from kg.queries import StoreFacts

SHOWN = 20  # tiers that are printed
UNTOLD = "no verdict"


class BenchmarkFormat(StrEnum):
    """What `--format` takes."""

    JSONL = "jsonl"
    PARQUET = "parquet"


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchmarkBuilt:
    """A benchmark that was built: samples by category and complexity, and what was left out."""

    maker: SampleMaker
    statistics: Mapping[str, Any]
    split: SubjectSplit
    worded: Mapping[str, int]
    sources: QuestionSources

    def built(self) -> dict[str, Any]:
        """The counts of the build."""
        return {
            **self.maker.counts.to_json(),
            "unread": dict(self.sources.reasons),
            "torn": self.split.torn,
            "over": self.split.over,
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
    entailment: Annotated[
        str | None,
        Setting(
            "With --words: a model of entailment by which each citation must say its facts, so that none takes them "
            "back: local:FOLDER, openai:URL#NAME.",
            metavar="TEXT_MODEL",
            advanced=True,
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
    batch_file: BatchFile = None
    batch_results: BatchResults = None
    force: Force = False
    as_json: AsJson = False

    def run(self) -> BenchmarkBuilt:
        """Build it. Raises UsageError where no sample can be made."""
        from abstraction.datasets.building import check_place
        from granola import __version__
        from granola.attribution.benchmark_building import in_paper_shares
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
            sides = split(samples, test=self.test_share, seed=self.seed)
            chosen = [*sides.train, *sides.test]
            if self.shares is CategoryShares.PAPER:
                chosen = in_paper_shares(chosen, seed=self.seed)
            chosen, wording, worded = self._worded(chosen)
            origin = {
                "Snapshot": str(store.manifest()["snapshot_id"]),
                "Command": command_line(self.verb, self),
                "Version": f"granola-ladders {__version__}",
            }
            benchmark = Benchmark(
                name=resolved(self.out).name,
                split=sides.of(chosen),
                built={**maker.counts.to_json(), "unread": dict(sources.reasons.most_common()), "worded": worded},
                made=origin,
                wording=wording,
                rejected=rejected,
            )
            statistics = benchmark.write(self.out, format=self.format.value, class_of=_class_names(facts))
        return BenchmarkBuilt(maker=maker, statistics=statistics, split=benchmark.split, worded=worded, sources=sources)

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
        show_lines(
            counted(result.worded),
            counted(
                {
                    "samples with entities of both sides of the split": result.split.torn,
                    "samples over the paper's shares": result.split.over,
                }
            ),
        )
        show_lines("", str(self.out))
        if self.failed(result):
            note(f"{count(reasons['damaged row'], 'row')} rejected; see rejected.jsonl there")

    def _worded(self, samples: list[AttributionSample]) -> tuple[list[AttributionSample], str, dict[str, int]]:
        """The samples in a model's words where one is named; what the card says of it; how many texts it worded."""
        if self.words is None:
            if self.entailment is not None:
                raise UsageError("--entailment judges what --words MODEL writes, which is not given")
            return samples, "All texts are made by templates; no model took part.", {}
        from abstraction.models import open_entailment
        from granola.attribution.model_wording import ModelWording, read_wording_prompts

        prompts = read_wording_prompts(self.prompts)
        inputs: list[Path | str] = [*self.questions, self.snapshot]
        with opened(self.words, f"{self.out}.words", self.answers, inputs, batch=self) as model:
            judge = None if self.entailment is None else open_entailment(self.entailment)
            wording = ModelWording(model=model, prompts=prompts, entailment=judge)
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
        from granola.attribution.relation_table import used
        from kg.queries import MinedQueries, MiningSettings

        counts = {
            Shape.SINGLE: self.singles, Shape.PATH: self.paths, Shape.TREE: self.trees, Shape.UNION: self.unions
        }  # fmt: skip
        if not any(counts.values()):
            return
        settings = MiningSettings(
            counts=counts, seed=self.seed, flattening=self.flattening, hub=self.hub, only=frozenset(used()),
            most_values=self.most_answers,
        )  # fmt: skip
        for number, query in enumerate(MinedQueries(facts, settings), 1):
            yield SourcedQuery(id=f"mined-{number}", query=query, source="mined")


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
    """Texts by how they cover their facts."""

    counts: Mapping[str, Counter[TextCoverage]]
    rejected: Sequence[RejectedRow] = ()


@dataclass(frozen=True, kw_only=True)
class AttributionAudit(Command[TextsAudited]):
    """Check whether citations and questions cover their facts, by the names that stand in them.

    Each text covers its facts fully, misses one of them (absent), or has a name that is in none (hallucinated). People
    mark the same on a sheet: `granola sheets draw --task texts`.
    """

    files: Annotated[tuple[Path, ...], Setting("Files of samples.", metavar="FILE...", positional=True)]
    as_json: AsJson = False

    def run(self) -> TextsAudited:
        """Check. Raises UsageError where no sample has facts."""
        from granola.attribution.attribution_samples import read_samples
        from granola.attribution.model_wording import automatic_coverage

        rejected: list[RejectedRow] = []
        counts: dict[str, Counter[TextCoverage]] = {"citation": Counter(), "question": Counter()}
        for path in self.files:
            for sample in read_samples(path, on_reject=rejected.append):
                for kind, _, label in automatic_coverage(sample):
                    counts[kind][label] += 1
        if not any(counts.values()):
            raise UsageError(f"{self.files[0]}: no sample with facts in it; name a file of granola attribution build")
        return TextsAudited(counts=counts, rejected=rejected)

    def show(self, result: TextsAudited) -> None:
        """The shares."""
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
        report_rejects(str(self.files[0]), result.rejected)


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorTrained:
    """An evaluator that was trained, on so many samples of each source."""

    samples: Counter[str]
    signature: str
    rejected: Sequence[RejectedRow]


@dataclass(frozen=True, kw_only=True)
class AttributionTrain(Command[EvaluatorTrained]):
    """Train an evaluator on samples that people marked, or on a benchmark's: forests on what the citations repeat.

    Read as they are: AttributionBench, FactcheckGPT's stances, RefChecker's claims with their passages, and samples of
    ours. The folder is named with --evaluator of `granola attribution evaluate`, as trained=FOLDER. With --encoder a
    checkpoint is fine-tuned instead, which is encoder=FOLDER there; one that was trained before is trained on.
    """

    samples: Annotated[
        tuple[Path, ...], Setting("Samples to train on; several files together.", metavar="SAMPLES...", positional=True)
    ]
    out: Annotated[Path, Setting("The folder to write the evaluator to.")]
    entailment: Annotated[
        str | None,
        Setting("A model of entailment whose three probabilities are features, too: local:FOLDER, openai:URL#NAME.",
                metavar="TEXT_MODEL"),
    ] = None  # fmt: skip
    encoder: Annotated[
        str | None, Setting("Fine-tune this checkpoint: a folder, or a name on the hub.", metavar="FOLDER")
    ] = None
    longest: Annotated[
        int, Setting("--encoder: tokens of a sample; citations are cut first.", least=16, advanced=True)
    ] = 256
    epochs: Annotated[
        int, Setting("--encoder: passes at most; it ends where two brought nothing.", least=1, advanced=True)
    ] = 8
    batch: Annotated[int, Setting("--encoder: samples a step.", least=1, advanced=True)] = 32
    device: Annotated[
        str, Setting("--encoder: auto, cpu, cuda or cuda:NUMBER.", recorded=False, advanced=True)
    ] = "auto"
    verbose: Annotated[
        bool, Setting("--encoder: the library's own messages and its bar.", recorded=False, advanced=True)
    ] = False
    seed: Annotated[int, Setting("Seed of everything that is drawn.", least=0)] = 0
    force: Force = False

    def run(self) -> EvaluatorTrained:
        """Train it. Raises UsageError."""
        from granola.attribution.attribution_samples import read_any_samples

        if self.out.exists() and (not self.out.is_dir() or (any(self.out.iterdir()) and not self.force)):
            raise UsageError(f"{self.out} exists; give --force to replace it, or name another folder")
        rejected: list[RejectedRow] = []
        read = (sample for path in self.samples for sample in read_any_samples(path, on_reject=rejected.append))
        samples = [sample for sample in read if sample.supported is not None]
        if not samples:
            report_rejects(str(self.samples[0]), rejected)
            raise UsageError(f"{self.samples[0]}: no sample with a category or label to train on")
        with alone(self.out):
            file, signature = self._trained(samples) if self.encoder is None else self._tuned(samples)
            write_run_record(
                self.out / file, command=self.verb, arguments=self.arguments(), inputs=self.samples,
                more={"signature": signature},
            )  # fmt: skip
        sources = Counter(str(sample.provenance.get("source") or "no source") for sample in samples)
        return EvaluatorTrained(samples=sources, signature=signature, rejected=rejected)

    def _trained(self, samples: Sequence[AttributionSample]) -> tuple[str, str]:
        """The file of the evaluator, and its signature."""
        from abstraction.models import open_entailment
        from granola.attribution.trained_evaluator import FILE, TrainedEvaluator

        model = None if self.entailment is None else open_entailment(self.entailment)
        evaluator = TrainedEvaluator.trained(samples, seed=self.seed, entailment=model)
        evaluator.save(self.out)
        return FILE, evaluator.signature()

    def _tuned(self, samples: Sequence[AttributionSample]) -> tuple[str, str]:
        from granola.attribution.encoder_evaluator import FILE, EncoderEvaluator, EncoderTraining, train_encoder

        if self.entailment is not None:
            raise UsageError("--entailment gives features to the forests; --encoder reads the texts themselves")
        assert self.encoder is not None  # `run` has looked
        how = EncoderTraining(
            checkpoint=self.encoder, longest=self.longest, epochs=self.epochs, batch=self.batch, seed=self.seed,
            device=self.device, progress=self.verbose or sys.stderr.isatty(), messages=self.verbose,
        )  # fmt: skip
        found = train_encoder(samples, self.out, how)
        held = count(found["samples"], "sample")
        note(f"best of {count(found['epochs'], 'epoch')}: macro-F1 {found['macro_f1']:.3f} on {held} held out")
        return FILE, EncoderEvaluator(str(self.out)).signature()

    def show(self, result: EvaluatorTrained) -> None:
        """Where it is, and what was rejected."""
        show_lines(f"evaluator of {count(result.samples.total(), 'sample')}: signature {result.signature}")
        show_lines(counted(dict(result.samples.most_common())))
        kind = "trained" if self.encoder is None else "encoder"
        show_lines(Verbatim(f"granola attribution evaluate SAMPLES --evaluator {kind}={self.out}"))
        report_rejects(str(self.samples[0]), result.rejected)


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
