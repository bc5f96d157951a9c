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
from itertools import zip_longest

from abstraction.base.relations import trivial_phrases_of_groups
from abstraction.base.tiers import (
    MAX_LEVELS,
    MAX_TIERS,
    Abstention,
    Evidence,
    Ladder,
    Level,
    Tier,
    complete_evidence,
    join_evidence,
)
from abstraction.ladders.literal_ladders import read_amount
from abstraction.ladders.proposals import entails_by_words
from abstraction.text.descriptions.attested_words import common_occupations
from abstraction.text.language.amounts import parse_quantity
from abstraction.text.language.calendar_dates import parse_date
from abstraction.text.language.languages import bundled_demonyms, language
from abstraction.text.language.phrases import content_words, singular_words, without_article
from abstraction.text.questions.question_wording import AskedKind, QuestionKind, yes_no_words
from kg.base.model import normalise

# Consistency of a gold answer with the kind of answer asked for.
#
# A number answers "how many", not "which episode"; a town answers "where", not "how deep". In a conflict the question
# was misread or the answer has no ladder, and the row abstains with a code.

FIRST_YEAR, LAST_YEAR = 1000, 2100  # a bare number outside this range is no year
# All 5 gold answers of this form to "how many" or "how long" in Mintaka and NQ-open are years.
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
# Kinds of questions whose answer may also be a date or an amount with its unit.
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


_KIN = trivial_phrases_of_groups(["kin"]) | {"sister", "brother"}
_KINSFOLK = frozenset({"person", "fictional"})


def entity_conflict(asked: AskedKind, classes: Collection[str]) -> bool:
    """Whether an entity of these classes cannot be of the kind asked for; always True where the question asks for a
    text.
    """
    expected = _CLASSES.get(asked.kind)
    if asked.kind is QuestionKind.TEXT or (expected is not None and classes and expected.isdisjoint(classes)):
        return True
    if asked.detail in _KIN:
        return bool(classes) and _KINSFOLK.isdisjoint(classes)
    # A state may own or win, so such questions have no detail.
    return asked.kind is QuestionKind.PERSON and bool(asked.detail) and "country" in classes


def fitting_or_all_classes(asked: AskedKind, classes: Collection[str]) -> Collection[str]:
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
    def answer_tier(self) -> Tier:
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
    contains: Callable[[str, str], bool],
) -> Ladder:
    """One ladder for a question with several gold answers, each with its own ladder: the tiers that at least half of
    the ladders share.

    `is_person` is a predicate of QIDs; `contains(first, second)` is whether the first entity contains the second. The
    row abstains, with the first code, only where every answer does.
    """
    if len(answers) == 1:
        return union_of_ladders(ladders)
    golds = [_Gold(text, ladder) for text, ladder in zip(answers, ladders, strict=True)]
    codes = [ladder.abstained for ladder in ladders]
    if len(golds) <= MOST:
        golds = _merge_entailed(_merge_synonyms(golds, code, is_person), code)
    if len(golds) == 1:
        return union_of_ladders([golds[0].ladder])
    joined = union_of_ladders([gold.ladder for gold in _keep_tiers_shared_by_half(golds)], contains)
    holders = _answers_by_tier(golds)
    levels = [joined.levels[0]]
    for level in joined.levels[1:]:  # `Tier.of` is set on each tier that does not follow from all answers
        held = {tier.key: tuple(gold.text for gold in golds if gold.text in holders[tier.key]) for tier in level.tiers}
        tiers = (t if len(held[t.key]) == len(golds) else replace(t, of=held[t.key]) for t in level.tiers)
        levels.append(Level(tiers=tuple(tiers), extra=level.extra))
    code_left = codes[0] if all(codes) else Abstention.ONLY_TRIVIAL
    return Ladder(levels=tuple(levels), abstained=code_left if len(levels) == 1 else None)


def _merge_synonyms(golds: Sequence[_Gold], code: str, is_person: Callable[[str], bool]) -> list[_Gold]:
    """The answers without those that are synonyms of another answer; a synonym becomes an alias of that answer."""
    out: list[_Gold] = []
    # Answers with a known entity first.
    for gold in sorted(golds, key=lambda g: not (g.has_ladder or g.answer_tier.qid)):
        for place, earlier in enumerate(out):
            if _are_synonyms(earlier, gold, code, is_person):
                out[place] = _Gold(earlier.text, _add_alias(earlier.ladder, 0, gold.text))
                break
        else:
            out.append(gold)
    order = {id_: n for n, id_ in enumerate(g.text for g in golds)}
    return sorted(out, key=lambda g: order[g.text])


def _are_synonyms(gold: _Gold, other: _Gold, code: str, is_person: Callable[[str], bool]) -> bool:
    qid = gold.answer_tier.qid
    if qid is not None and other.answer_tier.qid is not None:
        return qid == other.answer_tier.qid
    if normalise(other.text) in {normalise(name) for name in gold.answer_tier.names()}:
        return True
    if qid is None:
        return _is_same_date_or_amount(gold.text, other.text, code)
    name_words, other_words = singular_words(gold.answer_tier.text), singular_words(other.text)
    if not name_words or not other_words or name_words == other_words:
        return name_words == other_words
    if is_person(qid) and len(other_words) < len(name_words) and (name_words[-len(other_words) :] == other_words):
        return True  # a surname
    if f" {' '.join(name_words)} " not in f" {' '.join(other_words)} ":
        return False
    # Words next to a name that only introduce it: a title, occupation or nationality.
    introducing = (_TITLES, common_occupations(), bundled_demonyms().countries)
    added_words = (word for word in other_words if word not in name_words)
    return all(any(word in known for known in introducing) or not content_words(word) for word in added_words)


def _is_same_date_or_amount(text: str, other: str, code: str) -> bool:
    first, second = parse_date(text, code=code), parse_date(other, code=code)
    if first is not None and second is not None:
        return (first.first, first.last) == (second.first, second.last)
    amount, same = parse_quantity(text, code=code), parse_quantity(other, code=code)
    if amount is None or same is None or amount.amount != same.amount or amount.approximate != same.approximate:
        return False
    return amount.unit == same.unit  # "eight" and "8 seasons"


def _merge_entailed(golds: Sequence[_Gold], code: str) -> list[_Gold]:
    """The answers without those that follow from another answer; such an answer becomes an alias of the tier in the
    other's ladder.
    """
    out = list(golds)
    for gold in golds:
        for place, holder in enumerate(out):
            depth = _index_of_level_containing(holder, gold, code) if holder.text != gold.text else None
            if depth is not None:
                out[place] = _Gold(holder.text, _add_alias(holder.ladder, depth, gold.text))
                out = [other for other in out if other.text != gold.text]
                break
    return out


def _index_of_level_containing(gold: _Gold, other: _Gold, code: str) -> int | None:
    """The index of the level of `gold`'s ladder, above its first, that contains the answer `other`; None for none."""
    key = without_article(other.text)
    for depth, level in enumerate(gold.ladder.levels[1:], 1):
        for tier in level.tiers:
            if other.answer_tier.qid is not None and tier.qid is not None:
                if tier.qid == other.answer_tier.qid:
                    return depth
            elif key in {without_article(name) for name in tier.names()} or (
                tier.qid is None and _is_same_date_or_amount(tier.text, other.text, code)
            ):
                return depth
    return None


def _add_alias(ladder: Ladder, depth: int, name: str) -> Ladder:
    levels = (with_aliases_added(level, [name]) if at == depth else level for at, level in enumerate(ladder.levels))
    return replace(ladder, levels=tuple(levels))


def with_aliases_added(level: Level, names: Iterable[str]) -> Level:
    """The level with the names that none of its tiers has added as aliases to its first tier."""
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


def union_of_ladders(
    ladders: Sequence[Ladder], contains: Callable[[str, str], bool] = lambda outer, inner: False
) -> Ladder:
    """One ladder that credits a prediction as the best of several ladders would: each tier at its finest level.

    The answers share level 1. A tier that is on different levels of two ladders gets the finer level, but always after
    the tiers that are finer than it in either ladder: the United States is not on the level of New York City.
    `contains` returns whether one entity is known to contain another. The row abstains, with the first code, only
    where every ladder does. Evidence starts from the answer.
    """
    ladders = [complete_evidence(ladder) for ladder in ladders]
    if len(ladders) == 1:
        return ladders[0]
    ranks = _level_by_tier_in_union(ladders, contains)
    led = [evidence_paths(ladder) for ladder in ladders]
    seen: set[str] = set()
    known: set[str | None] = set()  # entities of finer levels, from which a step of evidence may start
    out: list[Level] = []
    for depth in range(1 + max(ranks.values(), default=0)):
        tiers: list[Tier] = []
        here = (
            [t for level in ladder.levels[1:] for t in level.tiers if ranks[t.key] == depth]
            if depth
            else ladder.levels[0].tiers
            for ladder in ladders
        )
        turns = zip_longest(*here)
        for tier, path in ((tier, path) for turn in turns for tier, path in zip(turn, led, strict=True) if tier):
            names = {tier.key, normalise(tier.text)}
            if names.isdisjoint(seen):
                # A step starts from an entity that neither a finer tier nor another step leads to, as after a namesake.
                led_to = known | {step.value for step in tier.evidence if step.kind == "statement"}
                if any(step.subject and step.subject not in led_to for step in tier.evidence):
                    tier = replace(tier, evidence=path.get(tier.key, tier.evidence))
                tiers.append(tier)
                seen |= names
        if tiers:
            # All answers are kept; in other levels tiers of the ladders alternate up to the cap.
            out.append(Level(tiers=tuple(tiers if not out else tiers[:MAX_TIERS])))
            known.update(tier.qid for tier in out[-1].tiers if tier.qid)
    codes = [ladder.abstained for ladder in ladders]
    abstained = codes[0] if all(codes) and len(out) == 1 else None
    return Ladder(levels=_drop_ambiguous_aliases(out), abstained=abstained)


def _drop_ambiguous_aliases(levels: Sequence[Level]) -> tuple[Level, ...]:
    """The levels without aliases that are the text of a tier on another level."""
    texts = {normalise(tier.text): depth for depth, level in enumerate(levels) for tier in level.tiers}

    out = []
    for depth, level in enumerate(levels):
        kept = ([a for a in tier.aliases if texts.get(normalise(a), depth) == depth] for tier in level.tiers)
        tiers = (replace(tier, aliases=tuple(names)) for tier, names in zip(level.tiers, kept, strict=True))
        out.append(Level(tiers=tuple(tiers)))
    return tuple(out)


def _level_by_tier_in_union(ladders: Sequence[Ladder], contains: Callable[[str, str], bool]) -> dict[str, int]:
    """The level in the union by tier key: the finest level of the tier, but after every tier that is finer in any
    ladder.

    Finer tiers are those before it in its ladder, those that entail it by words or conditions, and places within it.
    """
    ranks: dict[str, int] = {}
    before: dict[str, set[str]] = {}
    called: dict[str, str] = {}  # text -> key: a tier may be an entity in one ladder and a name in another
    tiers: dict[str, Tier] = {}
    for ladder in ladders:
        finer: list[str] = []
        for depth, level in enumerate(ladder.levels[1:], 1):
            keys = []
            for tier in level.tiers:
                key = called.setdefault(normalise(tier.text), tier.key)
                called.setdefault(tier.key, key)
                ranks[key] = min(depth, ranks.get(key, depth))
                before.setdefault(key, set()).update(finer)
                tiers.setdefault(key, tier)
                keys.append(key)
            finer = keys
    if len(tiers) <= MOST_COMPARED:
        for coarse, tier in tiers.items():
            others = (fine for fine in tiers if fine != coarse)
            before[coarse] |= {fine for fine in others if _is_finer(tiers[fine], tier, contains)}
    for _ in range(MAX_LEVELS):  # bounded: two tiers in opposite orders would move forever
        moved = False
        for key, keys_before in before.items():
            least = min(MAX_LEVELS, max((ranks[b] + 1 for b in keys_before if key not in before[b]), default=0))
            if ranks[key] < least:
                ranks[key], moved = least, True
        if not moved:
            break
    return {name: ranks[key] for name, key in called.items()}


MOST_COMPARED = 60  # most tiers of a question that are compared with each other: comparing takes quadratic time


def _is_finer(fine: Tier, coarse: Tier, contains: Callable[[str, str], bool]) -> bool:
    if fine.qid and coarse.qid:
        return contains(coarse.qid, fine.qid)
    if coarse.conditions and coarse.conditions < fine.conditions:
        return True
    return fine.qid is None and coarse.qid is None and entails_by_words(fine.text, coarse.text)


def shared_ladder(ladder: Ladder, rivals: Sequence[Ladder]) -> Ladder:
    """The ladder with only those tiers that the ladder of every rival contains, so that they are true whichever entity
    is meant.

    A rival that is itself a tier counts as containing it: the state of New York, for New York. The evidence of a tier
    has the path from each rival, through tiers that are not shared.
    """
    led = [{**evidence_paths(one), one.levels[0].tiers[0].key: ()} for one in (ladder, *rivals)]
    first = ladder.levels[0]
    out = [Level(tiers=(Tier(text=first.tiers[0].text, bits=first.tiers[0].bits),))]
    for level in ladder.levels[1:]:
        tiers = tuple(
            replace(tier, evidence=join_evidence(path[tier.key] for path in led))
            for tier in level.tiers
            if all(tier.key in path for path in led)
        )
        if tiers:
            out.append(Level(tiers=tiers))
    return Ladder(levels=tuple(out), abstained=ladder.abstained)


def evidence_paths(ladder: Ladder) -> dict[str, tuple[Evidence, ...]]:
    """For each tier, by key, its evidence and that of the finer tiers from which its steps start."""
    whole: dict[str, tuple[Evidence, ...]] = {}
    for level in ladder.levels[1:]:
        for tier in level.tiers:
            before = [whole[s] for s in dict.fromkeys(e.subject for e in tier.evidence) if s is not None and s in whole]
            whole.setdefault(tier.key, join_evidence([*before, tier.evidence]))
    return whole
