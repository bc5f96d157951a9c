"""A dataset's own answer levels beside our ladder: one row with the tiers of both, each marked with where it is from.

Our ladder skips some true answers, and so does the dataset's: what both know is the fairer measure. The order of our
ladder, which its evidence proves, stands; a tier that only the dataset has goes where its neighbours there are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from abstraction.assembly.filters import without_article
from abstraction.linking.gazetteer import PLACES, Gazetteer
from abstraction.rows import RejectedRow, TieredRow, read_tiered
from abstraction.tiers import Level, Tier
from kg.terms import normalise

Source = Literal["ladder", "reference"]
FROM = "from"  # the field of a tier; absent in files that nothing was united in
CODE = "ladder_abstained"  # the field of a row for the code of our ladder, where the reference's stands alone


IsOfAnother = Callable[[TieredRow, TieredRow], bool]


class NamesakePlaces:
    """Tells references of a namesake: those that name a place which the answer does not lie in, Texas for Paris."""

    def __init__(self, gazetteer: Callable[[], Gazetteer]) -> None:
        """`gazetteer` gives what is to be asked now, so that what is kept can be dropped between rows."""
        self._gazetteer = gazetteer

    def __call__(self, row: TieredRow, reference: TieredRow) -> bool:
        """Whether the reference is of another place than the row's answer."""
        answer, gazetteer = row.levels[0].tiers[0].qid, self._gazetteer()
        if answer is None or PLACES.isdisjoint(gazetteer.classes(answer)):
            return False
        within = gazetteer.places_around(answer)
        farther = {place for near in within for place in (near, *gazetteer.places_around(near))}
        around = {without_article(name) for place in (answer, *within) for name in gazetteer.above(place)}
        around.update(without_article(name) for level in row.levels for name in level.names())

        def is_strange(tier: Tier) -> bool:
            places = gazetteer.known(tier.text)
            if places and all(map(gazetteer.is_state, places)):  # names of states are names of continents, too: America
                return farther.isdisjoint(places) and gazetteer.lies_elsewhere(within, places)
            names = (*tier.names(), *(name for place in places for name in gazetteer.called(place)))
            return around.isdisjoint(map(without_article, names)) and gazetteer.lies_elsewhere(within, places)

        return any(is_strange(tier) for level in reference.levels[1:] for tier in level.tiers)


@dataclass(slots=True)
class References:
    """A dataset's rows by id, and how many of its tiers our ladders know, add, reorder, or leave to another answer."""

    rows: Mapping[str, TieredRow]
    is_of_another: IsOfAnother = lambda row, reference: False
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def read(cls, path: Path | str) -> tuple[References, list[RejectedRow]]:
        """The rows of a tiered file or of GRANOLA-EQ, and its bad rows. Raises RowError for a file without any."""
        rejected: list[RejectedRow] = []
        return cls(rows={row.id: row for row in read_tiered(path, on_reject=rejected.append)}), rejected

    def unite(self, rows: Iterable[TieredRow]) -> Iterator[TieredRow]:
        """Each row with its reference, where there is one to the same question."""
        met = 0
        for row in rows:
            reference = self.rows.get(row.id)
            met += reference is not None
            if reference is None:
                self.counts["rows without a reference"] += 1
            elif normalise(row.question) != normalise(reference.question):
                self.counts["rows with a reference to another question"] += 1
            elif self.is_of_another(row, reference):
                self.counts["of another answer"] += sum(len(level.tiers) for level in reference.levels[1:])
            else:
                row = united(row, reference, self.counts)
            yield row
        if met < len(self.rows):
            self.counts["references without a row"] += len(self.rows) - met


@dataclass(frozen=True, slots=True)
class _Gap:
    """Where new tiers of a level of the reference stand: `beside` a level of ours, or None: right behind `finer`."""

    finer: int
    beside: int | None


def _places(placed: Sequence[Sequence[int | None]], height: int) -> Iterator[_Gap]:
    """The place of each level beyond the first; `placed` are our levels of their tiers, None for new ones."""
    finer, finer_at = 0, 0
    for number, level in enumerate(placed[1:], 1):
        later = [at for ats in placed[number + 1 :] for at in ats if at is not None and at > finer]
        coarser = min(later, default=height)
        yield _Gap(finer, min(finer + number - finer_at, coarser - 1) if coarser - finer > 1 else None)
        coarsest = max((at for at in level if at is not None), default=0)
        if coarsest > finer:
            finer, finer_at = coarsest, number


def united(row: TieredRow, reference: TieredRow, counts: Counter[str] | None = None) -> TieredRow:
    """The row with the reference's levels in it.

    A tier of the reference that carries a name of ours is that tier. Another one stands on a level of its own between
    the nearest tiers that both have; where ours has levels between these, on that as far from the finer one as in the
    reference. The first level stays the gold answer; a reference to another answer is left out.
    """
    counts = Counter() if counts is None else counts
    where = {without_article(name): number for number, level in enumerate(row.levels) for name in level.names()}
    placed = [[where.get(_first_known(tier, where)) for tier in level.tiers] for level in reference.levels]
    if 0 not in placed[0]:
        counts["of another answer"] += sum(len(level.tiers) for level in reference.levels[1:])
        return row
    same: defaultdict[int, list[Tier]] = defaultdict(list, {0: list(reference.levels[0].tiers)})
    beside: defaultdict[int, list[Tier]] = defaultdict(list)
    behind: defaultdict[int, defaultdict[int, list[Tier]]] = defaultdict(lambda: defaultdict(list))
    taken = set(where)
    for number, place in enumerate(_places(placed, len(row.levels)), 1):
        for tier, at in zip(reference.levels[number].tiers, placed[number], strict=True):
            if at is not None:
                counts["reordered" if at < place.finer or at == 0 else "known"] += 1
                same[at].append(tier)
            elif (new := _new(tier, taken)) is not None:
                counts["added"] += 1
                (behind[place.finer][number] if place.beside is None else beside[place.beside]).append(new)
    levels: list[Level] = []
    for number, level in enumerate(row.levels):
        tiers = tuple(_with_names(tier, same[number], taken) for tier in level.tiers)
        levels.append(replace(level, tiers=(*tiers, *beside[number])))
        levels += [Level(tiers=tuple(new)) for new in behind[number].values()]
    if row.abstained is None or len(levels) == 1:
        return replace(row, levels=tuple(levels))
    return replace(row, levels=tuple(levels), abstained=None, extra={**row.extra, CODE: row.abstained})


def only(row: TieredRow, source: Source) -> TieredRow:
    """The row with those tiers alone that are from there; levels that lose all go, but for the answer itself.

    A tier without a mark is the ladder's.
    """
    first, *coarser = row.levels
    of_source = (tuple(tier for tier in level.tiers if source in sources(tier)) for level in coarser)
    levels = (first, *(Level(tiers=tiers) for tiers in of_source if tiers))
    code = row.extra.get(CODE)
    abstained = str(code) if source == "ladder" and code is not None and len(levels) == 1 else row.abstained
    return replace(row, levels=levels, abstained=abstained)


def sources(tier: Tier) -> Sequence[str]:
    """Where a tier is from: "ladder", "reference" or both."""
    marks = tier.extra.get(FROM)
    return marks if isinstance(marks, list) and marks else ("ladder",)


def _first_known(tier: Tier, where: Mapping[str, int]) -> str:
    """The first name of the tier that our ladder has; "" where there is none, which is no name."""
    return next((without_article(name) for name in tier.names() if without_article(name) in where), "")


def _with_names(tier: Tier, references: Sequence[Tier], taken: set[str]) -> Tier:
    """The tier marked as the ladder's, and as the reference's with its other names where that has it too."""
    own_names = {without_article(name) for name in tier.names()}
    same = [reference for reference in references if not own_names.isdisjoint(map(without_article, reference.names()))]
    if not same:
        return replace(tier, extra={**tier.extra, FROM: list(sources(tier))})
    new = dict.fromkeys(name for reference in same for name in reference.names() if without_article(name) not in taken)
    taken |= set(map(without_article, new))
    return replace(
        tier, aliases=(*tier.aliases, *new), extra={**tier.extra, FROM: sorted({*sources(tier), "reference"})}
    )


def _new(tier: Tier, taken: set[str]) -> Tier | None:
    """The tier marked as the reference's, its names now taken; None where its text is taken or is no word."""
    if without_article(tier.text) in taken or not any(letter.isalnum() for letter in tier.text):
        return None
    aliases = tuple(name for name in tier.aliases if without_article(name) not in taken)
    new = replace(tier, aliases=aliases, extra={**tier.extra, FROM: ["reference"]})
    taken.update(map(without_article, new.names()))
    return new
