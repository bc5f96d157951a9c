"""Short answers that are nearly a tier's name: the same words in another order, a few left out, or a few more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from granola.matching import vocabulary
from granola.matching.amounts import whole_amount
from granola.matching.answer import Answer, Mention
from granola.matching.bearers import Found, is_another_person
from granola.matching.dates import whole_date
from granola.matching.divisions import is_adjective, is_known
from granola.matching.folding import loose_key
from granola.matching.forms import forms as other_forms
from granola.matching.gold import Tier
from granola.matching.memory import MATCHING
from granola.matching.people import whole_person
from granola.matching.surroundings import is_told_as_a_division
from granola.matching.verdict import Comparison, Verdict
from granola.matching.words import ARTICLES, drop_articles, key, words

NEAR = 0.6  # token-F1 from which words left out or added are forgiven
_OVERLAPPING = 5  # words of answer and name together from which one may differ
NEAR_WORDS = 6  # in longer answers overlap of words says little about agreement

_EMPTY = vocabulary.FUNCTION - ARTICLES  # articles are gone; what is left of them is a letter: Vitamin A


def near(answer: Answer, limit: int | None = None) -> Verdict | None:
    """Short answers whose words are a tier's in another order, or all but a few of them, or a few more."""
    if not answer.shared or answer.denies:
        return None
    said = [text for text in answer.texts if text not in _EMPTY]
    if not said or len(said) > NEAR_WORDS:
        return None
    indefinite = _is_indefinite(answer.text)
    for level, name, folded in answer.shared:
        if limit is not None and level >= limit:
            return None
        if whole_date(name) or whole_amount(name):
            continue  # 1961 is coarser than August 1961, not nearly it
        claimed = [word for word in said if word in folded or word not in answer.asked]
        if len(claimed) < len(said) and not answer.claimed:
            continue  # Charles Darwin for Robert Darwin, where it is asked for the father of the former
        if tuple(claimed) != folded and tuple(claimed) in answer.keys:
            continue  # New York, where that is a tier, for New York City
        forms = short_forms(name, answer.asks_study)
        score = (
            1.0
            if tuple(claimed) in forms
            else _likeness(claimed, folded, name=name, indefinite=indefinite, of_places=answer.of_places)
        )
        if (
            score >= NEAR
            and not answer.says_another(Mention(level, name, 0, len(answer.words)))
            and not is_another_person(answer, level, 0, len(answer.words))
            and not _is_a_division(answer, level, name)
        ):
            return Verdict(
                level=level + 1,
                rule="near",
                compared=Comparison(prediction=answer.text.strip(), tier=name),
                score=score,
            )
    return None


def _is_a_division(answer: Answer, level: int, name: str) -> bool:
    """Whether a short answer makes a division of a town's name: Isfahan Province."""
    return any(
        is_told_as_a_division(answer, Mention(level, name, start, start + 1)) for start in range(len(answer.words))
    )


@MATCHING.remembered(1 << 16)
def short_forms(name: str, studied: bool = False) -> frozenset[tuple[str, ...]]:
    """What may stand for a name as a whole answer: Toronto for `Toronto, Ontario`, ADP for `... (ADP)`.

    Where it is asked what was `studied` at, Harvard for Harvard University.
    """
    folded = key(name)
    if studied and len(folded) > 1 and folded[-1] in ("university", "college"):
        return frozenset({folded[:-1]})
    if studied and len(folded) > 2 and folded[:2] == ("university", "of"):
        return frozenset({folded[2:]})
    return frozenset(form.folded for form in other_forms(name))


def _likeness(said: Sequence[str], tier: Sequence[str], *, name: str, indefinite: bool, of_places: bool) -> float:
    """Token-F1 where one has all the words of the other and the rest changes nothing; else 0.

    `tier` is `name` folded. Words more than the tier's have to stand inside its name (Claude Achille Debussy):
    outside it they make another name (Martin Luther King), and inside a kind another kind (French Sign
    Language). Words fewer may be missing from a proper name, inside it or, as first names do, before it,
    though not before names `of_places` (Saudi Arabia): what is left of a description is a wider one (a
    language for French language, an American band for an American rock band), and so is what an answer calls
    `indefinite` (a singer). None may be missing of a name that is qualified (Massachusetts for `Cambridge,
    Massachusetts`) or that names its kind (University for Harvard University).
    """
    if set(said).isdisjoint(tier):
        return 0.0
    if vocabulary.kinds_differ(frozenset(said), frozenset(tier)):
        return 0.0  # New York State and New York City
    ours, theirs = ([w for w in words if w not in _EMPTY] for words in (said, tier))
    ours, theirs = ([w for w in words if w not in vocabulary.KINDS] or words for words in (ours, theirs))
    more, fewer = Counter(ours) - Counter(theirs), Counter(theirs) - Counter(ours)
    if not ours or not theirs or (more and fewer):
        return 0.0
    if more and (len(theirs) < 2 or ours[0] != theirs[0] or ours[-1] != theirs[-1]):
        return 0.0
    if more and not (whole_person(name) or _is_indefinite(name)):
        return 0.0
    if fewer and (indefinite or not _is_proper(name) or short_forms(name) or ours[-1] != theirs[-1]):
        return 0.0
    if fewer and ours[0] != theirs[0] and (of_places or not _EMPTY.isdisjoint(tier)):
        return 0.0  # Martin Luther for Martin Luther King; Copenhagen for University of Copenhagen
    if any(word in vocabulary.QUALIFIERS or any(c.isdigit() for c in word) for word in (*more, *fewer)):
        return 0.0
    return 2 * (len(ours) - more.total()) / (len(ours) + len(theirs))


def by_overlap(answer: Answer, tier: Tier) -> Found:
    """A short answer that has all but one of the words of a name of three or more, or one more than a name of two.

    For gold answers without coarser levels alone, as people take them: a word may be all that tells a level from the
    next. What tells one of several apart (New, South, II, a number) may be neither left out nor put in, nor the
    family name of a person.
    """
    if len(answer.levels) != 1 or not _is_proper_throughout(tier[1]) or answer.denies:
        return
    said = [word for word in answer.loose if word not in vocabulary.FUNCTION]
    wanted = [word for word in loose_key(tier[1]) if word not in vocabulary.FUNCTION]
    if len(said) > NEAR_WORDS:
        return
    more, fewer = Counter(said) - Counter(wanted), Counter(wanted) - Counter(said)
    if more.total() + fewer.total() != 1 or len(said) + len(wanted) < _OVERLAPPING:
        return
    differing = next(iter((*more, *fewer)))
    if differing in vocabulary.QUALIFIERS or differing[0].isdigit() or differing in vocabulary.SUFFIXES:
        return
    if differing in vocabulary.MONTHS or is_known((differing,)) or is_adjective((differing,)):
        return
    if more and differing not in (said[0], said[-1]):
        return  # BBC World America
    if whole_person(tier[1]) is not None and differing == (said if more else wanted)[-1]:
        return  # Martin Luther King
    yield Mention(tier[0], tier[1], 0, len(answer.words))


@MATCHING.remembered(1 << 14)
def _is_proper_throughout(name: str) -> bool:
    """Whether all that says something in a name has a capital."""
    own = [word for word in words(name) if word.text not in vocabulary.FUNCTION]
    return bool(own) and all(word.capital or not word.text.isalpha() for word in own) and not _is_indefinite(name)


def _is_indefinite(text: str) -> bool:
    """Whether `text` begins with "a" or "an" and so speaks of one of a kind."""
    found = words(text)
    return len(found) > 1 and found[0].text in vocabulary.INDEFINITE


@MATCHING.remembered(1 << 16)
def _is_proper(name: str) -> bool:
    """Whether a name is one bearer's own: capitals throughout, and no word at either end that says its kind."""
    own = [word for word in drop_articles(words(name)) if word.text not in vocabulary.FUNCTION]
    while len(own) > 2 and own[-1].text in vocabulary.LEGAL_FORMS:
        own.pop()  # The Walt Disney Company
    return (
        bool(own)
        and not _is_indefinite(name)
        and all(word.capital or word.text in vocabulary.PARTICLES or not word.text.isalpha() for word in own)
        and vocabulary.CLASSES.isdisjoint((own[0].text, own[-1].text))
    )
