"""`granola derive targets`: samples in, training data for granularity out, as TRL reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.decoding.decision import Abstaining
from granola.decoding.drag_graph import SUPPORT, DragGraph
from granola.runs.decoding.decoding_settings import AbstainingRule, LinkedTo, PromptSet, Support
from granola.runs.rows_output import RowsOutput, RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import CsvRaw, Force, Language, Limit, Linker, LinkerName, Out, Samples

if TYPE_CHECKING:
    from abstraction.models.prompts import Prompt
    from kg.store.protocol import Store

UNKNOWN = "I don't know."


class TargetKind(StrEnum):
    """What `--kind` takes."""

    SUPERVISED = "supervised"
    PREFERENCES = "preferences"


class TargetPrompt(StrEnum):
    """What `--prompt` takes."""

    QUESTION = "question"
    ANSWER = "answer"
    IDK = "idk"
    IDK_IF_UNCERTAIN = "idk_if_uncertain"
    AGG = "agg"


@dataclass(frozen=True, kw_only=True)
class TargetsRun(Run):
    """Make training data of a model's own samples: the finest answer that enough of them support, and pairs around it.

    Bad rows are listed in OUT.rejects.jsonl, and the exit status is 1.
    """

    verb: ClassVar[str] = "derive targets"

    samples: Samples
    out: Out
    snapshot: LinkedTo
    kind: Annotated[
        TargetKind, Setting("supervised: prompt and completion; preferences: prompt, chosen and rejected.")
    ] = TargetKind.SUPERVISED
    support: Support = None
    abstaining: AbstainingRule = None
    prompt: Annotated[
        TargetPrompt, Setting("The prompt of the rows: the question alone, or as `granola answer` asks it.")
    ] = TargetPrompt.QUESTION
    prompts: PromptSet = None
    unknown: Annotated[str, Setting("What the model should say if too few samples agree on anything.")] = UNKNOWN
    most: Annotated[
        int, Setting("The most pairs of a question with answers that claim too much, or too little.", least=1)
    ] = 2
    language: Language = "en"
    linker: Linker = LinkerName.QUESTION
    limit: Limit = None
    force: Force = False
    csv_raw: CsvRaw = False

    def run(self) -> RowsWritten:
        """Write the training rows."""
        from granola.decoding.answer_prompts import read_prompts
        from granola.errors import UsageError
        from granola.runs.outputs import check_language, count, warn_of_language
        from kg.store import open_store

        check_language(self.language)
        if not self.unknown.strip():
            raise UsageError("--unknown is empty; give what the model shall say")
        rule = DragGraph(
            support=SUPPORT if self.support is None else self.support, abstaining=self.abstaining or Abstaining.MAJORITY
        )
        texts = read_prompts(self.prompts)
        inputs = [self.samples, self.snapshot]
        with (
            rows_output(self, self.out, inputs=inputs, force=self.force, csv_raw=self.csv_raw) as output,
            closing(open_store(self.snapshot)) as store,
        ):
            warn_of_language(self.language, store)
            output.write(self._rows(output, rule, texts, store))
            output.more |= {
                "snapshot": store.manifest()["snapshot_id"], "counts": dict(output.counts),
                "rejected": len(output.rejected),
            }  # fmt: skip
        total, rows = count(output.counts["questions"], "question"), count(output.counts["rows"], "row")
        line = f"{total}: {rows}; {output.counts['unknown']:,} not known"
        return output.ended(line, source=self.samples, support=rule.support, abstaining=rule.abstaining)

    def _rows(
        self, output: RowsOutput, rule: DragGraph, texts: Mapping[str, Prompt], store: Store
    ) -> Iterator[dict[str, Any]]:
        from abstraction.faults import Fault, attempt
        from abstraction.models.chat_model import Message
        from granola.decoding.response_aggregation import Aggregator
        from granola.decoding.samples import read_samples
        from granola.decoding.training_targets import preference_rows, supervised_row, targets

        reject = output.rejected.append
        rows = read_samples(self.samples, on_reject=reject, limit=self.limit)
        tallies = Aggregator(store, language=self.language, linker=self.linker).tallies(rows, on_reject=reject)
        for row, counted in tallies:
            output.taken.take(row.source, row.id, row.question)
            outcome = attempt("making targets", targets, counted, rule, unknown=self.unknown, most=self.most)
            if isinstance(outcome, Fault):
                output.taken.unwritten(outcome)
                continue
            asked = (
                (Message(role="user", content=row.question),)
                if self.prompt is TargetPrompt.QUESTION
                else texts[self.prompt].fill({"question": row.question})
            )
            output.counts["questions"] += 1
            output.counts["unknown"] += outcome.decision.abstains
            if self.kind is TargetKind.SUPERVISED:
                target_rows = iter((supervised_row(row, outcome, asked),))
            else:
                target_rows = preference_rows(row, outcome, asked)
            for target_row in target_rows:
                output.counts["rows"] += 1
                yield target_row
