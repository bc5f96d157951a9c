"""Kinds that a word before them makes into others: American football, hard rock, rock and roll."""

from __future__ import annotations

from granola.matching import vocabulary
from granola.matching.answer import Answer, Mention
from granola.matching.divisions import is_adjective

_SAME = vocabulary.SAME_KIND
_ROLL = frozenset({"roll", "rolls"})
_SUBJECTS = frozenset(["i", "you", "we", "he", "she", "they", "it", "who"])
_VERBAL = ("ed", "ing", "ves", "ys")


def is_modified(answer: Answer, mention: Mention) -> bool:
    """Whether a word before a kind makes another of it, where its own level or its genre is told so.

    `American football` at a level that is called association football as well; `cool jazz` for jazz: a finer kind
    that no tier names, which the right coarser one does not save. A country before an occupation changes nothing.
    """
    if not mention.name.islower():
        return False
    own = answer.texts[mention.start : mention.end]
    genre = mention.level > 0 and own[0] in vocabulary.GENRES and own[1:] in ((), ("music",))
    if genre and answer.texts[mention.end : mention.end + 2] and _rolls(answer, mention.end):
        return True
    left = mention.start - 1
    if left < 0 or answer.words[mention.start].gap.strip("-"):
        return False
    told = any(
        level == mention.level and len(folded) > len(own) and folded[-len(own) :] == own
        for level, _, folded in answer.tiers
    )
    if not (told or genre) or not answer.is_claim(left, left + 1):
        return False
    word = answer.words[left]
    if word.text in _SAME or (told and own[-1] in vocabulary.OCCUPATIONS) or word.text.endswith("ly"):
        return False
    if is_adjective((word.text,)) or (word.capital and left > 0):
        return not genre
    before = answer.texts[left - 1] if left and not word.gap else ""
    if before in _SUBJECTS or word.text.endswith(_VERBAL):
        return word.text == "rules"
    return not before or before in vocabulary.FUNCTION or before in _VERBS_BEFORE or is_adjective((before,))


_VERBS_BEFORE = frozenset(["play", "plays", "played", "playing"])


def _rolls(answer: Answer, index: int) -> bool:
    return answer.texts[index] in ("and", "n") and not _ROLL.isdisjoint(answer.texts[index + 1 : index + 2])
