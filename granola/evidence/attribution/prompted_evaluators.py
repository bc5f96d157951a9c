"""Evaluators that ask a chat model: for a category in three families of prompts, fact by fact, or for 1 and 0.

Hu et al. 2025 (CAQA), appendix E. Families: `defined` gives the four definitions, `options` the names alone,
`three-way` the names of AttrScore: Attributable is read as supportive, Extrapolatory as irrelevant; it has no partial.
"""

from __future__ import annotations

import hashlib
import random
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path
from typing import ClassVar, TypeVar

from abstraction.errors import ReplyError
from abstraction.models.chat_model import ChatModel, Message, Request, Sampling, sampling_of
from abstraction.phrasing.model_requests import RequestForm, RequestOutcome
from abstraction.phrasing.prompt_files import PromptKind, load_prompts, prompts_hash
from granola.base.code_hash import hash_of_modules
from granola.evidence.attribution.attribution_samples import AttributionSample, Category, read_category
from granola.evidence.attribution.evaluators import (
    BATCH,
    AttributionJudgement,
    PremiseIs,
    category_judgement,
    pair_of_texts,
)
from granola.evidence.evidence_task import model_name
from granola.replies import read_verdict

AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
CATEGORY = PromptKind(
    name="category", required=frozenset({"reference"}), optional=frozenset({"question", "answer", "claim"})
)
TRUTH = PromptKind(name="truth", required=frozenset({"fact", "reference"}))
SPLIT = PromptKind(name="split", required=frozenset({"question", "answer"}))
FACT = PromptKind(name="fact", required=frozenset({"fact", "reference"}))
PAIR = PromptKind(name="pair", required=frozenset({"premise", "hypothesis"}))
REPLY_KEPT = 300  # characters of a reply that a judgement stores
MOST_FACTS = 20  # of a statement; a reply with more is read as malformed
_MOST_LINES, _LONGEST_LINE = 24, 1_900  # of the citations in a prompt; characters
_DEFINED = dict(zip(Category, ("Supportive", "Partially supportive", "Contradictory", "Irrelevant"), strict=True))
# The names of the categories in the prompts of each kind; a category that is not offered is absent.
LABELS: Mapping[str, Mapping[Category, str]] = {
    "defined": _DEFINED,
    "options": {**_DEFINED, Category.PARTIAL: "Insufficient"},
    "three-way": {
        Category.SUPPORTIVE: "Attributable", Category.CONTRADICTORY: "Contradictory",
        Category.IRRELEVANT: "Extrapolatory",
    },
    "decomposed": _DEFINED,
}  # fmt: skip
_TRUTHS: Mapping[bool, tuple[str, ...]] = {True: ("true", "yes"), False: ("false", "no", "not true")}
# The model was trained on 1 and 0; served models may write words.
_ENTAILED: Mapping[bool, tuple[str, ...]] = {True: ("1", "yes", "true"), False: ("0", "no", "false")}
T = TypeVar("T")
V = TypeVar("V")
_Fact = tuple[AttributionSample, str]


@dataclass(kw_only=True)
class PromptedEvaluator(ABC):
    """Base of evaluators that ask a chat model. `examples` precede each request, in order (few-shot).

    `kind`: the name on the command line, and of the folder of its prompts. `replacing`: a folder with prompt files that
    replace the bundled ones of the same name.
    """

    model: ChatModel
    kind: str
    examples: Sequence[AttributionSample] = ()
    temperature: float = 0.0
    replacing: Path | str | None = None
    prompt_kinds: ClassVar[tuple[PromptKind, ...]]
    most_tokens: ClassVar[int] = 1_000  # models that reason before the label need room; replies are cut for storage

    def __post_init__(self) -> None:
        """Read the prompts. Raises PromptError."""
        with as_file(files("granola") / "evidence" / "attribution" / "evaluator_prompts") as bundled:
            # Each kind has its own folder; the true/false prompt is shared.
            sets = (self.kind.replace("-", "_"), "shared")
            self.prompts = load_prompts((*self.prompt_kinds, AGAIN, TRUTH), bundled, self.replacing, sets=sets)
        sampling = Sampling(max_tokens=self.most_tokens, temperature=self.temperature)
        self.sampling = sampling_of(self.model, sampling)

    def signature(self) -> str:
        """`KIND|shots:N-HASH|model:NAME-HASH|prompt:HASH|temperature:T|v:HASH`."""
        # Different examples change verdicts, so the signature identifies them.
        digest = hashlib.sha256("".join(example.id for example in self.examples).encode()).hexdigest()[:8]
        shots = f"shots:{len(self.examples)}" + (f"-{digest}" if self.examples else "")
        version = hash_of_modules(__name__, AttributionSample.__module__)
        return (
            f"{self.kind}|{shots}|model:{model_name(self.model)}|prompt:{prompts_hash(dict(self.prompts))[:8]}"
            f"|temperature:{self.sampling.temperature:g}|v:{version}"
        )

    @abstractmethod
    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`."""

    def ask_each(
        self, items: Iterable[T], ask: Callable[[T], Request], read: Callable[[str], V]
    ) -> Iterator[tuple[T, RequestOutcome[V]]]:
        """Ask about each item; yield it with the outcome, in order. An unreadable reply is requested once more."""
        again = self.prompts[AGAIN.name]
        return RequestForm(model=self.model, ask=ask, read=lambda _, reply: read(reply), again=again).run(items)

    def fact_verdicts(self, samples: Sequence[AttributionSample]) -> Iterator[tuple[bool | None, ...]]:
        """See `evaluators.fact_verdicts`: a true/false request for each fact in the context of the citations (CAQA,
        appendix D.2).
        """

        def ask(one: _Fact) -> Request:
            messages = self.prompts[TRUTH.name].fill({"fact": one[1], "reference": cited_lines(one[0])})
            return Request(id=f"{one[0].id} truth", messages=messages, sampling=self.sampling)

        # One flat list, so that the model gets full batches.
        pairs = [(sample, fact.text) for sample in samples for fact in sample.subgraph]
        verdicts = iter([outcome.value for _, outcome in self.ask_each(pairs, ask, _read_truth)])
        for sample in samples:
            yield tuple(next(verdicts) for _ in sample.subgraph)

    def _request(self, request_id: str, asked: Sequence[Message], shots: Iterable[tuple[Message, str]]) -> Request:
        """The request `asked` with pairs of example and reply before its last message."""
        pairs = [one for shot, reply in shots for one in (shot, Message(role="assistant", content=reply))]
        return Request(id=request_id, messages=(*asked[:-1], *pairs, asked[-1]), sampling=self.sampling)


class CategoryEvaluator(PromptedEvaluator):
    """Asks for the category of each sample; `kind` is the family of prompts."""

    prompt_kinds = (CATEGORY,)

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`."""
        labels = LABELS[self.kind]

        def ask(sample: AttributionSample) -> Request:
            # Only the last message of an example: the instructions appear once.
            shots = ((self._messages(one)[-1], labels[one.category]) for one in self.examples if one.category)
            return self._request(sample.id, self._messages(sample), shots)

        def read(reply: str) -> tuple[Category, str]:
            return read_category(reply, numbered=self.kind == "defined"), reply

        for sample, outcome in self.ask_each(samples, ask, read):
            if outcome.value is None:
                yield AttributionJudgement(id=sample.id, failed=_failure_in_words(outcome))
            else:
                yield category_judgement(sample, outcome.value[0], reply=outcome.value[1][:REPLY_KEPT])

    def _messages(self, sample: AttributionSample) -> tuple[Message, ...]:
        # Claim: question and statement, joined as the paper joins them.
        asked: dict[str, str | Sequence[str]] = {"claim": f"{sample.question}|{sample.statement}"}
        if self.kind == "defined":
            asked = {"question": sample.question, "answer": sample.statement}
        return self.prompts[CATEGORY.name].fill({"reference": cited_lines(sample), **asked})


class DecomposedEvaluator(PromptedEvaluator):
    """Asks for the facts of a statement, then for the label of each, and combines the labels (appendix E.3).

    Examples with known facts precede each request.
    """

    prompt_kinds = (SPLIT, FACT)

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`; a sample is unlabelled if one of its facts is."""
        source = iter(samples)
        while batch := list(islice(source, BATCH)):
            split = list(self.ask_each(batch, self._split_request, read_facts))
            facts = [(sample, fact) for sample, outcome in split for fact in outcome.value or ()]
            labels = iter([outcome for _, outcome in self.ask_each(facts, self._fact_request, _read_fact_label)])
            for sample, outcome in split:
                found = {fact: next(labels) for fact in outcome.value or ()}
                known = {fact: one.value for fact, one in found.items() if one.value is not None}
                # Without all labels the rules could give a wrong category.
                if not found or len(known) < len(found):
                    failed = next((_failure_in_words(one) for one in found.values() if one.value is None), "")
                    yield AttributionJudgement(id=sample.id, failed=failed or _failure_in_words(outcome))
                else:
                    told = tuple((fact, str(label)) for fact, label in known.items())
                    yield category_judgement(sample, combine_labels(list(known.values())), facts=told)

    def _split_request(self, sample: AttributionSample) -> Request:
        def messages_of(one: AttributionSample) -> tuple[Message, ...]:
            return self.prompts[SPLIT.name].fill({"question": one.question, "answer": one.statement})

        # Examples of other data sets have no facts to show.
        split = [one for one in self.examples if one.subgraph]
        shots = ((messages_of(one)[-1], "\n".join(fact.text for fact in one.subgraph)) for one in split)
        return self._request(f"{sample.id} split", messages_of(sample), shots)

    def _fact_request(self, asked: _Fact) -> Request:
        def messages_of(sample: AttributionSample, fact: str) -> tuple[Message, ...]:
            return self.prompts[FACT.name].fill({"fact": fact, "reference": cited_lines(sample)})

        told = [(one, example) for one in self.examples if (example := _fact_example(one)) is not None]
        shots = ((messages_of(one, fact)[-1], LABELS[self.kind][label]) for one, (fact, label) in told)
        return self._request(f"{asked[0].id} fact", messages_of(*asked), shots)


def combine_labels(labels: Sequence[Category]) -> Category:
    """The category of a statement from those of its facts; irrelevant if there are none.

    The rules that the paper prints overlap; applied in this order they are a function.
    """
    if Category.CONTRADICTORY in labels:
        return Category.CONTRADICTORY
    if labels and all(label is Category.SUPPORTIVE for label in labels):
        return Category.SUPPORTIVE
    return Category.PARTIAL if Category.SUPPORTIVE in labels else Category.IRRELEVANT


def read_facts(reply: str) -> tuple[str, ...]:
    """The lines of a reply without bullets and numbers. Raises ReplyError for no fact, or more than `MOST_FACTS`."""
    # Four lines per fact allow for blank lines and headings in a reply.
    lines = [line.strip().lstrip("-*•0123456789.) ").strip() for line in reply.splitlines()[: 4 * MOST_FACTS]]
    # A repeated fact would count twice.
    facts = tuple(dict.fromkeys(line for line in lines if line))
    if not facts or len(facts) > MOST_FACTS:
        raise ReplyError(f"1 to {MOST_FACTS} facts are wanted, one a line")
    return facts


def _fact_example(sample: AttributionSample) -> tuple[str, Category] | None:
    """A fact of an example with its label; None where no label is certain.

    Supportive sample: any fact is supportive. Contradictory: the fact that the edit changed is contradictory.
    Otherwise a fact missing from the evidence is irrelevant.
    """
    wanted = sample.category is Category.SUPPORTIVE
    stated = zip(sample.subgraph, sample.facts_in_evidence, strict=True)
    fact = next((fact for fact, is_stated in stated if is_stated is wanted), None)
    if fact is None or sample.category is None:
        return None
    return fact.text, Category.IRRELEVANT if sample.category is Category.PARTIAL else sample.category


@dataclass(kw_only=True)
class GeneratedEntailment(PromptedEvaluator):
    """AutoIS and similar models, trained to write 1 where a premise entails a hypothesis, else 0.

    The model is an encoder-decoder, `local:FOLDER`, or served; the verdict is supported or not.
    """

    kind: str = "autois"
    premise: PremiseIs = PremiseIs.EVIDENCE
    prompt_kinds = (PAIR,)
    most_tokens = 8

    def signature(self) -> str:
        """The signature of `PromptedEvaluator`, with the premise."""
        return f"{super().signature()}|premise:{self.premise}"

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`."""

        def ask(sample: AttributionSample) -> Request:
            pair = pair_of_texts(sample, self.premise)
            slots = {"premise": pair.premise, "hypothesis": pair.hypothesis}
            return self._request(sample.id, self.prompts[PAIR.name].fill(slots), ())

        def read(reply: str) -> bool:
            if (verdict := read_verdict(reply, _ENTAILED)) is None:
                raise ReplyError("expected 1 or 0")
            return verdict

        for sample, outcome in self.ask_each(samples, ask, read):
            failed = _failure_in_words(outcome) if outcome.value is None else ""
            yield AttributionJudgement(id=sample.id, supported=outcome.value, failed=failed)


def cited_lines(sample: AttributionSample) -> list[str]:
    """The citations as lines of a prompt; long ones are cut at blanks."""
    texts = (" ".join(text.split()) for text in sample.citations)
    lines = (line for text in texts for line in textwrap.wrap(text, _LONGEST_LINE, break_on_hyphens=False))
    return list(islice(lines, _MOST_LINES)) or ["(nothing)"]


def _failure_in_words(outcome: RequestOutcome[V]) -> str:
    return f"{outcome.failed} {outcome.why}".strip()[:REPLY_KEPT]


def _read_fact_label(reply: str) -> Category:
    label = read_category(reply)
    # A single fact is atomic: the prompt offers three labels.
    if label is Category.PARTIAL:
        raise ReplyError("expected supportive, contradictory or irrelevant")
    return label


def _read_truth(reply: str) -> bool:
    if (verdict := read_verdict(reply, _TRUTHS, affirming=(True,))) is None:
        raise ReplyError("expected True or False")
    return verdict


def draw_examples(
    samples: Iterable[AttributionSample], number: int, *, categories: Sequence[Category], seed: int = 0
) -> list[AttributionSample]:
    """`number` samples of each category, drawn with a seed; the categories alternate."""
    pool = list(samples)
    groups = [[sample for sample in pool if sample.category is category] for category in categories]
    # Independent of other draws with the same seed.
    drawing = random.Random(f"examples {seed}")
    drawn = [drawing.sample(group, min(number, len(group))) for group in groups]
    return [group[at] for at in range(number) for group in drawn if at < len(group)]
