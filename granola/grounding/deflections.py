"""Answers that say that the passages do not suffice: by the rules of the matcher's abstentions, and of passages."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from abstraction.language.sentences import sentences
from granola.grounding.citation_markers import markers
from granola.matching.abstention import refusal

LONGEST = 4_000  # characters of an answer that are looked at
SENTENCE = 600  # of a sentence
LOOKED_AT = 3  # sentences, what greets and thanks among them
_MARK = "\x01"  # in the place of a citation
_NOTS = re.compile(r",[^,]{0,60}\b(?:not|n't|n’t|none|no)\b[^,]{0,60}$")


def deflects(answer: str, *, language: str = "en") -> str | None:
    """The rule by which an answer deflects, or None. An empty answer deflects by `empty`.

    An answer deflects where its first sentence, behind greetings and headings, declines and offers nothing instead;
    what follows may tell what is related. A sentence with a citation declines only where it is the cited passages that
    do not tell. English is always read beside `language`, as prompts are English. Rules: the matcher's `abstain:...`,
    and `passages:LANGUAGE` where the sentence says that they do not tell.
    """
    text = answer[:LONGEST].strip()
    if not text:
        return "empty"
    code = language.split("-")[0]
    for sentence in _sentences(text, language)[:LOOKED_AT]:
        if (rule := _declines(sentence, code)) is not None:
            return rule
        if not _pattern("sentences", "courtesy").match(sentence):
            return None
    return None


def _sentences(text: str, language: str) -> list[str]:
    """The first sentences, lines apart, without the marks of headings."""
    found: list[str] = []
    for line in text.splitlines():
        bare = line.strip().lstrip("#*_>- ").replace("**", "")
        if bare:
            found += sentences(bare, language)
        if len(found) > LOOKED_AT:
            break
    return [one[:SENTENCE] for one in found]


def _declines(sentence: str, code: str) -> str | None:
    marked, cited = _marked(sentence)
    plain = " ".join(marked.replace(_MARK, "").split())
    if not cited and _pattern("sentences", "concedes").match(plain):
        return "passages:en"
    opening = _pattern("sentences", "opening")
    for _ in range(2):
        plain = plain[found.end() :] if (found := opening.match(plain)) else plain
    told = next((one for one in dict.fromkeys((code, "en")) if _says_that_passages_do_not_tell(plain, one)), None)
    asserts = _pattern("sentences", "goes_on").search(plain) is not None or (
        _pattern("sentences", "though").match(plain) is not None and not _NOTS.search(plain)
    )
    if told is not None and not asserts and (not cited or _cites_the_subject(marked)):
        return f"passages:{told}"
    return None if cited else _by_the_matcher(plain, code)


def _by_the_matcher(plain: str, code: str) -> str | None:
    """The matcher's rule. It is made for short answers: a long one must also say what it cannot do, or lacks."""
    found = refusal(plain, code) or (refusal(plain, "en") if code != "en" else None)
    if found is None or (found.guess and found.offer):
        return None
    if found.rule in ("abstain:not-stated", "abstain:no-information"):
        about_us = found.rule == "abstain:no-information" and re.search(r"\b(?:i|we) ", plain, re.IGNORECASE)
        return found.rule if about_us or _says_that_passages_do_not_tell(plain, "en") else None
    if found.rule in _data()["confirmed"] and not _pattern("confirmed", found.rule).search(plain):
        return None
    return found.rule


def _says_that_passages_do_not_tell(sentence: str, code: str) -> bool:
    if code not in _data()["passages"]:
        return False
    return _pattern("passages", code).match(sentence) is not None


def _marked(sentence: str) -> tuple[str, bool]:
    """The sentence with a mark in the place of each citation in brackets, and whether it has any."""
    known = [str(number) for number in range(1, 100)]
    found = [one for one in markers(sentence, known) if not one.inline]
    out, at = [], 0
    for one in found:
        if one.start >= at:
            out.append(sentence[at : one.start] + _MARK)
            at = one.end
    return "".join([*out, sentence[at:]]), bool(found)


def _cites_the_subject(marked: str) -> bool:
    """Whether all citations stand at once behind the passages that do not tell: "The passages [1][2] do not"."""
    head, _, tail = marked.rpartition(_MARK)
    ends, follows = _pattern("sentences", "subject_at_end"), _pattern("sentences", "predicate")
    return ends.search(head) is not None and follows.match(tail) is not None


@cache
def _data() -> dict[str, Any]:
    """`parts` stand in other patterns as <name>; `passages` by language, each a list of ways to say it."""
    found: dict[str, Any] = orjson.loads((files("granola") / "grounding" / "deflection_patterns.json").read_bytes())
    return found


@cache
def _pattern(kind: str, name: str) -> re.Pattern[str]:
    given = _data()[kind][name]
    text = given if isinstance(given, str) else "|".join(f"(?:{one})" for one in given)
    for _ in range(3):  # parts stand in parts
        for part, pattern in _data()["parts"].items():
            text = text.replace(f"<{part}>", pattern)
    return re.compile(text, re.IGNORECASE)
