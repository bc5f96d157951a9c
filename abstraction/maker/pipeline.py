"""Questions in, tiered rows out: link, propose, filter, level.

`LadderMaker` keeps between questions what is costly to read or compute (a cached view of the snapshot, classes, place
chains); `make_ladders` streams rows through one per language.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby, islice

from abstraction.base.faults import Fault, OnReject, RejectedRow, attempt
from abstraction.base.properties import property_ids
from abstraction.base.relations import ANY, Relation, relation, relations_by_id
from abstraction.base.tiers import Level
from abstraction.errors import RowError
from abstraction.files.rows import QARow, TieredRow, row_language_or_default
from abstraction.ladders.assembly.filters import MeasuredRelations, RelationAnswerShares
from abstraction.ladders.assembly.question_giveaways import QuestionGiveaways
from abstraction.ladders.builders import builder_for
from abstraction.ladders.proposals import LadderCase, Proposal
from abstraction.ladders.weighing import TierBits
from abstraction.linking.candidates import ValueCounts
from abstraction.linking.gazetteer import PLACES
from abstraction.maker.row_maker import WHERE, GraphReaders, MakerTools, RowMaker, RowWithNotes
from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.descriptions.place_grammar import parse_place
from abstraction.text.language.languages import description_language, territory_labels
from abstraction.text.questions.question_wording import ANY_KIND, asked_kind, read_relation_wording, subject_of
from kg.base.model import Entity, normalise
from kg.graph.graph import Graph
from kg.store.protocol import Store

CHUNK = 500  # rows whose entities are read from the store together
MOST_LANGUAGES = 40  # in one run; each has a maker with caches of its own
KEPT = 30_000  # entities in memory; above that caches are dropped, so that memory stays bounded


class LadderMaker:
    """Makes ladders from one snapshot in one language. The same row always gives the same ladder.

    The rules read English labels and descriptions whatever the language is; tiers are then translated. `linker` names
    the method for answers without an id; see `linking.linker.Linker`. `vocabulary` and `measured` can be shared by
    makers for the same store that read the same language: to build them takes seconds. Without `as_asked`, tiers that
    the names in the question imply or that most answers share are kept, and containers keep their bare names, as in
    the paper. Without `bits_asked` that field stays empty: counting the answers of a relation takes a second or more.

    `graph` is the cached view of the snapshot; `classes`, `gazetteer` and `linker` read it. `drop_caches_if_full` and
    `drop_derived_caches` may replace them.
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
        self._linker_method = linker
        self._as_asked = as_asked
        self._bits_asked = bits_asked
        self._language = language
        self._priors = ValueCounts(store)
        self.vocabulary = vocabulary or Vocabulary.from_store(store, description_language(language))
        self.measured = measured or MeasuredRelations()
        self.information = TierBits(store, self.vocabulary)
        self._open_graph(store)

    def _open_graph(self, store: Store) -> None:
        known = property_ids() | set(relations_by_id())
        read = description_language(self._language)
        labels = territory_labels(self._language)
        graph = Graph(store, language=read, shown_in=self._language, further_labels=labels, properties=known)
        self._use_readers(GraphReaders(graph, method=self._linker_method, priors=self._priors))
        self._tools = MakerTools(
            vocabulary=self.vocabulary,
            information=self.information,
            answer_shares=RelationAnswerShares(graph, self.proposals, self.measured),
            giveaways=QuestionGiveaways(graph, self.vocabulary),
            as_asked=self._as_asked,
            bits_asked=self._bits_asked,
        )

    def _use_readers(self, readers: GraphReaders) -> None:
        self._readers, self.graph = readers, readers.graph
        self.classes, self.gazetteer, self.linker = readers.classes, readers.gazetteer, readers.linker

    def make_all(self, rows: Iterable[QARow]) -> Iterator[TieredRow]:
        """Tiered rows in the order of the questions, read from the store in batches."""
        for chunk in self._prefetched_chunks(rows):
            yield from map(self.make, chunk)

    def make_each(self, rows: Iterable[QARow]) -> Iterator[TieredRow | RejectedRow]:
        """For each question in order its tiered row, or a rejected row where the program fails."""
        for chunk in self._prefetched_chunks(rows):
            for row in chunk:
                made = attempt("making a ladder", self.make, row)
                if isinstance(made, Fault):
                    self.drop_derived_caches()  # caches may be half filled
                    yield made.rejected(source=row.source, id=row.id, text=row.question)
                else:
                    yield made

    def _prefetched_chunks(self, rows: Iterable[QARow]) -> Iterator[list[QARow]]:
        """The rows in lists of CHUNK, after their entities were read from the store."""
        source = iter(rows)
        while chunk := list(islice(source, CHUNK)):
            self.drop_caches_if_full()
            attempt("reading the store", self._prefetch, chunk)  # faults are ignored here: they recur at their row
            yield chunk

    def drop_caches_if_full(self) -> bool:
        """Drop the caches where they contain more than KEPT entities; returns whether that was done."""
        if self.graph.cached_size <= KEPT:
            return False
        self._open_graph(self.graph.store)
        return True

    def levels_of(self, qid: str, asked: Relation, subject: str | None = None) -> tuple[Level, ...]:
        """The levels of an entity as an answer to any question with this relation, for the subject if one is given."""
        label = self.graph.shown_label(qid)
        row = QARow(
            id=qid, question="", answers=(label[0] if label else qid,), answer_qids=(qid,),
            relation=asked.id or None, subject_qid=subject,
        )  # fmt: skip
        return RowMaker(self._tools, self._readers, row, ANY_KIND, asked).make_with_notes().row.levels

    def make(self, row: QARow) -> TieredRow:
        """The tiered row of a question: its ladder, or level 1 alone with the code of the abstention.

        A description that the row gives of its answer replaces that of the snapshot: for a place only where it names
        more containers, for other answers unless the snapshot's description contains it.
        """
        return self.make_with_notes(row).row

    def make_with_notes(self, row: QARow) -> RowWithNotes:
        """As `make`, with notes on tiers that the question implies and on doubtful entities."""
        kind = asked_kind(row.question, self._language) if row.relation is None else ANY_KIND
        row = _with_relation_of_wording(row, self._language)
        described = self._entity_with_better_row_description(row)
        readers = self._readers if described is None else self._readers.with_empty_caches(described)
        asked = relation(row.relation) if row.relation else read_relation_wording(row.question, self._language).kind
        return RowMaker(self._tools, readers, row, kind, asked or ANY).make_with_notes()

    def drop_derived_caches(self) -> None:
        """Drop everything derived from entities, as after an interruption; the entities themselves stay cached."""
        self._use_readers(self._readers.with_empty_caches())

    def _entity_with_better_row_description(self, row: QARow) -> Entity | None:
        qid, description = row.answer_qids[0], row.answer_description
        if qid is None or description is None:
            return None
        known = self.graph.entity(qid)
        if known is None:
            language = self.graph.shown_in  # no rule reads a description in another language
            return Entity(id=qid, labels={language: row.answers[0]}, descriptions={language: description})
        if self.graph.shown_in != self.graph.language:
            return None
        graph_description = self.graph.description(qid)
        where = row.relation is not None and relation(row.relation).asks in WHERE
        fuller = normalise(description) not in normalise(graph_description or "") and not where
        if (
            graph_description is None
            or fuller
            or _count_places_in_chain(description) > _count_places_in_chain(graph_description)
        ):
            return replace(known, descriptions={self.graph.language: description})
        return None

    def bits_of_container(self, qid: str, asked: str) -> float | None:
        """The bits of lying in a place, for answers of a relation; None where no entity is known to lie in it."""
        kinds = self.classes(qid)
        return None if PLACES.isdisjoint(kinds) else self.information.bits_of_container(qid, relation(asked), kinds)

    def proposals(self, case: LadderCase) -> list[Proposal]:
        """The unfiltered proposals for an answer; empty where its class has no builder."""
        build = builder_for(case.relation.asks, self.classes(case.answer))
        return build(case) if build else []

    def _prefetch(self, questions: list[QARow]) -> None:
        rows, graph = [_with_relation_of_wording(row, self._language) for row in questions], self.graph
        graph.fetch_with_values(self._mentioned_ids(rows))  # and the entities above them, which builders read
        by_relation: defaultdict[str, list[str]] = defaultdict(list)
        for row in rows:
            if row.relation:
                by_relation[row.relation] += row.answers
        for prop, answers in by_relation.items():
            self.linker.prefetch_counts(answers, relation(prop))  # priors depend on the relation

    def _mentioned_ids(self, rows: list[QARow]) -> list[str]:
        """The ids in the rows, and the ids of entities that their texts may name."""
        texts = [text for row in rows for text in (*row.answers, row.subject_text) if text]
        self.graph.prefetch_names(texts)
        unknown = [text for row in rows for text in row.answers if not self.graph.find(text)]
        self.graph.prefetch_names(name for text in unknown for name in self.linker.further_name_forms(text))
        ids = [match.id for text in texts for match in self.graph.find(text)]
        return ids + [qid for row in rows for qid in (*row.answer_qids, row.subject_qid) if qid]


def _with_relation_of_wording(row: QARow, language: str) -> QARow:
    """The row with a relation and a subject name read from its wording, where it gives none."""
    if row.relation is not None:
        if row.question and row.subject_text is None and (subject := subject_of(row.question, row.relation, language)):
            return replace(row, subject_text=subject)
        return row
    if (wording := read_relation_wording(row.question, language)).relation is None:
        return row
    return replace(row, relation=wording.relation, subject_text=row.subject_text or wording.subject)


def _count_places_in_chain(description: str) -> int:
    """The number of places in the chain of a description."""
    phrase = parse_place(description)
    return len(phrase.units) if phrase else 0


class LadderMakers:
    """A `LadderMaker` for each language of the rows, created on first use; all share the store.

    Raises RowError once rows have more than MOST_LANGUAGES languages.
    """

    def __init__(self, store: Store, *, language: str = "en", linker: str = "question") -> None:
        self._store = store
        self._linker = linker
        self.language = language
        self._makers: dict[str, LadderMaker] = {}

    def maker(self, language: str | None = None) -> LadderMaker:
        """The maker of a language, by default of the requested one."""
        code = language or self.language
        if code not in self._makers:
            if len(self._makers) >= MOST_LANGUAGES:
                raise RowError(
                    f"rows of more than {MOST_LANGUAGES} languages in one run; give files of one language each"
                )
            read = description_language(code)
            # Makers that read the same language share what is slow to build.
            alike = (one for known, one in self._makers.items() if description_language(known) == read)
            shared = next(alike, None)
            self._makers[code] = LadderMaker(
                self._store, language=code, linker=self._linker,
                vocabulary=shared.vocabulary if shared is not None else None,
                measured=shared.measured if shared is not None else None,
            )  # fmt: skip
        return self._makers[code]

    def make_each(self, rows: Iterable[QARow]) -> Iterator[TieredRow | RejectedRow]:
        """See `LadderMaker.make_each`; each row in its own language, in the order of the rows."""
        for code, part in self._chunks_by_language(rows):
            yield from self.maker(code).make_each(part)

    def make_all(self, rows: Iterable[QARow], *, on_reject: OnReject | None = None) -> Iterator[TieredRow]:
        """The tiered rows of the questions, in order, each in its own language.

        A row at which the program fails goes to `on_reject` (see `abstraction.base.faults`) and does not affect later
        rows; without `on_reject` the error is raised.
        """
        for code, part in self._chunks_by_language(rows):
            if on_reject is None:
                yield from self.maker(code).make_all(part)
                continue
            for row in self.maker(code).make_each(part):
                if isinstance(row, RejectedRow):
                    on_reject(row)
                else:
                    yield row

    def _chunks_by_language(self, rows: Iterable[QARow]) -> Iterator[tuple[str, list[QARow]]]:
        """The rows in order, neighbours of one language together, at most CHUNK."""
        for code, part in groupby(rows, lambda row: row_language_or_default(row, self.language)):
            while chunk := list(islice(part, CHUNK)):
                yield code, chunk


def make_ladders(
    rows: Iterable[QARow],
    store: Store,
    *,
    language: str = "en",
    linker: str = "question",
    on_reject: OnReject | None = None,
) -> Iterator[TieredRow]:
    """Tiered rows of the questions, in order; for `on_reject` see `LadderMakers.make_all`.

    A row's own `language`, a field of its file, takes precedence over `language` (see `LadderMakers`). Raises
    UnknownRelationError for a malformed relation, UnknownLinkerError for an unknown linker.
    """
    return LadderMakers(store, language=language, linker=linker).make_all(rows, on_reject=on_reject)
