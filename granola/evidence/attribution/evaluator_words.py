"""Evaluators named in one word on the command line: KIND=WHERE. docs/reference/attribution.md lists the kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from abstraction.files.row_models import finite
from granola.errors import UsageError
from granola.evidence.attribution.evaluators import PremiseIs

if TYPE_CHECKING:
    from abstraction.models.chat_model import ChatModel
    from granola.evidence.attribution.evaluators import AttributionEvaluator

CHAT = ("defined", "options", "three-way", "decomposed")
KINDS = ("graph", "words", "trained", "encoder", *CHAT, "nli", "autois")


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

    def check(self, words: Iterable[str]) -> None:
        """Raise UsageError for a malformed or repeated word, or for shots without examples."""
        seen: set[str] = set()
        for word in words:
            kind, _, where = word.partition("=")
            if kind not in KINDS or not where:
                expected = f"KIND=WHERE with KIND one of {', '.join(KINDS)}"
                raise UsageError(f"{word[:60]!r} names no evaluator; expected {expected}")
            if word in seen:
                raise UsageError(f"{word} is given twice")
            seen.add(word)
            if kind == "words":
                _parse_share(where)
        if self.shots and self.examples is None:
            raise UsageError("--shots takes its examples from --examples: a file of samples, as train.jsonl")

    def open(self, word: str, stack: ExitStack) -> AttributionEvaluator:
        """Open the evaluator of a word; its resources are closed with `stack`. Raises UsageError, ModelError."""
        from granola.evidence.attribution import evaluators

        kind, _, where = word.partition("=")
        if kind in (*CHAT, "autois"):
            return self._open_chat(kind, stack.enter_context(self.chat(where)))
        if kind == "words":
            return evaluators.WordEvaluator(share=_parse_share(where))
        if kind == "nli":
            from abstraction.models.spec import open_entailment

            return evaluators.EntailmentEvaluator(model=open_entailment(where), premise=self.premise)
        if kind == "encoder":
            return evaluators.ClassifierEvaluator(where)
        if kind == "trained":
            from granola.evidence.attribution.trained_evaluator import TrainedEvaluator

            return TrainedEvaluator.load(where)
        from kg.graph.logical_query import StoreFacts
        from kg.store import open_store

        return evaluators.GraphEvaluator(StoreFacts(stack.enter_context(closing(open_store(where)))))

    def _open_chat(self, kind: str, model: ChatModel) -> AttributionEvaluator:
        from abstraction.models.chat_model import Sampling
        from granola.evidence.attribution import prompted_evaluators as prompted
        from granola.evidence.attribution.attribution_samples import read_samples

        if kind == "autois":
            return prompted.GeneratedEntailment(model=model, premise=self.premise)
        # Files may be large: not read for zero shots.
        pool = read_samples(self.examples) if self.examples is not None and self.shots else ()
        examples = prompted.draw_examples(pool, self.shots, categories=list(prompted.LABELS[kind]), seed=self.seed)
        evaluator = prompted.DecomposedEvaluator if kind == "decomposed" else prompted.CategoryEvaluator
        # Models that reason before the label need room; replies are cut for storage.
        sampling = Sampling(max_tokens=1_000, temperature=self.temperature)
        return evaluator(model=model, kind=kind, examples=examples, sampling=sampling, replacing=self.prompts)


def _parse_share(where: str) -> float:
    share = finite(where)
    if share is None or not 0 < share <= 1:
        raise UsageError(f"words={where[:40]}: expected a share above 0 and up to 1, as words=0.6")
    return share
