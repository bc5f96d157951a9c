"""Evaluators that stand on natural language inference: two-way as AutoIS, three-way as its classes allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from abstraction.errors import ReplyError
from abstraction.models import ChatModel, EntailmentModel, Request, Sampling, TextPair
from abstraction.models.prompts import Prompt, PromptKind, prompts_hash
from abstraction.phrasing.model_requests import RequestForm
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category
from granola.attribution.chat_evaluator import AGAIN, failure_of, read_evaluator_prompts
from granola.attribution.evaluators import AttributionJudgement, of_category
from granola.evidence.judge_names import identity_name, model_name
from granola.replies import read_verdict

_BATCH = 256


class PremiseIs(StrEnum):
    """What the premise is: the evidence, as such models take it, or question and statement, as Table 12 prints it."""

    EVIDENCE = "evidence"
    STATEMENT = "statement"


@dataclass(kw_only=True)
class EntailmentEvaluator:
    """`three_way`: entailed is supportive, refuted contradictory, neutral irrelevant, as the paper maps AttrScore's.

    Otherwise it says whether a sample is supported: where entailed is the likeliest class.
    """

    model: EntailmentModel
    premise: PremiseIs = PremiseIs.EVIDENCE
    three_way: bool = True

    @property
    def classes(self) -> tuple[Category, ...]:
        """Three, or none."""
        return (Category.SUPPORTIVE, Category.CONTRADICTORY, Category.IRRELEVANT) if self.three_way else ()

    def signature(self) -> str:
        """`nli:three-way|premise:evidence|model:NAME-HASH`."""
        kind = "three-way" if self.three_way else "binary"
        return f"nli:{kind}|premise:{self.premise}|model:{identity_name(self.model.identity)}"

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`."""
        source = iter(samples)
        while batch := list(islice(source, max(_BATCH, getattr(self.model, "block", 0)))):
            entailments = self.model.entailments([pair_of_texts(sample, self.premise) for sample in batch])
            for sample, entailment in zip(batch, entailments, strict=True):
                shares = {
                    Category.SUPPORTIVE: entailment.entailed, Category.CONTRADICTORY: entailment.refuted,
                    Category.IRRELEVANT: entailment.neutral,
                }  # fmt: skip
                likeliest = max(shares, key=shares.__getitem__)
                if self.three_way:
                    yield of_category(sample, likeliest)
                else:
                    yield AttributionJudgement(id=sample.id, supported=likeliest is Category.SUPPORTIVE)


PAIR = PromptKind(name="pair", required=frozenset({"premise", "hypothesis"}))
_ENTAILED: Mapping[bool, tuple[str, ...]] = {True: ("1", "yes", "true"), False: ("0", "no", "false")}


@dataclass(kw_only=True)
class GeneratedEntailment:
    """AutoIS and its like: a model that was trained to write 1 where a premise entails a hypothesis, and 0 elsewhere.

    An encoder-decoder, `local:FOLDER`, or a server of one; it says whether a sample is supported.
    """

    model: ChatModel
    premise: PremiseIs = PremiseIs.EVIDENCE
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: read_evaluator_prompts("autois", (PAIR,)))

    @property
    def classes(self) -> tuple[Category, ...]:
        """None: it tells two apart."""
        return ()

    def signature(self) -> str:
        """`autois|premise:evidence|model:NAME-HASH|prompt:HASH`."""
        prompts = prompts_hash(dict(self.prompts))[:8]
        return f"autois|premise:{self.premise}|model:{model_name(self.model)}|prompt:{prompts}"

    def judged(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """As `AttributionEvaluator.judged`."""
        form: RequestForm[AttributionSample, bool] = RequestForm(
            model=self.model, ask=self._ask, read=_entailed, again=self.prompts[AGAIN.name]
        )
        for sample, outcome in form.run(samples):
            failed = failure_of(outcome) if outcome.value is None else ""
            yield AttributionJudgement(id=sample.id, supported=outcome.value, failed=failed)

    def _ask(self, sample: AttributionSample) -> Request:
        pair = pair_of_texts(sample, self.premise)
        messages = self.prompts[PAIR.name].fill({"premise": pair.premise, "hypothesis": pair.hypothesis})
        return Request(id=sample.id, messages=messages, sampling=Sampling(max_tokens=8))


def _entailed(_: AttributionSample, reply: str) -> bool:
    verdict = read_verdict(reply, _ENTAILED)
    if verdict is None:
        raise ReplyError("expected 1 or 0")
    return verdict.verdict


def pair_of_texts(sample: AttributionSample, premise: PremiseIs) -> TextPair:
    """Evidence and statement, or question with statement and evidence."""
    evidence, statement = " ".join(sample.citations), f"{sample.question} {sample.statement}".strip()
    if premise is PremiseIs.EVIDENCE:
        return TextPair(evidence, sample.statement)
    return TextPair(statement, evidence)
