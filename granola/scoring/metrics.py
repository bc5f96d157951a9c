"""Metrics as values, and scores by them: over all items, per relation, and the mean over relations, with intervals.

`str` of a metric gives its name with its parameters; metrics compare and pickle. Every metric here is a mean over
items, so that scores need only the number of items with each outcome. Statistics that are not means use
`granola.scoring.statistics.bootstrap_estimate`.
Source "Yona et al. 2024" is "Narrowing the Knowledge Evaluation Gap: Open-Domain Question Answering with
Multi-Granularity Answers"; i* is the finest level that a prediction matches, 1 the finest.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from granola.errors import MatcherError
from granola.scoring.statistics import (
    Estimate,
    chunk_sizes_of_resamples,
    divide_or_nan,
    draw_counts,
    percentile_interval,
    random_stream,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from abstraction.files.rows import TieredRow

LAMBDA = 0.5  # weighs levels; level 2 then counts 0.61, level 3 0.37
Standard = Literal["aliases", "gold"]
STANDARDS: tuple[Standard, ...] = get_args(Standard)
"""The names of level 1: the gold answers with their aliases, or alone."""
Over = Literal["all", "answered", "matched"]
"""The items that a metric is a mean over: all, those that did not abstain, those that matched a level."""


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The input of a metric for a scored item: its matched level from 1, or None, and whether it abstained.

    `bits` is the information content of the matched level; `share` is its part of the bits of the answer, in [0, 1].
    Both are 0 where nothing matched, and None where the ladder has no bits. `other` is the outcome, without bits, by
    the other standard of level 1 (with or without its aliases); None where it is the same.
    """

    level: int | None
    abstained: bool = False
    bits: float | None = None
    share: float | None = None
    other: Outcome | None = None

    @property
    def without_bits(self) -> Outcome:
        """The outcome without bits; without them many items have equal outcomes."""
        return Outcome(level=self.level, abstained=self.abstained, other=self.other)

    @property
    def name(self) -> str:
        """The name under which the distribution counts the item: its level, "wrong" or "idk"."""
        return str(self.level) if self.level is not None else "idk" if self.abstained else "wrong"

    @property
    def sort_key(self) -> tuple[tuple[bool, int, bool], ...]:
        """Sort key: by level, then wrong, then idk; ties by the same key of the other outcome."""
        place = (self.level is None, self.level or 0, self.abstained)
        return (place,) if self.other is None else (place, *self.other.sort_key)


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """The definition of a metric.

    `title` is its name in tables, `source` the formula in words with its origin. `adds` takes the outcome and lambda,
    and returns the value that the mean averages. `better` is its direction, "neither" for a description of behaviour.
    `over` are the items that it averages; `adds` is not asked about others. `by_other_standard` where it counts the
    outcomes by the other standard of level 1. `summed_field` is the field of an outcome that the mean sums, None where
    items of equal `Outcome.without_bits` add the same value.
    """

    title: str
    source: str
    adds: Callable[[Outcome, float], float | None]
    better: Literal["higher", "lower", "neither"] = "higher"
    range: tuple[float, float] = (0.0, 1.0)
    weighs: bool = False
    summed_field: Literal["bits", "share"] | None = None
    over: Over = "all"
    by_other_standard: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """A metric by its name, with lambda where it weighs levels, else None.

    `str(metric)` is "coverage" or "informativeness(lambda=0.5)". Raises MatcherError for an unknown name or an
    impossible lambda.
    """

    name: str
    lambda_: float | None = None

    @property
    def definition(self) -> Definition:
        """The definition of the metric, looked up by its name."""
        return _DEFINITIONS[self.name]

    def __post_init__(self) -> None:
        if self.name not in _DEFINITIONS:
            # Most unknown names are typing errors.
            near = difflib.get_close_matches(self.name, _DEFINITIONS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(_DEFINITIONS)}"
            raise MatcherError(f"no metric {self.name!r}{hint}")
        if not self.definition.weighs:
            if self.lambda_ is not None:
                raise MatcherError(f"{self.name} has no lambda")
        elif self.lambda_ is None:
            # Frozen; the default is part of the printed name.
            object.__setattr__(self, "lambda_", LAMBDA)
        elif not (math.isfinite(self.lambda_) and self.lambda_ >= 0):
            raise MatcherError(f"lambda is {self.lambda_:g}; allowed: 0 (all levels weigh the same) or more")

    def __str__(self) -> str:
        return self.name if self.lambda_ is None else f"{self.name}(lambda={self.lambda_!r})"

    @property
    def title(self) -> str:
        """The name in tables."""
        return self.definition.title

    def adds(self, outcome: Outcome) -> float | None:
        """The value that an item adds to the numerator, or None where the metric does not count the item."""
        definition = self.definition
        if definition.by_other_standard:
            outcome = outcome.other or outcome
        if (definition.over == "answered" and outcome.abstained) or (
            definition.over == "matched" and outcome.level is None
        ):
            return None
        return definition.adds(outcome, LAMBDA if self.lambda_ is None else self.lambda_)

    def score(self, counts: Mapping[Outcome, int]) -> tuple[float, int]:
        """Return (score, number of counted items) for items given as outcome counts; NaN with 0 where none is counted.
        """
        added = [(adds, count) for outcome, count in counts.items() if (adds := self.adds(outcome)) is not None]
        n = sum(count for _, count in added)
        # fsum: the same in any order of outcomes
        return (math.fsum(adds * count for adds, count in added) / n if n else math.nan), n


def informativeness_weight(level: int, lambda_: float = LAMBDA) -> float:
    """exp(-lambda * (level - 1)): 1 at level 1, falling with the level (Yona et al. 2024, Definition 1)."""
    return math.exp(-lambda_ * (level - 1))


def usual_standard_of_level_1(matcher: str) -> Standard:
    """The standard of level 1 that a matcher has by default: "gold", as in the paper, for `f1`, the matcher of the
    paper; else "aliases".
    """
    return "gold" if matcher in ("f1", "f1-published") else "aliases"


def metrics(lambda_: float = LAMBDA, standard: Standard = "aliases") -> tuple[Metric, ...]:
    """Every metric in display order.

    `lambda_` weighs informativeness; MatcherError where it is negative. `standard` selects the names of level 1, and
    so affects i*, every accuracy and informativeness: the gold answers alone, as in the paper, or all aliases as well.
    Both accuracies and the gap by the other standard are metrics of their own.
    """
    if standard not in STANDARDS:
        raise MatcherError(f"standard is {standard!r}; allowed: {', '.join(STANDARDS)}")
    return tuple(
        Metric(name=name, lambda_=lambda_ if definition.weighs else None)
        for name, definition in _DEFINITIONS.items()
        if not name.endswith(f"_{standard}")
    )


def _matched(outcome: Outcome, _: float = 0.0) -> float:
    return float(outcome.level is not None)


def _matched_finest(outcome: Outcome, _: float = 0.0) -> float:
    return float(outcome.level == 1)


def _weight_of_level(outcome: Outcome, lambda_: float) -> float:
    return 0.0 if outcome.level is None else informativeness_weight(outcome.level, lambda_)


_PAPER = "Yona et al. 2024, Definition 1"
_CONTENT = "Resnik 1995, information content"
_SELECTIVE = "El-Yaniv and Wiener 2010; Yona et al. 2024, section 5"
_NAMES_OF_LEVEL_1 = {"aliases": "with all names of the gold answer", "gold": "with the gold answers alone"}

_ACCURACIES = {
    "granola_accuracy": Definition(
        title="GRANOLA accuracy",
        source=f"{_PAPER}: share of scored items that match at any level; an abstention counts 0",
        adds=_matched,
    ),
    "standard_accuracy": Definition(
        title="standard accuracy",
        source="share of scored items that match level 1; an abstention counts 0",
        adds=_matched_finest,
    ),
}
_GAP = {
    "knowledge_evaluation_gap": Definition(
        title="knowledge evaluation gap",
        source="Yona et al. 2024, section 5: GRANOLA accuracy minus standard accuracy, both over the items "
        "that did not abstain",
        better="neither",
        over="answered",
        adds=lambda outcome, _: _matched(outcome) - _matched_finest(outcome),
    )
}


def _definitions_under_each_standard(definitions: Mapping[str, Definition]) -> dict[str, Definition]:
    """The definitions under each standard of level 1, named "NAME_STANDARD"."""
    return {
        f"{name}_{standard}": replace(
            definition,
            title=f"{definition.title}, {standard}",
            source=f"{definition.title}, level 1 {_NAMES_OF_LEVEL_1[standard]}",
            by_other_standard=True,
        )
        for name, definition in definitions.items()
        for standard in STANDARDS
    }


_DEFINITIONS: dict[str, Definition] = {  # in the order of tables: grouped by the items that they average
    **_ACCURACIES,
    **_definitions_under_each_standard(_ACCURACIES),
    "informativeness": Definition(
        title="informativeness",
        source=f"{_PAPER} and section 5.1: mean of exp(-lambda (i* - 1)) over the scored items, 0 where nothing "
        "matched or the item abstained",
        adds=_weight_of_level,
        weighs=True,
    ),
    "informativeness_bits": Definition(
        title="informativeness by bits",
        source=f"ours; {_CONTENT}: mean of bits(level i*) / bits(level 1) over the scored items whose ladders have "
        "bits, 0 where nothing matched",
        adds=lambda outcome, _: outcome.share,
        summed_field="share",
    ),
    "bits": Definition(
        title="bits told",
        source=f"ours; {_CONTENT}: mean of bits(level i*) over the scored items whose ladders have bits, 0 where "
        "nothing matched",
        range=(0.0, math.inf),
        adds=lambda outcome, _: outcome.bits,
        summed_field="bits",
    ),
    "coverage": Definition(
        title="coverage",
        source=f"{_SELECTIVE}: share of scored items that did not abstain",
        better="neither",
        adds=lambda outcome, _: float(not outcome.abstained),
    ),
    "abstention_rate": Definition(
        title="abstention rate",
        source="1 - coverage",
        better="neither",
        adds=lambda outcome, _: float(outcome.abstained),
    ),
    "selective_accuracy": Definition(
        title="selective GRANOLA accuracy",
        source=f"{_SELECTIVE}.1: GRANOLA accuracy over the items that did not abstain; the paper's accuracy "
        "wherever IDK occurs",
        adds=_matched,
        over="answered",
    ),
    "selective_standard_accuracy": Definition(
        title="selective standard accuracy",
        source=f"{_SELECTIVE}: standard accuracy over the items that did not abstain",
        adds=_matched_finest,
        over="answered",
    ),
    **_GAP,
    **_definitions_under_each_standard(_GAP),
    "informativeness_matched": Definition(
        title="informativeness, matched",
        source="ours: mean of exp(-lambda (i* - 1)) over the matched items",
        adds=_weight_of_level,
        weighs=True,
        over="matched",
    ),
    "informativeness_bits_matched": Definition(
        title="informativeness by bits, matched",
        source="ours: informativeness by bits over the matched items",
        adds=lambda outcome, _: outcome.share,
        summed_field="share",
        over="matched",
    ),
    "bits_matched": Definition(
        title="bits told, matched",
        source="ours: mean of bits(level i*) over the matched items",
        range=(0.0, math.inf),
        adds=lambda outcome, _: outcome.bits,
        summed_field="bits",
        over="matched",
    ),
}

NO_RELATION = "none"  # the name of the group of rows that name no relation


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupScore:
    """Scores of a set of items by metric name, the numbers of its scored and unscored items, and the number of items
    at each level, wrong, and abstained.
    """

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
    cells: dict[tuple[str, Outcome], _Cell] = {}
    unscored = Counter[str]()
    for named, outcome in items:
        relation = named or NO_RELATION
        if outcome is None:
            unscored[relation] += 1
            continue
        # Items with equal outcomes share a cell: the resampling then draws counts instead of items.
        place = (relation, outcome.without_bits)
        if (cell := cells.get(place)) is None:
            cell = cells[place] = _Cell(*place)
        cell.values[outcome.bits, outcome.share] += 1
    # A fixed order of cells gives the same random draws whatever the order of items.
    ordered = sorted(cells.values(), key=lambda cell: (_relation_order(cell.relation), cell.outcome.sort_key))
    names = sorted({cell.relation for cell in ordered} | unscored.keys(), key=_relation_order)
    # Without any relation there is nothing to break down.
    if names == [NO_RELATION]:
        names = []
    # Cells of a relation are consecutive; there are none where all its items are unscored.
    of_cells = [cell.relation for cell in ordered]
    starts = {name: of_cells.index(name) if name in of_cells else 0 for name in names}
    parts: dict[str | None, slice]
    parts = {name: slice(start, start + of_cells.count(name)) for name, start in starts.items()}
    parts[None] = slice(None)  # all items
    drawn: dict[str | None, dict[str, list[NDArray[np.float64]]]]
    drawn = {name: {metric.name: [] for metric in chosen} for name in parts}
    for sums in _resampled_sums(ordered, chosen, resamples=resamples, seed=seed):
        for metric in chosen:
            added, counted = sums[metric.name]
            for name, part in parts.items():
                score = divide_or_nan(added[:, part].sum(axis=1), counted[:, part].sum(axis=1))
                drawn[name][metric.name].append(score)
    whole = _group_score(chosen, ordered, drawn.pop(None), unscored.total())
    scores = {name: _group_score(chosen, ordered[parts[name]], drawn[name], unscored[name]) for name in names}
    return whole, scores, _mean_over_relations(scores, list(drawn.values()), chosen) if names else {}


@dataclass(frozen=True, slots=True)
class _Cell:
    """The items of one relation with one outcome, counted by their pair (bits, share)."""

    relation: str
    outcome: Outcome
    values: Counter[tuple[float | None, float | None]] = field(default_factory=Counter)

    @property
    def n(self) -> int:
        """The number of items."""
        return self.values.total()

    def is_counted_by(self, metric: Metric) -> bool:
        """Whether a metric of bits or shares counts the items of the cell."""
        return self.outcome.level is not None or metric.definition.over != "matched"


Sums = dict[str, "tuple[NDArray[np.float64], NDArray[np.float64]]"]


def _resampled_sums(cells: Sequence[_Cell], chosen: Sequence[Metric], *, resamples: int, seed: int) -> Iterator[Sums]:
    """Yield, chunk by chunk, the sum and the number of counted items of each cell for each metric, [resamples, cells].

    Bits have a random stream of their own, so that they change no digit of other metrics.
    """
    import numpy as np

    # Two streams: drawing bits must not shift the draws of other metrics.
    outcomes, values = random_stream(seed), random_stream(seed, "values")
    numbers = [cell.n for cell in cells]  # items of each cell, drawn with replacement
    for some in chunk_sizes_of_resamples(
        max([len(cells), *(len(cell.values) for cell in cells)]), resamples if cells else 0
    ):
        drawn = draw_counts(numbers, sum(numbers), outcomes, resamples=some)
        sums_of_cells = [_resampled_bits_and_shares(cell, drawn[:, place], values) for place, cell in enumerate(cells)]
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


def _resampled_bits_and_shares(cell: _Cell, drawn: NDArray[np.int64], random: np.random.Generator) -> Sums:
    """The sums of bits and of shares of `drawn` items of a cell, for each resample, and how many items have them."""
    import numpy as np

    # In a fixed order, so that the draws do not depend on that of the items; those without bits are first.
    pairs = sorted(cell.values, key=lambda pair: [-1.0 if value is None else value for value in pair])
    # a cell with one kind of items needs no second draw
    kinds = drawn[:, None] if len(pairs) == 1 else draw_counts([cell.values[pair] for pair in pairs], drawn, random)
    out: Sums = {}
    for name, values in zip(("bits", "share"), zip(*pairs, strict=True), strict=True):
        there = np.array([value is not None for value in values])
        known = np.array([value or 0.0 for value in values])
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
            value, n = metric.score(counts)
        else:
            value, n = _mean_of_field([cell for cell in cells if cell.is_counted_by(metric)], field)
        parts = drawn[metric.name]
        interval = percentile_interval(np.concatenate(parts) if parts else ())
        estimates[metric.name] = Estimate(value=value, interval=interval, n=n)
    # Levels from 1 to the coarsest that occurs, then the others; zeros included.
    deepest = max((outcome.level or 1 for outcome in counts), default=1)
    count_of = dict.fromkeys([*map(str, range(1, deepest + 1)), "wrong", "idk"], 0)
    for outcome, count in counts.items():
        count_of[outcome.name] += count
    distribution = {**count_of, "unscored": unscored}
    return GroupScore(n=counts.total(), unscored=unscored, estimates=estimates, distribution=distribution)


def _mean_of_field(cells: Sequence[_Cell], name: Literal["bits", "share"]) -> tuple[float, int]:
    """Return (mean, n) of the field `name` of items; equal values are multiplied by their number first, as in
    `Metric.score`.
    """
    total, n = [], 0
    for level in {cell.outcome.level for cell in cells}:
        equal = Counter[tuple[float | None, float | None]]()
        for cell in cells:
            if cell.outcome.level == level:
                equal.update(cell.values)
        for (bits, share), count in equal.items():
            if (value := bits if name == "bits" else share) is not None:
                total.append(value * count)
                n += count
    return (math.fsum(total) / n if n else math.nan), n  # fsum: the same in any order of items


def _mean_over_relations(
    relations: Mapping[str, GroupScore],
    drawn: Sequence[Mapping[str, Sequence[NDArray[np.float64]]]],
    chosen: Sequence[Metric],
) -> dict[str, Estimate]:
    """The mean over the relations that have a score; `n` is the number of these relations."""
    import numpy as np

    means_of = {}
    for metric in chosen:
        values = [e.value for group in relations.values() if (e := group.estimates[metric.name]).n]
        scores = np.stack([np.concatenate(by_metric[metric.name] or [np.empty(0)]) for by_metric in drawn])
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
