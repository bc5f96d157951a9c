"""Descriptions of organisations: kind, nationality, and the organisation that it belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass

from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.descriptions.kind_grammar import DescribedKind, read_kind
from abstraction.text.descriptions.nationality import Nationality, read_nationality
from abstraction.text.descriptions.words import DescriptionWord, first_clause
from abstraction.text.language.phrases import listed
from kg.base.bounded_cache import bounded_cache

# "subsidiary of X", "owned by X"; a past owner does not count.
_OWNER = re.compile(
    r"\b(?:(?P<former>former(?:ly)?|defunct|historic(?:al)?|then|once|previously|originally)\s+)?"
    r"(?P<tie>(?:subsidiary|division|imprint|sub-?label|unit|brand|part|label|arm|business unit|faculty|school|college|"
    r"campus|department)\s+of|owned\s+by)\s+(?:the\s+)?"
    r"(?P<owner>[A-Z0-9][\w'’&.+-]*(?:\s+(?:(?:of|and|for|the|de|du|des|in|&)\s+)*[A-Z0-9&][\w'’&.+-]*)*(?:,\s+Inc\.?)?)"
)
# Words that introduce the location of an organisation.
_WHERE = frozenset({"in", "based", "located", "headquartered", "situated", "from"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """An organisation that owns or contains the described one, with the [start, end) of the words in the description.

    `owns`: whether it is an owner and not a whole of which the other is a part.
    """

    name: str
    span: tuple[int, int]
    owns: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OrganisationDescription:
    """The parsed description of an organisation.

    `placed`: whether a place follows the kind; `land` is a country after the kind instead of an adjective before it
    ("record label in the United States"), with its words.
    """

    kind: DescribedKind | None
    owners: tuple[Owner, ...]
    placed: bool
    land: Nationality | None


@bounded_cache(entries=1 << 12, longest=250)  # 60 MB at most
def parse_organisation(description: str, vocabulary: Vocabulary, kind: str = "organisation") -> OrganisationDescription:
    """Parse the description of an organisation, or of another `kind` of thing with the same grammar."""
    first = first_clause(description, ";|")
    described_kind = read_kind(first, vocabulary, kind)
    placed, land = False, None
    if described_kind is not None and described_kind.end < len(first):
        tail = first[described_kind.end :]
        at = next((i for i, w in enumerate(tail) if w.text in listed("prepositions")), len(tail))
        # "university and liberal arts college in Hanover": both are in Hanover
        joined = at == 0 or (tail[0].text == "and" and not any(w.separator for w in tail[:at]))
        placed = joined and at < len(tail) and tail[at].text in _WHERE and any(w.capital for w in tail[at + 1 : at + 4])
        land = _country_after_kind(tail, vocabulary) if described_kind.nationality is None else None
    owners = tuple(
        Owner(
            name=match["owner"].rstrip("."),
            span=(match.start("tie"), match.end("owner")),
            owns=match["tie"].startswith("owned"),
        )
        for match in _OWNER.finditer(description)
        if not match["former"]
    )
    return OrganisationDescription(kind=described_kind, owners=owners, placed=placed, land=land)


def _country_after_kind(tail: list[DescriptionWord], vocabulary: Vocabulary) -> Nationality | None:
    """The country after "in", "of" or "from", where nothing else follows."""
    at = 0
    while at < len(tail) and tail[at].text in {"in", "of", "from", "based", "located", "the", "headquartered"}:
        at += 1
    nationality = read_nationality(tail[at:], vocabulary) if at else None
    if nationality is None or len(nationality.parts) > 1 or at + len(nationality.words) < len(tail):
        return None
    return Nationality(
        text=nationality.text, parts=nationality.parts, countries=nationality.countries, words=tuple(tail)
    )
