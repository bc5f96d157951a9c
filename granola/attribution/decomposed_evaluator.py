"""An evaluator that splits the statement into facts, judges each, and combines the labels.

Hu et al. 2025 (CAQA), appendix E.3. The rules as printed overlap; in this order they are one function: any fact
contradictory; all supportive; any supportive; else irrelevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from abstraction.errors import ReplyError
from abstraction.models.chat_model import ChatModel, Request, Sampling
from abstraction.models.prompts import Prompt, PromptKind, prompts_hash
from abstraction.phrasing.model_requests import RequestForm
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category
from granola.attribution.chat_evaluator import AGAIN, model_name, read_evaluator_prompts
from granola.attribution.evaluators import AttributionJudgement, in_pieces, of_category
from granola.attribution.label_reading import read_label
from granola.code_hash import hash_of_modules

SPLIT = PromptKind(name="split", required=frozenset({"question", "answer"}))
FACT = PromptKind(name="fact", required=frozenset({"fact", "reference"}))
MOST = 20  # facts of a statement that are judged
_BATCH = 256


def combined(labels: Sequence[Category]) -> Category:
    """The category of a statement by those of its facts; without any it is irrelevant."""
    if Category.CONTRADICTORY in labels:
        return Category.CONTRADICTORY
    if labels and all(label is Category.SUPPORTIVE for label in labels):
        return Category.SUPPORTIVE
    return Category.PARTIAL if Category.SUPPORTIVE in labels else Category.IRRELEVANT


def read_facts(reply: str) -> tuple[str, ...]:
    """The lines of a reply without what numbers them. Raises ReplyError for none, or for too many."""
    lines = [line.strip().lstrip("-*•0123456789.) ").strip() for line in reply.splitlines()[: 4 * MOST]]
    facts = tuple(dict.fromkeys(line for line in lines if line))
    if not facts or len(facts) > MOST:
        raise ReplyError(f"1 to {MOST} facts are wanted, one a line")
    return facts


@dataclass(kw_only=True)
class DecomposedEvaluator:
    """Asks `model` twice: for the facts, and for each of them."""

    model: ChatModel
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=256))
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: read_evaluator_prompts("decomposed", (SPLIT, FACT)))

    @property
    def classes(self) -> tuple[Category, ...]:
        """All four."""
        return tuple(Category)

    def signature(self) -> str:
        """`decomposed|model:NAME-HASH|prompt:HASH|temperature:T|v:HASH`."""
        version = hash_of_modules("granola.attribution.decomposed_evaluator", "granola.attribution.label_reading")
        return (
            f"decomposed|model:{model_name(self.model)}|prompt:{prompts_hash(dict(self.prompts))[:8]}"
            f"|temperature:{self.sampling.temperature:g}|v:{version}"
        )

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`; a sample one of whose facts has no label has none."""
        source = iter(samples)
        while batch := list(islice(source, _BATCH)):
            splitting: RequestForm[AttributionSample, tuple[str, ...]] = RequestForm(
                model=self.model,
                ask=self._split,
                read=lambda _, reply: read_facts(reply),
                again=self.prompts[AGAIN.name],
            )
            split = [outcome for _, outcome in splitting.run(batch)]
            asked = [
                (sample, fact)
                for sample, split_outcome in zip(batch, split, strict=True)
                for fact in split_outcome.value or ()
            ]
            judging: RequestForm[tuple[AttributionSample, str], Category] = RequestForm(
                model=self.model, ask=self._judge, read=lambda _, reply: _label(reply), again=self.prompts[AGAIN.name]
            )
            labels = iter([outcome for _, outcome in judging.run(asked)])
            for sample, split_outcome in zip(batch, split, strict=True):
                outcomes = [next(labels) for _ in split_outcome.value or ()]
                categories = [outcome.value for outcome in outcomes if outcome.value is not None]
                if not split_outcome.value or len(categories) < len(outcomes):
                    failed = (
                        split_outcome
                        if not split_outcome.value
                        else next(outcome for outcome in outcomes if outcome.value is None)
                    )
                    yield AttributionJudgement(id=sample.id, failed=f"{failed.failed} {failed.why}".strip()[:300])
                    continue
                facts = tuple((fact, str(label)) for fact, label in zip(split_outcome.value, categories, strict=True))
                yield of_category(sample, combined(categories), facts=facts)

    def _split(self, sample: AttributionSample) -> Request:
        messages = self.prompts[SPLIT.name].fill({"question": sample.question, "answer": sample.statement})
        return Request(id=f"{sample.id} split", messages=messages, sampling=self.sampling)

    def _judge(self, asked: tuple[AttributionSample, str]) -> Request:
        sample, fact = asked
        slots = {"fact": fact, "reference": in_pieces(sample.citations) or ["(nothing)"]}
        return Request(id=f"{sample.id} fact", messages=self.prompts[FACT.name].fill(slots), sampling=self.sampling)


def _label(reply: str) -> Category:
    label = read_label(reply)
    if label is None or label.category is Category.PARTIAL:
        raise ReplyError("expected supportive, contradictory or irrelevant")
    return label.category
