"""Items and their scores: over all, per relation, and the mean over relations, with bootstrap intervals."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from abstraction.files.rows import TieredRow
from granola.matching.matchers import Verdict
from granola.scoring.metrics import Metric, Outcome, Standard
from granola.scoring.statistics import (
    Estimate,
    divide_or_nan,
    draw_counts,
    generator,
    percentile_interval,
    resamples_per_chunk,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def names_of(row: TieredRow, standard: Standard = "aliases") -> list[list[str]]:
    """The acceptable names of each level, finest level first: texts and aliases; level 1 also has all gold answers.

    With `standard` "gold", level 1 has the gold answers alone.
    """
    aliases = row.levels[0].names() if row.levels and standard == "aliases" else ()
    first = list(dict.fromkeys([*row.answers, *aliases]))
    return [first, *(list(dict.fromkeys(level.names())) for level in row.levels[1:])]


def language_of(row: TieredRow) -> str | None:
    """The language code in the row, None without one."""
    code = row.extra.get("language")
    return code if isinstance(code, str) and code.strip() else None


_WRONG, _ABSTAINED, _UNSCORED, _SAME = 0, -1, -2, -3  # codes in place of a level in arrays; _SAME: `other` is None
NO_BITS = -1.0  # marks a missing value in arrays of bits, which are never negative


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemScore:
    """One question with one prediction and its verdict; `verdict` is None where there is no prediction.

    `weight` is None where nothing matched. `bits` and `bits_share` are 0 where nothing matched, and None where the
    ladder has no bits. `other` is the outcome by the other standard of level 1 (with or without its aliases), None
    where that is the same.
    """

    id: str
    relation: str | None
    prediction: str | None
    verdict: Verdict | None
    weight: float | None
    bits: float | None = None
    bits_share: float | None = None
    other: Outcome | None = None

    @property
    def status(self) -> Literal["matched", "wrong", "abstained", "unscored"]:
        """The result in one word."""
        if self.verdict is None:
            return "unscored"
        if self.verdict.abstained:
            return "abstained"
        return "wrong" if self.verdict.level is None else "matched"

    @property
    def outcome(self) -> Outcome | None:
        """The outcome that metrics count; None for an unscored item."""
        if self.verdict is None:
            return None
        return Outcome(
            level=self.verdict.level,
            abstained=self.verdict.abstained,
            bits=self.bits,
            share=self.bits_share,
            other=self.other,
        )

    def to_json(self) -> dict[str, Any]:
        """The row of a per-item file; `level`, `rule`, `weight` and bits are null where there is none.

        `other_level` is the level by the other standard of level 1, null where there is none. `answer` is the part of
        the prediction that was judged, and `cuts` are the rules that removed the remainder, if any did.
        """
        verdict = self.verdict
        compared = verdict.compared if verdict else None
        return {
            "id": self.id,
            "relation": self.relation,
            "prediction": self.prediction,
            "status": self.status,
            "level": verdict.level if verdict else None,
            "rule": verdict.rule if verdict else None,
            "compared": {"prediction": compared.prediction, "tier": compared.tier} if compared else None,
            "score": verdict.score if verdict else None,
            "abstained": verdict.abstained if verdict else None,
            "weight": self.weight,
            "bits": self.bits,
            "bits_share": self.bits_share,
            "other_level": self.other.level if self.other else verdict.level if verdict else None,
            **({"answer": verdict.answer, "cuts": list(verdict.cuts)} if verdict and verdict.cuts else {}),
        }


class ItemScores(list[ItemScore]):
    """Items in the order of the rows; `ids` and `outcomes` cover all scored rows, whole items only those kept.

    A million items take a gigabyte, their outcomes thirty megabytes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        # Arrays, since an object for each of a million items takes a gigabyte.
        self._levels = array("l")
        self._others = array("i")
        self._bits = array("d")
        self._shares = array("d")

    def add(self, item: ItemScore, *, keep: bool = True) -> None:
        """Add an item; the whole of it where `keep`, else its id and outcome."""
        verdict = item.verdict
        level = _UNSCORED if verdict is None else _ABSTAINED if verdict.abstained else verdict.level or _WRONG
        other = item.other
        self.ids.append(item.id)
        self._levels.append(level)
        self._others.append(_SAME if other is None else _ABSTAINED if other.abstained else other.level or _WRONG)
        self._bits.append(NO_BITS if item.bits is None else item.bits)
        self._shares.append(NO_BITS if item.bits_share is None else item.bits_share)
        if keep:
            self.append(item)

    def outcomes(self) -> Iterator[Outcome | None]:
        """The outcome of every item, in order; None for an unscored item."""
        pairs = zip(self._levels, self._others, strict=True)
        # Outcomes without bits are few; one object serves all items that have them.
        plain = {pair: _outcome_from_codes(*pair) for pair in set(pairs)}
        rows = zip(self._levels, self._others, self._bits, self._shares, strict=True)
        for level, other, bits, share in rows:
            known = plain[level, other]
            if known is None or bits == NO_BITS:
                yield known
            else:
                yield _outcome_from_codes(level, other, bits, None if share == NO_BITS else share)


def _outcome_from_codes(
    level: int, other: int, bits: float | None = None, share: float | None = None
) -> Outcome | None:
    if level == _UNSCORED:
        return None
    return Outcome(
        level=level if level > 0 else None,
        abstained=level == _ABSTAINED,
        bits=bits,
        share=share,
        other=None if other == _SAME else _outcome_from_codes(other, _SAME),
    )


NO_RELATION = "none"  # the name of the group of rows that name no relation


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupScore:
    """Scores of a set of items by metric name; the numbers of scored and unscored items; items by level or outcome."""

    n: int
    unscored: int
    estimates: Mapping[str, Estimate]
    distribution: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "n": self.n,
            "unscored": self.unscored,
            "metrics": {name: estimate.to_json() for name, estimate in self.estimates.items()},
            "distribution": dict(self.distribution),
        }


def aggregate(
    items: Iterable[tuple[str | None, Outcome | None]], chosen: Sequence[Metric], *, resamples: int, seed: int
) -> tuple[GroupScore, dict[str, GroupScore], dict[str, Estimate]]:
    """Return (scores of all items, scores by relation, means over relations), with intervals from one resampling.

    Items are given as (relation, outcome), each None where there is none.
    """
    cells: dict[tuple[str, int | None, bool, Outcome | None], _Cell] = {}
    unscored = Counter[str]()
    for named, outcome in items:
        relation = named or NO_RELATION
        if outcome is None:
            unscored[relation] += 1
            continue
        # Items with equal outcomes share a cell: the resampling then draws counts instead of items.
        place = (relation, outcome.level, outcome.abstained, outcome.other)
        if (cell := cells.get(place)) is None:
            cell = cells[place] = _Cell(relation, outcome.plain)
        cell.add(outcome)
    # A fixed order of cells gives the same random draws whatever the order of items.
    ordered = sorted(cells.values(), key=lambda cell: (_relation_order(cell.relation), cell.outcome.order))
    names = sorted({cell.relation for cell in ordered} | unscored.keys(), key=_relation_order)
    # Without any relation there is nothing to break down.
    if names == [NO_RELATION]:
        names = []
    # Cells of a relation are consecutive; there are none where all its items are unscored.
    of_cells = [cell.relation for cell in ordered]
    starts = {name: of_cells.index(name) if name in of_cells else 0 for name in names}
    places = {name: slice(start, start + of_cells.count(name)) for name, start in starts.items()}
    overall: dict[str, list[NDArray[np.float64]]] = {metric.name: [] for metric in chosen}
    by_relation: dict[str, dict[str, list[NDArray[np.float64]]]]
    by_relation = {name: {metric.name: [] for metric in chosen} for name in names}
    for sums in _resample_sums(ordered, chosen, resamples=resamples, seed=seed):
        for metric in chosen:
            added, counted = sums[metric.name]
            overall[metric.name].append(divide_or_nan(added.sum(axis=1), counted.sum(axis=1)))
            for name, part in places.items():
                score = divide_or_nan(added[:, part].sum(axis=1), counted[:, part].sum(axis=1))
                by_relation[name][metric.name].append(score)
    whole = _group_score(chosen, ordered, overall, unscored.total())
    scores = {name: _group_score(chosen, ordered[places[name]], by_relation[name], unscored[name]) for name in names}
    return whole, scores, _mean_over_relations(scores, by_relation, chosen) if names else {}


class _Cell:
    """The items of one relation with one outcome: their number, and the bits and shares of those that have them."""

    def __init__(self, relation: str, outcome: Outcome) -> None:
        self.relation = relation
        self.outcome = outcome
        self.n = 0
        self.bits = array("d")
        self.share = array("d")  # one for each of `bits`

    def add(self, outcome: Outcome) -> None:
        """Count an item."""
        self.n += 1
        # Items of ladders without bits are counted in n alone.
        if outcome.bits is not None:
            self.bits.append(outcome.bits)
            self.share.append(NO_BITS if outcome.share is None else outcome.share)

    def is_counted_by(self, metric: Metric) -> bool:
        """Whether the metric counts these items by a field of their own, bits or share."""
        return self.outcome.level is not None or metric.definition.over != "matched"

    def values(self) -> tuple[Sequence[float], Sequence[float], Sequence[int]]:
        """Return (bits, shares, number of items with this pair) for the distinct pairs; NO_BITS for items without
        bits.
        """
        # Equal pairs are drawn together, as equal outcomes are.
        different = Counter(zip(self.bits, self.share, strict=True))
        if without := self.n - len(self.bits):
            different[NO_BITS, NO_BITS] += without
        ordered = sorted(different)
        return [b for b, _ in ordered], [s for _, s in ordered], [different[pair] for pair in ordered]


Sums = dict[str, "tuple[NDArray[np.float64], NDArray[np.float64]]"]


def _resample_sums(cells: Sequence[_Cell], chosen: Sequence[Metric], *, resamples: int, seed: int) -> Iterator[Sums]:
    """Yield, chunk by chunk, the sum and the number of counted items of each cell for each metric, [resamples, cells].

    Bits have a random stream of their own, so that they change no digit of other metrics.
    """
    import numpy as np

    # Two streams: drawing bits must not shift the draws of other metrics.
    outcomes, values = generator(seed), generator(seed, "values")
    values_of_cells = [cell.values() for cell in cells]
    numbers = [cell.n for cell in cells]
    for some in resamples_per_chunk(
        max([len(cells), *(len(counts) for _, _, counts in values_of_cells)]), resamples if cells else 0
    ):
        drawn = draw_counts(numbers, sum(numbers), outcomes, resamples=some)
        sums_of_cells = [
            _draw_bits_and_shares(of_cell, drawn[:, place], values) for place, of_cell in enumerate(values_of_cells)
        ]
        sums: Sums = {}
        for metric in chosen:
            if metric.definition.summed_field is None:
                adds = [metric.adds(cell.outcome) for cell in cells]
                counts = np.array([add is not None for add in adds], dtype=np.float64)
                sums[metric.name] = drawn * np.array([add or 0.0 for add in adds]), drawn * counts
            else:
                empty = np.zeros(some)
                pairs = [
                    of_cell[metric.definition.summed_field] if cell.is_counted_by(metric) else (empty, empty)
                    for cell, of_cell in zip(cells, sums_of_cells, strict=True)
                ]
                sums[metric.name] = np.stack([a for a, _ in pairs], axis=1), np.stack([n for _, n in pairs], axis=1)
        yield sums


def _draw_bits_and_shares(
    values_of_cell: tuple[Sequence[float], Sequence[float], Sequence[int]],
    drawn: NDArray[np.int64],
    random: np.random.Generator,
) -> Sums:
    """The sums of bits and of shares of `drawn` items of a cell, for each resample, and how many items have them."""
    import numpy as np

    bits, share, counts = values_of_cell
    kinds = drawn[:, None] if len(counts) == 1 else draw_counts(counts, drawn, random)
    out: Sums = {}
    for name, values in (("bits", np.array(bits)), ("share", np.array(share))):
        there = values != NO_BITS
        known: NDArray[np.float64] = np.where(there, values, 0.0)
        out[name] = (kinds @ known).astype(np.float64), (kinds @ there).astype(np.float64)
    return out


def _group_score(
    chosen: Sequence[Metric], cells: Sequence[_Cell], drawn: Mapping[str, Sequence[NDArray[np.float64]]], unscored: int
) -> GroupScore:
    """Scores of the items of `cells`, with intervals from the resampled scores."""
    import numpy as np

    counts = Counter[Outcome]()
    for cell in cells:
        counts[cell.outcome] += cell.n
    estimates = {}
    for metric in chosen:
        if (field := metric.definition.summed_field) is None:
            value, n = metric.of(counts)
        else:
            value, n = _mean_of_field([cell for cell in cells if cell.is_counted_by(metric)], field)
        parts = drawn[metric.name]
        interval = percentile_interval(np.concatenate(parts) if parts else ())
        estimates[metric.name] = Estimate(value=value, interval=interval, n=n)
    return GroupScore(
        n=counts.total(), unscored=unscored, estimates=estimates, distribution=_distribution(counts, unscored)
    )


def _mean_of_field(cells: Sequence[_Cell], name: Literal["bits", "share"]) -> tuple[float, int]:
    """Return (mean, n) of the field `name` of items; equal values are multiplied by their number first, as in
    `Metric.of`.
    """
    total, n = [], 0
    for level in {cell.outcome.level for cell in cells}:
        equal = Counter[tuple[float, float]]()
        for cell in cells:
            if cell.outcome.level == level:
                equal.update(zip(cell.bits, cell.share, strict=True))
        for (bits, share), count in equal.items():
            value = bits if name == "bits" else share
            if value != NO_BITS:
                total.append(value * count)
                n += count
    return (math.fsum(total) / n if n else math.nan), n


def _distribution(counts: Mapping[Outcome, int], unscored: int) -> dict[str, int]:
    """Numbers of items by level, from 1 to the coarsest that occurs, then wrong, idk and unscored; zeros included."""
    deepest = max((outcome.level or 1 for outcome in counts), default=1)
    names = [*(str(level) for level in range(1, deepest + 1)), "wrong", "idk"]
    count_of = dict.fromkeys(names, 0)
    for outcome, count in counts.items():
        count_of[outcome.name] += count
    return {**count_of, "unscored": unscored}


def _mean_over_relations(
    relations: Mapping[str, GroupScore],
    drawn: Mapping[str, Mapping[str, Sequence[NDArray[np.float64]]]],
    chosen: Sequence[Metric],
) -> dict[str, Estimate]:
    """The mean over the relations that have a score; `n` is the number of these relations."""
    import numpy as np

    means_of = {}
    for metric in chosen:
        values = [e.value for group in relations.values() if (e := group.estimates[metric.name]).n]
        scores = np.stack([np.concatenate(by_metric[metric.name] or [np.empty(0)]) for by_metric in drawn.values()])
        # A relation without counted items in a resample is left out of its mean.
        there = ~np.isnan(scores)
        means = divide_or_nan(np.where(there, scores, 0.0).sum(axis=0), there.sum(axis=0).astype(np.float64))
        known = [value for value in values if not math.isnan(value)]
        mean = sum(known) / len(known) if known else math.nan
        means_of[metric.name] = Estimate(value=mean, interval=percentile_interval(means), n=len(values))
    return means_of


def _relation_order(name: str) -> tuple[bool, int, str]:
    # P19 before P112, and names that are no property ids last.
    number = name[1:]
    return (not number.isdigit(), int(number) if number.isdigit() else 0, name)
