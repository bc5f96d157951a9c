"""`granola attribution build`: a benchmark of evidence and answers, made from a snapshot."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.attribution.benchmark_building import CategoryShares, CitedTogether
from granola.attribution.query_extension import AnswerEdge, HeadEntity, Impossible
from granola.errors import UsageError
from granola.runs.outputs import count, note
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson
from granola.terminal_lines import TextTable, counted, show_lines
from kg.files import resolved
from kg.queries.logical_query import Shape

if TYPE_CHECKING:
    from granola.attribution.attribution_samples import AttributionSample
    from granola.attribution.benchmark_building import SampleMaker, SourcedQuery
    from granola.attribution.question_sources import QuestionSources
    from kg.queries import StoreFacts


class BenchmarkFormat(StrEnum):
    """What `--format` takes."""

    JSONL = "jsonl"
    PARQUET = "parquet"


@dataclass(frozen=True, kw_only=True)
class AttributionBuildRun(Run):
    """Build a benchmark that tells whether evidence supports an answer, from WikiData alone.

    Each query is grounded in the snapshot, made more complex, and its facts edited so that they support the answer,
    lack a part of it, contradict it or miss it; every label is proved by running the query on both.
    The folder is loaded with datasets.load_dataset(OUT).
    """

    verb: ClassVar[str] = "attribution build"

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
    extend: Annotated[bool, Setting("Make queries more complex first.", flag="--extend/--no-extend")] = True
    test_share: Annotated[float, Setting("Share of the samples for testing.", least=0, most=1)] = 0.15
    format: Annotated[BenchmarkFormat, Setting("The format of the samples.")] = BenchmarkFormat.JSONL
    together: Annotated[CitedTogether, Setting("What a citation states: one fact, or all of a branch.")] = (
        CitedTogether.FACT
    )
    most_answers: Annotated[int, Setting("Queries with more answers are left out.", least=1, most=20)] = 3
    answer_edge: Annotated[
        AnswerEdge, Setting("A triple added at the answer enters it (the paper's rule) or leaves it (its examples).")
    ] = AnswerEdge.ENTERS
    head: Annotated[HeadEntity, Setting("Whether a question still names the entity that a new head leads to.")] = (
        HeadEntity.NAMED
    )
    impossible: Annotated[Impossible, Setting("What becomes of a query that cannot be extended as was drawn.")] = (
        Impossible.UNCHANGED
    )
    hub: Annotated[int, Setting("A value that more entities have is no answer.", least=1)] = 500
    flattening: Annotated[
        float, Setting("A relation is drawn by its frequency to this power; 1: the frequency.", least=0, most=1)
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
        Setting("A folder with prompts of your own: citation, question, statement, again, each .txt; not all of them."),
    ] = None
    answers: Annotated[
        Path | None, Setting("Keep the model's answers here; by default beside --out.", recorded=False)
    ] = None
    force: Annotated[bool, Setting("Replace a benchmark that was built here before.", recorded=False)] = False
    as_json: AsJson = False

    def run(self) -> BenchmarkBuilt:
        """Build it. Raises UsageError where no sample can be made."""
        from abstraction.datasets.building import check_place
        from granola import __version__
        from granola.attribution.benchmark_folder import Benchmark
        from granola.attribution.subject_split import split
        from kg.queries import StoreFacts
        from kg.store import is_address, open_store

        for path in self.questions:
            if not path.exists():
                raise FileNotFoundError(2, "no such file", str(path))
        beside = [] if is_address(self.snapshot) else [Path(self.snapshot)]
        check_place(self.out, [*self.questions, *beside], force=self.force)
        self.out.absolute().parent.mkdir(parents=True, exist_ok=True)
        with closing(open_store(self.snapshot)) as store, _uncollected():
            facts = StoreFacts(store)
            rejected: list[Any] = []
            sources = self._sources(rejected)
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
        return BenchmarkBuilt(settings=self, maker=maker, statistics=statistics, torn=benchmark.split.torn,
            worded=worded, sources=sources)  # fmt: skip

    def _worded(self, samples: list[AttributionSample]) -> tuple[list[AttributionSample], str, dict[str, int]]:
        """The samples in a model's words where one is named; what the card says of it; how many texts it worded."""
        if self.words is None:
            return samples, "All texts are made by templates; no model took part.", {}
        from granola.attribution.model_wording import ModelWording, read_wording_prompts
        from granola.commands.models import opened

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

    def _sources(self, rejected: list[Any]) -> QuestionSources:
        from granola.attribution.question_sources import QuestionSources

        return QuestionSources(list(self.questions), on_reject=rejected.append)

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
class BenchmarkBuilt:
    """A benchmark that was built."""

    settings: AttributionBuildRun
    maker: SampleMaker
    statistics: Mapping[str, Any]
    torn: int
    worded: Mapping[str, int]
    sources: QuestionSources

    @property
    def failed(self) -> bool:
        """Whether rows of the sources are damaged; those of shapes that are not read are no failure."""
        return self.sources.reasons["damaged row"] > 0

    def show(self) -> None:
        """Samples by category and complexity, and what was left out."""
        from granola.runs.outputs import print_json

        counts = self.maker.counts
        if self.settings.as_json:
            built = {
                **counts.to_json(),
                "unread": dict(self.sources.reasons),
                "torn": self.torn,
                "worded": dict(self.worded),
            }
            print_json({"built": built, "statistics": self.statistics}, indent=1)
            return
        sides = self.statistics["counts"]
        rows = [(key, *(f"{side[key]:,}" for side in sides.values())) for key in next(iter(sides.values()))]
        show_lines(TextTable(head=("", *map(str, sides)), rows=rows), "")
        for title, reasons in (
            ("queries left out", counts.left_out), ("samples dropped", counts.dropped),
            ("rows of other shapes", self.sources.reasons),
        ):  # fmt: skip
            if reasons:
                show_lines(f"{title}:", counted(reasons))
        show_lines(counted(self.worded), counted({"samples with entities of both sides of the split": self.torn}))
        show_lines("", str(self.settings.out))
        if self.failed:
            note(f"{count(self.sources.reasons['damaged row'], 'row')} rejected; see rejected.jsonl there")
