"""The default matcher: ordered, named, deterministic rules.

1. exact            the folded words are those of a name of a tier
2. abstain:*        the answer declines (granola.matching.abstention)
3. date:*, amount:* where tiers are dates or amounts they are compared as such, never as words
4. span             a tier's name stands in a longer answer as whole words, and nothing takes it back
5. near             short answers only: the same words in another order, or a few left out or added

Of the levels that a rule matches, the finest wins. A later rule is asked only where the earlier ones found
nothing; a veto (negated, alternatives, finer-claim-conflict, ...) ends in no match. Of a prediction the first
20,000 characters are read, up to a space: an answer that runs on endlessly costs no more than a long one. So with
questions of more than 2,000 characters; a name of more than 500 is held against the whole prediction alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise

from abstraction.languages import language
from granola.matching import gold, tongues
from granola.matching.abstention import refusal
from granola.matching.amounts import amounts, counted
from granola.matching.answer import Answer, Mention
from granola.matching.bearers import is_another_person
from granola.matching.dates import dates
from granola.matching.events import tells_of_another
from granola.matching.folding import loose_key
from granola.matching.looser import LOOSER, WHOLE, Looser
from granola.matching.repair import joined, mended, repairs, spaced
from granola.matching.near import near
from granola.matching.numerals import has_several
from granola.matching.ranges import Claim
from granola.matching.recased import recased
from granola.matching.restated import restates_at
from granola.matching.sieves import SIEVES, UNSHARED, shared
from granola.matching.valued import valued
from granola.matching.verdict import Comparison, Levels, Verdict
from granola.matching.vetoes import ELSEWHERE, PART, RESTATED, VETOES
from granola.matching.words import key, plain

EXAMINED = 20_000  # characters of a prediction
ASKED = 2_000  # characters of a question
JUDGED = 200  # mentions of tiers that are judged; an answer that names tiers more often answers nothing
SHORT = 40  # characters of an answer in which `3. 97` is one number and no end of a sentence

_ASKS_AMOUNT = re.compile(
    r"\bhow (?:many|much|far|tall|high|long|big|large|old|heavy|deep|wide)\b|\bpopulation\b|\bnumber of\b"
)
_HOW_MANY = re.compile(r"\bhow many ([^\W\d_]++(?: [^\W\d_]++)?)")
_NONE = re.compile(r"\W*+none\W*+", re.IGNORECASE)  # an answer to how many
_OUT_OF = re.compile(r" (?:out )?of (?:the |all )?")
_NOUN = 24  # characters behind a number that are searched for what it counts
_Read = Callable[[str], tuple[Claim, ...]]
_PARTED = re.compile(r"(?:(?<=\d) ?(,) (?=\d{3}(?!\d))|(?<=\d) ?([.:]) (?=\d))")


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
        prediction = _numbers_joined(joined(spaced(_beginning(mended(prediction)))))
        names = gold.mended_names(tuple(map(tuple, levels)))
        if found := _exact(prediction, names):
            return found
        names = gold.read_names(names)
        if question and len(question) > ASKED:
            question = _beginning(question, ASKED)
        verdict = self._read(prediction, names, question)
        if verdict.level is None:
            versions = [prediction, *repairs(prediction)]
            for repaired in versions[1:]:
                second = self._read(repaired, names, question)
                if second.level is not None:
                    return second
            if len(names) == 1 and verdict.rule not in ALWAYS:
                for version in versions:
                    if found := _covered(version, names, question, verdict):
                        return found
        return verdict

    def _read(self, prediction: str, names: gold.Names, question: str | None) -> Verdict:
        written = recased(prediction, names, question)
        verdict = _decided(written, names, question, language(self.language).code)
        return verdict if written is prediction else _quoting(verdict, prediction)


def _quoting(verdict: Verdict, text: str) -> Verdict:
    """The verdict with what it compared as the answer wrote it, before its capitals were changed."""
    said = verdict.compared.prediction if verdict.compared else ""
    at = text.lower().find(said.lower()) if said else -1
    if verdict.compared is None or at < 0:
        return verdict
    return replace(verdict, compared=replace(verdict.compared, prediction=text[at : at + len(said)]))


def _decided(prediction: str, names: gold.Names, question: str | None, code: str) -> Verdict:
    declined = refusal(prediction, code)
    if declined is None or (question and code == "en" and _NONE.fullmatch(prediction) and _asks(_HOW_MANY, question)):
        bare = _unframed(prediction)
        found = None if bare is prediction else _exact(bare, names)
        return found or _judge(bare, names, question, code)
    offer = "" if tells_of_another(question, declined.offer) else declined.offer
    verdict = _exact(offer, names) or _judge(offer, names, question, code) if offer else None
    if verdict is not None and (verdict.level is not None or declined.guess):
        return verdict
    return Verdict(level=None, rule=declined.rule, abstained=True)


def _beginning(text: str, longest: int = EXAMINED) -> str:
    """The part of a text that is read, ending with a whole word where it has any."""
    if len(text) <= longest:
        return text
    text = text.lstrip()
    space = text.rfind(" ", 0, longest + 1)
    return text[: space if space > 0 else longest]


def _numbers_joined(text: str) -> str:
    """Short answers of systems that part numbers at every sign: `1, 776` is 1,776 and `3. 97` is 3.97."""
    if len(text) > SHORT or not _PARTED.search(text):
        return text
    return _PARTED.sub(lambda found: found[1] or found[2], text)


_FRAME = re.compile(
    r"\W*(?:so |thus |therefore |hence )?,? ?(?:the|my) (?:\w+ )?answer (?:is|was|would be|:):? ?(?=\w)", re.IGNORECASE
)


def _unframed(text: str) -> str:
    """What `The answer is` introduces, where a text begins so; a name is the same with it and without."""
    if "nswer" not in text[:40] and "NSWER" not in text[:40]:
        return text
    found = _FRAME.match(text)
    return text[found.end() :] if found else text


def _exact(prediction: str, levels: gold.Names) -> Verdict | None:
    said = key(prediction)
    for level, name, folded in gold.tiers(levels):
        if folded == said and _currencies(prediction) in (_currencies(name), frozenset()):
            return Verdict(level=level + 1, rule="exact", compared=Comparison(prediction=prediction.strip(), tier=name))
    return None


def _currencies(text: str) -> frozenset[str]:
    """The signs of currencies in a text; a key has none."""
    return _SIGNS.intersection(text)


_SIGNS = frozenset("$€£¥")


def _judge(prediction: str, levels: gold.Names, question: str | None, code: str) -> Verdict:
    for kind, read in _readings(question, code):
        ladder = gold.values(levels, kind, code)
        if not ladder:
            continue
        verdict = valued(kind, _stated(kind, read, prediction, question), ladder, prediction, question)
        if verdict.rule == "date:none-stated" and has_several(prediction) and gold.values(levels, "amount", code):
            continue  # 300 is a year as well as an amount; `three hundred` is no year
        words = gold.others(levels, kind, code)
        if len(levels) == 1 and verdict.rule.partition(":")[2] in ("conflict", "none-stated", "coarser-than-all", "other-unit"):
            words = levels
        if verdict.level is None and any(words):  # gold answers of two kinds: a date, or the name of an event
            named = _named(Answer(_around_names(prediction, code), words, question))
            return named if named.level is not None else verdict
        return verdict
    return _named(Answer(_around_names(prediction, code), levels, question))


def _around_names(prediction: str, code: str) -> str:
    return language(code).with_english_around(prediction)


def _readings(question: str | None, code: str) -> tuple[tuple[str, _Read], ...]:
    """Dates before amounts, but where a question asks how many, 1500 is no year."""
    readings: tuple[tuple[str, _Read], ...] = (("date", dates), ("amount", amounts))
    asks = _ASKS_AMOUNT
    if code != "en":
        asks = language(code).matching["asks_amount"]
        readings = (("date", partial(tongues.dates, code=code)), ("amount", partial(tongues.amounts, code=code)))
    return readings[::-1] if question and _asks(asks, question) else readings


@lru_cache(maxsize=1 << 14)
def _asks(pattern: re.Pattern[str], question: str) -> bool:
    return bool(pattern.search(plain(question)))


def _stated(kind: str, read: _Read, prediction: str, question: str | None) -> tuple[Claim, ...]:
    """The claims of an answer without those that the question made, unless it has no other."""
    claims = read(prediction) or (counted(prediction) if kind == "amount" else ())
    if kind == "amount" and question and "times" in question:
        claims += tuple(c for c in counted(prediction) if c.text.lower() in ("once", "twice", "thrice"))
    if kind == "amount" and question and len(claims) > 1:
        claims = _of_what_is_counted(claims, prediction, question)
    asked = {(claim.low, claim.high) for claim in read(question)} if question else set()
    told = tuple(claim for claim in claims if (claim.low, claim.high) not in asked)
    if told or not claims:
        return told
    answer = Answer(prediction, (), question)
    return tuple(claim for claim in claims if not restates_at(answer, claim.start, claim.end))


def _of_what_is_counted(claims: tuple[Claim, ...], text: str, question: str) -> tuple[Claim, ...]:
    """Of `73 episodes over eight seasons` the eight, where it is asked how many seasons; all where none says so."""
    asked = _HOW_MANY.search(question.lower())
    if asked is None:
        return claims
    nouns = set(loose_key(asked[1]))
    told = [not nouns.isdisjoint(loose_key(text[claim.end : claim.end + _NOUN])[:2]) for claim in claims]
    for index, (claim, following) in enumerate(pairwise(claims)):  # 49 of the 50 states
        told[index] = told[index] or (told[index + 1] and bool(_OUT_OF.fullmatch(text, claim.end, following.start)))
    return tuple(claim for claim, well in zip(claims, told, strict=True) if well) or claims


def _named(answer: Answer) -> Verdict:
    """The finest level that any rule finds stated; a rule is asked only for finer levels than those before it."""
    best: Verdict | None = None
    refused, refused_at = None, None
    left = iter(range(JUDGED))
    for mention, _ in zip(answer.mentions, left, strict=False):
        veto = _veto(answer, mention)
        if veto is None:
            best = _verdict(answer, mention, "span")
            break
        if refused is None:
            refused, refused_at = _verdict(answer, mention, veto, level=False), mention.level
        if veto == ELSEWHERE:  # a wrong finer claim is not saved by a right coarser one
            break
    limit = _above(best)
    if refused is not None and refused.rule not in (PART, RESTATED):
        # what is taken back in plain words is not stated in others
        limit = min(level for level in (limit, refused_at) if level is not None)
    if found := near(answer, limit):
        best, limit = found, _above(found)
    for rule, find in LOOSER if answer.shared else UNSHARED:
        if limit == 0 or (rule in WHOLE and refused is not None and (refused.rule != PART or rule != "overlap")):
            continue
        if found := _first_unrefused(answer, rule, find, limit, left):
            best, limit = found, _above(found)
    return best or refused or Verdict(level=None, rule="no-match")


def _above(best: Verdict | None) -> int | None:
    """The level from 0 that others have to be finer than; None where nothing is found yet."""
    return None if best is None or best.level is None else best.level - 1


def _first_unrefused(
    answer: Answer, rule: str, find: Looser, limit: int | None, left: Iterator[int]
) -> Verdict | None:
    """The first mention that is not taken back; each that is judged takes one of those that are `left`."""
    for tier in SIEVES.get(rule, shared)(answer):
        if limit is not None and tier[0] >= limit:
            return None
        for mention, _ in zip(find(answer, tier), left, strict=False):
            if answer.says_another(mention) or is_another_person(answer, mention.level, mention.start, mention.end):
                continue
            if rule in WHOLE or _veto(answer, mention) is None:
                return _verdict(answer, mention, rule)
    return None


def _veto(answer: Answer, mention: Mention) -> str | None:
    few = len(answer.levels) > 1 or len(answer.words) <= 6
    return next((name for name, applies in VETOES if (few or name in ALWAYS) and applies(answer, mention)), None)


def _covered(text, names, question, verdict):
    from granola.matching.phrases import stated_by_coverage
    if verdict.abstained:
        declined = refusal(text)
        text = declined.offer if declined else text
    answer = Answer(text, names, question)
    if not answer.words: return None
    for tier in answer.tiers:
        for mention in stated_by_coverage(answer, tier):
            return _verdict(answer, mention, "covered")
    return None


ALWAYS = {"negated", "beaten", "relative"}


def _verdict(answer: Answer, mention: Mention, rule: str, *, level: bool = True) -> Verdict:
    compared = Comparison(prediction=answer.quote(mention.start, mention.end), tier=mention.name)
    return Verdict(level=mention.level + 1 if level else None, rule=rule, compared=compared)
