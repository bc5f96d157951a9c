"""`granola attribution`: build and audit benchmarks of evidence for answers; train and score evaluators."""

from __future__ import annotations

import gc
import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation
from typing import TYPE_CHECKING, Annotated, Any, Literal

from abstraction.base.faults import RejectedRow
from abstraction.files.writing import check_kind, write_records
from granola import __version__
from granola.base.run_record import write_run_record
from granola.base.settings import Setting, command_line
from granola.base.terminal_lines import TextTable, Verbatim, count_table, show_lines
from granola.commands.command import Command
from granola.commands.item_scores import VerdictsReport
from granola.commands.messages import count, note, report_rejects
from granola.commands.output import lock_output, open_model, writing
from granola.errors import UsageError
from granola.scoring.shared_settings import Force, Resamples
from kg.base.files import resolve_symlinks
from kg.graph.logical_query import StoreFacts
from kg.store import is_address, open_store

if TYPE_CHECKING:
    from granola.evidence.attribution.attribution_task import AttributionSample
    from granola.evidence.attribution.evaluators import EvaluatorOpener

Seed = Annotated[int, Setting("Seed of everything that is drawn.", least=0)]
TEST_SHARE = 0.15  # share of the samples in the test set, as in the paper (Table 4)
PRINTED = "beside the paper's evaluators: write --out FILE, then granola verdicts FILE --table caqa-5 --printed"


@dataclass(frozen=True, kw_only=True)
class AttributionEvaluate(Command["VerdictsReport"]):
    """Score evaluators on labelled samples: F1 by category and complexity, intervals, paired tests.

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
    premise: Annotated[
        Literal["evidence", "statement"], Setting("What an entailment model takes as its premise.", advanced=True)
    ] = "evidence"
    facts: Annotated[
        bool, Setting("Also ask for each fact of partially supportive samples: the FActScore of each evaluator.")
    ] = False
    people: Annotated[
        tuple[Path, ...],
        Setting("Labels by people, as `granola sheets read` wrote them: where all agree, scores by them too.",
                advanced=True),
    ] = ()  # fmt: skip
    prompts: Annotated[Path | None, Setting("A folder with prompts of your own.", advanced=True)] = None
    out: Annotated[Path | None, Setting("Write every judgement to this file, as JSONL.")] = None
    resamples: Resamples = 1_000
    seed: Annotated[int, Setting("Seed of draws and resamples.", least=0, advanced=True)] = 0
    force: Force = False

    def run(self) -> VerdictsReport:
        """Judge the samples and score the verdicts. Raises UsageError for contradictory settings."""
        from granola.evidence.attribution.evaluators import EvaluatorOpener, PremiseIs

        opener = EvaluatorOpener(
            examples=self.examples, shots=self.shots, seed=self.seed, premise=PremiseIs(self.premise),
            prompts=self.prompts, chat=lambda spec: open_model(spec, self.out, [self.samples]),
        )  # fmt: skip
        # Before any work: an unknown evaluator must not appear after an hour of another.
        opener.check_specs(self.evaluator)
        if not self.evaluator:
            raise UsageError("name an --evaluator, as graph=snapshot.sqlite; see --help")
        with writing(self.out, inputs=[self.samples], force=self.force):
            if self.out is not None:
                check_kind(self.out, "jsonl")
            rejected: list[RejectedRow] = []
            samples = _read_labelled_samples([self.samples], rejected)
            if self.limit is not None and self.limit < len(samples):
                # Sorted: the drawn samples keep the order of the file.
                drawn = sorted(random.Random(f"evaluate {self.seed}").sample(range(len(samples)), self.limit))
                samples = [samples[at] for at in drawn]
            rows, signatures = self._judge_samples(opener, samples, _read_unanimous_labels(self.people, rejected))
            told = self._score_verdicts(rows, signatures, rejected)
            if self.out is not None:
                write_records(rows, self.out, format="jsonl")
                write_run_record(
                    self.out, command=self.verb, arguments=self.arguments(), inputs=[self.samples],
                    more={"signature": told.signature},
                )  # fmt: skip
        return told

    def _judge_samples(
        self, opener: EvaluatorOpener, samples: Sequence[AttributionSample], people: Mapping[str, str]
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """Return (verdict rows of every evaluator and sample, signatures of evaluators)."""
        from granola.evidence.attribution.attribution_task import Category, verdict_row

        # FActScore is defined on these alone.
        partial = [sample for sample in samples if sample.category is Category.PARTIAL]
        kinds = [spec.partition("=")[0] for spec in self.evaluator]
        rows: list[dict[str, Any]] = []
        signatures: list[str] = []
        for spec, kind in zip(self.evaluator, kinds, strict=True):
            # The kind alone is shorter; two evaluators of a kind need the whole word.
            name = kind if kinds.count(kind) == 1 else spec
            with ExitStack() as stack:
                evaluator = opener.open(spec, stack)
                judgements = list(evaluator.judge(samples))
                # Verdicts per fact cost further calls, so they are made with --facts alone.
                asked = zip(partial, evaluator.fact_verdicts(partial), strict=True) if self.facts else ()
                facts_of = {sample.id: facts for sample, facts in asked}
                signatures.append(evaluator.signature())
            # Only then is an unreadable reply no wrong category.
            two_way = not any(judged.category for judged in judgements)
            for sample, judged in zip(samples, judgements, strict=True):
                more = {"people_category": people[sample.id]} if sample.id in people else {}
                facts = facts_of.get(sample.id, ())
                rows.append(verdict_row(name, sample, judged, facts, two_way=two_way, **more))
        return rows, signatures

    def _score_verdicts(
        self, rows: Sequence[dict[str, Any]], signatures: Sequence[str], rejected: list[RejectedRow]
    ) -> VerdictsReport:
        from granola.evidence.attribution.attribution_task import BY_PEOPLE
        from granola.evidence.evidence_task import EstimateSettings
        from granola.evidence.verdict_rows import VerdictRows

        given = VerdictRows.of(rows, EstimateSettings(resamples=self.resamples, seed=self.seed))
        report = given.scores_by_system()
        four = [own for own in report.values() if "micro-F1" in own]
        points = [(own["micro-F1"].value, own[BY_PEOPLE].value) for own in four if BY_PEOPLE in own]
        # The tables of the paper are four-way.
        notes = [PRINTED] if four else []
        # A correlation needs three points and variation on both axes.
        if len({one for one, _ in points}) > 1 < len({one for _, one in points}) and len(points) > 2:
            r = correlation(*zip(*points, strict=True))
            notes.append(f"Pearson's r of micro-F1 by automatic and by people's labels: {r:.3f} (paper: 0.97)")
        # Evaluators without categories tell only supported from unsupported.
        scores = ("micro-F1", *(("two-way micro-F1",) if len(four) < len(report) else ()))
        return VerdictsReport(
            signature="|".join([f"n:{len(rows)}", str(given.settings), *(f"judge:[{one}]" for one in signatures)]),
            report=report, notes=notes, rejected=rejected, files=[self.out] if self.out is not None else [],
            tests=[test for score in scores for test in given.paired_tests(score)],
        )  # fmt: skip

    def show(self, result: VerdictsReport) -> None:
        """Print scores and tests."""
        show_lines(*result.parts())

    def report_problems(self, result: VerdictsReport) -> None:
        """The rejected rows."""
        report_rejects(str(self.samples), result.rejected)


def _read_sample_files(paths: Sequence[Path], rejected: list[RejectedRow]) -> Iterator[AttributionSample]:
    from granola.evidence.attribution.attribution_task import read_samples

    return (sample for path in paths for sample in read_samples(path, on_reject=rejected.append))


def _read_labelled_samples(paths: Sequence[Path], rejected: list[RejectedRow]) -> list[AttributionSample]:
    """Read the samples that have a category or label. Raises UsageError where there is none."""
    samples = [sample for sample in _read_sample_files(paths, rejected) if sample.supported is not None]
    if not samples:
        report_rejects(str(paths[0]), rejected)
        raise UsageError(f"{paths[0]}: no sample with a category or label")
    return samples


def _read_unanimous_labels(paths: Sequence[Path], rejected: list[RejectedRow]) -> dict[str, str]:
    """Read the category of each sample on which all people agree, by sample id; "unclear" is ignored."""
    from granola.evidence.verdict_rows import read_verdicts

    labels: dict[str, set[str | None]] = {}
    for row in read_verdicts(paths, on_reject=rejected.append) if paths else ():
        # A set: more than one element means that people disagree.
        labels.setdefault(row["id"], set()).add(row.get("category"))
    return {key: category for key, own in labels.items() if len(own) == 1 for category in own if category is not None}


@dataclass(frozen=True, kw_only=True)
class AttributionBuild(Command[Mapping[str, Any]]):
    """Build a benchmark of evidence that supports answers or fails to, from WikiData alone.

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
    mined: Annotated[
        int,
        Setting("Queries to mine from the snapshot: half of them single triples, a third paths, then trees, unions.",
                least=0),
    ] = 32_000  # fmt: skip
    seed: Seed = 0
    shares: Annotated[
        Literal["paper", "all"],
        Setting("How often each category: as in the paper's Table 4, or every query in all of them."),
    ] = "paper"
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
            "back: local:FOLDER.",
            metavar="TEXT_MODEL",
            advanced=True,
        ),
    ] = None
    force: Force = False

    def run(self) -> Mapping[str, Any]:
        """Build the benchmark and return counts of queries and samples by outcome, statistics, and the number of
        damaged rows.

        Raises UsageError where no sample can be made.
        """
        from abstraction.datasets.building import check_output_folder
        from granola.evidence.attribution.benchmark_building import (
            CategoryShares,
            SampleMaker,
            split_by_subject,
            subset_in_paper_shares,
            write_benchmark,
        )
        from granola.evidence.attribution.sample_queries import DAMAGED, mined_queries, read_queries

        # A database has no file that the output could overwrite.
        beside = [] if is_address(self.snapshot) else [Path(self.snapshot)]
        check_output_folder(self.out, [*self.questions, *beside], force=self.force)
        self.out.absolute().parent.mkdir(parents=True, exist_ok=True)
        with lock_output(self.out), closing(open_store(self.snapshot)) as store, ExitStack() as stack:
            # There are no cycles, and with a million statements looking for them takes a third of the time.
            stack.callback(gc.enable)
            gc.disable()
            facts = StoreFacts(store)
            rejected: list[RejectedRow] = []
            unread = Counter[str]()
            given = read_queries(self.questions, unread, rejected.append)
            # Mining reads the whole snapshot, whatever the number.
            mined = mined_queries(facts, self.mined, seed=self.seed) if self.mined else ()
            maker = SampleMaker(facts, seed=self.seed, shares=CategoryShares(self.shares))
            samples = list(maker.samples(itertools.chain(given, mined)))
            if not samples:
                reasons = [f"{reason} ({n:,})" for reason, n in maker.counts.most_common() if ": " in reason]
                why = f"{rejected[0].source}: {rejected[0].reason}" if rejected else "; ".join(reasons[:2])
                raise UsageError(f"no sample can be made: {why or 'there is no query'}")
            # Every row that made no sample is counted with its reason.
            built = maker.counts + Counter({f"row not read: {reason}": n for reason, n in unread.items()})
            chosen = subset_in_paper_shares(samples, seed=self.seed) if self.shares == "paper" else samples
            built["sample left out: more of its kind than the paper's shares"] = len(samples) - len(chosen)
            # After the selection, so that no call is spent on samples that are dropped.
            chosen, wording = self._reword_with_note(chosen, built)
            made = {
                "Snapshot": str(store.manifest()["snapshot_id"]),
                "Command": command_line(self.verb, self),
                "Version": f"granola-ladders {__version__}",
            }
            statistics = write_benchmark(
                resolve_symlinks(self.out), split_by_subject(chosen, test=TEST_SHARE, seed=self.seed), facts=facts,
                outcomes=built, origin=made, wording=wording, rejected=rejected,
            )  # fmt: skip
        return {"built": built, "statistics": statistics, "damaged": unread[DAMAGED]}

    def failed(self, result: Mapping[str, Any]) -> bool:
        """Whether source rows are damaged; rows with unsupported queries are no failure."""
        return bool(result["damaged"])

    def show(self, result: Mapping[str, Any]) -> None:
        """Print samples by category and complexity, and counts of skipped ones."""
        sides = result["statistics"]["counts"]
        rows = [(key, *(f"{side[key]:,}" for side in sides.values())) for key in next(iter(sides.values()))]
        table = TextTable(head=("", *map(str, sides)), rows=rows)
        show_lines(table, "", count_table(result["built"]), "", str(self.out))

    def report_problems(self, result: Mapping[str, Any]) -> None:
        """Report damaged source rows."""
        if damaged := result["damaged"]:
            note(f"{count(damaged, 'row')} rejected; see rejected.jsonl there")

    def _reword_with_note(
        self, samples: list[AttributionSample], built: Counter[str]
    ) -> tuple[list[AttributionSample], str]:
        """Return (samples, reworded if a model is given; a sentence about the rewording for the card)."""
        from abstraction.models.spec import open_entailment
        from granola.evidence.attribution.sample_texts import ModelWording

        if self.words is None:
            if self.entailment is not None:
                raise UsageError("--entailment judges what --words MODEL writes, which is not given")
            return samples, "All texts are made by templates; no model took part."
        with open_model(self.words, f"{self.out}.words", [*self.questions, self.snapshot]) as model:
            judge = None if self.entailment is None else open_entailment(self.entailment)
            wording = ModelWording(model=model, entailment=judge)
            worded = list(wording.reword(samples))
        built.update(wording.counts)
        called = model.identity.get("model") or model.identity.get("kind")
        return worded, (
            f"Texts are in the words of a model ({called}, prompts {wording.fingerprint}) where they name their facts "
            "and nothing else, and of templates elsewhere."
        )


@dataclass(frozen=True, kw_only=True)
class AttributionAudit(Command[Mapping[str, Any]]):
    """Check whether citations and questions cover their facts, by the names in them.

    Each text covers its facts fully, misses one of them (absent), or has a name that is in none (hallucinated). People
    mark the same on a sheet: `granola sheets draw --texts`.
    """

    files: Annotated[tuple[Path, ...], Setting("Files of samples.", metavar="FILE...", positional=True)]

    def run(self) -> Mapping[str, Any]:
        """Count the texts by kind and label. Raises UsageError where no sample has facts."""
        from granola.evidence.attribution.sample_texts import COVERAGE, coverage_sheet_items

        rejected: list[RejectedRow] = []
        counts: dict[str, Counter[str]] = {"citation": Counter(), "question": Counter()}
        for item in coverage_sheet_items(_read_sample_files(self.files, rejected)):
            counts[item["kind"]][item[COVERAGE.field]] += 1
        if not any(counts.values()):
            raise UsageError(f"{self.files[0]}: no sample with facts in it; name a file of granola attribution build")
        return {**counts, "rejected": rejected}

    def show(self, result: Mapping[str, Any]) -> None:
        """Print the shares of labels."""
        for kind in ("citation", "question"):
            own: Counter[str] = result[kind]
            rows = [(f"{n:>8,}", f"{n / own.total():.1%}", label) for label, n in own.most_common()]
            title = f"{count(own.total(), kind)}, by an automatic check of names:"
            show_lines(title, TextTable(rows=rows, words=(2,)))


@dataclass(frozen=True, kw_only=True)
class AttributionTrain(Command[Mapping[str, Any]]):
    """Train an evaluator on samples that people marked, or on a benchmark's: forests on what the citations repeat.

    Read as they are: AttributionBench, FactcheckGPT's stances, and samples of ours. The folder is named with
    --evaluator of `granola attribution evaluate`, as trained=FOLDER.
    """

    samples: Annotated[
        tuple[Path, ...], Setting("Samples to train on; several files together.", metavar="SAMPLES...", positional=True)
    ]
    out: Annotated[Path, Setting("The folder to write the evaluator to.")]
    entailment: Annotated[
        str | None,
        Setting("A model of entailment whose three probabilities are features, too: local:FOLDER.",
                metavar="TEXT_MODEL"),
    ] = None  # fmt: skip
    seed: Seed = 0
    force: Force = False

    def run(self) -> Mapping[str, Any]:
        """Train the evaluator; return the number of samples by source, its signature, and rejected rows. Raises
        UsageError.
        """
        from granola.evidence.attribution.trained_evaluator import FILE, TrainedEvaluator

        rejected: list[RejectedRow] = []
        with writing(self.out / FILE, inputs=self.samples, force=self.force):
            samples = _read_labelled_samples(self.samples, rejected)
            evaluator = TrainedEvaluator.train(samples, seed=self.seed, entailment=self.entailment)
            evaluator.save(self.out)
            write_run_record(
                self.out / FILE, command=self.verb, arguments=self.arguments(), inputs=self.samples,
                more={"signature": evaluator.signature()},
            )  # fmt: skip
        sources = Counter(str(sample.provenance.get("source") or "no source") for sample in samples)
        return {"samples": sources, "signature": evaluator.signature(), "rejected": rejected}

    def show(self, result: Mapping[str, Any]) -> None:
        """Print the training samples, and the command to use the evaluator."""
        sources: Counter[str] = result["samples"]
        head = f"evaluator of {count(sources.total(), 'sample')}: signature {result['signature']}"
        command = Verbatim(f"granola attribution evaluate SAMPLES --evaluator trained={self.out}")
        show_lines(head, count_table(dict(sources.most_common())), command)
