"""Rules for answers that state a tier in other words; asked where no name of a tier stands in the answer as it is.

Each finds places in the answer that may state a tier; the vetoes on plain mentions hold for them too. In order:

form       a name without its preposition, bracket or container (granola.matching.forms)
fold       the same words in another number, spelling or numeral (granola.matching.folding)
joined     the same letters, parted into words in another way: Spiderman, sky diving
person     one family name and first names that agree (granola.matching.people)
country    another name of a country, or its adjective as the whole answer
nation     whose something is, told by another name or the adjective of the country, or left out
acronym    the initials of a name, or the name that initials stand for
team       a team by its nickname or its place alone, where a team is asked for
words      all informative words of a name in any order, the question's own left out
description  small words put into one, or its adjective told by a country
spelling   a long capitalised word that is one letter off
phrase     the words of a phrase that is no name, in whatever form and order
coverage   most of what a long name says, by weight
overlap    a short answer that has all words of a name but one, or one more; of gold answers without coarser levels
polarity   yes or no at the beginning
"""

from __future__ import annotations

from collections.abc import Callable

from granola.matching import vocabulary
from granola.matching.answer import Answer, Mention
from granola.matching.bearers import DELICATE, Found, by_acronym, by_country, by_person, by_team, spans
from granola.matching.divisions import (
    ABBREVIATIONS,
    adjective_countries,
    contradict,
    is_adjective,
    is_known,
)
from granola.matching.folding import loose, loose_key
from granola.matching.forms import Form, forms
from granola.matching.gold import Tier, is_description
from granola.matching.memory import MATCHING
from granola.matching.nations import by_nation
from granola.matching.near import by_overlap
from granola.matching.people import whole_person
from granola.matching.phrases import by_coverage, by_phrase, informative
from granola.matching.words import MOST, key

JOINED = 6  # letters from which the parting into words does not matter
SPELLED = 6  # letters of a word that may be one letter off in a name of several words; two more where it stands alone
FAMILY = 8  # letters of a family name that stands alone and may be one letter off
COMMON = 11  # letters of a single word that is no name and may be one letter off
RETOLD = 40  # words of a name that may be told in another order or with others between
SPREAD = 3  # words that may stand between the words of a name
_TOLD_BY_ADJECTIVE = frozenset({"empire", "language", "languages", "dynasty"})
_INSTITUTES = frozenset({"university", "college", "school", "institute", "hospital", "building", "center", "centre"})
_POLARITY = frozenset({("yes",), ("no",)})


def by_form(answer: Answer, tier: Tier) -> Found:
    """A preposition, a bracket or a container of the name is not said."""
    for form in forms(tier[1]):
        if not answer.present.issuperset(form.folded) or (form.partial and form.folded in answer.keys):
            continue
        if form.alone and form.folded != answer.texts:
            continue
        for mention in spans(answer, tier, form.folded, answer.texts):
            if not form.container or _may_lie_in(answer, mention, form):
                yield mention


def _may_lie_in(answer: Answer, mention: Mention, form: Form) -> bool:
    """Whether what stands behind a place does not put it elsewhere than the name does."""
    index = mention.end
    texts = answer.texts
    while index < len(texts) and index < mention.end + 4 and texts[index] in vocabulary.BRIDGE:
        index += 1
    if index == len(texts):
        return True
    for size in (3, 2, 1):
        folded = texts[index : index + size]
        if len(folded) < size:
            continue
        if folded in form.container:
            return True
        if any(contradict(folded, container) for container in form.container):
            return False
    short = answer.quote(index, index + 1)
    if state := ABBREVIATIONS.get(short):
        return not any(contradict(state, container) for container in form.container)
    return True


def by_fold(answer: Answer, tier: Tier) -> Found:
    """The words of the name or of one of its forms, in another number, spelling or numeral."""
    wanted = loose_key(tier[1])
    if answer.loose_present.issuperset(wanted):
        yield from spans(answer, tier, wanted, answer.loose)
    for form in forms(tier[1]):
        if form.partial or form.container:
            continue
        if answer.loose_present.issuperset(folded := tuple(map(loose, form.folded))):
            yield from spans(answer, tier, folded, answer.loose)


@MATCHING.remembered(1 << 16)
def without_breaks(name: str) -> str:
    """The further folds of a name's words without a break."""
    return "".join(loose_key(name))


def by_joining(answer: Answer, tier: Tier) -> Found:
    """The letters of the name, parted into words in another way."""
    wanted = without_breaks(tier[1])
    if wanted not in answer.joined:
        return
    if len(wanted) < JOINED:
        if wanted == answer.joined and len(answer.texts) != len(tier[2]):  # H 2 O
            yield Mention(tier[0], tier[1], 0, len(answer.texts))
        return
    starts = answer.joined_starts
    at = answer.joined.find(wanted)
    for _ in range(MOST):
        if at < 0:
            return
        start, end = starts.get(at), starts.get(at + len(wanted))
        if start is not None and end is not None:
            yield Mention(tier[0], tier[1], start, end)
        at = answer.joined.find(wanted, at + 1)


def by_polarity(answer: Answer, tier: Tier) -> Found:
    """Yes or no at the beginning of an answer."""
    if tier[2] not in _POLARITY or answer.texts[:1] != tier[2]:
        return
    if all(folded in _POLARITY for level, _, folded in answer.tiers if level == tier[0]):
        yield Mention(tier[0], tier[1], 0, 1)


def by_words(answer: Answer, tier: Tier) -> Found:
    """All informative words in any order; where the question has said some of them, the others."""
    whole = informative(tier[1])
    wanted = [word for word in whole if word not in answer.loose_asked]
    if not wanted or answer.denies or len(whole) > RETOLD:
        return
    there = answer.claimed
    if len(there) < len(wanted) and there == _without_kind(tier[1], answer):
        yield Mention(tier[0], tier[1], 0, len(answer.words))
        return
    if len(there) == len(wanted) and sorted(there) == sorted(wanted) and (len(wanted) < len(whole) or len(wanted) > 1):
        if len(wanted) > 1 or wanted[0].isdecimal() or len(wanted[0]) >= DELICATE:
            yield Mention(tier[0], tier[1], 0, len(answer.words))
        return
    if len(wanted) < 2 or not answer.loose_present.issuperset(wanted):
        return
    places = [index for index, word in enumerate(answer.loose) if word in wanted]
    spread = SPREAD if len(wanted) > 2 else 2
    for first in range(len(places)):
        need, last = set(wanted), first
        while last < len(places) and places[last] - places[first] < len(wanted) + spread:
            need.discard(answer.loose[places[last]])
            if not need:
                break
            last += 1
        if need or last == len(places):
            continue
        start, end = places[first], places[last] + 1
        more = [w for w, f in zip(answer.texts[start:end], answer.loose[start:end], strict=True) if f not in wanted]
        if len(wanted) == 2 and not (all(w in vocabulary.FUNCTION for w in more) or {"and", "or"} & set(more)):
            continue
        if any(word in vocabulary.QUALIFIERS or word in vocabulary.NEGATIONS or word[0].isdigit() for word in more):
            continue
        if any(set(word.gap) & set(".;!?") for word in answer.words[start + 1 : end]):
            continue
        yield Mention(tier[0], tier[1], start, end)


def _without_kind(name: str, answer: Answer) -> tuple[str, ...] | None:
    """The further folds of a proper name without the word for its kind: Ottoman for Ottoman Empire, not for places."""
    folded, own = key(name), loose_key(name)
    several = len(folded) > 2 and folded[-1] in _INSTITUTES  # Boise State, Florida Atlantic
    if "of" in folded or name.startswith(("a ", "an ", "A ", "An ")):
        return None
    if folded[-1] in vocabulary.PLACE_CLASSES and not several:
        return None
    kept, left = (own[:-1], folded[:-1]) if folded[-1] in vocabulary.CLASSES else (own[1:], folded[1:])
    if not left or left in answer.keys or (is_adjective(left) and folded[-1] not in _TOLD_BY_ADJECTIVE):
        return None
    if folded[-1] not in vocabulary.CLASSES and folded[0] not in ("mount", "river"):
        return None
    if is_known(left) or is_known(key(" ".join(left))) or len("".join(left)) <= DELICATE:
        return None
    return kept


def by_description(answer: Answer, tier: Tier) -> Found:
    """A description with small words put in, or with its adjective told by a country: a composer from France."""
    _, name, folded = tier
    if not 2 <= len(folded) <= RETOLD or not is_description(name):
        return
    texts = answer.texts
    for start in (i for i, text in enumerate(texts) if text == folded[0]):
        end, used = start, 0
        while end < len(texts) and used < len(folded) and end - start < len(folded) + 2:
            if texts[end] == folded[used]:
                used += 1
            elif answer.words[end].gap.strip("-") or answer.words[end].capital or texts[end] in vocabulary.FUNCTION:
                break
            end += 1
        if used == len(folded):
            yield Mention(tier[0], name, start, end)
    size = len(folded) - 1
    for country in adjective_countries(folded[0]):
        if not answer.present.issuperset(country):
            continue
        for start in range(len(texts) - size):
            end = start + size
            if texts[start:end] == folded[1:] and texts[end : end + 1] in (("from",), ("of",)):
                end += 1
                if texts[end : end + len(country)] == country:
                    yield Mention(tier[0], name, start, end + len(country))


def by_spelling(answer: Answer, tier: Tier) -> Found:
    """One long capitalised word of the name is one letter off."""
    _, name, folded = tier
    size = len(folded)
    least = SPELLED if size > 1 else SPELLED + 2
    if max(map(len, folded)) < least or not (name[:1].isupper() or (size == 1 and len(folded[0]) >= COMMON)):
        return
    texts = answer.texts
    if size == 1 and not any(word[0] == folded[0][0] and -2 < len(word) - len(folded[0]) < 2 for word in texts):
        return
    if size > 1 and answer.present.isdisjoint(folded):
        if len(answer.own) == 1 and _is_misspelt_family(answer, tier):
            yield Mention(tier[0], name, 0, len(texts))
        return
    for start in range(len(texts) - size + 1):
        other = [(i, texts[start + i], word) for i, word in enumerate(folded) if texts[start + i] != word]
        if len(other) != 1:
            continue
        index, said, word = other[0]
        if len(word) < least or len(said) < least - 1 or said[0] != word[0] or not (said.isalpha() and word.isalpha()):
            continue
        if answer.cased and name[:1].isupper() and not answer.words[start + index].capital:
            continue
        if not name[:1].isupper() and said[-2:] != word[-2:]:
            continue
        if one_letter_off(said, word) and not _inflected(said, word, family=size > 1 and index == size - 1):
            yield Mention(tier[0], name, start, start + size)


def _is_misspelt_family(answer: Answer, tier: Tier) -> bool:
    """Whether the one word of an answer is a person's long family name, one letter off: Shakespear."""
    said, wanted = answer.own[0], whole_person(tier[1])
    if wanted is None or not (answer.asks_person or answer.of_persons) or len(said) < FAMILY or not said.isalpha():
        return False
    if len(wanted.family) < FAMILY or said[0] != wanted.family[0] or (said,) in answer.keys:
        return False
    return one_letter_off(said, wanted.family) and not _inflected(said, wanted.family, family=True)


def _inflected(one: str, other: str, *, family: bool) -> bool:
    """Georgian is no misspelt Georgia, but Guinnes is Guinness, and in a family name a last e is soon forgotten."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and long[-1] != short[-1] and not (family and long[-1] == "e")


def one_letter_off(one: str, other: str) -> bool:
    """Whether one letter is changed, added or left out, or two neighbours are swapped."""
    if len(one) == len(other):
        off = [i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
        return len(off) == 1 or (
            len(off) == 2 and off[1] == off[0] + 1 and one[off[0]] == other[off[1]] and one[off[1]] == other[off[0]]
        )
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) != 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[at:] == long[at + 1 :]


Looser = Callable[[Answer, Tier], Found]

LOOSER: tuple[tuple[str, Looser], ...] = (
    ("form", by_form),
    ("fold", by_fold),
    ("joined", by_joining),
    ("person", by_person),
    ("country", by_country),
    ("nation", by_nation),
    ("acronym", by_acronym),
    ("team", by_team),
    ("words", by_words),
    ("description", by_description),
    ("spelling", by_spelling),
    ("phrase", by_phrase),
    ("coverage", by_coverage),
    ("overlap", by_overlap),
    ("polarity", by_polarity),
)
"""The rules in their order, by the name that a verdict carries."""

WHOLE = frozenset({"words", "coverage", "overlap", "polarity"})
"""Rules that read the answer as a whole and so need no veto on what stands before or behind a mention."""
