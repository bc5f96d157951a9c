"""Evaluators that read pairs of texts: models of entailment, two-way as AutoIS or three-way, and classifiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from abstraction.errors import ReplyError
from abstraction.models.chat_model import Request, Sampling
from abstraction.models.spec import open_classifier
from abstraction.models.text_scorers import EntailmentModel, TextPair
from abstraction.phrasing.prompt_files import PromptKind
from granola.errors import UsageError
from granola.evidence.attribution.attribution_samples import AttributionSample
from granola.evidence.attribution.categories import Category
from granola.evidence.attribution.chat_evaluator import AskingEvaluator, failure_of
from granola.evidence.attribution.evaluation import TWO_WAY
from granola.evidence.attribution.evaluators import AttributionJudgement, category_judgement
from granola.evidence.evidence_task import identity_name
from granola.replies import read_verdict

# pairs per call; scorers that report a block size get at least one block
_BATCH = 256


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
        while batch := list(islice(source, max(_BATCH, getattr(self.model, "block", 0)))):
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


PAIR = PromptKind(name="pair", required=frozenset({"premise", "hypothesis"}))
# The model was trained on 1 and 0; served models may write words.
_ENTAILED: Mapping[bool, tuple[str, ...]] = {True: ("1", "yes", "true"), False: ("0", "no", "false")}


@dataclass(kw_only=True)
class GeneratedEntailment(AskingEvaluator):
    """AutoIS and similar models, trained to write 1 where a premise entails a hypothesis, else 0.

    The model is an encoder-decoder, `local:FOLDER`, or served; the verdict is supported or not.
    """

    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=8))
    premise: PremiseIs = PremiseIs.EVIDENCE
    kinds = (PAIR,)

    @property
    def kind(self) -> str:
        """The kind of evaluator, as on the command line."""
        return "autois"

    def signature(self) -> str:
        """The signature of `AskingEvaluator`, with the premise."""
        return f"{super().signature()}|premise:{self.premise}"

    def judge(self, samples: Iterable[AttributionSample]) -> Iterator[AttributionJudgement]:
        """See `AttributionEvaluator.judge`."""
        for sample, outcome in self.ask_each(samples, self._request, _read_entailed):
            failed = failure_of(outcome) if outcome.value is None else ""
            yield AttributionJudgement(id=sample.id, supported=outcome.value, failed=failed)

    def _request(self, sample: AttributionSample) -> Request:
        pair = pair_of_texts(sample, self.premise)
        messages = self.prompts[PAIR.name].fill({"premise": pair.premise, "hypothesis": pair.hypothesis})
        return Request(id=sample.id, messages=messages, sampling=self.sampling)


def _read_entailed(reply: str) -> bool:
    verdict = read_verdict(reply, _ENTAILED)
    if verdict is None:
        raise ReplyError("expected 1 or 0")
    return verdict.verdict


def pair_of_texts(sample: AttributionSample, premise: PremiseIs) -> TextPair:
    """Evidence and statement, or question with statement and evidence."""
    evidence, statement = " ".join(sample.citations), f"{sample.question} {sample.statement}".strip()
    # The question is in neither text: AutoIS judges the statement alone.
    if premise is PremiseIs.EVIDENCE:
        return TextPair(evidence, sample.statement)
    return TextPair(statement, evidence)
