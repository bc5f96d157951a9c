"""An evaluator that splits the statement into facts, judges each, and combines the labels.

Hu et al. 2025 (CAQA), appendix E.3. The rules as printed overlap; in this order they are one function: any fact
contradictory; all supportive; any supportive; else irrelevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from abstraction.errors import ReplyError
from abstraction.models import ChatModel, Message, Request, Sampling
from abstraction.models.prompts import Prompt, PromptKind, prompts_hash
from abstraction.phrasing.model_requests import RequestForm, RequestOutcome
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category, read_category
from granola.attribution.chat_evaluator import (
    AGAIN,
    FactAsked,
    cited_lines,
    failure_of,
    read_evaluator_prompts,
    shots_told,
    truths_of_facts,
)
from granola.attribution.evaluation_metrics import automatic_facts
from granola.attribution.evaluators import AttributionJudgement, of_category
from granola.code_hash import hash_of_modules
from granola.evidence.judge_names import model_name

SPLIT = PromptKind(name="split", required=frozenset({"question", "answer"}))
FACT = PromptKind(name="fact", required=frozenset({"fact", "reference"}))
MOST = 20  # facts of a statement that are judged
_BATCH = 256
_LABELS = {
    Category.SUPPORTIVE: "Supportive", Category.CONTRADICTORY: "Contradictory", Category.IRRELEVANT: "Irrelevant"
}  # fmt: skip


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


def fact_example(sample: AttributionSample) -> tuple[str, Category] | None:
    """A fact of an example with its label; None where none is known for certain.

    Of a supportive sample any fact is supportive; of a contradictory one the fact that the evidence changed is
    contradictory; of others one that is not there is irrelevant.
    """
    kept = automatic_facts(sample)
    wanted = sample.category is Category.SUPPORTIVE
    fact = next((fact for fact, told in zip(sample.subgraph, kept, strict=True) if told is wanted), None)
    if fact is None or sample.category is None:
        return None
    return fact.text, Category.IRRELEVANT if sample.category is Category.PARTIAL else sample.category


@dataclass(kw_only=True)
class DecomposedEvaluator:
    """Asks `model` twice: for the facts, and for each of them. `examples`, with their facts, stand before both."""

    model: ChatModel
    examples: Sequence[AttributionSample] = ()
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=256))
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: read_evaluator_prompts("decomposed", (SPLIT, FACT)))

    @property
    def classes(self) -> tuple[Category, ...]:
        """All four."""
        return tuple(Category)

    def signature(self) -> str:
        """`decomposed|shots:N-HASH|model:NAME-HASH|prompt:HASH|temperature:T|v:HASH`."""
        version = hash_of_modules("granola.attribution.decomposed_evaluator", "granola.attribution.categories")
        return (
            f"decomposed|{shots_told(self.examples)}|model:{model_name(self.model)}"
            f"|prompt:{prompts_hash(dict(self.prompts))[:8]}|temperature:{self.sampling.temperature:g}|v:{version}"
        )

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`; a sample one of whose facts has no label has none."""
        source = iter(samples)
        while batch := list(islice(source, _BATCH)):
            splitting: RequestForm[AttributionSample, tuple[str, ...]] = RequestForm(
                model=self.model, ask=self._split, read=lambda _, reply: read_facts(reply),
                again=self.prompts[AGAIN.name],
            )  # fmt: skip
            split = [outcome for _, outcome in splitting.run(batch)]
            asked = [
                (sample, fact)
                for sample, outcome in zip(batch, split, strict=True)
                for fact in outcome.value or ()
            ]  # fmt: skip
            judging: RequestForm[FactAsked, Category] = RequestForm(
                model=self.model, ask=self._judge, read=lambda _, reply: _label(reply), again=self.prompts[AGAIN.name]
            )
            labels = iter([outcome for _, outcome in judging.run(asked)])
            for sample, outcome in zip(batch, split, strict=True):
                yield _judgement(sample, outcome, [next(labels) for _ in outcome.value or ()])

    def fact_verdicts(self, samples: Sequence[AttributionSample]) -> Iterator[tuple[bool | None, ...]]:
        """As `FactJudge.fact_verdicts`."""
        return truths_of_facts(self.model, samples, self.prompts, self.sampling)

    def _split(self, sample: AttributionSample) -> Request:
        def asked(one: AttributionSample) -> tuple[Message, ...]:
            return self.prompts[SPLIT.name].fill({"question": one.question, "answer": one.statement})

        pairs = [(asked(one)[-1], "\n".join(fact.text for fact in one.subgraph)) for one in self.examples]
        messages = _with_examples(asked(sample), [pair for pair in pairs if pair[1]])
        return Request(id=f"{sample.id} split", messages=messages, sampling=self.sampling)

    def _judge(self, asked: FactAsked) -> Request:
        def of(sample: AttributionSample, fact: str) -> tuple[Message, ...]:
            return self.prompts[FACT.name].fill({"fact": fact, "reference": cited_lines(sample)})

        told = [(one, example) for one in self.examples if (example := fact_example(one)) is not None]
        pairs = [(of(one, fact)[-1], _LABELS[label]) for one, (fact, label) in told]
        return Request(id=f"{asked[0].id} fact", messages=_with_examples(of(*asked), pairs), sampling=self.sampling)


def _with_examples(messages: Sequence[Message], pairs: Sequence[tuple[Message, str]]) -> tuple[Message, ...]:
    *before, last = messages
    shots = [one for asked, reply in pairs for one in (asked, Message(role="assistant", content=reply))]
    return (*before, *shots, last)


def _judgement(
    sample: AttributionSample, split: RequestOutcome[tuple[str, ...]], outcomes: Sequence[RequestOutcome[Category]]
) -> AttributionJudgement:
    labels = [outcome.value for outcome in outcomes if outcome.value is not None]
    if not split.value or len(labels) < len(outcomes):
        lacking = [failure_of(outcome) for outcome in outcomes if outcome.value is None]
        return AttributionJudgement(id=sample.id, failed=lacking[0] if split.value else failure_of(split))
    facts = tuple((fact, str(label)) for fact, label in zip(split.value, labels, strict=True))
    return of_category(sample, combined(labels), facts=facts)


def _label(reply: str) -> Category:
    label = read_category(reply)
    if label is Category.PARTIAL:
        raise ReplyError("expected supportive, contradictory or irrelevant")
    return label
