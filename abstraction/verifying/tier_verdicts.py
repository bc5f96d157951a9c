"""Verdicts on tiers that are plain text: entailed by the answer, another name of it, wrong, ...

For files by others and for tiers that a language model phrased. The answer is linked as for a ladder; each tier is
compared with the neighbourhood of the answer and with the tiers before it. Where the graph lacks the data, the verdict
is `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import product

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow
from abstraction.linking.gazetteer import CAPITAL, PLACES, WORLD
from abstraction.maker.pipeline import LadderMaker
from abstraction.text.language.languages import bundled_demonyms
from abstraction.text.language.phrases import (
    FUNCTION,
    content_words,
    denies_location_before,
    occurs_in,
    proper_names_and_their_parts,
    singular_words,
    without_article,
    word_list,
)
from abstraction.verifying.answer_facts import CONTINENT, AnswerFacts, AnswerFactsReader
from abstraction.verifying.entailment import AnswerValues, broader_offices_by_title, is_value
from abstraction.verifying.verdicts import (
    A_PERSON,
    ANOTHER_ANSWER,
    GENERIC,
    LEAKS,
    MEMBER,
    NOT_ALL,
    NOTHING_NEW,
    RowVerdict,
    TierVerdict,
    VerdictKind,
)
from kg.base.model import normalise
from kg.store.protocol import Store


class PlacementJudge:
    """Judges tiers that are names, by containment and classes in the snapshot.

    Names of the same level as the answer cannot be coarser tiers: another answer, a member, an entity of its kind.
    """

    def __init__(self, facts_reader: AnswerFactsReader) -> None:
        self.facts_reader, self.maker, self.graph = facts_reader, facts_reader.maker, facts_reader.graph

    def entities_above_answer_named_by(self, facts: AnswerFacts, tier: Tier) -> frozenset[str]:
        """The entities above the answer that the tier names, or "text:NAME" where only a description names it."""
        key = without_article(tier.text)
        if tier.qid is not None:
            known = tier.qid in facts.above.ids or tier.qid in facts.above_classes
            return frozenset({tier.qid}) if known else frozenset()
        ids = {i for i in facts.above.ids if key in {without_article(n) for n in self.graph.names(i)}}
        if ids or key in facts.above.names or self._is_place_in_description(facts, tier.text):
            return frozenset(ids or {f"text:{key}"})
        return frozenset(c for c in facts.above_classes if self.facts_reader.has_name(c, key))

    def _is_place_in_description(self, facts: AnswerFacts, text: str) -> bool:
        """Whether the answer's description names the text as a place or owner of the answer: "in X", ", X", "of X"."""
        if not text[:1].isupper() or facts.person:
            return False
        for match in re.finditer(re.escape(text), facts.description):
            before, after = facts.description[: match.start()], facts.description[match.end() :]
            opened = re.search(r"(?:\b(?:in|of|within|by|at|on|the)\s+|,\s*|\band\s+)$", before)
            closed = re.match(r"$|[,;.)]|\s+(?:and|in|of|on)\b|\s*\(", after)
            if opened and closed and not denies_location_before(facts.description, match.start()):
                return True
        return False

    def order_verdict(self, facts: AnswerFacts, meant: frozenset[str]) -> tuple[VerdictKind, str]:
        """The verdict on entities above the answer, compared with the good tiers before this one."""
        before = [ids for _, ids in facts.last_good if ids and not _is_known_from_text_only(ids)]
        if len(facts.answers) > 1:  # only names under a shared answer
            over = [above for a in facts.answers if meant & (above := self._ids_above(facts, a))]
            before = [ids for ids in before if any(ids & above for above in over)]
        # A name from a description has no place in the graph to compare.
        if not before or _is_known_from_text_only(meant):
            return VerdictKind.ENTAILED, "lies above the answer"
        finer = [i for ids in before for i in ids]
        if not meant.isdisjoint(finer):
            return VerdictKind.DUPLICATE, "another name of a finer tier"
        if any(meant & self._ids_above(facts, i) for i in finer):
            return VerdictKind.ENTAILED, "lies above the tier before it"
        if all(any(ids & self._ids_above(facts, m) for m in meant) for ids in before):
            return VerdictKind.FINER_THAN_PREVIOUS, "lies within the tier before it"
        label = self.graph.label
        pairs = list(product(finer, meant))
        if any(content_words(label(m) or "-") < content_words(label(i) or "") for i, m in pairs):
            return VerdictKind.ENTAILED, "its name is in the name of the tier before it"  # Western Europe, Europe
        shared = (c for i, m in pairs for c in sorted({*self.graph.classes(i)} & {*self.graph.classes(m)}))
        if facts.certain and (kind := next(filter(None, map(label, shared)), None)):
            return VerdictKind.SIBLING, f"a {kind} like the tier before it"
        return VerdictKind.ENTAILED, "lies above the answer"

    def _ids_above(self, facts: AnswerFacts, qid: str) -> frozenset[str]:
        above = frozenset(self.facts_reader.above(qid).ids)
        return above | self.facts_reader.classes_above(qid) if facts.above_classes else above

    def location_conflict(self, facts: AnswerFacts, ids: Sequence[str]) -> str | None:
        """Why no place of that name can contain the answer: another state, or another division; None where one can."""
        if not facts.place or not facts.answers:
            return None
        places = [i for i in ids if not PLACES.isdisjoint(self.maker.classes(i)) and not self.graph.is_historical(i)]
        reasons = [reason for i in places if (reason := self._reason_place_excludes_answer(facts, i)) is not None]
        return reasons[0] if places and len(reasons) == len(places) else None

    def _reason_place_excludes_answer(self, facts: AnswerFacts, place: str) -> str | None:
        """The reason why a place cannot contain the answer, or None."""
        above = facts.above
        label = self.graph.label(place) or ""
        is_continent = CONTINENT in self.graph.classes(place)
        if WORLD.search(label) and not is_continent:
            return None  # the Caribbean spans states: no conflict can be shown
        if self.facts_reader.is_present_state(place):
            return self._text_where_answer_lies(above.states)
        if label and is_continent:
            return self._text_where_answer_lies(above.continents)
        around = self.facts_reader.above(place)
        if around.states and above.states and around.states.isdisjoint(above.states):
            # A chain that ends in the right state means another place, which the snapshot lacks.
            texts = {without_article(tier.text) for level in facts.row.levels[1:] for tier in level.tiers}
            if any(self.facts_reader.has_name(state, text) for state in above.states for text in texts):
                return None
            return f"{label} lies in {self._labels_of(around.states)}"
        divisions = {place} if self.facts_reader.is_present_first_division(place) else around.divisions
        if divisions.isdisjoint(above.divisions):
            # Only divisions of one class exclude each other: a county may lie in a region.
            classes = {c for d in divisions for c in self.graph.classes(d)}
            if any(not classes.isdisjoint(self.graph.classes(d)) for d in above.divisions):
                return self._text_where_answer_lies(above.divisions)
        return None

    def _text_where_answer_lies(self, places: Collection[str]) -> str | None:
        return f"the answer lies in {self._labels_of(places)}" if places else None

    def _labels_of(self, places: Iterable[str]) -> str:
        return " and ".join(sorted(filter(None, map(self.graph.label, places))))

    def reason_as_sibling_of_answer(self, facts: AnswerFacts, ids: Sequence[str]) -> str | None:
        """The reason why a name is a sibling of the answer: another answer to the question, a member of a group that
        is the answer, or a person where the answer is none; None otherwise.
        """
        others = set(self.graph.targets(facts.subject, facts.asked.id)) if facts.subject else set()
        if others & set(ids) - set(facts.answers):
            return ANOTHER_ANSWER
        members = {t for a in facts.answers for p in ("P527", "P463") for t in self.graph.targets(a, p)}
        members |= {i for i in ids if set(self.graph.targets(i, "P463")) & set(facts.answers)}
        if members & set(ids):
            return MEMBER
        persons = bool(ids) and all("person" in self.maker.classes(i) for i in ids)
        return A_PERSON if persons and facts.kinds and not facts.person and not facts.place else None

    def is_entity_of_answer_kind(self, facts: AnswerFacts, ids: Sequence[str]) -> bool:
        """Whether the text names an entity of the answer's own kind, unrelated to it."""
        if facts.place or not facts.kinds:
            return False
        kinds = set().union(*(self.maker.classes(i) for i in ids)) if ids else set()
        # "organisation" is too wide a kind: a club and a company differ.
        telling_kinds = facts.kinds - {"organisation"} or facts.kinds
        return bool(kinds & telling_kinds) and not kinds & PLACES

    def namesake_in_wrong_places(self, facts: AnswerFacts, tiers: Sequence[TierVerdict]) -> str | None:
        """The id of the namesake of the answer that lies in the contradicted places of a chain; see RowVerdict."""
        wrong = [without_article(t.text) for t in tiers if t.verdict is VerdictKind.CONTRADICTED] + facts.suspect_names
        if not facts.place or not wrong:
            return None
        others = (m.id for m in self.graph.find(facts.gold) if m.id not in facts.answers)
        places = (i for i in others if not PLACES.isdisjoint(self.maker.classes(i)))
        return next((i for i in places if self.facts_reader.above(i).names.issuperset(wrong)), "")


def _is_known_from_text_only(ids: Iterable[str]) -> bool:
    """Whether a name is known from words of a description only."""
    return any(i.startswith("text:") for i in ids)


_AFTER_NOUN = re.compile(r"\s(?:in|of|from|by|who|that|which)\s")
LONGEST_NAME = 20  # most words of a name at the end of a phrase
KIND_PROPERTIES = frozenset({"P106", "P31", "P136", "P641", "P452"})  # occupation, instance of, genre, sport, industry
ANOTHER = "the name of another entity"
# Names of the answer: is a text another one, an invented one, or the name of someone else?
LEGAL = word_list("legal_forms")  # also kinds of clubs: names are given with and without
SUFFIXES = word_list("name_suffixes")  # they distinguish people of one name, so that an added one names another person
_PARTICLES = word_list("person_particles")  # two people may share them by chance
_AND = re.compile(r"\s(?:and|&|feat\.?|featuring|with)\s")


class NameRelation(StrEnum):
    """How a text relates to the names of the answer."""

    ALIAS = "alias"
    INVENTED = "invented"  # the name with an addition without any source
    OTHER = "other"  # shares a part of the name, but names another entity
    MORE = "more"  # the text names the answer and something else
    NONE = "none"


def compare_names(text: str, names: Sequence[str], *, person: bool, attested: Collection[str] = ()) -> NameRelation:
    """How `text` relates to `names`; `attested` are further words that sources use of the answer (description, places,
    years).

    For a person, given name or initial with family name is an alias, and so is the whole name with further words after
    it. For all others, further words must be attested, numbers, or legal forms such as "Ltd".
    """
    words = _plain_words(re.sub(r"\([^()]*\)", " ", text))
    attested_words = {w.rstrip(".") for w in attested}
    for name in names:
        theirs = _plain_words(name)
        if theirs and occurs_in(theirs, words):
            before, _, behind = f" {' '.join(words)} ".partition(f" {' '.join(theirs)} ")
            added = [w for w in (*before.split(), *behind.split()) if w not in FUNCTION]
            tail = normalise(text).partition(normalise(name))[2]
            if _AND.search(f" {tail} ") and not set(added) <= attested_words:
                return NameRelation.MORE
            if any(w in SUFFIXES and w not in attested_words for w in added):
                return NameRelation.INVENTED
            if person or all(w in LEGAL or w in attested_words or w.isdigit() for w in added):
                return NameRelation.ALIAS
    if person:
        return _compare_person_name(text, words, names)
    return NameRelation.NONE


def _compare_person_name(text: str, words: list[str], names: Sequence[str]) -> NameRelation:
    if text[:1].islower() or re.match(r"(?:an?|the)\s", text, re.I):
        return NameRelation.NONE
    called = [_plain_words(name) for name in names]
    every = frozenset().union(*called)
    for theirs in called:
        if len(theirs) > 1 and theirs[0] in words and theirs[-1] in words:
            return NameRelation.ALIAS if SUFFIXES.isdisjoint(set(words) - every) else NameRelation.INVENTED
        # Each word is a word of the name, or the initial of one.
        parts = {*theirs, *(part[0] for part in theirs)}
        if words and parts.issuperset(words):
            return NameRelation.ALIAS
    shared = every.intersection(words) - _PARTICLES
    parts_of_text = [p for p in re.split(r"[\s,]+", text) if p]
    # Longer texts are titles or phrases.
    is_name = len(parts_of_text) <= 8 and all(p[:1].isupper() or p.casefold() in _PARTICLES for p in parts_of_text)
    return NameRelation.OTHER if shared and is_name else NameRelation.NONE


def _plain_words(text: str) -> list[str]:
    """The words of a text, without the full stop after an abbreviation."""
    return [w.rstrip(".") for w in singular_words(text)]


MOST_ANSWERS = 40  # most answers of a row that are judged singly; more are judged together
_ReasonedVerdict = tuple[VerdictKind, str, frozenset[str]]  # the verdict, its reason, the entities named
_TRUE = (VerdictKind.ENTAILED, VerdictKind.UNINFORMATIVE)  # verdicts on tiers that are true of the answer
_NOTHING: frozenset[str] = frozenset()
_PHRASE = re.compile(r"(?:an?|A) |the [a-z]")


class Judge:
    """Judges rows against one snapshot; the same row always gets the same verdicts."""

    def __init__(self, store: Store, *, language: str = "en") -> None:
        self.maker = LadderMaker(store, language=language)
        self.graph = self.maker.graph
        self.facts_reader = AnswerFactsReader(self.maker)
        self.placement = PlacementJudge(self.facts_reader)

    def judge(self, row: TieredRow) -> RowVerdict:
        """The verdicts on every tier beyond level 1, in the order of the row."""
        if len(row.levels) == 1:
            ids = [tier.qid for tier in row.levels[0].tiers if tier.qid]
            kinds = self.maker.classes(ids[0]) if ids else ()
            return RowVerdict(row=row.id, answer=ids[0] if ids else None, classes=tuple(sorted(kinds)), tiers=())
        by_answer = [self._judge_part_of_row(of_answer, row) for of_answer in _split_by_answer(row)]
        if len(by_answer) == 1:
            return by_answer[0]
        tiers = [tier for level in row.levels[1:] for tier in level.tiers]
        by_tier = zip(tiers, *(verdict.tiers for verdict in by_answer), strict=True)
        return RowVerdict(
            row=row.id,
            answer=next((verdict.answer for verdict in by_answer if verdict.answer), None),
            classes=tuple(sorted({kind for verdict in by_answer for kind in verdict.classes})),
            tiers=tuple(_combine_verdicts_of_answers(tier, verdicts, row) for tier, *verdicts in by_tier),
            certain=all(verdict.certain for verdict in by_answer),
        )

    def _judge_part_of_row(self, row: TieredRow, whole: TieredRow) -> RowVerdict:
        """The verdicts for the answers of `row`, which are all or some of those of `whole`."""
        facts = self.facts_reader.read_facts(row)
        seen: dict[str, str] = {without_article(tier.text): "level 1" for tier in whole.levels[0].tiers}
        out: list[TierVerdict] = []
        for number, level in enumerate(row.levels[1:], 2):
            opinions: list[tuple[Tier, _ReasonedVerdict]] = []
            for position, tier in enumerate(level.tiers, 1):
                key = without_article(tier.text)
                if key in seen:
                    opinion: _ReasonedVerdict = VerdictKind.DUPLICATE, f"is at {seen[key]} already", _NOTHING
                else:
                    opinion = self._tier_verdict(facts, tier)
                    seen[key] = f"level {number}"
                    named = (*opinion[2], normalise(tier.text), tier.qid or "?")
                    if opinion[0] is VerdictKind.ENTAILED and not facts.nothing_new.isdisjoint(named):
                        opinion = VerdictKind.UNINFORMATIVE, NOTHING_NEW, opinion[2]
                opinions.append((tier, opinion))
                verdict, why, meant = opinion
                tier_verdict = TierVerdict(
                    row=row.id, level=number, position=position, text=tier.text, verdict=verdict, why=why,
                    entities=tuple(sorted(i for i in meant if not i.startswith("text:"))),
                )  # fmt: skip
                out.append(tier_verdict)
                facts.last_named_another = (
                    tier_verdict.is_sibling_of_answer
                    or why == ANOTHER
                    or (facts.last_named_another and verdict is VerdictKind.CONTRADICTED)
                )
            good = [(tier, meant) for tier, (verdict, _, meant) in opinions if verdict is VerdictKind.ENTAILED]
            facts.last_good = good or facts.last_good
            facts.good_tiers += [tier for tier, _ in good]
            facts.true_tiers += [tier for tier, (verdict, *_) in opinions if verdict in _TRUE]
        return RowVerdict(
            row=row.id,
            answer=facts.answers[0] if facts.answers else None,
            classes=tuple(sorted(facts.kinds)),
            tiers=tuple(out),
            namesake=self.placement.namesake_in_wrong_places(facts, out),
            certain=facts.certain,
        )

    def _tier_verdict(self, facts: AnswerFacts, tier: Tier) -> _ReasonedVerdict:
        """The verdict on a tier: as a value, a name of the answer or above it, else by the entities of its name."""
        golds = facts.gold_level.tiers
        open_value = not facts.asked.id and is_value(tier.text) and any(is_value(gold.text) for gold in golds)
        if facts.asked.asks in ("date", "quantity") or open_value:
            return (*self._value_verdict(facts, tier), _NOTHING)
        meant = self.placement.entities_above_answer_named_by(facts, tier)
        if (by_own_name := self._verdict_as_answer_name(facts, tier, meant)) is not None:
            return (*by_own_name, _NOTHING)
        if meant:
            verdict, why = self.placement.order_verdict(facts, meant)
            if verdict is VerdictKind.ENTAILED and meant <= facts.doubted and not tier.evidence:
                verdict, why = VerdictKind.SIBLING, NOT_ALL
            if verdict is VerdictKind.ENTAILED and facts.asked.id == CAPITAL:
                verdict, why = VerdictKind.CONTRADICTED, "a place around the capital is not the capital"
            return verdict, why, meant
        how = NameRelation.NONE
        if not _PHRASE.match(tier.text):
            attested = self._words_allowed_after_name(facts, tier.text)
            how = compare_names(tier.text, facts.names, person=facts.person, attested=attested)
        if how is NameRelation.MORE:
            return VerdictKind.NOT_COARSER_THAN_ANSWER, "the answer and something else", _NOTHING
        return (*self._verdict_by_entities(facts, tier, how), _NOTHING)

    def _verdict_as_answer_name(
        self, facts: AnswerFacts, tier: Tier, meant: frozenset[str]
    ) -> tuple[VerdictKind, str] | None:
        """The verdict on a tier that names the answer itself, or says no more than the question; None for others."""
        key = without_article(tier.text)
        if key == without_article(facts.gold):
            return VerdictKind.NOT_COARSER_THAN_ANSWER, "is the answer itself"
        if tier.qid is not None and tier.qid in facts.answers:
            return VerdictKind.ALIAS, f"is {tier.qid}, the answer"
        if key in {without_article(n) for n in facts.names} and not meant:
            return VerdictKind.ALIAS, "is a name of the answer"
        if key in facts.asked.trivial or key in GENERIC:
            return VerdictKind.UNINFORMATIVE, "says no more than the question asks for"
        within = bool(meant) and all(not PLACES.isdisjoint(self.maker.classes(i)) for i in meant)
        subject = without_article(self.facts_reader.name_of_question_entity(facts.row) or "")
        if self._repeats_question(facts, tier.text) and not (within and key != subject):
            return VerdictKind.UNINFORMATIVE, LEAKS
        return None

    def _verdict_by_entities(self, facts: AnswerFacts, tier: Tier, relation: NameRelation) -> tuple[VerdictKind, str]:
        """The verdict by the entities with the name of the tier, or as a phrase where it is no name."""
        ids = [tier.qid] if tier.qid else [m.id for m in self.graph.find(tier.text) if m.id.startswith("Q")]
        self.graph.fetch(ids)
        # Where the answer is a place, only places are meant: the region Lazio, not the club.
        ids = [i for i in ids if not facts.place or not PLACES.isdisjoint(self.maker.classes(i))]
        if beside := self.placement.reason_as_sibling_of_answer(facts, ids):
            return VerdictKind.SIBLING, beside
        if any(a in self.facts_reader.above(i).ids for i in ids for a in facts.answers):
            return VerdictKind.NOT_COARSER_THAN_ANSWER, "lies within the answer"
        if relation is NameRelation.INVENTED:
            return VerdictKind.CONTRADICTED, "the answer's name with an addition that no source has"
        if relation is NameRelation.ALIAS and (facts.person or not ids):
            return VerdictKind.ALIAS, "another way to write the answer's name"
        if self._is_phrase(tier.text, ids):
            return self._phrase_verdict(facts, tier)
        # A name: by the location of its entities, and whether it is the name of another.
        if wrong := self.placement.location_conflict(facts, ids):
            if facts.certain:
                return VerdictKind.CONTRADICTED, wrong
            facts.suspect_names.append(without_article(tier.text))
            return VerdictKind.UNKNOWN, f"{wrong}, if {facts.answers[0]} is meant"
        if relation is NameRelation.OTHER or self.placement.is_entity_of_answer_kind(facts, ids):
            return VerdictKind.CONTRADICTED, ANOTHER
        if relation is NameRelation.ALIAS:
            return VerdictKind.ALIAS, "another way to write the answer's name"
        if facts.last_named_another and not facts.place and not tier.evidence:
            return VerdictKind.CONTRADICTED, "follows a tier that names another entity"
        return VerdictKind.UNKNOWN, "the snapshot has no data on it"

    def _repeats_question(self, facts: AnswerFacts, text: str) -> bool:
        """Whether the text describes the answer by the entity of the question, or has no word beyond the question."""
        subject = self.facts_reader.name_of_question_entity(facts.row)
        if subject and occurs_in(singular_words(subject), singular_words(text)) and not facts.place:
            return singular_words(subject) != singular_words(facts.gold) and not occurs_in(
                singular_words(facts.gold), singular_words(text)
            )
        words = content_words(text)
        return bool(words) and words <= content_words(facts.row.question) and not facts.place

    def _words_allowed_after_name(self, facts: AnswerFacts, text: str) -> set[str]:
        """Words that may follow the answer's name: those of its description and of its containers, and places after
        commas.
        """
        parts = [part.strip() for part in text.split(",")[1:]]
        places = [part for part in parts if self.maker.gazetteer.ids_of_places_named(part)]
        if not facts.place and places and places[-1] == parts[-1]:
            places = parts  # an address: the parts before its last place are places as well
        sources = (facts.description, *facts.above.names, *places)
        return {word for source in sources for word in singular_words(source)}

    def _value_verdict(self, facts: AnswerFacts, tier: Tier) -> tuple[VerdictKind, str]:
        contains, wrong = AnswerValues(facts.gold_level).check_containment(tier)
        if wrong:
            return VerdictKind.CONTRADICTED, wrong
        if not contains:
            return VerdictKind.UNKNOWN, "this wording of a value cannot be read"
        before = [finer for finer, _ in facts.last_good]
        alone = Tier(text=tier.text)
        if not before or any(not AnswerValues(Level(tiers=(finer,))).check_containment(alone)[1] for finer in before):
            return VerdictKind.ENTAILED, "contains the answer"
        values = AnswerValues(Level(tiers=(tier,)))
        if any(values.check_containment(Tier(text=finer.text))[0] for finer in before):
            return VerdictKind.FINER_THAN_PREVIOUS, "lies within the tier before it"
        return VerdictKind.SIBLING, "overlaps the tier before it"

    # Phrases such as "a British sculptor", word by word.

    def _is_phrase(self, text: str, ids: Sequence[str]) -> bool:
        """Whether the text is a phrase rather than a name; `ids` are entities with that name."""
        first = normalise(text).split(" ")[0]
        if first in ("a", "an") or text[:1].islower() or (first == "the" and text.split()[1:2] and text[4:5].islower()):
            return True
        further = text.split()[1:]
        national = not bundled_demonyms().countries.keys().isdisjoint((first, first.split("-")[0]))
        return not ids and (national or (bool(further) and all(w[:1].islower() for w in further)))

    def _phrase_verdict(self, facts: AnswerFacts, tier: Tier) -> tuple[VerdictKind, str]:
        """The verdict on a phrase and its reason."""
        words = content_words(tier.text)
        # Words that no source says of the answer, neither whole nor by their hyphenated parts.
        known = facts.words | {"person", "man", "woman"} if facts.person else facts.words
        if missing := sorted(w for w in words if w not in known and not known.issuperset(w.split("-"))):
            countries = bundled_demonyms().countries
            nations = facts.nations | facts.above.states
            foreign = [w for w in missing if w in countries and nations and nations.isdisjoint(countries[w])]
            if foreign and facts.certain:
                why = f"no source calls the answer {foreign[0]}, and its country is known"
                return VerdictKind.CONTRADICTED, why
            return VerdictKind.UNKNOWN, f"no source says {', '.join(missing)} of the answer"
        true = [t for t in facts.true_tiers if self._is_phrase(t.text, ())]
        if any(words == content_words(t.text) for t in true):
            return VerdictKind.DUPLICATE, "says the same as a finer tier"
        # True of the answer: compared with the tiers before it.
        earlier = [t for t in facts.good_tiers if t in true]
        entailing = [
            t for t in facts.good_tiers if (t in earlier or t.qid) and words <= self._words_entailed_by_phrase(facts, t)
        ]
        if entailing:
            if not tier.evidence and all(self._are_separate_in_description(facts, tier, t) for t in entailing):
                return VerdictKind.SIBLING, "the description lists it next to the tier before it"
            return VerdictKind.ENTAILED, "follows from a tier before it"
        if true and content_words(true[-1].text) <= self._words_entailed_by_phrase(facts, tier):
            return VerdictKind.FINER_THAN_PREVIOUS, "says more than the tier before it"
        if not earlier:
            return VerdictKind.ENTAILED, "each word is said of the answer"
        return VerdictKind.SIBLING, "neither follows from the tier before it nor the reverse"

    def _are_separate_in_description(self, facts: AnswerFacts, tier: Tier, before: Tier) -> bool:
        """Whether the description lists the two tiers as different things: "comedian, actor and composer"."""
        items = [content_words(part) for part in re.split(r"[,;]|\band\b", facts.description)]

        def items_with_noun_of(text: str) -> set[int]:
            head = singular_words(_AFTER_NOUN.split(text)[0])[-1:]
            return {at for at, words in enumerate(items) if head and head[0] in words}

        if any(re.search(r",|\band\b", text) for text in (tier.text, before.text)):
            return False
        items_of_tier, items_before = items_with_noun_of(tier.text), items_with_noun_of(before.text)
        return bool(items_of_tier and items_before) and not items_of_tier & items_before

    def _ids_of_longest_name_at_end(self, words: Sequence[str]) -> list[str]:
        """The ids with the longest name at the end of `words`: two by label, else one by alias ("actress")."""
        for start in range(max(0, len(words) - LONGEST_NAME), len(words)):
            # The longest ending first: "football club" before "club".
            matches = [m for m in self.graph.find(" ".join(words[start:])) if m.id.startswith("Q")]
            if matches:
                return [m.id for m in matches if m.kind == "label"][:2] or [m.id for m in matches][:1]
        return []

    def _words_entailed_by_phrase(self, facts: AnswerFacts, tier: Tier) -> frozenset[str]:
        """The words that a phrase entails: its own, those of its noun's broader classes and of wider nationalities."""
        words = singular_words(tier.text)
        head = singular_words(_AFTER_NOUN.split(tier.text)[0])  # also "a baseball team" of "a baseball team in ..."
        kinds = [
            i
            for text in dict.fromkeys((words, head))
            for i in self.facts_reader.classes_and_superclasses(self._ids_of_longest_name_at_end(text))
        ]
        stated = [e.value for e in tier.evidence if e.value and e.property in KIND_PROPERTIES and e.value[:1] == "Q"]
        kinds += self.facts_reader.classes_and_superclasses(stated)
        out = content_words(tier.text) | self.facts_reader.name_words(kinds) | {"person"}
        text = f" {normalise(tier.text)} "
        lifts = [lift for title, lift in broader_offices_by_title().items() if f" {title} " in text]
        around, called = (*facts.above.ids, *sorted(facts.nations)), self.facts_reader.has_name
        names = map(without_article, proper_names_and_their_parts(tier.text))
        # The places of the answer that the phrase names, with everything above them: names and demonyms are entailed.
        places = [place for name in names for place in [i for i in around if called(i, name)][:3]]
        above = [self.facts_reader.above(place) for place in places]
        nations = {*places, *(state for each in above for state in each.states)}
        return out.union(
            *map(content_words, lifts),
            *map(self.facts_reader.words_implied_by_nationality, set(words)),
            *(content_words(name) for each in above for name in each.names),
            *map(self.facts_reader.demonym_words, nations),
        )


def _split_by_answer(row: TieredRow) -> list[TieredRow]:
    """One row per tier of level 1, with the gold answers that are its names.

    A gold answer that is no name of a tier of level 1 is on a coarser level, as it follows from another answer.
    """
    first = row.levels[0].tiers
    golds = [
        tuple(text for text in row.answers if normalise(text) in {normalise(name) for name in tier.names()})
        for tier in first
    ]
    if len(first) == 1 or len(first) > MOST_ANSWERS:
        return [replace(row, answers=tuple(text for names in golds for text in names) or row.answers)]
    return [
        replace(row, answers=texts or (tier.text,), levels=(Level(tiers=(tier,)), *row.levels[1:]))
        for tier, texts in zip(first, golds, strict=True)
    ]


def _combine_verdicts_of_answers(tier: Tier, verdicts: Sequence[TierVerdict], row: TieredRow) -> TierVerdict:
    """The verdict on one tier from its verdicts for several answers: "contradicted" if one of the answers in its `of`
    gives that; else the best verdict among those answers, or among all where `of` is empty.

    An answer without an entity is ignored for evidence that starts at another answer.
    """
    pairs = list(zip(verdicts, row.levels[0].tiers, strict=True))
    texts_of_answers = {normalise(text) for text in tier.of}
    of_its_answers = [
        verdict for verdict, first in pairs if not texts_of_answers.isdisjoint(map(normalise, first.names()))
    ]
    wrong = [verdict for verdict in of_its_answers if verdict.verdict is VerdictKind.CONTRADICTED]
    if wrong:
        return wrong[0]
    subjects = {e.subject for e in tier.evidence if e.subject}
    if not of_its_answers and any(first.qid in subjects for _, first in pairs):
        of_its_answers = [verdict for verdict, first in pairs if first.qid is not None]
    precedence = tuple(VerdictKind)
    return min(of_its_answers or verdicts, key=lambda verdict: precedence.index(verdict.verdict))
