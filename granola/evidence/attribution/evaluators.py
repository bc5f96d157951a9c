"""Evaluators of attribution: by the facts of a sample, its words, models of entailment and of classes, chat models.

Chat models get the prompts of Hu et al. 2025 (CAQA), appendix E: for a category in three families of prompts, fact by
fact, or for 1 and 0. The family `defined` contains the four definitions, `options` only the names of the categories,
`three-way` the names of AttrScore: Attributable is read as supportive, Extrapolatory as irrelevant; it has no partial.
"""

from __future__ import annotations

import hashlib
import random
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import asdict, astuple, dataclass
from enum import StrEnum
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from abstraction.errors import ReplyError
from abstraction.files.row_models import finite_number
from abstraction.models.chat_model import ChatModel, Message, Request, Sampling, sampling_of
from abstraction.models.spec import open_classifier, open_entailment
from abstraction.models.text_scorers import EntailmentModel, TextPair
from abstraction.phrasing.prompting import PromptKind, RequestForm, RequestOutcome, load_prompts, prompts_hash
from granola.base.run_record import hash_of_modules
from granola.errors import UsageError
from granola.evidence.attribution.attribution_task import (
    LABELS,
    TWO_WAY,
    AttributionJudgement,
    AttributionSample,
    Category,
    read_samples,
)
from granola.evidence.attribution.sample_queries import reason_unproven
from granola.evidence.attribution.sample_texts import AGAIN
from granola.evidence.evidence_task import model_name_with_hash, name_with_hash
from granola.replies import read_verdict
from kg.errors import GroundingError
from kg.graph.logical_query import LogicalQuery, StoreFacts, ground
from kg.store import open_store

CHAT = ("defined", "options", "three-way", "decomposed")
KINDS = ("graph", "words", "trained", "encoder", *CHAT, "nli", "autois")
BATCH = 256  # samples per call of a model; a scorer with more `items_per_call` gets that many
REPLY_KEPT = 300  # characters of a reply that a judgement stores
MOST_FACTS = 20  # facts of one statement at most; a reply with more is read as malformed
_MOST_LINES, _LONGEST_LINE = 24, 1_900  # the citations in a prompt: lines at most, and characters of a line
SampleFact = tuple[AttributionSample, str]  # a fact that a sample needs, in words
T = TypeVar("T")
V = TypeVar("V")


class AttributionEvaluator(ABC):
    """Judges whether the citations of samples support their statements."""

    @abstractmethod
    def signature(self) -> str:
        """A signature of everything that determines the judgements."""

    @abstractmethod
    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """One judgement for each sample, in order, failures included."""

    def fact_verdicts(self, samples: Sequence[AttributionSample]) -> Iterator[tuple[bool | None, ...]]:
        """For each sample, in order, the verdicts on the facts of its subgraph; None for a missing one."""
        # The facts of all samples form one list, so that evaluators can judge them in batches.
        facts = [(sample, fact.text) for sample in samples for fact in sample.subgraph]
        verdicts = iter(list(self.judge_facts(facts)))
        for sample in samples:
            yield tuple(next(verdicts) for _ in sample.subgraph)

    def judge_facts(self, facts: Sequence[SampleFact]) -> Iterator[bool | None]:
        """Judge each fact as a statement: supportive is true, every other category false (section 5.4)."""
        asked = (sample.model_copy(update={"statement": fact, "category": None}) for sample, fact in facts)
        return (judged.supported for judged in self.judge(asked))


class GraphEvaluator(AttributionEvaluator):
    """Labels a sample by the facts in its row: the query is run on them and on a store.

    It reads no text. It shows whether labels are valid for another snapshot, and gives an upper bound for evaluators.
    """

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts

    def signature(self) -> str:
        """`graph|snapshot:ID|v:HASH`."""
        return f"graph|snapshot:{str(self._facts.store.manifest()['snapshot_id'])[:8]}|v:{hash_of_modules(__name__)}"

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """One judgement for each sample; a sample without a query that the graph answers has no verdict."""
        for sample in samples:
            truth = None
            with suppress(GroundingError):
                truth = ground(LogicalQuery.from_json(sample.query), self._facts) if sample.query is not None else None
            category, failed = None, "no query that the graph answers"
            if truth is not None and truth.answers:
                evidence, failed = (tuple(one.fact for one in sample.evidence),), "no category is proved"
                proved = (one for one in Category if reason_unproven(one, truth, evidence, self._facts) is None)
                category = next(proved, None)
            judged = AttributionJudgement(id=sample.id, failed=failed)
            yield judged if category is None else AttributionJudgement.of(sample, category)

    def fact_verdicts(self, samples: Sequence[AttributionSample]) -> Iterator[tuple[bool | None, ...]]:
        """Whether the evidence states each fact: the row lists the stated facts, so this equals the automatic score."""
        return (sample.needed_facts_stated for sample in samples)


class TextEvaluator(AttributionEvaluator):
    """Labels the texts of samples in batches, without a chat model. `model`: the scorer, where there is one."""

    @abstractmethod
    def labels(self, batch: Sequence[AttributionSample]) -> Iterable[Category | bool]:
        """The label of each sample, in order: a category, or for two classes whether it is supported."""

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """One judgement for each sample, in order."""
        source, model = iter(samples), getattr(self, "model", None)
        while batch := list(islice(source, max(BATCH, getattr(model, "items_per_call", 0)))):
            yield from map(AttributionJudgement.of, batch, self.labels(batch))


@dataclass(frozen=True, kw_only=True)
class WordEvaluator(TextEvaluator):
    """A baseline: supported if the citations contain at least `share` of the words of the statement.

    Words have four letters or more; it is two-way.
    """

    share: float = 0.6

    def signature(self) -> str:
        """`words|share:S`."""
        return f"words|share:{self.share:g}"

    def labels(self, batch: Sequence[AttributionSample]) -> Iterator[bool]:
        """Whether each sample is supported."""
        for sample in batch:
            words, there = long_words(sample.statement), long_words(" ".join(sample.citations))
            # A statement without long words claims nothing that could be missing.
            yield not words or len(words & there) / len(words) >= self.share


def long_words(text: str) -> frozenset[str]:
    """The case-folded words of at least four letters."""
    return frozenset(re.findall(r"\w{4,60}", text.casefold()[:200_000]))


class PremiseIs(StrEnum):
    """The premise: EVIDENCE, as NLI models expect, or STATEMENT (question and statement), as Table 12 prints it."""

    EVIDENCE = "evidence"
    STATEMENT = "statement"


def premise_and_hypothesis(sample: AttributionSample, premise: PremiseIs) -> TextPair:
    """The citations as premise and the statement as hypothesis, or question with statement as premise and the
    citations as hypothesis.
    """
    evidence = " ".join(sample.citations)
    if premise is PremiseIs.STATEMENT:
        return TextPair(f"{sample.question} {sample.statement}".strip(), evidence)
    # The question is in neither text: AutoIS judges the statement alone.
    return TextPair(evidence, sample.statement)


@dataclass(kw_only=True)
class EntailmentEvaluator(TextEvaluator):
    """Three classes: entailed is supportive, refuted contradictory, neutral irrelevant (the mapping of AttrScore in
    the paper).
    """

    model: EntailmentModel
    premise: PremiseIs = PremiseIs.EVIDENCE

    def signature(self) -> str:
        """`nli|premise:evidence|model:NAME-HASH`."""
        return f"nli|premise:{self.premise}|model:{name_with_hash(self.model.identity)}"

    def labels(self, batch: Sequence[AttributionSample]) -> Iterator[Category]:
        """The category of each sample."""
        for judged in self.model.scores([premise_and_hypothesis(sample, self.premise) for sample in batch]):
            shares = {
                Category.SUPPORTIVE: judged.entailed, Category.CONTRADICTORY: judged.refuted,
                Category.IRRELEVANT: judged.neutral,
            }  # fmt: skip
            # NLI has no class for partial support.
            yield max(shares, key=shares.__getitem__)


class ClassifierEvaluator(TextEvaluator):
    """A sequence classifier for pairs of texts: question with statement, and citations; the longer text is cut at its
    end.

    The labels of the model must be the four categories, or "supported" and "not supported".
    """

    def __init__(self, model_spec: str) -> None:
        """`model_spec`: a folder or a name on the hub, with settings (`FOLDER?longest=256`). UsageError, ModelError."""
        self.model = open_classifier(f"local:{model_spec}")
        self._labels = [label.replace("_", " ").casefold() for label in self.model.labels]
        if not {*self._labels} <= {*Category} and {*self._labels} != {*TWO_WAY}:
            raise UsageError(
                f"encoder={model_spec} has the labels {', '.join(self.model.labels)}; expected {', '.join(Category)}, "
                f"or {' and '.join(TWO_WAY)}"
            )

    def signature(self) -> str:
        """`encoder|model:NAME-HASH`, of weights and length."""
        return f"encoder|model:{name_with_hash(self.model.identity)}"

    def labels(self, batch: Sequence[AttributionSample]) -> Iterator[Category | bool]:
        """The most probable label of each sample."""
        pairs = [astuple(premise_and_hypothesis(sample, PremiseIs.STATEMENT)) for sample in batch]
        for row in self.model.logits(pairs):
            label = self._labels[row.index(max(row))]
            yield label == TWO_WAY[1] if label in TWO_WAY else Category(label)


CATEGORY = PromptKind(
    name="category", required=frozenset({"reference"}), optional=frozenset({"question", "answer", "claim"})
)
TRUTH = PromptKind(name="truth", required=frozenset({"fact", "reference"}))
SPLIT = PromptKind(name="split", required=frozenset({"question", "answer"}))
FACT = PromptKind(name="fact", required=frozenset({"fact", "reference"}))
PAIR = PromptKind(name="pair", required=frozenset({"premise", "hypothesis"}))
# The names of the categories in the prompts of each kind; a category that is not offered is absent.
NAMES: Mapping[str, Mapping[Category, str]] = LABELS["prompts"]
_TRUTHS: Mapping[bool, tuple[str, ...]] = {True: ("true", "yes"), False: ("false", "no", "not true")}
# The model was trained on 1 and 0; served models may write words.
_ENTAILED: Mapping[bool, tuple[str, ...]] = {True: ("1", "yes", "true"), False: ("0", "no", "false")}
_Slots = Mapping[str, str | Sequence[str]]


def _read_label(reply: str, labels: Mapping[V, Iterable[str]], expected: str, affirming: Sequence[V] = ()) -> V:
    """The label in a reply. Raises ReplyError, with `expected`, where there is none or several."""
    if (label := read_verdict(reply, labels, affirming=affirming)) is None:
        raise ReplyError(expected)
    return label


def read_category(reply: str, *, numbered: bool = False) -> Category:
    """The category in a reply; with `numbered`, 1 to 4 count as names. Raises ReplyError if not exactly one."""
    labels = {
        Category(category): (*words, str(number)) if numbered else words
        for number, (category, words) in enumerate(LABELS["replies"].items(), 1)
    }
    # "Supportive, but no passage names the year" is no clear verdict: reserve casts doubt on this label alone.
    return _read_label(reply, labels, "no category, or several", affirming=(Category.SUPPORTIVE,))


@dataclass(kw_only=True)
class PromptedEvaluator(AttributionEvaluator):
    """Base of evaluators that ask a chat model. `examples` precede each request, in order (few-shot).

    `kind`: the name on the command line, and of the folder of its prompts. Files of `prompt_folder` replace the
    bundled prompts of the same name.
    """

    model: ChatModel
    kind: str
    examples: Sequence[AttributionSample] = ()
    temperature: float = 0.0
    prompt_folder: Path | str | None = None
    prompt_kinds: ClassVar[tuple[PromptKind, ...]]
    most_tokens: ClassVar[int] = 1_000  # of a reply: models that reason before they give the label need that many

    def __post_init__(self) -> None:
        """Read the prompts. Raises PromptError."""
        with as_file(files("granola") / "evidence" / "attribution" / "evaluator_prompts") as bundled:
            # Each kind has its own folder; the true/false prompt is shared.
            sets = (self.kind.replace("-", "_"), "shared")
            self.prompts = load_prompts((*self.prompt_kinds, AGAIN, TRUTH), bundled, self.prompt_folder, sets=sets)
        sampling = Sampling(max_tokens=self.most_tokens, temperature=self.temperature)
        self.sampling = sampling_of(self.model, sampling)

    def signature(self) -> str:
        """`KIND|shots:N-HASH|model:NAME-HASH|prompt:HASH|temperature:T|v:HASH`."""
        # Different examples change verdicts, so the signature identifies them.
        digest = hashlib.sha256("".join(example.id for example in self.examples).encode()).hexdigest()[:8]
        shots = f"shots:{len(self.examples)}" + (f"-{digest}" if self.examples else "")
        return (
            f"{self.kind}|{shots}|model:{model_name_with_hash(self.model)}|prompt:{prompts_hash(dict(self.prompts))[:8]}"
            f"|temperature:{self.sampling.temperature:g}|v:{hash_of_modules(__name__)}"
        )

    def judge_facts(self, facts: Sequence[SampleFact]) -> Iterator[bool | None]:
        """A true/false request for each fact in the context of the citations (CAQA, appendix D.2)."""

        def truth_request(fact: SampleFact) -> Request:
            return self.build_request(f"{fact[0].id} truth", TRUTH, _fact_slots(fact))

        def read_truth(fact: SampleFact, reply: str) -> bool:
            return _read_label(reply, _TRUTHS, "expected True or False", affirming=(True,))

        return (outcome.value for _, outcome in self.ask_each(facts, truth_request, read_truth))

    def ask_each(
        self, items: Iterable[T], ask: Callable[[T], Request], read: Callable[[T, str], V]
    ) -> Iterator[tuple[T, RequestOutcome[V]]]:
        """Ask about each item; yield it with the outcome, in order. An unreadable reply is requested once more."""
        return RequestForm(model=self.model, ask=ask, read=read, again=self.prompts[AGAIN.name]).run(items)

    def build_request(
        self, request_id: str, kind: PromptKind, slots: _Slots, shots: Iterable[tuple[_Slots, str]] = ()
    ) -> Request:
        """A request with the prompt of a kind; `shots`, slots and replies of examples, come before its last message."""
        prompt = self.prompts[kind.name]
        *before, asked = prompt.fill(slots)
        for own, reply in shots:
            # Of an example only the last message is used, so that the instructions appear once.
            before += [prompt.fill(own)[-1], Message(role="assistant", content=reply)]
        return Request(id=request_id, messages=(*before, asked), sampling=self.sampling)


class CategoryEvaluator(PromptedEvaluator):
    """Asks for the category of each sample; `kind` is the family of prompts."""

    prompt_kinds = (CATEGORY,)

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """One judgement for each sample, in order, failures included."""
        for sample, outcome in self.ask_each(samples, self.sample_request, self.read_judgement):
            yield outcome.value or AttributionJudgement(id=sample.id, failed=_failure_text(outcome))

    def sample_request(self, sample: AttributionSample) -> Request:
        """The request about a sample."""
        shots = ((self._prompt_slots(one), NAMES[self.kind][one.category]) for one in self.examples if one.category)
        return self.build_request(sample.id, CATEGORY, self._prompt_slots(sample), shots)

    def _prompt_slots(self, sample: AttributionSample) -> _Slots:
        if self.kind == "defined":
            return {"reference": citation_lines(sample), "question": sample.question, "answer": sample.statement}
        # Claim: question and statement, joined as the paper joins them.
        return {"reference": citation_lines(sample), "claim": f"{sample.question}|{sample.statement}"}

    def read_judgement(self, sample: AttributionSample, reply: str) -> AttributionJudgement:
        """The judgement in a reply. Raises ReplyError."""
        category = read_category(reply, numbered=self.kind == "defined")
        return AttributionJudgement.of(sample, category, reply=reply[:REPLY_KEPT])


@dataclass(kw_only=True)
class GeneratedEntailment(CategoryEvaluator):
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

    def sample_request(self, sample: AttributionSample) -> Request:
        """The request about a sample."""
        return self.build_request(sample.id, PAIR, asdict(premise_and_hypothesis(sample, self.premise)))

    def read_judgement(self, sample: AttributionSample, reply: str) -> AttributionJudgement:
        """The judgement in a reply. Raises ReplyError."""
        return AttributionJudgement.of(sample, _read_label(reply, _ENTAILED, "expected 1 or 0"))


class DecomposedEvaluator(PromptedEvaluator):
    """Asks for the facts of a statement, then for the label of each, and combines the labels (appendix E.3).

    Examples with known facts precede each request.
    """

    prompt_kinds = (SPLIT, FACT)

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """One judgement for each sample, in order; a sample is unlabelled if one of its facts is."""
        source = iter(samples)
        while batch := list(islice(source, BATCH)):
            split = list(self.ask_each(batch, self._facts_request, lambda _, reply: read_facts(reply)))
            facts = [(sample, fact) for sample, outcome in split for fact in outcome.value or ()]
            labels = iter([outcome for _, outcome in self.ask_each(facts, self._label_request, self._read_fact_label)])
            for sample, outcome in split:
                found = {fact: next(labels) for fact in outcome.value or ()}
                known = {fact: one.value for fact, one in found.items() if one.value is not None}
                # If the label of a fact is missing, the rules could give a wrong category.
                if not found or len(known) < len(found):
                    failed = next((_failure_text(one) for one in found.values() if one.value is None), "")
                    yield AttributionJudgement(id=sample.id, failed=failed or _failure_text(outcome))
                else:
                    labelled = tuple((fact, str(label)) for fact, label in known.items())
                    yield AttributionJudgement.of(sample, combine_fact_labels(list(known.values())), facts=labelled)

    def _facts_request(self, sample: AttributionSample) -> Request:
        def slots_of(one: AttributionSample) -> _Slots:
            return {"question": one.question, "answer": one.statement}

        # Examples of other data sets have no facts to show.
        split = [one for one in self.examples if one.subgraph]
        shots = ((slots_of(one), "\n".join(fact.text for fact in one.subgraph)) for one in split)
        return self.build_request(f"{sample.id} split", SPLIT, slots_of(sample), shots)

    def _label_request(self, fact: SampleFact) -> Request:
        known = [(one, example) for one in self.examples if (example := _labelled_fact_or_none(one)) is not None]
        shots = ((_fact_slots((one, text)), NAMES[self.kind][label]) for one, (text, label) in known)
        return self.build_request(f"{fact[0].id} fact", FACT, _fact_slots(fact), shots)

    def _read_fact_label(self, fact: SampleFact, reply: str) -> Category:
        # A single fact cannot be supported in part, so the prompt offers only the three other labels.
        if (label := read_category(reply)) is Category.PARTIAL:
            raise ReplyError("expected supportive, contradictory or irrelevant")
        return label


def _fact_slots(fact: SampleFact) -> _Slots:
    return {"fact": fact[1], "reference": citation_lines(fact[0])}


def combine_fact_labels(labels: Sequence[Category]) -> Category:
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


def _labelled_fact_or_none(sample: AttributionSample) -> tuple[str, Category] | None:
    """A fact of an example with its label; None where no label is certain.

    In a supportive sample any fact is supportive. In a contradictory one, the fact that is missing from the evidence
    was edited: it is contradictory. In other samples a missing fact is irrelevant.
    """
    wanted = sample.category is Category.SUPPORTIVE
    stated = zip(sample.subgraph, sample.needed_facts_stated, strict=True)
    fact = next((fact for fact, is_stated in stated if is_stated is wanted), None)
    if fact is None or sample.category is None:
        return None
    return fact.text, Category.IRRELEVANT if sample.category is Category.PARTIAL else sample.category


def citation_lines(sample: AttributionSample) -> list[str]:
    """The citations as lines of a prompt; long ones are cut at blanks."""
    texts = (" ".join(text.split()) for text in sample.citations)
    lines = (line for text in texts for line in textwrap.wrap(text, _LONGEST_LINE, break_on_hyphens=False))
    return list(islice(lines, _MOST_LINES)) or ["(nothing)"]


def _failure_text(outcome: RequestOutcome[Any]) -> str:
    return f"{outcome.failed} {outcome.why}".strip()[:REPLY_KEPT]


def draw_examples(
    samples: Iterable[AttributionSample], number: int, *, categories: Sequence[Category], seed: int = 0
) -> list[AttributionSample]:
    """`number` samples of each category, drawn with a seed; the categories alternate."""
    pool = list(samples)
    groups = [[sample for sample in pool if sample.category is category] for category in categories]
    # The generator has a name of its own, so that the draw is independent of others with the same seed.
    drawing = random.Random(f"examples {seed}")
    drawn = [drawing.sample(group, min(number, len(group))) for group in groups]
    return [group[at] for at in range(number) for group in drawn if at < len(group)]


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorOpener:
    """Opens evaluators by their specs, KIND=WHERE, with these settings; `chat` opens a chat model."""

    chat: Callable[[str], AbstractContextManager[ChatModel]]
    examples: Path | None = None
    shots: int = 0
    seed: int = 0
    premise: PremiseIs = PremiseIs.EVIDENCE
    temperature: float = 0.0
    prompts: Path | None = None

    def check_specs(self, specs: Sequence[str]) -> None:
        """Raise UsageError for a malformed or repeated spec, or for shots without examples."""
        for spec in specs:
            kind, _, where = spec.partition("=")
            if kind not in KINDS or not where:
                expected = f"KIND=WHERE with KIND one of {', '.join(KINDS)}"
                raise UsageError(f"{spec[:60]!r} names no evaluator; expected {expected}")
            if specs.count(spec) > 1:
                raise UsageError(f"{spec} is given twice")
            share = finite_number(where)
            if kind == "words" and (share is None or not 0 < share <= 1):
                raise UsageError(f"words={where[:40]}: expected a share above 0 and up to 1, as words=0.6")
        if self.shots and self.examples is None:
            raise UsageError("--shots takes its examples from --examples: a file of samples, as train.jsonl")

    def open(self, spec: str, stack: ExitStack) -> AttributionEvaluator:
        """Open the evaluator of a checked spec; `stack` closes its resources. Raises UsageError, ModelError."""
        kind, _, where = spec.partition("=")
        if kind == "words":
            return WordEvaluator(share=float(where))
        if kind == "nli":
            return EntailmentEvaluator(model=open_entailment(where), premise=self.premise)
        if kind == "encoder":
            return ClassifierEvaluator(where)
        if kind == "trained":
            from granola.evidence.attribution.trained_evaluator import TrainedEvaluator

            return TrainedEvaluator.load(where)
        if kind == "graph":
            return GraphEvaluator(StoreFacts(stack.enter_context(closing(open_store(where)))))
        model = stack.enter_context(self.chat(where))
        if kind == "autois":
            return GeneratedEntailment(model=model, premise=self.premise)
        # The file of examples may be large; it is not read where no shots are wanted.
        pool = read_samples(self.examples) if self.examples is not None and self.shots else ()
        examples = draw_examples(pool, self.shots, categories=list(map(Category, NAMES[kind])), seed=self.seed)
        evaluator = DecomposedEvaluator if kind == "decomposed" else CategoryEvaluator
        return evaluator(
            model=model, kind=kind, examples=examples, temperature=self.temperature, prompt_folder=self.prompts
        )  # fmt: skip
