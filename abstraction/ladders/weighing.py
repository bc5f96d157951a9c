"""Ladders with bits, and the invariant that bits never rise towards coarser levels.

Information content after Resnik 1995, "Using information content to evaluate semantic similarity in a taxonomy": -log2
of the share of a population that has a property. The population is the same for a whole ladder: the possible answers
of the question (`population_of`). The answer is one of its N members, log2(N) bits.

A date is drawn from the days of its relation's years. A date outside of them is drawn from the common era up to the
same last year, or else from a span of a power of ten of years, at least ten thousand. A quantity lies anywhere on a
logarithmic scale of its relation's powers of ten, so that the bits of an interval depend on its relative width alone;
counts below twenty, including zero, lie on the same scale shifted by one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from abstraction.base.properties import package_data
from abstraction.base.relations import Relation
from abstraction.base.tiers import Condition, Level, Tier
from abstraction.ladders.facets import Facets, information, year_span
from abstraction.ladders.proposals import Proposal
from abstraction.linking.candidates import ValueCounts
from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.language.amount_reader import ParsedQuantity
from abstraction.text.language.calendar_units import tolerance
from abstraction.text.language.date_reader import ParsedDate
from abstraction.text.language.phrases import bare
from kg.base.bounded_cache import SizedDict
from kg.base.model import TimeValue, normalise
from kg.graph.graph import time_key
from kg.store.protocol import Store

ANCIENT = 10_000  # years: the least span from which the bits of a date before the common era are computed
YEAR = 365.2425  # days, the mean of the Gregorian calendar
_UNITS = {"decade": 10, "century": 100, "millennium": 1000}  # years
_EDGE = 10  # years of the beginning or the end of a century
_DATE = re.compile(r"-?\d+(?:-\d\d){0,2}")
# States of tiers of amounts, as builders write them.
_ROUNDED = re.compile(r"(?P<amount>-?[\d.]+) to (?P<digits>\d+) digits")
_BETWEEN = re.compile(r"(?P<low>-?[\d.]+) to (?P<high>-?[\d.]+)")
_SMALL = 20  # smaller counts are on the shifted scale


def with_date_bits(parsed: ParsedDate, levels: Sequence[Level], relation: str) -> tuple[Level, ...]:
    """The levels of a date, the answer first, with bits: log2 of the days it is drawn from over the days it covers."""
    return _with_bits(levels, _years_drawn_from(parsed, relation) * YEAR, _days_of_answer(parsed), _days_of_condition)


def with_quantity_bits(parsed: ParsedQuantity, levels: Sequence[Level], relation: str) -> tuple[Level, ...]:
    """The levels of an amount, the answer first, with bits: log2 of the scale's width over the interval's."""
    decades_of = package_data("spreads.json")["decades"]
    decades = decades_of.get(relation, decades_of["default"])
    small = parsed.unit is None and 0 <= parsed.amount < _SMALL and parsed.amount == parsed.amount.to_integral_value()
    if small:
        # From n - 0.5 to n + 0.5, on the scale shifted by one.
        answer_width = math.log10(float(parsed.amount) + 1.5) - math.log10(float(parsed.amount) + 0.5)
    else:
        # The uncertainty of the answer: its bound, else half a unit of its last digit, a whole one if approximate.
        unit = Decimal(1).scaleb(parsed.amount.adjusted() - max(parsed.digits, 1) + 1)
        bound = parsed.bound or (unit if parsed.approximate else unit / 2)
        answer_width = _powers_of_ten_between(parsed.amount - bound, parsed.amount + bound, decades)
    return _with_bits(levels, decades, answer_width, lambda state: _width_of_condition(state, decades))


def _with_bits(
    levels: Sequence[Level], whole: float, answer_width: float, width: Callable[[str], float | None]
) -> tuple[Level, ...]:
    def in_bits(part: float | None) -> float | None:
        return None if not part else max(0.0, math.log2(whole / part))

    def narrowest_width(states: Iterable[Condition]) -> float | None:
        """The narrowest width that the conditions state.

        It is at least that of the answer, since a mean decade may be some hours shorter than ten real years.
        """
        widths = (width(condition.value) for condition in states)
        part = min((stated for stated in widths if stated is not None), default=None)
        return max(part, answer_width) if part else part

    first = Level(tiers=tuple(replace(tier, bits=in_bits(answer_width)) for tier in levels[0].tiers))
    return (
        first,
        *(
            Level(tiers=tuple(replace(tier, bits=in_bits(narrowest_width(tier.conditions))) for tier in level.tiers))
            for level in levels[1:]
        ),
    )


def _years_drawn_from(parsed: ParsedDate, relation: str) -> int:
    """The number of years that the date is drawn from."""
    years = [value.year for value in (parsed.first, parsed.last) if value is not None]
    first, last = year_span(relation)
    if first <= min(years) and max(years) <= last:
        return last - first + 1
    if min(years) >= 1 and max(years) <= last:
        return last
    age = ANCIENT
    while age < max(map(abs, years)):  # the next power of ten
        age *= 10
    return age


def _days_of_answer(parsed: ParsedDate) -> float:
    """The number of days that the answer itself covers."""
    first, last = parsed.first, parsed.last
    if last is not None:
        days = _day_number(time_key(last, late=True)) - _day_number(time_key(first)) + 1
        return days + (2 * tolerance(first.year) * YEAR if parsed.circa else 0)
    if parsed.circa:
        if first.precision > 9:
            return YEAR
        around = {8: 10, 7: 100}.get(first.precision) or tolerance(first.year)  # years, by precision: decade, century
        return _unit_days(first) + 2 * around * YEAR
    return _unit_days(first) / (3 if parsed.part else 1)  # early, mid or late: a third of the unit


def _unit_days(value: TimeValue) -> float:
    if value.precision >= 11:
        return 1.0
    # Precision 11 is a day, 10 a month, 9 a year, 8 a decade.
    return YEAR / 12 if value.precision == 10 else YEAR * 10 ** (9 - value.precision)


def _day_number(key: tuple[int, int, int]) -> float:
    year, month, day = key
    return (year if year > 0 else year + 1) * YEAR + (month - 1) * YEAR / 12 + day  # there is no year 0


def _days_of_condition(state: str) -> float | None:
    if _DATE.fullmatch(state):
        return (YEAR, YEAR / 12, 1.0)[state.lstrip("-").count("-")]
    if " of " in state:
        return _EDGE * YEAR
    sizes = [_UNITS.get(unit.split(" ")[0]) for unit in state.split(" or ")]
    known = [size for size in sizes if size is not None]
    return sum(known) * YEAR if len(known) == len(sizes) else None


def _powers_of_ten_between(low: Decimal, high: Decimal, decades: float) -> float:
    """Powers of ten between two amounts of one sign; an interval that reaches zero begins at half its middle."""
    if high < 0:
        low, high = -high, -low
    middle = (low + high) / 2
    return math.log10(high) - math.log10(low if low > 0 else middle / 2) if middle > 0 else decades


def _width_of_condition(state: str, decades: float) -> float | None:
    state = state.replace(",", "")
    if match := _ROUNDED.fullmatch(state):
        amount = Decimal(match["amount"])
        unit = Decimal(1).scaleb(amount.adjusted() - int(match["digits"]) + 1)
        return _powers_of_ten_between(amount - unit, amount + unit, decades)
    if match := _BETWEEN.fullmatch(state):
        return _powers_of_ten_between(Decimal(match["low"]), Decimal(match["high"]), decades)
    return None


# Classes whose population is every located entity.
_LOCATED = frozenset({"place", "school", "building", "astronomical"})
_STATES = "country"  # the class whose population is the sovereign states
# An answer of several classes is counted in the first of these.
_ORDER = (
    "person", "fictional", "award", "group", "label", "club", "school", "country", "company", "place", "work",
    "genre", "occupation", "office", "language", "position", "taxon", "organisation", "building", "event",
)  # fmt: skip
# Classes asked for that fix the population, whatever the class of the answer.
_DECIDES = frozenset({"place", "country", "school", "genre", "occupation", "language", "position", "award", "taxon"})
KEPT = 40_000_000  # characters of conditions whose bits are kept: 160 MB at most
_TINY = 1e-9  # rounding error between sums in different orders


class Information:
    """Bits of tiers from one store. The same ladder always gets the same bits.

    `lowered` counts the tiers, once per ladder, whose own counts gave more bits than a finer tier.
    """

    def __init__(self, store: Store, vocabulary: Vocabulary) -> None:
        self._counts = ValueCounts(store)
        self._facets = Facets(self._counts, vocabulary)
        self._bits: SizedDict[tuple[str, frozenset[Condition], str], float | None] = SizedDict(
            KEPT, lambda key, _: 200 + len(key[2]) + sum(200 + len(condition.value) for condition in key[1])
        )
        self.lowered = 0

    def with_bits(
        self,
        levels: Sequence[Level],
        nodes: Mapping[str, Proposal],
        *,
        asked: Relation,
        kinds: Collection[str],
    ) -> tuple[Level, ...]:
        """The levels, the answer's first, with bits; `nodes` are the proposals that the other levels were made from.

        Everything that has a finer tier has the coarser ones too, so n of the coarser tier is at least that of the
        finer. Counts include only what the source states and the snapshot places, and may be too small; then the count
        of the finer tier is the better lower bound of n, and the coarser tier gets its bits.
        """
        kind = population_of(asked, kinds)
        size = self.size(kind) if kind else 0
        if kind is None or size < 2:
            return tuple(levels)
        answer = math.log2(size)
        keys = {normalise(node.text): key for key, node in nodes.items()}
        counted_bits: dict[str, float | None] = {}
        bounds: dict[str, float] = {}

        def bounded_bits(key: str) -> float:
            """Bits of a proposal, if any, which no coarser one may exceed."""
            known = bounds.get(key)
            if known is None:
                bounds[key] = answer  # a cycle sets no bound
                known = min((bounded_bits(parent) for parent in nodes[key].parents if parent in nodes), default=answer)
                counted = counted_bits[key] = self._proposal_bits(kind, size, nodes[key])
                if counted is not None and counted < known:
                    known = counted
                elif counted is not None and counted > known + _TINY:
                    self.lowered += 1
                bounds[key] = known
            return known

        def with_bits_of_node(tier: Tier) -> Tier:
            key = keys.get(normalise(tier.text))
            bits = bounded_bits(key) if key else None
            return tier if not key or counted_bits[key] is None else replace(tier, bits=bits)

        first = Level(tiers=tuple(replace(tier, bits=answer) for tier in levels[0].tiers))
        return (first, *(Level(tiers=tuple(map(with_bits_of_node, level.tiers))) for level in levels[1:]))

    def bits_of_answer(self, qid: str, relation: str) -> float | None:
        """The bits of an answer among all answers of the relation in the source, add-one smoothed; None for none."""
        total = self._counts.total(relation)
        return math.log2((total + 1) / (self._counts.of(relation, qid) + 1)) if total else None

    def bits_of_container(self, qid: str, asked: Relation, kinds: Collection[str]) -> float | None:
        """The bits of lying in a place, in the population for answers of its classes; None where they are unknown."""
        kind = population_of(asked, kinds)
        size = self.size(kind) if kind in _LOCATED else 0
        if kind is None or size < 2:
            return None
        condition = Condition(property="self", value=qid)
        return self._proposal_bits(kind, size, Proposal(key=qid, text=qid, qid=qid, conditions=frozenset({condition})))

    def size(self, kind: str) -> int:
        """N: the number of members of the population in the whole source."""
        if kind in _LOCATED:
            return self._facets.world.located
        if kind == _STATES:
            return len(self._facets.world.states)
        return self._facets.taxa.statements if kind == "taxon" else self._facets.size(kind)

    def _proposal_bits(self, kind: str, size: int, node: Proposal) -> float | None:
        phrase = bare(node.text) if any(c.property == "text" for c in node.conditions) else ""
        key = (kind, node.conditions, phrase)
        if key not in self._bits:
            if kind == _STATES:  # each counts once; only parts of the world can be counted
                held = (self._facets.world.states_in(c.value) for c in node.conditions if c.property == "self")
                least = min(filter(None, held), default=None)
                self._bits[key] = information(least / size) if least else None
            else:
                self._bits[key] = self._facets.bits_of(node.conditions, kind, size, phrase)
        return self._bits[key]


def population_of(asked: Relation, kinds: Collection[str]) -> str | None:
    """The population that the answers of a question are drawn from, as an answer class; None where it is unknown.

    For places, schools and buildings it is every located entity; for questions after a country the sovereign states;
    else the answer's class: persons, record labels, works, genres.
    """
    if asked.asks in _DECIDES:
        return asked.asks
    return next((kind for kind in _ORDER if kind in kinds), None)


def rising_tiers(levels: Sequence[Level]) -> list[tuple[int, int]]:
    """(level, position), both from 1, of the tiers with more bits than any tier that they may follow from.

    Those are the tiers of the level before; also of finer levels where the level before has a tier without bits, or
    where the row has several answers, whose ladders are joined.
    """
    rising = []
    most = math.inf
    several = len(levels[0].tiers) > 1
    for number, level in enumerate(levels, 1):
        bits = [tier.bits for tier in level.tiers]
        known = [amount for amount in bits if amount is not None]
        rising += [(number, at) for at, amount in enumerate(bits, 1) if amount is not None and amount > most]
        here = max(known, default=most)
        unsure = number > 1 and (several or len(known) < len(bits))
        most = max(here, most) if unsure and most < math.inf else here
    return rising
