"""People told beside the one asked for: whose relative or deputy it is, and who has another office."""

from __future__ import annotations

from granola.matching import vocabulary
from granola.matching.answer import SENTENCE_END, Answer, Mention
from granola.matching.folding import stem
from granola.matching.words import words

_NEAR = 6  # words before a mention that are searched for a subject
_BETWEEN = 3  # words that may stand between an owner and who is owned: Mozart's older sister
_COPULAS = frozenset({"is", "was", "are", "were"})
_SERVING = _COPULAS | {"as", "being", "serving", "serves", "served"}
_OWNED = vocabulary.RELATIVES | vocabulary.OFFICES


def is_a_relative(answer: Answer, mention: Mention) -> bool:
    """`Mozart's father`, `the wife of Mozart`: somebody else, told by a name, unless a subject comes before.

    So is `Kennedy's vice president`, with a name behind it or without.
    """
    first = mention.start
    if not _owns(answer, mention):
        if (
            first < 2
            or answer.words[first - 1].text != "of"
            or answer.words[first - 2].text not in vocabulary.RELATIVES
        ):
            return False
        first -= 2
    if "whose" in answer.asked:
        return False
    if first and "," in answer.words[first].gap and answer.is_claim(answer.name_before(first), first):
        return True  # George Lucas, a friend of Steven Spielberg
    return first <= _NEAR and all(word.text in vocabulary.OPENING for word in answer.words[:first])


def _owns(answer: Answer, mention: Mention) -> bool:
    said = answer.words[mention.end - 1]
    source, own = answer.text[said.start : said.end], words(mention.name)[-1]
    if source[-2:].lower() not in _POSSESSIVE or mention.name[own.start : own.end].endswith(("'s", "’s")):
        return False
    for word in answer.words[mention.end : mention.end + _BETWEEN]:
        if word.gap.strip("-") or (word.capital and answer.cased and word.text not in _OWNED):
            return False
        if word.text in _OWNED:
            return True
    return False


_POSSESSIVE = ("'s", "’s", "s'", "s’")


_BEATEN = frozenset({"beat", "beats", "beating", "defeated", "defeats", "defeating", "over", "against"})
_WINNING = frozenset({"won", "win", "wins", "winner", "winners", "champion", "champions", "victory"})


def is_beaten(answer: Answer, mention: Mention) -> bool:
    """`France beat Croatia 4-2` for Croatia, where it is asked who won."""
    if not mention.start or answer.words[mention.start - 1].text not in _BEATEN or answer.words[mention.start].gap:
        return False
    return not _WINNING.isdisjoint(answer.asked) and _BEATEN.isdisjoint(answer.asked)


_INSTEAD = frozenset({"replaced", "succeeded", "followed", "preceded"})
_BESIDE = frozenset({"worked", "works", "competes", "competed", "collaborated", "studied", "starred"})


def is_beside_the_answer(answer: Answer, mention: Mention) -> bool:
    """`Joe Johnston replaced Steven Spielberg`, `George Lucas, who worked with Steven Spielberg` for the latter.

    Where somebody that no tier names is the subject, and the question asks for nothing of the kind.
    """
    start = mention.start
    if mention.level > 0 or not answer.cased or start < 2 or answer.words[start].gap:
        return False
    verb, subject = answer.texts[start - 1], start - 1
    if verb == "with":
        verb, subject = answer.texts[start - 2], start - 2
        if verb not in _BESIDE or answer.texts[subject - 1 : subject] not in (("who",), ("which",), ("that",)):
            return False
        subject -= 1
    elif verb not in _INSTEAD:
        return False
    if not subject or verb in answer.asked:
        return False
    first = answer.name_before(subject)
    return first < subject and answer.is_claim(first, subject)


def is_of_another_deed(answer: Answer, mention: Mention) -> bool:
    """`composed by Ravel and orchestrated by Debussy` for Debussy, where it is asked who composed it."""
    start = mention.start
    if mention.level > 0 or start < 2 or answer.texts[start - 1] != "by" or not answer.cased or not answer.asks_person:
        return False
    asked = {stem(word) for word in answer.loose_asked}
    if stem(answer.loose[start - 2]) in asked:
        return False
    if "(" in answer.words[start - 2].gap and start > 2:  # Joe Johnston (produced by Steven Spielberg)
        named = answer.name_before(start - 2)
        return named < start - 2 and answer.is_claim(named, start - 2)
    for index in range(1, len(answer.words) - 1):
        if answer.texts[index] == "by" and index != start - 1 and stem(answer.loose[index - 1]) in asked:
            return answer.words[index + 1].capital and answer.is_claim(index + 1, index + 2)
    return False


def has_another_office(answer: Answer, mention: Mention) -> bool:
    """`Steve Jobs is the CEO of Apple, with Tim Cook as COO`: what is asked for is said of somebody else."""
    if mention.level > 0 or not answer.cased or not answer.asks_person or mention.end + 1 >= len(answer.words):
        return False
    following = answer.words[mention.end]
    if following.text not in _SERVING or following.gap or not _is_office(answer, mention.end + 1):
        return False
    copula = next((i for i, word in enumerate(answer.words[: mention.start]) if word.text in _COPULAS), 0)
    if copula == 0 or any(set(word.gap) & SENTENCE_END for word in answer.words[1 : copula + 1]):
        return False
    before, behind = answer.texts[:copula], answer.texts[copula + 1 : mention.start]
    if _asks(answer, behind) and not _asks(answer, before):
        return answer.name_before(copula) < copula and answer.is_claim(answer.name_before(copula), copula)
    named = answer.words[copula + 1]
    return _asks(answer, before) and named.capital and answer.is_claim(copula + 1, copula + 2)


def _is_office(answer: Answer, index: int) -> bool:
    """Whether what is said of somebody from word `index` on is something that the question did not ask for."""
    said = answer.texts[index : index + 3]
    return not _asks(answer, said) and answer.is_claim(index, min(len(answer.words), index + 3))


def _asks(answer: Answer, texts: tuple[str, ...]) -> bool:
    return any(text in answer.asked and text not in vocabulary.FUNCTION for text in texts)
