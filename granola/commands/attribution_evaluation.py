"""`granola attribution evaluate`: score evaluators on labelled samples."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation
from typing import TYPE_CHECKING, Annotated, Any

from abstraction.files.writing import check_kind
from granola.base.run_record import write_run_record
from granola.base.settings import Setting
from granola.base.terminal_lines import show_lines
from granola.commands.command import Command
from granola.commands.item_scores import VerdictsReport
from granola.commands.messages import report_rejects
from granola.commands.models import open_model
from granola.commands.output import writing
from granola.errors import UsageError
from granola.evidence.attribution.entailment_evaluators import PremiseIs
from granola.scoring.shared_settings import Force, Resamples

if TYPE_CHECKING:
    from abstraction.base.faults import RejectedRow
    from granola.evidence.attribution.attribution_samples import AttributionSample
    from granola.evidence.attribution.evaluator_words import EvaluatorWords

PRINTED = "beside the paper's evaluators: write --out FILE, then granola verdicts FILE --table caqa-5 --printed"


@dataclass(frozen=True, kw_only=True)
class AttributionEvaluate(Command[VerdictsReport]):
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
    premise: Annotated[PremiseIs, Setting("What an entailment model takes as its premise.", advanced=True)] = (
        PremiseIs.EVIDENCE
    )
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
        """Judge and score. Raises UsageError for settings that do not go together."""
        from abstraction.files.writing import write_records
        from granola.evidence.attribution.evaluator_words import EvaluatorWords

        words = EvaluatorWords(
            examples=self.examples, shots=self.shots, seed=self.seed, premise=self.premise, prompts=self.prompts,
            chat=lambda word: open_model(word, self.out, [self.samples]),
        )  # fmt: skip
        # Before any work: an unknown evaluator must not appear after an hour of another.
        words.check(self.evaluator)
        if not self.evaluator:
            raise UsageError("name an --evaluator, as graph=snapshot.sqlite; see --help")
        with writing(self.out, inputs=[self.samples], force=self.force):
            if self.out is not None:
                check_kind(self.out, "jsonl")
            rejected: list[RejectedRow] = []
            rows, signatures = self._judge(words, self._samples(rejected))
            told = self._score(rows, signatures, rejected)
            if self.out is not None:
                more = {"signature": told.signature}
                write_records(rows, self.out, format="jsonl")
                write_run_record(
                    self.out, command=self.verb, arguments=self.arguments(), inputs=[self.samples], more=more
                )
        return told

    def _judge(
        self, words: EvaluatorWords, samples: Sequence[AttributionSample]
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """The rows of every evaluator and sample, and the signatures of evaluators."""
        from granola.evidence.attribution.categories import Category
        from granola.evidence.attribution.evaluation import verdict_row
        from granola.evidence.attribution.evaluators import fact_verdicts

        # FActScore is defined on these alone.
        partial = [sample for sample in samples if sample.category is Category.PARTIAL]
        people = _unanimous_labels(self.people) if self.people else {}
        kinds = [word.partition("=")[0] for word in self.evaluator]
        rows: list[dict[str, Any]] = []
        signatures: list[str] = []
        for word, kind in zip(self.evaluator, kinds, strict=True):
            # The kind alone is shorter; two evaluators of a kind need the whole word.
            name = kind if kinds.count(kind) == 1 else word
            with ExitStack() as stack:
                evaluator = words.open(word, stack)
                judgements = list(evaluator.judge(samples))
                asked = zip(partial, fact_verdicts(evaluator, partial), strict=True) if self.facts else ()
                facts_of = {sample.id: facts for sample, facts in asked}
                signatures.append(evaluator.signature())
            for sample, judged in zip(samples, judgements, strict=True):
                row = verdict_row(name, sample, judged, facts_of.get(sample.id, ()))
                rows.append({**row, "people_category": people[sample.id]} if sample.id in people else row)
        return rows, signatures

    def _score(
        self, rows: Sequence[dict[str, Any]], signatures: Sequence[str], rejected: list[RejectedRow]
    ) -> VerdictsReport:
        from granola.evidence.attribution.evaluation import BY_PEOPLE
        from granola.evidence.evidence_task import Forming
        from granola.evidence.verdict_rows import VerdictRows

        given = VerdictRows.of(rows, Forming(resamples=self.resamples, seed=self.seed))
        report = given.report()
        four = [own for own in report.values() if "micro-F1" in own]
        points = [(own["micro-F1"].value, own[BY_PEOPLE].value) for own in four if BY_PEOPLE in own]
        # The tables of the paper are four-way.
        notes = [PRINTED] if four else []
        # A correlation needs three points and variation on both axes.
        if len({one for one, _ in points}) > 1 < len({one for _, one in points}) and len(points) > 2:
            r = correlation(*zip(*points, strict=True))
            notes.append(f"Pearson's r of micro-F1 by automatic and by people's labels: {r:.3f} (paper: 0.97)")
        return VerdictsReport(
            signature="|".join([f"n:{len(rows)}", str(given.forming), *(f"judge:[{one}]" for one in signatures)]),
            report=report, notes=notes, rejected=rejected, files=[self.out] if self.out is not None else [],
            tests=[*given.tests("micro-F1"), *(given.tests("two-way micro-F1") if len(four) < len(report) else ())],
        )  # fmt: skip

    def show(self, result: VerdictsReport) -> None:
        """Print scores and tests."""
        show_lines(*result.parts())

    def report_problems(self, result: VerdictsReport) -> None:
        """The rejected rows."""
        report_rejects(str(self.samples), result.rejected)

    def _samples(self, rejected: list[RejectedRow]) -> list[AttributionSample]:
        from granola.evidence.attribution.attribution_samples import read_any_samples

        read = read_any_samples(self.samples, on_reject=rejected.append)
        samples = [sample for sample in read if sample.supported is not None]
        if self.limit is not None and self.limit < len(samples):
            # Sorted: the drawn samples keep the order of the file.
            drawn = sorted(random.Random(f"evaluate {self.seed}").sample(range(len(samples)), self.limit))
            samples = [samples[at] for at in drawn]
        if not samples:
            report_rejects(str(self.samples), rejected)
            raise UsageError(f"{self.samples}: no sample with a category or label")
        return samples


def _unanimous_labels(paths: Sequence[Path]) -> dict[str, str]:
    """The category of each sample on which all people agree; "unclear" is ignored."""
    from abstraction.base.faults import RejectedRow
    from abstraction.files.records import read_records

    labels: dict[str, set[str]] = {}
    for record in itertools.chain.from_iterable(map(read_records, paths)):
        if isinstance(record, RejectedRow) or not isinstance(record.data.get("id"), str):
            raise UsageError(f"{record.source}: no label of a person; expected rows that granola sheets read wrote")
        # A set: more than one element means that people disagree.
        labels.setdefault(record.data["id"], set()).add(str(record.data.get("category")))
    return {key: next(iter(own)) for key, own in labels.items() if len(own) == 1 and own != {"None"}}
