"""From answers to judged items: verdicts on their sentences, eligibility, deflection, citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from abstraction.models.chat_model import ChatModel
from abstraction.models.chat_request import Request, Sampling
from abstraction.models.prompts import Prompt, prompts_hash
from abstraction.phrasing.model_requests import RequestForm
from granola.attribution.chat_evaluator import model_name
from granola.grounding.answer_sentences import answer_sentences, is_cut
from granola.grounding.citation_markers import cited_passages, without_markers
from granola.grounding.citation_scores import counted
from granola.grounding.deflections import deflects
from granola.grounding.grounded_samples import GroundedSample, GroundingPassage, Relevance
from granola.grounding.grounding_items import CUT, AnswerVerdict, GroundingItem, SentenceVerdict
from granola.grounding.judge_replies import read_deflection, read_grade
from granola.grounding.ladder_levels import LadderStanding, ladder_standing, level_sentence
from granola.grounding.sentence_judges import (
    AGAIN,
    DEFLECTION,
    ELIGIBILITY,
    SentenceJudge,
    SentencesAsked,
    Verdicts,
    read_grounding_prompts,
)

if TYPE_CHECKING:
    from abstraction.rows import TieredRow
    from granola.matching.verdict import Matcher

_BATCH = 64  # answers judged together
Pair = tuple[GroundedSample, str]


@dataclass(kw_only=True)
class AnswerJudge:
    """Judges answers. `chat` says whether they are eligible and, with `asks_deflection`, whether they deflect.

    Where `ladders` has a row of a sample's id, `matcher` says at which level the answer states it.
    """

    sentences: SentenceJudge
    chat: ChatModel | None = None
    asks_deflection: bool = False
    language: str = "en"
    prompts: Mapping[str, Prompt] = field(default_factory=read_grounding_prompts)
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.2, max_tokens=64))
    ladders: Mapping[str, TieredRow] = field(default_factory=dict)
    matcher: Matcher | None = None

    def signature(self) -> str:
        """`SENTENCES|eligibility:MODEL@T or none|deflection:rules-LANGUAGE or model|ladders:MATCHER`."""
        chat = f"{model_name(self.chat)}@{self.sampling.temperature:g}" if self.chat is not None else "none"
        parts = [
            self.sentences.signature(),
            f"eligibility:{chat}",
            f"deflection:{'model' if self.asks_deflection else f'rules-{self.language}'}",
        ]
        if self.chat is not None:
            parts.append(f"prompts:{prompts_hash(dict(self.prompts))[:8]}")
        if self.ladders and self.matcher is not None:
            parts.append(f"ladders:{self.matcher.signature()}")
        return "|".join(parts)

    def judged(self, pairs: Iterable[Pair]) -> Iterator[GroundingItem]:
        """One item a pair, in order; what a judge does not say is None and told in `unjudged`."""
        source = iter(pairs)
        while batch := list(islice(source, _BATCH)):
            yield from self._batch(batch)

    def _batch(self, batch: Sequence[Pair]) -> Iterator[GroundingItem]:
        parted = [
            answer_sentences(answer, [one.id for one in sample.passages], language=self.language)
            for sample, answer in batch
        ]
        readings: tuple[Relevance | None, ...] = (None, *Relevance)
        against = {reading: self._verdicts(batch, parted, reading) for reading in readings}
        eligible = self._asked(batch, ELIGIBILITY.name)
        declined = self._asked(batch, DEFLECTION.name) if self.asks_deflection else [(None, "")] * len(batch)
        items = [
            self._item(
                sample, answer, parted[at], {reading: found[at] for reading, found in against.items()},
                eligible[at], declined[at],
            )
            for at, (sample, answer) in enumerate(batch)
        ]  # fmt: skip
        yield from self._on_ladders(batch, items)

    def _on_ladders(self, batch: Sequence[Pair], items: Sequence[GroundingItem]) -> Iterator[GroundingItem]:
        """The items with their standing on ladders; judges that read are asked about the level that is stated."""
        standings: dict[int, LadderStanding] = {}
        failed: dict[int, dict[str, str]] = {}
        if self.matcher is not None:
            for at, (sample, answer) in enumerate(batch):
                if (row := self.ladders.get(sample.id)) is not None and len(row.levels) > 1:
                    standings[at] = ladder_standing(sample, answer, row, self.matcher, language=self.language)
        if self.sentences.reads_meaning:
            stated = {at: one.stated for at, one in standings.items() if one.stated is not None}
            for reading in Relevance:
                asked = [
                    SentencesAsked(
                        id=f"{batch[at][0].id} level {reading}", question=batch[at][0].question,
                        sentences=(level_sentence(self.ladders[batch[at][0].id], level),),
                        passages=_ordered(batch[at][0].relevant(reading)),
                    )
                    for at, level in stated.items()
                ]  # fmt: skip
                for at, (verdicts, why) in zip(stated, self.sentences.verdicts(asked), strict=True):
                    told = None if verdicts[0] is None else verdicts[0] is SentenceVerdict.SUPPORTED
                    one = standings[at]
                    standings[at] = replace(one, supported={**one.supported, reading: told})
                    if why:
                        failed.setdefault(at, {})[f"level {reading}"] = why
        for at, item in enumerate(items):
            yield replace(
                item, ladder=standings.get(at), judge=self.signature(), unjudged={**item.unjudged, **failed.get(at, {})}
            )

    def _verdicts(
        self, batch: Sequence[Pair], parted: Sequence[Sequence[str]], reading: Relevance | None
    ) -> list[tuple[Verdicts, str]]:
        asked = []
        for (sample, _), own in zip(batch, parted, strict=True):
            ids = [one.id for one in sample.passages]
            passages = sample.passages if reading is None else sample.relevant(reading)
            asked.append(
                SentencesAsked(
                    id=f"{sample.id} {reading or 'all'}", question=sample.question,
                    sentences=tuple(without_markers(text, ids) for text in own), passages=_ordered(passages),
                )
            )  # fmt: skip
        return list(self.sentences.verdicts(asked))

    def _asked(self, batch: Sequence[Pair], kind: str) -> list[tuple[str | None, str]]:
        """A word for each answer, or why there is none; nothing is asked without a model, reference or answer."""
        if self.chat is None:
            return [(None, "")] * len(batch)

        def ask(pair: Pair) -> Request | None:
            sample, answer = pair
            if not answer.strip() or (kind == ELIGIBILITY.name and not sample.reference.strip()):
                return None
            slots = {"question": sample.question, "answer": answer}
            if kind == ELIGIBILITY.name:
                slots["reference"] = sample.reference
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
        ids = [one.id for one in sample.passages]
        cited, strange = cited_passages(answer, ids)
        told = {"eligibility": eligible[1], "deflection": declined[1]}
        labelled = [reading for reading in Relevance if sample.relevant_share(reading) is not None]
        told |= {
            f"sentences {reading or 'all'}": why
            for reading, (_, why) in against.items()
            if reading is None or reading in labelled
        }
        if is_cut(answer, parted):
            told[CUT] = f"of {len(answer):,} characters the first {len(parted):,} sentences were judged"
        rule = deflects(answer, language=self.language)
        if declined[0] is not None:
            rule = "judge" if declined[0] == "deflects" else None
        grade = None if eligible[0] is None else AnswerVerdict(eligible[0])
        if not answer.strip() and self.chat is not None:
            grade = AnswerVerdict.MAJOR  # an empty answer answers nothing, whoever would judge it
        return GroundingItem(
            id=sample.id,
            answer=answer,
            expected_deflection=sample.deflection,
            eligibility=grade,
            sentences=tuple(parted),
            against_all=against[None][0],
            against_relevant={reading: against[reading][0] for reading in labelled},
            deflects=rule,
            citations=None if sample.cited is None else counted(cited, sample.cited, strange=len(strange)),
            by_relevance={
                reading: counted(cited, [one.id for one in sample.relevant(reading)], strange=len(strange))
                for reading in labelled
            },
            tags=_tags(sample),
            unjudged={name: why for name, why in told.items() if why},
        )


def _ordered(passages: Sequence[GroundingPassage]) -> tuple[GroundingPassage, ...]:
    """By their texts, then dates: how passages stand in a file, and what they are called, changes nothing."""
    return tuple(sorted(passages, key=lambda one: (one.text, one.date or "", one.age or "", one.provider or "")))


def _tags(sample: GroundedSample) -> dict[str, str]:
    share = sample.relevant_share(Relevance.STRICT)
    providers = sorted({one.provider for one in sample.passages if one.provider})
    return {
        **sample.tags,
        **({"relevant_share": f"{share:.4f}"} if share is not None else {}),
        **({"providers": ", ".join(providers)[:200]} if providers else {}),
        **({"source": sample.source} if sample.source is not None else {}),
    }
