"""Ladders of responses, cached between questions: the tiers that an entity entails, less those that a question states.

Responses to the questions of one relation name few distinct entities. Their ladders are built once, without a
question; the usual filters then remove the tiers that each question gives away.

In a place chain, "Kunming, Yunnan, China" is the Kunming in Yunnan, not a namesake. If the snapshot lacks the first
place, the rest is still entailed: a place in Yunnan, China. Several countries in a row are several answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, zip_longest

from abstraction.base.relations import Relation
from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import QARow
from abstraction.ladders.assembly.filters import only_repeats_question, question_places_answer_in
from abstraction.ladders.builders import may_depend_on_subject
from abstraction.ladders.offices import has_office_or_kin
from abstraction.linking.gazetteer import Gazetteer
from abstraction.linking.linker import Link
from abstraction.maker.pipeline import LadderMaker
from abstraction.maker.row_maker import MOST_RIVALS
from abstraction.text.descriptions.place_grammar import barer_names
from abstraction.text.language.languages import language as language_of
from granola.decoding.samples import SampleRow

_SIDE = (
    r"(?:(?:north|south|east|west|central)(?:[- ]?(?:east|west))?(?:ern)?\s++(?=[A-ZÀ-Þ]))?"  # "in northern Germany"
)
_SEPARATOR = re.compile(
    rf"(?:(?<!\s)\s++)?+(?:,\s*+(?:(?:and|in)\s++)?{_SIDE}|[()]\s*+)|(?<!\s)\s++in\s++(?:the\s++)?{_SIDE}(?=[A-ZÀ-Þ])"
)
_NEGATED = re.compile(r"(?:not|never|neither|outside)\b(?! far\b)", re.IGNORECASE)  # "not in Hamburg"
LONGEST = 6  # parts of a chain; longer lists are not chains
AskedLadderOf = Callable[[str, Relation], Sequence[Level]]


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """The context of a response: the relation of the question, or the one that its wording implies; candidate ids of
    the subject; and the row.
    """

    asked: Relation
    subjects: tuple[str, ...]
    row: SampleRow

    @property
    def subject(self) -> str | None:
        """The subject, if it has one candidate."""
        return self.subjects[0] if len(self.subjects) == 1 else None


def chain_parts(text: str) -> tuple[str, ...]:
    """The names in a chain, finest first; empty for other texts."""
    if _NEGATED.match(text):
        return ()
    parts = tuple(part for part in _SEPARATOR.split(text) if part)
    return parts if 2 <= len(parts) <= LONGEST and all(any(c.isalpha() for c in part) for part in parts) else ()


def unambiguous_entity(link: Link, gazetteer: Gazetteer) -> str | None:
    """The entity of a link; of several candidates the only sovereign state: "Lebanon" among towns of that name."""
    if link.abstained or link.confidence != "low" or not link.rivals:
        return None if link.abstained else link.qid
    states = [qid for qid in (link.qid, *link.rivals) if qid is not None and gazetteer.is_state(qid)]
    return states[0] if len(states) == 1 else None


class Chains:
    """Resolves place chains ("Kunming, Yunnan, China") to entities of one graph; results depend on the snapshot and
    the context alone.
    """

    def __init__(self, maker: LadderMaker, ladder_of: AskedLadderOf) -> None:
        """`ladder_of` returns the levels that an entity entails as an answer to a relation."""
        self._graph, self._gazetteer, self._linker = maker.graph, maker.gazetteer, maker.linker
        self._ladder_of = ladder_of

    def is_place_chain(self, parts: Sequence[str]) -> bool:
        """Whether the last part is a place in the snapshot."""
        return len(parts) > 1 and any(
            self._gazetteer.ids_of_places_named(name) for name in (parts[-1], *barer_names(parts[-1]))
        )

    def entity_of_first_part(self, parts: Sequence[str], context: AnswerContext) -> str | None:
        """The entity of the first part: one inside all other parts, or an unambiguous one in the same state.

        None if there is none. In the second case the snapshot need not contain the full chain of containers: "Nanjing,
        China".
        """
        inside = self._unambiguous_id(", ".join(parts), context)
        if inside is None and len(parts) > 2:  # places in between may be missing from the snapshot
            inside = self._unambiguous_id(f"{parts[0]}, {parts[-1]}", context)
        # The full name matches: no namesake can be meant.
        if len(parts) == 1 or (inside is not None and self._graph.label(inside) == parts[0]):
            return inside
        first = None if parts[0].islower() else self._unambiguous_id(parts[0], context)  # "a country" is no name
        rest = None if first is None else self.finest_resolved_container(parts, context)
        if first is None or rest is None:
            return inside
        # A first part in another state than the rest is a namesake.
        states, theirs = self._sovereign_states_of(first, context), self._sovereign_states_of(rest[1], context)
        return first if theirs and (not states or states & theirs) else inside

    def finest_resolved_container(self, parts: Sequence[str], context: AnswerContext) -> tuple[str, str] | None:
        """(name, id) of the first part, from the second on, that resolves to an entity; None if none does."""
        for start in range(1, len(parts)):
            if (qid := self.entity_of_first_part(parts[start:], context)) is not None:
                return parts[start], qid
        return None

    def is_list_of_countries(self, parts: Sequence[str], context: AnswerContext) -> bool:
        """Whether the parts are several countries: "Austria, Germany" where the question is for a country."""
        if context.asked.asks == "country":
            return True
        linked = [self._unambiguous_id(part, context) for part in parts]
        return all(qid is not None and self._gazetteer.is_state(qid) for qid in linked)

    def _unambiguous_id(self, name: str, context: AnswerContext) -> str | None:
        link = self._linker.link(name, context.asked, subjects=context.subjects, question=context.row.question)
        return unambiguous_entity(link, self._gazetteer)

    def _sovereign_states_of(self, qid: str, context: AnswerContext) -> frozenset[str]:
        tiers = (tier.qid for level in self._ladder_of(qid, context.asked) for tier in level.tiers)
        return frozenset(qid for qid in tiers if qid is not None and self._gazetteer.is_state(qid))


LadderOf = Callable[[str], Sequence[Level]]
"""Returns the levels of an entity, itself first, with the tiers that its containers entail."""


def with_ladders_of_containers(levels: Sequence[Level], ladder_of: LadderOf) -> tuple[Level, ...]:
    """The levels merged with the ladders of the places among the coarser tiers.

    A ladder that orders two tiers differently is ignored. A place gets the bits of its own ladder, which do not depend
    on the answer.
    """
    bits_of: dict[str, float | None] = {}
    for tier in [tier for level in levels[1:] for tier in level.tiers]:
        if tier.qid is not None and is_named_place(tier):
            head, *coarser = ladder_of(tier.qid)
            bits_of[tier.qid] = head.tiers[0].bits
            levels = merge_ladders(levels, (Level(tiers=(tier,)), *coarser))
    return tuple(
        Level(tiers=tuple(replace(t, bits=bits_of[t.qid]) if t.qid in bits_of else t for t in level.tiers))
        for level in levels
    )


def merge_ladders(levels: Sequence[Level], more: Sequence[Level]) -> tuple[Level, ...]:
    """Two ladders merged, each tier once and below all tiers that are finer in either; the first alone on a conflict
    of order.

    The first tier of `more` must be in `levels`.
    """
    tiers = {tier.key: tier for level in (*more, *levels) for tier in level.tiers}
    # Nothing new: keep the levels as they are.
    if len(tiers) == sum(len(level.tiers) for level in levels):
        return tuple(levels)
    finer: dict[str, set[str]] = {}
    for ladder in (levels, more):
        for level in ladder:
            finer.update({tier.key: finer.get(tier.key, set()) for tier in level.tiers})
        for fine, coarse in pairwise(ladder):
            for tier in coarse.tiers:
                finer[tier.key].update(other.key for other in fine.tiers)
    sorter = TopologicalSorter(finer)
    try:
        sorter.prepare()
    # The ladders order two tiers differently.
    except CycleError:
        return tuple(levels)
    out = []
    while sorter.is_active():
        keys = sorter.get_ready()
        out.append(Level(tiers=tuple(tiers[key] for key in keys)))
        sorter.done(*keys)
    return tuple(out)


def ladder_of_several_answers(ladders: Sequence[Sequence[Level]]) -> tuple[Level, ...]:
    """One ladder for several answers: all answers first, then each tier once, at its finest level."""
    seen: set[str] = set()
    out = []
    for levels in zip_longest(*ladders, fillvalue=Level(tiers=())):
        new = {tier.key: tier for level in levels for tier in level.tiers if tier.key not in seen}
        seen |= new.keys()
        if new:
            out.append(Level(tiers=tuple(new.values())))
    return tuple(out)


def is_named_place(tier: Tier) -> bool:
    """Whether the tier is a named place, not a phrase with one."""
    return any(condition.property == "self" for condition in tier.conditions)


VALUES = ("date", "quantity")
LONGEST_NAME = 80  # characters of a name or place chain that is looked up; one label in a thousand is longer
LONGEST_VALUE = 40  # characters of a date or an amount
MOST_CACHED = 20_000  # ladders in the cache before it is cleared


class Ladders:
    """Cached ladders of one maker; results do not depend on earlier calls."""

    def __init__(self, maker: LadderMaker) -> None:
        self._maker = maker
        self._language = language_of(maker.graph.shown_in)
        self._known: dict[tuple[str, str, str, str | None], tuple[Level, ...]] = {}

    def levels_of_response(self, context: AnswerContext, text: str, qid: str | None) -> tuple[Level, ...]:
        """The levels of a response text, the response first; only itself where it is not linked.

        `qid`: the intended entity, None to link the text.
        """
        alone, row = Level(tiers=(Tier(text=text),)), context.row
        if context.asked.asks in VALUES:
            return self._maker.make(_qa_row(row, text, qid, context.asked.id or None)).levels
        if qid is None and len(text) > LONGEST_NAME:
            return (alone,)
        linker = self._maker.linker
        link = (
            linker.link_given_qid(qid, context.asked)
            if qid is not None
            else linker.link(text, context.asked, subjects=context.subjects, question=row.question)
        )
        if link.qid is None and not context.asked.id and len(text) <= LONGEST_VALUE and any(map(str.isdigit, text)):
            return self._maker.make(_qa_row(row, text, None, None)).levels
        if link.qid is None or link.abstained:
            return (alone,)
        meant = unambiguous_entity(link, self._maker.gazetteer)
        first, *coarser = self._entity_levels_in_context(meant or link.qid, context)
        # Ambiguous: keep the text, and only tiers that all candidates share.
        if meant is None:
            first, coarser = alone, self._levels_common_to_rivals(coarser, link.rivals, context)
        question = self._language.with_uninflected_words_appended(row.question) if coarser else ""
        left = (
            tuple(
                tier
                for tier in level.tiers
                # "Asia and Europe" applies to a state, not to places in it.
                if not (tier.qid is None and is_named_place(tier) and " and " in tier.text)
                and not _is_in_question(tier, question, row.subject_text, context.subject)
            )
            for level in coarser
        )
        return (first, *(Level(tiers=tiers) for tiers in left if tiers))

    def _entity_levels_in_context(self, qid: str, context: AnswerContext) -> tuple[Level, ...]:
        subject, graph, kinds = context.subject, self._maker.graph, self._maker.classes(qid)
        is_looked_at = subject is not None and (
            may_depend_on_subject(context.asked.asks, kinds)
            or ("person" in kinds and has_office_or_kin(graph, self._maker.vocabulary, qid))
        )
        return self.levels_of_entity(qid, context.asked, subject if is_looked_at else None)

    def levels_of_entity(self, qid: str, asked: Relation, subject: str | None = None) -> tuple[Level, ...]:
        """The levels that an entity entails as an answer to a relation, and about a subject if one is given."""
        key = (asked.id, asked.asks, qid, subject)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MOST_CACHED:
                self._known.clear()
            own = self._maker.levels_of(qid, asked, subject)
            self._known[key] = own  # ends the recursion if a container leads back to this entity
            known = self._known[key] = self._with_container_bits(
                with_ladders_of_containers(own, lambda place: self.levels_of_entity(place, asked)), asked
            )
        return known

    def entity_ladder_for_question(self, qid: str, row: SampleRow) -> tuple[Level, ...]:
        """The ladder of an entity as an answer to this particular question."""
        label = self._maker.graph.shown_label(qid)
        return self._maker.make(_qa_row(row, label[0] if label else qid, qid, row.relation)).levels

    def _with_container_bits(self, levels: tuple[Level, ...], asked: Relation) -> tuple[Level, ...]:
        """The levels, the first with the bits of a container if it is one: Japan has fewer bits than Tokyo."""
        (tier,) = levels[0].tiers
        bits = self._maker.bits_of_container(tier.qid, asked.id) if tier.qid and asked.id else None
        # Only lower the bits: a container can be entailed without knowing more.
        if bits is None or tier.bits is None or bits >= tier.bits:
            return levels
        return (Level(tiers=(replace(tier, bits=bits),)), *levels[1:])

    def _levels_common_to_rivals(
        self, coarser: Sequence[Level], rivals: Sequence[str], context: AnswerContext
    ) -> list[Level]:
        """The levels reduced to tiers that all candidate entities share."""
        # With many candidates the intersection is expensive and almost always empty.
        if len(rivals) > MOST_RIVALS:
            return []
        common = {tier.key for level in coarser for tier in level.tiers}
        for rival in rivals:
            common &= {tier.key for level in self._entity_levels_in_context(rival, context)[1:] for tier in level.tiers}
        kept = (tuple(tier for tier in level.tiers if tier.key in common) for level in coarser)
        return [Level(tiers=tiers) for tiers in kept if tiers]


def _is_in_question(tier: Tier, question: str, subject_text: str | None, subject: str | None) -> bool:
    """Whether the question already states the tier."""
    if tier.qid is not None and tier.qid == subject:
        return True
    if is_named_place(tier):
        return question_places_answer_in(question, subject_text, tier.names())
    return only_repeats_question(tier.text, question)


def _qa_row(row: SampleRow, text: str, qid: str | None, relation: str | None) -> QARow:
    return QARow(
        id=row.id,
        question=row.question,
        answers=(text,),
        answer_qids=(qid,),
        relation=relation,
        subject_text=row.subject_text,
        subject_qid=row.subject_qid,
    )


def is_linked(levels: tuple[Level, ...]) -> bool:
    """Whether level 1 is an entity, a date or an amount rather than a text."""
    return levels[0].tiers[0].qid is not None or len(levels) > 1
