"""Questions in, tiered rows out: link, propose, filter, level.

`LadderMaker` holds what is worth keeping between questions (a cached view of the snapshot, classes, place
chains); `make_ladders` streams rows through one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice

from abstraction.assembly.filters import clean
from abstraction.assembly.joined_ladders import shared
from abstraction.assembly.levels import levels, ordered
from abstraction.assembly.translation import Telling
from abstraction.assembly.triviality import Triviality
from abstraction.classes import Classifier
from abstraction.descriptions.attested_words import Vocabulary
from abstraction.descriptions.place_grammar import parse_place
from abstraction.faults import Fault, OnReject, attempt
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
from abstraction.ladders.place_names import PlaceNames
from abstraction.ladders.proposal_cache import Proposing
from abstraction.language.languages import language as language_of
from abstraction.language.languages import reading_language
from abstraction.linking.ambiguous_capitals import CAPITAL
from abstraction.linking.gazetteer import PLACES, Gazetteer
from abstraction.linking.linker import Link, Linker
from abstraction.linking.priors import Priors
from abstraction.properties import properties
from abstraction.proposals import Builder, LadderCase, Proposal
from abstraction.questions.answer_fit import MAY_BE_VALUE, class_conflict, text_conflict
from abstraction.questions.asked_wording import as_asked
from abstraction.questions.golds import arranged
from abstraction.questions.question_kinds import ANY_KIND, AskedKind, QuestionKind, asked_kind, implied
from abstraction.questions.relation_wording import read_wording, subject_of
from abstraction.questions.told_in_question import ToldInQuestion
from abstraction.relations import ANY, Relation, relation, table
from abstraction.rows import QARow, RejectedRow, TieredRow
from abstraction.tiers import Abstention, Ladder, Level, Tier
from kg.model import Entity, TimeValue
from kg.store.protocol import Store
from kg.terms import normalise
from kg.walks.graph import Graph

CHUNK = 500
MOST_RIVALS = 20
KEPT = 30_000  # entities in memory before reading begins anew, so that any number of questions fits


class LadderMaker:
    """Makes ladders from one snapshot in one language. The same row always gives the same ladder.

    The rules read English labels and descriptions whatever the language is; tiers are then told in it.
    `linker` is how answers without an id are linked; see `linking.linker.Linker`. `vocabulary` is that of another
    maker for the same store, if both read the same language: reading it takes seconds. Without `as_asked` tiers stay
    that the question's names tell or that most answers share, and containers keep their bare names, as in the paper.
    Of the row that was made last `says_nothing_new` has the ids and normalised names of such tiers, and `doubted` the
    ids of what statements lead to and what does not surely follow.
    """

    classes: Classifier
    gazetteer: Gazetteer
    linker: Linker
    says_nothing_new: set[str]
    doubted: set[str]
    _telling: Telling
    _place_names: PlaceNames
    _proposing: Proposing

    def __init__(
        self,
        store: Store,
        *,
        language: str = "en",
        linker: str = "question",
        vocabulary: Vocabulary | None = None,
        as_asked: bool = True,
    ) -> None:
        self._method = linker
        self._as_asked = as_asked
        self._language = language
        self._priors = Priors(store)
        self.vocabulary = vocabulary or Vocabulary.from_store(store, reading_language(language))
        self._read_anew(store)
        self.information = Information(store, self.vocabulary)

    def _read_anew(self, store: Store) -> None:
        known = properties() | set(table())
        read = reading_language(self._language)
        self.graph = Graph(store, language=read, shown_in=self._language, properties=known)
        self._triviality = Triviality(self.graph, self.proposals)
        self._told_by = ToldInQuestion(self.graph, self.vocabulary)
        self.start_afresh()

    def make_all(self, rows: Iterable[QARow], *, on_reject: OnReject | None = None) -> Iterator[TieredRow]:
        """Tiered rows in the order of the questions, read from the store in batches.

        A row with which the program is at fault goes to `on_reject`, which see `abstraction.faults`, and nothing of it
        touches the rows behind it; without `on_reject` the error is raised.
        """
        if on_reject is None:
            for chunk in self._chunks(rows):
                yield from map(self.make, chunk)
            return
        for made in self.make_each(rows):
            if isinstance(made, RejectedRow):
                on_reject(made)
            else:
                yield made

    def make_each(self, rows: Iterable[QARow]) -> Iterator[TieredRow | RejectedRow]:
        """The tiered row of each question in order, or how the program is at fault with it."""
        for chunk in self._chunks(rows):
            for row in chunk:
                made = attempt("making a ladder", self.make, row)
                if isinstance(made, Fault):
                    self.start_afresh()  # what it was about to conclude
                    yield made.rejected(source=row.source, id=row.id, text=row.question)
                else:
                    yield made

    def _chunks(self, rows: Iterable[QARow]) -> Iterator[list[QARow]]:
        """The rows by CHUNK, what they need read from the store."""
        source = iter(rows)
        while chunk := list(islice(source, CHUNK)):
            self.make_room()
            attempt("reading the store", self._prefetch, chunk)  # whose row it is shows when that is made
            yield chunk

    def make_room(self) -> bool:
        """Drop what was read, and what was concluded of it, where that is more than KEPT entities; whether it was.

        Whoever keeps `graph`, `classes`, `gazetteer` or `linker` takes the new ones then.
        """
        if self.graph.held <= KEPT:
            return False
        self._read_anew(self.graph.store)
        return True

    def make(self, row: QARow) -> TieredRow:
        """The tiered row of a question: its ladder, or level 1 alone with the abstention's code.

        Where the row describes its answer's entity its words count: for a place only where the snapshot places it
        less finely, for anything else unless the snapshot says as much.
        """
        kind = asked_kind(row.question) if row.relation is None else ANY_KIND
        row = _told(row)
        described = self._described(row)
        if described is None:
            return self._make(row, kind)
        with self._instead(described):
            return self._make(row, kind)

    @contextmanager
    def _instead(self, described: Entity) -> Iterator[None]:
        """The entity as given in place of the snapshot's, for a while."""
        # What is worked out about other places meanwhile may rest on the row's words: nothing of it is kept.
        kept = (self.classes, self.gazetteer, self.linker, self._place_names, self._proposing)
        self.start_afresh()
        self.graph.put(described)
        try:
            yield
        finally:
            self.graph.forget(described.id)
            self.classes, self.gazetteer, self.linker, self._place_names, self._proposing = kept

    def start_afresh(self) -> None:
        """Drop what was concluded so far, as after an interruption; what was read is kept."""
        self.classes = Classifier(self.graph)
        self.gazetteer = Gazetteer(self.graph, self.classes)
        self.linker = Linker(self.graph, self.gazetteer, method=self._method, priors=self._priors)
        self._place_names = PlaceNames(self.graph, self.gazetteer)
        self._proposing = Proposing()

    def _described(self, row: QARow) -> Entity | None:
        qid, said = row.answer_qids[0], row.answer_description
        if qid is None or said is None:
            return None
        known = self.graph.entity(qid)
        if known is None:
            language = self.graph.shown_in  # a description in another language is kept, and read by no rule
            return Entity(id=qid, labels={language: row.answers[0]}, descriptions={language: said})
        if self.graph.shown_in != self.graph.language:
            return None
        own = self.graph.description(qid)
        where = row.relation is not None and relation(row.relation).asks in _WHERE
        fuller = normalise(said) not in normalise(own or "") and not where
        if own is None or fuller or _steps(said) > _steps(own):
            return replace(known, descriptions={self.graph.language: said})
        return None

    def _make(self, row: QARow, kind: AskedKind) -> TieredRow:
        self._telling = Telling(self._language)
        self.says_nothing_new, self.doubted = set(), set()
        asked = relation(row.relation) if row.relation else read_wording(row.question).kind or ANY
        if self.graph.shown_in == "en" and asked.asks in _OF_DOERS and (more := implied(row.question)):
            asked = replace(asked, trivial=asked.trivial | more)
        subjects = self.linker.subjects(row.subject_text, row.subject_qid, asked)
        ladders, links = [], []
        for text, qid in zip(row.answers, row.answer_qids, strict=True):
            link, ladder = self._answer(text, qid, asked, kind, subjects, row)
            if not asked.id and asked.asks not in _TOLD_BY_WORDING and ladder.abstained in _MISREAD:
                link, ladder = self._answer(text, qid, ANY, kind, subjects, row)
            links.append(link)
            ladders.append(ladder)
        whole = arranged(row.answers, ladders, code=self.graph.shown_in, is_person=self._is_person)
        subject = {"text": row.subject_text} if row.subject_text else {}
        if row.subject_qid or len(subjects) == 1:
            subject["qid"] = row.subject_qid or subjects[0]
        named = zip(row.answers, links, strict=True)
        notes = [_note(link, text if len(links) > 1 else None) for text, link in named if link is not None]
        extra = dict(row.extra)
        if notes:
            extra["links"] = notes
        extra.update(self._telling.notes())
        asked_about = self.graph.entity(subject["qid"]) if "qid" in subject else None
        if asked_about is not None and asked_about.sitelinks and extra.get(QUESTION_SITELINKS) in (None, ""):
            extra[QUESTION_SITELINKS] = asked_about.sitelinks
        return TieredRow(
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

    def _time_of(self, text: str, kind: AskedKind, row: QARow) -> tuple[Link, Ladder] | None:
        """The ladder of an event that is told for when something happened, by the event's own dates."""
        if kind is ANY_KIND:
            return None
        link = self.linker.link(text, ANY, question=row.question)
        if link.qid is None or link.abstained or link.rivals or "event" not in self.classes(link.qid):
            return None
        levels = event_levels(link.qid, text, graph=self.graph)
        return None if levels is None else (link, Ladder(levels=levels))

    def _news(self, made: tuple[Level, ...], question: str) -> tuple[Level, ...]:
        """The levels of a value without those whose every tier the question implies."""
        more = implied(question) if self.graph.shown_in == "en" else frozenset()
        return made[:1] + tuple(level for level in made[1:] if not all(tier.text in more for tier in level.tiers))

    def _is_person(self, qid: str) -> bool:
        return not self.classes(qid).isdisjoint({"person", "fictional"})

    def _answer(
        self, text: str, qid: str | None, asked: Relation, kind: AskedKind, subjects: tuple[str, ...], row: QARow
    ) -> tuple[Link | None, Ladder]:
        alone = Level(tiers=(Tier(text=text),))
        if kind is not ANY_KIND and (code := text_conflict(kind, text, code=self.graph.shown_in)):
            return None, Ladder(levels=(alone,), abstained=code)
        if asked.asks in ("date", "quantity"):
            build = date_levels if asked.asks == "date" else quantity_levels
            subject = subjects[0] if len(subjects) == 1 else None
            made = with_range(text, code=self.graph.shown_in) if asked.asks == "quantity" else None
            if kind.kind is QuestionKind.AGE:
                made = age_levels(text, graph=self.graph)
            made = made or build(text, graph=self.graph, subject=subject, relation=asked.id)
            if made is None and asked.asks == "date" and (told := self._time_of(text, kind, row)):
                return told
            if made is None:
                code = Abstention.UNSUPPORTED if kind is ANY_KIND else Abstention.KIND_CONFLICT
                return None, Ladder(levels=(alone,), abstained=code)
            made = self._news(made, row.question)
            return None, Ladder(levels=made, abstained=None if len(made) > 1 else Abstention.ONLY_TRIVIAL)
        if qid is not None:
            link = self.linker.given(qid, asked)
        else:
            link = self.linker.link(text, asked, subjects=subjects, question=row.question)
        if link.qid is None and not asked.id and asked.asks == "any" and kind.kind in MAY_BE_VALUE:
            for read in (date_levels, measured_levels):
                made = read(text, graph=self.graph, subject=None, relation="")
                if made is not None and len(left := self._news(made, row.question)) > 1:
                    return None, Ladder(levels=left)
        if link.qid is None or link.abstained:
            return link, Ladder(levels=(self._first_level(text, link),), abstained=link.abstained)
        if class_conflict(kind, self.classes(link.qid)):
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
        kinds = self.classes(answer)
        label = self.graph.shown_label(answer)
        names = tuple(dict.fromkeys((*self.graph.names(answer), *self.graph.shown_names(answer))))
        subject = subjects[0] if len(subjects) == 1 else None
        build = builder_for(asked.asks, kinds)
        if build is None:
            code = Abstention.UNSUPPORTED if kinds else Abstention.NOTHING_KNOWN
            return Ladder(levels=(first,), abstained=code)
        case = LadderCase(
            graph=self.graph,
            vocabulary=self.vocabulary,
            gazetteer=self.gazetteer,
            answer=answer,
            relation=asked,
            question=row.question,
            subject=subject,
            subject_text=row.subject_text,
            at=self._date(subject, asked),
        )
        proposed = self._proposing.of(case, build, kinds, self._told_by_row(build, case, row))
        told, nodes = proposed.told, proposed.nodes
        proposals = told.proposals
        self._telling.add(told)
        told_in_question = self._told_by.keys(nodes, case) if self._as_asked else frozenset()
        usual = partial(self._triviality.is_trivial, case) if self._as_asked or asked.id not in table() else None
        self.doubted |= proposed.doubted
        for key, node in nodes.items():
            if key in told_in_question or (self._as_asked and usual is not None and usual(node)):
                self.says_nothing_new.update((node.qid or "", *map(normalise, (node.text, *node.aliases))))
        nodes, own = clean(
            nodes,
            relation=asked,
            question=language_of(self.graph.shown_in).with_bare_names(row.question),
            answer_names=(label[0] if label else text, text, *names),
            subject=subject,
            subject_text=row.subject_text,
            told=told_in_question,
            is_place=not PLACES.isdisjoint(kinds),
            is_person="person" in kinds or "fictional" in kinds,
            usual=usual,
        )
        nodes = ordered(nodes, partial(entailed_classes, self.graph))
        plain, named = {normalise(node.text) for node in nodes.values()}, nodes
        if self._as_asked:
            nodes = self._place_names.spelled(as_asked(nodes, case, certain=link.confidence != "low"))
        beyond = levels(nodes)

        def weighed(made: tuple[Level, ...]) -> tuple[Level, ...]:
            told = self.information.weighed(made, nodes=nodes, asked=asked, kinds=kinds)
            return self._triviality.weighed(told, case, nodes, named, self.information.of_answer)

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

    def bits_of_container(self, qid: str, asked: str) -> float | None:
        """The bits of lying in the place, for answers of a relation; None where nothing known lies in it."""
        kinds = self.classes(qid)
        return None if PLACES.isdisjoint(kinds) else self.information.of_container(qid, relation(asked), kinds)

    def proposals(self, case: LadderCase) -> list[Proposal]:
        """What may be said of an answer, before anything is left out; empty where nothing is known of its class."""
        build = builder_for(case.relation.asks, self.classes(case.answer))
        return build(case) if build else []

    def _told_by_row(self, build: Builder, case: LadderCase, row: QARow) -> list[Proposal]:
        """What the row's own words say of where the answer is, beside the description that the snapshot has."""
        said, own = row.answer_description, self.graph.description(case.answer)
        known = self.graph.entity(case.answer)
        phrase = parse_place(said) if said and case.relation.asks in _WHERE else None
        if phrase is None or own is None or known is None or said is None or case.answer != row.answer_qids[0]:
            return []
        if self.graph.shown_in != self.graph.language or all(normalise(u.text) in normalise(own) for u in phrase.units):
            return []
        with self._instead(replace(known, descriptions={self.graph.language: said})):
            return build(replace(case, gazetteer=self.gazetteer))

    def _first_level(self, text: str, link: Link) -> Level:
        if link.qid is None or link.abstained:
            return Level(tiers=(Tier(text=text),))
        names = self.graph.shown_names(link.qid)
        aliases = tuple(n for n in names if normalise(n) != normalise(text))
        return Level(tiers=(Tier(text=text, qid=link.qid, aliases=aliases),))

    def _date(self, subject: str | None, asked: Relation) -> TimeValue | None:
        """The question's own date: the first of the relation's dating properties that the subject has."""
        if subject is None:
            return None
        for prop in asked.dated_by:
            for statement in self.graph.current(subject, prop):
                if isinstance(statement.value, TimeValue):
                    return statement.value
        return None

    def _prefetch(self, questions: list[QARow]) -> None:
        rows, graph = [_told(row) for row in questions], self.graph
        texts = [t for row in rows for t in (*row.answers, *([row.subject_text] if row.subject_text else []))]
        graph.find_all(texts)
        unknown = [t for row in rows for t in row.answers if not graph.find(t)]
        graph.find_all(name for text in unknown for name in self.linker.other_names(text))
        ids = [m.id for t in texts for m in graph.find(t)]
        ids += [q for row in rows for q in (*row.answer_qids, row.subject_qid) if q]
        graph.fetch(ids)
        by_relation: dict[str, list[str]] = {}
        for row in rows:
            if row.relation:
                by_relation.setdefault(row.relation, []).extend(row.answers)
        for prop, answers in by_relation.items():
            self.linker.prepare(answers, relation(prop))
        for _ in range(2):
            ids = [
                s.target
                for i in dict.fromkeys(ids)
                if (entity := graph.entity(i))
                for s in entity.statements
                if s.target and s.property in _NEXT
            ]
            graph.fetch(ids)


_OF_DOERS = frozenset({"any", "person", "agent", "performer", "company", "club", "owner"})
_WHERE = frozenset({"place", "country", "school"})
_NEXT = frozenset({"P31", "P279", "P131", "P17", "P27", "P106", "P361", "P749", "P276", "P159"})


# The first words of a question ("Where did he work?") were no sign of the answer's class: the class itself decides.
_MISREAD = frozenset({Abstention.TYPE_CONFLICT, Abstention.UNSUPPORTED, Abstention.NO_LINK})


_TOLD_BY_WORDING = frozenset({"any", "date", "quantity"})


def _told(row: QARow) -> QARow:
    """The row with the relation that its wording surely asks for, and the subject's name, where it gives none."""
    if row.relation is not None:
        if row.subject_text is None and (subject := subject_of(row.question, row.relation)):
            return replace(row, subject_text=subject)
        return row
    if (told := read_wording(row.question)).relation is None:
        return row
    return replace(row, relation=told.relation, subject_text=row.subject_text or told.subject)


def _steps(description: str) -> int:
    """How many places a description's chain names."""
    phrase = parse_place(description)
    return len(phrase.units) if phrase else 0


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


def make_ladders(
    rows: Iterable[QARow],
    store: Store,
    *,
    language: str = "en",
    linker: str = "question",
    on_reject: OnReject | None = None,
) -> Iterator[TieredRow]:
    """Tiered rows of the questions, in order; `on_reject` as in `LadderMaker.make_all`.

    Raises UnknownRelationError for a malformed relation, UnknownLinkerError for a linker that there is not.
    """
    return LadderMaker(store, language=language, linker=linker).make_all(rows, on_reject=on_reject)
