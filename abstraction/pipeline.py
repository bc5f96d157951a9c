"""Questions in, tiered rows out: link, propose, filter, level.

`LadderMaker` holds what is worth keeping between questions (a cached view of the snapshot, classes, place
chains); `make_ladders` streams rows through one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from abstraction.assembly.filters import MeasuredRelations, Triviality
from abstraction.classes import Classifier
from abstraction.descriptions.attested_words import Vocabulary
from abstraction.descriptions.place_grammar import parse_place
from abstraction.errors import RowError
from abstraction.faults import Fault, OnReject, attempt
from abstraction.information.weighing import Information
from abstraction.ladders.builders import builder_for
from abstraction.language.demonyms import territory_labels
from abstraction.language.languages import reading_language
from abstraction.linking.gazetteer import PLACES, Gazetteer
from abstraction.linking.linker import Linker
from abstraction.linking.priors import Priors
from abstraction.properties import properties
from abstraction.proposals import LadderCase, Proposal
from abstraction.questions.question_kinds import ANY_KIND, asked_kind
from abstraction.questions.relation_wording import read_wording, subject_of
from abstraction.questions.told_in_question import ToldInQuestion
from abstraction.readers import GraphReaders
from abstraction.relations import Relation, relation, table
from abstraction.row_languages import row_language
from abstraction.row_maker import WHERE, MadeRow, MakerTools, RowMaker
from abstraction.rows import QARow, RejectedRow, TieredRow
from abstraction.tiers import Level
from kg.model import Entity
from kg.store.protocol import Store
from kg.terms import normalise
from kg.walks.graph import Graph

CHUNK = 500
MOST_LANGUAGES = 40  # of one run
KEPT = 30_000  # entities in memory before reading begins anew, so that any number of questions fits


class LadderMaker:
    """Makes ladders from one snapshot in one language. The same row always gives the same ladder.

    The rules read English labels and descriptions whatever the language is; tiers are then told in it.
    `linker` is how answers without an id are linked; see `linking.linker.Linker`. `vocabulary` and `measured` are those
    of another maker for the same store, if both read the same language: they take seconds. Without `as_asked` tiers
    stay that the question's names tell or that most answers share, and containers keep their bare names, as in the
    paper. Without `bits_asked` tiers have none of these: to count what a relation's answers are takes a second or more.
    """

    def __init__(
        self,
        store: Store,
        *,
        language: str = "en",
        linker: str = "question",
        vocabulary: Vocabulary | None = None,
        measured: MeasuredRelations | None = None,
        as_asked: bool = True,
        bits_asked: bool = True,
    ) -> None:
        self._method = linker
        self._as_asked = as_asked
        self._bits_asked = bits_asked
        self._language = language
        self._priors = Priors(store)
        self.vocabulary = vocabulary or Vocabulary.from_store(store, reading_language(language))
        self.measured = measured or MeasuredRelations()
        self.information = Information(store, self.vocabulary)
        self._read_anew(store)

    def _read_anew(self, store: Store) -> None:
        known = properties() | set(table())
        read = reading_language(self._language)
        labels = territory_labels(self._language)
        graph = Graph(store, language=read, shown_in=self._language, further_labels=labels, properties=known)
        self._readers = GraphReaders.of(graph, method=self._method, priors=self._priors)
        self._tools = MakerTools(
            vocabulary=self.vocabulary,
            information=self.information,
            triviality=Triviality(graph, self.proposals, self.measured),
            told_by=ToldInQuestion(graph, self.vocabulary),
            as_asked=self._as_asked,
            bits_asked=self._bits_asked,
            language=self._language,
        )

    @property
    def graph(self) -> Graph:
        """What is read of the snapshot, until `make_room` begins anew."""
        return self._readers.graph

    @property
    def classes(self) -> Classifier:
        """What kinds of thing entities are."""
        return self._readers.classes

    @property
    def gazetteer(self) -> Gazetteer:
        """Which places names mean."""
        return self._readers.gazetteer

    @property
    def linker(self) -> Linker:
        """Which entities answers mean."""
        return self._readers.linker

    def make_all(self, rows: Iterable[QARow], *, on_reject: OnReject | None = None) -> Iterator[TieredRow]:
        """Tiered rows in the order of the questions, read from the store in batches.

        A row with which the program is at fault goes to `on_reject`, which see `abstraction.faults`, and nothing of it
        touches the rows behind it; without `on_reject` the error is raised.
        """
        if on_reject is None:
            for chunk in self._chunks(rows):
                yield from map(self.make, chunk)
            return
        yield from _accepted(self.make_each(rows), on_reject)

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

    def levels_of(self, qid: str, asked: Relation, subject: str | None = None) -> tuple[Level, ...]:
        """What an entity entails as an answer to whatever question asks that, of the subject if one is given."""
        label = self.graph.shown_label(qid)
        row = QARow(
            id=qid, question="", answers=(label[0] if label else qid,), answer_qids=(qid,),
            relation=asked.id or None, subject_qid=subject,
        )  # fmt: skip
        return RowMaker(self._tools, self._readers, row, ANY_KIND, asked).made().row.levels

    def make(self, row: QARow) -> TieredRow:
        """The tiered row of a question: its ladder, or level 1 alone with the abstention's code.

        Where the row describes its answer's entity its words count: for a place only where the snapshot places it
        less finely, for anything else unless the snapshot says as much.
        """
        return self.made(row).row

    def made(self, row: QARow) -> MadeRow:
        """The same, with what the question's names tell and what is doubted."""
        kind = asked_kind(row.question, self._language) if row.relation is None else ANY_KIND
        row = _with_relation_of_wording(row, self._language)
        described = self._described(row)
        readers = self._readers if described is None else self._readers.with_entity(described)
        return RowMaker(self._tools, readers, row, kind).made()

    def start_afresh(self) -> None:
        """Drop what was concluded so far, as after an interruption; what was read is kept."""
        self._readers = self._readers.afresh()

    def _described(self, row: QARow) -> Entity | None:
        qid, description = row.answer_qids[0], row.answer_description
        if qid is None or description is None:
            return None
        known = self.graph.entity(qid)
        if known is None:
            language = self.graph.shown_in  # a description in another language is kept, and read by no rule
            return Entity(id=qid, labels={language: row.answers[0]}, descriptions={language: description})
        if self.graph.shown_in != self.graph.language:
            return None
        graph_description = self.graph.description(qid)
        where = row.relation is not None and relation(row.relation).asks in WHERE
        fuller = normalise(description) not in normalise(graph_description or "") and not where
        if graph_description is None or fuller or _steps(description) > _steps(graph_description):
            return replace(known, descriptions={self.graph.language: description})
        return None

    def bits_of_container(self, qid: str, asked: str) -> float | None:
        """The bits of lying in the place, for answers of a relation; None where nothing known lies in it."""
        kinds = self.classes(qid)
        return None if PLACES.isdisjoint(kinds) else self.information.of_container(qid, relation(asked), kinds)

    def proposals(self, case: LadderCase) -> list[Proposal]:
        """What may be said of an answer, before anything is left out; empty where nothing is known of its class."""
        build = builder_for(case.relation.asks, self.classes(case.answer))
        return build(case) if build else []

    def _prefetch(self, questions: list[QARow]) -> None:
        rows, graph = [_with_relation_of_wording(row, self._language) for row in questions], self.graph
        graph.fetch_along(self._mentioned(rows))
        by_relation: defaultdict[str, list[str]] = defaultdict(list)
        for row in rows:
            if row.relation:
                by_relation[row.relation] += row.answers
        for prop, answers in by_relation.items():
            self.linker.prepare(answers, relation(prop))

    def _mentioned(self, rows: list[QARow]) -> list[str]:
        """The ids in the rows, and those that their texts may mean."""
        texts = [text for row in rows for text in (*row.answers, row.subject_text) if text]
        self.graph.find_all(texts)
        unknown = [text for row in rows for text in row.answers if not self.graph.find(text)]
        self.graph.find_all(name for text in unknown for name in self.linker.other_names(text))
        ids = [match.id for text in texts for match in self.graph.find(text)]
        return ids + [qid for row in rows for qid in (*row.answer_qids, row.subject_qid) if qid]


def _accepted(made: Iterable[TieredRow | RejectedRow], on_reject: OnReject) -> Iterator[TieredRow]:
    for row in made:
        if isinstance(row, RejectedRow):
            on_reject(row)
        else:
            yield row


def _with_relation_of_wording(row: QARow, language: str) -> QARow:
    """The row with the relation that its wording surely asks for, and the subject's name, where it gives none."""
    if row.relation is not None:
        if row.question and row.subject_text is None and (subject := subject_of(row.question, row.relation, language)):
            return replace(row, subject_text=subject)
        return row
    if (wording := read_wording(row.question, language)).relation is None:
        return row
    return replace(row, relation=wording.relation, subject_text=row.subject_text or wording.subject)


def _steps(description: str) -> int:
    """How many places a description's chain names."""
    phrase = parse_place(description)
    return len(phrase.units) if phrase else 0


class LadderMakers:
    """A `LadderMaker` for each language of the rows, made when it is needed; all share the store.

    Raises RowError for a row with more languages before it than MOST_LANGUAGES.
    """

    def __init__(self, store: Store, *, language: str = "en", linker: str = "question") -> None:
        self._store = store
        self._linker = linker
        self.language = language
        self._makers: dict[str, LadderMaker] = {}

    def maker(self, language: str | None = None) -> LadderMaker:
        """The maker of a language, by default of the one that is asked for."""
        code = language or self.language
        if code not in self._makers:
            if len(self._makers) >= MOST_LANGUAGES:
                raise RowError(
                    f"rows of more than {MOST_LANGUAGES} languages in one run; give files of one language each"
                )
            read = reading_language(code)
            alike = (one for known, one in self._makers.items() if reading_language(known) == read)
            shared = next(alike, None)
            self._makers[code] = LadderMaker(
                self._store, language=code, linker=self._linker,
                vocabulary=shared.vocabulary if shared is not None else None,
                measured=shared.measured if shared is not None else None,
            )  # fmt: skip
        return self._makers[code]

    @property
    def graph(self) -> Graph:
        """What the maker of the language that is asked for has read."""
        return self.maker().graph

    def make_each(self, rows: Iterable[QARow]) -> Iterator[TieredRow | RejectedRow]:
        """As `LadderMaker.make_each`, each row in its language, in the order of the rows."""
        source = iter(rows)
        while chunk := list(islice(source, CHUNK)):
            parts: dict[str, list[int]] = {}
            for at, row in enumerate(chunk):
                parts.setdefault(row_language(row, self.language), []).append(at)
            if len(parts) == 1:
                yield from self.maker(next(iter(parts))).make_each(chunk)
                continue
            made: dict[int, TieredRow | RejectedRow] = {}
            for code, places in parts.items():
                found = self.maker(code).make_each([chunk[at] for at in places])
                made.update(zip(places, found, strict=True))
            yield from (made[at] for at in range(len(chunk)))

    def make_all(self, rows: Iterable[QARow], *, on_reject: OnReject | None = None) -> Iterator[TieredRow]:
        """As `LadderMaker.make_all`, each row in its language."""
        if on_reject is None:
            for row in rows:
                yield self.maker(row_language(row, self.language)).make(row)
            return
        yield from _accepted(self.make_each(rows), on_reject)


def make_ladders(
    rows: Iterable[QARow],
    store: Store,
    *,
    language: str = "en",
    linker: str = "question",
    on_reject: OnReject | None = None,
) -> Iterator[TieredRow]:
    """Tiered rows of the questions, in order; `on_reject` as in `LadderMaker.make_all`.

    A row's own `language`, a field of its file, counts before `language` (`LadderMakers`).
    Raises UnknownRelationError for a malformed relation, UnknownLinkerError for a linker that there is not.
    """
    return LadderMakers(store, language=language, linker=linker).make_all(rows, on_reject=on_reject)
