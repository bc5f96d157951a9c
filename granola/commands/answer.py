"""`granola answer` and `granola aggregate`: ask a model questions; aggregate several responses to one answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from abstraction.base.faults import RejectedRow, UnansweredRow
from granola.base.settings import ADVANCED, Setting
from granola.commands.messages import count, note, unanswered_rows_line, warn_of_snapshot_gaps
from granola.commands.output import RowsCommand, WrittenRows, check_standard_input, open_model, writing_rows
from granola.decoding.decision import (
    SAMPLES,
    SUPPORT,
    Abstaining,
    AbstainingRule,
    Answering,
    CountedAs,
    Counting,
    Decision,
    ResponseLanguage,
)
from granola.errors import PredictionError, UsageError
from granola.scoring.shared_settings import Force, Limit, Out, QuestionSettings, Relation, check_language, property_id
from granola.scoring.system_comparison import unique_system_names
from kg.store import open_store
from kg.store.protocol import Store

if TYPE_CHECKING:
    from granola.decoding.aggregation_rules import Method
    from granola.decoding.model_answers import Answered, Answerer, AnswerSettings
    from granola.decoding.samples import SampleRow

Support = Annotated[
    float | None,
    Setting(
        "drag-graph: the share that must entail the answer, above 0 and up to 1, of the responses that do not "
        f"decline. Default: {SUPPORT:g}."
    ),
]
AggregatorModel = Annotated[
    str | None,
    Setting(
        "drag: the model that makes one answer of the responses, if not the one that is sampled.",
        metavar="MODEL",
        advanced=True,
    ),
]
# shared by `answer` and `aggregate`
PROMPTS_HELP = (
    "What models are asked with: paper (built as the paper describes its prompts; the default), guided (with "
    "instructions and examples of ours), or a folder of your own: answer, idk, idk_if_uncertain, agg, drag, each .txt; "
    "not all of them."
)
PromptSet = Annotated[str | None, Setting(PROMPTS_HELP, metavar="SET|FOLDER", advanced=True)]


@dataclass(frozen=True, kw_only=True)
class Answer(RowsCommand, QuestionSettings):
    """Ask a model the questions and write its predictions, with the responses that they were made of.

    Killed, it goes on with the same command: no response is asked for twice. Methods that draw share their responses
    where the model's name has the same answers=FILE. Questions without a response are listed in OUT.rejects.jsonl;
    the exit status is 1.
    """

    resumes = True

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
    prompts: PromptSet = None
    snapshot: Annotated[str | None, Setting("What responses are linked to, where ladders or names count.")] = None
    support: Support = None
    counting: CountedAs = Counting.TEXT
    abstaining: AbstainingRule = None
    aggregator: AggregatorModel = None
    language: Annotated[ResponseLanguage, ADVANCED] = "en"
    limit: Limit = None
    force: Force = False

    def run(self) -> WrittenRows:
        """Ask the questions and write predictions. Raises UsageError for contradictory settings, before anything is
        asked.
        """
        from granola.decoding.samples import read_unsampled_questions

        check_standard_input(self.questions)
        relation = property_id(self.relation)
        # Settings are checked before the model is opened.
        rule, asking = self.check()
        inputs = [*self.expand_folders(self.questions), self.snapshot]
        with writing_rows(self, self.out, inputs=inputs, force=self.force) as output:
            unanswered: list[UnansweredRow] = []
            with ExitStack() as stack:
                answerer = self._open_answerer(stack, output, asking, rule)
                rows = read_unsampled_questions(
                    self.questions, relation=relation, limit=self.limit, on_reject=output.rejected.append,
                    on_unanswered=unanswered.append, shape=self.shape(), language=self.language,
                )  # fmt: skip
                output.write(self._answer_rows(answerer.answer(rows), output))
            output.more |= answerer.settings | {"outcomes": dict(output.counts), "rejected": len(output.rejected)}
            # Known only after the last response.
            output.more |= {"cut_off": answerer.cut_off}
            # A truncated response often lacks its answer; it would pass for an abstention.
            if answerer.cut_off:
                note(
                    f"{count(answerer.cut_off, 'response')} ended at {asking.max_tokens} tokens; a thought without an "
                    "end is no answer: allow more by ?max_tokens="
                )
            if unanswered:
                note(unanswered_rows_line(len(unanswered)))
            return output.finish(
                _answered_counts_line(output), source=", ".join(self.questions), relation=relation,
                # Resolved values: the command line may leave them to defaults of the method.
                support=getattr(rule, "support", None), abstaining=asking.abstaining,
            )  # fmt: skip

    def check(self) -> tuple[Method | None, AnswerSettings]:
        """Return (decoding rule of the method, settings for asking). Raises UsageError for contradictory settings."""
        from abstraction.models.spec import parse_model_spec
        from granola.decoding.methods import default_abstaining, needs_snapshot, read_prompts, rule_of
        from granola.decoding.model_answers import AnswerSettings

        check_language(self.language)
        spec = parse_model_spec(self.model)
        read_prompts(self.prompts)
        if self.aggregator is not None:
            if self.method is not Answering.DRAG:
                raise UsageError(f"--aggregator is drag's; --method {self.method} asks no second model")
            parse_model_spec(self.aggregator)  # raises for a wrong specification
        rule = rule_of(self.method, support=self.support, counting=self.counting, abstaining=self.abstaining)
        if needs_snapshot(rule) and self.snapshot is None:
            raise UsageError(f"--method {self.method} links responses to a snapshot: give --snapshot")
        abstaining = self.abstaining or default_abstaining(self.method)
        return rule, AnswerSettings(method=self.method, samples=self.samples, abstaining=abstaining, **spec.sampling)

    def _open_answerer(
        self, stack: ExitStack, output: WrittenRows, asking: AnswerSettings, rule: Method | None
    ) -> Answerer:
        """Make the answerer; its snapshot and models stay open as long as `stack`."""
        from granola.decoding.methods import read_prompts
        from granola.decoding.model_answers import Answerer
        from granola.decoding.response_aggregation import Aggregator

        store = _open_snapshot(self.snapshot, self.language, stack, output)
        asked = stack.enter_context(open_model(self.model, output.named_path, output.inputs))
        drag_model = None
        # If both options name one model, it is opened once.
        if self.aggregator is not None and self.aggregator != self.model:
            drag_model = stack.enter_context(open_model(self.aggregator, output.named_path, output.inputs))
        linked = None if rule is None else Aggregator(store, language=self.language)
        texts = read_prompts(self.prompts)
        return Answerer(
            asked, asking, texts, aggregator=linked, rule=rule, language=self.language, drag_model=drag_model
        )

    def _answer_rows(self, answers: Iterator[Answered | RejectedRow], output: WrittenRows) -> Iterator[dict[str, Any]]:
        """Yield rows of predictions; questions without a response are rejected. Raises PredictionError if none has an
        answer.
        """
        from granola.decoding.model_answers import Answered
        from granola.decoding.response_aggregation import answer_row

        for answer in answers:
            if isinstance(answer, Answered):
                output.counts["IDK" if answer.decision.abstains else "answered"] += 1
                yield answer_row(answer.row, answer.decision, method=self.method)
            else:
                output.rejected.append(answer)
        # An output without any row is a failure, not an empty success.
        if not output.counts:
            rejected = output.rejected
            why = f": {rejected[0].source}: {rejected[0].reason}" if rejected else ""
            raise PredictionError(f"no question in {', '.join(self.questions)} has an answer{why}")


def _open_snapshot(where: str | None, language: str, stack: ExitStack, output: WrittenRows) -> Store | None:
    """Open the snapshot that responses are linked to, until `stack` closes, and name it in the run record."""
    if where is None:
        return None
    store = stack.enter_context(closing(open_store(where)))
    warn_of_snapshot_gaps(store, language)
    output.more["snapshot"] = store.manifest()["snapshot_id"]
    return store


@dataclass(frozen=True, kw_only=True)
class Aggregate(RowsCommand):
    """Make one answer of several responses to each question, with its support, confidence and an explanation.

    Fields that mean nothing here stay in the rows. Bad rows are listed in OUT.rejects.jsonl, and the exit status is 1.
    With --method guess a baseline of tiered rows: each guessed from the others of its relation and the subject's name.
    """

    samples: Annotated[
        tuple[str, ...],
        Setting(
            'Rows with "id", "question" and "samples", or one file a system, with its "prediction" or "samples", as '
            "JSONL, CSV or Parquet; tiered rows to guess from; - is standard input.",
            metavar="SAMPLES...",
            positional=True,
        ),
    ]
    out: Out
    method: Annotated[
        Literal["drag-graph", "self-consistency", "drag", "guess"], Setting("How one answer is made of several.")
    ] = "drag-graph"
    snapshot: Annotated[
        str | None,
        Setting("The snapshot to link responses to: a file, or bolt://HOST:PORT. Counting words needs none."),
    ] = None
    support: Annotated[
        float | None,
        Setting(
            "drag-graph: the share that must entail the answer, above 0 and up to 1, of the responses that do not "
            f"decline. Default: {SUPPORT:g}. guess: how likely the finest tier must be; by default it guesses the "
            "likeliest."
        ),
    ] = None
    counting: CountedAs = Counting.TEXT
    abstaining: AbstainingRule = None
    aggregator: AggregatorModel = None
    prompts: Annotated[str | None, Setting(f"drag: {PROMPTS_HELP}", metavar="SET|FOLDER", advanced=True)] = None
    language: ResponseLanguage = "en"
    limit: Limit = None
    force: Force = False

    def run(self) -> WrittenRows:
        """Write the predictions. Raises UsageError for settings that do not go together."""
        from granola.decoding.methods import default_abstaining, needs_snapshot, rule_of

        if self.method == "guess":
            return self._guess_from_other_rows()
        check_language(self.language)
        rule = rule_of(self.method, support=self.support, counting=self.counting, abstaining=self.abstaining)
        abstaining = self.abstaining or default_abstaining(self.method)
        # drag alone asks a model; all other methods compute on the responses.
        if (self.aggregator is None) != (self.method != "drag"):
            raise UsageError("--method drag asks a model: give it as --aggregator MODEL, which no other method takes")
        if self.snapshot is None and needs_snapshot(rule):
            raise UsageError("responses are linked to a snapshot: give --snapshot, or --method self-consistency alone")
        inputs = [*self.samples, self.snapshot]
        check_standard_input(self.samples)
        with writing_rows(self, self.out, inputs=inputs, force=self.force) as output:
            with ExitStack() as stack:
                store = _open_snapshot(self.snapshot, self.language, stack, output)
                output.write(self._prediction_rows(output, stack, store, rule, abstaining))
            output.more |= {"outcomes": dict(output.counts), "rejected": len(output.rejected)}
            support = getattr(rule, "support", None)
            source = ", ".join(self.samples)
            return output.finish(_answered_counts_line(output), source=source, support=support, abstaining=abstaining)

    def _guess_from_other_rows(self) -> WrittenRows:
        """Predict each tiered row from the other rows alone, without a model. Raises PredictionError for a file
        without tiered rows.
        """
        from abstraction.files.rows import read_tiered
        from granola.decoding.guessing import guess_from_subject_name

        # The guess uses the gold answers of the other rows, and no responses.
        if len(self.samples) != 1 or self.aggregator or self.snapshot:
            raise UsageError("--method guess takes one file of tiered rows; no --aggregator, no --snapshot")
        (tiered,) = self.samples
        with writing_rows(self, self.out, inputs=[tiered], force=self.force) as output:
            rejected = output.rejected
            rows = list(read_tiered(tiered, on_reject=rejected.append))
            if not rows:
                reason = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
                raise PredictionError(f"{tiered} has no tiered row{reason}; make one with granola tiers")

            def predictions() -> Iterator[dict[str, Any]]:
                for row, decision in guess_from_subject_name(rows, least_probability=self.support):
                    output.counts["IDK" if decision.abstains else "answered"] += 1
                    yield {"id": row.id, "question": row.question, "method": self.method, **decision.to_json()}

            output.write(predictions())
            output.more["outcomes"] = dict(output.counts)
            return output.finish(_answered_counts_line(output), source=tiered, support=self.support)

    def _prediction_rows(
        self, output: WrittenRows, stack: ExitStack, store: Store | None, rule: Method | None, abstaining: Abstaining
    ) -> Iterator[dict[str, Any]]:
        from granola.decoding.response_aggregation import Aggregator, prediction_row

        rows = self._read_sample_rows(output)
        if rule is None:
            decided = self._decide_by_model(rows, output, stack, abstaining)
        else:
            decided = Aggregator(store, language=self.language).decide(rows, rule, on_reject=output.rejected.append)
        for row, decision in decided:
            output.counts["IDK" if decision.abstains else "answered"] += 1
            # Summed here, because rows are streamed.
            if decision.bits is not None:
                output.more["bits"] = round(output.more.get("bits", 0.0) + decision.bits, 4)
            yield prediction_row(row, decision, method=self.method)

    def _read_sample_rows(self, output: WrittenRows) -> Iterable[SampleRow]:
        """Read the questions with responses; for several files with the names of their systems."""
        from granola.decoding.samples import read_samples, read_systems

        reject = output.rejected.append
        # One file: samples of a single system, all with weight 1.
        if len(self.samples) == 1:
            return read_samples(self.samples[0], on_reject=reject, limit=self.limit)
        files = dict(zip(unique_system_names(self.samples), self.samples, strict=True))
        return read_systems(files, on_reject=reject)[: self.limit]

    def _decide_by_model(
        self, rows: Iterable[SampleRow], output: WrittenRows, stack: ExitStack, abstaining: Abstaining
    ) -> Iterator[tuple[SampleRow, Decision]]:
        from granola.decoding.methods import read_prompts
        from granola.decoding.model_answers import Answered, Answerer, AnswerSettings

        assert self.aggregator is not None  # checked in `run`
        model = stack.enter_context(open_model(self.aggregator, output.named_path, output.inputs))
        asking = AnswerSettings(method=Answering.DRAG, abstaining=abstaining)
        answerer = Answerer(model, asking, read_prompts(self.prompts), language=self.language, drag_model=model)
        output.more |= answerer.settings
        for answer in answerer.aggregate_given_responses(rows):
            if isinstance(answer, Answered):
                yield answer.row, answer.decision
            else:
                output.rejected.append(answer)


def _answered_counts_line(output: WrittenRows) -> str:
    counts, total = output.counts, output.counts.total()
    bits = f"; {output.more['bits'] / total:.2f} bits a question" if output.more.get("bits") else ""
    return f"{count(total, 'question')}: {counts['answered']:,} answered, {counts['IDK']:,} IDK{bits}"
