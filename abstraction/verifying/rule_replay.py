"""Recomputing what evidence calls a rule: the calendar, arithmetic, and "a king is a monarch"."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from abstraction.tiers import Level, Tier
from abstraction.verifying.amount_ranges import holds as range_holds
from abstraction.verifying.amount_ranges import range_of_words
from abstraction.verifying.calendar_spans import span_of_words
from abstraction.verifying.comparable_words import all_words, bare
from kg.terms import normalise
from kg.walks.graph import Graph

_IS_A = re.compile(r"an? (?P<fine>.+) is an? (?P<coarse>(?s:.+))\Z")
CLIMB = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruling:
    """Whether a rule holds: `holds` True or, where nobody can tell, False; `wrong` says what does not hold."""

    holds: bool
    wrong: str = ""


def rule_holds(graph: Graph, rule: str) -> Ruling:
    """ "a X is a Y": Y ends X, the table of titles says so, or X leads to Y through the snapshot's classes."""
    match = _IS_A.match(normalise(rule))
    if match is None:
        return Ruling(holds=False)
    fine, coarse = match["fine"], match["coarse"]
    if all_words(fine)[-len(all_words(coarse)) :] == all_words(coarse):
        return Ruling(holds=True)
    if titles().get(fine) == coarse or titles().get(fine.split(" ")[-1]) == coarse:
        return Ruling(holds=True)
    above = {m.id for m in graph.find(coarse)}
    below = [m.id for m in graph.find(fine)]
    if not above or not below:
        return Ruling(holds=False)
    if any(above & _superclasses(graph, qid) for qid in below):
        return Ruling(holds=True)
    return Ruling(holds=False, wrong=f"the snapshot puts no {fine} under {coarse}")


def _superclasses(graph: Graph, qid: str) -> set[str]:
    seen, layer = {qid}, [qid]
    for _ in range(CLIMB):
        layer = [t for c in layer for t in graph.targets(c, "P279") if t not in seen]
        seen.update(layer)
    return seen


@lru_cache(maxsize=1)
def titles() -> Mapping[str, str]:
    """Title -> what every holder is, from the table of offices."""
    data = json.loads(files("abstraction").joinpath("data/offices.json").read_text(encoding="utf-8"))
    out: dict[str, str] = {}
    for family in data["families"].values():
        for title in (*family["unique"], *family["titles"]):
            if family["lift"]:
                out[normalise(title)] = family["lift"]
    return out


def value_tier_holds(answer: Level, tier: Tier) -> Ruling:
    """A date or an amount: each name of the tier, recomputed, must hold the answer under one of its own names.

    A coarser tier may hold the answer in one calendar or unit only, so one name of the answer is enough for each name.
    A bare number may be a year or a count: one reading of a name is enough.
    """
    names = [name for t in answer.tiers for name in t.names()]
    spans = [s for name in names if (s := span_of_words(name))]
    ranges = [r for name in names if (r := range_of_words(name))]
    amount = range_of_words(tier.text)
    rounded = amount is not None and amount.low < amount.high
    read = False
    for name in tier.names():
        if rounded and name != tier.text and _NUMBER_FIRST.match(bare(name)):
            continue  # the rounded number itself, said without "about"
        readings = []
        outer, about = span_of_words(name), range_of_words(name)
        if outer is not None and spans:
            readings.append(any(outer.holds(inner) for inner in spans))
        if about is not None and ranges:
            readings.append(any(range_holds(about, inner) for inner in ranges))
        if readings and not any(readings):
            return Ruling(holds=False, wrong=f"{name!r} does not hold {names[0]!r}")
        read |= bool(readings)
    return Ruling(holds=read)


_NUMBER_FIRST = re.compile(r"(?:[a-z]{1,3}\$|[^\w\s])*\s*\d")
