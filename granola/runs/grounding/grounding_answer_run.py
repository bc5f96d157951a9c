"""`granola grounding answer`: long answers from passages, by a chat model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from granola.runs.grounding.grounding_settings import ChatAnswers, ChatWord, GroundedQuestions, GroundingPrompts
from granola.runs.rows_output import RowsWritten, rows_output
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import Force, Limit, Out


@dataclass(frozen=True, kw_only=True)
class GroundingAnswerRun(Run):
    """Ask a model the questions over their passages, with citations by id; killed, it goes on with the same command."""

    verb: ClassVar[str] = "grounding answer"

    questions: GroundedQuestions
    model: ChatWord
    out: Out
    temperature: Annotated[float, Setting("Temperature (the paper: greedy).", least=0, most=2)] = 0.0
    max_tokens: Annotated[int, Setting("The longest answer.", least=1)] = 1_000
    prompts: GroundingPrompts = None
    answers: ChatAnswers = None
    limit: Limit = None
    force: Force = False

    def run(self) -> RowsWritten:
        """Ask and write `{"id", "answer"}` a row. Raises UsageError where there is no question."""
        from itertools import islice

        from abstraction.models import Request, Sampling
        from abstraction.phrasing.model_requests import RequestForm
        from granola.commands.models import opened
        from granola.errors import UsageError
        from granola.grounding.grounded_rows import read_grounded
        from granola.grounding.grounded_samples import GroundedSample
        from granola.grounding.sentence_judges import ANSWER, passage_lines, read_grounding_prompts
        from granola.runs.outputs import STANDARD, count

        prompts = read_grounding_prompts(self.prompts)
        sampling = Sampling(temperature=self.temperature, max_tokens=self.max_tokens)
        with rows_output(self, self.out, inputs=[self.questions], force=self.force) as output:
            samples = list(islice(read_grounded(self.questions, on_reject=output.rejected.append), self.limit))
            if not samples:
                raise UsageError(f"{self.questions} has no question with passages")

            def ask(sample: GroundedSample) -> Request:
                slots = {
                    "question": sample.question, "date": sample.question_date or "not given",
                    "passages": passage_lines(sample.passages),
                }  # fmt: skip
                return Request(id=sample.id, messages=prompts[ANSWER.name].fill(slots), sampling=sampling)

            def rows() -> Iterator[dict[str, Any]]:
                place = None if self.out == STANDARD else self.out
                with opened(self.model, place, self.answers, [self.questions]) as model:
                    form: RequestForm[GroundedSample, str] = RequestForm(
                        model=model, ask=ask, read=lambda _, reply: reply, again=prompts["again"]
                    )
                    for sample, outcome in form.run(samples):
                        output.counts["answered" if outcome.value is not None else "unanswered"] += 1
                        yield {"id": sample.id, "answer": outcome.value, "failed": outcome.failed or None}

            output.write(rows())
        return output.ended(f"{count(output.counts['answered'], 'answer')}", source=str(self.questions))
