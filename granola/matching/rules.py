"""The default matcher: ordered, named, deterministic rules.

1. exact             the folded words are those of a name of a level
2. abstain:*         the answer declines (`granola.replies.refusals`)
3. date:*, amount:*  where levels are dates or amounts they are compared as such (`claims.value_claims`)
4. span              a name stands in a longer answer as whole words, and no veto takes it back
5. RULES             names in other forms and other words, in their order
6. coverage          of a gold answer of one level, most of what it says, where nothing else decided

Of the levels that a rule matches, the finest wins. A later rule is asked only for finer levels than those before it
found. A text that matches nothing is read once more with what copying did to it repaired (`text.repair`).
Of a prediction the first 20,000 characters are read, up to a space; so with questions of more than 2,000 characters.
A name of more than 500 is held against the whole prediction alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from abstraction.language.amount_finder import amounts
from abstraction.language.currencies import are_other_currencies, currencies
from abstraction.language.date_finder import dates, turned_dates
from abstraction.language.interval_claims import IntervalClaim
from abstraction.language.languages import language
from granola.code_hash import hash_of_modules
from granola.matching.claims.value_claims import compare, counted
from granola.matching.naming import references
from granola.matching.naming.mentions import AnswerText, Mention, Mentions
from granola.matching.naming.names import (
    acronym_tiers,
    by_acronym,
    by_country,
    by_form,
    by_joining,
    by_spelling,
    country_tiers,
    joined_tiers,
    spelling_tiers,
)
from granola.matching.naming.partial_answers import (
    by_phrase,
    by_words,
    covered,
    phrase_tiers,
)
from granola.matching.naming.person_names import by_person, given_name_first, is_another_person
from granola.matching.naming.references import Tier
from granola.matching.naming.word_forms import by_word_form, word_form_tiers
from granola.matching.text.match_cache import MATCHING
from granola.matching.text.repair import is_damaged, parted, repairs, tidied
from granola.matching.text.tokens import MOST, key
from granola.matching.verdict import Comparison, Levels, ReplyMatcher, Verdict, signature
from granola.matching.vetoing.vetoes import ANOTHER, CONTRADICTED, RESTATED, restates_at, veto
from granola.replies.plain_text import plain
from granola.replies.refusals import REPORTS, refusal

EXAMINED = 20_000  # characters of a prediction
ASKED = 2_000  # characters of a question
BARE = 4  # words of an answer that is an amount and no more
BARE_LETTERS = 12  # of an answer without spaces
JUDGED = 200  # mentions of names that are judged; an answer that names them more often answers nothing


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A rule that finds where an answer may state a name; `of` gives the names that it is worth asking about.

    A rule that reads the answer as a `whole` needs no veto on what stands beside a mention. One that takes words in a
    `loose` order has none in scripts without spaces, where each letter is a word.
    """

    name: str
    find: Callable[[AnswerText, Tier], Mentions]
    of: Callable[[AnswerText], Sequence[Tier]] = lambda answer: answer.shared
    whole: bool = False
    loose: bool = False


RULES: tuple[Rule, ...] = (
    Rule(name="form", find=by_form),
    Rule(name="word-form", find=by_word_form, of=word_form_tiers),
    Rule(name="joined", find=by_joining, of=joined_tiers),
    Rule(name="person", find=by_person),
    Rule(name="country", find=by_country, of=country_tiers),
    Rule(name="acronym", find=by_acronym, of=acronym_tiers),
    Rule(name="words", find=by_words, whole=True, loose=True),
    Rule(name="phrase", find=by_phrase, of=phrase_tiers, loose=True),
    Rule(name="spelling", find=by_spelling, of=spelling_tiers),
)
"""Asked in this order behind `span`, each for levels finer than the one matched before."""

_HOW_MANY = re.compile(r"\bhow many\b")
_NONE = re.compile(r"\W*+none\W*+", re.IGNORECASE)  # an answer to how many
_UNDECIDED = frozenset({"conflict", "none-stated", "coarser-than-all"})
_Read = Callable[[str], tuple[IntervalClaim, ...]]


@dataclass(frozen=True, kw_only=True)
class RulesMatcher(ReplyMatcher):
    """The rules of this module. Always the finest level that an answer states, with the rule that says so.

    `language` is that of the answers: dates, amounts and refusals are read in it where the package has its data.
    """

    name: str = "rules"
    language: str = "en"

    def signature(self) -> str:
        """`rules|replies:cut|v:HASH`; the hash is of the rules, their data and the readers that they use.

        The version of Babel is in it, since CLDR's data decide in other languages than English.
        """
        code = hash_of_modules("granola.matching.rules", folders=("granola/matching",), libraries=("babel",))
        return signature("rules", **self.reading, v=code)

    def match_answer(self, answer: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict of the first rule that decides; repeating words of `question` claims nothing."""
        code = language(self.language).code
        prediction = language(code).with_common_years(tidied(_beginning(answer)))
        names = references.mended_names(tuple(map(tuple, levels)))
        if exact := _exact(prediction, names):
            return exact
        names = references.without_function_words(references.read_names(names), code)
        if question and len(question) > ASKED:
            question = _beginning(question, ASKED)
        verdict = _decided(prediction, names, question, code)
        if verdict.level is not None:
            return verdict
        readings = [prediction, *repairs(prediction)]
        if is_damaged(prediction):
            separate = parted(prediction, [name for level in names for name in level])
            readings += [separate, *repairs(separate)[-1:]] if separate != prediction else []
        for repaired in readings[1:]:
            verdict_of_repair = _decided(repaired, names, question, code)
            if verdict_of_repair.level is not None:
                return verdict_of_repair
        if len(names) == 1 and (verdict.rule in _COVERABLE):
            for reading in readings:
                if coverage := _covered(reading, names, question, code):
                    return coverage
        return verdict


_COVERABLE = frozenset({"no-match", RESTATED})


def _decided(prediction: str, names: references.Names, question: str | None, code: str) -> Verdict:
    turned = given_name_first(prediction, names)
    verdict = _decided_as_written(turned, names, question, code)
    if turned is prediction or verdict.compared is None:
        return verdict
    return replace(verdict, compared=replace(verdict.compared, prediction=prediction.strip()))


def _decided_as_written(prediction: str, names: references.Names, question: str | None, code: str) -> Verdict:
    declined = refusal(prediction, code)
    if declined is None or (question and _NONE.fullmatch(prediction) and _asks(_HOW_MANY, question)):
        bare = _unframed(prediction)
        exact = None if bare is prediction else _exact(bare, names)
        return exact or _judge(bare, names, question, code)
    offer = declined.offer if declined.guess or declined.rule not in REPORTS else ""
    verdict = _exact(offer, names) or _judge(offer, names, question, code) if offer else None
    if verdict is not None and (verdict.level is not None or declined.guess):
        return verdict
    return Verdict(level=None, rule=declined.rule, abstained=not declined.tells_another)


def _covered(text: str, names: references.Names, question: str | None, code: str) -> Verdict | None:
    if len(key(text)) <= BARE and references.values(names, "amount", code):
        return None
    if not language(code).parts_words:
        return None  # single letters that two names share say nothing: 布吉納法索 and 法國
    declined = refusal(text, code)
    answer = AnswerText(declined.offer if declined else text, names, question)
    mention = covered(answer)
    return _verdict(answer, mention, "coverage") if mention else None


def _beginning(text: str, longest: int = EXAMINED) -> str:
    """The part of a text that is read, ending with a whole word where it has any."""
    if len(text) <= longest:
        return text
    text = text.lstrip()
    space = text.rfind(" ", 0, longest + 1)
    return text[: space if space > 0 else longest]


def _unframed(text: str) -> str:
    """What `The answer is` introduces, where a text begins so; a name is the same with it and without."""
    if "nswer" not in text[:40] and "NSWER" not in text[:40]:
        return text
    frame = _FRAME.match(text)
    return text[frame.end() :] if frame else text


_FRAME = re.compile(
    r"\W*(?:so |thus |therefore |hence )?,? ?(?:the|my) (?:\w+ )?answer (?:is|was|would be|:):? ?(?=\w)", re.IGNORECASE
)


def _exact(prediction: str, levels: references.Names) -> Verdict | None:
    prediction_key = key(prediction)
    for level, name, folded in references.tiers(levels):
        if folded == prediction_key and not _adds_a_currency(prediction, name):
            return Verdict(level=level + 1, rule="exact", compared=Comparison(prediction=prediction.strip(), tier=name))
    return None


def _adds_a_currency(prediction: str, name: str) -> bool:
    """Whether a prediction names a currency that a name, which has the same words, does not; words have no signs."""
    return not prediction.isalnum() and (
        are_other_currencies(prediction, name) or bool(currencies(prediction) and not currencies(name))
    )


def _judge(prediction: str, levels: references.Names, question: str | None, code: str) -> Verdict:
    readings, around = _readings(question, code), language(code).with_english_around
    prediction, question = around(prediction), around(question) if question else question
    for kind, read in readings:
        ladder = references.values(levels, kind, code)
        if not ladder:
            continue
        claims = (read(prediction) or (counted(prediction) if kind == "amount" else ()))[:MOST]
        if kind == "date" and "/" in prediction:
            claims += turned_dates(prediction)[:MOST]
        stated = _stated(kind, claims, read, prediction, question)
        tiers = " / ".join(tier.text for level in ladder for tier in level)
        if kind == "amount" and stated and are_other_currencies(prediction, tiers, code):
            verdict = Verdict(level=None, rule="amount:other-unit")
        else:
            verdict = compare(kind, stated, ladder, prediction, question, code)
        if verdict.rule == "date:none-stated" and references.values(levels, "amount", code):
            continue  # 300 is a year as well as an amount
        words = references.others(levels, kind, code)
        if verdict.level is None and len(levels) == 1 and _is_open(verdict, claims, ladder, prediction):
            words = levels  # its number may stand there as something else: 127 pages is no year
        if verdict.level is None and any(words):  # gold answers of two kinds: a date, or the name of an event
            named = _named(AnswerText(prediction, words, question, code))
            return named if named.level is not None else verdict
        return verdict
    return _named(AnswerText(prediction, levels, question, code))


def _is_open(
    verdict: Verdict, claims: Sequence[IntervalClaim], ladder: Sequence[Sequence[IntervalClaim]], prediction: str
) -> bool:
    """Whether the words may still state a value: it was not read and passed over, and no other currency is told."""
    if verdict.rule.partition(":")[2] not in _UNDECIDED:
        return False
    if any((claim.low, claim.high) == (tier.low, tier.high) for claim in claims for tier in ladder[0]):
        return False
    is_bare = len(key(prediction)) <= BARE or len(prediction) <= BARE_LETTERS
    if is_bare and any(
        any(map(str.isdigit, tier.text)) and _numbers(claim.text) >= _numbers(tier.text)
        for claim in claims
        for tier in ladder[0]
    ):
        return False  # fewer than 42, 23 million; in sentences people read past "over 216 countries"
    return not any(currencies(tier.text) for tier in ladder[0]) or bool(currencies(prediction))


def _numbers(text: str) -> frozenset[str]:
    return frozenset(word for word in key(text) if word[0].isdigit())


def _readings(question: str | None, code: str) -> tuple[tuple[str, _Read], ...]:
    """Dates before amounts, but where a question asks how many, 1500 is no year."""
    readings: tuple[tuple[str, _Read], ...] = (
        ("date", lambda text: dates(text, code)),
        ("amount", lambda text: amounts(text, code)),
    )
    return readings[::-1] if question and _asks(language(code).matching["asks_amount"], question) else readings


@MATCHING.remembered(1 << 14)
def _asks(pattern: re.Pattern[str], question: str) -> bool:
    MATCHING.count(len(question))
    return bool(pattern.search(plain(question)))


def _stated(
    kind: str, claims: tuple[IntervalClaim, ...], read: _Read, prediction: str, question: str | None
) -> tuple[IntervalClaim, ...]:
    """The claims of an answer without those that the question made, unless it has no other."""
    if kind == "amount" and question and "times" in question:
        claims += tuple(claim for claim in counted(prediction) if claim.text.lower() in ("once", "twice", "thrice"))
    asked = {(claim.low, claim.high) for claim in read(question)} if question else set()
    unasked = tuple(claim for claim in claims if (claim.low, claim.high) not in asked)
    if unasked or not claims:
        return unasked
    answer = AnswerText(prediction, (), question)
    return tuple(claim for claim in claims if not restates_at(answer, claim.start, claim.end))


def _named(answer: AnswerText) -> Verdict:
    """The finest level that any rule finds stated; a rule is asked only for finer levels than those before it."""
    best: Verdict | None = None
    refused, refused_at = None, None
    left = iter(range(JUDGED))
    for mention, _ in zip(answer.mentions, left, strict=False):
        why = veto(answer, mention)
        if why is None:
            best = _verdict(answer, mention, "span")
            break
        if refused is None:
            refused, refused_at = _verdict(answer, mention, why, level=False), mention.level
        if why == CONTRADICTED:  # a wrong finer claim is not saved by a right coarser one
            break
    limit, parts_words = _above(best), language(answer.code).parts_words
    if refused is not None and refused.rule not in (ANOTHER, RESTATED):
        # what is taken back in plain words is not stated in others
        limit = min(level for level in (limit, refused_at) if level is not None)
    for rule in RULES:
        if limit == 0 or (rule.whole and refused is not None) or (rule.loose and not parts_words):
            continue
        if finer := _first(answer, rule, limit, left):
            best, limit = finer, _above(finer)
    return best or refused or Verdict(level=None, rule="no-match")


def _above(best: Verdict | None) -> int | None:
    """The level from 0 that others have to be finer than; None where nothing is found yet."""
    return None if best is None or best.level is None else best.level - 1


def _first(answer: AnswerText, rule: Rule, limit: int | None, left: Iterator[int]) -> Verdict | None:
    """The first mention that is not taken back; each that is judged takes one of those that are `left`."""
    for tier in rule.of(answer):
        if limit is not None and tier[0] >= limit:
            return None
        for mention, _ in zip(rule.find(answer, tier), left, strict=False):
            if answer.is_marked(mention.start, mention.end) or answer.is_a_common_noun(mention.name, mention.start):
                continue
            if answer.says_another(mention) or answer.has_another_mark(mention):
                continue
            if is_another_person(answer, mention.level, mention.start, mention.end):
                continue
            if rule.whole or veto(answer, mention) is None:
                return _verdict(answer, mention, rule.name)
    return None


def _verdict(answer: AnswerText, mention: Mention, rule: str, *, level: bool = True) -> Verdict:
    compared = Comparison(prediction=answer.quote(mention.start, mention.end), tier=mention.name)
    return Verdict(level=mention.level + 1 if level else None, rule=rule, compared=compared)
