"""Titles with a complement ("15th Prime Minister of Canada") and kinship ("wife of Moses") in descriptions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import takewhile

from abstraction.base.properties import package_data
from abstraction.text.descriptions.attested_words import DescriptionWord, joined_text
from abstraction.text.language.phrases import word_list

LONGEST = 10  # words of a complement; a longer one is not a name


@dataclass(frozen=True, kw_only=True, slots=True)
class Office:
    """A title with its complement.

    `ordinal` is "15th" or "first", or None; `complement` includes the preposition ("of Canada"). `family` is the row
    of `data/offices.json`, `lift` the occupation of every holder (None for roles).
    """

    title: str
    complement: str
    family: str
    lift: str | None
    unique: bool
    former: bool
    ordinal: str | None
    words: tuple[DescriptionWord, ...]
    complement_words: tuple[DescriptionWord, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kin:
    """A person described by a relative: "wife of Moses". `side` is the relationship ("spouse")."""

    word: str
    side: str
    of: str
    words: tuple[DescriptionWord, ...]


office_data = partial(package_data, "offices.json")


@lru_cache(maxsize=1)
def _family_and_uniqueness_by_title() -> Mapping[str, tuple[str, bool]]:
    out: dict[str, tuple[str, bool]] = {}
    for family, row in office_data()["families"].items():
        for title in row["unique"]:
            out.setdefault(title, (family, True))
        for title in row["titles"]:
            out.setdefault(title, (family, False))
    return out


@lru_cache(maxsize=1)
def _relationship_by_kin_word() -> Mapping[str, str]:
    return {word: side for side, members in office_data()["kin"].items() for word in members}


# "31th" is an error in the description.
_WELL_FORMED = re.compile(r"[0-9]*1[123]th|(?:[0-9]*[02-9])?(?:1st|2nd|3rd)|[0-9]*[04-9]th")


def is_ordinal(word: DescriptionWord) -> bool:
    """Whether the word is an ordinal number: "15th", "first"."""
    return word.key in word_list("ordinals") or (
        word.text[:1].isdigit() and word.key.endswith(("st", "nd", "rd", "th"))
    )


def ends_in_title_or_kin_word(words: Sequence[DescriptionWord]) -> bool:
    """Whether the words end in a title ("prime minister") or a kinship noun ("wife")."""
    return _start_of_title_at_end(words) is not None or bool(words and words[-1].key in _relationship_by_kin_word())


def _start_of_title_at_end(words: Sequence[DescriptionWord]) -> int | None:
    for size in range(min(4, len(words)), 0, -1):
        if " ".join(w.key for w in words[-size:]) in _family_and_uniqueness_by_title():
            return len(words) - size
    return None


def bare_title_and_its_holders_occupation(words: Sequence[DescriptionWord]) -> tuple[str, str] | None:
    """A title that makes up all the words, in lower case, and the occupation of its holders; None for other words and
    titles that are ambiguous without complement.

    A minister may serve a church.
    """
    if _start_of_title_at_end(words) != 0:
        return None
    title = " ".join(w.key for w in words)
    lift = office_data()["families"][_family_and_uniqueness_by_title()[title][0]]["lift"]
    return (title, lift) if lift else None


def read_office(words: Sequence[DescriptionWord], noun_phrase_size: int) -> Office | None:
    """The office in a sequence of words whose first `noun_phrase_size` words are its noun phrase, or None.

    The complement must contain a name: "President of Gabon", not "president of a bank".
    """
    head, tail = words[:noun_phrase_size], words[noun_phrase_size:]
    if not tail or tail[0].key not in word_list("office_links"):
        return None
    at = _start_of_title_at_end(head)
    if at is None:
        return None
    complement = _read_preposition_and_name(tail)
    if complement is None:
        return None
    family, unique = _family_and_uniqueness_by_title()[" ".join(w.key for w in head[at:])]
    if family == "role" and tail[0].key == "from":
        return None  # "singer from the United States" is an origin, not an office
    start, former_at, ordinal = _read_words_before_title(head[:at])
    if family == "role" and head[start].is_capitalised and start < at:
        return None  # an endowed chair or another role with a name of its own
    title = joined_text(head[start:])
    if family == "role" and not unique and " " not in title and not title.isupper():
        title = title.lower()
    return Office(
        title=title, complement=joined_text(complement), family=family, lift=office_data()["families"][family]["lift"],
        unique=unique and start == at, former=former_at is not None, ordinal=ordinal,
        words=(*head[start if former_at is None else former_at :], *complement), complement_words=tuple(complement),
    )  # fmt: skip


def _read_words_before_title(words: Sequence[DescriptionWord]) -> tuple[int, int | None, str | None]:
    """The index where the title's own modifiers begin, the index of "former" before it, and the ordinal."""
    former_at, ordinal = None, None
    for index, word in enumerate(words):
        if word.key in word_list("former"):
            former_at = index if former_at is None else former_at
        elif is_ordinal(word):
            written = word.text if _WELL_FORMED.fullmatch(word.key) else None
            ordinal = written if word.text[:1].isdigit() else word.key
        elif word.key in word_list("dropped_modifiers"):
            ordinal = None  # the first woman in an office need not be its first holder
        elif word.key not in word_list("current") and not (word.key == "and" and ordinal):  # "1st and former President"
            return index, former_at, ordinal
    return len(words), former_at, ordinal


def _read_preposition_and_name(tail: Sequence[DescriptionWord], *, plain: bool = False) -> list[DescriptionWord] | None:
    """The preposition and the name after it, up to the first word that is not part of the name; None where nothing is
    named.

    With `plain` common nouns may be included: "of English actor Peter Lawford".
    """
    name: list[DescriptionWord] = [tail[0]]
    ends = word_list("complement_ends") | word_list("name_particles")
    for index, word in enumerate(tail[1:], 1):
        behind = tail[index:]
        if _name_ends_before_next_word(name, behind, plain=plain):
            break
        if _common_noun_follows_complete_name(name, behind, plain=plain):
            if not plain and word.key in word_list("complement_nouns"):
                name.append(word)  # "of the Benedictine order"
            elif _ADJECTIVE.search(name[-1].key):
                # "of the Austrian constitutional court"
                name += takewhile(lambda w: w.text.islower() and not w.separator and w.key not in ends, behind[:3])
            elif plain:
                return None  # the nouns make it the name of something else
            break  # "father of the Erasmus program"
        name.append(word)
    while name and (name[-1].separator or name[-1].key in word_list("name_particles")):
        name.pop()
    return name if _has_capitalised_word(name[1:]) and len(name) <= LONGEST else None


def _has_capitalised_word(words: Sequence[DescriptionWord]) -> bool:
    return any(w.is_capitalised for w in words)


def _name_ends_before_next_word(
    name: Sequence[DescriptionWord], behind: Sequence[DescriptionWord], *, plain: bool
) -> bool:
    """Whether a separator, conjunction, number or preposition ends the name before it."""
    word = behind[0]
    if word.separator or word.key == "and":
        is_end = word.separator and (plain or word.text not in ",&")
        return is_end or not _has_capitalised_word(name) or _starts_with_title_or_kin_word(behind[1:])
    if word.text.isdigit() and len(word.text) < 3 and name[-1].is_capitalised:
        return False  # a number within a name: The Jackson 5
    return (word.text[:1].isdigit() and not (plain and is_ordinal(word))) or word.key in word_list("complement_ends")


def _common_noun_follows_complete_name(
    name: Sequence[DescriptionWord], behind: Sequence[DescriptionWord], *, plain: bool
) -> bool:
    """Whether common nouns follow a complete name ("Israel and writer"), unlike in "the state of Victoria"."""
    word = behind[0]
    if word.is_capitalised or word.separator or word.text.isdigit() or word.key in word_list("name_particles"):
        return False
    # A name may go on after "to": Return to Forever.
    goes_on = (plain and _has_capitalised_word(behind[:4])) or (
        word.text == "to" and _has_capitalised_word(behind[1:2])
    )
    return not goes_on and (_has_capitalised_word(name) or len(name) > 3)


# Endings of capitalised adjectives: Austrian, Benedictine.
_ADJECTIVE = re.compile(r"(?:ic|an|ese|ish|al|ch|ak|ist|ine|ed)$")


def _starts_with_title_or_kin_word(words: Sequence[DescriptionWord]) -> bool:
    for size in range(1, min(4, len(words)) + 1):
        word = words[size - 1]
        if ends_in_title_or_kin_word(words[:size]):
            return True
        if word.separator or not (
            word.is_capitalised
            or is_ordinal(word)
            or word.key in word_list("current")
            or word.key in word_list("former")
        ):
            return False
    return False


def read_kin(words: Sequence[DescriptionWord], noun_phrase_size: int) -> Kin | None:
    """The kinship in a sequence of words ("wife of X", "X's nephew"), or None."""
    head, tail = words[:noun_phrase_size], words[noun_phrase_size:]
    if not head or head[-1].key not in _relationship_by_kin_word():
        return None
    if len(head) > 1 and f"{head[-2].key} {head[-1].key}" in _family_and_uniqueness_by_title():
        return None  # "empress consort" is an office
    if head[-1].is_capitalised and len(head) > 1:
        return None  # a Founding Father of the United States is not a relative
    side = _relationship_by_kin_word()[head[-1].key]
    for index, word in enumerate(head[:-1]):
        if word.key.endswith(("'s", "s'", "’s", "s’")):
            return Kin(word=head[-1].key, side=side, of=joined_text(head[: index + 1]), words=tuple(words))
    if not tail or tail[0].key not in {"of", "to"}:
        return None
    complement = _read_preposition_and_name(tail, plain=True)
    if complement is None:
        return Kin(word=head[-1].key, side=side, of="", words=tuple(words))
    before = head[-2].key if len(head) > 1 else ""
    ordinal = before if before in {*word_list("ordinals"), "eldest", "oldest", "youngest", "only"} else ""
    name = f"{ordinal} {head[-1].key}".strip()
    return Kin(
        word=name, side=side, of=joined_text(complement[1:]), words=(*head[-2 if ordinal else -1 :], *complement)
    )
