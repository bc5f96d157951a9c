"""Judges answers: verdicts on their sentences, eligibility, deflection, citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated

from pydantic import Field

from abstraction.files.row_models import NeededId, RowModel
from abstraction.models.chat_model import ChatModel, Request, Sampling, sampling_of
from abstraction.phrasing.model_requests import RequestForm
from abstraction.phrasing.prompt_files import Prompt, prompts_hash
from granola.evidence.grounding.answer_sentences import answer_sentences
from granola.evidence.grounding.citation_markers import cited_passages, deflecting_rule, without_markers
from granola.evidence.grounding.grounded_samples import GroundedSample, GroundingPassage, Relevance
from granola.evidence.grounding.grounding_items import (
    AnsweredSentence,
    AnswerVerdict,
    CitationCounts,
    GroundingItem,
    Verdicts,
)
from granola.evidence.grounding.sentence_judges import (
    AGAIN,
    DEFLECTION,
    ELIGIBILITY,
    TEMPERATURE,
    SentenceJudge,
    SentencesToJudge,
    read_deflection,
    read_grade,
    read_grounding_prompts,
)
from granola.evidence.judge_names import model_name
from granola.replies.reply import visible_text

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
