"""The data model of WikiData as values: entities, statements, ranks, kinds of value, terms; ids as integers.

Times are never converted to `datetime` nor amounts to `float`: WikiData has years before 1 CE, precisions from a day
to a billion years, and amounts with bounds.
"""

from __future__ import annotations

import builtins
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from kg.base.bounded_cache import bounded_cache
from kg.errors import SnapshotError

ENTITY_ID = re.compile(r"[QP][1-9][0-9]{0,17}\Z")  # 18 digits fit an SQLite integer
ITEM_ID, PROPERTY_ID = (re.compile(kind + ENTITY_ID.pattern[4:]) for kind in "QP")


class Rank(StrEnum):
    """Rank of a statement. Deprecated means known wrong, never merely outdated."""

    PREFERRED = "preferred"
    NORMAL = "normal"
    DEPRECATED = "deprecated"


class SnakKind(StrEnum):
    """Whether a value is given, exists but is unknown, or is stated not to exist."""

    VALUE = "value"
    SOMEVALUE = "somevalue"
    NOVALUE = "novalue"


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityValue:
    """A reference to another entity, by id (Q, P, L, ...). The target may be absent from a snapshot."""

    id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeValue:
    """A point in time at a precision.

    `year` is signed as in the JSON dumps: -1 is 1 BCE, there is no year 0. `month` is 1..12 or None,
    `day` 1..31 or None (30 February occurs). Only the parts that `precision` vouches for are kept:
    11 day, 10 month, 9 year, 8 decade, 7 century, 6 millennium, 5..0 ten thousand to a billion years.
    For precision below 9 the year is some year inside the span. `calendar` is "gregorian" or "julian".
    """

    year: int
    month: int | None = None
    day: int | None = None
    precision: int = 11
    calendar: str = "gregorian"


@dataclass(frozen=True, kw_only=True, slots=True)
class QuantityValue:
    """An exact decimal amount, its unit (a QID, or None for a bare number), and bounds: both or neither."""

    amount: Decimal
    unit: str | None = None
    lower: Decimal | None = None
    upper: Decimal | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TextValue:
    """A string, URL, external identifier or, where `language` is set, monolingual text."""

    text: str
    language: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherValue:
    """A value of any other kind (coordinates, future types), kept whole as canonical JSON."""

    type: str
    json: str


Value = EntityValue | TimeValue | QuantityValue | TextValue | OtherValue


@dataclass(frozen=True, kw_only=True, slots=True)
class Snak:
    """A property with a value, an unknown value or no value: the main part of a statement, or a qualifier."""

    property: str
    kind: SnakKind = SnakKind.VALUE
    value: Value | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One statement of a subject. `id` is opaque; `qualifiers` keep the order of the source."""

    id: str
    subject: str
    property: str
    rank: Rank = Rank.NORMAL
    kind: SnakKind = SnakKind.VALUE
    value: Value | None = None
    qualifiers: tuple[Snak, ...] = ()
    datatype: str | None = None

    @builtins.property  # `property` is a field here
    def target(self) -> str | None:
        """The id that the statement points to, or None where its value is no entity."""
        return self.value.id if isinstance(self.value, EntityValue) else None

    def qualifier(self, prop: str) -> tuple[Snak, ...]:
        """The qualifiers of one property, in source order."""
        if not self.qualifiers:  # most statements have none
            return ()
        return tuple(snak for snak in self.qualifiers if snak.property == prop)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """An item or a property: terms by language code, statements in source order, number of sitelinks."""

    id: str
    labels: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    statements: tuple[Statement, ...] = ()
    sitelinks: int = 0
    datatype: str | None = None

    def values(self, prop: str) -> tuple[Statement, ...]:
        """All statements of one property, all ranks, in source order."""
        return tuple(statement for statement in self.statements if statement.property == prop)


def number_within_kind(entity_id: str) -> int:
    """Sort key of an id within its kind: Q42 -> 42. Raises SnapshotError, a ValueError, for anything but Q/P ids."""
    return abs(required_signed_number(entity_id))


@bounded_cache(entries=1 << 16, longest=20)  # the same classes and countries occur with nearly every entity
def signed_number(entity_id: str) -> int | None:
    """The integer of an item or property id (items positive, properties negative), None for anything else."""
    return signed_number_uncached(entity_id)


def signed_number_uncached(entity_id: str) -> int | None:
    """`signed_number` without its cache, for ids that occur once."""
    if not ENTITY_ID.match(entity_id):
        return None
    return int(entity_id[1:]) if entity_id[0] == "Q" else -int(entity_id[1:])


def required_signed_number(entity_id: str) -> int:
    """`signed_number`. Raises SnapshotError for anything but the id of an item or a property."""
    number = signed_number(entity_id)
    if number is None:
        raise SnapshotError(f"{entity_id!r} is no item or property id; a snapshot has items and properties alone")
    return number


def id_of(number: int) -> str:
    """The inverse of `signed_number`."""
    return f"Q{number}" if number > 0 else f"P{-number}"


# Terms: how names are compared, and which language's label is shown.

_SPACE = re.compile(r"\s+")

# Wikibase's own variants and explicit fallbacks for the languages most asked for; `mul` and `en`
# follow implicitly (LanguageFallbackChainFactory).
FALLBACKS: Mapping[str, tuple[str, ...]] = {
    "de-at": ("de",),
    "de-ch": ("de",),
    "en-ca": ("en",),
    "en-gb": ("en",),
    "en-us": ("en",),
    "es-419": ("es",),
    "nb": ("no", "nn"),
    "pt-br": ("pt",),
    "zh-hans": ("zh", "zh-cn"),
    "zh-hant": ("zh", "zh-tw"),
}
_FOLD = str.maketrans(
    {
        "’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'", "“": '"', "”": '"',
        "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-",
        "\u200b": None, "\u200e": None, "\u200f": None, "\u00ad": None, "\ufeff": None,
        **{chr(code): None for code in (*range(9), *range(14, 28), *range(127, 160)) if code != 0x85},  # a line end
    }
)  # fmt: skip


@bounded_cache(entries=1 << 18, longest=200)
def normalise(name: str) -> str:
    """The form in which equal names are compared: NFKC, quotes and dashes folded, casefold, single spaces.

    Invisible and control characters are removed. Normalising twice is the same as once.
    """
    return normalise_uncached(name)


def normalise_uncached(name: str) -> str:
    """See `normalise`; the result is not cached: for names that occur once."""
    if name.isascii() and name.isprintable():
        return " ".join(name.replace("`", "'").casefold().split())
    # NFKC makes a lone acute accent a space, and case folding undoes NFKC: fold first, compose last.
    text = unicodedata.normalize("NFKC", name.translate(_FOLD)).translate(_FOLD).casefold()
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip()


@bounded_cache(entries=256, longest=40)
def fallback_chain(language: str) -> tuple[str, ...]:
    """The languages to try for `language`, in Wikibase's order: itself, its fallbacks, `mul`, `en`."""
    chain = [language, *FALLBACKS.get(language, ())]
    if "-" in language and language not in FALLBACKS:
        chain.append(language.split("-")[0])
    chain += ["mul", "en"]  # `mul`: since 2024 names that all languages share are stored there alone
    return tuple(dict.fromkeys(chain))


def with_fallback_languages(languages: Iterable[str] | None) -> frozenset[str] | None:
    """The languages and their fallbacks; None, which means all languages, is returned as None."""
    return None if languages is None else frozenset().union(*map(fallback_chain, languages))


def best_text_and_language(texts: Mapping[str, str], language: str) -> tuple[str, str] | None:
    """(text, its language): the first of the fallback chain that has a text, else the first in code order; None if
    empty.
    """
    for code in fallback_chain(language):
        if code in texts:
            return texts[code], code
    for code in sorted(texts):  # sorted, because the order of a mapping depends on its source
        return texts[code], code
    return None


def names_with_fallbacks(
    labels: Mapping[str, str], aliases: Mapping[str, Sequence[str]], language: str
) -> tuple[str, ...]:
    """The labels, then the aliases, in the languages of the fallback chain, without repeats under `normalise`."""
    seen: dict[str, str] = {}
    chain = fallback_chain(language)
    for code in chain:
        if code in labels:
            seen.setdefault(normalise(labels[code]), labels[code])
    for code in chain:
        for alias in aliases.get(code, ()):
            seen.setdefault(normalise(alias), alias)
    return tuple(seen.values())
