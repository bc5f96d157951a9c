"""Evaluators of attribution: what they return, those that ask no chat model, and their names on the command line.

By the facts of a sample, by word overlap, by a model of entailment, and by a classifier.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from abstraction.files.row_models import finite
from abstraction.models.chat_model import ChatModel
from abstraction.models.spec import open_classifier, open_entailment
from abstraction.models.text_scorers import EntailmentModel, TextPair
from granola.base.code_hash import hash_of_modules
from granola.errors import UsageError
from granola.evidence.attribution.attribution_samples import TWO_WAY, AttributionSample, Category, read_samples
from granola.evidence.attribution.evidence_edits import why_unproven
from granola.evidence.evidence_task import identity_name
from kg.errors import GroundingError
from kg.graph.logical_query import LogicalQuery, StoreFacts, ground
from kg.store import open_store

CHAT = ("defined", "options", "three-way", "decomposed")
KINDS = ("graph", "words", "trained", "encoder", *CHAT, "nli", "autois")
BATCH = 256  # samples per call of a model; scorers that report a block size get at least one block


@dataclass(frozen=True, kw_only=True, slots=True)
class AttributionJudgement:
    """The judgement of one sample.

    `category` is None for a two-class evaluator; where a reply could not be read `supported` is None too, with the
    reason in `failed`. `facts`: parts of the statement, each with its label.
    """

    id: str
    category: Category | None = None
    supported: bool | None = None
    reply: str = ""
    failed: str = ""
    facts: tuple[tuple[str, str], ...] = ()


class AttributionEvaluator(Protocol):
    """Judges samples."""

    def signature(self) -> str:
        """A signature of everything that determines the judgements."""

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """One judgement for each sample, in order, failures included."""


def fact_verdicts(
    evaluator: AttributionEvaluator, samples: Sequence[AttributionSample]
) -> Iterator[tuple[bool | None, ...]]:
    """For each sample, in order, the verdicts on the facts of its subgraph; None for a missing one.

    Uses the method `fact_verdicts` of the evaluator if it has one (Hu et al. 2025, CAQA, appendix D.2). Otherwise each
    fact is judged as a statement: supportive is true, every other category false (section 5.4).
    """
    if (ask := getattr(evaluator, "fact_verdicts", None)) is not None:
        yield from ask(samples)
        return
    # One call for all facts lets evaluators batch.
    asked = [
        sample.model_copy(update={"id": f"{sample.id}/{number}", "statement": fact.text, "category": None})
        for sample in samples
        for number, fact in enumerate(sample.subgraph, 1)
    ]
    judgements = iter(list(evaluator.judge(asked)))
    for sample in samples:
        yield tuple(next(judgements).supported for _ in sample.subgraph)


def category_judgement(sample: AttributionSample, category: Category, **more: Any) -> AttributionJudgement:
    """The judgement with a category; supported if it is SUPPORTIVE."""
    return AttributionJudgement(id=sample.id, category=category, supported=category is Category.SUPPORTIVE, **more)


class GraphEvaluator:
    """Labels a sample by the facts in its row: the query is run on them and on a store.

    It reads no text. It shows whether labels are valid for another snapshot, and gives an upper bound for evaluators.
    """

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts

    def signature(self) -> str:
        """`graph|snapshot:ID|v:HASH`."""
        snapshot = str(self._facts.store.manifest()["snapshot_id"])[:8]
        return f"graph|snapshot:{snapshot}|v:{hash_of_modules('granola.evidence.attribution.evidence_edits')}"

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`; a sample without a query that the graph answers has no verdict."""
        for sample in samples:
            truth = None
            with suppress(GroundingError):
                truth = ground(LogicalQuery.from_json(sample.query), self._facts) if sample.query is not None else None
            if truth is None or not truth.answers:
                yield AttributionJudgement(id=sample.id, failed="no query that the graph answers")
                continue
            evidence = (tuple(one.fact for one in sample.evidence),)
            proved = (one for one in Category if why_unproven(one, truth, evidence, self._facts) is None)
            if (category := next(proved, None)) is not None:
                yield category_judgement(sample, category)
            else:
                yield AttributionJudgement(id=sample.id, failed="no category is proved")

    def fact_verdicts(self, samples: Sequence[AttributionSample]) -> Iterator[tuple[bool | None, ...]]:
        """See `evaluators.fact_verdicts`: the stated facts are known, so this equals the automatic score."""
        return (sample.facts_in_evidence for sample in samples)


@dataclass(frozen=True, kw_only=True, slots=True)
class WordEvaluator:
    """A baseline: supported if the citations contain at least `share` of the words of the statement.

    Words have four letters or more; it is two-way.
    """

    share: float = 0.6

    def signature(self) -> str:
        """`words|share:S`."""
        return f"words|share:{self.share:g}"

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`."""
        for sample in samples:
            words, there = long_words(sample.statement), long_words(" ".join(sample.citations))
            # A statement without long words claims nothing that could be missing.
            supported = not words or len(words & there) / len(words) >= self.share
            yield AttributionJudgement(id=sample.id, supported=supported)


def long_words(text: str) -> frozenset[str]:
    """The case-folded words of at least four letters."""
    return frozenset(re.findall(r"\w{4,60}", text.casefold()[:200_000]))


class PremiseIs(StrEnum):
    """The premise: EVIDENCE, as NLI models expect, or STATEMENT (question and statement), as Table 12 prints it."""

    EVIDENCE = "evidence"
    STATEMENT = "statement"


@dataclass(kw_only=True)
class EntailmentEvaluator:
    """Three classes: entailed is supportive, refuted contradictory, neutral irrelevant (the mapping of AttrScore in
    the paper).
    """

    model: EntailmentModel
    premise: PremiseIs = PremiseIs.EVIDENCE

    def signature(self) -> str:
        """`nli|premise:evidence|model:NAME-HASH`."""
        return f"nli|premise:{self.premise}|model:{identity_name(self.model.identity)}"

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`."""
        source = iter(samples)
        while batch := list(islice(source, max(BATCH, getattr(self.model, "block", 0)))):
            entailments = self.model.scores([pair_of_texts(sample, self.premise) for sample in batch])
            for sample, told in zip(batch, entailments, strict=True):
                shares = {
                    Category.SUPPORTIVE: told.entailed, Category.CONTRADICTORY: told.refuted,
                    Category.IRRELEVANT: told.neutral,
                }  # fmt: skip
                # NLI has no class for partial support.
                yield category_judgement(sample, max(shares, key=shares.__getitem__))


class ClassifierEvaluator:
    """A sequence classifier of question with statement, and citations; the end of the longer text is cut.

    Its labels are the four categories, or "supported" and "not supported", as somebody fine-tuned it.
    """

    def __init__(self, word: str) -> None:
        """`word`: a folder or a name on the hub, with settings: `FOLDER?longest=256`. Raises UsageError, ModelError."""
        self._model = open_classifier(f"local:{word}")
        self._labels = [label.replace("_", " ").casefold() for label in self._model.labels]
        if not {*self._labels} <= {*Category} and {*self._labels} != {*TWO_WAY}:
            raise UsageError(
                f"encoder={word} has the labels {', '.join(self._model.labels)}; expected {', '.join(Category)}, or "
                f"{' and '.join(TWO_WAY)}"
            )

    def signature(self) -> str:
        """`encoder|model:NAME-HASH`, of weights and length."""
        return f"encoder|model:{identity_name(self._model.identity)}"

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`."""
        source = iter(samples)
        while batch := list(islice(source, self._model.block)):
            pairs = [(f"{one.question} {one.statement}".strip(), " ".join(one.citations)) for one in batch]
            for sample, row in zip(batch, self._model.logits(pairs), strict=True):
                label = self._labels[row.index(max(row))]
                if label in TWO_WAY:
                    yield AttributionJudgement(id=sample.id, supported=label == TWO_WAY[1])
                else:
                    yield category_judgement(sample, Category(label))


def pair_of_texts(sample: AttributionSample, premise: PremiseIs) -> TextPair:
    """Evidence and statement, or question with statement and evidence."""
    evidence = " ".join(sample.citations)
    if premise is PremiseIs.STATEMENT:
        return TextPair(f"{sample.question} {sample.statement}".strip(), evidence)
    # The question is in neither text: AutoIS judges the statement alone.
    return TextPair(evidence, sample.statement)


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorWords:
    """Settings for opening evaluators; `chat` opens a chat model."""

    chat: Callable[[str], AbstractContextManager[ChatModel]]
    examples: Path | None = None
    shots: int = 0
    seed: int = 0
    premise: PremiseIs = PremiseIs.EVIDENCE
    temperature: float = 0.0
    prompts: Path | None = None

    def check(self, words: Sequence[str]) -> None:
        """Raise UsageError for a malformed or repeated word, or for shots without examples."""
        for word in words:
            kind, _, where = word.partition("=")
            if kind not in KINDS or not where:
                expected = f"KIND=WHERE with KIND one of {', '.join(KINDS)}"
                raise UsageError(f"{word[:60]!r} names no evaluator; expected {expected}")
            if words.count(word) > 1:
                raise UsageError(f"{word} is given twice")
            if kind == "words":
                _parse_share(where)
        if self.shots and self.examples is None:
            raise UsageError("--shots takes its examples from --examples: a file of samples, as train.jsonl")

    def open(self, word: str, stack: ExitStack) -> AttributionEvaluator:
        """Open the evaluator of a word; its resources are closed with `stack`. Raises UsageError, ModelError."""
        kind, _, where = word.partition("=")
        if kind == "words":
            return WordEvaluator(share=_parse_share(where))
        if kind == "nli":
            return EntailmentEvaluator(model=open_entailment(where), premise=self.premise)
        if kind == "encoder":
            return ClassifierEvaluator(where)
        if kind == "trained":
            from granola.evidence.attribution.trained_evaluator import TrainedEvaluator

            return TrainedEvaluator.load(where)
        if kind == "graph":
            return GraphEvaluator(StoreFacts(stack.enter_context(closing(open_store(where)))))
        from granola.evidence.attribution import prompted_evaluators as prompted

        model = stack.enter_context(self.chat(where))
        if kind == "autois":
            return prompted.GeneratedEntailment(model=model, premise=self.premise)
        # Files may be large: not read for zero shots.
        pool = read_samples(self.examples) if self.examples is not None and self.shots else ()
        examples = prompted.draw_examples(pool, self.shots, categories=list(prompted.LABELS[kind]), seed=self.seed)
        evaluator = prompted.DecomposedEvaluator if kind == "decomposed" else prompted.CategoryEvaluator
        return evaluator(
            model=model, kind=kind, examples=examples, temperature=self.temperature, replacing=self.prompts
        )  # fmt: skip


def _parse_share(where: str) -> float:
    share = finite(where)
    if share is None or not 0 < share <= 1:
        raise UsageError(f"words={where[:40]}: expected a share above 0 and up to 1, as words=0.6")
    return share
