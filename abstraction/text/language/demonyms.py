"""Countries by their adjectives ("French" for France) and by their names in other languages.

The bundled table contains present states, some lands that are not states, and common historical ones; the P1549
statements of a snapshot extend and correct it. Names in other languages are from Unicode CLDR.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from abstraction.base.properties import package_data, package_text
from abstraction.text.language.cldr import territory_names
from abstraction.text.language.languages import language
from kg.base.model import normalise


@dataclass(frozen=True, kw_only=True)
class Demonyms:
    """National adjectives by country, and countries by adjective. Words are normalised.

    `adjectives` maps a country's QID to its adjective for phrases, `countries` an adjective or attributive name ("US")
    to QIDs, `names` a country's name to QIDs, the present state first where a word fits several; `variants` maps a QID
    to its other adjectives.
    """

    adjectives: Mapping[str, str]
    countries: Mapping[str, tuple[str, ...]]
    names: Mapping[str, tuple[str, ...]]
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@lru_cache(maxsize=1)
def bundled_demonyms() -> Demonyms:
    """The table of the package, `data/demonyms.tsv`."""
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


@lru_cache(maxsize=64)  # codes may come from outside
def territory_labels(code: str) -> Mapping[str, str]:
    """The names of countries, continents and regions in a language, by QID; empty for English."""
    own = language(code).code
    if own.startswith("en"):
        return {}
    table, english, names = package_data("regions.json"), bundled_demonyms().names, territory_names(own)
    countries = {
        qid: names[iso]
        for iso, name in territory_names("en").items()
        if iso in names
        for qid in english.get(normalise(name), ())[:1]
    }
    regions = {**names, **territory_names(own, regions=True)}
    named = {qid: regions[known] for qid, known in table["codes"].items() if known in regions}
    return countries | named | {qid: labels[own] for qid, labels in table["names"].items() if own in labels}


@lru_cache(maxsize=64)  # codes may come from outside
def _qids_by_adjective_stem(code: str) -> Mapping[str, str]:
    """QIDs of countries and continents by the stems of their adjectives in a language; empty for English."""
    words, labels = language(code), territory_labels(code)
    names, by_name = territory_names(words.code), {name: qid for qid, name in labels.items()}
    stems: dict[str, str] = {}
    for place, nationals in words.demonyms.items():
        if (qid := by_name.get(names.get(place, place))) is not None:
            for word in nationals.adjectives:
                stems.setdefault(words.stem(word), qid)
    return stems


def lands_of_adjectives(text: str, code: str) -> frozenset[str]:
    """The QIDs of countries and continents whose adjectives occur in a text in lower case: "südamerikanische"."""
    adjectives = _qids_by_adjective_stem(code)
    small = (word for word in _WORD.findall(text) if word.islower()) if adjectives else ()
    return frozenset(filter(None, map(adjectives.get, map(language(code).stem, small))))


# Words of four letters and more: shorter ones are no adjectives of countries.
_WORD = re.compile(r"[^\W\d_]{4,}(?:-[^\W\d_]+)?")
_ADJECTIVE_ENDING = re.compile(r"(?:[^aeiou]ish|an|ese|ic|i|ois|ch|ese|ense|é|que|sh|ss)$")


def choose_adjective(candidates: Sequence[str], frequency: Mapping[str, int], known: str | None) -> str | None:
    """The national adjective among a country's P1549 values, which mix adjectives, nouns and plurals.

    The form that begins most descriptions is chosen; if none does, the bundled adjective, then the form with the most
    adjectival ending, singular before plural.
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
    adjectival = [c for c in singular if _ADJECTIVE_ENDING.search(c) and c[:1].isupper()]
    return (adjectival or singular)[0]
