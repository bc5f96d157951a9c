"""Place chains in descriptions: "square in Munich, Germany" -> Munich, Germany.

Before parsing, brackets and later sentences are removed, lists of places joined and country names written out. This
module parses text only; `abstraction.linking.gazetteer` decides which names are places and which homonym is
meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.base.relations import LONGEST_DESCRIPTION
from abstraction.text.language.phrases import word_list
from kg.base.bounded_cache import bounded_cache

# Lists of places of one kind: "A, B and C counties", "A County, B County and C County".

# The type that the plural adds to each name of a list; "" where it is not part of a name.
PLURAL = {
    "counties": "County", "districts": "District", "provinces": "Province", "parishes": "Parish", "departments": "",
    "states": "", "prefectures": "Prefecture", "boroughs": "", "cantons": "",
}  # fmt: skip
_KIND = "|".join(filter(None, PLURAL.values()))
_PLURALS = "|".join(plural for plural, singular in PLURAL.items() if singular)
_NAME = r"[A-ZÀ-Þ][\w.'’-]*+(?: [A-ZÀ-Þ][\w.'’-]*+)*+"
_JOINT = re.compile(r"(,? and |, )")
# Each name of a run is matched once; a pattern of the whole list would restart at every name.
_RUN = re.compile(rf"{_NAME}(?:(?:,? and |, ){_NAME})*+(?: (?P<plural>{_PLURALS})\b)?+")
_ENDS_IN_KIND = re.compile(rf".* ({_KIND})\Z")
_HAS_KIND = re.compile(rf" ({_KIND})\b")


def _join_places_of_one_kind(match: re.Match[str]) -> str:
    """A run of names, with each list of places of one kind in it joined by "and" into one piece."""
    plural = match["plural"]
    run = match[0][: match.start("plural") - match.start() - 1] if plural else match[0]
    pieces = _JOINT.split(run)
    names, joints = pieces[::2], pieces[1::2]
    if not joints:
        return match[0]
    _join_names_of_one_kind(names, joints)
    if plural:
        first = len(names) - 1
        if joints[-1].endswith("and "):
            first -= 1
            while first and joints[first - 1] == ", ":
                first -= 1
        if first < len(names) - 2:
            kind = PLURAL[plural]
            head = "".join(name + joint for name, joint in zip(names[:first], joints[:first], strict=True))
            return head + " and ".join(f"{name} {kind}" for name in names[first:])
    return "".join(name + joint for name, joint in zip(names, [*joints, ""], strict=True)) + (
        f" {plural}" if plural else ""
    )


def _join_names_of_one_kind(names: Sequence[str], joints: list[str]) -> None:
    """Replace by "and" the commas of each list whose names all end in one kind; chains of containers do not."""
    kinds = [match[1] if (match := _ENDS_IN_KIND.match(name)) else None for name in names]
    first = 0
    while first < len(names) - 2:
        kind, last = kinds[first], first
        while kind and last < len(names) - 1 and kinds[last] == kind and joints[last] == ", ":
            last += 1
        # `last` follows a comma: it must end in the kind too, and so must the final name after "and".
        closing = kind and last > first and kinds[last] == kind and last < len(joints) and joints[last] != ", "
        if closing and any(m[1] == kind for m in _HAS_KIND.finditer(names[last + 1])):
            joints[first : last + 1] = [" and "] * (last + 1 - first)
            first = last + 2
        else:
            first = max(last, first + 1)


# Removal of brackets and later sentences; country names.

_GROUPS = re.compile(r"(?:(?<!\s)\s++)?(?:\([^()]*+\)|\[[^\]]{0,500}\])")
_SPACES = re.compile(r"\s+")
# The one common place name with a comma in it.
_WASHINGTON = re.compile(r"\bWashington,? D\.? ?C\b\.?")
# Abbreviations, unless they are used as adjectives ("US senator").
_COUNTRY_FORMS = (
    (re.compile(r"\b(?:the )?U\.? ?S\.? ?A\b\.?"), "United States"),
    (re.compile(r"\b(?:the )?U\.S\.?(?=$|[\s,;])(?! [a-z])"), "United States"),
    (re.compile(r"\b(?:the )?US(?=$|[,;])"), "United States"),
    (re.compile(r"\b(?:the )?U\.K\.(?=$|[\s,;])|\b(?:the )?UK\b"), "United Kingdom"),
    (re.compile(r"\b(?:the )?U\.?A\.?E\b\.?"), "United Arab Emirates"),
)


@bounded_cache(entries=1 << 13, longest=250)  # 20 MB at most
def first_segment(description: str) -> str:
    """The description up to its first ";" or sentence end, single-spaced and without brackets, as it is parsed."""
    text = _GROUPS.sub("", description[:LONGEST_DESCRIPTION]).split(";", 1)[0]
    text = re.split(r"(?<=[a-z]{3})\.\s", text, maxsplit=1)[0]
    return _SPACES.sub(" ", text).strip(" .,")


# "the African continent" for Africa.
_CONTINENTS = {
    "African": "Africa", "Asian": "Asia", "European": "Europe", "North American": "North America",
    "South American": "South America", "Antarctic": "Antarctica", "Australian": "Australia",
}  # fmt: skip
_CONTINENT = re.compile(rf"\b(?:the )?({'|'.join(_CONTINENTS)}) continent\b")


def expand_country_abbreviations(text: str) -> str:
    """The text with abbreviated country names written out, unless they are used as adjectives."""
    text = _WASHINGTON.sub("Washington D.C.", text)
    for pattern, name in _COUNTRY_FORMS:
        text = pattern.sub(name, text)
    return _CONTINENT.sub(lambda match: _CONTINENTS[match[1]], text)


# The words that introduce a location. Longer alternatives come first.
_PREPOSITION = re.compile(
    r"(?:^|(?<=[\s,]))(?:(?:located|situated|based|headquartered|centred"
    r"|centered)\s+(?:with)?in(?:side)?(?:\s+the\s+(?:city|town)\s+of)?"
    r"|in\s+and\s+(?:the\s+)?(?:(?:former|county|state|national|provincial|regional|district)\s+)*(?:seat"
    r"|capital)\s+of|part\s+of|straddling|spanning|within|in|of|on)\s+"
    r"(?!the\s+(?:north|south|east|west|(?:north|south)[- ]?(?:east|west))\b(?!\s+of\b|[a-z]))"
)
# Words after which other places or facts follow, to the end of the text.
_OUTSIDE = re.compile(
    r"\b(?:near|between|off|outside|containing|comprising|including|opposite|along|across|adjacent|bordering|founded|established|known|with|from|"
    r"by|for|since|until|which|that|who|where|named|serving|built|opened|created|formed"
    r"|and\s+(?:the\s+)?(?:former\s+)?"
    r"(?:county\s+seat|seat|capital|largest|most|administrative|home|one)|as\s+well|enclaved|today|now"
    r"|currently)\b.*$"
)
# The start of a further role of the place: "... and the county's seat".
_AND = re.compile(r"\band\s")
_SEAT = re.compile(r"\b(?:capital|seat)(?:\s+city)?$")
# A comma before a name, in descriptions without preposition: "village, Bavaria".
_BARE_CHAIN = re.compile(r",\s+(?=[A-ZÀ-Þ])")
_LEADING = re.compile(r"^(?:(?:and|located|situated|part|in|of|on|within|at|the\s+(?:city|town)\s+of)\s+)+")
# A second role of the place with a chain of its own: "New York City and county in New York State".
_ALSO = re.compile(r"([A-ZÀ-Þ][^,]*?)(?<!\s)\s++and\s++(?:[a-z][\w-]++\s++){1,3}(?:in|of)\s")
_THE = re.compile(r"^the\s+", re.I)
_DIRECTION = (
    r"(?:(?:far|extreme|inner|outer|central|(?:north|south|east|west)(?:ern)?|(?:north|south)[- ]?(?:east"
    r"|west)(?:ern)?"
    r"|mid|upper|lower|greater|downtown|historic|centre|center|heart|middle)"
    r"(?:[- ](?:central|eastern|western))?)"
)
# A direction before a name: "north-eastern part of the".
_DIRECTED = re.compile(
    rf"^(?:the\s+)?(?>{_DIRECTION}(?:\s++and\s++|[\s-]++))++(?:(?:part|coast|shore|side|end|region|half|area"
    rf"|corner)\s+)?(?:of\s+(?:the\s+)?)?(?=[A-ZÀ-Þ])"
)
# A type word before a name: "state of", "German federated state".
TYPED = re.compile(
    r"^(?:[A-Z][\w.-]+\s+)?(?:(?!(?:in|of|on|within)\b)[a-z][\w-]*\s+)*?(?:state|province|region|canton|department|district|county|republic|"
    r"municipality|prefecture|oblast|governorate|territory|city|town|village|borough|island|commune|voivodeship"
    r"|parish|suburb|"
    r"community|constituent country|country|peninsula|archipelago|valley|neighbou?rhood|area|campus|outskirts"
    r"|suburbs)\s+(?:of\s+(?:the\s+)?)?(?=[A-ZÀ-Þ])"
)
# A type word after a name: "Fulton county".
_TYPE_AFTER = re.compile(
    r"(?<!\s)\s++(?:state|province|region|canton|department|district|county|prefecture|oblast|governorate|municipality"
    r"|island|area|"
    r"raion|voivodeship|territory|parish|coast)$"
)
# A London borough is known by its bare name; "City of X" and "Province of X" are names of their own.
_BOROUGH = re.compile(r"^(?:London|Metropolitan|Royal) Borough of (?=[A-ZÀ-Þ])")
# A capitalised side: "North of England", "Heart of London".
_SIDE_OF = re.compile(
    r"^(?:(?:North|South|East|West|Central)(?:ern)?(?:[- ]?(?:[Ee]ast|[Ww]est)(?:ern)?)?|Cent(?:re|er)|Heart|Middle)"
    r" of (?:the )?(?=[A-ZÀ-Þ])"
)
_CONNECTORS = word_list("place_connectors")  # small words within names of places, in several languages
# A role of the place, not a container: "..., county seat of Fulton County".
_ROLE = re.compile(
    r"(?:the\s+)?(?:[a-z]+\s+)?(?:seat|capital|largest|second|third|most|home|birthplace|headquarters|centre"
    r"|center)\b"
)
# Words after a name that make it one of people, not of a place.
_OF_PEOPLE = frozenset({"people", "peoples", "language", "languages", "dynasty", "family", "army", "team", "league"})
_NO_UNITS = "centre center world earth south north east west city country sport african american asian european"
_STOP_UNITS = frozenset({"the world", *_NO_UNITS.split()})  # words that are never a unit of a chain


@dataclass(frozen=True, kw_only=True, slots=True)
class PlaceUnit:
    """One place name of a chain, as written, and the preposition before it ("in" after a comma)."""

    text: str
    preposition: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacePhrase:
    """The opening of a description: the words of the kind, and the chain of places, finest first."""

    kind: str
    units: tuple[PlaceUnit, ...]


_BETWEEN = re.compile(r"\bbetween\b")


@bounded_cache(entries=1 << 13, longest=250)  # 40 MB at most
def parse_place(description: str) -> PlacePhrase | None:
    """The kind and chain of a description, or None where it names no place.

    >>> parse_place("town in Newton-le-Willows, St Helens, Merseyside, UK").units[-1].text
    'United Kingdom'
    """
    text = expand_country_abbreviations(first_segment(description))
    match = _PREPOSITION.search(text)
    if match is None or not (text[: match.start()].strip() or match.group().startswith("part")):
        bare = _BARE_CHAIN.search(text)
        if bare is None or text[:1].isupper():
            return None
        kind, chain, preposition = text[: bare.start()], text[bare.end() :], "in"
    else:
        kind, chain = text[: match.start()].strip(" ,"), text[match.end() :]
        preposition = "on" if match.group().strip() == "on" else "in"
        if match.group().strip().startswith("of"):
            preposition = "of"
    if _BETWEEN.search(kind):
        return None  # "ocean between Africa, Asia and Antarctica"
    units = parse_place_chain(chain, preposition)
    return PlacePhrase(kind=kind, units=units) if units else None


def parse_place_chain(text: str, preposition: str = "in") -> tuple[PlaceUnit, ...]:
    """The comma-separated units of a chain, finest first. A place that is only near is left out."""
    units: list[PlaceUnit] = []
    for raw in _RUN.sub(_join_places_of_one_kind, text).split(","):
        piece = raw.strip()
        led = _PREPOSITION.match(piece)
        written = "on" if led and led.group().strip() == "on" else "in"
        unit_preposition = preposition if not units and led is None else written
        piece = _LEADING.sub("", piece)
        if units and _ROLE.match(piece):
            break
        also = _ALSO.match(piece)
        if also:
            piece = also[1]
        if re.search(r"\bor\b", piece):
            break  # two alternative names
        outside = _OUTSIDE.search(piece)  # words about other places
        end = outside.start() if outside else len(piece)
        if (seat := _SEAT.search(piece)) and (joint := _AND.search(piece, 0, seat.start())):
            end = min(end, joint.start())
        cut = piece[:end].strip(" .")
        ended = cut != piece.strip(" .") or also is not None
        cut = _SIDE_OF.sub("", _THE.sub("", _cut_after_name(cut)))
        # A name, bare or led by directions and type words: "central London", "state of Ohio".
        is_named = cut[:1].isupper() or barer_names(cut)[-1][:1].isupper()
        if not cut or cut.casefold() in _STOP_UNITS or not is_named:
            if units or ended or not cut:
                break
            continue
        units.append(PlaceUnit(text=cut, preposition=unit_preposition))
        if ended:
            break
    return tuple(units)


def _cut_after_name(piece: str) -> str:
    """The piece up to the first word that cannot be part of a name: "London housing the ..." -> "London"."""
    led = TYPED.match(piece)  # "German federated state Bavaria": the words before the name stay
    words = piece[led.end() :].split() if led else piece.split()
    lead = piece[: led.end()] if led else ""
    started, end = False, len(words)
    for i, word in enumerate(words):
        if started and re.fullmatch(r"\d{4}s?", word):
            end = i
            break
        if word[:1].isupper() or word[:1].isdigit() or not word[:1].isalpha():
            started = True
        elif started and word in _OF_PEOPLE:
            return ""  # "the Basque people": named after them, not a place
        elif (
            started
            and word not in _CONNECTORS
            and not re.fullmatch(_DIRECTION, word)
            and not (_TYPE_AFTER.search(f" {word}") or word in PLURAL)
        ):
            end = i
            break
    while end > 1 and words[end - 1] in _CONNECTORS:  # "New York City and"
        end -= 1
    return lead + " ".join(words[:end])


def barer_names(text: str) -> list[str]:
    """The name as written, then without direction, type words and articles; the barest last."""
    out = [text]
    current = text
    for pattern in (_DIRECTED, TYPED, _DIRECTED):
        shorter = pattern.sub("", current, count=1)
        if shorter != current and shorter[:1].isupper():
            out.append(shorter)
            current = shorter
    for pattern in (_TYPE_AFTER, _BOROUGH):
        shorter = pattern.sub("", current)
        if shorter != current:
            out.append(shorter)
            current = shorter
    return list(dict.fromkeys(out))


def has_word_before_name(text: str) -> bool:
    """Whether a unit has a part or type word before the name: "southeastern United States", "city of York"."""
    return text[:1].islower() or " in " in text or _DIRECTED.match(text) is not None
