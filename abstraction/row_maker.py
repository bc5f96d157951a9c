"""One question's ladders: its answers linked, what may be said of them proposed, filtered and put into levels."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, get_args

from abstraction.assembly.filters import Triviality, is_named, leaked_keys, left_over, own_tiers
from abstraction.assembly.levels import levels, ordered, ordered_by_words, shared
from abstraction.assembly.translation import Localised, Telling, demonyms, word_forms
from abstraction.descriptions.attested_words import Vocabulary
from abstraction.descriptions.place_grammar import parse_place
from abstraction.files.row_names import QUESTION_SITELINKS
from abstraction.information.weighing import Information
from abstraction.ladders.builders import Proposed, builder_for
from abstraction.ladders.class_hierarchy import entailed_classes
from abstraction.ladders.date_ladders import CONDITION as TIME
from abstraction.ladders.literal_answers import (
    age_levels,
    date_levels,
    event_levels,
    measured_levels,
    quantity_levels,
    with_range,
)
from abstraction.language.languages import language as language_of
from abstraction.linking.gazetteer import CAPITAL, PLACES, WORLD
from abstraction.linking.linker import Confidence, Link
from abstraction.proposals import Builder, LadderCase, Proposal
from abstraction.questions.asked_nouns import AskedWording, as_asked, asked_wording
from abstraction.questions.golds import MAY_BE_VALUE, combine_golds, entity_conflict, fitting_classes, text_conflict
from abstraction.questions.question_facts import question_facts
from abstraction.questions.question_kinds import ANY_KIND, AskedKind, QuestionKind
from abstraction.questions.relation_wording import read_wording
from abstraction.questions.told_in_question import ToldInQuestion
from abstraction.readers import GraphReaders
from abstraction.relations import ANY, Relation, relation, table
from abstraction.rows import QARow, TieredRow, linked_ids
from abstraction.tiers import Abstention, Ladder, Level, Tier
from kg.model import ENTITY_ID, TimeValue
from kg.terms import normalise

MOST_RIVALS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class MakerTools:
    """What all rows of a maker share. Without `as_asked` tiers stay that the question's names tell; without
    `bits_asked` they have none of these.
    """

    vocabulary: Vocabulary
    information: Information
    triviality: Triviality
    told_by: ToldInQuestion
    as_asked: bool
    bits_asked: bool
    language: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeRow:
    """A tiered row. `says_nothing_new`: ids and normalised names of tiers that the question's names tell or that most
    answers share; `doubted`: ids of what statements lead to and what does not surely follow.
    """

    row: TieredRow
    says_nothing_new: frozenset[str]
    doubted: frozenset[str]


class RowMaker:
    """Makes the ladders of one row, with readers of its own where the row describes its answer itself."""

    def __init__(
        self, tools: MakerTools, readers: GraphReaders, row: QARow, kind: AskedKind, asked: Relation | None = None
    ) -> None:
        """`asked` is what the row asks for where it has no relation and its question is not to be read."""
        self._asked = asked
        self._tools, self._readers, self._graph = tools, readers, readers.graph
        self._row, self._kind = row, kind
        self._telling = Telling(tools.language)
        self._nothing_new: set[str] = set()
        self._doubted: set[str] = set()

    def made(self) -> MadeRow:
        """The ladders of all answers, arranged on one row."""
        row = self._row
        asked = self._asked or (relation(row.relation) if row.relation else None)
        asked = asked or read_wording(row.question, self._tools.language).kind or ANY
        subjects = self._readers.linker.subjects(row.subject_text, row.subject_qid, asked)
        links, ladders = [], []
        for text, qid in zip(row.answers, row.answer_qids, strict=True):
            link, ladder = self._answer(text, qid, asked, subjects)
            if not asked.id and asked.asks not in _TOLD_BY_WORDING and ladder.abstained in _MISREAD:
                link, ladder = self._answer(text, qid, ANY, subjects)
            links.append(link)
            ladders.append(ladder)
        whole = combine_golds(
            row.answers, ladders, code=self._graph.shown_in, is_person=self._is_person, holds=self._holds
        )
        subject = {"text": row.subject_text} if row.subject_text else {}
        if row.subject_qid or len(subjects) == 1:
            subject["qid"] = row.subject_qid or subjects[0]
        tiered = TieredRow(
            id=row.id,
            question=row.question,
            answers=row.answers,
            levels=whole.levels,
            relation=row.relation,
            question_entity=subject or None,
            abstained=whole.abstained,
            extra=self._extra(links, subject.get("qid")),
            source=row.source,
        )
        return MadeRow(row=tiered, says_nothing_new=frozenset(self._nothing_new), doubted=frozenset(self._doubted))

    def _extra(self, links: Sequence[Link | None], subject: str | None) -> dict[str, Any]:
        """The row's further fields, with how its answers were linked, and how known its subject is."""
        named = zip(self._row.answers, links, strict=True)
        notes = [_note(link, text if len(links) > 1 else None) for text, link in named if link is not None]
        extra = {**self._row.extra, **({"links": notes} if notes else {}), **self._telling.notes()}
        asked_about = self._graph.entity(subject) if subject is not None else None
        if asked_about is not None and asked_about.sitelinks and extra.get(QUESTION_SITELINKS) in (None, ""):
            extra[QUESTION_SITELINKS] = asked_about.sitelinks
        return extra

    def _time_of(self, text: str) -> tuple[Link, Ladder] | None:
        """The ladder of an event that is told for when something happened, by the event's own dates."""
        if self._kind is ANY_KIND:
            return None
        link = self._readers.linker.link(text, ANY, question=self._row.question)
        if link.qid is None or link.abstained or link.rivals or "event" not in self._readers.classes(link.qid):
            return None
        levels = event_levels(link.qid, text, graph=self._graph)
        return None if levels is None else (link, Ladder(levels=levels))

    def _news(self, made: tuple[Level, ...]) -> tuple[Level, ...]:
        """The levels of a value without those whose every tier the question implies."""
        years = question_facts(self._row.question, self._graph.shown_in).years

        def is_told(tier: Tier) -> bool:
            units = {c.value for c in tier.conditions if c.property == TIME}
            return bool(units) and units <= years

        return made[:1] + tuple(level for level in made[1:] if not all(map(is_told, level.tiers)))

    def _is_person(self, qid: str) -> bool:
        return not self._readers.classes(qid).isdisjoint({"person", "fictional"})

    def _holds(self, outer: str, inner: str) -> bool:
        """Whether a place or class is known to contain another, or is a part of the world and the other is not."""
        if any(qid == outer for qid, _ in self._readers.gazetteer.containers(inner)):
            return True
        wide, narrow = (WORLD.search(self._graph.label(qid) or "") for qid in (outer, inner))
        return wide is not None and narrow is None

    def _answer(
        self, text: str, qid: str | None, asked: Relation, subjects: tuple[str, ...]
    ) -> tuple[Link | None, Ladder]:
        """How an answer is linked, and its ladder; a value has no link."""
        kind = self._kind
        alone = Level(tiers=(Tier(text=text),))
        if kind is not ANY_KIND and (code := text_conflict(kind, text, code=self._graph.shown_in)):
            return None, Ladder(levels=(alone,), abstained=code)
        if asked.asks in ("date", "quantity"):
            return self._value(text, asked, subjects)
        if qid is not None:
            link = self._readers.linker.link_given(qid, asked)
            if link.abstained is None and (earlier := self._row.earlier_link(text, qid)) is not None:
                link = _link_of(earlier)
        else:
            link = self._readers.linker.link(text, asked, subjects=subjects, question=self._row.question)
        if link.qid is None and not asked.id and asked.asks == "any" and kind.kind in MAY_BE_VALUE:
            for read in (date_levels, measured_levels):
                made = read(text, graph=self._graph, subject=None, relation="")
                if made is not None and len(left := self._news(made)) > 1:
                    return None, Ladder(levels=left)
        if link.qid is None or link.abstained:
            return link, Ladder(levels=(self._first_level(text, link, asked),), abstained=link.abstained)
        if entity_conflict(kind, link.qid, self._readers.classes(link.qid), self._graph):
            code = Abstention.KIND_CONFLICT
            return replace(link, abstained=code), Ladder(levels=(alone,), abstained=code)
        ladder = self._ladder(text, link, asked, subjects)
        if link.confidence == "low" and link.rivals:
            ladder = self._shared(ladder, text, link, asked, subjects)
        return link, ladder

    def _value(self, text: str, asked: Relation, subjects: tuple[str, ...]) -> tuple[Link | None, Ladder]:
        """The ladder of a date or an amount, or of an event that is told for a date."""
        made = None
        if self._kind.kind is QuestionKind.AGE:
            # An age that a rule fixes is nobody's: 18 to buy is no teenager.
            fixed = self._kind.detail != "age" and (self._kind.detail or _BY_RULE.search(self._row.question))
            made = age_levels(text, graph=self._graph)
            made = made[:1] if made is not None and fixed else made
        elif asked.asks == "quantity":
            made = with_range(text, code=self._graph.shown_in)
        build = date_levels if asked.asks == "date" else quantity_levels
        subject = subjects[0] if len(subjects) == 1 else None
        made = made or build(text, graph=self._graph, subject=subject, relation=asked.id)
        if made is not None:
            made = self._news(made)
            return None, Ladder(levels=made, abstained=None if len(made) > 1 else Abstention.ONLY_TRIVIAL)
        if asked.asks == "date" and (of_event := self._time_of(text)):
            return of_event
        is_open = self._kind is ANY_KIND or any(letter.isdigit() for letter in text)  # "25 December" is no year
        code = Abstention.UNSUPPORTED if is_open else Abstention.KIND_CONFLICT
        return None, Ladder(levels=(Level(tiers=(Tier(text=text),)),), abstained=code)

    def _shared(self, ladder: Ladder, text: str, link: Link, asked: Relation, subjects: tuple[str, ...]) -> Ladder:
        """What the ladder of an unsure link shares with those of its rivals."""
        alone = Level(tiers=(Tier(text=text),))
        rivals = [
            self._ladder(text, Link(qid=rival, confidence="low"), asked, subjects)
            for rival in link.rivals[:MOST_RIVALS]
        ]
        if len(link.rivals) > MOST_RIVALS:
            rivals.append(Ladder(levels=(alone,)))
        ladder = shared(ladder, rivals)
        if len(ladder.levels) == 1 or asked.id == CAPITAL:  # a capital is as soon none of the namesakes known here
            return Ladder(levels=(alone,), abstained=Abstention.AMBIGUOUS_LINK)
        return ladder

    def _ladder(self, text: str, link: Link, asked: Relation, subjects: tuple[str, ...]) -> Ladder:
        answer = link.qid
        assert answer is not None
        kinds = frozenset(fitting_classes(self._kind, self._readers.classes(answer)))
        build = builder_for(asked.asks, kinds)
        if build is None:
            code = Abstention.UNSUPPORTED if kinds else Abstention.NOTHING_KNOWN
            return Ladder(levels=(self._first_level(text, link, asked),), abstained=code)
        case = self._case(answer, asked, subjects[0] if len(subjects) == 1 else None)
        proposed = self._readers.proposing.of(case, build, kinds, self._row_proposals(build, case))
        self._telling.add(proposed.localised)
        self._doubted |= proposed.doubted
        told = self._tools.told_by.keys(proposed.nodes, case) if self._tools.as_asked else frozenset[str]()
        usual = self._usual(proposed.nodes, case)
        self._note_nothing_new(proposed.nodes, told | usual if self._tools.as_asked else told)
        whose = (proposed.key, text, asked.id, asked.trivial, asked.asks_citizenship, kinds)
        own, names_of_answer = self._own(proposed, whose, case, text, kinds)
        unwanted = (
            *((told | usual) & own.keys()),
            *leaked_keys(
                own,
                question=language_of(self._graph.shown_in).with_bare_names(self._row.question),
                subject=case.subject,
                subject_text=self._row.subject_text,
            ),
        )
        certain = link.confidence != "low"
        is_worded = self._tools.as_asked and any(map(is_named, own.values()))
        wording = asked_wording(case, certain=certain) if is_worded else None
        subject_kinds = tuple(self._graph.classes(case.subject)) if case.subject else ()
        words = (wording.noun, wording.own, wording.bare) if wording is not None else None
        key = (whose, link.abstained, frozenset(unwanted), words, certain, bool(told), subject_kinds)
        kept = self._readers.proposing.ladders
        ladder = kept.get(key) if proposed.key is not None else None
        if ladder is None:
            first = _with_aliases(self._first_level(text, link, asked), names_of_answer)
            nodes = left_over(own, unwanted, self._names(answer, text)[:2] if self._is_placed(kinds) else ())
            ladder = self._finished(first, nodes, case, wording, kinds)
            if len(ladder.levels) == 1:
                ladder = replace(ladder, abstained=_silence(proposed.localised, is_told=bool(told)))
            if proposed.key is not None:
                kept[key] = ladder
        return ladder

    def _own(
        self, proposed: Proposed, whose: Hashable, case: LadderCase, text: str, kinds: frozenset[str]
    ) -> tuple[dict[str, Proposal], tuple[str, ...]]:
        """The proposals that may stand whatever the question says, and texts that name the answer."""
        kept = self._readers.proposing.own
        if proposed.key is not None and (own := kept.get(whose)) is not None:
            return own
        own = own_tiers(
            proposed.nodes,
            relation=case.relation,
            answer_names=self._names(case.answer, text),
            is_place=self._is_placed(kinds),
            is_person=self._is_person(case.answer),
        )
        if proposed.key is not None:
            kept[whose] = own
        return own

    def _usual(self, nodes: Mapping[str, Proposal], case: LadderCase) -> frozenset[str]:
        """Keys of what says nothing new of the relation's answers as measured."""
        if not self._tools.as_asked and case.relation.id in table():
            return frozenset()
        is_trivial = self._tools.triviality.is_trivial
        return frozenset(key for key, node in nodes.items() if is_trivial(case, node))

    def _names(self, answer: str, text: str) -> tuple[str, ...]:
        """The answer's label, the gold text and all other names."""
        label = self._graph.shown_label(answer)
        names = dict.fromkeys((*self._graph.names(answer), *self._graph.shown_names(answer)))
        return (label[0] if label else text, text, *names)

    def _is_placed(self, kinds: frozenset[str]) -> bool:
        return not PLACES.isdisjoint(kinds)

    def _finished(
        self,
        first: Level,
        nodes: dict[str, Proposal],
        case: LadderCase,
        wording: AskedWording | None,
        kinds: frozenset[str],
    ) -> Ladder:
        """The ladder of what is left: ordered, worded as asked, in levels and with bits."""
        named = nodes = ordered_by_words(ordered(nodes, partial(entailed_classes, self._graph)))
        if self._tools.as_asked:
            nodes = self._readers.place_names.spelled(as_asked(nodes, case, wording))
        beyond = levels(nodes)
        if beyond:
            # Who says what is a coarser tier's own name has said the coarser one.
            first = _without(first, {normalise(node.text) for node in named.values()})
        information = self._tools.information
        weighed = information.weighed((first, *beyond), nodes=nodes, asked=case.relation, kinds=kinds)
        if self._tools.bits_asked:
            weighed = self._tools.triviality.weighed(weighed, case, nodes, named, information.of_answer)
        return Ladder(levels=weighed)

    def _case(self, answer: str, asked: Relation, subject: str | None) -> LadderCase:
        return LadderCase(
            graph=self._graph,
            vocabulary=self._tools.vocabulary,
            gazetteer=self._readers.gazetteer,
            answer=answer,
            relation=asked,
            question=self._row.question,
            subject=subject,
            subject_text=self._row.subject_text,
            at=self._date(subject, asked),
        )

    def _note_nothing_new(self, nodes: Mapping[str, Proposal], keys: Collection[str]) -> None:
        for key in keys:
            node = nodes[key]
            self._nothing_new.update((node.qid or "", *map(normalise, (node.text, *node.aliases))))

    def _row_proposals(self, build: Builder, case: LadderCase) -> list[Proposal]:
        """What the row's own words say of where the answer is, beside the description that the snapshot has."""
        described, held = self._row.answer_description, self._graph.description(case.answer)
        entity = self._graph.entity(case.answer)
        phrase = parse_place(described) if described and case.relation.asks in WHERE else None
        if phrase is None or held is None or entity is None or described is None:
            return []
        if case.answer != self._row.answer_qids[0] or self._graph.shown_in != self._graph.language:
            return []
        if all(normalise(unit.text) in normalise(held) for unit in phrase.units):
            return []
        readers = self._readers.with_entity(replace(entity, descriptions={self._graph.language: described}))
        return build(replace(case, graph=readers.graph, gazetteer=readers.gazetteer))

    def _first_level(self, text: str, link: Link, asked: Relation) -> Level:
        if link.qid is None or link.abstained:
            return Level(tiers=(Tier(text=text),))
        masculine, feminine = word_forms(self._graph, link.qid)
        nationals = demonyms(self._graph, link.qid) if asked.asks_citizenship else []
        names = dict.fromkeys((*self._graph.shown_names(link.qid), *masculine, *feminine, *nationals))
        aliases = tuple(n for n in names if normalise(n) != normalise(text))
        return Level(tiers=(Tier(text=text, qid=link.qid, aliases=aliases),))

    def _date(self, subject: str | None, asked: Relation) -> TimeValue | None:
        """The question's own date: the first of the relation's dating properties that the subject has."""
        if subject is None:
            return None
        for prop in asked.dated_by:
            for statement in self._graph.current(subject, prop):
                if isinstance(statement.value, TimeValue):
                    return statement.value
        return None


_BY_RULE = re.compile(
    r"\b(?:have to|must|legal(?:ly)?|required?|allowed|minimum|need to|limit|law|can (?:you|an?|I|one))\b", re.I
)
WHERE = frozenset({"place", "country", "school"})
# The first words of a question ("Where did he work?") were no sign of the answer's class: the class itself decides.
_MISREAD = frozenset({Abstention.TYPE_CONFLICT, Abstention.UNSUPPORTED, Abstention.NO_LINK})
_TOLD_BY_WORDING = frozenset({"any", "date", "quantity"})


def _silence(proposed: Localised, *, is_told: bool) -> Abstention:
    """Why an answer with a builder has no tier."""
    if proposed.left_out and not proposed.proposals:
        return Abstention.UNSUPPORTED
    if is_told:
        return Abstention.TOLD
    return Abstention.ONLY_TRIVIAL if proposed.proposals else Abstention.NOTHING_KNOWN


def _with_aliases(first: Level, more: Iterable[str]) -> Level:
    """Level 1 with further names of the answer."""
    tier = first.tiers[0]
    known = {normalise(name) for name in tier.names()}
    new = dict.fromkeys(name for name in more if normalise(name) not in known)
    return Level(tiers=(replace(tier, aliases=(*tier.aliases, *new)),))


def _without(first: Level, taken: Collection[str]) -> Level:
    """Level 1 without aliases of these normalised names."""
    tier = first.tiers[0]
    return Level(tiers=(replace(tier, aliases=tuple(a for a in tier.aliases if normalise(a) not in taken)),))


def _note(link: Link, answer: str | None) -> dict[str, object]:
    out: dict[str, object] = {"answer": answer, "qid": link.qid, "confidence": link.confidence, "rule": link.rule}
    if link.share is not None and link.rivals:
        out["share"] = round(link.share, 3)
    if link.rivals:
        out["rivals"] = list(link.rivals)
    if link.abstained:
        out["abstained"] = str(link.abstained)
    return {k: v for k, v in out.items() if v is not None}


def _link_of(note: Mapping[str, Any]) -> Link:
    """The inverse of `_note`, for a link to an item; of a row that came from elsewhere what is none is left out."""
    confidence, rule, share = note.get("confidence"), note.get("rule"), note.get("share")
    rivals = (i for i in linked_ids({"rivals": note.get("rivals")}) if ENTITY_ID.match(i))
    return Link(
        qid=note["qid"],
        confidence=confidence if confidence in get_args(Confidence) else "low",
        rule=rule if isinstance(rule, str) else None,
        rivals=tuple(islice(rivals, MOST_RIVALS)),
        share=float(share) if isinstance(share, int | float) and 0 <= share <= 1 else None,
    )
