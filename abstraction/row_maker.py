"""One question's ladders: its answers linked, what may be said of them proposed, filtered and put into levels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial

from abstraction.assembly.filters import clean
from abstraction.assembly.joined_ladders import shared
from abstraction.assembly.levels import levels, ordered
from abstraction.assembly.translation import Telling
from abstraction.assembly.triviality import Triviality
from abstraction.descriptions.attested_words import Vocabulary
from abstraction.descriptions.place_grammar import parse_place
from abstraction.formats.fields import QUESTION_SITELINKS
from abstraction.information.weighing import Information
from abstraction.ladders.builders import builder_for
from abstraction.ladders.class_hierarchy import entailed_classes
from abstraction.ladders.literal_answers import (
    age_levels,
    date_levels,
    event_levels,
    measured_levels,
    quantity_levels,
    with_range,
)
from abstraction.language.languages import language as language_of
from abstraction.linking.ambiguous_capitals import CAPITAL
from abstraction.linking.gazetteer import PLACES
from abstraction.linking.linker import Link
from abstraction.proposals import Builder, LadderCase, Proposal
from abstraction.questions.answer_fit import MAY_BE_VALUE, entity_conflict, text_conflict
from abstraction.questions.asked_wording import as_asked
from abstraction.questions.golds import arranged
from abstraction.questions.question_kinds import ANY_KIND, AskedKind, QuestionKind, implied
from abstraction.questions.relation_wording import read_wording
from abstraction.questions.told_in_question import ToldInQuestion
from abstraction.readers import GraphReaders
from abstraction.relations import ANY, Relation, relation, table
from abstraction.rows import QARow, TieredRow
from abstraction.tiers import Abstention, Ladder, Level, Tier
from kg.model import TimeValue
from kg.terms import normalise

MOST_RIVALS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class MakerTools:
    """What all rows of a maker share. Without `as_asked` tiers stay that the question's names tell."""

    vocabulary: Vocabulary
    information: Information
    triviality: Triviality
    told_by: ToldInQuestion
    as_asked: bool
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

    def __init__(self, tools: MakerTools, readers: GraphReaders, row: QARow, kind: AskedKind) -> None:
        self._tools, self._readers, self._graph = tools, readers, readers.graph
        self._row, self._kind = row, kind
        self._telling = Telling(tools.language)
        self._nothing_new: set[str] = set()
        self._doubted: set[str] = set()

    def made(self) -> MadeRow:
        """The ladders of all answers, arranged on one row."""
        row, kind = self._row, self._kind
        asked = relation(row.relation) if row.relation else read_wording(row.question, self._tools.language).kind or ANY
        if self._graph.shown_in == "en" and asked.asks in _OF_DOERS and (more := implied(row.question)):
            asked = replace(asked, trivial=asked.trivial | more)
        subjects = self._readers.linker.subjects(row.subject_text, row.subject_qid, asked)
        ladders, links = [], []
        for text, qid in zip(row.answers, row.answer_qids, strict=True):
            link, ladder = self._answer(text, qid, asked, kind, subjects, row)
            if not asked.id and asked.asks not in _TOLD_BY_WORDING and ladder.abstained in _MISREAD:
                link, ladder = self._answer(text, qid, ANY, kind, subjects, row)
            links.append(link)
            ladders.append(ladder)
        whole = arranged(row.answers, ladders, code=self._graph.shown_in, is_person=self._is_person)
        subject = {"text": row.subject_text} if row.subject_text else {}
        if row.subject_qid or len(subjects) == 1:
            subject["qid"] = row.subject_qid or subjects[0]
        named = zip(row.answers, links, strict=True)
        notes = [_note(link, text if len(links) > 1 else None) for text, link in named if link is not None]
        extra = dict(row.extra)
        if notes:
            extra["links"] = notes
        extra.update(self._telling.notes())
        asked_about = self._graph.entity(subject["qid"]) if "qid" in subject else None
        if asked_about is not None and asked_about.sitelinks and extra.get(QUESTION_SITELINKS) in (None, ""):
            extra[QUESTION_SITELINKS] = asked_about.sitelinks
        tiered = TieredRow(
            id=row.id,
            question=row.question,
            answers=row.answers,
            levels=whole.levels,
            relation=row.relation,
            question_entity=subject or None,
            abstained=whole.abstained,
            extra=extra,
            source=row.source,
        )
        return MadeRow(row=tiered, says_nothing_new=frozenset(self._nothing_new), doubted=frozenset(self._doubted))

    def _time_of(self, text: str, kind: AskedKind, row: QARow) -> tuple[Link, Ladder] | None:
        """The ladder of an event that is told for when something happened, by the event's own dates."""
        if kind is ANY_KIND:
            return None
        link = self._readers.linker.link(text, ANY, question=row.question)
        if link.qid is None or link.abstained or link.rivals or "event" not in self._readers.classes(link.qid):
            return None
        levels = event_levels(link.qid, text, graph=self._graph)
        return None if levels is None else (link, Ladder(levels=levels))

    def _news(self, made: tuple[Level, ...], question: str) -> tuple[Level, ...]:
        """The levels of a value without those whose every tier the question implies."""
        more = implied(question) if self._graph.shown_in == "en" else frozenset()
        return made[:1] + tuple(level for level in made[1:] if not all(tier.text in more for tier in level.tiers))

    def _is_person(self, qid: str) -> bool:
        return not self._readers.classes(qid).isdisjoint({"person", "fictional"})

    def _answer(
        self, text: str, qid: str | None, asked: Relation, kind: AskedKind, subjects: tuple[str, ...], row: QARow
    ) -> tuple[Link | None, Ladder]:
        alone = Level(tiers=(Tier(text=text),))
        if kind is not ANY_KIND and (code := text_conflict(kind, text, code=self._graph.shown_in)):
            return None, Ladder(levels=(alone,), abstained=code)
        if asked.asks in ("date", "quantity"):
            build = date_levels if asked.asks == "date" else quantity_levels
            subject = subjects[0] if len(subjects) == 1 else None
            made = with_range(text, code=self._graph.shown_in) if asked.asks == "quantity" else None
            if kind.kind is QuestionKind.AGE:
                made = age_levels(text, graph=self._graph)
            made = made or build(text, graph=self._graph, subject=subject, relation=asked.id)
            if made is None and asked.asks == "date" and (told := self._time_of(text, kind, row)):
                return told
            if made is None:
                is_open = kind is ANY_KIND or any(letter.isdigit() for letter in text)  # "25 December" is no year
                code = Abstention.UNSUPPORTED if is_open else Abstention.KIND_CONFLICT
                return None, Ladder(levels=(alone,), abstained=code)
            made = self._news(made, row.question)
            return None, Ladder(levels=made, abstained=None if len(made) > 1 else Abstention.ONLY_TRIVIAL)
        if qid is not None:
            link = self._readers.linker.given(qid, asked)
        else:
            link = self._readers.linker.link(text, asked, subjects=subjects, question=row.question)
        if link.qid is None and not asked.id and asked.asks == "any" and kind.kind in MAY_BE_VALUE:
            for read in (date_levels, measured_levels):
                made = read(text, graph=self._graph, subject=None, relation="")
                if made is not None and len(left := self._news(made, row.question)) > 1:
                    return None, Ladder(levels=left)
        if link.qid is None or link.abstained:
            return link, Ladder(levels=(self._first_level(text, link),), abstained=link.abstained)
        if entity_conflict(kind, link.qid, self._readers.classes(link.qid), self._graph):
            return replace(link, abstained=Abstention.KIND_CONFLICT), Ladder(
                levels=(alone,), abstained=Abstention.KIND_CONFLICT
            )
        ladder = self._ladder(text, link, asked, subjects, row)
        if link.confidence == "low" and link.rivals:
            rivals = [
                self._ladder(text, Link(qid=rival, confidence="low"), asked, subjects, row)
                for rival in link.rivals[:MOST_RIVALS]
            ]
            if len(link.rivals) > MOST_RIVALS:
                rivals.append(Ladder(levels=(alone,)))
            ladder = shared(ladder, rivals)
            if len(ladder.levels) == 1 or asked.id == CAPITAL:  # a capital is as soon none of the namesakes known here
                ladder = Ladder(levels=(alone,), abstained=Abstention.AMBIGUOUS_LINK)
        return link, ladder

    def _ladder(self, text: str, link: Link, asked: Relation, subjects: tuple[str, ...], row: QARow) -> Ladder:
        answer = link.qid
        assert answer is not None
        first = self._first_level(text, link)
        kinds = self._readers.classes(answer)
        label = self._graph.shown_label(answer)
        names = tuple(dict.fromkeys((*self._graph.names(answer), *self._graph.shown_names(answer))))
        subject = subjects[0] if len(subjects) == 1 else None
        build = builder_for(asked.asks, kinds)
        if build is None:
            code = Abstention.UNSUPPORTED if kinds else Abstention.NOTHING_KNOWN
            return Ladder(levels=(first,), abstained=code)
        case = LadderCase(
            graph=self._graph,
            vocabulary=self._tools.vocabulary,
            gazetteer=self._readers.gazetteer,
            answer=answer,
            relation=asked,
            question=row.question,
            subject=subject,
            subject_text=row.subject_text,
            at=self._date(subject, asked),
        )
        proposed = self._readers.proposing.of(case, build, kinds, self._told_by_row(build, case, row))
        told, nodes = proposed.told, proposed.nodes
        proposals = told.proposals
        self._telling.add(told)
        told_in_question = self._tools.told_by.keys(nodes, case) if self._tools.as_asked else frozenset()
        usual = (
            partial(self._tools.triviality.is_trivial, case)
            if self._tools.as_asked or asked.id not in table()
            else None
        )
        self._doubted |= proposed.doubted
        for key, node in nodes.items():
            if key in told_in_question or (self._tools.as_asked and usual is not None and usual(node)):
                self._nothing_new.update((node.qid or "", *map(normalise, (node.text, *node.aliases))))
        nodes, own = clean(
            nodes,
            relation=asked,
            question=language_of(self._graph.shown_in).with_bare_names(row.question),
            answer_names=(label[0] if label else text, text, *names),
            subject=subject,
            subject_text=row.subject_text,
            told=told_in_question,
            is_place=not PLACES.isdisjoint(kinds),
            is_person="person" in kinds or "fictional" in kinds,
            usual=usual,
        )
        nodes = ordered(nodes, partial(entailed_classes, self._graph))
        plain, named = {normalise(node.text) for node in nodes.values()}, nodes
        if self._tools.as_asked:
            nodes = self._readers.place_names.spelled(as_asked(nodes, case, certain=link.confidence != "low"))
        beyond = levels(nodes)

        def weighed(made: tuple[Level, ...]) -> tuple[Level, ...]:
            told = self._tools.information.weighed(made, nodes=nodes, asked=asked, kinds=kinds)
            return self._tools.triviality.weighed(told, case, nodes, named, self._tools.information.of_answer)

        if own:
            tier = first.tiers[0]
            known = {normalise(n) for n in tier.names()}
            more = tuple(dict.fromkeys(t for t in own if normalise(t) not in known))
            first = Level(tiers=(_with_aliases(tier, more),))
        if not beyond:
            code = Abstention.ONLY_TRIVIAL if proposals else Abstention.NOTHING_KNOWN
            if told_in_question:
                code = Abstention.TOLD
            if told.left_out and not proposals:
                code = Abstention.UNSUPPORTED
            return Ladder(levels=weighed((first,)), abstained=code)
        return Ladder(levels=weighed((_without(first, plain), *beyond)))

    def _told_by_row(self, build: Builder, case: LadderCase, row: QARow) -> list[Proposal]:
        """What the row's own words say of where the answer is, beside the description that the snapshot has."""
        said, own = row.answer_description, self._graph.description(case.answer)
        known = self._graph.entity(case.answer)
        phrase = parse_place(said) if said and case.relation.asks in _WHERE else None
        if phrase is None or own is None or known is None or said is None or case.answer != row.answer_qids[0]:
            return []
        if self._graph.shown_in != self._graph.language or all(
            normalise(u.text) in normalise(own) for u in phrase.units
        ):
            return []
        readers = self._readers.with_entity(replace(known, descriptions={self._graph.language: said}))
        return build(replace(case, graph=readers.graph, gazetteer=readers.gazetteer))

    def _first_level(self, text: str, link: Link) -> Level:
        if link.qid is None or link.abstained:
            return Level(tiers=(Tier(text=text),))
        names = self._graph.shown_names(link.qid)
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


_OF_DOERS = frozenset({"any", "person", "agent", "performer", "company", "club", "owner"})
_WHERE = frozenset({"place", "country", "school"})
# The first words of a question ("Where did he work?") were no sign of the answer's class: the class itself decides.
_MISREAD = frozenset({Abstention.TYPE_CONFLICT, Abstention.UNSUPPORTED, Abstention.NO_LINK})


_TOLD_BY_WORDING = frozenset({"any", "date", "quantity"})


def _with_aliases(tier: Tier, more: tuple[str, ...]) -> Tier:
    return Tier(text=tier.text, qid=tier.qid, aliases=(*tier.aliases, *more), bits=tier.bits, evidence=tier.evidence)


def _without(first: Level, taken: Collection[str]) -> Level:
    """Level 1 without the aliases that are a coarser tier's own name: who says that has said the coarser one."""
    tier = first.tiers[0]
    kept = tuple(a for a in tier.aliases if normalise(a) not in taken)
    return Level(tiers=(Tier(text=tier.text, qid=tier.qid, aliases=kept, bits=tier.bits, evidence=tier.evidence),))


def _note(link: Link, answer: str | None) -> dict[str, object]:
    out: dict[str, object] = {"answer": answer, "qid": link.qid, "confidence": link.confidence, "rule": link.rule}
    if link.share is not None and link.rivals:
        out["share"] = round(link.share, 3)
    if link.rivals:
        out["rivals"] = list(link.rivals)
    if link.abstained:
        out["abstained"] = str(link.abstained)
    return {k: v for k, v in out.items() if v is not None}
