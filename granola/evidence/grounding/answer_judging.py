"""Judges answers: verdicts on their sentences, eligibility, deflection, citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import Field

from abstraction.errors import ReplyError
from abstraction.files.row_models import NeededId, RowModel
from abstraction.models.chat_model import ChatModel, Request, Sampling, sampling_of
from abstraction.phrasing.model_requests import RequestForm
from abstraction.phrasing.prompt_files import Prompt, PromptKind, load_prompts, prompts_hash
from granola.evidence.attribution.attribution_samples import AttributionSample, Category
from granola.evidence.attribution.evaluators import AttributionEvaluator, AttributionJudgement, long_words
from granola.evidence.evidence_task import model_name
from granola.evidence.grounding.answer_text import (
    answer_sentences,
    cited_passages,
    deflecting_rule,
    without_markers,
)
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
from granola.replies.reply import visible_text
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
GRADE_WORDINGS = {
    AnswerVerdict.NO_ISSUES: ("no issues", "no issue", "no issue(s)"),
    AnswerVerdict.MINOR: ("minor issues", "minor issue", "minor issue(s)"),
    AnswerVerdict.MAJOR: ("major issues", "major issue", "major issue(s)"),
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


def read_grade(reply: str) -> AnswerVerdict:
    """The grade in a reply. Raises ReplyError where there is none or an ambiguous one."""
    verdict = read_verdict(reply, GRADE_WORDINGS, affirming=(AnswerVerdict.NO_ISSUES,))
    if verdict is None:
        raise ReplyError(f"expected one of {', '.join(map(str, AnswerVerdict))}")
    return verdict.verdict


def read_deflection(reply: str) -> str:
    """`answers` or `deflects`. Raises ReplyError for neither."""
    verdict = read_verdict(reply, DEFLECTION_WORDINGS)
    if verdict is None:
        raise ReplyError("expected one of answers, deflects")
    return verdict.verdict


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


class SentenceJudge(Protocol):
    """Gives each sentence a verdict."""

    def signature(self) -> str:
        """Everything that the verdicts depend on, as a text."""

    def verdicts(self, asked: Iterable[SentencesToJudge]) -> Iterator[tuple[Verdicts, str]]:
        """For each answer, in order, the verdicts on its sentences and the reason for missing ones, "" where none is
        missing.
        """


def read_grounding_prompts(replacing: Path | str | None = None) -> dict[str, Prompt]:
    """All prompts of grounding; files of the folder `replacing` override the bundled ones. Raises PromptError."""
    with as_file(files("granola") / "evidence" / "grounding" / "prompts") as bundled:
        return load_prompts(KINDS, bundled, replacing)


def passage_lines(passages: Sequence[GroundingPassage], *, named: bool = True) -> list[str]:
    """Passages as lines of a prompt: date, age, provider and text; with `named` after the id, for prompts that ask for
    citations.
    """
    lines = []
    for passage in passages:
        # GaRAGe writes an age as "3 months"; other texts are shown as they are.
        age = f"{passage.age} old" if passage.age and passage.age[-1:].isalpha() else passage.age
        about = "; ".join(filter(None, (passage.id if named else None, passage.date, age, passage.provider)))
        lines.append(f"({about}) {passage.text}" if about else passage.text)
    return lines


@dataclass(kw_only=True)
class ChatSentenceJudge:
    """Judges all sentences of an answer with one request to a chat model."""

    model: ChatModel
    prompts: Mapping[str, Prompt] = field(default_factory=read_grounding_prompts)
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=TEMPERATURE, max_tokens=2_000))

    def __post_init__(self) -> None:
        self.sampling = sampling_of(self.model, self.sampling)

    def signature(self) -> str:
        """`chat|model:NAME-HASH|prompt:HASH|temperature:T`; the paper's temperature is 0.2."""
        return (
            f"chat|model:{model_name(self.model)}|prompt:{prompts_hash(dict(self.prompts))[:8]}"
            f"|temperature:{self.sampling.temperature:g}"
        )

    def verdicts(self, asked: Iterable[SentencesToJudge]) -> Iterator[tuple[Verdicts, str]]:
        """See `SentenceJudge.verdicts`. An answer without sentences needs no request."""
        form: RequestForm[SentencesToJudge, Verdicts] = RequestForm(
            model=self.model, ask=self._request, again=self.prompts[AGAIN.name],
            read=lambda answer, reply: read_sentence_verdicts(reply, len(answer.sentences)),
        )  # fmt: skip
        for answer, outcome in form.run(asked):
            if outcome.value is not None:
                yield outcome.value, ""
            else:
                why = f"{outcome.failed} {outcome.why}".strip()[:300] if answer.sentences else ""
                yield (None,) * len(answer.sentences), why

    def _request(self, answer: SentencesToJudge) -> Request | None:
        if not answer.sentences:
            return None
        numbered = [f"{number}: {text}" for number, text in enumerate(answer.sentences, 1)]
        passages = passage_lines(answer.passages, named=False) or ["(none)"]
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

    def verdicts(self, asked: Iterable[SentencesToJudge]) -> Iterator[tuple[Verdicts, str]]:
        """See `SentenceJudge.verdicts`."""
        for one in asked:
            try:
                yield self._verdicts(one)
            except (ForeseenError, OSError, ValueError) as error:
                # Where a server fails, this answer lacks its verdicts; its row and all others stay.
                yield (None,) * len(one.sentences), str(error)[:300]

    def _verdicts(self, one: SentencesToJudge) -> tuple[Verdicts, str]:
        texts = [passage.text for passage in one.passages]
        # One statement per passage where the evaluator compares two texts, else one with all passages.
        citations = [(text,) for text in texts] if self.apart else [tuple(texts)]
        # "Hi." and the like state nothing.
        told = [bool(long_words(text)) for text in one.sentences]
        samples = [
            AttributionSample(id=f"{one.id} {n}.{at}", question=one.question, statement=text, citations=own)
            for n, (text, tells) in enumerate(zip(one.sentences, told, strict=True), 1)
            for at, own in enumerate(citations if tells else ())
        ]
        judged = list(self.evaluator.judge(samples)) if samples else []
        source = iter(judged)
        verdicts = tuple(
            _combine_judgements([next(source) for _ in citations]) if tells else SentenceVerdict.NO_NEED
            for tells in told
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


_BATCH = 64  # answers judged per batch; a larger one delays the rows written, a smaller one leaves a server idle
Pair = tuple[GroundedSample, str]


class GivenAnswer(RowModel):
    """An answer to judge, from `granola generate` or elsewhere; `system` names who answered."""

    id: NeededId = Field(description="a text")
    answer: Annotated[str, Field(strict=True, description="a text")]
    system: Annotated[str | None, Field(max_length=300)] = None

    @property
    def visible_text(self) -> str:
        """The text that a reader sees, without a reasoning model's thoughts."""
        return visible_text(self.answer)


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
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=TEMPERATURE, max_tokens=64))

    def __post_init__(self) -> None:
        self.sampling = sampling_of(self.chat, self.sampling)

    def signature(self) -> str:
        """`SENTENCES|eligibility:MODEL@T or none|deflection:rules-LANGUAGE or model|prompts:HASH`."""
        chat = f"{model_name(self.chat)}@{self.sampling.temperature:g}" if self.chat is not None else "none"
        parts = [
            self.sentences.signature(),
            f"eligibility:{chat}",
            f"deflection:{'model' if self.asks_deflection else f'rules-{self.language}'}",
        ]
        if self.chat is not None:
            parts.append(f"prompts:{prompts_hash(dict(self.prompts))[:8]}")
        return "|".join(parts)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[GroundingItem]:
        """One item per pair, in order; a missing verdict is None, its reason in `unjudged`."""
        source = iter(pairs)
        while batch := list(islice(source, _BATCH)):
            parted = [
                answer_sentences(answer, [passage.id for passage in sample.passages], language=self.language)
                for sample, answer in batch
            ]
            readings: tuple[Relevance | None, ...] = (None, *Relevance)
            against = {reading: self._verdicts(batch, parted, reading) for reading in readings}
            eligible = self._chat_verdicts(batch, ELIGIBILITY.name)
            declined = (
                self._chat_verdicts(batch, DEFLECTION.name) if self.asks_deflection else [(None, "")] * len(batch)
            )
            items = [
                self._item(
                    sample, answer, parted[at], {reading: verdicts[at] for reading, verdicts in against.items()},
                    eligible[at], declined[at],
                )
                for at, (sample, answer) in enumerate(batch)
            ]  # fmt: skip
            yield from items

    def _verdicts(
        self, batch: Sequence[Pair], parted: Sequence[Sequence[str]], reading: Relevance | None
    ) -> list[tuple[Verdicts, str]]:
        asked = []
        for (sample, _), cut in zip(batch, parted, strict=True):
            ids = [passage.id for passage in sample.passages]
            passages = sample.passages if reading is None else sample.relevant_passages(reading)
            asked.append(
                SentencesToJudge(
                    id=f"{sample.id} {reading or 'all'}", question=sample.question,
                    sentences=tuple(without_markers(text, ids) for text in cut), passages=_sorted_passages(passages),
                )
            )  # fmt: skip
        return list(self.sentences.verdicts(asked))

    def _chat_verdicts(self, batch: Sequence[Pair], kind: str) -> list[tuple[str | None, str]]:
        """For each answer the verdict, or None and the reason; without a model, reference or answer no request is
        made.
        """
        if self.chat is None:
            return [(None, "")] * len(batch)

        def ask(pair: Pair) -> Request | None:
            sample, answer = pair
            shown = _without_citations(sample, answer)
            # Nothing to judge: a model would invent a verdict.
            if not shown.strip() or (kind == ELIGIBILITY.name and not sample.reference.strip()):
                return None
            slots = {"question": sample.question, "answer": shown}
            if kind == ELIGIBILITY.name:
                slots["reference"] = _without_citations(sample, sample.reference)
            return Request(id=f"{sample.id} {kind}", messages=self.prompts[kind].fill(slots), sampling=self.sampling)

        def read(_: Pair, reply: str) -> str:
            return read_grade(reply) if kind == ELIGIBILITY.name else read_deflection(reply)

        form: RequestForm[Pair, str] = RequestForm(model=self.chat, ask=ask, read=read, again=self.prompts[AGAIN.name])
        return [
            (
                outcome.value,
                "" if outcome.value or not outcome.failed else f"{outcome.failed} {outcome.why}".strip()[:300],
            )
            for _, outcome in form.run(batch)
        ]

    def _item(
        self,
        sample: GroundedSample,
        answer: str,
        parted: Sequence[str],
        against: Mapping[Relevance | None, tuple[Verdicts, str]],
        eligible: tuple[str | None, str],
        declined: tuple[str | None, str],
    ) -> GroundingItem:
        ids = [passage.id for passage in sample.passages]
        cited, strange = cited_passages(answer, ids)
        labelled = [reading for reading in Relevance if sample.relevant_share(reading) is not None]
        lacking = {"eligibility": eligible[1], "deflection": declined[1]}
        lacking |= {f"sentences {reading or 'all'}": against[reading][1] for reading in (None, *labelled)}
        if answer.strip() and self.chat is not None and not sample.reference.strip():
            lacking["eligibility"] = "no reference"
        # Readings without labels have no relevant passages, so their verdicts are left out.
        verdicts = {"all": against[None][0], **{str(reading): against[reading][0] for reading in labelled}}
        return GroundingItem(
            id=sample.id,
            answer=answer,
            expected_deflection=sample.deflection,
            eligibility=self._grade(_without_citations(sample, answer), eligible[0]),
            sentences=tuple(
                AnsweredSentence(text=text, **{name: own[at] for name, own in verdicts.items()})
                for at, text in enumerate(parted)
            ),
            deflects=self._deflecting_rule(sample, answer, declined[0]),
            citations=None if sample.cited is None else CitationCounts.of(cited, sample.cited, strange=len(strange)),
            readings=tuple(labelled),
            tags=_tags(sample),
            unjudged={name: why for name, why in lacking.items() if why},
            judge=self.signature(),
        )

    def _grade(self, answer: str, grade: str | None) -> AnswerVerdict | None:
        """The grade; MAJOR for an empty answer or one of citations only, which no judge needs to see."""
        if not answer.strip() and self.chat is not None:
            return AnswerVerdict.MAJOR
        return None if grade is None else AnswerVerdict(grade)

    def _deflecting_rule(self, sample: GroundedSample, answer: str, judged: str | None) -> str | None:
        """The rule by which an answer deflects, or "judge"; "" where it does not deflect, None where the judge failed.
        """
        # Rules also decide for an empty answer, where there is nothing to ask about.
        if not self.asks_deflection or not _without_citations(sample, answer).strip():
            return deflecting_rule(answer, [passage.id for passage in sample.passages], language=self.language) or ""
        return None if judged is None else "judge" if judged == "deflects" else ""


def _without_citations(sample: GroundedSample, text: str) -> str:
    """The text without its citations, so that the names of passages do not influence its verdict."""
    return without_markers(text, [passage.id for passage in sample.passages])


def _sorted_passages(passages: Sequence[GroundingPassage]) -> tuple[GroundingPassage, ...]:
    """The passages sorted by text, then date, so that their order and names do not influence verdicts."""
    return tuple(sorted(passages, key=lambda one: (one.text, one.date or "", one.age or "", one.provider or "")))


def _tags(sample: GroundedSample) -> dict[str, str]:
    shares = {reading.share_tag: sample.relevant_share(reading) for reading in Relevance}
    providers = sorted({passage.provider for passage in sample.passages if passage.provider})
    return {
        **sample.tags,
        **{tag: repr(share) for tag, share in shares.items() if share is not None},
        **({"providers": ", ".join(providers)[:200]} if providers else {}),
        **({"source": sample.source} if sample.source is not None else {}),
    }
