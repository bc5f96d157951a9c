"""Several gold answers of one question: names of one thing, one that entails another, or alternatives.

Names of one thing share its place on level 1. Of an answer that follows from another ("1972" beside "14 December 1972")
nothing is left on level 1: the other's ladder has it. Alternatives ("Chicago" or "Rock Island") stay side by side on
level 1; what follows from some of them alone says which they are (`Tier.of`), and is left out where it follows from
fewer than half of those that have a ladder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from abstraction.assembly.filters import content_words, without_article, words
from abstraction.assembly.joined_ladders import paths, union
from abstraction.descriptions.attested_words import common_occupations
from abstraction.evidence import completed
from abstraction.language.amount_reader import parse_quantity
from abstraction.language.date_reader import parse_date
from abstraction.language.demonyms import bundled_demonyms
from abstraction.tiers import Abstention, Ladder, Level, Tier
from kg.terms import normalise

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
    answers: Sequence[str], ladders: Sequence[Ladder], *, code: str, is_person: Callable[[str], bool]
) -> Ladder:
    """One ladder of a question with these gold answers, each with its own ladder; `is_person` tells of an entity id.

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
    joined = union([gold.ladder for gold in _kept_in_common(golds)])
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
