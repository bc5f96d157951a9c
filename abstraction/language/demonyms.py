"""National adjectives: "French" for France, and which country an adjective means.

The bundled table knows present states, some lands that are none, and common historical ones; a snapshot's own
P1549 statements add to it and may correct it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from abstraction.package_data import package_text
from kg.terms import normalise


@dataclass(frozen=True, kw_only=True)
class Demonyms:
    """National adjectives both ways. Words are normalised; where a word stands for several countries the
    present state comes first.

    `adjectives` maps a country's QID to the adjective for phrases, `countries` an adjective or an attributive
    name ("US") to QIDs, `names` a country's name to QIDs.
    """

    adjectives: Mapping[str, str]
    countries: Mapping[str, tuple[str, ...]]
    names: Mapping[str, tuple[str, ...]]
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@lru_cache(maxsize=1)
def bundled_demonyms() -> Demonyms:
    """The table that comes with the package, `data/demonyms.tsv`."""
    adjectives: dict[str, str] = {}
    countries: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    variants: dict[str, tuple[str, ...]] = {}
    for line in package_text("demonyms.tsv").splitlines():
        if not line or line.startswith("#"):
            continue
        qid, adjective, others, called = line.split("\t")
        adjectives[qid] = adjective
        variants[qid] = tuple(o for o in others.split("|") if o)
        for word in (adjective, *variants[qid]):
            countries.setdefault(normalise(word), []).append(qid)
        for name in called.split("|"):
            names.setdefault(normalise(name), []).append(qid)
    return Demonyms(
        adjectives=adjectives,
        countries={word: tuple(dict.fromkeys(qids)) for word, qids in countries.items()},
        names={name: tuple(dict.fromkeys(qids)) for name, qids in names.items()},
        variants=variants,
    )


_ADJECTIVAL = re.compile(r"(?:[^aeiou]ish|an|ese|ic|i|ois|ch|ese|ense|é|que|sh|ss)$")


def choose_adjective(candidates: Sequence[str], frequency: Mapping[str, int], known: str | None) -> str | None:
    """The national adjective among the forms a country's P1549 lists, which mixes adjectives, nouns and plurals.

    The form that opens most descriptions wins; where none does, the bundled adjective, then the form that
    looks most like an adjective, singular before plural.
    """
    forms: list[str] = [*([known] if known else []), *candidates]
    pool = [form for form in dict.fromkeys(forms) if form]
    if not pool:
        return None
    bases = {c.casefold() for c in pool}
    singular = [c for c in pool if not (c.endswith("s") and c[:-1].casefold() in bases)] or pool
    used = [c for c in singular if frequency.get(normalise(c), 0) > 0]
    if used:
        return max(used, key=lambda c: (frequency[normalise(c)], c == known))
    if known:
        return known
    adjectival = [c for c in singular if _ADJECTIVAL.search(c) and c[:1].isupper()]
    return (adjectival or singular)[0]
