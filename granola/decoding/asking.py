"""Answers a model's way: questions asked, responses kept, one answer made of several where the method says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from abstraction.models.base import ChatModel
from abstraction.models.prompts import Prompt, hash_of
from abstraction.models.request import Request, Sampling
from abstraction.models.result import Failure, Reply
from granola.decoding.aggregating import Aggregator, Method
from granola.decoding.cleaning import Said, said
from granola.decoding.decision import Abstaining, Decision, abstained, of_responses
from granola.decoding.methods import METHODS, SAMPLES, TEMPERATURE, Answering
from granola.decoding.prompting import DRAG
from granola.decoding.samples import SampleRow
from granola.errors import UsageError
from granola.matching.text import key as folded

CHUNK = 256  # questions whose responses are drawn before any of them are aggregated


@dataclass(frozen=True, kw_only=True, slots=True)
class Asking:
    """How questions are asked. `samples` and `temperature` are for methods that draw; `seed` is of the first sample.
    `abstaining` is DRAG's; rules have their own.

    Raises UsageError for settings that no model can sample with.
    """

    method: Answering
    samples: int = SAMPLES
    temperature: float = TEMPERATURE
    top_p: float = 1.0
    max_tokens: int = 64
    seed: int = 0
    abstaining: Abstaining = Abstaining.MAJORITY

    def __post_init__(self) -> None:
        try:
            self.sampling()
            # What a method does not use is recorded too.
            Sampling(n=1, temperature=self.temperature, top_p=self.top_p, max_tokens=self.max_tokens, seed=self.seed)
        except ValueError as error:
            raise UsageError(f"{self.method} cannot sample so: {error}") from error

    def sampling(self) -> Sampling:
        """How a question is asked for. A single sample is the first of several of the same seed."""
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
class Unanswered:
    """A question that the model could not be asked, and why: `reason` in a word, `message` in full."""

    row: SampleRow
    reason: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """A question with the responses that were drawn (in `row.samples`) and what was decided."""

    row: SampleRow
    decision: Decision


class Answerer:
    """Answers questions with one model by one method."""

    def __init__(
        self,
        model: ChatModel,
        asking: Asking,
        prompts: Mapping[str, Prompt],
        *,
        aggregator: Aggregator | None = None,
        rule: Method | None = None,
        language: str = "en",
    ) -> None:
        """`rule` with its `aggregator` makes one answer of several, for the methods that do so without the model."""
        if (rule is None) != (asking.method not in (Answering.SELF_CONSISTENCY, Answering.DRAG_GRAPH)):
            raise ValueError(f"{asking.method} {'needs a' if rule is None else 'takes no'} rule")
        self._model = model
        self._asking = asking
        self._prompts = prompts
        self._aggregator = aggregator
        self._rule = rule
        self._language = language

    @property
    def settings(self) -> dict[str, Any]:
        """What a run record has of it: the model, the prompts' hash and how it samples."""
        kind = METHODS[self._asking.method]
        how = self._asking.sampling()
        drawn = {"n": how.n, "top_p": how.top_p, "seed": how.seed} if how.temperature > 0 else {}
        return {
            "model": dict(self._model.identity),
            "prompts": hash_of(self._prompts, *kind.prompts),
            "sampling": {"temperature": how.temperature, "max_tokens": how.max_tokens, **drawn},
        }

    def answer(self, rows: Iterable[SampleRow]) -> Iterator[Answered | Unanswered]:
        """One outcome for each question, in order. Raises ModelError where asking on is no use."""
        source = iter(rows)
        while chunk := list(islice(source, CHUNK)):
            drawn = list(self._drawn(chunk))
            decided = iter(self._decided([row for row in drawn if isinstance(row, SampleRow)]))
            for row in drawn:
                yield row if isinstance(row, Unanswered) else next(decided)

    def aggregate(self, rows: Sequence[SampleRow]) -> Iterator[Answered | Unanswered]:
        """DRAG on responses that are there: what the model makes of each row's samples, in order."""
        return self._aggregated(rows)

    def _drawn(self, rows: Sequence[SampleRow]) -> Iterator[SampleRow | Unanswered]:
        prompt = self._prompts[METHODS[self._asking.method].asks.name]
        sampling = self._asking.sampling()
        requests = [
            Request(id=row.id, messages=prompt.fill({"question": row.question}), sampling=sampling) for row in rows
        ]
        for row, result in zip(rows, self._model.generate(requests), strict=True):
            if isinstance(result, Failure):
                yield Unanswered(row=row, reason=str(result.reason), message=result.message)
            else:
                yield replace(row, samples=tuple(one.text for one in result.completions))

    def _decided(self, rows: Sequence[SampleRow]) -> Iterator[Answered | Unanswered]:
        if self._rule is not None and self._aggregator is not None:
            for row, decision in self._aggregator.decide(rows, self._rule):
                yield Answered(row=row, decision=decision)
        elif self._asking.method is Answering.DRAG:
            yield from self._aggregated(rows)
        else:
            for row in rows:
                (one,) = self._said(row)
                yield Answered(row=row, decision=plain(one))

    def _said(self, row: SampleRow) -> list[Said]:
        return [said(one, subject=row.subject_text, language=self._language) for one in row.samples]

    def _aggregated(self, rows: Sequence[SampleRow]) -> Iterator[Answered | Unanswered]:
        """DRAG: the model makes one answer of the responses, where they are not all the same."""
        prompt = self._prompts[DRAG.name]
        settled: dict[str, Decision] = {}
        requests = []
        for row in rows:
            responses = self._said(row)
            answering = [one for one in responses if one.abstains is None]
            declining = len(responses) - len(answering)
            against = declining > 0 and self._asking.abstaining is Abstaining.AGAINST
            if against or self._asking.abstaining.declines(responses=len(responses), abstaining=declining):
                settled[row.id] = abstained(f"{of_responses(declining, len(responses))} abstain")
            elif len({folded(one.text) for one in answering}) == 1:
                settled[row.id] = replace(
                    plain(answering[0]), explanation=f"{of_responses(len(answering), len(responses))} say the same"
                )
            else:
                slots: dict[str, str | Sequence[str]] = {"question": row.question}
                slots["responses"] = [one.whole for one in answering]
                sampling = Sampling(max_tokens=self._asking.max_tokens)
                requests.append(Request(id=row.id, messages=prompt.fill(slots), sampling=sampling))
        replies = self._model.generate(requests)
        for row in rows:
            if row.id in settled:
                yield Answered(row=row, decision=settled[row.id])
                continue
            result = next(replies)
            if isinstance(result, Reply):
                one = said(result.text, subject=row.subject_text, language=self._language)
                told = f"the model's answer to {len(row.samples)} responses"
                yield Answered(row=row, decision=replace(plain(one), explanation=told))
            else:
                yield Unanswered(row=row, reason=str(result.reason), message=result.message)


def plain(one: Said) -> Decision:
    """The decision to say what a single response says."""
    if one.abstains is not None:
        return abstained(f"the response abstains ({one.abstains})")
    return Decision(text=one.prediction, explanation="the response itself")
