"""The default matcher: ordered, named, deterministic rules.

1. exact             the folded words are those of a name of a level
2. abstain:*         the answer declines (`granola.replies.refusals`)
3. date:*, amount:*  levels that are dates or amounts are compared as intervals (`claims.value_claims`)
4. span              a longer answer contains a name as whole words, and no veto rejects it
5. RULES             names in other forms and other words, in the order of RULES
6. coverage          an answer has most words of a gold answer of one level, and no other rule decided

Of the levels that a rule matches, the finest wins. A later rule is tried only for levels finer than the one found.
A text that matches nothing is read again with the damage of copying repaired (`text.repair`).
The first 20,000 characters of a prediction are read, up to a space, and the first 2,000 of a question.
A name of more than 500 characters is compared with the whole prediction only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from abstraction.text.language.amounts import amounts
from abstraction.text.language.date_finder import IntervalClaim, dates, dates_with_swapped_day_and_month
from abstraction.text.language.languages import language
from abstraction.text.language.units import currencies, name_different_currencies
from granola.base.run_record import hash_of_modules
from granola.matching.matchers import Comparison, Levels, ReplyMatcher, Verdict, signature
from granola.matching.mentions import (
    AnswerText,
    Mention,
    Mentions,
    Names,
    Tier,
    claims_of_kind_if_finest_has_any,
    function_words_unless_english,
    names_of_other_kinds,
    searchable_names,
    tiers,
    without_names_like_function_words,
)
from granola.matching.names import (
    candidate_tiers_by_country,
    candidate_tiers_by_joining,
    candidate_tiers_by_phrase,
    candidate_tiers_by_spelling,
    mention_by_coverage,
    mentions_by_acronym,
    mentions_by_country,
    mentions_by_form,
    mentions_by_joining,
    mentions_by_phrase,
    mentions_by_spelling,
    mentions_by_words,
    tiers_to_compare_by_acronym,
)
from granola.matching.similar_names import (
    given_name_first_if_gold_person,
    mentions_by_person,
    names_another_person_than_level,
)
from granola.matching.tokens import (
    MATCHING,
    MOST,
    decode_mojibake,
    key,
    looks_damaged_by_copying,
    normalise_blanks_and_marks,
    repaired_readings,
    separate_glued_names,
)
from granola.matching.value_claims import ordinals_and_counts, verdict_on_claims
from granola.matching.vetoes import ANOTHER, CONTRADICTED, RESTATED, repeats_question_with_neighbour, veto
from granola.matching.word_forms import candidate_tiers_by_word_form, mentions_by_word_form
from granola.replies.plain_text import fold_case_and_accents
from granola.replies.refusals import REPORTS, refusal

EXAMINED = 20_000  # characters of a prediction that are read, so that the time of matching is bounded
LONGEST_QUESTION = 2_000  # characters of a question that are read
WORDS_OF_BARE_AMOUNT = 4  # words at most of an answer that is an amount and nothing else: "about 42 million people"
CHARACTERS_OF_BARE_AMOUNT = 12  # characters at most of such an answer in scripts without spaces
MOST_MENTIONS = 200  # mentions of names that are checked at most; a text with more is no answer


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A rule that finds where an answer may state a name; `candidate_tiers` selects the names worth trying.

    A rule that reads the answer as a `whole` is not checked for vetoes. A `loose` rule takes words in any order; it is
    off in scripts without spaces, where each character is a word.
    """

    name: str
    find: Callable[[AnswerText, Tier], Mentions]
    candidate_tiers: Callable[[AnswerText], Sequence[Tier]] = lambda answer: answer.tiers_sharing_a_word
    whole: bool = False
    loose: bool = False


RULES: tuple[Rule, ...] = (
    Rule(name="form", find=mentions_by_form),
    Rule(
        name="word-form",  # of languages whose function words are known; English has rules of its own
        find=mentions_by_word_form,
        candidate_tiers=lambda answer: (
            candidate_tiers_by_word_form(answer) if function_words_unless_english(answer.code) else ()
        ),
    ),
    Rule(name="joined", find=mentions_by_joining, candidate_tiers=candidate_tiers_by_joining),
    Rule(name="person", find=mentions_by_person),
    Rule(name="country", find=mentions_by_country, candidate_tiers=candidate_tiers_by_country),
    Rule(name="acronym", find=mentions_by_acronym, candidate_tiers=tiers_to_compare_by_acronym),
    Rule(name="words", find=mentions_by_words, whole=True, loose=True),
    Rule(name="phrase", find=mentions_by_phrase, candidate_tiers=candidate_tiers_by_phrase, loose=True),
    Rule(name="spelling", find=mentions_by_spelling, candidate_tiers=candidate_tiers_by_spelling),
)
"""Tried in this order after `span`, each for levels finer than the one matched before."""

_HOW_MANY = re.compile(r"\bhow many\b")
_NONE = re.compile(r"\W*+none\W*+", re.IGNORECASE)  # as an answer to "how many" it means zero and is no abstention
_UNDECIDED = frozenset({"conflict", "none-stated", "coarser-than-all"})
_Reader = Callable[[str], tuple[IntervalClaim, ...]]


@dataclass(frozen=True, kw_only=True)
class RulesMatcher(ReplyMatcher):
    """The rules of this module. The verdict is the finest level that an answer states, with the rule that found it.

    `language` is that of the answers: dates, amounts and refusals are read in it where the package has its data.
    """

    name: str = "rules"
    language: str = "en"

    def signature(self) -> str:
        """`rules|replies:cut|v:HASH`; the hash is of the rules, their data and the readers that they use.

        It includes the version of Babel, since CLDR's data decide in languages other than English.
        """
        code = hash_of_modules("granola.matching.rules", libraries=("babel",))
        return signature("rules", **self.reading_settings, v=code)

    def match_answer(self, answer: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict of the first rule that decides. Words repeated from `question` count as no claim."""
        code = language(self.language).code
        prediction = language(code).with_regnal_years_converted(
            normalise_blanks_and_marks(_beginning_cut_at_space(answer))
        )
        names = tuple([tuple(map(decode_mojibake, names)) for names in levels])
        if exact := _match_exactly(prediction, names):
            return exact
        names = without_names_like_function_words(searchable_names(names), code)
        if question and len(question) > LONGEST_QUESTION:
            question = _beginning_cut_at_space(question, LONGEST_QUESTION)
        verdict = _match_given_name_first(prediction, names, question, code)
        if verdict.level is not None:
            return verdict
        # damage is repaired only where the text as written matches nothing
        readings = [prediction, *repaired_readings(prediction)]
        if looks_damaged_by_copying(prediction):
            separate = separate_glued_names(prediction, [name for level in names for name in level])
            readings += [separate, *repaired_readings(separate)[-1:]] if separate != prediction else []
        for repaired in readings[1:]:
            verdict_of_repair = _match_given_name_first(repaired, names, question, code)
            if verdict_of_repair.level is not None:
                return verdict_of_repair
        if len(names) == 1 and (verdict.rule in _COVERABLE):
            for reading in readings:
                if coverage := _match_by_coverage(reading, names, question, code):
                    return coverage
        return verdict


_COVERABLE = frozenset({"no-match", RESTATED})


def _match_given_name_first(prediction: str, names: Names, question: str | None, code: str) -> Verdict:
    """The verdict on one reading of a prediction, with `Strauss, Richard` as `Richard Strauss` where a gold answer is
    a person of that family name.
    """
    turned = given_name_first_if_gold_person(prediction, names)
    verdict = _match_or_decline(turned, names, question, code)
    if turned is prediction or verdict.compared is None:
        return verdict
    return replace(verdict, compared=replace(verdict.compared, prediction=prediction.strip()))


def _match_or_decline(prediction: str, names: Names, question: str | None, code: str) -> Verdict:
    """The verdict on a reading: the match of its text; for a refusal the match of the answer that it offers, else an
    abstention.
    """
    declined = refusal(prediction, code)
    if declined is None or (question and _NONE.fullmatch(prediction) and _question_matches(question, _HOW_MANY)):
        # after an opening `The answer is` a name is the same as without it
        frame = _FRAME.match(prediction)
        bare = prediction[frame.end() :] if frame else prediction
        exact = _match_exactly(bare, names) if frame else None
        return exact or _match_values_or_names(bare, names, question, code)
    # a refusal that reports what sources say names things of the sources; these names are no answer
    offer = declined.offer if declined.guess or declined.rule not in REPORTS else ""
    verdict = _match_exactly(offer, names) or _match_values_or_names(offer, names, question, code) if offer else None
    if verdict is not None and (verdict.level is not None or declined.guess):
        return verdict
    return Verdict(level=None, rule=declined.rule, abstained=not declined.report_suggests_another)


def _match_by_coverage(text: str, names: Names, question: str | None, code: str) -> Verdict | None:
    """The verdict where the answer has most words of a gold answer, the only level; None where it has too few."""
    if len(key(text)) <= WORDS_OF_BARE_AMOUNT and claims_of_kind_if_finest_has_any(names, "amount", code):
        return None
    if not language(code).separates_words_by_spaces:
        return None  # characters that two names share are no evidence: 布吉納法索 and 法國
    declined = refusal(text, code)
    answer = AnswerText(declined.offer if declined else text, names, question)
    mention = mention_by_coverage(answer)
    return _make_verdict(answer, mention, "coverage") if mention else None


def _beginning_cut_at_space(text: str, longest: int = EXAMINED) -> str:
    """The beginning of a text, at most `longest` characters, cut at a space where there is one."""
    if len(text) <= longest:
        return text
    text = text.lstrip()
    space = text.rfind(" ", 0, longest + 1)
    return text[: space if space > 0 else longest]


_FRAME = re.compile(
    r"\W*(?:so |thus |therefore |hence )?,? ?(?:the|my) (?:\w+ )?answer (?:is|was|would be|:):? ?(?=\w)", re.IGNORECASE
)


def _match_exactly(prediction: str, levels: Names) -> Verdict | None:
    """The verdict of the finest level that has a name with the same folded words; None where there is none."""
    prediction_key = key(prediction)
    for level, name, folded in tiers(levels):
        if folded != prediction_key:
            continue
        # the words of two amounts may be equal, and their currencies not
        if prediction.isalnum() or not (
            name_different_currencies(prediction, name) or (currencies(prediction) and not currencies(name))
        ):
            return Verdict(level=level + 1, rule="exact", compared=Comparison(prediction=prediction.strip(), tier=name))
    return None


def _match_values_or_names(prediction: str, levels: Names, question: str | None, code: str) -> Verdict:
    """The verdict by dates or amounts, where the ladder has such, else by names."""
    readings: list[tuple[str, _Reader]]
    readings = [("date", lambda text: dates(text, code)), ("amount", lambda text: amounts(text, code))]
    if question and _question_matches(question, language(code).matching["asks_amount"]):
        readings.reverse()  # where a question asks "how many", 1500 is no year
    around = language(code).with_english_function_words
    prediction, question = around(prediction), around(question) if question else question
    for kind, read in readings:
        ladder = claims_of_kind_if_finest_has_any(levels, kind, code)
        if not ladder:
            continue
        # "once" is read as a number only where no other number is found
        claims = (read(prediction) or (ordinals_and_counts(prediction) if kind == "amount" else ()))[:MOST]
        if kind == "date" and "/" in prediction:  # 1/2/1990 may be January or February
            claims += dates_with_swapped_day_and_month(prediction)[:MOST]
        stated = _claims_not_repeating_question(kind, claims, read, prediction, question)
        tiers = " / ".join(tier.text for level in ladder for tier in level)
        if kind == "amount" and stated and name_different_currencies(prediction, tiers, code):
            verdict = Verdict(level=None, rule="amount:other-unit")
        else:
            verdict = verdict_on_claims(kind, stated, ladder, prediction, question, code)
        if verdict.rule == "date:none-stated" and claims_of_kind_if_finest_has_any(levels, "amount", code):
            continue  # 300 is a year as well as an amount
        words = names_of_other_kinds(levels, kind, code)
        if (
            verdict.level is None
            and len(levels) == 1
            and _may_names_be_tried_after(verdict, claims, ladder, prediction)
        ):
            words = levels  # a number in the answer may be no value of that kind: 127 pages is no year
        if verdict.level is None and any(words):  # gold answers of two kinds: a date, or the name of an event
            named = _match_names(AnswerText(prediction, words, question, code))
            return named if named.level is not None else verdict
        return verdict
    return _match_names(AnswerText(prediction, levels, question, code))


def _may_names_be_tried_after(
    verdict: Verdict, claims: Sequence[IntervalClaim], ladder: Sequence[Sequence[IntervalClaim]], prediction: str
) -> bool:
    """Whether names may be tried after a verdict on values: it decided nothing, no claim equals the gold value, and
    the answer has a currency if the gold answer has one.
    """
    if verdict.rule.partition(":")[2] not in _UNDECIDED:
        return False
    if any((claim.low, claim.high) == (tier.low, tier.high) for claim in claims for tier in ladder[0]):
        return False
    is_bare = len(key(prediction)) <= WORDS_OF_BARE_AMOUNT or len(prediction) <= CHARACTERS_OF_BARE_AMOUNT
    if is_bare and any(
        any(map(str.isdigit, tier.text)) and _words_with_digits(claim.text) >= _words_with_digits(tier.text)
        for claim in claims
        for tier in ladder[0]
    ):
        return False  # "fewer than 42" is not 42; in sentences graders accept "over 216 countries"
    return not any(currencies(tier.text) for tier in ladder[0]) or bool(currencies(prediction))


def _words_with_digits(text: str) -> frozenset[str]:
    return frozenset(word for word in key(text) if word[0].isdigit())


@MATCHING.memoize(1 << 14)
def _question_matches(question: str, pattern: re.Pattern[str]) -> bool:
    return bool(pattern.search(fold_case_and_accents(question)))


def _claims_not_repeating_question(
    kind: str, claims: tuple[IntervalClaim, ...], read: _Reader, prediction: str, question: str | None
) -> tuple[IntervalClaim, ...]:
    """The claims of an answer whose values the question does not have; where there are none, those whose words repeat
    no words of the question.
    """
    if kind == "amount" and question and "times" in question:
        claims += tuple(
            claim for claim in ordinals_and_counts(prediction) if claim.text.lower() in ("once", "twice", "thrice")
        )
    asked = {(claim.low, claim.high) for claim in read(question)} if question else set()
    unasked = tuple(claim for claim in claims if (claim.low, claim.high) not in asked)
    if unasked or not claims:
        return unasked
    answer = AnswerText(prediction, (), question)
    return tuple(
        claim
        for claim in claims
        if not repeats_question_with_neighbour(
            answer, answer.index_of_word_at(claim.start), answer.index_of_word_at(claim.end)
        )
    )


def _match_names(answer: AnswerText) -> Verdict:
    """The verdict of the finest level that any rule finds; a rule is tried only for finer levels than those before."""
    best: Verdict | None = None
    refused, refused_at = None, None
    budget = iter(range(MOST_MENTIONS))
    # finest level first, so the first accepted mention decides
    for mention, _ in zip(answer.mentions, budget, strict=False):
        why = veto(answer, mention)
        if why is None:
            best = _make_verdict(answer, mention, "span")
            break
        if refused is None:
            refused, refused_at = _make_verdict(answer, mention, why, matched=False), mention.level
        if why == CONTRADICTED:  # a wrong finer claim is not excused by a right coarser one
            break
    limit, separates_words_by_spaces = _level_index_to_beat(best), language(answer.code).separates_words_by_spaces
    if refused is not None and refused.rule not in (ANOTHER, RESTATED):
        # a level that a veto rejects is not tried again in other words
        limit = min(level for level in (limit, refused_at) if level is not None)
    for rule in RULES:
        if limit == 0 or (rule.whole and refused is not None) or (rule.loose and not separates_words_by_spaces):
            continue
        if finer := _first_mention_by_rule(answer, rule, limit, budget):
            best, limit = finer, _level_index_to_beat(finer)
    return best or refused or Verdict(level=None, rule="no-match")


def _level_index_to_beat(best: Verdict | None) -> int | None:
    """The level, counted from 0, than which further matches must be finer; None where nothing is found yet."""
    return None if best is None or best.level is None else best.level - 1


def _first_mention_by_rule(answer: AnswerText, rule: Rule, limit: int | None, budget: Iterator[int]) -> Verdict | None:
    """The verdict on the first mention that no veto rejects; each mention that is checked takes one step of `budget`.
    """
    for tier in rule.candidate_tiers(answer):
        if limit is not None and tier[0] >= limit:
            return None
        for mention, _ in zip(rule.find(answer, tier), budget, strict=False):
            start, end = mention.start, mention.end
            if answer.has_mark_attached(start, end) or answer.is_common_noun_after_article(mention.name, start):
                continue
            if answer.repeats_only_other_tiers(mention) or answer.contains_mark_absent_from_name(mention):
                continue
            if names_another_person_than_level(answer, mention.level, start, end):
                continue
            if rule.whole or veto(answer, mention) is None:
                return _make_verdict(answer, mention, rule.name)
    return None


def _make_verdict(answer: AnswerText, mention: Mention, rule: str, *, matched: bool = True) -> Verdict:
    compared = Comparison(prediction=answer.quote(mention.start, mention.end), tier=mention.name)
    return Verdict(level=mention.level + 1 if matched else None, rule=rule, compared=compared)
