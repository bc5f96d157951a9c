"""From answers to judged items: verdicts on their sentences, eligibility, deflection, citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from abstraction.models.chat_model import ChatModel, Request, Sampling
from abstraction.models.prompts import Prompt, prompts_hash
from abstraction.phrasing.model_requests import RequestForm
from granola.evidence.judge_names import model_name
from granola.grounding.answer_sentences import answer_sentences, is_cut
from granola.grounding.citation_markers import LONGEST, cited_passages, deflects, without_markers
from granola.grounding.citation_scores import counted
from granola.grounding.grounded_samples import GroundedSample, GroundingPassage, Relevance
from granola.grounding.grounding_items import CUT, AnswerVerdict, GroundingItem, SentenceVerdict
from granola.grounding.judge_replies import read_deflection, read_grade
from granola.grounding.ladder_levels import BY_MENTION, MOST_SENTENCES, LadderStanding, ladder_standing, level_sentence
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

    Where `ladders` has a row of a sample's id, `matcher` says which level the answer mentions, and a judge of sentences
    that reads whether it states that level, or a coarser one. `ladders_hash` tells the ladders in the signature.
    """

    sentences: SentenceJudge
    chat: ChatModel | None = None
    asks_deflection: bool = False
    language: str = "en"
    prompts: Mapping[str, Prompt] = field(default_factory=read_grounding_prompts)
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.2, max_tokens=64))
    ladders: Mapping[str, TieredRow] = field(default_factory=dict)
    ladders_hash: str = ""
    matcher: Matcher | None = None

    def signature(self) -> str:
        """`SENTENCES|eligibility:MODEL@T or none|deflection:rules-LANGUAGE or model|ladders:HASH by MATCHER, HOW`."""
        chat = f"{model_name(self.chat)}@{self.sampling.temperature:g}" if self.chat is not None else "none"
        parts = [
            self.sentences.signature(),
            f"eligibility:{chat}",
            f"deflection:{'model' if self.asks_deflection else f'rules-{self.language}'}",
        ]
        if self.chat is not None:
            parts.append(f"prompts:{prompts_hash(dict(self.prompts))[:8]}")
        if self.ladders and self.matcher is not None:
            how = "confirmed by the judge" if self.sentences.reads_meaning else BY_MENTION
            parts.append(f"ladders:{self.ladders_hash or 'of no file'} by {self.matcher.signature()}, {how}")
        return "|".join(parts)

    def judged(self, pairs: Iterable[Pair]) -> Iterator[GroundingItem]:
        """One item a pair, in order; what a judge does not say is None and told in `unjudged`."""
        source = iter(pairs)
        while batch := list(islice(source, _BATCH)):
            parted = [
                answer_sentences(answer, [passage.id for passage in sample.passages], language=self.language)
                for sample, answer in batch
            ]
            readings: tuple[Relevance | None, ...] = (None, *Relevance)
            against = {reading: self._verdicts(batch, parted, reading) for reading in readings}
            eligible = self._asked(batch, ELIGIBILITY.name)
            declined = self._asked(batch, DEFLECTION.name) if self.asks_deflection else [(None, "")] * len(batch)
            items = [
                self._item(
                    sample, answer, parted[at], {reading: verdicts[at] for reading, verdicts in against.items()},
                    eligible[at], declined[at],
                )
                for at, (sample, answer) in enumerate(batch)
            ]  # fmt: skip
            yield from self._on_ladders(batch, items)

    def _on_ladders(self, batch: Sequence[Pair], items: Sequence[GroundingItem]) -> Iterator[GroundingItem]:
        """The items with their standing on ladders; judges that read are asked about the level that is mentioned."""
        standings: dict[int, LadderStanding] = {}
        failed: dict[int, dict[str, str]] = {}
        if self.matcher is not None:
            for at, (sample, answer) in enumerate(batch):
                if (row := self.ladders.get(sample.id)) is not None and len(row.levels) > 1:
                    standings[at] = ladder_standing(sample, answer, row, self.matcher, language=self.language)
        if self.sentences.reads_meaning:
            self._confirm_levels(batch, items, standings, failed)
            for reading in Relevance:
                self._judge_levels(batch, reading, standings, failed)
        for at, item in enumerate(items):
            yield replace(
                item, ladder=standings.get(at), judge=self.signature(), unjudged={**item.unjudged, **failed.get(at, {})}
            )

    def _confirm_levels(
        self,
        batch: Sequence[Pair],
        items: Sequence[GroundingItem],
        standings: dict[int, LadderStanding],
        failed: dict[int, dict[str, str]],
    ) -> None:
        """Let the judge say which level an answer states, the mentioned one or a coarser one.

        A standing is taken out where the judge says nothing.
        """
        asked = []
        mentioned = {at: standing.mentioned for at, standing in standings.items() if standing.mentioned is not None}
        standings |= {at: replace(standing, judged=True) for at, standing in standings.items()}
        for at, level in mentioned.items():
            sample, ladder = batch[at][0], self.ladders[batch[at][0].id]
            ids = [passage.id for passage in sample.passages]
            stating = [without_markers(text, ids) for text in items[at].sentences[:MOST_SENTENCES]]
            asked.append(
                SentencesAsked(
                    id=f"{sample.id} level stated", question=sample.question,
                    sentences=tuple(level_sentence(ladder, one) for one in range(level, len(ladder.levels) + 1)),
                    passages=tuple(GroundingPassage(id="answer", text=text) for text in stating),
                )
            )  # fmt: skip
        for (at, level), (verdicts, why) in zip(mentioned.items(), self.sentences.verdicts(asked), strict=True):
            if None in verdicts:
                del standings[at]
                failed.setdefault(at, {})["level stated"] = why or "no verdict"
                continue
            confirmed = (level + above for above, one in enumerate(verdicts) if one is SentenceVerdict.SUPPORTED)
            standings[at] = replace(standings[at], stated=next(confirmed, None))

    def _judge_levels(
        self,
        batch: Sequence[Pair],
        reading: Relevance,
        standings: dict[int, LadderStanding],
        failed: dict[int, dict[str, str]],
    ) -> None:
        """Let the judge say whether the relevant passages entail the level that is stated."""
        stated = {at: standing.stated for at, standing in standings.items() if standing.stated is not None}
        asked = [
            SentencesAsked(
                id=f"{batch[at][0].id} level {reading}", question=batch[at][0].question,
                sentences=(level_sentence(self.ladders[batch[at][0].id], level),),
                passages=_ordered(batch[at][0].relevant(reading)),
            )
            for at, level in stated.items()
        ]  # fmt: skip
        for at, (verdicts, why) in zip(stated, self.sentences.verdicts(asked), strict=True):
            entailed = None if verdicts[0] is None else verdicts[0] is SentenceVerdict.SUPPORTED
            standings[at] = replace(standings[at], supported={**standings[at].supported, reading: entailed})
            if entailed is None:
                failed.setdefault(at, {})[f"level {reading}"] = why or "no verdict"

    def _verdicts(
        self, batch: Sequence[Pair], parted: Sequence[Sequence[str]], reading: Relevance | None
    ) -> list[tuple[Verdicts, str]]:
        asked = []
        for (sample, _), cut in zip(batch, parted, strict=True):
            ids = [passage.id for passage in sample.passages]
            passages = sample.passages if reading is None else sample.relevant(reading)
            asked.append(
                SentencesAsked(
                    id=f"{sample.id} {reading or 'all'}", question=sample.question,
                    sentences=tuple(without_markers(text, ids) for text in cut), passages=_ordered(passages),
                )
            )  # fmt: skip
        return list(self.sentences.verdicts(asked))

    def _asked(self, batch: Sequence[Pair], kind: str) -> list[tuple[str | None, str]]:
        """A word for each answer, or why there is none; nothing is asked without a model, reference or answer."""
        if self.chat is None:
            return [(None, "")] * len(batch)

        def ask(pair: Pair) -> Request | None:
            sample, answer = pair
            shown = _without_names(sample, answer)
            if not shown.strip() or (kind == ELIGIBILITY.name and not sample.reference.strip()):
                return None
            slots = {"question": sample.question, "answer": shown}
            if kind == ELIGIBILITY.name:
                slots["reference"] = _without_names(sample, sample.reference)
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
        if is_cut(answer, parted):
            lacking[CUT] = f"of {len(answer):,} characters the first {len(parted):,} sentences were judged"
        if answer.strip() and self.chat is not None and not sample.reference.strip():
            lacking["eligibility"] = "no reference"
        return GroundingItem(
            id=sample.id,
            answer=answer,
            expected_deflection=sample.deflection,
            eligibility=self._grade(_without_names(sample, answer), eligible[0]),
            sentences=tuple(parted),
            against_all=against[None][0],
            against_relevant={reading: against[reading][0] for reading in labelled},
            deflects=self._deflecting_rule(sample, answer, declined[0]),
            citations=None if sample.cited is None else counted(cited, sample.cited, strange=len(strange)),
            by_relevance={
                reading: counted(cited, [passage.id for passage in sample.relevant(reading)], strange=len(strange))
                for reading in labelled
            },
            tags=_tags(sample),
            unjudged={name: why for name, why in lacking.items() if why},
        )

    def _grade(self, answer: str, grade: str | None) -> AnswerVerdict | None:
        """An empty answer, or one of citations alone, answers nothing, whoever would judge it."""
        if not answer.strip() and self.chat is not None:
            return AnswerVerdict.MAJOR
        return None if grade is None else AnswerVerdict(grade)

    def _deflecting_rule(self, sample: GroundedSample, answer: str, judged: str | None) -> str | None:
        """What says that an answer deflects: a rule or "judge"; "" where it does not, None where the judge failed."""
        if not self.asks_deflection or not _without_names(sample, answer).strip():
            return deflects(answer, [passage.id for passage in sample.passages], language=self.language) or ""
        return None if judged is None else "judge" if judged == "deflects" else ""


def _without_names(sample: GroundedSample, text: str) -> str:
    """As much of a text as is judged, without its citations: the same whatever passages are called."""
    return without_markers(text[:LONGEST], [passage.id for passage in sample.passages])


def _ordered(passages: Sequence[GroundingPassage]) -> tuple[GroundingPassage, ...]:
    """By their texts, then dates: how passages stand in a file, and what they are called, changes nothing."""
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
