"""Names of the snapshot that come near one that it has not: for who has misspelt it, or written more than the name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from granola.service.work.snapshot_session import SnapshotSession
from kg.store.protocol import NameMatch
from kg.terms import fallback_chain, normalise

MOST = 6
LONGEST = 100  # characters of a name that near ones are looked for of
_LIKE = 0.6  # of difflib's ratio: "Honululu" is 0.88 of Honolulu, "Paris" 0.6 of Parma's
_BEGINNINGS = (6, 4, 3)  # letters by which names are looked up
_LOOKED_AT = 200  # names of one beginning
_PARTED = re.compile(r"[,;:(/|–—]")


def near_names(holding: SnapshotSession, text: str, language: str) -> list[NameMatch]:
    """Entities whose names are parts of a text, then those whose names are spelled nearly so; MOST at most."""
    name = normalise(text[:LONGEST])
    match_of: dict[str, NameMatch] = {}
    for part, matches in holding.store.find(list(_parts(text[:LONGEST]))).items():
        if normalise(part) != name:
            match_of.update((match.id, match) for match in matches[:2])
    languages = fallback_chain(language)
    for letters in _BEGINNINGS:
        if len(match_of) >= MOST or len(name) < letters:
            continue
        beginning = holding.store.names_beginning(name[:letters], languages=languages, limit=_LOOKED_AT)
        alike = [(_likeness(name, match.text), match) for match in beginning]
        near = sorted((pair for pair in alike if pair[0] >= _LIKE), key=lambda pair: -pair[0])
        for _, match in near[:MOST]:
            match_of.setdefault(match.id, match)
    return list(match_of.values())[:MOST]


def _parts(text: str) -> Iterator[str]:
    """What of a text may be the name alone: before a comma or a bracket, without an article, its last words."""
    for part in _PARTED.split(text):
        yield part.strip(" )\"'“”.")
    words = text.split()
    if len(words) > 1:
        yield from (" ".join(words[1:]), " ".join(words[:-1]), words[-1])


def _likeness(name: str, other: str) -> float:
    return difflib.SequenceMatcher(None, name, normalise(other[:LONGEST])).ratio()
