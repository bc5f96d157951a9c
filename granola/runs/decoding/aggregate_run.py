"""`granola aggregate`: samples in, predictions out; only DRAG asks a model."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.decoding.decision import Abstaining
from granola.decoding.self_consistency import Counting
from granola.runs.decoding.decoding_settings import (
    PROMPTS_HELP,
    AbstainingRule,
    AggregatorModel,
    CountedAs,
    ResponseLanguage,
    Support,
)
from granola.runs.phrasing_settings import ANSWERS_SUFFIX
from granola.runs.rows_output import RowsOutput, RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import CsvRaw, Force, Limit, Linker, LinkerName, Out, Samples

if TYPE_CHECKING:
    from granola.decoding import Decision, SampleRow
    from granola.decoding.response_aggregation import Method
    from kg.store.protocol import Store


class AggregateMethod(StrEnum):
    """What `--method` takes."""

    DRAG_GRAPH = "drag-graph"
    SELF_CONSISTENCY = "self-consistency"
    DRAG = "drag"


@dataclass(frozen=True, kw_only=True)
class AggregateRun(Run):
    """Make one answer of several responses to each question, with its support, confidence and an explanation.

    Fields that mean nothing here stay in the rows. Bad rows are listed in OUT.rejects.jsonl, and the exit status is 1.
    """

    verb: ClassVar[str] = "aggregate"

    samples: Samples
    out: Out
    method: Annotated[AggregateMethod, Setting("How one answer is made of several.")] = AggregateMethod.DRAG_GRAPH
    snapshot: Annotated[
        str | None,
        Setting("The snapshot to link responses to: a file, or bolt://HOST:PORT. Counting words needs none."),
    ] = None
    support: Support = None
    counting: CountedAs = Counting.TEXT
    abstaining: AbstainingRule = None
    aggregator: AggregatorModel = None
    prompts: Annotated[str | None, Setting(f"drag: {PROMPTS_HELP}", metavar="SET|FOLDER")] = None
    answers: Annotated[
        Path | None,
        Setting(
            f"drag: where the model's answers are kept (default: OUT{ANSWERS_SUFFIX}).", metavar="FILE", recorded=False
        ),
    ] = None
    language: ResponseLanguage = "en"
    linker: Linker = LinkerName.QUESTION
    limit: Limit = None
    force: Force = False
    csv_raw: CsvRaw = False

    def run(self) -> RowsWritten:
        """Write the predictions. Raises UsageError for settings that do not go together."""
        from granola.decoding.methods import needs_snapshot, rule_of, usual_abstaining
        from granola.errors import UsageError
        from granola.runs.outputs import check_language, count, warn_of_language
        from kg.store import open_store

        check_language(self.language)
        rule = rule_of(self.method, support=self.support, counting=self.counting, abstaining=self.abstaining)
        abstaining = getattr(rule, "abstaining", None) or self.abstaining or usual_abstaining(self.method)
        if (self.aggregator is None) != (self.method is not AggregateMethod.DRAG):
            raise UsageError("--method drag asks a model: give it as --aggregator MODEL, which no other method takes")
        if self.snapshot is None and needs_snapshot(rule):
            raise UsageError("responses are linked to a snapshot: give --snapshot, or --method self-consistency alone")
        inputs = [self.samples, self.snapshot]
        gc.set_threshold(100_000, 20, 100)  # what is read of a snapshot stays: looking it through takes a tenth of it
        with rows_output(self, self.out, inputs=inputs, force=self.force, csv_raw=self.csv_raw) as output:
            with ExitStack() as stack:
                store = None if self.snapshot is None else stack.enter_context(closing(open_store(self.snapshot)))
                if store is not None:
                    warn_of_language(self.language, store)
                output.write(self._predictions(output, stack, store, rule, abstaining))
                snapshot = {} if store is None else {"snapshot": store.manifest()["snapshot_id"]}
            output.more |= {"outcomes": dict(output.counts), "rejected": len(output.rejected), **snapshot}
        total = count(output.counts.total(), "question")
        line = f"{total}: {output.counts['answered']:,} answered, {output.counts['IDK']:,} IDK"
        support = getattr(rule, "support", None)
        return output.ended(line, source=self.samples, support=support, abstaining=abstaining)

    def _predictions(
        self, output: RowsOutput, stack: ExitStack, store: Store | None, rule: Method | None, abstaining: Abstaining
    ) -> Iterator[dict[str, Any]]:
        from abstraction.faults import Fault, attempt
        from granola.decoding import Aggregator, prediction_row, read_samples

        reject = output.rejected.append
        rows = read_samples(self.samples, on_reject=reject, limit=self.limit)
        if rule is None:
            decided = self._by_model(rows, output, stack, abstaining)
        else:
            linked = Aggregator(store, language=self.language, linker=self.linker)
            decided = linked.decide(rows, rule, on_reject=reject)
        for row, decision in decided:
            output.taken.take(row.source, row.id, row.question)
            prediction = attempt("writing", prediction_row, row, decision, method=self.method)
            if isinstance(prediction, Fault):
                output.taken.unwritten(prediction)
                continue
            output.counts["IDK" if decision.abstains else "answered"] += 1
            yield prediction

    def _by_model(
        self, rows: Iterable[SampleRow], output: RowsOutput, stack: ExitStack, abstaining: Abstaining
    ) -> Iterator[tuple[SampleRow, Decision]]:
        from abstraction.rows import RejectedRow
        from granola.decoding.answer_prompts import read_prompts
        from granola.decoding.methods import Answering
        from granola.decoding.model_answers import Answered, Answerer, AnswerSettings
        from granola.runs.phrasing_settings import opened

        assert self.aggregator is not None  # `run` has looked
        model = stack.enter_context(opened(self.aggregator, output.beside, self.answers, output.inputs))
        asking = AnswerSettings(method=Answering.DRAG, abstaining=abstaining)
        answerer = Answerer(model, asking, read_prompts(self.prompts), language=self.language)
        output.more |= answerer.settings
        for answer in answerer.aggregate(rows):
            if isinstance(answer, Answered):
                yield answer.row, answer.decision
            else:
                reason = f"{answer.reason}: {answer.message}"
                output.rejected.append(
                    RejectedRow(source=answer.row.source, reason=reason, excerpt=answer.row.question)
                )  # fmt: skip
