"""Gold answers: consistency with the question, and relations between several: synonyms, entailment, alternatives.

Synonyms share one tier on level 1. An answer that follows from another ("1972" from "14 December 1972") is not on
level 1, since the other's ladder contains it. Alternatives ("Chicago" or "Rock Island") are tiers of level 1; a tier
that follows from only some of them lists these (`Tier.of`), and is removed where it follows from fewer than half of
those that have a ladder.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from abstraction.base.relations import trivial_phrases
from abstraction.base.tiers import Abstention, Ladder, Level, Tier, complete_evidence
from abstraction.ladders.assembly.levels import evidence_paths, union
from abstraction.ladders.literal_ladders import read_amount
from abstraction.text.descriptions.attested_words import common_occupations
from abstraction.text.language.amount_reader import parse_quantity
from abstraction.text.language.date_reader import parse_date
from abstraction.text.language.demonyms import bundled_demonyms
from abstraction.text.language.languages import language
from abstraction.text.language.phrases import all_words, bare, content
from abstraction.text.questions.question_wording import AskedKind, QuestionKind, yes_no_words
from kg.base.model import normalise

# Consistency of a gold answer with the kind of answer asked for.
#
# A number answers "how many", not "which episode"; a town answers "where", not "how deep". In a conflict the question
# was misread or the answer has no ladder, and the row abstains with a code.

FIRST_YEAR, LAST_YEAR = 1000, 2100  # range in which a bare number is read as a year
# Such golds of "how many" and "how long" are years in all of 5 rows of Mintaka and NQ-open.
_RECENT_YEAR = re.compile(r"(?:19\d\d|20[0-3]\d)\.?")
_NUMBER = re.compile(r"[~+-]?\d[\d.,]*\Z")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\Z")
_ORDINALS = frozenset(("last", "final", *language("en").count_words))
# Kinds of questions that yes or no may answer.
_DENIAL = frozenset({QuestionKind.YES_NO, QuestionKind.CHOICE, QuestionKind.TEXT, QuestionKind.UNKNOWN})

_WORKS = (QuestionKind.SONG, QuestionKind.FILM, QuestionKind.BOOK, QuestionKind.WORK, QuestionKind.EPISODE)
_AGENTS = frozenset(
    {"person", "fictional", "group", "country", "company", "organisation", "school", "club", "label"}
    | {"occupation", "office", "position"}
)
# Answer classes of entities by kind of question; kinds not listed accept any.
_CLASSES: Mapping[QuestionKind, frozenset[str]] = {
    QuestionKind.PLACE: frozenset(
        {"place", "country", "building", "school", "astronomical", "club", "company", "organisation", "event", "label"}
    ),
    **dict.fromkeys((QuestionKind.PERSON, QuestionKind.GROUP_OR_PERSON), _AGENTS),
    QuestionKind.CHARACTER: frozenset({"person", "fictional"}),
    QuestionKind.TEAM: frozenset({"club", "group", "organisation", "school", "country"}),
    QuestionKind.ORGANISATION: frozenset(
        {"company", "organisation", "label", "school", "club", "group", "building", "country"}
    ),
    **dict.fromkeys(_WORKS, frozenset({"work"})),
    QuestionKind.LANGUAGE: frozenset({"language"}),
    QuestionKind.ANIMAL: frozenset({"taxon"}),
}
# Kinds whose answer may also be a date or an amount with its unit.
MAY_BE_VALUE = frozenset(
    {QuestionKind.UNKNOWN, QuestionKind.THING, QuestionKind.TEXT, QuestionKind.CHOICE, QuestionKind.DATE}
    | {QuestionKind.RANK}
)
_MEASURED = frozenset({QuestionKind.COUNT, QuestionKind.MEASURE, QuestionKind.AGE})
# Possible dimensions of the unit, by the noun that is measured.
_DIMENSIONS: Mapping[str, frozenset[str]] = {
    "length": frozenset({"length"}),
    "distance": frozenset({"length", "time"}),
    "mass": frozenset({"mass"}),
    "temperature": frozenset({"temperature"}),
}


def text_conflict(asked: AskedKind, text: str, *, code: str = "en") -> Abstention | None:
    """The reason why the text of an answer conflicts with the kind asked for, or None."""
    kind = asked.kind
    if kind is QuestionKind.YES_NO or (normalise(text) in yes_no_words(code) and kind in _DENIAL):
        return Abstention.YES_NO
    if kind is QuestionKind.CODE:
        return Abstention.CODE
    if kind in _MEASURED and _RECENT_YEAR.fullmatch(text.strip()):
        return Abstention.KIND_CONFLICT
    if is_bare_number(text, code=code):
        if kind is QuestionKind.DATE:  # plausible as a year, or marked as a date by other words of the text
            date = parse_date(text, code=code)
            is_year = date is not None and (date.circa or FIRST_YEAR <= date.first.year <= LAST_YEAR)
            return None if is_year else Abstention.BARE_NUMBER
        return None if kind in (QuestionKind.COUNT, QuestionKind.AGE) else Abstention.BARE_NUMBER
    if kind in (QuestionKind.RANK, QuestionKind.SEASON):
        return Abstention.KIND_CONFLICT
    if kind in _MEASURED:
        parsed = read_amount(text.partition("(acceptable range")[0], code=code)
        if parsed is None or (parsed.unit is None and parsed.noun[:1].isupper()):
            return Abstention.KIND_CONFLICT  # "2001 NBA Finals" is one of the things counted, not a number of them
        dimensions = _DIMENSIONS.get(asked.detail)
        if dimensions is not None and parsed.unit is not None and parsed.unit.dimension not in dimensions:
            return Abstention.KIND_CONFLICT
    return None


_KIN = trivial_phrases(["kin"]) | {"sister", "brother"}
_KINSFOLK = frozenset({"person", "fictional"})


def entity_conflict(asked: AskedKind, classes: Collection[str]) -> bool:
    """Whether an entity of these classes is clearly not of the kind asked for; always where a text is."""
    expected = _CLASSES.get(asked.kind)
    if asked.kind is QuestionKind.TEXT or (expected is not None and classes and expected.isdisjoint(classes)):
        return True
    if asked.detail in _KIN:
        return bool(classes) and _KINSFOLK.isdisjoint(classes)
    # A state may own or win, so such questions have no detail.
    return asked.kind is QuestionKind.PERSON and bool(asked.detail) and "country" in classes


def fitting_classes(asked: AskedKind, classes: Collection[str]) -> Collection[str]:
    """The entity's classes that fit the kind of question, or all of them where none fits."""
    expected = _CLASSES.get(asked.kind)
    return (expected.intersection(classes) if expected is not None else None) or classes


def is_bare_number(text: str, *, code: str = "en") -> bool:
    """Whether a text is only a number or an ordinal: "563", "twelve", "the sixth"."""
    bare = normalise(text).removeprefix("the ").rstrip(". ")
    if _NUMBER.match(bare) or _ORDINAL.match(bare) or bare in _ORDINALS:
        return True
    parsed = parse_quantity(bare, code=code)
    return parsed is not None and parsed.unit is None and not parsed.noun and not parsed.sign


# Relations between several gold answers.


MOST = 40  # answers that are compared with each other; a longer list stays as it is, since comparison is quadratic
_LEAST_SHARE = 0.5  # least share of the alternatives with a ladder from which a tier must follow
# Titles before a name, which add nothing to it.
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


def combine_golds(
    answers: Sequence[str],
    ladders: Sequence[Ladder],
    *,
    code: str,
    is_person: Callable[[str], bool],
    holds: Callable[[str, str], bool],
) -> Ladder:
    """One ladder for a question with several gold answers, each with its own ladder: the tiers that at least half of
    the ladders share.

    `is_person` is a predicate of QIDs; `holds(first, second)` is whether the first entity contains the second. The row
    abstains, with the first code, only where every answer does.
    """
    if len(answers) == 1:
        return union(ladders)
    golds = [_Gold(text, ladder) for text, ladder in zip(answers, ladders, strict=True)]
    codes = [ladder.abstained for ladder in ladders]
    if len(golds) <= MOST:
        golds = _merge_entailed(_merge_synonyms(golds, code, is_person), code)
    if len(golds) == 1:
        return union([golds[0].ladder])
    joined = union([gold.ladder for gold in _keep_tiers_shared_by_half(golds)], holds)
    holders = _answers_by_tier(golds)
    levels = [joined.levels[0]]
    for level in joined.levels[1:]:  # `Tier.of` is set on each tier that does not follow from all answers
        held = {tier.key: tuple(gold.text for gold in golds if gold.text in holders[tier.key]) for tier in level.tiers}
        tiers = (t if len(held[t.key]) == len(golds) else replace(t, of=held[t.key]) for t in level.tiers)
        levels.append(Level(tiers=tuple(tiers), extra=level.extra))
    code_left = codes[0] if all(codes) else Abstention.ONLY_TRIVIAL
    return Ladder(levels=tuple(levels), abstained=code_left if len(levels) == 1 else None)


def _merge_synonyms(golds: Sequence[_Gold], code: str, is_person: Callable[[str], bool]) -> list[_Gold]:
    """The answers without synonyms of others, which become their aliases."""
    out: list[_Gold] = []
    for gold in sorted(golds, key=lambda g: not (g.has_ladder or g.first.qid)):  # answers with a known entity first
        for place, earlier in enumerate(out):
            if _is_same(earlier, gold, code, is_person):
                out[place] = _Gold(earlier.text, _add_alias(earlier.ladder, 0, gold.text))
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
    name_words, other_words = all_words(gold.first.text), all_words(other.text)
    if not name_words or not other_words or name_words == other_words:
        return name_words == other_words
    if is_person(qid) and len(other_words) < len(name_words) and (name_words[-len(other_words) :] == other_words):
        return True  # a surname
    if f" {' '.join(name_words)} " not in f" {' '.join(other_words)} ":
        return False
    # Words next to a name that only introduce it: a title, occupation or nationality.
    introducing = (_TITLES, common_occupations(), bundled_demonyms().countries)
    added_words = (word for word in other_words if word not in name_words)
    return all(any(word in known for known in introducing) or not content(word) for word in added_words)


def _is_same_value(text: str, other: str, code: str) -> bool:
    first, second = parse_date(text, code=code), parse_date(other, code=code)
    if first is not None and second is not None:
        return (first.first, first.last) == (second.first, second.last)
    amount, same = parse_quantity(text, code=code), parse_quantity(other, code=code)
    if amount is None or same is None or amount.amount != same.amount or amount.approximate != same.approximate:
        return False
    return amount.unit == same.unit  # "eight" and "8 seasons"


def _merge_entailed(golds: Sequence[_Gold], code: str) -> list[_Gold]:
    """The answers that follow from no other; each that does becomes an alias of the tier in the other's ladder."""
    out = list(golds)
    for gold in golds:
        for place, holder in enumerate(out):
            depth = _level_containing(holder, gold, code) if holder.text != gold.text else None
            if depth is not None:
                out[place] = _Gold(holder.text, _add_alias(holder.ladder, depth, gold.text))
                out = [other for other in out if other.text != gold.text]
                break
    return out


def _level_containing(gold: _Gold, other: _Gold, code: str) -> int | None:
    """The level of an answer's ladder that contains another answer, or None."""
    key = bare(other.text)
    for depth, level in enumerate(gold.ladder.levels[1:], 1):
        for tier in level.tiers:
            if other.first.qid is not None and tier.qid is not None:
                if tier.qid == other.first.qid:
                    return depth
            elif key in {bare(name) for name in tier.names()} or (
                tier.qid is None and _is_same_value(tier.text, other.text, code)
            ):
                return depth
    return None


def _add_alias(ladder: Ladder, depth: int, name: str) -> Ladder:
    levels = (with_names(level, [name]) if at == depth else level for at, level in enumerate(ladder.levels))
    return replace(ladder, levels=tuple(levels))


def with_names(level: Level, names: Iterable[str]) -> Level:
    """The level with those names added to its first tier that no tier of it has."""
    known = {normalise(name) for tier in level.tiers for name in tier.names()}
    new = dict.fromkeys(name for name in names if normalise(name) not in known)
    first, *others = level.tiers
    return replace(level, tiers=(replace(first, aliases=(*first.aliases, *new)), *others))


def _keep_tiers_shared_by_half(golds: Sequence[_Gold]) -> list[_Gold]:
    """The answers, their ladders reduced to tiers that at least half of the ladders share."""
    holders = _answers_by_tier(golds)
    needed = _LEAST_SHARE * sum(gold.has_ladder for gold in golds)
    out = []
    for gold in golds:
        led = evidence_paths(complete_evidence(gold.ladder))  # tiers that remain take over the evidence of removed ones
        levels = [gold.ladder.levels[0]]
        for level in gold.ladder.levels[1:]:
            shared = (tier for tier in level.tiers if len(holders[tier.key]) >= needed)
            if tiers := tuple(replace(tier, evidence=led.get(tier.key, tier.evidence)) for tier in shared):
                levels.append(Level(tiers=tiers))
        out.append(_Gold(gold.text, replace(gold.ladder, levels=tuple(levels))))
    return out


def _answers_by_tier(golds: Sequence[_Gold]) -> Mapping[str, set[str]]:
    """The answers from which each tier follows, by the tier's key."""
    out: defaultdict[str, set[str]] = defaultdict(set)
    for gold in golds:
        for level in gold.ladder.levels[1:]:
            for tier in level.tiers:
                out[tier.key].add(gold.text)
    return out
