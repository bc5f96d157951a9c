"""The default matcher: ordered, named, deterministic rules.

1. exact            the folded words are those of a name of a tier
2. abstain:*        the answer declines (granola.matching.abstention)
3. date:*, amount:* where tiers are dates or amounts they are compared as such, never as words
4. span             a tier's name stands in a longer answer as whole words, and nothing takes it back
5. near             short answers only: the same words in another order, or a few left out or added

Of the levels that a rule matches, the finest wins. A later rule is asked only where the earlier ones found
nothing; a veto (negated, alternatives, finer-claim-conflict, ...) ends in no match. Of a prediction the first
20,000 characters are read, up to a space: an answer that runs on endlessly costs no more than a long one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise

from abstraction.languages import language
from granola.matching import tongues, vocabulary
from granola.matching.abstention import refusal
from granola.matching.amounts import amounts, whole_amount
from granola.matching.dates import dates, whole_date
from granola.matching.names import Answer
from granola.matching.ranges import Claim, Placing, place
from granola.matching.verdict import Comparison, Levels, Verdict
from granola.matching.vetoes import VETOES
from granola.matching.words import ARTICLES, drop_articles, key, plain, words

NEAR = 0.6  # token-F1 from which words left out or added are forgiven
EXAMINED = 20_000  # characters of a prediction
NEAR_WORDS = 6  # in longer answers overlap of words says little about agreement

_ASKS_AMOUNT = re.compile(
    r"\bhow (?:many|much|far|tall|high|long|big|large|old|heavy|deep|wide)\b|\bpopulation\b|\bnumber of\b"
)
_Read = Callable[[str], tuple[Claim, ...]]
_ReadWhole = Callable[[str], Claim | None]
_YEAR = re.compile(r"[12]\d{3}")
_IN_YEAR = re.compile(r"\b(?:in|since|by|of|from|year)\s*\Z", re.IGNORECASE)
_OR = re.compile(r"[\s,]*\bor\b(?:\s+(?:the|in|on|about))*\s*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class RulesMatcher:
    """The rules of this module. Always the finest level that an answer states, with the rule that says so.

    `language` is that of the answers: dates, amounts and refusals are read in it where the package has its data.
    """

    name: str = "rules"
    language: str = "en"

    def signature(self) -> str:
        """`rules`: it has no settings; the package version in a score's signature stands for the rules."""
        return "rules"

    def match(self, prediction: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict of the first rule that decides; repeating words of `question` claims nothing."""
        prediction = _beginning(prediction)
        if found := _exact(prediction, levels):
            return found
        code = language(self.language).code
        declined = refusal(prediction, code)
        if declined is None:
            return _judge(prediction, levels, question, code)
        verdict = _judge(declined.offer, levels, question, code) if declined.offer else None
        if verdict is not None and (verdict.level is not None or declined.guess):
            return verdict
        return Verdict(level=None, rule=declined.rule, abstained=True)


def _beginning(text: str) -> str:
    """The part of a prediction that is read, ending with a whole word where it has any."""
    if len(text) <= EXAMINED:
        return text
    text = text.lstrip()
    space = text.rfind(" ", 0, EXAMINED + 1)
    return text[: space if space > 0 else EXAMINED]


def _exact(prediction: str, levels: Levels) -> Verdict | None:
    said = key(prediction)
    for number, names in enumerate(levels, start=1):
        for name in names:
            if said and said == key(name):
                return Verdict(
                    level=number, rule="exact", compared=Comparison(prediction=prediction.strip(), tier=name)
                )
    return None


def _judge(prediction: str, levels: Levels, question: str | None, code: str) -> Verdict:
    if found := _exact(prediction, levels):
        return found
    for kind, read, read_whole in _readings(question, code):
        ladder = [[replace(claim, text=name) for name in names if (claim := read_whole(name))] for names in levels]
        if not ladder or not ladder[0]:
            continue
        verdict = _valued(kind, _stated(read, prediction, question), ladder, prediction)
        words = [[name for name in names if not read_whole(name)] for names in levels]
        if verdict.level is None and any(words):  # gold answers of two kinds: a date, or the name of an event
            named = _named(Answer(_around_names(prediction, code), words, question))
            return named if named.level is not None else verdict
        return verdict
    return _named(Answer(_around_names(prediction, code), levels, question))


def _around_names(prediction: str, code: str) -> str:
    return language(code).with_english_around(prediction)


def _readings(question: str | None, code: str) -> tuple[tuple[str, _Read, _ReadWhole], ...]:
    """Dates before amounts, but where a question asks how many, 1500 is no year."""
    readings: tuple[tuple[str, _Read, _ReadWhole], ...] = (
        ("date", dates, whole_date),
        ("amount", amounts, whole_amount),
    )
    asks = _ASKS_AMOUNT
    if code != "en":
        asks = language(code).matching["asks_amount"]
        readings = (
            ("date", partial(tongues.dates, code=code), partial(tongues.whole_date, code=code)),
            ("amount", partial(tongues.amounts, code=code), partial(tongues.whole_amount, code=code)),
        )
    return readings[::-1] if question and asks.search(plain(question)) else readings


def _stated(read: _Read, prediction: str, question: str | None) -> tuple[Claim, ...]:
    """The claims of an answer without those that the question made, unless it has no other."""
    claims = read(prediction)
    asked = {(claim.low, claim.high) for claim in read(question)} if question else set()
    return tuple(claim for claim in claims if (claim.low, claim.high) not in asked) or claims


def _valued(kind: str, claims: Sequence[Claim], ladder: Sequence[Sequence[Claim]], text: str) -> Verdict:
    """The finest level that any of the claims states; claims joined by "or" state the worst of theirs.

    What is negated is not claimed, and a claim does not save a finer one inside it that is wrong.
    """
    if not claims:
        return Verdict(level=None, rule=f"{kind}:none-stated")
    answer = Answer(text, ())
    affirmed = [claim for claim in claims if not answer.is_denied(claim.start)]
    if not affirmed:
        return Verdict(level=None, rule="negated", compared=Comparison(prediction=claims[0].text, tier=_first(ladder)))
    claims = affirmed
    placed: list[tuple[Claim, Placing]] = []
    for claim in claims:
        placing = place(claim, ladder)
        if placing is not None:
            placed.append((claim, placing))
    if not placed:
        return Verdict(level=None, rule=f"{kind}:other-unit")
    for (left, first), (right, second) in pairwise(placed):
        if _OR.fullmatch(text, left.end, right.start) and None in (first.level, second.level):
            return Verdict(
                level=None,
                rule="alternatives",
                compared=Comparison(prediction=text[left.start : right.end], tier=first.tier.text),
            )
    wrong = {
        (claim.low, claim.high): claim
        for claim, placing in placed
        if placing.level is None and not (kind == "amount" and _is_dated(claim, text))
    }.values()
    placed = [
        (claim, placing)
        for claim, placing in placed
        if placing.level is None or not any(w.inside(claim) and w.width < claim.width for w in wrong)
    ]
    claim, best = min(placed, key=lambda pair: (pair[1].level is None, pair[1].level or 0))
    return Verdict(
        level=None if best.level is None else best.level + 1,
        rule=f"{kind}:{best.how}",
        compared=Comparison(prediction=claim.text, tier=best.tier.text),
    )


def _is_dated(claim: Claim, text: str) -> bool:
    """Whether an amount is only the year it was counted in: `between 1,000 and 10,000 in 1990`."""
    return bool(_YEAR.fullmatch(claim.text) and _IN_YEAR.search(text[: claim.start][-20:]))


def _first(ladder: Sequence[Sequence[Claim]]) -> str:
    return next(claim.text for claims in ladder for claim in claims)


def _named(answer: Answer) -> Verdict:
    refused: Verdict | None = None
    for mention in answer.mentions:
        compared = Comparison(prediction=answer.quote(mention.start, mention.end), tier=mention.name)
        veto = next((name for name, applies in VETOES if applies(answer, mention)), None)
        if veto is None:
            return Verdict(level=mention.level + 1, rule="span", compared=compared)
        refused = refused or Verdict(level=None, rule=veto, compared=compared)
    return _near(answer) or refused or Verdict(level=None, rule="no-match")


def _near(answer: Answer) -> Verdict | None:
    """Short answers whose words are a tier's in another order, or all but a few of them, or a few more."""
    said = [word.text for word in answer.words if word.text not in vocabulary.FUNCTION - ARTICLES]
    if not said or len(said) > NEAR_WORDS or any(w.text in vocabulary.NEGATIONS for w in answer.words):
        return None
    indefinite = _is_indefinite(answer.text)
    for level, name, folded in answer.tiers:
        if whole_date(name) or whole_amount(name):
            continue  # 1961 is coarser than August 1961, not nearly it
        claimed = [word for word in said if word in folded or word not in answer.asked]
        forms = _short_forms(name)
        score = (
            1.0
            if tuple(claimed) in forms
            else _likeness(claimed, folded, name=name, indefinite=indefinite, of_places=answer.of_places)
        )
        if score >= NEAR:
            return Verdict(
                level=level + 1,
                rule="near",
                compared=Comparison(prediction=answer.text.strip(), tier=name),
                score=score,
            )
    return None


@lru_cache(maxsize=1 << 16)
def _short_forms(name: str) -> frozenset[tuple[str, ...]]:
    """What may stand for a qualified name: Toronto for `Toronto, Ontario`, ADP for `adenosine diphosphate (ADP)`."""
    before, _, inside = name.partition("(")
    parts = [before.partition(",")[0], inside.partition(")")[0]] if "," in before or inside else []
    return frozenset(form for part in parts if (form := key(part)))


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
    empty = vocabulary.FUNCTION - ARTICLES  # articles are gone; what is left of them is a letter: Vitamin A
    ours, theirs = ([w for w in words if w not in empty] for words in (said, tier))
    ours, theirs = ([w for w in words if w not in vocabulary.KINDS] or words for words in (ours, theirs))
    more, fewer = Counter(ours) - Counter(theirs), Counter(theirs) - Counter(ours)
    if not ours or not theirs or (more and fewer):
        return 0.0
    if more and (len(theirs) < 2 or ours[0] != theirs[0] or ours[-1] != theirs[-1]):
        return 0.0
    if more and not (_is_proper(name) or _is_indefinite(name)):
        return 0.0
    if fewer and (indefinite or not _is_proper(name) or _short_forms(name) or ours[-1] != theirs[-1]):
        return 0.0
    if fewer and ours[0] != theirs[0] and (of_places or not empty.isdisjoint(tier)):
        return 0.0  # Martin Luther for Martin Luther King; Copenhagen for University of Copenhagen
    if any(word in vocabulary.QUALIFIERS or any(c.isdigit() for c in word) for word in (*more, *fewer)):
        return 0.0
    return 2 * (len(ours) - more.total()) / (len(ours) + len(theirs))


def _is_indefinite(text: str) -> bool:
    """Whether `text` begins with "a" or "an" and so speaks of one of a kind."""
    found = words(text)
    return len(found) > 1 and found[0].text in vocabulary.INDEFINITE


@lru_cache(maxsize=1 << 16)
def _is_proper(name: str) -> bool:
    """Whether a name is one bearer's own: capitals throughout, and no word at either end that says its kind."""
    own = [word for word in drop_articles(words(name)) if word.text not in vocabulary.FUNCTION]
    return (
        bool(own)
        and not _is_indefinite(name)
        and all(word.capital or word.text in vocabulary.PARTICLES or not word.text.isalpha() for word in own)
        and vocabulary.CLASSES.isdisjoint((own[0].text, own[-1].text))
    )
