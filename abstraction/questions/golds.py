"""Gold answers: whether they fit what is asked, and how several stand to each other: names of one thing, one that
entails another, or alternatives.

Names of one thing share its place on level 1. Of an answer that follows from another ("1972" beside "14 December 1972")
nothing is left on level 1: the other's ladder has it. Alternatives ("Chicago" or "Rock Island") stay side by side on
level 1; what follows from some of them alone says which they are (`Tier.of`), and is left out where it follows from
fewer than half of those that have a ladder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from abstraction.assembly.filters import content_words, without_article, words
from abstraction.assembly.levels import paths, union
from abstraction.descriptions.attested_words import common_occupations
from abstraction.evidence import completed
from abstraction.ladders.quantities import read_amount
from abstraction.language.amount_reader import parse_quantity
from abstraction.language.date_reader import parse_date
from abstraction.language.demonyms import bundled_demonyms
from abstraction.language.languages import language
from abstraction.questions.question_kinds import AskedKind, QuestionKind, yes_no_words
from abstraction.relations import trivial_phrases
from abstraction.tiers import Abstention, Ladder, Level, Tier
from kg.terms import normalise
from kg.walks.graph import Graph

# Whether what a question asks for and a gold answer hold together.
#
# A number answers "how many", not "which episode"; a town answers "where", not "how deep". Where they do not hold
# together, the question was misread or the answer is no thing that has a ladder, and the row abstains with a code.

FIRST_YEAR, LAST_YEAR = 1000, 2100  # of a bare number that is read as a year
# Golds of "how many" and "how long" that are such a number are years in all of 5 rows of Mintaka and NQ-open.
_RECENT_YEAR = re.compile(r"(?:19\d\d|20[0-3]\d)\.?")
_NUMBER = re.compile(r"[~+-]?\d[\d.,]*\Z")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\Z")
_ORDINALS = frozenset(("last", "final", *language("en").count_words))
_DENIAL = frozenset({QuestionKind.YES_NO, QuestionKind.CHOICE, QuestionKind.TEXT, QuestionKind.UNKNOWN})

# Of what classes an entity is that answers a question of a kind; other kinds take any.
_CLASSES: Mapping[QuestionKind, frozenset[str]] = {
    QuestionKind.PLACE: frozenset(
        {"place", "country", "building", "school", "astronomical", "club", "company", "organisation", "event", "label"}
    ),
    QuestionKind.PERSON: frozenset(
        {"person", "fictional", "group", "country", "company", "organisation", "school", "club", "label"}
        | {"occupation", "office", "position"}
    ),
    QuestionKind.GROUP_OR_PERSON: frozenset(
        {"person", "fictional", "group", "country", "company", "organisation", "school", "club", "label"}
        | {"occupation", "office", "position"}
    ),
    QuestionKind.CHARACTER: frozenset({"person", "fictional"}),
    QuestionKind.TEAM: frozenset({"club", "group", "organisation", "school", "country"}),
    QuestionKind.ORGANISATION: frozenset(
        {"company", "organisation", "label", "school", "club", "group", "building", "country"}
    ),
    QuestionKind.SONG: frozenset({"work"}),
    QuestionKind.FILM: frozenset({"work"}),
    QuestionKind.BOOK: frozenset({"work"}),
    QuestionKind.WORK: frozenset({"work"}),
    QuestionKind.EPISODE: frozenset({"work"}),
    QuestionKind.LANGUAGE: frozenset({"language"}),
    QuestionKind.ANIMAL: frozenset({"taxon"}),
}
# Questions of these kinds leave open whether a date or an amount with its unit answers them.
MAY_BE_VALUE = frozenset(
    {
        QuestionKind.UNKNOWN,
        QuestionKind.THING,
        QuestionKind.TEXT,
        QuestionKind.CHOICE,
        QuestionKind.DATE,
        QuestionKind.RANK,
    }
)
_MEASURED = frozenset({QuestionKind.COUNT, QuestionKind.MEASURE, QuestionKind.AGE})
# What is measured, where a unit of another dimension cannot be meant.
_DIMENSIONS: Mapping[str, frozenset[str]] = {
    "length": frozenset({"length"}),
    "distance": frozenset({"length", "time"}),
    "mass": frozenset({"mass"}),
    "temperature": frozenset({"temperature"}),
}


def text_conflict(asked: AskedKind, text: str, *, code: str = "en") -> Abstention | None:
    """Why the text of an answer does not go with the kind asked for; None where it does, or nothing tells."""
    kind = asked.kind
    if kind is QuestionKind.YES_NO or (normalise(text) in yes_no_words(code) and kind in _DENIAL):
        return Abstention.YES_NO
    if kind is QuestionKind.CODE:
        return Abstention.CODE
    if kind in _MEASURED and _RECENT_YEAR.fullmatch(text.strip()):
        return Abstention.KIND_CONFLICT
    if is_bare_number(text, code=code):
        counted = kind in (QuestionKind.COUNT, QuestionKind.AGE) or (kind is QuestionKind.DATE and _is_year(text, code))
        return None if counted else Abstention.BARE_NUMBER
    if kind in (QuestionKind.RANK, QuestionKind.SEASON):
        return Abstention.KIND_CONFLICT
    if kind in _MEASURED:
        parsed = read_amount(text.partition("(acceptable range")[0], code=code)
        if parsed is None or (parsed.unit is None and parsed.noun[:1].isupper()):
            return Abstention.KIND_CONFLICT  # "2001 NBA Finals" is one of those that are counted
        dimensions = _DIMENSIONS.get(asked.detail)
        if dimensions is not None and parsed.unit is not None and parsed.unit.dimension not in dimensions:
            return Abstention.KIND_CONFLICT
    return None


# Sorts of places of which an entity is one or another: who asks for a river is not answered by a town.
_SORTS: Mapping[str, frozenset[str]] = {
    "country": frozenset({"Q6256", "Q3624078", "Q3024240", "Q161243"}),  # and territories, of today and of the past
    "city": frozenset({"Q486972", "Q515", "Q15284"}),  # and towns, villages, municipalities
    "river": frozenset({"Q4022"}),
    "lake": frozenset({"Q23397"}),
    "mountain": frozenset({"Q8502", "Q46831"}),  # and ranges
    "continent": frozenset({"Q5107"}),
    "planet": frozenset({"Q634"}),
}
_NOUNS = {"nation": "country", "town": "city", "village": "city"}
_COUNTRY = frozenset({"country"})
_KIN = trivial_phrases(["kin"]) | {"sister", "brother"}
_KINSFOLK = frozenset({"person", "fictional"})


def entity_conflict(asked: AskedKind, qid: str, classes: Collection[str], graph: Graph) -> bool:
    """Whether an entity is clearly no answer of the kind asked for, by its classes in the graph."""
    if class_conflict(asked, classes):
        return True
    if asked.detail in _KIN:
        return bool(classes) and _KINSFOLK.isdisjoint(classes)
    if asked.kind is QuestionKind.PERSON and asked.detail:  # states own and win; they write and paint nothing
        return not _COUNTRY.isdisjoint(classes)
    asked_sort = _NOUNS.get(asked.detail, asked.detail)
    if asked.kind is not QuestionKind.PLACE or asked_sort not in _SORTS or graph.is_instance(qid, _SORTS[asked_sort]):
        return False
    return any(graph.is_instance(qid, ids) for sort, ids in _SORTS.items() if sort != asked_sort)


def class_conflict(asked: AskedKind, classes: Collection[str]) -> bool:
    """Whether an entity of these classes is clearly no answer of the kind asked for; none is where a text is."""
    if asked.kind is QuestionKind.TEXT:
        return True
    expected = _CLASSES.get(asked.kind)
    return expected is not None and bool(classes) and expected.isdisjoint(classes)


def fitting_classes(asked: AskedKind, classes: Collection[str]) -> Collection[str]:
    """Those of an entity's classes that answer a question of the kind, where there are some; else all."""
    expected = _CLASSES.get(asked.kind)
    return (expected.intersection(classes) if expected is not None else None) or classes


def is_bare_number(text: str, *, code: str = "en") -> bool:
    """Whether a text is a number or an ordinal and nothing else: "563", "twelve", "the sixth"."""
    bare = normalise(text).removeprefix("the ").rstrip(". ")
    if _NUMBER.match(bare) or _ORDINAL.match(bare) or bare in _ORDINALS:
        return True
    parsed = parse_quantity(bare, code=code)
    return parsed is not None and parsed.unit is None and not parsed.noun and not parsed.sign


def _is_year(text: str, code: str) -> bool:
    """Whether a number may be a year, or is one about which the text says more than its digits."""
    parsed = parse_date(text, code=code)
    return parsed is not None and (parsed.circa or FIRST_YEAR <= parsed.first.year <= LAST_YEAR)


# How several gold answers stand to each other.


MOST = 40  # answers that are compared with each other; a longer list stays as it is
_SHARE = 0.5  # of the alternatives with a ladder from which a tier must follow
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "sir", "lady", "lord", "saint", "st", "president", "king", "queen"})


@dataclass(frozen=True, slots=True)
class _Gold:
    text: str
    ladder: Ladder

    @property
    def first(self) -> Tier:
        return self.ladder.levels[0].tiers[0]

    @property
    def has_ladder(self) -> bool:
        return len(self.ladder.levels) > 1


def arranged(
    answers: Sequence[str],
    ladders: Sequence[Ladder],
    *,
    code: str,
    is_person: Callable[[str], bool],
    holds: Callable[[str, str], bool],
) -> Ladder:
    """One ladder of a question with these gold answers, each with its own ladder; `is_person` tells of an entity id,
    `holds` of two whether the first contains the second.

    The row abstains, with the first code, only where every answer does.
    """
    if len(answers) == 1:
        return union(ladders)
    golds = [_Gold(text, ladder) for text, ladder in zip(answers, ladders, strict=True)]
    codes = [ladder.abstained for ladder in ladders]
    if len(golds) <= MOST:
        golds = _without_entailed(_named_once(golds, code, is_person), code)
    if len(golds) == 1:
        return union([golds[0].ladder])
    joined = union([gold.ladder for gold in _kept_in_common(golds)], holds)
    levels = (joined.levels[0], *(_attributed(level, golds) for level in joined.levels[1:]))
    code_left = codes[0] if all(codes) else Abstention.ONLY_TRIVIAL
    return Ladder(levels=levels, abstained=code_left if len(levels) == 1 else None)


def _named_once(golds: Sequence[_Gold], code: str, is_person: Callable[[str], bool]) -> list[_Gold]:
    """The answers, those that name what another one names told as its aliases."""
    out: list[_Gold] = []
    for gold in sorted(golds, key=lambda g: not (g.has_ladder or g.first.qid)):  # whose entity is known leads
        for place, earlier in enumerate(out):
            if _is_same(earlier, gold, code, is_person):
                out[place] = _Gold(earlier.text, _with_name(earlier.ladder, 0, gold.text))
                break
        else:
            out.append(gold)
    order = {id_: n for n, id_ in enumerate(g.text for g in golds)}
    return sorted(out, key=lambda g: order[g.text])


def _is_same(gold: _Gold, other: _Gold, code: str, is_person: Callable[[str], bool]) -> bool:
    qid = gold.first.qid
    if qid is not None and other.first.qid is not None:
        return qid == other.first.qid
    if normalise(other.text) in {normalise(name) for name in gold.first.names()}:
        return True
    if qid is None:
        return _is_same_value(gold.text, other.text, code)
    name_words, other_words = words(gold.first.text), words(other.text)
    if not name_words or not other_words or name_words == other_words:
        return name_words == other_words
    if is_person(qid) and len(other_words) < len(name_words) and (name_words[-len(other_words) :] == other_words):
        return True  # a surname
    added_words = [word for word in other_words if word not in name_words]
    inside = f" {' '.join(name_words)} " in f" {' '.join(other_words)} "
    return inside and all(_says_what_it_is(word) for word in added_words)


def _says_what_it_is(word: str) -> bool:
    """Whether a word beside a name only introduces it."""
    known = word in _TITLES or word in common_occupations() or word in bundled_demonyms().countries
    return known or not content_words(word)


def _is_same_value(text: str, other: str, code: str) -> bool:
    first, second = parse_date(text, code=code), parse_date(other, code=code)
    if first is not None and second is not None:
        return (first.first, first.last) == (second.first, second.last)
    amount, same = parse_quantity(text, code=code), parse_quantity(other, code=code)
    if amount is None or same is None or amount.amount != same.amount or amount.approximate != same.approximate:
        return False
    return amount.unit == same.unit  # "eight" and "8 seasons"


def _without_entailed(golds: Sequence[_Gold], code: str) -> list[_Gold]:
    """The answers that follow from no other; those that do are names of the tier of the other's ladder."""
    out = list(golds)
    for gold in golds:
        for place, holder in enumerate(out):
            depth = _depth(holder, gold, code) if holder.text != gold.text else None
            if depth is not None:
                out[place] = _Gold(holder.text, _with_name(holder.ladder, depth, gold.text))
                out = [other for other in out if other.text != gold.text]
                break
    return out


def _depth(gold: _Gold, other: _Gold, code: str) -> int | None:
    """The level of an answer's ladder on which another answer stands."""
    key = without_article(other.text)
    for depth, level in enumerate(gold.ladder.levels[1:], 1):
        for tier in level.tiers:
            if other.first.qid is not None and tier.qid is not None:
                if tier.qid == other.first.qid:
                    return depth
            elif key in {without_article(name) for name in tier.names()} or (
                tier.qid is None and _is_same_value(tier.text, other.text, code)
            ):
                return depth
    return None


def _with_name(ladder: Ladder, depth: int, name: str) -> Ladder:
    """The ladder with one more name of the tier at a level that it names, or of the level's first."""
    level = ladder.levels[depth]
    key = normalise(name)
    if any(key in {normalise(n) for n in tier.names()} for tier in level.tiers):
        return ladder
    first = replace(level.tiers[0], aliases=(*level.tiers[0].aliases, name))
    changed = Level(tiers=(first, *level.tiers[1:]), extra=level.extra)
    return Ladder(levels=(*ladder.levels[:depth], changed, *ladder.levels[depth + 1 :]), abstained=ladder.abstained)


def _kept_in_common(golds: Sequence[_Gold]) -> list[_Gold]:
    """The answers with what at least half of those with a ladder share."""
    holders = _holders(golds)
    needed = _SHARE * sum(gold.has_ladder for gold in golds)
    out = []
    for gold in golds:
        led = paths(completed(gold.ladder))  # what is left out hands its evidence on
        levels = [
            Level(tiers=tiers)
            for level in gold.ladder.levels[1:]
            if (
                tiers := tuple(
                    replace(t, evidence=led.get(t.key, t.evidence))
                    for t in level.tiers
                    if len(holders[t.key]) >= needed
                )
            )
        ]
        out.append(_Gold(gold.text, Ladder(levels=(gold.ladder.levels[0], *levels), abstained=gold.ladder.abstained)))
    return out


def _holders(golds: Sequence[_Gold]) -> dict[str, set[str]]:
    """Which answers each tier follows from, by the tier's key; an answer that is a tier of another's holds itself."""
    out: dict[str, set[str]] = {}
    for gold in golds:
        for level in gold.ladder.levels[1:]:
            for tier in level.tiers:
                out.setdefault(tier.key, set()).add(gold.text)
    return out


def _attributed(level: Level, golds: Sequence[_Gold]) -> Level:
    """The level, each tier with the answers that it follows from where those are not all."""
    holders = _holders(golds)
    tiers = []
    for tier in level.tiers:
        held = [gold.text for gold in golds if gold.text in holders.get(tier.key, ())]
        tiers.append(tier if len(held) == len(golds) else replace(tier, of=tuple(held)))
    return Level(tiers=tuple(tiers), extra=level.extra)
