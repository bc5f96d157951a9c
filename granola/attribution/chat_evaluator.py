"""A chat model as evaluator: without examples or with some of each category, in three families of prompts.

Families (Hu et al. 2025, CAQA, appendix E): `defined` has the four definitions, `options` the words alone, `three-way`
the words of AttrScore, whose Attributable is supportive and whose Extrapolatory is irrelevant; it never says partial.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import as_file, files
from pathlib import Path
from typing import TypeVar

from abstraction.errors import ReplyError
from abstraction.models import ChatModel, Message, Request, Sampling
from abstraction.models.prompts import Prompt, PromptKind, load_prompts, prompts_hash
from abstraction.phrasing.model_requests import RequestForm, RequestOutcome
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category, read_category
from granola.attribution.evaluators import AttributionJudgement, in_pieces, of_category
from granola.code_hash import hash_of_modules
from granola.evidence.judge_names import model_name
from granola.replies import read_verdict

AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
CATEGORY = PromptKind(
    name="category", required=frozenset({"reference"}), optional=frozenset({"question", "answer", "claim"})
)
TRUTH = PromptKind(name="truth", required=frozenset({"fact", "reference"}))
KEPT = 300  # characters of a reply that judgements keep
_TRUTHS: Mapping[bool, tuple[str, ...]] = {True: ("true", "yes"), False: ("false", "no", "not true")}
V = TypeVar("V")
FactAsked = tuple[AttributionSample, str]


class PromptFamily(StrEnum):
    """Which prompt is asked with."""

    DEFINED = "defined"
    OPTIONS = "options"
    THREE_WAY = "three-way"

    @property
    def labels(self) -> Mapping[Category, str]:
        """The words that its prompt offers for the categories."""
        words = {
            PromptFamily.DEFINED: ("Supportive", "Partially supportive", "Contradictory", "Irrelevant"),
            PromptFamily.OPTIONS: ("Supportive", "Insufficient", "Contradictory", "Irrelevant"),
            PromptFamily.THREE_WAY: ("Attributable", "", "Contradictory", "Extrapolatory"),
        }[self]
        return {category: word for category, word in zip(Category, words, strict=True) if word}


def read_evaluator_prompts(
    family: str, kinds: Sequence[PromptKind], replacing: Path | str | None = None
) -> dict[str, Prompt]:
    """The prompts of a family, what asks for the truth of a fact, and what asks again. Raises PromptError."""
    with as_file(files("granola") / "attribution" / "evaluator_prompts") as bundled:
        prompts = load_prompts(kinds, bundled / family.replace("-", "_"), replacing)
        return {**prompts, **load_prompts((AGAIN, TRUTH), bundled, replacing)}


def cited_lines(sample: AttributionSample) -> list[str]:
    """The citations as lines of a prompt."""
    return in_pieces(sample.citations) or ["(nothing)"]


def failure_of(outcome: RequestOutcome[V]) -> str:
    """Why a model gave no verdict."""
    return f"{outcome.failed} {outcome.why}".strip()[:KEPT]


def truths_of_facts(
    model: ChatModel, samples: Sequence[AttributionSample], prompts: Mapping[str, Prompt], sampling: Sampling
) -> Iterator[tuple[bool | None, ...]]:
    """As `FactJudge.fact_verdicts`: a true/false question on each fact and its context (CAQA, appendix D.2)."""

    def ask(asked: FactAsked) -> Request:
        slots = {"fact": asked[1], "reference": cited_lines(asked[0])}
        return Request(id=f"{asked[0].id} truth", messages=prompts[TRUTH.name].fill(slots), sampling=sampling)

    def read(_: FactAsked, reply: str) -> bool:
        verdict = read_verdict(reply, _TRUTHS, affirming=(True,))
        if verdict is None:
            raise ReplyError("expected True or False")
        return verdict.verdict

    form: RequestForm[FactAsked, bool] = RequestForm(model=model, ask=ask, read=read, again=prompts[AGAIN.name])
    pairs = [(sample, fact.text) for sample in samples for fact in sample.subgraph]
    told = iter([outcome.value for _, outcome in form.run(pairs)])
    for sample in samples:
        yield tuple(next(told) for _ in sample.subgraph)


@dataclass(kw_only=True)
class ChatEvaluator:
    """Asks `model` for the category of each sample; `examples` stand before it, in the order given."""

    model: ChatModel
    family: PromptFamily = PromptFamily.DEFINED
    examples: Sequence[AttributionSample] = ()
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=64))
    prompts: Mapping[str, Prompt] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.prompts = self.prompts or read_evaluator_prompts(self.family.value, (CATEGORY,))

    @property
    def classes(self) -> tuple[Category, ...]:
        """All four, or without partial."""
        return tuple(self.family.labels)

    def signature(self) -> str:
        """`chat:FAMILY|shots:N-HASH|model:NAME-HASH|prompt:HASH|temperature:T|v:HASH`."""
        return "|".join((
            f"chat:{self.family}", shots_told(self.examples), f"model:{model_name(self.model)}",
            f"prompt:{prompts_hash(dict(self.prompts))[:8]}", f"temperature:{self.sampling.temperature:g}",
            f"v:{hash_of_modules('granola.attribution.chat_evaluator', 'granola.attribution.categories')}",
        ))  # fmt: skip

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`."""
        form: RequestForm[AttributionSample, tuple[Category, str]] = RequestForm(
            model=self.model, ask=self._request, read=self._read, again=self.prompts[AGAIN.name]
        )
        for sample, outcome in form.run(samples):
            if outcome.value is None:
                yield AttributionJudgement(id=sample.id, failed=failure_of(outcome))
            else:
                yield of_category(sample, outcome.value[0], reply=outcome.value[1][:KEPT])

    def fact_verdicts(self, samples: Sequence[AttributionSample]) -> Iterator[tuple[bool | None, ...]]:
        """As `FactJudge.fact_verdicts`."""
        return truths_of_facts(self.model, samples, self.prompts, self.sampling)

    def _read(self, _: AttributionSample, reply: str) -> tuple[Category, str]:
        return read_category(reply, numbered=self.family is PromptFamily.DEFINED), reply

    def _request(self, sample: AttributionSample) -> Request:
        *before, last = self._asked(sample)
        shots: list[Message] = []
        for example in self.examples:
            if example.category is None:
                raise ValueError(f"{example.id} has no category and is no example")
            label = self.family.labels[example.category]
            shots += [self._asked(example)[-1], Message(role="assistant", content=label)]
        return Request(id=sample.id, messages=(*before, *shots, last), sampling=self.sampling)

    def _asked(self, sample: AttributionSample) -> tuple[Message, ...]:
        reference: dict[str, str | Sequence[str]] = {"reference": cited_lines(sample)}
        if self.family is PromptFamily.DEFINED:
            slots = {**reference, "question": sample.question, "answer": sample.statement}
        else:
            # Claim: question and statement, joined as the paper joins them.
            slots = {**reference, "claim": f"{sample.question}|{sample.statement}"}
        return self.prompts[CATEGORY.name].fill(slots)


def shots_told(examples: Sequence[AttributionSample]) -> str:
    """`shots:N-HASH` for a signature."""
    digest = hashlib.sha256("".join(example.id for example in examples).encode()).hexdigest()[:8]
    return f"shots:{len(examples)}" + (f"-{digest}" if examples else "")


def drawn_examples(
    samples: Iterable[AttributionSample], number: int, *, categories: Sequence[Category], seed: int = 0
) -> list[AttributionSample]:
    """`number` samples of each category, drawn with a seed, categories in turn."""
    by_category: dict[Category, list[AttributionSample]] = {category: [] for category in categories}
    for sample in samples:
        if sample.category in by_category:
            by_category[sample.category].append(sample)
    drawing = random.Random(f"examples {seed}")
    drawn = [drawing.sample(group, min(number, len(group))) for group in by_category.values()]
    return [group[at] for at in range(number) for group in drawn if at < len(group)]
