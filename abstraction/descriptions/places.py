"""Place chains in descriptions: "square in Munich, Germany" -> Munich, Germany.

Pure text: which names are places, and which homonym is meant, is decided by `abstraction.gazetteer`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from abstraction.descriptions.text import first_segment, spell_countries

# After these words the rest is where the thing is. Order matters: longer first.
_PREPOSITION = re.compile(
    r"(?:^|(?<=[\s,]))(?:(?:located|situated|based|headquartered|centred|centered)\s+(?:with)?in(?:side)?(?:\s+the\s+(?:city|town)\s+of)?"
    r"|in\s+and\s+(?:the\s+)?(?:county\s+)?(?:seat|capital)\s+of|part\s+of|within|in|of|on)\s+",
)
_OUTSIDE = re.compile(
    r"\b(?:near|between|off|outside|opposite|along|across|adjacent|bordering|founded|established|known|with|from|"
    r"by|for|since|until|which|that|who|where|named|serving|built|opened|created|formed|and\s+(?:the\s+)?(?:former\s+)?"
    r"(?:county\s+seat|seat|capital|largest|most|administrative|home|one)|as\s+well|enclaved|today|now|currently)\b.*$"
)
_BARE_CHAIN = re.compile(r",\s+(?=[A-ZÀ-Þ])")
_LEADING = re.compile(
    r"^(?:(?:and|located|situated|part|in|of|on|within|at|the\s+(?:city|town|state|province|region|county|canton)\s+of)\s+)+"
)
_THE = re.compile(r"^the\s+", re.I)
_STOP_UNITS = frozenset({"world", "earth", "the world", "south", "north", "east", "west", "city", "country", "sport"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """One place name of a chain as written, and the preposition that leads to it ("in" after a comma)."""

    text: str
    preposition: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacePhrase:
    """A description opening: the words for what it is, and the chain of where, finest first."""

    kind: str
    units: tuple[Unit, ...]


@lru_cache(maxsize=1 << 16)
def parse_place(description: str) -> PlacePhrase | None:
    """The kind and chain of a description, or None where it names no place.

    >>> parse_place("town in Newton-le-Willows, St Helens, Merseyside, UK").units[-1].text
    'United Kingdom'
    """
    text = spell_countries(first_segment(description))
    found = _PREPOSITION.search(text)
    if found is None or not text[: found.start()].strip():
        bare = _BARE_CHAIN.search(text)
        if bare is None or text[:1].isupper():
            return None
        kind, rest, preposition = text[: bare.start()], text[bare.end() :], "in"
    else:
        kind, rest = text[: found.start()].strip(" ,"), text[found.end() :]
        preposition = "on" if found.group().strip() == "on" else "in"
        if found.group().strip().startswith("of"):
            preposition = "of"
    units = parse_chain(rest, preposition)
    return PlacePhrase(kind=kind, units=units) if units else None


def parse_chain(text: str, preposition: str = "in") -> tuple[Unit, ...]:
    """The comma-separated units of a chain, finest first; what is near or beside is no container."""
    units: list[Unit] = []
    for raw in text.split(","):
        piece = raw.strip()
        led = _PREPOSITION.match(piece)
        how = preposition if not units and led is None else ("on" if led and led.group().strip() == "on" else "in")
        piece = _LEADING.sub("", piece)
        cut = _OUTSIDE.sub("", piece).strip(" .")
        ended = cut != piece.strip(" .")
        cut = _THE.sub("", cut)
        if not cut or cut.casefold() in _STOP_UNITS or not any(c.isupper() for c in cut):
            if units or ended or not cut:
                break
            continue
        units.append(Unit(text=cut, preposition=how))
        if ended:
            break
    return tuple(units)
