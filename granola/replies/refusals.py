"""Answers that decline to answer, recognised by named rules whose words are data, one file per language (`declining`).

An abstention is neither right nor wrong. A refusal that goes on to answer ("I'm not sure, but I think it was Paris")
is no abstention: the guess is judged. Answers from sources are also read by `deflections`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import orjson

from granola.replies.plain_text import plain, without_markup
from kg.base.bounded_cache import bounded_cache
from kg.base.terms import fallback_chain

REPORTS = frozenset({"abstain:not-in-sources", "abstain:not-stated"})
"""Refusals that report on the sources: names after them are from the sources and no answers, except in a guess."""
_HEDGES = REPORTS | {"abstain:idk", "abstain:no-idea", "abstain:not-sure"}  # after an answer these only express doubt
SHORT = 12  # characters up to which a text is read as one sentence, whatever its full stops
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
    def suggests_another(self) -> bool:
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
    codes = _codes(code)
    whole = plain(text.strip())
    if len(whole) <= SHORT and (rule := _rule_of_beginning(whole, codes[0])) == "abstain:no-answer":
        return Refusal(rule, "", False)  # "k. A." is one sentence
    rule, guess = None, False
    offers: list[str] = []
    for sentence in filter(None, _SENTENCE.split(text.strip())):
        lower = plain(sentence)
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
    return Refusal(rule, rest, guess or _announces_guess(plain(rest), codes))


def refusal_in_any_language(text: str, code: str) -> Refusal | None:
    """The way in which a text declines in the language of `code`, in English, or in any other that has a file.

    Models fall back on the language that they know best. A single word is not tried in other languages, since it may
    be a name. The offer of a guess is returned without the words that announce it.
    """
    refused = refusal(text, code)
    is_word = " " not in text and not (text.islower() and len(text) > 3)
    if refused is None and not is_word and _may_decline().match(plain(text).lstrip(_BEFORE)):
        refused = next((other for one in languages() if (other := refusal(text, one))), None)
    if refused is None:
        return None
    lower = plain(refused.offer)
    ends = (found.end() for one in languages() if (found := wording(one, "guess").match(lower)))
    return replace(refused, offer=refused.offer[next(ends, 0) :]) if len(lower) == len(refused.offer) else refused


def abstention(text: str, code: str = "en") -> str | None:
    """The name of the rule by which `text` offers no answer at all, or None; `code` as in `refusal`."""
    declined = refusal(without_markup(text), code)
    return declined.rule if declined is not None and not declined.guess else None


def _declining_rule(sentence: str, codes: tuple[str, ...]) -> str | None:
    """The rule by which a folded sentence declines."""
    rules = (rule for code in codes if (rule := _rule_of_beginning(sentence, code)))
    return next(rules, None) or ("abstain:not-in-sources" if _reports_missing_answer(sentence, codes) else None)


def _rule_of_beginning(sentence: str, code: str) -> str | None:
    """The rule by which a folded sentence declines, read as it is and without its opening courtesies."""
    bare = sentence.lstrip(_BEFORE)
    start = _courtesies_end(bare, code)
    for reading in (bare, bare[start:].lstrip(_BEFORE)) if start else (bare,):
        reading = reading.rstrip(_AFTER)
        if _any_beginning(code).match(reading):  # one expression for most answers, not nine
            return next(
                f"abstain:{name}" for name in _data(code)["declines"] if wording(code, "declines", name).match(reading)
            )
    return None


def _beginnings(code: str) -> str:
    """The alternatives of all expressions that begin a refusal in a language."""
    return "|".join(_expression(code, "declines", name) for name in _data(code)["declines"])


@lru_cache(maxsize=256)  # codes may come from outside
def _any_beginning(code: str) -> re.Pattern[str]:
    """All ways to begin a refusal of a language in one expression."""
    return re.compile(_beginnings(code))


def _reports_missing_answer(sentence: str, codes: tuple[str, ...]) -> bool:
    """Whether a folded sentence reports that sources do not contain the answer."""
    return any(
        wording(code, "sources", "hint").search(sentence)
        and (
            wording(code, "sources", "anywhere").search(sentence)
            or wording(code, "sources", "passages").match(sentence)
        )
        for code in codes
    )


def _guess_start(sentence: str, codes: tuple[str, ...]) -> int | None:
    """The index at which a folded sentence that declines goes on to a guess; None where it does not, or offers help
    instead.
    """
    opening = _courtesies_end(sentence, codes[0])
    marker = _guess_marker(sentence, max(1, opening), codes)
    while marker and wording("en", "opening").fullmatch(sentence[: marker.end()].strip()):
        marker = _guess_marker(sentence, marker.end(), codes)  # the "but" of "sorry, but"
    return marker.end() if marker and not wording("en", "help").match(sentence, marker.start()) else None


def _guess_marker(text: str, start: int, codes: tuple[str, ...]) -> re.Match[str] | None:
    """The first words from `start` on that announce a guess, in any of the languages."""
    matches = [found for code in codes if (found := wording(code, "guess").search(text, start))]
    return min(matches, key=lambda found: (found.start(), -found.end()), default=None)


def _announces_guess(text: str, codes: tuple[str, ...]) -> bool:
    """Whether a text begins by announcing a guess, and does not offer help instead."""
    announced = any(wording(code, "guess").match(text) for code in codes)
    return announced and not wording("en", "help").match(text)


def _courtesies_end(sentence: str, code: str) -> int:
    """The end of the opening courtesies of a folded sentence."""
    start, opening = len(sentence) - len(sentence.lstrip(_BEFORE)), wording(code, "opening")
    while (courtesy := opening.match(sentence, start)) and courtesy.end() > start:
        start = courtesy.end()
    return start


@cache
def _may_decline() -> re.Pattern[str]:
    """The beginnings of refusals and courtesies in all languages."""
    parts = (part for code in languages() for part in (_expression(code, "opening"), _beginnings(code)))
    return re.compile("|".join(f"(?:{part})" for part in parts))


# The words of each language, read from its file.


@cache
def languages() -> tuple[str, ...]:
    """The codes of the languages that have a file, in order."""
    return tuple(sorted(file.name.removesuffix(".json") for file in _folder().iterdir() if file.name.endswith(".json")))


@lru_cache(maxsize=256)  # codes may come from outside
def _codes(code: str) -> tuple[str, ...]:
    """The languages in which an answer in that of `code` is read: its own, where it has a file, and English."""
    own = (one for one in fallback_chain(code.lower()) if one in languages())
    return tuple(dict.fromkeys((next(own, "en"), "en")))


def _folder() -> Any:
    return files("granola.replies") / "declining"


@lru_cache(maxsize=256)  # codes may come from outside
def _data(code: str) -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads((_folder() / f"{code}.json").read_bytes())
    return data


@lru_cache(maxsize=1024)  # codes may come from outside
def wording(code: str, *keys: str, folded: bool = True) -> re.Pattern[str]:
    """The pattern under the keys of a language's file; any entry of a list; a pattern that never matches for a missing
    key.

    `<part>` in it is replaced by that entry of the file's `parts`. It is for text in lower case without accents; where
    it is not `folded`, for text as written, ignoring case.
    """
    text = _expression(code, *keys, folded=folded)
    return re.compile(text) if folded else re.compile(text, re.IGNORECASE)


def _expression(code: str, *keys: str, folded: bool = True) -> str:
    """The text of `wording`."""
    given: Any = _data(code)
    for key in keys:
        given = given.get(key, {})
    if not given:
        return r"(?!)"
    text = given if isinstance(given, str) else "|".join(f"(?:{one})" for one in given)
    for _ in range(6):  # parts may contain parts, up to six deep
        for part, pattern in _data(code).get("parts", {}).items():
            text = text.replace(f"<{part}>", pattern)
    return re.sub(r"[^\x00-\x7f]+", lambda letters: plain(letters[0]), text) if folded else text
