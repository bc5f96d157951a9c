"""Who says what passages are to sentences: a chat model, an entailment model, or the words that both have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Protocol

from abstraction.models import EntailmentModel, TextPair
from abstraction.models.chat_model import ChatModel, Request, Sampling, sampling_of
from abstraction.models.prompts import Prompt, PromptKind, load_prompts, prompts_hash
from abstraction.phrasing.model_requests import RequestForm
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category
from granola.attribution.evaluators import AttributionEvaluator, AttributionJudgement
from granola.attribution.simple_evaluators import long_words
from granola.evidence.judge_names import identity_name, model_name
from granola.grounding.grounded_samples import GroundingPassage
from granola.grounding.grounding_items import SentenceVerdict
from granola.grounding.judge_replies import read_verdicts
from kg.errors import ForeseenError

ANSWER = PromptKind(name="answer", required=frozenset({"question", "passages"}), optional=frozenset({"date"}))
ELIGIBILITY = PromptKind(name="eligibility", required=frozenset({"question", "reference", "answer"}))
SENTENCES = PromptKind(
    name="sentences", required=frozenset({"passages", "sentences"}), optional=frozenset({"question"})
)
DEFLECTION = PromptKind(name="deflection", required=frozenset({"question", "answer"}))
AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
KINDS = (ANSWER, ELIGIBILITY, SENTENCES, DEFLECTION, AGAIN)


@dataclass(frozen=True, kw_only=True, slots=True)
class SentencesAsked:
    """Sentences of one answer, citations taken out, and the passages that they are held against."""

    id: str
    question: str
    sentences: tuple[str, ...]
    passages: tuple[GroundingPassage, ...]


Verdicts = tuple[SentenceVerdict | None, ...]


class SentenceJudge(Protocol):
    """Gives each sentence a verdict; `name` says what kind of judge it is."""

    @property
    def name(self) -> str:
        """Its kind."""

    def signature(self) -> str:
        """All that its verdicts depend on."""

    def verdicts(self, asked: Iterable[SentencesAsked]) -> Iterator[tuple[Verdicts, str]]:
        """The verdicts of each, in order, and why some are lacking, "" where none is."""


def read_grounding_prompts(replacing: Path | str | None = None) -> dict[str, Prompt]:
    """All prompts of this room, those of the folder `replacing` before the bundled ones. Raises PromptError."""
    with as_file(files("granola") / "grounding" / "prompts") as bundled:
        return load_prompts(KINDS, bundled, replacing)


def passage_lines(passages: Sequence[GroundingPassage], *, named: bool = True) -> list[str]:
    """Passages as lines of a prompt: date, age, provider and text, behind the id where they are to be cited."""
    lines = []
    for passage in passages:
        age = f"{passage.age} old" if passage.age and passage.age[-1:].isalpha() else passage.age
        about = "; ".join(filter(None, (passage.id if named else None, passage.date, age, passage.provider)))
        lines.append(f"({about}) {passage.text}" if about else passage.text)
    return lines


@dataclass(kw_only=True)
class ChatSentences:
    """A chat model that judges all sentences of an answer at once."""

    model: ChatModel
    prompts: Mapping[str, Prompt] = field(default_factory=read_grounding_prompts)
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.2, max_tokens=2_000))
    name: str = "chat"

    def __post_init__(self) -> None:
        self.sampling = sampling_of(self.model, self.sampling)

    def signature(self) -> str:
        """`chat|model:NAME-HASH|prompt:HASH|temperature:T`; the paper's temperature is 0.2."""
        return (
            f"chat|model:{model_name(self.model)}|prompt:{prompts_hash(dict(self.prompts))[:8]}"
            f"|temperature:{self.sampling.temperature:g}"
        )

    def verdicts(self, asked: Iterable[SentencesAsked]) -> Iterator[tuple[Verdicts, str]]:
        """As `SentenceJudge.verdicts`; of an answer without sentences nothing is asked."""
        form: RequestForm[SentencesAsked, Verdicts] = RequestForm(
            model=self.model, ask=self._request, again=self.prompts[AGAIN.name],
            read=lambda answer, reply: read_verdicts(reply, len(answer.sentences)),
        )  # fmt: skip
        for answer, outcome in form.run(asked):
            if outcome.value is not None:
                yield outcome.value, ""
            elif not answer.sentences:
                yield (), ""
            else:
                yield (None,) * len(answer.sentences), f"{outcome.failed} {outcome.why}".strip()[:300]

    def _request(self, answer: SentencesAsked) -> Request | None:
        if not answer.sentences:
            return None
        numbered = [f"{number}: {text}" for number, text in enumerate(answer.sentences, 1)]
        passages = passage_lines(answer.passages, named=False) or ["(none)"]
        slots = {"question": answer.question, "sentences": numbered, "passages": passages}
        return Request(id=answer.id, messages=self.prompts[SENTENCES.name].fill(slots), sampling=self.sampling)


@dataclass(kw_only=True)
class EntailmentSentences:
    """An entailment model, passage by passage: the likeliest class of the passage that entails a sentence most.

    It does not know what needs no attribution: a sentence that nothing supports is unsupported. `called` is what a
    signature calls a model whose weights tell no name.
    """

    model: EntailmentModel
    called: str = ""
    name: str = "entailment"

    def signature(self) -> str:
        """`entailment|model:NAME-HASH`."""
        return f"entailment|model:{self.called + '-' if self.called else ''}{identity_name(self.model.identity)}"

    def verdicts(self, asked: Iterable[SentencesAsked]) -> Iterator[tuple[Verdicts, str]]:
        """As `SentenceJudge.verdicts`."""
        for answer in asked:
            try:
                yield self._verdicts(answer), ""
            except (ForeseenError, OSError, ValueError) as error:
                # A server that is gone loses this answer's verdicts, no row.
                yield (None,) * len(answer.sentences), f"entailment: {error}"[:300]

    def _verdicts(self, answer: SentencesAsked) -> Verdicts:
        pairs = [TextPair(passage.text, text) for text in answer.sentences for passage in answer.passages]
        entailments = iter(self.model.scores(pairs) if pairs else [])
        verdicts: list[SentenceVerdict] = []
        for _ in answer.sentences:
            by_passage = [next(entailments) for _ in answer.passages]
            if any(each.entailed >= max(each.neutral, each.refuted) for each in by_passage):
                verdicts.append(SentenceVerdict.SUPPORTED)
            elif any(each.refuted > max(each.neutral, each.entailed) for each in by_passage):
                verdicts.append(SentenceVerdict.CONTRADICTORY)
            else:
                verdicts.append(SentenceVerdict.UNSUPPORTED)
        return tuple(verdicts)


@dataclass(frozen=True, kw_only=True)
class WordSentences:
    """The baseline: a sentence is supported where one passage has `share` of its words of four letters and more.

    It never says contradictory. A sentence without such words needs no attribution.
    """

    share: float = 0.6
    name: str = "words"

    def signature(self) -> str:
        """`words|share:S`."""
        return f"words|share:{self.share:g}"

    def verdicts(self, asked: Iterable[SentencesAsked]) -> Iterator[tuple[Verdicts, str]]:
        """As `SentenceJudge.verdicts`."""
        for one in asked:
            there = [long_words(passage.text) for passage in one.passages]
            yield tuple(self._verdict(long_words(text), there) for text in one.sentences), ""

    def _verdict(self, words: frozenset[str], there: Sequence[frozenset[str]]) -> SentenceVerdict:
        if not words:
            return SentenceVerdict.NO_NEED
        best = max((len(words & own) / len(words) for own in there), default=0.0)
        return SentenceVerdict.SUPPORTED if best >= self.share else SentenceVerdict.UNSUPPORTED


@dataclass(frozen=True, kw_only=True)
class EvaluatorSentences:
    """Any evaluator of attribution, as a trained one: a sentence is the statement, the passages are its citations.

    Supportive is supported, contradictory is contradictory, all else unsupported.
    """

    evaluator: AttributionEvaluator
    name: str = "evaluator"

    def signature(self) -> str:
        """`evaluator|` and the evaluator's."""
        return f"evaluator|{self.evaluator.signature()}"

    def verdicts(self, asked: Iterable[SentencesAsked]) -> Iterator[tuple[Verdicts, str]]:
        """As `SentenceJudge.verdicts`."""
        for one in asked:
            citations = tuple(passage.text for passage in one.passages)
            samples = [
                AttributionSample(id=f"{one.id} {n}", question=one.question, statement=text, citations=citations)
                for n, text in enumerate(one.sentences, 1)
            ]
            judged = list(self.evaluator.judged(samples))
            yield tuple(map(_of_judgement, judged)), next((one.failed for one in judged if one.failed), "")


def _of_judgement(judgement: AttributionJudgement) -> SentenceVerdict | None:
    if judgement.supported is None:
        return None
    if judgement.category is Category.CONTRADICTORY:
        return SentenceVerdict.CONTRADICTORY
    return SentenceVerdict.SUPPORTED if judgement.supported else SentenceVerdict.UNSUPPORTED
