"""A chat model as evaluator, zero-shot or few-shot, with three families of prompts.

Families (Hu et al. 2025, CAQA, appendix E): `defined` gives the four definitions, `options` the names alone, `three-
way` the names of AttrScore: Attributable is read as supportive, Extrapolatory as irrelevant; it has no partial.
"""

from __future__ import annotations

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import as_file, files
from pathlib import Path
from typing import ClassVar, TypeVar

from abstraction.errors import ReplyError
from abstraction.models.chat_model import ChatModel, Message, Request, Sampling, sampling_of
from abstraction.phrasing.model_requests import RequestForm, RequestOutcome
from abstraction.phrasing.prompt_files import PromptKind, load_prompts, prompts_hash
from granola.base.code_hash import hash_of_modules
from granola.evidence.attribution.attribution_samples import AttributionSample
from granola.evidence.attribution.categories import Category, read_category
from granola.evidence.attribution.evaluators import AttributionJudgement, category_judgement, prompt_lines
from granola.evidence.evidence_task import model_name
from granola.replies import read_verdict

AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
CATEGORY = PromptKind(
    name="category", required=frozenset({"reference"}), optional=frozenset({"question", "answer", "claim"})
)
TRUTH = PromptKind(name="truth", required=frozenset({"fact", "reference"}))
REPLY_KEPT = 300  # characters of a reply that a judgement stores
_TRUTHS: Mapping[bool, tuple[str, ...]] = {True: ("true", "yes"), False: ("false", "no", "not true")}
T = TypeVar("T")
V = TypeVar("V")
FactAsked = tuple[AttributionSample, str]


class PromptFamily(StrEnum):
    """The family of prompts."""

    DEFINED = "defined"
    OPTIONS = "options"
    THREE_WAY = "three-way"

    @property
    def labels(self) -> Mapping[Category, str]:
        """The names of the categories in the prompt; a category that it does not offer is absent."""
        # In the order of `Category`; "" where the prompt has no name for the category.
        words = {
            PromptFamily.DEFINED: ("Supportive", "Partially supportive", "Contradictory", "Irrelevant"),
            PromptFamily.OPTIONS: ("Supportive", "Insufficient", "Contradictory", "Irrelevant"),
            PromptFamily.THREE_WAY: ("Attributable", "", "Contradictory", "Extrapolatory"),
        }[self]
        return {category: word for category, word in zip(Category, words, strict=True) if word}


def cited_lines(sample: AttributionSample) -> list[str]:
    """The citations as lines of a prompt."""
    return prompt_lines(sample.citations) or ["(nothing)"]


def failure_of(outcome: RequestOutcome[V]) -> str:
    """The reason for a missing verdict."""
    return f"{outcome.failed} {outcome.why}".strip()[:REPLY_KEPT]


@dataclass(kw_only=True)
class AskingEvaluator(ABC):
    """Base of evaluators that ask a chat model. `examples` precede each request, in order (few-shot).

    `replacing`: a folder with prompt files that replace the bundled ones of the same name.
    """

    model: ChatModel
    examples: Sequence[AttributionSample] = ()
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=256))
    replacing: Path | str | None = None
    kinds: ClassVar[tuple[PromptKind, ...]]

    def __post_init__(self) -> None:
        """Read the prompts. Raises PromptError."""
        with as_file(files("granola") / "evidence" / "attribution" / "evaluator_prompts") as bundled:
            # Each kind has its own folder; the true/false prompt is shared.
            sets = (self.kind.replace("-", "_"), "shared")
            self.prompts = load_prompts((*self.kinds, AGAIN, TRUTH), bundled, self.replacing, sets=sets)
        self.sampling = sampling_of(self.model, self.sampling)

    @property
    @abstractmethod
    def kind(self) -> str:
        """The kind of evaluator, as on the command line."""

    def signature(self) -> str:
        """`KIND|shots:N-HASH|model:NAME-HASH|prompt:HASH|temperature:T|v:HASH`."""
        # Different examples change verdicts, so the signature identifies them.
        digest = hashlib.sha256("".join(example.id for example in self.examples).encode()).hexdigest()[:8]
        shots = f"shots:{len(self.examples)}" + (f"-{digest}" if self.examples else "")
        version = hash_of_modules(type(self).__module__, "granola.evidence.attribution.categories")
        return (
            f"{self.kind}|{shots}|model:{model_name(self.model)}|prompt:{prompts_hash(dict(self.prompts))[:8]}"
            f"|temperature:{self.sampling.temperature:g}|v:{version}"
        )

    def ask_each(
        self, items: Iterable[T], ask: Callable[[T], Request], read: Callable[[str], V]
    ) -> Iterator[tuple[T, RequestOutcome[V]]]:
        """Ask about each item; yield it with the outcome, in order. An unreadable reply is requested once more."""
        form: RequestForm[T, V] = RequestForm(
            model=self.model, ask=ask, read=lambda _, reply: read(reply), again=self.prompts[AGAIN.name]
        )
        return form.run(items)

    def fact_verdicts(self, samples: Sequence[AttributionSample]) -> Iterator[tuple[bool | None, ...]]:
        """See `evaluators.fact_verdicts`: a true/false request for each fact in the context of the citations (CAQA,
        appendix D.2).
        """

        def ask(one: FactAsked) -> Request:
            slots = {"fact": one[1], "reference": cited_lines(one[0])}
            messages = self.prompts[TRUTH.name].fill(slots)
            return Request(id=f"{one[0].id} truth", messages=messages, sampling=self.sampling)

        # One flat list, so that the model gets full batches.
        pairs = [(sample, fact.text) for sample in samples for fact in sample.subgraph]
        told = iter([outcome.value for _, outcome in self.ask_each(pairs, ask, _read_truth)])
        for sample in samples:
            yield tuple(next(told) for _ in sample.subgraph)


def _read_truth(reply: str) -> bool:
    verdict = read_verdict(reply, _TRUTHS, affirming=(True,))
    if verdict is None:
        raise ReplyError("expected True or False")
    return verdict.verdict


def with_examples(messages: Sequence[Message], pairs: Sequence[tuple[Message, str]]) -> tuple[Message, ...]:
    """The messages with pairs of request and reply inserted before the last one."""
    shots = [one for question, reply in pairs for one in (question, Message(role="assistant", content=reply))]
    return (*messages[:-1], *shots, messages[-1])


@dataclass(kw_only=True)
class ChatEvaluator(AskingEvaluator):
    """Asks a chat model for the category of each sample."""

    family: PromptFamily = PromptFamily.DEFINED
    kinds = (CATEGORY,)

    @property
    def kind(self) -> str:
        """The family of prompts."""
        return str(self.family)

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`."""
        for sample, outcome in self.ask_each(samples, self._request, self._read):
            if outcome.value is None:
                yield AttributionJudgement(id=sample.id, failed=failure_of(outcome))
            else:
                yield category_judgement(sample, outcome.value[0], reply=outcome.value[1][:REPLY_KEPT])

    def _read(self, reply: str) -> tuple[Category, str]:
        return read_category(reply, numbered=self.family is PromptFamily.DEFINED), reply

    def _request(self, sample: AttributionSample) -> Request:
        labels = self.family.labels
        # Only the last message: the instructions appear once.
        pairs = [(self._messages(one)[-1], labels[one.category]) for one in self.examples if one.category is not None]
        return Request(id=sample.id, messages=with_examples(self._messages(sample), pairs), sampling=self.sampling)

    def _messages(self, sample: AttributionSample) -> tuple[Message, ...]:
        reference: dict[str, str | Sequence[str]] = {"reference": cited_lines(sample)}
        if self.family is PromptFamily.DEFINED:
            slots = {**reference, "question": sample.question, "answer": sample.statement}
        else:
            # Claim: question and statement, joined as the paper joins them.
            slots = {**reference, "claim": f"{sample.question}|{sample.statement}"}
        return self.prompts[CATEGORY.name].fill(slots)


def draw_examples(
    samples: Iterable[AttributionSample], number: int, *, categories: Sequence[Category], seed: int = 0
) -> list[AttributionSample]:
    """`number` samples of each category, drawn with a seed; the categories alternate."""
    by_category: dict[Category, list[AttributionSample]] = {category: [] for category in categories}
    for sample in samples:
        if sample.category in by_category:
            by_category[sample.category].append(sample)
    # Independent of other draws with the same seed.
    drawing = random.Random(f"examples {seed}")
    drawn = [drawing.sample(group, min(number, len(group))) for group in by_category.values()]
    return [group[at] for at in range(number) for group in drawn if at < len(group)]
