"""Judges answers: verdicts on their sentences, eligibility, deflection, citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from itertools import islice, starmap
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from abstraction.errors import ReplyError
from abstraction.files.row_models import NeededId, RowModel
from abstraction.models.chat_model import ChatModel, Request, Sampling, sampling_of
from abstraction.phrasing.prompting import Prompt, PromptKind, RequestForm, RequestOutcome, load_prompts, prompts_hash
from granola.evidence.attribution.attribution_task import AttributionJudgement, AttributionSample, Category
from granola.evidence.attribution.evaluators import AttributionEvaluator, long_words
from granola.evidence.evidence_task import model_name_with_hash
from granola.evidence.grounding.answer_text import answer_sentences, cited_passages, deflecting_rule, without_markers
from granola.evidence.grounding.grounded_rows import GroundedSample, GroundingPassage, Relevance
from granola.evidence.grounding.grounding_task import (
    AnsweredSentence,
    AnswerVerdict,
    CitationCounts,
    GroundingItem,
    SentenceVerdict,
    Verdicts,
)
from granola.replies import read_numbered_verdicts, read_verdict
from kg.errors import ForeseenError

ANSWER = PromptKind(name="answer", required=frozenset({"question", "passages"}), optional=frozenset({"date"}))
ELIGIBILITY = PromptKind(name="eligibility", required=frozenset({"question", "reference", "answer"}))
SENTENCES = PromptKind(
    name="sentences", required=frozenset({"passages", "sentences"}), optional=frozenset({"question"})
)
DEFLECTION = PromptKind(name="deflection", required=frozenset({"question", "answer"}))
AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
KINDS = (ANSWER, ELIGIBILITY, SENTENCES, DEFLECTION, AGAIN)
TEMPERATURE = 0.2  # sampling temperature of judging chat models, as in Sorodoc et al. 2025
# Evaluators that compare two short texts, so that they get one passage at a time.
ONE_PASSAGE_KINDS = ("words", "nli", "autois")

# Accepted wordings of each verdict in replies of judges.
GRADE_WORDINGS: Mapping[str, Sequence[str]] = {
    grade: (grade.value, *(f"{grade.removesuffix('s')}{plural}" for plural in ("", "(s)"))) for grade in AnswerVerdict
}
SENTENCE_WORDINGS = {
    SentenceVerdict.SUPPORTED: ("supported",),
    SentenceVerdict.UNSUPPORTED: ("unsupported", "not supported"),
    SentenceVerdict.CONTRADICTORY: ("contradictory", "contradicted"),
    SentenceVerdict.NO_NEED: (
        "none", "none needed", "none is needed", "no need", "no attribution", "no attribution needed",
        "no attribution is needed", "no attribution required", "no source needed", "no citation needed",
        "no need of attribution", "no need for attribution", "no need for a source", "no need for a citation",
    ),
}  # fmt: skip
DEFLECTION_WORDINGS = {"answers": ("answers", "answer"), "deflects": ("deflects", "deflect")}


def read_label_in_reply(reply: str, wordings: Mapping[str, Sequence[str]]) -> str:
    """The one of `wordings` in a reply. Raises ReplyError where there is none or an ambiguous one."""
    verdict = read_verdict(reply, wordings, affirming=wordings.keys() & {AnswerVerdict.NO_ISSUES})
    if verdict is None:
        raise ReplyError(f"expected one of {', '.join(wordings)}")
    return verdict


def read_sentence_verdicts(reply: str, n: int) -> Verdicts:
    """The verdicts on n sentences, read from numbered lines. Raises ReplyError where one is missing."""
    verdicts = read_numbered_verdicts(reply, SENTENCE_WORDINGS, n, affirming=(SentenceVerdict.SUPPORTED,))
    if None in verdicts:
        lacking = verdicts.index(None) + 1
        raise ReplyError(f"sentence {lacking} has none of supported, unsupported, contradictory, none, or one in doubt")
    return tuple(verdicts)


@dataclass(frozen=True, kw_only=True, slots=True)
class SentencesToJudge:
    """The sentences of one answer, without their citations, and the passages to judge them against."""

    id: str
    question: str
    sentences: tuple[str, ...]
    passages: tuple[GroundingPassage, ...]


def read_grounding_prompts(prompt_folder: Path | str | None = None) -> dict[str, Prompt]:
    """All prompts of grounding; files of the folder `prompt_folder` override the bundled ones. Raises PromptError."""
    with as_file(files("granola") / "evidence" / "grounding" / "prompts") as bundled:
        return load_prompts(KINDS, bundled, prompt_folder)


def passage_lines(passages: Sequence[GroundingPassage], *, with_ids: bool = True) -> list[str]:
    """Passages as lines of a prompt: date, age, provider and text; `with_ids`: first the id, for prompts that ask for
    citations.
    """
    lines = []
    for passage in passages:
        # GaRAGe writes an age as "3 months"; other texts are shown as they are.
        age = f"{passage.age} old" if passage.age and passage.age[-1:].isalpha() else passage.age
        about = "; ".join(filter(None, (passage.id if with_ids else None, passage.date, age, passage.provider)))
        lines.append(f"({about}) {passage.text}" if about else passage.text)
    return lines


@dataclass(kw_only=True)
class ChatSentenceJudge:
    """Judges all sentences of an answer with one request to a chat model."""

    model: ChatModel
    prompts: Mapping[str, Prompt] = field(default_factory=read_grounding_prompts)

    def __post_init__(self) -> None:
        self.sampling = sampling_of(self.model, Sampling(temperature=TEMPERATURE, max_tokens=2_000))

    def signature(self) -> str:
        """`chat|model:NAME-HASH|prompt:HASH|temperature:T`; the paper's temperature is 0.2."""
        return (
            f"chat|model:{model_name_with_hash(self.model)}|prompt:{prompts_hash(dict(self.prompts))[:8]}"
            f"|temperature:{self.sampling.temperature:g}"
        )

    def verdicts(self, answers: Iterable[SentencesToJudge]) -> Iterator[tuple[Verdicts, str]]:
        """For each answer, in order, the verdicts on its sentences and the reason for missing ones, "" where none is
        missing; an answer without sentences needs no request.
        """
        form: RequestForm[SentencesToJudge, Verdicts] = RequestForm(
            model=self.model, ask=self._request, again=self.prompts[AGAIN.name],
            read=lambda answer, reply: read_sentence_verdicts(reply, len(answer.sentences)),
        )  # fmt: skip
        for answer, outcome in form.run(answers):
            yield outcome.value or (None,) * len(answer.sentences), _reason_without_result(outcome)

    def _request(self, answer: SentencesToJudge) -> Request | None:
        if not answer.sentences:
            return None
        numbered = [f"{number}: {text}" for number, text in enumerate(answer.sentences, 1)]
        passages = passage_lines(answer.passages, with_ids=False) or ["(none)"]
        slots = {"question": answer.question, "sentences": numbered, "passages": passages}
        return Request(id=answer.id, messages=self.prompts[SENTENCES.name].fill(slots), sampling=self.sampling)


@dataclass(frozen=True, kw_only=True)
class EvaluatorSentenceJudge:
    """Judges sentences with any evaluator of attribution: a sentence is the statement, the passages are its citations.

    `apart`: for an evaluator that compares two short texts, each passage is judged by itself; a sentence is supported
    where one passage supports it, contradictory where none does and one contradicts it, else unsupported. A sentence
    without a word of four letters needs no attribution.
    """

    evaluator: AttributionEvaluator
    apart: bool = False

    def signature(self) -> str:
        """`apart|` or `together|`, followed by the evaluator's signature."""
        return f"{'apart' if self.apart else 'together'}|{self.evaluator.signature()}"

    def verdicts(self, answers: Iterable[SentencesToJudge]) -> Iterator[tuple[Verdicts, str]]:
        """See `ChatSentenceJudge.verdicts`."""
        for one in answers:
            try:
                yield self._verdicts_on_sentences(one)
            except (ForeseenError, OSError, ValueError) as error:
                # Where a server fails, this answer lacks its verdicts; its row and all others stay.
                yield (None,) * len(one.sentences), str(error)[:300]

    def _verdicts_on_sentences(self, one: SentencesToJudge) -> tuple[Verdicts, str]:
        texts = [passage.text for passage in one.passages]
        # One statement per passage where the evaluator compares two texts, else one with all passages.
        citations = [(text,) for text in texts] if self.apart else [tuple(texts)]
        # Sentences without long words, such as "Hi.", state nothing.
        stating = [bool(long_words(text)) for text in one.sentences]
        samples = [
            AttributionSample(id=f"{one.id} {n}.{at}", question=one.question, statement=text, citations=own)
            for n, (text, states) in enumerate(zip(one.sentences, stating, strict=True), 1)
            for at, own in enumerate(citations if states else ())
        ]
        judged = list(self.evaluator.judge(samples)) if samples else []
        source = iter(judged)
        verdicts = tuple(
            _combine_judgements([next(source) for _ in citations]) if states else SentenceVerdict.NO_NEED
            for states in stating
        )
        return verdicts, next((one.failed for one in judged if one.failed), "")


def _combine_judgements(judged: Sequence[AttributionJudgement]) -> SentenceVerdict | None:
    """The verdict on a sentence from judgements by single passages; None where one is missing and no other supports
    it.
    """
    if any(one.supported for one in judged):
        return SentenceVerdict.SUPPORTED
    # An undecided passage might have supported the sentence, so "unsupported" would be a guess.
    if any(one.supported is None for one in judged):
        return None
    if any(one.category is Category.CONTRADICTORY for one in judged):
        return SentenceVerdict.CONTRADICTORY
    return SentenceVerdict.UNSUPPORTED


SentenceJudge = ChatSentenceJudge | EvaluatorSentenceJudge
READINGS = ("all", *Relevance)  # the passages that sentences are judged against: all, or the relevant ones
_BATCH = 64  # answers judged per batch; a larger one delays the rows written, a smaller one leaves a server idle


class GivenAnswer(RowModel):
    """An answer to judge, from `granola generate` or elsewhere; `system` names who answered."""

    id: NeededId = Field(description="a text")
    answer: Annotated[str, Field(strict=True, description="a text")]
    system: Annotated[str | None, Field(max_length=300)] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _SplitAnswer:
    """An answer with its sentences; `shown` is its text without citations, whose names would influence verdicts."""

    sample: GroundedSample
    answer: str
    ids: Sequence[str]
    shown: str
    sentences: Sequence[str]


@dataclass(kw_only=True)
class AnswerJudge:
    """Judges answers. `chat` judges eligibility and, with `asks_deflection`, deflection; rules decide deflection
    otherwise.
    """

    sentences: SentenceJudge
    chat: ChatModel | None = None
    asks_deflection: bool = False
    language: str = "en"
    prompts: Mapping[str, Prompt] = field(default_factory=read_grounding_prompts)

    def __post_init__(self) -> None:
        self.sampling = sampling_of(self.chat, Sampling(temperature=TEMPERATURE, max_tokens=64))

    def signature(self) -> str:
        """`SENTENCES|eligibility:MODEL@T or none|deflection:rules-LANGUAGE or model|prompts:HASH`."""
        chat = f"{model_name_with_hash(self.chat)}@{self.sampling.temperature:g}" if self.chat is not None else "none"
        deflection = "model" if self.asks_deflection else f"rules-{self.language}"
        parts = [self.sentences.signature(), f"eligibility:{chat}", f"deflection:{deflection}"]
        if self.chat is not None:
            parts.append(f"prompts:{prompts_hash(dict(self.prompts))[:8]}")
        return "|".join(parts)

    def judge(self, pairs: Iterable[tuple[GroundedSample, str]]) -> Iterator[GroundingItem]:
        """One item per pair, in order; a missing verdict is None, its reason in `unjudged`."""
        source = iter(pairs)
        while batch := list(starmap(self._split_into_sentences, islice(source, _BATCH))):
            verdicts_by_reading = [
                list(self.sentences.verdicts(self._sentences_to_judge(one, reading) for one in batch))
                for reading in READINGS
            ]
            by_chat = [self._chat_verdicts(batch, kind.name) for kind in (ELIGIBILITY, DEFLECTION)]
            for one, verdicts, (eligible, deflection) in zip(
                batch, zip(*verdicts_by_reading, strict=True), zip(*by_chat, strict=True), strict=True
            ):
                yield self._make_grounding_item(one, dict(zip(READINGS, verdicts, strict=True)), eligible, deflection)

    def _split_into_sentences(self, sample: GroundedSample, answer: str) -> _SplitAnswer:
        ids = [passage.id for passage in sample.passages]
        return _SplitAnswer(
            sample=sample, answer=answer, ids=ids, shown=without_markers(answer, ids),
            sentences=answer_sentences(answer, ids, language=self.language),
        )  # fmt: skip

    def _sentences_to_judge(self, one: _SplitAnswer, reading: str) -> SentencesToJudge:
        passages = one.sample.passages if reading == "all" else one.sample.relevant_passages(Relevance(reading))
        # Sorted, so that the order and the names of passages do not influence verdicts.
        ordered = sorted(passages, key=lambda one: (one.text, one.date or "", one.age or "", one.provider or ""))
        return SentencesToJudge(
            id=f"{one.sample.id} {reading}", question=one.sample.question, passages=tuple(ordered),
            sentences=tuple(without_markers(text, one.ids) for text in one.sentences),
        )  # fmt: skip

    def _chat_verdicts(self, batch: Sequence[_SplitAnswer], kind: str) -> list[tuple[str | None, str]]:
        """For each answer the verdict, or None and the reason; without a model, reference or answer no request is
        made.
        """
        is_grade = kind == ELIGIBILITY.name
        if self.chat is None or not (is_grade or self.asks_deflection):
            return [(None, "")] * len(batch)

        def request_of(one: _SplitAnswer) -> Request | None:
            # Without an answer, or a reference to grade it by, a model would invent a verdict.
            if not one.shown.strip() or (is_grade and not one.sample.reference.strip()):
                return None
            slots = {"question": one.sample.question, "answer": one.shown}
            if is_grade:
                slots["reference"] = without_markers(one.sample.reference, one.ids)
            request = self.prompts[kind].fill(slots)
            return Request(id=f"{one.sample.id} {kind}", messages=request, sampling=self.sampling)

        form: RequestForm[_SplitAnswer, str] = RequestForm(
            model=self.chat, ask=request_of, again=self.prompts[AGAIN.name],
            read=lambda _, reply: read_label_in_reply(reply, GRADE_WORDINGS if is_grade else DEFLECTION_WORDINGS),
        )  # fmt: skip
        return [(outcome.value, _reason_without_result(outcome)) for _, outcome in form.run(batch)]

    def _make_grounding_item(
        self,
        one: _SplitAnswer,
        verdicts_by_reading: Mapping[str, tuple[Verdicts, str]],
        eligible: tuple[str | None, str],
        deflection: tuple[str | None, str],
    ) -> GroundingItem:
        sample, is_empty = one.sample, not one.shown.strip()
        cited, unknown = cited_passages(one.answer, one.ids)
        labelled = [reading for reading in Relevance if sample.relevant_share(reading) is not None]
        lacking = {"eligibility": eligible[1], "deflection": deflection[1]}
        # Readings without labels have no relevant passages, so their verdicts are left out.
        judged = {name: verdicts_by_reading[name] for name in ("all", *labelled)}
        lacking |= {f"sentences {name}": why for name, (_, why) in judged.items()}
        if one.answer.strip() and self.chat is not None and not sample.reference.strip():
            lacking["eligibility"] = "no reference"
        # A judge does not see an empty answer, or one of citations only. Rules decide on deflection without a judge.
        grade = AnswerVerdict.MAJOR if is_empty and self.chat is not None else eligible[0]
        deflects = {"deflects": "judge", "answers": ""}.get(deflection[0] or "")
        if not self.asks_deflection or is_empty:
            deflects = deflecting_rule(one.answer, one.ids, language=self.language) or ""
        return GroundingItem(
            id=sample.id,
            answer=one.answer,
            expected_deflection=sample.deflection,
            eligibility=None if grade is None else AnswerVerdict(grade),
            sentences=tuple(
                AnsweredSentence(text=text, **{str(name): own[at] for name, (own, _) in judged.items()})
                for at, text in enumerate(one.sentences)
            ),
            deflects=deflects,
            citations=None if sample.cited is None else CitationCounts.of(cited, sample.cited, unknown=len(unknown)),
            readings=tuple(labelled),
            tags=_sample_tags(sample),
            unjudged={name: why for name, why in lacking.items() if why},
            judge=self.signature(),
        )


def _sample_tags(sample: GroundedSample) -> dict[str, str]:
    shares = {reading.share_tag: sample.relevant_share(reading) for reading in Relevance}
    providers = sorted({passage.provider for passage in sample.passages if passage.provider})
    return {
        **sample.tags,
        **{tag: repr(share) for tag, share in shares.items() if share is not None},
        **({"providers": ", ".join(providers)[:200]} if providers else {}),
        **({"source": sample.source} if sample.source is not None else {}),
    }


def _reason_without_result(outcome: RequestOutcome[Any]) -> str:
    """The reason why a request has no result; "" where it has one or no request was made."""
    return f"{outcome.failed} {outcome.why}".strip()[:300] if outcome.failed else ""
