"""Answers from a model: ask questions, keep the responses, and aggregate them where the method samples several."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

from abstraction.base.faults import Fault, RejectedRow, attempt, excerpt
from abstraction.models.chat_model import ChatModel, Failure, Reply, Request, Sampling, sampling_of
from abstraction.phrasing.prompting import Prompt, signature_of
from granola.decoding.aggregation_rules import Method
from granola.decoding.decision import IDK, SAMPLES, Abstaining, Answering, Decision, abstention, format_response_count
from granola.decoding.methods import DRAG, METHODS, TEMPERATURE
from granola.decoding.response_aggregation import Aggregator
from granola.decoding.response_cleaning import clean_response
from granola.decoding.samples import SampleRow
from granola.errors import UsageError
from granola.matching.squad import normalise
from granola.replies import read_reply

T = TypeVar("T")
_STAGE = "answering"
# tokens of a response: short answers with room for an explanation
MAX_TOKENS = 512
CHUNK = 256  # questions per batch: all are sampled before any is aggregated


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerSettings:
    """Settings of sampling. `samples` and `temperature`: for methods that sample; `seed`: of the first sample.

    `abstaining` is for DRAG; rules have their own. Raises UsageError for settings that no model supports.
    """

    method: Answering
    samples: int = SAMPLES
    temperature: float = TEMPERATURE
    top_p: float = 1.0
    max_tokens: int = MAX_TOKENS
    seed: int = 0
    abstaining: Abstaining = Abstaining.PASS

    def __post_init__(self) -> None:
        try:
            self.sampling()
            # Unused settings are recorded too, so they must be valid.
            Sampling(n=1, temperature=self.temperature, top_p=self.top_p, max_tokens=self.max_tokens, seed=self.seed)
        except ValueError as error:
            raise UsageError(f"{self.method} cannot sample so: {error}") from error

    def sampling(self) -> Sampling:
        """The sampling of a question. A single sample equals the first of several with the same seed."""
        kind = METHODS[self.method]
        if kind.drawn == "no":
            return Sampling(max_tokens=self.max_tokens)
        return Sampling(
            n=self.samples if kind.drawn == "often" else 1,
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """A question with its responses (`row.samples`) and the decision."""

    row: SampleRow
    decision: Decision


@dataclass
class Answerer:
    """Answers questions with one model by one method.

    `rule` and `aggregator` aggregate responses for methods without a second model call. `drag_model` aggregates for
    DRAG, with the sampling in its own spec; None for the sampled model at temperature 0. `cut_off` counts the
    responses that reached the token limit.
    """

    model: ChatModel
    asking: AnswerSettings
    prompts: Mapping[str, Prompt]
    _: KW_ONLY
    aggregator: Aggregator | None = None
    rule: Method | None = None
    language: str = "en"
    drag_model: ChatModel | None = None
    cut_off: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        # A programming error, not one of the user: hence ValueError.
        if (self.rule is None) != (self.asking.method not in (Answering.SELF_CONSISTENCY, Answering.DRAG_GRAPH)):
            raise ValueError(f"{self.asking.method} {'needs a' if self.rule is None else 'takes no'} rule")
        self._drag_sampling = sampling_of(self.drag_model, Sampling(max_tokens=self.asking.max_tokens))

    @property
    def settings(self) -> dict[str, Any]:
        """Settings for the run record: model, hash of the prompts, sampling."""
        kind = METHODS[self.asking.method]
        how = self.asking.sampling()
        # Greedy decoding has no seed and no top-p to record.
        drawn = {"n": how.n, "top_p": how.top_p, "seed": how.seed} if how.temperature > 0 else {}
        other = self.drag_model
        aggregating = {} if other is None or other is self.model else {"aggregator": dict(other.identity)}
        return {
            "model": dict(self.model.identity),
            **aggregating,
            "prompts": signature_of(self.prompts, *kind.prompts),
            "sampling": {"temperature": how.temperature, "max_tokens": how.max_tokens, **drawn},
        }

    def answer(self, rows: Iterable[SampleRow]) -> Iterator[Answered | RejectedRow]:
        """Each question, answered or rejected, in order. Raises ModelError where further requests are useless."""
        source = iter(rows)
        while chunk := list(islice(source, CHUNK)):
            drawn = list(self._draw_responses(chunk))
            decided = iter(self._decide_each([row for row in drawn if isinstance(row, SampleRow)]))
            for row in drawn:
                yield row if isinstance(row, RejectedRow) else next(decided)

    def aggregate_given_responses(self, rows: Iterable[SampleRow]) -> Iterator[Answered | RejectedRow]:
        """DRAG on given responses: the answer that the model aggregates from the samples of each row, in order."""
        source = iter(rows)
        while chunk := list(islice(source, CHUNK)):
            yield from self._aggregate_by_model(chunk)

    def _draw_responses(self, rows: Sequence[SampleRow]) -> Iterator[SampleRow | RejectedRow]:
        prompt = self.prompts[METHODS[self.asking.method].prompts[0].name]
        sampling = self.asking.sampling()

        def request_of(row: SampleRow) -> Request:
            return Request(id=row.id, messages=prompt.fill({"question": row.question}), sampling=sampling)

        requests = [attempt("asking a model", request_of, row) for row in rows]
        for row, result in zip(rows, _replace_requests_by_results(self.model, requests), strict=True):
            if isinstance(result, Reply):
                self.cut_off += sum(completion.finish_reason == "length" for completion in result.completions)
                yield replace(row, samples=tuple(completion.text for completion in result.completions))
            else:
                yield _rejected_row(row, result)

    def _decide_each(self, rows: Sequence[SampleRow]) -> Iterator[Answered | RejectedRow]:
        if self.rule is not None and self.aggregator is not None:
            for row, decision in self.aggregator.decide_each(rows, self.rule):
                yield _answered_or_rejected(row, decision)
        elif self.asking.method is Answering.DRAG:
            yield from self._aggregate_by_model(rows)
        else:
            for row in rows:
                yield _answered_or_rejected(row, attempt(_STAGE, self._decide_in_own_words, row, row.samples[0]))

    def _decide_in_own_words(self, row: SampleRow, raw: str, explanation: str = "") -> Decision:
        """The decision with the response itself as its text, less thoughts, further turns and labels
        (`granola.replies`).

        `more["short"]` is its cleaned form, or IDK.
        """
        response = clean_response(raw, subject=row.subject_text, language=self.language)
        why = "the response itself" if response.abstains is None else f"the response abstains ({response.abstains})"
        text = read_reply(raw).answer.strip() or IDK
        return Decision(text=text, explanation=explanation or why, more={"short": response.prediction})

    def _aggregate_by_model(self, rows: Sequence[SampleRow]) -> Iterator[Answered | RejectedRow]:
        """DRAG: the model aggregates the responses, unless all are the same."""
        settled = [attempt(_STAGE, self._decide_or_request, row) for row in rows]
        model = self.drag_model or self.model
        results: Iterator[Reply | Failure | Decision | Fault] = _replace_requests_by_results(model, settled)
        for row, result in zip(rows, results, strict=True):
            if isinstance(result, Reply):
                why = f"the model's answer to {len(row.samples)} responses"
                yield _answered_or_rejected(row, attempt(_STAGE, self._decide_in_own_words, row, result.text, why))
            else:
                yield _answered_or_rejected(row, result)

    def _decide_or_request(self, row: SampleRow) -> Decision | Request:
        """The decision where no model is needed, else the request to the model."""
        subject, language = row.subject_text, self.language
        responses = [clean_response(sample, subject=subject, language=language) for sample in row.samples]
        answering = [response for response in responses if response.abstains is None]
        declining = len(responses) - len(answering)
        passed = self.asking.abstaining is Abstaining.PASS
        against = declining > 0 and self.asking.abstaining is Abstaining.AGAINST
        declines = self.asking.abstaining.forces_abstention(
            responses=len(responses), abstaining=declining, support=len(answering) if not passed else math.inf
        )
        if against or declines:
            return abstention(f"{format_response_count(declining, len(responses))} abstain")
        # Unanimous responses need no second call.
        if len({normalise(response.text) for response in answering}) == 1 and not (declining and passed):
            explanation = f"{format_response_count(len(answering), len(responses))} say the same"
            first = next(text for text, one in zip(row.samples, responses, strict=True) if one is answering[0])
            return self._decide_in_own_words(row, first, explanation)
        slots: dict[str, str | Sequence[str]] = {"question": row.question}
        shown = responses if passed else answering
        slots["responses"] = [IDK if response.abstains is not None else response.whole for response in shown]
        return Request(id=row.id, messages=self.prompts[DRAG.name].fill(slots), sampling=self._drag_sampling)


def _replace_requests_by_results(model: ChatModel, outcomes: Sequence[Request | T]) -> Iterator[Reply | Failure | T]:
    """The outcomes, in order, with the result of the model in place of each request."""
    replies = model.generate([outcome for outcome in outcomes if isinstance(outcome, Request)])
    for outcome in outcomes:
        yield next(replies) if isinstance(outcome, Request) else outcome
    next(replies, None)  # exhaust the iterator, so that no request stays open


def _answered_or_rejected(row: SampleRow, outcome: Decision | Fault | Failure) -> Answered | RejectedRow:
    return Answered(row=row, decision=outcome) if isinstance(outcome, Decision) else _rejected_row(row, outcome)


def _rejected_row(row: SampleRow, why: Fault | Failure) -> RejectedRow:
    """The rejected row of a failed request, or of a fault in the program."""
    if isinstance(why, Fault):
        return why.rejected(source=row.source, id=row.id, text=row.question)
    return RejectedRow(source=row.source, reason=f"{why.reason}: {why.message}", excerpt=excerpt(row.question))
