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

import orjson

from abstraction.errors import ReplyError
from abstraction.models.chat_model import ChatModel, Message, Request, Sampling
from abstraction.models.prompts import Prompt, PromptKind, load_prompts, prompts_hash
from abstraction.phrasing.model_requests import RequestForm
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category
from granola.attribution.evaluators import AttributionJudgement, in_pieces, of_category
from granola.attribution.label_reading import ReadLabel, read_label
from granola.code_hash import hash_of_modules

AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
CATEGORY = PromptKind(
    name="category", required=frozenset({"reference"}), optional=frozenset({"question", "answer", "claim"})
)
_KEPT = 300  # characters of a reply that judgements keep


class PromptFamily(StrEnum):
    """Which prompt is asked with."""

    DEFINED = "defined"
    OPTIONS = "options"
    THREE_WAY = "three-way"


_LABELS = {
    PromptFamily.DEFINED: ("Supportive", "Partially supportive", "Contradictory", "Irrelevant"),
    PromptFamily.OPTIONS: ("Supportive", "Insufficient", "Contradictory", "Irrelevant"),
    PromptFamily.THREE_WAY: ("Attributable", "", "Contradictory", "Extrapolatory"),
}


def read_evaluator_prompts(
    family: str, kinds: Sequence[PromptKind], replacing: Path | str | None = None
) -> dict[str, Prompt]:
    """The prompts of a family and what asks again. Raises PromptError."""
    with as_file(files("granola") / "attribution" / "evaluator_prompts") as bundled:
        prompts = load_prompts(kinds, bundled / family.replace("-", "_"), replacing)
        return {**prompts, **load_prompts((AGAIN,), bundled)}


@dataclass(kw_only=True)
class ChatEvaluator:
    """Asks `model` for the category of each sample; `examples` stand before it, in the order given."""

    model: ChatModel
    family: PromptFamily = PromptFamily.DEFINED
    examples: Sequence[AttributionSample] = ()
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=64))
    prompts: Mapping[str, Prompt] | None = None

    def __post_init__(self) -> None:
        if self.prompts is None:
            self.prompts = read_evaluator_prompts(self.family.value, (CATEGORY,))

    @property
    def classes(self) -> tuple[Category, ...]:
        """All four, or without partial."""
        three = self.family is PromptFamily.THREE_WAY
        return tuple(category for category in Category if not (three and category is Category.PARTIAL))

    def signature(self) -> str:
        """`chat:FAMILY|shots:N-HASH|model:NAME-HASH|prompt:HASH|temperature:T|v:HASH`."""
        shots = hashlib.sha256("".join(example.id for example in self.examples).encode()).hexdigest()[:8]
        return "|".join((
            f"chat:{self.family}", f"shots:{len(self.examples)}" + (f"-{shots}" if self.examples else ""),
            f"model:{model_name(self.model)}", f"prompt:{prompts_hash(dict(self.prompts or {}))[:8]}",
            f"temperature:{self.sampling.temperature:g}",
            f"v:{hash_of_modules('granola.attribution.chat_evaluator', 'granola.attribution.label_reading')}",
        ))  # fmt: skip

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`."""
        assert self.prompts is not None
        form: RequestForm[AttributionSample, tuple[ReadLabel, str]] = RequestForm(
            model=self.model, ask=self._request, read=_read, again=self.prompts[AGAIN.name]
        )
        for sample, outcome in form.run(samples):
            if outcome.value is None:
                yield AttributionJudgement(id=sample.id, failed=f"{outcome.failed} {outcome.why}".strip()[:_KEPT])
            else:
                label, reply = outcome.value
                yield of_category(sample, label.category, reply=reply[:_KEPT])

    def _request(self, sample: AttributionSample) -> Request:
        *before, last = self._asked(sample)
        shots: list[Message] = []
        for example in self.examples:
            label = dict(zip(Category, _LABELS[self.family], strict=True))[_category_of(example)]
            shots += [self._asked(example)[-1], Message(role="assistant", content=label)]
        return Request(id=sample.id, messages=(*before, *shots, last), sampling=self.sampling)

    def _asked(self, sample: AttributionSample) -> tuple[Message, ...]:
        assert self.prompts is not None
        reference: dict[str, str | list[str]] = {"reference": in_pieces(sample.citations) or ["(nothing)"]}
        if self.family is PromptFamily.DEFINED:
            slots = {**reference, "question": sample.question, "answer": sample.statement}
        else:
            # Claim: question and statement, joined as the paper joins them.
            slots = {**reference, "claim": f"{sample.question}|{sample.statement}"}
        return self.prompts[CATEGORY.name].fill(slots)


def _category_of(sample: AttributionSample) -> Category:
    if sample.category is None:
        raise ValueError(f"{sample.id} has no category and is no example")
    return sample.category


def _read(_sample: AttributionSample, reply: str) -> tuple[ReadLabel, str]:
    label = read_label(reply)
    if label is None:
        raise ReplyError("no category, or several")
    return label, reply


def model_name(model: ChatModel) -> str:
    """What a signature calls a model: its name, and a hash of all that tells it from others."""
    return identity_name(model.identity)


def identity_name(identity: Mapping[str, object]) -> str:
    """As `model_name`, of an identity."""
    digest = hashlib.sha256(orjson.dumps(dict(identity), option=orjson.OPT_SORT_KEYS, default=str)).hexdigest()[:8]
    called = str(identity.get("model") or identity.get("kind") or "model")
    return "".join(c if c.isalnum() or c in "._/-" else "_" for c in called) + f"-{digest}"


def drawn_examples(
    samples: Iterable[AttributionSample], number: int, *, family: PromptFamily, seed: int = 0
) -> list[AttributionSample]:
    """`number` samples of each category that the family knows, drawn with a seed, categories in turn."""
    categories = [
        category for category in Category if not (family is PromptFamily.THREE_WAY and category is Category.PARTIAL)
    ]
    by_category: dict[Category, list[AttributionSample]] = {category: [] for category in categories}
    for sample in samples:
        if sample.category in by_category:
            by_category[sample.category].append(sample)
    drawing = random.Random(f"examples {seed}")
    drawn = [drawing.sample(group, min(number, len(group))) for group in by_category.values()]
    return [group[at] for at in range(number) for group in drawn if at < len(group)]
