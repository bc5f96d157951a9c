"""The facts on the answer of a row whose tiers are judged: its entity, and everything above it by statements and
descriptions (places, owners, classes, and their names).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain

from abstraction.base.relations import ANY, Relation, relation
from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import QARow, TieredRow
from abstraction.linking.gazetteer import FIRST_DIVISION, PLACES, STATE, WORLD
from abstraction.maker.pipeline import LadderMaker
from abstraction.text.language.languages import bundled_demonyms
from abstraction.text.language.phrases import content_words, occurs_in, singular_words, without_article
from abstraction.text.questions.question_wording import question_patterns, without_final_mark

# Located in, country, location, headquarters, continent, parent organisation, owner, part of.
FIRST_STEP = ("P131", "P17", "P276", "P159", "P30", "P749", "P127", "P361")
# Only relations that stay true over several steps; a headquarters of an owner is no place of the answer.
FURTHER_STEPS = ("P131", "P17", "P30", "P749", "P127")
LOOSE = ("P361", "P706", "P206")  # regions and waters may span states, so no step starts at them
# Instance of, occupation, genre, sport, office, industry, position played, title, field, subclass, product, taxon.
CLASS_PROPERTIES = ("P31", "P106", "P136", "P641", "P39", "P452", "P413", "P97", "P101", "P279", "P1056", "P171")
NATIONALITY = ("P27", "P17", "P495")  # citizenship, country, country of origin
DEPTH = 8  # most steps upwards: bounds work, and cycles in the data
CLASS_STEPS = 3  # higher superclasses, such as "entity", say nothing
CONTINENT = "Q5107"  # the class of continents


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitiesAbove:
    """Everything above one entity, without itself: ids in order of distance, and their names as bare text.

    `states` are sovereign states, `divisions` first-level divisions, `continents` continents among the ids.
    """

    ids: tuple[str, ...]
    names: frozenset[str]
    states: frozenset[str]
    divisions: frozenset[str]
    continents: frozenset[str]


# Linking rules that use the question's own entity or wording; links by other rules may be to a namesake.
DECIDED = frozenset({"given", "statement", "described", "place", "creator", "neighbours"})
# Answer classes of relations that ask for persons.
PEOPLE = frozenset({"person", "performer", "agent"})
_PERSONS = frozenset({"person", "fictional"})  # classes of entities that are persons
CLASSES = frozenset({"genre", "occupation", "language", "position"})  # classes whose entities are classes themselves


@dataclass(slots=True)
class AnswerFacts:
    """The facts on one answer. `certain` is False where a namesake of the linked entity may be meant.

    `words` are the content words of its description, classes and containers. The last fields grow while its tiers are
    judged, finest first.
    """

    row: TieredRow
    asked: Relation
    answers: tuple[str, ...]
    names: tuple[str, ...]
    gold: str
    description: str
    above: EntitiesAbove
    kinds: frozenset[str]
    words: frozenset[str]
    nations: frozenset[str]
    certain: bool
    person: bool
    place: bool
    gold_level: Level
    subject: str | None
    nothing_new: frozenset[str] = frozenset()  # ids and names of tiers that the question states or most answers share
    doubted: frozenset[str] = frozenset()  # ids that statements lead to without surely containing the answer
    above_classes: frozenset[str] = frozenset()  # superclasses of an answer that is a class: of a genre
    last_good: list[tuple[Tier, frozenset[str]]] = field(default_factory=list)  # good tiers, of the last level with any
    good_tiers: list[Tier] = field(default_factory=list)  # every good tier
    suspect_names: list[str] = field(default_factory=list)  # names that are wrong if the answer is linked rightly
    last_named_another: bool = False  # whether the last tier named another entity
    true_tiers: list[Tier] = field(default_factory=list)  # good tiers, and those that are true but uninformative


class AnswerFactsReader:
    """Reads the facts on answers of rows, with one ladder maker and its snapshot; results depend on these only."""

    def __init__(self, maker: LadderMaker) -> None:
        self.maker, self.graph, self._gazetteer = maker, maker.graph, maker.gazetteer
        self.above = cache(lambda qid: self.start_entities_and_all_above([qid], excluded_ids={qid}))
        # The classes, occupations, genres and the like of an entity, and their superclasses.
        self.kinds = cache(
            lambda i: self.classes_and_superclasses(t for p in CLASS_PROPERTIES for t in self.graph.targets(i, p))
        )
        self.classes_above = cache(self._read_superclasses)

    def read_facts(self, row: TieredRow) -> AnswerFacts:
        """The facts on the answer of a row; the answer is linked as for a ladder, unless the row names its entity."""
        graph = self.graph
        asked = relation(row.relation) if row.relation else ANY
        ids = {tier.text: tier.qid for tier in row.levels[0].tiers}
        question = QARow(
            id=row.id, question=row.question, answers=row.answers, answer_qids=tuple(map(ids.get, row.answers)),
            relation=row.relation, subject_text=self.name_of_question_entity(row),
            subject_qid=(row.question_entity or {}).get("qid"), extra=row.extra,
        )  # fmt: skip
        whole = self.maker.make_with_notes(question)
        our_row = whole.row
        # The entities that the row gives for its answer, else those to which the answer was linked.
        answers = tuple(tier.qid for tier in row.levels[0].tiers if tier.qid)
        answers = answers or tuple(dict.fromkeys(str(link["qid"]) for link in our_row.links if link.get("qid")))
        qids = tuple(i for i in answers if graph.entity(i) is not None)
        given_description = row.extra.get("answer_entity_description")
        description = (
            given_description
            if isinstance(given_description, str)
            else " ".join(graph.description(i) or "" for i in qids[:1])
        )
        containers = [t.qid for level in our_row.levels[1:] for t in level.tiers if t.qid]
        above = self.start_entities_and_all_above([*qids, *containers], excluded_ids=qids)
        kinds = frozenset().union(*map(self.maker.classes, qids))
        # Citizenship of a person, origin of a work, location of a place.
        nations = frozenset(i for one in qids for prop in NATIONALITY for i in graph.targets(one, prop))
        names = chain(row.answers, (t.text for t in row.levels[0].tiers), *map(graph.names, qids))
        classed = asked.asks in CLASSES or not CLASSES.isdisjoint(kinds)
        return AnswerFacts(
            row=row, asked=asked, answers=answers, names=tuple(dict.fromkeys(names)), gold=row.answers[0],
            description=description, above=above, kinds=kinds, nations=nations,
            words=self._words_describing_answer(our_row, qids, description, above, nations),
            certain=self._is_answer_entity_certain(row, our_row, qids, above),
            person=not kinds.isdisjoint(_PERSONS) or (not kinds and asked.asks in PEOPLE),
            place=not PLACES.isdisjoint(kinds) or asked.asks in PLACES,
            # Some files add a full stop at the end of an answer.
            gold_level=Level(tiers=tuple(Tier(text=a, aliases=tuple({a.rstrip(". ")} - {a, ""})) for a in row.answers)),
            above_classes=frozenset().union(*map(self.classes_above, qids)) if classed else frozenset(),
            subject=(our_row.question_entity or {}).get("qid"), nothing_new=whole.says_nothing_new,
            doubted=whole.doubted,
        )  # fmt: skip

    def _is_answer_entity_certain(
        self, row: TieredRow, our_row: TieredRow, qids: Sequence[str], above: EntitiesAbove
    ) -> bool:
        """Whether the entity of the answer was given, or linked by more than its name, or is a state or division.

        Also where the question names a state or division that contains the entity.
        """
        if any(tier.qid for tier in row.levels[0].tiers):
            return True
        if any(link.get("rule") in DECIDED and link.get("confidence") in ("given", "high") for link in our_row.links):
            return True
        if any(self.is_present_state(i) or self.is_present_first_division(i) for i in qids):
            return True
        asked = singular_words(row.question)
        return any(occurs_in(singular_words(self.graph.label(i) or ""), asked) for i in above.states | above.divisions)

    def _words_describing_answer(
        self, our_row: TieredRow, qids: Sequence[str], description: str, above: EntitiesAbove, nations: frozenset[str]
    ) -> frozenset[str]:
        """The words that describe the answer: from its description, its classes, its ladder and its containers."""
        words = content_words(description) | self.name_words([c for i in qids for c in self.kinds(i)])
        words |= {w for name in above.names for w in content_words(name)}
        words |= {w for level in our_row.levels[1:] for tier in level.tiers for w in content_words(tier.text)}
        words |= {w for country in (*nations, *above.states) for w in self.demonym_words(country)}
        words |= {w for word in set(singular_words(description)) for w in self.words_implied_by_nationality(word)}
        return frozenset(words)

    def name_of_question_entity(self, row: TieredRow) -> str | None:
        """The name of the entity that the question is about, given or read from its wording."""
        name = (row.question_entity or {}).get("text")
        if name or not row.relation:
            return name or None
        return question_patterns().subject(without_final_mark(row.question), row.relation)

    def demonym_words(self, country: str) -> set[str]:
        """The content words of the demonyms of a country: "French"."""
        table = bundled_demonyms()
        return {
            w for d in (table.adjectives.get(country, ""), *table.variants.get(country, ())) for w in content_words(d)
        }

    def words_implied_by_nationality(self, word: str) -> set[str]:
        """The words for the country of a nationality and for what contains it: "English" implies "British"."""
        countries = bundled_demonyms().countries.get(word, ())
        wholes = [t for c in countries[:1] for t in self.graph.targets(c, "P131")]
        return {w for c in (*countries[:1], *wholes) for w in self.demonym_words(c) | self.name_words([c])}

    def has_name(self, qid: str, key: str) -> bool:
        """Whether the bare text `key` is a name of the entity, in singular or plural."""
        words = singular_words(key)
        return any(without_article(n) == key or singular_words(n) == words for n in self.graph.names(qid))

    # Everything above an entity, each read once.

    def start_entities_and_all_above(
        self, start_ids: Iterable[str], *, excluded_ids: Iterable[str] = ()
    ) -> EntitiesAbove:
        """Everything above several entities together, including these entities except those in `excluded_ids`."""
        out = set(excluded_ids)
        layer = list(dict.fromkeys(start_ids))
        seen: dict[str, None] = dict.fromkeys(layer)
        self.graph.fetch(layer)
        starts = [qid for qid in layer if not self._is_continent(qid)]
        around = dict.fromkeys(i for qid in starts for prop in LOOSE for i in self.graph.targets(qid, prop))
        # An organisation is no region: its parts lie where it lies.
        kinds = {i: self._gazetteer.classes(i) for i in around}
        loose = {i: None for i in around if not kinds[i] or not PLACES.isdisjoint(kinds[i])}
        names: set[str] = set()
        for depth in range(DEPTH):
            self.graph.fetch(layer)
            upward = [i for qid in layer for i in self._step_up_adding_names(qid, names, is_first_step=depth == 0)]
            layer = [i for i in dict.fromkeys(upward) if i not in seen and i not in loose and self.graph.entity(i)]
            if not layer:
                break
            seen.update(dict.fromkeys(layer))
        strict = [i for i in seen if i not in out]
        ids = (*strict, *(i for i in loose if i not in out and i not in seen))
        names.update(without_article(name) for i in ids for name in self.graph.names(i))
        return EntitiesAbove(
            ids=ids,
            names=frozenset(names),
            states=frozenset(filter(self.is_present_state, strict)),
            divisions=frozenset(filter(self.is_present_first_division, strict)),
            continents=frozenset(filter(self._is_continent, ids)),
        )

    def _step_up_adding_names(self, qid: str, names: set[str], *, is_first_step: bool) -> list[str]:
        """The entities one step above, by statements and description; names in the description are added to `names`."""
        if self._is_continent(qid):
            return []
        # Above a state only its continent: unions and alliances do not contain it.
        if not is_first_step and self.is_present_state(qid):
            return list(self.graph.targets(qid, "P30"))
        upward = [i for prop in (FIRST_STEP if is_first_step else FURTHER_STEPS) for i in self.graph.targets(qid, prop)]
        # A part of the world may span several states.
        spans_states = WORLD.search(self.graph.label(qid) or "") or len(self.graph.targets(qid, "P17")) > 1
        if is_first_step or not spans_states:
            described = [place for step in self._gazetteer.description_chain(qid) for place in step]
            names.update(without_article(text) for place in described for text in (place.text, place.written) if text)
            upward += [place.qid for place in described if place.qid]
        return upward

    def _is_continent(self, qid: str) -> bool:
        return CONTINENT in self.graph.classes(qid)

    def is_present_state(self, qid: str) -> bool:
        """Whether the entity is a sovereign state that exists today."""
        return not STATE.isdisjoint(self.graph.classes(qid)) and not self.graph.is_historical(qid)

    def is_present_first_division(self, qid: str) -> bool:
        """Whether the entity is a first-level division that exists today, such as a federal state or a province."""
        return self.graph.is_instance(qid, FIRST_DIVISION) and not self.graph.is_historical(qid)

    def _read_superclasses(self, entity_id: str) -> frozenset[str]:
        """All superclasses of a class: by its P31, P279 and P171, then by P279 and P171, up to DEPTH steps."""
        own = (t for prop in ("P279", "P31", "P171") for t in self.graph.targets(entity_id, prop))
        return frozenset(self.classes_and_superclasses(own, ("P279", "P171"), steps=DEPTH)) - {entity_id}

    def classes_and_superclasses(
        self, classes: Iterable[str], properties: Sequence[str] = ("P279",), *, steps: int = CLASS_STEPS
    ) -> tuple[str, ...]:
        """The classes and their superclasses up to `steps` steps."""
        layer = list(dict.fromkeys(classes))
        seen: dict[str, None] = dict.fromkeys(layer)
        for _ in range(steps):
            self.graph.fetch(layer)
            layer = [t for c in layer for p in properties for t in self.graph.targets(c, p) if t not in seen]
            seen.update(dict.fromkeys(layer))
        return tuple(seen)

    def name_words(self, ids: Iterable[str]) -> set[str]:
        """The content words of all names of the entities."""
        return {word for i in ids for name in self.graph.names(i) for word in content_words(name)}
