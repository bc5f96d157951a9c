"""Descriptions of works: "1979 period comedy film directed by Steven Spielberg".

work := [YEAR] [NATIONALITY] { MODIFIER } TYPE [("by" | "directed by" | "written by" ...) NAME { "and" NAME }]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.descriptions.kind_grammar import DescribedKind, read_kind
from abstraction.text.descriptions.words import DescriptionWord, first_clause, text_of
from abstraction.text.language.phrases import listed
from kg.base.bounded_cache import bounded_cache

# Participles before "by".
_MAKING = frozenset(
    {"by", "directed", "written", "created", "composed", "painted", "recorded", "performed", "authored", "sculpted"}
)
LONGEST = 8  # words of the creators' names; a longer list is not read


@dataclass(frozen=True, kw_only=True, slots=True)
class Creators:
    """The creators of a work, as written, and their words with the preposition ("by Joel and Ethan Coen")."""

    names: str
    words: tuple[DescriptionWord, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkDescription:
    """The parsed description of a work."""

    kind: DescribedKind
    creators: Creators | None


@bounded_cache(entries=1 << 12, longest=250)  # 60 MB at most, measured with texts of one-letter words
def parse_work(description: str, vocabulary: Vocabulary) -> WorkDescription | None:
    """Parse the description of a work, or None where its head noun is not a kind of work."""
    first = first_clause(description, ";|:")
    kind = read_kind(first, vocabulary, "work")
    if kind is None:
        return None
    return WorkDescription(kind=kind, creators=_read_creators(first[kind.end :]))


def _read_creators(tail: Sequence[DescriptionWord]) -> Creators | None:
    at = 0
    while at < len(tail) and tail[at].text in _MAKING | {"and"} and tail[at].text != "by":
        at += 1
    if at >= len(tail) or tail[at].text != "by":
        return None
    named: list[DescriptionWord] = []
    for word in tail[at + 1 :]:
        particle = word.key in listed("name_particles") and word.text != "of"
        if not (word.capital or particle or word.text in {"&", ","} or word.text[:2] == "d'"):
            break
        named.append(word)
    while named and not named[-1].capital:
        named.pop()
    if not named or not named[0].capital or len(named) > LONGEST:
        return None
    return Creators(names=text_of(named), words=(tail[at], *named))
