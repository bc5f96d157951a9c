"""The ladders of one question: answers are linked, tiers proposed, filtered and put into levels; with the readers
of one graph, kept together so that all see the same state of the snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, get_args

from abstraction.base.relations import ANY, Classifier, Relation, relations_by_id
from abstraction.base.tiers import Abstention, Ladder, Level, Tier
from abstraction.files.records import QUESTION_SITELINKS
from abstraction.files.rows import QARow, TieredRow, candidate_ids_of_link
from abstraction.ladders.assembly.filters import (
    RelationAnswerShares,
    keys_leaked_by_question,
    names_place_or_institution,
    only_repeats_kind_asked_for,
    remove_answer_names_and_trivial,
    remove_keys_and_merge_names,
)
from abstraction.ladders.assembly.golds import (
    MAY_BE_VALUE,
    combine_golds,
    entity_conflict,
    fitting_or_all_classes,
    shared_ladder,
    text_conflict,
    with_aliases_added,
)
from abstraction.ladders.assembly.question_giveaways import QuestionGiveaways
from abstraction.ladders.assembly.tier_wording import (
    ContainerWording,
    LocalisedProposals,
    PlaceNames,
    container_wording_for_question,
    demonyms,
    is_woman,
    language_notes,
    localise,
    masculine_and_feminine_names,
    word_containers_as_asked,
)
from abstraction.ladders.builders import builder_for, may_depend_on_subject
from abstraction.ladders.class_terms import entailed_classes
from abstraction.ladders.literal_answers import (
    age_levels,
    amount_with_range_levels,
    amount_with_unit_levels,
    date_levels,
    quantity_levels,
)
from abstraction.ladders.literal_ladders import TIME
from abstraction.ladders.offices import has_office_or_kin
from abstraction.ladders.organisation_ladders import organisation_tiers
from abstraction.ladders.proposals import Builder, LadderCase, Proposal, levels, order_by_conditions, order_by_words
from abstraction.ladders.weighing import TierBits
from abstraction.linking.candidates import ValueCounts
from abstraction.linking.gazetteer import CAPITAL, PLACES, WORLD, Gazetteer
from abstraction.linking.linker import Confidence, Link, Linker
from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.descriptions.place_grammar import parse_place
from abstraction.text.language.languages import language as language_of
from abstraction.text.questions.question_facts import question_facts
from abstraction.text.questions.question_wording import ANY_KIND, AskedKind, QuestionKind
from kg.base.bounded_cache import SizedDict
from kg.base.model import ENTITY_ID, Entity, TimeValue, normalise
from kg.graph.graph import Graph

KEPT = 60_000_000  # estimated bytes of cached proposals; half as many for finished ladders
PER_TIER = 4_000  # estimated bytes of memory per proposal
_PLACED = frozenset({"place", "school"})  # answer classes with the same proposals for all relations


class ProposalCache:
    """Builds proposals or returns kept ones: in most datasets many questions share an answer.

    `ladders` keeps finished ladders by everything that they depend on.
    """

    def __init__(self) -> None:
        self._proposed: SizedDict[Hashable, LocalisedProposals] = SizedDict(
            KEPT, lambda _, proposed: PER_TIER * (1 + len(proposed.nodes))
        )
        self.ladders: SizedDict[Hashable, Ladder] = SizedDict(
            KEPT // 2, lambda _, ladder: PER_TIER // 2 * sum(1 + len(level.tiers) for level in ladder.levels)
        )

    def proposals(
        self, case: LadderCase, build: Builder, kinds: Collection[str], row_proposals: Sequence[Proposal] = ()
    ) -> LocalisedProposals:
        """The proposals of `build` and of the row; cached where they depend on nothing in the question but its date."""
        graph, asked, key = case.graph, case.relation, None
        woman = is_woman(graph, case.answer, case.subject)
        depends = build is not organisation_tiers and may_depend_on_subject(asked.asks, kinds)
        depends = depends or ("person" in kinds and has_office_or_kin(graph, case.vocabulary, case.answer))
        if not row_proposals and not depends:
            alike = asked.asks in _PLACED and graph.shown_in == graph.language
            subject = (
                case.subject if build is organisation_tiers else None
            )  # a company asked about is not its own owner
            key = (case.answer, "" if alike else asked.id, asked.asks, build, case.at, woman, subject)
            if (known := self._proposed.get(key)) is not None:
                return known
        localised = localise(
            [*build(case), *row_proposals], graph, trivial=lambda p: only_repeats_kind_asked_for(p, asked),
            feminine=woman, of_citizens=asked.asks_citizenship,
        )  # fmt: skip
        proposed = replace(localised, doubted=frozenset(case.doubted), key=key)
        if key is not None:
            self._proposed[key] = proposed
        return proposed


class GraphReaders:
    """The readers of one graph, each with a cache. `method` is the linking method for answers without an id."""

    def __init__(self, graph: Graph, *, method: str, priors: ValueCounts) -> None:
        self.graph, self._method, self._priors = graph, method, priors
        self.classes = Classifier(graph)
        self.gazetteer = Gazetteer(graph, self.classes)
        self.linker = Linker(graph, self.gazetteer, method=method, priors=priors)
        self.place_names = PlaceNames(graph, self.gazetteer)
        self.proposal_cache = ProposalCache()

    def with_empty_caches(self, entity: Entity | None = None) -> GraphReaders:
        """New readers with empty caches; `entity` replaces the one of the snapshot, for them alone."""
        graph = self.graph if entity is None else self.graph.with_entity(entity)
        return GraphReaders(graph, method=self._method, priors=self._priors)


MOST_RIVALS = 20  # rivals of an unsure link whose ladders are compared; of more, no tier counts as shared


@dataclass(frozen=True, kw_only=True, slots=True)
class MakerTools:
    """The components that all rows of a maker share; for `as_asked` and `bits_asked` see `LadderMaker`."""

    vocabulary: Vocabulary
    information: TierBits
    answer_shares: RelationAnswerShares
    giveaways: QuestionGiveaways
    as_asked: bool
    bits_asked: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RowWithNotes:
    """A tiered row with notes.

    `says_nothing_new`: ids and normalised names of tiers that names in the question imply or that most answers share;
    `doubted`: ids that statements lead to, but that may not contain the answer.
    """

    row: TieredRow
    says_nothing_new: frozenset[str]
    doubted: frozenset[str]


class RowMaker:
    """Makes the ladders of one row, with its own readers where the row describes its answer."""

    def __init__(self, tools: MakerTools, readers: GraphReaders, row: QARow, kind: AskedKind, asked: Relation) -> None:
        self._tools, self._readers, self._graph = tools, readers, readers.graph
        self._row, self._kind, self._asked = row, kind, asked
        self._localised: list[LocalisedProposals] = []
        self._nothing_new: set[str] = set()
        self._doubted: set[str] = set()

    def make_with_notes(self) -> RowWithNotes:
        """The row with the ladders of all its answers arranged on it, and its notes."""
        row, asked = self._row, self._asked
        subjects = self._readers.linker.subject_ids(row.subject_text, row.subject_qid, asked)
        links, ladders = [], []
        for text, qid in zip(row.answers, row.answer_qids, strict=True):
            link, ladder = self._link_and_ladder(text, qid, asked, subjects)
            if not asked.id and asked.asks not in _CLASSES_OF_WORDING and ladder.abstained in _MISREAD:
                link, ladder = self._link_and_ladder(text, qid, ANY, subjects)
            links.append(link)
            ladders.append(ladder)
        whole = combine_golds(
            row.answers, ladders, code=self._graph.shown_in, is_person=self._is_person, contains=self._contains
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
            extra=self._extra_with_notes_and_sitelinks(links, subject.get("qid")),
            source=row.source,
        )
        return RowWithNotes(row=tiered, says_nothing_new=frozenset(self._nothing_new), doubted=frozenset(self._doubted))

    def _extra_with_notes_and_sitelinks(self, links: Sequence[Link | None], subject: str | None) -> dict[str, Any]:
        """The further fields of the row, with notes on links and languages and the sitelink count of its subject."""
        named = zip(self._row.answers, links, strict=True)
        notes = [_link_note(link, text if len(links) > 1 else None) for text, link in named if link is not None]
        extra = {**self._row.extra, **({"links": notes} if notes else {})}
        extra |= language_notes(self._graph.shown_in, self._localised)
        asked_about = self._graph.entity(subject) if subject is not None else None
        if asked_about is not None and asked_about.sitelinks and extra.get(QUESTION_SITELINKS) in (None, ""):
            extra[QUESTION_SITELINKS] = asked_about.sitelinks
        return extra

    def _drop_levels_of_years_in_question(self, made: tuple[Level, ...]) -> tuple[Level, ...]:
        """The levels of a value without those whose every tier the years in the question imply."""
        years = question_facts(self._row.question, self._graph.shown_in).years

        def is_year_in_question(tier: Tier) -> bool:
            units = {c.value for c in tier.conditions if c.property == TIME}
            return bool(units) and units <= years

        return made[:1] + tuple(level for level in made[1:] if not all(map(is_year_in_question, level.tiers)))

    def _is_person(self, qid: str) -> bool:
        return not self._readers.classes(qid).isdisjoint({"person", "fictional"})

    def _contains(self, outer: str, inner: str) -> bool:
        """Whether a place or class is known to contain another, or is a part of the world and the other is not."""
        if any(qid == outer for qid, _ in self._readers.gazetteer.containers_up_to_state_with_names(inner)):
            return True
        wide, narrow = (WORLD.search(self._graph.label(qid) or "") for qid in (outer, inner))
        return wide is not None and narrow is None

    def _link_and_ladder(
        self, text: str, qid: str | None, asked: Relation, subjects: tuple[str, ...]
    ) -> tuple[Link | None, Ladder]:
        """The link of an answer and its ladder; dates and amounts have no link."""
        kind = self._kind
        alone = Level(tiers=(Tier(text=text),))
        if kind is not ANY_KIND and (code := text_conflict(kind, text, code=self._graph.shown_in)):
            return None, Ladder(levels=(alone,), abstained=code)
        if asked.asks in ("date", "quantity"):
            return self._value_ladder(text, asked, subjects)
        if qid is not None:
            link = self._readers.linker.link_given_qid(qid, asked)
            if link.abstained is None and (earlier := self._row.earlier_link(text, qid)) is not None:
                link = _read_link_note(earlier)
        else:
            link = self._readers.linker.link(text, asked, subjects=subjects, question=self._row.question)
        if link.qid is None and not asked.id and asked.asks == "any" and kind.kind in MAY_BE_VALUE:
            for read in (date_levels, amount_with_unit_levels):
                made = read(text, graph=self._graph, subject=None, relation="")
                if made is not None and len(left := self._drop_levels_of_years_in_question(made)) > 1:
                    return None, Ladder(levels=left)
        if link.qid is None or link.abstained:
            return link, Ladder(levels=(self._first_level(text, link, asked),), abstained=link.abstained)
        if entity_conflict(kind, self._readers.classes(link.qid)):
            code = Abstention.KIND_CONFLICT
            return replace(link, abstained=code), Ladder(levels=(alone,), abstained=code)
        ladder = self._ladder(text, link, asked, subjects)
        if link.confidence == "low" and link.rivals:
            ladder = self._shared_with_rivals(ladder, text, link, asked, subjects)
        return link, ladder

    def _value_ladder(self, text: str, asked: Relation, subjects: tuple[str, ...]) -> tuple[Link | None, Ladder]:
        """The ladder of a date or an amount."""
        made = None
        if self._kind.kind is QuestionKind.AGE:
            # An age in a rule is not a person's: the age of 18 for buying does not make a teenager.
            fixed = self._kind.detail != "age" and (self._kind.detail or _BY_RULE.search(self._row.question))
            made = age_levels(text, graph=self._graph)
            made = made[:1] if made is not None and fixed else made
        elif asked.asks == "quantity":
            made = amount_with_range_levels(text, code=self._graph.shown_in)
        build = date_levels if asked.asks == "date" else quantity_levels
        subject = subjects[0] if len(subjects) == 1 else None  # an ambiguous subject is not used
        made = made or build(text, graph=self._graph, subject=subject, relation=asked.id)
        if made is not None:
            made = self._drop_levels_of_years_in_question(made)
            return None, Ladder(levels=made, abstained=None if len(made) > 1 else Abstention.ONLY_TRIVIAL)
        is_open = self._kind is ANY_KIND or any(letter.isdigit() for letter in text)  # "25 December" is no year
        code = Abstention.UNSUPPORTED if is_open else Abstention.KIND_CONFLICT
        return None, Ladder(levels=(Level(tiers=(Tier(text=text),)),), abstained=code)

    def _shared_with_rivals(
        self, ladder: Ladder, text: str, link: Link, asked: Relation, subjects: tuple[str, ...]
    ) -> Ladder:
        """The part of the ladder of an unsure link that it shares with the ladders of its rivals."""
        alone = Level(tiers=(Tier(text=text),))
        rivals = [
            self._ladder(text, Link(qid=rival, confidence="low"), asked, subjects)
            for rival in link.rivals[:MOST_RIVALS]
        ]
        if len(link.rivals) > MOST_RIVALS:
            rivals.append(Ladder(levels=(alone,)))  # a rival without a ladder shares nothing
        ladder = shared_ladder(ladder, rivals)
        if len(ladder.levels) == 1 or asked.id == CAPITAL:  # the capital may be a namesake not in the snapshot
            return Ladder(levels=(alone,), abstained=Abstention.AMBIGUOUS_LINK)
        return ladder

    def _ladder(self, text: str, link: Link, asked: Relation, subjects: tuple[str, ...]) -> Ladder:
        answer = link.qid
        assert answer is not None
        kinds = frozenset(fitting_or_all_classes(self._kind, self._readers.classes(answer)))
        build = builder_for(asked.asks, kinds)
        if build is None:
            code = Abstention.UNSUPPORTED if kinds else Abstention.NOTHING_KNOWN
            return Ladder(levels=(self._first_level(text, link, asked),), abstained=code)
        case = self._ladder_case(answer, asked, subjects[0] if len(subjects) == 1 else None)
        proposed = self._readers.proposal_cache.proposals(
            case, build, kinds, self._proposals_from_row_description(build, case)
        )
        self._localised.append(proposed)
        self._doubted |= proposed.doubted
        told = self._tools.giveaways.keys_given_away(proposed.nodes, case) if self._tools.as_asked else frozenset[str]()
        usual = frozenset[str]()  # tiers that most answers of the relation share, as measured
        if self._tools.as_asked or asked.id not in relations_by_id():
            is_true_of_most = self._tools.answer_shares.is_true_of_most_answers
            usual = frozenset(key for key, node in proposed.nodes.items() if is_true_of_most(case, node))
        for node in (proposed.nodes[key] for key in (told | usual if self._tools.as_asked else told)):
            self._nothing_new.update((node.qid or "", *map(normalise, (node.text, *node.aliases))))
        own, names_of_answer = remove_answer_names_and_trivial(
            proposed.nodes,
            relation=asked,
            answer_names=self._answer_names(answer, text),
            is_place=not PLACES.isdisjoint(kinds),
            is_person=self._is_person(answer),
        )
        unwanted = (
            *((told | usual) & own.keys()),
            *keys_leaked_by_question(
                own,
                question=language_of(self._graph.shown_in).with_uninflected_words_appended(self._row.question),
                subject=case.subject,
                subject_text=self._row.subject_text,
            ),
        )
        certain = link.confidence != "low"
        # The wording is slow to read, and only named containers use it.
        is_worded = self._tools.as_asked and any(map(names_place_or_institution, own.values()))
        wording = container_wording_for_question(case, link_is_certain=certain) if is_worded else None
        subject_kinds = tuple(self._graph.classes(case.subject)) if case.subject else ()
        words = (wording.noun, wording.describes_answer, wording.bare_names) if wording is not None else None
        # All that the ladder depends on: equal keys share one ladder.
        of_answer = (proposed.key, text, asked.id, asked.trivial, asked.asks_citizenship, kinds)
        key = (of_answer, link.abstained, frozenset(unwanted), words, certain, bool(told), subject_kinds)
        kept = self._readers.proposal_cache.ladders
        ladder = kept.get(key) if proposed.key is not None else None  # without a key they depend on the row
        if ladder is None:
            first = with_aliases_added(self._first_level(text, link, asked), names_of_answer)
            names = () if PLACES.isdisjoint(kinds) else self._answer_names(answer, text)[:2]
            nodes = remove_keys_and_merge_names(own, unwanted, names)
            ladder = self._build_ladder_of_proposals(first, nodes, case, wording, kinds)
            if len(ladder.levels) == 1:
                ladder = replace(ladder, abstained=_abstention_code(proposed, is_year_in_question=bool(told)))
            if proposed.key is not None:
                kept[key] = ladder
        return ladder

    def _answer_names(self, answer: str, text: str) -> tuple[str, ...]:
        """The answer's label, the gold text and all other names, in that order."""
        label = self._graph.shown_label(answer)
        names = dict.fromkeys((*self._graph.names(answer), *self._graph.shown_names(answer)))
        return (label[0] if label else text, text, *names)

    def _build_ladder_of_proposals(
        self,
        first: Level,
        nodes: dict[str, Proposal],
        case: LadderCase,
        wording: ContainerWording | None,
        kinds: frozenset[str],
    ) -> Ladder:
        """The ladder of the remaining proposals: ordered, worded as asked, in levels and with bits."""
        named = nodes = order_by_words(order_by_conditions(nodes, partial(entailed_classes, self._graph)))
        if self._tools.as_asked:
            nodes = self._readers.place_names.with_spoken_names(word_containers_as_asked(nodes, case, wording))
        beyond = levels(nodes)
        if beyond:
            # A prediction of a coarser tier's own name states that tier, so it is no alias of the answer.
            tier, taken = first.tiers[0], {normalise(node.text) for node in named.values()}
            names = tuple(alias for alias in tier.aliases if normalise(alias) not in taken)
            first = Level(tiers=(replace(tier, aliases=names),))
        information = self._tools.information
        weighed = information.with_bits((first, *beyond), nodes=nodes, asked=case.relation, kinds=kinds)
        if self._tools.bits_asked:
            weighed = self._tools.answer_shares.with_bits_given_question(
                weighed, case, nodes, named, information.bits_of_answer
            )
        return Ladder(levels=weighed)

    def _ladder_case(self, answer: str, asked: Relation, subject: str | None) -> LadderCase:
        return LadderCase(
            graph=self._graph,
            vocabulary=self._tools.vocabulary,
            gazetteer=self._readers.gazetteer,
            answer=answer,
            relation=asked,
            question=self._row.question,
            subject=subject,
            subject_text=self._row.subject_text,
            at=self._date_from_subject(subject, asked),
        )

    def _proposals_from_row_description(self, build: Builder, case: LadderCase) -> list[Proposal]:
        """The proposals from the row's own description of a place, where it names containers that the snapshot's
        description lacks.
        """
        described, held = self._row.answer_description, self._graph.description(case.answer)
        entity = self._graph.entity(case.answer)
        phrase = parse_place(described) if described and case.relation.asks in WHERE else None
        if phrase is None or held is None or entity is None or described is None:
            return []
        # The description must be of this answer, in the language of the rules.
        if case.answer != self._row.answer_qids[0] or self._graph.shown_in != self._graph.language:
            return []
        if all(normalise(unit.text) in normalise(held) for unit in phrase.units):
            return []
        readers = self._readers.with_empty_caches(replace(entity, descriptions={self._graph.language: described}))
        return build(replace(case, graph=readers.graph, gazetteer=readers.gazetteer))

    def _first_level(self, text: str, link: Link, asked: Relation) -> Level:
        if link.qid is None or link.abstained:
            return Level(tiers=(Tier(text=text),))
        masculine, feminine = masculine_and_feminine_names(self._graph, link.qid)
        nationals = demonyms(self._graph, link.qid) if asked.asks_citizenship else []
        names = dict.fromkeys((*self._graph.shown_names(link.qid), *masculine, *feminine, *nationals))
        aliases = tuple(n for n in names if normalise(n) != normalise(text))
        return Level(tiers=(Tier(text=text, qid=link.qid, aliases=aliases),))

    def _date_from_subject(self, subject: str | None, asked: Relation) -> TimeValue | None:
        """The date of the question: the first of the relation's dating properties that the subject has."""
        if subject is None:
            return None
        for prop in asked.dated_by:
            for statement in self._graph.current(subject, prop):
                if isinstance(statement.value, TimeValue):
                    return statement.value
        return None


# Words of questions after an age that a rule sets.
_BY_RULE = re.compile(
    r"\b(?:have to|must|legal(?:ly)?|required?|allowed|minimum|need to|limit|law|can (?:you|an?|I|one))\b", re.I
)
# Answer classes with a location, which a description given by the row may name.
WHERE = frozenset({"place", "country", "school"})
# Abstentions after which the answer is read again without the class of the question's first words ("Where did he
# work?"), which may mislead.
_MISREAD = frozenset({Abstention.TYPE_CONFLICT, Abstention.UNSUPPORTED, Abstention.NO_LINK})
# Classes that need no entity, or accept any: reading the answer again would change nothing.
_CLASSES_OF_WORDING = frozenset({"any", "date", "quantity"})


def _abstention_code(proposed: LocalisedProposals, *, is_year_in_question: bool) -> Abstention:
    """The code for an answer that has a builder but no tier."""
    if proposed.left_out and not proposed.nodes:
        return Abstention.UNSUPPORTED
    if is_year_in_question:
        return Abstention.TOLD
    return Abstention.ONLY_TRIVIAL if proposed.nodes else Abstention.NOTHING_KNOWN


def _link_note(link: Link, answer: str | None) -> dict[str, object]:
    out: dict[str, object] = {"answer": answer, "qid": link.qid, "confidence": link.confidence, "rule": link.rule}
    if link.share is not None and link.rivals:
        out["share"] = round(link.share, 3)
    if link.rivals:
        out["rivals"] = list(link.rivals)
    if link.abstained:
        out["abstained"] = str(link.abstained)
    return {k: v for k, v in out.items() if v is not None}


def _read_link_note(note: Mapping[str, Any]) -> Link:
    """The inverse of `_link_note`, for a link to an item; malformed fields of rows from elsewhere are left out."""
    confidence, rule, share = note.get("confidence"), note.get("rule"), note.get("share")
    rivals = (i for i in candidate_ids_of_link({"rivals": note.get("rivals")}) if ENTITY_ID.match(i))
    return Link(
        qid=note["qid"],
        confidence=confidence if confidence in get_args(Confidence) else "low",
        rule=rule if isinstance(rule, str) else None,
        rivals=tuple(islice(rivals, MOST_RIVALS)),
        share=float(share) if isinstance(share, int | float) and 0 <= share <= 1 else None,
    )
