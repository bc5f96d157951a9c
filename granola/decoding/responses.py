"""Readings of responses: linked in the context of the question, with the ladder that each entails.

An unlinked response stays a text, which may equal a name in a tier of another response; in a place chain with an
unknown first part, the other parts are still entailed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from abstraction.base.relations import ANY, Relation, relation
from abstraction.base.tiers import Level, Tier
from abstraction.ladders.assembly.filters import question_places_answer_in
from abstraction.maker.pipeline import LadderMaker
from abstraction.text.language.amounts import amounts, parse_quantity
from abstraction.text.language.calendar_dates import parse_date
from abstraction.text.language.date_finder import dates
from abstraction.text.language.languages import has_grammar, language
from abstraction.text.language.phrases import without_article
from abstraction.text.questions.question_facts import follows_from_question
from abstraction.text.questions.question_wording import read_relation_wording
from granola.decoding.response_cleaning import DECODING, CleanedResponse, answer_candidates, clean_response
from granola.decoding.response_ladders import (
    LONGEST_NAME,
    VALUES,
    AnswerContext,
    Chains,
    Ladders,
    chain_parts,
    is_linked,
    ladder_of_several_answers,
    merge_ladders,
)
from granola.decoding.samples import SampleRow
from granola.decoding.shared_names import is_in_question, shared_names
from kg.base.model import normalise

# Readings of responses.

_NATIONS = frozenset({"country", "language"})  # relations that a national adjective can answer
SHORT = 25  # characters; shorter responses are not searched for shared names


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadResponse:
    """A response with its ladder. `levels[0]` is its answer, the others follow from it; empty for an abstention.

    `name`: the part that names the answer. `linked`: level 1 is an entity, date or amount, not a text. `shared`: only
    a name in it that other responses share was read.
    """

    cleaned: CleanedResponse
    name: str = ""
    levels: tuple[Level, ...] = ()
    linked: bool = False
    shared: bool = False

    @property
    def abstains(self) -> bool:
        """Whether the response declines to answer."""
        return self.cleaned.abstains is not None


_CITIZEN = re.compile(r"(?<!\s)\s++(?:citizen(?:ship)?|national(?:ity)?|person)\Z", re.IGNORECASE)
_LONGEST_NATION = 60  # characters


@dataclass(frozen=True, slots=True)
class _ReadingPlan:
    """How to read a response: `text` is the part to read, `qid` its entity if known, `container` the name and id of
    the place after the first part of a chain, `countries` those of a list.
    """

    text: str
    qid: str | None = None
    container: tuple[str, str] | None = None
    countries: tuple[str, ...] = ()


class ResponseReader:
    """Reads responses with one snapshot; the same response to the same question always has the same reading."""

    def __init__(self, maker: LadderMaker) -> None:
        self._maker = maker
        self._ladders = Ladders(maker)
        self._chains = Chains(maker, self._ladders.levels_of_entity)
        self._language = maker.graph.shown_in

    def read_responses(self, rows: Sequence[SampleRow]) -> list[tuple[ReadResponse, ...]]:
        """The readings of the responses of each row, in order; a batch of rows needs fewer reads of the store."""
        cleaned = [
            [clean_response(sample, subject=row.subject_text, language=self._language) for sample in row.samples]
            for row in rows
        ]
        names = [self._shared_names(row, responses) for row, responses in zip(rows, cleaned, strict=True)]
        self._prefetch_names(rows, cleaned, names)
        out = []
        for row, responses, shared in zip(rows, cleaned, names, strict=True):
            asked = self._relation_asked_for(row)
            subjects = self._maker.linker.subject_ids(row.subject_text, row.subject_qid, asked)
            context = AnswerContext(asked, subjects, row)
            read = {one: self._read_response(one, shared.get(one.text), context) for one in dict.fromkeys(responses)}
            out.append(tuple(read[response] for response in responses))
        return out

    def _shared_names(self, row: SampleRow, responses: Sequence[CleanedResponse]) -> Mapping[str, str]:
        """By response text, the name that it shares with other responses; empty where all responses are short."""
        texts = Counter(response.text for response in responses if response.abstains is None)
        if all(len(text) <= SHORT for text in texts):
            return {}
        asks_nation = self._relation_asked_for(row).asks in _NATIONS
        return shared_names(texts, row.question, self._language, asks_nation=asks_nation)

    def ladders_for_question(
        self, row: SampleRow, readings: Sequence[ReadResponse]
    ) -> Callable[[int], Sequence[Level]]:
        """A function from the index of a response to its ladder for this particular question, built on demand."""
        levels_of_entity = cache(partial(self._ladders.entity_ladder_for_question, row=row))

        def levels_of_response_number(number: int) -> Sequence[Level]:
            levels = readings[number].levels
            head = next((tier.qid for level in levels[:2] for tier in level.tiers if tier.qid), None)
            return levels if head is None else levels_of_entity(head)

        return levels_of_response_number

    def _read_response(self, response: CleanedResponse, name: str | None, context: AnswerContext) -> ReadResponse:
        """The reading of a response: of the whole, or of the name that it shares with others if the whole is unlinked
        or repeats the question.
        """
        if response.abstains is not None:
            return ReadResponse(cleaned=response)
        reading, row = self._read_by_plan(response, context), context.row
        tier = reading.levels[0].tiers[0]
        # It is read as a part of the question although it has more text.
        repeats = reading.name != response.whole and (
            (tier.qid is not None and tier.qid == row.subject_qid)
            or is_in_question(reading.name, row.question)
            or follows_from_question(reading.name, row.question, self._language)
        )
        if not repeats and (name is None or name == response.whole or reading.linked or len(reading.levels) > 1):
            return reading
        if name is None or name == response.whole:
            alone = Level(tiers=(Tier(text=response.whole),))
            return ReadResponse(cleaned=response, name=response.whole, levels=(alone,))
        short = self._read_by_plan(replace(response, text=name, whole=name), context)
        return replace(short, cleaned=response, shared=True)

    def _read_by_plan(self, response: CleanedResponse, context: AnswerContext) -> ReadResponse:
        plan = self._plan_reading(response, context)
        # "Austria and Germany": both are answers, so both ladders count.
        if plan.countries:
            each = [(part, self._country_of_nationality(part)) for part in plan.countries]
            levels = ladder_of_several_answers([self._ladders.levels_of_response(context, *one) for one in each])
        else:
            levels = self._ladders.levels_of_response(context, plan.text, plan.qid)
        linked = is_linked(levels)
        if plan.container is not None:
            head, *coarser = self._ladders.levels_of_response(context, *plan.container)
            new = [] if _repeats_question(head.tiers[0], context.row) else [head]
            levels = merge_ladders(levels, (levels[0], *new, *coarser))
        return ReadResponse(
            cleaned=response, name=plan.text if linked else response.whole, levels=levels, linked=linked
        )

    def _prefetch_names(
        self,
        rows: Sequence[SampleRow],
        cleaned: Sequence[Sequence[CleanedResponse]],
        shared: Sequence[Mapping[str, str]],
    ) -> None:
        """Prefetch the names that linking will look up, in few batches; readings do not depend on it."""
        graph, linker = self._maker.graph, self._maker.linker
        by_relation: dict[str | None, list[str]] = {}
        for row, responses, parts in zip(rows, cleaned, shared, strict=True):
            names = by_relation.setdefault(row.relation, [])
            names += (v for name in parts.values() for v in _spellings_to_look_up(name))
            for response in responses:
                if response.abstains is not None:
                    continue
                for text in dict.fromkeys((response.whole, *answer_candidates(response.text))):
                    if len(text) <= LONGEST_NAME:
                        names += (*_spellings_to_look_up(text), *chain_parts(text))
        subjects = [row.subject_text for row in rows if row.subject_text]
        every = [*subjects, *(name for names in by_relation.values() for name in names)]
        graph.prefetch_names(every)
        graph.prefetch_names(
            other for name in set(every) if not graph.find(name) for other in linker.further_name_forms(name)
        )
        ids = [m.id for name in every for m in graph.find(name)]
        graph.fetch_with_values([*ids, *(row.subject_qid for row in rows if row.subject_qid)])
        # Linking ranks candidates by relation, so each relation is prepared apart.
        for prop, names in by_relation.items():
            if prop is not None:
                linker.prefetch_counts(dict.fromkeys(names), relation(prop))

    def _relation_asked_for(self, row: SampleRow) -> Relation:
        """The relation of the row, or the one that the wording of the question implies."""
        asked = relation(row.relation) if row.relation else ANY
        # A stated relation is better evidence than the wording.
        if asked.asks != "any":
            return asked
        wording = read_relation_wording(row.question, self._language)
        if wording.relation is not None and not row.relation:
            return relation(wording.relation)
        kind = wording.kind
        return kind if kind is not None and (not row.relation or kind.asks in VALUES) else asked

    def _plan_reading(self, response: CleanedResponse, context: AnswerContext) -> _ReadingPlan:
        asks = context.asked.asks
        if asks in ("date", "quantity"):
            value = _only_date_or_amount(response.text, response.whole, asks, self._language)
            return _ReadingPlan(value or response.text)
        if asks == "country" and (nation := self._country_of_nationality(response.text)):
            return _ReadingPlan(response.text, nation)
        if plan := self._plan_by_name((response.whole, response.text), context):
            return plan
        # English, and languages with question words, recognise a question for a date; in others it may be the answer.
        if asks == "any" and not (has_grammar(self._language) or language(self._language).asks):
            date = _only_date_or_amount(response.text, response.whole, "date", self._language)
            return _ReadingPlan(date or response.text)
        return _ReadingPlan(response.text)

    def _country_of_nationality(self, text: str) -> str | None:
        """The only existing country for "Spanish" or "a Spanish citizen"; None for none or several."""
        if len(text) > _LONGEST_NATION:
            return None
        nations = self._maker.vocabulary.countries_of_adjective(_CITIZEN.sub("", without_article(text)))
        # "German" also names former states: only existing ones are meant today.
        present = [qid for qid in nations if self._maker.graph.entity(qid) and not self._maker.graph.is_historical(qid)]
        return present[0] if len(present) == 1 else None

    def _plan_by_name(self, texts: Sequence[str], context: AnswerContext) -> _ReadingPlan | None:
        """The plan for the first of the texts or their beginnings that is a name or a place chain."""
        for text in dict.fromkeys((*texts, *answer_candidates(texts[-1]))):
            if len(text) > LONGEST_NAME:
                continue
            known = any(m.id[0] == "Q" for name in _spellings_to_look_up(text) for m in self._maker.graph.find(name))
            if known or self._maker.linker.find_typed(text):
                return _ReadingPlan(text)
            parts = chain_parts(text)
            if self._chains.is_place_chain(parts) or (parts and context.asked.asks == "country"):
                # A description may follow the first name: "Hamburg - a port in Germany".
                heads = dict.fromkeys((parts[0], *answer_candidates(parts[0])))
                ids = (self._chains.entity_of_first_part((head, *parts[1:]), context) for head in heads)
                qid = next(filter(None, ids), None)
                if qid is None and self._chains.is_list_of_countries(parts, context):
                    return _ReadingPlan(text, countries=parts)
                container = self._chains.finest_resolved_container(parts, context)
                return _ReadingPlan(text if qid else parts[0], qid, container)
        return None


def _repeats_question(tier: Tier, row: SampleRow) -> bool:
    """Whether a place merely repeats the question; its own ladder is built without the question and does not check."""
    asked: Relation = relation(row.relation) if row.relation else ANY
    if row.subject_qid == tier.qid or any(without_article(name) in asked.trivial for name in tier.names()):
        return True
    return question_places_answer_in(row.question, row.subject_text, tier.names())


@DECODING.memoize(1 << 15, size=len)
def _spellings_to_look_up(text: str) -> tuple[str, ...]:
    """The spellings that the linker looks up: the text, and the text without or with an article."""
    plain = without_article(text)
    # Labels keep or drop the article: "The Hague", "Beatles".
    return (text, plain) if plain != normalise(text) else (text, f"the {text}")


@DECODING.memoize(1 << 15, size=len)
def _only_date_or_amount(stated: str, whole: str, asks: str, code: str) -> str | None:
    """The only date or amount in a response, as written; None for none or several."""
    parse = parse_date if asks == "date" else partial(parse_quantity, is_temperature=False)
    for text in dict.fromkeys((stated, whole, *answer_candidates(stated))):
        if parse(text, code=code) is not None:
            return text
    claims = dates(stated, code) if asks == "date" else amounts(stated, code)
    texts = list(dict.fromkeys(claim.text.strip() for claim in claims))
    # Two dates in a sentence: neither is surely the answer.
    return texts[0] if len(texts) == 1 and parse(texts[0], code=code) is not None else None
