"""All that is known of the answer of a row whose tiers are judged: its entity, and what stands above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from abstraction.language.comparable_words import all_words, bare, content, stands_in
from abstraction.language.demonyms import bundled_demonyms
from abstraction.linking.gazetteer import PLACES
from abstraction.pipeline import LadderMaker
from abstraction.questions.question_patterns import question_patterns
from abstraction.relations import ANY, Relation, relation
from abstraction.rows import QARow, TieredRow
from abstraction.tiers import Level, Tier
from abstraction.verifying.neighbourhood import Above, Neighbourhoods

# Links that the question's own entity or wording decided; any other may be to a namesake of what is meant.
DECIDED = frozenset({"given", "statement", "described", "place", "creator", "neighbours"})
PEOPLE = frozenset({"person", "performer", "agent"})
_PERSONS = frozenset({"person", "fictional"})
CLASSES = frozenset({"genre", "occupation", "language", "position"})


@dataclass(slots=True)
class AnswerFacts:
    """One answer. `certain` is False where a namesake of the linked entity may be meant.

    `words` are content words that description, classes and containers say of it. The last fields grow while its tiers
    are judged, finest first.
    """

    row: TieredRow
    asked: Relation
    answers: tuple[str, ...]
    names: tuple[str, ...]
    gold: str
    description: str
    above: Above
    kinds: frozenset[str]
    words: frozenset[str]
    nations: frozenset[str]
    certain: bool
    person: bool
    place: bool
    gold_level: Level
    subject: str | None
    nothing_new: frozenset[str] = frozenset()  # ids and names of tiers that the question tells or most answers share
    doubted: frozenset[str] = frozenset()  # ids of what statements lead to and what does not surely follow
    above_classes: frozenset[str] = frozenset()  # of a class-valued answer: a genre above a genre
    good: list[tuple[Tier, frozenset[str]]] = field(default_factory=list)  # of the last level that has any
    earlier: list[Tier] = field(default_factory=list)  # every good tier
    doubtful: list[str] = field(default_factory=list)  # would be wrong if the link is right
    astray: bool = False  # whether the last name was that of another
    true: list[Tier] = field(default_factory=list)  # good ones and those that merely say nothing new


class CaseReader:
    """Reads rows as cases, by one ladder maker and its snapshot."""

    def __init__(self, maker: LadderMaker) -> None:
        self.maker = maker
        self.graph = maker.graph
        self.near = Neighbourhoods(maker.graph, maker.gazetteer)

    def read(self, row: TieredRow) -> AnswerFacts:
        """The case of a row: its answer linked as for a ladder, unless the row names the entity."""
        graph = self.graph
        asked = relation(row.relation) if row.relation else ANY
        whole = self.maker.made(self._question(row))
        our_row = whole.row
        answers = _answers(row, our_row)
        known = tuple(i for i in answers if graph.entity(i) is not None)
        given_description = row.extra.get("answer_entity_description")
        description = (
            given_description
            if isinstance(given_description, str)
            else " ".join(graph.description(i) or "" for i in known[:1])
        )
        containers = [t.qid for level in our_row.levels[1:] for t in level.tiers if t.qid]
        above = self.near.above_all([*known, *containers], without=known)
        kinds = frozenset().union(*map(self.maker.classes, known))
        nations = frozenset().union(*map(self.near.nations, known))
        names = chain(row.answers, (t.text for t in row.levels[0].tiers), *map(graph.names, known))
        classed = asked.asks in CLASSES or not CLASSES.isdisjoint(kinds)
        return AnswerFacts(
            row=row, asked=asked, answers=answers, names=tuple(dict.fromkeys(names)), gold=row.answers[0],
            description=description, above=above, kinds=kinds, nations=nations,
            words=self._words(our_row, known, description, above, nations),
            certain=self._is_certain(row, our_row, known, above),
            person=not kinds.isdisjoint(_PERSONS) or (not kinds and asked.asks in PEOPLE),
            place=not PLACES.isdisjoint(kinds) or asked.asks in PLACES,
            gold_level=Level(tiers=tuple(Tier(text=a, aliases=_without_stop(a)) for a in row.answers)),
            above_classes=frozenset().union(*map(self.near.classes_above, known)) if classed else frozenset(),
            subject=(our_row.question_entity or {}).get("qid"), nothing_new=whole.says_nothing_new,
            doubted=whole.doubted,
        )  # fmt: skip

    def _question(self, row: TieredRow) -> QARow:
        """The row as a question, its answers linked as on level 1."""
        ids = {tier.text: tier.qid for tier in row.levels[0].tiers}
        return QARow(
            id=row.id, question=row.question, answers=row.answers, answer_qids=tuple(map(ids.get, row.answers)),
            relation=row.relation, subject_text=self.asked_about(row),
            subject_qid=(row.question_entity or {}).get("qid"), extra=row.extra,
        )  # fmt: skip

    def _is_certain(self, row: TieredRow, our_row: TieredRow, known: Sequence[str], above: Above) -> bool:
        """Whether the answer's entity was given or surely decided by more than its name, or is a state or division.

        Also where the question names a state or division that the entity lies in.
        """
        if any(tier.qid for tier in row.levels[0].tiers):
            return True
        if any(link.get("rule") in DECIDED and link.get("confidence") in ("given", "high") for link in our_row.links):
            return True
        if any(self.near.is_state(i) or self.near.is_division(i) for i in known):
            return True
        asked = all_words(row.question)
        return any(stands_in(all_words(self.graph.label(i) or ""), asked) for i in above.states | above.divisions)

    def _words(
        self, our_row: TieredRow, known: Sequence[str], description: str, above: Above, nations: frozenset[str]
    ) -> frozenset[str]:
        """The words that are said of the answer, by its description, its classes, its ladder and what holds it."""
        words = content(description) | self.near.words([c for i in known for c in self.near.kinds(i)])
        words |= {w for name in above.names for w in content(name)}
        words |= {w for level in our_row.levels[1:] for tier in level.tiers for w in content(tier.text)}
        words |= {w for country in (*nations, *above.states) for w in self.demonyms(country)}
        words |= {w for word in set(all_words(description)) for w in self.nation_names(word)}
        return frozenset(words)

    def asked_about(self, row: TieredRow) -> str | None:
        """The name of what the question is about, given or read from its wording."""
        name = (row.question_entity or {}).get("text")
        return name or (question_patterns().subject(row.question, row.relation) if row.relation else None)

    def demonyms(self, country: str) -> set[str]:
        """The words of a country's adjectives."""
        table = bundled_demonyms()
        return {w for d in (table.adjectives.get(country, ""), *table.variants.get(country, ())) for w in content(d)}

    def nation_names(self, word: str) -> set[str]:
        """ "American" in a description says "United States" as well, "English" British."""
        countries = bundled_demonyms().countries.get(word, ())
        wholes = [t for c in countries[:1] for t in self.graph.targets(c, "P131")]
        return {w for c in (*countries[:1], *wholes) for w in self.demonyms(c) | self.near.words([c])}

    def is_called(self, qid: str, key: str) -> bool:
        """Whether the bare text `key` is a name of the entity, plurals aside."""
        words = all_words(key)
        return any(bare(n) == key or all_words(n) == words for n in self.graph.names(qid))


def _answers(row: TieredRow, our_row: TieredRow) -> tuple[str, ...]:
    """The entities that the row gives for its answer, else those that the answer was linked to."""
    ids_of_row = tuple(tier.qid for tier in row.levels[0].tiers if tier.qid)
    return ids_of_row or tuple(dict.fromkeys(str(link["qid"]) for link in our_row.links if link.get("qid")))


def _without_stop(text: str) -> tuple[str, ...]:
    """The text without the full stop that some files put behind their answers."""
    bare = text.rstrip(". ")
    return (bare,) if bare and bare != text else ()
