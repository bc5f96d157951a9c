"""Answers that decline to answer, recognised by named rules whose words are data, one file per language (`declining`).

An abstention is neither right nor wrong. A refusal that goes on to answer ("I'm not sure, but I think it was Paris")
is no abstention: the guess is judged. Long answers from sources decline (`deflection`) where they find the sources
insufficient, or refuse like short answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import orjson

from abstraction.text.language.phrases import sentences
from granola.replies.plain_text import fold_case_and_accents, without_markup
from kg.base.bounded_cache import bounded_cache
from kg.base.model import fallback_chain

REPORTS = frozenset({"abstain:not-in-sources", "abstain:not-stated"})
"""Refusals that report on the sources: names after them are from the sources and no answers, except in a guess."""
_HEDGES = REPORTS | {
    "abstain:idk",
    "abstain:no-idea",
    "abstain:not-sure",
}  # after an answer these rules find only a doubt about it
SHORT = 12  # characters at most of a text that is read as one sentence, whatever its full stops
_FOLDER = files("granola.replies") / "declining"
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])\s*|\n+")
_BEFORE, _AFTER = " \"'([<*-¿¡「『", " .!?\"')]>*。！？」』"  # marks around a sentence
# Titles that look like refusals: "Can't Help Falling in Love" was recorded by ...; Don't Know Why is sung by ...
_TITLE = re.compile(
    r"(?:[Tt]he )?(?:[Ss]ong |[Ff]ilm |[Mm]ovie )?[\"“][^\"”]{2,100}[\"”][ ,]*+[a-z(]"
    r"|[A-Z][a-z]{2,6}['’]t [A-Z][a-z]+ \w"
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A declined answer: the rule's name, the rest of the text that may answer (`offer`), and whether that is a guess.

    A guess is judged like any answer; other text around a refusal counts only where it states a tier. A report on
    sources may go on to something else that they suggest: then it is neither an abstention nor an answer.
    """

    rule: str
    offer: str
    guess: bool

    @property
    def report_suggests_another(self) -> bool:
        """Whether a report on sources goes on to what they suggest instead.

        Of 6,091 long answers to SimpleQA, 100 that were graded as attempts do so, and 74 that were not.
        """
        return self.rule in REPORTS and wording("en", "instead").search(self.offer.lower()) is not None


@bounded_cache(entries=1 << 12, longest=2_000)
def refusal(text: str, code: str = "en") -> Refusal | None:
    """The way in which `text` declines to answer, or None where it does not. An empty text declines.

    Besides English the language of `code` is read, where there is a file of its words.
    """
    if not any(character.isalnum() for character in text):
        return Refusal("abstain:empty", "", False)
    codes = _languages_read(code)
    whole = fold_case_and_accents(text.strip())
    if len(whole) <= SHORT and (rule := _rule_of_beginning(whole, codes[0])) == "abstain:no-answer":
        return Refusal(rule, "", False)  # "k. A." is one sentence
    rule, guess = None, False
    offers: list[str] = []
    for sentence in filter(None, _SENTENCE.split(text.strip())):
        lower = fold_case_and_accents(sentence)
        # Positions carry over only while folding keeps the length; else the folded text is offered.
        source = sentence if len(lower) == len(sentence) else lower
        name = None if _TITLE.match(sentence) else _declining_rule(lower, codes)
        if name is None or (name in _HEDGES and offers):
            offers.append(source)
            continue
        rule = rule or name
        if (start := _guess_start(lower, codes)) is not None:
            offers.append(source[start:])
            guess = True
    if not rule:
        return None
    rest = " ".join(part.strip() for part in offers).strip()
    lower = fold_case_and_accents(rest)
    announced = any(wording(code, "guess").match(lower) for code in codes) and not wording("en", "help").match(lower)
    return Refusal(rule, rest, guess or announced)


def refusal_in_any_language(text: str, code: str) -> Refusal | None:
    """The way in which a text declines in the language of `code`, in English, or in any other that has a file.

    Models fall back on the language that they know best. A single word is not tried in other languages, since it may
    be a name. The offer of a guess is returned without the words that announce it.
    """
    refused = refusal(text, code)
    is_word = " " not in text and not (text.islower() and len(text) > 3)
    if (
        refused is None
        and not is_word
        and _possible_refusal_beginnings().match(fold_case_and_accents(text).lstrip(_BEFORE))
    ):
        refused = next((other for one in languages() if (other := refusal(text, one))), None)
    if refused is None:
        return None
    lower = fold_case_and_accents(refused.offer)
    ends = (found.end() for one in languages() if (found := wording(one, "guess").match(lower)))
    return replace(refused, offer=refused.offer[next(ends, 0) :]) if len(lower) == len(refused.offer) else refused


def abstention(text: str, code: str = "en") -> str | None:
    """The name of the rule by which `text` offers no answer at all, or None; `code` as in `refusal`."""
    declined = refusal(without_markup(text), code)
    return declined.rule if declined is not None and not declined.guess else None


def _declining_rule(sentence: str, codes: tuple[str, ...]) -> str | None:
    """The rule by which a folded sentence declines, or reports that sources do not contain the answer."""
    for code in codes:
        if rule := _rule_of_beginning(sentence, code):
            return rule
    lacking = any(
        wording(code, "sources", "hint").search(sentence)
        and (
            wording(code, "sources", "anywhere").search(sentence)
            or wording(code, "sources", "passages").match(sentence)
        )
        for code in codes
    )
    return "abstain:not-in-sources" if lacking else None


def _rule_of_beginning(sentence: str, code: str) -> str | None:
    """The rule by which a folded sentence declines, read as it is and without its opening courtesies."""
    bare = sentence.lstrip(_BEFORE)
    start = _courtesies_end(bare, code)
    for reading in (bare, bare[start:].lstrip(_BEFORE)) if start else (bare,):
        reading = reading.rstrip(_AFTER)
        if _any_refusal_beginning(code).match(reading):  # one pattern rules out most answers before nine are tried
            rules = _wordings_of_language(code)["declines"]
            return next(f"abstain:{rule}" for rule in rules if wording(code, "declines", rule).match(reading))
    return None


def _refusal_beginnings(code: str) -> str:
    """The alternatives of all expressions that begin a refusal in a language."""
    return "|".join(_pattern_text(code, "declines", name) for name in _wordings_of_language(code)["declines"])


@lru_cache(maxsize=256)  # codes may come from outside
def _any_refusal_beginning(code: str) -> re.Pattern[str]:
    """The pattern of all beginnings of refusals in a language."""
    return re.compile(_refusal_beginnings(code))


def _guess_start(sentence: str, codes: tuple[str, ...]) -> int | None:
    """The index at which a folded sentence that declines goes on to a guess; None where it does not, or offers help
    instead.
    """
    opening = _courtesies_end(sentence, codes[0])
    marker = _first_guess_marker(sentence, max(1, opening), codes)
    while marker and wording("en", "opening").fullmatch(sentence[: marker.end()].strip()):
        marker = _first_guess_marker(sentence, marker.end(), codes)  # the "but" of "sorry, but"
    return marker.end() if marker and not wording("en", "help").match(sentence, marker.start()) else None


def _first_guess_marker(text: str, start: int, codes: tuple[str, ...]) -> re.Match[str] | None:
    """The first words from `start` on that announce a guess, in any of the languages."""
    matches = [found for code in codes if (found := wording(code, "guess").search(text, start))]
    return min(matches, key=lambda found: (found.start(), -found.end()), default=None)


def _courtesies_end(sentence: str, code: str) -> int:
    """The index in a folded sentence at which its opening courtesies ("I'm sorry, but") end."""
    start, opening = len(sentence) - len(sentence.lstrip(_BEFORE)), wording(code, "opening")
    while (courtesy := opening.match(sentence, start)) and courtesy.end() > start:
        start = courtesy.end()
    return start


@cache
def _possible_refusal_beginnings() -> re.Pattern[str]:
    """The beginnings of refusals and courtesies in all languages."""
    parts = (part for code in languages() for part in (_pattern_text(code, "opening"), _refusal_beginnings(code)))
    return re.compile("|".join(f"(?:{part})" for part in parts))


@cache
def languages() -> tuple[str, ...]:
    """The codes of the languages that have a file, in order."""
    return tuple(sorted(file.name.removesuffix(".json") for file in _FOLDER.iterdir() if file.name.endswith(".json")))


@lru_cache(maxsize=256)  # codes may come from outside
def _languages_read(code: str) -> tuple[str, ...]:
    """The codes of the languages whose refusals are recognised in an answer: that of `code`, if it has a file, and
    English.
    """
    own = (one for one in fallback_chain(code.lower()) if one in languages())
    return tuple(dict.fromkeys((next(own, "en"), "en")))


@lru_cache(maxsize=256)  # codes may come from outside
def _wordings_of_language(code: str) -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads((_FOLDER / f"{code}.json").read_bytes())
    return data


@lru_cache(maxsize=1024)  # codes may come from outside
def wording(code: str, *keys: str, folded: bool = True) -> re.Pattern[str]:
    """The pattern under the keys of a language's file; any entry of a list; a pattern that never matches for a missing
    key.

    `<part>` in it is replaced by that entry of the file's `parts`. It is for text in lower case without accents; where
    it is not `folded`, for text as written, ignoring case.
    """
    text = _pattern_text(code, *keys, folded=folded)
    return re.compile(text) if folded else re.compile(text, re.IGNORECASE)


def _pattern_text(code: str, *keys: str, folded: bool = True) -> str:
    """The pattern that `wording` compiles, as text."""
    given: Any = _wordings_of_language(code)
    for key in keys:
        given = given.get(key, {})
    if not given:
        return r"(?!)"
    text = given if isinstance(given, str) else "|".join(f"(?:{one})" for one in given)
    for _ in range(6):  # parts may contain parts, up to six deep
        for part, pattern in _wordings_of_language(code).get("parts", {}).items():
            text = text.replace(f"<{part}>", pattern)
    return re.sub(r"[^\x00-\x7f]+", lambda letters: fold_case_and_accents(letters[0]), text) if folded else text


CITED = "[1]"
"""Replaces each citation in an answer, however the passages are labelled."""
LONGEST_DEFLECTION = 4_000  # characters of an answer that are read
_LONGEST_SENTENCE = 600  # characters of a sentence that are read
_LOOKED_AT = 3  # sentences that are read, including greetings and thanks
_MARK = "\x01"  # a citation within a sentence
_SPACE = re.compile(r" (?=[,.;:!?])")  # before a mark of punctuation, where a citation was
_CITED_AT_END = re.compile(r"^[^\x01]*\x01[\x01 ,;.!?()]*$")
_MOST_COMMAS = 8  # commas after which a main clause is searched for


def deflection(answer: str, *, language: str = "en") -> str | None:
    """The rule by which an answer deflects, or None. An empty answer deflects by `empty`.

    An answer deflects where its first sentence, after greetings and headings, declines and offers nothing instead;
    later sentences may give related facts. A sentence with a citation (CITED) declines only where the cited passages
    lack the answer, or where it lists the contents that they lack. English is always read besides `language`, since
    prompts are English. Rules: `abstain:...` of `refusals`, and `passages:LANGUAGE` where the sentence states that the
    passages do not contain the answer.
    """
    if not answer.strip():
        return "empty"
    code = language.split("-")[0]
    for sentence in _first_sentences(answer[:LONGEST_DEFLECTION], language)[:_LOOKED_AT]:
        if (rule := _deflecting_rule(sentence, code)) is not None:
            return rule
        if not _source_wording("en", "courtesy").match(sentence):
            return None
    return None


def _source_wording(code: str, *keys: str) -> re.Pattern[str]:
    """The pattern of sentences about sources in a language, for text as written."""
    return wording(code, "sources", *keys, folded=False)


def _first_sentences(text: str, language: str) -> list[str]:
    """The first sentences of a text, each within one line, without the marks of headings."""
    first: list[str] = []
    for line in text.splitlines():
        bare = line.strip().lstrip("#*_>- ").replace("**", "")
        if bare:
            first += sentences(bare, language)
        if len(first) > _LOOKED_AT:
            break
    return [sentence[:_LONGEST_SENTENCE] for sentence in first]


def _deflecting_rule(sentence: str, code: str) -> str | None:
    """The rule by which the first sentence of a long answer declines, or None."""
    marked = sentence.replace(CITED, _MARK)
    cited = _MARK in marked
    plain = _SPACE.sub("", " ".join(marked.replace(_MARK, "").split()))
    codes = [one for one in dict.fromkeys((code, "en")) if one in languages()]
    for one in codes:
        if (main := _main_clauses_after_concession(plain, one)) is not None:
            # The concession only describes the passages, so the main clause decides.
            about_passages = not cited or _source_wording("en", "subject_at_end").search(marked.rpartition(_MARK)[0])
            rules = (_plain_declining_rule(clause, codes, code, kinds=("passages", "main")) for clause in main)
            return next(filter(None, rules), None) if about_passages else None
    whole = plain
    opening = _source_wording("en", "opening")
    for _ in range(2):
        plain = plain[opened.end() :] if (opened := opening.match(plain)) else plain
    if (listed := _source_wording("en", "lists").match(whole)) is not None:
        # First the subject of the sources, with its citation, then that they contain no more.
        return _plain_declining_rule(whole[listed.end() :], codes, code, cited=True)
    # all citations follow the passages that lack the answer: "The passages [1][2] do not"
    head, _, tail = marked.rpartition(_MARK)
    subject, predicate = _source_wording("en", "subject_at_end"), _source_wording("en", "predicate")
    cites_the_subject = subject.search(head) is not None and predicate.match(tail) is not None
    about_cited = (
        not cited
        or cites_the_subject
        or _source_wording("en", "cited").match(whole) is not None
        or (
            _CITED_AT_END.search(marked) is not None
            and any(_source_wording(one, "untold").match(whole) for one in codes)
        )
    )
    return _plain_declining_rule(plain, codes, code, cited=cited) if about_cited else None


def _main_clauses_after_concession(plain: str, code: str) -> Sequence[str] | None:
    """The possible main clauses after "While ...,"; empty where the concession is about anything but the contents of
    the sources.

    None for a sentence without a concession.
    """
    if (granted := _source_wording(code, "concession").match(plain)) is None:
        return None
    commas = [match.end() for match in re.finditer(", ?", plain)][:_MOST_COMMAS]
    of_passages = _source_wording(code, "granted")
    return [plain[end:] for end in commas if of_passages.search(plain, granted.end(), end)]


def _plain_declining_rule(
    plain: str, codes: Sequence[str], code: str, *, kinds: Sequence[str] = ("passages",), cited: bool = False
) -> str | None:
    """The rule by which a sentence without concession, or a main clause, declines.

    The refusal of a short answer counts only where the sentence also names the thing that cannot be done, or who lacks
    the information.
    """
    declining = next((one for one in codes for kind in kinds if _source_wording(one, kind).match(plain)), None)
    asserts = any(_source_wording(one, kind).search(plain) for one in codes for kind in ("goes_on", "contrast"))
    if declining is not None and not asserts:
        return f"passages:{declining}"
    refused = None if cited else refusal(plain, code)
    if refused is None or (refused.guess and refused.offer) or refused.rule in REPORTS:
        return None
    name = refused.rule.partition(":")[2]
    if name == "no-information" and not re.search(r"\b(?:i|we) ", plain, re.IGNORECASE):
        return None
    if name in ("refusal", "cannot-answer") and not any(
        _source_wording(one, "confirmed", name).search(plain) for one in codes
    ):
        return None
    return refused.rule
