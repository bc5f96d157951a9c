"""`granola answer`: questions put to a model, answered by one of several methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.decoding.methods import SAMPLES, TEMPERATURE, Answering
from granola.decoding.self_consistency import Counting
from granola.runs.decoding.decoding_settings import (
    AbstainingRule,
    AggregatorModel,
    CountedAs,
    PromptSet,
    ResponseLanguage,
    Support,
)
from granola.runs.phrasing_settings import ANSWERS_SUFFIX
from granola.runs.question_settings import QuestionSettings
from granola.runs.rows_output import RowsOutput, RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import CsvRaw, Force, Limit, Linker, LinkerName, Out, Relation, property_id

if TYPE_CHECKING:
    from abstraction.faults import UnansweredRow
    from granola.decoding.model_answers import Answered, Answerer, AnswerSettings, Unanswered
    from granola.decoding.response_aggregation import Method


@dataclass(frozen=True, kw_only=True)
class AnswerRun(Run, QuestionSettings):
    """Ask a model the questions and write its predictions, with the responses that they were made of.

    Killed, it goes on with the same command: no response is asked for twice. Methods that draw share their responses
    where --answers names one file. Questions without a response are listed in OUT.rejects.jsonl; the exit status is 1.
    """

    verb: ClassVar[str] = "answer"

    questions: Annotated[
        tuple[str, ...],
        Setting(
            "Questions, with or without answers: JSON, JSONL, CSV, Parquet, tiered rows; - is standard input.",
            metavar="QUESTIONS...",
            positional=True,
        ),
    ]
    model: Annotated[str, Setting("The model: openai:URL#NAME, local:FOLDER or replay:FILE.", metavar="MODEL")]
    out: Out
    method: Annotated[Answering, Setting("How questions are answered.")] = Answering.GREEDY
    relation: Relation = None
    samples: Annotated[int, Setting("Responses to a question, for the methods that draw several.", least=1)] = SAMPLES
    temperature: Annotated[float, Setting("Temperature of what is drawn, up to 2; above 0 for several.")] = TEMPERATURE
    top_p: Annotated[float, Setting("Share of likely tokens that is drawn from.")] = 1.0
    max_tokens: Annotated[int, Setting("The longest response.", least=1)] = 64
    seed: Annotated[int, Setting("Seed of the first response; the next one's is one more.")] = 0
    prompts: PromptSet = None
    answers: Annotated[
        Path | None,
        Setting(
            f"Where the model's responses are kept, so that nothing is asked twice (default: OUT{ANSWERS_SUFFIX}).",
            metavar="FILE",
            recorded=False,
        ),
    ] = None
    snapshot: Annotated[str | None, Setting("What responses are linked to, where ladders or names count.")] = None
    support: Support = None
    counting: CountedAs = Counting.TEXT
    abstaining: AbstainingRule = None
    aggregator: AggregatorModel = None
    language: ResponseLanguage = "en"
    linker: Linker = LinkerName.QUESTION
    limit: Limit = None
    force: Force = False
    csv_raw: CsvRaw = False

    def run(self) -> RowsWritten:
        """Ask and write. Raises UsageError for settings that do not go together, before anything is asked."""
        from granola.decoding.answer_prompts import read_prompts
        from granola.runs.outputs import check_standard_input, count, note, unanswered_line

        check_standard_input(self.questions)
        relation = property_id(self.relation)
        rule = self.check()
        asking = self._asking(rule)
        texts = read_prompts(self.prompts)
        inputs = [*self.files_of(self.questions), self.snapshot]
        with rows_output(self, self.out, inputs=inputs, force=self.force, csv_raw=self.csv_raw) as output:
            with ExitStack() as stack:
                answerer, snapshot = self._answerer(stack, output, asking, texts, rule)
                unanswered: list[UnansweredRow] = []
                output.write(self._predictions(output, answerer, relation, unanswered.append))
            output.more |= {**answerer.settings, **snapshot}
            output.more |= {"outcomes": dict(output.counts), "rejected": len(output.rejected)}
        if unanswered:
            note(unanswered_line(len(unanswered)))
        total = count(output.counts.total(), "question")
        line = f"{total}: {output.counts['answered']:,} answered, {output.counts['IDK']:,} IDK"
        return output.ended(
            line, source=", ".join(self.questions), relation=relation, support=getattr(rule, "support", None),
            abstaining=asking.abstaining,
        )  # fmt: skip

    def check(self) -> Method | None:
        """The rule of the method. Raises UsageError for settings that do not go together."""
        from abstraction.models.spec import parse_model_spec
        from granola.decoding.methods import needs_snapshot, rule_of
        from granola.errors import UsageError
        from granola.runs.outputs import check_language

        check_language(self.language)
        parse_model_spec(self.model)
        if self.aggregator is not None:
            if self.method is not Answering.DRAG:
                raise UsageError(f"--aggregator is drag's; --method {self.method} asks no second model")
            parse_model_spec(self.aggregator)
        rule = rule_of(self.method, support=self.support, counting=self.counting, abstaining=self.abstaining)
        if needs_snapshot(rule) and self.snapshot is None:
            raise UsageError(f"--method {self.method} links responses to a snapshot: give --snapshot")
        self._asking(rule)
        return rule

    def _asking(self, rule: Method | None) -> AnswerSettings:
        from granola.decoding.methods import usual_abstaining
        from granola.decoding.model_answers import AnswerSettings

        return AnswerSettings(
            method=self.method,
            samples=self.samples,
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
            abstaining=getattr(rule, "abstaining", None) or self.abstaining or usual_abstaining(self.method),
        )

    def _answerer(
        self, stack: ExitStack, output: RowsOutput, asking: AnswerSettings, texts: Any, rule: Method | None
    ) -> tuple[Answerer, dict[str, str]]:
        """What asks, its models open as long as `stack`, and what the record says of the snapshot."""
        from granola.decoding.model_answers import Answerer
        from granola.decoding.response_aggregation import Aggregator
        from granola.runs.outputs import warn_of_language
        from granola.runs.phrasing_settings import opened
        from kg.store import open_store

        store = None if self.snapshot is None else stack.enter_context(closing(open_store(self.snapshot)))
        if store is not None:
            warn_of_language(self.language, store)
        asked = stack.enter_context(opened(self.model, output.beside, self.answers, output.inputs))
        drag_model = None
        if self.aggregator is not None and self.aggregator != self.model:
            drag_model = stack.enter_context(opened(self.aggregator, output.beside, self.answers, output.inputs))
        linked = None if rule is None else Aggregator(store, language=self.language, linker=self.linker)
        answerer = Answerer(
            asked, asking, texts, aggregator=linked, rule=rule, language=self.language, drag_model=drag_model
        )
        return answerer, {} if store is None else {"snapshot": store.manifest()["snapshot_id"]}

    def _predictions(
        self,
        output: RowsOutput,
        answerer: Answerer,
        relation: str | None,
        on_unanswered: Callable[[UnansweredRow], None],
    ) -> Iterator[dict[str, Any]]:
        from granola.decoding.samples import read_asked

        rows = read_asked(
            self.questions, relation=relation, limit=self.limit, on_reject=output.rejected.append,
            on_unanswered=on_unanswered, shape=self.shape(), language=self.language,
        )  # fmt: skip
        return answered_rows(answerer.answer(rows), output, self.method, source=self.questions)


def answered_rows(
    answers: Iterator[Answered | Unanswered], output: RowsOutput, method: str, *, source: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Predictions as rows, what got no response rejected. Raises PredictionError where no question has an answer."""
    from abstraction.faults import Fault, attempt
    from granola.decoding.model_answers import Answered
    from granola.decoding.response_aggregation import answer_row
    from granola.errors import PredictionError

    for answer in answers:
        if not isinstance(answer, Answered):
            output.rejected.append(answer.rejected())
            continue
        output.taken.take(answer.row.source, answer.row.id, answer.row.question)
        row = attempt("writing", answer_row, answer.row, answer.decision, method=method)
        if isinstance(row, Fault):
            output.taken.unwritten(row)
            continue
        output.counts["IDK" if answer.decision.abstains else "answered"] += 1
        yield row
    if not output.counts:
        rejected = output.rejected
        why = f": {rejected[0].source}: {rejected[0].reason}" if rejected else ""
        raise PredictionError(f"no question in {', '.join(source)} has an answer{why}")
