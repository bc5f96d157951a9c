"""Naming an evaluator in one word, as on a command line: KIND=WHERE.

graph=SNAPSHOT            names looked up, the query tested; no model
words=SHARE               words that statement and citations share: a baseline; words=0.6
trained=FOLDER            trained on features, see `granola attribution train`; trained=bundled is in the box
encoder=FOLDER            a fine-tuned encoder, see `granola attribution train --encoder`; FOLDER?device=cuda
defined=MODEL             a chat model with the four definitions
options=MODEL             a chat model with the words alone
three-way=MODEL           a chat model with AttrScore's words
decomposed=MODEL          a chat model, fact by fact
nli=TEXT_MODEL            entailment in three classes
autois=MODEL              a model that writes 1 where the evidence entails the statement, else 0: AutoIS
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from abstraction.files.row_models import finite
from granola.attribution.entailment_evaluators import PremiseIs
from granola.errors import UsageError

if TYPE_CHECKING:
    from abstraction.models.chat_model import ChatModel
    from granola.attribution.evaluators import AttributionEvaluator

CHAT = ("defined", "options", "three-way", "decomposed")
KINDS = ("graph", "words", "trained", "encoder", *CHAT, "nli", "autois")
GRAMMAR = f"KIND=WHERE with KIND one of {', '.join(KINDS)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorWords:
    """How evaluators are opened: `chat` opens a chat model."""

    chat: Callable[[str], AbstractContextManager[ChatModel]]
    examples: Path | None = None
    shots: int = 0
    seed: int = 0
    premise: PremiseIs = PremiseIs.EVIDENCE
    temperature: float = 0.0
    prompts: Path | None = None

    def check(self, words: Iterable[str]) -> None:
        """Raise UsageError for a word of another form, twice the same, or shots without examples."""
        seen: set[str] = set()
        for word in words:
            kind, equals, where = word.partition("=")
            if kind not in KINDS or not equals or not where:
                raise UsageError(f"{word[:60]!r} names no evaluator; expected {GRAMMAR}")
            if word in seen:
                raise UsageError(f"{word} is given twice")
            seen.add(word)
            if kind == "words":
                _share(where)
        if self.shots and self.examples is None:
            raise UsageError("--shots takes its examples from --examples: a file of samples, as train.jsonl")

    def opened(self, word: str, stack: ExitStack) -> AttributionEvaluator:
        """The evaluator of a word; what it holds open is closed with `stack`. Raises UsageError, ModelError."""
        kind, _, where = word.partition("=")
        if kind in CHAT:
            return self._chat(kind, where, stack)
        if kind in ("nli", "autois"):
            from abstraction.models.spec import open_entailment
            from granola.attribution.entailment_evaluators import EntailmentEvaluator, GeneratedEntailment

            if kind == "nli":
                return EntailmentEvaluator(model=open_entailment(where), premise=self.premise)
            return GeneratedEntailment(model=stack.enter_context(self.chat(where)), premise=self.premise)
        if kind == "encoder":
            from granola.attribution.encoder_evaluator import EncoderEvaluator

            return EncoderEvaluator(where)
        if kind == "trained":
            from granola.attribution.trained_evaluator import TrainedEvaluator

            return TrainedEvaluator.load(where)
        from granola.attribution.simple_evaluators import GraphEvaluator, WordEvaluator

        if kind == "words":
            return WordEvaluator(share=_share(where))
        from kg.queries import StoreFacts
        from kg.store import open_store

        return GraphEvaluator(StoreFacts(stack.enter_context(closing(open_store(where)))))

    def _chat(self, kind: str, where: str, stack: ExitStack) -> AttributionEvaluator:
        from abstraction.models.chat_model import Sampling
        from granola.attribution.attribution_samples import read_samples
        from granola.attribution.categories import Category
        from granola.attribution.chat_evaluator import ChatEvaluator, PromptFamily, drawn_examples
        from granola.attribution.decomposed_evaluator import DecomposedEvaluator

        pool = [] if self.examples is None or not self.shots else list(read_samples(self.examples))
        family = None if kind == "decomposed" else PromptFamily(kind)
        categories = tuple(Category) if family is None else tuple(family.labels)
        examples = drawn_examples(pool, self.shots, categories=categories, seed=self.seed)
        sampling = Sampling(max_tokens=1_000, temperature=self.temperature)
        model = stack.enter_context(self.chat(where))
        if family is None:
            return DecomposedEvaluator(model=model, examples=examples, sampling=sampling, replacing=self.prompts)
        return ChatEvaluator(model=model, family=family, examples=examples, sampling=sampling, replacing=self.prompts)


def _share(where: str) -> float:
    share = finite(where)
    if share is None or not 0 < share <= 1:
        raise UsageError(f"words={where[:40]}: expected a share above 0 and up to 1, as words=0.6")
    return share
