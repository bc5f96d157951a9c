"""An evaluator that splits the statement into facts, labels each, and combines the labels.

Hu et al. 2025 (CAQA), appendix E.3. The printed rules overlap; applied in this order they are a function: any fact
contradictory; all supportive; any supportive; else irrelevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from abstraction.errors import ReplyError
from abstraction.models.chat_model import Message, Request
from abstraction.phrasing.model_requests import RequestOutcome
from abstraction.phrasing.prompt_files import PromptKind
from granola.evidence.attribution.attribution_samples import AttributionSample
from granola.evidence.attribution.categories import Category, read_category
from granola.evidence.attribution.chat_evaluator import (
    AskingEvaluator,
    FactAsked,
    cited_lines,
    failure_of,
    with_examples,
)
from granola.evidence.attribution.evaluation import facts_in_evidence
from granola.evidence.attribution.evaluators import AttributionJudgement, category_judgement

SPLIT = PromptKind(name="split", required=frozenset({"question", "answer"}))
FACT = PromptKind(name="fact", required=frozenset({"fact", "reference"}))
MOST = 20  # facts of a statement; a reply with more is read as malformed
# samples per batch: facts of all are judged together
_BATCH = 256
_LABELS = {
    Category.SUPPORTIVE: "Supportive", Category.CONTRADICTORY: "Contradictory", Category.IRRELEVANT: "Irrelevant"
}  # fmt: skip


def combine_labels(labels: Sequence[Category]) -> Category:
    """The category of a statement from those of its facts; irrelevant if there are none."""
    if Category.CONTRADICTORY in labels:
        return Category.CONTRADICTORY
    if labels and all(label is Category.SUPPORTIVE for label in labels):
        return Category.SUPPORTIVE
    return Category.PARTIAL if Category.SUPPORTIVE in labels else Category.IRRELEVANT


def read_facts(reply: str) -> tuple[str, ...]:
    """The lines of a reply without bullets and numbers. Raises ReplyError for no fact, or more than `MOST`."""
    # Four lines per fact allow for blank lines and headings in a reply.
    lines = [line.strip().lstrip("-*•0123456789.) ").strip() for line in reply.splitlines()[: 4 * MOST]]
    # A repeated fact would count twice.
    facts = tuple(dict.fromkeys(line for line in lines if line))
    if not facts or len(facts) > MOST:
        raise ReplyError(f"1 to {MOST} facts are wanted, one a line")
    return facts


def fact_example(sample: AttributionSample) -> tuple[str, Category] | None:
    """A fact of an example with its label; None where no label is certain.

    Supportive sample: any fact is supportive. Contradictory: the fact that the edit changed is contradictory.
    Otherwise a fact missing from the evidence is irrelevant.
    """
    kept = facts_in_evidence(sample)
    wanted = sample.category is Category.SUPPORTIVE
    fact = next((fact for fact, told in zip(sample.subgraph, kept, strict=True) if told is wanted), None)
    if fact is None or sample.category is None:
        return None
    return fact.text, Category.IRRELEVANT if sample.category is Category.PARTIAL else sample.category


@dataclass(kw_only=True)
class DecomposedEvaluator(AskingEvaluator):
    """Asks for the facts of a statement, then for the label of each. Examples with known facts precede each request."""

    kinds = (SPLIT, FACT)

    @property
    def kind(self) -> str:
        """The kind of evaluator, as on the command line."""
        return "decomposed"

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`; a sample is unlabelled if one of its facts is."""
        source = iter(samples)
        while batch := list(islice(source, _BATCH)):
            split = list(self.ask_each(batch, self._split_request, read_facts))
            facts = [(sample, fact) for sample, outcome in split for fact in outcome.value or ()]
            labels = iter([outcome for _, outcome in self.ask_each(facts, self._fact_request, _read_label)])
            for sample, outcome in split:
                yield _combined_judgement(sample, outcome, [next(labels) for _ in outcome.value or ()])

    def _split_request(self, sample: AttributionSample) -> Request:
        def messages_of(one: AttributionSample) -> tuple[Message, ...]:
            return self.prompts[SPLIT.name].fill({"question": one.question, "answer": one.statement})

        # Examples of other data sets have no facts to show.
        split = [one for one in self.examples if one.subgraph]
        pairs = [(messages_of(one)[-1], "\n".join(fact.text for fact in one.subgraph)) for one in split]
        return Request(
            id=f"{sample.id} split", messages=with_examples(messages_of(sample), pairs), sampling=self.sampling
        )

    def _fact_request(self, asked: FactAsked) -> Request:
        def messages_of(sample: AttributionSample, fact: str) -> tuple[Message, ...]:
            return self.prompts[FACT.name].fill({"fact": fact, "reference": cited_lines(sample)})

        told = [(one, example) for one in self.examples if (example := fact_example(one)) is not None]
        pairs = [(messages_of(one, fact)[-1], _LABELS[label]) for one, (fact, label) in told]
        return Request(
            id=f"{asked[0].id} fact", messages=with_examples(messages_of(*asked), pairs), sampling=self.sampling
        )


def _combined_judgement(
    sample: AttributionSample, split: RequestOutcome[tuple[str, ...]], outcomes: Sequence[RequestOutcome[Category]]
) -> AttributionJudgement:
    labels = [outcome.value for outcome in outcomes if outcome.value is not None]
    if not split.value or len(labels) < len(outcomes):
        # Without all labels the rules could give a wrong category.
        lacking = [failure_of(outcome) for outcome in outcomes if outcome.value is None]
        return AttributionJudgement(id=sample.id, failed=lacking[0] if split.value else failure_of(split))
    facts = tuple((fact, str(label)) for fact, label in zip(split.value, labels, strict=True))
    return category_judgement(sample, combine_labels(labels), facts=facts)


def _read_label(reply: str) -> Category:
    label = read_category(reply)
    # A single fact is atomic: the prompt offers three labels.
    if label is Category.PARTIAL:
        raise ReplyError("expected supportive, contradictory or irrelevant")
    return label
